package compile

import (
	"math"
	"slices"

	"tilecheck/prism/compile/wasm"
)

// The memory of the machine: the random streams of a batch, its outcomes, then
// tables. An outcome is status (i32, padded), steps, nondeterminism, time, reward.
const (
	batchSize    = 512
	streamSize   = 32
	outcomeSize  = 40
	outcomesAt   = batchSize * streamSize
	tablesAt     = outcomesAt + batchSize*outcomeSize
	statusBail   = int32(Failed)
	exportedRun  = "run"
	hostModule   = "host"
	maxMoves     = 4096
	maxUpdates   = 4096
	maxTermCount = 200_000
	maxCode      = 4 << 20
	maxMemory    = 16 << 20 // tables that would need more are not made
)

// pathGenerator emits the function that draws whole paths. Its structure is
//
//	for each sample: load the stream, set the initial state
//	  loop: process the state (enter), find the enabled moves (decisionTree),
//	        pick a move, apply its updates
//	  store the outcome
//
// The function stops after a budget of steps. It then saves the current path in
// globals, and the next call continues it.
type pathGenerator struct {
	moveGenerator
	w     *watch
	start []int32

	rng                                         [4]wasm.Var[int64]
	steps, limit                                wasm.Var[int64]
	nondet                                      wasm.Var[int64] // number of states with several choices
	time, reward                                wasm.Var[float64]
	count                                       wasm.Var[int32] // number of choices of the current state
	random                                      wasm.Var[int64]
	picked                                      wasm.Var[int32]
	rest, rate                                  wasm.Var[float64] // CTMC
	low, product                                wasm.Var[int64]
	hostLogUnit                                 uint32
	holds, violated, deadlockLabel, outOfBudget wasm.Label
	finish, step                                wasm.Label
	moveLabels                                  []wasm.Label
	status                                      wasm.Var[int32]
	suspended                                   wasm.Var[int32]
	saved                                       []saved
}

// saved copies a local of a suspended path to a global and back.
type saved struct{ keep, restore func() }

// emit builds the whole module. It returns nil if the model is too large.
func (p *pathGenerator) emit() []byte {
	p.declare()
	f := p.f
	i, n, budget, resume := wasm.Param[int32](0), wasm.Param[int32](1), wasm.Param[int64](2), wasm.Param[int32](3)
	begin := wasm.Local[int64](f)
	f.Block(func(exit wasm.Label) {
		f.Loop(func(sample wasm.Label) {
			f.BrIf(exit, i.GeU(n))
			p.begin(i, begin, budget, resume)
			p.path(i)
			p.store(i)
			budget.Set(f, budget.Sub(p.steps.Sub(begin)))
			i.Set(f, i.Add(constI32(1)))
			f.BrIf(sample, budget.Gt(constI64(0)))
		})
	})
	i.Emit(f)
	if f.Size() > maxCode {
		return nil
	}
	p.mod.Memory(uint32(p.used+0xffff) >> 16)
	return p.mod.Bytes()
}

// reserve allocates n bytes of memory, aligned to 8, and returns their address.
func (p *moveGenerator) reserve(n int) uint32 {
	at := p.used
	p.used += (n + 7) &^ 7
	return uint32(at)
}

// declareModel adds the imports and the variables.
func (p *moveGenerator) declareModel() {
	num, whole := []wasm.Type{wasm.F64, wasm.F64}, []wasm.Type{wasm.I32, wasm.I32}
	p.hostPow = p.mod.Import(hostModule, "pow", num, num[:1])
	p.hostLog = p.mod.Import(hostModule, "log", num, num[:1])
	p.hostIntPow = p.mod.Import(hostModule, "intpow", whole, []wasm.Type{wasm.I64})
	for range p.m.prog.Vars {
		p.slots = append(p.slots, wasm.Global[int32](p.mod))
	}
}

// declare adds the imports, globals and locals.
func (p *pathGenerator) declare() {
	p.declareModel()
	p.suspended = wasm.Global[int32](p.mod)
	if p.m.continuous() {
		p.hostLogUnit = p.logUnit()
	}
	p.f = p.mod.Func(exportedRun, []wasm.Type{wasm.I32, wasm.I32, wasm.I64, wasm.I32}, []wasm.Type{wasm.I32})
	for i := range p.rng {
		p.rng[i] = wasm.Local[int64](p.f)
	}
	for _, v := range []*wasm.Var[int64]{&p.steps, &p.limit, &p.nondet, &p.random, &p.low, &p.product} {
		*v = wasm.Local[int64](p.f)
	}
	for _, v := range []*wasm.Var[float64]{&p.time, &p.reward, &p.rest, &p.rate} {
		*v = wasm.Local[float64](p.f)
	}
	for _, v := range []*wasm.Var[int32]{&p.count, &p.picked, &p.status} {
		*v = wasm.Local[int32](p.f)
	}
	p.saved = slices.Concat(keptIn(p, p.steps, p.nondet), keptIn(p, p.time, p.reward), keptIn(p, p.rng[:]...))
	p.weightLocals(p.m.commands...)
}

// keptIn pairs locals with new globals.
func keptIn[T wasm.Number](p *pathGenerator, locals ...wasm.Var[T]) []saved {
	out := make([]saved, len(locals))
	for i, l := range locals {
		g := wasm.Global[T](p.mod)
		out[i] = saved{func() { g.Set(p.f, l) }, func() { l.Set(p.f, g) }}
	}
	return out
}

// begin initialises a sample, or restores the suspended one.
func (p *pathGenerator) begin(i wasm.Var[int32], begin, budget wasm.Var[int64], resume wasm.Var[int32]) {
	f := p.f
	goOn := wasm.Expr[int32](func(f *wasm.Func) {
		p.suspended.And(resume).Emit(f)
		p.suspended.Set(f, constI32(0))
	})
	f.IfElse(wasm.Void, goOn, func() {
		for _, x := range p.saved {
			x.restore()
		}
	}, func() {
		for k, l := range p.rng {
			l.Set(f, wasm.Load[int64](i.Mul(constI32(streamSize)), uint32(8*k)))
		}
		p.steps.Set(f, constI64(0))
		p.nondet.Set(f, constI64(0))
		p.time.Set(f, constF64(0))
		p.reward.Set(f, constF64(0))
		for slot, g := range p.slots {
			g.Set(f, constI32(p.start[slot]))
		}
	})
	p.limit.Set(f, begin.Tee(p.steps).Add(budget))
	if p.w.Limited() {
		most := constI64(p.w.MaxPath)
		p.limit.Set(f, wasm.Select[int64](most.Lt(p.limit), most, p.limit))
	}
}

// path emits the loop over the steps of a path, followed by the code for each way to end.
func (p *pathGenerator) path(i wasm.Var[int32]) {
	f := p.f
	f.Block(func(finish wasm.Label) {
		p.finish = finish
		for _, to := range []*wasm.Label{&p.bail, &p.outOfBudget, &p.deadlockLabel, &p.holds, &p.violated} {
			*to = f.Open()
		}
		f.Loop(func(step wasm.Label) {
			p.step = step
			p.scoped(func() {
				p.enter()
				p.evaluateFailing()
				p.choose()
			})
		})
		f.Op(wasm.Unreachable)
		f.End()
		p.end(False)
		f.End()
		p.end(True)
		f.End()
		p.scoped(p.deadlock)
		f.End()
		p.suspend(i)
		f.End()
		p.status.Set(f, constI32(statusBail))
	})
}

func (p *pathGenerator) end(s Status) {
	p.status.Set(p.f, constI32(int32(s)))
	p.f.Br(p.finish)
}

// suspend ends the path at MaxPath; otherwise it saves the path for the next call and returns.
func (p *pathGenerator) suspend(i wasm.Var[int32]) {
	f := p.f
	if p.w.Limited() {
		f.If(p.steps.Ge(constI64(p.w.MaxPath)), func() { p.end(Undecided) })
	}
	for _, x := range p.saved {
		x.keep()
	}
	p.suspended.Set(f, constI32(1))
	f.Return(i)
}

// store writes the outcome of sample i.
func (p *pathGenerator) store(i wasm.Var[int32]) {
	f := p.f
	at := wasm.Local[int32](f)
	at.Set(f, i.Mul(constI32(outcomeSize)))
	wasm.Store(f, at, outcomesAt, p.status)
	wasm.Store(f, at, outcomesAt+8, p.steps)
	wasm.Store(f, at, outcomesAt+16, p.nondet)
	wasm.Store(f, at, outcomesAt+24, p.time)
	wasm.Store(f, at, outcomesAt+32, p.reward)
}

// draw emits 64 random bits; see Stream.next.
func (p *pathGenerator) draw() wasm.Expr[int64] {
	return func(f *wasm.Func) {
		s, t := p.rng, p.low
		s[1].Mul(constI64(5)).Rotl(7).Mul(constI64(9)).Emit(f)
		t.Set(f, s[1].Shl(17))
		s[2].Set(f, s[2].Xor(s[0]))
		s[3].Set(f, s[3].Xor(s[1]))
		s[1].Set(f, s[1].Xor(s[2]))
		s[0].Set(f, s[0].Xor(s[3]))
		s[2].Set(f, s[2].Xor(t))
		s[3].Set(f, s[3].Rotl(45))
	}
}

// drawUnit emits a unit double; see Stream.Unit.
func (p *pathGenerator) drawUnit() wasm.Expr[float64] {
	return wasm.Double(p.draw().ShrU(11)).Mul(constF64(0x1p-53))
}

// drawBelow sets p.picked to an integer below p.count; see Stream.Below.
func (p *pathGenerator) drawBelow() {
	f := p.f
	n, threshold := wasm.Local[int64](f), wasm.Local[int64](f)
	low := func(x wasm.Expr[int64]) wasm.Expr[int64] { return x.And(constI64(math.MaxUint32)) }
	product := p.product.Tee(p.draw().ShrU(32).Mul(n))
	n.Set(f, wasm.ExtendU(p.count))
	f.If(low(product).LtU(n), func() {
		threshold.Set(f, wasm.ExtendU(constI32(0).Sub(p.count).RemU(p.count)))
		f.Block(func(done wasm.Label) {
			f.Loop(func(again wasm.Label) {
				f.BrIf(done, low(p.product.Expr).GeU(threshold))
				f.Drop(low(product))
				f.Br(again)
			})
		})
	})
	p.picked.Set(f, wasm.Wrap(p.product.ShrU(32)))
}

// logUnit emits the function logUnit and returns its index.
func (p *pathGenerator) logUnit() uint32 {
	f := p.mod.Func("", []wasm.Type{wasm.F64}, []wasm.Type{wasm.F64})
	u := wasm.Param[float64](0)
	k, x, s := wasm.Local[float64](f), wasm.Local[float64](f), wasm.Local[float64](f)
	s2, s4, r, half := wasm.Local[float64](f), wasm.Local[float64](f), wasm.Local[float64](f), wasm.Local[float64](f)
	k.Set(f, wasm.Double(wasm.Bits(u).ShrU(52).Sub(constI64(1022))))
	x.Set(f, wasm.Convert[float64](wasm.F64ReinterpretI64, wasm.Bits(u).And(constI64(1<<52-1)).Or(constI64(1022<<52))))
	f.If(x.Lt(constF64(math.Sqrt2/2)), func() {
		x.Set(f, x.Mul(constF64(2)))
		k.Set(f, k.Sub(constF64(1)))
	})
	x.Set(f, x.Sub(constF64(1)))
	s.Set(f, x.Div(constF64(2).Add(x)))
	s2.Set(f, s.Mul(s))
	s4.Set(f, s2.Mul(s2))
	t1 := s2.Mul(constF64(logL1).Add(s4.Mul(constF64(logL3).Add(s4.Mul(constF64(logL5).Add(s4.Mul(constF64(logL7))))))))
	t2 := s4.Mul(constF64(logL2).Add(s4.Mul(constF64(logL4).Add(s4.Mul(constF64(logL6))))))
	r.Set(f, t1.Add(t2))
	half.Set(f, constF64(0.5).Mul(x).Mul(x))
	k.Mul(constF64(ln2Hi)).Sub(half.Sub(s.Mul(half.Add(r)).Add(k.Mul(constF64(ln2Lo)))).Sub(x)).Emit(f)
	return f.Index
}
