package solve

import (
	"context"
	"errors"
	"math"
	"slices"

	"tilecheck/game"
)

// valueInParts does what valueAtOnce does, for layers that do not fit the memory: it takes as many boards at a time as have successors
// whose values fit, collects and sorts the successors, and reads the layers with the values from start to end to pick these out. Every
// value is computed from the same numbers in the same order as by valueAtOnce.
func (s *solver) valueInParts(ctx context.Context, w *recordWriter, positions, afters *record, next nextLayers) error {
	s.values = [2]valueLayer{}
	s.afters = lookup{}
	const name = "values-of-afterstates"
	valued, err := s.writeAfters(ctx, name, afters, next)
	if err != nil {
		return err
	}
	memory := s.memory.values(s.store.size())
	for lo, hi := 0, 0; lo < positions.blocks(); lo = hi {
		var keys []uint64
		if hi, keys, err = s.successors(ctx, positions, lo, positions.blocks(), s.after, memory); err != nil {
			return err
		}
		if err := s.pick(ctx, &s.afters, valued, keys); err != nil {
			return err
		}
		if err := s.valuePositions(ctx, w, positions, lo, hi); err != nil {
			return err
		}
	}
	return errors.Join(valued.Close(), s.store.remove(name))
}

// writeAfters writes the values of the afterstates of a layer to the store.
func (s *solver) writeAfters(ctx context.Context, name string, afters *record, next nextLayers) (*record, error) {
	out, err := s.store.create(name)
	if err != nil {
		return nil, err
	}
	w := newRecordWriter(out, valuedBoards, int(afters.sum), s.workers)
	var values [2]lookup
	for lo, hi := 0, 0; lo < afters.blocks(); lo = hi {
		if hi, err = s.pickNext(ctx, &values, afters, lo, next); err != nil {
			break
		}
		if err = s.encodeAfters(ctx, w, afters, lo, hi, &[2]*lookup{&values[0], &values[1]}); err != nil {
			break
		}
	}
	if err == nil {
		err = w.finish()
	}
	if err != nil {
		return nil, errors.Join(err, out.abandon())
	}
	return s.store.open(name)
}

// pickNext fills values with those that the afterstates from block lo on depend on, and returns the block up to which they do.
func (s *solver) pickNext(ctx context.Context, values *[2]lookup, afters *record, lo int, next nextLayers) (hi int, err error) {
	hi = afters.blocks()
	share := s.memory.values(s.store.size()) / 2
	for i := range values {
		if !s.spawns(i + 1) {
			continue
		}
		var keys []uint64
		if hi, keys, err = s.successors(ctx, afters, lo, hi, s.spawn(i+1), share); err != nil {
			return 0, err
		}
		if err := s.pick(ctx, &values[i], next[i], keys); err != nil {
			return 0, err
		}
		share = math.MaxInt64 // the second time there are as many
	}
	return hi, nil
}

func (s *solver) encodeAfters(ctx context.Context, w *recordWriter, afters *record, lo, hi int, next *[2]*lookup) error {
	noMoves := make([]game.Moves, blockBoards)
	return w.write(ctx, lo/partBlocks, (hi+partBlocks-1)/partBlocks, func(worker, part int, e *encoder) error {
		lo, hi := afters.part(part)
		return afters.read(lo, hi, &s.scratch[worker], func(_ *blockView, boards []uint64) error {
			e.values = e.values[:0]
			for _, b := range boards {
				value, err := s.mean(b, next)
				if err != nil {
					return err
				}
				e.values = append(e.values, value)
			}
			e.block(entries{boards, e.values, noMoves[:len(boards)]})
			return nil
		})
	})
}

// successors returns the sorted successors of the boards from block lo on, and the block up to which they are: end, or one before it, at
// which a part starts, if the values of more would not fit in so many bytes of memory.
func (s *solver) successors(ctx context.Context, r *record, lo, end int, by expansion, memory int64) (hi int, keys []uint64, err error) {
	// A key takes 8 bytes in a run, 8 more when runs are merged, and lookupBytes when its value is found.
	limit := memory / (8 + 8 + lookupBytes) * 8
	c := newCollector(s.workers, s.store)
	for hi = lo; hi < end && (hi == lo || c.bytes.Load() < limit); {
		from := hi
		hi = min(from+s.workers*partBlocks, end)
		if err := c.addBlocks(ctx, r, from, hi, by); err != nil {
			return 0, nil, err
		}
	}
	runs, err := c.take(ctx)
	if err != nil {
		return 0, nil, err
	}
	err = mergeRuns(ctx, c.workers, runs, func(some []uint64) error {
		keys = append(keys, some...)
		return nil
	})
	return hi, keys, err
}

// pick fills values with those of the keys, which are sorted. All must be in the record.
func (s *solver) pick(ctx context.Context, values *lookup, from *record, keys []uint64) error {
	values.reset(uint64(len(keys)))
	return forEach(ctx, s.workers, from.parts(), func(worker, part int) error {
		lo, hi := from.part(part)
		first, _ := slices.BinarySearch(keys, from.first(lo))
		last := len(keys)
		if hi < from.blocks() {
			last, _ = slices.BinarySearch(keys, from.first(hi))
		}
		wanted := keys[first:last]
		if len(wanted) == 0 {
			return nil
		}
		return from.read(lo, hi, &s.scratch[worker], func(v *blockView, boards []uint64) error {
			for i, b := range boards {
				for len(wanted) > 0 && wanted[0] < b {
					return errMissing
				}
				if len(wanted) == 0 || wanted[0] != b {
					continue
				}
				value, ok := v.value(i)
				if !ok {
					return from.malformed(lo)
				}
				values.add(b, value)
				wanted = wanted[1:]
			}
			return nil
		})
	})
}
