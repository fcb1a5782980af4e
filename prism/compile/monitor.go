package compile

import (
	"fmt"
	"math"

	"tilecheck/prism/sema"
)

// Watch evaluates a monitor along one path, over states of type V: it decides when the path ends and accumulates rewards. The
// caller draws the path. A move is a number whose meaning the caller defines; the reward functions get it as an argument.
//
// Source: PRISM's samplers (prism/src/simulator/sampler), reference section 5.3.
// Unlike PRISM, a bounded monitor treats a deadlock as absorbing. As in PRISM, a CTMC ignores whether
// bounds are strict, because a jump at exactly that time has probability 0.
// A reward is evaluated, and checked, when it is earned.
type Watch[V any] struct {
	Monitor
	StateFunctions[V]
	// steps says that Low and High bound the number of steps, which low and high bound inclusively.
	steps     bool
	low, high int64
}

// StateFunctions are the functions of a state that a monitor needs. Those that its kind does not need are nil.
type StateFunctions[V any] struct {
	IsLeft, IsRight func(V) bool
	State           func(V) float64
	Move            func(v V, move int) float64
}

// StateCompiler compiles expressions and rewards to functions of states of type V.
type StateCompiler[V any] interface {
	Is(e sema.Expr) (func(V) bool, error)
	Earns(reward int) (state func(V) float64, move func(v V, move int) float64, err error)
}

// NewWatch prepares a monitor. continuous says that the model is a CTMC. The error comes from the StateCompiler, or says that
// a horizon is not finite.
func NewWatch[V any](mon Monitor, continuous bool, compiler StateCompiler[V]) (*Watch[V], error) {
	w := &Watch[V]{Monitor: mon, steps: !continuous}
	w.low, w.high = stepBounds(mon)
	var err error
	if mon.Kind == Until {
		if w.IsLeft, err = compiler.Is(orTrue(mon.Left)); err != nil {
			return nil, err
		}
	}
	switch mon.Kind {
	case Until, Next, ReachReward:
		if w.IsRight, err = compiler.Is(mon.Right); err != nil {
			return nil, err
		}
	case CumulReward, InstantReward:
		if !mon.Bounded() || math.IsNaN(mon.High) {
			return nil, fmt.Errorf("a cumulative or instantaneous reward needs a finite horizon, not %v", mon.High)
		}
	}
	switch mon.Kind {
	case ReachReward, CumulReward, InstantReward:
		w.State, w.Move, err = compiler.Earns(mon.Reward)
	}
	return w, err
}

// orTrue returns true for a missing left side of an until.
func orTrue(e sema.Expr) sema.Expr {
	if e == nil {
		return &sema.Const{Base: sema.Base{T: sema.Bool}, Val: sema.Value{Type: sema.Bool, Bool: true}}
	}
	return e
}

// watch is a Watch over the states of a model.
type watch struct {
	Watch[*env]
	rewards *Rewards // nil if the monitor has none
}

func (m *Model) newWatch(mon Monitor) (*watch, error) {
	a := stateCompiler{m: m}
	w, err := NewWatch(mon, m.continuous(), &a)
	if err != nil {
		return nil, err
	}
	return &watch{*w, a.rewards}, nil
}

// stateCompiler implements StateCompiler for the expressions of a model.
type stateCompiler struct {
	m       *Model
	rewards *Rewards
}

// Is implements StateCompiler.
func (a *stateCompiler) Is(e sema.Expr) (func(*env) bool, error) {
	f, err := a.m.boolean(e)
	return f, err
}

// Earns implements StateCompiler. A move is the action of its choice.
func (a *stateCompiler) Earns(reward int) (state func(*env) float64, move func(*env, int) float64, err error) {
	if a.rewards, err = a.m.Rewards(reward); err != nil {
		return nil, nil, err
	}
	return a.rewards.stateReward, a.rewards.choiceReward, nil
}

// stepBounds converts the bounds to inclusive integers.
func stepBounds(mon Monitor) (low, high int64) {
	lo, hi := math.Ceil(mon.Low), math.Floor(mon.High)
	if mon.LowStrict && lo == mon.Low {
		lo++
	}
	if mon.HighStrict && hi == mon.High {
		hi--
	}
	const most = 1 << 62
	return int64(min(max(lo, 0), most)), int64(min(max(hi, -1), most))
}

// endsAtLoops reports whether a deterministic self-loop decides the path: an unbounded until in discrete time then stays undecided for ever.
func (w *Watch[V]) endsAtLoops() bool {
	return w.Kind == Until && w.steps && w.low == 0 && !w.Bounded()
}

// Limited reports whether MaxPath ends the path.
func (w *Watch[V]) Limited() bool {
	return w.Kind == ReachReward || w.Kind == Until && !w.Bounded()
}

// Enter processes the arrival in a state and reports whether the path is decided. looping says that the last step was a
// deterministic self-loop.
func (w *Watch[V]) Enter(v V, out *Outcome, looping bool) bool {
	switch w.Kind {
	case Until:
		return w.enterUntil(v, out, looping)
	case Next:
		return out.Steps == 1 && out.end(w.IsRight(v))
	case ReachReward:
		return w.IsRight(v) && out.end(true)
	case CumulReward:
		return w.arrived(out) && out.end(true)
	default: // InstantReward
		if !w.arrived(out) {
			return false
		}
		out.Reward = w.State(v)
		return out.end(true)
	}
}

// arrived reports whether the horizon has been reached.
func (w *Watch[V]) arrived(out *Outcome) bool {
	if w.steps {
		return out.Steps >= w.high
	}
	return out.Time >= w.High
}

func (w *Watch[V]) enterUntil(v V, out *Outcome, looping bool) bool {
	switch {
	case w.steps && out.Steps > w.high:
		return out.end(false)
	case !w.early(out) && w.IsRight(v):
		return out.end(true)
	case !w.IsLeft(v):
		return out.end(false)
	}
	return looping && w.endsAtLoops() && out.end(false)
}

// early reports whether the lower bound is not yet reached.
func (w *Watch[V]) early(out *Outcome) bool {
	if w.steps {
		return out.Steps < w.low
	}
	return out.Time < w.Low
}

// Deadlock decides a path that stays in its current state for ever. Enter must have been called without deciding.
func (w *Watch[V]) Deadlock(v V, out *Outcome) {
	switch w.Kind {
	case Until:
		out.end(w.early(out) && w.IsRight(v))
	case Next:
		out.end(w.IsRight(v))
	case ReachReward:
		out.Status = Undecided
	case CumulReward:
		rest := w.High - out.Time
		if w.steps {
			rest = float64(w.high - out.Steps)
		}
		out.Reward += float64(w.State(v) * rest)
		out.end(true)
	case InstantReward:
		out.Reward = w.State(v)
		out.end(true)
	}
}

// Step counts a step of a discrete-time model by a move, and adds its rewards.
func (w *Watch[V]) Step(v V, out *Outcome, move int) {
	out.Steps++
	if w.Kind == ReachReward || w.Kind == CumulReward {
		out.Reward += w.State(v) + w.Move(v, move)
	}
}

// Sojourn adds the sojourn time dt in the current state and the jump by a move, with their rewards. It reports whether a time bound
// passed during the sojourn and decided the path. Enter must have been called without deciding.
func (w *Watch[V]) Sojourn(v V, out *Outcome, dt float64, move int) bool {
	start, end := out.Time, out.Time+dt
	out.Steps++
	out.Time = end
	switch w.Kind {
	case Until:
		if end > w.High {
			return out.end(start < w.Low && w.IsRight(v))
		}
		return start < w.Low && end > w.Low && w.IsRight(v) && out.end(true)
	case CumulReward:
		if end > w.High {
			out.Reward += float64(w.State(v) * (w.High - start))
			return out.end(true)
		}
		fallthrough
	case ReachReward:
		out.Reward += float64(w.State(v)*dt) + w.Move(v, move)
	case InstantReward:
		if end > w.High {
			out.Reward = w.State(v)
			return out.end(true)
		}
	}
	return false
}

// end sets the status and returns true, so that a decision reads as one expression.
func (o *Outcome) end(holds bool) bool {
	o.Status = False
	if holds {
		o.Status = True
	}
	return true
}
