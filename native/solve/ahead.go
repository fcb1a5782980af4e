package solve

import "math"

// ahead is what the values of a step and of those to come count: flat for so many steps,
// then as weight says.
type ahead struct {
	flat   float64 // 0 or 1
	steps  int
	weight []float64
}

// sum returns what a value counts that every step multiplies by a factor, and the
// relative error of that.
func (a ahead) sum(factor float64) (total, err float64) {
	log := math.Log1p(factor - 1)
	if factor < 0.5 { // or a small one has no digits left
		log = math.Log(factor)
	}
	n := float64(a.steps)
	power := 1.0
	if a.steps > 0 {
		power = math.Exp(n * log)
		switch {
		case factor == 1:
			total = a.flat * n
		default:
			total = a.flat * math.Expm1(n*log) / (factor - 1)
		}
	}
	for _, w := range a.weight {
		total += w * power
		power *= factor
	}
	// An error of the exponent is one of the power, which is next to nothing far below zero.
	return total, (2*float64(len(a.weight)) + 16 + 8*min(math.Abs(n*log), 1<<10)) * unit
}

// onward looks whether all steps to come can be taken at once: every step makes of the
// values x at least lo times and at most hi times as much, where next shows that one
// does, since then the step after it does so, too. It returns what x counts altogether,
// and reports whether that is about as near as all these steps would have been, or as asked
// for, of which the sum so far is a part. The relative error is noted.
//
// Source: the bounds of an eigenvalue by Collatz (1942) and Wielandt (1950).
func (z *uniform) onward(step int, x, next, sum []float64, a ahead) (count float64, ok bool) {
	if step%often != 0 || z.lost {
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
	least, e1 := a.sum(lo * (1 - e))
	most, e2 := a.sum(hi * (1 + e))
	least, most = least*(1-e1), most*(1+e2)
	count = least + (most-least)/2
	// Values that grow much are no candidates, and could overflow. Powers have all their digits.
	if !(most <= 4*float64(a.steps+len(a.weight)) && count > 0x1p-500) {
		return 0, false
	}
	share := 0.0
	for s, v := range x {
		if v > 0 {
			share = max(share, v/(sum[s]+count*v))
		}
	}
	off := 1.01 * (most - least) / 2 * share
	if !(off <= z.opts.epsilon()/16+1.1*e*float64(a.steps+len(a.weight))) {
		return 0, false
	}
	z.spread = max(z.spread, off)
	return count, true
}
