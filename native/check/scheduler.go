package check

import (
	"context"

	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Scheduler is a scheduler that attains the value of the outermost operator of a property: the
// exact value, or one within its bounds. It attains the value in every state; for a path formula
// with several temporal operators (LTL) and for multi(…) only in the initial states.
type Scheduler struct {
	// Space has the states and numbers the choices. It is exact if the value is. For a model with intervals, it is the model under a strategy of
	// nature, in which the scheduler attains the value.
	Space *explicit.Space
	// Choices[i][s] is the choice of state s after i steps, sparse.None for any choice. The last row
	// holds for all later steps too. A memoryless scheduler has one row. Rows may share memory.
	Choices [][]uint32
	// Controller is a scheduler with other memory, or a randomized one, as for LTL and multi(…). Choices is then nil.
	Controller *sparse.Controller
}

// Scheduler evaluates a property of an MDP, and returns an optimal scheduler with the same verdict as Check. The scheduler attains the value of
// the operator P, R or S of the property, which may be within filters and <<*>>. If the operator has a bound, the scheduler attains the value
// that is compared with the bound. For multi(…) it satisfies the bounds and attains the value of the query.
//
// The error says why there is no scheduler.
func (checker *Checker) Scheduler(ctx context.Context, property *Property) (*Scheduler, result.Verdict, error) {
	operator, err := schedulerOperator(property)
	if err == nil {
		err = checker.checkSchedulerSupported(property, operator)
	}
	if err != nil {
		return nil, checker.Check(ctx, property), err
	}
	request, verdict := checker.checkWithScheduler(ctx, property, operator)
	switch {
	case verdict.Err != nil:
		return nil, verdict, verdict.Err
	case request.controller != nil:
		return request.scheduler(), verdict, nil
	case operator.Kind == logic.Objectives || operator.Kind == logic.Lexicographic:
		return nil, verdict, noSchedulerError(property, operator.Expr, "found objectives that no scheduler meets together")
	case request.choices == nil && operator.Kind == logic.Reward && operator.Objective.Form == logic.ZeroUnlessReached:
		return nil, verdict, noSchedulerError(property, operator.Expr, "found no strategies of both sides for F0: no strategy attains an infinite value, and a strategy that needs too much memory is not written")
	case request.choices == nil && checker.floatModel.space.Program().Type == syntax.SMG:
		return nil, verdict, noSchedulerError(property, operator.Expr, "found no memoryless strategies of both sides")
	case request.choices == nil:
		return nil, verdict, noSchedulerError(property, operator.Expr, "a scheduler that counts so many steps is too large")
	}
	return request.scheduler(), verdict, nil
}

// checkWithScheduler evaluates a property, and records a scheduler of its operator. The request has the scheduler.
func (checker *Checker) checkWithScheduler(ctx context.Context, property *Property, operator *logic.Formula) (*schedulerRequest, result.Verdict) {
	request := &schedulerRequest{operator: operator.Expr}
	checker.schedulerRequest = request
	defer func() { checker.schedulerRequest = nil }()
	return request, checker.Check(ctx, property)
}

// checkSchedulerSupported returns an error if a scheduler of the operator is not supported for the model or the restriction to fair
// schedulers.
func (checker *Checker) checkSchedulerSupported(property *Property, operator *logic.Formula) error {
	space := checker.floatModel.space
	switch {
	case checker.opts.Fair:
		return noSchedulerError(property, property.Expr, "found fair schedulers, which need a memory and are not exported")
	case space.Model().Intervals():
		return checkRobustSchedulerSupported(property, operator)
	case space.Program().Type == syntax.POMDP:
		return noSchedulerError(property, property.Expr, "found a partially observable model, whose strategies are automata")
	case space.Model().Kind != sparse.MDP:
		return noSchedulerError(property, property.Expr, "found a model without nondeterminism, which has no schedulers")
	}
	return nil
}

// checkRobustSchedulerSupported returns an error unless the operator is one whose scheduler is supported in a model with intervals, where nature's
// strategy belongs to it.
func checkRobustSchedulerSupported(property *Property, operator *logic.Formula) error {
	switch {
	case operator.Kind == logic.Probability && operator.Path.Form == logic.Until && operator.Path.Bound == nil:
		return nil
	case operator.Kind == logic.Reward && operator.Objective.Form == logic.ReachReward:
		return nil
	}
	return noSchedulerError(property, operator.Expr, "found %s for a model with intervals, want P of F, U or G without a bound or R of F for a scheduler", logic.Describe(operator.Expr))
}

// schedulerOperator returns the operator of a property whose scheduler is exported: the outermost operator within filters and strategy
// operators. The error says why no scheduler of the property can be exported.
func schedulerOperator(property *Property) (*logic.Formula, error) {
	formula := logic.FormulaOf(property.Expr)
	for formula.Kind == logic.Filter || formula.Kind == logic.Strategy {
		formula = logic.FormulaOf(formula.Operand)
	}
	switch {
	case formula.Kind == logic.Probability && formula.Path.Form == logic.CostBounded:
		return nil, costBoundedSchedulerError(property, formula.Path.Expr)
	case formula.Kind == logic.Reward && formula.Objective.Form == logic.CostBoundedReward:
		return nil, costBoundedSchedulerError(property, formula.Objective.Expr)
	case formula.Kind == logic.Reward && (formula.Objective.Form == logic.TimedCumulative || formula.Objective.Form == logic.TimedInstantaneous):
		return nil, noSchedulerError(property, formula.Objective.Expr, "found a time of a Markov automaton, whose schedulers depend on time and are not exported")
	case formula.Kind == logic.Probability && formula.Path.Form == logic.Conditional:
		return nil, conditionalSchedulerError(property, formula.Path.Expr)
	case formula.Kind == logic.Reward && formula.Objective.Form == logic.ConditionalReward:
		return nil, conditionalSchedulerError(property, formula.Objective.Expr)
	case formula.Pareto():
		return nil, noSchedulerError(property, formula.Expr, "a Pareto curve has many schedulers: keep =? in one objective only, and give each other one a bound, such as P>=0.5")
	case formula.Kind == logic.Reward && formula.Objective.Form == logic.CoSafe:
		return nil, noSchedulerError(property, formula.Objective.Expr, "found %s in an R operator, want F, C, C<=k, I=k or S for a scheduler", logic.Describe(formula.Objective.Expr))
	case formula.Measure() || formula.Kind == logic.Objectives || formula.Kind == logic.Lexicographic:
		return formula, nil
	}
	return nil, noSchedulerError(property, formula.Expr, "found %s, want an operator P, R or S, which has a scheduler", describeOutermost(formula.Expr))
}

// describeOutermost describes the outermost operator of an expression, for error messages.
func describeOutermost(expr sema.Expr) string {
	switch expr.(type) {
	case *sema.Unary, *sema.Binary, *sema.Call, *sema.Cond:
		return "an expression"
	case *sema.Const, *sema.Var, *sema.Label:
		return "a property of states"
	}
	if logic.FormulaOf(expr).Kind == logic.Quantified {
		return "an operator E or A"
	}
	return logic.Describe(expr)
}

// costBoundedSchedulerError returns the error that a formula with a bound on rewards has no scheduler to return.
func costBoundedSchedulerError(property *Property, expr sema.Expr) error {
	return noSchedulerError(property, expr, "found %s, whose schedulers remember what was earned", logic.Describe(expr))
}

// conditionalSchedulerError returns the error that a formula with a condition has no scheduler or paths to return.
func conditionalSchedulerError(property *Property, expr sema.Expr) error {
	return noSchedulerError(property, expr, "found %s, whose schedulers remember which formulas the path satisfied", logic.Describe(expr))
}

// noSchedulerError returns the error that there is no scheduler to return, with the position of expr.
func noSchedulerError(property *Property, expr sema.Expr, format string, args ...any) error {
	return result.Refuse(property, result.Unsupported, expr.Pos(), format, args...)
}

// schedulerRequest asks for the scheduler of an operator, and has the results.
type schedulerRequest struct {
	operator     sema.Expr
	space        *explicit.Space
	choices      [][]uint32
	controller   *sparse.Controller
	isInOperator bool     // the operator is being evaluated
	untilFormula *Reach   // the until formula of the operator, if it has one
	values       *numbers // the values of an operator P
}

// scheduler returns the scheduler that was recorded.
func (request *schedulerRequest) scheduler() *Scheduler {
	if request.controller != nil {
		return &Scheduler{Space: request.space, Controller: request.controller}
	}
	return &Scheduler{Space: request.space, Choices: request.choices}
}

// beginRecording starts to record schedulers if the caller of the evaluation asked for the scheduler of this operator. The caller must call end
// after it has evaluated the operator.
func (e *evaluation) beginRecording(formula *logic.Formula) (end func()) {
	request := e.schedulerRequest
	isWanted := request != nil && request.operator == formula.Expr
	if !isWanted {
		return func() {}
	}
	// Nested operators are evaluated earlier, so the last recorded scheduler belongs to this operator.
	request.isInOperator = true
	request.space = e.space
	request.choices = [][]uint32{anyChoice(e.space.Model())}
	request.controller = nil
	isDecidedInFirstState := formula.Kind == logic.Probability && formula.Path.Form == logic.InitialState
	hasStrategies := e.modelKind() == sparse.MDP || e.space.Model().Intervals()
	e.opts.Scheduler = hasStrategies && !isDecidedInFirstState
	return func() {
		e.opts.Scheduler = false
		request.isInOperator = false
	}
}

// recordScheduler records the scheduler of a solution if the options ask for one: a memoryless one, or one with the choices for each number of
// steps. In an interval model it also records the model under nature's strategy.
func (e *evaluation) recordScheduler(values *solve.Values) {
	if !e.opts.Scheduler {
		return
	}
	request := e.schedulerRequest
	request.choices = values.StepChoices
	if values.Scheduler != nil {
		request.choices = [][]uint32{values.Scheduler}
	}
	if values.Nature != nil {
		request.space = e.space.WithModel(values.Nature)
		if values.Scheduler == nil { // only nature decides
			request.choices = [][]uint32{anyChoice(values.Nature)}
		}
	}
}

// anyChoice returns a scheduler that allows any choice in every state.
func anyChoice(model *sparse.Model) []uint32 {
	choices := make([]uint32, model.NumStates())
	for s := range choices {
		choices[s] = sparse.None
	}
	return choices
}
