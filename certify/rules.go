package certify

import (
	"fmt"
	"math/big"

	"tilecheck/certify/certificate"
)

// prove checks the columns of vector i by the rules of its kind.
func (c *checker) prove(i int) (bounds, error) {
	v := &c.Vectors[i]
	p := &proof{c, v, fmt.Sprintf("vector %d", i), nil}
	for _, j := range v.Sets() {
		if c.setErrs[j] != nil {
			return bounds{}, c.setErrs[j]
		}
	}
	if v.Kind == certificate.Steps || v.Kind == certificate.Next || v.Kind == certificate.Cumulative || v.Kind == certificate.Instant {
		return p.steps()
	}
	b := bounds{low: v.Lower, high: v.Upper}
	switch v.Kind {
	case certificate.Until:
		b.ceiling = one
		return b, p.until()
	case certificate.ReachReward:
		return b, p.reach()
	case certificate.TotalReward:
		return b, p.total()
	}
	return b, p.average()
}

// proof is a vector being checked.
type proof struct {
	*checker
	v    *certificate.Vector
	part string
	r    *rewards
}

func (p *proof) fail(why string) error { return &Failure{p.part, -1, why} }

// choice reports whether the condition holds of a choice that the optimum allows to
// name: for a lower bound of the maximum and an upper one of the minimum some choice of
// the state, otherwise every one.
func (p *proof) choice(s int, upper bool, holds func(choice int) bool) bool {
	first, end := p.m.Choices(s)
	some := p.v.Max != upper
	for i := first; i < end; i++ {
		if holds(i) == some {
			return some
		}
	}
	return !some
}

// some reports whether a transition of a choice leads to such a state.
func (p *proof) some(choice int, is func(t int) bool) bool {
	lo, hi := p.m.Row(choice)
	for _, t := range p.m.Target[lo:hi] {
		if is(int(t)) {
			return true
		}
	}
	return false
}

func (p *proof) all(choice int, is func(t int) bool) bool {
	return !p.some(choice, func(t int) bool { return !is(t) })
}

// less32 reports whether the number of t is less than that of s. None is the greatest.
func less32(column []uint32, t, s int) bool { return column != nil && column[t] < column[s] }

// zero reports whether the value of a state is 0; infinity is not.
func zero(x *certificate.Values, s int) bool {
	switch {
	case x.Infinite.Has(s):
		return false
	case x.Fixed != nil:
		return x.Fixed[s] == 0
	}
	return x.Rats[s].Sign() == 0
}

// until is rule 1.
func (p *proof) until() error {
	left, right := p.sets[p.v.Left], p.sets[p.v.Right]
	if x := p.v.Lower; x != nil {
		atMost1 := atMost(x, one)
		if err := p.each(p.part+", lower", func(s int) string {
			switch {
			case right.in.Has(s):
				if !atMost1(s) {
					return "the value is above 1"
				}
			case zero(x, s):
			case !left.in.Has(s) || !p.choice(s, false, func(i int) bool {
				return p.compare(x, nil, s, i, nil) <= 0 &&
					p.some(i, func(t int) bool { return less32(p.v.Rank, t, s) || right.in.Has(t) || zero(x, t) })
			}):
				return "the value is above that of a step, or nothing leads on"
			}
			return ""
		}); err != nil {
			return err
		}
	}
	if y := p.v.Upper; y != nil {
		below1 := below(y, one)
		return p.each(p.part+", upper", func(s int) string {
			if right.maybe.Has(s) && below1(s) {
				return "the value is below 1"
			}
			if left.maybe.Has(s) && !right.maybe.Has(s) &&
				!p.choice(s, true, func(i int) bool { return p.compare(y, nil, s, i, nil) >= 0 }) {
				return "the value is below that of a step"
			}
			return ""
		})
	}
	return nil
}

func atMost(x *certificate.Values, p *big.Rat) func(s int) bool {
	sign, _ := (&bounds{low: x}).compare(p)
	return func(s int) bool { return sign(s) <= 0 }
}

func below(x *certificate.Values, p *big.Rat) func(s int) bool {
	sign, _ := (&bounds{low: x}).compare(p)
	return func(s int) bool { return sign(s) < 0 }
}

// reach is rule 2.
func (p *proof) reach() error {
	target := p.sets[p.v.Right]
	if !target.decided() {
		return p.fail("its target is not decided in every state")
	}
	if p.r = p.earned(); p.r == nil {
		return p.fail("its states are not decided")
	}
	goal := target.in
	if x := p.v.Lower; x != nil {
		if err := p.each(p.part+", lower", func(s int) string {
			switch {
			case goal.Has(s):
				if !zero(x, s) {
					return "the value of a state of the target is above 0"
				}
			case x.Infinite.Has(s):
				if !p.infinite(s, x, func(int) bool { return true }) {
					return "nothing shows that the value is infinite"
				}
			case !zero(x, s) && !p.choice(s, false, func(i int) bool { return p.compare(x, nil, s, i, p.r) <= 0 }):
				return "the value is above that of a step"
			}
			return ""
		}); err != nil {
			return err
		}
	}
	y := p.v.Upper
	if y == nil {
		return nil
	}
	return p.each(p.part+", upper", func(s int) string {
		if !goal.Has(s) && !y.Infinite.Has(s) && !p.choice(s, true, func(i int) bool {
			return p.compare(y, nil, s, i, p.r) >= 0 &&
				p.some(i, func(t int) bool { return goal.Has(t) || less32(p.v.Rank, t, s) })
		}) {
			return "the value is below that of a step, or nothing leads to the target"
		}
		return ""
	})
}

// infinite checks a state of infinite value: it leads to one of a lower layer, or
// stays in its own by choices that are allowed there.
func (p *proof) infinite(s int, x *certificate.Values, allowed func(choice int) bool) bool {
	layer := p.v.Layer
	if layer == nil {
		return false
	}
	return p.choice(s, false, func(i int) bool {
		if p.some(i, func(t int) bool { return x.Infinite.Has(t) && layer[t] < layer[s] }) {
			return true
		}
		return (!p.v.Max || layer[s] == 0) && allowed(i) &&
			p.all(i, func(t int) bool { return x.Infinite.Has(t) && layer[t] == layer[s] })
	})
}

// total is rule 3.
func (p *proof) total() error {
	if p.r = p.earned(); p.r == nil {
		return p.fail("its states are not decided")
	}
	if x := p.v.Lower; x != nil {
		if err := p.each(p.part+", lower", func(s int) string {
			switch {
			case x.Infinite.Has(s):
				if !p.infinite(s, x, func(i int) bool {
					return p.r.positive(i) || p.some(i, func(t int) bool { return less32(p.v.Rank, t, s) })
				}) {
					return "nothing shows that the value is infinite"
				}
			case !zero(x, s) && !p.choice(s, false, func(i int) bool {
				return p.compare(x, nil, s, i, p.r) <= 0 && (p.r.positive(i) ||
					p.some(i, func(t int) bool { return less32(p.v.Rank, t, s) || zero(x, t) || x.Infinite.Has(t) }))
			}):
				return "the value is above that of a step, or nothing leads on"
			}
			return ""
		}); err != nil {
			return err
		}
	}
	y := p.v.Upper
	if y == nil {
		return nil
	}
	return p.each(p.part+", upper", func(s int) string {
		if !y.Infinite.Has(s) && !p.choice(s, true, func(i int) bool { return p.compare(y, nil, s, i, p.r) >= 0 }) {
			return "the value is below that of a step"
		}
		return ""
	})
}

// average is rule 5.
func (p *proof) average() error {
	if p.r = p.earned(); p.r == nil {
		return p.fail("its states are not decided")
	}
	for _, b := range []struct {
		name       string
		gain, bias *certificate.Values
		sign       int
	}{{"lower", p.v.Lower, p.v.LowerBias, -1}, {"upper", p.v.Upper, p.v.UpperBias, 1}} {
		if b.gain == nil {
			continue
		}
		if b.bias == nil {
			return p.fail("found no bias of the " + b.name + " bound")
		}
		if err := p.each(p.part+", "+b.name, func(s int) string {
			if !p.choice(s, b.sign > 0, func(i int) bool {
				return b.sign*p.compare(b.gain, nil, s, i, nil) >= 0 && b.sign*p.compare(b.bias, b.gain, s, i, p.r) >= 0
			}) {
				return "gain and bias do not go with a step"
			}
			return ""
		}); err != nil {
			return err
		}
	}
	return nil
}
