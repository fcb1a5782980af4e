package compile

import (
	"math"

	"tilecheck/prism/compile/wasm"
	"tilecheck/prism/sema"
)

// This file is watch.go in WebAssembly: each method emits what the method of
// the same name there does.

// compareSteps pushes steps op x.
func (p *pathgen) compareSteps(op wasm.Opcode, x int64) {
	p.f.Get(p.steps)
	p.f.I64(x)
	p.f.Op(op)
}

// compareTime pushes time op x.
func (p *pathgen) compareTime(op wasm.Opcode, x float64) {
	p.f.Get(p.time)
	p.f.F64(x)
	p.f.Op(op)
}

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
		p.compareSteps(wasm.I64Eq, 1)
		p.f.If(wasm.Void)
		p.scoped(func() {
			p.branch(p.condition(p.w.Right), true, p.yes)
			p.f.Br(p.no)
		})
		p.f.End()
	case ReachReward:
		right := p.condition(p.w.Right)
		p.branch(right, true, p.yes)
		p.facts = p.facts.assume(right, false)
	case CumulReward:
		p.arrived()
		p.f.BrIf(p.yes)
	case InstantReward:
		p.arrived()
		p.f.If(wasm.Void)
		p.scoped(func() {
			p.stateReward()
			p.f.Set(p.reward)
			p.f.Br(p.yes)
		})
		p.f.End()
	}
}

func (p *pathgen) arrived() {
	if p.w.steps {
		p.compareSteps(wasm.I64GeS, p.w.high)
	} else {
		p.compareTime(wasm.F64Ge, p.w.High)
	}
}

// early pushes whether the lower bound is still ahead; it returns false and
// pushes nothing if there is none.
func (p *pathgen) early() bool {
	switch {
	case p.w.steps && p.w.low > 0:
		p.compareSteps(wasm.I64LtS, p.w.low)
	case !p.w.steps && p.w.Low > 0:
		p.compareTime(wasm.F64Lt, p.w.Low)
	default:
		return false
	}
	return true
}

func (p *pathgen) enterUntil() {
	right, left := p.condition(p.w.Right), p.condition(orTrue(p.w.Left))
	if p.w.steps && p.w.Bounded() {
		p.compareSteps(wasm.I64GtS, p.w.high)
		p.f.BrIf(p.no)
	}
	if p.early() {
		p.f.Op(wasm.I32Eqz)
		p.f.If(wasm.Void)
		p.scoped(func() { p.branch(right, true, p.yes) })
		p.f.End()
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
		if p.early() {
			f.If(wasm.Void)
			p.scoped(p.decideByRight)
			f.End()
		}
		p.end(False)
	case Next:
		p.decideByRight()
	case ReachReward:
		p.end(Undecided)
	case CumulReward:
		p.stateReward()
		p.remaining()
		f.Op(wasm.F64Mul)
		f.Get(p.reward)
		f.Op(wasm.F64Add)
		f.Set(p.reward)
		p.end(True)
	case InstantReward:
		p.stateReward()
		f.Set(p.reward)
		p.end(True)
	}
}

// decideByRight ends the path by the monitor's right side.
func (p *pathgen) decideByRight() {
	p.f.I32(int32(True))
	p.f.I32(int32(False))
	p.expr(p.condition(p.w.Right))
	p.f.Op(wasm.Select)
	p.f.Set(p.status)
	p.f.Br(p.finish)
}

// remaining pushes what is left of the horizon.
func (p *pathgen) remaining() {
	if p.w.steps {
		p.f.I64(p.w.high)
		p.f.Get(p.steps)
		p.f.Op(wasm.I64Sub, wasm.F64ConvertI64S)
		return
	}
	p.f.F64(p.w.High)
	p.f.Get(p.time)
	p.f.Op(wasm.F64Sub)
}

// advance is watch.step and watch.sojourn: it counts the step, adds its
// rewards and, in a CTMC, spends the sojourn time.
func (p *pathgen) advance(action int) {
	f := p.f
	if !p.w.steps {
		p.sojourn(action)
		return
	}
	p.countStep()
	if p.w.Kind == ReachReward || p.w.Kind == CumulReward {
		f.Get(p.reward)
		p.stateReward()
		p.choiceReward(action)
		f.Op(wasm.F64Add, wasm.F64Add)
		f.Set(p.reward)
	}
}

func (p *pathgen) countStep() {
	p.f.Get(p.steps)
	p.f.I64(1)
	p.f.Op(wasm.I64Add)
	p.f.Set(p.steps)
}

func (p *pathgen) sojourn(action int) {
	f := p.f
	dt, start := f.Local(wasm.F64), f.Local(wasm.F64)
	f.F64(1)
	p.drawUnit()
	f.Op(wasm.F64Sub)
	f.Call(p.hostLogUnit)
	f.Op(wasm.F64Neg)
	f.Get(p.rate)
	f.Op(wasm.F64Div)
	f.Set(dt)
	f.Get(p.time)
	f.Tee(start)
	f.Get(dt)
	f.Op(wasm.F64Add)
	f.Set(p.time)
	p.countStep()
	switch p.w.Kind {
	case Until:
		p.sojournUntil(start)
	case CumulReward:
		p.beyond(func() {
			p.stateReward()
			f.F64(p.w.High)
			f.Get(start)
			f.Op(wasm.F64Sub, wasm.F64Mul)
			f.Get(p.reward)
			f.Op(wasm.F64Add)
			f.Set(p.reward)
			f.Br(p.yes)
		})
		p.sojournReward(dt, action)
	case ReachReward:
		p.sojournReward(dt, action)
	case InstantReward:
		p.beyond(func() {
			p.stateReward()
			f.Set(p.reward)
			f.Br(p.yes)
		})
	}
}

// beyond emits code for when the horizon has passed.
func (p *pathgen) beyond(emit func()) {
	p.compareTime(wasm.F64Gt, p.w.High)
	p.f.If(wasm.Void)
	p.scoped(emit)
	p.f.End()
}

func (p *pathgen) sojournReward(dt uint32, action int) {
	f := p.f
	f.Get(p.reward)
	p.stateReward()
	f.Get(dt)
	f.Op(wasm.F64Mul)
	p.choiceReward(action)
	f.Op(wasm.F64Add, wasm.F64Add)
	f.Set(p.reward)
}

func (p *pathgen) sojournUntil(start uint32) {
	f := p.f
	right := p.condition(p.w.Right)
	waited := func() { // the lower bound was ahead before the sojourn
		f.Get(start)
		f.F64(p.w.Low)
		f.Op(wasm.F64Lt)
	}
	if p.w.Bounded() {
		p.beyond(func() {
			if p.w.Low > 0 {
				waited()
				f.Op(wasm.I32Eqz)
				p.f.BrIf(p.no)
				p.branch(right, true, p.yes)
			}
			f.Br(p.no)
		})
	}
	if p.w.Low > 0 {
		waited()
		p.compareTime(wasm.F64Gt, p.w.Low)
		f.Op(wasm.I32And)
		f.If(wasm.Void)
		p.scoped(func() { p.branch(right, true, p.yes) })
		f.End()
	}
}

func (p *pathgen) stateReward() {
	p.rewardSum(func(it *sema.RewardItem) bool { return !it.Transition })
}

func (p *pathgen) choiceReward(action int) {
	p.rewardSum(func(it *sema.RewardItem) bool { return it.Transition && it.Action == action })
}

// rewardSum pushes the sum of the items that apply here.
func (p *pathgen) rewardSum(applies func(*sema.RewardItem) bool) {
	p.f.F64(0)
	items := p.w.rewards.src.Items
	for i := range items {
		if it := &items[i]; applies(it) {
			p.rewardItem(p.facts.simplify(p.b.expr(it.Guard)), p.b.num(it.Value))
		}
	}
}

// rewardItem adds an item to the sum on the stack.
func (p *pathgen) rewardItem(guard, value *term) {
	f := p.f
	p.note(guard)
	p.note(value)
	if guard == p.g.no {
		return
	}
	safe := !value.nan && value.flo >= 0 && value.fhi <= math.MaxFloat64
	p.expr(guard)
	f.If(wasm.F64)
	p.scoped(func() {
		p.expr(value)
		if !safe {
			p.checkWeight()
		}
	})
	f.Else()
	f.F64(0)
	f.End()
	f.Op(wasm.F64Add)
}

// checkWeight bails out unless the number on the stack is finite and not negative.
func (p *pathgen) checkWeight() {
	x := p.f.Local(wasm.F64)
	p.f.Tee(x)
	p.f.F64(0)
	p.f.Op(wasm.F64Ge)
	p.f.Get(x)
	p.f.F64(math.MaxFloat64)
	p.f.Op(wasm.F64Le, wasm.I32And, wasm.I32Eqz)
	p.f.BrIf(p.bail)
	p.f.Get(x)
}
