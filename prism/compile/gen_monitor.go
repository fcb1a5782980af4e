package compile

import (
	"math"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/sema"
)

// This file is monitor.go in WebAssembly: each method emits the code of the Watch method
// with the same name.

// condition builds the term of a state expression and counts its uses.
func (p *moveGenerator) condition(e sema.Expr) *term {
	t := p.b.expr(e)
	p.countUses(t)
	return t
}

func (p *pathGenerator) enter() {
	switch p.w.Kind {
	case Until:
		p.enterUntil()
	case Next:
		p.f.If(p.steps.Eq(constI64(1)), func() {
			p.scoped(func() {
				p.branch(p.condition(p.w.Right), true, p.holds)
				p.f.Br(p.violated)
			})
		})
	case ReachReward:
		right := p.condition(p.w.Right)
		p.branch(right, true, p.holds)
		p.facts = p.facts.assume(right, false)
	case CumulReward:
		p.f.BrIf(p.holds, p.arrived())
	case InstantReward:
		p.f.If(p.arrived(), func() {
			p.scoped(func() {
				p.reward.Set(p.f, p.stateReward())
				p.f.Br(p.holds)
			})
		})
	}
}

func (p *pathGenerator) arrived() wasm.Expr[int32] {
	if p.w.steps {
		return p.steps.Ge(constI64(p.w.high))
	}
	return p.time.Ge(constF64(p.w.High))
}

// early emits whether the lower bound is not yet reached; nil if there is no lower bound.
func (p *pathGenerator) early() wasm.Expr[int32] {
	switch {
	case p.w.steps && p.w.low > 0:
		return p.steps.Lt(constI64(p.w.low))
	case !p.w.steps && p.w.Low > 0:
		return p.time.Lt(constF64(p.w.Low))
	}
	return nil
}

func (p *pathGenerator) enterUntil() {
	right, left := p.condition(p.w.Right), p.condition(orTrue(p.w.Left))
	if p.w.steps && p.w.Bounded() {
		p.f.BrIf(p.violated, p.steps.Gt(constI64(p.w.high)))
	}
	if early := p.early(); early != nil {
		p.f.If(early.IsZero(), func() {
			p.scoped(func() { p.branch(right, true, p.holds) })
		})
	} else {
		p.branch(right, true, p.holds)
		p.facts = p.facts.assume(right, false)
	}
	p.branch(left, false, p.violated)
	p.facts = p.facts.assume(left, true)
}

// deadlock decides the path in a state without choices. With NoFixDeadlocks that is an error, which the interpreter reports.
func (p *pathGenerator) deadlock() {
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
func (p *pathGenerator) decideByRight() {
	p.status.Set(p.f, wasm.Select[int32](p.integer(p.condition(p.w.Right)), constI32(int32(True)), constI32(int32(False))))
	p.f.Br(p.finish)
}

// remaining emits the rest of the horizon.
func (p *pathGenerator) remaining() wasm.Expr[float64] {
	if p.w.steps {
		return wasm.Double(constI64(p.w.high).Sub(p.steps))
	}
	return constF64(p.w.High).Sub(p.time)
}

// advance is Watch.Step and Watch.Sojourn: it counts the step, adds its rewards and, in a CTMC, adds the sojourn time.
func (p *pathGenerator) advance(action int) {
	if !p.w.steps {
		p.sojourn(action)
		return
	}
	p.countStep()
	if p.w.Kind == ReachReward || p.w.Kind == CumulReward {
		p.earn(p.stateReward(), action)
	}
}

func (p *pathGenerator) countStep() { p.steps.Set(p.f, p.steps.Add(constI64(1))) }

// earn adds the reward of a state and that of the choice.
func (p *pathGenerator) earn(state wasm.Expr[float64], action int) {
	p.reward.Set(p.f, p.reward.Add(state.Add(p.choiceReward(action))))
}

func (p *pathGenerator) sojourn(action int) {
	f := p.f
	dt, start := wasm.Local[float64](f), wasm.Local[float64](f)
	log := wasm.Call[float64, float64](p.hostLogUnit, constF64(1).Sub(p.drawUnit()))
	dt.Set(f, wasm.Convert[float64](wasm.F64Neg, log).Div(p.rate))
	p.time.Set(f, start.Tee(p.time).Add(dt))
	p.countStep()
	switch p.w.Kind {
	case Until:
		p.sojournUntil(start)
	case CumulReward:
		p.beyond(func() {
			p.reward.Set(f, p.stateReward().Mul(constF64(p.w.High).Sub(start)).Add(p.reward))
			f.Br(p.holds)
		})
		p.earn(p.stateReward().Mul(dt), action)
	case ReachReward:
		p.earn(p.stateReward().Mul(dt), action)
	case InstantReward:
		p.beyond(func() {
			p.reward.Set(f, p.stateReward())
			f.Br(p.holds)
		})
	}
}

// beyond emits code that runs if the horizon has passed.
func (p *pathGenerator) beyond(emit func()) {
	p.f.If(p.time.Gt(constF64(p.w.High)), func() { p.scoped(emit) })
}

func (p *pathGenerator) sojournUntil(start wasm.Var[float64]) {
	f := p.f
	right := p.condition(p.w.Right)
	waited := start.Lt(constF64(p.w.Low)) // the lower bound was not yet reached before the sojourn
	if p.w.Bounded() {
		p.beyond(func() {
			if p.w.Low > 0 {
				f.BrIf(p.violated, waited.IsZero())
				p.branch(right, true, p.holds)
			}
			f.Br(p.violated)
		})
	}
	if p.w.Low > 0 {
		f.If(waited.And(p.time.Gt(constF64(p.w.Low))), func() {
			p.scoped(func() { p.branch(right, true, p.holds) })
		})
	}
}

func (p *pathGenerator) stateReward() wasm.Expr[float64] {
	return p.rewardSum(func(it *sema.RewardItem) bool { return !it.Transition })
}

func (p *pathGenerator) choiceReward(action int) wasm.Expr[float64] {
	return p.rewardSum(func(it *sema.RewardItem) bool { return it.Transition && it.Action == action })
}

// rewardSum is the sum of the items that apply here.
func (p *pathGenerator) rewardSum(applies func(*sema.RewardItem) bool) wasm.Expr[float64] {
	sum := constF64(0)
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

func (p *pathGenerator) rewardItem(guard, value *term) wasm.Expr[float64] {
	return func(f *wasm.Func) {
		p.countUses(guard)
		p.countUses(value)
		f.IfElse(wasm.F64, p.integer(guard), func() {
			p.scoped(func() { p.finite(value) })
		}, func() { constF64(0).Emit(f) })
	}
}

// finite pushes a reward. It bails out if the reward is negative or not finite.
func (p *pathGenerator) finite(value *term) {
	reward := p.double(value)
	if !value.nan && value.flo >= 0 && value.fhi <= math.MaxFloat64 {
		reward.Emit(p.f)
		return
	}
	x := wasm.Local[float64](p.f)
	p.f.BrIf(p.bail, x.Tee(reward).Ge(constF64(0)).And(x.Le(constF64(math.MaxFloat64))).IsZero())
	x.Emit(p.f)
}
