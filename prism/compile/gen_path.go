package compile

import (
	"math"
	"slices"

	"tilecheck/prism/compile/wasm"
)

// The memory of the machine contains the random streams of a batch, its outcomes, then
// tables. An outcome consists of status (i32, padded), steps, nondeterminism, time and reward.
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
	maxMemory    = 16 << 20 // no table is made that needs more
)

// pathGenerator emits the function that draws paths. The function has this structure:
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
	watch        *watch
	initialState []int32

	rng                                         [4]wasm.Var[int64]
	steps, maxSteps                             wasm.Var[int64]
	nondet                                      wasm.Var[int64] // number of states with several choices
	time, reward                                wasm.Var[float64]
	numChoices                                  wasm.Var[int32] // number of choices of the current state
	randomBits                                  wasm.Var[int64]
	pickedIndex                                 wasm.Var[int32]
	remainder, totalExitRate                    wasm.Var[float64] // CTMC
	scratch, product                            wasm.Var[int64]
	hostLogUnit                                 uint32
	holds, violated, deadlockLabel, outOfBudget wasm.Label
	finish, nextStep                            wasm.Label
	moveLabels                                  []wasm.Label
	status                                      wasm.Var[int32]
	suspended                                   wasm.Var[int32]
	savedLocals                                 []savedLocal
}

// savedLocal copies a local of a suspended path to a global, and back.
type savedLocal struct{ save, restore func() }

// emitModule emits the main function and returns the module; nil if the code is too large.
func (p *pathGenerator) emitModule() []byte {
	p.declare()
	fn := p.fn
	index, numSamples, budget, resume := wasm.Param[int32](0), wasm.Param[int32](1), wasm.Param[int64](2), wasm.Param[int32](3)
	begin := wasm.Local[int64](fn)
	fn.Block(func(exit wasm.Label) {
		fn.Loop(func(sample wasm.Label) {
			fn.BrIf(exit, index.GeU(numSamples))
			p.startSample(index, begin, budget, resume)
			p.emitPath(index)
			p.storeOutcome(index)
			budget.Set(fn, budget.Sub(p.steps.Sub(begin)))
			index.Set(fn, index.Add(constI32(1)))
			fn.BrIf(sample, budget.Gt(constI64(0)))
		})
	})
	index.Emit(fn)
	if fn.Size() > maxCode {
		return nil
	}
	p.module.Memory(uint32(p.memoryUsed+0xffff) >> 16)
	return p.module.Bytes()
}

// reserve allocates n bytes of memory, aligned to 8 bytes, and returns their address.
func (p *moveGenerator) reserve(n int) uint32 {
	at := p.memoryUsed
	p.memoryUsed += (n + 7) &^ 7
	return uint32(at)
}

// declareModel declares the imported host functions, and a global for each variable of the model.
func (p *moveGenerator) declareModel() {
	floats, ints := []wasm.Type{wasm.F64, wasm.F64}, []wasm.Type{wasm.I32, wasm.I32}
	p.hostPow = p.module.Import(hostModule, "pow", floats, floats[:1])
	p.hostLog = p.module.Import(hostModule, "log", floats, floats[:1])
	p.hostIntPow = p.module.Import(hostModule, "intpow", ints, []wasm.Type{wasm.I64})
	for range p.model.program.Vars {
		p.slots = append(p.slots, wasm.Global[int32](p.module))
	}
}

// declare declares the imports, the main function, the globals and the locals.
func (p *pathGenerator) declare() {
	p.declareModel()
	p.suspended = wasm.Global[int32](p.module)
	if p.model.continuous() {
		p.hostLogUnit = p.logUnit()
	}
	p.fn = p.module.Func(exportedRun, []wasm.Type{wasm.I32, wasm.I32, wasm.I64, wasm.I32}, []wasm.Type{wasm.I32})
	for i := range p.rng {
		p.rng[i] = wasm.Local[int64](p.fn)
	}
	for _, local := range []*wasm.Var[int64]{&p.steps, &p.maxSteps, &p.nondet, &p.randomBits, &p.scratch, &p.product} {
		*local = wasm.Local[int64](p.fn)
	}
	for _, local := range []*wasm.Var[float64]{&p.time, &p.reward, &p.remainder, &p.totalExitRate} {
		*local = wasm.Local[float64](p.fn)
	}
	for _, local := range []*wasm.Var[int32]{&p.numChoices, &p.pickedIndex, &p.status} {
		*local = wasm.Local[int32](p.fn)
	}
	p.savedLocals = slices.Concat(savedIn(p, p.steps, p.nondet), savedIn(p, p.time, p.reward), savedIn(p, p.rng[:]...))
	p.weightLocals(p.model.commands...)
}

// savedIn declares a global for each local, in which the local is saved.
func savedIn[T wasm.Number](generator *pathGenerator, locals ...wasm.Var[T]) []savedLocal {
	out := make([]savedLocal, len(locals))
	for i, local := range locals {
		global := wasm.Global[T](generator.module)
		out[i] = savedLocal{func() { global.Set(generator.fn, local) }, func() { local.Set(generator.fn, global) }}
	}
	return out
}

// startSample emits code that starts a path, or restores the suspended one. It sets maxSteps from the step budget.
func (p *pathGenerator) startSample(index wasm.Var[int32], begin, budget wasm.Var[int64], resume wasm.Var[int32]) {
	fn := p.fn
	goOn := wasm.Expr[int32](func(fn *wasm.Func) {
		p.suspended.And(resume).Emit(fn)
		p.suspended.Set(fn, constI32(0))
	})
	fn.IfElse(wasm.Void, goOn, func() {
		for _, saved := range p.savedLocals {
			saved.restore()
		}
	}, func() {
		for wordIndex, word := range p.rng {
			word.Set(fn, wasm.Load[int64](index.Mul(constI32(streamSize)), uint32(8*wordIndex)))
		}
		p.steps.Set(fn, constI64(0))
		p.nondet.Set(fn, constI64(0))
		p.time.Set(fn, constF64(0))
		p.reward.Set(fn, constF64(0))
		for slot, global := range p.slots {
			global.Set(fn, constI32(p.initialState[slot]))
		}
	})
	p.maxSteps.Set(fn, begin.Tee(p.steps).Add(budget))
	if p.watch.Limited() {
		most := constI64(p.watch.MaxPath)
		p.maxSteps.Set(fn, wasm.Select[int64](most.Lt(p.maxSteps), most, p.maxSteps))
	}
}

// emitPath emits the loop over the steps of a path, followed by the code for each way in which a path can end.
func (p *pathGenerator) emitPath(index wasm.Var[int32]) {
	fn := p.fn
	fn.Block(func(finish wasm.Label) {
		p.finish = finish
		for _, label := range []*wasm.Label{&p.giveUp, &p.outOfBudget, &p.deadlockLabel, &p.holds, &p.violated} {
			*label = fn.Open()
		}
		fn.Loop(func(step wasm.Label) {
			p.nextStep = step
			p.scoped(func() {
				p.enter()
				p.evaluateFailing()
				p.emitChoiceOfMove()
			})
		})
		fn.Op(wasm.Unreachable)
		fn.End()
		p.endPath(False)
		fn.End()
		p.endPath(True)
		fn.End()
		p.scoped(p.deadlock)
		fn.End()
		p.suspend(index)
		fn.End()
		p.status.Set(fn, constI32(statusBail))
	})
}

// endPath emits code that ends the path with a status.
func (p *pathGenerator) endPath(status Status) {
	p.status.Set(p.fn, constI32(int32(status)))
	p.fn.Br(p.finish)
}

// suspend emits code that saves the path for the next call and returns. If the path has reached MaxPath, it ends instead.
func (p *pathGenerator) suspend(index wasm.Var[int32]) {
	fn := p.fn
	if p.watch.Limited() {
		fn.If(p.steps.Ge(constI64(p.watch.MaxPath)), func() { p.endPath(Undecided) })
	}
	for _, saved := range p.savedLocals {
		saved.save()
	}
	p.suspended.Set(fn, constI32(1))
	fn.Return(index)
}

// storeOutcome emits code that writes the outcome of sample i to memory.
func (p *pathGenerator) storeOutcome(index wasm.Var[int32]) {
	fn := p.fn
	address := wasm.Local[int32](fn)
	address.Set(fn, index.Mul(constI32(outcomeSize)))
	wasm.Store(fn, address, outcomesAt, p.status)
	wasm.Store(fn, address, outcomesAt+8, p.steps)
	wasm.Store(fn, address, outcomesAt+16, p.nondet)
	wasm.Store(fn, address, outcomesAt+24, p.time)
	wasm.Store(fn, address, outcomesAt+32, p.reward)
}

// randomWord emits one step of the generator xoshiro256**, as in Stream.next: it returns 64 random bits and changes the four words of the state.
func (p *pathGenerator) randomWord() wasm.Expr[int64] {
	return func(fn *wasm.Func) {
		s, t := p.rng, p.scratch
		s[1].Mul(constI64(5)).Rotl(7).Mul(constI64(9)).Emit(fn)
		t.Set(fn, s[1].Shl(17))
		s[2].Set(fn, s[2].Xor(s[0]))
		s[3].Set(fn, s[3].Xor(s[1]))
		s[1].Set(fn, s[1].Xor(s[2]))
		s[0].Set(fn, s[0].Xor(s[3]))
		s[2].Set(fn, s[2].Xor(t))
		s[3].Set(fn, s[3].Rotl(45))
	}
}

// drawUnit emits Stream.Unit: a random number from [0,1).
func (p *pathGenerator) drawUnit() wasm.Expr[float64] {
	return wasm.ToFloat64(p.randomWord().ShrU(11)).Mul(constF64(0x1p-53))
}

// drawBelow emits Stream.Below: it sets pickedIndex to a random integer below numChoices.
func (p *pathGenerator) drawBelow() {
	fn := p.fn
	numValues, threshold := wasm.Local[int64](fn), wasm.Local[int64](fn)
	low := func(x wasm.Expr[int64]) wasm.Expr[int64] { return x.And(constI64(math.MaxUint32)) }
	product := p.product.Tee(p.randomWord().ShrU(32).Mul(numValues))
	numValues.Set(fn, wasm.ExtendU(p.numChoices))
	fn.If(low(product).LtU(numValues), func() {
		threshold.Set(fn, wasm.ExtendU(constI32(0).Sub(p.numChoices).RemU(p.numChoices)))
		fn.Block(func(done wasm.Label) {
			fn.Loop(func(again wasm.Label) {
				fn.BrIf(done, low(p.product.Expr).GeU(threshold))
				fn.Drop(low(product))
				fn.Br(again)
			})
		})
	})
	p.pickedIndex.Set(fn, wasm.Wrap(p.product.ShrU(32)))
}

// logUnit emits a function that computes what the Go function logUnit does, and returns its index.
func (p *pathGenerator) logUnit() uint32 {
	fn := p.module.Func("", []wasm.Type{wasm.F64}, []wasm.Type{wasm.F64})
	u := wasm.Param[float64](0)
	k, x, s := wasm.Local[float64](fn), wasm.Local[float64](fn), wasm.Local[float64](fn)
	s2, s4, r, half := wasm.Local[float64](fn), wasm.Local[float64](fn), wasm.Local[float64](fn), wasm.Local[float64](fn)
	k.Set(fn, wasm.ToFloat64(wasm.Bits(u).ShrU(52).Sub(constI64(1022))))
	x.Set(fn, wasm.Convert[float64](wasm.F64ReinterpretI64, wasm.Bits(u).And(constI64(1<<52-1)).Or(constI64(1022<<52))))
	fn.If(x.Lt(constF64(math.Sqrt2/2)), func() {
		x.Set(fn, x.Mul(constF64(2)))
		k.Set(fn, k.Sub(constF64(1)))
	})
	x.Set(fn, x.Sub(constF64(1)))
	s.Set(fn, x.Div(constF64(2).Add(x)))
	s2.Set(fn, s.Mul(s))
	s4.Set(fn, s2.Mul(s2))
	t1 := s2.Mul(constF64(logL1).Add(s4.Mul(constF64(logL3).Add(s4.Mul(constF64(logL5).Add(s4.Mul(constF64(logL7))))))))
	t2 := s4.Mul(constF64(logL2).Add(s4.Mul(constF64(logL4).Add(s4.Mul(constF64(logL6))))))
	r.Set(fn, t1.Add(t2))
	half.Set(fn, constF64(0.5).Mul(x).Mul(x))
	k.Mul(constF64(ln2Hi)).Sub(half.Sub(s.Mul(half.Add(r)).Add(k.Mul(constF64(ln2Lo)))).Sub(x)).Emit(fn)
	return fn.Index
}
