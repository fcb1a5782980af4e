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
func (m *multi) curve(expr sema.Expr, c *pareto.Curve, width float64) (result.Value, *result.Interval, error) {
	none := result.Value{}
	var queries []int
	for i, objective := range m.objectives {
		if objective.isQuery {
			queries = append(queries, i)
		}
	}
	maxSums, minWidth := maxCurve, curveWidth
	if len(queries) > 2 {
		maxSums, minWidth = maxSurface, surfaceWidth
	}
	if !m.exact {
		m.limitAccuracy(result.Bounded)
		width = max(width, minWidth)
	}
	coarse := uint(weightBits)
	if m.exact {
		coarse = 0
	}
	found, err := pareto.New(len(queries), m.constrainedOracle(c, queries, m.opts.Epsilon), coarse).Surface(m.ctx, width, maxSums)
	switch {
	case errors.Is(err, errUnsatisfiable):
		return result.Value{Kind: result.Number, Num: math.NaN()}, nil, nil
	case errors.Is(err, errInfiniteCost):
		return none, nil, m.unsupported(expr, "found multi(...) whose objectives cannot be met, or only with an infinite reward")
	case errors.Is(err, pareto.ErrOpen):
		return none, nil, &undecidedError{expr.Pos(), "the bounds of the values do not decide whether a scheduler meets all objectives"}
	case err != nil:
		return none, nil, err
	}
	out := result.Value{Kind: result.Curve}
	if found.Beyond.Sign() > 0 {
		out.Num = interval.Around(found.Beyond).Hi
	}
	for _, vertex := range found.Points {
		var point []float64
		for i, q := range queries {
			v, exact := m.objectives[q].fromParetoValue(vertex[i]).Float64()
			point = append(point, v)
			if !exact {
				out.Num = max(out.Num, math.Abs(v)*0x1p-52)
			}
		}
		out.Points = append(out.Points, point)
	}
	slices.SortStableFunc(out.Points, slices.Compare[[]float64])
	return out, nil, nil
}

// errUnsatisfiable says that no scheduler meets the bounds.
var errUnsatisfiable = errors.New("the objectives cannot be met together")

// constrainedOracle returns an oracle that maximises weighted sums of the queries over the schedulers that meet the bounds of all other
// objectives.
func (m *multi) constrainedOracle(curve *pareto.Curve, queries []int, width float64) pareto.Oracle {
	if len(queries) == len(m.objectives) {
		return m.bestWeightedSum
	}
	return func(ctx context.Context, weights []*big.Rat) (*pareto.Answer, error) {
		direction, lowerBounds := m.directionAndLowerBounds()
		for i, query := range queries {
			direction[query] = weights[i]
		}
		if m.exact {
			width = 0
		}
		best, err := curve.Maximize(ctx, direction, lowerBounds, width)
		switch {
		case err != nil:
			return nil, err
		case best.Point == nil:
			return nil, errUnsatisfiable
		}
		answer := &pareto.Answer{Bound: best.Upper}
		for _, query := range queries {
			answer.Point = append(answer.Point, best.Point[query])
		}
		return answer, nil
	}
}
