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
	"tilecheck/native/check/parametric"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// parametricModel is an instance of a model with parameters. It also has the model with one value for each parameter, a point. At this point
// every function of the parameters is compared with the value that the model has there.
type parametricModel struct {
	chain                    *parametric.Chain
	program                  *sema.Program // with the parameters
	params                   []parametric.Param
	lowerBounds, upperBounds []*big.Rat     // the bounds of the parameters
	pointModel               *exploredModel // the model with the values of params
}

// parametric checks a plan whose model has parameters. It computes each value as a function of the parameters. It is an error if a setting of
// the job is not supported for parameters.
func (run *run) parametric(method method) error {
	statesMethod, ok := method.(*statesMethod)
	if !ok {
		return errors.New("found a sampling method, want method states for functions of parameters")
	}
	if err := statesMethod.checkParametricJob(&run.plan.Job); err != nil {
		return err
	}
	exactMethod := *statesMethod
	exactMethod.build.Exact = true
	exactMethod.build.Normalise = false
	exactMethod.opt.Accuracy = result.Exact
	run.build = func(valuation sema.Valuation) (*sema.Program, instance, error) {
		return run.buildParametric(&exactMethod, valuation)
	}
	return run.checkPlan()
}

// buildParametric returns the program and the instance of the model for values of its constants.
func (run *run) buildParametric(method *statesMethod, valuation sema.Valuation) (*sema.Program, instance, error) {
	program, err := run.plan.Model.InstantiateOpen(valuation.Map(), run.plan.Open())
	if err != nil {
		return nil, nil, err
	}
	if !program.HasParameters { // no parameter occurs in the model
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
	case wantsScheduler || job.Certificate != nil || method.wantCertificates || method.useQuotient:
		return errors.New("functions of parameters have no schedulers, witnesses, certificates and quotients")
	case job.Numeric.Accuracy == result.Float:
		return errors.New("functions of parameters are exact, found accuracy float")
	}
	return nil
}

// maxPoints is the number of points that are tried. At a suitable point, every weight and reward that is not zero
// everywhere is positive.
const maxPoints = 12

// parametricInstance returns the instance of a program with parameters. It also builds the model at one point of the region. It tries several points,
// until all probabilities and rates are positive at a point.
func (method *statesMethod) parametricInstance(ctx context.Context, plan *runner.Plan, valuation sema.Valuation, program *sema.Program) (*parametricModel, error) {
	model := &parametricModel{program: program}
	isSupported := program.Type == syntax.DTMC || program.Type == syntax.CTMC || program.Type == syntax.MDP
	if !isSupported {
		return nil, unsupported(program, "found %s, want a DTMC, CTMC or MDP for functions of parameters; or a value for each parameter (--const)", noun.WithArticle(program.Type.String()))
	}
	for _, param := range plan.Params {
		model.lowerBounds = append(model.lowerBounds, param.Low)
		model.upperBounds = append(model.upperBounds, param.High)
	}
	var err error
	for attempt := range maxPoints {
		err = model.buildAt(ctx, method, plan, valuation, attempt)
		if err == nil {
			return model, nil
		}
		_, isWrongPoint := errors.AsType[*parametric.PointError](err)
		_, isWrongState := errors.AsType[*compile.StateError](err)
		canRetry := (isWrongPoint || isWrongState) && ctx.Err() == nil
		if !canRetry {
			return nil, err
		}
	}
	return nil, model.noSuitablePoint(err)
}

// noSuitablePoint returns the error that the model is wrong at every point of the region that was tried. lastErr is the error at the last point.
func (model *parametricModel) noSuitablePoint(lastErr error) error {
	message, pos := lastErr.Error(), syntax.Pos{}
	if stateErr, ok := errors.AsType[*compile.StateError](lastErr); ok {
		message, pos = stateErr.Msg+" in state "+stateErr.State, stateErr.Pos
	}
	if pointErr, ok := errors.AsType[*parametric.PointError](lastErr); ok {
		message, pos = pointErr.Problem, pointErr.Pos
	}
	return &result.Failure{
		Class: result.Model, File: model.program.File, Pos: pos,
		Message: fmt.Sprintf("%s, where %s, and at %d other points of the region; want bounds of the parameters (p=0.1:0.4) within which the model is right", message, pointText(model.params), maxPoints-1),
	}
}

// buildAt builds the chain whose transitions are functions of the parameters, and the model at one point of the region. Each attempt has another point.
func (model *parametricModel) buildAt(ctx context.Context, method *statesMethod, plan *runner.Plan, valuation sema.Valuation, attempt int) error {
	valuation = slices.Clip(valuation)
	model.params = nil
	for i, param := range plan.Params {
		// The numbers are arbitrary. They avoid special points: the boundary of the region, and points at which parameters are
		// equal or sum to one. Later points are nearer to the lower bounds.
		share := big.NewRat(int64(29+37*(i+attempt))%97+2, 101<<(attempt/2))
		value := new(big.Rat).Sub(param.High, param.Low)
		value.Mul(value, share).Add(value, param.Low)
		model.params = append(model.params, parametric.Param{Name: param.Name, Value: value})
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
	model.chain, err = parametric.New(ctx, space, model.program, model.params)
	if err != nil {
		return err
	}
	model.pointModel = method.newExploredModel(space, nil)
	return nil
}

// pointText returns a point as text, such as p=1/3, q=1/2.
func pointText(params []parametric.Param) string {
	var parts []string
	for _, param := range params {
		parts = append(parts, param.Name+"="+param.Value.RatString())
	}
	return strings.Join(parts, ", ")
}

// checkIndependent returns an error if a property depends on a parameter: a parameter occurs in the property, or in the definition of a label of the
// property.
func checkIndependent(program *sema.Program, model instance, task *runner.Task, valuation sema.Valuation) error {
	if withParameters, ok := model.(*parametricModel); ok {
		program = withParameters.program // the program of the instance has values instead of the parameters
	}
	property, err := task.Instance(program, valuation)
	if err != nil {
		return err
	}
	parameter := parameterIn(property.Expr, property.Program)
	if parameter == nil {
		return nil
	}
	message := fmt.Sprintf("the property depends on the parameter %s itself, want parameters in probabilities, rates and rewards only", parameter.Name)
	return &result.Failure{Class: result.Unsupported, File: task.Source.File, Pos: task.Pos, Message: message}
}

// parameterIn returns a parameter that occurs in an expression, or in the definition of a label in the expression. It returns nil if no parameter
// occurs.
func parameterIn(expr sema.Expr, program *sema.Program) *sema.Param {
	var parameter *sema.Param
	sema.Inspect(expr, func(operand sema.Expr) bool {
		switch operand := operand.(type) {
		case *sema.Param:
			parameter = operand
		case *sema.Label:
			if parameter == nil && operand.Index >= 0 {
				parameter = parameterIn(program.Labels[operand.Index].Expr, program)
			}
		}
		return parameter == nil
	})
	return parameter
}

// check implements instance. It computes the value as a function of the parameters, and compares the function with the value of the model at one
// point.
func (model *parametricModel) check(ctx context.Context, property *checkedProperty) result.Verdict {
	start := time.Now()
	evaluation := &parametricProperty{model, ctx, property}
	formula := logic.FormulaOf(property.Expr)
	if formula.Measure() && !formula.IsQuery() {
		return evaluation.checkThreshold(formula)
	}
	function, err := evaluation.value(property.Expr)
	if err != nil {
		return result.Verdict{Err: failure(err, result.Unsupported, property.File, property.Pos)}
	}
	verdict := model.pointModel.check(ctx, property)
	if verdict.Err != nil {
		return verdict
	}
	if err := model.confirm(function, verdict.Value); err != nil {
		return result.Verdict{Err: failure(err, result.Other, property.File, property.Pos)}
	}
	model.writeFunction(&verdict, function)
	verdict.Seconds = time.Since(start).Seconds()
	return verdict
}

// writeFunction sets the value of a verdict to a function of the parameters, unless the function is constant or nil (infinity). A warning says for which
// values of the parameters the value is valid.
func (model *parametricModel) writeFunction(verdict *result.Verdict, function *piecewise) {
	subject := "this value"
	region := "for all values of the parameters that make every probability, rate and reward positive"
	if model.program.Type == syntax.MDP {
		region = "between the bounds of the parameters"
	}
	if function != nil {
		_, isConstant := function.pieces[0].Value.Constant()
		if !isConstant || len(function.pieces) > 1 {
			verdict.Value = result.Value{Kind: result.Function, Formula: function.String()}
			verdict.Bound = nil
			subject = "the function"
		}
		region += function.piecesText()
	}
	verdict.Warnings = append(verdict.Warnings, subject+" is valid "+region+"; it was compared with the exact value at "+pointText(model.params))
}

// confirm returns an error unless the function has, at the point of model.params, the value that was computed for the model at this point. The function
// nil stands for the value infinity.
func (model *parametricModel) confirm(function *piecewise, computedValue result.Value) error {
	if function == nil {
		return model.confirmInfinite(computedValue)
	}
	valueAtPoint := function.valueAt(pointOf(model.params))
	areFractions := valueAtPoint != nil && computedValue.Rat != nil
	if !areFractions || computedValue.Rat.Cmp(valueAtPoint) != 0 {
		return fmt.Errorf("the function %s does not have the value %v at %s; this is a bug: please report it", function, computedValue.Num, pointText(model.params))
	}
	return nil
}

// confirmInfinite returns an error unless the value that was computed at one point is infinite.
func (model *parametricModel) confirmInfinite(computedValue result.Value) error {
	if math.IsInf(computedValue.Num, 1) {
		return nil
	}
	return fmt.Errorf("the value is infinite for all parameters, but the value %v was computed at %s; this is a bug: please report it", computedValue.Num, pointText(model.params))
}
