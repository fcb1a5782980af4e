package check

import (
	"context"
	"math/big"

	"tilecheck/internal/noun"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Reach is the path formula of the outermost operator P of a property, with a scheduler and the
// threshold: the input of a search for witnesses. The formula is Left U[Steps] Right or its negation.
type Reach struct {
	Space       *explicit.Space // with fractions
	Left, Right *sparse.Set
	Steps       solve.StepBound
	// Negated says that the formula is the negation of the until formula, as for G.
	Negated bool
	// Choices is a scheduler that attains the value, as in Scheduler; nil for a Markov chain.
	Choices [][]uint32
	// Scheduler is what [Checker.Scheduler] returns for the property; nil for a Markov chain.
	Scheduler *Scheduler
	// From is the initial state with the extremal value: with several initial states, the least for a
	// minimum and the greatest for a maximum.
	From int
	// Rel and Bound are the threshold of the operator; Bound is nil for a query.
	Rel   syntax.Op
	Bound *big.Rat
}

// Reach evaluates a property with an operator P. It returns the path formula of the operator with an optimal scheduler, and the same verdict as
// Check. The error says why the paths of the property cannot be listed, for example because of a time bound.
func (checker *Checker) Reach(ctx context.Context, property *Property) (*Reach, result.Verdict, error) {
	operator, err := pathOperator(property)
	if err != nil {
		return nil, checker.Check(ctx, property), err
	}
	if err := checker.checkPathsSupported(property); err != nil {
		return nil, checker.Check(ctx, property), err
	}
	request, verdict := checker.checkWithScheduler(ctx, property, operator)
	switch {
	case verdict.Err != nil:
		return nil, verdict, verdict.Err
	case request.choices == nil:
		return nil, verdict, noSchedulerError(property, operator.Expr, "a scheduler that counts so many steps is too large")
	case request.untilFormula == nil:
		return nil, verdict, noSchedulerError(property, operator.Path.WholeExpr, "paths are listed for one temporal operator over states, without LTL and without a time bound in continuous time; found %s", logic.Describe(operator.Path.WholeExpr))
	}
	// Paths have exact probabilities, so they are listed on the model with fractions.
	model, err := checker.modelWithFractions(ctx)
	if err != nil {
		return nil, verdict, err
	}
	reach := *request.untilFormula
	reach.Space = model.space
	if operator.Path.IsNegated {
		reach.Negated = !reach.Negated
	}
	if model.space.Model().Kind == sparse.MDP {
		reach.Choices, reach.Scheduler = request.choices, request.scheduler()
	}
	reach.From = request.extremalInitialState(operator, model.space.Model())
	if err := reach.setBound(operator.Threshold); err != nil {
		return nil, verdict, err
	}
	return &reach, verdict, nil
}

// checkPathsSupported returns an error if the paths of the model under a scheduler cannot be listed.
func (checker *Checker) checkPathsSupported(property *Property) error {
	modelType := property.Program.Type
	switch {
	case checker.opts.Fair:
		return noSchedulerError(property, property.Expr, "paths cannot be listed for fair schedulers")
	case checker.floatModel.space.Model().Intervals():
		return noSchedulerError(property, property.Expr, "found a model with intervals, whose paths have no probability")
	case modelType == syntax.POMDP || modelType == syntax.LTS || modelType == syntax.SMG:
		return noSchedulerError(property, property.Expr, "found %s, want a DTMC, CTMC or MDP for paths", noun.WithArticle(modelType.String()))
	}
	return nil
}

// setBound sets the fields Rel and Bound from a threshold. A query such as P=? has no bound. It is an error if the bound is not a fraction.
func (reach *Reach) setBound(threshold sema.Threshold) error {
	reach.Rel = threshold.Rel
	if threshold.IsQuery() {
		return nil
	}
	enclosed, err := sema.Enclose(threshold.Bound, nil)
	if err != nil {
		return err
	}
	if !enclosed.IsExact || enclosed.Rat == nil {
		return &inexactError{msg: "the bound of the operator is not a fraction"}
	}
	reach.Bound = enclosed.Rat
	return nil
}

// pathOperator returns the outermost operator of a property, which must be P. The error says why the paths of the property cannot be listed.
func pathOperator(property *Property) (*logic.Formula, error) {
	formula := logic.FormulaOf(property.Expr)
	switch {
	case formula.Kind != logic.Probability:
		return nil, noSchedulerError(property, property.Expr, "found %s, want an operator P for paths", describeOutermost(property.Expr))
	case formula.Path.Form == logic.CostBounded:
		return nil, costBoundedSchedulerError(property, formula.Path.Expr)
	case formula.Path.Form == logic.Conditional:
		return nil, conditionalSchedulerError(property, formula.Path.Expr)
	case formula.Path.Form == logic.InitialState:
		return nil, noSchedulerError(property, formula.Path.Expr, "found a formula about the state in which a path begins, want a temporal operator for paths")
	}
	return formula, nil
}

// recordUntil records an until formula if it belongs to the operator whose scheduler is wanted. isNegated says that the path formula of the
// operator is the negation of the until formula.
func (e *evaluation) recordUntil(left, right *sparse.Set, steps solve.StepBound, isNegated bool) {
	if e.schedulerRequest != nil && e.schedulerRequest.isInOperator {
		e.schedulerRequest.untilFormula = &Reach{Left: left, Right: right, Steps: steps, Negated: isNegated}
	}
}

// extremalInitialState returns the initial state with the least value if the operator asks for a minimum, else the initial state with the
// greatest value.
func (request *schedulerRequest) extremalInitialState(operator *logic.Formula, model *sparse.Model) int {
	wantsLeast, _ := operator.Threshold.IsMinimum(false)
	best := int(model.Initial[0])
	for _, s := range model.Initial {
		value, bestValue := request.values.numberAt(int(s)), request.values.numberAt(best)
		isBetter := value.Lo > bestValue.Lo
		if wantsLeast {
			isBetter = value.Hi < bestValue.Hi
		}
		if isBetter {
			best = int(s)
		}
	}
	return best
}
