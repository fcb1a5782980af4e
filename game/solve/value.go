package solve

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/game"
)

// valueLayer computes the values of the positions of a sum from the two layers above it.
func (s *solver) valueLayer(ctx context.Context, sum int) error {
	positions, err := s.openOwn(positionsName, sum)
	if err != nil {
		return err
	}
	defer positions.Close()
	afters, err := s.openOwn(aftersName, sum)
	if err != nil {
		return err
	}
	defer afters.Close()
	kept := s.keepsValues(sum)
	if !kept {
		s.values = [2]valueLayer{}
	}
	if s.singleProcess() {
		err = s.valueAfters(ctx, afters, kept)
	} else {
		err = s.exchangeAfters(ctx, afters)
	}
	if err != nil {
		return err
	}
	if err := s.valuePositions(ctx, sum, positions, kept); err != nil {
		return err
	}
	s.valued += s.layerSizes(sum).Positions
	s.report(Progress{Valuing: true, Sum: sum, Positions: s.valued, Total: s.stats.Positions})
	return errors.Join(s.dropUnneeded(sum), s.memory.check(s.store.size(), sum))
}

// openNext opens the valued layers that a layer depends on. Layers above the last one are nil.
func (s *solver) openNext(ctx context.Context, sum int) (next adjacentLayers, err error) {
	for exp := 1; exp <= 2; exp++ {
		if next[exp-1], err = s.openValues(ctx, sum+2*exp); err != nil {
			return next, err
		}
	}
	return next, nil
}

// openValues opens a valued layer.
func (s *solver) openValues(ctx context.Context, sum int) (*layer, error) {
	if sum > s.lastSum {
		return nil, nil
	}
	if !s.singleProcess() {
		return s.open(ctx, valuesName, sum)
	}
	r, err := s.table.open(sum)
	if err != nil {
		return nil, err
	}
	r.order = s.order()
	return &layer{records: []*record{r}, owners: s.owners, sum: sum, count: r.count}, nil
}

// keepsValues reports whether the values of two layers fit in memory while a layer is valued. If they do not, a part is read again for each of
// the few parts that depend on it.
func (s *solver) keepsValues(sum int) bool {
	if !s.singleProcess() {
		return false
	}
	layer, first, second := s.layerSizes(sum), s.layerSizes(sum+2), s.layerSizes(sum+4)
	needed := first.Positions + max(layer.Positions, second.Positions) + layer.Afterstates
	return needed <= s.memory.valueBytes(s.store.size())/lookupBytes
}

// valueAfters computes the values of all afterstates of a layer and stores them in s.afters.
func (s *solver) valueAfters(ctx context.Context, afters *record, kept bool) error {
	next, err := s.openNext(ctx, int(afters.sum))
	defer next.close()
	if err != nil {
		return err
	}
	s.afters.reset(s.parts, afters.boardsOf)
	for _, l := range next {
		if kept && l != nil {
			if err := s.loadCached(ctx, l); err != nil {
				return err
			}
		}
	}
	return forEach(ctx, s.workers, s.parts, func(worker, part int) error {
		known := &s.afters.parts[part]
		clear(known.slots)
		return s.valueBlocks(ctx, &s.scratch[worker], part, afters, next, kept, func(boards []uint64, values []float64) {
			for i, b := range boards {
				known.add(b, values[i])
			}
		})
	})
}

// exchangeAfters is valueAfters for several processes: each computes the values of its own parts, and then reads the values of all parts.
func (s *solver) exchangeAfters(ctx context.Context, afters *record) error {
	sum := int(afters.sum)
	there, err := s.hasOwn(afterValuesName, sum)
	if err == nil && !there { // if the values exist, other processes may already have removed the layers that they depend on
		err = s.writeAfters(ctx, afters)
	}
	if err != nil {
		return err
	}
	all, err := s.open(ctx, afterValuesName, sum)
	if err != nil {
		return err
	}
	defer all.close()
	return s.loadAll(ctx, &s.afters, all)
}

// writeAfters writes the values of the afterstates of this process.
func (s *solver) writeAfters(ctx context.Context, afters *record) error {
	sum := int(afters.sum)
	next, err := s.openNext(ctx, sum)
	defer next.close()
	if err != nil {
		return err
	}
	if err := s.joinLayer(next[0]); err != nil {
		return err
	}
	noMoves := make([]game.Moves, blockBoards)
	return s.writeStored(ctx, afterValuesName, valuedBoards, sum, s.first, s.end, func(worker, part int, e *encoder) error {
		return s.valueBlocks(ctx, &s.scratch[worker], part, afters, next, false, func(boards []uint64, values []float64) {
			e.addBlock(blockEntries{boards, values, noMoves[:len(boards)]})
		})
	})
}

// valueBlocks computes the values of the afterstates of a part, and calls do for each block.
func (s *solver) valueBlocks(
	ctx context.Context, w *worker, part int, afters *record, next adjacentLayers, kept bool, do func(boards []uint64, values []float64),
) error {
	if lo, hi := afters.blocksOfPart(part); lo == hi {
		return nil
	}
	if err := s.loadNext(ctx, w, part, next, kept); err != nil {
		return err
	}
	values := make([]float64, 0, blockBoards)
	return afters.readPart(ctx, part, &w.scratch, func(_ *blockView, boards []uint64) error {
		values = values[:0]
		for _, b := range boards {
			value, err := s.spawned(b, &w.values)
			if err != nil {
				return err
			}
			values = append(values, value)
		}
		do(boards, values)
		return nil
	})
}

// loadNext sets w.values to the values that the afterstates of a part depend on.
func (s *solver) loadNext(ctx context.Context, w *worker, part int, next adjacentLayers, kept bool) error {
	for i, l := range next {
		for group, cells := range s.groups(s.cells) {
			if cells == 0 {
				continue
			}
			to := s.partAfterTile(part, group, i+1)
			if l != nil && kept {
				w.values[i][group] = s.cachedValues(l.sum).parts[to]
				continue
			}
			own := &w.ownValues[i][group]
			own.reset(0)
			if l != nil {
				r := l.recordOf(to)
				own.reset(r.boardsOf(to))
				if err := r.load(ctx, to, own, &w.scratch); err != nil {
					return err
				}
			}
			w.values[i][group] = *own
		}
	}
	return nil
}

// cachedValues returns the cache for the values of a layer. It is also the cache of the layer with the sum plus 4, which it replaces.
func (s *solver) cachedValues(sum int) *valueLayer { return &s.values[sum/2%2] }

// loadCached loads the values of a layer into its cache, unless they are there.
func (s *solver) loadCached(ctx context.Context, l *layer) error {
	to := s.cachedValues(l.sum)
	if to.sum == l.sum {
		return nil
	}
	to.sum = 0
	err := s.loadAll(ctx, &to.lookups, l)
	if err == nil {
		to.sum = l.sum
	}
	return err
}

// loadAll loads the values of a layer into a lookup for each part.
func (s *solver) loadAll(ctx context.Context, to *lookups, l *layer) error {
	to.reset(s.parts, func(part int) int { return l.recordOf(part).boardsOf(part) })
	return forEach(ctx, s.workers, s.parts, func(worker, part int) error {
		clear(to.parts[part].slots)
		return l.recordOf(part).load(ctx, part, &to.parts[part], &s.scratch[worker].scratch)
	})
}

// load adds the values of a part of the record to a lookup.
func (r *record) load(ctx context.Context, part int, to *lookup, s *scratch) error {
	return r.readPart(ctx, part, s, func(v *blockView, boards []uint64) error {
		for i, b := range boards {
			value, ok := v.value(i)
			if !ok {
				return errPalette
			}
			to.add(b, value)
		}
		return nil
	})
}

// valuePositions computes the values of the positions of this process from the values of all afterstates in s.afters, and writes them.
func (s *solver) valuePositions(ctx context.Context, sum int, positions *record, kept bool) error {
	values := s.cachedValues(sum)
	values.sum = 0
	if kept {
		values.reset(s.parts, positions.boardsOf)
	}
	out, err := s.create(sum)
	if err != nil {
		return err
	}
	err = s.writeRecord(ctx, out, valuedBoards, sum, s.first, s.end, func(worker, part int, e *encoder) error {
		known := new(lookup)
		if kept {
			known = &values.parts[part]
			clear(known.slots)
		}
		return positions.readPart(ctx, part, &s.scratch[worker].scratch, func(_ *blockView, boards []uint64) error {
			e.values, e.moves = e.values[:0], e.moves[:0]
			for _, b := range boards {
				value, moves, err := s.best(b, s.afters.parts)
				if err != nil {
					return err
				}
				e.values, e.moves = append(e.values, value), append(e.moves, moves)
				if kept {
					known.add(b, value)
				}
			}
			e.addBlock(blockEntries{boards, e.values, e.moves})
			return nil
		})
	})
	if err == nil && kept {
		values.sum = sum
	}
	return err
}

// create creates the record of a layer's values.
func (s *solver) create(sum int) (sink, error) {
	if s.singleProcess() {
		return s.table.create(sum)
	}
	return s.store.create(s.ownName(valuesName, sum))
}

// joinLayer copies a layer that several processes have valued to the table, unless the table has it.
func (s *solver) joinLayer(l *layer) error {
	if l == nil || s.joinedTable == nil || s.joinedTable.next(s.lastSum) < l.sum {
		return nil
	}
	if next := s.joinedTable.next(s.lastSum); next != l.sum {
		return fmt.Errorf("layer %d is missing from the table and was already removed: delete the directory and start again", next)
	}
	out, err := s.joinedTable.create(l.sum)
	if err != nil {
		return err
	}
	w := &recordWriter{header: header{kind: valuedBoards, sum: uint32(l.sum)}, out: out}
	for _, r := range l.records {
		if err := w.copyRecord(r); err != nil {
			return errors.Join(err, out.abandon())
		}
	}
	return w.finish()
}

// dropUnneeded removes the records that no process needs any more.
func (s *solver) dropUnneeded(sum int) error {
	var err error
	later := sum+4 > lastStart
	switch {
	case !s.singleProcess():
		// All processes have valued the afterstates of this sum, so they do not need the afterstates of sum+2 any more.
		err = s.removeOwn(afterValuesName, sum+2)
		if later {
			err = errors.Join(err, s.removeOwn(valuesName, sum+4))
		}
	case later:
		err = s.table.forget(sum + 4)
	}
	if s.keepRecords {
		return err
	}
	return errors.Join(err, s.removeOwn(positionsName, sum), s.removeOwn(aftersName, sum))
}
