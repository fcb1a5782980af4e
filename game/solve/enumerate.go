package solve

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/game"
)

// enumeration is the progress of the enumeration.
type enumeration struct {
	next        int // the sum of the next layer to enumerate
	emptyLayers int // number of layers without afterstates directly below next; after two the enumeration is complete
}

// done reports whether all layers are enumerated.
func (e enumeration) done() bool { return e.emptyLayers == 2 }

// advance counts the next layer.
func (e *enumeration) advance(l Layer) {
	e.emptyLayers++
	if l.Afterstates > 0 || l.Sum <= 4 { // a game starts from afterstates of sums 2 and 4, of which one may be impossible
		e.emptyLayers = 0
	}
	e.next = l.Sum + 2
}

// enumerate enumerates the boards of the layers that are not enumerated yet, with ascending sums of tiles. It returns the new state of the
// enumeration.
func (s *solver) enumerate(ctx context.Context, state enumeration) (enumeration, error) {
	for !state.done() {
		counted, err := s.enumerateLayer(ctx, state.next)
		if err != nil {
			return state, fmt.Errorf("enumerate layer %d: %w", state.next, err)
		}
		state.advance(counted)
		s.countLayer(counted)
	}
	return state, nil
}

// countLayer adds a layer to the statistics and reports the progress.
func (s *solver) countLayer(counted Layer) {
	s.stats.Afterstates += counted.Afterstates
	s.stats.Positions += counted.Positions
	if counted.Positions > 0 {
		s.stats.Layers = append(s.stats.Layers, counted)
	}
	s.notifyProgress(Progress{Sum: counted.Sum, Positions: s.stats.Positions})
}

// enumerateLayer computes the positions and the afterstates of a sum from the afterstates of the two layers below.
func (s *solver) enumerateLayer(ctx context.Context, sum int) (Layer, error) {
	counted := Layer{Sum: sum}
	recordName := aftersName // name of the record of the afterstates that this process finds
	if !s.singleProcess() {
		recordName = outgoingName
	}
	if exists, err := s.hasOwn(recordName, sum); err != nil || !exists {
		if err := errors.Join(err, s.expandLayer(ctx, recordName, sum)); err != nil {
			return counted, err
		}
	}
	if !s.singleProcess() {
		if err := s.gatherAfters(ctx, sum); err != nil {
			return counted, err
		}
	}
	counted, err := s.countBoards(ctx, sum)
	if err == nil && !s.singleProcess() { // all processes have read outgoing
		err = s.removeOwn(outgoingName, sum)
	}
	return counted, errors.Join(err, s.memory.check(s.store.size(), sum))
}

// hasOwn reports whether a record of this process exists.
func (s *solver) hasOwn(kind string, sum int) (bool, error) {
	r, err := s.openOwn(kind, sum)
	if err == errNoRecord {
		return false, nil
	}
	return err == nil, errors.Join(err, r.Close())
}

// countBoards returns the numbers of boards of a layer in the records of all processes.
func (s *solver) countBoards(ctx context.Context, sum int) (Layer, error) {
	counted := Layer{Sum: sum}
	for _, record := range []struct {
		kind string
		size *int64
	}{{positionsName, &counted.Positions}, {aftersName, &counted.Afterstates}} {
		opened, err := s.open(ctx, record.kind, sum)
		if err != nil {
			return counted, err
		}
		*record.size = int64(opened.count)
		opened.close()
	}
	return counted, nil
}

// expandLayer computes the positions of a sum and the afterstates of their moves.
//
// The positions of a part come from few parts of afterstates. For each part of positions, expandLayer makes all their moves while the part is in
// memory. The resulting afterstates can be in any part, so it sorts them in runs.
func (s *solver) expandLayer(ctx context.Context, recordName string, sum int) error {
	s.runs.limit = s.memory.runBytes(s.store.size())
	if err := s.runs.reset(s.parts); err != nil {
		return err
	}
	sources, err := s.openBefore(ctx, sum)
	defer sources.close()
	if err != nil {
		return err
	}
	err = s.writeStored(ctx, positionsName, plainBoards, sum, s.first, s.end, func(worker, part int, encoder *encoder) error {
		scratch := &s.scratch[worker]
		if err := s.positionsOf(ctx, scratch, part, sources); err != nil {
			return err
		}
		encoder.addPlain(scratch.keys)
		return s.collectMoves(scratch, scratch.keys)
	})
	if err != nil {
		return err
	}
	s.collectStart(sum)
	for i := range s.scratch {
		if err := s.flush(&s.scratch[i]); err != nil {
			return err
		}
	}
	return errors.Join(s.writeUnion(ctx, recordName, sum, 0, s.parts, s.runs.appendPart), s.runs.close())
}

// writeUnion writes a set of afterstates, sorted and without duplicates. It calls appendBoards for each part, which must append the boards of the part
// to dst.
func (s *solver) writeUnion(
	ctx context.Context, kind string, sum, first, end int, appendBoards func(dst []uint64, part int, w *scratch) ([]uint64, error),
) error {
	return s.writeStored(ctx, kind, plainBoards, sum, first, end, func(worker, part int, encoder *encoder) error {
		w := &s.scratch[worker]
		var err error
		if w.keys, err = appendBoards(w.keys[:0], part, &w.scratch); err != nil {
			return err
		}
		w.sort()
		encoder.addPlain(w.keys)
		return nil
	})
}

// gatherAfters collects the afterstates that all processes found for the parts of this process, and writes them.
func (s *solver) gatherAfters(ctx context.Context, sum int) error {
	outgoing, err := s.open(ctx, outgoingName, sum)
	if err != nil {
		return err
	}
	defer outgoing.close()
	return s.writeUnion(ctx, aftersName, sum, s.first, s.end, func(dst []uint64, part int, buffer *scratch) ([]uint64, error) {
		for _, record := range outgoing.records {
			err := record.readPart(ctx, part, buffer, func(_ *blockView, boards []uint64) error {
				dst = append(dst, boards...)
				return nil
			})
			if err != nil {
				return dst, err
			}
		}
		return dst, nil
	})
}

// adjacentLayers are the two layers before or after a layer, indexed by the exponent of the new tile minus 1. Missing layers are nil.
type adjacentLayers [2]*layer

func (a adjacentLayers) close() {
	for _, l := range a {
		l.close()
	}
}

// openBefore opens the layers of afterstates from which a new tile leads to boards of a sum.
func (s *solver) openBefore(ctx context.Context, sum int) (sources adjacentLayers, err error) {
	for exponent := 1; exponent <= 2; exponent++ {
		if sumBefore := sum - 2*exponent; sumBefore >= 2 && s.canSpawn(exponent) {
			if sources[exponent-1], err = s.open(ctx, aftersName, sumBefore); err != nil {
				return sources, err
			}
		}
	}
	return sources, nil
}

// writeStored writes parts of a layer as a record in the store.
func (s *solver) writeStored(ctx context.Context, name string, k kind, sum, first, end int, encode encoding) error {
	out, err := s.store.create(s.ownName(name, sum))
	if err != nil {
		return err
	}
	return s.writeRecord(ctx, out, k, sum, first, end, encode)
}

// writeRecord writes the parts first to end-1 of a layer as a record. The function encode encodes a part.
func (s *solver) writeRecord(ctx context.Context, target sink, boardKind kind, sum, first, end int, encode encoding) error {
	writer := &recordWriter{header: header{kind: boardKind, sum: uint32(sum)}, out: target, numbering: s.numbering}
	err := writer.write(ctx, s.workers, first, end, encode)
	if err == nil {
		err = writer.finish()
	}
	if err != nil {
		return errors.Join(err, target.abandon())
	}
	return nil
}

// positionsOf computes the positions of a part from the afterstates in sources, the two layers before, and stores them in worker.keys.
func (s *solver) positionsOf(ctx context.Context, worker *worker, part int, sources adjacentLayers) error {
	worker.keys = worker.keys[:0]
	for i, source := range sources {
		if source == nil {
			continue
		}
		for group, cells := range s.groups(s.cells) {
			if cells == 0 {
				continue
			}
			sourcePart := s.partBeforeTile(part, group, i+1)
			err := source.recordOf(sourcePart).readPart(ctx, sourcePart, &worker.scratch, func(_ *blockView, afters []uint64) error {
				for _, afterstate := range afters {
					worker.keys = s.spawn(worker.keys, afterstate, i+1, cells)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	worker.sort()
	return nil
}

// runKeys is the number of keys that a goroutine collects before it sorts them.
const runKeys = 1 << 20

// collectMoves collects the canonical afterstates of the legal moves of positions, except won boards.
func (s *solver) collectMoves(worker *worker, positions []uint64) error {
	var next [4]game.Board
	for _, position := range positions {
		legal, overflow := s.rules.Moved(game.Board(position), &next)
		if overflow != 0 {
			return game.ErrOverflow
		}
		for dir, afterstate := range next {
			if legal.Has(game.Dir(dir)) && !s.won(afterstate) {
				worker.collect(s.orbit.leastImage(uint64(afterstate)), s.partition)
			}
		}
		if worker.collected >= runKeys {
			if err := s.flush(worker); err != nil {
				return err
			}
		}
	}
	return nil
}

// collectStart collects the boards with one tile. A game starts with two random tiles, so these boards count as afterstates.
func (s *solver) collectStart(sum int) {
	if exp := sum / 2; exp <= 2 && s.canSpawn(exp) {
		for _, b := range s.spawn(nil, 0, exp, s.cells) {
			s.scratch[0].collect(b, s.partition)
		}
	}
}

// flush sorts the collected boards and moves them to the runs.
func (s *solver) flush(worker *worker) error {
	data := make([]byte, 0, worker.collected*3)
	worker.sets = worker.sets[:0]
	for part, keys := range worker.out {
		if len(keys) == 0 {
			continue
		}
		worker.out[part] = keys[:0]
		worker.sorting = resizedKeys(worker.sorting, len(keys))
		keys = sortUnique(keys, worker.sorting)
		data = appendRun(data, keys)
		worker.sets = append(worker.sets, set{part, len(keys), len(data)})
	}
	worker.collected = 0
	return s.runs.add(data, worker.sets)
}

// worker has the data of one goroutine.
type worker struct {
	scratch
	keys, sorting []uint64
	out           [][]uint64 // collected keys, by part
	collected     int        // number of keys in out
	sets          []set
	// recent is a cache of collected keys: most duplicates come soon after each other.
	recent    []uint64
	values    nextValues // values that the current part of afterstates depends on
	ownValues nextValues // memory for values that are not cached
}

// recentBits is the size of worker.recent as a power of two.
const recentBits = 13

func newWorkers(count, numParts int) []worker {
	workers := make([]worker, count)
	for i := range workers {
		workers[i].out = make([][]uint64, numParts)
		workers[i].recent = make([]uint64, 1<<recentBits)
	}
	return workers
}

// collect stores a board in w.out for flush, unless the board was stored recently. Boards of different layers differ, so w.recent need not be cleared
// between layers.
func (w *worker) collect(board uint64, parts *partition) {
	recent := &w.recent[(board^board>>29)*0x9E37_79B9_7F4A_7C15>>(64-recentBits)]
	if *recent == board {
		return
	}
	*recent = board
	part := parts.partOf(board)
	w.out[part] = append(w.out[part], board)
	w.collected++
}

// sort sorts w.keys and removes duplicates.
func (w *worker) sort() {
	w.sorting = resizedKeys(w.sorting, len(w.keys))
	sorted := sortUnique(w.keys, w.sorting)
	if len(sorted) > 0 && &sorted[0] != &w.keys[0] {
		w.keys, w.sorting = w.sorting, w.keys
	}
	w.keys = w.keys[:len(sorted)]
}

// resizedKeys returns a slice of at least n keys with arbitrary contents.
func resizedKeys(keys []uint64, n int) []uint64 {
	if cap(keys) < n {
		return make([]uint64, n+n/4)
	}
	return keys[:cap(keys)]
}
