package files

import (
	"cmp"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
)

// step is a transition as written: the number of its target, its weight or reward, and its action,
// or "".
type step struct {
	target int
	x      number
	high   number // the upper bound of an interval; x is the lower bound
	action string
}

// weights returns the transitions of choice c in the order of the file.
func (w *Writer) weights(dst []step, c int) []step {
	merged := w.merged()
	dst = dst[:0]
	w.row = w.sorted(w.row, c)
	for _, t := range w.row {
		s := step{target: int(w.numbers[w.model.Target[t]]), x: w.weightOf(t)}
		if w.model.Intervals() {
			s.high.r = w.model.HighRat(t)
		}
		if !merged {
			if !w.nondeterministic() {
				s.action = w.action(t)
			}
		} else if n := len(dst); n > 0 && dst[n-1].target == s.target {
			dst[n-1].x, dst[n-1].high = plus(dst[n-1].x, s.x), plus(dst[n-1].high, s.high)
			continue
		}
		dst = append(dst, s)
	}
	return dst
}

// merged reports whether the transitions of a Markov chain with the same target become one line,
// because their actions are not written.
func (w *Writer) merged() bool {
	return !w.nondeterministic() && (w.opts.NoActions || w.opts.Format != Plain && !w.opts.Symbolic)
}

// rewardSteps returns the nonzero transition rewards of choice c, in the order of the file. With
// Options.Zeros it adds zeros where a reader could not assign the others. PRISM's symbolic engines
// write one reward per target.
func (w *Writer) rewardSteps(dst []step, c int, reward func(c, t int) number) []step {
	merged := w.merged() || w.opts.Symbolic && !w.nondeterministic()
	dst = dst[:0]
	w.row = w.sorted(w.row, c)
	row := w.row
	if merged {
		slices.SortStableFunc(row, w.byTarget)
	}
	for len(row) > 0 {
		n := 1
		for merged && n < len(row) && w.byTarget(row[0], row[n]) == 0 {
			n++
		}
		if x := w.mean(row[:n], func(t int) number { return reward(c, t) }); !x.zero() || !merged && w.ambiguous(row[0], c, reward) {
			dst = append(dst, step{target: int(w.numbers[w.model.Target[row[0]]]), x: x})
		}
		row = row[n:]
	}
	return dst
}

// ambiguous reports whether a reader could not know which transitions of a Markov chain with the
// same target as t have a nonzero reward: only their actions differ, and .trew files have no
// actions.
func (w *Writer) ambiguous(t, c int, reward func(c, t int) number) bool {
	if !w.opts.Zeros || w.nondeterministic() || w.opts.Format != Plain {
		return false
	}
	lo, hi := w.model.Row(c)
	var parallel []int
	rewarded := 0
	for u := lo; u < hi; u++ {
		if w.model.Target[u] == w.model.Target[t] {
			parallel = append(parallel, u)
			if x := reward(c, u); !x.zero() {
				rewarded++
			}
		}
	}
	return rewarded > 0 && rewarded < len(parallel) && !interchangeable(w.model, parallel)
}

// interchangeable reports whether transitions have the same weight, so that it does not matter
// which of them has which reward.
func interchangeable(m *sparse.Model, transitions []int) bool {
	first := transitions[0]
	return !slices.ContainsFunc(transitions, func(t int) bool {
		return m.Prob(t) != m.Prob(first) || m.Exact() && m.Rat(t).Cmp(m.Rat(first)) != 0
	})
}

// mean returns the mean of the values of transitions, weighted by their weights.
func (w *Writer) mean(row []int, value func(t int) number) number {
	if len(row) == 1 {
		return value(row[0])
	}
	sum, total := number{}, number{}
	for _, t := range row {
		x, y := value(t), w.weightOf(t)
		total = plus(total, y)
		if y.r != nil {
			y.r = new(big.Rat).Mul(y.r, cmp.Or(x.r, new(big.Rat)))
		}
		y.f *= x.f
		sum = plus(sum, y)
	}
	if total.r != nil {
		return number{r: new(big.Rat).Quo(sum.r, total.r)}
	}
	return number{f: sum.f / total.f}
}

// plus adds two numbers. If one has a fraction, the other must have one too or be zero.
func plus(a, b number) number {
	sum := number{f: a.f + b.f}
	if a.r != nil || b.r != nil {
		sum.r = new(big.Rat).Add(cmp.Or(a.r, new(big.Rat)), cmp.Or(b.r, new(big.Rat)))
	}
	return sum
}

func (w *Writer) byTarget(a, b int) int {
	return cmp.Compare(w.numbers[w.model.Target[a]], w.numbers[w.model.Target[b]])
}

// withoutVariants returns a writer for the formats that ignore Options.Symbolic and
// Options.Format.
func (w *Writer) withoutVariants() *Writer {
	out := *w
	out.opts.Symbolic, out.opts.Format, out.row = false, Plain, nil
	return &out
}

// sorted returns the transitions of choice c sorted by target and, in a Markov chain, by action; a
// missing action sorts as "null". In the format of PRISM's symbolic engines, a Markov chain's
// transitions are sorted by action first, in the model's order of actions.
//
// Source: reference, section 6.
func (w *Writer) sorted(dst []int, c int) []int {
	dst = dst[:0]
	lo, hi := w.model.Row(c)
	for t := lo; t < hi; t++ {
		dst = append(dst, t)
	}
	if w.nondeterministic() && len(dst) < shortRow { // most rows of most models
		for i := 1; i < len(dst); i++ {
			for j := i; j > 0 && w.byTarget(dst[j], dst[j-1]) < 0; j-- {
				dst[j], dst[j-1] = dst[j-1], dst[j]
			}
		}
		return dst
	}
	symbolic := w.opts.Symbolic && !w.opts.NoActions && w.model.Actions != nil
	slices.SortStableFunc(dst, func(a, b int) int {
		d := w.byTarget(a, b)
		switch {
		case w.nondeterministic():
			return d
		case symbolic:
			return cmp.Or(cmp.Compare(w.model.Actions[a], w.model.Actions[b]), d)
		}
		return cmp.Or(d, cmp.Compare(cmp.Or(w.action(a), "null"), cmp.Or(w.action(b), "null")))
	})
	return dst
}

// choices returns the choices of a state in the order of the file. PRISM's symbolic engines write
// choices without an action first, then the actions in reverse order; choices with the same action
// keep their order. A system block can rename and hide actions, so their order is unknown, which
// is a *compile.UnsupportedError.
//
// Source: Modules2MTBDD of PRISM. Each action has a variable of the decision diagram, and 1 comes after 0; the variables that distinguish choices with the same action come after those.
func (w *Writer) choices(dst []int, state int) ([]int, error) {
	dst = dst[:0]
	first, end := w.model.Choices(state)
	for c := first; c < end; c++ {
		dst = append(dst, c)
	}
	if len(dst) < 2 || !w.opts.Symbolic || w.space.Imported() { // imported choices keep their order
		return dst, nil
	}
	if w.space.Program().System != nil {
		return nil, &compile.UnsupportedError{File: w.program.File, Msg: "the order in which PRISM's symbolic engines have the choices of a model with a system block"}
	}
	if w.model.Actions == nil {
		return dst, nil
	}
	slices.SortStableFunc(dst, func(a, b int) int {
		x, y := w.model.Actions[a], w.model.Actions[b]
		if x == sparse.NoAction || y == sparse.NoAction {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(y, x)
	})
	return dst, nil
}
