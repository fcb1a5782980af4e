package explicit

import (
	"context"
	"runtime"
	"time"

	"tilecheck/native/explicit/sparse"
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
	// NoFixDeadlocks makes a deadlock an error. By default it gets a self-loop.
	NoFixDeadlocks bool
	// Exact keeps the probabilities as fractions, too.
	Exact bool
	// Workers is the number of goroutines that expand states; 0 means one per
	// processor. The result does not depend on it.
	Workers int
	// Progress is called a few times per second, never concurrently.
	Progress func(Progress)
}

// Progress is how far building is.
type Progress struct {
	States   int // found so far
	Expanded int // states whose choices are known
	Elapsed  time.Duration
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
	x.initial = x.store.n
	if err := x.run(ctx); err != nil {
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
	err       float64 // relative error of the weights

	packed   []uint64
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
		x.limit = availableMemory() / 4 * 3
	}
	return x
}

// kind maps types of models; partially observable and unprobabilistic models
// are handled as MDPs.
func kind(t syntax.ModelType) sparse.Kind {
	switch t {
	case syntax.DTMC:
		return sparse.DTMC
	case syntax.CTMC:
		return sparse.CTMC
	}
	return sparse.MDP
}

// batchStates is the greatest number of states that a worker expands at a time.
const batchStates = 512

func (x *exploration) run(ctx context.Context) error {
	workers := x.opts.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	jobs := make(chan *batch, 2*workers)
	defer close(jobs)
	for range workers {
		w, err := newWorker(x.m, x.codec, x.opts.Exact)
		if err != nil {
			return err
		}
		go w.work(jobs)
	}
	var pending, free []*batch
	for {
		for x.next < x.store.n && len(pending) < 2*workers {
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
	end := min(x.next+batchStates, x.store.n)
	for ; x.next < end; x.next++ {
		b.states = append(b.states, x.store.at(x.next)...)
	}
}

// commit adds what a batch's states lead to.
func (x *exploration) commit(ctx context.Context, b *batch) error {
	if b.err != nil {
		return b.err
	}
	r := reader{x: x, b: b}
	for i, choices := range b.choices {
		x.builder.State()
		if b.deadlock[i] {
			x.deadlocks = append(x.deadlocks, uint32(x.expanded))
		}
		for range choices {
			r.choice()
		}
		x.expanded++
	}
	x.overlaps += b.overlaps
	x.err = max(x.err, b.relErr)
	if err := x.check(); err != nil {
		return err
	}
	x.report(false)
	return ctx.Err()
}

// reader goes through the choices of a batch.
type reader struct {
	x             *exploration
	b             *batch
	choices, rows int // read so far
}

func (r *reader) choice() {
	x, b, w := r.x, r.b, r.x.codec.words
	chain := kind(x.m.Program().Type) != sparse.MDP
	if !chain {
		x.builder.Choice(b.actions[r.choices])
	}
	for range b.transitions[r.choices] {
		target, _ := x.store.add(b.targets[r.rows*w : (r.rows+1)*w])
		action := sparse.NoAction
		if chain {
			action = b.actions[r.rows]
		}
		if x.opts.Exact {
			x.builder.AddRat(target, b.rats[r.rows], action)
		} else {
			x.builder.AddAction(target, b.weights[r.rows], action)
		}
		r.rows++
	}
	r.choices++
}

// check compares with the limits.
func (x *exploration) check() error {
	if x.opts.MaxStates > 0 && x.store.n > x.opts.MaxStates {
		return &LimitError{Limit: int64(x.opts.MaxStates), States: x.store.n, Expanded: x.expanded}
	}
	if used := x.store.bytes() + x.builder.Bytes(); x.limit > 0 && used > x.limit {
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
		x.opts.Progress(Progress{States: x.store.n, Expanded: x.expanded, Elapsed: now.Sub(x.started)})
	}
}

func (x *exploration) finish() (*Space, error) {
	x.report(true)
	s := &Space{compiled: x.m, codec: x.codec, store: x.store, overlaps: x.overlaps}
	if len(x.deadlocks) > 0 && x.opts.NoFixDeadlocks {
		return nil, &DeadlockError{Count: len(x.deadlocks), State: x.m.StateText(s.State(nil, int(x.deadlocks[0])))}
	}
	model, err := x.builder.Finish()
	if err != nil {
		return nil, err
	}
	if !x.opts.Exact {
		model.Err = x.err
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
	return s, nil
}
