package check

import (
	"fmt"
	"math"
	"math/big"
	"slices"

	"tilecheck/internal/noun"
	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// quantile is the evaluation of quantile(...). A point has one coordinate for each bound, in units of its reward. The probability
// is monotone in each coordinate, so the points at which it exceeds the threshold are the points above some minimal points. The
// minimal points are exact: if the bounds of a probability do not decide on which side of the threshold it is, the evaluation returns an error.
type quantile struct {
	evaluation *evaluation
	operator   *logic.Formula
	threshold  number
	// aboveRelation is > or >=. Comments of this file say that a probability is above the threshold if it is in this relation to the threshold.
	aboveRelation syntax.Op
	// holdsAbove says whether the property holds above the threshold. If it is false, the property holds where the probability does not
	// exceed the threshold.
	holdsAbove      bool
	costIndexes     []int      // the index of each bound in the costs of the path formula
	units           []*big.Rat // the unit of each bound
	maxUnitsPerStep []int      // the greatest number of units of each bound that one step earns
}

// unbounded is a coordinate without a bound.
const unbounded = -1

// evaluateQuantile evaluates quantile(...) in the initial state: the minimal bounds on rewards with which the formula holds, or the maximal
// bounds if it holds below them.
//
// Source: Hartmanns, Junges, Katoen and Quatmann, Multi-cost bounded tradeoff analysis in MDP (2020), for the quantiles; Storm 1.14
// for the syntax, in which the formula alone decides whether bounds are minimal or maximal.
func (e *evaluation) evaluateQuantile(formula *logic.Formula) (result.Value, *result.Interval, error) {
	if numInitial := len(e.space.Model().Initial); numInitial > 1 {
		return result.Value{}, nil, e.unsupportedError(formula.Expr, "found quantile(...) for a model with %s", noun.Count(numInitial, "initial state"))
	}
	if modelType := e.property.Program.Type; modelType != syntax.DTMC && modelType != syntax.MDP {
		return result.Value{}, nil, e.unsupportedError(formula.Expr, "found quantile(...) for %s, want a DTMC or an MDP", noun.WithArticle(modelType.String()))
	}
	if e.onlyFairSchedulers() {
		return result.Value{}, nil, e.unsupportedError(formula.Expr, "found quantile(...), which is not supported for fair schedulers")
	}
	expr := formula.Expr.(*sema.Quantile)
	q, err := e.newQuantile(expr)
	if err != nil {
		return result.Value{}, nil, err
	}
	minimalPoints, maximalPoints, err := q.frontierPoints()
	if err != nil {
		return result.Value{}, nil, err
	}
	points, extremum := minimalPoints, syntax.Min
	if !q.holdsAbove {
		points, extremum = maximalPoints, syntax.Max
	}
	e.warnings = append(e.warnings, ignoredExtrema(expr, extremum)...)
	return q.valueOfPoints(points)
}

// ignoredExtrema returns a warning for each bound of a quantile that the property writes with the wrong word: with min although the quantile is a
// maximum, or with max although it is a minimum. extremum is the right word.
func ignoredExtrema(expr *sema.Quantile, extremum syntax.Extremum) []string {
	var warnings []string
	for _, bound := range expr.Bounds {
		if bound.Extremum != syntax.NoExtremum && bound.Extremum != extremum {
			warnings = append(warnings, fmt.Sprintf("the formula decides that the quantile is the %s %s; the word %s is ignored, as by Storm", extremum, bound.Name, bound.Extremum))
		}
	}
	return warnings
}

// newQuantile prepares the evaluation of a quantile. It evaluates the threshold, and finds for each bound of the quantile its unit, the greatest common
// divisor of the rewards, and the greatest number of units that one step earns.
func (e *evaluation) newQuantile(expr *sema.Quantile) (*quantile, error) {
	operator, isNegated := expr.Operator()
	q := &quantile{evaluation: e, operator: logic.FormulaOf(operator), aboveRelation: syntax.OpGt}
	hasLowerThreshold := operator.Rel == syntax.OpGt || operator.Rel == syntax.OpGe
	q.holdsAbove = hasLowerThreshold != isNegated
	if operator.Rel == syntax.OpGe || operator.Rel == syntax.OpLt {
		q.aboveRelation = syntax.OpGe
	}
	var err error
	q.threshold, err = e.thresholdBound(q.operator)
	if err != nil {
		return nil, err
	}
	costs := q.operator.Path.Costs
	for _, bound := range expr.Bounds {
		costIndex := slices.IndexFunc(costs, func(cost sema.Cost) bool { return cost.Bound.High == sema.Expr(bound) })
		cost, unit, err := e.unboundedCost(costs[costIndex].Struct)
		if err != nil {
			return nil, err
		}
		q.costIndexes = append(q.costIndexes, costIndex)
		q.units = append(q.units, unit)
		q.maxUnitsPerStep = append(q.maxUnitsPerStep, cost.maxStepCost())
	}
	return q, nil
}

// frontierPoints returns the minimal points at which the probability is above the threshold, and the maximal points at which it is not. A point is a
// list of numbers of units, one for each bound of the quantile.
func (quantile *quantile) frontierPoints() (minimalPoints, maximalPoints [][]int, err error) {
	// A box is the set of all points below a corner. The boxes in queue and maximal contain all points that are not above a minimal point.
	queue := [][]int{slices.Repeat([]int{unbounded}, len(quantile.costIndexes))}
	for len(queue) > 0 {
		box := queue[0]
		queue = queue[1:]
		point, err := quantile.pointAbove(box)
		if err != nil {
			return nil, nil, err
		}
		if point == nil { // the probability does not exceed the threshold anywhere in the box
			maximalPoints = append(maximalPoints, box)
			continue
		}
		if err := quantile.minimize(point); err != nil {
			return nil, nil, err
		}
		minimalPoints = append(minimalPoints, point)
		queue = largestBoxes(excludePoint(append(queue, box), point), maximalPoints)
	}
	return minimalPoints, maximalPoints, nil
}

// excludePoint replaces each box that contains a point by the largest boxes in it that do not contain the point.
func excludePoint(boxes [][]int, point []int) [][]int {
	var remaining [][]int
	for _, box := range boxes {
		if !isWithin(point, box) {
			remaining = append(remaining, box)
			continue
		}
		for i, coordinate := range point {
			if coordinate == 0 {
				continue
			}
			smallerBox := slices.Clone(box)
			smallerBox[i] = coordinate - 1
			remaining = append(remaining, smallerBox)
		}
	}
	return remaining
}

// largestBoxes returns the boxes that are not contained in another box or in a finished box. Of several equal boxes it returns the first.
func largestBoxes(boxes, finished [][]int) [][]int {
	var largest [][]int
	for i, box := range boxes {
		containsBox := func(other []int) bool { return isWithin(box, other) }
		isLarger := func(other []int) bool { return isWithin(box, other) && !isWithin(other, box) }
		isRedundant := slices.ContainsFunc(finished, containsBox) ||
			slices.ContainsFunc(boxes[:i], containsBox) || slices.ContainsFunc(boxes[i+1:], isLarger)
		if !isRedundant {
			largest = append(largest, box)
		}
	}
	return largest
}

// isWithin reports whether a point, or the box with this corner, is within a box: no coordinate is greater than the coordinate of the box.
func isWithin(point, box []int) bool {
	for i, coordinate := range point {
		if box[i] != unbounded && (coordinate == unbounded || coordinate > box[i]) {
			return false
		}
	}
	return true
}

// pointAbove returns a point of a box at which the probability exceeds the threshold. No coordinate of the point is unbounded. It returns nil if
// the box has no such point.
func (quantile *quantile) pointAbove(box []int) ([]int, error) {
	isAbove, err := quantile.isAbove(box, quantile.aboveRelation)
	if !isAbove || err != nil {
		return nil, err
	}
	if !slices.Contains(box, unbounded) {
		return slices.Clone(box), nil
	}
	lastUnits, provesAbsence, err := quantile.lastUnits(box)
	if err != nil {
		return nil, err
	}
	// With growing bounds, the probability converges to the probability without them. Minimal probabilities converge too, because optimal
	// schedulers for growing bounds have a scheduler as their limit.
	for units := 1; ; units = min(2*units, lastUnits) {
		point := replaceUnbounded(box, min(units, maxUnits))
		isAbove, err := quantile.isAbove(point, quantile.aboveRelation)
		switch {
		case err != nil:
			return nil, err
		case isAbove:
			return point, nil
		case units > maxUnits:
			return nil, quantile.evaluation.unsupportedError(quantile.operator.Expr, "found a quantile of more than %d units, where a unit is the greatest common divisor of the rewards: this is too much to count", maxUnits)
		case units >= lastUnits && provesAbsence:
			return nil, nil
		case units >= lastUnits:
			return nil, quantile.evaluation.unsupportedError(quantile.operator.Expr, "found a quantile of a minimal probability that is the threshold itself without the bounds: whether some bounds suffice is not decided")
		}
	}
}

// lastUnits returns the number of units at which the search for a point in a box may stop. It is finite only if the probability without the bounds
// equals the threshold, because then perhaps no finite bounds attain it. If provesAbsence is true and this number gives no point above the threshold,
// the box has none.
func (quantile *quantile) lastUnits(box []int) (units int, provesAbsence bool, err error) {
	if quantile.aboveRelation == syntax.OpGt {
		return math.MaxInt, true, nil
	}
	isLimitAbove, err := quantile.isAbove(box, syntax.OpGt)
	if isLimitAbove || err != nil {
		return math.MaxInt, true, err
	}
	return quantile.sufficientUnits(box)
}

// replaceUnbounded returns a box with a number of units in place of each unbounded coordinate.
func replaceUnbounded(box []int, units int) []int {
	point := slices.Clone(box)
	for i, bound := range box {
		if bound == unbounded {
			point[i] = units
		}
	}
	return point
}

// sufficientUnits returns a number of units for the unbounded coordinates of a box: if the probability attains its limit with some finite bounds,
// it attains the limit with this number. It is the number of states of the product with the other costs, times the greatest number of units that
// one step earns. If provesAbsence is false, the number is not proven to suffice.
func (quantile *quantile) sufficientUnits(box []int) (units int, provesAbsence bool, err error) {
	direction, err := quantile.evaluation.optimisationDirection(quantile.operator)
	if err != nil {
		return 0, false, err
	}
	// For a maximum, some optimal scheduler needs the least possible bound in each product state, and the sorted least bounds differ by at
	// most one step each. For a minimal probability of 1, no path to the goal has a cycle with a positive cost.
	isThresholdOne := quantile.threshold.isPoint() && quantile.threshold.Lo == 1
	provesAbsence = quantile.evaluation.modelKind() != sparse.MDP || direction == solve.Max || isThresholdOne
	costs, err := quantile.evaluation.costsOf(quantile.operator.Path.Expr, quantile.pathWithBounds(box).Costs)
	if err != nil {
		return 0, false, err
	}
	unitsPerStep := 0
	for i, bound := range box {
		if bound == unbounded {
			unitsPerStep += quantile.maxUnitsPerStep[i]
		}
	}
	sufficient := big.NewInt(int64(quantile.evaluation.space.Model().NumStates()))
	for _, cost := range costs {
		sufficient.Mul(sufficient, big.NewInt(int64(cost.countingLimit)+1))
	}
	sufficient.Mul(sufficient, big.NewInt(int64(max(unitsPerStep, 1))))
	if !sufficient.IsInt64() || sufficient.Int64() > maxUnits {
		return maxUnits + 1, provesAbsence, nil
	}
	return int(sufficient.Int64()), provesAbsence, nil
}

// minimize lowers the coordinates of a point as long as the probability stays above the threshold. It lowers one coordinate after the other, by binary
// search. In the result, no coordinate can be lowered further.
func (quantile *quantile) minimize(point []int) error {
	for i, high := range point {
		low := unbounded // the greatest bound with which the probability does not exceed the threshold
		for high-low > 1 {
			point[i] = low + (high-low)/2
			isAbove, err := quantile.isAbove(point, quantile.aboveRelation)
			if err != nil {
				return err
			}
			if isAbove {
				high = point[i]
			} else {
				low = point[i]
			}
		}
		point[i] = high
	}
	return nil
}

// pathWithBounds returns the path formula with the coordinates of a point as bounds. It omits the bounds of unbounded coordinates. Without any bound it
// is an until formula.
func (quantile *quantile) pathWithBounds(point []int) *logic.Path {
	path := *quantile.operator.Path
	path.Costs = nil
	for costIndex, cost := range quantile.operator.Path.Costs {
		coordinate := slices.Index(quantile.costIndexes, costIndex)
		isOtherBound := coordinate < 0 // a bound that is not a variable of the quantile
		switch {
		case isOtherBound:
			path.Costs = append(path.Costs, cost)
		case point[coordinate] != unbounded:
			reward := sema.RatValue(quantile.rewardOf(coordinate, point[coordinate]))
			high := &sema.Const{Base: sema.Base{ValueType: sema.Double, Position: cost.Bound.Pos}, Val: reward}
			path.Costs = append(path.Costs, sema.Cost{Struct: cost.Struct, Bound: &sema.Bound{High: high, Pos: cost.Bound.Pos}})
		}
	}
	if len(path.Costs) == 0 {
		path.Form, path.IsTemporal, path.Op = logic.Until, true, syntax.Until
	}
	return &path
}

// rewardOf converts the number of units of a coordinate to a reward.
func (quantile *quantile) rewardOf(coordinate, units int) *big.Rat {
	return new(big.Rat).Mul(quantile.units[coordinate], big.NewRat(int64(units), 1))
}

// isAbove reports whether the probability, with the coordinates of a point as bounds, is above the threshold; relation is > or >=. The error is
// an *undecidedError if the bounds of the probability do not decide this.
func (quantile *quantile) isAbove(point []int, relation syntax.Op) (bool, error) {
	if err := quantile.evaluation.ctx.Err(); err != nil {
		return false, err
	}
	operator := *quantile.operator
	operator.Path = quantile.pathWithBounds(point)
	values, err := quantile.evaluation.probabilityOperator(&operator)
	if err != nil {
		return false, err
	}
	quantile.evaluation.limitAccuracy(values.accuracy)
	isAbove, isDecided := compareNumbers(relation, values.numberAt(int(quantile.evaluation.space.Model().Initial[0])), quantile.threshold)
	if !isDecided {
		return false, &undecidedError{quantile.operator.Expr.Pos(), "the bounds of a probability do not decide whether it reaches the threshold of the quantile"}
	}
	return isAbove, nil
}

// valueOfPoints converts points to the value of the property: a number if the quantile has one bound, and a curve if it has several.
func (quantile *quantile) valueOfPoints(points [][]int) (result.Value, *result.Interval, error) {
	curve := quantile.rewardCurve(points)
	if len(quantile.costIndexes) > 1 {
		return curve, nil, nil
	}
	value, bound := quantile.onlyCoordinate(curve)
	return value, bound, nil
}

// rewardCurve converts points in units to a curve in rewards. Its field Num is the greatest error of a coordinate. It has no fractions if a coordinate
// is infinite.
func (quantile *quantile) rewardCurve(points [][]int) result.Value {
	curve := result.Value{Kind: result.Curve}
	for _, point := range points {
		var coordinates []float64
		var fractions []*big.Rat
		for i, units := range point {
			if units == unbounded {
				coordinates = append(coordinates, math.Inf(1))
				continue
			}
			exact := quantile.rewardOf(i, units)
			nearest, maxError := nearestFloat(exact)
			curve.Num = max(curve.Num, maxError)
			coordinates, fractions = append(coordinates, nearest), append(fractions, exact)
		}
		curve.Points, curve.RatPoints = append(curve.Points, coordinates), append(curve.RatPoints, fractions)
	}
	slices.SortFunc(curve.Points, slices.Compare[[]float64])
	isInfinite := slices.ContainsFunc(points, func(point []int) bool { return slices.Contains(point, unbounded) })
	if isInfinite {
		curve.RatPoints = nil
	}
	slices.SortFunc(curve.RatPoints, func(a, b []*big.Rat) int { return slices.CompareFunc(a, b, (*big.Rat).Cmp) })
	return curve
}

// onlyCoordinate returns the coordinate of a curve with one point as a number. If the curve has no point, no bound satisfies the property: the
// minimal bound is infinite, or the maximal bound is NaN.
func (quantile *quantile) onlyCoordinate(curve result.Value) (result.Value, *result.Interval) {
	isEmpty := len(curve.Points) == 0
	if isEmpty && !quantile.holdsAbove {
		return result.Value{Kind: result.Number, Num: math.NaN()}, nil
	}
	if isEmpty || curve.RatPoints == nil {
		infinite := math.Inf(1)
		return result.Value{Kind: result.Number, Num: infinite}, &result.Interval{Lo: infinite, Hi: infinite}
	}
	exact := exactNumber(curve.RatPoints[0][0])
	return resultValue(exact, sema.Double), &result.Interval{Lo: exact.Lo, Hi: exact.Hi}
}
