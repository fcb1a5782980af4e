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
	// WhyInterpreted says why the model was not compiled; nil if it was.
	WhyInterpreted error

	layout      *layout
	opts        Options
	successors  *explicit.Successors
	expanders   []*explicit.Successors
	reportMutex sync.Mutex
}

// NewSpace prepares the exploration of a model in a directory. The caller must close the space.
func NewSpace(ctx context.Context, directory *Directory, model *compile.Model, opts Options) (*Space, error) {
	successors, whyInterpreted, err := explicit.NewSuccessors(ctx, model, opts.Explicit)
	if err != nil {
		return nil, err
	}
	packing := compile.NewPacking(model.Program().Vars)
	space := &Space{
		Directory: directory, Model: model, Packing: packing, WhyInterpreted: whyInterpreted, layout: newLayout(packing), opts: opts, successors: successors,
	}
	for range opts.workers() {
		expander, err := successors.Fork(ctx)
		if err != nil {
			return nil, errors.Join(err, space.Close())
		}
		space.expanders = append(space.expanders, expander)
	}
	return space, nil
}

// Close closes the files of the space and releases the memory of the compiled model.
func (space *Space) Close() error {
	errs := []error{space.successors.Close()}
	for _, expander := range space.expanders {
		errs = append(errs, expander.Close())
	}
	if space.States != nil {
		errs = append(errs, space.States.Close())
	}
	return errors.Join(errs...)
}

// explorer is a breadth-first search in progress.
type explorer struct {
	*Space
	ctx           context.Context
	wordsPerState int
	knownSets     []*Set // disjoint, each at least twice as large as the next one
	frontier      *Set
	exploration   Exploration
	lastCommit    time.Time
	collectors    []*runCollector
	lastReport    time.Time
	startTime     time.Time
	statesAtStart int64 // the number of states when this process began
}

// Explore finds all reachable states and sets space.States. If an earlier process was interrupted, it continues the work of that process. Of several
// processes only process 1 explores, and the others wait.
func (space *Space) Explore(ctx context.Context) error {
	if space.Helps() {
		if err := space.Help(ctx, exploreStage, isExplored, nil); err != nil {
			return err
		}
		return space.explore(ctx)
	}
	return space.Conclude(ctx, exploreStage, space.explore(ctx))
}

// explore explores the states that the manifest does not record, and sets space.States.
func (space *Space) explore(ctx context.Context) error {
	search := &explorer{Space: space, ctx: ctx, wordsPerState: space.Packing.Words, lastCommit: time.Now(), startTime: time.Now()}
	defer search.closeSets()
	recorded := space.Directory.Manifest().Exploration
	if recorded != nil && recorded.Done {
		states, err := openSet(space.Directory, recorded.Known[0], search.layout)
		space.States = states
		return err
	}
	if err := search.startOrResume(recorded); err != nil {
		return err
	}
	search.statesAtStart = search.exploration.Found
	for search.frontier.Count > 0 {
		if err := search.expandLayer(); err != nil {
			return search.errorWithCounts(err)
		}
	}
	return search.mergeAll()
}

// exploreStage names the exploration. It has no tasks: process 1 explores, and other processes wait.
const exploreStage = "exploration"

// isExplored reports whether all states are found.
func isExplored(manifest *Manifest) (bool, error) {
	return manifest.Exploration != nil && manifest.Exploration.Done, nil
}

// errorWithCounts adds to an error of the context how many states and layers were found. It returns other errors unchanged.
func (search *explorer) errorWithCounts(err error) error {
	ended := search.ctx.Err()
	if ended == nil || !errors.Is(err, ended) {
		return err
	}
	found, verb := noun.Count(search.exploration.Found, "state"), noun.Verb(search.exploration.Found, "was", "were")
	return fmt.Errorf("%w when %s %s found in %s", ended, found, verb, noun.Count(search.exploration.Layers, "layer"))
}

// startOrResume resumes the exploration of an earlier process, or begins a new one if recorded is nil.
func (search *explorer) startOrResume(recorded *Exploration) error {
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
	packed := make([]uint64, search.wordsPerState)
	for _, state := range initial {
		search.Packing.Pack(packed, state)
		keys = append(keys, packed...)
	}
	keys, _ = sortKeys(keys, nil, search.wordsPerState)
	first, err := search.writeSet(&memoryRun{keys, search.wordsPerState})
	if err != nil {
		return err
	}
	search.knownSets, search.frontier = []*Set{first}, first
	search.exploration.Found = first.Count
	return nil
}

// resume opens the sets of states that an earlier process recorded.
func (search *explorer) resume(recorded *Exploration) error {
	search.exploration = *recorded
	for _, name := range recorded.Known {
		set, err := openSet(search.Directory, name, search.layout)
		if err != nil {
			return err
		}
		search.knownSets = append(search.knownSets, set)
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

// closeSets closes the files, except those of the space.
func (search *explorer) closeSets() {
	for _, set := range append(slices.Clone(search.knownSets), search.frontier) {
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
		if err == nil && writer.numKeys%(1<<16) == 0 {
			err = errors.Join(search.ctx.Err(), writer.err)
		}
		if err != nil {
			return nil, errors.Join(err, writer.removeFile())
		}
		if key == nil {
			return writer.finish()
		}
		writer.addKey(key)
	}
}

// expandLayer expands the states of the frontier, the newest layer of the breadth-first search. Their successors that were unknown before become the next
// frontier: duplicates are removed in one sorted pass for the whole layer.
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
	search.exploration.Layers++
	search.exploration.Expanded += old.Count
	search.exploration.Found += next.Count
	if !slices.Contains(search.knownSets, old) {
		search.markObsolete(old)
	}
	if next.Count == 0 {
		return nil
	}
	search.knownSets = append(search.knownSets, next)
	if err := search.mergeKnownSets(2); err != nil {
		return err
	}
	search.reportProgress()
	return search.recordProgress(false)
}

// markObsolete says that a set is not needed any more.
func (search *explorer) markObsolete(set *Set) {
	_ = set.Close() // only read
	search.Directory.Obsolete(set.Name)
}

// mergeKnownSets merges the newest sets of known states into one, so that each set is at least factor times as large as the next one. Then there are few
// sets to search, and each state is merged only a few times.
func (search *explorer) mergeKnownSets(factor int64) error {
	first := len(search.knownSets) - 1
	total := search.knownSets[first].Count
	for first > 0 && search.knownSets[first-1].Count < factor*total {
		first--
		total += search.knownSets[first].Count
	}
	return search.mergeKnownFrom(first)
}

// mergeKnownFrom merges the sets of known states from index first on into one set. The old files become obsolete, except for the frontier, which is still to
// be expanded.
func (search *explorer) mergeKnownFrom(first int) error {
	if first == len(search.knownSets)-1 {
		return nil
	}
	var sources []keySource
	for _, set := range search.knownSets[first:] {
		sources = append(sources, set.NewCursor())
	}
	merged, err := newMerger(sources, search.wordsPerState)
	if err != nil {
		return err
	}
	set, err := search.writeSet(merged)
	if err != nil {
		return err
	}
	for _, old := range search.knownSets[first:] {
		if old != search.frontier {
			search.markObsolete(old)
		}
	}
	search.knownSets = append(search.knownSets[:first], set)
	return nil
}

// recordProgress writes the progress of the exploration to the manifest. If isFinal is not set, it does so only if Options.Interval has passed since the
// last time.
func (search *explorer) recordProgress(isFinal bool) error {
	if !isFinal && time.Since(search.lastCommit) < search.opts.Interval {
		return nil
	}
	recorded := search.exploration
	recorded.Known = nil
	for _, set := range search.knownSets {
		recorded.Known = append(recorded.Known, set.Name)
	}
	recorded.Frontier = ""
	if !recorded.Done {
		recorded.Frontier = search.frontier.Name
	}
	err := search.Directory.Commit(func(m *Manifest) { m.Exploration = &recorded })
	search.lastCommit = time.Now()
	return err
}

// mergeAll ends the exploration: it merges all sets of known states into search.States, and records that the exploration is done.
func (search *explorer) mergeAll() error {
	search.markObsolete(search.frontier) // the last layer found no new states, so the frontier is empty
	search.frontier = nil
	if err := search.mergeKnownFrom(0); err != nil {
		return err
	}
	search.exploration.Done = true
	search.States = search.knownSets[0]
	return search.recordProgress(true)
}

// reportProgress calls Options.Progress with the number of states that were found, at most ten times a second.
func (search *explorer) reportProgress() {
	now := time.Now()
	if search.opts.Progress == nil || now.Sub(search.lastReport) < 100*time.Millisecond {
		return
	}
	search.lastReport = now
	rate := float64(search.exploration.Found-search.statesAtStart) / max(now.Sub(search.startTime).Seconds(), 1e-9)
	search.opts.Progress(progress.Progress{
		Done: search.exploration.Found, Unit: progress.States, Rate: rate,
		Detail: fmt.Sprintf("layer %d, %d MB on disk", search.exploration.Layers, search.Directory.Used()>>20),
	})
}

// blocksPerTask is the number of blocks of a set that a worker expands at once.
const blocksPerTask = 2

// expandFrontier expands the states of the frontier in several goroutines. It returns their successors as sorted runs.
func (search *explorer) expandFrontier() ([]keySource, error) {
	if search.collectors == nil {
		search.collectors = search.newCollectors(len(search.expanders))
	}
	tasks := newTasks((search.frontier.numBlocks() + blocksPerTask - 1) / blocksPerTask)
	var wg sync.WaitGroup
	for i, expander := range search.expanders {
		worker := &frontierWorker{ctx: search.ctx, expander: expander, cursor: search.frontier.NewCursor(), collector: search.collectors[i]}
		wg.Go(func() { tasks.runAll(search.ctx, worker.expandTask) })
	}
	wg.Wait()
	if err := tasks.err; err != nil {
		return nil, err
	}
	for _, collector := range search.collectors {
		wg.Go(collector.sortBuffer)
	}
	wg.Wait()
	var runs []keySource
	for _, collector := range search.collectors {
		runs = append(runs, collector.sortedRuns()...)
	}
	return runs, nil
}

// newCollectors returns one collector of keys for each worker. All buffers of the collectors together take half of Options.Memory.
func (search *explorer) newCollectors(numWorkers int) []*runCollector {
	// Half of the memory is for buffers, and each collector has two of equal size. The other half is for caches, indexes and garbage.
	const partsOfMemory = 4
	capacity := max(search.opts.Memory/int64(8*search.wordsPerState*numWorkers*partsOfMemory), minKeys)
	var collectors []*runCollector
	for range numWorkers {
		collectors = append(collectors, newRunCollector(search, int(capacity)))
	}
	return collectors
}

// frontierWorker expands states of the frontier in one goroutine.
type frontierWorker struct {
	ctx       context.Context
	expander  *explicit.Successors
	cursor    *Cursor
	collector *runCollector
	states    []uint64 // the buffer for the states of a task
}

// expandTask expands the states of one task, and adds their successors to the collector.
func (worker *frontierWorker) expandTask(task int) (err error) {
	if worker.states, err = worker.cursor.Range(worker.states[:0], task*blocksPerTask, (task+1)*blocksPerTask); err != nil {
		return err
	}
	rows, err := worker.expander.Expand(worker.ctx, worker.states)
	if err != nil {
		return err
	}
	return worker.collector.addKeys(rows.Targets)
}

// tasks are numbered pieces of work for several goroutines. If some fail, err is the error of the one with the smallest number.
type tasks struct {
	mutex      sync.Mutex
	nextTask   int
	numTasks   int
	failedTask int // the number of the task with err
	err        error
}

// newTasks returns tasks with numbers below total.
func newTasks(total int) *tasks { return &tasks{numTasks: total, failedTask: total} }

// runAll takes tasks and calls do for each, until no task is left or one has failed. Several goroutines can call it at the same time to share the tasks.
func (tasks *tasks) runAll(ctx context.Context, do func(task int) error) {
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
			tasks.recordFailure(task, err)
			return
		}
	}
}

// takeNext returns the next task. ok is false if there are no more, or one has failed.
func (tasks *tasks) takeNext() (task int, ok bool) {
	tasks.mutex.Lock()
	defer tasks.mutex.Unlock()
	task = tasks.nextTask
	tasks.nextTask++
	return task, tasks.err == nil && task < tasks.numTasks
}

// recordFailure records the error of a task, unless a task with a smaller number has failed.
func (tasks *tasks) recordFailure(task int, err error) {
	tasks.mutex.Lock()
	defer tasks.mutex.Unlock()
	if task < tasks.failedTask {
		tasks.failedTask, tasks.err = task, err
	}
}

// failure returns the error of the first task that failed so far; nil if none did.
func (tasks *tasks) failure() error {
	tasks.mutex.Lock()
	defer tasks.mutex.Unlock()
	return tasks.err
}

// runCollector collects keys, and writes them to sorted runs when its buffer is full.
type runCollector struct {
	search       *explorer
	capacity     int // keys in the buffer
	buffer       []uint64
	scratch      []uint64
	recentByHash []uint64 // keys that were added lately, by hash; those need not be added again
	runFiles     []*Set
}

// minKeys is the least number of keys in the buffer of a collector.
const minKeys = 1 << 8

// recentKeys is the number of keys that a collector remembers.
const recentKeys = 1 << 14

// newRunCollector returns a collector with a buffer for a number of keys.
func newRunCollector(search *explorer, capacity int) *runCollector {
	return &runCollector{search: search, capacity: capacity, recentByHash: make([]uint64, recentKeys*search.wordsPerState)}
}

// addKeys adds keys to the buffer, except for keys that it has added recently. If the buffer is full, it sorts the keys and removes duplicates. If the
// buffer is then still at least half full, it writes the keys to a file as a sorted run, and empties the buffer.
func (collector *runCollector) addKeys(keys []uint64) error {
	wordsPerKey := collector.search.wordsPerState
	for i := 0; i < len(keys); i += wordsPerKey {
		key := keys[i : i+wordsPerKey]
		hash := hashKey(key)
		slot := int(hash%recentKeys) * wordsPerKey
		recent := collector.recentByHash[slot : slot+wordsPerKey]
		// A slot of zeros is empty. So a key whose words are all 0, and whose hash is therefore 0, must never count as recently added.
		if hash != 0 && compareKeys(recent, key) == 0 {
			continue
		}
		copy(recent, key)
		collector.buffer = append(collector.buffer, key...)
	}
	if len(collector.buffer) < collector.capacity*wordsPerKey {
		return nil
	}
	collector.buffer, collector.scratch = sortKeys(collector.buffer, collector.scratch, wordsPerKey)
	if len(collector.buffer) < collector.capacity*wordsPerKey/2 { // enough space is left for more keys
		return nil
	}
	run, err := collector.search.writeSet(&memoryRun{collector.buffer, wordsPerKey})
	if err != nil {
		return err
	}
	collector.runFiles = append(collector.runFiles, run)
	collector.buffer = collector.buffer[:0]
	return nil
}

// sortBuffer sorts the keys in the buffer.
func (collector *runCollector) sortBuffer() {
	collector.buffer, collector.scratch = sortKeys(collector.buffer, collector.scratch, collector.search.wordsPerState)
}

// sortedRuns returns all runs.
func (collector *runCollector) sortedRuns() []keySource {
	runs := []keySource{&memoryRun{collector.buffer, collector.search.wordsPerState}}
	for _, file := range collector.runFiles {
		runs = append(runs, file.NewCursor())
	}
	return runs
}

// reset empties the buffer and removes the files of the collector.
func (collector *runCollector) reset() error {
	collector.buffer = collector.buffer[:0]
	clear(collector.recentByHash)
	var errs []error
	for _, file := range collector.runFiles {
		errs = append(errs, file.Close(), collector.search.Directory.removeFile(file.Name))
	}
	collector.runFiles = nil
	return errors.Join(errs...)
}

// keysPerBatch is the number of keys that the merger hands on at once.
const keysPerBatch = 4096

// writeUnknownKeys merges sorted runs, and writes the keys that are in no known set to a new set. It removes the runs.
func (search *explorer) writeUnknownKeys(runs []keySource) (*Set, error) {
	merged, err := newMerger(runs, search.wordsPerState)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(search.ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	source := &batchSource{wordsPerKey: search.wordsPerState, batchChannel: make(chan []uint64, 4), freeBatches: make(chan []uint64, 8)}
	wg.Go(func() { source.sendBatches(ctx, merged) })
	filter := &unknownKeys{source: source}
	for _, set := range search.knownSets {
		filter.knownSets = append(filter.knownSets, set.NewCursor())
	}
	set, err := search.writeSet(filter)
	if err != nil {
		return nil, err
	}
	for _, collector := range search.collectors {
		if err := collector.reset(); err != nil {
			return nil, errors.Join(err, set.Close())
		}
	}
	return set, nil
}

// batchSource hands on the keys of a source in batches, so that the source works in a goroutine of its own.
type batchSource struct {
	wordsPerKey  int
	batchChannel chan []uint64
	freeBatches  chan []uint64
	currentBatch []uint64
	position     int
	err          error // of the source; valid when batches is closed
}

// sendBatches reads keys from a source and sends them in batches, until there are no more keys or the context ends.
func (batches *batchSource) sendBatches(ctx context.Context, source keySource) {
	defer close(batches.batchChannel)
	for {
		batch, err := readBatch(batches.emptyBatch(), source, keysPerBatch*batches.wordsPerKey)
		if err != nil {
			batches.err = err
			return
		}
		if len(batch) == 0 {
			return
		}
		select {
		case batches.batchChannel <- batch:
		case <-ctx.Done():
			batches.err = ctx.Err()
			return
		}
	}
}

// emptyBatch returns an empty batch of keys. If possible, it reuses the memory of a batch that was read already.
func (batches *batchSource) emptyBatch() []uint64 {
	select {
	case batch := <-batches.freeBatches:
		return batch[:0]
	default:
		return make([]uint64, 0, keysPerBatch*batches.wordsPerKey)
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

// Next implements keySource: it returns the next key of the batches that another goroutine reads, or nil after the last key.
func (batches *batchSource) Next() ([]uint64, error) {
	if batches.position == len(batches.currentBatch) && !batches.nextBatch() {
		return nil, batches.err
	}
	key := batches.currentBatch[batches.position : batches.position+batches.wordsPerKey]
	batches.position += batches.wordsPerKey
	return key, nil
}

// nextBatch receives the next batch from the goroutine that sends batches. It hands back the memory of the batch before, for reuse. It returns false if
// there are no more batches.
func (batches *batchSource) nextBatch() (ok bool) {
	if batches.currentBatch != nil {
		select {
		case batches.freeBatches <- batches.currentBatch:
		default: // the list of free batches is full, so leave this batch to the garbage collector
		}
	}
	batches.currentBatch, ok = <-batches.batchChannel
	batches.position = 0
	return ok
}

// unknownKeys yields the keys of a source that are in no known set.
type unknownKeys struct {
	source    keySource
	knownSets []*Cursor
}

// Next implements keySource: it returns the next key of the source that is in none of the known sets, or nil after the last key.
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

// isKnown reports whether one of the known sets contains a key. Successive calls must have ascending keys, because cursors only move forwards.
func (unknown *unknownKeys) isKnown(key []uint64) (bool, error) {
	for _, cursor := range unknown.knownSets {
		if _, isFound, err := cursor.Find(key); isFound || err != nil {
			return isFound, err
		}
	}
	return false, nil
}
