package solve

import (
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// krylovStepCost is the cost of one step of Bi-CGSTAB in sweeps.
const krylovStepCost = 5

// minKrylovSteps is the least number of Bi-CGSTAB steps that are tried. They suffice where iteration is
// slow for a single reason, such as a rare exit.
const minKrylovSteps = 24

// solveIteratively approximates the solution of values = P values + rightSide under the current scheduler by at most maxSteps steps of Bi-CGSTAB. It returns
// nil if the relative residual stays large. The error of the result is not known, so the caller must prove bounds around it.
//
// Source: van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG (1992).
func (solver *eliminationSolver) solveIteratively(meter *meter, rightSide func(unknown int) float64, maxSteps int) ([]float64, error) {
	numUnknowns := len(solver.currentChoices)
	values := slices.Clone(solver.initialGuess)
	iteration := &bicgstab{solver: solver, scales: make([]float64, numUnknowns), scaledValues: make([]float64, numUnknowns), residual: make([]float64, numUnknowns)}
	const (
		maxSlowRestarts  = 3    // a restart is slow if it reduces the residual by less than a factor of 4
		restartReduction = 1e-6 // the reduction of the residual after which the iteration restarts
		acceptedResidual = 1e-9 // enough for an approximation, if solver.precision is smaller
	)
	residual := math.Inf(1)
	slowRestarts := 0
	remaining := maxSteps
	// Each restart computes the residual anew, without accumulated rounding errors, and scales the unknowns by the better approximation.
	for {
		iteration.rescale(values, rightSide)
		previous := residual
		residual = maxNorm(iteration.residual)
		if residual > previous/4 {
			slowRestarts++
		}
		isPrecise := residual <= solver.precision
		if isPrecise || remaining <= 0 || slowRestarts > maxSlowRestarts || math.IsNaN(residual) {
			break
		}
		steps, err := iteration.iterate(meter, remaining, max(solver.precision, residual*restartReduction))
		if err != nil {
			return nil, err
		}
		remaining -= steps
		for unknown, scaled := range iteration.scaledValues {
			values[unknown] = scaled * iteration.scales[unknown]
		}
		// One Gauss-Seidel sweep improves small unknowns, whose error can be large compared with their size.
		solver.sweepUnderScheduler(values, rightSide)
	}
	if !(residual <= max(4*solver.precision, acceptedResidual)) { // also if the residual is NaN
		return nil, nil
	}
	return values, nil
}

// sweepUnderScheduler performs one Gauss-Seidel sweep of the equations values = P values + rightSide under the current scheduler.
func (solver *eliminationSolver) sweepUnderScheduler(values []float64, rightSide func(unknown int) float64) {
	for unknown, choice := range solver.currentChoices {
		values[unknown] = rightSide(unknown)
		if choice != sparse.None {
			values[unknown] += solver.equations.sumTerms(choice, values)
		}
	}
}

// bicgstab holds the state of Bi-CGSTAB for the scaled equations: the solution is scaledValues times scales, and
// residual has the residual of each equation divided by its scale.
type bicgstab struct {
	solver                         *eliminationSolver
	scales, scaledValues, residual []float64
}

// rescale makes the unknowns similar in size, so that small ones are computed precisely, too: the scale of each unknown becomes the magnitude of its value.
// Then it computes scaledValues, with values[k] = scaledValues[k] * scales[k], and the residual rightSide - (I - P) values, divided by the scales.
func (iteration *bicgstab) rescale(values []float64, rightSide func(unknown int) float64) {
	minScale := max(maxNorm(values), 1) * 0x1p-60
	for unknown, value := range values {
		iteration.scales[unknown] = max(math.Abs(value), minScale)
		iteration.scaledValues[unknown] = value / iteration.scales[unknown]
	}
	iteration.multiply(iteration.scaledValues, iteration.residual)
	for unknown := range iteration.residual {
		iteration.residual[unknown] = rightSide(unknown)/iteration.scales[unknown] - iteration.residual[unknown]
	}
}

// multiply sets product to the scaled matrix I - P times vector.
func (iteration *bicgstab) multiply(vector, product []float64) {
	inParallelParts(len(vector), 4000, func(from, to int) {
		for unknown := from; unknown < to; unknown++ {
			product[unknown] = vector[unknown] - iteration.sumTerms(unknown, vector)/iteration.scales[unknown]
		}
	})
}

// sumTerms returns component unknown of the product P x, where x[i] = scales[i] * vector[i], and P has the weights of the current scheduler.
func (iteration *bicgstab) sumTerms(unknown int, vector []float64) float64 {
	choice := iteration.solver.currentChoices[unknown]
	if choice == sparse.None {
		return 0
	}
	equations := iteration.solver.equations
	sum := 0.0
	for i := equations.termStarts[choice]; i < equations.termStarts[choice+1]; i++ {
		target := equations.termColumns[i]
		sum += equations.termWeights[i] * iteration.scales[target] * vector[target]
	}
	return sum
}

// iterate performs at most maxSteps steps of Bi-CGSTAB, and returns how many it performed. It stops if the greatest residual is at most precision, or at a
// breakdown (a division by zero). In van der Vorst's notation, shadow is r̂0, direction p, directionImage v = A p, the residual r (after the first half step
// s), and residualImage t = A s.
func (iteration *bicgstab) iterate(meter *meter, maxSteps int, precision float64) (int, error) {
	numUnknowns := len(iteration.scaledValues)
	shadow := slices.Clone(iteration.residual)
	direction := make([]float64, numUnknowns)
	directionImage := make([]float64, numUnknowns)
	residualImage := make([]float64, numUnknowns)
	rho, alpha, omega := 1.0, 1.0, 1.0
	for step := range maxSteps {
		nextRho := scalarProduct(shadow, iteration.residual)
		beta := nextRho / rho * alpha / omega
		rho = nextRho
		for unknown := range direction {
			direction[unknown] = iteration.residual[unknown] + beta*(direction[unknown]-omega*directionImage[unknown])
		}
		iteration.multiply(direction, directionImage)
		alpha = rho / scalarProduct(shadow, directionImage)
		for unknown := range direction {
			iteration.residual[unknown] -= alpha * directionImage[unknown]
		}
		iteration.multiply(iteration.residual, residualImage)
		omega = scalarProduct(residualImage, iteration.residual) / scalarProduct(residualImage, residualImage)
		product := alpha * omega
		isBreakdown := math.IsNaN(product) || math.IsInf(product, 0) || product == 0
		if isBreakdown {
			return step + 1, nil
		}
		for unknown := range direction {
			iteration.scaledValues[unknown] += alpha*direction[unknown] + omega*iteration.residual[unknown]
			iteration.residual[unknown] -= omega * residualImage[unknown]
		}
		if err := meter.addWork(krylovStepCost * iteration.solver.equations.work()); err != nil {
			return step, err
		}
		if maxNorm(iteration.residual) <= precision {
			return step + 1, nil
		}
	}
	return maxSteps, nil
}

// scalarProduct returns the scalar product of two vectors.
func scalarProduct(left, right []float64) float64 {
	sum := 0.0
	for i, value := range left {
		sum += value * right[i]
	}
	return sum
}

// maxNorm returns the greatest absolute value, or NaN if there is a NaN.
func maxNorm(values []float64) float64 {
	maximum := 0.0
	for _, value := range values {
		maximum = max(maximum, math.Abs(value))
	}
	return maximum
}
