package compile

import (
	"math"
	"slices"

	"tilecheck/prism/compile/wasm"
)

// The memory of the machine contains the random streams of a batch, its outcomes, then
// tables.
const (
	batchSize   = 512
	streamSize  = 32
	outcomeSize = 40
	outcomesAt  = batchSize * streamSize
	tablesAt    = outcomesAt + batchSize*outcomeSize
)

// The offsets of the fields of an outcome in memory.
const (
	statusOffset = 0
	stepsOffset  = 8
	nondetOffset = 16
	timeOffset   = 24
	rewardOffset = 32
)

// The names of the exported function and of the module of the imported functions.
const (
	exportedRun = "run"
	hostModule  = "host"
)

// Limits of the generated code. A model that exceeds one is not compiled.
const (
	maxMoves        = 4096
	maxUpdates      = 4096
	maxCombinations = 1 << 10 // of updates of several commands, in all moves of a path together: compiling more takes longer than most runs
	maxTermCount    = 200_000
	maxCode         = 4 << 20
	maxMemory       = 16 << 20 // no table is made that needs more
)

// maxStepBudget is the largest number of steps in one call of the generated code. The garbage collector waits for the end of a call. The
// context is polled between calls.
const maxStepBudget = 1 << 21

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
	monitor      *watch
	initialState []int32

	randomState                                                [4]wasm.Var[int64]
	steps, maxSteps                                            wasm.Var[int64]
	nondetSteps                                                wasm.Var[int64] // number of states with several choices
	time, reward                                               wasm.Var[float64]
	numChoices                                                 wasm.Var[int32] // number of choices of the current state
	randomBits                                                 wasm.Var[int64]
	pickedIndex                                                wasm.Var[int32]
	remainder, totalExitRate                                   wasm.Var[float64] // CTMC
	shiftedWord, product                                       wasm.Var[int64]
	logFunction                                                uint32 // index of the function of emitLogUnit
	holdsLabel, violatedLabel, deadlockLabel, outOfBudgetLabel wasm.Label
	finish, nextStepLabel                                      wasm.Label
	moveLabels                                                 []wasm.Label
	status                                                     wasm.Var[int32]
	isSuspended                                                wasm.Var[int32]
	savedLocals                                                []savedLocal
}

// savedLocal has functions that emit code to copy a local of a suspended path to a global, and back.
type savedLocal struct{ save, restore func() }

// emitModule emits the function that draws sample paths, and returns the WebAssembly module that exports it. It returns nil if the code is too
// large. The function returns the index of the first unfinished sample.
func (g *pathGenerator) emitModule() []byte {
	g.declareLocals()
	wasmFunc := g.wasmFunc
	// The parameters: the first sample, the number of samples, the step budget, and whether to resume the suspended path.
	sampleIndex, numSamples, stepBudget, mayResume := wasm.Param[int32](0), wasm.Param[int32](1), wasm.Param[int64](2), wasm.Param[int32](3)
	stepsBefore := wasm.Local[int64](wasmFunc)
	wasmFunc.Block(func(finished wasm.Label) {
		wasmFunc.Loop(func(nextSample wasm.Label) {
			wasmFunc.BrIf(finished, sampleIndex.GeU(numSamples))
			g.startSample(sampleIndex, stepsBefore, stepBudget, mayResume)
			g.emitPath(sampleIndex)
			g.storeOutcome(sampleIndex)
			stepBudget.Set(wasmFunc, stepBudget.Sub(g.steps.Sub(stepsBefore)))
			sampleIndex.Set(wasmFunc, sampleIndex.Add(constI32(1)))
			wasmFunc.BrIf(nextSample, stepBudget.Gt(constI64(0)))
		})
	})
	sampleIndex.Emit(wasmFunc)
	if wasmFunc.Size() > maxCode {
		return nil
	}
	g.module.Memory(g.memoryPages())
	return g.module.Bytes()
}

// reserve allocates n bytes of memory, aligned to 8 bytes, and returns their address.
func (g *moveGenerator) reserve(n int) uint32 {
	address := g.memoryUsed
	g.memoryUsed += (n + 7) &^ 7
	return uint32(address)
}

// memoryPages returns the number of pages of 64 kB that the memory of the module needs.
func (g *moveGenerator) memoryPages() uint32 {
	const pageSize = 1 << 16
	return uint32(g.memoryUsed+pageSize-1) / pageSize
}

// declareModel declares the imported host functions, and a global for each variable of the model.
func (g *moveGenerator) declareModel() {
	floats, ints := []wasm.Type{wasm.F64, wasm.F64}, []wasm.Type{wasm.I32, wasm.I32}
	g.hostPow = g.module.Import(hostModule, "pow", floats, floats[:1])
	g.hostLog = g.module.Import(hostModule, "log", floats, floats[:1])
	g.hostIntPow = g.module.Import(hostModule, "intpow", ints, []wasm.Type{wasm.I64})
	for range g.model.program.Vars {
		g.slots = append(g.slots, wasm.Global[int32](g.module))
	}
}

// declareLocals declares the imported functions, the exported function, and its global and local variables.
func (g *pathGenerator) declareLocals() {
	g.declareModel()
	g.isSuspended = wasm.Global[int32](g.module)
	if g.model.isContinuous() {
		g.logFunction = g.emitLogUnit()
	}
	g.wasmFunc = g.module.Func(exportedRun, []wasm.Type{wasm.I32, wasm.I32, wasm.I64, wasm.I32}, []wasm.Type{wasm.I32})
	for i := range g.randomState {
		g.randomState[i] = wasm.Local[int64](g.wasmFunc)
	}
	for _, local := range []*wasm.Var[int64]{&g.steps, &g.maxSteps, &g.nondetSteps, &g.randomBits, &g.shiftedWord, &g.product} {
		*local = wasm.Local[int64](g.wasmFunc)
	}
	for _, local := range []*wasm.Var[float64]{&g.time, &g.reward, &g.remainder, &g.totalExitRate} {
		*local = wasm.Local[float64](g.wasmFunc)
	}
	for _, local := range []*wasm.Var[int32]{&g.numChoices, &g.pickedIndex, &g.status} {
		*local = wasm.Local[int32](g.wasmFunc)
	}
	g.savedLocals = slices.Concat(
		saveInGlobals(g, g.steps, g.nondetSteps), saveInGlobals(g, g.time, g.reward), saveInGlobals(g, g.randomState[:]...))
	g.declareWeightLocals(g.model.commands...)
}

// saveInGlobals declares a global for each local, to save the local while the path is suspended.
func saveInGlobals[T wasm.Number](generator *pathGenerator, locals ...wasm.Var[T]) []savedLocal {
	savedLocals := make([]savedLocal, len(locals))
	for i, local := range locals {
		global := wasm.Global[T](generator.module)
		savedLocals[i] = savedLocal{
			save:    func() { global.Set(generator.wasmFunc, local) },
			restore: func() { local.Set(generator.wasmFunc, global) },
		}
	}
	return savedLocals
}

// startSample emits code that starts the path of a sample, or continues the suspended path if mayResume is 1. The code sets stepsBefore to the
// number of steps of the path so far, and maxSteps to the number of steps at which the path stops next.
func (g *pathGenerator) startSample(sampleIndex wasm.Var[int32], stepsBefore, budget wasm.Var[int64], mayResume wasm.Var[int32]) {
	wasmFunc := g.wasmFunc
	// The condition reads the flag suspended and then clears it.
	continuesPath := wasm.Expr[int32](func(wasmFunc *wasm.Func) {
		g.isSuspended.And(mayResume).Emit(wasmFunc)
		g.isSuspended.Set(wasmFunc, constI32(0))
	})
	wasmFunc.IfElse(wasm.Void, continuesPath, g.restorePath, func() { g.initPath(sampleIndex) })
	g.maxSteps.Set(wasmFunc, stepsBefore.Tee(g.steps).Add(budget))
	if g.monitor.Limited() {
		maxPath := constI64(g.monitor.MaxPath)
		g.maxSteps.Set(wasmFunc, wasm.Select[int64](maxPath.Lt(g.maxSteps), maxPath, g.maxSteps))
	}
}

// initPath emits code that begins the path of a sample: it loads the state of the sample's random generator, and sets the counters and variables to their
// initial values.
func (g *pathGenerator) initPath(sampleIndex wasm.Var[int32]) {
	wasmFunc := g.wasmFunc
	for wordIndex, word := range g.randomState {
		word.Set(wasmFunc, wasm.Load[int64](sampleIndex.Mul(constI32(streamSize)), uint32(8*wordIndex)))
	}
	g.steps.Set(wasmFunc, constI64(0))
	g.nondetSteps.Set(wasmFunc, constI64(0))
	g.time.Set(wasmFunc, constF64(0))
	g.reward.Set(wasmFunc, constF64(0))
	for slot, global := range g.slots {
		global.Set(wasmFunc, constI32(g.initialState[slot]))
	}
}

// restorePath emits code that restores the locals of the suspended path.
func (g *pathGenerator) restorePath() {
	for _, saved := range g.savedLocals {
		saved.restore()
	}
}

// emitPath emits a loop over the steps of a path, followed by code for each way in which the path ends.
func (g *pathGenerator) emitPath(index wasm.Var[int32]) {
	wasmFunc := g.wasmFunc
	wasmFunc.Block(func(pathEnd wasm.Label) {
		g.finish = pathEnd
		// A jump to a label goes to the end of its block. The blocks end in the reverse order.
		for _, label := range []*wasm.Label{&g.giveUpLabel, &g.outOfBudgetLabel, &g.deadlockLabel, &g.holdsLabel, &g.violatedLabel} {
			*label = wasmFunc.Open()
		}
		wasmFunc.Loop(func(nextStep wasm.Label) {
			g.nextStepLabel = nextStep
			g.emitInScope(func() {
				g.emitEnter()
				g.evaluateFailingGuards()
				g.emitChoiceOfMove()
			})
		})
		wasmFunc.Op(wasm.Unreachable)
		wasmFunc.End() // violated
		g.endPath(False)
		wasmFunc.End() // holds
		g.endPath(True)
		wasmFunc.End() // deadlockLabel
		g.emitInScope(g.emitDeadlock)
		wasmFunc.End() // outOfBudgetLabel
		g.suspend(index)
		wasmFunc.End() // giveUpLabel
		g.status.Set(wasmFunc, constI32(int32(Failed)))
	})
}

// endPath emits code that ends the path with a status.
func (g *pathGenerator) endPath(status Status) {
	g.status.Set(g.wasmFunc, constI32(int32(status)))
	g.wasmFunc.Br(g.finish)
}

// suspend emits code that saves the path for the next call and returns. A path of MaxPath steps ends instead.
func (g *pathGenerator) suspend(index wasm.Var[int32]) {
	wasmFunc := g.wasmFunc
	if g.monitor.Limited() {
		wasmFunc.If(g.steps.Ge(constI64(g.monitor.MaxPath)), func() { g.endPath(Undecided) })
	}
	for _, local := range g.savedLocals {
		local.save()
	}
	g.isSuspended.Set(wasmFunc, constI32(1))
	wasmFunc.Return(index)
}

// storeOutcome emits code that writes the outcome of a sample to memory.
func (g *pathGenerator) storeOutcome(index wasm.Var[int32]) {
	wasmFunc := g.wasmFunc
	address := wasm.Local[int32](wasmFunc)
	address.Set(wasmFunc, index.Mul(constI32(outcomeSize)))
	wasm.Store(wasmFunc, address, outcomesAt+statusOffset, g.status)
	wasm.Store(wasmFunc, address, outcomesAt+stepsOffset, g.steps)
	wasm.Store(wasmFunc, address, outcomesAt+nondetOffset, g.nondetSteps)
	wasm.Store(wasmFunc, address, outcomesAt+timeOffset, g.time)
	wasm.Store(wasmFunc, address, outcomesAt+rewardOffset, g.reward)
}

// randomWord returns code for 64 random bits, by the generator xoshiro256**. The code changes the four words of the generator's state.
func (g *pathGenerator) randomWord() wasm.Expr[int64] {
	return func(wasmFunc *wasm.Func) {
		state, shiftedWord := g.randomState, g.shiftedWord
		state[1].Mul(constI64(5)).Rotl(7).Mul(constI64(9)).Emit(wasmFunc)
		shiftedWord.Set(wasmFunc, state[1].Shl(17))
		state[2].Set(wasmFunc, state[2].Xor(state[0]))
		state[3].Set(wasmFunc, state[3].Xor(state[1]))
		state[1].Set(wasmFunc, state[1].Xor(state[2]))
		state[0].Set(wasmFunc, state[0].Xor(state[3]))
		state[2].Set(wasmFunc, state[2].Xor(shiftedWord))
		state[3].Set(wasmFunc, state[3].Rotl(45))
	}
}

// drawUniform returns code for a random number from [0,1).
func (g *pathGenerator) drawUniform() wasm.Expr[float64] {
	return wasm.ToFloat64(g.randomWord().ShrU(11)).Mul(constF64(0x1p-53))
}

// drawIndex emits code that sets pickedIndex to a random integer below numChoices, by Lemire's method.
func (g *pathGenerator) drawIndex() {
	wasmFunc := g.wasmFunc
	numValues, threshold := wasm.Local[int64](wasmFunc), wasm.Local[int64](wasmFunc)
	lowerHalf := func(word wasm.Expr[int64]) wasm.Expr[int64] { return word.And(constI64(math.MaxUint32)) }
	// Each time the code of drawProduct runs, it draws a new random number and stores the product in g.product.
	drawProduct := g.product.Tee(g.randomWord().ShrU(32).Mul(numValues))
	numValues.Set(wasmFunc, wasm.ExtendU(g.numChoices))
	wasmFunc.If(lowerHalf(drawProduct).LtU(numValues), func() {
		threshold.Set(wasmFunc, wasm.ExtendU(constI32(0).Sub(g.numChoices).RemU(g.numChoices)))
		wasmFunc.Block(func(accepted wasm.Label) {
			wasmFunc.Loop(func(repeat wasm.Label) {
				wasmFunc.BrIf(accepted, lowerHalf(g.product.Expr).GeU(threshold))
				wasmFunc.Drop(drawProduct)
				wasmFunc.Br(repeat)
			})
		})
	})
	g.pickedIndex.Set(wasmFunc, wasm.Wrap(g.product.ShrU(32)))
}

// emitLogUnit emits a function for the natural logarithm of a number in (0, 1], and returns the index of the function. It has the same operations
// as the Go function logFunction, so both give the same result.
func (g *pathGenerator) emitLogUnit() uint32 {
	wasmFunc := g.module.Func("", []wasm.Type{wasm.F64}, []wasm.Type{wasm.F64})
	newLocal := func() wasm.Var[float64] { return wasm.Local[float64](wasmFunc) }
	number, exponent, f := wasm.Param[float64](0), newLocal(), newLocal()
	s, s2, s4, r, halfSquare := newLocal(), newLocal(), newLocal(), newLocal(), newLocal()
	// Split the number into 2^exponent and a fraction in [sqrt(2)/2, sqrt(2)); f is the fraction, then the fraction minus 1.
	exponent.Set(wasmFunc, wasm.ToFloat64(wasm.Bits(number).ShrU(52).Sub(constI64(1022))))
	fractionBits := wasm.Bits(number).And(constI64(1<<52 - 1)).Or(constI64(1022 << 52))
	f.Set(wasmFunc, wasm.Convert[float64](wasm.F64ReinterpretI64, fractionBits))
	wasmFunc.If(f.Lt(constF64(math.Sqrt2/2)), func() {
		f.Set(wasmFunc, f.Mul(constF64(2)))
		exponent.Set(wasmFunc, exponent.Sub(constF64(1)))
	})
	f.Set(wasmFunc, f.Sub(constF64(1)))
	// Evaluate the polynomial R in s².
	s.Set(wasmFunc, f.Div(constF64(2).Add(f)))
	s2.Set(wasmFunc, s.Mul(s))
	s4.Set(wasmFunc, s2.Mul(s2))
	odd := s2.Mul(constF64(logL1).Add(s4.Mul(constF64(logL3).Add(s4.Mul(constF64(logL5).Add(s4.Mul(constF64(logL7))))))))
	even := s4.Mul(constF64(logL2).Add(s4.Mul(constF64(logL4).Add(s4.Mul(constF64(logL6))))))
	r.Set(wasmFunc, odd.Add(even))
	// Add the logarithms of both parts.
	halfSquare.Set(wasmFunc, constF64(0.5).Mul(f).Mul(f))
	lowPart := s.Mul(halfSquare.Add(r)).Add(exponent.Mul(constF64(ln2Lo)))
	exponent.Mul(constF64(ln2Hi)).Sub(halfSquare.Sub(lowPart).Sub(f)).Emit(wasmFunc)
	return wasmFunc.Index
}
