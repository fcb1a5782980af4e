package compile

import (
	"fmt"
	"math"

	"tilecheck/prism/sema"
)

// Watch evaluates a monitor along one path, over states of type V. It decides when the path ends, and sums rewards. The caller draws the
// path. A move is a number that the caller defines, and an argument of the reward functions.
//
// Unlike PRISM, a bounded monitor treats a deadlock as absorbing. As in PRISM, a CTMC ignores whether bounds are strict, because a jump at
// exactly that time has probability 0. A reward is evaluated and checked when it is earned.
//
// Source: PRISM's samplers (prism/src/simulator/sampler), reference section 5.3.
type Watch[V any] struct {
	Monitor
	StateFunctions[V]
	// inSteps says that Low and High bound the number of steps. lowStep and highStep are the same bounds,
	// inclusive.
	inSteps           bool
	lowStep, highStep int64
}

// StateFunctions are the functions of a state that a monitor needs. Functions that its kind does not need are nil.
type StateFunctions[V any] struct {
	LeftHolds, RightHolds func(V) bool
	StateReward           func(V) float64
	ChoiceReward          func(v V, move int) float64
}

// StateCompiler compiles expressions and rewards to functions of states of type V.
type StateCompiler[V any] interface {
	// CompileBool returns a function that evaluates an expression of type Bool.
	CompileBool(e sema.Expr) (func(V) bool, error)
	// CompileRewards returns functions for the reward of a state and the reward of a move from a state.
	CompileRewards(reward int) (state func(V) float64, move func(v V, move int) float64, err error)
}

// NewWatch compiles the expressions and rewards that a monitor needs. isContinuous says that the model is a CTMC. A cumulative or instantaneous
// reward without a finite horizon is an error.
func NewWatch[V any](monitor Monitor, isContinuous bool, compiler StateCompiler[V]) (*Watch[V], error) {
	watch := &Watch[V]{Monitor: monitor, inSteps: !isContinuous}
	watch.lowStep, watch.highStep = stepBounds(monitor)
	needsHorizon := monitor.Kind == CumulReward || monitor.Kind == InstantReward
	needsRewards := needsHorizon || monitor.Kind == ReachReward
	needsLeft := monitor.Kind == Until
	needsRight := monitor.Kind == Until || monitor.Kind == Next || monitor.Kind == ReachReward
	if needsHorizon && (!monitor.Bounded() || math.IsNaN(monitor.High)) {
		return nil, fmt.Errorf("a cumulative or instantaneous reward needs a finite horizon, not %v", monitor.High)
	}
	var err error
	if needsLeft {
		if watch.LeftHolds, err = compiler.CompileBool(orTrue(monitor.Left)); err != nil {
			return nil, err
		}
	}
	if needsRight {
		if watch.RightHolds, err = compiler.CompileBool(monitor.Right); err != nil {
			return nil, err
		}
	}
	if needsRewards {
		watch.StateReward, watch.ChoiceReward, err = compiler.CompileRewards(monitor.Reward)
	}
	return watch, err
}

// orTrue returns an expression, or the constant true for nil.
func orTrue(expr sema.Expr) sema.Expr {
	if expr == nil {
		return &sema.Const{Base: sema.Base{ValueType: sema.Bool}, Val: sema.Value{Type: sema.Bool, Bool: true}}
	}
	return expr
}

// watch is a Watch over the states of a model.
type watch struct {
	Watch[*env]
	rewards *Rewards // nil if the monitor has none
}

// newWatch compiles a monitor, which is the property of a sample path, for evaluation in the states of the model.
func (m *Model) newWatch(monitor Monitor) (*watch, error) {
	compiler := stateCompiler{model: m}
	generic, err := NewWatch(monitor, m.isContinuous(), &compiler)
	if err != nil {
		return nil, err
	}
	return &watch{*generic, compiler.rewards}, nil
}

// stateCompiler implements StateCompiler for the expressions of a model.
type stateCompiler struct {
	model   *Model
	rewards *Rewards
}

// CompileBool implements StateCompiler.
func (compiler *stateCompiler) CompileBool(expr sema.Expr) (func(*env) bool, error) {
	return compiler.model.boolClosure(expr)
}

// CompileRewards implements StateCompiler. A move is the action of its choice.
func (compiler *stateCompiler) CompileRewards(reward int) (state func(*env) float64, move func(*env, int) float64, err error) {
	if compiler.rewards, err = compiler.model.SignedRewards(reward); err != nil {
		return nil, nil, err
	}
	return compiler.rewards.stateReward, compiler.rewards.choiceReward, nil
}

// stepBounds converts the bounds of a monitor to inclusive integers: 2 < steps <= 4.5 becomes 3 and 4. A negative upper bound becomes -1.
func stepBounds(monitor Monitor) (low, high int64) {
	lowStep, highStep := math.Ceil(monitor.Low), math.Floor(monitor.High)
	if monitor.IsLowStrict && lowStep == monitor.Low {
		lowStep++
	}
	if monitor.IsHighStrict && highStep == monitor.High {
		highStep--
	}
	const unreachable = 1 << 62 // a step that no path reaches
	return int64(min(max(lowStep, 0), unreachable)), int64(min(max(highStep, -1), unreachable))
}

// endsAtLoops reports whether a deterministic self-loop decides the path: for an until formula without bounds.
func (w *Watch[V]) endsAtLoops() bool {
	return w.Kind == Until && w.lowStep == 0 && !w.Bounded()
}

// Limited reports whether the path ends after MaxPath steps.
func (w *Watch[V]) Limited() bool {
	return w.Kind == ReachReward || w.Kind == Until && !w.Bounded()
}

// Enter evaluates the property of the path (the monitor) when the path enters a state. It returns true if the state decides the property, so the path ends; the
// result is then in outcome. isLooping says that the last step was a self-loop of probability 1.
func (w *Watch[V]) Enter(state V, outcome *Outcome, isLooping bool) bool {
	switch w.Kind {
	case Until:
		return w.enterUntil(state, outcome, isLooping)
	case Next:
		return outcome.Steps == 1 && outcome.decide(w.RightHolds(state))
	case ReachReward:
		return w.RightHolds(state) && outcome.decide(true)
	case CumulReward:
		return w.isAtHorizon(outcome) && outcome.decide(true)
	default: // InstantReward
		if !w.isAtHorizon(outcome) {
			return false
		}
		outcome.Reward = w.StateReward(state)
		return outcome.decide(true)
	}
}

// isAtHorizon reports whether the path has reached the horizon of a reward.
func (w *Watch[V]) isAtHorizon(out *Outcome) bool {
	if w.inSteps {
		return out.Steps >= w.highStep
	}
	return out.Time >= w.High
}

// enterUntil evaluates an until formula when the path enters a state. It returns true if the state decides the formula; its value is then in outcome. isLooping
// says that the last step was a self-loop of probability 1, so the path stays in this state.
func (w *Watch[V]) enterUntil(state V, outcome *Outcome, isLooping bool) bool {
	switch {
	case w.inSteps && outcome.Steps > w.highStep:
		return outcome.decide(false)
	case !w.isBeforeLowerBound(outcome) && w.RightHolds(state):
		return outcome.decide(true)
	case !w.LeftHolds(state):
		return outcome.decide(false)
	}
	return isLooping && w.endsAtLoops() && outcome.decide(false) // decide returns true
}

// isBeforeLowerBound reports whether the path is before the lower bound of the formula.
func (w *Watch[V]) isBeforeLowerBound(out *Outcome) bool {
	if w.inSteps {
		return out.Steps < w.lowStep
	}
	return out.Time < w.Low
}

// Deadlock sets the outcome of a path that stays in the given state forever. Before it, Enter must have returned false for this state.
func (w *Watch[V]) Deadlock(state V, outcome *Outcome) {
	switch w.Kind {
	case Until:
		outcome.decide(w.isBeforeLowerBound(outcome) && w.RightHolds(state))
	case Next:
		outcome.decide(w.RightHolds(state))
	case ReachReward:
		outcome.Status = Undecided
	case CumulReward:
		remaining := w.High - outcome.Time // time or steps until the horizon
		if w.inSteps {
			remaining = float64(w.highStep - outcome.Steps)
		}
		outcome.Reward += float64(w.StateReward(state) * remaining)
		outcome.decide(true)
	case InstantReward:
		outcome.Reward = w.StateReward(state)
		outcome.decide(true)
	}
}

// Step counts a step of a discrete-time model by a move, and adds the rewards of the state and the move.
func (w *Watch[V]) Step(state V, out *Outcome, move int) {
	out.Steps++
	if w.Kind == ReachReward || w.Kind == CumulReward {
		out.Reward += w.StateReward(state) + w.ChoiceReward(state, move)
	}
}

// Sojourn adds to outcome the sojourn time in a state of a CTMC, the step that ends it, and the rewards of both. It returns true if a time bound decides the
// property of the path during the sojourn. The caller must have called Enter for the state, with the result false.
func (w *Watch[V]) Sojourn(state V, outcome *Outcome, duration float64, action int) bool {
	startTime, endTime := outcome.Time, outcome.Time+duration
	outcome.Steps++
	outcome.Time = endTime
	isPastHigh := endTime > w.High
	switch {
	case w.Kind == Until:
		return w.decideUntilInSojourn(state, outcome, startTime)
	case w.Kind == CumulReward && isPastHigh:
		outcome.Reward += float64(w.StateReward(state) * (w.High - startTime))
		return outcome.decide(true)
	case w.Kind == InstantReward && isPastHigh:
		outcome.Reward = w.StateReward(state)
		return outcome.decide(true)
	case w.Kind == CumulReward || w.Kind == ReachReward:
		outcome.Reward += float64(w.StateReward(state)*duration) + w.ChoiceReward(state, action)
	}
	return false
}

// decideUntilInSojourn returns true if a time bound decides an until formula during a sojourn; its value is then in outcome. The sojourn begins
// at startTime and ends at outcome.Time.
func (w *Watch[V]) decideUntilInSojourn(state V, outcome *Outcome, startTime float64) bool {
	endTime := outcome.Time
	switch {
	case endTime > w.High:
		return outcome.decide(startTime < w.Low && w.RightHolds(state))
	case startTime < w.Low && w.Low < endTime && w.RightHolds(state): // true at the lower bound
		return outcome.decide(true)
	}
	return false
}

// decide sets the status to True or False. It always returns true, so a caller can return the decision in one expression.
func (o *Outcome) decide(holds bool) bool {
	o.Status = False
	if holds {
		o.Status = True
	}
	return true
}
