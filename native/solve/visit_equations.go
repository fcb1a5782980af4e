package solve

import (
	"math"
	"slices"

	"tilecheck/internal/interval"
)

// visitEquations are the equations w = initial + w P for the expected visits w of each unknown of a
// local system, whose own equations are x = P x + c. The system must be a chain that leaves its
// unknowns with probability one.
type visitEquations struct {
	*localSystem
	initial []float64
	start   []uint32  // the terms of equation k are start[k]:start[k+1]
	source  []uint32  // the predecessor of each term
	prob    []float64 // the probability of each term: to go from its predecessor to k
	err     float64   // bound on the relative rounding error of evaluating an equation
}

// newVisitEquations returns the equations w = initial + w P for the expected visits w of the unknowns of a local system, in which each
// unknown has one choice. The caller sets initial.
func newVisitEquations(local *localSystem) *visitEquations {
	n := len(local.choiceStarts) - 1
	equations := &visitEquations{
		localSystem: local, initial: make([]float64, n), start: make([]uint32, n+2), source: make([]uint32, len(local.termColumns)), prob: make([]float64, len(local.termColumns)),
	}
	// Transposition by counting sort: start[t+1] is the next free index of equation t. At the end it is the start of equation t+1.
	for _, target := range local.termColumns {
		equations.start[target+2]++
	}
	maxTerms := 0
	for column := range n {
		maxTerms = max(maxTerms, int(equations.start[column+2]))
		equations.start[column+2] += equations.start[column+1]
	}
	for unknown := range n { // unknown k has only choice k
		for i := local.termStarts[unknown]; i < local.termStarts[unknown+1]; i++ {
			next := &equations.start[local.termColumns[i]+1]
			equations.source[*next], equations.prob[*next] = uint32(unknown), local.termWeights[i]
			*next++
		}
	}
	equations.start = equations.start[:n+1]
	equations.err = 1.05 * (slices.Max(local.evaluationErrs) + local.rounding.sumErr(maxTerms))
	return equations
}

// visitBudget limits the operations of an elimination, to some seconds.
const visitBudget = 1 << 32

// solve returns bounds on the expected visits, by elimination if it is cheap, or by iteration.
// ok says that their relative width is at most epsilon.
func (equations *visitEquations) solve(meter *meter, opts Options) (bounds []interval.Number, ok bool, err error) {
	bounds, ok, err = equations.eliminate(meter, opts.epsilon())
	if bounds != nil || err != nil {
		return bounds, ok, err
	}
	return equations.iterate(meter, opts)
}

// eliminate returns bounds on the expected visits by elimination, or nil if elimination is too expensive or proves no bounds.
// ok says that their relative width is at most epsilon.
func (equations *visitEquations) eliminate(meter *meter, epsilon float64) (bounds []interval.Number, ok bool, err error) {
	solver := newEliminationSolver(equations.localSystem, visitBudget)
	solver.eliminationOrder, err = markowitzOrder(meter, len(equations.initial), solver.currentColumns, solver.budget)
	if solver.eliminationOrder == nil || err != nil {
		return nil, false, err
	}
	factorized, err := solver.factorizeFloat(meter)
	if !factorized || err != nil {
		return nil, false, err
	}
	visits := solver.solveTransposed(equations.initial)
	bounds, ok = equations.bounds(visits, solver.solveTransposed(visits), epsilon)
	return bounds, ok, nil
}

// iterate returns bounds on the expected visits by Gauss-Seidel sweeps. ok says that their relative width is at most epsilon.
func (equations *visitEquations) iterate(meter *meter, opts Options) (bounds []interval.Number, ok bool, err error) {
	visits, potential := slices.Clone(equations.initial), make([]float64, len(equations.initial))
	sweepsDone, limit := 0, opts.maxSweeps()
	for sweeps := firstSweeps; sweepsDone < limit; sweeps *= 2 {
		count := min(sweeps, limit-sweepsDone)
		if err := equations.sweepRepeatedly(visits, potential, count, meter); err != nil {
			return nil, false, err
		}
		sweepsDone += count
		newBounds, isNarrow := equations.bounds(visits, potential, opts.epsilon())
		if isNarrow {
			return newBounds, true, nil
		}
		if newBounds != nil {
			bounds = newBounds
		}
	}
	if bounds == nil {
		bounds = slices.Repeat([]interval.Number{{Interval: interval.Interval{Hi: math.Inf(1)}}}, len(visits))
	}
	return bounds, false, nil
}

// sweepRepeatedly performs a number of Gauss-Seidel sweeps of two systems: visits = initial + visits P, and potential = visits + potential
// P.
func (equations *visitEquations) sweepRepeatedly(visits, potential []float64, sweeps int, meter *meter) error {
	for range sweeps {
		equations.sweep(visits, equations.initial)
		equations.sweep(potential, visits)
		meter.progress.Sweeps++
		if err := meter.addWork(2 * equations.work()); err != nil {
			return err
		}
	}
	return nil
}

// sweep applies one Gauss-Seidel sweep of values = initial + values P.
func (equations *visitEquations) sweep(values, initial []float64) {
	for unknown := range values {
		values[unknown] = initial[unknown] + equations.inflow(unknown, values)
	}
}

// inflow returns the expected number of transitions into an unknown.
func (equations *visitEquations) inflow(unknown int, visits []float64) float64 {
	sum := 0.0
	for i := equations.start[unknown]; i < equations.start[unknown+1]; i++ {
		sum += equations.prob[i] * visits[equations.source[i]]
	}
	return sum
}

// bounds proves bounds on the expected visits around the approximation visits, or returns nil. isNarrow says that their relative width is
// at most epsilon. The vector potential should approximate the solution of u = visits + u P.
func (equations *visitEquations) bounds(visits, potential []float64, epsilon float64) (result []interval.Number, isNarrow bool) {
	if visits == nil || potential == nil {
		return nil, false
	}
	const minimum, maximum = 0x1p-300, 0x1p300 // the error bounds assume no underflow
	if !allWithin(visits, minimum, maximum) || !allWithin(potential, minimum, maximum) {
		return nil, false
	}
	// Let r be the greatest relative residual. Then the error of visits is at most the solution e of e = r visits + e P.
	// For any potential u and any factor f with f (u - u P) >= visits, the solution e is at most r f u.
	residual, factor := 0.0, 0.0
	for unknown := range visits {
		expected := equations.initial[unknown] + equations.inflow(unknown, visits)
		residual = max(residual, (math.Abs(visits[unknown]-expected)+equations.err*(visits[unknown]+expected))/visits[unknown])
		slack := potential[unknown]*(1-equations.err) - equations.inflow(unknown, potential)*(1+equations.err)
		if !(slack > 0) {
			return nil, false
		}
		factor = max(factor, visits[unknown]/slack)
	}
	isNarrow = true
	for unknown := range visits {
		spread := 1.01 * residual * factor * potential[unknown]
		lower, upper := equations.rounding.down(visits[unknown]-spread, 2*unit), equations.rounding.up(visits[unknown]+spread, 2*unit)
		result = append(result, interval.Number{Interval: interval.Interval{Lo: lower, Hi: upper}})
		isNarrow = isNarrow && spread <= epsilon/2*visits[unknown]
	}
	return result, isNarrow
}

// solveTransposed returns the row vector w with w = initial + w P. It uses the triangular factors of I - P.
func (solver *eliminationSolver) solveTransposed(initial []float64) []float64 {
	intermediate := make([]float64, len(solver.order)) // by position
	for p, k := range solver.order {
		intermediate[p] = initial[k]
	}
	for p := range intermediate {
		intermediate[p] /= solver.pivots[p]
		for i := solver.upperStarts[p]; i < solver.upperStarts[p+1]; i++ {
			intermediate[solver.upperColumns[i]] += solver.upperTerms[i] * intermediate[p]
		}
	}
	visits := make([]float64, len(intermediate))
	for p, k := range slices.Backward(solver.order) {
		for i := solver.lowerStarts[p]; i < solver.lowerStarts[p+1]; i++ {
			intermediate[solver.lowerColumns[i]] += solver.lowerFactors[i] * intermediate[p]
		}
		visits[k] = intermediate[p]
	}
	return visits
}
