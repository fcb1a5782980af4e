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
		x.codec.pack(x.packed, state)
		x.store.add(x.packed)
	}
	return x.explore(ctx)
}

// ExploreFurther explores from the given unexplored states of s, as Build does. They are the
// initial states of the new space, in their order. The new space keeps the warnings of s and
// nothing else.
func (s *Space) ExploreFurther(ctx context.Context, from *sparse.Set, opts Options) (*Space, error) {
	x := newExploration(s.compiled, opts)
	for i := range from.All() {
		x.store.add(s.store.at(i))
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

// explore expands the states in the store and all that are reachable from them.
func (x *exploration) explore(ctx context.Context) (*Space, error) {
	m, opts := x.m, x.opts
	x.initial = x.store.n
	x.opts.Exact, x.rounded = opts.Exact || intervals(m), !opts.Exact
	if err := x.run(ctx); err != nil {
		if why := ctx.Err(); why != nil && errors.Is(err, why) {
			err = fmt.Errorf("%w when %d states were found, and %d of them explored", why, x.store.n, x.expanded)
		}
		return nil, err
	}
	return x.finish()
}

// exploration is a breadth-first search in progress. Workers expand batches of states; one
// goroutine commits the batches in order and owns everything here.
type exploration struct {
	m       *compile.Model
	opts    Options
	codec   *codec
	store   *store
	builder *sparse.Builder
	initial int
	next    int // first state that no batch has yet

	expanded  int
	deadlocks []uint32
	owners    []uint16 // players of the expanded states of a game
	overlaps  int
	merged    int
	err       float64 // relative error of the weights
	rangeErr  error   // the first weight outside the range of float64
	rounded   bool    // the caller did not ask for fractions
	// normalised says that fractions were divided by their sum.
	normalised bool

	packed   []uint64
	numbers  []uint32 // of the targets of a batch
	fallback error    // why the model was not compiled
	started  time.Time
	reported time.Time
	limit    int64 // on memory, in bytes
}

func newExploration(m *compile.Model, opts Options) *exploration {
	c := newCodec(m.Program().Vars)
	now := time.Now()
	x := &exploration{
		m: m, opts: opts, codec: c, store: newStore(c.words), builder: sparse.NewBuilder(kind(m.Program().Type)),
		packed: make([]uint64, c.words), started: now, reported: now, limit: opts.MaxMemory,
	}
	if x.limit <= 0 {
		x.limit = memory.Available() / 4 * 3
	}
	return x
}

// kind returns the kind of a model. Partially observable and non-probabilistic models are handled
// as MDPs.
func kind(t syntax.ModelType) sparse.Kind {
	switch t {
	case syntax.DTMC, syntax.IDTMC:
		return sparse.DTMC
	case syntax.CTMC:
		return sparse.CTMC
	}
	return sparse.MDP
}

// intervals reports whether probabilities are intervals. Their bounds are always kept as
// fractions.
func intervals(m *compile.Model) bool {
	return m.Program().Type == syntax.IDTMC || m.Program().Type == syntax.IMDP
}

// game reports whether states have owners.
func game(m *compile.Model) bool { return m.Program().Type == syntax.SMG }

// batchStates is the largest number of states in a batch.
const batchStates = 512

// compileFrom is the default of Options.CompileFrom: interpreting this many states takes about as
// long as compiling the model.
const compileFrom = 2000

// run interprets the first states and, if there are many, goes on in parallel.
func (x *exploration) run(ctx context.Context) error {
	first, err := newWorker(ctx, x.m, x.codec, x.m.NewPackedInterpreter(x.codec.packing), x.opts)
	if err != nil {
		return err
	}
	from := compileFrom
	if x.opts.CompileFrom > 0 {
		from = x.opts.CompileFrom
	}
	b := &batch{}
	for x.next < min(x.found(), from) {
		x.fill(b)
		first.expand(ctx, b)
		if err := x.commit(ctx, b); err != nil {
			return err
		}
	}
	if x.next == x.found() {
		return nil
	}
	return x.parallel(ctx)
}

// found returns the number of states to expand, as far as is known.
func (x *exploration) found() int {
	if x.opts.Part > 0 {
		return min(x.opts.Part, x.store.n)
	}
	return x.store.n
}

// parallel expands the remaining states with several workers.
func (x *exploration) parallel(ctx context.Context) error {
	workers := x.opts.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	master, err := x.expander(ctx)
	if err != nil {
		return err
	}
	defer master.Close()
	jobs := make(chan *batch, 2*workers)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(jobs)
	for range workers {
		fork, err := master.Fork(ctx)
		if err != nil {
			return err
		}
		w, err := newWorker(ctx, x.m, x.codec, fork, x.opts)
		if err != nil {
			return errors.Join(err, fork.Close())
		}
		wg.Go(func() {
			defer fork.Close()
			w.run(ctx, jobs)
		})
	}
	return x.schedule(ctx, jobs, 2*workers)
}

// expander returns the model compiled to WebAssembly, or the interpreter if it cannot be compiled.
func (x *exploration) expander(ctx context.Context) (compile.PackedExpander, error) {
	if x.opts.CompileFrom < 0 || !compile.HasMachines || x.opts.Exact && intervals(x.m) {
		return x.m.NewPackedInterpreter(x.codec.packing), nil
	}
	create := x.m.NewPackedMachine
	if x.opts.Exact {
		create = x.m.NewPackedLister
	}
	machine, err := create(ctx, x.codec.packing)
	if _, ok := errors.AsType[*compile.UnsupportedError](err); ok {
		if !x.opts.Exact {
			x.fallback = err
		}
		return x.m.NewPackedInterpreter(x.codec.packing), nil
	}
	return machine, err
}

// schedule keeps up to limit batches in progress and commits them in order.
func (x *exploration) schedule(ctx context.Context, jobs chan<- *batch, limit int) error {
	var pending, free []*batch
	for {
		for x.next < x.found() && len(pending) < limit {
			var b *batch
			b, free = reuse(free)
			x.fill(b)
			pending = append(pending, b)
			jobs <- b
		}
		if len(pending) == 0 {
			return nil
		}
		b := pending[0]
		<-b.done
		if err := x.commit(ctx, b); err != nil {
			return err
		}
		pending, free = pending[1:], append(free, b)
	}
}

// reuse takes a batch from the free list, or makes one.
func reuse(free []*batch) (*batch, []*batch) {
	if n := len(free); n > 0 {
		return free[n-1], free[:n-1]
	}
	return &batch{done: make(chan struct{}, 1)}, free
}

// fill copies the next states into a batch, because the store changes while they are expanded.
func (x *exploration) fill(b *batch) {
	b.reset()
	end := min(x.next+batchStates, x.found())
	for ; x.next < end; x.next++ {
		b.states = append(b.states, x.store.at(x.next)...)
	}
}

// commit numbers the targets of a batch and adds its choices to the model.
func (x *exploration) commit(ctx context.Context, b *batch) error {
	if b.err != nil {
		return b.err
	}
	x.numbers = x.store.addAll(x.numbers[:0], b.Targets, b.hashes)
	rows := sparse.Rows{
		Choices: b.Choices, Transitions: b.Transitions, Actions: b.actions,
		Targets: x.numbers, Weights: b.Weights, Rats: b.rats,
		Highs: b.highs,
	}
	if game(x.m) {
		x.owners = append(x.owners, b.owners...)
		x.owners = append(x.owners, make([]uint16, len(b.Choices)-len(b.owners))...) // deadlocks belong to the first player
	}
	for len(rows.Choices) > 0 {
		n := slices.Index(rows.Choices, 0)
		if n < 0 {
			n = len(rows.Choices)
		}
		rows = x.builder.AddRows(rows, n)
		x.expanded += n
		if len(rows.Choices) > 0 {
			x.deadlocks = append(x.deadlocks, uint32(x.expanded))
			x.addSelfLoop()
			rows.Choices = rows.Choices[1:]
		}
	}
	x.overlaps, x.merged = x.overlaps+b.overlaps, x.merged+b.merged
	x.err = max(x.err, b.relErr)
	x.normalised = x.normalised || b.normalised
	x.rangeErr = cmp.Or(x.rangeErr, b.rangeErr)
	if err := x.checkLimits(); err != nil {
		return err
	}
	x.report(false)
	return ctx.Err()
}

// addSelfLoop gives the next state a self-loop.
func (x *exploration) addSelfLoop() {
	x.builder.State()
	if kind(x.m.Program().Type) == sparse.MDP {
		x.builder.Choice(sparse.NoAction)
	}
	one := big.NewRat(1, 1)
	switch {
	case intervals(x.m):
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
	if used := x.store.bytes() + x.store.tableBytes() + x.builder.Bytes(); x.limit > 0 && used > x.limit {
		return &LimitError{Memory: true, Limit: x.limit, States: x.store.n, Expanded: x.expanded}
	}
	return nil
}

// report reports progress, at most ten times a second.
func (x *exploration) report(last bool) {
	if x.opts.Progress == nil {
		return
	}
	if now := time.Now(); last || now.Sub(x.reported) >= 100*time.Millisecond {
		x.reported = now
		n := x.store.n
		x.opts.Progress(progress.Progress{Done: int64(n), Unit: progress.States, Rate: float64(n) / max(now.Sub(x.started).Seconds(), 1e-9)})
	}
}

// finish builds the space from the committed batches.
func (x *exploration) finish() (*Space, error) {
	x.report(true)
	s := &Space{compiled: x.m, codec: x.codec, store: x.store, overlaps: x.overlaps, merged: x.merged, fallback: x.fallback, rangeErr: x.rangeErr, rounded: x.rounded, normalised: x.normalised}
	if len(x.deadlocks) > 0 && x.opts.NoFixDeadlocks {
		return nil, &DeadlockError{Count: len(x.deadlocks), State: x.m.StateText(s.State(nil, int(x.deadlocks[0])))}
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
	if game(x.m) {
		model.Player = append(x.owners, make([]uint16, x.store.n-len(x.owners))...)
	}
	if !x.opts.Exact {
		model.Err = x.err
		if x.rangeErr != nil {
			model.Err = math.Inf(1)
		}
	}
	for i := range x.initial {
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
		s.rangeErr = &RangeError{File: x.m.Program().File, What: "a probability or rate"}
	}
	return s, s.comparePRISM()
}

// Fallback returns the *compile.UnsupportedError that says why a large model was interpreted
// instead of compiled to WebAssembly; nil if it was compiled. It affects speed only.
func (s *Space) Fallback() error { return s.fallback }
