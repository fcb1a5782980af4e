package explicit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"slices"
	"sync"
	"time"

	"tilecheck/internal/memory"
	"tilecheck/internal/noun"

	"tilecheck/internal/progress"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/syntax"
)

// Options changes how a state space is built. The zero value is the default.
type Options struct {
	// MaxStates is the number of states after which Build gives up; 0 means no limit.
	MaxStates int
	// MaxMemory is the number of bytes that states, choices and transitions
	// may take; 0 means three quarters of what the system says is available.
	MaxMemory int64
	// Part is the number of states to expand, in the order in which they are found; 0 means
	// all. Other states get a self-loop and are listed in Space.Unexplored.
	Part int
	// NoFixDeadlocks makes a deadlock an error. By default it gets a self-loop.
	NoFixDeadlocks bool
	// Exact keeps weights also as fractions.
	Exact bool
	// Normalise divides the fractions of a command in an exact model by their sum if that
	// differs from 1 only by rounding. Without it such a sum is an error.
	Normalise bool
	// Workers is the number of goroutines that expand states; 0 means one per
	// processor. The result does not depend on it.
	Workers int
	// CompileFrom is the number of states after which the model is compiled to WebAssembly,
	// which takes some time; 0 means 2000, a negative number never. The result does not
	// depend on it.
	CompileFrom int
	// Progress is called a few times per second, never concurrently.
	Progress func(progress.Progress)
}

// Build explores the states that are reachable from the initial ones. The error is a
// *compile.StateError for a state in which the model is wrong, a *DeadlockError, a *LimitError, a
// *compile.UnsupportedError, or the context's.
//
// Source: PRISM's explicit engine (reference, sections 2.4 and 4).
func Build(ctx context.Context, m *compile.Model, opts Options) (*Space, error) {
	initial, err := m.InitialStates(ctx)
	if err != nil {
		return nil, err
	}
	x := newExploration(m, opts)
	for _, state := range initial {
		x.codec.pack(x.packedBuffer, state)
		x.store.add(x.packedBuffer)
	}
	return x.explore(ctx)
}

// ExploreFurther builds the space of the states that are reachable from the given unexplored states
// of s. These become the initial states, in the same order. The new space has the warnings of s in
// addition to its own.
func (s *Space) ExploreFurther(ctx context.Context, from *sparse.Set, opts Options) (*Space, error) {
	x := newExploration(s.compiled, opts)
	for i := range from.All() {
		x.store.add(s.store.state(i))
	}
	x.overlaps, x.merged = s.overlaps, s.merged
	out, err := x.explore(ctx)
	if err != nil {
		return nil, err
	}
	out.prismDifferences = append(slices.Clip(s.prismDifferences), out.prismDifferences...)
	out.earlierDeadlocks = s.deadlocks()
	return out, nil
}

// explore expands the states in the store and all states that are reachable from them.
func (x *exploration) explore(ctx context.Context) (*Space, error) {
	m, opts := x.model, x.opts
	x.numInitial = x.store.n
	x.opts.Exact, x.rounded = opts.Exact || hasIntervals(m), !opts.Exact
	if err := x.expandAll(ctx); err != nil {
		if why := ctx.Err(); why != nil && errors.Is(err, why) {
			err = fmt.Errorf("%w when %s %s found, and %d of them explored", why, noun.Count(x.store.n, "state"), noun.Verb(x.store.n, "was", "were"), x.expanded)
		}
		return nil, err
	}
	return x.buildSpace()
}

// exploration is a breadth-first search in progress. Workers expand batches of states; one
// goroutine commits the batches in order and owns everything here.
type exploration struct {
	model      *compile.Model
	opts       Options
	codec      *codec
	store      *store
	builder    *sparse.Builder
	numInitial int
	nextState  int // first state that is not in a batch yet

	expanded  int
	deadlocks []uint32
	owners    []uint16 // players of the expanded states of a game
	overlaps  int
	merged    int
	relErr    float64 // relative error of the weights
	rangeErr  error   // the first weight outside the range of float64
	rounded   bool    // the caller did not ask for fractions
	// normalised says that fractions were divided by their sum.
	normalised bool

	packedBuffer  []uint64
	targetNumbers []uint32 // of the targets of a batch
	fallback      error    // why the model was not compiled
	started       time.Time
	reported      time.Time
	memoryLimit   int64 // on memory, in bytes
}

// newExploration returns a search without states. Its memory limit is set.
func newExploration(model *compile.Model, opts Options) *exploration {
	codec := newCodec(model.Program().Vars)
	now := time.Now()
	x := &exploration{
		model: model, opts: opts, codec: codec, store: newStore(codec.words), builder: sparse.NewBuilder(sparseKind(model.Program().Type)),
		packedBuffer: make([]uint64, codec.words), started: now, reported: now, memoryLimit: opts.MaxMemory,
	}
	if x.memoryLimit <= 0 {
		x.memoryLimit = memory.Available() / 4 * 3
	}
	return x
}

// sparseKind returns the kind of graph of a model type. Partially observable and non-probabilistic
// models are handled as MDPs.
func sparseKind(t syntax.ModelType) sparse.Kind {
	switch t {
	case syntax.DTMC, syntax.IDTMC:
		return sparse.DTMC
	case syntax.CTMC:
		return sparse.CTMC
	}
	return sparse.MDP
}

// hasIntervals reports whether the probabilities of a model are intervals. Their bounds are always
// kept as fractions.
func hasIntervals(m *compile.Model) bool {
	return m.Program().Type == syntax.IDTMC || m.Program().Type == syntax.IMDP
}

// game reports whether states have owners.
func game(m *compile.Model) bool { return m.Program().Type == syntax.SMG }

// batchStates is the largest number of states in a batch.
const batchStates = 512

// compileFrom is the default of Options.CompileFrom: interpreting this many states takes about as
// long as compiling the model.
const defaultCompileFrom = 2000

// expandAll interprets the first states. If there are more than Options.CompileFrom, several
// workers expand the others with the compiled model.
func (x *exploration) expandAll(ctx context.Context) error {
	interpreter, err := newWorker(ctx, x.model, x.codec, x.model.NewPackedInterpreter(x.codec.packing), x.opts)
	if err != nil {
		return err
	}
	compileFrom := defaultCompileFrom
	if x.opts.CompileFrom > 0 {
		compileFrom = x.opts.CompileFrom
	}
	batch := &batch{}
	for x.nextState < min(x.numToExpand(), compileFrom) {
		x.fillBatch(batch)
		interpreter.expand(ctx, batch)
		if err := x.commit(ctx, batch); err != nil {
			return err
		}
	}
	if x.nextState == x.numToExpand() {
		return nil
	}
	return x.expandInParallel(ctx)
}

// numToExpand returns the number of states found so far, limited by Options.Part.
func (x *exploration) numToExpand() int {
	if x.opts.Part > 0 {
		return min(x.opts.Part, x.store.n)
	}
	return x.store.n
}

// expandInParallel expands the remaining states with several workers.
func (x *exploration) expandInParallel(ctx context.Context) error {
	workers := x.opts.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	master, err := x.newExpander(ctx)
	if err != nil {
		return err
	}
	defer master.Close()
	jobs := make(chan *batch, 2*workers)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(jobs)
	for range workers {
		expander, err := master.Fork(ctx)
		if err != nil {
			return err
		}
		worker, err := newWorker(ctx, x.model, x.codec, expander, x.opts)
		if err != nil {
			return errors.Join(err, expander.Close())
		}
		wg.Go(func() {
			defer expander.Close()
			worker.run(ctx, jobs)
		})
	}
	return x.schedule(ctx, jobs, 2*workers)
}

// newExpander compiles the model to WebAssembly; if that is impossible, it returns the interpreter.
func (x *exploration) newExpander(ctx context.Context) (compile.PackedExpander, error) {
	if x.opts.CompileFrom < 0 || !compile.HasMachines || x.opts.Exact && hasIntervals(x.model) {
		return x.model.NewPackedInterpreter(x.codec.packing), nil
	}
	create := x.model.NewPackedMachine
	if x.opts.Exact {
		create = x.model.NewPackedLister
	}
	machine, err := create(ctx, x.codec.packing)
	if _, ok := errors.AsType[*compile.UnsupportedError](err); ok {
		if !x.opts.Exact {
			x.fallback = err
		}
		return x.model.NewPackedInterpreter(x.codec.packing), nil
	}
	return machine, err
}

// schedule sends batches of states to the workers and commits the results in order. At most
// maxPending batches are in progress.
func (x *exploration) schedule(ctx context.Context, jobs chan<- *batch, maxPending int) error {
	var pending, free []*batch
	for {
		for x.nextState < x.numToExpand() && len(pending) < maxPending {
			var batch *batch
			batch, free = reuseBatch(free)
			x.fillBatch(batch)
			pending = append(pending, batch)
			jobs <- batch
		}
		if len(pending) == 0 {
			return nil
		}
		batch := pending[0]
		<-batch.done
		if err := x.commit(ctx, batch); err != nil {
			return err
		}
		pending, free = pending[1:], append(free, batch)
	}
}

// reuseBatch returns a batch from the free list, or a new one, and the remaining free list.
func reuseBatch(free []*batch) (*batch, []*batch) {
	if n := len(free); n > 0 {
		return free[n-1], free[:n-1]
	}
	return &batch{done: make(chan struct{}, 1)}, free
}

// fillBatch copies the next states into a batch. Workers need a copy, because the store grows while
// they run.
func (x *exploration) fillBatch(batch *batch) {
	batch.reset()
	endState := min(x.nextState+batchStates, x.numToExpand())
	for ; x.nextState < endState; x.nextState++ {
		batch.states = append(batch.states, x.store.state(x.nextState)...)
	}
}

// commit numbers the targets of an expanded batch and adds its choices to the model. Deadlocks get
// a self-loop.
func (x *exploration) commit(ctx context.Context, batch *batch) error {
	if batch.err != nil {
		return batch.err
	}
	x.targetNumbers = x.store.addAll(x.targetNumbers[:0], batch.Targets, batch.hashes)
	rows := sparse.Rows{
		Choices: batch.Choices, Transitions: batch.Transitions, Actions: batch.actions,
		Targets: x.targetNumbers, Weights: batch.Weights, Rats: batch.rats,
		Highs: batch.highs,
	}
	if game(x.model) {
		x.owners = append(x.owners, batch.owners...)
		x.owners = append(x.owners, make([]uint16, len(batch.Choices)-len(batch.owners))...) // deadlocks belong to the first player
	}
	for len(rows.Choices) > 0 {
		numStates := slices.Index(rows.Choices, 0)
		if numStates < 0 {
			numStates = len(rows.Choices)
		}
		rows = x.builder.AddRows(rows, numStates)
		x.expanded += numStates
		if len(rows.Choices) > 0 {
			x.deadlocks = append(x.deadlocks, uint32(x.expanded))
			x.addSelfLoop()
			rows.Choices = rows.Choices[1:]
		}
	}
	x.overlaps, x.merged = x.overlaps+batch.overlaps, x.merged+batch.merged
	x.relErr = max(x.relErr, batch.relErr)
	x.normalised = x.normalised || batch.normalised
	x.rangeErr = cmp.Or(x.rangeErr, batch.rangeErr)
	if err := x.checkLimits(); err != nil {
		return err
	}
	x.reportProgress(false)
	return ctx.Err()
}

// addSelfLoop adds a state to the model whose only transition leads to itself.
func (x *exploration) addSelfLoop() {
	x.builder.State()
	if sparseKind(x.model.Program().Type) == sparse.MDP {
		x.builder.Choice(sparse.NoAction)
	}
	one := big.NewRat(1, 1)
	switch {
	case hasIntervals(x.model):
		x.builder.AddInterval(x.expanded, one, one, sparse.NoAction)
	case x.opts.Exact:
		x.builder.AddRat(x.expanded, one, sparse.NoAction)
	default:
		x.builder.Add(x.expanded, 1)
	}
	x.expanded++
}

// checkLimits returns a *LimitError if there are too many states or too much memory is used.
func (x *exploration) checkLimits() error {
	if x.opts.MaxStates > 0 && x.store.n > x.opts.MaxStates {
		return &LimitError{Limit: int64(x.opts.MaxStates), States: x.store.n, Expanded: x.expanded}
	}
	if usedMemory := x.store.bytes() + x.store.tableBytes() + x.builder.Bytes(); x.memoryLimit > 0 && usedMemory > x.memoryLimit {
		return &LimitError{Memory: true, Limit: x.memoryLimit, States: x.store.n, Expanded: x.expanded}
	}
	return nil
}

// reportProgress calls Options.Progress, at most ten times a second unless final is set.
func (x *exploration) reportProgress(final bool) {
	if x.opts.Progress == nil {
		return
	}
	if now := time.Now(); final || now.Sub(x.reported) >= 100*time.Millisecond {
		x.reported = now
		n := x.store.n
		x.opts.Progress(progress.Progress{Done: int64(n), Unit: progress.States, Rate: float64(n) / max(now.Sub(x.started).Seconds(), 1e-9)})
	}
}

// buildSpace returns the space of the committed batches. Unexplored states get a self-loop.
func (x *exploration) buildSpace() (*Space, error) {
	x.reportProgress(true)
	s := &Space{compiled: x.model, codec: x.codec, store: x.store, overlaps: x.overlaps, merged: x.merged, fallback: x.fallback, rangeErr: x.rangeErr, rounded: x.rounded, normalised: x.normalised}
	if len(x.deadlocks) > 0 && x.opts.NoFixDeadlocks {
		return nil, &DeadlockError{Count: len(x.deadlocks), State: x.model.StateText(s.State(nil, int(x.deadlocks[0])))}
	}
	x.store.seal()
	if x.expanded < x.store.n {
		s.unexplored = sparse.NewSet(x.store.n)
		for x.expanded < x.store.n {
			s.unexplored.Add(x.expanded)
			x.addSelfLoop()
		}
	}
	model, err := x.builder.Finish()
	if err != nil {
		return nil, err
	}
	if game(x.model) {
		model.Player = append(x.owners, make([]uint16, x.store.n-len(x.owners))...)
	}
	if !x.opts.Exact {
		model.Err = x.relErr
		if x.rangeErr != nil {
			model.Err = math.Inf(1)
		}
	}
	for i := range x.numInitial {
		model.Initial = append(model.Initial, uint32(i))
	}
	if len(x.deadlocks) > 0 {
		model.Deadlocks = sparse.NewSet(x.store.n)
		for _, d := range x.deadlocks {
			model.Deadlocks.Add(int(d))
		}
	}
	s.model = model
	if math.IsInf(model.Err, 1) && s.rangeErr == nil {
		s.rangeErr = &RangeError{File: x.model.Program().File, What: "a probability or rate"}
	}
	return s, s.comparePRISMArithmetic()
}

// Fallback returns the *compile.UnsupportedError that says why a large model was interpreted
// instead of compiled to WebAssembly; nil if it was compiled. It affects speed only.
func (s *Space) Fallback() error { return s.fallback }
