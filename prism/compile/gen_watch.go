package compile

import (
	"math"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/sema"
)

// This file is watch.go in WebAssembly: each method emits what the method of
// the same name there does.

// condition builds a state expression and counts its uses.
func (p *movegen) condition(e sema.Expr) *term {
	t := p.b.expr(e)
	p.note(t)
	return t
}

func (p *pathgen) enter() {
	switch p.w.Kind {
	case Until:
		p.enterUntil()
	case Next:
		p.f.If(p.steps.Eq(wide(1)), func() {
			p.scoped(func() {
				p.branch(p.condition(p.w.Right), true, p.yes)
				p.f.Br(p.no)
			})
		})
	case ReachReward:
		right := p.condition(p.w.Right)
		p.branch(right, true, p.yes)
		p.facts = p.facts.assume(right, false)
	case CumulReward:
		p.f.BrIf(p.yes, p.arrived())
	case InstantReward:
		p.f.If(p.arrived(), func() {
			p.scoped(func() {
				p.reward.Set(p.f, p.stateReward())
				p.f.Br(p.yes)
			})
		})
	}
}

func (p *pathgen) arrived() wasm.Expr[int32] {
	if p.w.steps {
		return p.steps.Ge(wide(p.w.high))
	}
	return p.time.Ge(number(p.w.High))
}

// early is whether the lower bound is still ahead, nil if there is none.
func (p *pathgen) early() wasm.Expr[int32] {
	switch {
	case p.w.steps && p.w.low > 0:
		return p.steps.Lt(wide(p.w.low))
	case !p.w.steps && p.w.Low > 0:
		return p.time.Lt(number(p.w.Low))
	}
	return nil
}

func (p *pathgen) enterUntil() {
	right, left := p.condition(p.w.Right), p.condition(orTrue(p.w.Left))
	if p.w.steps && p.w.Bounded() {
		p.f.BrIf(p.no, p.steps.Gt(wide(p.w.high)))
	}
	if early := p.early(); early != nil {
		p.f.If(early.IsZero(), func() {
			p.scoped(func() { p.branch(right, true, p.yes) })
		})
	} else {
		p.branch(right, true, p.yes)
		p.facts = p.facts.assume(right, false)
	}
	p.branch(left, false, p.no)
	p.facts = p.facts.assume(left, true)
}

// deadlock decides in a state without choices. With NoFixDeadlocks that is an
// error, which the interpreter words.
func (p *pathgen) deadlock() {
	f := p.f
	if p.m.opts.NoFixDeadlocks {
		f.Br(p.bail)
		return
	}
	switch p.w.Kind {
	case Until:
		if early := p.early(); early != nil {
			f.If(early, func() { p.scoped(p.decideByRight) })
		}
		p.end(False)
	case Next:
		p.decideByRight()
	case ReachReward:
		p.end(Undecided)
	case CumulReward:
		p.reward.Set(f, p.stateReward().Mul(p.remaining()).Add(p.reward))
		p.end(True)
	case InstantReward:
		p.reward.Set(f, p.stateReward())
		p.end(True)
	}
}

// decideByRight ends the path by the monitor's right side.
func (p *pathgen) decideByRight() {
	p.status.Set(p.f, wasm.Select[int32](p.integer(p.condition(p.w.Right)), whole(int32(True)), whole(int32(False))))
	p.f.Br(p.finish)
}

// remaining is what is left of the horizon.
func (p *pathgen) remaining() wasm.Expr[float64] {
	if p.w.steps {
		return wasm.Double(wide(p.w.high).Sub(p.steps))
	}
	return number(p.w.High).Sub(p.time)
}

// advance is watch.step and watch.sojourn: it counts the step, adds its
// rewards and, in a CTMC, spends the sojourn time.
func (p *pathgen) advance(action int) {
	if !p.w.steps {
		p.sojourn(action)
		return
	}
	p.countStep()
	if p.w.Kind == ReachReward || p.w.Kind == CumulReward {
		p.earn(p.stateReward(), action)
	}
}

func (p *pathgen) countStep() { p.steps.Set(p.f, p.steps.Add(wide(1))) }

// earn adds the reward of a state and that of the choice.
func (p *pathgen) earn(state wasm.Expr[float64], action int) {
	p.reward.Set(p.f, p.reward.Add(state.Add(p.choiceReward(action))))
}

func (p *pathgen) sojourn(action int) {
	f := p.f
	dt, start := wasm.Local[float64](f), wasm.Local[float64](f)
	log := wasm.Call[float64, float64](p.hostLogUnit, number(1).Sub(p.drawUnit()))
	dt.Set(f, wasm.Convert[float64](wasm.F64Neg, log).Div(p.rate))
	p.time.Set(f, start.Tee(p.time).Add(dt))
	p.countStep()
	switch p.w.Kind {
	case Until:
		p.sojournUntil(start)
	case CumulReward:
		p.beyond(func() {
			p.reward.Set(f, p.stateReward().Mul(number(p.w.High).Sub(start)).Add(p.reward))
			f.Br(p.yes)
		})
		p.earn(p.stateReward().Mul(dt), action)
	case ReachReward:
		p.earn(p.stateReward().Mul(dt), action)
	case InstantReward:
		p.beyond(func() {
			p.reward.Set(f, p.stateReward())
			f.Br(p.yes)
		})
	}
}

// beyond emits code for when the horizon has passed.
func (p *pathgen) beyond(emit func()) {
	p.f.If(p.time.Gt(number(p.w.High)), func() { p.scoped(emit) })
}

func (p *pathgen) sojournUntil(start wasm.Var[float64]) {
	f := p.f
	right := p.condition(p.w.Right)
	waited := start.Lt(number(p.w.Low)) // the lower bound was ahead before the sojourn
	if p.w.Bounded() {
		p.beyond(func() {
			if p.w.Low > 0 {
				f.BrIf(p.no, waited.IsZero())
				p.branch(right, true, p.yes)
			}
			f.Br(p.no)
		})
	}
	if p.w.Low > 0 {
		f.If(waited.And(p.time.Gt(number(p.w.Low))), func() {
			p.scoped(func() { p.branch(right, true, p.yes) })
		})
	}
}

func (p *pathgen) stateReward() wasm.Expr[float64] {
	return p.rewardSum(func(it *sema.RewardItem) bool { return !it.Transition })
}

func (p *pathgen) choiceReward(action int) wasm.Expr[float64] {
	return p.rewardSum(func(it *sema.RewardItem) bool { return it.Transition && it.Action == action })
}

// rewardSum is the sum of the items that apply here.
func (p *pathgen) rewardSum(applies func(*sema.RewardItem) bool) wasm.Expr[float64] {
	sum := number(0)
	items := p.w.rewards.src.Items
	for i := range items {
		it := &items[i]
		if !applies(it) {
			continue
		}
		if guard := p.facts.simplify(p.b.expr(it.Guard)); guard != p.g.no {
			sum = sum.Add(p.rewardItem(guard, p.b.num(it.Value)))
		}
	}
	return sum
}

func (p *pathgen) rewardItem(guard, value *term) wasm.Expr[float64] {
	return func(f *wasm.Func) {
		p.note(guard)
		p.note(value)
		f.IfElse(wasm.F64, p.integer(guard), func() {
			p.scoped(func() { p.finite(value) })
		}, func() { number(0).Emit(f) })
	}
}

// finite pushes a reward, or bails out unless it is finite and not negative.
func (p *pathgen) finite(value *term) {
	reward := p.double(value)
	if !value.nan && value.flo >= 0 && value.fhi <= math.MaxFloat64 {
		reward.Emit(p.f)
		return
	}
	x := wasm.Local[float64](p.f)
	p.f.BrIf(p.bail, x.Tee(reward).Ge(number(0)).And(x.Le(number(math.MaxFloat64))).IsZero())
	x.Emit(p.f)
}
