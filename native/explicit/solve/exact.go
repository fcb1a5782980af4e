package solve

import (
	"context"
	"errors"
	"math"
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
	b := y.newBand(opts, open, n)
	if p := y.newPowers(); p != nil {
		return p.steps(mt, b, n)
	}
	next := slices.Clone(y.v.Exact)
	return b.each(y.trace, mt, n, func(s uint32) (uint32, int) {
		best := y.bestRat(int(s))
		next[s] = best.value
		return best.choice, 1000 + effort(best.value)
	}, func() { y.v.Exact, next = next, y.v.Exact })
}

// each calls visit for the states whose values matter after each of n steps, and then
// done. Visit returns the choice made and the work it took.
func (b *band) each(trace *trace, mt *meter, n int, visit func(s uint32) (uint32, int), done func()) error {
	for k := range n {
		trace.begin()
		for _, s := range b.states {
			if b.from[s] >= n-k || b.to[s] > k+1 { // nobody asks, or it is zero as yet
				continue
			}
			choice, work := visit(s)
			trace.note(int(s), choice)
			if err := mt.did(work); err != nil {
				return err
			}
		}
		if err := mt.did(len(b.states)); err != nil {
			return err
		}
		done()
		trace.end(1)
		mt.progress.Done++
	}
	return nil
}

// band is in which steps the values of open states matter: from is how many steps away the
// next state is that is asked about, and to how many lie between a state and
// the next one that has a value other than zero.
type band struct {
	states   []uint32
	from, to []int
	narrow   bool // nobody asks about other states than those of which from is 0
}

func (y *system) newBand(opts Options, open *sparse.Set, steps int) *band {
	n := y.g.NumStates()
	b := &band{from: make([]int, n), to: make([]int, n), narrow: opts.Within != nil && y.trace == nil}
	if b.narrow {
		b.from = y.distances(opts.Within, open, func(s int, visit func(t int)) {
			first, end := y.g.Choices(s)
			for _, t := range y.g.Target[y.g.Start[first]:y.g.Start[end]] {
				visit(int(t))
			}
		})
	}
	if b.narrow && y.reward == nil {
		worth := sparse.NewSet(n)
		for s, x := range y.v.Exact {
			if x.Sign() != 0 {
				worth.Add(s)
			}
		}
		b.to = y.distances(worth, nil, func(s int, visit func(t int)) {
			for _, c := range y.g.Into(s) {
				visit(y.g.Owner(c))
			}
		})
	}
	for s := range open.All() {
		if b.from[s] < steps && b.to[s] <= steps-b.from[s] {
			b.states = append(b.states, uint32(s))
		}
	}
	return b
}

// distances returns how far from a set states are, where only open states, nil for all,
// are left.
func (y *system) distances(set, open *sparse.Set, neighbours func(s int, visit func(t int))) []int {
	out := slices.Repeat([]int{math.MaxInt}, y.g.NumStates())
	var queue []int
	for s := range set.All() {
		out[s] = 0
		queue = append(queue, s)
	}
	for at := 0; at < len(queue); at++ {
		s := queue[at]
		if open != nil && !open.Has(s) {
			continue
		}
		neighbours(s, func(t int) {
			if out[t] == math.MaxInt {
				out[t] = out[s] + 1
				queue = append(queue, t)
			}
		})
	}
	return out
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
