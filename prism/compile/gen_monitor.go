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

// emitEnter emits code that evaluates the property of the path (the monitor) when the path enters a state. If the state decides the property, the code ends the
// path. The interpreter does the same in Watch.Enter.
func (g *pathGenerator) emitEnter() {
	switch g.monitor.Kind {
	case Until:
		g.emitEnterUntil()
	case Next:
		g.wasmFunc.If(g.steps.Eq(constI64(1)), func() {
			g.emitInScope(func() {
				g.jumpIf(g.conditionTerm(g.monitor.Right), true, g.holdsLabel)
				g.wasmFunc.Br(g.violatedLabel)
			})
		})
	case ReachReward:
		right := g.conditionTerm(g.monitor.Right)
		g.jumpIf(right, true, g.holdsLabel)
		g.facts = g.facts.assume(right, false)
	case CumulReward:
		g.wasmFunc.BrIf(g.holdsLabel, g.isAtHorizon())
	case InstantReward:
		g.wasmFunc.If(g.isAtHorizon(), func() {
			g.emitInScope(func() {
				g.reward.Set(g.wasmFunc, g.stateReward())
				g.wasmFunc.Br(g.holdsLabel)
			})
		})
	}
}

// isAtHorizon returns code that tests whether the path has reached the horizon of a reward.
func (g *pathGenerator) isAtHorizon() wasm.Expr[int32] {
	if g.monitor.inSteps {
		return g.steps.Ge(constI64(g.monitor.highStep))
	}
	return g.time.Ge(constF64(g.monitor.High))
}

// isBeforeLowerBound returns code that tests whether the path has not yet reached the lower step or time bound of the formula. It returns nil
// if there is no lower bound.
func (g *pathGenerator) isBeforeLowerBound() wasm.Expr[int32] {
	switch {
	case g.monitor.inSteps && g.monitor.lowStep > 0:
		return g.steps.Lt(constI64(g.monitor.lowStep))
	case !g.monitor.inSteps && g.monitor.Low > 0:
		return g.time.Lt(constF64(g.monitor.Low))
	}
	return nil
}

// emitEnterUntil emits code that runs when the path enters a state. The code ends the path if the state decides the until formula. In the code
// that follows, the formula is undecided, and g.facts is updated with this.
func (g *pathGenerator) emitEnterUntil() {
	right, left := g.conditionTerm(g.monitor.Right), g.conditionTerm(orTrue(g.monitor.Left))
	if g.monitor.inSteps && g.monitor.Bounded() {
		g.wasmFunc.BrIf(g.violatedLabel, g.steps.Gt(constI64(g.monitor.highStep)))
	}
	if isEarly := g.isBeforeLowerBound(); isEarly != nil {
		g.wasmFunc.If(isEarly.IsZero(), func() {
			g.emitInScope(func() { g.jumpIf(right, true, g.holdsLabel) })
		})
	} else {
		g.jumpIf(right, true, g.holdsLabel)
		g.facts = g.facts.assume(right, false)
	}
	g.jumpIf(left, false, g.violatedLabel)
	g.facts = g.facts.assume(left, true)
}

// emitDeadlock emits code that ends the path in a state without choices: the path stays there forever, as in Watch.Deadlock of the interpreter. If deadlocks
// are errors, the code jumps to giveUpLabel, and the interpreter reports the error.
func (g *pathGenerator) emitDeadlock() {
	wasmFunc := g.wasmFunc
	if g.model.options.NoFixDeadlocks {
		wasmFunc.Br(g.giveUpLabel)
		return
	}
	switch g.monitor.Kind {
	case Until:
		if isEarly := g.isBeforeLowerBound(); isEarly != nil {
			wasmFunc.If(isEarly, func() { g.emitInScope(g.decideByRight) })
		}
		g.endPath(False)
	case Next:
		g.decideByRight()
	case ReachReward:
		g.endPath(Undecided)
	case CumulReward:
		g.reward.Set(wasmFunc, g.stateReward().Mul(g.remainingHorizon()).Add(g.reward))
		g.endPath(True)
	case InstantReward:
		g.reward.Set(wasmFunc, g.stateReward())
		g.endPath(True)
	}
}

// decideByRight emits code that ends the path. The formula is true if the right operand of the monitor holds.
func (g *pathGenerator) decideByRight() {
	g.status.Set(g.wasmFunc, wasm.Select[int32](g.intCode(g.conditionTerm(g.monitor.Right)), constI32(int32(True)), constI32(int32(False))))
	g.wasmFunc.Br(g.finish)
}

// remainingHorizon returns code for the steps, or the time in a CTMC, until the horizon.
func (g *pathGenerator) remainingHorizon() wasm.Expr[float64] {
	if g.monitor.inSteps {
		return wasm.ToFloat64(constI64(g.monitor.highStep).Sub(g.steps))
	}
	return constF64(g.monitor.High).Sub(g.time)
}

// emitStep emits code that counts a step with the given action and adds its rewards. In continuous time, it also adds the sojourn time. The interpreter does
// the same in Watch.Step and Watch.Sojourn.
func (g *pathGenerator) emitStep(action int) {
	if !g.monitor.inSteps {
		g.emitSojourn(action)
		return
	}
	g.countStep()
	if g.monitor.Kind == ReachReward || g.monitor.Kind == CumulReward {
		g.addRewards(g.stateReward(), action)
	}
}

// countStep emits code that counts a step.
func (g *pathGenerator) countStep() { g.steps.Set(g.wasmFunc, g.steps.Add(constI64(1))) }

// addRewards emits code that adds the reward of a state and the reward of an action.
func (g *pathGenerator) addRewards(state wasm.Expr[float64], action int) {
	g.reward.Set(g.wasmFunc, g.reward.Add(state.Add(g.choiceReward(action))))
}

// emitSojourn emits code that draws an exponentially distributed sojourn time in a state of a CTMC, and adds this time and its rewards. If a time bound decides
// the property (the monitor) during the sojourn, the code ends the path. The interpreter does the same in Watch.Sojourn.
func (g *pathGenerator) emitSojourn(action int) {
	wasmFunc := g.wasmFunc
	duration, startTime := wasm.Local[float64](wasmFunc), wasm.Local[float64](wasmFunc)
	logarithm := wasm.Call[float64, float64](g.logFunction, constF64(1).Sub(g.drawUniform()))
	duration.Set(wasmFunc, wasm.Convert[float64](wasm.F64Neg, logarithm).Div(g.totalExitRate))
	g.time.Set(wasmFunc, startTime.Tee(g.time).Add(duration))
	g.countStep()
	switch g.monitor.Kind {
	case Until:
		g.emitSojournUntil(startTime)
	case CumulReward:
		g.ifPastHorizon(func() {
			g.reward.Set(wasmFunc, g.stateReward().Mul(constF64(g.monitor.High).Sub(startTime)).Add(g.reward))
			wasmFunc.Br(g.holdsLabel)
		})
		g.addRewards(g.stateReward().Mul(duration), action)
	case ReachReward:
		g.addRewards(g.stateReward().Mul(duration), action)
	case InstantReward:
		g.ifPastHorizon(func() {
			g.reward.Set(wasmFunc, g.stateReward())
			wasmFunc.Br(g.holdsLabel)
		})
	}
}

// ifPastHorizon emits code that runs if the upper time bound or the horizon has passed.
func (g *pathGenerator) ifPastHorizon(emit func()) {
	g.wasmFunc.If(g.time.Gt(constF64(g.monitor.High)), func() { g.emitInScope(emit) })
}

// emitSojournUntil emits code that ends the path if a time bound decides an until formula during the sojourn. The sojourn begins at start
// and ends at g.time.
func (g *pathGenerator) emitSojournUntil(start wasm.Var[float64]) {
	wasmFunc := g.wasmFunc
	right := g.conditionTerm(g.monitor.Right)
	startsEarly := start.Lt(constF64(g.monitor.Low)) // before the lower bound
	if g.monitor.Bounded() {
		g.ifPastHorizon(func() {
			if g.monitor.Low > 0 {
				wasmFunc.BrIf(g.violatedLabel, startsEarly.IsZero())
				g.jumpIf(right, true, g.holdsLabel)
			}
			wasmFunc.Br(g.violatedLabel)
		})
	}
	if g.monitor.Low > 0 {
		wasmFunc.If(startsEarly.And(g.time.Gt(constF64(g.monitor.Low))), func() {
			g.emitInScope(func() { g.jumpIf(right, true, g.holdsLabel) })
		})
	}
}

// stateReward returns code for the reward of the current state.
func (g *pathGenerator) stateReward() wasm.Expr[float64] {
	return g.rewardSum(func(item *sema.RewardItem) bool { return !item.IsTransition })
}

// choiceReward returns code for the reward of a choice with an action.
func (g *pathGenerator) choiceReward(action int) wasm.Expr[float64] {
	return g.rewardSum(func(item *sema.RewardItem) bool { return item.IsTransition && item.Action == action })
}

// rewardSum returns code for the sum of the selected reward items whose guards hold.
func (g *pathGenerator) rewardSum(isSelected func(*sema.RewardItem) bool) wasm.Expr[float64] {
	sum := constF64(0)
	items := g.monitor.rewards.structure.Items
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
	return func(wasmFunc *wasm.Func) {
		g.countUses(guard)
		g.countUses(value)
		wasmFunc.IfElse(wasm.F64, g.intCode(guard),
			func() { g.emitInScope(func() { g.checkedReward(value) }) },
			func() { constF64(0).Emit(wasmFunc) })
	}
}

// checkedReward emits code that pushes the value of a reward. If the reward is infinite or NaN, the code jumps to giveUpLabel, and the interpreter
// reports the error.
func (g *pathGenerator) checkedReward(value *term) {
	rewardCode := g.floatCode(value)
	isAlwaysValid := !value.maybeNaN && value.floatLow >= -math.MaxFloat64 && value.floatHigh <= math.MaxFloat64
	if isAlwaysValid {
		rewardCode.Emit(g.wasmFunc)
		return
	}
	rewardLocal := wasm.InLocal(g.wasmFunc, rewardCode)
	isValid := rewardLocal.Ge(constF64(-math.MaxFloat64)).And(rewardLocal.Le(constF64(math.MaxFloat64))) // false for NaN
	g.wasmFunc.BrIf(g.giveUpLabel, isValid.IsZero())
	rewardLocal.Emit(g.wasmFunc)
}
