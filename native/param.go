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

// parametric checks a plan with parameters. It computes each value as a function of the parameters. An unsupported
// setting of the job is an error.
func (run *run) parametric(method method) error {
	statesMethod, ok := method.(*statesMethod)
	if !ok {
		return errors.New("found a sampling method, want method states for functions of parameters")
	}
	if err := statesMethod.checkParametricJob(&run.plan.Job); err != nil {
		return err
	}
	exact := *statesMethod
	exact.build.Exact = true
	exact.build.Normalise = false
	exact.opt.Accuracy = result.Exact
	run.build = func(valuation sema.Valuation) (*sema.Program, instance, error) {
		return run.buildParametric(&exact, valuation)
	}
	return run.checkPlan()
}

// buildParametric returns the program and the instance of the model for values of its constants.
func (run *run) buildParametric(method *statesMethod, valuation sema.Valuation) (*sema.Program, instance, error) {
	program, err := run.plan.Model.InstantiateOpen(valuation.Map(), run.plan.Open())
	if err != nil {
		return nil, nil, err
	}
	if !program.Parametric { // no parameter occurs in the model
		return run.parameterlessInstance(method, program)
	}
	model, err := method.parametricInstance(run.ctx, run.plan, valuation, program)
	if err != nil {
		return nil, nil, err
	}
	return model.pointModel.space.Program(), model, nil
}

// checkParametricJob returns an error if a setting of the job is not supported for parameters.
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

// parametricInstance returns the instance of a program with parameters. It builds the model at the first point of
// the region with positive probabilities and rates.
func (method *statesMethod) parametricInstance(ctx context.Context, plan *runner.Plan, valuation sema.Valuation, program *sema.Program) (*openModel, error) {
	open := &openModel{program: program}
	isSupported := program.Type == syntax.DTMC || program.Type == syntax.CTMC || program.Type == syntax.MDP
	if !isSupported {
		return nil, unsupported(program, "found %s, want a DTMC, CTMC or MDP for functions of parameters; or a value for each parameter (--const)", noun.WithArticle(program.Type.String()))
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
		_, isWrongPoint := errors.AsType[*parametric.PointError](err)
		_, isWrongState := errors.AsType[*compile.StateError](err)
		canRetry := (isWrongPoint || isWrongState) && ctx.Err() == nil
		if !canRetry {
			return nil, err
		}
	}
	return nil, open.noSuitablePoint(err)
}

// noSuitablePoint returns the error for a region where the model is wrong at every point that was tried. lastErr
// is the error at the last point.
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

// buildAt builds the parametric chain, and the model at one point of the region. Each attempt selects another
// point.
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

// checkIndependent returns an error if a parameter occurs in a property or in one of its labels.
func checkIndependent(program *sema.Program, model instance, task *runner.Task, valuation sema.Valuation) error {
	if open, ok := model.(*openModel); ok {
		program = open.program // the program of the instance has values instead of the parameters
	}
	property, err := task.Instance(program, valuation)
	if err != nil {
		return err
	}
	param := parameterIn(property.X, property.Program)
	if param == nil {
		return nil
	}
	message := fmt.Sprintf("the property depends on the parameter %s itself, want parameters in probabilities, rates and rewards only", param.Name)
	return &result.Failure{Class: result.Unsupported, File: task.Source.File, Pos: task.Pos, Message: message}
}

// parameterIn returns a parameter in an expression, or in the definition of one of its labels. It returns nil if
// there is none.
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

// check implements instance. It computes the value as a function of the parameters. At one point it compares the
// function with the value of the model.
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
	open.writeFunction(&verdict, function)
	verdict.Seconds = time.Since(start).Seconds()
	return verdict
}

// writeFunction writes a function to the verdict, and a warning about the parameters for which it is valid. A
// constant function stays a number. A nil function stands for infinity.
func (open *openModel) writeFunction(verdict *result.Verdict, function *piecewise) {
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
}

// piecewise is the value of a property as a piecewise function of the parameters. It has several pieces only for
// an MDP with one parameter. The function of each piece is the value of a scheduler in the whole region, so the
// value is the least or the greatest of all functions.
type piecewise struct {
	pieces []parametric.Piece
	least  bool
}

// onePiece returns a value with one function in the whole region. A nil function stands for infinity and gives
// nil. If err is not nil, it returns err.
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
	for _, function := range value.functions() {
		parts = append(parts, function.String())
	}
	switch {
	case len(parts) == 1:
		return parts[0]
	case value.least:
		return "min(" + strings.Join(parts, ", ") + ")"
	}
	return "max(" + strings.Join(parts, ", ") + ")"
}

// regions returns the text ": function from point to point, …". It returns "" if there is one piece.
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

// rootText returns a root as a fraction. An irrational root has ten digits.
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

// confirm returns an error unless a function of the parameters has the value that was computed at one point. A nil
// function stands for infinity.
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

// at returns the value at a point. It is the minimum or maximum of all functions. It returns nil if all functions
// have a pole there.
func (function *piecewise) at(point []*big.Rat) *big.Rat {
	var best *big.Rat
	for _, piece := range function.functions() {
		value, isDefined := piece.At(point)
		if !isDefined {
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

// unsupported returns the error for an expression that is not supported in a model with parameters. found
// describes the expression.
func (property *openProperty) unsupported(expr sema.Expr, found string) error {
	return result.Refuse(&property.property.Instance, result.Unsupported, expr.Pos(), "found %s in a model with parameters, want one operator P, R or S with =? and one temporal operator or reward; or try values, as in --const p=0:0.1:1", found)
}

// value returns the value of an expression in the initial state. nil stands for infinity.
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

// measure returns the value of P, R or S in the initial state, with or without a threshold. nil stands for
// infinity.
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

// filter returns the value of a filter. It must select only the initial state.
func (property *openProperty) filter(formula *logic.Formula) (*piecewise, error) {
	// These filters over a single state return the value of this state.
	supported := []string{"state", "first", "min", "max", "sum", "avg"}
	if !slices.Contains(supported, formula.Op) {
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

// arithmetic returns the value of a constant expression, or of a sum, difference, product or quotient of values.
// At most one of the operands may have several pieces.
func (property *openProperty) arithmetic(expr sema.Expr) (*piecewise, error) {
	binary, isBinary := expr.(*sema.Binary)
	_, isConstant := expr.(*sema.Const)
	if !isBinary && !isConstant {
		return nil, property.unsupportedFormula(expr)
	}
	if constant, isExact, err := sema.EvalExact(expr, nil); err == nil && isExact {
		return onePiece(property.chain.One().Scale(fractionOf(constant)), nil)
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

// unsupportedFormula returns the error for a formula that is not arithmetic.
func (property *openProperty) unsupportedFormula(expr sema.Expr) error {
	if kind := logic.Of(expr).Kind; kind == logic.Lexicographic || kind == logic.Quantile {
		return property.unsupported(expr, logic.Describe(expr))
	}
	return property.unsupported(expr, "this formula")
}

// fractionOf returns an exact number as a fraction.
func fractionOf(value sema.Value) *big.Rat {
	if value.Type == sema.Int {
		return big.NewRat(int64(value.Int), 1)
	}
	return value.Rat
}

// combine returns the sum, difference, product or quotient of two values. At most one of them may have several
// pieces, and none in a product or quotient. unsupported returns the error for a described expression.
func combine(op syntax.Op, left, right *piecewise, unsupported func(found string) error) (*piecewise, error) {
	combined := &piecewise{least: left.least}
	if len(right.pieces) > 1 {
		isSubtrahend := op == syntax.OpSub // then the difference is greatest where this value is least
		combined.least = right.least != isSubtrahend
	}
	hasSeveralPieces := len(left.pieces) > 1 || len(right.pieces) > 1
	// A negative factor would exchange minimum and maximum.
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

// applyOp returns the sum, difference, product or quotient of two functions. ok is false for another operator, and
// for a division by zero.
func applyOp(op syntax.Op, left, right *ratfunc.Func) (combined *ratfunc.Func, ok bool) {
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

// bestOverSchedulers returns the minimal or maximal value over all schedulers of an MDP, as the formula asks. If
// isNegated is set, it is one minus the opposite extremum of the question.
func (property *openProperty) bestOverSchedulers(formula *logic.Formula, question parametric.Question, isNegated bool) (*piecewise, error) {
	isMinimum, ok := formula.Least(false)
	if !ok {
		return nil, property.unsupported(formula.X, "a query without min or max")
	}
	question.Min = isMinimum != isNegated
	pieces, err := property.chain.Best(property.ctx, question, property.low, property.high)
	if pieces == nil || err != nil {
		return nil, err
	}
	for i, piece := range pieces {
		if isNegated {
			pieces[i].Value = property.chain.One().Sub(piece.Value)
		}
	}
	return &piecewise{pieces, isMinimum}, nil
}

// probability returns the value of the operator P as a function of the parameters.
func (property *openProperty) probability(formula *logic.Formula) (*piecewise, error) {
	path := formula.Path
	if !path.Operator || path.Negated {
		return nil, property.unsupported(formula.X, logic.Describe(path.Whole))
	}
	left, right, isNegated, err := property.untilOperands(path)
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
		return property.bestOverSchedulers(formula, parametric.Question{Left: left, Right: right}, isNegated)
	}
	value, err := property.chainProbability(formula, left, right)
	if err == nil && isNegated {
		value = property.chain.One().Sub(value)
	}
	return onePiece(value, err)
}

// untilOperands rewrites a temporal operator to an until formula and returns its operands. isNegated says that the
// operator is the negation of this formula.
func (property *openProperty) untilOperands(path *logic.Path) (left, right *sparse.Set, isNegated bool, err error) {
	left = sparse.FullSet(property.pointModel.space.Model().NumStates())
	if path.Left != nil {
		if left, err = property.states(path.Left); err != nil {
			return nil, nil, false, err
		}
	}
	if right, err = property.states(path.Right); err != nil {
		return nil, nil, false, err
	}
	left, right, isNegated = check.Sets.AsUntil(path.Op, left, right)
	return left, right, isNegated, nil
}

// chainProbability returns the probability of an until formula, or of X, in a Markov chain.
func (property *openProperty) chainProbability(formula *logic.Formula, left, right *sparse.Set) (*ratfunc.Func, error) {
	low, high, isBounded, err := property.steps(formula.Path.Bound)
	if err != nil {
		return nil, err
	}
	switch isNext := formula.Path.Op == syntax.Next; {
	case isNext && isBounded:
		return nil, property.unsupported(formula.X, "a bound of X")
	case isNext:
		return property.chain.BoundedUntil(property.ctx, left, right, 1, 1)
	case isBounded:
		return property.chain.BoundedUntil(property.ctx, left, right, low, high)
	}
	return property.chain.Until(property.ctx, left, right)
}

// steps returns the bounds on the number of steps. isBounded is false if bound is nil. A time bound, and a bound
// without an upper end, are errors.
func (property *openProperty) steps(bound *sema.Bound) (low, high int, isBounded bool, err error) {
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

// rewardWithoutTarget returns the value of R [ C ], R [ S ], R [ C<=k ] or R [ I=k ] in a Markov chain. rewards[s]
// is the reward of a step from state s.
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
	instance := &property.property.Instance
	query := &check.Property{
		Property: sema.Property{Text: instance.Text, X: expr, Pos: instance.Pos}, Program: instance.Program, File: instance.File,
	}
	values, verdict := property.pointModel.checker.Values(property.ctx, query)
	if verdict.Err != nil {
		return nil, verdict.Err
	}
	set := sparse.NewSet(len(values.Lo))
	for state, value := range values.Lo {
		if value == 1 { // true
			set.Add(state)
		}
	}
	return set, nil
}
