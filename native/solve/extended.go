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
	if mantissa == 0 || mantissaExponent == -1023 { // zero or subnormal
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
	if shift > 64 { // y is less than a rounding error of x
		return x
	}
	return newExtended(x.mantissa+math.Ldexp(y.mantissa, -shift), x.exponent)
}

// float returns the nearest float64: infinite or 0 if the number is out of range.
func (x extended) float() float64 { return math.Ldexp(x.mantissa, x.exponent) }

// extendedFactors are the factors of an eliminationSolver in extended numbers, for components that a run
// leaves once in 2^300 steps, for example. There are no subtractions either, so the error bound is the same.
type extendedFactors struct{ upper, lower, exit, pivot []extended }

// factorizeExtended eliminates the unknowns in order, in extended numbers. It returns false if a pivot is zero.
func (elim *eliminationSolver) factorizeExtended(meter *meter) (ok bool, err error) {
	n := len(elim.order)
	factors := &extendedFactors{
		upper: make([]extended, len(elim.upperCols)), lower: make([]extended, len(elim.lowerCols)),
		exit: make([]extended, n), pivot: make([]extended, n),
	}
	elim.extendedFactors = factors
	elim.upper, elim.lower, elim.exitWeight, elim.pivot = nil, nil, nil, nil
	elim.setErrorBound()
	workRow := make([]extended, n)
	for p := range n {
		work := elim.eliminateRowExtended(p, workRow)
		if factors.pivot[p].isZero() {
			return false, nil
		}
		if err := meter.addWork(krylovStepCost * work); err != nil {
			return false, err
		}
	}
	return true, nil
}

// eliminateRowExtended computes a row of the triangular factors in extended numbers: it substitutes all earlier rows. It returns the number
// of multiplications. workRow is scratch space, which is zero before and after the call.
func (elim *eliminationSolver) eliminateRowExtended(row int, workRow []extended) (work int) {
	factors := elim.extendedFactors
	exit := elim.loadRowExtended(row, workRow)
	for term := elim.lowerStart[row]; term < elim.lowerStart[row+1]; term++ {
		earlier := elim.lowerCols[term]
		factor := workRow[earlier].quo(factors.pivot[earlier])
		workRow[earlier] = extended{}
		factors.lower[term] = factor
		if factor.isZero() {
			continue
		}
		exit = exit.add(factor.mul(factors.exit[earlier]))
		first, end := elim.upperStart[earlier], elim.upperStart[earlier+1]
		for offset, column := range elim.upperCols[first:end] {
			workRow[column] = workRow[column].add(factor.mul(factors.upper[first+offset]))
		}
		work += end - first
	}
	elim.storeRowExtended(row, exit, workRow)
	return work
}

// storeRowExtended stores a row of the upper factor with its exit weight and its pivot, and clears workRow.
func (elim *eliminationSolver) storeRowExtended(row int, exit extended, workRow []extended) {
	factors := elim.extendedFactors
	workRow[row] = extended{} // the pivot accounts for a self-loop
	factors.exit[row] = exit
	pivotTerms := []extended{exit}
	for i := elim.upperStart[row]; i < elim.upperStart[row+1]; i++ {
		column := elim.upperCols[i]
		factors.upper[i] = workRow[column]
		workRow[column] = extended{}
		pivotTerms = append(pivotTerms, factors.upper[i])
	}
	factors.pivot[row] = sumExtended(pivotTerms) // the error bound allows only a few rounding errors
}

// loadRowExtended adds the weights of the equation at a position to workRow. It returns the exit weight: 1 for an unknown without a choice.
func (elim *eliminationSolver) loadRowExtended(position int, workRow []extended) extended {
	equations := elim.equations
	chosen := elim.choice[elim.order[position]]
	if chosen == sparse.None {
		return extended{1, 0}
	}
	for term := equations.termStart[chosen]; term < equations.termStart[chosen+1]; term++ {
		column := elim.position[equations.column[term]]
		workRow[column] = workRow[column].add(newExtended(equations.weight[term], 0))
	}
	return newExtended(equations.exitWeight[chosen], 0)
}

// sumExtended adds terms with about one rounding error, by Neumaier's compensated summation relative to the greatest term.
func sumExtended(terms []extended) extended {
	greatest := slices.MaxFunc(terms, func(a, b extended) int {
		if a.isZero() || b.isZero() { // the exponent of zero means nothing
			return cmp.Compare(a.mantissa, b.mantissa)
		}
		return cmp.Compare(a.exponent, b.exponent)
	})
	total, compensation := 0.0, 0.0
	for _, term := range terms {
		if term.isZero() || greatest.exponent-term.exponent > 1000 { // far less than a rounding error
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

// substituteExtended solves values = P values + rhs by substitution in extended numbers. It returns nil if a value exceeds the range of float64.
func (elim *eliminationSolver) substituteExtended(rhs func(unknown int) float64) []float64 {
	factors, n := elim.extendedFactors, len(elim.order)
	intermediate := make([]extended, n) // by position
	for p, unknown := range elim.order {
		sum := newExtended(rhs(int(unknown)), 0)
		for i := elim.lowerStart[p]; i < elim.lowerStart[p+1]; i++ {
			sum = sum.add(factors.lower[i].mul(intermediate[elim.lowerCols[i]]))
		}
		intermediate[p] = sum
	}
	values := make([]float64, n)
	for p, unknown := range slices.Backward(elim.order) {
		sum := intermediate[p]
		for i := elim.upperStart[p]; i < elim.upperStart[p+1]; i++ {
			sum = sum.add(factors.upper[i].mul(intermediate[elim.upperCols[i]]))
		}
		sum = sum.quo(factors.pivot[p])
		intermediate[p], values[unknown] = sum, sum.float()
		if math.IsInf(values[unknown], 0) {
			return nil
		}
	}
	return values
}
