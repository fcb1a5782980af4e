package solve

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/game"
	"tilecheck/internal/parallel"
)

// valueLayer computes the values of the positions with a sum of tiles, from the values in the two layers with greater sums.
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
	keepsValues := s.keepsValues(sum)
	if !keepsValues {
		s.values = [2]valueLayer{}
	}
	if s.singleProcess() {
		err = s.valueAfters(ctx, afters, keepsValues)
	} else {
		err = s.exchangeAfters(ctx, afters)
	}
	if err != nil {
		return err
	}
	if err := s.computePositionValues(ctx, sum, positions, keepsValues); err != nil {
		return err
	}
	s.valued += s.layerSizes(sum).Positions
	s.notifyProgress(Progress{Valuing: true, Sum: sum, Positions: s.valued, Total: s.stats.Positions})
	return errors.Join(s.dropUnneeded(sum), s.memory.check(s.store.size(), sum))
}

// openNext opens the two layers of values that a layer depends on. A layer above the last one is nil.
func (s *solver) openNext(ctx context.Context, sum int) (next adjacentLayers, err error) {
	for exponent := 1; exponent <= 2; exponent++ {
		if next[exponent-1], err = s.openValues(ctx, sum+2*exponent); err != nil {
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
	opened, err := s.table.open(sum)
	if err != nil {
		return nil, err
	}
	opened.order = s.order()
	return &layer{records: []*record{opened}, owners: s.owners, sum: sum, count: opened.count}, nil
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
func (s *solver) valueAfters(ctx context.Context, afters *record, keepsValues bool) error {
	next, err := s.openNext(ctx, int(afters.sum))
	defer next.close()
	if err != nil {
		return err
	}
	s.afters.reset(s.parts, afters.boardsOf)
	for _, above := range next {
		if keepsValues && above != nil {
			if err := s.loadCached(ctx, above); err != nil {
				return err
			}
		}
	}
	return parallel.ForEach(ctx, s.workers, s.parts, func(worker, part int) error {
		stored := &s.afters.parts[part]
		clear(stored.slots)
		return s.valueBlocks(ctx, &s.scratch[worker], part, afters, next, keepsValues, func(boards []uint64, values []float64) {
			for i, board := range boards {
				stored.add(board, values[i])
			}
		})
	})
}

// exchangeAfters does the work of valueAfters with several processes. Each process computes the values of its own parts, and then reads the values of
// all parts.
func (s *solver) exchangeAfters(ctx context.Context, afters *record) error {
	sum := int(afters.sum)
	exists, err := s.hasOwn(afterValuesName, sum)
	if err == nil && !exists { // if the values exist, other processes may already have removed the layers that they depend on
		err = s.writeAfters(ctx, afters)
	}
	if err != nil {
		return err
	}
	opened, err := s.open(ctx, afterValuesName, sum)
	if err != nil {
		return err
	}
	defer opened.close()
	return s.loadAll(ctx, &s.afters, opened)
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
	return s.writeStored(ctx, afterValuesName, valuedBoards, sum, s.first, s.end, func(worker, part int, encoder *encoder) error {
		return s.valueBlocks(ctx, &s.scratch[worker], part, afters, next, false, func(boards []uint64, values []float64) {
			encoder.addBlock(blockEntries{boards, values, noMoves[:len(boards)]})
		})
	})
}

// valueBlocks computes the values of the afterstates of a part, and calls visit with the boards and the values of each block.
func (s *solver) valueBlocks(
	ctx context.Context, worker *worker, part int, afters *record, next adjacentLayers, keepsValues bool, visit func(boards []uint64, values []float64),
) error {
	if first, end := afters.blocksOfPart(part); first == end {
		return nil
	}
	if err := s.loadNext(ctx, worker, part, next, keepsValues); err != nil {
		return err
	}
	values := make([]float64, 0, blockBoards)
	return afters.readPart(ctx, part, &worker.scratch, func(_ *blockView, boards []uint64) error {
		values = values[:0]
		for _, board := range boards {
			value, err := s.spawned(board, &worker.values)
			if err != nil {
				return err
			}
			values = append(values, value)
		}
		visit(boards, values)
		return nil
	})
}

// loadNext sets worker.values to the values of the positions that can follow the afterstates of a part.
func (s *solver) loadNext(ctx context.Context, worker *worker, part int, next adjacentLayers, keepsValues bool) error {
	for i, nextLayer := range next {
		for group, cells := range s.groups(s.cells) {
			if cells == 0 {
				continue
			}
			target := s.partAfterTile(part, group, i+1)
			if nextLayer != nil && keepsValues {
				worker.values[i][group] = s.cachedValues(nextLayer.sum).parts[target]
				continue
			}
			ownValues := &worker.ownValues[i][group]
			ownValues.reset(0)
			if nextLayer != nil {
				source := nextLayer.recordOf(target)
				ownValues.reset(source.boardsOf(target))
				if err := source.load(ctx, target, ownValues, &worker.scratch); err != nil {
					return err
				}
			}
			worker.values[i][group] = *ownValues
		}
	}
	return nil
}

// cachedValues returns the cache for the values of a layer. It is also the cache of the layer with the sum plus 4, which it replaces.
func (s *solver) cachedValues(sum int) *valueLayer { return &s.values[sum/2%2] }

// loadCached loads the values of a layer into its cache, unless they are there.
func (s *solver) loadCached(ctx context.Context, loaded *layer) error {
	target := s.cachedValues(loaded.sum)
	if target.sum == loaded.sum {
		return nil
	}
	target.sum = 0
	err := s.loadAll(ctx, &target.lookups, loaded)
	if err == nil {
		target.sum = loaded.sum
	}
	return err
}

// loadAll loads the values of a layer into a lookup for each part.
func (s *solver) loadAll(ctx context.Context, to *lookups, l *layer) error {
	to.reset(s.parts, func(part int) int { return l.recordOf(part).boardsOf(part) })
	return parallel.ForEach(ctx, s.workers, s.parts, func(worker, part int) error {
		clear(to.parts[part].slots)
		return l.recordOf(part).load(ctx, part, &to.parts[part], &s.scratch[worker].scratch)
	})
}

// load adds the values of a part of the record to a lookup.
func (r *record) load(ctx context.Context, part int, values *lookup, buffer *scratch) error {
	return r.readPart(ctx, part, buffer, func(view *blockView, boards []uint64) error {
		for i, board := range boards {
			value, ok := view.value(i)
			if !ok {
				return errPalette
			}
			values.add(board, value)
		}
		return nil
	})
}

// computePositionValues computes the values of the positions of this process from the values of all afterstates in s.afters, and writes them.
func (s *solver) computePositionValues(ctx context.Context, sum int, positions *record, keepsValues bool) error {
	values := s.cachedValues(sum)
	values.sum = 0
	if keepsValues {
		values.reset(s.parts, positions.boardsOf)
	}
	target, err := s.create(sum)
	if err != nil {
		return err
	}
	err = s.writeRecord(ctx, target, valuedBoards, sum, s.first, s.end, func(worker, part int, encoder *encoder) error {
		cached := new(lookup)
		if keepsValues {
			cached = &values.parts[part]
			clear(cached.slots)
		}
		return positions.readPart(ctx, part, &s.scratch[worker].scratch, func(_ *blockView, boards []uint64) error {
			encoder.values, encoder.moves = encoder.values[:0], encoder.moves[:0]
			for _, board := range boards {
				value, moves, err := s.best(board, s.afters.parts)
				if err != nil {
					return err
				}
				encoder.values, encoder.moves = append(encoder.values, value), append(encoder.moves, moves)
				if keepsValues {
					cached.add(board, value)
				}
			}
			encoder.addBlock(blockEntries{boards, encoder.values, encoder.moves})
			return nil
		})
	})
	if err == nil && keepsValues {
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
func (s *solver) joinLayer(finished *layer) error {
	if finished == nil || s.joinedTable == nil || s.joinedTable.next(s.lastSum) < finished.sum {
		return nil
	}
	if next := s.joinedTable.next(s.lastSum); next != finished.sum {
		return fmt.Errorf("layer %d is missing from the table and was already removed: delete the directory and start again", next)
	}
	target, err := s.joinedTable.create(finished.sum)
	if err != nil {
		return err
	}
	writer := &recordWriter{header: header{kind: valuedBoards, sum: uint32(finished.sum)}, out: target}
	for _, source := range finished.records {
		if err := writer.copyRecord(source); err != nil {
			return errors.Join(err, target.abandon())
		}
	}
	return writer.finish()
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
