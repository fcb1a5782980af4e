package solve

import (
	"math"
	"slices"

	"tilecheck/internal/interval"
)

// visitEquations are the equations w = initialVisits + w P for the expected visits w of each unknown of a
// local system, whose own equations are x = P x + c. The system must be a chain that leaves its
// unknowns with probability one.
type visitEquations struct {
	*localSystem
	initialVisits []float64
	starts        []uint32  // the terms of equation k are starts[k]:starts[k+1]
	sources       []uint32  // the predecessor of each term
	probs         []float64 // the probability of each term: to go from its predecessor to k
	relErr        float64   // bound on the relative rounding error of evaluating an equation
}

// newVisitEquations returns the equations w = initialVisits + w P for the expected visits w of the unknowns of a local system, in which each
// unknown has one choice. The caller sets initialVisits.
func newVisitEquations(local *localSystem) *visitEquations {
	numUnknowns := len(local.choiceStarts) - 1
	equations := &visitEquations{
		localSystem: local, initialVisits: make([]float64, numUnknowns), starts: make([]uint32, numUnknowns+2), sources: make([]uint32, len(local.termColumns)), probs: make([]float64, len(local.termColumns)),
	}
	// Transposition by counting sort: after the sums, starts[unknown+1] is the next free index of the equation of an unknown. At the end it is the
	// start of the next equation.
	for _, target := range local.termColumns {
		equations.starts[target+2]++
	}
	maxTerms := 0
	for column := range numUnknowns {
		maxTerms = max(maxTerms, int(equations.starts[column+2]))
		equations.starts[column+2] += equations.starts[column+1]
	}
	for unknown := range numUnknowns { // unknown k has only choice k
		for i := local.termStarts[unknown]; i < local.termStarts[unknown+1]; i++ {
			next := &equations.starts[local.termColumns[i]+1]
			equations.sources[*next], equations.probs[*next] = uint32(unknown), local.termWeights[i]
			*next++
		}
	}
	equations.starts = equations.starts[:numUnknowns+1]
	equations.relErr = wideErrMargin * (slices.Max(local.evaluationErrs) + local.rounding.sumErr(maxTerms))
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
	solver.eliminationOrder, err = markowitzOrder(meter, len(equations.initialVisits), solver.currentColumns, solver.budget)
	if solver.eliminationOrder == nil || err != nil {
		return nil, false, err
	}
	factorized, err := solver.factorizeFloat(meter)
	if !factorized || err != nil {
		return nil, false, err
	}
	visits := solver.solveTransposed(equations.initialVisits)
	bounds, ok = equations.proveBounds(visits, solver.solveTransposed(visits), epsilon)
	return bounds, ok, nil
}

// iterate returns bounds on the expected visits by Gauss-Seidel sweeps. ok says that their relative width is at most epsilon.
func (equations *visitEquations) iterate(meter *meter, opts Options) (bounds []interval.Number, ok bool, err error) {
	visits, potential := slices.Clone(equations.initialVisits), make([]float64, len(equations.initialVisits))
	sweepsDone, sweepLimit := 0, opts.maxSweeps()
	for sweeps := firstSweeps; sweepsDone < sweepLimit; sweeps *= 2 {
		numSweeps := min(sweeps, sweepLimit-sweepsDone)
		if err := equations.sweepRepeatedly(visits, potential, numSweeps, meter); err != nil {
			return nil, false, err
		}
		sweepsDone += numSweeps
		newBounds, isNarrow := equations.proveBounds(visits, potential, opts.epsilon())
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

// sweepRepeatedly performs a number of Gauss-Seidel sweeps of two systems: visits = initialVisits + visits P, and potential = visits + potential
// P.
func (equations *visitEquations) sweepRepeatedly(visits, potential []float64, sweeps int, meter *meter) error {
	for range sweeps {
		equations.sweep(visits, equations.initialVisits)
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
	for i := equations.starts[unknown]; i < equations.starts[unknown+1]; i++ {
		sum += equations.probs[i] * visits[equations.sources[i]]
	}
	return sum
}

// proveBounds proves bounds on the expected visits around the approximation visits, or returns nil. isNarrow says that their relative width is
// at most epsilon. The vector potential should approximate the solution of u = visits + u P.
func (equations *visitEquations) proveBounds(visits, potential []float64, epsilon float64) (result []interval.Number, isNarrow bool) {
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
		expected := equations.initialVisits[unknown] + equations.inflow(unknown, visits)
		residual = max(residual, (math.Abs(visits[unknown]-expected)+equations.relErr*(visits[unknown]+expected))/visits[unknown])
		slack := potential[unknown]*(1-equations.relErr) - equations.inflow(unknown, potential)*(1+equations.relErr)
		if !(slack > 0) {
			return nil, false
		}
		factor = max(factor, visits[unknown]/slack)
	}
	isNarrow = true
	for unknown := range visits {
		distance := errMargin * residual * factor * potential[unknown]
		lower, upper := equations.rounding.roundDown(visits[unknown]-distance, 2*unitRoundoff), equations.rounding.roundUp(visits[unknown]+distance, 2*unitRoundoff)
		result = append(result, interval.Number{Interval: interval.Interval{Lo: lower, Hi: upper}})
		isNarrow = isNarrow && distance <= epsilon/2*visits[unknown]
	}
	return result, isNarrow
}

// solveTransposed returns the row vector w with w = initial + w P. It uses the triangular factors of I - P.
func (solver *eliminationSolver) solveTransposed(initial []float64) []float64 {
	intermediate := make([]float64, len(solver.order)) // by position
	for position, unknown := range solver.order {
		intermediate[position] = initial[unknown]
	}
	for position := range intermediate {
		intermediate[position] /= solver.pivots[position]
		for i := solver.upperStarts[position]; i < solver.upperStarts[position+1]; i++ {
			intermediate[solver.upperColumns[i]] += solver.upperTerms[i] * intermediate[position]
		}
	}
	visits := make([]float64, len(intermediate))
	for position, unknown := range slices.Backward(solver.order) {
		for i := solver.lowerStarts[position]; i < solver.lowerStarts[position+1]; i++ {
			intermediate[solver.lowerColumns[i]] += solver.lowerFactors[i] * intermediate[position]
		}
		visits[unknown] = intermediate[position]
	}
	return visits
}
