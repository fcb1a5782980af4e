package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"sync/atomic"
)

// runSize is the number of keys that are sorted at a time: with their copy they fit a second-level cache.
const runSize = 1 << 16

// maxSuccessors is the largest number of keys that one board expands to: a new tile in each cell, or four moves.
const maxSuccessors = 16

// collector makes the sorted set of the keys that boards expand to. Sorted runs of keys are kept in memory up to a limit, then in a store.
type collector struct {
	workers []collectWorker
	limit   int64 // bytes of runs that a worker keeps in memory
	store   store // for runs beyond the limit
	spilled atomic.Int64
	bytes   atomic.Int64 // of runs in memory
}

type collectWorker struct {
	keys, sorting []uint64
	runs          []run
	bytes         int64
	scratch       scratch
}

// run is a sorted set of keys, in memory or as a record.
type run struct {
	keys   []uint64
	record *record
	name   string // of the record
}

// newCollector returns a collector that keeps all runs in memory.
func newCollector(workers int, to store) *collector {
	return &collector{workers: make([]collectWorker, workers), store: to, limit: math.MaxInt64}
}

// setLimit sets the number of bytes of runs that all workers together keep in memory.
func (c *collector) setLimit(limit int64) { c.limit = limit / int64(len(c.workers)) }

// expansion appends the keys that boards expand to.
type expansion func(dst, boards []uint64) ([]uint64, error)

// addBlocks expands the boards of some blocks of a record.
func (c *collector) addBlocks(ctx context.Context, r *record, lo, hi int, expand expansion) error {
	parts := (hi - lo + partBlocks - 1) / partBlocks
	return forEach(ctx, len(c.workers), parts, func(worker, part int) error {
		w := &c.workers[worker]
		from := lo + part*partBlocks
		return r.read(from, min(from+partBlocks, hi), &w.scratch, func(_ *blockView, boards []uint64) error {
			return c.addBoards(ctx, worker, boards, expand)
		})
	})
}

// addBoards expands at most blockBoards boards.
func (c *collector) addBoards(ctx context.Context, worker int, boards []uint64, expand expansion) error {
	w := &c.workers[worker]
	if w.keys == nil {
		w.keys = make([]uint64, 0, runSize)
	}
	if len(w.sorting) < runSize { // none, or one that was made for a small merge
		w.sorting = make([]uint64, runSize)
	}
	if len(w.keys)+len(boards)*maxSuccessors > runSize {
		if err := c.flush(ctx, w); err != nil {
			return err
		}
	}
	var err error
	w.keys, err = expand(w.keys, boards)
	return err
}

// flush turns the keys of a worker into a run.
func (c *collector) flush(ctx context.Context, w *collectWorker) error {
	if len(w.keys) == 0 {
		return nil
	}
	keys := slices.Clone(sortUnique(w.keys, w.sorting))
	w.keys = w.keys[:0]
	w.runs = append(w.runs, run{keys: keys})
	w.bytes += int64(8 * len(keys))
	c.bytes.Add(int64(8 * len(keys)))
	if w.bytes <= c.limit {
		return nil
	}
	return c.spill(ctx, w)
}

// spill merges the runs in memory of a worker into one in the store.
func (c *collector) spill(ctx context.Context, w *collectWorker) error {
	var small, kept []run
	for _, r := range w.runs {
		if r.record == nil {
			small = append(small, r)
		} else {
			kept = append(kept, r)
		}
	}
	name := fmt.Sprintf("run-%d", c.spilled.Add(1))
	merged, err := mergeToRecord(ctx, c.store, name, 0, []collectWorker{{sorting: w.sorting}}, small)
	if err != nil {
		return err
	}
	w.runs = append(kept, run{record: merged, name: name})
	c.bytes.Add(-w.bytes)
	w.bytes = 0
	return nil
}

// take ends the collection and returns its runs.
func (c *collector) take(ctx context.Context) ([]run, error) {
	var runs []run
	for i := range c.workers {
		w := &c.workers[i]
		if err := c.flush(ctx, w); err != nil {
			return nil, err
		}
		runs = append(runs, w.runs...)
		w.runs, w.bytes = nil, 0
	}
	c.bytes.Store(0)
	return runs, nil
}

// finish writes the set to the store, empties the collector and returns the number of keys.
func (c *collector) finish(ctx context.Context, name string, sum int) (int64, error) {
	runs, err := c.take(ctx)
	if err != nil {
		return 0, err
	}
	r, err := mergeToRecord(ctx, c.store, name, sum, c.workers, runs)
	if err != nil {
		return 0, err
	}
	for _, used := range runs {
		if used.record != nil {
			err = errors.Join(err, used.record.Close(), c.store.remove(used.name))
		}
	}
	return int64(r.count), errors.Join(err, r.Close())
}

// mergeToRecord writes the union of the runs.
func mergeToRecord(ctx context.Context, to store, name string, sum int, workers []collectWorker, runs []run) (*record, error) {
	out, err := to.create(name)
	if err != nil {
		return nil, err
	}
	w := newRecordWriter(out, plainBoards, sum, len(workers))
	var rest []uint64 // less than a block
	err = mergeRuns(ctx, workers, runs, func(keys []uint64) error {
		rest = append(rest, keys...)
		whole := len(rest) / blockBoards * blockBoards
		if err := w.writeBoards(ctx, rest[:whole]); err != nil {
			return err
		}
		rest = rest[:copy(rest, rest[whole:])]
		return nil
	})
	if err == nil {
		err = w.writeBoards(ctx, rest)
	}
	if err == nil {
		err = w.finish()
	}
	if err != nil {
		_ = out.abandon()
		return nil, err
	}
	return to.open(name)
}

// writeBoards writes boards in blocks.
func (w *recordWriter) writeBoards(ctx context.Context, boards []uint64) error {
	const partBoards = partBlocks * blockBoards
	return w.write(ctx, 0, (len(boards)+partBoards-1)/partBoards, func(_, part int, e *encoder) error {
		for block := range slices.Chunk(boards[part*partBoards:min((part+1)*partBoards, len(boards))], blockBoards) {
			e.block(entries{boards: block})
		}
		return nil
	})
}

// mergeRuns calls emit with the union of the runs in ascending pieces, which are valid during the call only. It cuts all runs at the same
// keys, into parts that fit a cache, and sorts the parts.
func mergeRuns(ctx context.Context, workers []collectWorker, runs []run, emit func(keys []uint64) error) error {
	cuts := splitters(runs, len(workers))
	batch := make([][]uint64, 4*len(workers))
	for lo := 0; lo <= len(cuts); lo += len(batch) {
		n := min(len(batch), len(cuts)+1-lo)
		err := forEach(ctx, len(workers), n, func(worker, i int) error {
			from, to := uint64(0), ^uint64(0)
			if lo+i > 0 {
				from = cuts[lo+i-1]
			}
			if lo+i < len(cuts) {
				to = cuts[lo+i]
			}
			var err error
			batch[i], err = workers[worker].union(batch[i][:0], runs, from, to)
			return err
		})
		if err != nil {
			return err
		}
		for _, keys := range batch[:n] {
			if err := emit(keys); err != nil {
				return err
			}
		}
	}
	return nil
}

// union appends the keys of the runs that are at least from and below to, sorted.
func (w *collectWorker) union(dst []uint64, runs []run, from, to uint64) ([]uint64, error) {
	dst = dst[:0]
	var err error
	for i := range runs {
		if dst, err = runs[i].between(dst, from, to, &w.scratch); err != nil {
			return nil, err
		}
	}
	if len(runs) == 1 {
		return dst, nil
	}
	if len(w.sorting) < len(dst) {
		w.sorting = make([]uint64, len(dst))
	}
	sorted := sortUnique(dst, w.sorting)
	return append(dst[:0], sorted...), nil
}

// between appends the keys of a run that are at least from and below to.
func (r *run) between(dst []uint64, from, to uint64, s *scratch) ([]uint64, error) {
	if r.record == nil {
		lo, _ := slices.BinarySearch(r.keys, from)
		hi, _ := slices.BinarySearch(r.keys, to)
		return append(dst, r.keys[lo:hi]...), nil
	}
	rec := r.record
	lo := max(rec.blockFor(from), 0)
	hi := sort.Search(rec.blocks(), func(i int) bool { return rec.first(i) >= to })
	if lo >= hi {
		return dst, nil
	}
	err := rec.read(lo, hi, s, func(_ *blockView, boards []uint64) error {
		lo, _ := slices.BinarySearch(boards, from)
		hi, _ := slices.BinarySearch(boards, to)
		dst = append(dst, boards[lo:hi]...)
		return nil
	})
	return dst, err
}

// splitters returns ascending keys that cut the runs into parts of about half of runSize keys, and into no fewer than least.
func splitters(runs []run, least int) []uint64 {
	const step = blockBoards // of the sample: the index of a record has every so many'th key
	var sample []uint64
	for _, r := range runs {
		if r.record != nil {
			for block := range r.record.blocks() {
				sample = append(sample, r.record.first(block))
			}
			continue
		}
		for i := step / 2; i < len(r.keys); i += step {
			sample = append(sample, r.keys[i])
		}
	}
	slices.Sort(sample)
	parts := len(sample) * step / (runSize / 2)
	if len(sample) > 16*least {
		parts = max(parts, least)
	}
	var cuts []uint64
	for p := 1; p < parts; p++ {
		if at := p * len(sample) / parts; at < len(sample) {
			cuts = append(cuts, sample[at])
		}
	}
	return slices.Compact(cuts)
}
