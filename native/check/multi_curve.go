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

// curve evaluates multi(...) with several queries: it returns the vertices of the Pareto curve of the queries over the
// schedulers that meet the bounds of the other objectives.
func (m *multi) curve(expr sema.Expr) (result.Value, *result.Interval, error) {
	var queries []int
	for i, objective := range m.objectives {
		if objective.isQuery {
			queries = append(queries, i)
		}
	}
	width, maxSums, minWidth := m.optimumWidth(), maxCurve, curveWidth
	if len(queries) > 2 {
		maxSums, minWidth = maxSurface, surfaceWidth
	}
	if !m.exact {
		m.limitAccuracy(result.Bounded)
		width = max(width, minWidth)
	}
	surface, err := pareto.New(len(queries), m.constrainedOracle(queries), m.weightBits()).Surface(m.ctx, width, maxSums)
	switch {
	case errors.Is(err, errUnsatisfiable):
		return result.Value{Kind: result.Number, Num: math.NaN()}, nil, nil
	case errors.Is(err, errInfiniteCost):
		return result.Value{}, nil, m.unsupported(expr, "found multi(...) whose objectives cannot be met, or only with an infinite reward")
	case errors.Is(err, pareto.ErrOpen):
		return result.Value{}, nil, &undecidedError{expr.Pos(), "the bounds of the values do not decide whether a scheduler meets all objectives"}
	case err != nil:
		return result.Value{}, nil, err
	}
	return m.curveValue(surface, queries), nil, nil
}

// curveValue converts a Pareto curve of the queries to the value of a verdict: its vertices, and as Num the greatest error of a coordinate.
func (m *multi) curveValue(surface *pareto.Surface, queries []int) result.Value {
	curve := result.Value{Kind: result.Curve}
	if surface.Beyond.Sign() > 0 {
		curve.Num = interval.Around(surface.Beyond).Hi
	}
	for _, vertex := range surface.Points {
		var point []float64
		for i, query := range queries {
			nearest, isEqual := m.objectives[query].fromParetoValue(vertex[i]).Float64()
			point = append(point, nearest)
			if !isEqual {
				curve.Num = max(curve.Num, math.Abs(nearest)*0x1p-52)
			}
		}
		curve.Points = append(curve.Points, point)
	}
	slices.SortStableFunc(curve.Points, slices.Compare[[]float64])
	return curve
}

// errUnsatisfiable says that no scheduler meets the bounds.
var errUnsatisfiable = errors.New("the objectives cannot be met together")

// constrainedOracle returns an oracle that maximises weighted sums of the queries over the schedulers that meet the bounds of all other
// objectives. queries has the indexes of the queries. The oracle returns errUnsatisfiable if no scheduler meets the bounds.
func (m *multi) constrainedOracle(queries []int) pareto.Oracle {
	if len(queries) == len(m.objectives) {
		return m.bestWeightedSum
	}
	curve := m.newCurve()
	return func(ctx context.Context, weights []*big.Rat) (*pareto.Answer, error) {
		direction, lowerBounds := m.directionAndLowerBounds()
		for i, query := range queries {
			direction[query] = weights[i]
		}
		best, err := curve.Maximize(ctx, direction, lowerBounds, m.optimumWidth())
		if err != nil {
			return nil, err
		}
		if best.Point == nil {
			return nil, errUnsatisfiable
		}
		answer := &pareto.Answer{Bound: best.Upper}
		for _, query := range queries {
			answer.Point = append(answer.Point, best.Point[query])
		}
		return answer, nil
	}
}
