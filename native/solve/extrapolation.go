package solve

import "math"

// remainingWeights are the weights of a sum over steps: flatWeight for each of the next flatSteps steps, then
// the given weights.
type remainingWeights struct {
	flatWeight float64 // 0 or 1
	flatSteps  int
	weights    []float64
}

// weightedSum returns the sum of weight_i * factor^i over the remaining steps i = 0, 1, 2 and so on, with a bound on its relative error. The first flatSteps
// weights are all flatWeight; the later ones are in remaining.weights.
func (remaining remainingWeights) weightedSum(factor float64) (total, relErr float64) {
	logFactor := math.Log1p(factor - 1)
	if factor < 0.5 { // for a small factor, rounding factor-1 loses digits
		logFactor = math.Log(factor)
	}
	flatSteps := float64(remaining.flatSteps)
	power := 1.0
	if remaining.flatSteps > 0 {
		power = math.Exp(flatSteps * logFactor)
		total = remaining.flatWeight * flatSteps
		if factor != 1 { // the sum of a geometric series
			total = remaining.flatWeight * math.Expm1(flatSteps*logFactor) / (factor - 1)
		}
	}
	for _, weight := range remaining.weights {
		total += weight * power
		power *= factor
	}
	// The absolute error of the exponent is the relative error of the power, which is negligible far below zero.
	return total, (2*float64(len(remaining.weights)) + 16 + 8*min(math.Abs(flatSteps*logFactor), 1<<10)) * unitRoundoff
}

// extrapolate tries to replace the terms of all remaining steps of a weighted sum of vectors by one multiple of the current vector, and returns this
// multiple as weight. values is the current vector, nextValues the vector after one more step, and sums the sum of the earlier terms. ok is false if this is
// neither about as precise as single steps nor as precise as required.
//
// Source: the bounds of an eigenvalue by Collatz (1942) and Wielandt (1950).
func (uniform *uniformisation) extrapolate(step int, values, nextValues, sums []float64, remaining remainingWeights) (weight float64, ok bool) {
	if step%checkInterval != 0 || uniform.hasUnderflow {
		return 0, false
	}
	// If one step multiplies each value by a factor between two bounds, so does every later step.
	minRatio, maxRatio, ok := ratioBounds(values, nextValues)
	if !ok {
		return 0, false
	}
	relErr := errMargin * (uniform.relErrPerStep + 4*unitRoundoff)
	minWeight, minWeightErr := remaining.weightedSum(minRatio * (1 - relErr))
	maxWeight, maxWeightErr := remaining.weightedSum(maxRatio * (1 + relErr))
	minWeight, maxWeight = minWeight*(1-minWeightErr), maxWeight*(1+maxWeightErr)
	weight = minWeight + (maxWeight-minWeight)/2
	numSteps := float64(remaining.flatSteps + len(remaining.weights))
	if !(maxWeight <= 4*numSteps && weight > 0x1p-500) { // growing values could overflow, and tiny powers lose digits
		return 0, false
	}
	deviation := errMargin * (maxWeight - minWeight) / 2 * maxShare(values, sums, weight)
	if !(deviation <= uniform.opts.epsilon()/16+1.1*relErr*numSteps) {
		return 0, false
	}
	uniform.skippedErr = max(uniform.skippedErr, deviation)
	return weight, true
}

// ratioBounds returns the least and the greatest quotient nextValues[state]/values[state] over the states with a positive value. ok is false if a value
// changes from zero to positive.
func ratioBounds(values, nextValues []float64) (minRatio, maxRatio float64, ok bool) {
	minRatio = math.Inf(1)
	for state, value := range values {
		switch {
		case value > 0:
			ratio := nextValues[state] / value
			minRatio, maxRatio = min(minRatio, ratio), max(maxRatio, ratio)
		case nextValues[state] > 0:
			return 0, 0, false
		}
	}
	return minRatio, maxRatio, true
}

// maxShare returns the greatest quotient values[state] / (sums[state] + weight*values[state]) over the states with a positive value.
func maxShare(values, sums []float64, weight float64) float64 {
	share := 0.0
	for state, value := range values {
		if value > 0 {
			share = max(share, value/(sums[state]+weight*value))
		}
	}
	return share
}
