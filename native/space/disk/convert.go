package disk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"tilecheck/internal/progress"
	"tilecheck/native/space/explicit"
)

// defaultChunkBlocks is the number of blocks of States of a chunk.
const defaultChunkBlocks = 256

// Convert writes the transitions of all states to a file. It continues the work of an earlier process.
func (s *Space) Convert(ctx context.Context) (*Columns, error) {
	files := s.Directory.Manifest().Columns
	if files == nil {
		files = &ColumnFiles{File: s.Directory.newName("columns"), ChunkStates: s.chunkStates()}
	}
	if !files.Done {
		if err := s.convert(ctx, *files); err != nil {
			return nil, err
		}
		files = s.Directory.Manifest().Columns
	}
	return openColumns(s.Directory, files)
}

// chunkStates returns the number of states per chunk. It is smaller in a small space or with little memory,
// because several workers make chunks.
func (s *Space) chunkStates() int {
	const bytesPerState = 1 << 12 // while all workers make chunks
	blocks := s.opts.Memory / bytesPerState / setBlock
	return setBlock * int(max(min(defaultChunkBlocks, blocks, int64(s.States.numBlocks())/8), 1))
}

// convert writes the chunks that are not yet in files.
func (s *Space) convert(ctx context.Context, files ColumnFiles) error {
	file, err := os.OpenFile(s.Directory.Path(files.File), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return s.Directory.writeError(err, 0)
	}
	defer file.Close()
	if err := file.Truncate(files.Size); err != nil {
		return err
	}
	if _, err := file.Seek(files.Size, io.SeekStart); err != nil {
		return err
	}
	conversion := &conversion{Space: s, files: files, out: output{s.Directory, file}, committed: time.Now(), started: time.Now(), startedAt: files.States}
	conversion.turn = sync.NewCond(&conversion.mu)
	total := int((s.States.Count + int64(files.ChunkStates) - 1) / int64(files.ChunkStates))
	conversion.next = int((files.States + int64(files.ChunkStates) - 1) / int64(files.ChunkStates))
	tasks := newTasks(total)
	tasks.next = conversion.next
	var wg sync.WaitGroup
	for _, fork := range s.forks {
		worker := newChunkMaker(conversion, fork)
		wg.Go(func() { worker.work(ctx, tasks) })
	}
	wg.Wait()
	if tasks.err != nil {
		return errors.Join(tasks.err, conversion.commitAfterError())
	}
	conversion.files.Done = true
	return conversion.commit()
}

// conversion writes the chunks of several workers in order.
type conversion struct {
	*Space
	mu        sync.Mutex
	turn      *sync.Cond
	next      int  // the chunk to be written next
	stopped   bool // a worker failed, so that no further chunk is written
	files     ColumnFiles
	out       output
	committed time.Time
	started   time.Time
	startedAt int64
}

// write waits for the turn of a chunk, and writes it. failed is the error of making the chunk.
func (c *conversion) write(worker *chunkMaker, chunk int, failed error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.next != chunk && !c.stopped {
		c.turn.Wait()
	}
	if failed == nil && c.next == chunk {
		_, failed = c.out.Write(worker.record)
	}
	if failed != nil || c.next != chunk {
		c.stopped = true
		c.turn.Broadcast()
		return failed
	}
	c.next++
	c.files.Size += int64(len(worker.record))
	c.files.States += worker.header.States
	c.Directory.Expect(c.files.Size / c.files.States * (c.States.Count - c.files.States))
	c.turn.Broadcast()
	if time.Since(c.committed) < c.opts.Interval {
		return nil
	}
	c.report()
	return c.commit()
}

// stop wakes all waiting workers after an error. The chunk that they wait for may never come.
func (c *conversion) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	c.turn.Broadcast()
}

// commit records the chunks in the manifest.
func (c *conversion) commit() error {
	files := c.files
	c.committed = time.Now()
	return c.Directory.Commit(func(m *Manifest) { m.Columns = &files })
}

// commitAfterError records the chunks that were written before an error. If the disk is full, it records nothing,
// and the chunks are written again later.
func (c *conversion) commitAfterError() error {
	if err := c.commit(); err != nil && !errors.As(err, new(*FullError)) {
		return err
	}
	return nil
}

// report reports the number of converted states.
func (c *conversion) report() {
	if c.opts.Progress == nil {
		return
	}
	rate := float64(c.files.States-c.startedAt) / max(time.Since(c.started).Seconds(), 1e-9)
	c.opts.Progress(progress.Progress{
		Done: c.files.States, Target: c.States.Count, Unit: progress.States, Rate: rate,
		Detail: fmt.Sprintf("writing transitions, %d MB on disk", c.Directory.Used()>>20),
	})
}

// chunkMaker makes chunks.
type chunkMaker struct {
	*conversion
	fork    *explicit.Successors
	words   int
	states  []uint64
	header  Chunk
	targets targetTable

	choices       []uint32 // of each state
	transitions   []uint32 // of each choice
	distributions []uint32 // of each choice
	targetIDs     []uint32 // of each transition
	allWeights    []float64

	weights       []byte // the encoded distributions
	distributionN map[string]uint32
	templates     map[string]uint64
	row           []byte
	rows          []byte
	ranges        []Range
	record        []byte
}

// newChunkMaker returns a maker of chunks that expands states with fork.
func newChunkMaker(c *conversion, fork *explicit.Successors) *chunkMaker {
	return &chunkMaker{
		conversion: c, fork: fork, words: c.Packing.Words, targets: targetTable{words: c.Packing.Words},
		distributionN: map[string]uint32{}, templates: map[string]uint64{},
	}
}

// work makes and writes chunks until there are no more tasks, or one fails.
func (w *chunkMaker) work(ctx context.Context, tasks *tasks) {
	tasks.run(ctx, func(task int) error {
		makeErr := w.make(ctx, task)
		if err := w.write(w, task, makeErr); err != nil {
			return err
		}
		return ctx.Err()
	})
	if tasks.failure() != nil {
		w.stop()
	}
}

// statesPerExpansion is the number of states that are expanded at once.
const statesPerExpansion = 512

// make makes a chunk and stores it in record.
func (w *chunkMaker) make(ctx context.Context, chunk int) error {
	blocks := w.files.ChunkStates / setBlock
	cursor := w.States.NewCursor()
	var err error
	if w.states, err = cursor.Range(w.states[:0], chunk*blocks, (chunk+1)*blocks); err != nil {
		return err
	}
	w.reset(int64(chunk) * int64(w.files.ChunkStates))
	for first := 0; first < len(w.states); first += statesPerExpansion * w.words {
		rows, err := w.fork.Expand(ctx, w.states[first:min(first+statesPerExpansion*w.words, len(w.states))])
		if err != nil {
			return err
		}
		if rows.RangeErr != nil {
			return rows.RangeErr
		}
		w.collect(rows)
	}
	if err := w.targets.resolve(w.States.NewCursor()); err != nil {
		return err
	}
	w.encodeRows()
	w.finish()
	return nil
}

// reset empties the maker, for a chunk with the given first state.
func (w *chunkMaker) reset(first int64) {
	w.header = Chunk{First: first, States: int64(len(w.states) / w.words), MinWeight: 1, MaxWeight: 1}
	w.targets.reset()
	w.choices, w.transitions, w.distributions, w.targetIDs = w.choices[:0], w.transitions[:0], w.distributions[:0], w.targetIDs[:0]
	w.weights, w.rows, w.allWeights = w.weights[:0], w.rows[:0], w.allWeights[:0]
	clear(w.distributionN)
	clear(w.templates)
}

// collect adds the rows of some states to the chunk.
func (w *chunkMaker) collect(rows *explicit.SuccessorRows) {
	w.header.RelErr = max(w.header.RelErr, rows.RelErr)
	w.header.Overlaps += int64(rows.Overlaps)
	w.header.Choices += int64(len(rows.Transitions))
	w.header.Transitions += int64(len(rows.Weights))
	for _, numChoices := range rows.Choices {
		if numChoices == 0 { // it gets a self-loop
			w.header.Deadlocks++
			w.header.Choices++
			w.header.Transitions++
		}
	}
	w.choices = append(w.choices, rows.Choices...)
	w.transitions = append(w.transitions, rows.Transitions...)
	w.allWeights = append(w.allWeights, rows.Weights...)
	weights := rows.Weights
	for _, numTransitions := range rows.Transitions {
		w.distributions = append(w.distributions, w.distributionNumber(weights[:numTransitions]))
		weights = weights[numTransitions:]
	}
	for i := 0; i < len(rows.Targets); i += w.words {
		w.targetIDs = append(w.targetIDs, w.targets.id(rows.Targets[i:i+w.words]))
	}
}

// distributionNumber returns the number of a distribution in the chunk. It adds a new distribution.
func (w *chunkMaker) distributionNumber(weights []float64) uint32 {
	w.row = binary.AppendUvarint(w.row[:0], uint64(len(weights)))
	for _, weight := range weights {
		w.row = binary.LittleEndian.AppendUint64(w.row, math.Float64bits(weight))
	}
	number, isKnown := w.distributionN[string(w.row)]
	if !isKnown {
		number = uint32(len(w.distributionN))
		w.distributionN[string(w.row)] = number
		w.weights = append(w.weights, w.row...)
		w.header.Weights += int64(len(weights))
		for _, weight := range weights {
			w.header.MinWeight, w.header.MaxWeight = min(w.header.MinWeight, weight), max(w.header.MaxWeight, weight)
		}
	}
	return number
}

// encodeRows encodes the rows of all states. A row that equals an earlier one is stored as the number of that row.
func (w *chunkMaker) encodeRows() {
	transition, choice := 0, 0
	for state, numChoices := range w.choices {
		source := w.header.First + int64(state)
		w.row = binary.AppendUvarint(w.row[:0], uint64(numChoices))
		operands := int64(1)
		for range numChoices {
			w.row = binary.AppendUvarint(w.row, uint64(w.distributions[choice]))
			numTransitions := int(w.transitions[choice])
			for range numTransitions {
				w.encodeTransition(transition, source)
				transition++
			}
			operands += 2 + int64(numTransitions)
			choice++
		}
		number, isKnown := w.templates[string(w.row)]
		if !isKnown {
			if len(w.templates) < maxTemplates {
				w.templates[string(w.row)] = uint64(len(w.templates)) + 1
			}
			w.rows = append(append(w.rows, 0), w.row...)
			w.header.Operands += operands
			continue
		}
		w.rows = binary.AppendUvarint(w.rows, number)
	}
}

// encodeTransition appends a transition to the row of a state. It adds the weight to the totals of the chunk.
func (w *chunkMaker) encodeTransition(transition int, state int64) {
	target := w.targets.ranks[w.targetIDs[transition]]
	switch {
	case target < w.header.First:
		w.header.Backward += w.allWeights[transition]
	case target >= w.header.First+w.header.States:
		w.header.Forward += w.allWeights[transition]
	}
	w.row = binary.AppendVarint(w.row, target-state)
}

// finish assembles the record of the chunk, with the header, the ranges of targets, the weights and the rows.
func (w *chunkMaker) finish() {
	w.ranges = joinRanges(w.ranges[:0], w.targets.sortedRanks, rangeGap)
	ranges := appendRanges(nil, w.ranges)
	w.header.rangesSize, w.header.weightsSize, w.header.rowsSize = int64(len(ranges)), int64(len(w.weights)), int64(len(w.rows))
	w.header.checksum = crc32.Update(crc32.Checksum(w.weights, castagnoli), castagnoli, w.rows)
	w.record = w.header.appendHeader(w.record[:0])
	w.record = append(append(append(w.record, ranges...), w.weights...), w.rows...)
}

// joinRanges appends ranges that contain some ascending numbers of states. Numbers that differ by at most gap are
// in the same range.
func joinRanges(dst []Range, numbers []int64, gap int64) []Range {
	for _, number := range numbers {
		if n := len(dst); n > 0 && number-dst[n-1].End < gap {
			dst[n-1].End = number + 1
			continue
		}
		dst = append(dst, Range{number, number + 1})
	}
	return dst
}

// targetTable gives the distinct targets of a chunk small numbers.
type targetTable struct {
	words       int
	keys        []uint64 // of the distinct targets
	slots       []uint32 // hash table: 0 for a free slot, or 1 + the number of a target
	ranks       []int64  // the rank of each target, after resolve
	sortedRanks []int64
	records     []uint64
	scratch     []uint64
}

// minSlots is the least size of the hash table.
const minSlots = 1 << 10

// reset empties the table.
func (t *targetTable) reset() {
	t.keys = t.keys[:0]
	if t.slots == nil {
		t.slots = make([]uint32, minSlots)
	}
	clear(t.slots)
}

// id returns the number of a target. It adds a new target.
func (t *targetTable) id(key []uint64) uint32 {
	slot, id := t.find(key)
	if id != 0 {
		return id - 1
	}
	count := len(t.keys) / t.words
	t.keys = append(t.keys, key...)
	t.slots[slot] = uint32(count) + 1
	if 2*(count+1) > len(t.slots) {
		t.grow()
	}
	return uint32(count)
}

// find returns the slot of a key and its content. The content is 0 if the key is new.
func (t *targetTable) find(key []uint64) (slot int, content uint32) {
	mask := len(t.slots) - 1
	for slot = int(hashKey(key)) & mask; ; slot = (slot + 1) & mask {
		content = t.slots[slot]
		if content == 0 {
			return slot, 0
		}
		first := int(content-1) * t.words
		if compareKeys(t.keys[first:first+t.words], key) == 0 {
			return slot, content
		}
	}
}

// grow doubles the table.
func (t *targetTable) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	for i := 0; i < len(t.keys); i += t.words {
		slot, _ := t.find(t.keys[i : i+t.words])
		t.slots[slot] = uint32(i/t.words) + 1
	}
}

// resolve finds the ranks of all targets in the set of states. It sorts the targets, because a cursor finds
// ascending keys.
func (t *targetTable) resolve(cursor *Cursor) error {
	count := len(t.keys) / t.words
	if cap(t.ranks) < count {
		t.ranks = make([]int64, count+count/4)
	}
	t.ranks = t.ranks[:count]
	t.sortedRanks = t.sortedRanks[:0]
	t.sortTargets()
	recordSize := t.words + 1
	for i := 0; i < len(t.records); i += recordSize {
		key, number := t.records[i:i+t.words], t.records[i+t.words]
		rank, found, err := cursor.Find(key)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("read the states: the successor %x of a state is missing: %w", key, errDamaged)
		}
		t.ranks[number] = rank
		t.sortedRanks = append(t.sortedRanks, rank)
	}
	return nil
}

// sortTargets sorts records of a target's key and its number by the key.
func (t *targetTable) sortTargets() {
	t.records = t.records[:0]
	for number := range len(t.keys) / t.words {
		key := t.keys[number*t.words : (number+1)*t.words]
		t.records = append(append(t.records, key...), uint64(number))
	}
	t.records, t.scratch = sortRecords(t.records, t.scratch, t.words+1, t.words)
}
