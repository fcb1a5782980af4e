package compile

import (
	"math"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/sema"
)

// This file emits what monitor.go does: each method emits the code of the method of Watch
// that its comment names.

// conditionTerm returns the term of a state expression and counts a use of it.
func (p *moveGenerator) conditionTerm(expr sema.Expr) *term {
	term := p.builder.expr(expr)
	p.countUses(term)
	return term
}

// enter emits the code that runs when the path enters a state, with the same effect as Watch.Enter: it ends the path if the monitor
// is decided.
func (p *pathGenerator) enter() {
	switch p.watch.Kind {
	case Until:
		p.enterUntil()
	case Next:
		p.fn.If(p.steps.Eq(constI64(1)), func() {
			p.scoped(func() {
				p.jumpIf(p.conditionTerm(p.watch.Right), true, p.holds)
				p.fn.Br(p.violated)
			})
		})
	case ReachReward:
		right := p.conditionTerm(p.watch.Right)
		p.jumpIf(right, true, p.holds)
		p.facts = p.facts.assume(right, false)
	case CumulReward:
		p.fn.BrIf(p.holds, p.atHorizon())
	case InstantReward:
		p.fn.If(p.atHorizon(), func() {
			p.scoped(func() {
				p.reward.Set(p.fn, p.stateReward())
				p.fn.Br(p.holds)
			})
		})
	}
}

// atHorizon emits Watch.atHorizon: whether the horizon of a reward has been reached.
func (p *pathGenerator) atHorizon() wasm.Expr[int32] {
	if p.watch.inSteps {
		return p.steps.Ge(constI64(p.watch.highStep))
	}
	return p.time.Ge(constF64(p.watch.High))
}

// beforeLowerBound returns code that tests whether the path is still before the lower bound of the formula, as Watch.beforeLowerBound
// does. It returns nil if there is no lower bound.
func (p *pathGenerator) beforeLowerBound() wasm.Expr[int32] {
	switch {
	case p.watch.inSteps && p.watch.lowStep > 0:
		return p.steps.Lt(constI64(p.watch.lowStep))
	case !p.watch.inSteps && p.watch.Low > 0:
		return p.time.Lt(constF64(p.watch.Low))
	}
	return nil
}

// enterUntil emits the counterpart of Watch.enterUntil for the moment when the path enters a state: it ends the path if the until formula is
// decided. Behind this code the formula is undecided, and p.facts says so.
func (p *pathGenerator) enterUntil() {
	right, left := p.conditionTerm(p.watch.Right), p.conditionTerm(orTrue(p.watch.Left))
	if p.watch.inSteps && p.watch.Bounded() {
		p.fn.BrIf(p.violated, p.steps.Gt(constI64(p.watch.highStep)))
	}
	if early := p.beforeLowerBound(); early != nil {
		p.fn.If(early.IsZero(), func() {
			p.scoped(func() { p.jumpIf(right, true, p.holds) })
		})
	} else {
		p.jumpIf(right, true, p.holds)
		p.facts = p.facts.assume(right, false)
	}
	p.jumpIf(left, false, p.violated)
	p.facts = p.facts.assume(left, true)
}

// deadlock emits the code that ends the path in a state without choices, in which it would stay forever, as Watch.Deadlock does. If
// deadlocks are errors (NoFixDeadlocks), the code gives up, and the interpreter reports the error.
func (p *pathGenerator) deadlock() {
	fn := p.fn
	if p.model.opts.NoFixDeadlocks {
		fn.Br(p.giveUp)
		return
	}
	switch p.watch.Kind {
	case Until:
		if early := p.beforeLowerBound(); early != nil {
			fn.If(early, func() { p.scoped(p.decideByRight) })
		}
		p.endPath(False)
	case Next:
		p.decideByRight()
	case ReachReward:
		p.endPath(Undecided)
	case CumulReward:
		p.reward.Set(fn, p.stateReward().Mul(p.remainingHorizon()).Add(p.reward))
		p.endPath(True)
	case InstantReward:
		p.reward.Set(fn, p.stateReward())
		p.endPath(True)
	}
}

// decideByRight emits code that ends the path: the formula is true if the right-hand side of the monitor holds here.
func (p *pathGenerator) decideByRight() {
	p.status.Set(p.fn, wasm.Select[int32](p.intCode(p.conditionTerm(p.watch.Right)), constI32(int32(True)), constI32(int32(False))))
	p.fn.Br(p.finish)
}

// remainingHorizon emits the steps, or the time in a CTMC, from here to the horizon.
func (p *pathGenerator) remainingHorizon() wasm.Expr[float64] {
	if p.watch.inSteps {
		return wasm.ToFloat64(constI64(p.watch.highStep).Sub(p.steps))
	}
	return constF64(p.watch.High).Sub(p.time)
}

// advance emits code that counts a step by an action and adds its rewards and, in a CTMC, its sojourn time. It does what Watch.Step
// and Watch.Sojourn do.
func (p *pathGenerator) advance(action int) {
	if !p.watch.inSteps {
		p.sojourn(action)
		return
	}
	p.countStep()
	if p.watch.Kind == ReachReward || p.watch.Kind == CumulReward {
		p.addRewards(p.stateReward(), action)
	}
}

// countStep emits code that counts a step.
func (p *pathGenerator) countStep() { p.steps.Set(p.fn, p.steps.Add(constI64(1))) }

// addRewards emits code that adds the reward of a state and the reward of leaving it by a choice with the given action.
func (p *pathGenerator) addRewards(state wasm.Expr[float64], action int) {
	p.reward.Set(p.fn, p.reward.Add(state.Add(p.choiceReward(action))))
}

// sojourn emits code that draws an exponentially distributed sojourn time and adds it and its rewards, as Watch.Sojourn does. The code
// ends the path if a time bound passes during the sojourn.
func (p *pathGenerator) sojourn(action int) {
	fn := p.fn
	duration, start := wasm.Local[float64](fn), wasm.Local[float64](fn)
	log := wasm.Call[float64, float64](p.hostLogUnit, constF64(1).Sub(p.drawUnit()))
	duration.Set(fn, wasm.Convert[float64](wasm.F64Neg, log).Div(p.totalExitRate))
	p.time.Set(fn, start.Tee(p.time).Add(duration))
	p.countStep()
	switch p.watch.Kind {
	case Until:
		p.sojournUntil(start)
	case CumulReward:
		p.ifPastHorizon(func() {
			p.reward.Set(fn, p.stateReward().Mul(constF64(p.watch.High).Sub(start)).Add(p.reward))
			fn.Br(p.holds)
		})
		p.addRewards(p.stateReward().Mul(duration), action)
	case ReachReward:
		p.addRewards(p.stateReward().Mul(duration), action)
	case InstantReward:
		p.ifPastHorizon(func() {
			p.reward.Set(fn, p.stateReward())
			fn.Br(p.holds)
		})
	}
}

// ifPastHorizon emits code that runs if the upper time bound or the horizon has passed.
func (p *pathGenerator) ifPastHorizon(emit func()) {
	p.fn.If(p.time.Gt(constF64(p.watch.High)), func() { p.scoped(emit) })
}

// sojournUntil emits code that ends the path if the end of the sojourn is after a time bound of an until formula and this decides the
// formula. start is the time at which the state was entered, p.time the end of the sojourn.
func (p *pathGenerator) sojournUntil(start wasm.Var[float64]) {
	fn := p.fn
	right := p.conditionTerm(p.watch.Right)
	enteredEarly := start.Lt(constF64(p.watch.Low)) // the state was entered before the lower bound
	if p.watch.Bounded() {
		p.ifPastHorizon(func() {
			if p.watch.Low > 0 {
				fn.BrIf(p.violated, enteredEarly.IsZero())
				p.jumpIf(right, true, p.holds)
			}
			fn.Br(p.violated)
		})
	}
	if p.watch.Low > 0 {
		fn.If(enteredEarly.And(p.time.Gt(constF64(p.watch.Low))), func() {
			p.scoped(func() { p.jumpIf(right, true, p.holds) })
		})
	}
}

// stateReward emits the reward of the current state.
func (p *pathGenerator) stateReward() wasm.Expr[float64] {
	return p.rewardSum(func(item *sema.RewardItem) bool { return !item.Transition })
}

// choiceReward emits the reward of a choice with the given action.
func (p *pathGenerator) choiceReward(action int) wasm.Expr[float64] {
	return p.rewardSum(func(item *sema.RewardItem) bool { return item.Transition && item.Action == action })
}

// rewardSum emits the sum of the reward items for which applies returns true and whose guards hold.
func (p *pathGenerator) rewardSum(applies func(*sema.RewardItem) bool) wasm.Expr[float64] {
	sum := constF64(0)
	items := p.watch.rewards.structure.Items
	for i := range items {
		item := &items[i]
		if !applies(item) {
			continue
		}
		if guard := p.facts.simplify(p.builder.expr(item.Guard)); guard != p.graph.falseTerm {
			sum = sum.Add(p.rewardItem(guard, p.builder.floatExpr(item.Value)))
		}
	}
	return sum
}

// rewardItem emits the value of a reward item if its guard holds, otherwise zero.
func (p *pathGenerator) rewardItem(guard, value *term) wasm.Expr[float64] {
	return func(fn *wasm.Func) {
		p.countUses(guard)
		p.countUses(value)
		fn.IfElse(wasm.F64, p.intCode(guard), func() {
			p.scoped(func() { p.checkedReward(value) })
		}, func() { constF64(0).Emit(fn) })
	}
}

// checkedReward emits code that pushes a reward. It gives up if the reward is negative or not finite.
func (p *pathGenerator) checkedReward(value *term) {
	reward := p.floatCode(value)
	if !value.maybeNaN && value.floatLow >= 0 && value.floatHigh <= math.MaxFloat64 {
		reward.Emit(p.fn)
		return
	}
	kept := wasm.Local[float64](p.fn)
	p.fn.BrIf(p.giveUp, kept.Tee(reward).Ge(constF64(0)).And(kept.Le(constF64(math.MaxFloat64))).IsZero())
	kept.Emit(p.fn)
}
