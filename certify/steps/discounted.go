package steps

import (
	"context"
	"math/big"

	"tilecheck/certify/certificate"
)

// discountedPlaces is the number of binary places of the values of a discounted reward, unless there are few states.
const discountedPlaces = 200

// DiscountedValues returns lower and upper bounds of the reward of the first To steps, discounted by Vector.Discount: each step backwards multiplies the
// mean of the values by the discount factor and adds the reward.
func (p *Problem) DiscountedValues(ctx context.Context) (out [2]*certificate.Values, err error) {
	places := uint(discountedPlaces)
	if p.NumStates() <= maxFractionWork/(p.Vector.To+1) {
		places = maxFractionPlaces
	}
	for side := range out {
		arith := p.fractionArithmetic(places, side)
		round := arith.round
		arith.step = func(choice int, x []*big.Rat) *big.Rat {
			mean, term := new(big.Rat), new(big.Rat)
			lo, hi := p.Row(choice)
			for t := lo; t < hi; t++ {
				mean.Add(mean, term.Mul(p.Numbers[p.Prob[t]], x[p.Target[t]]))
			}
			mean.Mul(mean, p.Vector.Discount)
			return round(mean.Add(mean, p.Rewards.Rats[p.Rewards.Of[choice]]))
		}
		out[side] = &certificate.Values{}
		if out[side].Rats, err = stepBackwards(ctx, p, arith, side); err != nil {
			return out, err
		}
	}
	return out, nil
}
