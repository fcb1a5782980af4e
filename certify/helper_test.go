package certify_test

import (
	"math/big"
	"math/rand/v2"

	"tilecheck/certify/certificate"
)

// truth computes values of small models by other means than a certificate: for every
// scheduler without memory, by elimination in fractions. Infinite values are nil.
type truth struct {
	m *certificate.Model
	n int
}

func newTruth(m *certificate.Model) *truth { return &truth{m, m.NumStates()} }

// schedulers calls a function with every way to choose.
func (t *truth) schedulers(visit func(choice []int)) {
	choice := make([]int, t.n)
	var next func(s int)
	next = func(s int) {
		if s == t.n {
			visit(choice)
			return
		}
		first, end := t.m.Choices(s)
		for choice[s] = first; choice[s] < end; choice[s]++ {
			next(s + 1)
		}
	}
	next(0)
}

func (t *truth) prob(i int) *big.Rat { return t.m.Numbers[t.m.Prob[i]] }

// reaches are the states of a chain with a path through states of via to the set.
func (t *truth) reaches(choice []int, via, set func(s int) bool) []bool {
	out := make([]bool, t.n)
	for changed := true; changed; {
		changed = false
		for s := range t.n {
			if out[s] {
				continue
			}
			found := set(s)
			if !found && via(s) {
				lo, hi := t.m.Row(choice[s])
				for _, u := range t.m.Target[lo:hi] {
					found = found || out[u]
				}
			}
			if found {
				out[s], changed = true, true
			}
		}
	}
	return out
}

// solve returns x = r + P x of the unknown states, with the other values given.
func (t *truth) solve(choice []int, unknown []bool, x []*big.Rat, r func(choice int) *big.Rat) {
	var vars []int
	place := map[int]int{}
	for s := range t.n {
		if unknown[s] {
			place[s] = len(vars)
			vars = append(vars, s)
		}
	}
	k := len(vars)
	a := make([][]*big.Rat, k)
	for i, s := range vars {
		a[i] = make([]*big.Rat, k+1)
		for j := range a[i] {
			a[i][j] = new(big.Rat)
		}
		a[i][i].SetInt64(1)
		a[i][k].Set(r(choice[s]))
		lo, hi := t.m.Row(choice[s])
		for e := lo; e < hi; e++ {
			u := int(t.m.Target[e])
			if j, ok := place[u]; ok {
				a[i][j].Sub(a[i][j], t.prob(e))
			} else {
				a[i][k].Add(a[i][k], new(big.Rat).Mul(t.prob(e), x[u]))
			}
		}
	}
	for i := range k {
		p := i
		for a[p][i].Sign() == 0 {
			p++
		}
		a[i], a[p] = a[p], a[i]
		inv := new(big.Rat).Inv(a[i][i])
		for j := range a[i] {
			a[i][j].Mul(a[i][j], inv)
		}
		for q := range k {
			if q != i && a[q][i].Sign() != 0 {
				f := new(big.Rat).Set(a[q][i])
				for j := range a[q] {
					a[q][j].Sub(a[q][j], new(big.Rat).Mul(f, a[i][j]))
				}
			}
		}
	}
	for i, s := range vars {
		x[s] = a[i][k]
	}
}

// best takes, for every state, the optimum of a value of chains.
func (t *truth) best(max bool, value func(choice []int) []*big.Rat) []*big.Rat {
	var out []*big.Rat
	t.schedulers(func(choice []int) {
		x := value(choice)
		if out == nil {
			out = x
			return
		}
		for s := range x {
			greater := x[s] == nil && out[s] != nil || x[s] != nil && out[s] != nil && x[s].Cmp(out[s]) > 0
			if less := !greater && !(x[s] == nil && out[s] == nil) && (out[s] == nil || x[s].Cmp(out[s]) < 0); max && greater || !max && less {
				out[s] = x[s]
			}
		}
	})
	return out
}

func (t *truth) until(max bool, left, right certificate.Bits) []*big.Rat {
	return t.best(max, func(choice []int) []*big.Rat { return t.untilUnder(choice, left, right) })
}

// untilUnder returns the probability of left U right in a chain.
func (t *truth) untilUnder(choice []int, left, right certificate.Bits) []*big.Rat {
	via := func(s int) bool { return left.Has(s) && !right.Has(s) }
	can := t.reaches(choice, via, right.Has)
	x, unknown := make([]*big.Rat, t.n), make([]bool, t.n)
	for s := range t.n {
		x[s] = new(big.Rat)
		if right.Has(s) {
			x[s].SetInt64(1)
		}
		unknown[s] = can[s] && !right.Has(s)
	}
	t.solve(choice, unknown, x, func(int) *big.Rat { return new(big.Rat) })
	return x
}

// reward returns the reward of a choice, whose state is known.
func (t *truth) reward(i int) func(choice int) *big.Rat {
	r := t.m.Rewards[i]
	state := map[int]int{}
	for s := range t.n {
		first, end := t.m.Choices(s)
		for c := first; c < end; c++ {
			state[c] = s
		}
	}
	return func(choice int) *big.Rat {
		x := new(big.Rat)
		if r.State != nil {
			x.Add(x, t.m.Numbers[r.State[state[choice]]])
			if t.m.ExitRate != nil { // per unit of time
				x.Quo(x, t.m.Numbers[t.m.ExitRate[state[choice]]])
			}
		}
		if r.Choice != nil {
			x.Add(x, t.m.Numbers[r.Choice[choice]])
		}
		return x
	}
}

func (t *truth) reach(max bool, i int, goal certificate.Bits) []*big.Rat {
	r := t.reward(i)
	return t.best(max, func(choice []int) []*big.Rat {
		off := func(s int) bool { return !goal.Has(s) }
		can := t.reaches(choice, off, goal.Has)
		lost := t.reaches(choice, off, func(s int) bool { return !can[s] })
		x, unknown := make([]*big.Rat, t.n), make([]bool, t.n)
		for s := range t.n {
			if !lost[s] {
				x[s] = new(big.Rat)
			}
			unknown[s] = !lost[s] && !goal.Has(s)
		}
		t.solve(choice, unknown, x, r)
		return x
	})
}

func (t *truth) total(max bool, i int) []*big.Rat {
	r := t.reward(i)
	all := func(int) bool { return true }
	return t.best(max, func(choice []int) []*big.Rat {
		pays := t.reaches(choice, all, func(s int) bool { return r(choice[s]).Sign() > 0 })
		ends := t.reaches(choice, all, func(s int) bool { return !pays[s] })
		lost := t.reaches(choice, all, func(s int) bool { return !ends[s] })
		x, unknown := make([]*big.Rat, t.n), make([]bool, t.n)
		for s := range t.n {
			if !lost[s] {
				x[s] = new(big.Rat)
			}
			unknown[s] = !lost[s] && pays[s]
		}
		t.solve(choice, unknown, x, r)
		return x
	})
}

// randomModel makes a model of a few states.
func randomModel(rng *rand.Rand, kind certificate.Kind) *certificate.Model {
	n := 2 + rng.IntN(4)
	m := &certificate.Model{Kind: kind, Initial: certificate.NewBits(n)}
	number := func(a, b int64) uint32 {
		r := big.NewRat(a, b)
		for i, x := range m.Numbers {
			if x.Cmp(r) == 0 {
				return uint32(i)
			}
		}
		m.Numbers = append(m.Numbers, r)
		return uint32(len(m.Numbers) - 1)
	}
	m.Initial.Add(0)
	reward := certificate.Reward{Name: "r"}
	for range n {
		if kind == certificate.MDP {
			m.FirstChoice = append(m.FirstChoice, uint32(len(m.FirstTransition)))
		}
		reward.State = append(reward.State, number(int64(max(0, rng.IntN(4)-1)), 1))
		choices := 1
		if kind == certificate.MDP {
			choices += rng.IntN(2)
		}
		for range choices {
			m.FirstTransition = append(m.FirstTransition, uint32(len(m.Target)))
			reward.Choice = append(reward.Choice, number(int64(max(0, rng.IntN(3)-1)), 1+int64(rng.IntN(3))))
			left, den := int64(0), []int64{1, 2, 3, 4, 10}[rng.IntN(5)]
			for left = den; left > 0; {
				p := 1 + rng.Int64N(left)
				m.Target = append(m.Target, uint32(rng.IntN(n)))
				m.Prob = append(m.Prob, number(p, den))
				left -= p
			}
		}
	}
	m.FirstTransition = append(m.FirstTransition, uint32(len(m.Target)))
	if kind == certificate.MDP {
		m.FirstChoice = append(m.FirstChoice, uint32(len(m.FirstTransition)-1))
	}
	for range n {
		if kind == certificate.CTMC {
			m.ExitRate = append(m.ExitRate, number(1+rng.Int64N(5), 1+rng.Int64N(3)))
		}
	}
	m.Rewards = []certificate.Reward{reward}
	return m
}

func randomSet(rng *rand.Rand, n int) certificate.Bits {
	b := certificate.NewBits(n)
	for s := range n {
		if rng.IntN(3) == 0 {
			b.Add(s)
		}
	}
	return b
}

// values are fractions, of which nil is infinity.
func values(xs []*big.Rat) *certificate.Values {
	v := &certificate.Values{Fractions: make([]*big.Rat, len(xs))}
	for s, x := range xs {
		if x == nil {
			if v.Infinite == nil {
				v.Infinite = certificate.NewBits(len(xs))
			}
			v.Infinite.Add(s)
			x = new(big.Rat)
		}
		v.Fractions[s] = x
	}
	return v
}

// rank numbers the states in the order in which a rule can be applied to them: the rule
// says whether a state may be numbered where some are.
func rank(n int, may func(s int, has func(t int) bool) bool) []uint32 {
	out := make([]uint32, n)
	for s := range out {
		out[s] = certificate.None
	}
	for level := uint32(0); ; level++ {
		var now []int
		for s := range n {
			if out[s] == certificate.None && may(s, func(t int) bool { return out[t] < level }) {
				now = append(now, s)
			}
		}
		if len(now) == 0 {
			return out
		}
		for _, s := range now {
			out[s] = level
		}
	}
}
