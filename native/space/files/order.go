package files

import (
	"cmp"
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
)

// step is a transition as it is written: its target by number, its weight or
// reward, and its action, which may be "".
type step struct {
	target int
	x      number
	high   number // the upper end of an interval, whose lower one is x
	action string
}

// weights lists the transitions of a choice in the order of the file.
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

// merged reports whether transitions of a Markov chain with one target are one
// line: nothing that is written would tell them apart.
func (w *Writer) merged() bool {
	return !w.nondeterministic() && (w.opts.NoActions || w.opts.Format != Plain && !w.opts.Symbolic)
}

// earnings lists the rewards of the transitions of a choice that are not zero,
// and with Options.Zeros those that are where the others would not say which
// transitions they are of. PRISM's symbolic engines have one per target.
func (w *Writer) earnings(dst []step, c int, earned func(c, t int) number) []step {
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
		if x := w.mean(row[:n], func(t int) number { return earned(c, t) }); !x.zero() || !merged && w.unclear(row[0], c, earned) {
			dst = append(dst, step{target: int(w.numbers[w.model.Target[row[0]]]), x: x})
		}
		row = row[n:]
	}
	return dst
}

// unclear reports whether it matters which of the transitions of a Markov chain
// with the target of t, which only actions tell apart, are those that earn
// nothing: lines of .trew files have no actions.
func (w *Writer) unclear(t, c int, earned func(c, t int) number) bool {
	if !w.opts.Zeros || w.nondeterministic() || w.opts.Format != Plain {
		return false
	}
	lo, hi := w.model.Row(c)
	var parallel []int
	earning := 0
	for u := lo; u < hi; u++ {
		if w.model.Target[u] == w.model.Target[t] {
			parallel = append(parallel, u)
			if x := earned(c, u); !x.zero() {
				earning++
			}
		}
	}
	return earning > 0 && earning < len(parallel) && !interchangeable(w.model, parallel)
}

// interchangeable reports whether transitions have one weight, so that no value
// depends on which of them earns what.
func interchangeable(m *sparse.Model, transitions []int) bool {
	first := transitions[0]
	return !slices.ContainsFunc(transitions, func(t int) bool {
		return m.Prob(t) != m.Prob(first) || m.Exact() && m.Rat(t).Cmp(m.Rat(first)) != 0
	})
}

// mean returns the mean of the values of transitions by their weights.
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

// plus adds numbers; if one is a fraction, so is the other or it is zero.
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

// explicitly returns a writer of formats that have no variants.
func (w *Writer) explicitly() *Writer {
	out := *w
	out.opts.Symbolic, out.opts.Format, out.row = false, Plain, nil
	return &out
}

// sorted lists the transitions of a choice by target and then, in a Markov
// chain, by action, where no action compares as the word null. As PRISM's
// symbolic engines write them, those of a Markov chain are by action first, in
// the order in which the model has the actions.
//
// Source: reference, section 6.
func (w *Writer) sorted(dst []int, c int) []int {
	dst = dst[:0]
	lo, hi := w.model.Row(c)
	for t := lo; t < hi; t++ {
		dst = append(dst, t)
	}
	if w.nondeterministic() && len(dst) < short { // most rows of most models
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

// choices lists the choices of a state in the order of the file. PRISM's symbolic
// engines have those without an action first and then the actions in the reverse of
// their order; choices of one action keep theirs. With a system block, which can
// rename and hide actions, the order is not known and refused with a
// *compile.UnsupportedError.
//
// Source: Modules2MTBDD of PRISM. Every action has a variable of the decision
// diagram, and a one comes after a zero; the variables that tell the choices of one
// action apart come behind.
func (w *Writer) choices(dst []int, state int) ([]int, error) {
	dst = dst[:0]
	first, end := w.model.Choices(state)
	for c := first; c < end; c++ {
		dst = append(dst, c)
	}
	if len(dst) < 2 || !w.opts.Symbolic || w.space.Imported() { // choices of files keep their order
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
