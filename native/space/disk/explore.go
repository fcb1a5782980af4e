package disk

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"tilecheck/internal/noun"
	"tilecheck/internal/progress"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
)

// Exploration says how far the states of a model are explored.
type Exploration struct {
	Done     bool
	Layers   int      // that are expanded
	Known    []string // disjoint sets with all states that were found
	Frontier string   // the set of the states that are not expanded
	Found    int64    // the number of states that were found
	Expanded int64
}

// Options says how states are explored and expanded.
type Options struct {
	// Explicit has the options for single states: deadlocks, fractions.
	Explicit explicit.Options
	// Memory is the number of bytes for buffers.
	Memory int64
	// Workers is the number of goroutines that expand states; 0 means one per processor. The files do not depend on it.
	Workers int
	// Interval is the least time between two records of the progress in the manifest.
	Interval time.Duration
	Progress func(progress.Progress)
}

// workers returns the number of goroutines that expand states.
func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// Space is a state space in a directory. The number of a state is its rank in States.
type Space struct {
	Directory *Directory
	Model     *compile.Model
	Packing   *compile.Packing
	States    *Set
	// Fallback says why the model was not compiled; nil if it was.
	Fallback error

	layout     *layout
	opts       Options
	successors *explicit.Successors
	forks      []*explicit.Successors
	reporting  sync.Mutex
}

// NewSpace prepares the exploration of a model in a directory. The caller must close the space.
func NewSpace(ctx context.Context, dir *Directory, model *compile.Model, opts Options) (*Space, error) {
	successors, fallback, err := explicit.NewSuccessors(ctx, model, opts.Explicit)
	if err != nil {
		return nil, err
	}
	packing := compile.NewPacking(model.Program().Vars)
	space := &Space{
		Directory: dir, Model: model, Packing: packing, Fallback: fallback, layout: newLayout(packing), opts: opts, successors: successors,
	}
	for range opts.workers() {
		fork, err := successors.Fork(ctx)
		if err != nil {
			return nil, errors.Join(err, space.Close())
		}
		space.forks = append(space.forks, fork)
	}
	return space, nil
}

// Close closes the files of the space and releases the memory of the compiled model.
func (space *Space) Close() error {
	errs := []error{space.successors.Close()}
	for _, fork := range space.forks {
		errs = append(errs, fork.Close())
	}
	if space.States != nil {
		errs = append(errs, space.States.Close())
	}
	return errors.Join(errs...)
}

// explorer is a breadth-first search in progress.
type explorer struct {
	*Space
	ctx       context.Context
	words     int
	known     []*Set // disjoint, each at least twice as large as the next one
	frontier  *Set
	state     Exploration
	committed time.Time
	collected []*runCollector
	reported  time.Time
	started   time.Time
	startedAt int64 // the number of states when this process began
}

// Explore finds all reachable states and sets space.States. If an earlier process was interrupted, it continues the work of that process.
func (space *Space) Explore(ctx context.Context) error {
	search := &explorer{Space: space, ctx: ctx, words: space.Packing.Words, committed: time.Now(), started: time.Now()}
	defer search.close()
	recorded := space.Directory.Manifest().Exploration
	if recorded != nil && recorded.Done {
		states, err := openSet(space.Directory, recorded.Known[0], search.layout)
		space.States = states
		return err
	}
	if err := search.start(recorded); err != nil {
		return err
	}
	search.startedAt = search.state.Found
	for search.frontier.Count > 0 {
		if err := search.expandLayer(); err != nil {
			return search.withCounts(err)
		}
	}
	return search.mergeAll()
}

// withCounts adds the numbers of states and layers to an error of the context.
func (search *explorer) withCounts(err error) error {
	ended := search.ctx.Err()
	if ended == nil || !errors.Is(err, ended) {
		return err
	}
	found, verb := noun.Count(search.state.Found, "state"), noun.Verb(search.state.Found, "was", "were")
	return fmt.Errorf("%w when %s %s found in %s", ended, found, verb, noun.Count(search.state.Layers, "layer"))
}

// start resumes the exploration of an earlier process, or begins a new one if recorded is nil.
func (search *explorer) start(recorded *Exploration) error {
	if recorded == nil {
		return search.startAtInitialStates()
	}
	return search.resume(recorded)
}

// startAtInitialStates begins an exploration: the initial states are the first layer.
func (search *explorer) startAtInitialStates() error {
	initial, err := search.Model.InitialStates(search.ctx)
	if err != nil {
		return err
	}
	var keys []uint64
	packed := make([]uint64, search.words)
	for _, state := range initial {
		search.Packing.Pack(packed, state)
		keys = append(keys, packed...)
	}
	keys, _ = sortKeys(keys, nil, search.words)
	first, err := search.writeSet(&memoryRun{keys, search.words})
	if err != nil {
		return err
	}
	search.known, search.frontier = []*Set{first}, first
	search.state.Found = first.Count
	return nil
}

// resume opens the sets of states that an earlier process recorded.
func (search *explorer) resume(recorded *Exploration) error {
	search.state = *recorded
	for _, name := range recorded.Known {
		set, err := openSet(search.Directory, name, search.layout)
		if err != nil {
			return err
		}
		search.known = append(search.known, set)
		if name == recorded.Frontier {
			search.frontier = set
		}
	}
	if search.frontier != nil {
		return nil
	}
	frontier, err := openSet(search.Directory, recorded.Frontier, search.layout)
	search.frontier = frontier
	return err
}

// close closes the files, except those of the space.
func (search *explorer) close() {
	for _, set := range append(slices.Clone(search.known), search.frontier) {
		if set != nil && set != search.States {
			_ = set.Close() // only read
		}
	}
}

// writeSet writes all keys of a source to a new set. It checks the context from time to time. After an error it removes the file.
func (search *explorer) writeSet(source keySource) (*Set, error) {
	writer, err := newSetWriter(search.Directory, search.layout)
	if err != nil {
		return nil, err
	}
	for {
		key, err := source.Next()
		if err == nil && writer.count%(1<<16) == 0 {
			err = errors.Join(search.ctx.Err(), writer.err)
		}
		if err != nil {
			return nil, errors.Join(err, writer.removeFile())
		}
		if key == nil {
			return writer.finish()
		}
		writer.add(key)
	}
}

// expandLayer expands the states of the frontier. Their successors that were unknown before become the next frontier.
func (search *explorer) expandLayer() error {
	runs, err := search.expandFrontier()
	if err != nil {
		return err
	}
	next, err := search.writeUnknownKeys(runs)
	if err != nil {
		return err
	}
	old := search.frontier
	search.frontier = next
	search.state.Layers++
	search.state.Expanded += old.Count
	search.state.Found += next.Count
	if !slices.Contains(search.known, old) {
		search.markObsolete(old)
	}
	if next.Count == 0 {
		return nil
	}
	search.known = append(search.known, next)
	if err := search.mergeKnown(2); err != nil {
		return err
	}
	search.report()
	return search.recordProgress(false)
}

// markObsolete says that a set is not needed any more.
func (search *explorer) markObsolete(set *Set) {
	_ = set.Close() // only read
	search.Directory.Obsolete(set.Name)
}

// mergeKnown merges the newest sets of known states, so that each set is at least factor times as large as the next one.
func (search *explorer) mergeKnown(factor int64) error {
	first := len(search.known) - 1
	total := search.known[first].Count
	for first > 0 && search.known[first-1].Count < factor*total {
		first--
		total += search.known[first].Count
	}
	return search.mergeKnownFrom(first)
}

// mergeKnownFrom merges the sets of known states with the indices first, first+1 and so on into one set.
func (search *explorer) mergeKnownFrom(first int) error {
	if first == len(search.known)-1 {
		return nil
	}
	var sources []keySource
	for _, set := range search.known[first:] {
		sources = append(sources, set.NewCursor())
	}
	merged, err := newMerger(sources, search.words)
	if err != nil {
		return err
	}
	set, err := search.writeSet(merged)
	if err != nil {
		return err
	}
	for _, old := range search.known[first:] {
		if old != search.frontier {
			search.markObsolete(old)
		}
	}
	search.known = append(search.known[:first], set)
	return nil
}

// recordProgress writes the state of the exploration to the manifest, if isFinal is set or the last record is old enough.
func (search *explorer) recordProgress(isFinal bool) error {
	if !isFinal && time.Since(search.committed) < search.opts.Interval {
		return nil
	}
	recorded := search.state
	recorded.Known = nil
	for _, set := range search.known {
		recorded.Known = append(recorded.Known, set.Name)
	}
	recorded.Frontier = ""
	if !recorded.Done {
		recorded.Frontier = search.frontier.Name
	}
	err := search.Directory.Commit(func(m *Manifest) { m.Exploration = &recorded })
	search.committed = time.Now()
	return err
}

// mergeAll ends the exploration: it merges all sets of known states into search.States, and records that the exploration is done.
func (search *explorer) mergeAll() error {
	search.markObsolete(search.frontier) // it is empty
	search.frontier = nil
	if err := search.mergeKnownFrom(0); err != nil {
		return err
	}
	search.state.Done = true
	search.States = search.known[0]
	return search.recordProgress(true)
}

// report calls Options.Progress with the number of states that were found, at most ten times a second.
func (search *explorer) report() {
	now := time.Now()
	if search.opts.Progress == nil || now.Sub(search.reported) < 100*time.Millisecond {
		return
	}
	search.reported = now
	rate := float64(search.state.Found-search.startedAt) / max(now.Sub(search.started).Seconds(), 1e-9)
	search.opts.Progress(progress.Progress{
		Done: search.state.Found, Unit: progress.States, Rate: rate,
		Detail: fmt.Sprintf("layer %d, %d MB on disk", search.state.Layers, search.Directory.Used()>>20),
	})
}

// blocksPerTask is the number of blocks of a set that a worker expands at once.
const blocksPerTask = 2

// expandFrontier expands the states of the frontier in several goroutines. It returns their successors as sorted runs.
func (search *explorer) expandFrontier() ([]keySource, error) {
	if search.collected == nil {
		search.collected = search.newCollectors(len(search.forks))
	}
	tasks := newTasks((search.frontier.numBlocks() + blocksPerTask - 1) / blocksPerTask)
	var wg sync.WaitGroup
	for i, fork := range search.forks {
		worker := &frontierWorker{ctx: search.ctx, fork: fork, cursor: search.frontier.NewCursor(), collector: search.collected[i]}
		wg.Go(func() { tasks.run(search.ctx, worker.expand) })
	}
	wg.Wait()
	if err := tasks.err; err != nil {
		return nil, err
	}
	for _, collector := range search.collected {
		wg.Go(collector.sortBuffer)
	}
	wg.Wait()
	var runs []keySource
	for _, collector := range search.collected {
		runs = append(runs, collector.runs()...)
	}
	return runs, nil
}

// newCollectors returns one collector of keys for each worker. The buffers of all collectors together take half of Options.Memory.
func (search *explorer) newCollectors(numWorkers int) []*runCollector {
	// A collector has two buffers. The other half of the memory is for caches, indexes and garbage.
	const partsOfMemory = 4
	capacity := max(search.opts.Memory/int64(8*search.words*numWorkers*partsOfMemory), minKeys)
	var collectors []*runCollector
	for range numWorkers {
		collectors = append(collectors, newRunCollector(search, int(capacity)))
	}
	return collectors
}

// frontierWorker expands states of the frontier in one goroutine.
type frontierWorker struct {
	ctx       context.Context
	fork      *explicit.Successors
	cursor    *Cursor
	collector *runCollector
	states    []uint64 // the buffer for the states of a task
}

// expand expands the states of one task, and adds their successors to the collector.
func (worker *frontierWorker) expand(task int) (err error) {
	if worker.states, err = worker.cursor.Range(worker.states[:0], task*blocksPerTask, (task+1)*blocksPerTask); err != nil {
		return err
	}
	rows, err := worker.fork.Expand(worker.ctx, worker.states)
	if err != nil {
		return err
	}
	return worker.collector.addKeys(rows.Targets)
}

// tasks are numbered pieces of work for several goroutines. If some fail, err is the error of the one with the smallest number.
type tasks struct {
	mu     sync.Mutex
	next   int
	total  int
	failed int // the number of the task with err
	err    error
}

// newTasks returns tasks with numbers below total.
func newTasks(total int) *tasks { return &tasks{total: total, failed: total} }

// run takes tasks and executes them, until no task is left or a task fails. Several goroutines can call it.
func (tasks *tasks) run(ctx context.Context, do func(task int) error) {
	for {
		task, ok := tasks.takeNext()
		if !ok {
			return
		}
		err := ctx.Err()
		if err == nil {
			err = do(task)
		}
		if err != nil {
			tasks.fail(task, err)
			return
		}
	}
}

// takeNext returns the next task. ok is false if there are no more, or one has failed.
func (tasks *tasks) takeNext() (task int, ok bool) {
	tasks.mu.Lock()
	defer tasks.mu.Unlock()
	task = tasks.next
	tasks.next++
	return task, tasks.err == nil && task < tasks.total
}

// fail records the error of a task, unless a task with a smaller number has failed.
func (tasks *tasks) fail(task int, err error) {
	tasks.mu.Lock()
	defer tasks.mu.Unlock()
	if task < tasks.failed {
		tasks.failed, tasks.err = task, err
	}
}

// failure returns the error of the first task that failed so far; nil if none did.
func (tasks *tasks) failure() error {
	tasks.mu.Lock()
	defer tasks.mu.Unlock()
	return tasks.err
}

// runCollector collects keys, and writes them to sorted runs when its buffer is full.
type runCollector struct {
	search   *explorer
	capacity int // keys in the buffer
	buffer   []uint64
	scratch  []uint64
	recent   []uint64 // keys that were added lately, by hash; those need not be added again
	files    []*Set
}

// minKeys is the least number of keys in the buffer of a collector.
const minKeys = 1 << 8

// recentKeys is the number of keys that a collector remembers.
const recentKeys = 1 << 14

// newRunCollector returns a collector with a buffer for a number of keys.
func newRunCollector(search *explorer, capacity int) *runCollector {
	return &runCollector{search: search, capacity: capacity, recent: make([]uint64, recentKeys*search.words)}
}

// addKeys adds keys to the buffer, except for keys that it has added recently. If the buffer is full of distinct keys, it writes them to a
// file as a sorted run.
func (collector *runCollector) addKeys(keys []uint64) error {
	words := collector.search.words
	for i := 0; i < len(keys); i += words {
		key := keys[i : i+words]
		hash := hashKey(key)
		slot := int(hash%recentKeys) * words
		recent := collector.recent[slot : slot+words]
		// A slot of zeros is empty, so the key of zeros, whose hash is 0, is never recognised.
		if hash != 0 && compareKeys(recent, key) == 0 {
			continue
		}
		copy(recent, key)
		collector.buffer = append(collector.buffer, key...)
	}
	if len(collector.buffer) < collector.capacity*words {
		return nil
	}
	collector.buffer, collector.scratch = sortKeys(collector.buffer, collector.scratch, words)
	if len(collector.buffer) < collector.capacity*words/2 { // enough space is left for more keys
		return nil
	}
	run, err := collector.search.writeSet(&memoryRun{collector.buffer, words})
	if err != nil {
		return err
	}
	collector.files = append(collector.files, run)
	collector.buffer = collector.buffer[:0]
	return nil
}

// sortBuffer sorts the keys in the buffer.
func (collector *runCollector) sortBuffer() {
	collector.buffer, collector.scratch = sortKeys(collector.buffer, collector.scratch, collector.search.words)
}

// runs returns all runs.
func (collector *runCollector) runs() []keySource {
	runs := []keySource{&memoryRun{collector.buffer, collector.search.words}}
	for _, file := range collector.files {
		runs = append(runs, file.NewCursor())
	}
	return runs
}

// reset empties the buffer and removes the files of the collector.
func (collector *runCollector) reset() error {
	collector.buffer = collector.buffer[:0]
	clear(collector.recent)
	var errs []error
	for _, file := range collector.files {
		errs = append(errs, file.Close(), collector.search.Directory.remove(file.Name))
	}
	collector.files = nil
	return errors.Join(errs...)
}

// keysPerBatch is the number of keys that the merger hands on at once.
const keysPerBatch = 4096

// writeUnknownKeys merges sorted runs, and writes the keys that are in no known set to a new set. It removes the runs.
func (search *explorer) writeUnknownKeys(runs []keySource) (*Set, error) {
	merged, err := newMerger(runs, search.words)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(search.ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	source := &batchSource{words: search.words, batches: make(chan []uint64, 4), free: make(chan []uint64, 8)}
	wg.Go(func() { source.fill(ctx, merged) })
	filter := &unknownKeys{source: source}
	for _, set := range search.known {
		filter.known = append(filter.known, set.NewCursor())
	}
	set, err := search.writeSet(filter)
	if err != nil {
		return nil, err
	}
	for _, collector := range search.collected {
		if err := collector.reset(); err != nil {
			return nil, errors.Join(err, set.Close())
		}
	}
	return set, nil
}

// batchSource hands on the keys of a source in batches, so that the source works in a goroutine of its own.
type batchSource struct {
	words   int
	batches chan []uint64
	free    chan []uint64
	batch   []uint64
	pos     int
	err     error // of the source; valid when batches is closed
}

// fill reads keys from a source and sends them in batches, until there are no more keys or the context ends.
func (batches *batchSource) fill(ctx context.Context, source keySource) {
	defer close(batches.batches)
	for {
		batch, err := readBatch(batches.emptyBatch(), source, keysPerBatch*batches.words)
		if err != nil {
			batches.err = err
			return
		}
		if len(batch) == 0 {
			return
		}
		select {
		case batches.batches <- batch:
		case <-ctx.Done():
			batches.err = ctx.Err()
			return
		}
	}
}

// emptyBatch returns an empty batch, with the memory of a batch that was read if there is one.
func (batches *batchSource) emptyBatch() []uint64 {
	select {
	case batch := <-batches.free:
		return batch[:0]
	default:
		return make([]uint64, 0, keysPerBatch*batches.words)
	}
}

// readBatch appends keys of a source to a batch, until the batch has maxLength words or there are no more keys.
func readBatch(batch []uint64, source keySource, maxLength int) ([]uint64, error) {
	for len(batch) < maxLength {
		key, err := source.Next()
		if key == nil || err != nil {
			return batch, err
		}
		batch = append(batch, key...)
	}
	return batch, nil
}

// Next implements keySource.
func (batches *batchSource) Next() ([]uint64, error) {
	if batches.pos == len(batches.batch) && !batches.nextBatch() {
		return nil, batches.err
	}
	key := batches.batch[batches.pos : batches.pos+batches.words]
	batches.pos += batches.words
	return key, nil
}

// nextBatch returns the memory of the current batch for reuse, and receives the next batch. It returns false if there is none.
func (batches *batchSource) nextBatch() (ok bool) {
	if batches.batch != nil {
		select {
		case batches.free <- batches.batch:
		default: // enough batches are free
		}
	}
	batches.batch, ok = <-batches.batches
	batches.pos = 0
	return ok
}

// unknownKeys yields the keys of a source that are in no known set.
type unknownKeys struct {
	source keySource
	known  []*Cursor
}

// Next implements keySource. It returns the next key of the source that is in no known set.
func (unknown *unknownKeys) Next() ([]uint64, error) {
	for {
		key, err := unknown.source.Next()
		if key == nil || err != nil {
			return nil, err
		}
		isKnown, err := unknown.isKnown(key)
		switch {
		case err != nil:
			return nil, err
		case !isKnown:
			return key, nil
		}
	}
}

// isKnown reports whether a key is in a known set.
func (unknown *unknownKeys) isKnown(key []uint64) (bool, error) {
	for _, cursor := range unknown.known {
		if _, isFound, err := cursor.Find(key); isFound || err != nil {
			return isFound, err
		}
	}
	return false, nil
}
