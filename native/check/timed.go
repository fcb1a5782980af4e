package check

import (
	"errors"
	"math"
	"math/big"
	"slices"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// timedUntil returns the probability of `left U right` with the time bound of path, in a CTMC. If isNegated is true, it returns the probability of
// the negation.
func (e *evaluation) timedUntil(path *logic.Path, left, right *sparse.Set, isNegated bool) (*numbers, error) {
	bound, err := e.timeInterval(path.Op, path.Bound)
	if err != nil {
		return nil, err
	}
	if e.wantsFractions && !e.allowsBounds {
		return nil, &inexactError{path.Expr.Pos(), "a probability within a time bound of a CTMC is not rational; without --exact there is an interval"}
	}
	var values *solve.Values
	switch {
	case e.wantsFractions:
		values, err = solve.PreciseUntil(e.ctx, e.graph, left, right, bound, isNegated, e.opts)
	case isNegated:
		values, err = solve.NotTimedUntil(e.ctx, e.graph, left, right, bound, e.opts)
	default:
		values, err = solve.TimedUntil(e.ctx, e.graph, left, right, bound, e.opts)
	}
	return e.toNumbers(values, withTimeBound(err, path.Bound.Pos))
}

// timeInterval evaluates the time bound of an operator in a CTMC. It is an error if no time satisfies the bound, or if the computed digits of the bounds
// leave this open.
func (e *evaluation) timeInterval(operator syntax.TemporalOp, bound *sema.Bound) (solve.Interval, error) {
	interval := solve.Interval{From: solve.At(new(big.Rat))}
	var low, high sema.Enclosed
	var err error
	if bound.Low != nil {
		low, interval.From, err = e.timeBound(bound.Low)
		if err != nil {
			return interval, err
		}
		if interval.From.None() {
			return interval, e.failure(result.TypeError, bound.Low.Pos(), "lower bound %v of the %s operator, want a finite number of at least 0", low.Value, operator)
		}
	}
	if bound.High == nil {
		return interval, nil
	}
	high, interval.To, err = e.timeBound(bound.High)
	switch {
	case err != nil:
		return interval, err
	case interval.To.None() && math.IsInf(high.Lo, 1): // infinity is no upper bound
		return interval, nil
	case interval.To.None(), bound.IsHighStrict && interval.To.High.Sign() == 0:
		return interval, e.failure(result.TypeError, bound.High.Pos(), "upper bound %s%v of the %s operator holds at no time", upperRelation(bound.IsHighStrict), high.Value, operator)
	case interval.To.High.Cmp(interval.From.Low) < 0:
		return interval, e.failure(result.TypeError, bound.High.Pos(), "bounds [%v,%v] of the %s operator are empty", low.Value, high.Value, operator)
	case interval.To.Low.Cmp(interval.From.High) < 0:
		return interval, e.failure(result.Unsupported, bound.High.Pos(), "bounds [%v,%v] of the %s operator: the computed digits do not decide which is less", low.Value, high.Value, operator)
	}
	return interval, nil
}

// timeBound evaluates a time bound. The time is a fraction, or has a lower and an upper bound. The result is the zero Time if the value is negative or
// not finite. It is an error if the computed bounds of the value leave open whether it is negative or infinite.
func (e *evaluation) timeBound(expr sema.Expr) (sema.Enclosed, solve.Time, error) {
	enclosed, err := sema.Enclose(expr, nil)
	switch {
	case err != nil:
		return enclosed, solve.Time{}, e.withPosition(err)
	case enclosed.Rat != nil && enclosed.Rat.Sign() >= 0:
		return enclosed, solve.At(enclosed.Rat), nil
	case enclosed.Rat != nil || !(enclosed.Hi >= 0) || math.IsInf(enclosed.Lo, 0):
		return enclosed, solve.Time{}, nil
	case enclosed.Lo < 0 || math.IsInf(enclosed.Hi, 1):
		return enclosed, solve.Time{}, e.failure(result.Unsupported, expr.Pos(), "time bound %v: the computed digits do not decide whether it is a finite number of at least 0", enclosed.Value)
	}
	return enclosed, solve.Time{Low: new(big.Rat).SetFloat64(enclosed.Lo), High: new(big.Rat).SetFloat64(enclosed.Hi)}, nil
}

// withTimeBound converts the error of package solve for a large time bound to a *stepBoundError with the position of the bound. It returns other
// errors, and nil, unchanged.
func withTimeBound(err error, pos syntax.Pos) error {
	if errors.Is(err, solve.ErrTooManySteps) || errors.Is(err, solve.ErrTime) {
		return &stepBoundError{pos, err}
	}
	return err
}

// rewardTime evaluates the time of C<=t or I=t.
func (e *evaluation) rewardTime(objective *logic.Objective) (solve.Time, error) {
	enclosed, time, err := e.timeBound(objective.At)
	if err == nil && time.None() {
		err = e.failure(result.TypeError, objective.At.Pos(), "time bound %v of the %s operator, want a finite number of at least 0", enclosed.Value, objective.Letter())
	}
	return time, err
}

// timedReward returns the expected reward of C<=t (up to time t) or I=t (at time t) in a CTMC, for a time t. If fractions are wanted, it computes very
// narrow bounds instead, because the value is not rational; it is an error if bounds are not allowed.
func (e *evaluation) timedReward(objective *logic.Objective, reward *sparse.Reward) (*numbers, error) {
	bound, err := e.rewardTime(objective)
	if err != nil {
		return nil, err
	}
	if e.wantsFractions && !e.allowsBounds {
		return nil, &inexactError{objective.Expr.Pos(), "a reward within a time bound of a CTMC is not rational; without --exact there is an interval"}
	}
	isInstantaneous := objective.Form == logic.Instantaneous
	compute := solve.TimedCumulReward
	switch {
	case e.wantsFractions && isInstantaneous:
		compute = solve.PreciseInstantReward
	case e.wantsFractions:
		compute = solve.PreciseCumulReward
	case isInstantaneous:
		compute = solve.TimedInstantReward
	}
	values, err := compute(e.ctx, e.graph, reward, bound, e.opts)
	return e.toNumbers(values, withTimeBound(err, objective.At.Pos()))
}

// markovUntil returns the minimal or maximal probability of an until formula within the time bound cost, in a Markov automaton. The model of the
// evaluation is the embedded MDP.
func (e *evaluation) markovUntil(path *logic.Path, cost *sema.Cost, direction solve.Direction) (*numbers, error) {
	switch {
	case e.schedulerRequest != nil:
		return nil, e.unsupportedError(path.Expr, "found a bound on the time of a Markov automaton, whose schedulers depend on time and are not exported")
	case len(path.Costs) > 1 || !logic.IsState(path.Left) || !logic.IsState(path.Right):
		return nil, e.unsupportedError(path.Expr, "found a time bound of a Markov automaton together with another bound or temporal operator")
	case e.wantsFractions:
		return nil, &inexactError{path.Expr.Pos(), "a probability within a time bound of a Markov automaton is not rational; without --exact there is an interval"}
	}
	bound, err := e.timeInterval(syntax.Until, cost.Bound)
	if err != nil {
		return nil, err
	}
	left, right, err := e.operandStates(path.Left, path.Right)
	if err != nil {
		return nil, err
	}
	rates, err := e.space.ExitRates()
	if err != nil {
		return nil, e.withPosition(err)
	}
	values, err := solve.MarkovIntervalUntil(e.ctx, e.graph, left, right, solve.Rates{Low: rates.Low, High: rates.High}, bound, direction, e.opts)
	if errors.Is(err, solve.ErrImmediate) || errors.Is(err, solve.ErrRates) {
		return nil, e.unsupportedError(path.Expr, "found a time bound of a Markov automaton, and %v", err)
	}
	return e.toNumbers(values, withTimeBound(err, cost.Bound.Pos))
}

// automatonReward returns the minimal or maximal expected reward of C<=t or I=t in a Markov automaton. The model of the evaluation is the embedded MDP.
func (e *evaluation) automatonReward(objective *logic.Objective, reward *sparse.Reward, direction solve.Direction) (*numbers, error) {
	if e.wantsFractions {
		return nil, &inexactError{objective.Expr.Pos(), "a reward within a time bound of a Markov automaton is not rational; without --exact there is an interval"}
	}
	time, err := e.rewardTime(objective)
	if err != nil {
		return nil, err
	}
	rates, err := e.ratesWithDeadlocks()
	if err != nil {
		return nil, e.withPosition(err)
	}
	compute := solve.MarkovCumulReward
	if objective.Form == logic.TimedInstantaneous {
		compute = solve.MarkovInstantReward
	}
	values, err := compute(e.ctx, e.graph, reward, rates, time, direction, e.opts)
	if errors.Is(err, solve.ErrImmediate) || errors.Is(err, solve.ErrRates) || errors.Is(err, solve.ErrTimeStands) {
		return nil, e.unsupportedError(objective.Expr, "found %s at or until a time in a Markov automaton, and %v", objective.Letter(), err)
	}
	return e.toNumbers(values, withTimeBound(err, objective.At.Pos()))
}

// ratesWithDeadlocks returns the exit rates of a Markov automaton. The rate of a deadlock is 1: its reward is that of one unit of time.
func (e *evaluation) ratesWithDeadlocks() (solve.Rates, error) {
	exitRates, err := e.space.ExitRates()
	if err != nil {
		return solve.Rates{}, err
	}
	rates := solve.Rates{Low: slices.Clone(exitRates.Low), High: slices.Clone(exitRates.High)}
	for s := range rates.Low {
		if e.space.Model().IsDeadlock(s) && rates.High[s] == 0 {
			rates.Low[s], rates.High[s] = 1, 1
		}
	}
	return rates, nil
}

// longRunPerTime returns a long-run average per unit of time in a Markov automaton. The function compute gets the mean sojourn time of each
// state as a reward.
func (e *evaluation) longRunPerTime(formula *logic.Formula, compute func(time *sparse.Reward) (*solve.Values, error)) (*numbers, error) {
	time, err := e.space.SojournTimes()
	if err != nil {
		return nil, e.withPosition(err)
	}
	if time.RangeErr != nil {
		return nil, e.unsupportedError(formula.Expr, "%v", time.RangeErr)
	}
	values, err := compute(time)
	if errors.Is(err, solve.ErrTimeStands) || errors.Is(err, solve.ErrRates) {
		return nil, e.unsupportedError(formula.Expr, "found a long-run average of a Markov automaton, and %v", err)
	}
	return e.toNumbers(values, err)
}
