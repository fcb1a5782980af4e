package disk

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"tilecheck/internal/progress"
	"tilecheck/internal/shard"
	"tilecheck/native/space/explicit"
)

// defaultChunkBlocks is the number of blocks of States of a chunk.
const defaultChunkBlocks = 256

// Convert computes the transitions of all states and writes them to a file. If an earlier process was interrupted, it continues the work of
// that process.
func (space *Space) Convert(ctx context.Context) (*Columns, error) {
	if err := space.convert(ctx); err != nil {
		return nil, err
	}
	return openColumns(space.Directory, space.Directory.Manifest().Columns)
}

// convert writes the missing transitions, or the part of this process in each task of process 1.
func (space *Space) convert(ctx context.Context) error {
	if space.Helps() {
		return space.Help(ctx, columnsStage, isConverted, func(data json.RawMessage) (any, error) { return space.convertPart(ctx, data) })
	}
	files := space.Directory.Manifest().Columns
	if files == nil {
		files = &ColumnFiles{File: space.Directory.NewName("columns"), ChunkStates: space.chunkStates()}
	}
	if files.Done {
		return nil
	}
	return space.Conclude(ctx, columnsStage, space.convertTransitions(ctx, *files))
}

// columnsStage names the tasks that write transitions.
const columnsStage = "transitions"

// isConverted reports whether the transitions of all states are written.
func isConverted(manifest *Manifest) (bool, error) {
	return manifest.Columns != nil && manifest.Columns.Done, nil
}

// chunkStates returns the number of states per chunk. It is smaller in a small space or with little memory,
// because several workers make chunks.
func (space *Space) chunkStates() int {
	const bytesPerState = 1 << 12 // while all workers make chunks
	blocks := space.opts.Memory / bytesPerState / setBlock
	return setBlock * int(max(min(defaultChunkBlocks, blocks, int64(space.States.numBlocks())/8), 1))
}

// convertTransitions appends the missing chunks to the file of the transitions. Several workers make the chunks, which are written in order.
func (space *Space) convertTransitions(ctx context.Context, files ColumnFiles) error {
	file, err := os.OpenFile(space.Directory.Path(files.File), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return space.Directory.writeError(err, 0)
	}
	defer file.Close()
	if err := file.Truncate(files.Size); err != nil {
		return err
	}
	if _, err := file.Seek(files.Size, io.SeekStart); err != nil {
		return err
	}
	conversion := newConversion(space, files, file)
	if err := conversion.writeAll(ctx); err != nil {
		return errors.Join(err, conversion.commitAfterError())
	}
	conversion.files.Done = true
	return conversion.commit()
}

// newConversion returns a conversion that appends chunks to a file, from the end of files on.
func newConversion(space *Space, files ColumnFiles, file *os.File) *conversion {
	created := &conversion{
		Space: space, files: files, out: output{space.Directory, file},
		lastCommit: time.Now(), startTime: time.Now(), statesAtStart: files.States,
	}
	created.nextChanged = sync.NewCond(&created.mutex)
	created.nextChunk = files.numChunks(files.States)
	return created
}

// chunksPerRound is the number of chunks that each of several processes makes at a time.
const chunksPerRound = 16

// columnsTask says that the processes make the chunks from First to End-1. Process i, if it is not process 1, writes its chunks to Parts[i-2].
type columnsTask struct {
	First, End  int
	ChunkStates int
	Parts       []string
}

// writeAll writes the remaining chunks. Several processes make ranges of chunks, and process 1 puts them together.
func (conversion *conversion) writeAll(ctx context.Context) error {
	numChunks, process := conversion.files.numChunks(conversion.States.Count), conversion.Directory.team.Process
	if process.Count <= 1 {
		return conversion.writeChunks(ctx, numChunks)
	}
	for conversion.nextChunk < numChunks {
		round := columnsTask{First: conversion.nextChunk, ChunkStates: conversion.files.ChunkStates}
		round.End = min(round.First+chunksPerRound*process.Count, numChunks)
		for range process.Count - 1 {
			round.Parts = append(round.Parts, conversion.Directory.NewName("part"))
		}
		writeOwn := func() error {
			_, end := round.chunksOf(process)
			return conversion.writeChunks(ctx, end)
		}
		err := conversion.Divide(ctx, columnsStage, &round, writeOwn, func(other shard.Part, _ json.RawMessage) error {
			_, end := round.chunksOf(other)
			return conversion.appendPart(round.Parts[other.Index-2], end)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// chunksOf returns the range of chunks that a process makes.
func (round *columnsTask) chunksOf(process shard.Part) (first, end int) {
	from, to := process.Range(int64(round.End - round.First))
	return round.First + int(from), round.First + int(to)
}

// appendPart appends the file of another process, which has the chunks from nextChunk to end-1, and removes it.
func (conversion *conversion) appendPart(name string, end int) error {
	part, err := os.Open(conversion.Directory.Path(name))
	if err != nil {
		return err
	}
	conversion.Directory.CountFile(name)
	written, err := io.Copy(conversion.out, part)
	if err := errors.Join(err, part.Close()); err != nil {
		return err
	}
	conversion.nextChunk = end
	conversion.files.Size += written
	conversion.files.States = min(int64(end)*int64(conversion.files.ChunkStates), conversion.States.Count)
	conversion.reportProgress()
	if err := conversion.commit(); err != nil {
		return err
	}
	return conversion.Directory.removeFile(name)
}

// convertPart makes the chunks of this process in a task of process 1, and writes them to a file.
func (space *Space) convertPart(ctx context.Context, data json.RawMessage) (result any, err error) {
	var round columnsTask
	if err := json.Unmarshal(data, &round); err != nil {
		return nil, err
	}
	process := space.Directory.team.Process
	file, err := space.Directory.createFile(round.Parts[process.Index-2])
	if err != nil {
		return nil, err
	}
	first, end := round.chunksOf(process)
	part := newConversion(space, ColumnFiles{ChunkStates: round.ChunkStates, States: int64(first) * int64(round.ChunkStates)}, file)
	part.isPart, part.nextChunk = true, first
	return nil, errors.Join(part.writeChunks(ctx, end), file.Close())
}

// writeChunks appends the chunks from nextChunk to end-1. Several workers make them.
func (conversion *conversion) writeChunks(ctx context.Context, end int) error {
	tasks := newTasks(end)
	tasks.nextTask = conversion.nextChunk
	var wg sync.WaitGroup
	for _, expander := range conversion.expanders {
		worker := newChunkMaker(conversion, expander)
		wg.Go(func() { worker.makeChunks(ctx, tasks) })
	}
	wg.Wait()
	return tasks.err
}

// numChunks returns the number of chunks of the given number of states.
func (files *ColumnFiles) numChunks(states int64) int {
	chunkStates := int64(files.ChunkStates)
	return int((states + chunkStates - 1) / chunkStates)
}

// conversion writes the chunks of several workers in order.
type conversion struct {
	*Space
	mutex         sync.Mutex
	nextChanged   *sync.Cond
	nextChunk     int  // the chunk to be written next
	isStopped     bool // a worker failed, so that no further chunk is written
	isPart        bool // process 1 appends the chunks to its file, and records them
	files         ColumnFiles
	out           output
	lastCommit    time.Time
	startTime     time.Time
	statesAtStart int64
}

// writeInOrder waits until all earlier chunks are written, and then writes the record of the worker. makeErr is the error that occurred
// when the chunk was made. After any error, all workers stop.
func (conversion *conversion) writeInOrder(worker *chunkMaker, chunk int, makeErr error) error {
	conversion.mutex.Lock()
	defer conversion.mutex.Unlock()
	for conversion.nextChunk != chunk && !conversion.isStopped {
		conversion.nextChanged.Wait()
	}
	hasTurn, err := conversion.nextChunk == chunk, makeErr
	if hasTurn && err == nil {
		_, err = conversion.out.Write(worker.record)
	}
	if !hasTurn || err != nil {
		conversion.isStopped = true
		conversion.nextChanged.Broadcast()
		return err
	}
	conversion.nextChunk++
	conversion.files.Size += int64(len(worker.record))
	conversion.files.States += worker.header.States
	conversion.Directory.Expect(conversion.files.Size / conversion.files.States * (conversion.States.Count - conversion.files.States))
	conversion.nextChanged.Broadcast()
	if time.Since(conversion.lastCommit) < conversion.opts.Interval {
		return nil
	}
	conversion.reportProgress()
	if conversion.isPart {
		conversion.lastCommit = time.Now()
		return nil
	}
	return conversion.commit()
}

// stopAll wakes all waiting workers after an error. The chunk that they wait for may never come.
func (conversion *conversion) stopAll() {
	conversion.mutex.Lock()
	defer conversion.mutex.Unlock()
	conversion.isStopped = true
	conversion.nextChanged.Broadcast()
}

// commit records the chunks in the manifest.
func (conversion *conversion) commit() error {
	files := conversion.files
	conversion.lastCommit = time.Now()
	return conversion.Directory.Commit(func(m *Manifest) { m.Columns = &files })
}

// commitAfterError records the chunks that were written before an error. If the disk is full, it records nothing,
// and the chunks are written again later.
func (conversion *conversion) commitAfterError() error {
	if err := conversion.commit(); err != nil && !errors.As(err, new(*FullError)) {
		return err
	}
	return nil
}

// reportProgress calls Options.Progress with the number of states whose transitions are written.
func (conversion *conversion) reportProgress() {
	if conversion.opts.Progress == nil {
		return
	}
	rate := float64(conversion.files.States-conversion.statesAtStart) / max(time.Since(conversion.startTime).Seconds(), 1e-9)
	conversion.opts.Progress(progress.Progress{
		Done: conversion.files.States, Target: conversion.States.Count, Unit: progress.States, Rate: rate,
		Detail: fmt.Sprintf("writing transitions, %d MB on disk", conversion.Directory.Used()>>20),
	})
}

// chunkMaker makes chunks.
type chunkMaker struct {
	*conversion
	expander      *explicit.Successors
	wordsPerState int
	states        []uint64
	header        Chunk
	targets       targetTable

	choiceCounts     []uint32 // of each state
	transitionCounts []uint32 // of each choice
	distributions    []uint32 // of each choice
	targetIDs        []uint32 // of each transition
	allWeights       []float64

	encodedDistributions []byte // the encoded distributions
	distributionNumbers  map[string]uint32
	templates            map[string]uint64
	encodedRow           []byte
	encodedRows          []byte
	ranges               []Range
	record               []byte
}

// newChunkMaker returns a maker of chunks that expands states with the given expander.
func newChunkMaker(c *conversion, expander *explicit.Successors) *chunkMaker {
	return &chunkMaker{
		conversion: c, expander: expander, wordsPerState: c.Packing.Words, targets: targetTable{wordsPerKey: c.Packing.Words},
		distributionNumbers: map[string]uint32{}, templates: map[string]uint64{},
	}
}

// makeChunks takes tasks, each of which is a chunk, computes the chunks and writes them to the file. It returns when no task is left or a task has failed,
// and then stops the other workers, too.
func (maker *chunkMaker) makeChunks(ctx context.Context, tasks *tasks) {
	tasks.runAll(ctx, func(task int) error {
		makeErr := maker.makeChunk(ctx, task)
		if err := maker.writeInOrder(maker, task, makeErr); err != nil {
			return err
		}
		return ctx.Err()
	})
	if tasks.failure() != nil {
		maker.stopAll()
	}
}

// statesPerExpansion is the number of states that are expanded at once.
const statesPerExpansion = 512

// makeChunk computes the transitions of the states of a chunk. It stores the chunk in binary form in maker.record.
func (maker *chunkMaker) makeChunk(ctx context.Context, chunk int) error {
	blocks := maker.files.ChunkStates / setBlock
	cursor := maker.States.NewCursor()
	var err error
	if maker.states, err = cursor.Range(maker.states[:0], chunk*blocks, (chunk+1)*blocks); err != nil {
		return err
	}
	maker.startChunk(int64(chunk) * int64(maker.files.ChunkStates))
	for first := 0; first < len(maker.states); first += statesPerExpansion * maker.wordsPerState {
		rows, err := maker.expander.Expand(ctx, maker.states[first:min(first+statesPerExpansion*maker.wordsPerState, len(maker.states))])
		if err != nil {
			return err
		}
		if rows.RangeErr != nil {
			return rows.RangeErr
		}
		maker.addRows(rows)
	}
	if err := maker.targets.findRanks(maker.States.NewCursor()); err != nil {
		return err
	}
	maker.encodeRows()
	maker.assembleRecord()
	return nil
}

// startChunk prepares the maker for a new chunk. first is the number of the first state of the chunk.
func (maker *chunkMaker) startChunk(first int64) {
	maker.header = Chunk{First: first, States: int64(len(maker.states) / maker.wordsPerState), MinWeight: 1, MaxWeight: 1}
	maker.targets.reset()
	maker.choiceCounts, maker.transitionCounts = maker.choiceCounts[:0], maker.transitionCounts[:0]
	maker.distributions, maker.targetIDs = maker.distributions[:0], maker.targetIDs[:0]
	maker.encodedDistributions, maker.encodedRows, maker.allWeights = maker.encodedDistributions[:0], maker.encodedRows[:0], maker.allWeights[:0]
	clear(maker.distributionNumbers)
	clear(maker.templates)
}

// addRows adds the rows of some states to the chunk, and updates its totals.
func (maker *chunkMaker) addRows(rows *explicit.SuccessorRows) {
	maker.header.RelErr = max(maker.header.RelErr, rows.RelErr)
	maker.header.Overlaps += int64(rows.Overlaps)
	maker.header.Choices += int64(len(rows.Transitions))
	maker.header.Transitions += int64(len(rows.Weights))
	for _, numChoices := range rows.Choices {
		if numChoices == 0 { // a deadlock, which gets a self-loop when it is read
			maker.header.Deadlocks++
			maker.header.Choices++
			maker.header.Transitions++
		}
	}
	maker.choiceCounts = append(maker.choiceCounts, rows.Choices...)
	maker.transitionCounts = append(maker.transitionCounts, rows.Transitions...)
	maker.allWeights = append(maker.allWeights, rows.Weights...)
	weights := rows.Weights
	for _, numTransitions := range rows.Transitions {
		maker.distributions = append(maker.distributions, maker.distributionNumber(weights[:numTransitions]))
		weights = weights[numTransitions:]
	}
	for i := 0; i < len(rows.Targets); i += maker.wordsPerState {
		maker.targetIDs = append(maker.targetIDs, maker.targets.numberOf(rows.Targets[i:i+maker.wordsPerState]))
	}
}

// distributionNumber returns the number of a distribution in the chunk, and adds the distribution if it is new.
func (maker *chunkMaker) distributionNumber(weights []float64) uint32 {
	maker.encodedRow = binary.AppendUvarint(maker.encodedRow[:0], uint64(len(weights)))
	for _, weight := range weights {
		maker.encodedRow = binary.LittleEndian.AppendUint64(maker.encodedRow, math.Float64bits(weight))
	}
	number, isKnown := maker.distributionNumbers[string(maker.encodedRow)]
	if !isKnown {
		number = uint32(len(maker.distributionNumbers))
		maker.distributionNumbers[string(maker.encodedRow)] = number
		maker.encodedDistributions = append(maker.encodedDistributions, maker.encodedRow...)
		maker.header.Weights += int64(len(weights))
		for _, weight := range weights {
			maker.header.MinWeight, maker.header.MaxWeight = min(maker.header.MinWeight, weight), max(maker.header.MaxWeight, weight)
		}
	}
	return number
}

// encodeRows encodes the rows of all states of the chunk. A row has, for each choice, the number of its distribution and the distances from the state to its
// targets.
func (maker *chunkMaker) encodeRows() {
	transition, choice := 0, 0
	for state, numChoices := range maker.choiceCounts {
		source := maker.header.First + int64(state)
		maker.encodedRow = binary.AppendUvarint(maker.encodedRow[:0], uint64(numChoices))
		numOperands := int64(1)
		for range numChoices {
			maker.encodedRow = binary.AppendUvarint(maker.encodedRow, uint64(maker.distributions[choice]))
			numTransitions := int(maker.transitionCounts[choice])
			for range numTransitions {
				maker.encodeTransition(transition, source)
				transition++
			}
			numOperands += 2 + int64(numTransitions)
			choice++
		}
		maker.storeRow(numOperands)
	}
}

// storeRow appends the encoded row of the current state to the rows of the chunk or, if an earlier row of the chunk is equal, only the number of that row.
// numOperands is the number of elements of Rows.Operands that a new row takes.
func (maker *chunkMaker) storeRow(numOperands int64) {
	number, isKnown := maker.templates[string(maker.encodedRow)]
	if isKnown {
		maker.encodedRows = binary.AppendUvarint(maker.encodedRows, number)
		return
	}
	if len(maker.templates) < maxTemplates {
		maker.templates[string(maker.encodedRow)] = uint64(len(maker.templates)) + 1
	}
	maker.encodedRows = append(append(maker.encodedRows, 0), maker.encodedRow...)
	maker.header.Operands += numOperands
}

// encodeTransition appends a transition to the encoded row of a state. If the target is in an earlier or a later chunk, it adds the weight to the total
// Backward or Forward of the chunk, from which the order of the solution is chosen.
func (maker *chunkMaker) encodeTransition(transition int, state int64) {
	target := maker.targets.ranks[maker.targetIDs[transition]]
	switch {
	case target < maker.header.First:
		maker.header.Backward += maker.allWeights[transition]
	case target >= maker.header.First+maker.header.States:
		maker.header.Forward += maker.allWeights[transition]
	}
	maker.encodedRow = binary.AppendVarint(maker.encodedRow, target-state)
}

// assembleRecord assembles the record of the chunk, with the header, the ranges of targets, the weights and the rows.
func (maker *chunkMaker) assembleRecord() {
	maker.ranges = joinRanges(maker.ranges[:0], maker.targets.sortedRanks, rangeGap)
	ranges := appendRanges(nil, maker.ranges)
	maker.header.rangesSize, maker.header.weightsSize, maker.header.rowsSize = int64(len(ranges)), int64(len(maker.encodedDistributions)), int64(len(maker.encodedRows))
	maker.header.checksum = crc32.Update(crc32.Checksum(maker.encodedDistributions, castagnoli), castagnoli, maker.encodedRows)
	maker.record = maker.header.appendHeader(maker.record[:0])
	maker.record = append(append(append(maker.record, ranges...), maker.encodedDistributions...), maker.encodedRows...)
}

// joinRanges appends ranges of states that contain the given numbers, which are ascending. It joins two successive numbers to one range if fewer than gap
// other numbers are between them.
func joinRanges(ranges []Range, numbers []int64, gap int64) []Range {
	for _, number := range numbers {
		if numRanges := len(ranges); numRanges > 0 && number-ranges[numRanges-1].End < gap {
			ranges[numRanges-1].End = number + 1
			continue
		}
		ranges = append(ranges, Range{number, number + 1})
	}
	return ranges
}

// targetTable gives the distinct targets of a chunk small numbers.
type targetTable struct {
	wordsPerKey int
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
func (table *targetTable) reset() {
	table.keys = table.keys[:0]
	if table.slots == nil {
		table.slots = make([]uint32, minSlots)
	}
	clear(table.slots)
}

// numberOf returns the number of a target, and adds the target if it is new.
func (table *targetTable) numberOf(key []uint64) uint32 {
	slot, id := table.findSlot(key)
	if id != 0 {
		return id - 1
	}
	count := len(table.keys) / table.wordsPerKey
	table.keys = append(table.keys, key...)
	table.slots[slot] = uint32(count) + 1
	if 2*(count+1) > len(table.slots) {
		table.growTable()
	}
	return uint32(count)
}

// findSlot returns the slot of the hash table that has a key, with the content of the slot: 1 + the number of the target. If the key is not in the table, it
// returns a free slot and the content 0.
func (table *targetTable) findSlot(key []uint64) (slot int, content uint32) {
	mask := len(table.slots) - 1
	for slot = int(hashKey(key)) & mask; ; slot = (slot + 1) & mask {
		content = table.slots[slot]
		if content == 0 {
			return slot, 0
		}
		first := int(content-1) * table.wordsPerKey
		if compareKeys(table.keys[first:first+table.wordsPerKey], key) == 0 {
			return slot, content
		}
	}
}

// growTable doubles the table.
func (table *targetTable) growTable() {
	table.slots = make([]uint32, 2*len(table.slots))
	for i := 0; i < len(table.keys); i += table.wordsPerKey {
		slot, _ := table.findSlot(table.keys[i : i+table.wordsPerKey])
		table.slots[slot] = uint32(i/table.wordsPerKey) + 1
	}
}

// findRanks finds the rank of each target of the chunk in the set of all states. It looks up the targets in ascending order, because a cursor can only move
// forwards.
func (table *targetTable) findRanks(cursor *Cursor) error {
	count := len(table.keys) / table.wordsPerKey
	if cap(table.ranks) < count {
		table.ranks = make([]int64, count+count/4)
	}
	table.ranks = table.ranks[:count]
	table.sortedRanks = table.sortedRanks[:0]
	table.sortTargets()
	recordSize := table.wordsPerKey + 1
	for i := 0; i < len(table.records); i += recordSize {
		key, number := table.records[i:i+table.wordsPerKey], table.records[i+table.wordsPerKey]
		rank, found, err := cursor.Find(key)
		if err != nil {
			return err
		}
		if !found {
			return fmt.Errorf("read the states: the successor %x of a state is missing: %w", key, errDamaged)
		}
		table.ranks[number] = rank
		table.sortedRanks = append(table.sortedRanks, rank)
	}
	return nil
}

// sortTargets fills table.records with a record for each target, its key followed by its number, and sorts the records by key.
func (table *targetTable) sortTargets() {
	table.records = table.records[:0]
	for number := range len(table.keys) / table.wordsPerKey {
		key := table.keys[number*table.wordsPerKey : (number+1)*table.wordsPerKey]
		table.records = append(append(table.records, key...), uint64(number))
	}
	table.records, table.scratch = sortRecords(table.records, table.scratch, table.wordsPerKey+1, table.wordsPerKey)
}
