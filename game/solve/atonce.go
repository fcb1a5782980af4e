package solve

import "context"

// valueAtOnce values a layer with all values it depends on in memory.
func (s *solver) valueAtOnce(ctx context.Context, w *recordWriter, positions, afters *record, next nextLayers) error {
	values, err := s.loadBoth(ctx, next)
	if err != nil {
		return err
	}
	s.afters.reset(afters.count)
	if err := s.valueAfters(ctx, afters, &values); err != nil {
		return err
	}
	return s.valuePositions(ctx, w, positions, 0, positions.blocks())
}

// loadBoth returns the values of layers.
func (s *solver) loadBoth(ctx context.Context, next nextLayers) (values [2]*lookup, err error) {
	for i, r := range next {
		layer := &s.values[r.sum/2%2] // the other one is the layer next to it
		if err := s.load(ctx, layer, r); err != nil {
			return values, err
		}
		values[i] = &layer.lookup
	}
	return values, nil
}

// load fills layer with the values of a record, unless it has them already.
func (s *solver) load(ctx context.Context, layer *valueLayer, r *record) error {
	if layer.sum == int(r.sum) {
		return nil
	}
	layer.sum = 0
	layer.reset(r.count)
	err := forEach(ctx, s.workers, r.parts(), func(worker, part int) error {
		lo, hi := r.part(part)
		return r.read(lo, hi, &s.scratch[worker], func(v *blockView, boards []uint64) error {
			for i, b := range boards {
				value, ok := v.value(i)
				if !ok {
					return r.malformed(lo)
				}
				layer.add(b, value)
			}
			return nil
		})
	})
	if err == nil {
		layer.sum = int(r.sum)
	}
	return err
}

// valueAfters puts the values of all afterstates of a layer into s.afters.
func (s *solver) valueAfters(ctx context.Context, afters *record, next *[2]*lookup) error {
	return forEach(ctx, s.workers, afters.parts(), func(worker, part int) error {
		lo, hi := afters.part(part)
		return afters.read(lo, hi, &s.scratch[worker], func(_ *blockView, boards []uint64) error {
			for _, b := range boards {
				value, err := s.mean(b, next)
				if err != nil {
					return err
				}
				s.afters.add(b, value)
			}
			return nil
		})
	})
}

// valuePositions writes the values and best moves of the positions of blocks lo to hi, given the values of their afterstates in s.afters.
// lo is the first block of a part.
func (s *solver) valuePositions(ctx context.Context, w *recordWriter, positions *record, lo, hi int) error {
	return w.write(ctx, lo/partBlocks, (hi+partBlocks-1)/partBlocks, func(worker, part int, e *encoder) error {
		lo, hi := positions.part(part)
		return positions.read(lo, hi, &s.scratch[worker], func(_ *blockView, boards []uint64) error {
			e.values, e.moves = e.values[:0], e.moves[:0]
			for _, b := range boards {
				value, moves, err := s.best(b, &s.afters)
				if err != nil {
					return err
				}
				e.values, e.moves = append(e.values, value), append(e.moves, moves)
			}
			e.block(entries{boards, e.values, e.moves})
			return nil
		})
	})
}
