package certify

import (
	"fmt"
	"math/big"

	"tilecheck/certify/certificate"
)

// prove checks the columns of vector i by the rules of its kind.
func (c *Checker) prove(i int, b *bounds) error {
	v := &c.Vectors[i]
	p := &proof{Checker: c, v: v, part: fmt.Sprintf("vector %d", i)}
	for _, j := range v.Sets() {
		x := c.set(j)
		if x.err != nil {
			return x.err
		}
		p.left, p.right = p.right, x
	}
	if v.Kind == certificate.Until || v.Kind == certificate.Steps || v.Kind == certificate.Next {
		b.ceiling = one
	} else if err := p.earned(); err != nil {
		return err
	}
	switch v.Kind {
	case certificate.Until, certificate.ReachReward, certificate.TotalReward:
		return p.fixedPoint()
	case certificate.Average:
		return p.average()
	}
	return p.steps(b)
}

// proof is a vector being checked.
type proof struct {
	*Checker
	v           *certificate.Vector
	part        string
	left, right *set
	r           *rewards
}

// earned takes the rewards, and sees that those and the target are known.
func (p *proof) earned() error {
	var in certificate.Bits
	if p.right != nil {
		if in = p.right.in; !p.right.decided() {
			return p.fail("its target is not decided in every state")
		}
	}
	p.r = new(rewards)
	p.r.of, p.r.rats = p.m.Earned(p.v.Reward, in)
	p.r.num, p.r.den = split(p.r.rats)
	return nil
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

// fixedPoint is rules 1, 2 and 3.
func (p *proof) fixedPoint() error {
	x, y, until, total := p.v.Lower, p.v.Upper, p.r == nil, p.right == nil
	goal, maybe, left, unit := certificate.Bits(nil), certificate.Bits(nil), &set{}, new(big.Rat)
	if !total {
		goal, maybe = p.right.in, p.right.maybe
	}
	if until {
		left, unit = p.left, one
	}
	nearer := func(s, i int, or func(t int) bool) bool {
		return p.some(i, func(t int) bool { return p.v.Rank != nil && p.v.Rank[t] < p.v.Rank[s] || or(t) })
	}
	if x != nil {
		atUnit := x.Compare(unit)
		ends := func(t int) bool { return goal.Has(t) || x.Zero(t) || x.Infinite.Has(t) }
		if err := p.each(p.part+", lower", func(s int) string {
			switch {
			case goal.Has(s):
				if atUnit(s) > 0 {
					return "the value is above that of the target"
				}
			case x.Infinite.Has(s):
				if !p.infinite(s, func(i int) bool {
					return !total || p.r.positive(i) || nearer(s, i, func(int) bool { return false })
				}) {
					return "nothing shows that the value is infinite"
				}
			case !x.Zero(s) && (until && !left.in.Has(s) || !p.choice(s, false, func(i int) bool {
				return p.compare(x, nil, s, i, p.r) <= 0 && (!until && !total || p.r.positive(i) || nearer(s, i, ends))
			})):
				return "the value is above that of a step, or nothing leads on"
			}
			return ""
		}); err != nil || y == nil {
			return err
		}
	}
	if y == nil {
		return nil
	}
	atUnit := y.Compare(unit)
	return p.each(p.part+", upper", func(s int) string {
		switch {
		case maybe.Has(s):
			if atUnit(s) < 0 {
				return "the value is below that of the target"
			}
		case !y.Infinite.Has(s) && (!until || left.maybe.Has(s)) && !p.choice(s, true, func(i int) bool {
			return p.compare(y, nil, s, i, p.r) >= 0 && (until || total || nearer(s, i, goal.Has))
		}):
			return "the value is below that of a step, or nothing leads to the target"
		}
		return ""
	})
}

// infinite checks a state of infinite value: it leads to one of a lower layer, or
// stays in its own by choices that are allowed there.
func (p *proof) infinite(s int, allowed func(choice int) bool) bool {
	layer, inf := p.v.Layer, p.v.Lower.Infinite
	return layer != nil && p.choice(s, false, func(i int) bool {
		return p.some(i, func(t int) bool { return inf.Has(t) && layer[t] < layer[s] }) ||
			(!p.v.Max || layer[s] == 0) && allowed(i) &&
				!p.some(i, func(t int) bool { return !inf.Has(t) || layer[t] != layer[s] })
	})
}

// average is rule 5.
func (p *proof) average() error {
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
