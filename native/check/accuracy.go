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
func (c *Checker) attemptSequence(property *Property) attemptSequence {
	switch {
	case c.floatModel.space.Program().Type == syntax.POMDP:
		return searchBeliefs
	case c.opts.Accuracy == result.Exact || logic.FormulaOf(property.Expr).Kind == logic.Lexicographic:
		return exactOnly
	case c.floatModel.space.Unfit() != nil:
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
)

// The precisions that do not depend on the options.
var (
	narrowestBounds = precision{epsilon: leastEpsilon}
	anyFractions    = precision{wantsFractions: true, epsilon: leastEpsilon}
	cheapFractions  = precision{wantsFractions: true, epsilon: leastEpsilon, maxWork: improvingWork}
)

// bestOutcome evaluates a property by the sequence of attempts that suits the property and the model. It returns the most accurate outcome.
func (c *Checker) bestOutcome(ctx context.Context, property *Property, verdict *result.Verdict) (*outcome, error) {
	switch c.attemptSequence(property) {
	case searchBeliefs:
		return c.searchBeliefs(ctx, property)
	case exactOnly:
		return c.exactOnly(ctx, property, verdict)
	case outOfRange:
		return c.outOfRange(ctx, c.floatModel.space.Unfit(), property)
	case multiObjective:
		return c.evaluateMultiObjective(ctx, property)
	}
	answer, err := c.encloseValue(ctx, property)
	if rangeErr, ok := errors.AsType[*explicit.RangeError](err); ok {
		return c.outOfRange(ctx, rangeErr, property)
	}
	return answer, err
}

// searchBeliefs evaluates a property of a partially observable model. The probabilities of beliefs are fractions, even if the result is
// bounds.
func (c *Checker) searchBeliefs(ctx context.Context, property *Property) (*outcome, error) {
	model, err := c.modelWithFractions(ctx)
	if err != nil {
		return nil, err
	}
	return c.attempt(ctx, model, precision{wantsFractions: c.opts.Accuracy == result.Exact, epsilon: c.opts.Epsilon}, property)
}

// exactOnly evaluates a property with fractions only.
func (c *Checker) exactOnly(ctx context.Context, property *Property, verdict *result.Verdict) (*outcome, error) {
	model, err := c.modelWithFractions(ctx)
	if err != nil {
		return nil, err
	}
	return c.fractionsOrQuotient(ctx, model, property, verdict, quotientWork)
}

// fractionsOrQuotient evaluates a property in rational arithmetic. If this takes more than maxWork operations, it evaluates the property again
// without a limit: on the quotient by bisimulation if that is small, with a warning in the verdict, else on the model.
func (c *Checker) fractionsOrQuotient(ctx context.Context, model *model, property *Property, verdict *result.Verdict, maxWork int) (*outcome, error) {
	withoutLimit := precision{wantsFractions: true, epsilon: c.opts.Epsilon}
	if !c.mayUseQuotient(model) {
		return c.attempt(ctx, model, withoutLimit, property)
	}
	withLimit := withoutLimit
	withLimit.maxWork = maxWork
	answer, limitErr := c.attempt(ctx, model, withLimit, property)
	hitLimit := errors.Is(limitErr, solve.ErrWork) || errors.Is(limitErr, solve.ErrFill)
	if !hitLimit {
		return answer, limitErr
	}
	quotient := c.smallQuotient(ctx, model, property)
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
	return c.attempt(ctx, model, withoutLimit, property)
}

// smallQuotient returns a checker for the bisimulation quotient of a model. It returns nil if the quotient has more than half as many
// states as the model, or cannot be computed.
func (c *Checker) smallQuotient(ctx context.Context, m *model, property *Property) *Checker {
	reduced, err := Reduce(ctx, c.compiled, m.space, []*Property{property}, nil)
	if err != nil || reduced.Space.Model().NumStates() > m.space.Model().NumStates()/2 {
		return nil
	}
	return New(reduced.Space.Compiled(), reduced.Space, c.opts)
}

// mayUseQuotient reports whether the bisimulation quotient can replace the model.
func (c *Checker) mayUseQuotient(m *model) bool {
	isReducible := m.space.Model().NumStates() <= quotientStates && !m.space.Closed()
	needsAllStates := c.wantsValues || c.schedulerRequest != nil
	isFullyExplored := c.assumption == assumeNothing
	return isReducible && !needsAllStates && isFullyExplored
}

// outOfRange evaluates a property with fractions, because float64 cannot represent some numbers of the model. rangeErr names such a number.
// If fractions are unavailable, the returned error begins with rangeErr.
func (c *Checker) outOfRange(ctx context.Context, rangeErr error, property *Property) (*outcome, error) {
	out, err := c.tryFractions(ctx, property, anyFractions)
	if errors.As(err, new(*unavailableError)) {
		return nil, fmt.Errorf("%w%w", rangeErr, err)
	}
	return out, err
}

// evaluateMultiObjective evaluates multi(...). For a small model it tries fractions first. Otherwise it computes bounds, and tries fractions if the
// bounds are too wide or do not decide the property.
func (c *Checker) evaluateMultiObjective(ctx context.Context, property *Property) (*outcome, error) {
	if c.floatModel.space.Model().NumStates() <= smallMulti {
		answer, err := c.tryFractions(ctx, property, cheapFractions)
		needsBounds := errors.As(err, new(*unavailableError)) || errors.Is(err, solve.ErrWork)
		if !needsBounds {
			return answer, err
		}
	}
	best, err := c.multiBounds(ctx, property)
	isUndecided := errors.As(err, new(*undecidedError))
	isTooWide := err == nil && best.width > c.opts.epsilon()
	if isUndecided || isTooWide {
		exact, exactErr := c.tryFractions(ctx, property, cheapFractions)
		if exactErr == nil || ctx.Err() != nil {
			return exact, exactErr
		}
	}
	return best, err
}

// multiBounds evaluates multi(...) with float64 bounds. If the float64 weights of the model do not suffice, it uses the model with fractions as
// weights.
func (c *Checker) multiBounds(ctx context.Context, property *Property) (*outcome, error) {
	model, wantedPrecision := c.floatModel, precision{epsilon: c.opts.epsilon()}
	best, err := c.attempt(ctx, model, wantedPrecision, property)
	if errors.Is(err, errNeedsFractions) {
		if model, err = c.modelWithFractions(ctx); err != nil {
			return nil, err
		}
		best, err = c.attempt(ctx, model, wantedPrecision, property)
	}
	if err != nil {
		return nil, err
	}
	return c.narrowBounds(ctx, model, property, best), nil
}

// attemptBounds evaluates a property with float64 bounds. If the rounding errors of the model's weights would make the bounds too wide, it uses
// the model with fractions as weights, if there is one.
func (c *Checker) attemptBounds(ctx context.Context, wanted precision, property *Property) (*outcome, error) {
	wanted.refusesRoundedWeights = true
	best, err := c.attempt(ctx, c.floatModel, wanted, property)
	if !errors.Is(err, errRoundedWeights) {
		return best, err
	}
	wanted.refusesRoundedWeights = false
	model, err := c.modelWithFractions(ctx)
	if err != nil { // there are no fractions: the wide bounds are the answer
		model = c.floatModel
	}
	return c.attempt(ctx, model, wanted, property)
}

// encloseValue evaluates a property with float64 bounds. If the bounds are too wide or do not decide the property, it tries narrower bounds, and then
// fractions.
func (c *Checker) encloseValue(ctx context.Context, property *Property) (*outcome, error) {
	best, err := c.attemptBounds(ctx, precision{epsilon: c.opts.Epsilon}, property)
	switch {
	case errors.As(err, new(*stepBoundError)): // fractions need few operations for many steps, because they square matrices
		exact, exactErr := c.tryFractions(ctx, property, anyFractions)
		if exactErr == nil || ctx.Err() != nil {
			return exact, exactErr
		}
		return nil, err
	case c.opts.Accuracy == result.Estimated:
		return best, err
	case errors.As(err, new(*undecidedError)):
		return c.decideBounded(ctx, property)
	case err != nil:
		return nil, err
	}
	return c.improveOutcome(ctx, property, best), nil
}

// decideBounded evaluates a bounded property, such as P>=0.5, after bounds of the usual width contained the threshold. It tries the narrowest bounds,
// and then fractions.
func (c *Checker) decideBounded(ctx context.Context, property *Property) (*outcome, error) {
	best, err := c.attemptBounds(ctx, narrowestBounds, property)
	switch {
	case errors.As(err, new(*undecidedError)):
		return c.decideByFractions(ctx, err, property)
	case err != nil:
		return nil, err
	}
	return c.improveOutcome(ctx, property, best), nil
}

// improveOutcome returns best if its bounds are narrow enough. If they are not, it tries narrower bounds, and then fractions.
func (c *Checker) improveOutcome(ctx context.Context, property *Property, best *outcome) *outcome {
	best = c.narrowBounds(ctx, c.floatModel, property, best)
	if best.width <= c.opts.epsilon() {
		return best
	}
	exact, err := c.tryFractions(ctx, property, cheapFractions)
	if err != nil || !(exact.width < best.width) {
		return best
	}
	return exact
}

// decideByFractions evaluates a property with fractions after the narrowest bounds did not decide it. undecidedErr is the error of these
// bounds. If fractions are unavailable, the returned error begins with undecidedErr.
func (c *Checker) decideByFractions(ctx context.Context, undecidedErr error, property *Property) (*outcome, error) {
	answer, err := c.tryFractions(ctx, property, anyFractions)
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
func (c *Checker) narrowBounds(ctx context.Context, model *model, property *Property, best *outcome) *outcome {
	const safetyFactor = 8 // an epsilon smaller than needed avoids further attempts
	wantedWidth := c.opts.epsilon()
	wantedPrecision := precision{epsilon: wantedWidth} // bounds may be wider than epsilon: the widths of components add up
	for best.width > wantedWidth && wantedPrecision.epsilon > leastEpsilon && !best.hitSweepLimit {
		wantedPrecision.epsilon = max(wantedPrecision.epsilon*min(wantedWidth/best.width, 1)/safetyFactor, leastEpsilon)
		narrower, err := c.attempt(ctx, model, wantedPrecision, property)
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
func (c *Checker) tryFractions(ctx context.Context, property *Property, wantedPrecision precision) (*outcome, error) {
	// The answer does not depend on c.exactModel, which another property may have built.
	space := c.floatModel.space.Model()
	isAlwaysAllowed := space.Exact() && wantedPrecision.maxWork == 0
	if !isAlwaysAllowed && space.NumStates() > c.opts.exactStates() {
		return nil, &unavailableError{fmt.Errorf("; %d states are too many to try fractions", space.NumStates())}
	}
	model, err := c.modelWithFractions(ctx)
	if err != nil {
		return nil, &unavailableError{fmt.Errorf(", and there are no fractions: %w", err)}
	}
	return c.attempt(ctx, model, wantedPrecision, property)
}

// modelWithFractions returns the model with fractions as weights. The first call builds it from the state space.
func (c *Checker) modelWithFractions(ctx context.Context) (*model, error) {
	if c.exactModel != nil {
		return c.exactModel, nil
	}
	space := c.floatModel.space
	needsNormalising := c.opts.Accuracy != result.Exact && space.Program().Type == syntax.POMDP
	if needsNormalising && space.Normalised() { // its fractions were read from files
		return c.floatModel, nil
	}
	if space.Closed() {
		return nil, &inexactError{msg: "the states were read or restricted without fractions"}
	}
	exactSpace, err := space.Fractions(ctx, explicit.Options{Workers: c.opts.Workers, Normalise: needsNormalising})
	if err != nil {
		return nil, err
	}
	c.exactModel = newModel(exactSpace)
	return c.exactModel, nil
}
