package solve

import (
	"cmp"
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// extended is a floating-point number mantissa * 2^exponent with the precision of float64 and a practically
// unlimited exponent. The mantissa is 0, or at least 1 and less than 2. Operations round like float64
// operations, but cannot overflow or underflow.
type extended struct {
	mantissa float64
	exponent int
}

// newExtended returns mantissa * 2^exponent as an extended number. The mantissa must not be negative.
func newExtended(mantissa float64, exponent int) extended {
	bits := math.Float64bits(mantissa)
	mantissaExponent := int(bits>>52) - 1023
	if mantissa == 0 || mantissaExponent == -1023 { // the mantissa is zero or a subnormal number
		half, halfExponent := math.Frexp(mantissa)
		if half == 0 {
			return extended{}
		}
		return extended{2 * half, exponent + halfExponent - 1}
	}
	return extended{math.Float64frombits(bits - uint64(mantissaExponent)<<52), exponent + mantissaExponent}
}

func (x extended) isZero() bool { return x.mantissa == 0 }

func (x extended) mul(y extended) extended {
	return newExtended(x.mantissa*y.mantissa, x.exponent+y.exponent)
}

func (x extended) quo(y extended) extended {
	return newExtended(x.mantissa/y.mantissa, x.exponent-y.exponent)
}

// add returns the sum of two extended numbers with one rounding error.
func (x extended) add(y extended) extended {
	switch {
	case y.isZero():
		return x
	case x.isZero():
		return y
	case x.exponent < y.exponent:
		x, y = y, x
	}
	shift := x.exponent - y.exponent
	if shift > 64 { // y is smaller than the rounding error of the sum
		return x
	}
	return newExtended(x.mantissa+math.Ldexp(y.mantissa, -shift), x.exponent)
}

// float returns the nearest float64: infinite or 0 if the number is out of range.
func (x extended) float() float64 { return math.Ldexp(x.mantissa, x.exponent) }

// extendedFactors are the factors of an eliminationSolver in extended numbers, for components that a run
// leaves once in 2^300 steps, for example. There are no subtractions either, so the error bound is the same.
type extendedFactors struct{ upperTerms, lowerFactors, exitWeights, pivots []extended }

// factorizeExtended computes the triangular factors in extended numbers, which have a larger exponent than float64. It returns false if a pivot is zero.
func (solver *eliminationSolver) factorizeExtended(meter *meter) (ok bool, err error) {
	numUnknowns := len(solver.order)
	factors := &extendedFactors{
		upperTerms: make([]extended, len(solver.upperColumns)), lowerFactors: make([]extended, len(solver.lowerColumns)),
		exitWeights: make([]extended, numUnknowns), pivots: make([]extended, numUnknowns),
	}
	solver.extendedFactors = factors
	solver.upperTerms, solver.lowerFactors, solver.exitWeights, solver.pivots = nil, nil, nil, nil
	solver.setErrorBound()
	workRow := make([]extended, numUnknowns)
	for position := range numUnknowns {
		work := solver.eliminateRowExtended(position, workRow)
		if factors.pivots[position].isZero() {
			return false, nil
		}
		if err := meter.addWork(krylovStepCost * work); err != nil {
			return false, err
		}
	}
	return true, nil
}

// eliminateRowExtended is eliminateRow in extended numbers: it computes a row of the triangular factors. It returns the number of multiplications. workRow
// is scratch memory, which is zero before and after the call.
func (solver *eliminationSolver) eliminateRowExtended(row int, workRow []extended) (work int) {
	factors := solver.extendedFactors
	exitWeight := solver.loadRowExtended(row, workRow)
	for term := solver.lowerStarts[row]; term < solver.lowerStarts[row+1]; term++ {
		earlier := solver.lowerColumns[term]
		factor := workRow[earlier].quo(factors.pivots[earlier])
		workRow[earlier] = extended{}
		factors.lowerFactors[term] = factor
		if factor.isZero() {
			continue
		}
		exitWeight = exitWeight.add(factor.mul(factors.exitWeights[earlier]))
		first, end := solver.upperStarts[earlier], solver.upperStarts[earlier+1]
		for offset, column := range solver.upperColumns[first:end] {
			workRow[column] = workRow[column].add(factor.mul(factors.upperTerms[first+offset]))
		}
		work += end - first
	}
	solver.storeRowExtended(row, exitWeight, workRow)
	return work
}

// storeRowExtended stores a row of the upper factor with its exit weight and its pivot, and clears workRow.
func (solver *eliminationSolver) storeRowExtended(row int, exitWeight extended, workRow []extended) {
	factors := solver.extendedFactors
	workRow[row] = extended{} // a self-loop is eliminated, because the pivot is the sum of all other weights
	factors.exitWeights[row] = exitWeight
	pivotTerms := []extended{exitWeight}
	for i := solver.upperStarts[row]; i < solver.upperStarts[row+1]; i++ {
		column := solver.upperColumns[i]
		factors.upperTerms[i] = workRow[column]
		workRow[column] = extended{}
		pivotTerms = append(pivotTerms, factors.upperTerms[i])
	}
	factors.pivots[row] = sumExtended(pivotTerms) // the error bound allows only a few rounding errors
}

// loadRowExtended adds the weights of the equation at a position in the order to workRow. It returns the exit weight of the equation, which is 1 for an
// unknown without a choice.
func (solver *eliminationSolver) loadRowExtended(position int, workRow []extended) extended {
	equations := solver.equations
	choice := solver.currentChoices[solver.order[position]]
	if choice == sparse.None {
		return extended{1, 0}
	}
	for term := equations.termStarts[choice]; term < equations.termStarts[choice+1]; term++ {
		column := solver.positionOf[equations.termColumns[term]]
		workRow[column] = workRow[column].add(newExtended(equations.termWeights[term], 0))
	}
	return newExtended(equations.exitWeights[choice], 0)
}

// negligibleExponents is the difference of binary exponents from which a term is far less than a rounding error of another one.
const negligibleExponents = 1000

// sumExtended adds terms with about one rounding error, by Neumaier's compensated summation relative to the greatest term.
func sumExtended(terms []extended) extended {
	greatest := slices.MaxFunc(terms, func(left, right extended) int {
		if left.isZero() || right.isZero() { // zero has no meaningful exponent, so compare mantissas
			return cmp.Compare(left.mantissa, right.mantissa)
		}
		return cmp.Compare(left.exponent, right.exponent)
	})
	total, compensation := 0.0, 0.0
	for _, term := range terms {
		if term.isZero() || greatest.exponent-term.exponent > negligibleExponents {
			continue
		}
		scaled := math.Ldexp(term.mantissa, term.exponent-greatest.exponent)
		newTotal := total + scaled
		recovered := newTotal - total
		compensation += (total - (newTotal - recovered)) + (scaled - recovered)
		total = newTotal
	}
	return newExtended(total+compensation, greatest.exponent)
}

// substituteExtended solves values = P values + rightSide by substitution in extended numbers. It returns nil if a value exceeds the range of float64.
func (solver *eliminationSolver) substituteExtended(rightSide func(unknown int) float64) []float64 {
	factors, numUnknowns := solver.extendedFactors, len(solver.order)
	intermediate := make([]extended, numUnknowns) // the result of forward substitution, in the order of elimination
	for position, unknown := range solver.order {
		sum := newExtended(rightSide(int(unknown)), 0)
		for i := solver.lowerStarts[position]; i < solver.lowerStarts[position+1]; i++ {
			sum = sum.add(factors.lowerFactors[i].mul(intermediate[solver.lowerColumns[i]]))
		}
		intermediate[position] = sum
	}
	values := make([]float64, numUnknowns)
	for position, unknown := range slices.Backward(solver.order) {
		sum := intermediate[position]
		for i := solver.upperStarts[position]; i < solver.upperStarts[position+1]; i++ {
			sum = sum.add(factors.upperTerms[i].mul(intermediate[solver.upperColumns[i]]))
		}
		sum = sum.quo(factors.pivots[position])
		intermediate[position], values[unknown] = sum, sum.float()
		if math.IsInf(values[unknown], 0) {
			return nil
		}
	}
	return values
}
