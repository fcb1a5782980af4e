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
	high   number // the upper bound of an interval; x is the lower bound
	action string
}

// writtenRow returns the transitions of a choice in the order of the file. If mergesParallel, the
// weights of transitions with the same target are summed.
func (w *Writer) writtenRow(dst []writtenTransition, choice int) []writtenTransition {
	merges := w.mergesParallel()
	dst = dst[:0]
	w.rowBuffer = w.sortedTransitions(w.rowBuffer, choice)
	for _, target := range w.rowBuffer {
		transition := writtenTransition{target: int(w.stateNumbers[w.model.Target[target]]), value: w.weight(target)}
		if w.model.Intervals() {
			transition.high.rat = w.model.HighRat(target)
		}
		if !merges {
			if !w.nondeterministic() {
				transition.action = w.actionName(target)
			}
		} else if n := len(dst); n > 0 && dst[n-1].target == transition.target {
			dst[n-1].value, dst[n-1].high = addNumbers(dst[n-1].value, transition.value), addNumbers(dst[n-1].high, transition.high)
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

// rewardRow returns the nonzero transition rewards of a choice in the order of the file. With
// Options.Zeros it also returns zeros that a reader needs to assign the others. PRISM's symbolic
// engines write one reward per target.
func (w *Writer) rewardRow(dst []writtenTransition, choice int, reward func(choice, target int) number) []writtenTransition {
	merges := w.mergesParallel() || w.opts.Symbolic && !w.nondeterministic()
	dst = dst[:0]
	w.rowBuffer = w.sortedTransitions(w.rowBuffer, choice)
	transitions := w.rowBuffer
	if merges {
		slices.SortStableFunc(transitions, w.compareTargets)
	}
	for len(transitions) > 0 {
		numSameTarget := 1
		for merges && numSameTarget < len(transitions) && w.compareTargets(transitions[0], transitions[numSameTarget]) == 0 {
			numSameTarget++
		}
		mean := w.mean(transitions[:numSameTarget], func(target int) number { return reward(choice, target) })
		if !mean.isZero() || !merges && w.isAmbiguous(transitions[0], choice, reward) {
			dst = append(dst, writtenTransition{target: int(w.stateNumbers[w.model.Target[transitions[0]]]), value: mean})
		}
		transitions = transitions[numSameTarget:]
	}
	return dst
}

// isAmbiguous reports whether a reader of a .trew file could not know which transitions of a Markov
// chain with the same target have a nonzero reward. Only actions distinguish them, and .trew
// files have no actions.
func (w *Writer) isAmbiguous(target, choice int, reward func(choice, target int) number) bool {
	if !w.opts.Zeros || w.nondeterministic() || w.opts.Format != Plain {
		return false
	}
	first, end := w.model.Row(choice)
	var parallel []int
	rewarded := 0
	for other := first; other < end; other++ {
		if w.model.Target[other] == w.model.Target[target] {
			parallel = append(parallel, other)
			if otherReward := reward(choice, other); !otherReward.isZero() {
				rewarded++
			}
		}
	}
	return rewarded > 0 && rewarded < len(parallel) && !haveEqualWeights(w.model, parallel)
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
func (w *Writer) mean(transitions []int, value func(target int) number) number {
	if len(transitions) == 1 {
		return value(transitions[0])
	}
	sum, total := number{}, number{}
	for _, target := range transitions {
		v, weighted := value(target), w.weight(target)
		total = addNumbers(total, weighted)
		if weighted.rat != nil {
			weighted.rat = new(big.Rat).Mul(weighted.rat, cmp.Or(v.rat, new(big.Rat)))
		}
		weighted.float *= v.float
		sum = addNumbers(sum, weighted)
	}
	if total.rat != nil {
		return number{rat: new(big.Rat).Quo(sum.rat, total.rat)}
	}
	return number{float: sum.float / total.float}
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
	if w.nondeterministic() && len(dst) < shortRow { // insertion sort, because most rows are short
		for i := 1; i < len(dst); i++ {
			for j := i; j > 0 && w.compareTargets(dst[j], dst[j-1]) < 0; j-- {
				dst[j], dst[j-1] = dst[j-1], dst[j]
			}
		}
		return dst
	}
	symbolic := w.opts.Symbolic && !w.opts.NoActions && w.model.Actions != nil
	slices.SortStableFunc(dst, func(a, b int) int {
		byTarget := w.compareTargets(a, b)
		switch {
		case w.nondeterministic():
			return byTarget
		case symbolic:
			return cmp.Or(cmp.Compare(w.model.Actions[a], w.model.Actions[b]), byTarget)
		}
		return cmp.Or(byTarget, cmp.Compare(cmp.Or(w.actionName(a), "null"), cmp.Or(w.actionName(b), "null")))
	})
	return dst
}

// sortedChoices returns the choices of a state in the order of the file. PRISM's symbolic engines
// write choices without an action first, then the actions in reverse order; choices with the same
// action keep their order. A system block can rename and hide actions, so that the order is
// unknown; this is a *compile.UnsupportedError.
//
// Source: Modules2MTBDD of PRISM. Each action has a variable of the decision diagram, and the value
// 1 is after 0. The variables that distinguish choices with the same action are below them.
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
	slices.SortStableFunc(dst, func(a, b int) int {
		actionA, actionB := w.model.Actions[a], w.model.Actions[b]
		if actionA == sparse.NoAction || actionB == sparse.NoAction {
			return cmp.Compare(actionA, actionB)
		}
		return cmp.Compare(actionB, actionA)
	})
	return dst, nil
}
