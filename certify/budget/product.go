package budget

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/certify/certificate"
)

// Product is the product of a model with the sums of its rewards. Its first states are the states of the model, in their order, with sums 0. The others
// follow in the order of a breadth-first search, choice by choice, successors in the order of the model's states.
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

// builder builds a product.
type builder struct {
	model       *certificate.Model
	left, right certificate.Bits
	limits      []limit
	index       map[string]uint32
	of          []uint32   // the state of the model
	sums        [][]uint64 // nil for a decided state
	target      []bool
}

// New returns the product for an until formula with bounds. The error says that the product has more states than budgets says, or that the rewards
// cannot be bounded.
func New(ctx context.Context, model *certificate.Model, budgets *certificate.Budgets, left, right certificate.Bits) (*Product, error) {
	b := &builder{model: model, left: left, right: right, index: make(map[string]uint32)}
	if err := b.setLimits(budgets); err != nil {
		return nil, err
	}
	out := &certificate.Model{Kind: model.Kind, Start: []uint32{0}, Numbers: append(slices.Clip(model.Numbers), big.NewRat(1, 1))}
	if model.First != nil {
		out.First = []uint32{0}
	}
	zeros := make([]uint64, len(b.limits))
	for s := range model.NumStates() {
		b.indexOf(uint32(s), zeros)
	}
	for i := 0; i < len(b.of); i++ { // indexOf appends to b.of
		if i&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.expand(out, i)
		if len(b.of) > budgets.States || len(out.Target) >= certificate.None {
			return nil, errors.New("the product with the rewards has more states than it says")
		}
	}
	product := &Product{out, certificate.NewBits(len(b.of))}
	for i, isTarget := range b.target {
		if isTarget {
			product.Target.Add(i)
		}
	}
	return product, nil
}

// setLimits converts the bounds and the rewards to units.
func (b *builder) setLimits(budgets *certificate.Budgets) error {
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
		reward := &b.model.Rewards[bound.Reward]
		if err := b.checkReward(reward); err != nil {
			return err
		}
		for _, k := range slices.Concat(reward.State, reward.Choice) {
			include(b.model.Numbers[k])
			if denominator.BitLen() > 62 {
				return errors.New("the rewards have no common denominator of 62 bits")
			}
		}
	}
	for _, bound := range budgets.Bounds {
		limit, err := b.limitOf(bound, denominator)
		if err != nil {
			return err
		}
		b.limits = append(b.limits, limit)
	}
	return nil
}

// checkReward returns an error if the transitions of a choice may have different rewards.
func (b *builder) checkReward(reward *certificate.Reward) error {
	isPositive := func(k uint32) bool { return b.model.Numbers[k].Sign() > 0 }
	if reward.PerTransition || b.model.Kind != certificate.MDP && slices.ContainsFunc(reward.Choice, isPositive) {
		return fmt.Errorf("found rewards of transitions in the structure %q of a %s, wanted rewards of states or of choices", reward.Name, b.model.Kind)
	}
	return nil
}

// limitOf converts a bound and its rewards to units of 1/denominator.
func (b *builder) limitOf(bound certificate.Budget, denominator *big.Int) (result limit, err error) {
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
	result.step = make([]uint64, len(b.model.Start)-1)
	for s := range b.model.NumStates() {
		first, end := b.model.Choices(s)
		for c := first; c < end; c++ {
			if bound.Reward < 0 {
				result.step[c] = units(big.NewRat(1, 1))
				continue
			}
			reward := &b.model.Rewards[bound.Reward]
			if reward.State != nil {
				result.step[c] += units(b.model.Numbers[reward.State[s]])
			}
			if reward.Choice != nil {
				result.step[c] += units(b.model.Numbers[reward.Choice[c]])
			}
		}
	}
	return result, err
}

// indexOf returns the index of the product state with a state of the model and sums. It adds the state if it is new.
func (b *builder) indexOf(s uint32, sums []uint64) uint32 {
	withinLow, withinHigh := true, true
	for k, sum := range sums {
		withinLow, withinHigh = withinLow && sum >= b.limits[k].low, withinHigh && sum <= b.limits[k].high
	}
	isTarget := withinLow && withinHigh && b.right.Has(int(s))
	isDecided := isTarget || !withinHigh || !b.left.Has(int(s))
	key := binary.LittleEndian.AppendUint32(nil, s)
	switch {
	case isTarget:
		key = append(key, 't')
	case isDecided:
		key = append(key, 'f')
	default:
		for _, sum := range sums {
			key = binary.LittleEndian.AppendUint64(key, sum)
		}
	}
	index, ok := b.index[string(key)]
	if ok {
		return index
	}
	index = uint32(len(b.of))
	b.index[string(key)] = index
	b.of, b.target = append(b.of, s), append(b.target, isTarget)
	if isDecided {
		b.sums = append(b.sums, nil)
	} else {
		b.sums = append(b.sums, slices.Clone(sums))
	}
	return index
}

// expand appends the choices of product state i to the model of the product.
func (b *builder) expand(out *certificate.Model, i int) {
	s, sums := int(b.of[i]), b.sums[i]
	first, end := b.model.Choices(s)
	if sums == nil {
		end = first
		out.Target, out.Prob = append(out.Target, uint32(i)), append(out.Prob, uint32(len(b.model.Numbers)))
		out.Start = append(out.Start, uint32(len(out.Target)))
	}
	next := make([]uint64, len(sums))
	for c := first; c < end; c++ {
		for k := range sums {
			next[k] = min(sums[k]+b.limits[k].step[c], b.limits[k].most)
		}
		lo, hi := b.model.Row(c)
		targets := b.model.Target[lo:hi]
		for _, to := range slices.Sorted(slices.Values(targets)) { // the numbers must not depend on the order of transitions in a file
			b.indexOf(to, next)
		}
		for _, to := range targets {
			out.Target = append(out.Target, b.indexOf(to, next))
		}
		out.Prob = append(out.Prob, b.model.Prob[lo:hi]...)
		out.Start = append(out.Start, uint32(len(out.Target)))
	}
	if out.First != nil {
		out.First = append(out.First, uint32(len(out.Start)-1))
	}
}
