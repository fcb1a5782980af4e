package check

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/internal/noun"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// attemptSequence is the order in which a property is evaluated with different precisions. An attempt ends the sequence if it decides
// the property and its bounds are as narrow as required; otherwise the next attempt follows.
//
//	sequence       | when                                       | attempts
//	---------------+--------------------------------------------+----------------------------------------------------------
//	searchBeliefs  | the model is partially observable          | beliefs
//	exactOnly      | fractions are asked for, or multilex(...)  | fractions; fractions of the quotient if they take too long
//	outOfRange     | the model has numbers beyond float64       | fractions
//	evaluateMultiObjective | the property is multi(...)                 | fractions of a small model; bounds; narrower; fractions
//	enclose        | every other property                       | bounds; the narrowest bounds if undecided; narrower; fractions
//
// If an attempt of enclose finds a number beyond float64, outOfRange follows. If a time bound takes too many steps, enclose tries
// fractions first. For estimated values the first attempt is the last.
type attemptSequence uint8

const (
	enclose attemptSequence = iota
	searchBeliefs
	exactOnly
	outOfRange
	multiObjective
)

// attemptSequence selects which computations are tried for a property, and in which order, until an answer is accurate enough.
func (checker *Checker) attemptSequence(property *Property) attemptSequence {
	switch {
	case checker.floatModel.space.Program().Type == syntax.POMDP:
		return searchBeliefs
	case checker.opts.Accuracy == result.Exact || logic.FormulaOf(property.Expr).Kind == logic.Lexicographic:
		return exactOnly
	case checker.floatModel.space.Unfit() != nil:
		return outOfRange
	case logic.FormulaOf(property.Expr).Kind == logic.Objectives:
		return multiObjective
	}
	return enclose
}

// precision says how precisely an attempt computes, and how much work it may do.
type precision struct {
	wantsFractions bool    // compute fractions instead of bounds
	epsilon        float64 // the relative width of bounds; 0 stands for the default of package solve
	maxWork        int     // the greatest number of operations on fractions; 0 stands for no limit
	maxSweeps      int     // the greatest number of sweeps of an iteration; 0 stands for that of the options
	// refusesRoundedWeights ends the attempt with errRoundedWeights if the model has float64 weights and fractions are needed.
	refusesRoundedWeights bool
}

// errRoundedWeights says that a formula needs a model with fractions: it has so many steps that the rounding errors of float64 weights make
// its bounds too wide, or it is a conditional reward of an MDP.
var errRoundedWeights = errors.New("the formula needs a model with fractions")

const (
	// leastEpsilon is the smallest relative width of bounds that float64 numbers are used for.
	leastEpsilon = 1e-13
	// improvingWork limits the operations on fractions if these only improve an answer. It takes some seconds.
	improvingWork = 1 << 29
	// quotientWork is the number of operations on fractions after which they are computed on the quotient of the model
	// instead, if the model has at most quotientStates states. It takes about 15 seconds.
	quotientWork   = 1 << 33
	quotientStates = 1 << 20
	// smallMulti is the number of states of a model for which multi(...) is tried with fractions first.
	smallMulti = 128
	// firstMultiSweeps limits the sweeps of each iteration when multi(...) is evaluated with bounds for the first time. If these are too wide, fractions are
	// tried next. The weights of the objectives can be so small that an iteration converges very slowly.
	firstMultiSweeps = 10_000
)

// The precisions that do not depend on the options.
var (
	narrowestBounds = precision{epsilon: leastEpsilon}
	anyFractions    = precision{wantsFractions: true, epsilon: leastEpsilon}
	cheapFractions  = precision{wantsFractions: true, epsilon: leastEpsilon, maxWork: improvingWork}
)

// bestOutcome evaluates a property by the sequence of attempts that suits the property and the model. It returns the most accurate outcome.
func (checker *Checker) bestOutcome(ctx context.Context, property *Property, verdict *result.Verdict) (*outcome, error) {
	switch checker.attemptSequence(property) {
	case searchBeliefs:
		return checker.searchBeliefs(ctx, property)
	case exactOnly:
		return checker.exactOnly(ctx, property, verdict)
	case outOfRange:
		return checker.outOfRange(ctx, checker.floatModel.space.Unfit(), property)
	case multiObjective:
		return checker.evaluateMultiObjective(ctx, property)
	}
	answer, err := checker.encloseValue(ctx, property)
	if rangeErr, ok := errors.AsType[*explicit.RangeError](err); ok {
		return checker.outOfRange(ctx, rangeErr, property)
	}
	return answer, err
}

// searchBeliefs evaluates a property of a partially observable model. The probabilities of beliefs are fractions, even if the result is
// bounds.
func (checker *Checker) searchBeliefs(ctx context.Context, property *Property) (*outcome, error) {
	model, err := checker.modelWithFractions(ctx)
	if err != nil {
		return nil, err
	}
	return checker.attempt(ctx, model, precision{wantsFractions: checker.opts.Accuracy == result.Exact, epsilon: checker.opts.Epsilon}, property)
}

// exactOnly evaluates a property with fractions only.
func (checker *Checker) exactOnly(ctx context.Context, property *Property, verdict *result.Verdict) (*outcome, error) {
	model, err := checker.modelWithFractions(ctx)
	if err != nil {
		return nil, err
	}
	return checker.fractionsOrQuotient(ctx, model, property, verdict, quotientWork)
}

// fractionsOrQuotient evaluates a property in rational arithmetic. If this takes more than maxWork operations, it evaluates the property again
// without a limit: on the quotient by bisimulation if that is small, with a warning in the verdict, else on the model.
func (checker *Checker) fractionsOrQuotient(ctx context.Context, model *model, property *Property, verdict *result.Verdict, maxWork int) (*outcome, error) {
	withoutLimit := precision{wantsFractions: true, epsilon: checker.opts.Epsilon}
	if !checker.mayUseQuotient(model) {
		return checker.attempt(ctx, model, withoutLimit, property)
	}
	withLimit := withoutLimit
	withLimit.maxWork = maxWork
	answer, limitErr := checker.attempt(ctx, model, withLimit, property)
	hitLimit := errors.Is(limitErr, solve.ErrWork) || errors.Is(limitErr, solve.ErrFill)
	if !hitLimit {
		return answer, limitErr
	}
	quotient := checker.smallQuotient(ctx, model, property)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case quotient != nil:
		quotientStates := noun.Count(quotient.exactModel.space.Model().NumStates(), "state")
		verdict.Warnings = append(verdict.Warnings, "computed on the quotient by bisimulation, which has "+quotientStates)
		return quotient.attempt(ctx, quotient.exactModel, withoutLimit, property)
	case errors.Is(limitErr, solve.ErrFill): // an attempt without a limit of work would fail again
		return nil, limitErr
	}
	return checker.attempt(ctx, model, withoutLimit, property)
}

// smallQuotient returns a checker for the bisimulation quotient of a model. It returns nil if the quotient has more than half as many
// states as the model, or cannot be computed.
func (checker *Checker) smallQuotient(ctx context.Context, m *model, property *Property) *Checker {
	reduced, err := Reduce(ctx, checker.compiled, m.space, []*Property{property}, nil)
	if err != nil || reduced.Space.Model().NumStates() > m.space.Model().NumStates()/2 {
		return nil
	}
	return New(reduced.Space.Compiled(), reduced.Space, checker.opts)
}

// mayUseQuotient reports whether the bisimulation quotient can replace the model.
func (checker *Checker) mayUseQuotient(m *model) bool {
	isReducible := m.space.Model().NumStates() <= quotientStates && !m.space.Closed()
	needsAllStates := checker.wantsValues || checker.schedulerRequest != nil
	isFullyExplored := checker.assumption == assumeNothing
	return isReducible && !needsAllStates && isFullyExplored
}

// outOfRange evaluates a property with fractions, because float64 cannot represent some numbers of the model. rangeErr names such a number.
// If fractions are unavailable, the returned error begins with rangeErr.
func (checker *Checker) outOfRange(ctx context.Context, rangeErr error, property *Property) (*outcome, error) {
	out, err := checker.tryFractions(ctx, property, anyFractions)
	if errors.As(err, new(*unavailableError)) {
		return nil, fmt.Errorf("%w%w", rangeErr, err)
	}
	return out, err
}

// evaluateMultiObjective evaluates multi(...). For a small model it tries fractions first. Otherwise it computes bounds, and tries fractions if the
// bounds are too wide or do not decide the property.
func (checker *Checker) evaluateMultiObjective(ctx context.Context, property *Property) (*outcome, error) {
	if checker.floatModel.space.Model().NumStates() <= smallMulti {
		answer, err := checker.tryFractions(ctx, property, cheapFractions)
		needsBounds := errors.As(err, new(*unavailableError)) || errors.Is(err, solve.ErrWork)
		if !needsBounds {
			return answer, err
		}
	}
	best, err := checker.multiBounds(ctx, property, firstMultiSweeps)
	isUndecided := errors.As(err, new(*undecidedError))
	isTooWide := err == nil && best.width > checker.opts.epsilon()
	if !isUndecided && !isTooWide {
		return best, err
	}
	exact, exactErr := checker.tryFractions(ctx, property, cheapFractions)
	switch {
	case exactErr == nil || ctx.Err() != nil:
		return exact, exactErr
	case isUndecided || best.hitSweepLimit:
		return checker.multiBounds(ctx, property, 0)
	}
	return best, err
}

// multiBounds evaluates multi(...) with float64 bounds, with at most maxSweeps sweeps of an iteration as in precision. If the float64 weights of the model do not
// suffice, it uses the model with fractions as weights.
func (checker *Checker) multiBounds(ctx context.Context, property *Property, maxSweeps int) (*outcome, error) {
	model, wantedPrecision := checker.floatModel, precision{epsilon: checker.opts.epsilon(), maxSweeps: maxSweeps}
	best, err := checker.attempt(ctx, model, wantedPrecision, property)
	if errors.Is(err, errNeedsFractions) {
		if model, err = checker.modelWithFractions(ctx); err != nil {
			return nil, err
		}
		best, err = checker.attempt(ctx, model, wantedPrecision, property)
	}
	if err != nil {
		return nil, err
	}
	return checker.narrowBounds(ctx, model, property, best), nil
}

// attemptBounds evaluates a property with float64 bounds. If the rounding errors of the model's weights would make the bounds too wide, it uses
// the model with fractions as weights, if there is one.
func (checker *Checker) attemptBounds(ctx context.Context, wanted precision, property *Property) (*outcome, error) {
	wanted.refusesRoundedWeights = true
	best, err := checker.attempt(ctx, checker.floatModel, wanted, property)
	if !errors.Is(err, errRoundedWeights) {
		return best, err
	}
	wanted.refusesRoundedWeights = false
	model, err := checker.modelWithFractions(ctx)
	if err != nil { // there are no fractions: the wide bounds are the answer
		model = checker.floatModel
	}
	return checker.attempt(ctx, model, wanted, property)
}

// encloseValue evaluates a property with float64 bounds. If the bounds are too wide or do not decide the property, it tries narrower bounds, and then
// fractions.
func (checker *Checker) encloseValue(ctx context.Context, property *Property) (*outcome, error) {
	best, err := checker.attemptBounds(ctx, precision{epsilon: checker.opts.Epsilon}, property)
	switch {
	case errors.As(err, new(*stepBoundError)): // fractions need few operations for many steps, because they square matrices
		exact, exactErr := checker.tryFractions(ctx, property, anyFractions)
		if exactErr == nil || ctx.Err() != nil {
			return exact, exactErr
		}
		return nil, err
	case checker.opts.Accuracy == result.Estimated:
		return best, err
	case errors.As(err, new(*undecidedError)):
		return checker.decideBounded(ctx, property)
	case err != nil:
		return nil, err
	}
	return checker.improveOutcome(ctx, property, best), nil
}

// decideBounded evaluates a bounded property, such as P>=0.5, after bounds of the usual width contained the threshold. It tries the narrowest bounds,
// and then fractions.
func (checker *Checker) decideBounded(ctx context.Context, property *Property) (*outcome, error) {
	best, err := checker.attemptBounds(ctx, narrowestBounds, property)
	switch {
	case errors.As(err, new(*undecidedError)):
		return checker.decideByFractions(ctx, err, property)
	case err != nil:
		return nil, err
	}
	return checker.improveOutcome(ctx, property, best), nil
}

// improveOutcome returns best if its bounds are narrow enough. If they are not, it tries narrower bounds, and then fractions.
func (checker *Checker) improveOutcome(ctx context.Context, property *Property, best *outcome) *outcome {
	best = checker.narrowBounds(ctx, checker.floatModel, property, best)
	if best.width <= checker.opts.epsilon() {
		return best
	}
	exact, err := checker.tryFractions(ctx, property, cheapFractions)
	if err != nil || !(exact.width < best.width) {
		return best
	}
	return exact
}

// decideByFractions evaluates a property with fractions after the narrowest bounds did not decide it. undecidedErr is the error of these
// bounds. If fractions are unavailable, the returned error begins with undecidedErr.
func (checker *Checker) decideByFractions(ctx context.Context, undecidedErr error, property *Property) (*outcome, error) {
	answer, err := checker.tryFractions(ctx, property, anyFractions)
	switch {
	case errors.As(err, new(*inexactError)), errors.As(err, new(*stepBoundError)):
		return nil, undecidedErr
	case errors.As(err, new(*unavailableError)):
		return nil, fmt.Errorf("%w%w", undecidedErr, err)
	}
	return answer, err
}

// narrowBounds evaluates a property again with smaller and smaller epsilons, until the width of the bounds is at most the required width or no longer
// decreases. best is the outcome so far. It returns the outcome with the narrowest bounds.
func (checker *Checker) narrowBounds(ctx context.Context, model *model, property *Property, best *outcome) *outcome {
	const safetyFactor = 8 // an epsilon smaller than needed avoids further attempts
	wantedWidth := checker.opts.epsilon()
	wantedPrecision := precision{epsilon: wantedWidth} // bounds may be wider than epsilon: the widths of components add up
	for best.width > wantedWidth && wantedPrecision.epsilon > leastEpsilon && !best.hitSweepLimit {
		wantedPrecision.epsilon = max(wantedPrecision.epsilon*min(wantedWidth/best.width, 1)/safetyFactor, leastEpsilon)
		narrower, err := checker.attempt(ctx, model, wantedPrecision, property)
		isNarrower := err == nil && narrower.width < best.width
		if !isNarrower {
			break // float64 numbers give no narrower bounds
		}
		best = narrower
	}
	return best
}

// unavailableError says why there are no fractions. Its text continues the text of another error.
type unavailableError struct{ cause error }

func (u *unavailableError) Error() string { return u.cause.Error() }

func (u *unavailableError) Unwrap() error { return u.cause }

// tryFractions evaluates a property with fractions. It returns an *unavailableError if the model with fractions cannot be built, or if the model
// has too many states. The number of states is not limited if the space already has fractions and wantedPrecision.maxWork is 0.
func (checker *Checker) tryFractions(ctx context.Context, property *Property, wantedPrecision precision) (*outcome, error) {
	// The answer does not depend on checker.exactModel, which another property may have built.
	space := checker.floatModel.space.Model()
	isAlwaysAllowed := space.Exact() && wantedPrecision.maxWork == 0
	if !isAlwaysAllowed && space.NumStates() > checker.opts.exactStates() {
		return nil, &unavailableError{fmt.Errorf("; %d states are too many to try fractions", space.NumStates())}
	}
	model, err := checker.modelWithFractions(ctx)
	if err != nil {
		return nil, &unavailableError{fmt.Errorf(", and there are no fractions: %w", err)}
	}
	return checker.attempt(ctx, model, wantedPrecision, property)
}

// modelWithFractions returns the model with fractions as weights. The first call builds it from the state space. It returns an *inexactError if the
// states were read from files, or restricted, without fractions.
func (checker *Checker) modelWithFractions(ctx context.Context) (*model, error) {
	if checker.exactModel != nil {
		return checker.exactModel, nil
	}
	space := checker.floatModel.space
	needsNormalising := checker.opts.Accuracy != result.Exact && space.Program().Type == syntax.POMDP
	if needsNormalising && space.Normalised() { // its fractions were read from files
		return checker.floatModel, nil
	}
	if space.Closed() {
		return nil, &inexactError{msg: "the states were read or restricted without fractions"}
	}
	exactSpace, err := space.Fractions(ctx, explicit.Options{Workers: checker.opts.Workers, Normalise: needsNormalising})
	if err != nil {
		return nil, err
	}
	checker.exactModel = newModel(exactSpace)
	return checker.exactModel, nil
}
