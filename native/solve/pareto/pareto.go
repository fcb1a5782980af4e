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
	oracle        Oracle
	numObjectives int
	points        [][]*big.Rat
	halfSpaces    []halfSpace
	weightBits    uint // weights are rounded to so many bits; 0 for no rounding
}

// halfSpace is the set of points x with weights·x <= bound.
type halfSpace struct {
	weights []*big.Rat
	bound   *big.Rat
}

// New returns a curve for the given number of objectives. Weights for the oracle are rounded to
// weightBits bits, since linear programs give long fractions. An exact oracle needs the exact ones: 0.
func New(numObjectives int, oracle Oracle, weightBits uint) *Curve {
	return &Curve{oracle: oracle, numObjectives: numObjectives, weightBits: weightBits}
}

// Best is the result of Maximize. Point is nil if no achievable point satisfies the limits. Point is a
// convex combination of the oracle's answers; Coefficients has the coefficient of each, in the order of the
// queries.
type Best struct {
	Point, Coefficients []*big.Rat
	Upper               *big.Rat
}

// ErrUndecided says that the bounds are too wide to tell whether an achievable point satisfies the limits.
var ErrUndecided = errors.New("the limits are too near the boundary of the achievable points")

// maxQueries exceeds the number of queries for any curve that ends.
const maxQueries = 10_000

// Maximize maximizes objective·x over the achievable points x with x >= limits. A nil limit means that there is no limit. The coefficients
// of objective must not be negative. The relative difference of the bounds is at most width, unless the bounds of the oracle are wider. The
// error is ErrUndecided if it is unknown whether an achievable point satisfies the limits.
func (curve *Curve) Maximize(ctx context.Context, objective, limits []*big.Rat, width float64) (*Best, error) {
	if err := curve.querySingleObjectives(ctx); err != nil {
		return nil, err
	}
	for range maxQueries {
		upper, err := curve.outerOptimum(ctx, objective, limits)
		if upper == nil {
			return &Best{}, err
		}
		point, coefficients, err := curve.innerOptimum(ctx, objective, limits)
		if err != nil {
			return nil, err
		}
		if point != nil && withinWidth(scalarProduct(objective, point), upper, width) {
			return &Best{point, coefficients, upper}, nil
		}
		improved, err := curve.improveApproximation(ctx, objective, limits, point != nil, upper)
		if err != nil {
			return nil, err
		}
		if improved {
			continue
		}
		if point == nil {
			return nil, ErrUndecided
		}
		return &Best{point, coefficients, upper}, nil
	}
	return nil, ErrUndecided
}

// querySingleObjectives queries the oracle for the maximum of each objective at the first call.
func (curve *Curve) querySingleObjectives(ctx context.Context) error {
	for i := len(curve.halfSpaces); i < curve.numObjectives; i++ {
		if _, err := curve.queryOracle(ctx, unitVector(curve.numObjectives, i)); err != nil {
			return err
		}
	}
	return nil
}

// withinWidth reports whether upper - lower is at most width times the greater absolute value of the two.
func withinWidth(lower, upper *big.Rat, width float64) bool {
	difference := new(big.Rat).Sub(upper, lower)
	if difference.Sign() <= 0 {
		return true
	}
	tolerance := maxAbs([]*big.Rat{lower, upper})
	tolerance.Mul(tolerance, new(big.Rat).SetFloat64(width))
	return difference.Cmp(tolerance) <= 0
}

// maxAbs returns the greatest absolute value.
func maxAbs(values []*big.Rat) *big.Rat {
	greatest := new(big.Rat)
	for _, value := range values {
		if abs := new(big.Rat).Abs(value); abs.Cmp(greatest) > 0 {
			greatest = abs
		}
	}
	return greatest
}

// unitVector returns the vector with 1 at coordinate index and 0 elsewhere.
func unitVector(length, index int) []*big.Rat {
	vector := zeros(length)
	vector[index].SetInt64(1)
	return vector
}

// zeros returns the zero vector of the given length.
func zeros(length int) []*big.Rat {
	vector := make([]*big.Rat, length)
	for i := range vector {
		vector[i] = new(big.Rat)
	}
	return vector
}

// scalarProduct returns the scalar product of two vectors.
func scalarProduct(left, right []*big.Rat) *big.Rat {
	sum, term := new(big.Rat), new(big.Rat)
	for i := range left {
		sum.Add(sum, term.Mul(left[i], right[i]))
	}
	return sum
}

// queryOracle asks the oracle for the maximum of weights·x, and adds the point and the half-space of the answer to the curve.
func (curve *Curve) queryOracle(ctx context.Context, weights []*big.Rat) (*Answer, error) {
	answer, err := curve.oracle(ctx, weights)
	if err != nil {
		return nil, err
	}
	curve.points = append(curve.points, answer.Point)
	curve.halfSpaces = append(curve.halfSpaces, halfSpace{weights, answer.Bound})
	return answer, nil
}

// outerOptimum returns the maximum of objective·x over the outer approximation, the intersection of all half-spaces, by linear programming.
// It returns nil if no point of the outer approximation satisfies the limits.
func (curve *Curve) outerOptimum(ctx context.Context, objective, limits []*big.Rat) (*big.Rat, error) {
	// The variables are the distances of the coordinates from their maxima, and the slack of each inequality.
	program := &solve.LinearProgram{}
	ideal := make([]*big.Rat, curve.numObjectives) // the maximum of each coordinate
	for i := range ideal {
		ideal[i] = curve.halfSpaces[i].bound
		program.Objective = append(program.Objective, new(big.Rat).Neg(objective[i]))
	}
	for i, limit := range limits {
		if limit != nil {
			slack := solve.Term{Variable: program.AddVariable(), Coefficient: one()}
			program.AddRow(new(big.Rat).Sub(ideal[i], limit), solve.Term{Variable: i, Coefficient: one()}, slack)
		}
	}
	for _, plane := range curve.halfSpaces[curve.numObjectives:] {
		row := termsOf(plane.weights)
		excess := scalarProduct(plane.weights, ideal)
		row = append(row, solve.Term{Variable: program.AddVariable(), Coefficient: minusOne()})
		program.AddRow(excess.Sub(excess, plane.bound), row...)
	}
	maximum, _, err := program.Maximize(ctx)
	if errors.Is(err, solve.ErrInfeasible) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return maximum.Add(maximum, scalarProduct(objective, ideal)), nil
}

// termsOf returns a term of a linear program for each nonzero coefficient. coefficients[i] belongs to variable i.
func termsOf(coefficients []*big.Rat) []solve.Term {
	var row []solve.Term
	for i, coefficient := range coefficients {
		if coefficient.Sign() != 0 {
			row = append(row, solve.Term{Variable: i, Coefficient: coefficient})
		}
	}
	return row
}

func minusOne() *big.Rat { return big.NewRat(-1, 1) }

func one() *big.Rat { return big.NewRat(1, 1) }

// innerOptimum maximizes objective·x over the inner approximation, the convex combinations of the known points, by linear programming. It
// returns the best point and its coefficients, or nil if no combination satisfies the limits.
func (curve *Curve) innerOptimum(ctx context.Context, objective, limits []*big.Rat) (point, coefficients []*big.Rat, err error) {
	program := &solve.LinearProgram{}
	var sum []solve.Term
	for index, point := range curve.points {
		program.Objective = append(program.Objective, scalarProduct(objective, point))
		sum = append(sum, solve.Term{Variable: index, Coefficient: one()})
	}
	program.AddRow(one(), sum...)
	for i, limit := range limits {
		if limit != nil {
			row := termsOf(curve.coordinates(i))
			row = append(row, solve.Term{Variable: program.AddVariable(), Coefficient: minusOne()})
			program.AddRow(limit, row...)
		}
	}
	_, solution, err := program.Maximize(ctx)
	if errors.Is(err, solve.ErrInfeasible) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	coefficients = solution[:len(curve.points)]
	return curve.combine(coefficients, curve.points), coefficients, nil
}

// coordinates returns coordinate i of each known point.
func (curve *Curve) coordinates(i int) []*big.Rat {
	values := make([]*big.Rat, len(curve.points))
	for index, point := range curve.points {
		values[index] = point[i]
	}
	return values
}

// combine returns the sum of coefficients[index] * vectors[index] over all indices.
func (curve *Curve) combine(coefficients []*big.Rat, vectors [][]*big.Rat) []*big.Rat {
	sum := zeros(curve.numObjectives)
	term := new(big.Rat)
	for index, vector := range vectors {
		for i := range sum {
			sum[i].Add(sum[i], term.Mul(coefficients[index], vector[i]))
		}
	}
	return sum
}

// improveApproximation queries the oracle with the weights of a hyperplane that separates the known points from the wanted point. It reports whether the
// inner or the outer approximation improved. isFeasible says that some combination of known points satisfies the limits. upper is the optimum over the outer
// approximation.
func (curve *Curve) improveApproximation(ctx context.Context, objective, limits []*big.Rat, isFeasible bool, upper *big.Rat) (improved bool, err error) {
	weights, _, err := curve.separatingWeights(ctx, objective, limits, isFeasible, upper)
	if weights == nil || err != nil {
		return false, err
	}
	weights = curve.roundWeights(weights)
	oldBest := curve.greatestKnownValue(weights)
	answer, err := curve.queryOracle(ctx, weights)
	if err != nil {
		return false, err
	}
	if scalarProduct(weights, answer.Point).Cmp(oldBest) > 0 {
		return true, nil
	}
	// The new point does not improve the inner approximation, so check whether the new half-space improves the outer one.
	newUpper, err := curve.outerOptimum(ctx, objective, limits)
	return newUpper == nil || newUpper.Cmp(upper) < 0, err
}

// separatingWeights returns the weights and the margin of the hyperplane that best separates the known points from a target. The target has
// the limits as coordinates and, if isFeasible is set, the value upper of the objective. The results are nil if no hyperplane separates them.
func (curve *Curve) separatingWeights(ctx context.Context, objective, limits []*big.Rat, isFeasible bool, upper *big.Rat) (weights []*big.Rat, margin *big.Rat, err error) {
	var normals [][]*big.Rat // the weights are a combination of these directions
	var targets []*big.Rat   // targets[i] is the value of the target in direction normals[i]
	if isFeasible {
		normals, targets = append(normals, objective), append(targets, upper)
	}
	for i, limit := range limits {
		if limit != nil {
			normals, targets = append(normals, unitVector(curve.numObjectives, i)), append(targets, limit)
		}
	}
	best, solution, err := curve.separatingMargin(ctx, normals, targets)
	if best == nil || best.Sign() == 0 {
		return nil, nil, err
	}
	return curve.combine(solution, normals), best, nil
}

// separatingMargin finds, by linear programming, the hyperplane that separates the known points from the target with the greatest margin. Its normal is a
// convex combination of the given normals: the same combination of targets exceeds its value at every known point by at least margin. solution
// begins with the coefficients of the combination. margin is nil if there is no solution.
func (curve *Curve) separatingMargin(ctx context.Context, normals [][]*big.Rat, targets []*big.Rat) (margin *big.Rat, solution []*big.Rat, err error) {
	program := &solve.LinearProgram{}
	var sum []solve.Term
	for range normals {
		sum = append(sum, solve.Term{Variable: program.AddVariable(), Coefficient: one()})
	}
	program.AddRow(one(), sum...)
	distance := program.AddVariable()
	program.Objective[distance] = one()
	for _, point := range curve.points {
		excess := make([]*big.Rat, len(normals))
		for index, normal := range normals {
			excess[index] = new(big.Rat).Sub(targets[index], scalarProduct(normal, point))
		}
		row := append(termsOf(excess), solve.Term{Variable: distance, Coefficient: minusOne()}, solve.Term{Variable: program.AddVariable(), Coefficient: minusOne()})
		program.AddRow(new(big.Rat), row...)
	}
	margin, solution, err = program.Maximize(ctx)
	if errors.Is(err, solve.ErrInfeasible) {
		return nil, nil, nil
	}
	return margin, solution, err
}

// greatestKnownValue returns the greatest value of weights·x over the known points.
func (curve *Curve) greatestKnownValue(weights []*big.Rat) *big.Rat {
	greatest := scalarProduct(weights, curve.points[0])
	for _, point := range curve.points[1:] {
		if value := scalarProduct(weights, point); value.Cmp(greatest) > 0 {
			greatest = value
		}
	}
	return greatest
}

// roundWeights divides the weights by the greatest weight, and rounds them to curve.weightBits bits.
func (curve *Curve) roundWeights(weights []*big.Rat) []*big.Rat {
	greatest := slices.MaxFunc(weights, (*big.Rat).Cmp)
	rounded := make([]*big.Rat, len(weights))
	for i, weight := range weights {
		rounded[i] = new(big.Rat).Quo(weight, greatest)
		if curve.weightBits > 0 {
			scaled := new(big.Int).Lsh(rounded[i].Num(), curve.weightBits)
			scaled.Quo(scaled, rounded[i].Denom())
			rounded[i].SetFrac(scaled, new(big.Int).Lsh(big.NewInt(1), curve.weightBits))
		}
	}
	return rounded
}
