package files

import (
	"cmp"
	"context"
	"math/big"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/textlines"
)

// rewFile reads a .srew or .trew file.
type rewFile struct {
	*lines
	wantsFractions bool
	model          *sparse.Model
	name           string
	hasHeader      bool
}

// rewTotal is a number in the first line of a .srew or .trew file, such as the number of states.
type rewTotal struct {
	name  string
	value int // in the model
}

// newRewFile returns a reader of a .srew or .trew file. It reads the comments and the first line, which must have the given totals and then
// the number of rewards. kind describes the file in messages. If ok is false, the reader has recorded an error.
func newRewFile(source Source, kind string, model *sparse.Model, exact bool, totals []rewTotal) (file *rewFile, numRewards int, ok bool) {
	file = &rewFile{lines: newLines(source), wantsFractions: exact, model: model}
	if !file.nextData(kind, file.readComment) {
		if len(file.Errs) == 0 {
			file.ErrorAtEnd("found the end of the file, wanted the totals")
		}
		return file, 0, false
	}
	if len(file.Fields) != len(totals)+1 {
		file.ErrorAt(0, "found %d totals, wanted %d", len(file.Fields), len(totals)+1)
		return file, 0, false
	}
	for position, total := range totals {
		if !file.checkTotal(file.Fields[position], total) {
			return file, 0, false
		}
	}
	numRewards, ok = file.ParseCount(file.Fields[len(totals)], "number of rewards")
	return file, numRewards, ok
}

// checkTotal reports whether an entry of the first line has the wanted value. Any other value is an error.
func (file *rewFile) checkTotal(entry field, total rewTotal) bool {
	number, ok := file.ParseCount(entry, "total")
	if !ok {
		return false
	}
	if number != total.value {
		file.ErrorAt(entry.Column, "found %d %s, wanted %d as in the transitions", number, total.name, total.value)
		return false
	}
	return true
}

// readComment reads the name of the reward structure from a comment such as # Reward structure "name". It ignores other comments.
func (file *rewFile) readComment(comment string) {
	title, isHeader := strings.CutPrefix(comment, "# Reward structure")
	if !isHeader {
		return
	}
	file.hasHeader = true
	title = strings.TrimSpace(title)
	if title == "" {
		return
	}
	name, hasOpening := strings.CutPrefix(title, `"`)
	name, hasClosing := strings.CutSuffix(name, `"`)
	isName := name != "" && !strings.Contains(name, `"`)
	if !hasOpening || !hasClosing || !isName {
		file.ErrorAt(0, "found %s, wanted the name of a reward structure in quotes", textlines.Quote([]byte(title)))
		return
	}
	file.name = name
}

// forEachLine calls visit for each line after the first one, with its reward. A line must have numFields fields, and the last one is the
// reward. The file must have numRewards such lines. Other errors are recorded. The result is the error of the context.
func (file *rewFile) forEachLine(ctx context.Context, kind string, numFields, numRewards int, visit func(reward number)) error {
	const linesBetweenChecks = 4096 // how often to check whether ctx is done
	numLines := 0
	for ; file.nextData(kind, nil); numLines++ {
		if numLines%linesBetweenChecks == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if len(file.Fields) != numFields {
			file.ErrorAt(0, "found %d entries, wanted %d", len(file.Fields), numFields)
			continue
		}
		field := file.Fields[numFields-1]
		reward, ok := file.parseValue(field, "reward", file.wantsFractions)
		if ok {
			visit(reward)
		}
	}
	if len(file.Errs) == 0 && numLines != numRewards {
		file.ErrorAtEnd("found %d rewards, wanted %d as the first line says", numLines, numRewards)
	}
	return nil
}

// rewardColumn holds a reward for each state, choice or transition. present has the indices of the
// entries that a file contains.
type rewardColumn struct {
	values         []float64
	fractions      []*big.Rat
	presentEntries *sparse.Set
}

// newColumn returns a column of zeros with the given length. If exact is set, it also has fractions.
func newColumn(length int, exact bool) *rewardColumn {
	column := &rewardColumn{values: make([]float64, length), presentEntries: sparse.NewSet(length)}
	if exact {
		column.fractions = make([]*big.Rat, length)
	}
	return column
}

// setEntry sets the entry with an index and marks it as present.
func (column *rewardColumn) setEntry(index int, value number) {
	column.presentEntries.Add(index)
	column.values[index] = value.float
	if column.fractions != nil && value.fraction.Sign() != 0 {
		column.fractions[index] = value.fraction
	}
}

// entry returns an entry.
func (column *rewardColumn) entry(index int) number {
	value := number{float: column.values[index]}
	if column.fractions != nil {
		value.fraction = cmp.Or(column.fractions[index], new(big.Rat))
	}
	return value
}

// readStateRewards reads a .srew file. Each line has a state and its reward, in the order of states. The result also has the reader of the
// file, with its name and errors. The returned error is that of the context.
func readStateRewards(ctx context.Context, source Source, model *sparse.Model, exact bool) (*rewFile, *rewardColumn, error) {
	const kind = "state rewards"
	column := newColumn(model.NumStates(), exact)
	file, numRewards, ok := newRewFile(source, kind, model, exact, []rewTotal{{"states", model.NumStates()}})
	if !ok {
		return file, column, nil
	}
	previous := -1
	return file, column, file.forEachLine(ctx, kind, 2, numRewards, func(reward number) {
		state, ok := file.ParseIndex(file.Fields[0], "state", model.NumStates())
		switch {
		case !ok: // parseIndex recorded the error
		case state <= previous:
			file.ErrorAt(file.Fields[0].Column, "found state %d after state %d, wanted states in order and each once", state, previous)
		default:
			previous = state
			column.setEntry(state, reward)
		}
	})
}

// readTransitionRewards reads a .trew file. Each line has a state, a target and the reward of the transition and, in an MDP, the choice.
// numChoices is the number of choices in the .tra file, without those that were added to deadlocks.
func readTransitionRewards(ctx context.Context, source Source, model *sparse.Model, exact bool, numChoices int) (*rewFile, *rewardColumn, error) {
	const kind = "transition rewards"
	column := newColumn(model.NumTransitions(), exact)
	totals, numFields := []rewTotal{{"states", model.NumStates()}}, 3
	if model.Kind == sparse.MDP {
		totals, numFields = append(totals, rewTotal{"choices", numChoices}), 4
	}
	file, numRewards, ok := newRewFile(source, kind, model, exact, totals)
	if !ok {
		return file, column, nil
	}
	reader := &trewFile{rewFile: file, column: column, numParallelRead: -1}
	err := file.forEachLine(ctx, kind, numFields, numRewards, reader.readLine)
	if err == nil && len(file.Errs) == 0 {
		reader.endParallel()
		reader.checkCompleteChoices()
	}
	return file, column, err
}

// trewFile reads a .trew file.
type trewFile struct {
	*rewFile
	column *rewardColumn
	// parallelTransitions has the transitions from state to target. The first numParallelRead of them have a line. The next line with the same state
	// and target belongs to the next one; numParallelRead is -1 before the first line.
	parallelTransitions         []int
	numParallelRead             int
	currentState, currentTarget int
}

// readLine reads the current line, which has the given reward, and sets the reward of its transition. All transitions of an MDP's choice
// must have the same reward.
func (file *trewFile) readLine(reward number) {
	fields := file.Fields
	state, ok := file.ParseIndex(fields[0], "state", file.model.NumStates())
	if !ok {
		return
	}
	choice, end := file.model.Choices(state)
	if file.model.Kind == sparse.MDP {
		offset, ok := file.ParseIndex(fields[1], "choice", end-choice)
		if !ok {
			return
		}
		choice += offset
	}
	target, ok := file.ParseIndex(fields[len(fields)-2], "state", file.model.NumStates())
	if !ok {
		return
	}
	transition := file.findTransition(choice, state, target)
	switch {
	case transition < 0:
		file.ErrorAt(fields[len(fields)-2].Column, "found a reward of going from state %d to %d, but there is no such transition", state, target)
	case file.column.presentEntries.Has(transition):
		file.ErrorAt(0, "found a second reward of going from state %d to %d, wanted one", state, target)
	case file.model.Kind == sparse.MDP && file.hasDifferentReward(choice, reward):
		file.ErrorAt(fields[3].Column, "found another reward for the same choice, wanted one: rewards that depend on the target are not supported")
	default:
		file.column.setEntry(transition, reward)
	}
}

// findTransition returns the transition from state to target to which the current line belongs, or -1 if there is none. A Markov chain may
// have parallel transitions, which have the same state and target but different actions. Each of them has a line, in the order of the
// actions.
func (file *trewFile) findTransition(choice, state, target int) int {
	isSamePair := file.numParallelRead >= 0 && file.currentState == state && file.currentTarget == target
	if isSamePair && file.numParallelRead < len(file.parallelTransitions) {
		file.numParallelRead++
		return file.parallelTransitions[file.numParallelRead-1]
	}
	file.endParallel()
	file.parallelTransitions = file.parallelTransitions[:0]
	first, end := file.model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		if int(file.model.Target[transition]) == target {
			file.parallelTransitions = append(file.parallelTransitions, transition)
		}
	}
	if len(file.parallelTransitions) == 0 {
		return -1
	}
	file.currentState, file.currentTarget, file.numParallelRead = state, target, 1
	return file.parallelTransitions[0]
}

// endParallel ends the lines about parallel transitions, which have the same state and target. It is an error if
// only some of them have a line and their weights differ. Then it is unknown which transitions have the rewards.
func (file *trewFile) endParallel() {
	isIncomplete := file.numParallelRead > 0 && file.numParallelRead < len(file.parallelTransitions)
	if isIncomplete && !haveEqualWeights(file.model, file.parallelTransitions) {
		file.ErrorAt(0, "found %d rewards of going from state %d to %d before this line, wanted %d including zeros: one for each transition, because they have different actions and probabilities",
			file.numParallelRead, file.currentState, file.currentTarget, len(file.parallelTransitions))
	}
	file.numParallelRead = -1
}

// hasDifferentReward reports whether the file already has another reward for some transition of the choice.
func (file *trewFile) hasDifferentReward(choice int, reward number) bool {
	first, end := file.model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		if !file.column.presentEntries.Has(transition) {
			continue
		}
		other := file.column.entry(transition)
		isDifferent := other.float != reward.float || file.wantsFractions && other.fraction.Cmp(reward.fraction) != 0
		if isDifferent {
			return true
		}
	}
	return false
}

// checkCompleteChoices records an error for each choice of an MDP for which the file has rewards of some transitions only. It must have the
// rewards of all transitions or of none.
func (file *trewFile) checkCompleteChoices() {
	if file.model.Kind != sparse.MDP {
		return
	}
	for state := range file.model.NumStates() {
		first, end := file.model.Choices(state)
		for choice := first; choice < end; choice++ {
			numRewards, numTransitions := file.countRewards(choice)
			if numRewards != 0 && numRewards != numTransitions {
				file.ErrorAtEnd("found rewards for %d of the %d transitions of choice %d of state %d, wanted one for each", numRewards, numTransitions, choice-first, state)
			}
		}
	}
}

// countRewards returns for how many transitions of a choice the file has a reward. It also returns the number of all transitions of the
// choice.
func (file *trewFile) countRewards(choice int) (numRewards, numTransitions int) {
	first, end := file.model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		if file.column.presentEntries.Has(transition) {
			numRewards++
		}
	}
	return numRewards, end - first
}

// rewardStructure makes a reward structure of the rewards of states and of transitions. Each of the two columns may be nil. The structure
// has the mean reward of each choice. For a Markov chain, the rewards of single transitions are a second result.
func rewardStructure(model *sparse.Model, name string, state, transition *rewardColumn) (reward sparse.Reward, perTransition explicit.TransitionReward) {
	if model.Exact() && state == nil { // a structure of an exact model has fractions
		state = newColumn(model.NumStates(), true)
	}
	if model.Exact() && transition == nil {
		transition = newColumn(model.NumTransitions(), true)
	}
	reward = sparse.Reward{Name: name, RelErr: sema.UnitRoundoff}
	if state != nil {
		reward.State, reward.StateFractions = state.values, state.fractions
	}
	if transition == nil {
		return reward, explicit.TransitionReward{}
	}
	choiceRewards := newColumn(model.NumChoices(), model.Exact())
	maxTransitions := 0
	for choice := range model.NumChoices() {
		first, end := model.Transitions(choice)
		maxTransitions = max(maxTransitions, end-first)
		choiceRewards.setEntry(choice, choiceReward(model, transition, choice))
	}
	reward.Choice, reward.ChoiceFractions = choiceRewards.values, choiceRewards.fractions
	if model.Kind == sparse.MDP {
		return reward, explicit.TransitionReward{}
	}
	reward.RelErr = higherOrderFactor * (model.RelErr + float64(maxTransitions+2)*sema.UnitRoundoff)
	return reward, explicit.TransitionReward{Values: transition.values, Fractions: transition.fractions}
}

// differWithinChoice reports whether some choice has transitions with different rewards. The rewards must have fractions.
func differWithinChoice(model *sparse.Model, rewards *rewardColumn) bool {
	for choice := range model.NumChoices() {
		first, end := model.Transitions(choice)
		for transition := first + 1; transition < end; transition++ {
			if rewards.entry(transition).fraction.Cmp(rewards.entry(first).fraction) != 0 {
				return true
			}
		}
	}
	return false
}

// choiceReward returns the reward of a choice, given those of its transitions. In an MDP or an interval model they are all the same. In a
// Markov chain it is their sum, weighted with the probabilities or rates.
func choiceReward(model *sparse.Model, rewards *rewardColumn, choice int) number {
	first, end := model.Transitions(choice)
	if model.Kind == sparse.MDP || model.Intervals() {
		return rewards.entry(first)
	}
	sum := number{}
	if rewards.fractions == nil {
		for transition := first; transition < end; transition++ {
			sum.float += model.Prob(transition) * rewards.values[transition]
		}
		return sum
	}
	sum.fraction = new(big.Rat)
	for transition := first; transition < end; transition++ {
		sum.fraction.Add(sum.fraction, new(big.Rat).Mul(model.Fraction(transition), rewards.entry(transition).fraction))
	}
	sum.float, _ = sum.fraction.Float64()
	return sum
}
