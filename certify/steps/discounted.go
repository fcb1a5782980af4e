package steps

import (
	"context"
	"math/big"

	"tilecheck/certify/certificate"
)

// discountedPlaces is the number of binary places to which the values of a discounted reward are rounded. Small problems use maxFractionPlaces instead.
const discountedPlaces = 200

// DiscountedValues returns the lower and the upper bounds of the discounted reward of the first To steps. Each backward step computes r(c) + d *
// sum of P(c,t) v(t), where d is Vector.Discount.
func (p *Problem) DiscountedValues(ctx context.Context) (bounds [2]*certificate.Values, err error) {
	places := uint(discountedPlaces)
	if p.NumStates() <= maxFractionWork/(p.Vector.To+1) {
		places = maxFractionPlaces
	}
	for side := range bounds {
		arith := p.fractionArithmetic(places, side)
		arith.step = func(choice int, values []*big.Rat) *big.Rat {
			mean := p.mean(choice, values)
			mean.Mul(mean, p.Vector.Discount)
			return arith.round(mean.Add(mean, p.Rewards.Fractions[p.Rewards.FractionIndex[choice]]))
		}
		bounds[side] = &certificate.Values{}
		if bounds[side].Fractions, err = stepBackwards(ctx, p, arith, side); err != nil {
			return bounds, err
		}
	}
	return bounds, nil
}
