package files

import (
	"cmp"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
)

// writtenTransition is a transition as a file shows it: the number of its target, its weight or
// reward, and its action, or "".
type writtenTransition struct {
	target     int
	value      number
	upperBound number // the upper bound of an interval; value is the lower bound
	action     string
}

// writtenRow returns the transitions of a choice as they are written to the file, in this order. If the file has no actions, transitions
// with the same target become one, with the sum of their weights. The result uses the memory of row.
func (writer *Writer) writtenRow(row []writtenTransition, choice int) []writtenTransition {
	isMerging := writer.mergesParallel()
	row = row[:0]
	writer.rowBuffer = writer.sortedTransitions(writer.rowBuffer, choice)
	for _, index := range writer.rowBuffer {
		transition := writtenTransition{target: int(writer.stateNumbers[writer.model.Target[index]]), value: writer.transitionWeight(index)}
		if writer.model.Intervals() {
			transition.upperBound.fraction = writer.model.HighFraction(index)
		}
		if !isMerging && !writer.isNondeterministic() {
			transition.action = writer.actionName(index)
		}
		last := len(row) - 1
		hasTargetOfLast := last >= 0 && row[last].target == transition.target
		if isMerging && hasTargetOfLast {
			row[last].value = addNumbers(row[last].value, transition.value)
			row[last].upperBound = addNumbers(row[last].upperBound, transition.upperBound)
			continue
		}
		row = append(row, transition)
	}
	return row
}

// mergesParallel reports whether a Markov chain's transitions with the same target become one line. They do if the
// file has no actions.
func (writer *Writer) mergesParallel() bool {
	return !writer.isNondeterministic() && (writer.opts.NoActions || writer.opts.Format != Plain && !writer.opts.Symbolic)
}

// rewardRow returns the transitions of a choice that have a nonzero reward, in the order of the file. With Options.Zeros, they include the
// zeros that a reader needs. reward returns the reward of a transition. Transitions with the same target may become one, with their mean
// reward. The result uses the memory of row.
func (writer *Writer) rewardRow(row []writtenTransition, choice int, reward func(choice, transition int) number) []writtenTransition {
	// PRISM's symbolic engines write one reward per target.
	isMerging := writer.mergesParallel() || writer.opts.Symbolic && !writer.isNondeterministic()
	row = row[:0]
	writer.rowBuffer = writer.sortedTransitions(writer.rowBuffer, choice)
	transitions := writer.rowBuffer
	if isMerging {
		slices.SortStableFunc(transitions, writer.compareTargets)
	}
	for len(transitions) > 0 {
		numMerged := 1
		for isMerging && numMerged < len(transitions) && writer.compareTargets(transitions[0], transitions[numMerged]) == 0 {
			numMerged++
		}
		mean := writer.weightedMean(transitions[:numMerged], func(transition int) number { return reward(choice, transition) })
		isNeededZero := mean.isZero() && !isMerging && writer.needsZeros(transitions[0], choice, reward)
		if !mean.isZero() || isNeededZero {
			target := writer.stateNumbers[writer.model.Target[transitions[0]]]
			row = append(row, writtenTransition{target: int(target), value: mean})
		}
		transitions = transitions[numMerged:]
	}
	return row
}

// needsZeros reports whether the zero rewards of a transition, and of the others with the same source and target, must be written. The
// .trew file has no actions, so a reader cannot distinguish these transitions. If some have a reward, and their weights differ, it needs a
// line for each.
func (writer *Writer) needsZeros(transition, choice int, reward func(choice, transition int) number) bool {
	if !writer.opts.Zeros || writer.isNondeterministic() || writer.opts.Format != Plain {
		return false
	}
	first, end := writer.model.Transitions(choice)
	var parallel []int
	numRewards := 0
	for other := first; other < end; other++ {
		if writer.model.Target[other] != writer.model.Target[transition] {
			continue
		}
		parallel = append(parallel, other)
		if otherReward := reward(choice, other); !otherReward.isZero() {
			numRewards++
		}
	}
	return numRewards > 0 && numRewards < len(parallel) && !haveEqualWeights(writer.model, parallel)
}

// haveEqualWeights reports whether some transitions have the same weight. Then their rewards can be exchanged.
func haveEqualWeights(model *sparse.Model, transitions []int) bool {
	first := transitions[0]
	return !slices.ContainsFunc(transitions, func(transition int) bool {
		return model.Prob(transition) != model.Prob(first) || model.Exact() && model.Fraction(transition).Cmp(model.Fraction(first)) != 0
	})
}

// weightedMean returns the mean of a value over some transitions, weighted with their probabilities or rates.
func (writer *Writer) weightedMean(transitions []int, value func(transition int) number) number {
	if len(transitions) == 1 {
		return value(transitions[0])
	}
	sum, totalWeight := number{}, number{}
	for _, transition := range transitions {
		weight := writer.transitionWeight(transition)
		totalWeight = addNumbers(totalWeight, weight)
		sum = addNumbers(sum, multiplyNumbers(weight, value(transition)))
	}
	if totalWeight.fraction != nil {
		return number{fraction: new(big.Rat).Quo(sum.fraction, totalWeight.fraction)}
	}
	return number{float: sum.float / totalWeight.float}
}

// multiplyNumbers returns weight times value. If weight is a fraction, so is the result, and a value without a fraction
// counts as zero.
func multiplyNumbers(weight, value number) number {
	product := number{float: weight.float * value.float}
	if weight.fraction != nil {
		product.fraction = new(big.Rat).Mul(weight.fraction, cmp.Or(value.fraction, new(big.Rat)))
	}
	return product
}

// addNumbers returns the sum of two numbers. If one of them has a fraction, the other one must have a fraction or
// be zero.
func addNumbers(left, right number) number {
	sum := number{float: left.float + right.float}
	if left.fraction != nil || right.fraction != nil {
		sum.fraction = new(big.Rat).Add(cmp.Or(left.fraction, new(big.Rat)), cmp.Or(right.fraction, new(big.Rat)))
	}
	return sum
}

// compareTargets compares the targets of two transitions in the order of the file.
func (writer *Writer) compareTargets(left, right int) int {
	return cmp.Compare(writer.stateNumbers[writer.model.Target[left]], writer.stateNumbers[writer.model.Target[right]])
}

// plainWriter returns a writer for a format that ignores Options.Symbolic and Options.Format.
func (writer *Writer) plainWriter() *Writer {
	plain := *writer
	plain.opts.Symbolic, plain.opts.Format, plain.rowBuffer = false, Plain, nil
	return &plain
}

// sortedTransitions returns the transitions of a choice in the order of the file. They are sorted by target. In a Markov chain, transitions
// with the same target are sorted by the name of the action, and a missing action sorts as "null". PRISM's symbolic engines sort the
// transitions of a Markov chain by action first, in the order of actions in the model. The result uses the memory of transitions.
//
// Source: reference, section 6.
func (writer *Writer) sortedTransitions(transitions []int, choice int) []int {
	transitions = transitions[:0]
	first, end := writer.model.Transitions(choice)
	for transition := first; transition < end; transition++ {
		transitions = append(transitions, transition)
	}
	if writer.isNondeterministic() {
		writer.sortByTarget(transitions)
		return transitions
	}
	sortsByAction := writer.opts.Symbolic && !writer.opts.NoActions && writer.model.Actions != nil
	slices.SortStableFunc(transitions, func(left, right int) int {
		byTarget := writer.compareTargets(left, right)
		if sortsByAction {
			return cmp.Or(cmp.Compare(writer.model.Actions[left], writer.model.Actions[right]), byTarget)
		}
		return cmp.Or(byTarget, cmp.Compare(cmp.Or(writer.actionName(left), "null"), cmp.Or(writer.actionName(right), "null")))
	})
	return transitions
}

// sortByTarget sorts transitions by the number of their target in the file. Transitions with the same target keep their order. Most rows
// are short, and for them insertion sort is faster.
func (writer *Writer) sortByTarget(transitions []int) {
	if len(transitions) >= shortRow {
		slices.SortStableFunc(transitions, writer.compareTargets)
		return
	}
	for end := 1; end < len(transitions); end++ {
		for position := end; position > 0 && writer.compareTargets(transitions[position], transitions[position-1]) < 0; position-- {
			transitions[position], transitions[position-1] = transitions[position-1], transitions[position]
		}
	}
}

// sortedChoices returns the choices of a state in the order of the file. This is the order of the model. PRISM's symbolic engines write
// choices without an action first, and then the others in reverse order of their actions. For a model with a system block their order is
// unknown, and the error is a *compile.UnsupportedError. The result uses the memory of choices.
//
// Source: class Modules2MTBDD of PRISM. Its decision diagram has a variable for each action, and PRISM writes the
// branch for 0 before the branch for 1.
func (writer *Writer) sortedChoices(choices []int, state int) ([]int, error) {
	choices = choices[:0]
	first, end := writer.model.Choices(state)
	for choice := first; choice < end; choice++ {
		choices = append(choices, choice)
	}
	if len(choices) < 2 || !writer.opts.Symbolic || writer.space.Imported() { // imported choices keep their order
		return choices, nil
	}
	if writer.space.Program().System != nil {
		return nil, &compile.UnsupportedError{File: writer.program.File, Msg: "the order of choices in PRISM's symbolic engines, for a model with a system block"}
	}
	if writer.model.Actions == nil {
		return choices, nil
	}
	slices.SortStableFunc(choices, func(left, right int) int {
		return compareActionsReversed(writer.model.Actions[left], writer.model.Actions[right])
	})
	return choices, nil
}

// compareActionsReversed compares two actions for sorting: NoAction is the first, and others are in decreasing order of their numbers.
func compareActionsReversed(left, right sparse.Action) int {
	switch {
	case left == right:
		return 0
	case left == sparse.NoAction:
		return -1
	case right == sparse.NoAction:
		return 1
	}
	return cmp.Compare(right, left)
}
