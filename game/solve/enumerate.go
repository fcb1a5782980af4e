package solve

import (
	"context"
	"fmt"
)

func positionsName(sum int) string { return fmt.Sprintf("positions-%d", sum) }
func aftersName(sum int) string    { return fmt.Sprintf("afterstates-%d", sum) }

// enumeration is how far the layers have been made.
type enumeration struct {
	next  int // the sum of the first layer that is not there
	empty int // how many layers directly below it have no afterstates: two mean that there is nothing more
}

// done reports whether all layers are there.
func (e enumeration) done() bool { return e.empty == 2 }

// add counts the next layer.
func (e *enumeration) add(l Layer) {
	e.empty++
	if l.Afterstates > 0 || l.Sum <= 4 { // a game starts from afterstates of sums 2 and 4, of which one may be impossible
		e.empty = 0
	}
	e.next = l.Sum + 2
}

// enumerate makes the layers that are not there yet.
func (s *solver) enumerate(ctx context.Context, e enumeration) (enumeration, error) {
	for !e.done() {
		l, err := s.enumerateLayer(ctx, e.next)
		if err != nil {
			return e, fmt.Errorf("enumerate layer %d: %w", e.next, err)
		}
		e.add(l)
		s.count(l)
	}
	return e, nil
}

// count adds a layer to the sizes.
func (s *solver) count(l Layer) {
	s.stats.Afterstates += l.Afterstates
	s.stats.Positions += l.Positions
	if l.Positions > 0 {
		s.stats.Layers = append(s.stats.Layers, l)
	}
	s.report(Progress{Sum: l.Sum, Positions: s.stats.Positions})
}

// enumerateLayer makes the positions and the afterstates of a sum, given the afterstates of the two layers before.
func (s *solver) enumerateLayer(ctx context.Context, sum int) (Layer, error) {
	l := Layer{Sum: sum}
	s.collector.setLimit(s.memory.runs(s.store.size()))
	for exp := 1; exp <= 2; exp++ {
		if from := sum - 2*exp; from >= 2 && s.spawns(exp) {
			if err := s.expand(ctx, aftersName(from), s.spawn(exp)); err != nil {
				return l, err
			}
		}
	}
	var err error
	if l.Positions, err = s.collector.finish(ctx, positionsName(sum), sum); err != nil {
		return l, err
	}
	if err := s.expand(ctx, positionsName(sum), s.after); err != nil {
		return l, err
	}
	// A game starts with two random tiles: the boards with the first are as good as afterstates.
	if exp := sum / 2; exp <= 2 && s.spawns(exp) {
		if err := s.collector.addBoards(ctx, 0, []uint64{0}, s.spawn(exp)); err != nil {
			return l, err
		}
	}
	if l.Afterstates, err = s.collector.finish(ctx, aftersName(sum), sum); err != nil {
		return l, err
	}
	return l, s.memory.check(s.store.size(), sum)
}

// expand gives the successors of all boards of a record to the collector.
func (s *solver) expand(ctx context.Context, name string, by expansion) error {
	r, err := s.store.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	return s.collector.addBlocks(ctx, r, 0, r.blocks(), by)
}
