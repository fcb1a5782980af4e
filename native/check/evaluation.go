package check

import (
	"cmp"
	"context"

	"tilecheck/native/solve"
	"tilecheck/native/solve/belief"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// evaluation evaluates one property over one model at one precision.
type evaluation struct {
	*model
	request
	scope
	results
	shared shared
	// opts are the options of package solve for the operator that is being evaluated.
	opts solve.Options
	// schedulerRequest asks for the scheduler of an operator; nil for none.
	schedulerRequest *schedulerRequest
}

// request is the property to evaluate, with the options of the evaluation. It does not change.
type request struct {
	ctx            context.Context
	property       *Property
	wantsFractions bool // compute fractions
	allowsBounds   bool // compute bounds if a value has no fraction
	// refusesRoundedWeights is that of precision.
	refusesRoundedWeights bool
	solver                Solver // computes bounds before package solve does; nil for none
	// onlyFair restricts the schedulers of an MDP to fair ones.
	onlyFair bool
	// wantsValues says that results.values must have the values in all states.
	wantsValues bool
	// maxBeliefs is the greatest number of beliefs.
	maxBeliefs int
	// assumption is the assumption about unexplored states.
	assumption assumption
}

// scope describes the part of the property that is being evaluated.
type scope struct {
	// neededStates are the states in which a value is needed; nil stands for all states. It is no error if an expression has no
	// value in other states, such as mod(7,x) in states with x=0.
	neededStates *sparse.Set
	// forSomeScheduler says that a bound must hold under some scheduler, instead of under all schedulers.
	forSomeScheduler bool
	// coalition has the states of the players for whom the operator of a game is evaluated; nil outside of <<...>>, where all
	// players choose together.
	coalition *sparse.Set
	// isInModel says that the expression is in the definition of a label of the model.
	isInModel bool
}

// results are the results of an evaluation beside the value.
type results struct {
	// accuracy is the weakest accuracy of the values that were used.
	accuracy result.Accuracy
	// width is the relative width of the value's bounds; the greater one for a range of values.
	width float64
	// hitSweepLimit says that an iteration ended at the limit of sweeps.
	hitSweepLimit bool
	// usedExtendedRange says that elimination with a greater range of exponents than float64 replaced an iteration.
	usedExtendedRange bool
	listings          []result.Listing
	warnings          []string
	beliefs           *beliefs     // for a partially observable model; otherwise nil
	values            *StateValues // nil unless wantsValues is true
}

// shared are the values of expressions that occur in several places of a property, because it refers to other properties.
// The value of an expression is nil if it cannot be evaluated in all states.
type shared struct {
	repeatedExprs map[sema.Expr]bool
	truths        map[sema.Expr]*truth
	numbers       map[sema.Expr]**numbers
}

// newShared returns the table for the repeated expressions of a property, without values.
func newShared(expr sema.Expr) shared {
	return shared{sema.RepeatedExprs(expr, 0, sema.VisitOperands), make(map[sema.Expr]*truth), make(map[sema.Expr]**numbers)}
}

// attempt evaluates the property once on a model, with the wanted precision. The outcome has the value, its bounds, its accuracy, and the scheduler if
// one was requested.
func (checker *Checker) attempt(ctx context.Context, m *model, wanted precision, property *Property) (*outcome, error) {
	evaluation := checker.newEvaluation(ctx, m, wanted, property)
	value, bound, err := evaluation.evaluateProperty()
	if err != nil {
		return nil, err
	}
	return &outcome{value, bound, evaluation.results, evaluation.schedulerRequest}, nil
}

// newEvaluation returns an evaluation of a property on a model, with the given precision and the options of the checker.
func (checker *Checker) newEvaluation(ctx context.Context, m *model, wanted precision, property *Property) *evaluation {
	wantsEstimates := checker.opts.Accuracy == result.Estimated && m.space.Program().Type != syntax.POMDP
	evaluation := &evaluation{
		model: m,
		request: request{
			ctx: ctx, property: property, wantsFractions: wanted.wantsFractions, allowsBounds: checker.opts.Accuracy != result.Exact,
			refusesRoundedWeights: wanted.refusesRoundedWeights, onlyFair: checker.opts.Fair,
			wantsValues: checker.wantsValues, assumption: checker.assumption, maxBeliefs: cmp.Or(checker.opts.Beliefs, belief.DefaultBeliefs),
		},
		results: results{accuracy: result.Exact},
		shared:  newShared(property.Expr),
		opts: solve.Options{
			Epsilon: wanted.epsilon, MaxSweeps: cmp.Or(wanted.maxSweeps, checker.opts.MaxSweeps), Classic: wantsEstimates,
			Exact: wanted.wantsFractions, MaxWork: wanted.maxWork, Progress: checker.opts.Progress,
		},
	}
	switch {
	case checker.schedulerRequest != nil:
		evaluation.schedulerRequest = &schedulerRequest{operator: checker.schedulerRequest.operator}
	case !wanted.wantsFractions && checker.opts.Accuracy == result.Bounded:
		evaluation.solver = checker.opts.Solver
	}
	return evaluation
}

// evaluateShared evaluates an expression of a property. An expression that occurs several times in the property is evaluated once, in all states,
// and its value is cached. If that fails, it is evaluated at each occurrence, only in the states where its value is needed there.
func evaluateShared[T any](evaluation *evaluation, cache map[sema.Expr]*T, expr sema.Expr, evaluate func(sema.Expr) (T, error)) (T, error) {
	isShared := evaluation.shared.repeatedExprs[expr] && !evaluation.forSomeScheduler && evaluation.schedulerRequest == nil
	if !isShared {
		return evaluate(expr)
	}
	value, isCached := cache[expr]
	if !isCached {
		value = evaluateInAllStates(evaluation, expr, evaluate)
		cache[expr] = value
	}
	if value == nil {
		return evaluate(expr)
	}
	return *value, nil
}

// evaluateInAllStates evaluates an expression in all states. If this fails, it returns nil and sets evaluation.results back, so that the failed attempt
// leaves no trace.
func evaluateInAllStates[T any](evaluation *evaluation, expr sema.Expr, evaluate func(sema.Expr) (T, error)) *T {
	previousResults := evaluation.results
	defer evaluation.restrictDomain(nil)()
	value, err := evaluate(expr)
	if err != nil {
		evaluation.results = previousResults
		return nil
	}
	return &value
}

// reward returns the reward structure with the given index. Unless the evaluation is exact, a reward outside the range of float64 is an error.
func (e *evaluation) reward(index int) (*sparse.Reward, error) {
	reward, err := e.model.reward(index)
	if err != nil {
		return nil, err
	}
	if !e.wantsFractions && reward.RangeErr != nil {
		return nil, reward.RangeErr
	}
	return reward, nil
}

// limitAccuracy lowers the accuracy of the result to the accuracy of a value from which the result is computed. Weaker accuracies are
// greater numbers.
func (e *evaluation) limitAccuracy(accuracy result.Accuracy) { e.accuracy = max(e.accuracy, accuracy) }

// modelKind returns the kind of the model.
func (e *evaluation) modelKind() sparse.Kind { return e.space.Model().Kind }

// allStates returns the set of all states.
func (e *evaluation) allStates() *sparse.Set { return sparse.FullSet(e.space.Model().NumStates()) }

// domain returns the states in which a value is needed.
func (e *evaluation) domain() *sparse.Set {
	if e.neededStates == nil {
		return e.allStates()
	}
	return e.neededStates
}

// restrictDomain sets the states in which a value is needed, nil for all. The result restores the previous states.
func (e *evaluation) restrictDomain(within *sparse.Set) (restore func()) {
	previous := e.neededStates
	e.neededStates = within
	return func() { e.neededStates = previous }
}
