//go:build !js

package compile

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// HasMachines says that the model can be compiled to WebAssembly code that runs on this platform.
const HasMachines = true

// sharedCode is a compiled module that several instances use. Closing the last instance closes the module.
type sharedCode struct {
	runtime wazero.Runtime
	code    wazero.CompiledModule
	users   atomic.Int64
}

// instance is one instance of a module, with a memory of its own.
type instance struct {
	shared   *sharedCode
	module   api.Module
	run      api.Function
	memory   []byte
	isClosed bool
}

// newInstance compiles a WebAssembly module and makes its first instance.
func newInstance(ctx context.Context, module []byte) (instance, error) {
	code := &sharedCode{runtime: wazero.NewRuntime(ctx)}
	if err := code.compile(ctx, module); err != nil {
		return instance{}, fmt.Errorf("compile to WebAssembly: %w", errors.Join(err, code.runtime.Close(ctx)))
	}
	firstInstance, err := code.newInstance(ctx)
	if err != nil {
		return firstInstance, errors.Join(err, code.runtime.Close(ctx))
	}
	return firstInstance, nil
}

// machine is a Runner that draws batches of paths in WebAssembly. If the code gives up on a path, the interpreter draws the path again.
type machine struct {
	instance
	stack         [4]uint64
	interpreter   *interpreter
	singleOutcome [1]Outcome
	stepBudget    uint64 // step budget of the next call
}

// A machine adapts its step budget so that a call takes between quickCall and slowCall. The budget is at most maxStepBudget.
const (
	firstBudget = 1 << 10
	quickCall   = 2 * time.Millisecond
	slowCall    = 10 * time.Millisecond
)

// NewMachine compiles the model and a monitor to WebAssembly. The error is an *UnsupportedError for models that only the interpreter can
// run.
func (m *Model) NewMachine(ctx context.Context, monitor Monitor) (BatchRunner, error) {
	interpreter, err := m.newInterpreter(monitor)
	if err != nil {
		return nil, err
	}
	code, err := m.assemble(interpreter.watch, interpreter.initialState)
	if err != nil {
		return nil, err
	}
	firstInstance, err := newInstance(ctx, code)
	if err != nil {
		return nil, err
	}
	return &machine{instance: firstInstance, interpreter: interpreter, stepBudget: firstBudget}, nil
}

// compile defines the host functions for pow, log and integer powers, and compiles the module.
func (s *sharedCode) compile(ctx context.Context, module []byte) error {
	f64, i32, i64 := api.ValueTypeF64, api.ValueTypeI32, api.ValueTypeI64
	floats, ints := []api.ValueType{f64, f64}, []api.ValueType{i32, i32}
	host := s.runtime.NewHostModuleBuilder(hostModule)
	host.NewFunctionBuilder().WithGoFunction(asHostFunction(sema.Pow), floats, floats[:1]).Export("pow")
	host.NewFunctionBuilder().WithGoFunction(asHostFunction(sema.Log), floats, floats[:1]).Export("log")
	host.NewFunctionBuilder().WithGoFunction(api.GoFunc(hostIntPow), ints, []api.ValueType{i64}).Export("intpow")
	if _, err := host.Instantiate(ctx); err != nil {
		return err
	}
	code, err := s.runtime.CompileModule(ctx, module)
	s.code = code
	return err
}

// asHostFunction converts a function of two float64 numbers to a host function. The result replaces the first parameter on the stack.
func asHostFunction(function func(left, right float64) float64) api.GoFunc {
	return func(_ context.Context, stack []uint64) {
		left, right := math.Float64frombits(stack[0]), math.Float64frombits(stack[1])
		stack[0] = math.Float64bits(function(left, right))
	}
}

// hostIntPow computes an integer power for the compiled code. The result is hostFailed if the power is undefined or overflows.
func hostIntPow(_ context.Context, stack []uint64) {
	power, err := sema.IntPow(int32(stack[0]), int32(stack[1]))
	result := int64(power)
	if err != nil {
		result = hostFailed
	}
	stack[0] = uint64(result)
}

// newInstance makes another instance of the compiled module. All instances share the code.
func (s *sharedCode) newInstance(ctx context.Context) (instance, error) {
	module, err := s.runtime.InstantiateModule(ctx, s.code, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return instance{}, fmt.Errorf("instantiate WebAssembly: %w", err)
	}
	memory, ok := module.Memory().Read(0, module.Memory().Size())
	if !ok {
		return instance{}, fmt.Errorf("instantiate WebAssembly: no memory")
	}
	s.users.Add(1)
	return instance{shared: s, module: module, run: module.ExportedFunction(exportedRun), memory: memory}, nil
}

// Close releases the instance. With the last instance, it also releases the code. Calls after the first have no effect.
func (x *instance) Close() error {
	if x.isClosed {
		return nil
	}
	x.isClosed = true
	if x.shared.users.Add(-1) == 0 {
		return x.shared.runtime.Close(context.Background())
	}
	return x.module.Close(context.Background())
}

// Name implements BatchRunner.
func (r *machine) Name() string { return "machine" }

// Fork implements BatchRunner. The new machine shares the compiled code, but not the memory and the interpreter.
func (r *machine) Fork() (BatchRunner, error) {
	interpreter, err := r.interpreter.model.newInterpreter(r.interpreter.watch.Monitor)
	if err != nil {
		return nil, err
	}
	newMachine, err := r.shared.newInstance(context.Background())
	if err != nil {
		return nil, err
	}
	return &machine{instance: newMachine, interpreter: interpreter, stepBudget: firstBudget}, nil
}

// Run implements Runner: it draws one path. If the compiled code gives up, the interpreter draws the path again from the same random numbers.
func (r *machine) Run(stream Stream) Outcome {
	r.setStream(0, stream)
	if err := r.runStreams(context.Background(), r.singleOutcome[:]); err != nil {
		// A trap is a bug of the code generator, not an error of the model.
		return Outcome{Status: Failed, Err: r.interpreter.model.stateError(r.interpreter.initialState, syntax.Pos{}, err.Error())}
	}
	if r.singleOutcome[0].Status == Failed {
		return r.interpreter.Run(stream)
	}
	return r.singleOutcome[0]
}

// RunBatch implements BatchRunner: outcomes[i] becomes the outcome of sample first+i of the seed. The code draws batchSize paths at a time.
func (r *machine) RunBatch(ctx context.Context, seed, first uint64, outcomes []Outcome) error {
	for len(outcomes) > 0 {
		batch := outcomes[:min(len(outcomes), batchSize)]
		for i := range batch {
			r.setStream(i, NewStream(seed, first+uint64(i)))
		}
		if err := r.runStreams(ctx, batch); err != nil {
			return err
		}
		if err := r.repeatFailed(ctx, seed, first, batch); err != nil {
			return err
		}
		outcomes, first = outcomes[len(batch):], first+uint64(len(batch))
	}
	return ctx.Err()
}

// repeatFailed draws the paths with the status Failed again, with the interpreter. outcomes[i] is the outcome of sample first+i of the seed.
func (r *machine) repeatFailed(ctx context.Context, seed, first uint64, outcomes []Outcome) error {
	for i := range outcomes {
		if outcomes[i].Status != Failed {
			continue
		}
		var err error
		if outcomes[i], err = r.interpreter.run(ctx, NewStream(seed, first+uint64(i))); err != nil {
			return err
		}
	}
	return nil
}

// setStream writes the random stream of sample i to the memory of the instance.
func (r *machine) setStream(sample int, stream Stream) {
	for wordIndex, word := range stream {
		binary.LittleEndian.PutUint64(r.memory[sample*streamSize+8*wordIndex:], word)
	}
}

// runStreams runs the compiled code on the random streams in its memory, and stores the outcome of path i in outcomes[i]. A path that the code cannot
// finish has the status Failed.
func (r *machine) runStreams(ctx context.Context, outcomes []Outcome) error {
	numFinished := 0 // number of finished paths
	const startPath, resumePath = 0, 1
	startOrResume := uint64(startPath) // resumePath continues the path that the last call suspended
	for numFinished < len(outcomes) {
		r.stack = [4]uint64{uint64(numFinished), uint64(len(outcomes)), r.stepBudget, startOrResume}
		start := time.Now()
		if err := r.run.CallWithStack(ctx, r.stack[:]); err != nil {
			return fmt.Errorf("run WebAssembly: %w", err)
		}
		numFinished, startOrResume = int(r.stack[0]), resumePath
		r.adaptBudget(time.Since(start), numFinished == len(outcomes))
		if ctx.Err() != nil && numFinished < len(outcomes) {
			return ctx.Err()
		}
	}
	for i := range outcomes {
		outcomes[i] = r.readOutcome(i)
	}
	return nil
}

// adaptBudget changes the step budget after a call. A quick call that finished all paths changes nothing, because it may not have used its
// budget.
func (r *machine) adaptBudget(took time.Duration, isFinished bool) {
	switch {
	case took < quickCall && !isFinished:
		r.stepBudget = min(2*r.stepBudget, maxStepBudget)
	case took > slowCall:
		r.stepBudget = max(r.stepBudget/2, 1)
	}
}

// readOutcome reads the outcome of sample i from the memory of the instance. If the status is Failed, the other fields are 0.
func (r *machine) readOutcome(i int) Outcome {
	record := r.memory[outcomesAt+i*outcomeSize:][:outcomeSize]
	word := func(offset int) uint64 { return binary.LittleEndian.Uint64(record[offset:]) }
	outcome := Outcome{Status: Status(record[statusOffset])}
	if outcome.Status == Failed {
		return outcome
	}
	outcome.Steps = int64(word(stepsOffset))
	outcome.Time = math.Float64frombits(word(timeOffset))
	outcome.Reward = math.Float64frombits(word(rewardOffset))
	statesWithSeveralChoices := int64(word(nondetOffset))
	if r.interpreter.model.isNondeterministic() {
		outcome.Nondet = statesWithSeveralChoices
	} else {
		outcome.Overlap = statesWithSeveralChoices
	}
	return outcome
}
