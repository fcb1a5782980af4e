package solve

import "math"

// remainingWeights are the weights of a sum over steps: flatWeight for each of the next flatSteps steps, then
// the given weights.
type remainingWeights struct {
	flatWeight float64 // 0 or 1
	flatSteps  int
	weights    []float64
}

// sum returns the weighted sum of 1, factor, factor^2 and so on, which is the weight of a value that every step multiplies
// by factor. It also returns the relative error of the sum.
func (remaining remainingWeights) sum(factor float64) (total, err float64) {
	log := math.Log1p(factor - 1)
	if factor < 0.5 { // factor-1 has lost the digits of a small factor
		log = math.Log(factor)
	}
	n := float64(remaining.flatSteps)
	power := 1.0
	if remaining.flatSteps > 0 {
		power = math.Exp(n * log)
		total = remaining.flatWeight * n
		if factor != 1 { // a geometric sum
			total = remaining.flatWeight * math.Expm1(n*log) / (factor - 1)
		}
	}
	for _, weight := range remaining.weights {
		total += weight * power
		power *= factor
	}
	// The absolute error of the exponent is the relative error of the power, which is negligible far below zero.
	return total, (2*float64(len(remaining.weights)) + 16 + 8*min(math.Abs(n*log), 1<<10)) * unit
}

// extrapolate tries to compute all later steps of a weighted sum at once. values are the current values, next the values after one more
// step, and sum the weighted sum of the earlier steps. If one step multiplies each value by a factor between two bounds, then so does
// every later step. So the later steps contribute values times a weight, which extrapolate returns. ok is false unless the weight is
// about as precise as single steps, or as precise as required. The relative error is added to skippedErr.
//
// Source: the bounds of an eigenvalue by Collatz (1942) and Wielandt (1950).
func (uniform *uniformisation) extrapolate(step int, values, next, sum []float64, rest remainingWeights) (weight float64, ok bool) {
	if step%checkInterval != 0 || uniform.lostSmallValue {
		return 0, false
	}
	minRatio, maxRatio := math.Inf(1), 0.0
	for s, value := range values {
		switch {
		case value > 0:
			ratio := next[s] / value
			minRatio, maxRatio = min(minRatio, ratio), max(maxRatio, ratio)
		case next[s] > 0:
			return 0, false
		}
	}
	relErr := 1.01 * (uniform.relErrPerStep + 4*unit)
	minWeight, minErr := rest.sum(minRatio * (1 - relErr))
	maxWeight, maxErr := rest.sum(maxRatio * (1 + relErr))
	minWeight, maxWeight = minWeight*(1-minErr), maxWeight*(1+maxErr)
	weight = minWeight + (maxWeight-minWeight)/2
	numSteps := float64(rest.flatSteps + len(rest.weights))
	if !(maxWeight <= 4*numSteps && weight > 0x1p-500) { // values that grow could overflow; small powers lose digits
		return 0, false
	}
	share := 0.0
	for s, value := range values {
		if value > 0 {
			share = max(share, value/(sum[s]+weight*value))
		}
	}
	deviation := 1.01 * (maxWeight - minWeight) / 2 * share
	if !(deviation <= uniform.opts.epsilon()/16+1.1*relErr*numSteps) {
		return 0, false
	}
	uniform.skippedErr = max(uniform.skippedErr, deviation)
	return weight, true
}
