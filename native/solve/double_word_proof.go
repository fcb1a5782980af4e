package solve

import (
	"math"
	"slices"
)

// doubleWordProof finds the optimal scheduler of a component, and proves bounds on its values, where float64 has too few digits to
// compare choices. If it takes many steps to leave the component, a choice is taken again and again. Then it matters even if it is
// better by less than the rounding error of the values.
//
// It takes the weights and constants as exact, and computes with values in double-word arithmetic.
type doubleWordProof struct {
	*eliminationSolver
	meter  *meter
	values []doubleWord // approximately the values of the current scheduler
}

// comparisonErr is the error of comparing the two sides of an equation with numTerms terms, relative to their sum. It
// covers numTerms+2 products and as many sums, and their difference.
func comparisonErr(numTerms uint32) float64 { return 4 * float64(numTerms+4) * doubleWordUnit }

// solveInDoubleWords tries to prove narrow bounds around the optimal values in double-word arithmetic, and reports whether it stored such bounds. The bounds
// are optimum - delta*slack and optimum + delta*slack, where slack is the vector w with w = P w + optimum. solver must have the triangular factors of a
// scheduler that leaves the component with probability one; values is the solution under this scheduler.
func (local *localSystem) solveInDoubleWords(solver *eliminationSolver, meter *meter, values []float64) (proved bool, err error) {
	proof := &doubleWordProof{eliminationSolver: solver, meter: meter}
	if found, err := proof.findOptimum(values); !found || err != nil {
		return false, err
	}
	scheduler, optimum := slices.Clone(solver.currentChoices), nearestFloats(proof.values)
	for _, fixScheduler := range []bool{true, false} { // try the slack under this scheduler, and then the greatest slack of all schedulers
		slack, err := solver.solveSlack(meter, optimum, fixScheduler)
		if slack == nil || err != nil {
			return false, err
		}
		delta, found, err := proof.findDelta(scheduler, slack)
		if err != nil {
			return false, err
		}
		if found {
			lower, upper := local.perturbedBounds(optimum, slack, delta, solver.perturbation()+4*unitRoundoff)
			local.acceptBounds(lower, upper, scheduler)
			return true, nil
		}
	}
	return false, nil
}

// perturbedBounds returns bounds around the values with distance delta times slack plus a relative error.
// The relative error covers the errors of the weights and constants, which the proof takes as exact.
func (local *localSystem) perturbedBounds(values, slack []float64, delta, relErr float64) (lower, upper []float64) {
	lower, upper = make([]float64, len(values)), make([]float64, len(values))
	for unknown, value := range values {
		local.setBounds(lower, upper, unknown, value, value, errMargin*(delta*slack[unknown]+relErr*value))
	}
	return lower, upper
}

// nearestFloats rounds each value to the nearest float64.
func nearestFloats(values []doubleWord) []float64 {
	floats := make([]float64, len(values))
	for unknown, value := range values {
		floats[unknown] = value.hi
	}
	return floats
}

// findOptimum finds an optimal scheduler and its values by policy iteration in double-word arithmetic. It returns false if it does not succeed within a
// fixed number of rounds.
func (proof *doubleWordProof) findOptimum(values []float64) (found bool, err error) {
	const maxRounds = 30
	for range maxRounds {
		if ok, err := proof.evaluate(values); !ok || err != nil {
			return false, err
		}
		if !proof.improveScheduler() {
			return true, nil
		}
		proof.areFactorsCurrent = false
		var err error
		if values, err = proof.solve(proof.meter, proof.constant); values == nil || err != nil {
			return false, err
		}
	}
	return false, nil
}

// evaluate computes the values of the current scheduler by iterative refinement: it solves the equations for the residual of an approximation, adds the
// solution to the approximation, and repeats this. It returns false if the solver finds no solution.
//
// Source: Higham, Accuracy and Stability of Numerical Algorithms, chapter 12.
func (proof *doubleWordProof) evaluate(approximation []float64) (ok bool, err error) {
	proof.values = make([]doubleWord, len(approximation))
	for unknown, value := range approximation {
		proof.values[unknown] = doubleWord{hi: value}
	}
	const maxRefinements = 6
	for range maxRefinements {
		residuals, isAccurate := proof.residuals()
		if isAccurate {
			return true, nil
		}
		correction, err := proof.solve(proof.meter, func(unknown int) float64 { return residuals[unknown] })
		if correction == nil || err != nil {
			return false, err
		}
		for unknown, change := range correction {
			proof.values[unknown] = proof.values[unknown].add(doubleWord{hi: change})
		}
		if err := proof.meter.addWork(krylovStepCost * proof.equations.work()); err != nil {
			return false, err
		}
	}
	return true, nil
}

// residuals returns, for each equation of the current scheduler, by how much its two sides differ. isAccurate says whether all differences are within the
// rounding error.
func (proof *doubleWordProof) residuals() (residuals []float64, isAccurate bool) {
	residuals = make([]float64, len(proof.values))
	isAccurate = true
	for unknown, choice := range proof.currentChoices {
		left, right := proof.equationSides(unknown, choice, proof.values)
		residuals[unknown] = left.sub(right).hi
		if !(math.Abs(residuals[unknown]) <= comparisonErr(proof.numTerms(choice))*right.hi) {
			isAccurate = false
		}
	}
	return residuals, isAccurate
}

func (proof *doubleWordProof) numTerms(choice uint32) uint32 {
	return proof.equations.termStarts[choice+1] - proof.equations.termStarts[choice]
}

// equationSides returns both sides of the equation of a choice of an unknown: left is the constant plus the sum of weight * value over the successors, and
// right is the value of the unknown times the sum of all weights. This sum is a factor because rounded weights do not sum to exactly 1.
func (proof *doubleWordProof) equationSides(unknown int, choice uint32, values []doubleWord) (left, right doubleWord) {
	equations := proof.equations
	left = doubleWord{hi: equations.constantMidpoint(choice)}
	weightSum := doubleWord{hi: equations.exitWeights[choice]}
	for i := equations.termStarts[choice]; i < equations.termStarts[choice+1]; i++ {
		weight := doubleWord{hi: equations.termWeights[i]}
		left = left.add(weight.mul(values[equations.termColumns[i]]))
		weightSum = weightSum.add(weight)
	}
	return left, weightSum.mul(values[unknown])
}

// improveScheduler switches each unknown to its best choice, and reports whether any choice changed.
func (proof *doubleWordProof) improveScheduler() (changed bool) {
	for unknown, current := range proof.currentChoices {
		if best := proof.bestChoice(unknown); best != current {
			proof.currentChoices[unknown], changed = best, true
		}
	}
	return changed
}

// bestChoice returns the choice that improves the value of an unknown most. If no improvement exceeds the rounding errors, it returns the current choice.
func (proof *doubleWordProof) bestChoice(unknown int) uint32 {
	const noise = 0x1p10 // the errors of the values are greater than those of one comparison, by about this factor
	current := proof.currentChoices[unknown]
	best, bestGain := current, 0.0
	for candidate := proof.equations.choiceStarts[unknown]; candidate < proof.equations.choiceStarts[unknown+1]; candidate++ {
		if candidate == current {
			continue
		}
		left, right := proof.equationSides(unknown, candidate, proof.values)
		gain := left.sub(right).hi
		if proof.equations.minimize {
			gain = -gain
		}
		if gain > max(bestGain, noise*comparisonErr(proof.numTerms(candidate))*right.hi) {
			best, bestGain = candidate, gain
		}
	}
	return best
}

// findDelta returns a number delta for which values - delta*slack and values + delta*slack are inductive bounds: one application of the equations makes them
// narrower. It tries increasing numbers from 2^-98 on. If none below 2^-30 works, found is false.
func (proof *doubleWordProof) findDelta(scheduler []uint32, slack []float64) (delta float64, found bool, err error) {
	lower, upper := make([]doubleWord, len(slack)), make([]doubleWord, len(slack))
	for delta = 0x1p-98; delta < 0x1p-30; delta *= 16 {
		for unknown, value := range proof.values {
			distance := doubleWord{hi: delta * slack[unknown]}
			if distance.hi >= value.hi {
				return 0, false, nil
			}
			lower[unknown], upper[unknown] = value.sub(distance), value.add(distance)
		}
		if proof.provesBounds(scheduler, lower, upper) {
			return delta, true, nil
		}
		if err := proof.meter.addWork(2 * krylovStepCost * proof.equations.work()); err != nil {
			return 0, false, err
		}
	}
	return 0, false, nil
}

// provesBounds reports whether one application of the equations certainly raises all lower bounds and lowers all upper bounds. For a maximum it is enough
// that the choices of the scheduler raise the lower bounds, and for a minimum that they lower the upper bounds.
func (proof *doubleWordProof) provesBounds(scheduler []uint32, lower, upper []doubleWord) bool {
	for unknown, current := range scheduler {
		for choice := proof.equations.choiceStarts[unknown]; choice < proof.equations.choiceStarts[unknown+1]; choice++ {
			if (choice == current || proof.equations.minimize) && proof.changeSign(unknown, choice, lower) <= 0 {
				return false
			}
			if (choice == current || !proof.equations.minimize) && proof.changeSign(unknown, choice, upper) >= 0 {
				return false
			}
		}
	}
	return true
}

// changeSign returns the direction in which the equation of a choice changes the value of an unknown: 1 if it certainly raises the value, -1 if it certainly
// lowers it, and 0 if this is within the rounding errors.
func (proof *doubleWordProof) changeSign(unknown int, choice uint32, values []doubleWord) int {
	left, right := proof.equationSides(unknown, choice, values)
	difference := left.sub(right).hi
	maxErr := comparisonErr(proof.numTerms(choice)) * (left.hi + right.hi)
	switch {
	case difference > maxErr:
		return 1
	case difference < -maxErr:
		return -1
	}
	return 0
}
