package pareto

import (
	"context"
	"errors"
	"math/big"
	"slices"

	"tilecheck/native/solve"
)

// Oracle returns a best point for nonnegative weights, of which at least one is positive.
type Oracle func(ctx context.Context, weights []*big.Rat) (*Answer, error)

// Answer is an achievable point, and an upper bound on weights·x over all achievable points x.
type Answer struct {
	Point []*big.Rat
	Bound *big.Rat
}

// Curve approximates the set of achievable points. With a point, all smaller points are achievable,
// too.
type Curve struct {
	oracle     Oracle
	objectives int
	points     [][]*big.Rat
	halfSpaces []halfSpace
	weightBits uint // weights are rounded to so many bits; 0 for no rounding
}

// halfSpace is the set of points x with weights·x <= bound.
type halfSpace struct {
	weights []*big.Rat
	bound   *big.Rat
}

// New returns a curve for the given number of objectives. Weights for the oracle are rounded to
// weightBits bits, since linear programs give long fractions. An exact oracle needs the exact ones: 0.
func New(objectives int, oracle Oracle, weightBits uint) *Curve {
	return &Curve{oracle: oracle, objectives: objectives, weightBits: weightBits}
}

// Best is the result of Maximize. Point is nil if no achievable point satisfies the limits. Point is a
// convex combination of the oracle's answers; Parts has the coefficient of each, in the order of the
// queries.
type Best struct {
	Point, Parts []*big.Rat
	Upper        *big.Rat
}

// ErrOpen says that the bounds are too wide to tell whether an achievable point satisfies the limits.
var ErrOpen = errors.New("the limits are too near the boundary of the achievable points")

// maxQueries exceeds the number of queries for any curve that ends.
const maxQueries = 10_000

// Maximize maximizes objective·x over the achievable points x with x >= limits; nil in limits stands
// for no limit. objective must be nonnegative. The bounds differ by at most width, relatively, unless
// the oracle's bounds are wider.
func (c *Curve) Maximize(ctx context.Context, objective, limits []*big.Rat, width float64) (*Best, error) {
	for i := len(c.halfSpaces); i < c.objectives; i++ { // first the maximum of each objective
		if _, err := c.query(ctx, unitVector(c.objectives, i)); err != nil {
			return nil, err
		}
	}
	for range maxQueries {
		upper, err := c.outerOptimum(ctx, objective, limits)
		if upper == nil {
			return &Best{}, err
		}
		point, coefficients, err := c.innerOptimum(ctx, objective, limits)
		switch {
		case err != nil:
			return nil, err
		case point != nil && withinWidth(dot(objective, point), upper, width):
			return &Best{point, coefficients, upper}, nil
		}
		progress, err := c.refine(ctx, objective, limits, point != nil, upper)
		switch {
		case err != nil:
			return nil, err
		case !progress && point == nil:
			return nil, ErrOpen
		case !progress:
			return &Best{point, coefficients, upper}, nil
		}
	}
	return nil, ErrOpen
}

// withinWidth reports whether upper - lower is at most width, relative to the greater magnitude.
func withinWidth(lower, upper *big.Rat, width float64) bool {
	d := new(big.Rat).Sub(upper, lower)
	if d.Sign() <= 0 {
		return true
	}
	magnitude := new(big.Rat).Abs(upper)
	if l := new(big.Rat).Abs(lower); l.Cmp(magnitude) > 0 {
		magnitude = l
	}
	return d.Cmp(magnitude.Mul(magnitude, new(big.Rat).SetFloat64(width))) <= 0
}

func unitVector(n, i int) []*big.Rat {
	out := zeros(n)
	out[i].SetInt64(1)
	return out
}

func zeros(n int) []*big.Rat {
	out := make([]*big.Rat, n)
	for i := range out {
		out[i] = new(big.Rat)
	}
	return out
}

func dot(x, y []*big.Rat) *big.Rat {
	sum, term := new(big.Rat), new(big.Rat)
	for i := range x {
		sum.Add(sum, term.Mul(x[i], y[i]))
	}
	return sum
}

// query asks the oracle, and records the answer.
func (c *Curve) query(ctx context.Context, weights []*big.Rat) (*Answer, error) {
	a, err := c.oracle(ctx, weights)
	if err != nil {
		return nil, err
	}
	c.points = append(c.points, a.Point)
	c.halfSpaces = append(c.halfSpaces, halfSpace{weights, a.Bound})
	return a, nil
}

// outerOptimum maximizes the objective over all half-spaces, which contain the achievable points. It
// returns nil if that is infeasible. The variables of the linear program are the distance of each
// coordinate from its own maximum, and the slack of each inequality.
func (c *Curve) outerOptimum(ctx context.Context, objective, limits []*big.Rat) (*big.Rat, error) {
	p := &solve.LinearProgram{}
	idealPoint := make([]*big.Rat, c.objectives)
	idealGain := new(big.Rat)
	for i := range idealPoint {
		idealPoint[i] = c.halfSpaces[i].bound
		idealGain.Add(idealGain, new(big.Rat).Mul(objective[i], idealPoint[i]))
		p.Objective = append(p.Objective, new(big.Rat).Neg(objective[i]))
	}
	for i, t := range limits {
		if t == nil {
			continue
		}
		p.Row(new(big.Rat).Sub(idealPoint[i], t), solve.Term{Var: i, Coeff: one()}, solve.Term{Var: p.Variable(), Coeff: one()})
	}
	for _, h := range c.halfSpaces[c.objectives:] {
		var row []solve.Term
		for i, w := range h.weights {
			if w.Sign() > 0 {
				row = append(row, solve.Term{Var: i, Coeff: w})
			}
		}
		slack := dot(h.weights, idealPoint)
		p.Row(slack.Sub(slack, h.bound), append(row, solve.Term{Var: p.Variable(), Coeff: big.NewRat(-1, 1)})...)
	}
	best, _, err := p.Maximize(ctx)
	if errors.Is(err, solve.ErrInfeasible) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return best.Add(best, idealGain), nil
}

func one() *big.Rat { return big.NewRat(1, 1) }

// innerOptimum maximizes the objective over the convex combinations of known points, and returns the
// best point and its coefficients. It returns nil if none satisfies the limits. The variables of the
// linear program are the coefficients.
func (c *Curve) innerOptimum(ctx context.Context, objective, limits []*big.Rat) (point, coefficients []*big.Rat, err error) {
	p := &solve.LinearProgram{}
	var sumRow []solve.Term
	for j, x := range c.points {
		p.Objective = append(p.Objective, dot(objective, x))
		sumRow = append(sumRow, solve.Term{Var: j, Coeff: one()})
	}
	p.Row(one(), sumRow...)
	for i, t := range limits {
		if t == nil {
			continue
		}
		var row []solve.Term
		for j, x := range c.points {
			if x[i].Sign() != 0 {
				row = append(row, solve.Term{Var: j, Coeff: x[i]})
			}
		}
		p.Row(t, append(row, solve.Term{Var: p.Variable(), Coeff: big.NewRat(-1, 1)})...)
	}
	_, coefficients, err = p.Maximize(ctx)
	if errors.Is(err, solve.ErrInfeasible) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	coefficients = coefficients[:len(c.points)]
	point = zeros(c.objectives)
	term := new(big.Rat)
	for j, x := range c.points {
		for i := range point {
			point[i].Add(point[i], term.Mul(coefficients[j], x[i]))
		}
	}
	return point, coefficients, nil
}

// refine queries the oracle with a hyperplane that separates the known points from the outer optimum,
// or, if no known point is feasible, from the points that satisfy the limits. It reports whether the
// approximation improved.
func (c *Curve) refine(ctx context.Context, objective, limits []*big.Rat, feasible bool, upper *big.Rat) (bool, error) {
	weights, _, err := c.separatingWeights(ctx, objective, limits, feasible, upper)
	if weights == nil || err != nil {
		return false, err
	}
	weights = c.roundWeights(weights)
	oldBest := c.greatestKnown(weights)
	a, err := c.query(ctx, weights)
	if err != nil {
		return false, err
	}
	if dot(weights, a.Point).Cmp(oldBest) > 0 {
		return true, nil
	}
	// No better point: then the new half-space must tighten the outer approximation.
	newUpper, err := c.outerOptimum(ctx, objective, limits)
	return newUpper == nil || newUpper.Cmp(upper) < 0, err
}

// separatingWeights returns weights for which the target exceeds weights·x of all known points x by
// the greatest margin, and the margin; nil if there are none. The variables of the linear program are
// the weight of the objective (if feasible), those of the limited coordinates, and the margin.
func (c *Curve) separatingWeights(ctx context.Context, objective, limits []*big.Rat, feasible bool, upper *big.Rat) (weights []*big.Rat, margin *big.Rat, err error) {
	type side struct {
		normal []*big.Rat
		target *big.Rat
	}
	var sides []side
	if feasible {
		sides = append(sides, side{objective, upper})
	}
	for i, t := range limits {
		if t != nil {
			sides = append(sides, side{unitVector(c.objectives, i), t})
		}
	}
	p := &solve.LinearProgram{}
	var simplexRow []solve.Term
	for range sides {
		simplexRow = append(simplexRow, solve.Term{Var: p.Variable(), Coeff: one()})
	}
	p.Row(one(), simplexRow...)
	distance := p.Variable()
	p.Objective[distance] = one()
	for _, x := range c.points {
		var row []solve.Term
		for k, s := range sides {
			d := dot(s.normal, x)
			if d.Sub(s.target, d); d.Sign() != 0 {
				row = append(row, solve.Term{Var: k, Coeff: d})
			}
		}
		row = append(row, solve.Term{Var: distance, Coeff: big.NewRat(-1, 1)}, solve.Term{Var: p.Variable(), Coeff: big.NewRat(-1, 1)})
		p.Row(new(big.Rat), row...)
	}
	best, solution, err := p.Maximize(ctx)
	switch {
	case errors.Is(err, solve.ErrInfeasible):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	case best.Sign() == 0:
		return nil, nil, nil
	}
	weights = zeros(c.objectives)
	term := new(big.Rat)
	for k, s := range sides {
		for i := range weights {
			weights[i].Add(weights[i], term.Mul(solution[k], s.normal[i]))
		}
	}
	return weights, best, nil
}

// greatestKnown returns the greatest weights·x over the known points.
func (c *Curve) greatestKnown(weights []*big.Rat) *big.Rat {
	known := dot(weights, c.points[0])
	for _, x := range c.points[1:] {
		if v := dot(weights, x); v.Cmp(known) > 0 {
			known = v
		}
	}
	return known
}

// roundWeights scales and rounds weights. Any weights are valid for the oracle; rounding only makes
// them less well chosen.
func (c *Curve) roundWeights(weights []*big.Rat) []*big.Rat {
	greatest := slices.MaxFunc(weights, (*big.Rat).Cmp)
	out := make([]*big.Rat, len(weights))
	for i, w := range weights {
		out[i] = new(big.Rat).Quo(w, greatest)
		if c.weightBits > 0 {
			scaled := new(big.Int).Lsh(out[i].Num(), c.weightBits)
			scaled.Quo(scaled, out[i].Denom())
			out[i].SetFrac(scaled, new(big.Int).Lsh(big.NewInt(1), c.weightBits))
		}
	}
	return out
}
