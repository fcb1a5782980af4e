package budget

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
	"tilecheck/certify/product"
)

// Product is the product of a model with the sums of its rewards. Its first states are the states of the model, with sums 0.
type Product struct {
	*certificate.Model
	// Target has the states in which the right operand and all bounds hold.
	Target        certificate.Bits
	countedChoice []uint32 // for each choice, the model's choice, or None if the state is decided or the step exceeds a bound
}

// LiftRewards returns the rewards of the choices of the product. A step that exceeds a bound earns nothing.
func (p *Product) LiftRewards(rewards *certificate.Rewards) *certificate.Rewards {
	return product.LiftRewards(rewards, p.countedChoice)
}

// maxUnits is the greatest bound and the greatest reward of a step, in units.
const maxUnits = 1 << 40

// limit is a bound in units.
type limit struct {
	low, high uint64   // high is math.MaxUint64 if there is no upper bound
	maxSum    uint64   // it replaces greater sums
	rewards   []uint64 // of a step with each choice
}

// memory is what a path remembers: the sums of its rewards.
type memory struct {
	model       *certificate.Model
	left, right certificate.Bits
	limits      []limit
}

// state is a state of the product.
type state struct {
	modelState uint32
	verdict    verdict
	sums       string // 8 bytes for each limit; "" unless the verdict is open
}

// verdict says whether the formula is decided in a state.
type verdict uint8

const (
	open verdict = iota
	satisfied
	violated
)

// New returns the product of a model with the sums of rewards that budgets limits, for the until formula `left U right`. It is an error if the
// product has more states than budgets.States, or if the bounds cannot be converted to units.
func New(ctx context.Context, model *certificate.Model, budgets *certificate.Budgets, left, right certificate.Bits) (*Product, error) {
	rewardMemory := &memory{model: model, left: left, right: right}
	if err := rewardMemory.setLimits(budgets); err != nil {
		return nil, err
	}
	zeros := make([]uint64, len(rewardMemory.limits))
	var starts []state
	for s := range model.NumStates() {
		starts = append(starts, rewardMemory.stateWith(uint32(s), zeros))
	}
	builtProduct, err := product.Build(ctx, model, &product.Memory[state]{
		Name:       "the rewards",
		ModelState: func(s state) uint32 { return s.modelState },
		Next:       rewardMemory.next,
		IsDecided:  func(s state) bool { return s.verdict != open },
	}, starts, budgets.States)
	if err != nil {
		return nil, err
	}
	result := &Product{builtProduct.Model, certificate.NewBits(len(builtProduct.States)), builtProduct.Choice}
	for i, s := range builtProduct.States {
		if s.verdict == satisfied {
			result.Target.Add(i)
		}
		first, end := builtProduct.Choices(i)
		for c := first; c < end && s.verdict == open; c++ {
			if rewardMemory.exceedsLimit(rewardMemory.sumsAfter(s, int(builtProduct.Choice[c]))) {
				result.countedChoice[c] = certificate.None
			}
		}
	}
	return result, nil
}

// next returns the state of the product after a transition of a choice to a state of the model. The step adds its rewards to the sums.
func (m *memory) next(source state, choice int, target uint32) state {
	return m.stateWith(target, m.sumsAfter(source, choice))
}

// sumsAfter returns the sums of rewards after a choice of the model in a product state. A sum that exceeds the greatest relevant sum becomes
// that sum.
func (m *memory) sumsAfter(source state, choice int) []uint64 {
	sums := make([]uint64, len(m.limits))
	for k := range sums {
		sum := binary.LittleEndian.Uint64([]byte(source.sums[8*k : 8*k+8]))
		sums[k] = min(sum+m.limits[k].rewards[choice], m.limits[k].maxSum)
	}
	return sums
}

// exceedsLimit reports whether some sum of rewards is greater than its upper bound.
func (m *memory) exceedsLimit(sums []uint64) bool {
	for k, sum := range sums {
		if sum > m.limits[k].high {
			return true
		}
	}
	return false
}

// stateWith returns the product state for state s of the model with the given sums of rewards. If the formula is decided there, the product
// state has the verdict and no sums.
func (m *memory) stateWith(s uint32, sums []uint64) state {
	reachesLow, isWithinHigh := true, !m.exceedsLimit(sums)
	for k, sum := range sums {
		reachesLow = reachesLow && sum >= m.limits[k].low
	}
	switch {
	case reachesLow && isWithinHigh && m.right.Has(int(s)):
		return state{modelState: s, verdict: satisfied}
	case !isWithinHigh || !m.left.Has(int(s)):
		return state{modelState: s, verdict: violated}
	}
	text := make([]byte, 0, 8*len(sums))
	for _, sum := range sums {
		text = binary.LittleEndian.AppendUint64(text, sum)
	}
	return state{modelState: s, sums: string(text)}
}

// setLimits converts the bounds and the rewards to whole numbers of units. A unit is 1/d, where d is the common denominator of all of them.
func (m *memory) setLimits(budgets *certificate.Budgets) error {
	denominator, err := m.commonDenominator(budgets)
	if err != nil {
		return err
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

// commonDenominator returns a common denominator of all bounds and of their rewards. It is an error if that of the rewards has more than 62
// bits.
func (m *memory) commonDenominator(budgets *certificate.Budgets) (*big.Int, error) {
	denominator := big.NewInt(1)
	for _, bound := range budgets.Bounds {
		includeDenominator(denominator, bound.Low)
		includeDenominator(denominator, bound.High)
		if bound.Reward < 0 { // it counts steps
			continue
		}
		reward := &m.model.Rewards[bound.Reward]
		if err := m.checkReward(reward); err != nil {
			return nil, err
		}
		for _, k := range slices.Concat(reward.State, reward.Choice) {
			includeDenominator(denominator, m.model.Numbers[k])
			if denominator.BitLen() > 62 {
				return nil, errors.New("the rewards have no common denominator of 62 bits")
			}
		}
	}
	return denominator, nil
}

// includeDenominator replaces multiple by the least common multiple of itself and the denominator of a fraction, which may be nil.
func includeDenominator(multiple *big.Int, fraction *big.Rat) {
	if fraction != nil {
		gcd := new(big.Int).GCD(nil, nil, multiple, fraction.Denom())
		multiple.Mul(multiple, new(big.Int).Quo(fraction.Denom(), gcd))
	}
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
	unitsOf := func(x *big.Rat) uint64 {
		product := new(big.Int).Mul(x.Num(), denominator)
		product.Quo(product, x.Denom()) // without a remainder
		if product.BitLen() > 40 {
			err = fmt.Errorf("found %s, which is more than 2^40 times the unit of the rewards", x.RatString())
			return maxUnits
		}
		return product.Uint64()
	}
	if bound.Low != nil {
		result.low = unitsOf(bound.Low)
		if bound.LowStrict {
			result.low++
		}
	}
	switch {
	case bound.High == nil:
		result.high, result.maxSum = math.MaxUint64, result.low
	case !bound.HighStrict:
		result.high = unitsOf(bound.High)
		result.maxSum = result.high + 1
	case bound.High.Sign() == 0:
		return result, errors.New("found a reward bound that excludes all rewards")
	default:
		result.maxSum = unitsOf(bound.High)
		result.high = result.maxSum - 1
	}
	result.rewards = make([]uint64, len(m.model.FirstTransition)-1)
	for s := range m.model.NumStates() {
		first, end := m.model.Choices(s)
		for c := first; c < end; c++ {
			if bound.Reward < 0 {
				result.rewards[c] = unitsOf(big.NewRat(1, 1))
				continue
			}
			reward := &m.model.Rewards[bound.Reward]
			if reward.State != nil {
				result.rewards[c] += unitsOf(m.model.Numbers[reward.State[s]])
			}
			if reward.Choice != nil {
				result.rewards[c] += unitsOf(m.model.Numbers[reward.Choice[c]])
			}
		}
	}
	return result, err
}
