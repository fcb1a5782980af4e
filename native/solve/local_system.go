package solve

import (
	"math"
	"slices"

	"tilecheck/native/space/sparse"
)

// localSystem is the system of equations of one strongly connected component, in which the values of all other states are
// constants. The value of choice j is its constant plus the sum of weight[i] * x(column[i]) over its terms i. Every scheduler leaves
// the component with probability one, or has infinite reward in it. So the equations have one solution.
type localSystem struct {
	minimize, hasRewards bool
	isProbability        bool // values are at most 1
	hasConverged         bool
	sweepsTooSlow        bool // no practical number of sweeps replaces elimination
	isExtended           bool // solved in extended numbers

	rounding                       rounding
	choiceStarts                   []uint32 // the choices of unknown k are choiceStart[k]:choiceStart[k+1]
	termStarts                     []uint32 // the terms of each choice
	termColumns                    []uint32
	termWeights                    []float64
	lowerConstants, upperConstants []float64 // bounds on the constant of each choice
	exitWeights                    []float64 // weight of each choice that leaves the component; all weights of a choice sum to 1
	evaluationErrs                 []float64 // relative error of evaluating each choice
	modelChoices                   []uint32  // the choice of the model
	// inheritedWidth is the greatest relative width of a constant, apart from constants near underflow.
	// underflowed says that there are constants near underflow.
	inheritedWidth float64
	hasUnderflow   bool
	// inheritedAbsWidth is the greatest absolute width of the constants that are small multiples of the
	// grid. These constants do not count in inheritedWidth.
	inheritedAbsWidth float64

	lower, upper []float64
	scheduler    []uint32 // a choice of each unknown that attains a value within the bounds; nil if not asked for
}

// copyModelScheduler copies the choices of a scheduler of the whole model to the scheduler of the local system. An unknown keeps its choice if the model's
// scheduler uses none of its choices.
func (local *localSystem) copyModelScheduler(modelScheduler []uint32, graph *sparse.Graph) {
	for unknown := range local.scheduler {
		for choice := local.choiceStarts[unknown]; choice < local.choiceStarts[unknown+1]; choice++ {
			if modelChoice := local.modelChoices[choice]; modelScheduler[graph.Owner(modelChoice)] == modelChoice {
				local.scheduler[unknown] = choice
			}
		}
	}
}

// initBounds sets all bounds to zero. If wantsScheduler is set, the scheduler starts with the first choice of each unknown.
func (local *localSystem) initBounds(wantsScheduler bool) {
	numUnknowns := len(local.choiceStarts) - 1
	local.lower, local.upper = make([]float64, numUnknowns), make([]float64, numUnknowns)
	if !wantsScheduler {
		return
	}
	local.scheduler = make([]uint32, numUnknowns)
	for unknown := range local.scheduler {
		local.scheduler[unknown] = sparse.None
		if local.choiceStarts[unknown] < local.choiceStarts[unknown+1] {
			local.scheduler[unknown] = local.choiceStarts[unknown]
		}
	}
}

// sumTerms returns the value of a choice without its constant.
func (local *localSystem) sumTerms(choice uint32, values []float64) float64 {
	sum := 0.0
	for i := local.termStarts[choice]; i < local.termStarts[choice+1]; i++ {
		sum += local.termWeights[i] * values[local.termColumns[i]]
	}
	return sum
}

// columns returns the unknowns in the terms of a choice.
func (local *localSystem) columns(choice uint32) []uint32 {
	return local.termColumns[local.termStarts[choice]:local.termStarts[choice+1]]
}

// constantMidpoint returns the midpoint of the bounds on the constant of a choice.
func (local *localSystem) constantMidpoint(choice uint32) float64 {
	return local.lowerConstants[choice] + (local.upperConstants[choice]-local.lowerConstants[choice])/2
}

// newLowerBound returns a lower bound on an unknown, rounded down to the grid: the optimum over its choices, and the optimal choice. values
// has lower bounds on all unknowns. An unknown without choices has the value 0 and the choice sparse.None.
func (local *localSystem) newLowerBound(unknown int, values []float64) (value float64, choice uint32) {
	value, choice = local.newLowerOffGrid(unknown, values)
	return local.rounding.floorToGrid(value), choice
}

// newLowerOffGrid returns a lower bound on an unknown, without rounding it to the grid: the optimum over its choices, rounded down. It also returns the
// optimal choice. values has lower bounds on all unknowns.
func (local *localSystem) newLowerOffGrid(unknown int, values []float64) (bestValue float64, choice uint32) {
	choice = sparse.None
	for candidate := local.choiceStarts[unknown]; candidate < local.choiceStarts[unknown+1]; candidate++ {
		value := local.rounding.roundDown(local.lowerConstants[candidate]+local.sumTerms(candidate, values), local.evaluationErrs[candidate])
		if choice == sparse.None || isBetter(value, bestValue, local.minimize) {
			bestValue, choice = value, candidate
		}
	}
	return bestValue, choice
}

// newUpperBound returns an upper bound on an unknown: the optimum over its choices, rounded up, and the optimal choice. values has upper
// bounds on all unknowns.
func (local *localSystem) newUpperBound(unknown int, values []float64) (bestValue float64, choice uint32) {
	choice = sparse.None
	for candidate := local.choiceStarts[unknown]; candidate < local.choiceStarts[unknown+1]; candidate++ {
		value := local.rounding.roundUp(local.upperConstants[candidate]+local.sumTerms(candidate, values), local.evaluationErrs[candidate])
		if choice == sparse.None || isBetter(value, bestValue, local.minimize) {
			bestValue, choice = value, candidate
		}
	}
	if local.isProbability {
		bestValue = min(bestValue, 1)
	}
	return bestValue, choice
}

// isBetter reports whether value is less than best for a minimum, or greater for a maximum.
func isBetter(value, best float64, minimize bool) bool {
	if minimize {
		return value < best
	}
	return value > best
}

// sweepLower raises the lower bounds by one Gauss-Seidel sweep, and returns the greatest relative change.
// For a maximum it records each choice that raises a bound, so the scheduler attains the lower bounds.
func (local *localSystem) sweepLower() float64 {
	greatestChange, threshold := 0.0, local.gridThreshold()
	for unknown := range local.lower {
		value, choice := local.newLowerOffGrid(unknown, local.lower)
		if value <= local.lower[unknown] {
			continue
		}
		greatestChange = max(greatestChange, (value-local.lower[unknown])/max(value, threshold))
		local.lower[unknown] = value
		if local.scheduler != nil && !local.minimize {
			local.scheduler[unknown] = choice
		}
	}
	return greatestChange
}

// gridThreshold is the value below which the grid leaves too few digits for relative changes.
func (local *localSystem) gridThreshold() float64 { return local.rounding.grid * 0x1p30 }

// makeInductiveNear makes the lower bounds inductive, if necessary by subtracting a margin, and reports whether it succeeds. On a fine grid it first tries
// this without a margin, because then the bounds are narrower.
func (local *localSystem) makeInductiveNear(meter *meter, relMargin, absMargin float64, maxSweeps int) (bool, error) {
	if local.rounding.grid > 0 && !local.rounding.isGridCoarse() {
		if ok, err := local.makeInductive(meter, 0, 0, 2); ok || err != nil {
			return ok, err
		}
	}
	return local.makeInductive(meter, relMargin, absMargin, maxSweeps)
}

// makeInductive subtracts a margin from the lower bounds, and lowers them by sweeps until one sweep would not lower any of them. Then they
// are certainly lower bounds. If this takes more than maxSweeps sweeps, it restores the bounds and returns false.
func (local *localSystem) makeInductive(meter *meter, relMargin, absMargin float64, maxSweeps int) (isInductive bool, err error) {
	if local.rounding.grid == 0 { // without rounding to a grid, sweeps that only raise bounds keep them inductive
		return true, nil
	}
	originalBounds := slices.Clone(local.lower)
	for unknown, bound := range local.lower {
		local.lower[unknown] = local.rounding.floorToGrid(max(bound-relMargin*bound-absMargin, 0))
	}
	for range maxSweeps {
		if !local.sweepDown() {
			return true, nil
		}
		meter.progress.Sweeps++
		if err := meter.addWork(local.work()); err != nil {
			return false, err
		}
	}
	copy(local.lower, originalBounds)
	return false, nil
}

// sweepDown lowers each lower bound to the value of its equation, if that value is smaller. It reports whether a bound changed.
func (local *localSystem) sweepDown() (changed bool) {
	for unknown, bound := range local.lower {
		value, choice := local.newLowerBound(unknown, local.lower)
		switch {
		case value < bound:
			local.lower[unknown], changed = value, true
		case local.scheduler != nil && !local.minimize:
			local.scheduler[unknown] = choice
		}
	}
	return changed
}

// sweepVerdict is the result of one sweep over guessed upper bounds.
type sweepVerdict uint8

const (
	undecided sweepVerdict = iota
	proved                 // no equation raises a bound: the guess is inductive, so it holds
	refuted                // a bound fell below a lower bound, or the sweep lowered no bound
)

// sweepUpper lowers guessed upper bounds by one Gauss-Seidel sweep. The guess is proved if no equation raises a bound. It is refuted if an
// upper bound falls below the lower bound, or if some equation raises a bound and no bound falls. Otherwise the result is undecided.
//
// Source: Hartmanns and Kaminski, Optimistic value iteration (CAV 2020).
func (local *localSystem) sweepUpper() sweepVerdict {
	raised, lowered := false, false
	for unknown := range local.upper {
		value, choice := local.newUpperBound(unknown, local.upper)
		switch {
		case value > local.upper[unknown]:
			raised = true
			continue
		case value < local.upper[unknown]:
			lowered = true
			local.upper[unknown] = value
		}
		if local.scheduler != nil && local.minimize {
			local.scheduler[unknown] = choice
		}
		if value < local.lower[unknown] {
			return refuted
		}
	}
	switch {
	case !raised:
		return proved
	case lowered:
		return undecided
	}
	return refuted
}

// work is the number of operations of one sweep.
func (local *localSystem) work() int { return len(local.termColumns) + len(local.choiceStarts) }

// budgetPerWork is the number of operations that elimination may take for each operation of the sweeps before it. Because the number
// of sweeps between two attempts grows, all attempts together take a bounded part of the time.
const budgetPerWork = 4

// eliminateFirstSize is the number of unknowns up to which elimination is tried before sweeps. It widens the bounds by rounding errors
// only, and sweeps by the error that remains when they stop; a long chain of components adds these widths.
const eliminateFirstSize = 32

// finalBudget is the number of operations that elimination may take after the sweeps have failed: about a minute.
const finalBudget = 1 << 36

// firstSweeps is the number of sweeps before elimination is tried for the first time.
const firstSweeps = 30

// solve computes bounds on all unknowns, by elimination for at most eliminateFirstSize unknowns, and otherwise by optimistic value iteration. Their relative
// width is at most epsilon plus inheritedWidth, the width that comes from other components. If it is not, hasConverged is false afterwards.
func (local *localSystem) solve(meter *meter, opts Options, epsilon float64) error {
	if opts.Classic {
		return local.classicIteration(meter, opts)
	}
	sweepLimit := opts.maxSweeps()
	if math.IsInf(local.inheritedWidth, 1) { // some successor has no upper bound, so only the lower bounds can be improved
		local.useTrivialBounds()
		if local.rounding.grid > 0 {
			return nil
		}
		_, _, err := local.iterateLower(meter, epsilon, sweepLimit)
		return err
	}
	relMargin := errMargin*local.inheritedWidth + epsilon
	if len(local.choiceStarts)-1 <= eliminateFirstSize {
		budget := eliminateFirstSize * eliminateFirstSize * float64(local.work())
		proved, _, err := local.solveByElimination(meter, relMargin, budget)
		if proved || err != nil {
			local.hasConverged = true
			return err
		}
	}
	return local.optimisticIteration(meter, relMargin, sweepLimit)
}

// optimisticIteration computes bounds by optimistic value iteration with at most sweepLimit sweeps. If it cannot prove upper bounds, it uses the trivial
// upper bounds 1 or infinity.
func (local *localSystem) optimisticIteration(meter *meter, relMargin float64, sweepLimit int) error {
	proved, err := local.iterateUntilProved(meter, relMargin, sweepLimit)
	if proved || err != nil {
		local.hasConverged = true
		return err
	}
	local.useTrivialBounds()
	return nil
}

// iterateUntilProved sweeps the lower bounds, guesses upper bounds by a margin, and tries to prove the guess by sweeps. Between the sweeps it
// tries elimination.
//
// Source: Hartmanns and Kaminski, Optimistic value iteration (CAV 2020).
func (local *localSystem) iterateUntilProved(meter *meter, relMargin float64, sweepLimit int) (proved bool, err error) {
	const maxMargin = 0.5 // greater ones do not help
	originalMargin, precision := relMargin, relMargin/4
	absMargin, driftPerSweep := 0.0, 8*local.rounding.grid
	nextElimination := 1 // number of sweeps after which elimination is tried
	convergesFast := false
	for sweeps := 0; sweeps < sweepLimit; {
		if sweeps >= nextElimination && !convergesFast {
			ok, overBudget, err := local.tryElimination(meter, relMargin, float64(sweeps)*float64(local.work())*budgetPerWork)
			if ok || err != nil || local.sweepsTooSlow {
				return ok, err
			}
			nextElimination = sweepLimit
			if overBudget {
				nextElimination = 4 * sweeps
			}
		}
		newSweeps, change, err := local.iterateLower(meter, precision, min(sweepLimit-sweeps, sweeps+firstSweeps))
		sweeps += newSweeps
		if err != nil {
			return false, err
		}
		if change > precision {
			// The same number of sweeps again may be enough.
			convergesFast = sweeps == firstSweeps && change*change < precision
			continue
		}
		if local.rounding.grid > 0 { // each sweep may round down again
			absMargin = driftPerSweep*float64(sweeps) + 2*local.inheritedAbsWidth
		}
		newSweeps, ok, err := local.guessAndProve(meter, relMargin, absMargin, sweeps, sweepLimit)
		sweeps += newSweeps
		if ok || err != nil {
			return ok, err
		}
		if absMargin == 0 && local.isNearUnderflow() {
			absMargin = local.rounding.underflowThreshold() / truncation
			continue
		}
		if change == 0 { // lower bounds are as good as rounding allows
			relMargin *= 4
		}
		if relMargin > maxMargin {
			if local.sweepsTooSlow || sweeps >= sweepLimit {
				return false, nil
			}
			ok, _, err := local.tryElimination(meter, originalMargin, finalBudget)
			return ok, err
		}
		precision /= 8
		driftPerSweep *= 4
	}
	return false, nil
}

// guessAndProve guesses upper bounds, and sweeps until the guess is proved or refuted. earlierSweeps is the number of sweeps before this call, and
// sweepLimit the limit for all sweeps together. newSweeps is the number of sweeps of this call.
func (local *localSystem) guessAndProve(meter *meter, relMargin, absMargin float64, earlierSweeps, sweepLimit int) (newSweeps int, proved bool, err error) {
	local.guessUpper(relMargin, absMargin)
	newSweeps, proved, err = local.iterateUpper(meter, min(sweepLimit-earlierSweeps, earlierSweeps+100))
	if proved && err == nil {
		proved, err = local.makeInductiveNear(meter, relMargin, absMargin, earlierSweeps+newSweeps+100)
	}
	return newSweeps, proved, err
}

// tryElimination tries to solve the system by policy iteration, if there are several choices, and then by elimination. proved says that it
// stored proved bounds. overBudget says that it may succeed with a larger budget of operations.
func (local *localSystem) tryElimination(meter *meter, epsilon, budget float64) (proved, overBudget bool, err error) {
	hasSeveralChoices := len(local.termStarts) > len(local.choiceStarts) // more choices than unknowns
	if hasSeveralChoices {
		proved, overBudget, err = local.solveByPolicyIteration(meter, epsilon, 2*budget)
		if proved || overBudget || err != nil {
			return proved, overBudget, err
		}
	}
	return local.solveByElimination(meter, epsilon, budget)
}

// classicIteration performs value iteration as PRISM does: it sweeps until the greatest relative change is at most epsilon. The result is the lower bounds;
// nothing proves that they are close to the solution.
func (local *localSystem) classicIteration(meter *meter, opts Options) error {
	_, change, err := local.iterateLower(meter, opts.epsilon(), opts.maxSweeps())
	if err != nil {
		return err
	}
	local.hasConverged = change <= opts.epsilon()
	local.upper = local.lower
	if local.scheduler != nil && local.minimize {
		for unknown := range local.scheduler {
			_, local.scheduler[unknown] = local.newLowerBound(unknown, local.lower)
		}
	}
	return nil
}

// iterateLower performs sweeps over the lower bounds until the greatest relative change is at most precision, or until maxSweeps is
// reached. It returns the number of sweeps and the last change.
func (local *localSystem) iterateLower(meter *meter, precision float64, maxSweeps int) (sweeps int, change float64, err error) {
	change = math.Inf(1)
	for change > precision && sweeps < maxSweeps {
		change = local.sweepLower()
		sweeps++
		meter.progress.Sweeps++
		meter.progress.Change = change
		if err := meter.addWork(local.work()); err != nil {
			return sweeps, change, err
		}
	}
	return sweeps, change, nil
}

// guessUpper guesses upper bounds: the lower bounds plus a relative and an absolute margin. The absolute margin is for values that underflow.
func (local *localSystem) guessUpper(relMargin, absMargin float64) {
	for unknown, value := range local.lower {
		value = value*(1+relMargin) + absMargin
		if local.isProbability {
			value = min(value, 1)
		}
		local.upper[unknown] = local.rounding.ceilToGrid(value)
	}
}

// isNearUnderflow reports whether a lower bound is so small that underflow may have affected it.
func (local *localSystem) isNearUnderflow() bool {
	return slices.Min(local.lower) < local.rounding.underflowThreshold()
}

// iterateUpper performs sweeps over guessed upper bounds until the guess is proved or refuted, or until maxSweeps is reached. It returns
// the number of sweeps.
func (local *localSystem) iterateUpper(meter *meter, maxSweeps int) (sweeps int, isProved bool, err error) {
	for sweeps < maxSweeps {
		verdict := local.sweepUpper()
		sweeps++
		meter.progress.Sweeps++
		if err := meter.addWork(local.work()); err != nil {
			return sweeps, false, err
		}
		if verdict != undecided {
			return sweeps, verdict == proved, nil
		}
		local.sweepLower()
	}
	return sweeps, false, nil
}

// useTrivialBounds sets all upper bounds to 1 for probabilities, or to infinity for rewards, because no better upper bounds were proved.
func (local *localSystem) useTrivialBounds() {
	if local.rounding.grid > 0 { // lower bounds that were rounded to the grid are not proved, so replace them by 0
		clear(local.lower)
	}
	bound := math.Inf(1)
	if local.isProbability {
		bound = 1
	}
	for unknown := range local.upper {
		local.upper[unknown] = bound
	}
}
