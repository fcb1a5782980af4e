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
	target int
	value  number
	high   number // the upper bound of an interval; value is the lower bound
	action string
}

// writtenRow returns the transitions of a choice in the order of the file. If parallel transitions are merged, it
// adds the weights of transitions with the same target.
func (writer *Writer) writtenRow(dst []writtenTransition, choice int) []writtenTransition {
	isMerging := writer.mergesParallel()
	dst = dst[:0]
	writer.rowBuffer = writer.sortedTransitions(writer.rowBuffer, choice)
	for _, i := range writer.rowBuffer {
		transition := writtenTransition{target: int(writer.stateNumbers[writer.model.Target[i]]), value: writer.weight(i)}
		if writer.model.Intervals() {
			transition.high.rat = writer.model.HighRat(i)
		}
		if !isMerging && !writer.nondeterministic() {
			transition.action = writer.actionName(i)
		}
		last := len(dst) - 1
		hasTargetOfLast := last >= 0 && dst[last].target == transition.target
		if isMerging && hasTargetOfLast {
			dst[last].value = addNumbers(dst[last].value, transition.value)
			dst[last].high = addNumbers(dst[last].high, transition.high)
			continue
		}
		dst = append(dst, transition)
	}
	return dst
}

// mergesParallel reports whether a Markov chain's transitions with the same target become one line. They do if the
// file has no actions.
func (writer *Writer) mergesParallel() bool {
	return !writer.nondeterministic() && (writer.opts.NoActions || writer.opts.Format != Plain && !writer.opts.Symbolic)
}

// rewardRow returns the nonzero transition rewards of a choice in the order of the file. With Options.Zeros it
// also returns the zeros that a reader needs. reward returns the reward of a transition.
func (writer *Writer) rewardRow(dst []writtenTransition, choice int, reward func(choice, transition int) number) []writtenTransition {
	// PRISM's symbolic engines write one reward per target.
	isMerging := writer.mergesParallel() || writer.opts.Symbolic && !writer.nondeterministic()
	dst = dst[:0]
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
		mean := writer.mean(transitions[:numMerged], func(transition int) number { return reward(choice, transition) })
		isNeededZero := mean.isZero() && !isMerging && writer.isAmbiguous(transitions[0], choice, reward)
		if !mean.isZero() || isNeededZero {
			target := writer.stateNumbers[writer.model.Target[transitions[0]]]
			dst = append(dst, writtenTransition{target: int(target), value: mean})
		}
		transitions = transitions[numMerged:]
	}
	return dst
}

// isAmbiguous reports whether a reader needs the zero rewards of the transitions with the same source and target as a
// given transition. The .trew file has no actions, so a reader cannot distinguish such transitions.
func (writer *Writer) isAmbiguous(transition, choice int, reward func(choice, transition int) number) bool {
	if !writer.opts.Zeros || writer.nondeterministic() || writer.opts.Format != Plain {
		return false
	}
	first, end := writer.model.Row(choice)
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
	return !slices.ContainsFunc(transitions, func(target int) bool {
		return model.Prob(target) != model.Prob(first) || model.Exact() && model.Rat(target).Cmp(model.Rat(first)) != 0
	})
}

// mean returns the mean of the values of some transitions, weighted with their probabilities or rates.
func (writer *Writer) mean(transitions []int, value func(transition int) number) number {
	if len(transitions) == 1 {
		return value(transitions[0])
	}
	sum, totalWeight := number{}, number{}
	for _, transition := range transitions {
		weight := writer.weight(transition)
		totalWeight = addNumbers(totalWeight, weight)
		sum = addNumbers(sum, multiply(weight, value(transition)))
	}
	if totalWeight.rat != nil {
		return number{rat: new(big.Rat).Quo(sum.rat, totalWeight.rat)}
	}
	return number{float: sum.float / totalWeight.float}
}

// multiply returns weight times value. If weight is a fraction, so is the result, and a value without a fraction
// counts as zero.
func multiply(weight, value number) number {
	product := number{float: weight.float * value.float}
	if weight.rat != nil {
		product.rat = new(big.Rat).Mul(weight.rat, cmp.Or(value.rat, new(big.Rat)))
	}
	return product
}

// addNumbers returns the sum of two numbers. If one of them has a fraction, the other one must have a fraction or
// be zero.
func addNumbers(left, right number) number {
	sum := number{float: left.float + right.float}
	if left.rat != nil || right.rat != nil {
		sum.rat = new(big.Rat).Add(cmp.Or(left.rat, new(big.Rat)), cmp.Or(right.rat, new(big.Rat)))
	}
	return sum
}

// compareTargets compares the targets of two transitions in the order of the file.
func (writer *Writer) compareTargets(left, right int) int {
	return cmp.Compare(writer.stateNumbers[writer.model.Target[left]], writer.stateNumbers[writer.model.Target[right]])
}

// plainWriter returns a writer for a format that ignores Options.Symbolic and Options.Format.
func (writer *Writer) plainWriter() *Writer {
	out := *writer
	out.opts.Symbolic, out.opts.Format, out.rowBuffer = false, Plain, nil
	return &out
}

// sortedTransitions returns the transitions of a choice, sorted by target. In a Markov chain it sorts transitions
// with the same target by the name of the action. A missing action sorts as "null".
//
// PRISM's symbolic engines sort a Markov chain's transitions by action first, in the model's order of actions.
//
// Source: reference, section 6.
func (writer *Writer) sortedTransitions(dst []int, choice int) []int {
	dst = dst[:0]
	first, end := writer.model.Row(choice)
	for transition := first; transition < end; transition++ {
		dst = append(dst, transition)
	}
	if writer.nondeterministic() {
		writer.sortByTarget(dst)
		return dst
	}
	sortsByAction := writer.opts.Symbolic && !writer.opts.NoActions && writer.model.Actions != nil
	slices.SortStableFunc(dst, func(left, right int) int {
		byTarget := writer.compareTargets(left, right)
		if sortsByAction {
			return cmp.Or(cmp.Compare(writer.model.Actions[left], writer.model.Actions[right]), byTarget)
		}
		return cmp.Or(byTarget, cmp.Compare(cmp.Or(writer.actionName(left), "null"), cmp.Or(writer.actionName(right), "null")))
	})
	return dst
}

// sortByTarget sorts transitions by target. It uses insertion sort for short rows, because most rows are short.
func (writer *Writer) sortByTarget(transitions []int) {
	if len(transitions) >= shortRow {
		slices.SortStableFunc(transitions, writer.compareTargets)
		return
	}
	for i := 1; i < len(transitions); i++ {
		for j := i; j > 0 && writer.compareTargets(transitions[j], transitions[j-1]) < 0; j-- {
			transitions[j], transitions[j-1] = transitions[j-1], transitions[j]
		}
	}
}

// sortedChoices returns the choices of a state in the order of the file. PRISM's symbolic engines write choices
// without an action first, and then the actions in reverse order. In a model with a system block this order is
// unknown, and the error is a *compile.UnsupportedError.
//
// Source: class Modules2MTBDD of PRISM. Its decision diagram has a variable for each action, and PRISM writes the
// branch for 0 before the branch for 1.
func (writer *Writer) sortedChoices(dst []int, state int) ([]int, error) {
	dst = dst[:0]
	first, end := writer.model.Choices(state)
	for choice := first; choice < end; choice++ {
		dst = append(dst, choice)
	}
	if len(dst) < 2 || !writer.opts.Symbolic || writer.space.Imported() { // imported choices keep their order
		return dst, nil
	}
	if writer.space.Program().System != nil {
		return nil, &compile.UnsupportedError{File: writer.program.File, Msg: "the order of choices in PRISM's symbolic engines, for a model with a system block"}
	}
	if writer.model.Actions == nil {
		return dst, nil
	}
	slices.SortStableFunc(dst, func(left, right int) int {
		return compareActionsReversed(writer.model.Actions[left], writer.model.Actions[right])
	})
	return dst, nil
}

// compareActionsReversed compares two actions by their numbers, with greater numbers first. NoAction is before all
// of them.
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
