package solve

import "math"

// remainingWeights are the weights of the values of this and all later steps in a sum: flat for the first steps, and then
// those in list.
type remainingWeights struct {
	flat  float64 // 0 or 1
	steps int
	list  []float64
}

// sum returns the weight of a value that every step multiplies by a factor, and its relative error.
func (r remainingWeights) sum(factor float64) (total, err float64) {
	log := math.Log1p(factor - 1)
	if factor < 0.5 { // factor-1 has lost the digits of a small factor
		log = math.Log(factor)
	}
	n := float64(r.steps)
	power := 1.0
	if r.steps > 0 {
		power = math.Exp(n * log)
		switch {
		case factor == 1:
			total = r.flat * n
		default:
			total = r.flat * math.Expm1(n*log) / (factor - 1)
		}
	}
	for _, w := range r.list {
		total += w * power
		power *= factor
	}
	// The absolute error of the exponent is the relative error of the power, which is negligible far below zero.
	return total, (2*float64(len(r.list)) + 16 + 8*min(math.Abs(n*log), 1<<10)) * unit
}

// extrapolate tries to take all later steps at once. next are the values one step after x. If a step multiplies each value
// by a factor between lo and hi, so does every later step. extrapolate returns the weight of x in the sum over this and all
// later steps. ok is false unless the weight is about as precise as single steps, or as asked for; sum are the values
// of the sum so far. It records the relative error in spread.
//
// Source: the bounds of an eigenvalue by Collatz (1942) and Wielandt (1950).
func (z *uniform) extrapolate(step int, x, next, sum []float64, rest remainingWeights) (weight float64, ok bool) {
	if step%checkInterval != 0 || z.lost {
		return 0, false
	}
	lo, hi := math.Inf(1), 0.0
	for s, v := range x {
		switch {
		case v > 0:
			r := next[s] / v
			lo, hi = min(lo, r), max(hi, r)
		case next[s] > 0:
			return 0, false
		}
	}
	e := 1.01 * (z.err + 4*unit)
	least, leastErr := rest.sum(lo * (1 - e))
	most, mostErr := rest.sum(hi * (1 + e))
	least, most = least*(1-leastErr), most*(1+mostErr)
	weight = least + (most-least)/2
	numSteps := float64(rest.steps + len(rest.list))
	if !(most <= 4*numSteps && weight > 0x1p-500) { // values that grow could overflow; small powers lose digits
		return 0, false
	}
	share := 0.0
	for s, v := range x {
		if v > 0 {
			share = max(share, v/(sum[s]+weight*v))
		}
	}
	off := 1.01 * (most - least) / 2 * share
	if !(off <= z.opts.epsilon()/16+1.1*e*numSteps) {
		return 0, false
	}
	z.spread = max(z.spread, off)
	return weight, true
}
