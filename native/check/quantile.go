package check

import (
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

// quantile is the evaluation of quantile(...). Its bounds are counted in units. The probability grows with each of them, so the
// bounds with which it exceeds the threshold are those above some minimal ones. These are found exactly: a probability whose bounds
// contain the threshold leaves the property undecided.
type quantile struct {
	*evaluation
	operator  *logic.Formula
	threshold number
	// above is the relation > or >= that says whether the probability exceeds the threshold; holds says that X holds then.
	above syntax.Op
	holds bool
	costs []int      // the index of each bound in the costs of the path formula
	units []*big.Rat // the unit of each bound
	steps []int      // the greatest number of units that one step adds to each
}

// unbounded stands for a bound that is not there.
const unbounded = -1

// quantile evaluates quantile(...) in the initial state: the minimal bounds with which the formula holds, or the maximal ones.
//
// Source: Hartmanns, Junges, Katoen and Quatmann, Multi-cost bounded tradeoff analysis in MDP (2020), for the quantiles; Storm 1.14
// for the syntax, in which the formula alone decides whether bounds are minimal or maximal.
func (e *evaluation) quantile(formula *logic.Formula) (result.Value, *result.Interval, error) {
	if n := len(e.space.Model().Initial); n > 1 {
		return result.Value{}, nil, e.unsupported(formula.X, "found quantile(...) for a model with %s", noun.Count(n, "initial state"))
	}
	if modelType := e.property.Program.Type; modelType != syntax.DTMC && modelType != syntax.MDP {
		return result.Value{}, nil, e.unsupported(formula.X, "found quantile(...) for %s, want a DTMC or an MDP", noun.WithArticle(modelType.String()))
	}
	if e.fair() {
		return result.Value{}, nil, e.unsupported(formula.X, "found quantile(...) and fair schedulers")
	}
	expr := formula.X.(*sema.Quantile)
	q, err := e.newQuantile(expr)
	if err != nil {
		return result.Value{}, nil, err
	}
	minimal, maximal, err := q.frontier()
	if err != nil {
		return result.Value{}, nil, err
	}
	points, wanted := minimal, syntax.Min
	if !q.holds {
		points, wanted = maximal, syntax.Max
	}
	for _, bound := range expr.Bounds {
		if bound.Extremum != syntax.NoExtremum && bound.Extremum != wanted {
			e.warnings = append(e.warnings, "the formula decides that the quantile is the "+wanted.String()+" "+bound.Name+"; the word "+bound.Extremum.String()+" is ignored, as by Storm")
		}
	}
	return q.answer(points)
}

// newQuantile returns the evaluation of a quantile, before any probability is computed.
func (e *evaluation) newQuantile(expr *sema.Quantile) (*quantile, error) {
	prob, negated := expr.Operator()
	q := &quantile{evaluation: e, operator: logic.Of(prob), above: syntax.OpGt}
	isLower := prob.Rel == syntax.OpGt || prob.Rel == syntax.OpGe
	q.holds = isLower != negated
	if prob.Rel == syntax.OpGe || prob.Rel == syntax.OpLt {
		q.above = syntax.OpGe
	}
	var err error
	if q.threshold, err = e.bound(q.operator); err != nil {
		return nil, err
	}
	for _, bound := range expr.Bounds {
		i := slices.IndexFunc(q.operator.Path.Costs, func(cost sema.Cost) bool { return cost.Bound.High == sema.Expr(bound) })
		units, unit, err := e.costUnits(q.operator.Path.Costs[i].Struct)
		if err != nil {
			return nil, err
		}
		q.costs, q.units, q.steps = append(q.costs, i), append(q.units, unit), append(q.steps, units.greatestStep())
	}
	return q, nil
}

// frontier returns the minimal bounds with which the probability exceeds the threshold, and the maximal ones with which it does
// not. It keeps boxes, each described by its greatest point, that contain all points that are not above a minimal one found so far.
func (q *quantile) frontier() (minimal, maximal [][]int, err error) {
	boxes := [][]int{slices.Repeat([]int{unbounded}, len(q.costs))}
	for len(boxes) > 0 {
		box := boxes[0]
		boxes = boxes[1:]
		point, err := q.pointAbove(box)
		if err != nil {
			return nil, nil, err
		}
		if point == nil {
			maximal = append(maximal, box)
			continue
		}
		if err := q.minimize(point); err != nil {
			return nil, nil, err
		}
		minimal = append(minimal, point)
		boxes = splitBoxes(append(boxes, box), maximal, point)
	}
	return minimal, maximal, nil
}

// splitBoxes replaces each box that contains a minimal point by the largest boxes in it that do not. It leaves out boxes that
// others contain, also those of finished.
func splitBoxes(boxes, finished [][]int, point []int) [][]int {
	var split [][]int
	for _, box := range boxes {
		if !within(point, box) {
			split = append(split, box)
			continue
		}
		for i, bound := range point {
			if bound > 0 {
				part := slices.Clone(box)
				part[i] = bound - 1
				split = append(split, part)
			}
		}
	}
	var kept [][]int
	for i, box := range split {
		isCovered := func(other []int) bool { return within(box, other) }
		earlier := slices.ContainsFunc(split[:i], isCovered)
		later := slices.ContainsFunc(split[i+1:], func(other []int) bool { return within(box, other) && !within(other, box) })
		if !earlier && !later && !slices.ContainsFunc(finished, isCovered) {
			kept = append(kept, box)
		}
	}
	return kept
}

// within reports whether no bound of a point is greater than that of a box.
func within(point, box []int) bool {
	for i, bound := range point {
		if box[i] != unbounded && (bound == unbounded || bound > box[i]) {
			return false
		}
	}
	return true
}

// pointAbove returns a point of a box, without unbounded coordinates, at which the probability exceeds the threshold; nil if there
// is none. The probability without bounds is the limit of those with bounds: of a minimum too, because some scheduler is a limit of
// schedulers that are minimal with growing bounds.
func (q *quantile) pointAbove(box []int) ([]int, error) {
	isAbove, err := q.isAbove(box, q.above)
	if !isAbove || err != nil {
		return nil, err
	}
	if !slices.Contains(box, unbounded) {
		return slices.Clone(box), nil
	}
	greatest, isProof := math.MaxInt, true
	if q.above == syntax.OpGe {
		isGreater, err := q.isAbove(box, syntax.OpGt)
		if err != nil {
			return nil, err
		}
		if !isGreater { // the limit is the threshold, which the probability may reach with no bounds at all
			if greatest, isProof, err = q.sufficient(box); err != nil {
				return nil, err
			}
		}
	}
	for size := 1; ; size = min(2*size, greatest) {
		point := slices.Clone(box)
		for i, bound := range box {
			if bound == unbounded {
				point[i] = min(size, maxUnits)
			}
		}
		if isAbove, err := q.isAbove(point, q.above); isAbove || err != nil {
			return point, err
		}
		if size >= greatest {
			if !isProof {
				return nil, q.unsupported(q.operator.X, "found a quantile of a minimal probability that is the threshold itself without the bounds: whether some bounds suffice is not decided")
			}
			return nil, nil
		}
		if size > maxUnits {
			return nil, q.unsupported(q.operator.X, "found a quantile of more than %d units of which the rewards are multiples, which is too much to count", maxUnits)
		}
	}
}

// sufficient returns a number of units for each unbounded coordinate of a box with which the probability has reached its limit, if it
// reaches the limit at all. Of a maximum or a Markov chain: if some scheduler attains the limit with bounded costs, one does that in
// each state of the product with the other bounds needs the least bound possible, and these least bounds are at most one step apart.
// Of a minimum that is 1, no path to the goal has a cycle that costs something. Other minima may reach their limit later: then isProof is
// false.
func (q *quantile) sufficient(box []int) (units int, isProof bool, err error) {
	dir, err := q.optimisationDirection(q.operator)
	if err != nil {
		return 0, false, err
	}
	isProof = q.kind() != sparse.MDP || dir == solve.Max || q.threshold.isPoint() && q.threshold.lo == 1
	number := big.NewInt(int64(q.space.Model().NumStates()))
	step := 0
	for i, bound := range box {
		if bound == unbounded {
			step += q.steps[i]
		}
	}
	costs, err := q.costsOf(q.operator.Path.X, q.path(box).Costs)
	if err != nil {
		return 0, false, err
	}
	for _, cost := range costs {
		number.Mul(number, big.NewInt(int64(cost.limit)+1))
	}
	if number.Mul(number, big.NewInt(int64(max(step, 1)))); !number.IsInt64() || number.Int64() > maxUnits {
		return maxUnits + 1, isProof, nil
	}
	return int(number.Int64()), isProof, nil
}

// minimize lowers the coordinates of a point at which the probability exceeds the threshold, one after the other, as far as it still
// does.
func (q *quantile) minimize(point []int) error {
	for i, high := range point {
		low := unbounded // the greatest bound with which the probability does not exceed the threshold
		for high-low > 1 {
			point[i] = low + (high-low)/2
			isAbove, err := q.isAbove(point, q.above)
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

// path returns the path formula with the given bounds. Without any bound it is an until formula.
func (q *quantile) path(bounds []int) *logic.Path {
	path := *q.operator.Path
	path.Costs = nil
	for i, cost := range q.operator.Path.Costs {
		k := slices.Index(q.costs, i)
		if k < 0 {
			path.Costs = append(path.Costs, cost)
			continue
		}
		if bounds[k] != unbounded {
			value := new(big.Rat).Mul(q.units[k], big.NewRat(int64(bounds[k]), 1))
			high := &sema.Const{Base: sema.Base{ValueType: sema.Double, Position: cost.Bound.At}, Val: sema.RatValue(value)}
			path.Costs = append(path.Costs, sema.Cost{Struct: cost.Struct, Bound: &sema.Bound{High: high, At: cost.Bound.At}})
		}
	}
	if len(path.Costs) == 0 {
		path.Form, path.Operator, path.Op = logic.Until, true, syntax.Until
	}
	return &path
}

// isAbove reports whether the probability with the given bounds is greater than the threshold, or at least as great.
func (q *quantile) isAbove(bounds []int, relation syntax.Op) (bool, error) {
	if err := q.ctx.Err(); err != nil {
		return false, err
	}
	operator := *q.operator
	operator.Path = q.path(bounds)
	values, err := q.prob(&operator)
	if err != nil {
		return false, err
	}
	q.weaken(values.accuracy)
	isAbove, decided := compare(relation, values.at(int(q.space.Model().Initial[0])), q.threshold)
	if !decided {
		return false, &undecidedError{q.operator.X.Pos(), "the bounds of a probability leave open whether it reaches the threshold of the quantile"}
	}
	return isAbove, nil
}

// answer returns the points as a value: a number if there is one bound, and otherwise a curve.
func (q *quantile) answer(points [][]int) (result.Value, *result.Interval, error) {
	curve := result.Value{Kind: result.Curve}
	isFinite := true
	for _, point := range points {
		var numbers []float64
		var fractions []*big.Rat
		for i, bound := range point {
			if bound == unbounded {
				numbers, isFinite = append(numbers, math.Inf(1)), false
				continue
			}
			value := new(big.Rat).Mul(q.units[i], big.NewRat(int64(bound), 1))
			nearest, exact := value.Float64()
			if !exact {
				curve.Num = max(curve.Num, nearest*0x1p-52)
			}
			numbers, fractions = append(numbers, nearest), append(fractions, value)
		}
		curve.Points, curve.RatPoints = append(curve.Points, numbers), append(curve.RatPoints, fractions)
	}
	slices.SortFunc(curve.Points, slices.Compare[[]float64])
	slices.SortFunc(curve.RatPoints, func(a, b []*big.Rat) int { return slices.CompareFunc(a, b, (*big.Rat).Cmp) })
	if !isFinite {
		curve.RatPoints = nil
	}
	if len(q.costs) > 1 {
		return curve, nil, nil
	}
	return q.single(curve)
}

// single returns the only point of a curve as a number. Without one, the least bound is infinite, and the greatest is not a number.
func (q *quantile) single(curve result.Value) (result.Value, *result.Interval, error) {
	out := result.Value{Kind: result.Number}
	switch {
	case len(curve.Points) == 0 && q.holds:
		out.Num = math.Inf(1)
	case len(curve.Points) == 0:
		out.Num = math.NaN()
		return out, nil, nil
	default:
		out.Num = curve.Points[0][0]
		if curve.RatPoints != nil {
			n := fraction(curve.RatPoints[0][0])
			return resultValue(n, sema.Double), &result.Interval{Lo: n.lo, Hi: n.hi}, nil
		}
	}
	return out, &result.Interval{Lo: out.Num, Hi: out.Num}, nil
}
