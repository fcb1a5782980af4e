package solve

import (
	"math/big"
	"slices"

	"tilecheck/native/space/sparse"
)

// shifted is the number num / (unit * base^exp) of some powers; nil stands for zero.
type shifted struct {
	num *big.Int
	exp int
}

// powers has the values of steps as integers over powers of a common denominator of all
// weights, which takes no greatest common divisors. No numerator is a multiple of the base,
// so that equal numbers are written in the same way.
type powers struct {
	*system
	base  *big.Int
	power []*big.Int // of the base
	coef  []*big.Int // of each weight: times the base
	unit  *big.Int   // a common denominator of the first values and the rewards
	value []shifted  // of each state
	gain  func(s, c int) *big.Int
	one   uint32 // the weight 1, if there is one

	term, left big.Int // scratch
}

// newPowers returns nil where weights, or first values and rewards, have no small common
// denominator.
func (sys *system) newPowers() *powers {
	base := common(big.NewInt(1), sys.g.Rats)
	if sys.maximizer != nil || sys.g.Kind == sparse.CTMC || base.BitLen() > 62 || base.BitLen() == 1 {
		return nil
	}
	p := &powers{system: sys, base: base, power: []*big.Int{big.NewInt(1)}, unit: common(big.NewInt(1), sys.v.Exact), one: sparse.None}
	for id, w := range sys.g.Rats {
		p.coef = append(p.coef, p.times(w, base))
		if w.Cmp(big.NewRat(1, 1)) == 0 {
			p.one = uint32(id)
		}
	}
	if r := sys.reward; r != nil {
		p.unit = common(common(p.unit, r.StateRat), r.ChoiceRat)
		p.gain = func(s, c int) *big.Int { return p.times(r.OfChoiceRat(s, c), p.unit) }
	}
	if p.unit.BitLen() > 64 { // then it is no multiple of all of them
		return nil
	}
	for _, x := range sys.v.Exact {
		p.value = append(p.value, p.strip(p.times(x, p.unit), 0))
	}
	return p
}

// common returns a common multiple of n and the denominators of fractions, of which
// some may be nil; one of more than a word if it would be.
func common(n *big.Int, of []*big.Rat) *big.Int {
	var left big.Int
	for _, x := range of {
		if x == nil || n.BitLen() > 64 || left.Mod(n, x.Denom()).Sign() == 0 {
			continue
		}
		left.GCD(nil, nil, n, x.Denom())
		n = new(big.Int).Mul(n, left.Quo(x.Denom(), &left))
	}
	return n
}

// times returns an integer: a fraction times a multiple of its denominator.
func (p *powers) times(x *big.Rat, n *big.Int) *big.Int {
	out := new(big.Int).Quo(n, x.Denom())
	return out.Mul(out, x.Num())
}

// strip divides by the base where that leaves nothing.
func (p *powers) strip(num *big.Int, exp int) shifted {
	if num.Sign() == 0 {
		return shifted{}
	}
	var quo big.Int
	for exp > 0 {
		if quo.QuoRem(num, p.base, &p.left); p.left.Sign() != 0 {
			break
		}
		num.Set(&quo)
		exp--
	}
	return shifted{num, exp}
}

// raised returns x times a power of the base, in scratch.
func (p *powers) raised(x *big.Int, n int) *big.Int {
	for len(p.power) <= n {
		p.power = append(p.power, new(big.Int).Mul(p.power[len(p.power)-1], p.base))
	}
	if n == 0 {
		return x
	}
	return p.term.Mul(x, p.power[n])
}

// choice is what a choice is worth after one more step.
func (p *powers) choice(s, c int) shifted {
	first, end := p.g.Row(c)
	var gain *big.Int
	if p.gain != nil {
		if gain = p.gain(s, c); gain.Sign() == 0 {
			gain = nil
		}
	}
	if gain == nil && end-first == 1 && p.g.Weight[first] == p.one {
		return p.value[p.g.Target[first]]
	}
	exp := 0
	for i := first; i < end; i++ {
		exp = max(exp, p.value[p.g.Target[i]].exp)
	}
	sum := new(big.Int)
	for i := first; i < end; i++ {
		if x := p.value[p.g.Target[i]]; x.num != nil {
			sum.Add(sum, p.term.Mul(p.raised(x.num, exp-x.exp), p.coef[p.g.Weight[i]]))
		}
	}
	if gain != nil {
		sum.Add(sum, p.raised(gain, exp+1))
	}
	return p.strip(sum, exp+1)
}

// cmp compares two numbers.
func (p *powers) cmp(x, y shifted) int {
	switch {
	case x.num == nil || y.num == nil || x.exp == y.exp:
		return p.numerator(x).Cmp(p.numerator(y))
	case x.exp < y.exp:
		return p.raised(x.num, y.exp-x.exp).Cmp(y.num)
	}
	return -p.raised(y.num, x.exp-y.exp).Cmp(x.num)
}

func (p *powers) numerator(x shifted) *big.Int {
	if x.num == nil {
		return new(big.Int)
	}
	return x.num
}

// best is bestRat.
func (p *powers) best(s int) (value shifted, choice uint32) {
	choice = sparse.None
	first, end := p.g.Choices(s)
	for c := first; c < end; c++ {
		if !p.usable(c) {
			continue
		}
		x := p.choice(s, c)
		if choice == sparse.None || x != value && p.cmp(x, value) != 0 && (p.cmp(x, value) < 0) == p.min {
			value, choice = x, uint32(c)
		}
	}
	return value, choice
}

// rat returns a number as a fraction.
func (p *powers) rat(x shifted) *big.Rat {
	if x.num == nil {
		return new(big.Rat)
	}
	return new(big.Rat).SetFrac(x.num, new(big.Int).Mul(p.unit, p.raised(big.NewInt(1), x.exp)))
}

// steps is exactSteps.
func (p *powers) steps(meter *meter, b *stepWindow, n int) error {
	next := slices.Clone(p.value)
	err := b.forEachStep(p.trace, meter, n, func(s uint32) (choice uint32, work int) {
		next[s], choice = p.best(int(s))
		return choice, 100 + 4*len(p.numerator(next[s]).Bits())
	}, func() { p.value, next = next, p.value })
	if err != nil {
		return err
	}
	for _, s := range b.states {
		if !b.restricted || b.queryDistance[s] == 0 {
			p.v.Exact[s] = p.rat(p.value[s])
			if err := meter.addWork(1000 + reductionCost(p.v.Exact[s])); err != nil {
				return err
			}
		}
	}
	return nil
}
