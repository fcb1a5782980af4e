package certify

import (
	"math/big"
	"math/bits"
	"slices"

	"tilecheck/certify/certificate"
)

// steps is rule 4: the values of a number of steps are computed, once with every
// operation rounded down and once rounded up, to multiples of a power of two.
func (p *proof) steps() (bounds, error) {
	if p.m.Exit != nil && p.v.Kind != certificate.Next {
		return bounds{}, p.fail("values of a bounded time are not supported for a CTMC")
	}
	b := bounds{}
	for _, up := range []bool{false, true} {
		x := &certificate.Values{Scale: 62}
		w := &walk{proof: p, up: up, out: x}
		if err := w.run(); err != nil {
			return b, err
		}
		if up {
			b.high = x
		} else {
			b.low = x
		}
	}
	if p.v.Kind == certificate.Next || p.v.Kind == certificate.Steps {
		b.ceiling = one
	}
	return b, nil
}

// walk computes one of the bounds.
type walk struct {
	*proof
	up      bool
	out     *certificate.Values
	rewards []uint64 // rounded, by number
}

func (w *walk) run() error {
	v := w.v
	member := func(i int) func(s int) bool {
		if w.up {
			return w.sets[i].maybe.Has
		}
		return w.sets[i].in.Has
	}
	w.out.Fixed = make([]uint64, w.n)
	free := func(int) (uint64, bool) { return 0, false }
	switch v.Kind {
	case certificate.Next:
		w.begin(member(v.Right))
		return w.walk(1, free)
	case certificate.Steps:
		left, right := member(v.Left), member(v.Right)
		from := v.From
		if v.To < 0 {
			if err := w.until(); err != nil {
				return err
			}
			w.unbounded()
		} else {
			w.begin(right)
			if err := w.walk(v.To-from, func(s int) (uint64, bool) {
				if right(s) {
					return 1 << 62, true
				}
				return 0, !left(s)
			}); err != nil {
				return err
			}
		}
		return w.walk(from, func(s int) (uint64, bool) { return 0, !left(s) })
	}
	structure := w.m.Rewards[v.Reward]
	w.r = w.earned()
	values := w.r.rats
	if v.Kind == certificate.Instant {
		values = w.m.Numbers
	}
	most := new(big.Int).SetInt64(1)
	for _, x := range values {
		if k := new(big.Int).Quo(x.Num(), x.Denom()); k.Cmp(most) > 0 {
			most = k
		}
	}
	// Every step adds at most the greatest reward, and roundings of less than 1.
	size := most.Add(most, big.NewInt(2)).BitLen() + bits.Len(uint(v.To)+1)
	if size > 54 {
		return w.fail("the rewards are too large to be added up")
	}
	w.out.Scale = uint(62 - size)
	for _, x := range values {
		w.rewards = append(w.rewards, w.round(x))
	}
	if v.Kind == certificate.Cumulative {
		return w.walk(v.To, free)
	}
	for s := range w.n {
		if structure.State != nil {
			w.out.Fixed[s] = w.rewards[structure.State[s]]
		}
	}
	w.rewards = nil
	return w.walk(v.To, free)
}

// begin is 1 in a set, and 0 elsewhere.
func (w *walk) begin(set func(s int) bool) {
	for s := range w.n {
		if set(s) {
			w.out.Fixed[s] = 1 << 62
		}
	}
}

// unbounded begins with the bounds that are proven without a bound of the steps.
func (w *walk) unbounded() {
	b := bounds{low: w.v.Lower, high: w.v.Upper, ceiling: one}
	for s := range w.n {
		if w.up {
			w.out.Fixed[s] = w.round(b.upper(s))
		} else {
			w.out.Fixed[s] = w.round(b.lower(s))
		}
	}
}

// round is a fraction as a multiple of 2^-Scale.
func (w *walk) round(x *big.Rat) uint64 {
	k, rest := new(big.Int).QuoRem(new(big.Int).Lsh(x.Num(), w.out.Scale), x.Denom(), new(big.Int))
	if w.up && rest.Sign() > 0 {
		k.Add(k, big.NewInt(1))
	}
	return k.Uint64()
}

// walk makes steps, but for states whose value is given.
func (w *walk) walk(steps int, given func(s int) (uint64, bool)) error {
	last, next := w.out.Fixed, make([]uint64, w.n)
	for range steps {
		if err := w.each(w.part, func(s int) string {
			x, ok := given(s)
			if !ok {
				first, end := w.m.Choices(s)
				x = w.row(first, last)
				for i := first + 1; i < end; i++ {
					if y := w.row(i, last); (y > x) == w.v.Max {
						x = y
					}
				}
			}
			next[s] = x
			return ""
		}); err != nil {
			return err
		}
		if slices.Equal(last, next) { // and so it goes on
			break
		}
		last, next = next, last
	}
	w.out.Fixed = last
	return nil
}

// row is the value of a choice, rounded.
func (w *walk) row(choice int, x []uint64) uint64 {
	earned := uint64(0)
	if w.rewards != nil {
		earned = w.rewards[w.r.of[choice]]
	}
	lo, hi := w.m.Row(choice)
	if den := w.den[choice]; den > 0 {
		var high, low, carry uint64
		for t := lo; t < hi; t++ {
			h, l := bits.Mul64(w.num[t], x[w.m.Target[t]])
			low, carry = bits.Add64(low, l, 0)
			high, _ = bits.Add64(high, h, carry)
		}
		k, rest := bits.Div64(high, low, den)
		if w.up && rest > 0 {
			k++
		}
		return earned + k
	}
	sum, term := new(big.Rat), new(big.Rat)
	for t := lo; t < hi; t++ {
		term.SetInt(new(big.Int).SetUint64(x[w.m.Target[t]]))
		sum.Add(sum, term.Mul(term, w.m.Numbers[w.m.Prob[t]]))
	}
	k, rest := new(big.Int).QuoRem(sum.Num(), sum.Denom(), new(big.Int))
	if w.up && rest.Sign() > 0 {
		k.Add(k, big.NewInt(1))
	}
	return earned + k.Uint64()
}
