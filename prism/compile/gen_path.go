package compile

import (
	"math"

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

// pathgen emits the function that draws whole paths. Its shape is
//
//	for each sample: load the stream, set the initial state
//	  loop: look at the state (watch.enter), decide what is enabled (plan),
//	        pick a move, apply its updates
//	  store the outcome
//
// The function stops after a budget of steps; it then keeps where it was in
// globals and goes on in the next call.
type pathgen struct {
	movegen
	w     *watch
	start []int32

	rng                     [4]uint32
	steps, limit            uint32 // i64
	nondet                  uint32 // i64: states with several choices
	time, reward            uint32 // f64
	count                   uint32 // i32: number of choices of the present state
	random                  uint32 // i64
	pick                    uint32 // i32
	rest, rate              uint32 // f64, CTMC
	low, product            uint32 // i64
	hostLogUnit             uint32
	yes, no, dead, slow     wasm.Label
	finish, step            wasm.Label
	arms                    []wasm.Label
	status                  uint32
	suspended               uint32
	savedSteps, savedNondet uint32
	savedTime, savedReward  uint32
	savedRng                [4]uint32
}

// emit builds the whole module. Nil means that the model is too large.
func (p *pathgen) emit() []byte {
	p.declare()
	f := p.f
	const i, n, budget, resume = 0, 1, 2, 3 // parameters
	begin := f.Local(wasm.I64)
	exit := f.Block(wasm.Void)
	sample := f.Loop()
	f.Get(i)
	f.Get(n)
	f.Op(wasm.I32GeU)
	p.f.BrIf(exit)
	p.begin(i, begin, budget, resume)
	p.path(i)
	p.store(i)
	f.Get(budget)
	f.Get(p.steps)
	f.Get(begin)
	f.Op(wasm.I64Sub, wasm.I64Sub)
	f.Set(budget)
	f.Get(i)
	f.I32(1)
	f.Op(wasm.I32Add)
	f.Set(i)
	f.Get(budget)
	f.I64(0)
	f.Op(wasm.I64GtS)
	p.f.BrIf(sample)
	f.End()
	f.End()
	f.Get(i)
	if f.Size() > maxCode {
		return nil
	}
	p.mod.Memory(uint32(p.used+0xffff) >> 16)
	return p.mod.Bytes()
}

// reserve takes bytes of memory, aligned to 8.
func (p *movegen) reserve(n int) uint32 {
	at := p.used
	p.used += (n + 7) &^ 7
	return uint32(at)
}

// declareModel adds the imports and the variables.
func (p *movegen) declareModel() {
	num, whole := []wasm.Type{wasm.F64, wasm.F64}, []wasm.Type{wasm.I32, wasm.I32}
	p.hostPow = p.mod.Import(hostModule, "pow", num, num[:1])
	p.hostLog = p.mod.Import(hostModule, "log", num, num[:1])
	p.hostIntPow = p.mod.Import(hostModule, "intpow", whole, []wasm.Type{wasm.I64})
	for range p.m.prog.Vars {
		p.slots = append(p.slots, p.mod.Global(wasm.I32))
	}
}

// declare adds the imports, globals and locals.
func (p *pathgen) declare() {
	p.declareModel()
	p.suspended = p.mod.Global(wasm.I32)
	p.savedSteps, p.savedNondet = p.mod.Global(wasm.I64), p.mod.Global(wasm.I64)
	p.savedTime, p.savedReward = p.mod.Global(wasm.F64), p.mod.Global(wasm.F64)
	for i := range p.savedRng {
		p.savedRng[i] = p.mod.Global(wasm.I64)
	}
	if p.m.continuous() {
		p.hostLogUnit = p.logUnit()
	}
	p.f = p.mod.Func(exportedRun, []wasm.Type{wasm.I32, wasm.I32, wasm.I64, wasm.I32}, []wasm.Type{wasm.I32})
	for i := range p.rng {
		p.rng[i] = p.f.Local(wasm.I64)
	}
	p.steps, p.limit, p.nondet = p.f.Local(wasm.I64), p.f.Local(wasm.I64), p.f.Local(wasm.I64)
	p.random, p.low, p.product = p.f.Local(wasm.I64), p.f.Local(wasm.I64), p.f.Local(wasm.I64)
	p.time, p.reward = p.f.Local(wasm.F64), p.f.Local(wasm.F64)
	p.rest, p.rate = p.f.Local(wasm.F64), p.f.Local(wasm.F64)
	p.count, p.pick, p.status = p.f.Local(wasm.I32), p.f.Local(wasm.I32), p.f.Local(wasm.I32)
	p.weightLocals(p.m.commands...)
}

// begin sets up a sample, or goes on with the one that was suspended.
func (p *pathgen) begin(i, begin, budget, resume uint32) {
	f := p.f
	f.GetGlobal(p.suspended)
	f.Get(resume)
	f.Op(wasm.I32And)
	f.I32(0)
	f.SetGlobal(p.suspended)
	f.If(wasm.Void)
	for _, g := range p.saved() {
		f.GetGlobal(g[0])
		f.Set(g[1])
	}
	f.Else()
	for k, l := range p.rng {
		f.Get(i)
		f.I32(streamSize)
		f.Op(wasm.I32Mul)
		f.Load(wasm.I64Load, uint32(8*k))
		f.Set(l)
	}
	for _, l := range []uint32{p.steps, p.nondet} {
		f.I64(0)
		f.Set(l)
	}
	for _, l := range []uint32{p.time, p.reward} {
		f.F64(0)
		f.Set(l)
	}
	for slot, g := range p.slots {
		f.I32(p.start[slot])
		f.SetGlobal(g)
	}
	f.End()
	f.Get(p.steps)
	f.Tee(begin)
	f.Get(budget)
	f.Op(wasm.I64Add)
	f.Set(p.limit)
	if p.w.limited() {
		f.I64(p.w.MaxPath)
		f.Get(p.limit)
		f.I64(p.w.MaxPath)
		f.Get(p.limit)
		f.Op(wasm.I64LtS, wasm.Select)
		f.Set(p.limit)
	}
}

// saved pairs the globals that keep a suspended path with their locals.
func (p *pathgen) saved() [][2]uint32 {
	out := [][2]uint32{
		{p.savedSteps, p.steps},
		{p.savedNondet, p.nondet},
		{p.savedTime, p.time},
		{p.savedReward, p.reward},
	}
	for i, l := range p.rng {
		out = append(out, [2]uint32{p.savedRng[i], l})
	}
	return out
}

// path emits the loop over the steps of one path and the ends it can have.
func (p *pathgen) path(i uint32) {
	f := p.f
	p.finish = f.Block(wasm.Void)
	p.bail = f.Block(wasm.Void)
	p.slow = f.Block(wasm.Void)
	p.dead = f.Block(wasm.Void)
	p.yes = f.Block(wasm.Void)
	p.no = f.Block(wasm.Void)
	p.step = f.Loop()
	p.scoped(func() {
		p.enter()
		p.evaluateFailing()
		p.choose()
	})
	f.End()
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
	f.I32(statusBail)
	f.Set(p.status)
	f.End()
}

func (p *pathgen) end(s Status) {
	p.f.I32(int32(s))
	p.f.Set(p.status)
	p.f.Br(p.finish)
}

// suspend gives up at MaxPath, or returns with the path kept for the next call.
func (p *pathgen) suspend(i uint32) {
	f := p.f
	if p.w.limited() {
		f.Get(p.steps)
		f.I64(p.w.MaxPath)
		f.Op(wasm.I64GeS)
		f.If(wasm.Void)
		p.end(Undecided)
		f.End()
	}
	for _, g := range p.saved() {
		f.Get(g[1])
		f.SetGlobal(g[0])
	}
	f.I32(1)
	f.SetGlobal(p.suspended)
	f.Get(i)
	f.Op(wasm.Return)
}

// store writes the outcome of sample i.
func (p *pathgen) store(i uint32) {
	f := p.f
	at := f.Local(wasm.I32)
	f.Get(i)
	f.I32(outcomeSize)
	f.Op(wasm.I32Mul)
	f.Set(at)
	put := func(local uint32, op wasm.Opcode, offset uint32) {
		f.Get(at)
		f.Get(local)
		f.Store(op, outcomesAt+offset)
	}
	put(p.status, wasm.I32Store, 0)
	put(p.steps, wasm.I64Store, 8)
	put(p.nondet, wasm.I64Store, 16)
	put(p.time, wasm.F64Store, 24)
	put(p.reward, wasm.F64Store, 32)
}

// draw leaves 64 random bits on the stack; see Stream.next.
func (p *pathgen) draw() {
	f, s := p.f, p.rng
	mul := func(x int64) {
		f.I64(x)
		f.Op(wasm.I64Mul)
	}
	f.Get(s[1])
	mul(5)
	f.I64(7)
	f.Op(wasm.I64Rotl)
	mul(9)
	f.Get(s[1])
	f.I64(17)
	f.Op(wasm.I64Shl)
	f.Set(p.low) // t
	xor := func(to, from uint32) {
		f.Get(to)
		f.Get(from)
		f.Op(wasm.I64Xor)
		f.Set(to)
	}
	xor(s[2], s[0])
	xor(s[3], s[1])
	xor(s[1], s[2])
	xor(s[0], s[3])
	xor(s[2], p.low)
	f.Get(s[3])
	f.I64(45)
	f.Op(wasm.I64Rotl)
	f.Set(s[3])
}

// drawUnit leaves a unit double on the stack; see Stream.unit.
func (p *pathgen) drawUnit() {
	p.draw()
	p.f.I64(11)
	p.f.Op(wasm.I64ShrU, wasm.F64ConvertI64S)
	p.f.F64(0x1p-53)
	p.f.Op(wasm.F64Mul)
}

// drawBelow sets p.pick to an integer below p.count; see Stream.below.
func (p *pathgen) drawBelow() {
	f := p.f
	n, threshold := f.Local(wasm.I64), f.Local(wasm.I64)
	multiply := func() {
		p.draw()
		f.I64(32)
		f.Op(wasm.I64ShrU)
		f.Get(n)
		f.Op(wasm.I64Mul)
		f.Tee(p.product)
		f.I64(math.MaxUint32)
		f.Op(wasm.I64And)
	}
	f.Get(p.count)
	f.Op(wasm.I64ExtendI32U)
	f.Set(n)
	multiply()
	f.Get(n)
	f.Op(wasm.I64LtU)
	f.If(wasm.Void)
	f.I32(0)
	f.Get(p.count)
	f.Op(wasm.I32Sub)
	f.Get(p.count)
	f.Op(wasm.I32RemU, wasm.I64ExtendI32U)
	f.Set(threshold)
	done := f.Block(wasm.Void)
	again := f.Loop()
	f.Get(p.product)
	f.I64(math.MaxUint32)
	f.Op(wasm.I64And)
	f.Get(threshold)
	f.Op(wasm.I64GeU)
	p.f.BrIf(done)
	multiply()
	f.Op(wasm.Drop)
	f.Br(again)
	f.End()
	f.End()
	f.End()
	f.Get(p.product)
	f.I64(32)
	f.Op(wasm.I64ShrU, wasm.I32WrapI64)
	f.Set(p.pick)
}

// logUnit emits the function of that name and returns its index.
func (p *pathgen) logUnit() uint32 {
	f := p.mod.Func("", []wasm.Type{wasm.F64}, []wasm.Type{wasm.F64})
	k, x, s := f.Local(wasm.F64), f.Local(wasm.F64), f.Local(wasm.F64)
	s2, s4, r, half := f.Local(wasm.F64), f.Local(wasm.F64), f.Local(wasm.F64), f.Local(wasm.F64)
	get := func(l uint32) func() { return func() { f.Get(l) } }
	num := func(v float64) func() { return func() { f.F64(v) } }
	op := func(o wasm.Opcode, a, b func()) func() {
		return func() { a(); b(); f.Op(o) }
	}
	add := func(a, b func()) func() { return op(wasm.F64Add, a, b) }
	sub := func(a, b func()) func() { return op(wasm.F64Sub, a, b) }
	mul := func(a, b func()) func() { return op(wasm.F64Mul, a, b) }
	set := func(l uint32, a func()) { a(); f.Set(l) }

	set(k, func() {
		f.Get(0)
		f.Op(wasm.I64ReinterpretF64)
		f.I64(52)
		f.Op(wasm.I64ShrU)
		f.I64(1022)
		f.Op(wasm.I64Sub, wasm.F64ConvertI64S)
	})
	set(x, func() {
		f.Get(0)
		f.Op(wasm.I64ReinterpretF64)
		f.I64(1<<52 - 1)
		f.Op(wasm.I64And)
		f.I64(1022 << 52)
		f.Op(wasm.I64Or, wasm.F64ReinterpretI64)
	})
	op(wasm.F64Lt, get(x), num(math.Sqrt2/2))()
	f.If(wasm.Void)
	set(x, mul(get(x), num(2)))
	set(k, sub(get(k), num(1)))
	f.End()
	set(x, sub(get(x), num(1)))
	set(s, op(wasm.F64Div, get(x), add(num(2), get(x))))
	set(s2, mul(get(s), get(s)))
	set(s4, mul(get(s2), get(s2)))
	t1 := mul(get(s2), add(num(logL1), mul(get(s4), add(num(logL3), mul(get(s4), add(num(logL5), mul(get(s4), num(logL7))))))))
	t2 := mul(get(s4), add(num(logL2), mul(get(s4), add(num(logL4), mul(get(s4), num(logL6))))))
	set(r, add(t1, t2))
	set(half, mul(mul(num(0.5), get(x)), get(x)))
	sub(mul(get(k), num(ln2Hi)), sub(sub(get(half),
		add(mul(get(s), add(get(half), get(r))), mul(get(k), num(ln2Lo)))), get(x)))()
	return f.Index
}
