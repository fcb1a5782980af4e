package certificate

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/internal/noun"
)

// Difference returns the first difference between two models; nil if they are the same.
func (m *Model) Difference(o *Model) error {
	n := m.NumStates()
	switch {
	case m.Kind != o.Kind || n != o.NumStates():
		return fmt.Errorf("found a %s with %d states, wanted a %s with %d", m.Kind, n, o.Kind, o.NumStates())
	case !slices.Equal(m.Initial, o.Initial):
		return errors.New("the initial states differ")
	case len(m.Rewards) != len(o.Rewards):
		return fmt.Errorf("found %d reward structures, wanted %d", len(m.Rewards), len(o.Rewards))
	}
	comparedPairs := map[[2]uint32]bool{}
	equal := func(a, b []uint32, i int) bool {
		if a == nil || b == nil {
			return (a == nil || m.Numbers[a[i]].Sign() == 0) && (b == nil || o.Numbers[b[i]].Sign() == 0)
		}
		pair := [2]uint32{a[i], b[i]}
		x, ok := comparedPairs[pair]
		if !ok {
			x = m.Numbers[pair[0]].Cmp(o.Numbers[pair[1]]) == 0
			comparedPairs[pair] = x
		}
		return x
	}
	for s := range n {
		first, end := m.Choices(s)
		if a, b := o.Choices(s); a != first || b != end {
			return fmt.Errorf("state %d: found %s, wanted %d", s, noun.Count(end-first, "choice"), b-a)
		}
		if m.Exit != nil && !equal(m.Exit, o.Exit, s) {
			return fmt.Errorf("state %d: the exit rates differ", s)
		}
		for k := range m.Rewards {
			if !equal(m.Rewards[k].State, o.Rewards[k].State, s) {
				return fmt.Errorf("state %d: the rewards %d differ", s, k+1)
			}
		}
		for c := first; c < end; c++ {
			if !m.sameRow(o, c, equal) {
				return fmt.Errorf("state %d, choice %d: the transitions differ", s, c-first)
			}
			for k := range m.Rewards {
				if !equal(m.Rewards[k].Choice, o.Rewards[k].Choice, c) {
					return fmt.Errorf("state %d, choice %d: the rewards %d differ", s, c-first, k+1)
				}
			}
		}
	}
	for k := range m.Rewards {
		if m.Rewards[k].Name != o.Rewards[k].Name {
			return fmt.Errorf("found the reward structure %q, wanted %q", m.Rewards[k].Name, o.Rewards[k].Name)
		}
	}
	return nil
}

// sameRow reports whether choice c has the same distribution over states in both models. The order of the
// transitions does not matter.
func (m *Model) sameRow(o *Model, c int, equal func(a, b []uint32, i int) bool) bool {
	lo, hi := m.Row(c)
	if a, b := o.Row(c); a == lo && b == hi {
		same := true
		for t := lo; t < hi && same; t++ {
			same = m.Target[t] == o.Target[t] && equal(m.Prob, o.Prob, t)
		}
		if same {
			return true
		}
	}
	sums := make(map[uint32]*big.Rat)
	add := func(m *Model, sign int64) {
		lo, hi := m.Row(c)
		for t := lo; t < hi; t++ {
			sum := sums[m.Target[t]]
			if sum == nil {
				sum = new(big.Rat)
				sums[m.Target[t]] = sum
			}
			sum.Add(sum, new(big.Rat).Mul(m.Numbers[m.Prob[t]], big.NewRat(sign, 1)))
		}
	}
	add(m, 1)
	add(o, -1)
	for _, x := range sums {
		if x.Sign() != 0 {
			return false
		}
	}
	return true
}
