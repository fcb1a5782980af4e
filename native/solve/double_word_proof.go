package solve

import "slices"

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

// comparisonErr is the error of comparing the two sides of an equation with n terms, relative to their sum. It
// covers n+2 products and as many sums, and their difference.
func comparisonErr(n uint32) float64 { return 4 * float64(n+4) * doubleWordUnit }

// solveInDoubleWords replaces the bounds by narrow ones and returns true, if it can prove some. solver has the factors
// of a scheduler that leaves the component, and values is the solution for this scheduler.
//
// The proof is about equations whose weights and constants are the computed ones. The true ones have relative errors;
// perturbation bounds their effect on the value of every scheduler, and therefore on the optimum.
func (local *localSystem) solveInDoubleWords(solver *eliminationSolver, meter *meter, values []float64) (bool, error) {
	proof := &doubleWordProof{eliminationSolver: solver, meter: meter}
	if ok, err := proof.findOptimum(values); !ok || err != nil {
		return false, err
	}
	scheduler, optimum := slices.Clone(solver.choice), nearestFloats(proof.values)
	for _, fixedScheduler := range []bool{true, false} {
		slack, err := solver.solveSlack(meter, optimum, fixedScheduler)
		if slack == nil || err != nil {
			return false, err
		}
		delta, ok, err := proof.findDelta(scheduler, slack)
		if err != nil {
			return false, err
		}
		if !ok {
			continue
		}
		relErr := solver.perturbation() + 4*unit
		lower, upper := make([]float64, len(optimum)), make([]float64, len(optimum))
		for k, value := range optimum {
			local.setAround(lower, upper, k, value, value, 1.01*(delta*slack[k]+relErr*value))
		}
		local.acceptBounds(lower, upper, scheduler)
		return true, nil
	}
	return false, nil
}

func nearestFloats(values []doubleWord) []float64 {
	floats := make([]float64, len(values))
	for k, value := range values {
		floats[k] = value.hi
	}
	return floats
}

// findOptimum improves the scheduler until no choice is better by more than the error of double-word arithmetic.
func (proof *doubleWordProof) findOptimum(values []float64) (bool, error) {
	const maxRounds = 30
	for range maxRounds {
		if ok, err := proof.evaluate(values); !ok || err != nil {
			return false, err
		}
		if !proof.improveScheduler() {
			return true, nil
		}
		proof.factorsCurrent = false
		var err error
		if values, err = proof.solve(proof.meter, proof.constant); values == nil || err != nil {
			return false, err
		}
	}
	return false, nil
}

// evaluate computes the values of the current scheduler, by iterative refinement of the given approximation.
//
// Source: Higham, Accuracy and Stability of Numerical Algorithms, chapter 12.
func (proof *doubleWordProof) evaluate(values []float64) (bool, error) {
	proof.values = make([]doubleWord, len(values))
	for k, value := range values {
		proof.values[k] = doubleWord{hi: value}
	}
	const maxRefinements = 6
	for range maxRefinements {
		residual := make([]float64, len(values))
		accurate := true
		for k, j := range proof.choice {
			left, right := proof.sides(k, j, proof.values)
			residual[k] = left.sub(right).hi
			accurate = accurate && max(residual[k], -residual[k]) <= comparisonErr(proof.numTerms(j))*right.hi
		}
		if accurate {
			return true, nil
		}
		correction, err := proof.solve(proof.meter, func(k int) float64 { return residual[k] })
		if correction == nil || err != nil {
			return false, err
		}
		for k, change := range correction {
			proof.values[k] = proof.values[k].add(doubleWord{hi: change})
		}
		if err := proof.meter.addWork(krylovStepCost * proof.equations.work()); err != nil {
			return false, err
		}
	}
	return true, nil
}

func (proof *doubleWordProof) numTerms(j uint32) uint32 {
	return proof.equations.termStart[j+1] - proof.equations.termStart[j]
}

// sides returns both sides of the equation of choice j of unknown k: its constant plus the weighted values of its
// terms, and the value of k times the sum of all weights.
func (proof *doubleWordProof) sides(k int, j uint32, values []doubleWord) (left, right doubleWord) {
	equations := proof.equations
	left = doubleWord{hi: equations.constantMidpoint(j)}
	weightSum := doubleWord{hi: equations.exitWeight[j]}
	for i := equations.termStart[j]; i < equations.termStart[j+1]; i++ {
		weight := doubleWord{hi: equations.weight[i]}
		left = left.add(weight.mul(values[equations.column[i]]))
		weightSum = weightSum.add(weight)
	}
	return left, weightSum.mul(values[k])
}

// improveScheduler switches each unknown to its best choice, and reports whether any choice changed.
func (proof *doubleWordProof) improveScheduler() (changed bool) {
	const noise = 0x1p10 // the values have greater errors than single comparisons
	for k := range proof.choice {
		greatest := 0.0
		for j := proof.equations.choiceStart[k]; j < proof.equations.choiceStart[k+1]; j++ {
			left, right := proof.sides(k, j, proof.values)
			gain := left.sub(right).hi
			if proof.equations.minimize {
				gain = -gain
			}
			if j != proof.choice[k] && gain > max(greatest, noise*comparisonErr(proof.numTerms(j))*right.hi) {
				greatest, proof.choice[k], changed = gain, j, true
			}
		}
	}
	return changed
}

// findDelta returns the least delta, of those that it tries, for which the values minus and plus delta times slack
// are inductive bounds.
func (proof *doubleWordProof) findDelta(scheduler []uint32, slack []float64) (delta float64, ok bool, err error) {
	lower, upper := make([]doubleWord, len(slack)), make([]doubleWord, len(slack))
	for delta := 0x1p-98; delta < 0x1p-30; delta *= 16 {
		for k, value := range proof.values {
			spread := doubleWord{hi: delta * slack[k]}
			if spread.hi >= value.hi {
				return 0, false, nil
			}
			lower[k], upper[k] = value.sub(spread), value.add(spread)
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

// provesBounds reports whether the bounds are inductive. The lower bounds of a maximum and the upper bounds of a
// minimum need to hold for the given scheduler only.
func (proof *doubleWordProof) provesBounds(scheduler []uint32, lower, upper []doubleWord) bool {
	for k, current := range scheduler {
		for j := proof.equations.choiceStart[k]; j < proof.equations.choiceStart[k+1]; j++ {
			if (j == current || proof.equations.minimize) && proof.direction(k, j, lower) <= 0 {
				return false
			}
			if (j == current || !proof.equations.minimize) && proof.direction(k, j, upper) >= 0 {
				return false
			}
		}
	}
	return true
}

// direction returns a positive number if choice j certainly raises the value of unknown k, a negative number
// if it certainly lowers it, and 0 if the two sides of its equation are too close.
func (proof *doubleWordProof) direction(k int, j uint32, values []doubleWord) int {
	left, right := proof.sides(k, j, values)
	difference, err := left.sub(right).hi, comparisonErr(proof.numTerms(j))*(left.hi+right.hi)
	switch {
	case difference > err:
		return 1
	case difference < -err:
		return -1
	}
	return 0
}
