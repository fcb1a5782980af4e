package check

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"

	"tilecheck/internal/interval"
	"tilecheck/native/solve/pareto"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

const (
	// curveWidth is the smallest relative distance between the inner and the outer approximation of a Pareto curve, for two
	// queries. surfaceWidth is the smallest distance for more queries.
	curveWidth   = 1e-6
	surfaceWidth = 1e-4
	// maxCurve and maxSurface limit the weighted sums that are optimised for a curve and for a surface.
	maxCurve, maxSurface = 10_000, 500
)

// paretoCurve evaluates multi(...) with several queries. It returns the vertices of the Pareto curve of the queries, over the schedulers that satisfy
// the bounds of the other objectives. The value is NaN if no scheduler satisfies these bounds. expr is the property.
func (multi *multiEvaluation) paretoCurve(expr sema.Expr) (result.Value, *result.Interval, error) {
	var queries []int
	for i, objective := range multi.objectives {
		if objective.isQuery {
			queries = append(queries, i)
		}
	}
	if !multi.evaluation.wantsFractions {
		multi.evaluation.limitAccuracy(result.Bounded)
	}
	width, maxSums := multi.curveLimits(len(queries))
	surface, err := pareto.New(len(queries), multi.constrainedOracle(queries), multi.weightBits()).Surface(multi.evaluation.ctx, width, maxSums)
	switch {
	case errors.Is(err, errUnsatisfiable):
		return multi.unsatisfiableValue(), nil, nil
	case errors.Is(err, errInfiniteCost):
		return result.Value{}, nil, multi.evaluation.unsupportedError(expr, "found multi(...) whose objectives cannot be met, or only with an infinite reward")
	case errors.Is(err, pareto.ErrUndecided):
		return result.Value{}, nil, &undecidedError{expr.Pos(), "the bounds of the values do not decide whether a scheduler meets all objectives"}
	case err != nil:
		return result.Value{}, nil, err
	}
	curve := multi.curveValue(surface, queries)
	if curve.RatPoints == nil {
		multi.evaluation.limitAccuracy(result.Bounded)
	}
	return curve, nil, nil
}

// curveLimits returns when the approximation of a Pareto curve may stop. width is the required relative distance between the inner and the outer
// approximation, 0 for an exact curve. maxSums is the greatest number of weighted sums of the queries that may be maximised.
func (multi *multiEvaluation) curveLimits(numQueries int) (width float64, maxSums int) {
	minWidth, maxSums := curveWidth, maxCurve
	if numQueries > 2 {
		minWidth, maxSums = surfaceWidth, maxSurface
	}
	if multi.evaluation.wantsFractions {
		return 0, maxSums
	}
	return max(multi.optimumWidth(), minWidth), maxSums
}

// curveValue converts a Pareto curve of the queries to the value of a verdict. Points are its vertices, as fractions too if they are exact, and Num is
// the greatest error of a coordinate.
func (multi *multiEvaluation) curveValue(surface *pareto.Surface, queries []int) result.Value {
	curve := result.Value{Kind: result.Curve}
	if surface.MaxDistance.Sign() > 0 {
		curve.Num = interval.Around(surface.MaxDistance).Hi
	}
	var vertices [][]*big.Rat
	for _, vertex := range surface.Points {
		var values []*big.Rat
		for i, query := range queries {
			values = append(values, multi.objectives[query].fromParetoValue(vertex[i]))
		}
		vertices = append(vertices, values)
	}
	slices.SortFunc(vertices, func(a, b []*big.Rat) int { return slices.CompareFunc(a, b, (*big.Rat).Cmp) })
	for _, vertex := range vertices {
		var point []float64
		for _, value := range vertex {
			nearest, maxError := nearestFloat(value)
			point = append(point, nearest)
			curve.Num = max(curve.Num, maxError)
		}
		curve.Points = append(curve.Points, point)
	}
	if isExact := multi.evaluation.wantsFractions && surface.MaxDistance.Sign() == 0; isExact {
		curve.RatPoints = vertices
	}
	return curve
}

// nearestFloat returns the float64 number nearest to a fraction, and a bound on the difference.
func nearestFloat(exact *big.Rat) (nearest, maxError float64) {
	nearest, isEqual := exact.Float64()
	if isEqual {
		return nearest, 0
	}
	return nearest, math.Abs(nearest) * 0x1p-52
}

// errUnsatisfiable says that no scheduler meets the bounds.
var errUnsatisfiable = errors.New("the objectives cannot be met together")

// constrainedOracle returns an oracle that maximises weighted sums of the queries over the schedulers that meet the bounds of all other
// objectives. queries has the indexes of the queries. The oracle returns errUnsatisfiable if no scheduler meets the bounds.
func (multi *multiEvaluation) constrainedOracle(queries []int) pareto.Oracle {
	if len(queries) == len(multi.objectives) {
		return multi.bestWeightedSum
	}
	constrained := &constrainedQueries{multi: multi, queries: queries, curveOfAll: multi.newCurve()}
	return constrained.bestWeightedSum
}

// constrainedQueries is an oracle for several queries. The other objectives have bounds.
type constrainedQueries struct {
	multi      *multiEvaluation
	queries    []int         // the indexes of the queries
	curveOfAll *pareto.Curve // the curve of all objectives
}

// bestWeightedSum is an oracle of package pareto: it maximises a weighted sum of the queries over the schedulers that satisfy the bounds of the other
// objectives. The error is errUnsatisfiable if no scheduler satisfies these bounds.
func (constrained *constrainedQueries) bestWeightedSum(ctx context.Context, weights []*big.Rat) (*pareto.Answer, error) {
	direction, lowerBounds := constrained.multi.directionAndLowerBounds()
	for i, query := range constrained.queries {
		direction[query] = weights[i]
	}
	best, err := constrained.curveOfAll.Maximize(ctx, direction, lowerBounds, constrained.multi.optimumWidth())
	switch {
	case err != nil:
		return nil, err
	case best.Point == nil:
		return nil, errUnsatisfiable
	}
	answer := &pareto.Answer{Bound: best.Upper}
	for _, query := range constrained.queries {
		answer.Point = append(answer.Point, best.Point[query])
	}
	return answer, nil
}
