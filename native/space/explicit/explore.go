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
	"tilecheck/prism/stubborn"
	"tilecheck/prism/symmetry"
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
	// Depth, unless 0, is the number of steps to explore: states that take so many steps to reach are not expanded. They are
	// treated as those beyond Part.
	Depth int
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
	// Symmetry has interchangeable modules. Of the states that differ only by a permutation of them, one is explored. The choices of
	// a state may then have several transitions to the same state. The actions of a choice may be those of another module.
	Symmetry []symmetry.Class
	// Permutations has a group of permutations of the variables, which is used like Symmetry. Only one of them may be given.
	Permutations []symmetry.Permutation
	// Reduction, if not nil, executes commands at once whose order does not matter; the states before them are not explored.
	Reduction *stubborn.Reduction
	// Progress is called a few times per second, never concurrently.
	Progress func(progress.Progress)
}

// Build explores the reachable states of a model. The error is a *compile.StateError if the model is wrong in a
// state. It may also be a *DeadlockError, a *LimitError, a *compile.UnsupportedError, or the error of the context.
//
// Source: PRISM's explicit engine (reference, sections 2.4 and 4).
func Build(ctx context.Context, model *compile.Model, opts Options) (*Space, error) {
	search := newExploration(model, opts)
	if err := search.addInitialStates(ctx); err != nil {
		return nil, err
	}
	return search.explore(ctx)
}

// addInitialStates adds the initial states of the model to the store, or their representatives if the model is reduced by a symmetry.
func (search *exploration) addInitialStates(ctx context.Context) error {
	initial, err := search.model.InitialStates(ctx)
	if err != nil {
		return err
	}
	canonical := newCanonicaliser(search.codec, &search.opts)
	for _, state := range initial {
		search.codec.pack(search.packedBuffer, state)
		canonical.replaceByRepresentatives(search.packedBuffer)
		search.store.addState(search.packedBuffer)
	}
	return nil
}

// ExploreFurther explores the states that are reachable from the given unexplored states of a space, and returns their space. The given states become its
// initial states, in the same order. It also has the warnings of the old space.
func (space *Space) ExploreFurther(ctx context.Context, from *sparse.Set, opts Options) (*Space, error) {
	opts.Symmetry, opts.Permutations, opts.Reduction = space.symmetry, space.permutations, space.reduction
	search := newExploration(space.compiled, opts)
	for i := range from.All() {
		search.store.addState(space.store.packedState(i))
	}
	search.numOverlaps, search.numMerged = space.numOverlaps, space.numMerged
	further, err := search.explore(ctx)
	if err != nil {
		return nil, err
	}
	further.prismDifferences = append(slices.Clip(space.prismDifferences), further.prismDifferences...)
	further.earlierDeadlocks = space.numDeadlocks()
	return further, nil
}

// explore expands all states that are reachable from the states in the store, and returns their space.
func (search *exploration) explore(ctx context.Context) (*Space, error) {
	model, opts := search.model, search.opts
	search.numInitial = search.store.numStates
	search.opts.Exact, search.isRounded = opts.Exact || hasIntervals(model), !opts.Exact
	if err := search.expandAll(ctx); err != nil {
		return nil, search.addCounts(ctx, err)
	}
	return search.buildSpace()
}

// addCounts adds to an error of the context how many states were found and explored. It returns other errors unchanged.
func (search *exploration) addCounts(ctx context.Context, err error) error {
	ended := ctx.Err()
	if ended == nil || !errors.Is(err, ended) {
		return err
	}
	if search.numExpanded == 0 {
		return fmt.Errorf("%w while the transitions of the first state were computed", ended)
	}
	found, verb := noun.Count(search.store.numStates, "state"), noun.Verb(search.store.numStates, "was", "were")
	return fmt.Errorf("%w when %s %s found, and %d of them explored", ended, found, verb, search.numExpanded)
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
	depth      int // the states of smaller depth are expanded; known only with Options.Depth
	levelEnd   int // the first state of greater depth

	numExpanded    int
	deadlockStates []uint32
	owners         []uint16 // players of the expanded states of a game
	numOverlaps    int
	numMerged      int
	relErr         float64 // relative error of the weights
	rangeErr       error   // the first weight outside the range of float64
	isRounded      bool    // the caller did not ask for fractions
	// isNormalised says that fractions were divided by their sum.
	isNormalised bool

	packedBuffer   []uint64
	targetNumbers  []uint32 // of the targets of a batch
	whyInterpreted error    // why the model was not compiled
	startTime      time.Time
	lastReport     time.Time
	memoryLimit    int64 // on memory, in bytes
	otherBytes     int64 // memory beside the store and the builder
}

// newExploration returns an exploration without states. If the options set no memory limit, it is three quarters of the available memory.
func newExploration(model *compile.Model, opts Options) *exploration {
	codec := newCodec(model.Program().Vars)
	now := time.Now()
	search := &exploration{
		model: model, opts: opts, codec: codec, store: newStore(codec.wordsPerState), builder: sparse.NewBuilder(sparseKind(model.Program().Type)),
		packedBuffer: make([]uint64, codec.wordsPerState), startTime: now, lastReport: now, memoryLimit: opts.MaxMemory,
	}
	if search.memoryLimit <= 0 {
		search.memoryLimit = memory.Available() / 4 * 3
	}
	return search
}

// sparseKind returns the kind of sparse model for a model type. POMDPs, games and models without probabilities become MDPs.
func sparseKind(modelType syntax.ModelType) sparse.Kind {
	switch modelType {
	case syntax.DTMC, syntax.IDTMC:
		return sparse.DTMC
	case syntax.CTMC:
		return sparse.CTMC
	}
	return sparse.MDP
}

// hasIntervals reports whether the probabilities of a model are intervals. Their bounds are always
// kept as fractions.
func hasIntervals(compiled *compile.Model) bool {
	return compiled.Program().Type == syntax.IDTMC || compiled.Program().Type == syntax.IMDP
}

// isGame reports whether a model is a stochastic game, in which states have owners.
func isGame(compiled *compile.Model) bool { return compiled.Program().Type == syntax.SMG }

// batchStates is the largest number of states in a batch.
const batchStates = 512

// defaultCompileFrom is the default of Options.CompileFrom: interpreting this many states takes about as
// long as compiling the model.
const defaultCompileFrom = 2000

// expandAll expands all states. It interprets the model for the first states, because compiling takes time. If more than Options.CompileFrom states are to
// be expanded, it compiles the model, and several workers expand the remaining states.
func (search *exploration) expandAll(ctx context.Context) error {
	interpreter, err := newWorker(ctx, search.model, search.codec, search.model.NewPackedInterpreter(search.codec.packing), search.opts)
	if err != nil {
		return err
	}
	compileFrom := defaultCompileFrom
	if search.opts.CompileFrom > 0 {
		compileFrom = search.opts.CompileFrom
	}
	batch := &batch{}
	for search.nextState < min(search.numToExpand(), compileFrom) {
		search.fillBatch(batch)
		interpreter.expandBatch(ctx, batch)
		if err := search.addBatch(ctx, batch); err != nil {
			return err
		}
	}
	if search.nextState == search.numToExpand() {
		return nil
	}
	return search.expandInParallel(ctx)
}

// numToExpand returns how many of the states found so far are to be expanded: all of them, or fewer if Options.Part or Options.Depth limits the number.
func (search *exploration) numToExpand() int {
	count := search.store.numStates
	if search.opts.Depth > 0 {
		search.advanceLevel()
		count = search.levelEnd
	}
	if search.opts.Part > 0 {
		return min(search.opts.Part, count)
	}
	return count
}

// advanceLevel moves to the next depth of the breadth-first search if all states of the current depth are expanded.
func (search *exploration) advanceLevel() {
	for search.numExpanded == search.levelEnd && search.depth < search.opts.Depth && search.levelEnd < search.store.numStates {
		search.depth, search.levelEnd = search.depth+1, search.store.numStates
	}
}

// expandInParallel expands the remaining states with several workers.
func (search *exploration) expandInParallel(ctx context.Context) error {
	workers := search.opts.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	original, err := search.newExpander(ctx)
	if err != nil {
		return err
	}
	defer original.Close()
	jobs := make(chan *batch, 2*workers)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer close(jobs)
	for range workers {
		expander, err := original.Fork(ctx)
		if err != nil {
			return err
		}
		worker, err := newWorker(ctx, search.model, search.codec, expander, search.opts)
		if err != nil {
			return errors.Join(err, expander.Close())
		}
		wg.Go(func() {
			defer expander.Close()
			worker.expandJobs(ctx, jobs)
		})
	}
	return search.sendBatches(ctx, jobs, 2*workers)
}

// newExpander compiles the model to WebAssembly. If the options exclude this, or the model cannot be compiled, it returns the interpreter.
func (search *exploration) newExpander(ctx context.Context) (compile.PackedExpander, error) {
	hasExactIntervals := search.opts.Exact && hasIntervals(search.model)
	if search.opts.CompileFrom < 0 || !compile.HasMachines || hasExactIntervals {
		return search.model.NewPackedInterpreter(search.codec.packing), nil
	}
	create := search.model.NewPackedMachine
	if search.opts.Exact {
		create = search.model.NewPackedLister
	}
	machine, err := create(ctx, search.codec.packing)
	_, isUnsupported := errors.AsType[*compile.UnsupportedError](err)
	if isUnsupported {
		if !search.opts.Exact {
			search.whyInterpreted = err
		}
		return search.model.NewPackedInterpreter(search.codec.packing), nil
	}
	return machine, err
}

// sendBatches sends batches of states to the workers, and adds their results to the model in the order in which the batches were sent. At most maxPending
// batches are with the workers or not added yet.
func (search *exploration) sendBatches(ctx context.Context, jobs chan<- *batch, maxPending int) error {
	var pending, free []*batch
	for {
		for search.nextState < search.numToExpand() && len(pending) < maxPending {
			var batch *batch
			batch, free = reuseBatch(free)
			search.fillBatch(batch)
			pending = append(pending, batch)
			jobs <- batch
		}
		if len(pending) == 0 {
			return nil
		}
		batch := pending[0]
		<-batch.done
		if err := search.addBatch(ctx, batch); err != nil {
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

// fillBatch copies the next states into a batch. Workers need a copy, because the store grows during their work.
func (search *exploration) fillBatch(batch *batch) {
	batch.reset()
	endState := min(search.nextState+batchStates, search.numToExpand())
	for ; search.nextState < endState; search.nextState++ {
		batch.states = append(batch.states, search.store.packedState(search.nextState)...)
	}
}

// addBatch adds the choices of an expanded batch to the model. It numbers the targets that are new, and gives each deadlock a self-loop. It returns an error
// if a limit on states or memory is exceeded.
func (search *exploration) addBatch(ctx context.Context, batch *batch) error {
	if batch.err != nil {
		return batch.err
	}
	search.targetNumbers = search.store.addStates(search.targetNumbers[:0], batch.Targets, batch.hashes)
	rows := sparse.Rows{
		Choices: batch.Choices, Transitions: batch.Transitions, Actions: batch.actions,
		Targets: search.targetNumbers, Weights: batch.Weights, Fractions: batch.fractions,
		UpperFractions: batch.upperFractions,
	}
	if isGame(search.model) {
		numDeadlocks := len(batch.Choices) - len(batch.owners) // states after the last one with an owner have no choice
		search.owners = append(search.owners, batch.owners...)
		search.owners = append(search.owners, make([]uint16, numDeadlocks)...) // deadlocks belong to the first player
	}
	search.addRows(rows)
	search.addStatistics(batch)
	if err := search.checkLimits(); err != nil {
		return err
	}
	search.reportProgress()
	return ctx.Err()
}

// addStatistics adds the counts, the error bounds and the range error of an expanded batch.
func (search *exploration) addStatistics(batch *batch) {
	search.numOverlaps, search.numMerged = search.numOverlaps+batch.numOverlaps, search.numMerged+batch.numMerged
	search.relErr = max(search.relErr, batch.relErr)
	search.isNormalised = search.isNormalised || batch.isNormalised
	search.rangeErr = cmp.Or(search.rangeErr, batch.rangeErr)
}

// addRows adds the choices of some states to the model. A state without choices gets a self-loop and is recorded as a deadlock.
func (search *exploration) addRows(rows sparse.Rows) {
	for len(rows.Choices) > 0 {
		numStates := slices.Index(rows.Choices, 0) // before the next deadlock
		if numStates < 0 {
			numStates = len(rows.Choices)
		}
		rows = search.builder.AddRows(rows, numStates)
		search.numExpanded += numStates
		if len(rows.Choices) > 0 {
			search.deadlockStates = append(search.deadlockStates, uint32(search.numExpanded))
			search.addSelfLoop()
			rows.Choices = rows.Choices[1:]
		}
	}
}

// addSelfLoop adds a state to the model whose only transition is a self-loop.
func (search *exploration) addSelfLoop() {
	search.builder.State()
	if sparseKind(search.model.Program().Type) == sparse.MDP {
		search.builder.Choice(sparse.NoAction)
	}
	one := big.NewRat(1, 1)
	switch {
	case hasIntervals(search.model):
		search.builder.AddInterval(search.numExpanded, one, one, sparse.NoAction)
	case search.opts.Exact:
		search.builder.AddRat(search.numExpanded, one, sparse.NoAction)
	default:
		search.builder.Add(search.numExpanded, 1)
	}
	search.numExpanded++
}

// checkLimits returns a *LimitError if the search has too many states or uses too much memory.
func (search *exploration) checkLimits() error {
	if search.opts.MaxStates > 0 && search.store.numStates > search.opts.MaxStates {
		return &LimitError{Limit: int64(search.opts.MaxStates), States: search.store.numStates, Expanded: search.numExpanded}
	}
	usedMemory := search.store.numBytes() + search.store.tableBytes() + search.builder.Bytes() + search.otherBytes
	if search.memoryLimit > 0 && usedMemory > search.memoryLimit {
		return &LimitError{Memory: true, Limit: search.memoryLimit, States: search.store.numStates, Expanded: search.numExpanded}
	}
	return nil
}

// reportProgress reports the progress, at most ten times a second.
func (search *exploration) reportProgress() {
	const interval = 100 * time.Millisecond
	if search.opts.Progress != nil && time.Since(search.lastReport) >= interval {
		search.reportNow()
	}
}

// reportNow calls Options.Progress with the number of found states.
func (search *exploration) reportNow() {
	if search.opts.Progress == nil {
		return
	}
	now := time.Now()
	search.lastReport = now
	found, seconds := search.store.numStates, max(now.Sub(search.startTime).Seconds(), 1e-9)
	search.opts.Progress(progress.Progress{Done: int64(found), Unit: progress.States, Rate: float64(found) / seconds})
}

// buildSpace returns the space of all states that were found. States that were not expanded are marked as unexplored, and get a self-loop.
func (search *exploration) buildSpace() (*Space, error) {
	search.reportNow()
	space := &Space{
		part: search.opts.Part, symmetry: search.opts.Symmetry, permutations: search.opts.Permutations, reduction: search.opts.Reduction, maxDepth: search.opts.Depth,
		compiled: search.model, codec: search.codec, store: search.store, numOverlaps: search.numOverlaps, numMerged: search.numMerged,
		whyInterpreted: search.whyInterpreted, rangeErr: search.rangeErr, isRounded: search.isRounded, isNormalised: search.isNormalised,
	}
	if len(search.deadlockStates) > 0 && search.opts.NoFixDeadlocks {
		first := space.State(nil, int(search.deadlockStates[0]))
		return nil, &DeadlockError{Count: len(search.deadlockStates), State: search.model.StateText(first), Values: first}
	}
	search.store.releaseHashTable()
	if search.numExpanded < search.store.numStates {
		space.unexplored = sparse.NewSet(search.store.numStates)
		space.isWithinDepth = search.opts.Depth > 0 && search.depth == search.opts.Depth && search.numExpanded == search.levelEnd
		for search.numExpanded < search.store.numStates {
			space.unexplored.Add(search.numExpanded)
			search.addSelfLoop()
		}
	}
	var err error
	if space.model, err = search.finishModel(); err != nil {
		return nil, err
	}
	if math.IsInf(space.model.RelErr, 1) && space.rangeErr == nil {
		space.rangeErr = &RangeError{File: search.model.Program().File, What: "a probability or rate"}
	}
	return space, space.comparePRISMArithmetic()
}

// finishModel returns the sparse model with its initial states, its deadlocks and, for a game, the owner of each state.
func (search *exploration) finishModel() (*sparse.Model, error) {
	model, err := search.builder.Finish()
	if err != nil {
		return nil, err
	}
	if isGame(search.model) {
		unexpanded := search.store.numStates - len(search.owners)
		model.Player = append(search.owners, make([]uint16, unexpanded)...) // unexpanded states belong to the first player
	}
	if !search.opts.Exact {
		model.RelErr = search.relErr
		if search.rangeErr != nil {
			model.RelErr = math.Inf(1)
		}
	}
	for i := range search.numInitial {
		model.Initial = append(model.Initial, uint32(i))
	}
	if len(search.deadlockStates) > 0 {
		model.Deadlocks = sparse.NewSet(search.store.numStates)
		for _, state := range search.deadlockStates {
			model.Deadlocks.Add(int(state))
		}
	}
	return model, nil
}

// WhyInterpreted returns the *compile.UnsupportedError that says why a large model was interpreted
// instead of compiled to WebAssembly; nil if it was compiled. It affects speed only.
func (space *Space) WhyInterpreted() error { return space.whyInterpreted }
