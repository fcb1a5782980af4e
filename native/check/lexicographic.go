package check

import (
	"errors"
	"math/big"

	"tilecheck/native/solve/pareto"
	"tilecheck/prism/logic"
	"tilecheck/result"
)

// evaluateLexicographic evaluates multilex(...). It optimises the objectives one after the other, each among the schedulers that are optimal for
// all objectives before it. The value is a curve with one point, whose coordinates are the optima.
//
// Source: Storm 1.14, for the operator; Forejt, Kwiatkowska and Parker (2012), for the maximization.
func (e *evaluation) evaluateLexicographic(formula *logic.Formula, objectives []*objective) (result.Value, *result.Interval, error) {
	if !e.wantsFractions {
		return result.Value{}, nil, &inexactError{formula.Expr.Pos(), "multilex(...) needs fractions"}
	}
	defer e.beginRecording(formula)()
	keepSchedulers := e.opts.Scheduler
	e.opts.Scheduler = false
	var optima []*big.Rat
	for k := range objectives {
		firstObjectives := &multiEvaluation{evaluation: e, objectives: objectives[:k+1]} // later objectives may have infinite rewards
		firstObjectives.keepsSchedulers = keepSchedulers && k == len(objectives)-1
		optimum, err := firstObjectives.lexicographicOptimum(formula, optima)
		if err != nil {
			return result.Value{}, nil, err
		}
		optima = append(optima, optimum)
	}
	curve := result.Value{Kind: result.Curve, Points: make([][]float64, 1), RatPoints: make([][]*big.Rat, 1)}
	for k, optimum := range optima {
		exact := objectives[k].fromParetoValue(optimum)
		nearest, maxError := nearestFloat(exact)
		curve.Num = max(curve.Num, maxError) // the greatest error of a coordinate
		curve.Points[0], curve.RatPoints[0] = append(curve.Points[0], nearest), append(curve.RatPoints[0], exact)
	}
	return curve, nil, nil
}

// lexicographicOptimum returns the maximum of the last objective among the schedulers that are optimal for all objectives before it. optima has
// their optimal values. It records a scheduler if multi.keepsSchedulers is true.
func (multi *multiEvaluation) lexicographicOptimum(formula *logic.Formula, optima []*big.Rat) (*big.Rat, error) {
	if err := multi.prepareProduct(formula.Expr); err != nil {
		return nil, err
	}
	last := len(multi.objectives) - 1
	objectiveWeights, lowerBounds := make([]*big.Rat, last+1), make([]*big.Rat, last+1)
	for i := range objectiveWeights {
		objectiveWeights[i] = new(big.Rat)
	}
	objectiveWeights[last].SetInt64(1)
	copy(lowerBounds, optima)
	best, err := pareto.New(last+1, multi.bestWeightedSum, 0).Maximize(multi.evaluation.ctx, objectiveWeights, lowerBounds, 0)
	if err != nil && !errors.Is(err, errInfiniteCost) {
		return nil, err
	}
	if err != nil || best.Point == nil {
		return nil, multi.evaluation.unsupportedError(multi.objectives[last].expr, "found an objective of multilex(...) whose reward is infinite under every scheduler that is optimal for those before it")
	}
	return best.Point[last], multi.recordMixture(best.Coefficients)
}
