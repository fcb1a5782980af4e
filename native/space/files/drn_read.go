package files

import (
	"context"
	"fmt"
	"math"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/drn"
	"tilecheck/prism/syntax"
	"tilecheck/prism/textlines"
)

// rateTolerance is the largest accepted relative difference between the exit rate of a state and
// the sum of its rates. Storm writes six digits by default.
const rateTolerance = 1e-5

// ReadDRN reads a model in Storm's format. The states get one variable x, their number, because the format has
// valuations only in comments. A Markov automaton becomes its embedded MDP, with a reward structure of the time.
// Rewards per unit of time are multiplied by the mean time in the state.
//
// It returns the same errors as Read. A file with parameters is an error: package drn reads it.
//
// Source: Storm's DirectEncodingParser.
func ReadDRN(ctx context.Context, source Source, opts ReadOptions) (*explicit.Space, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	lines := newLines(source)
	file := &drnFile{scanner: drn.NewScanner(&lines.Reader), opts: opts, wantsFractions: opts.Exact}
	if !file.checkPreamble() {
		return nil, lines.Errs.Err()
	}
	if err := opts.checkNumStates(file.scanner.NumStates); err != nil {
		return nil, err
	}
	file.assembly = newAssembly(lines, sparseKind(file.modelType), file.scanner.NumStates, file.opts)
	if err := file.readBody(ctx); err != nil {
		return nil, err
	}
	return file.importSpace()
}

// drnFile reads a .drn file.
type drnFile struct {
	*assembly
	scanner        *drn.Scanner
	opts           ReadOptions
	wantsFractions bool // the caller asked for fractions
	modelType      syntax.ModelType
	exitRates      *rewardColumn // of each state of a Markov automaton, 0 where no time passes
	observations   []uint32      // of each state of a POMDP

	declaredRate    number // of the current state of a CTMC
	declaredRatePos syntax.Pos
	currentAction   sparse.Action // the action of the current row
	choiceRewards   []number      // rewards of the action

	labelSets    []*sparse.Set // of the labels of the scanner
	stateRewards []*rewardColumn
	rowRewards   [][]number // of the action, for every transition
}

// checkPreamble sets the type of the model, that of interval models if the values are intervals. Then the numbers are fractions. It records
// an error if the file has parameters, or a type other than the one that the caller requested. A file of a DTMC or an MDP may turn out to
// have intervals, if the caller requested them. It returns false after an error.
func (file *drnFile) checkPreamble() bool {
	scanner, requested := file.scanner, file.opts.Type
	file.modelType = scanner.Type
	switch {
	case len(scanner.Errs) > 0: // recorded before
	case scanner.FunctionsPos.IsValid():
		scanner.ErrorAtPos(scanner.FunctionsPos, "found a model with parameters, wanted one without")
	case requested != syntax.TypeNone && requested != scanner.Type && requested != intervalType(scanner.Type):
		scanner.ErrorAtPos(scanner.TypePos, "found a model of type %s, wanted the requested type %s", scanner.Type, requested)
	case scanner.HasIntervals():
		file.modelType, file.opts.Exact = intervalType(scanner.Type), true
	}
	return len(scanner.Errs) == 0
}

// intervalType returns the type of interval models that corresponds to a type of models. It returns syntax.TypeNone if there is none.
func intervalType(modelType syntax.ModelType) syntax.ModelType {
	switch modelType {
	case syntax.DTMC:
		return syntax.IDTMC
	case syntax.MDP:
		return syntax.IMDP
	}
	return syntax.TypeNone
}

// readBody reads the lines after @model, which have the states, the actions and the transitions. The result is the error of the context.
// Errors of the file are recorded.
func (file *drnFile) readBody(ctx context.Context) error {
	file.hasIntervals = file.scanner.HasIntervals()
	if file.scanner.IsMarkovAutomaton {
		file.exitRates = newColumn(file.numStates, file.isExact)
	}
	if file.modelType == syntax.POMDP {
		file.observations = make([]uint32, file.numStates)
	}
	for line := 0; file.scanner.Next(); line++ {
		if line%pollInterval == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		switch file.scanner.Kind {
		case drn.StateLine:
			file.readState(file.scanner.State)
		case drn.ActionLine:
			file.readAction()
		case drn.TransitionLine:
			file.readTransition()
		}
	}
	file.checkExitRate()
	return nil
}

// readState starts a state. It has an exit rate, an observation, rewards and labels.
func (file *drnFile) readState(state int) {
	file.checkExitRate()
	file.startState(state)
	if file.scanner.Rate.Text != nil {
		file.readExitRate(state)
	}
	if file.observations != nil {
		file.observations[state] = uint32(file.scanner.Observation)
	}
	for structure, reward := range file.parseRewards() {
		file.stateRewardColumn(structure).setEntry(state, reward)
	}
	for _, label := range file.scanner.Labels {
		file.labelSet(label).Add(state)
	}
}

// readExitRate reads the exit rate of a state of a CTMC or a Markov automaton.
func (file *drnFile) readExitRate(state int) {
	entry := file.scanner.Rate
	file.declaredRatePos = file.Position(entry.Column - len("!"))
	rate, ok := file.parseValue(entry, "rate", file.isExact)
	file.declaredRate = rate
	switch {
	case !ok || file.exitRates == nil: // checkExitRate compares the rate of a CTMC with the sum of its rates
	case rate.float < 0:
		file.ErrorAtPos(file.declaredRatePos, "found exit rate %v, wanted none below 0", rate.float)
	default:
		file.exitRates.setEntry(state, rate)
	}
}

// checkExitRate records an error unless the exit rate of the last state of a CTMC is the sum of its rates. It does nothing if there are
// other errors, or no state.
func (file *drnFile) checkExitRate() {
	if file.modelKind != sparse.CTMC || len(file.Errs) > 0 || file.numStartedStates == 0 {
		return
	}
	deviation := math.Abs(file.declaredRate.float-file.rowSum.float) / file.rowSum.float
	if !(deviation <= rateTolerance) {
		file.ErrorAtPos(file.declaredRatePos, "found exit rate %v, wanted %v, the sum of the rates", file.declaredRate.float, file.rowSum.float)
	}
}

// parseRewards parses the rewards of the current line. It returns nil if there are none, or after an error.
func (file *drnFile) parseRewards() []number {
	if len(file.scanner.Rewards) == 0 {
		return nil
	}
	rewards := make([]number, 0, len(file.scanner.Rewards))
	for _, entry := range file.scanner.Rewards {
		reward, ok := file.parseValue(entry, "reward", file.isExact)
		if !ok {
			return nil
		}
		rewards = append(rewards, reward)
	}
	return rewards
}

// stateRewardColumn returns the state rewards of a structure.
func (file *drnFile) stateRewardColumn(structure int) *rewardColumn {
	for len(file.stateRewards) <= structure {
		file.stateRewards = append(file.stateRewards, newColumn(file.numStates, file.isExact))
	}
	return file.stateRewards[structure]
}

// labelSet returns the states with a label of the scanner.
func (file *drnFile) labelSet(label int) *sparse.Set {
	for len(file.labelSets) <= label {
		file.labelSets = append(file.labelSets, sparse.NewSet(file.numStates))
	}
	return file.labelSets[label]
}

// readAction starts a choice of an MDP, or the only row of a Markov chain's state.
func (file *drnFile) readAction() {
	name, column := file.choiceName(), file.scanner.Action.Column
	if name != "" && !isWord(name) {
		file.ErrorAt(column, "found %s, wanted the name of an action", textlines.Quote([]byte(name)))
	}
	file.currentAction = file.actionNumber(name)
	file.startChoice(file.currentAction, file.Position(column))
	file.choiceRewards = file.parseRewards()
}

// choiceName returns the name of the current choice. In a POMDP a choice without a name is named by its position, because the player must be
// able to select it in all states with the same observation.
func (file *drnFile) choiceName() string {
	if file.scanner.ActionName == "" && file.observations != nil {
		return fmt.Sprintf("choice_%d", file.scanner.NumActions-1)
	}
	return file.scanner.ActionName
}

// readTransition adds the transition of the current line to the current row.
func (file *drnFile) readTransition() {
	weight, ok := file.parseWeight(file.scanner.Weight)
	if !ok {
		return
	}
	action := file.currentAction
	if file.modelKind == sparse.MDP {
		action = sparse.NoAction
	}
	file.addTransition(file.scanner.Target, weight, action, file.scanner.TargetColumn, file.scanner.Weight.Column)
	file.rowRewards = append(file.rowRewards, file.choiceRewards)
}

// parseWeight parses a probability, a rate, or the interval of a probability. It returns the lower bound of an interval and stores the
// upper bound in nextUpperBound.
func (file *drnFile) parseWeight(word field) (weight number, ok bool) {
	if file.hasIntervals {
		weight, file.nextUpperBound, ok = file.parseInterval(word)
		return weight, ok
	}
	return file.parseValue(word, "probability or rate", file.isExact)
}

// importSpace returns the state space of the model.
func (file *drnFile) importSpace() (*explicit.Space, error) {
	model := file.assembly.finish()
	if model == nil {
		return nil, file.Errs.Err()
	}
	file.setLabels(model, file.declaredSets())
	imported := &explicit.Imported{
		File: file.Source.Name, Type: file.modelType, Actions: file.assembly.actionNames, Model: model,
		Warnings: file.warnings(), Normalised: file.isNormalised,
	}
	imported.Vars, imported.Valuation = numberVariable(file.numStates)
	imported.Rounded = file.hasIntervals && !file.wantsFractions
	file.addRewards(imported)
	file.addObservations(imported)
	if file.exitRates != nil {
		if err := completeAutomaton(imported, file.exitRates, file.isExact); err != nil {
			return nil, err
		}
	}
	if file.opts.OperatorT {
		addOperatorT(imported)
	}
	return explicit.Import(imported)
}

// declaredSets returns the labels of the file, its initial states and its deadlocks.
func (file *drnFile) declaredSets() declaredSets {
	labels := labFile{names: file.scanner.LabelNames}
	for label := range labels.names {
		labels.stateSets = append(labels.stateSets, file.labelSet(label))
	}
	return labels.declaredSets()
}

// addRewards adds the reward structures of the file to the imported model. The file has rewards of states and actions. Each transition of
// an action gets the reward of the action.
func (file *drnFile) addRewards(imported *explicit.Imported) {
	for structure, name := range file.scanner.RewardNames {
		var stateColumn, transitionColumn *rewardColumn
		if structure < len(file.stateRewards) {
			stateColumn = file.stateRewards[structure]
		}
		for transition, rewards := range file.rowRewards {
			if len(rewards) == 0 {
				continue
			}
			if transitionColumn == nil {
				transitionColumn = newColumn(imported.Model.NumTransitions(), file.isExact)
			}
			transitionColumn.setEntry(transition, rewards[structure])
		}
		reward, transitionRewards := rewardStructure(imported.Model, name, stateColumn, transitionColumn)
		imported.Model.Rewards = append(imported.Model.Rewards, reward)
		imported.TransitionRewards = append(imported.TransitionRewards, transitionRewards)
	}
}

// addObservations adds the observations of a POMDP's states to the imported model. It gives new numbers to them, in order of appearance.
func (file *drnFile) addObservations(imported *explicit.Imported) {
	if file.observations == nil {
		return
	}
	observations := &explicit.Observations{}
	numbers := make(map[uint32]uint32)
	for _, observation := range file.observations {
		number, isKnown := numbers[observation]
		if !isKnown {
			number = uint32(len(observations.Texts))
			numbers[observation] = number
			observations.Texts = append(observations.Texts, fmt.Sprint(observation))
		}
		observations.ByState = append(observations.ByState, number)
	}
	imported.Observations, imported.Observables = observations, []string{"observation"}
}
