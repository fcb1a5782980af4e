package files

import (
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"tilecheck/internal/noun"
	"tilecheck/internal/umb"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/prism/textlines"
)

// buildSpace makes a space of the model, after the members of the file were read.
func (file *umbFile) buildSpace() (*explicit.Space, error) {
	if err := file.checkComplete(); err != nil {
		return nil, err
	}
	builder := &umbBuilder{
		umbFile:  file,
		assembly: newAssembly(newLines(Source{Name: file.source.Name}), sparseKind(file.modelType), file.numStates, file.opts),
	}
	builder.hasIntervals = file.modelType == syntax.IDTMC || file.modelType == syntax.IMDP
	model, err := builder.buildModel()
	if err != nil {
		return nil, err
	}
	imported := &explicit.Imported{
		File: file.source.Name, Type: file.modelType, Actions: builder.assembly.actionNames, Model: model, Normalised: builder.isNormalised,
	}
	if file.owners != nil {
		imported.Players, model.Player = file.playerNames(), file.owners
	}
	if err := builder.addRewards(imported); err != nil {
		return nil, err
	}
	if file.isMarkovAutomaton {
		if err := file.addExitRates(imported); err != nil {
			return nil, err
		}
	}
	if err := builder.checkDeadlocks(file.opts); err != nil {
		return nil, err
	}
	return builder.importSpace(imported)
}

// buildModel builds the model with its transitions, actions and labels. model.RelErr, the bound of the relative errors of weights, allows for
// the rounding of rates.
func (builder *umbBuilder) buildModel() (*sparse.Model, error) {
	if err := builder.readActionNames(); err != nil {
		return nil, err
	}
	if err := builder.addRows(); err != nil {
		return nil, err
	}
	model := builder.finish()
	if model == nil {
		return nil, builder.Errs
	}
	if model.Kind == sparse.CTMC && !builder.opts.Exact { // a rate is the rounded product of two rounded numbers
		model.RelErr = higherOrderFactor * 4 * sema.UnitRoundoff
	}
	sets, err := builder.declaredSets()
	if err != nil {
		return nil, err
	}
	builder.setLabels(model, sets)
	if len(builder.Errs) > 0 {
		return nil, builder.Errs
	}
	return model, nil
}

// addExitRates completes an imported Markov automaton with its exit rates.
func (file *umbFile) addExitRates(imported *explicit.Imported) error {
	rates, err := file.exitRates()
	if err != nil {
		return err
	}
	return completeAutomaton(imported, rates, file.opts.Exact)
}

// exitRates returns the exit rate of each state of a Markov automaton. A negative rate is an error.
func (file *umbFile) exitRates() (*rewardColumn, error) {
	rates := newColumn(file.numStates, file.opts.Exact)
	for state := range file.numStates {
		rate, err := file.exitRateColumn.numberAt(state, file.opts.Exact)
		if err == nil && !(rate.float >= 0) {
			err = fmt.Errorf("found the exit rate %v, wanted none below 0", rate.float)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: state %d: %w", umb.ExitRates, state, err)
		}
		rates.setEntry(state, rate)
	}
	return rates, nil
}

// checkComplete returns an error if the archive lacks a member that a model of its type must have. The number of initial states must be the
// one in the index.
func (file *umbFile) checkComplete() error {
	for _, member := range []struct {
		name      string
		isMissing bool
	}{
		{umb.Targets, file.targets == nil},
		{umb.Probabilities, file.modelType != syntax.LTS && !file.probabilityColumn.Present()},
		{umb.ExitRates, file.hasExitRates() && !file.exitRateColumn.Present()},
		{umb.StatePlayers, file.modelType == syntax.SMG && file.owners == nil},
		{umb.Initial, file.initial == nil || file.initial.Empty()},
	} {
		if member.isMissing {
			return fmt.Errorf("the file %s is missing or empty", member.name)
		}
	}
	system := &file.index.System
	if uint64(file.initial.Count()) != system.InitialStates {
		return fmt.Errorf("%s: found %d initial states, wanted %d as %s says", umb.Initial, file.initial.Count(), system.InitialStates, umb.IndexFile)
	}
	if file.choiceOffsets == nil && file.numChoices != file.numStates {
		return fmt.Errorf("the file %s is missing, but some state does not have exactly one choice", umb.StateChoices)
	}
	if file.branchOffsets == nil && file.numBranches != file.numChoices {
		return fmt.Errorf("the file %s is missing, but some choice does not have exactly one branch", umb.ChoiceRows)
	}
	if !file.hasChoices() {
		return file.checkSingleChoices()
	}
	return nil
}

// checkSingleChoices returns an error if a state does not have exactly one choice.
func (file *umbFile) checkSingleChoices() error {
	for state, firstChoice := range file.choiceOffsets {
		if firstChoice != uint32(state) {
			return fmt.Errorf("%s: found a state without exactly one choice, wanted one in each state of %s", umb.StateChoices, noun.WithArticle(file.modelType.String()))
		}
	}
	return nil
}

// umbBuilder builds a model from the columns of a UMB file. UMB calls a transition a branch.
type umbBuilder struct {
	*umbFile
	*assembly
	actionOfNumber []sparse.Action // by number in the file
	// firstBranches has the first branch of each transition, because a transition can merge several branches. It is nil, to
	// save memory, as long as each transition i has branch i as its first.
	firstBranches  []uint32
	mergedBranches map[uint32][]uint32 // by first branch, the branches that were merged into it
	branches       []umbBranch
	edgesOfRow     edgeSet
}

// readActionNames reads the names of the actions in the file, and numbers the actions for the model. If the file has no names, an action is
// named "_" and its number from 1, as in PRISM.
func (builder *umbBuilder) readActionNames() error {
	system := &builder.index.System
	for number := range int(max(system.ChoiceActions, system.BranchActions)) {
		name, err := builder.readActionName(number)
		if err != nil {
			return err
		}
		if !utf8.ValidString(name) || name != "" && !isWord(name) {
			return fmt.Errorf("found the action %s, wanted a word", textlines.Quote([]byte(name)))
		}
		builder.actionOfNumber = append(builder.actionOfNumber, builder.assembly.actionNumber(name))
	}
	return nil
}

// readActionName returns the name of the action that has the given number in the file, counted from 0.
func (builder *umbBuilder) readActionName(number int) (string, error) {
	if builder.actionOffsets == nil {
		return "_" + strconv.Itoa(number+1), nil
	}
	names := builder.umbFile.actionStrings
	start, end := builder.actionOffsets[number], builder.actionOffsets[number+1]
	if int(end) > len(names) {
		return "", fmt.Errorf("found the name of action %d at %d to %d, wanted it below %d", number, start, end, len(names))
	}
	return string(names[start:end]), nil
}

// modelAction returns the action of a choice of an MDP, or of a branch of a Markov chain. index is its index in the file.
func (builder *umbBuilder) modelAction(index int) sparse.Action {
	switch {
	case builder.actionOfNumber == nil:
		return sparse.NoAction
	case builder.umbFile.actionNumbers == nil: // every action has number 0
		return builder.actionOfNumber[0]
	}
	return builder.actionOfNumber[builder.umbFile.actionNumbers[index]]
}

// branchRange returns the range of branches of a choice.
func (builder *umbBuilder) branchRange(choice int) (first, end int) {
	if builder.branchOffsets == nil {
		return choice, choice + 1
	}
	return int(builder.branchOffsets[choice]), int(builder.branchOffsets[choice+1])
}

// hasNoBranches reports whether a state is a deadlock. It has no choice, or one choice without branches.
func (builder *umbBuilder) hasNoBranches(state int) bool {
	first, end := builder.choiceRange(state)
	if first+1 == end {
		firstBranch, endBranch := builder.branchRange(first)
		return firstBranch == endBranch
	}
	return first == end
}

// choiceRange returns the range of choices of a state.
func (builder *umbBuilder) choiceRange(state int) (first, end int) {
	if builder.choiceOffsets == nil {
		return state, state + 1
	}
	return int(builder.choiceOffsets[state]), int(builder.choiceOffsets[state+1])
}

// addRows adds the transitions of all states to the model. In the end it frees the memory of the columns that are no longer needed.
func (builder *umbBuilder) addRows() error {
	builder.reserveRows()
	defer func() { builder.umbFile.targets, builder.branchOffsets, builder.umbFile.actionNumbers = nil, nil, nil }()
	for state := range builder.umbFile.numStates {
		if state%pollInterval == 0 && builder.ctx.Err() != nil {
			return builder.ctx.Err()
		}
		if builder.hasNoBranches(state) {
			continue // a skipped state becomes a deadlock
		}
		if err := builder.addState(state); err != nil {
			return err
		}
		if len(builder.Errs) >= textlines.MaxErrors {
			return builder.Errs
		}
	}
	return nil
}

// reserveRows allocates memory in the model for all transitions, including the self-loops of deadlocks, which are not in the file.
func (builder *umbBuilder) reserveRows() {
	numDeadlocks := 0
	for state := range builder.umbFile.numStates {
		if builder.hasNoBranches(state) {
			numDeadlocks++
		}
	}
	builder.builder.Grow(builder.umbFile.numStates, builder.umbFile.numChoices+numDeadlocks, builder.numBranches+numDeadlocks)
}

// addState adds a state with its choices to the model.
func (builder *umbBuilder) addState(state int) error {
	first, end := builder.choiceRange(state)
	builder.startState(state)
	for choice := first; choice < end; choice++ {
		if err := builder.addChoice(state, choice); err != nil {
			return fmt.Errorf("state %d, choice %d: %w", state, choice-first, err)
		}
	}
	return nil
}

// declaredSets returns the labels of the file, the initial states and the deadlocks. It is an error if a label occurs twice, or contradicts
// the transitions or the initial states.
func (builder *umbBuilder) declaredSets() (declaredSets, error) {
	declared := declaredSets{init: builder.initial}
	seen := make(map[string]bool)
	for _, annotation := range builder.index.Annotations.Get("aps") {
		name := annotation.Name
		if annotation.Value.Alias != nil {
			name = *annotation.Value.Alias
		}
		if seen[name] {
			return declared, fmt.Errorf("found the label %s twice", textlines.Quote([]byte(name)))
		}
		seen[name] = true
		states := builder.labels[annotation.Name]
		if states == nil {
			states = sparse.NewSet(builder.umbFile.numStates)
		}
		if err := builder.addLabel(&declared, name, states); err != nil {
			return declared, err
		}
	}
	return declared, nil
}

// addLabel adds a label with its states to the declared sets. States with the label deadlock must have no transitions to other states, and
// the label init must have exactly the initial states.
func (builder *umbBuilder) addLabel(declared *declaredSets, name string, states *sparse.Set) error {
	switch {
	case name == "deadlock":
		declared.deadlock = states
		for state := range states.All() {
			if !builder.selfLoopStates.Has(state) && !builder.assembly.deadlocks.Has(state) {
				return fmt.Errorf(`state %d has the label "deadlock" and transitions to other states`, state)
			}
		}
	case name == "init":
		if !states.Equal(builder.initial) {
			return errors.New(`the label "init" does not hold in exactly the initial states`)
		}
	case !syntax.IsIdent(name):
		return fmt.Errorf("found the label %s, wanted a word", textlines.Quote([]byte(name)))
	default:
		declared.labels = append(declared.labels, sparse.Label{Name: name, States: states})
	}
	return nil
}
