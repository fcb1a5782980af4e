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
	// Part is the number of states, the first ones found, of which to find the
	// choices; 0 means all. The other states are left out of the model but for a
	// self-loop, and Space.Unexplored has them.
	Part int
	// NoFixDeadlocks makes a deadlock an error. By default it gets a self-loop.
	NoFixDeadlocks bool
	// Exact keeps the probabilities as fractions, too.
	Exact bool
	// Normalise divides the fractions of an exact model by their sum where that is
	// one but for rounding, as models of doubles have it. Otherwise it is an error.
	Normalise bool
	// Workers is the number of goroutines that expand states; 0 means one per
	// processor. The result does not depend on it.
	Workers int
	// CompileFrom is the number of states from which on the model runs in
	// WebAssembly, which takes some time to make; 0 means 2000, a negative
	// number never. The result does not depend on it.
	CompileFrom int
	// Progress is called a few times per second, never concurrently.
	Progress func(progress.Progress)
}

// Build explores the states that are reachable from the initial ones. Its
// error is a *compile.StateError for a state in which the model is wrong, a
// *DeadlockError, a *LimitError, a *compile.UnsupportedError, or the context's.
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

// Onward explores on from some of the states that a part of a model left unexplored, as
// Build does: they are the initial states of the space that is returned, in their order,
// which knows nothing of the states before them but what there is to warn of.
func (s *Space) Onward(ctx context.Context, from *sparse.Set, opts Options) (*Space, error) {
	x := newExploration(s.compiled, opts)
	for i := range from.All() {
		x.store.add(s.store.at(i))
	}
	x.overlaps, x.merged = s.overlaps, s.merged
	out, err := x.explore(ctx)
	if err != nil {
		return nil, err
	}
	out.differ = append(slices.Clip(s.differ), out.differ...)
	out.fixed = s.deadlocks()
	return out, nil
}

// explore goes on from the states that there are.
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

// exploration is a search under way. Batches of states are expanded by workers
// and committed in order by one goroutine, which owns everything here.
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
	overlaps  int
	merged    int
	err       float64 // relative error of the weights
	unfit     error   // the first weight that doubles are no good for
	rounded   bool    // nobody asked for fractions
	// normalised says that fractions were divided by their sum.
	normalised bool

	packed   []uint64
	numbers  []uint32 // of the targets of a batch
	fallback error    // why the model was not compiled
	started  time.Time
	reported time.Time
	limit    int64 // of memory
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

// kind maps types of models; partially observable and unprobabilistic models
// are handled as MDPs.
func kind(t syntax.ModelType) sparse.Kind {
	switch t {
	case syntax.DTMC, syntax.IDTMC:
		return sparse.DTMC
	case syntax.CTMC:
		return sparse.CTMC
	}
	return sparse.MDP
}

// intervals reports whether probabilities are intervals, whose ends are kept as
// fractions always.
func intervals(m *compile.Model) bool {
	return m.Program().Type == syntax.IDTMC || m.Program().Type == syntax.IMDP
}

// batchStates is the greatest number of states that a worker expands at a time.
const batchStates = 512

// compileFrom is the default of Options.CompileFrom: interpreting that many
// states takes about as long as making the machine.
const compileFrom = 2000

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

// found is the number of states that there are to explore, as far as is known.
func (x *exploration) found() int {
	if x.opts.Part > 0 {
		return min(x.opts.Part, x.store.n)
	}
	return x.store.n
}

// parallel goes on with several workers.
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
			w.work(ctx, jobs)
		})
	}
	return x.schedule(ctx, jobs, 2*workers)
}

// expander returns the machine, or the interpreter where there is none.
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

// schedule keeps some batches under way and commits them in order.
func (x *exploration) schedule(ctx context.Context, jobs chan<- *batch, most int) error {
	var pending, free []*batch
	for {
		for x.next < x.found() && len(pending) < most {
			var b *batch
			b, free = take(free)
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

func take(free []*batch) (*batch, []*batch) {
	if n := len(free); n > 0 {
		return free[n-1], free[:n-1]
	}
	return &batch{done: make(chan struct{}, 1)}, free
}

// fill copies the next states to a batch: the store changes while they are
// being expanded.
func (x *exploration) fill(b *batch) {
	b.reset()
	end := min(x.next+batchStates, x.found())
	for ; x.next < end; x.next++ {
		b.states = append(b.states, x.store.at(x.next)...)
	}
}

// commit adds what a batch's states lead to.
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
	for len(rows.Choices) > 0 {
		n := slices.Index(rows.Choices, 0)
		if n < 0 {
			n = len(rows.Choices)
		}
		rows = x.builder.AddRows(rows, n)
		x.expanded += n
		if len(rows.Choices) > 0 {
			x.deadlocks = append(x.deadlocks, uint32(x.expanded))
			x.loop()
			rows.Choices = rows.Choices[1:]
		}
	}
	x.overlaps, x.merged = x.overlaps+b.overlaps, x.merged+b.merged
	x.err = max(x.err, b.relErr)
	x.normalised = x.normalised || b.normalised
	x.unfit = cmp.Or(x.unfit, b.unfit)
	if err := x.check(); err != nil {
		return err
	}
	x.report(false)
	return ctx.Err()
}

// loop gives the next state a self-loop.
func (x *exploration) loop() {
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

// check compares with the limits.
func (x *exploration) check() error {
	if x.opts.MaxStates > 0 && x.store.n > x.opts.MaxStates {
		return &LimitError{Limit: int64(x.opts.MaxStates), States: x.store.n, Expanded: x.expanded}
	}
	if used := x.store.bytes() + x.store.table() + x.builder.Bytes(); x.limit > 0 && used > x.limit {
		return &LimitError{Memory: true, Limit: x.limit, States: x.store.n, Expanded: x.expanded}
	}
	return nil
}

// report tells of progress, ten times a second at most.
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

func (x *exploration) finish() (*Space, error) {
	x.report(true)
	s := &Space{compiled: x.m, codec: x.codec, store: x.store, overlaps: x.overlaps, merged: x.merged, fallback: x.fallback, unfit: x.unfit, rounded: x.rounded, normalised: x.normalised}
	if len(x.deadlocks) > 0 && x.opts.NoFixDeadlocks {
		return nil, &DeadlockError{Count: len(x.deadlocks), State: x.m.StateText(s.State(nil, int(x.deadlocks[0])))}
	}
	x.store.seal()
	if x.expanded < x.store.n {
		s.unexplored = sparse.NewSet(x.store.n)
		for x.expanded < x.store.n {
			s.unexplored.Add(x.expanded)
			x.loop()
		}
	}
	model, err := x.builder.Finish()
	if err != nil {
		return nil, err
	}
	if !x.opts.Exact {
		model.Err = x.err
		if x.unfit != nil {
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
	if math.IsInf(model.Err, 1) && s.unfit == nil {
		s.unfit = &RangeError{File: x.m.Program().File, What: "a probability or rate"}
	}
	return s, s.compareDoubles()
}

// Fallback says why the model was interpreted although it is large: a
// *compile.UnsupportedError that names what WebAssembly code cannot be made
// for, nil otherwise. It concerns speed only.
func (s *Space) Fallback() error { return s.fallback }
