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

// writtenRow returns the transitions of a choice in the order of the file. If mergesParallel, the
// weights of transitions with the same target are summed.
func (w *Writer) writtenRow(dst []writtenTransition, choice int) []writtenTransition {
	merges := w.mergesParallel()
	dst = dst[:0]
	w.rowBuffer = w.sortedTransitions(w.rowBuffer, choice)
	for _, i := range w.rowBuffer {
		transition := writtenTransition{target: int(w.stateNumbers[w.model.Target[i]]), value: w.weight(i)}
		if w.model.Intervals() {
			transition.high.rat = w.model.HighRat(i)
		}
		if !merges && !w.nondeterministic() {
			transition.action = w.actionName(i)
		}
		last := len(dst) - 1
		if merges && last >= 0 && dst[last].target == transition.target {
			dst[last].value = addNumbers(dst[last].value, transition.value)
			dst[last].high = addNumbers(dst[last].high, transition.high)
			continue
		}
		dst = append(dst, transition)
	}
	return dst
}

// mergesParallel reports whether transitions of a Markov chain with the same target become one line.
// That is the case if actions, which distinguish them, are not written.
func (w *Writer) mergesParallel() bool {
	return !w.nondeterministic() && (w.opts.NoActions || w.opts.Format != Plain && !w.opts.Symbolic)
}

// rewardRow returns the nonzero transition rewards of a choice in the order of the file. reward returns the reward of a transition. With
// Options.Zeros the result also has the zeros that a reader needs to assign the other rewards. PRISM's symbolic engines write one reward
// per target.
func (w *Writer) rewardRow(dst []writtenTransition, choice int, reward func(choice, transition int) number) []writtenTransition {
	merges := w.mergesParallel() || w.opts.Symbolic && !w.nondeterministic()
	dst = dst[:0]
	w.rowBuffer = w.sortedTransitions(w.rowBuffer, choice)
	transitions := w.rowBuffer
	if merges {
		slices.SortStableFunc(transitions, w.compareTargets)
	}
	for len(transitions) > 0 {
		numMerged := 1
		for merges && numMerged < len(transitions) && w.compareTargets(transitions[0], transitions[numMerged]) == 0 {
			numMerged++
		}
		mean := w.mean(transitions[:numMerged], func(transition int) number { return reward(choice, transition) })
		if !mean.isZero() || !merges && w.isAmbiguous(transitions[0], choice, reward) {
			target := w.stateNumbers[w.model.Target[transitions[0]]]
			dst = append(dst, writtenTransition{target: int(target), value: mean})
		}
		transitions = transitions[numMerged:]
	}
	return dst
}

// isAmbiguous reports whether a reader of a .trew file could not know which transitions of a Markov
// chain with the same target as the given one have a nonzero reward. Only actions distinguish them, and .trew
// files have no actions.
func (w *Writer) isAmbiguous(transition, choice int, reward func(choice, transition int) number) bool {
	if !w.opts.Zeros || w.nondeterministic() || w.opts.Format != Plain {
		return false
	}
	first, end := w.model.Row(choice)
	var parallel []int
	numRewards := 0
	for other := first; other < end; other++ {
		if w.model.Target[other] != w.model.Target[transition] {
			continue
		}
		parallel = append(parallel, other)
		if otherReward := reward(choice, other); !otherReward.isZero() {
			numRewards++
		}
	}
	return numRewards > 0 && numRewards < len(parallel) && !haveEqualWeights(w.model, parallel)
}

// haveEqualWeights reports whether transitions have the same weight. Then it does not matter which
// of them has which reward.
func haveEqualWeights(model *sparse.Model, transitions []int) bool {
	first := transitions[0]
	return !slices.ContainsFunc(transitions, func(target int) bool {
		return model.Prob(target) != model.Prob(first) || model.Exact() && model.Rat(target).Cmp(model.Rat(first)) != 0
	})
}

// mean returns the mean of the values of transitions, weighted with their probabilities or rates.
func (w *Writer) mean(transitions []int, value func(transition int) number) number {
	if len(transitions) == 1 {
		return value(transitions[0])
	}
	sum, totalWeight := number{}, number{}
	for _, transition := range transitions {
		weight := w.weight(transition)
		totalWeight = addNumbers(totalWeight, weight)
		sum = addNumbers(sum, multiply(weight, value(transition)))
	}
	if totalWeight.rat != nil {
		return number{rat: new(big.Rat).Quo(sum.rat, totalWeight.rat)}
	}
	return number{float: sum.float / totalWeight.float}
}

// multiply returns weight times value, as a fraction if weight is one. A value without a fraction then counts as zero.
func multiply(weight, value number) number {
	product := number{float: weight.float * value.float}
	if weight.rat != nil {
		product.rat = new(big.Rat).Mul(weight.rat, cmp.Or(value.rat, new(big.Rat)))
	}
	return product
}

// addNumbers returns a+b. If one has a fraction, the other must have a fraction too or be zero.
func addNumbers(a, b number) number {
	sum := number{float: a.float + b.float}
	if a.rat != nil || b.rat != nil {
		sum.rat = new(big.Rat).Add(cmp.Or(a.rat, new(big.Rat)), cmp.Or(b.rat, new(big.Rat)))
	}
	return sum
}

// compareTargets compares the targets of two transitions in the order of the file.
func (w *Writer) compareTargets(a, b int) int {
	return cmp.Compare(w.stateNumbers[w.model.Target[a]], w.stateNumbers[w.model.Target[b]])
}

// plainWriter returns a writer for a format that ignores Options.Symbolic and Options.Format.
func (w *Writer) plainWriter() *Writer {
	out := *w
	out.opts.Symbolic, out.opts.Format, out.rowBuffer = false, Plain, nil
	return &out
}

// sortedTransitions returns the transitions of a choice, sorted by target and, in a Markov chain,
// by the name of the action; a missing action sorts as "null". PRISM's symbolic engines write a
// Markov chain's transitions sorted by action first, in the model's order of actions.
//
// Source: reference, section 6.
func (w *Writer) sortedTransitions(dst []int, choice int) []int {
	dst = dst[:0]
	first, end := w.model.Row(choice)
	for transition := first; transition < end; transition++ {
		dst = append(dst, transition)
	}
	if w.nondeterministic() {
		w.sortByTarget(dst)
		return dst
	}
	sortsByAction := w.opts.Symbolic && !w.opts.NoActions && w.model.Actions != nil
	slices.SortStableFunc(dst, func(a, b int) int {
		byTarget := w.compareTargets(a, b)
		if sortsByAction {
			return cmp.Or(cmp.Compare(w.model.Actions[a], w.model.Actions[b]), byTarget)
		}
		return cmp.Or(byTarget, cmp.Compare(cmp.Or(w.actionName(a), "null"), cmp.Or(w.actionName(b), "null")))
	})
	return dst
}

// sortByTarget sorts transitions by target. It sorts a short row by insertion, because most rows are short.
func (w *Writer) sortByTarget(transitions []int) {
	if len(transitions) >= shortRow {
		slices.SortStableFunc(transitions, w.compareTargets)
		return
	}
	for i := 1; i < len(transitions); i++ {
		for j := i; j > 0 && w.compareTargets(transitions[j], transitions[j-1]) < 0; j-- {
			transitions[j], transitions[j-1] = transitions[j-1], transitions[j]
		}
	}
}

// sortedChoices returns the choices of a state in the order of the file. PRISM's symbolic engines
// write choices without an action first, then the actions in the reverse order of their numbers; choices with the
// same action keep their order. If the model has a system block, which can rename and hide actions, the order is
// unknown, and sortedChoices returns a *compile.UnsupportedError.
//
// Source: class Modules2MTBDD of PRISM. The decision diagram has a Boolean variable for each action, in the order of the
// actions. PRISM writes the branch in which a variable is 0 before the branch in which it is 1, so the choices of the
// first action are the last ones.
func (w *Writer) sortedChoices(dst []int, state int) ([]int, error) {
	dst = dst[:0]
	first, end := w.model.Choices(state)
	for choice := first; choice < end; choice++ {
		dst = append(dst, choice)
	}
	if len(dst) < 2 || !w.opts.Symbolic || w.space.Imported() { // imported choices keep their order
		return dst, nil
	}
	if w.space.Program().System != nil {
		return nil, &compile.UnsupportedError{File: w.program.File, Msg: "the order of choices in PRISM's symbolic engines, for a model with a system block"}
	}
	if w.model.Actions == nil {
		return dst, nil
	}
	slices.SortStableFunc(dst, func(a, b int) int { return compareActionsReversed(w.model.Actions[a], w.model.Actions[b]) })
	return dst, nil
}

// compareActionsReversed compares two actions in an order in which NoAction is first, and greater numbers of actions are before
// smaller ones.
func compareActionsReversed(a, b sparse.Action) int {
	switch {
	case a == b:
		return 0
	case a == sparse.NoAction:
		return -1
	case b == sparse.NoAction:
		return 1
	}
	return cmp.Compare(b, a)
}
