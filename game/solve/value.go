package solve

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/game"
)

// valueLayer values the positions of a sum from the two layers above it.
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
	kept := s.keeps(sum)
	if !kept {
		s.values = [2]valueLayer{}
	}
	if s.alone() {
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
	s.valued += s.size(sum).Positions
	s.report(Progress{Valuing: true, Sum: sum, Positions: s.valued, Total: s.stats.Positions})
	return errors.Join(s.dropUnneeded(sum), s.memory.check(s.store.size(), sum))
}

// openNext opens the valued layers that a layer depends on. Layers above the last one are nil.
func (s *solver) openNext(ctx context.Context, sum int) (next adjacent, err error) {
	for exp := 1; exp <= 2; exp++ {
		if next[exp-1], err = s.openValues(ctx, sum+2*exp); err != nil {
			return next, err
		}
	}
	return next, nil
}

// openValues opens a valued layer.
func (s *solver) openValues(ctx context.Context, sum int) (*layer, error) {
	if sum > s.top {
		return nil, nil
	}
	if !s.alone() {
		return s.open(ctx, valuesName, sum)
	}
	r, err := s.table.open(sum)
	if err != nil {
		return nil, err
	}
	r.order = s.order()
	return &layer{records: []*record{r}, owners: s.owners, sum: sum, count: r.count}, nil
}

// keeps reports whether the values of two layers fit the memory while a layer is valued. If they do not, each part is read again for
// each of the few parts that depend on it.
func (s *solver) keeps(sum int) bool {
	if !s.alone() {
		return false
	}
	layer, first, second := s.size(sum), s.size(sum+2), s.size(sum+4)
	needed := first.Positions + max(layer.Positions, second.Positions) + layer.Afterstates
	return needed <= s.memory.values(s.store.size())/lookupBytes
}

// valueAfters puts the values of all afterstates of a layer into s.afters.
func (s *solver) valueAfters(ctx context.Context, afters *record, kept bool) error {
	next, err := s.openNext(ctx, int(afters.sum))
	defer next.close()
	if err != nil {
		return err
	}
	s.afters.reset(s.parts, afters.boardsOf)
	for _, l := range next {
		if kept && l != nil {
			if err := s.loadKept(ctx, l); err != nil {
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

// exchangeAfters is valueAfters for several processes: each computes the values of its parts, and loads those of all.
func (s *solver) exchangeAfters(ctx context.Context, afters *record) error {
	sum := int(afters.sum)
	there, err := s.has(afterValuesName, sum)
	if err == nil && !there { // if they are, other processes may have removed the layers that they are computed from
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
			e.block(entries{boards, values, noMoves[:len(boards)]})
		})
	})
}

// valueBlocks computes the values of the afterstates of a part, and calls do for each block.
func (s *solver) valueBlocks(
	ctx context.Context, w *worker, part int, afters *record, next adjacent, kept bool, do func(boards []uint64, values []float64),
) error {
	if lo, hi := afters.part(part); lo == hi {
		return nil
	}
	if err := s.loadNext(ctx, w, part, next, kept); err != nil {
		return err
	}
	values := make([]float64, 0, blockBoards)
	return afters.readPart(ctx, part, &w.scratch, func(_ *blockView, boards []uint64) error {
		values = values[:0]
		for _, b := range boards {
			value, err := s.mean(b, &w.values)
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
func (s *solver) loadNext(ctx context.Context, w *worker, part int, next adjacent, kept bool) error {
	for i, l := range next {
		for group, cells := range s.groups(s.cells) {
			if cells == 0 {
				continue
			}
			to := s.with(part, group, i+1)
			if l != nil && kept {
				w.values[i][group] = s.keptValues(l.sum).parts[to]
				continue
			}
			own := &w.ownValues[i][group]
			own.reset(0)
			if l != nil {
				r := l.of(to)
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

// keptValues returns the place for the values of a layer; it replaces the layer two above.
func (s *solver) keptValues(sum int) *valueLayer { return &s.values[sum/2%2] }

// loadKept loads the values of a layer that is kept, unless they are loaded already.
func (s *solver) loadKept(ctx context.Context, l *layer) error {
	to := s.keptValues(l.sum)
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

// loadAll loads the values of a layer into lookups.
func (s *solver) loadAll(ctx context.Context, to *lookups, l *layer) error {
	to.reset(s.parts, func(part int) int { return l.of(part).boardsOf(part) })
	return forEach(ctx, s.workers, s.parts, func(worker, part int) error {
		clear(to.parts[part].slots)
		return l.of(part).load(ctx, part, &to.parts[part], &s.scratch[worker].scratch)
	})
}

// load adds the values of a part to a lookup.
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

// valuePositions values the positions of this process from the values of all afterstates in s.afters, and writes them.
func (s *solver) valuePositions(ctx context.Context, sum int, positions *record, kept bool) error {
	values := s.keptValues(sum)
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
			e.block(entries{boards, e.values, e.moves})
			return nil
		})
	})
	if err == nil && kept {
		values.sum = sum
	}
	return err
}

// create starts the record of a layer's values.
func (s *solver) create(sum int) (sink, error) {
	if s.alone() {
		return s.table.create(sum)
	}
	return s.store.create(s.ownName(valuesName, sum))
}

// joinLayer adds a layer that several processes have valued to the table, unless the table has it.
func (s *solver) joinLayer(l *layer) error {
	if l == nil || s.joinedTable == nil || s.joinedTable.next(s.top) < l.sum {
		return nil
	}
	if next := s.joinedTable.next(s.top); next != l.sum {
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

// dropUnneeded removes the records that neither this nor another process needs any more.
func (s *solver) dropUnneeded(sum int) error {
	var err error
	later := sum+4 > lastStart
	switch {
	case !s.alone():
		// All processes have valued the afterstates of this sum, so they have read those of sum+2.
		err = s.removeOwn(afterValuesName, sum+2)
		if later {
			err = errors.Join(err, s.removeOwn(valuesName, sum+4))
		}
	case later:
		err = s.table.forget(sum + 4)
	}
	if s.keep {
		return err
	}
	return errors.Join(err, s.removeOwn(positionsName, sum), s.removeOwn(aftersName, sum))
}
