package solve

import (
	"context"
	"errors"
)

// valueLayer values the positions of a sum, given the two layers after it.
func (s *solver) valueLayer(ctx context.Context, sum int) error {
	positions, err := s.open(positionsName(sum))
	if err != nil {
		return err
	}
	defer positions.Close()
	afters, err := s.open(aftersName(sum))
	if err != nil {
		return err
	}
	defer afters.Close()
	next, err := s.openNext(sum)
	defer next.close()
	if err != nil {
		return err
	}
	kept := s.fits(positions, next[0], afters) && s.fits(next[0], next[1], afters)
	if err := s.valueAfters(ctx, afters, next, kept); err != nil {
		return err
	}
	if err := s.valuePositions(ctx, sum, positions, kept); err != nil {
		return err
	}
	s.valued += int64(positions.count)
	s.report(Progress{Valuing: true, Sum: sum, Positions: s.valued, Total: s.stats.Positions})
	return errors.Join(s.forget(sum), s.memory.check(s.store.size(), sum))
}

// openNext opens the valued layers that a layer depends on. Those beyond the last layer are nil.
func (s *solver) openNext(sum int) (adjacent, error) {
	var next adjacent
	for exp := 1; exp <= 2; exp++ {
		r, err := s.table.open(sum + 2*exp)
		if err == errNoRecord {
			continue
		}
		if err != nil {
			return next, err
		}
		r.order = s.order()
		next[exp-1] = r
	}
	return next, nil
}

// fits reports whether the values of some layers can be in memory at a time.
func (s *solver) fits(layers ...*record) bool {
	boards := uint64(0)
	for _, r := range layers {
		if r != nil {
			boards += r.count
		}
	}
	return int64(boards) <= s.memory.values(s.store.size())/lookupBytes
}

// valueAfters puts the values of all afterstates of a layer into s.afters.
//
// The values of two layers are kept if they fit the memory: otherwise a part is read for each part that depends on it.
func (s *solver) valueAfters(ctx context.Context, afters *record, next adjacent, kept bool) error {
	s.afters.reset(afters, s.parts)
	for i := range s.values {
		if !kept {
			s.values[i] = valueLayer{}
		}
	}
	for _, r := range next {
		if kept && r != nil {
			if err := s.load(ctx, r); err != nil {
				return err
			}
		}
	}
	return forEach(ctx, s.workers, s.parts, func(worker, part int) error {
		w := &s.scratch[worker]
		if lo, hi := afters.part(part); lo == hi {
			return nil
		}
		if err := s.nextOf(w, part, next, kept); err != nil {
			return err
		}
		known := &s.afters.parts[part]
		clear(known.slots)
		return afters.readPart(part, &w.scratch, func(_ *blockView, boards []uint64) error {
			for _, b := range boards {
				value, err := s.mean(b, &w.values)
				if err != nil {
					return err
				}
				known.add(b, value)
			}
			return nil
		})
	})
}

// nextOf finds the values that the afterstates of a part depend on.
func (s *solver) nextOf(w *worker, part int, next adjacent, kept bool) error {
	for i, r := range next {
		for group := range s.steps {
			to := s.with(part, group, i+1)
			if r != nil && kept {
				w.values[i][group] = s.kept(int(r.sum)).parts[to]
				continue
			}
			own := &w.own[i][group]
			if r == nil {
				own.reset(0)
			} else {
				own.reset(r.boardsOf(to))
				if err := r.load(to, own, &w.scratch); err != nil {
					return err
				}
			}
			w.values[i][group] = *own
		}
	}
	return nil
}

// kept returns where the values of a layer are kept, in the place of those of the layer after the next.
func (s *solver) kept(sum int) *valueLayer { return &s.values[sum/2%2] }

// load puts the values of a record into s.values, unless they are there already.
func (s *solver) load(ctx context.Context, r *record) error {
	layer := s.kept(int(r.sum))
	if layer.sum == int(r.sum) {
		return nil
	}
	layer.sum = 0
	layer.reset(r, s.parts)
	err := forEach(ctx, s.workers, s.parts, func(worker, part int) error {
		clear(layer.parts[part].slots)
		return r.load(part, &layer.parts[part], &s.scratch[worker].scratch)
	})
	if err == nil {
		layer.sum = int(r.sum)
	}
	return err
}

// load adds the values of a part to a lookup.
func (r *record) load(part int, to *lookup, s *scratch) error {
	return r.readPart(part, s, func(v *blockView, boards []uint64) error {
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

// valuePositions adds a layer to the table, given the values of its afterstates in s.afters, and keeps its values.
func (s *solver) valuePositions(ctx context.Context, sum int, positions *record, kept bool) error {
	values := s.kept(sum)
	values.sum = 0
	if kept {
		values.reset(positions, s.parts)
	}
	out, err := s.table.create(sum)
	if err != nil {
		return err
	}
	w := s.writer(out, valuedBoards, sum)
	err = w.write(ctx, s.parts, func(worker, part int, e *encoder) error {
		var known *lookup
		if kept {
			known = &values.parts[part]
			clear(known.slots)
		}
		return positions.readPart(part, &s.scratch[worker].scratch, func(_ *blockView, boards []uint64) error {
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
	if err == nil {
		err = w.finish()
	}
	if err != nil {
		return errors.Join(err, out.abandon())
	}
	if kept {
		values.sum = sum
	}
	return nil
}
