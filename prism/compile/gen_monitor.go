package compile

import (
	"math"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/sema"
)

// This file emits what monitor.go does: each method emits the code of the method of Watch
// that its comment names.

// conditionTerm returns the term of an expression and counts a use of it.
func (g *moveGenerator) conditionTerm(expr sema.Expr) *term {
	term := g.builder.expr(expr)
	g.countUses(term)
	return term
}

// emitEnter emits code that runs when the path enters a state, and does the same as Watch.Enter. If the state decides the monitor, the code ends
// the path.
func (g *pathGenerator) emitEnter() {
	switch g.watch.Kind {
	case Until:
		g.emitEnterUntil()
	case Next:
		g.fn.If(g.steps.Eq(constI64(1)), func() {
			g.scoped(func() {
				g.jumpIf(g.conditionTerm(g.watch.Right), true, g.holds)
				g.fn.Br(g.violated)
			})
		})
	case ReachReward:
		right := g.conditionTerm(g.watch.Right)
		g.jumpIf(right, true, g.holds)
		g.facts = g.facts.assume(right, false)
	case CumulReward:
		g.fn.BrIf(g.holds, g.isAtHorizon())
	case InstantReward:
		g.fn.If(g.isAtHorizon(), func() {
			g.scoped(func() {
				g.reward.Set(g.fn, g.stateReward())
				g.fn.Br(g.holds)
			})
		})
	}
}

// isAtHorizon returns code that tests whether the path has reached the horizon of a reward.
func (g *pathGenerator) isAtHorizon() wasm.Expr[int32] {
	if g.watch.inSteps {
		return g.steps.Ge(constI64(g.watch.highStep))
	}
	return g.time.Ge(constF64(g.watch.High))
}

// isBeforeLowerBound returns code that tests whether the path has not yet reached the lower step or time bound of the formula. It returns nil
// if there is no lower bound.
func (g *pathGenerator) isBeforeLowerBound() wasm.Expr[int32] {
	switch {
	case g.watch.inSteps && g.watch.lowStep > 0:
		return g.steps.Lt(constI64(g.watch.lowStep))
	case !g.watch.inSteps && g.watch.Low > 0:
		return g.time.Lt(constF64(g.watch.Low))
	}
	return nil
}

// emitEnterUntil emits code that runs when the path enters a state. The code ends the path if the state decides the until formula. In the code
// that follows, the formula is undecided, and g.facts is updated with this.
func (g *pathGenerator) emitEnterUntil() {
	right, left := g.conditionTerm(g.watch.Right), g.conditionTerm(orTrue(g.watch.Left))
	if g.watch.inSteps && g.watch.Bounded() {
		g.fn.BrIf(g.violated, g.steps.Gt(constI64(g.watch.highStep)))
	}
	if isEarly := g.isBeforeLowerBound(); isEarly != nil {
		g.fn.If(isEarly.IsZero(), func() {
			g.scoped(func() { g.jumpIf(right, true, g.holds) })
		})
	} else {
		g.jumpIf(right, true, g.holds)
		g.facts = g.facts.assume(right, false)
	}
	g.jumpIf(left, false, g.violated)
	g.facts = g.facts.assume(left, true)
}

// emitDeadlock emits code that ends the path in a state without choices, and does the same as Watch.Deadlock. If deadlocks are errors, the code
// gives up, and the interpreter reports the error.
func (g *pathGenerator) emitDeadlock() {
	fn := g.fn
	if g.model.opts.NoFixDeadlocks {
		fn.Br(g.giveUp)
		return
	}
	switch g.watch.Kind {
	case Until:
		if isEarly := g.isBeforeLowerBound(); isEarly != nil {
			fn.If(isEarly, func() { g.scoped(g.decideByRight) })
		}
		g.endPath(False)
	case Next:
		g.decideByRight()
	case ReachReward:
		g.endPath(Undecided)
	case CumulReward:
		g.reward.Set(fn, g.stateReward().Mul(g.remainingHorizon()).Add(g.reward))
		g.endPath(True)
	case InstantReward:
		g.reward.Set(fn, g.stateReward())
		g.endPath(True)
	}
}

// decideByRight emits code that ends the path. The formula is true if the right operand of the monitor holds.
func (g *pathGenerator) decideByRight() {
	g.status.Set(g.fn, wasm.Select[int32](g.intCode(g.conditionTerm(g.watch.Right)), constI32(int32(True)), constI32(int32(False))))
	g.fn.Br(g.finish)
}

// remainingHorizon returns code for the steps, or the time in a CTMC, until the horizon.
func (g *pathGenerator) remainingHorizon() wasm.Expr[float64] {
	if g.watch.inSteps {
		return wasm.ToFloat64(constI64(g.watch.highStep).Sub(g.steps))
	}
	return constF64(g.watch.High).Sub(g.time)
}

// emitStep emits code that counts a step with the given action, adds its rewards, and in continuous time its sojourn time. The result is the same
// as with Watch.Step and Watch.Sojourn.
func (g *pathGenerator) emitStep(action int) {
	if !g.watch.inSteps {
		g.emitSojourn(action)
		return
	}
	g.countStep()
	if g.watch.Kind == ReachReward || g.watch.Kind == CumulReward {
		g.addRewards(g.stateReward(), action)
	}
}

// countStep emits code that counts a step.
func (g *pathGenerator) countStep() { g.steps.Set(g.fn, g.steps.Add(constI64(1))) }

// addRewards emits code that adds the reward of a state and the reward of an action.
func (g *pathGenerator) addRewards(state wasm.Expr[float64], action int) {
	g.reward.Set(g.fn, g.reward.Add(state.Add(g.choiceReward(action))))
}

// emitSojourn emits code that draws an exponentially distributed sojourn time, and adds the time and its rewards, as Watch.Sojourn does. The code
// ends the path if a time bound decides the monitor during the sojourn.
func (g *pathGenerator) emitSojourn(action int) {
	fn := g.fn
	duration, start := wasm.Local[float64](fn), wasm.Local[float64](fn)
	log := wasm.Call[float64, float64](g.logUnit, constF64(1).Sub(g.drawUnit()))
	duration.Set(fn, wasm.Convert[float64](wasm.F64Neg, log).Div(g.totalExitRate))
	g.time.Set(fn, start.Tee(g.time).Add(duration))
	g.countStep()
	switch g.watch.Kind {
	case Until:
		g.emitSojournUntil(start)
	case CumulReward:
		g.ifPastHorizon(func() {
			g.reward.Set(fn, g.stateReward().Mul(constF64(g.watch.High).Sub(start)).Add(g.reward))
			fn.Br(g.holds)
		})
		g.addRewards(g.stateReward().Mul(duration), action)
	case ReachReward:
		g.addRewards(g.stateReward().Mul(duration), action)
	case InstantReward:
		g.ifPastHorizon(func() {
			g.reward.Set(fn, g.stateReward())
			fn.Br(g.holds)
		})
	}
}

// ifPastHorizon emits code that runs if the upper time bound or the horizon has passed.
func (g *pathGenerator) ifPastHorizon(emit func()) {
	g.fn.If(g.time.Gt(constF64(g.watch.High)), func() { g.scoped(emit) })
}

// emitSojournUntil emits code that ends the path if a time bound decides an until formula during the sojourn. The sojourn begins at start
// and ends at g.time.
func (g *pathGenerator) emitSojournUntil(start wasm.Var[float64]) {
	fn := g.fn
	right := g.conditionTerm(g.watch.Right)
	startsEarly := start.Lt(constF64(g.watch.Low)) // before the lower bound
	if g.watch.Bounded() {
		g.ifPastHorizon(func() {
			if g.watch.Low > 0 {
				fn.BrIf(g.violated, startsEarly.IsZero())
				g.jumpIf(right, true, g.holds)
			}
			fn.Br(g.violated)
		})
	}
	if g.watch.Low > 0 {
		fn.If(startsEarly.And(g.time.Gt(constF64(g.watch.Low))), func() {
			g.scoped(func() { g.jumpIf(right, true, g.holds) })
		})
	}
}

// stateReward returns code for the reward of the current state.
func (g *pathGenerator) stateReward() wasm.Expr[float64] {
	return g.rewardSum(func(item *sema.RewardItem) bool { return !item.Transition })
}

// choiceReward returns code for the reward of a choice with an action.
func (g *pathGenerator) choiceReward(action int) wasm.Expr[float64] {
	return g.rewardSum(func(item *sema.RewardItem) bool { return item.Transition && item.Action == action })
}

// rewardSum returns code for the sum of the selected reward items whose guards hold.
func (g *pathGenerator) rewardSum(isSelected func(*sema.RewardItem) bool) wasm.Expr[float64] {
	sum := constF64(0)
	items := g.watch.rewards.structure.Items
	for i := range items {
		item := &items[i]
		if !isSelected(item) {
			continue
		}
		if guard := g.facts.simplify(g.builder.expr(item.Guard)); guard != g.graph.falseTerm {
			sum = sum.Add(g.rewardItem(guard, g.builder.floatExpr(item.Value)))
		}
	}
	return sum
}

// rewardItem returns code for the value of a reward item, or 0 if its guard does not hold.
func (g *pathGenerator) rewardItem(guard, value *term) wasm.Expr[float64] {
	return func(fn *wasm.Func) {
		g.countUses(guard)
		g.countUses(value)
		fn.IfElse(wasm.F64, g.intCode(guard),
			func() { g.scoped(func() { g.checkedReward(value) }) },
			func() { constF64(0).Emit(fn) })
	}
}

// checkedReward emits code that pushes the value of a reward. The code gives up if the reward is negative, infinite or NaN.
func (g *pathGenerator) checkedReward(value *term) {
	reward := g.floatCode(value)
	isAlwaysValid := !value.maybeNaN && value.floatLow >= 0 && value.floatHigh <= math.MaxFloat64
	if isAlwaysValid {
		reward.Emit(g.fn)
		return
	}
	computed := wasm.InLocal(g.fn, reward)
	isValid := computed.Ge(constF64(0)).And(computed.Le(constF64(math.MaxFloat64))) // false for NaN
	g.fn.BrIf(g.giveUp, isValid.IsZero())
	computed.Emit(g.fn)
}
