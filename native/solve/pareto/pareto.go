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

// Maximize maximizes objective·x over the achievable points x with x >= limits; nil in limits stands for no
// limit. The coefficients of objective must not be negative. The relative difference of the bounds is at most
// width, unless the bounds of the oracle are wider.
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

// withinWidth reports whether upper - lower is at most width times the greater absolute value.
func withinWidth(lower, upper *big.Rat, width float64) bool {
	difference := new(big.Rat).Sub(upper, lower)
	if difference.Sign() <= 0 {
		return true
	}
	magnitude := new(big.Rat).Abs(upper)
	if lowerMagnitude := new(big.Rat).Abs(lower); lowerMagnitude.Cmp(magnitude) > 0 {
		magnitude = lowerMagnitude
	}
	return difference.Cmp(magnitude.Mul(magnitude, new(big.Rat).SetFloat64(width))) <= 0
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

// query asks the oracle for the maximum in the direction of weights, and records the point and the half-space
// that it returns.
func (c *Curve) query(ctx context.Context, weights []*big.Rat) (*Answer, error) {
	answer, err := c.oracle(ctx, weights)
	if err != nil {
		return nil, err
	}
	c.points = append(c.points, answer.Point)
	c.halfSpaces = append(c.halfSpaces, halfSpace{weights, answer.Bound})
	return answer, nil
}

// outerOptimum maximizes the objective over the intersection of all half-spaces, which contains the
// achievable points, by linear programming. It returns nil if no point of it satisfies the limits. The
// variables are the distance of each coordinate from its own maximum, and the slack of each inequality.
func (c *Curve) outerOptimum(ctx context.Context, objective, limits []*big.Rat) (*big.Rat, error) {
	program := &solve.LinearProgram{}
	idealPoint := make([]*big.Rat, c.objectives)
	idealGain := new(big.Rat)
	for i := range idealPoint {
		idealPoint[i] = c.halfSpaces[i].bound
		idealGain.Add(idealGain, new(big.Rat).Mul(objective[i], idealPoint[i]))
		program.Objective = append(program.Objective, new(big.Rat).Neg(objective[i]))
	}
	for i, limit := range limits {
		if limit == nil {
			continue
		}
		program.Row(new(big.Rat).Sub(idealPoint[i], limit), solve.Term{Var: i, Coeff: one()}, solve.Term{Var: program.Variable(), Coeff: one()})
	}
	for _, plane := range c.halfSpaces[c.objectives:] {
		var row []solve.Term
		for i, weight := range plane.weights {
			if weight.Sign() > 0 {
				row = append(row, solve.Term{Var: i, Coeff: weight})
			}
		}
		slack := dot(plane.weights, idealPoint)
		program.Row(slack.Sub(slack, plane.bound), append(row, solve.Term{Var: program.Variable(), Coeff: big.NewRat(-1, 1)})...)
	}
	best, _, err := program.Maximize(ctx)
	if errors.Is(err, solve.ErrInfeasible) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return best.Add(best, idealGain), nil
}

func one() *big.Rat { return big.NewRat(1, 1) }

// innerOptimum maximizes the objective over the convex combinations of the known points by linear
// programming, whose variables are the coefficients. It returns the best point and its coefficients, or nil
// if no combination satisfies the limits.
func (c *Curve) innerOptimum(ctx context.Context, objective, limits []*big.Rat) (point, coefficients []*big.Rat, err error) {
	program := &solve.LinearProgram{}
	var sumRow []solve.Term
	for j, known := range c.points {
		program.Objective = append(program.Objective, dot(objective, known))
		sumRow = append(sumRow, solve.Term{Var: j, Coeff: one()})
	}
	program.Row(one(), sumRow...)
	for i, limit := range limits {
		if limit == nil {
			continue
		}
		var row []solve.Term
		for j, known := range c.points {
			if known[i].Sign() != 0 {
				row = append(row, solve.Term{Var: j, Coeff: known[i]})
			}
		}
		program.Row(limit, append(row, solve.Term{Var: program.Variable(), Coeff: big.NewRat(-1, 1)})...)
	}
	_, coefficients, err = program.Maximize(ctx)
	if errors.Is(err, solve.ErrInfeasible) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	coefficients = coefficients[:len(c.points)]
	point = zeros(c.objectives)
	term := new(big.Rat)
	for j, known := range c.points {
		for i := range point {
			point[i].Add(point[i], term.Mul(coefficients[j], known[i]))
		}
	}
	return point, coefficients, nil
}

// refine queries the oracle in the direction of a hyperplane that separates the known points from the outer
// optimum or, if no combination of known points is feasible, from the points that satisfy the limits. It
// reports whether the approximation improved.
func (c *Curve) refine(ctx context.Context, objective, limits []*big.Rat, feasible bool, upper *big.Rat) (bool, error) {
	weights, _, err := c.separatingWeights(ctx, objective, limits, feasible, upper)
	if weights == nil || err != nil {
		return false, err
	}
	weights = c.roundWeights(weights)
	oldBest := c.greatestKnownValue(weights)
	answer, err := c.query(ctx, weights)
	if err != nil {
		return false, err
	}
	if dot(weights, answer.Point).Cmp(oldBest) > 0 {
		return true, nil
	}
	// If the point is not better than the known ones, the new half-space must tighten the outer approximation.
	newUpper, err := c.outerOptimum(ctx, objective, limits)
	return newUpper == nil || newUpper.Cmp(upper) < 0, err
}

// separatingWeights returns weights for which the target exceeds weights·point for all known points by
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
	program := &solve.LinearProgram{}
	var simplexRow []solve.Term
	for range sides {
		simplexRow = append(simplexRow, solve.Term{Var: program.Variable(), Coeff: one()})
	}
	program.Row(one(), simplexRow...)
	distance := program.Variable()
	program.Objective[distance] = one()
	for _, values := range c.points {
		var row []solve.Term
		for k, s := range sides {
			d := dot(s.normal, values)
			if d.Sub(s.target, d); d.Sign() != 0 {
				row = append(row, solve.Term{Var: k, Coeff: d})
			}
		}
		row = append(row, solve.Term{Var: distance, Coeff: big.NewRat(-1, 1)}, solve.Term{Var: program.Variable(), Coeff: big.NewRat(-1, 1)})
		program.Row(new(big.Rat), row...)
	}
	best, solution, err := program.Maximize(ctx)
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

// greatestKnownValue returns the greatest value of weights·x over the known points.
func (c *Curve) greatestKnownValue(weights []*big.Rat) *big.Rat {
	greatest := dot(weights, c.points[0])
	for _, point := range c.points[1:] {
		if value := dot(weights, point); value.Cmp(greatest) > 0 {
			greatest = value
		}
	}
	return greatest
}

// roundWeights divides the weights by the greatest one and rounds them to c.weightBits bits. The oracle
// accepts any weights; rounding only makes the direction slightly less useful.
func (c *Curve) roundWeights(weights []*big.Rat) []*big.Rat {
	greatest := slices.MaxFunc(weights, (*big.Rat).Cmp)
	rounded := make([]*big.Rat, len(weights))
	for i, weight := range weights {
		rounded[i] = new(big.Rat).Quo(weight, greatest)
		if c.weightBits > 0 {
			scaled := new(big.Int).Lsh(rounded[i].Num(), c.weightBits)
			scaled.Quo(scaled, rounded[i].Denom())
			rounded[i].SetFrac(scaled, new(big.Int).Lsh(big.NewInt(1), c.weightBits))
		}
	}
	return rounded
}
