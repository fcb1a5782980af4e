package compile

import (
	"fmt"
	"math"

	"tilecheck/prism/sema"
)

// Watch is a monitor over states that are a V: what is decided about a path as it
// is drawn. It says nothing about how the path is drawn. Left and Right are those of
// the monitor, and what is earned is that of its reward structure: a state, per step or
// per unit of time, and a move from it, whose number means what its drawer says.
//
// Source: PRISM's samplers (prism/src/simulator/sampler), reference section 5.3,
// except that a bounded monitor decides at a deadlock by taking it as absorbing.
// In a CTMC the strictness of bounds is ignored, as there: no jump falls on one.
// A reward is evaluated, and checked, when it is earned.
type Watch[V any] struct {
	Monitor
	Facts[V]
	// steps says that Low and High count steps: low <= steps <= high.
	steps     bool
	low, high int64
}

// Facts are what a monitor asks about states. Those that its kind does not need are nil.
type Facts[V any] struct {
	IsLeft, IsRight func(V) bool
	State           func(V) float64
	Move            func(v V, move int) float64
}

// Asker makes the facts of a kind of states.
type Asker[V any] interface {
	Is(e sema.Expr) (func(V) bool, error)
	Earns(reward int) (state func(V) float64, move func(v V, move int) float64, err error)
}

// NewWatch prepares a monitor; continuous says that states are those of a CTMC. The error
// is that of the facts, or of a horizon that is not finite where one is needed.
func NewWatch[V any](mon Monitor, continuous bool, ask Asker[V]) (*Watch[V], error) {
	w := &Watch[V]{Monitor: mon, steps: !continuous}
	w.low, w.high = stepBounds(mon)
	var err error
	if mon.Kind == Until {
		if w.IsLeft, err = ask.Is(orTrue(mon.Left)); err != nil {
			return nil, err
		}
	}
	switch mon.Kind {
	case Until, Next, ReachReward:
		if w.IsRight, err = ask.Is(mon.Right); err != nil {
			return nil, err
		}
	case CumulReward, InstantReward:
		if !mon.Bounded() || math.IsNaN(mon.High) {
			return nil, fmt.Errorf("a cumulative or instantaneous reward needs a finite horizon, not %v", mon.High)
		}
	}
	switch mon.Kind {
	case ReachReward, CumulReward, InstantReward:
		w.State, w.Move, err = ask.Earns(mon.Reward)
	}
	return w, err
}

// orTrue lets a monitor leave its left side out, as F does.
func orTrue(e sema.Expr) sema.Expr {
	if e == nil {
		return &sema.Const{Base: sema.Base{T: sema.Bool}, Val: sema.Value{Type: sema.Bool, Bool: true}}
	}
	return e
}

// watch is a monitor of a model's states.
type watch struct {
	Watch[*env]
	rewards *Rewards // nil for a monitor without
}

func (m *Model) newWatch(mon Monitor) (*watch, error) {
	a := asker{m: m}
	w, err := NewWatch(mon, m.continuous(), &a)
	if err != nil {
		return nil, err
	}
	return &watch{*w, a.rewards}, nil
}

// asker evaluates expressions of a model.
type asker struct {
	m       *Model
	rewards *Rewards
}

// Is implements Asker.
func (a *asker) Is(e sema.Expr) (func(*env) bool, error) {
	f, err := a.m.boolean(e)
	return f, err
}

// Earns implements Asker. A move is the action of its choice.
func (a *asker) Earns(reward int) (state func(*env) float64, move func(*env, int) float64, err error) {
	if a.rewards, err = a.m.Rewards(reward); err != nil {
		return nil, nil, err
	}
	return a.rewards.stateReward, a.rewards.choiceReward, nil
}

// stepBounds turns the bounds into whole numbers of steps, both inclusive.
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

// endsAtLoops reports whether a deterministic self-loop decides the path: in an
// Until without bounds, in discrete time.
func (w *Watch[V]) endsAtLoops() bool {
	return w.Kind == Until && w.steps && w.low == 0 && !w.Bounded()
}

// Limited reports whether MaxPath ends the path.
func (w *Watch[V]) Limited() bool {
	return w.Kind == ReachReward || w.Kind == Until && !w.Bounded()
}

// Enter looks at a state on arrival and reports whether the path is decided.
// Looping says that the last step was a deterministic self-loop.
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

// early reports whether the lower bound is still ahead.
func (w *Watch[V]) early(out *Outcome) bool {
	if w.steps {
		return out.Steps < w.low
	}
	return out.Time < w.Low
}

// Deadlock decides a path that stays in its present state for ever. Enter has
// been called and did not decide.
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

// Step adds one discrete step's rewards, by a move.
func (w *Watch[V]) Step(v V, out *Outcome, move int) {
	out.Steps++
	if w.Kind == ReachReward || w.Kind == CumulReward {
		out.Reward += w.State(v) + w.Move(v, move)
	}
}

// Sojourn spends dt in the present state before a jump by a move, and reports whether
// a time bound passed meanwhile and decided the path. Enter has been called and did not
// decide.
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
