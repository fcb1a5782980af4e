package budget

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/certify/product"
)

// Product is the product of a model with the sums of its rewards. Its first states are the states of the model, with sums 0.
type Product struct {
	*certificate.Model
	// Target has the states in which the right operand and all bounds hold.
	Target certificate.Bits
}

// maxUnits is the greatest bound and the greatest reward of a step, in units.
const maxUnits = 1 << 40

// limit is a bound in units.
type limit struct {
	low, high uint64   // high is math.MaxUint64 if there is no upper bound
	most      uint64   // greater sums are replaced by this one
	step      []uint64 // the reward of each choice
}

// memory is what a path remembers: the sums of its rewards.
type memory struct {
	model       *certificate.Model
	left, right certificate.Bits
	limits      []limit
}

// state is a state of the product.
type state struct {
	of      uint32 // the state of the model
	verdict verdict
	sums    string // 8 bytes for each limit; "" unless the verdict is open
}

// verdict says whether the formula is decided in a state.
type verdict uint8

const (
	open verdict = iota
	satisfied
	violated
)

// New returns the product for an until formula with bounds. The error says that the product has more states than budgets says, or that the rewards
// cannot be bounded.
func New(ctx context.Context, model *certificate.Model, budgets *certificate.Budgets, left, right certificate.Bits) (*Product, error) {
	m := &memory{model: model, left: left, right: right}
	if err := m.setLimits(budgets); err != nil {
		return nil, err
	}
	zeros := make([]uint64, len(m.limits))
	var starts []state
	for s := range model.NumStates() {
		starts = append(starts, m.stateWith(uint32(s), zeros))
	}
	built, err := product.Build(ctx, model, &product.Memory[state]{
		Name:       "the rewards",
		ModelState: func(s state) uint32 { return s.of },
		Next:       m.next,
		IsDecided:  func(s state) bool { return s.verdict != open },
	}, starts, budgets.States)
	if err != nil {
		return nil, err
	}
	out := &Product{built.Model, certificate.NewBits(len(built.States))}
	for i, s := range built.States {
		if s.verdict == satisfied {
			out.Target.Add(i)
		}
	}
	return out, nil
}

// next returns the state after a transition of a choice.
func (m *memory) next(from state, choice int, to uint32) state {
	sums := make([]uint64, len(m.limits))
	for k := range sums {
		sum := binary.LittleEndian.Uint64([]byte(from.sums[8*k : 8*k+8]))
		sums[k] = min(sum+m.limits[k].step[choice], m.limits[k].most)
	}
	return m.stateWith(to, sums)
}

// stateWith returns the state of the product with a state of the model and sums.
func (m *memory) stateWith(s uint32, sums []uint64) state {
	withinLow, withinHigh := true, true
	for k, sum := range sums {
		withinLow, withinHigh = withinLow && sum >= m.limits[k].low, withinHigh && sum <= m.limits[k].high
	}
	switch {
	case withinLow && withinHigh && m.right.Has(int(s)):
		return state{of: s, verdict: satisfied}
	case !withinHigh || !m.left.Has(int(s)):
		return state{of: s, verdict: violated}
	}
	text := make([]byte, 0, 8*len(sums))
	for _, sum := range sums {
		text = binary.LittleEndian.AppendUint64(text, sum)
	}
	return state{of: s, sums: string(text)}
}

// setLimits converts the bounds and the rewards to units.
func (m *memory) setLimits(budgets *certificate.Budgets) error {
	denominator := big.NewInt(1)
	include := func(x *big.Rat) {
		if x != nil {
			gcd := new(big.Int).GCD(nil, nil, denominator, x.Denom())
			denominator.Mul(denominator, new(big.Int).Quo(x.Denom(), gcd))
		}
	}
	for _, bound := range budgets.Bounds {
		include(bound.Low)
		include(bound.High)
		if bound.Reward < 0 {
			continue
		}
		reward := &m.model.Rewards[bound.Reward]
		if err := m.checkReward(reward); err != nil {
			return err
		}
		for _, k := range slices.Concat(reward.State, reward.Choice) {
			include(m.model.Numbers[k])
			if denominator.BitLen() > 62 {
				return errors.New("the rewards have no common denominator of 62 bits")
			}
		}
	}
	for _, bound := range budgets.Bounds {
		limit, err := m.limitOf(bound, denominator)
		if err != nil {
			return err
		}
		m.limits = append(m.limits, limit)
	}
	return nil
}

// checkReward returns an error if the transitions of a choice may have different rewards.
func (m *memory) checkReward(reward *certificate.Reward) error {
	isPositive := func(k uint32) bool { return m.model.Numbers[k].Sign() > 0 }
	if reward.PerTransition || m.model.Kind != certificate.MDP && slices.ContainsFunc(reward.Choice, isPositive) {
		return fmt.Errorf("found rewards of transitions in the structure %q of a %s, wanted rewards of states or of choices", reward.Name, m.model.Kind)
	}
	return nil
}

// limitOf converts a bound and its rewards to units of 1/denominator.
func (m *memory) limitOf(bound certificate.Budget, denominator *big.Int) (result limit, err error) {
	units := func(x *big.Rat) uint64 {
		whole := new(big.Int).Mul(x.Num(), denominator)
		whole.Quo(whole, x.Denom()) // without a remainder
		if whole.BitLen() > 40 {
			err = fmt.Errorf("found %s, which is more than 2^40 times the unit of the rewards", x.RatString())
			return maxUnits
		}
		return whole.Uint64()
	}
	result.high = ^uint64(0)
	if bound.Low != nil {
		result.low = units(bound.Low)
		if bound.LowStrict {
			result.low++
		}
	}
	result.most = result.low
	if bound.High != nil {
		result.high = units(bound.High)
		result.most = result.high + 1
		if bound.HighStrict {
			result.most = result.high
			result.high-- // no sum is at most -1, which is the greatest number here
		}
	}
	if bound.High != nil && bound.HighStrict && bound.High.Sign() == 0 {
		return result, errors.New("found a reward bound that excludes all rewards")
	}
	result.step = make([]uint64, len(m.model.Start)-1)
	for s := range m.model.NumStates() {
		first, end := m.model.Choices(s)
		for c := first; c < end; c++ {
			if bound.Reward < 0 {
				result.step[c] = units(big.NewRat(1, 1))
				continue
			}
			reward := &m.model.Rewards[bound.Reward]
			if reward.State != nil {
				result.step[c] += units(m.model.Numbers[reward.State[s]])
			}
			if reward.Choice != nil {
				result.step[c] += units(m.model.Numbers[reward.Choice[c]])
			}
		}
	}
	return result, err
}
