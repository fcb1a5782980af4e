package compile

import (
	"fmt"
	"math"

	"tilecheck/prism/sema"
)

// watch is a monitor prepared for a model: what is decided about a path as it
// is drawn. It says nothing about how the path is drawn.
//
// Source: PRISM's samplers (prism/src/simulator/sampler), reference section 5.3,
// except that a bounded monitor decides at a deadlock by taking it as absorbing.
// In a CTMC the strictness of bounds is ignored, as there: no jump falls on one.
// A reward is evaluated, and checked, when it is earned.
type watch struct {
	Monitor
	left, right boolFn
	rewards     *Rewards
	// steps says that Low and High count steps: low <= steps <= high.
	steps     bool
	low, high int64
}

func (m *Model) newWatch(mon Monitor) (*watch, error) {
	w := &watch{Monitor: mon, steps: !m.continuous()}
	w.low, w.high = stepBounds(mon)
	var err error
	switch mon.Kind {
	case Until:
		if w.left, err = m.boolean(orTrue(mon.Left)); err != nil {
			return nil, err
		}
		w.right, err = m.boolean(mon.Right)
	case Next:
		w.right, err = m.boolean(mon.Right)
	case ReachReward:
		if w.right, err = m.boolean(mon.Right); err != nil {
			return nil, err
		}
		w.rewards, err = m.Rewards(mon.Reward)
	case CumulReward, InstantReward:
		if !mon.Bounded() || math.IsNaN(mon.High) {
			return nil, fmt.Errorf("a cumulative or instantaneous reward needs a finite horizon, not %v", mon.High)
		}
		w.rewards, err = m.Rewards(mon.Reward)
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
func (w *watch) endsAtLoops() bool {
	return w.Kind == Until && w.steps && w.low == 0 && !w.Bounded()
}

// limited reports whether MaxPath ends the path.
func (w *watch) limited() bool {
	return w.Kind == ReachReward || w.Kind == Until && !w.Bounded()
}

// enter looks at a state on arrival and reports whether the path is decided.
// Looping says that the last step was a deterministic self-loop.
func (w *watch) enter(v *env, out *Outcome, looping bool) bool {
	switch w.Kind {
	case Until:
		return w.enterUntil(v, out, looping)
	case Next:
		return out.Steps == 1 && out.end(w.right(v))
	case ReachReward:
		return w.right(v) && out.end(true)
	case CumulReward:
		return w.arrived(out) && out.end(true)
	default: // InstantReward
		if !w.arrived(out) {
			return false
		}
		out.Reward = w.rewards.stateReward(v)
		return out.end(true)
	}
}

// arrived reports whether the horizon has been reached.
func (w *watch) arrived(out *Outcome) bool {
	if w.steps {
		return out.Steps >= w.high
	}
	return out.Time >= w.High
}

func (w *watch) enterUntil(v *env, out *Outcome, looping bool) bool {
	switch {
	case w.steps && out.Steps > w.high:
		return out.end(false)
	case !w.early(out) && w.right(v):
		return out.end(true)
	case !w.left(v):
		return out.end(false)
	}
	return looping && w.endsAtLoops() && out.end(false)
}

// early reports whether the lower bound is still ahead.
func (w *watch) early(out *Outcome) bool {
	if w.steps {
		return out.Steps < w.low
	}
	return out.Time < w.Low
}

// deadlock decides a path that stays in its present state for ever. Enter has
// been called and did not decide.
func (w *watch) deadlock(v *env, out *Outcome) {
	switch w.Kind {
	case Until:
		out.end(w.early(out) && w.right(v))
	case Next:
		out.end(w.right(v))
	case ReachReward:
		out.Status = Undecided
	case CumulReward:
		rest := w.High - out.Time
		if w.steps {
			rest = float64(w.high - out.Steps)
		}
		out.Reward += float64(w.rewards.stateReward(v) * rest)
		out.end(true)
	case InstantReward:
		out.Reward = w.rewards.stateReward(v)
		out.end(true)
	}
}

// step adds one discrete step's rewards, by a choice with the given action.
func (w *watch) step(v *env, out *Outcome, action int) {
	out.Steps++
	if w.Kind == ReachReward || w.Kind == CumulReward {
		out.Reward += w.rewards.stateReward(v) + w.rewards.choiceReward(v, action)
	}
}

// sojourn spends dt in the present state before a jump by a choice with the
// given action, and reports whether a time bound passed meanwhile and decided
// the path. Enter has been called and did not decide.
func (w *watch) sojourn(v *env, out *Outcome, dt float64, action int) bool {
	start, end := out.Time, out.Time+dt
	out.Steps++
	out.Time = end
	switch w.Kind {
	case Until:
		if end > w.High {
			return out.end(start < w.Low && w.right(v))
		}
		return start < w.Low && end > w.Low && w.right(v) && out.end(true)
	case CumulReward:
		if end > w.High {
			out.Reward += float64(w.rewards.stateReward(v) * (w.High - start))
			return out.end(true)
		}
		fallthrough
	case ReachReward:
		out.Reward += float64(w.rewards.stateReward(v)*dt) + w.rewards.choiceReward(v, action)
	case InstantReward:
		if end > w.High {
			out.Reward = w.rewards.stateReward(v)
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
