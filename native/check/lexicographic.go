package check

import (
	"errors"
	"math"
	"math/big"

	"tilecheck/native/solve/pareto"
	"tilecheck/prism/logic"
	"tilecheck/result"
)

// evaluateLexicographic evaluates multilex(...). It maximises the first objective, then the second one among the schedulers that are
// optimal for the first, and so on. Each optimum is a fraction, because it becomes a bound of the later maximizations: with
// bounds of the first optimum, bounds of the later ones could not be narrowed. A maximization ignores the later objectives,
// whose rewards may be infinite. The value is a curve with one point.
//
// Source: Storm 1.14, for the operator; Forejt, Kwiatkowska and Parker (2012), for the maximization.
func (e *evaluation) evaluateLexicographic(formula *logic.Formula, objectives []*objective) (result.Value, *result.Interval, error) {
	none := result.Value{}
	if !e.exact {
		return none, nil, &inexactError{formula.X.Pos(), "multilex(...) needs fractions"}
	}
	end := e.beginRecording(formula)
	keepSchedulers := e.opts.Scheduler
	e.opts.Scheduler = false
	defer end()
	var optima []*big.Rat
	for k := range objectives {
		m := &multi{evaluation: e, objectives: objectives[:k+1]}
		m.keepSchedulers = keepSchedulers && k == len(objectives)-1
		optimum, err := m.lexicographicOptimum(formula, optima)
		if err != nil {
			return none, nil, err
		}
		optima = append(optima, optimum)
	}
	out := result.Value{Kind: result.Curve, Points: make([][]float64, 1), RatPoints: make([][]*big.Rat, 1)}
	for k, optimum := range optima {
		fraction := objectives[k].fromParetoValue(optimum)
		value, exact := fraction.Float64()
		if !exact {
			out.Num = max(out.Num, math.Abs(value)*0x1p-52)
		}
		out.Points[0], out.RatPoints[0] = append(out.Points[0], value), append(out.RatPoints[0], fraction)
	}
	return out, nil, nil
}

// lexicographicOptimum returns the maximum of the last objective among the schedulers that attain the optima of the others.
func (m *multi) lexicographicOptimum(formula *logic.Formula, optima []*big.Rat) (*big.Rat, error) {
	if err := m.buildProduct(); err != nil {
		return nil, err
	}
	if err := m.findEnds(formula.X); err != nil {
		return nil, err
	}
	last := len(m.objectives) - 1
	direction, lowerBounds := make([]*big.Rat, last+1), make([]*big.Rat, last+1)
	for i := range direction {
		direction[i] = new(big.Rat)
	}
	direction[last].SetInt64(1)
	copy(lowerBounds, optima)
	best, err := pareto.New(last+1, m.bestWeightedSum, 0).Maximize(m.ctx, direction, lowerBounds, 0)
	switch {
	case errors.Is(err, errInfiniteCost) || err == nil && best.Point == nil:
		return nil, m.unsupported(m.objectives[last].expr, "found an objective of multilex(...) whose reward is infinite under every scheduler that is optimal for those before it")
	case err != nil:
		return nil, err
	}
	if m.keepSchedulers {
		if m.schedulerRequest.controller, err = m.mixture(best.Parts); err != nil {
			return nil, err
		}
	}
	return best.Point[last], nil
}
