package solve

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"tilecheck/native/explicit/sparse"
)

// ErrNotExact says that a model of doubles cannot be solved exactly.
var ErrNotExact = errors.New("the model's weights are not known exactly")

// fractions gives one component its values and returns the work that took.
func (y *system) fractions(members []uint32, ws *workspace, mt *meter) (work int, err error) {
	if len(members) == 1 {
		y.single(int(members[0]))
	} else if err := y.several(members, ws, mt); err != nil {
		return 0, err
	}
	return len(members) * (100 + effort(y.v.Exact[members[0]])), nil
}

func (y *system) several(members []uint32, ws *workspace, mt *meter) error {
	l := y.local(members, ws)
	if len(l.origin) >= len(l.first) { // doubles find good choices to start from
		if err := l.solve(mt, Options{}, 1e-6); err != nil {
			return err
		}
	}
	e := y.exactLocal(l, ws)
	if err := e.iterate(mt); err != nil {
		return err
	}
	copy(l.how, e.choice)
	y.schedule(l, members, ws)
	values := make([]*big.Rat, len(e.choice)) // states may share an unknown
	for _, s := range members {
		k := ws.number[s]
		if values[k] == nil {
			values[k] = e.value(k)
		}
		y.v.assign(int(s), values[k])
	}
	ws.forget(members)
	return nil
}

// exactSteps is steps, in fractions, which hardly ever stay the same.
func (y *system) exactSteps(ctx context.Context, opts Options, open *sparse.Set, n int) error {
	mt := newMeter(ctx, opts, n)
	next := slices.Clone(y.v.Exact)
	for range n {
		y.trace.begin()
		for s := range open.All() {
			best := y.bestRat(s)
			next[s] = best.value
			y.trace.note(s, best.choice)
			if err := mt.did(1000 + effort(best.value)); err != nil {
				return err
			}
		}
		y.v.Exact, next = next, y.v.Exact
		y.trace.end(1)
		mt.progress.Done++
	}
	return nil
}

// effort estimates the operations that bring a fraction to lowest terms, which takes
// most of the time where fractions are long.
func effort(x *big.Rat) int {
	if x == nil {
		return 0
	}
	words := (x.Num().BitLen() + x.Denom().BitLen()) / 64
	return words * words
}

// single solves the equation of a component of one state.
func (y *system) single(s int) {
	best := y.bestRat(s)
	if best.choice == sparse.None {
		return
	}
	if y.v.Scheduler != nil {
		y.v.Scheduler[s] = best.choice
	}
	y.v.assign(s, best.value)
}

// bestExact is the best choice of a state, the first of them, and what it is worth.
type bestExact struct {
	value  *big.Rat
	choice uint32
}

// bestRat is optimum, exactly.
func (y *system) bestRat(s int) bestExact {
	best := bestExact{choice: sparse.None}
	first, end := y.g.Choices(s)
	for c := first; c < end; c++ {
		if !y.usable(c) {
			continue
		}
		x := y.choiceRat(s, c)
		if x == nil || x == best.value {
			continue
		}
		if best.value == nil || x.Cmp(best.value) != 0 && (x.Cmp(best.value) < 0) == y.min {
			best = bestExact{x, uint32(c)}
		}
	}
	return best
}

// choiceRat is eval, exactly; nil for a choice that does not leave the state.
func (y *system) choiceRat(s, c int) *big.Rat {
	leave := !y.step
	gain := y.reward.GainRat(s, c)
	first, end := y.g.Row(c)
	if end-first == 1 && gain.Sign() == 0 && !(leave && int(y.g.Target[first]) == s) {
		if w := y.g.Rat(first); y.g.Kind == sparse.CTMC || w.IsInt() && w.Num().IsInt64() && w.Num().Int64() == 1 {
			return y.v.Exact[y.g.Target[first]]
		}
	}
	y.sum.reset()
	y.sum.addRat(gain)
	divide, leaves := y.g.Kind == sparse.CTMC, false
	for i := first; i < end; {
		w := y.g.Rat(i)
		y.term.reset()
		for ; i < end && y.g.Rat(i) == w; i++ { // equal weights are one
			if t := int(y.g.Target[i]); leave && t == s {
				divide = true
			} else {
				leaves = true
				y.term.addRat(y.v.Exact[t])
			}
		}
		y.sum.addProduct(w, &y.term)
	}
	switch {
	case !leaves:
		return nil
	case !divide:
		return y.sum.rat()
	}
	y.part.reset()
	for i := first; i < end; i++ {
		if !leave || int(y.g.Target[i]) != s {
			y.part.addRat(y.g.Rat(i))
		}
	}
	y.sum.num.Mul(&y.sum.num, &y.part.den)
	y.sum.den.Mul(&y.sum.den, &y.part.num)
	return y.sum.rat()
}
