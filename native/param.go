//go:build !js

package native

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"tilecheck/internal/noun"
	"tilecheck/native/check"
	"tilecheck/native/check/parametric"
	"tilecheck/native/load"
	"tilecheck/native/solve/ratfunc"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// openModel is an instance of a model with parameters. It also has the model with one value for each parameter, a point. At this point
// every function of the parameters is compared with the value that the model has there.
type openModel struct {
	chain      *parametric.Chain
	program    *sema.Program // with the parameters
	params     []parametric.Param
	low, high  []*big.Rat     // the bounds of the parameters
	pointModel *exploredModel // the model with the values of params
}

// parametric checks a plan with parameters: it computes each value as a function of the parameters. It returns an error if a
// setting of the job is not supported for parameters.
func (r *run) parametric(method method) error {
	statesMethod, ok := method.(*statesMethod)
	if !ok {
		return errors.New("functions of parameters are not sampled, want method states")
	}
	if err := statesMethod.checkParametricJob(&r.plan.Job); err != nil {
		return err
	}
	exact := *statesMethod
	exact.build.Exact = true
	exact.build.Normalise = false
	exact.opt.Accuracy = result.Exact
	r.build = func(valuation sema.Valuation) (*sema.Program, instance, error) {
		return r.buildParametric(&exact, valuation)
	}
	return r.checkPlan()
}

// buildParametric returns the instance of the model with parameters for values of its constants, and the program of the instance.
func (r *run) buildParametric(method *statesMethod, valuation sema.Valuation) (*sema.Program, instance, error) {
	program, err := r.plan.Model.InstantiateOpen(valuation.Map(), r.plan.Open())
	if err != nil {
		return nil, nil, err
	}
	if !program.Parametric { // no parameter occurs in the model
		return r.parameterlessInstance(method, program)
	}
	model, err := method.parametricInstance(r.ctx, r.plan, valuation, program)
	if err != nil {
		return nil, nil, err
	}
	return model.pointModel.space.Program(), model, nil
}

// checkParametricJob returns an error if a setting of a job is not supported for parameters.
func (method *statesMethod) checkParametricJob(job *runner.Job) error {
	wantsScheduler := job.Scheduler != nil || job.Witness != nil || job.Numeric.Fair
	switch {
	case job.States != nil:
		return errors.New("states that were read from files have no parameters")
	case wantsScheduler || job.Certificate != nil || method.wantCertificates || method.reduce:
		return errors.New("functions of parameters have no schedulers, witnesses, certificates and quotients")
	case job.Numeric.Accuracy == result.Float:
		return errors.New("functions of parameters are exact, found accuracy float")
	}
	return nil
}

// maxPoints is the number of points that are tried. At a suitable point, every weight and reward that is not zero
// everywhere is positive.
const maxPoints = 12

// parametricInstance returns the instance of a program with parameters. It evaluates the model at the first point of the
// region at which all probabilities and rates are positive.
func (method *statesMethod) parametricInstance(ctx context.Context, plan *runner.Plan, valuation sema.Valuation, program *sema.Program) (*openModel, error) {
	open := &openModel{program: program}
	if modelType := open.program.Type; modelType != syntax.DTMC && modelType != syntax.CTMC && modelType != syntax.MDP {
		return nil, unsupported(open.program, "found %s, want a DTMC, CTMC or MDP for functions of parameters; or a value for each parameter (--const)", noun.WithArticle(modelType.String()))
	}
	for _, param := range plan.Params {
		open.low = append(open.low, param.Low)
		open.high = append(open.high, param.High)
	}
	var err error
	for attempt := range maxPoints {
		err = open.buildAt(ctx, method, plan, valuation, attempt)
		if err == nil {
			return open, nil
		}
		_, notPositive := errors.AsType[*parametric.PointError](err)
		_, wrongState := errors.AsType[*compile.StateError](err)
		if !notPositive && !wrongState || ctx.Err() != nil {
			return nil, err
		}
	}
	return nil, open.noSuitablePoint(err)
}

// noSuitablePoint returns the error for a region in which the model was wrong at every point that was tried. lastErr is the error at the
// last point.
func (open *openModel) noSuitablePoint(lastErr error) error {
	message, pos := lastErr.Error(), syntax.Pos{}
	if stateErr, ok := errors.AsType[*compile.StateError](lastErr); ok {
		message, pos = stateErr.Msg+" in state "+stateErr.State, stateErr.Pos
	}
	if pointErr, ok := errors.AsType[*parametric.PointError](lastErr); ok {
		message, pos = pointErr.What, pointErr.Pos
	}
	return &result.Failure{
		Class: result.Model, File: open.program.File, Pos: pos,
		Message: fmt.Sprintf("%s, where %s, and at %d other points of the region; want bounds of the parameters (p=0.1:0.4) within which the model is right", message, pointText(open.params), maxPoints-1),
	}
}

// buildAt builds the parametric chain, and the model with the parameter values of one point of the region. Each attempt
// selects another point.
func (open *openModel) buildAt(ctx context.Context, method *statesMethod, plan *runner.Plan, valuation sema.Valuation, attempt int) error {
	valuation = slices.Clip(valuation)
	open.params = nil
	for i, param := range plan.Params {
		// The numbers are arbitrary. They avoid special points: the boundary of the region, and points at which parameters are
		// equal or sum to one. Later points are nearer to the lower bounds.
		share := big.NewRat(int64(29+37*(i+attempt))%97+2, 101<<(attempt/2))
		value := new(big.Rat).Sub(param.High, param.Low)
		value.Mul(value, share).Add(value, param.Low)
		open.params = append(open.params, parametric.Param{Name: param.Name, At: value})
		valuation = append(valuation, sema.NamedValue{Name: param.Name, Val: sema.RatValue(value)})
	}
	compiled, err := load.Instance(plan, valuation)
	if err != nil {
		return err
	}
	space, err := explicit.Build(ctx, compiled, method.build)
	if err != nil {
		return err
	}
	open.chain, err = parametric.New(ctx, space, open.program, open.params)
	if err != nil {
		return err
	}
	open.pointModel = method.newExploredModel(space, nil)
	return nil
}

// pointText returns a point as text, such as p=1/3, q=1/2.
func pointText(params []parametric.Param) string {
	var parts []string
	for _, param := range params {
		parts = append(parts, param.Name+"="+param.At.RatString())
	}
	return strings.Join(parts, ", ")
}

// checkIndependent returns an error if a parameter occurs in a property, or in a label of the property.
func checkIndependent(program *sema.Program, model instance, task *runner.Task, valuation sema.Valuation) error {
	if open, ok := model.(*openModel); ok {
		program = open.program // the program of the instance has values instead of the parameters
	}
	property, err := task.Instance(program, valuation)
	if err != nil {
		return err
	}
	if param := parameterIn(property.X, property.Program); param != nil {
		return &result.Failure{Class: result.Unsupported, File: task.Source.File, Pos: task.Pos, Message: fmt.Sprintf("the property depends on the parameter %s itself, want parameters in probabilities, rates and rewards only", param.Name)}
	}
	return nil
}

// parameterIn returns a parameter that occurs in an expression, or in the definition of a label in it. It returns nil if there is none.
func parameterIn(expr sema.Expr, program *sema.Program) *sema.Param {
	var found *sema.Param
	sema.Inspect(expr, func(part sema.Expr) bool {
		switch part := part.(type) {
		case *sema.Param:
			found = part
		case *sema.Label:
			if found == nil && part.Index >= 0 {
				found = parameterIn(program.Labels[part.Index].X, program)
			}
		}
		return found == nil
	})
	return found
}

// check implements instance. It computes the value as a function of the parameters, and compares the function with the value
// at the point at which the model was built.
func (open *openModel) check(ctx context.Context, property *checkedProperty) result.Verdict {
	start := time.Now()
	openProperty := &openProperty{open, ctx, property}
	formula := logic.Of(property.X)
	if formula.Measure() && !formula.Query() {
		return openProperty.checkThreshold(formula)
	}
	function, err := openProperty.value(property.X)
	if err != nil {
		return result.Verdict{Err: failure(err, result.Unsupported, property.File, property.Pos)}
	}
	verdict := open.pointModel.check(ctx, property)
	if verdict.Err != nil {
		return verdict
	}
	if err := open.confirm(function, verdict.Value); err != nil {
		return result.Verdict{Err: failure(err, result.Other, property.File, property.Pos)}
	}
	verdict.Seconds = time.Since(start).Seconds()
	subject, region := "this value", "for parameters with which every probability, rate and reward is positive"
	if open.program.Type == syntax.MDP {
		region = "between the bounds of the parameters"
	}
	if function != nil {
		_, isConstant := function.pieces[0].Value.Constant()
		if !isConstant || len(function.pieces) > 1 {
			verdict.Value = result.Value{Kind: result.Function, Formula: function.String()}
			verdict.Bound = nil
			subject = "the function"
		}
		region += function.regions()
	}
	verdict.Warnings = append(verdict.Warnings, subject+" is valid "+region+"; it was compared with the exact value at "+pointText(open.params))
	return verdict
}

// piecewise is the value of a property as a piecewise function of the parameters. It has several pieces only for
// an MDP with one parameter. The function of each piece is the value of a scheduler in the whole region, so the
// value is the least or the greatest of all functions.
type piecewise struct {
	pieces []parametric.Piece
	least  bool
}

// onePiece returns a value with one piece: the given function in the whole region. It returns nil, which stands for infinity, if the
// function is nil. If err is not nil, it returns err.
func onePiece(function *ratfunc.Func, err error) (*piecewise, error) {
	if function == nil || err != nil {
		return nil, err
	}
	return &piecewise{pieces: []parametric.Piece{{Value: function}}}, nil
}

// functions returns the distinct functions of the pieces.
func (value *piecewise) functions() []*ratfunc.Func {
	var distinct []*ratfunc.Func
	for _, piece := range value.pieces {
		if !slices.ContainsFunc(distinct, piece.Value.Equal) {
			distinct = append(distinct, piece.Value)
		}
	}
	return distinct
}

// String returns the value as an expression of PRISM's language.
func (value *piecewise) String() string {
	var parts []string
	for _, f := range value.functions() {
		parts = append(parts, f.String())
	}
	switch {
	case len(parts) == 1:
		return parts[0]
	case value.least:
		return "min(" + strings.Join(parts, ", ") + ")"
	}
	return "max(" + strings.Join(parts, ", ") + ")"
}

// regions returns the text ": function from point to point, …"; empty if there is one piece.
func (value *piecewise) regions() string {
	if len(value.pieces) == 1 {
		return ""
	}
	var parts []string
	for _, piece := range value.pieces {
		parts = append(parts, fmt.Sprintf("%s from %s to %s", piece.Value, rootText(piece.Low), rootText(piece.High)))
	}
	return ": " + strings.Join(parts, ", ")
}

// rootText returns a root as a fraction or, if it is irrational, with ten digits.
func rootText(root ratfunc.Root) string {
	maxWidth := big.NewRat(1, 1e12)
	for !root.Fraction() && new(big.Rat).Sub(root.High, root.Low).Cmp(maxWidth) > 0 {
		root = root.Narrow()
	}
	if root.Fraction() {
		return root.Low.RatString()
	}
	approximate, _ := root.Low.Float64()
	return fmt.Sprintf("about %.10g", approximate)
}

// confirm returns an error unless a function of the parameters has the value that was computed for the model at one point,
// open.params[i].At for parameter i. A nil function stands for infinity.
func (open *openModel) confirm(function *piecewise, computed result.Value) error {
	if function == nil {
		return open.confirmInfinite(computed)
	}
	atPoint := function.at(pointOf(open.params))
	if atPoint == nil || computed.Rat == nil || computed.Rat.Cmp(atPoint) != 0 {
		return fmt.Errorf("the function %s does not have the value %v at %s; this is a bug: please report it", function, computed.Num, pointText(open.params))
	}
	return nil
}

// confirmInfinite returns an error unless the value that was computed at one point is infinite.
func (open *openModel) confirmInfinite(computed result.Value) error {
	if math.IsInf(computed.Num, 1) {
		return nil
	}
	return fmt.Errorf("the value is infinite for all parameters, but the value %v was computed at %s; this is a bug: please report it", computed.Num, pointText(open.params))
}

// at returns the value at a point: the least or the greatest value of the functions there, as function.least says. It returns nil if all
// functions have a pole there.
func (function *piecewise) at(point []*big.Rat) *big.Rat {
	var best *big.Rat
	for _, piece := range function.functions() {
		value, ok := piece.At(point)
		if !ok {
			continue // a pole
		}
		isBetter := best == nil || value.Cmp(best) != 0 && (value.Cmp(best) < 0) == function.least
		if isBetter {
			best = value
		}
	}
	return best
}

// openProperty is a property to evaluate as a function of the parameters of an open model.
type openProperty struct {
	*openModel
	ctx      context.Context
	property *checkedProperty
}

// unsupported returns the error that an expression, which found describes, is not supported in a model with parameters.
func (property *openProperty) unsupported(expr sema.Expr, found string) error {
	return result.Refuse(&property.property.Instance, result.Unsupported, expr.Pos(), "found %s in a model with parameters, want one operator P, R or S with =? and one temporal operator or reward; or try values, as in --const p=0:0.1:1", found)
}

// value returns the value of an expression in the initial state. It returns nil for infinity.
func (property *openProperty) value(expr sema.Expr) (*piecewise, error) {
	formula := logic.Of(expr)
	switch {
	case formula.Measure() && !formula.Query():
		return nil, property.unsupported(expr, "a bound")
	case formula.Measure():
		return property.measure(formula)
	case formula.Kind == logic.Filter:
		return property.filter(formula)
	}
	return property.arithmetic(expr)
}

// measure returns the value of P, R or S in the initial state, whether it has a threshold or not; nil is infinity.
func (property *openProperty) measure(formula *logic.Formula) (*piecewise, error) {
	expr := formula.X
	switch formula.Kind {
	case logic.Probability:
		return property.probability(formula)
	case logic.SteadyState:
		if property.program.Type == syntax.MDP {
			return nil, property.unsupported(expr, "S of an MDP")
		}
		set, err := property.states(formula.Operand)
		if err != nil {
			return nil, err
		}
		return onePiece(property.chain.LongRun(property.ctx, property.chain.Visits(set)))
	}
	switch {
	case formula.Objective.Err != nil:
		return nil, formula.Objective.Err
	case formula.Objective.Ratio:
		return nil, property.unsupported(expr, "a ratio of rewards")
	}
	return property.reward(formula)
}

// filter returns the value of a filter, which must select the initial state only.
func (property *openProperty) filter(formula *logic.Formula) (*piecewise, error) {
	returnsValueOfState := []string{"state", "first", "min", "max", "sum", "avg"} // if the filter selects one state
	if !slices.Contains(returnsValueOfState, formula.Op) {
		return nil, property.unsupported(formula.X, "this filter")
	}
	if formula.States == nil {
		return nil, property.unsupported(formula.X, "a filter over all states")
	}
	set, err := property.states(formula.States)
	if err != nil {
		return nil, err
	}
	if model := property.pointModel.space.Model(); set.Count() != 1 || !set.Has(int(model.Initial[0])) {
		return nil, property.unsupported(formula.X, "a filter that selects other states than the initial one")
	}
	return property.value(formula.Operand)
}

// arithmetic returns the value of a constant expression, or of a sum, difference, product or quotient of values. Only one of
// two operands may have several pieces.
func (property *openProperty) arithmetic(expr sema.Expr) (*piecewise, error) {
	binary, isBinary := expr.(*sema.Binary)
	_, isConstant := expr.(*sema.Const)
	if !isBinary && !isConstant {
		if kind := logic.Of(expr).Kind; kind == logic.Lexicographic || kind == logic.Quantile {
			return nil, property.unsupported(expr, logic.Describe(expr))
		}
		return nil, property.unsupported(expr, "this formula")
	}
	if constant, exact, err := sema.EvalExact(expr, nil); err == nil && exact {
		if constant.Type == sema.Int {
			constant.Rat = big.NewRat(int64(constant.Int), 1)
		}
		return onePiece(property.chain.One().Scale(constant.Rat), nil)
	}
	if !isBinary {
		return nil, property.unsupported(expr, "this formula")
	}
	left, err := property.value(binary.X)
	if err != nil {
		return nil, err
	}
	right, err := property.value(binary.Y)
	if err != nil {
		return nil, err
	}
	switch {
	case left == nil || right == nil:
		return nil, property.unsupported(expr, "arithmetic on infinity")
	case len(left.pieces) > 1 && len(right.pieces) > 1:
		return nil, property.unsupported(expr, "arithmetic on two values that several schedulers attain")
	}
	return combine(binary.Op, left, right, func(found string) error { return property.unsupported(expr, found) })
}

// combine returns the sum, difference, product or quotient of two values. At least one of them must have one piece only. Both must have
// one piece only in a product or quotient, because a negative factor would exchange minimum and maximum. unsupported returns an
// error, given a description of the unsupported expression.
func combine(op syntax.Op, left, right *piecewise, unsupported func(found string) error) (*piecewise, error) {
	combined := &piecewise{least: left.least}
	if len(right.pieces) > 1 {
		isSubtrahend := op == syntax.OpSub // then the difference is greatest where this value is least
		combined.least = right.least != isSubtrahend
	}
	hasSeveralPieces := len(left.pieces) > 1 || len(right.pieces) > 1
	if hasSeveralPieces && op != syntax.OpAdd && op != syntax.OpSub {
		return nil, unsupported("products of values that several schedulers attain")
	}
	for _, leftPiece := range left.pieces {
		for _, rightPiece := range right.pieces {
			piece := rightPiece
			if len(left.pieces) > 1 {
				piece = leftPiece
			}
			var ok bool
			piece.Value, ok = applyOp(op, leftPiece.Value, rightPiece.Value)
			if !ok {
				return nil, unsupported("this formula")
			}
			combined.pieces = append(combined.pieces, piece)
		}
	}
	return combined, nil
}

// applyOp returns the sum, difference, product or quotient of two functions. It returns false for another operator, and for a
// division by zero.
func applyOp(op syntax.Op, left, right *ratfunc.Func) (*ratfunc.Func, bool) {
	switch {
	case op == syntax.OpAdd:
		return left.Add(right), true
	case op == syntax.OpSub:
		return left.Sub(right), true
	case op == syntax.OpMul:
		return left.Mul(right), true
	case op == syntax.OpDiv && !right.IsZero():
		return left.Quo(right), true
	}
	return nil, false
}

// bestOverSchedulers returns the minimal or maximal value over all schedulers of an MDP, as the formula asks. If negated is
// true, it computes the opposite extremum of the question, and subtracts it from one.
func (property *openProperty) bestOverSchedulers(formula *logic.Formula, question parametric.Question, negated bool) (*piecewise, error) {
	minimum, ok := formula.Least(false)
	if !ok {
		return nil, property.unsupported(formula.X, "a query without min or max")
	}
	question.Min = minimum != negated
	pieces, err := property.chain.Best(property.ctx, question, property.low, property.high)
	if pieces == nil || err != nil {
		return nil, err
	}
	for i, p := range pieces {
		if negated {
			pieces[i].Value = property.chain.One().Sub(p.Value)
		}
	}
	return &piecewise{pieces, minimum}, nil
}

// probability returns the value of the operator P as a function of the parameters.
func (property *openProperty) probability(formula *logic.Formula) (*piecewise, error) {
	path := formula.Path
	if !path.Operator || path.Negated {
		return nil, property.unsupported(formula.X, logic.Describe(path.Whole))
	}
	left, right, negated, err := property.untilOperands(path)
	if err != nil {
		return nil, err
	}
	isMDP, countsSteps := property.program.Type == syntax.MDP, path.Bound != nil || path.Op == syntax.Next
	switch {
	case isMDP && countsSteps:
		if _, _, _, err := property.steps(path.Bound); err != nil {
			return nil, err
		}
		return nil, property.unsupported(formula.X, "X or a bound of an MDP")
	case isMDP:
		return property.bestOverSchedulers(formula, parametric.Question{Left: left, Right: right}, negated)
	}
	value, err := property.chainProbability(formula, left, right)
	if err == nil && negated {
		value = property.chain.One().Sub(value)
	}
	return onePiece(value, err)
}

// untilOperands rewrites a temporal operator to an until formula, which may be negated, and returns the operands of this
// formula.
func (property *openProperty) untilOperands(path *logic.Path) (left, right *sparse.Set, negated bool, err error) {
	left = sparse.FullSet(property.pointModel.space.Model().NumStates())
	if path.Left != nil {
		if left, err = property.states(path.Left); err != nil {
			return nil, nil, false, err
		}
	}
	if right, err = property.states(path.Right); err != nil {
		return nil, nil, false, err
	}
	left, right, negated = check.Sets.AsUntil(path.Op, left, right)
	return left, right, negated, nil
}

// chainProbability returns the probability of an until formula, or of X, in a Markov chain.
func (property *openProperty) chainProbability(formula *logic.Formula, left, right *sparse.Set) (*ratfunc.Func, error) {
	low, high, bounded, err := property.steps(formula.Path.Bound)
	if err != nil {
		return nil, err
	}
	switch next := formula.Path.Op == syntax.Next; {
	case next && bounded:
		return nil, property.unsupported(formula.X, "a bound of X")
	case next:
		return property.chain.BoundedUntil(property.ctx, left, right, 1, 1)
	case bounded:
		return property.chain.BoundedUntil(property.ctx, left, right, low, high)
	}
	return property.chain.Until(property.ctx, left, right)
}

// steps returns the bounds on the number of steps. bounded is false if bound is nil. A time bound of a CTMC is unsupported, and so is
// a bound without an upper end.
func (property *openProperty) steps(bound *sema.Bound) (low, high int, bounded bool, err error) {
	if bound == nil {
		return 0, 0, false, nil
	}
	if property.program.Type == syntax.CTMC || bound.High == nil {
		return 0, 0, false, result.Refuse(&property.property.Instance, result.Unsupported, property.property.Pos, "found a time bound or only a lower bound in a model with parameters; want an upper bound on steps, or a value for each parameter (--const)")
	}
	for _, end := range []sema.Expr{bound.Low, bound.High} {
		if end != nil {
			if _, err := property.count(end); err != nil {
				return 0, 0, false, err
			}
		}
	}
	low, high, err = logic.Steps(bound)
	return low, high, true, err
}

// count evaluates a number of steps.
func (property *openProperty) count(expr sema.Expr) (int, error) {
	value, _, err := sema.EvalExact(expr, nil)
	if err == nil && value.Type != sema.Int {
		err = result.Refuse(&property.property.Instance, result.Unsupported, property.property.Pos, "found %v steps, want a whole number", value)
	}
	return int(value.Int), err
}

// reward returns the value of the operator R as a function of the parameters.
func (property *openProperty) reward(formula *logic.Formula) (*piecewise, error) {
	objective := formula.Objective
	if objective.Form == logic.ConditionalReward || objective.Form == logic.Discounted {
		return nil, property.unsupported(formula.X, logic.Describe(objective.X))
	}
	target, err := property.rewardTarget(formula)
	if err != nil {
		return nil, err
	}
	rewards, err := property.chain.Rewards(objective.Struct)
	if err != nil {
		return nil, err
	}
	switch isMDP := property.program.Type == syntax.MDP; {
	case isMDP && target == nil:
		return nil, property.unsupported(formula.X, "another reward than R[F] of an MDP")
	case isMDP:
		return property.bestOverSchedulers(formula, parametric.Question{Right: target, Rewards: rewards}, false)
	case target != nil:
		return onePiece(property.chain.ReachReward(property.ctx, rewards, target))
	}
	return onePiece(property.rewardWithoutTarget(formula, rewards))
}

// rewardTarget returns the target of a reward objective F. It returns nil for an objective without a path formula.
func (property *openProperty) rewardTarget(formula *logic.Formula) (*sparse.Set, error) {
	path := formula.Objective.Path
	if path == nil {
		return nil, nil
	}
	isReachability := path.Operator && !path.Negated && path.Op == syntax.Future && path.Bound == nil
	if !isReachability {
		return nil, property.unsupported(formula.X, "this reward")
	}
	return property.states(path.Right)
}

// rewardWithoutTarget returns the value of R [ C ], R [ S ], R [ C<=k ] or R [ I=k ] in a Markov chain. rewards has the rewards of one step
// from each state.
func (property *openProperty) rewardWithoutTarget(formula *logic.Formula, rewards []*ratfunc.Func) (*ratfunc.Func, error) {
	objective := formula.Objective
	switch {
	case objective.Form == logic.LongRun:
		return property.chain.LongRun(property.ctx, rewards)
	case objective.Form == logic.CostBoundedReward:
		return nil, property.unsupported(formula.X, logic.Describe(objective.X))
	case objective.Form == logic.TotalReward:
		return property.chain.Total(property.ctx, rewards)
	case property.program.Type == syntax.CTMC:
		return nil, property.unsupported(formula.X, "a reward at or until a time")
	}
	steps, err := property.count(objective.At)
	if err != nil {
		return nil, err
	}
	if objective.Form == logic.Cumulative {
		return property.chain.Cumulative(property.ctx, rewards, steps)
	}
	stateRewards, err := property.chain.StateRewards(objective.Struct)
	if err != nil {
		return nil, err
	}
	return property.chain.Instantaneous(property.ctx, stateRewards, steps)
}

// states returns the states in which a formula holds. The formula must not depend on parameters.
func (property *openProperty) states(expr sema.Expr) (*sparse.Set, error) {
	if nested := logic.Nested(expr, property.property.Program.Labels); nested != nil {
		return nil, result.Refuse(&property.property.Instance, result.Unsupported, nested.Pos(), "found a nested operator in a model with parameters; the states in which it holds may depend on parameters; want a value for each parameter (--const)")
	}
	query := &check.Property{Property: sema.Property{Text: property.property.Text, X: expr, Pos: property.property.Pos}, Program: property.property.Program, File: property.property.File}
	values, verdict := property.pointModel.checker.Values(property.ctx, query)
	if verdict.Err != nil {
		return nil, verdict.Err
	}
	set := sparse.NewSet(len(values.Lo))
	for s, value := range values.Lo {
		if value == 1 { // true
			set.Add(s)
		}
	}
	return set, nil
}
