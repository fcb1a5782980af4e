package solve

import (
	"context"
	"errors"
	"fmt"
)

// solver enumerates the layers by ascending sums of tiles and values them by descending sums.
//
// A move keeps the sum and a new tile adds 2 or 4 to it, so positions of sum s come from afterstates of sums s-2 and s-4, and their values
// depend on positions of sums s+2 and s+4.
//
// Source: Lees-Miller, The Mathematics of 2048: Optimal Play with Markov Decision Processes, appendix B.
type solver struct {
	*expander
	workers   int
	memory    budget
	store     store // positions and afterstates, and whatever else is kept in memory
	keep      bool  // they stay when they are not needed any more
	table     layerTable
	collector *collector
	scratch   []scratch // by worker
	values    [2]valueLayer
	afters    lookup
	stats     Stats
	valued    int64 // positions
	progress  func(Progress)
}

// layerTable takes the valued positions, the layer of the greatest sum first.
type layerTable interface {
	create(sum int) (sink, error)
	// open opens a layer; the error is errNoRecord where there is none.
	open(sum int) (*record, error)
	// forget says that the solver does not need a layer any more.
	forget(sum int) error
}

// valueLayer is the values of the positions of one layer.
type valueLayer struct {
	lookup
	sum int // 0 for none
}

func newSolver(opts Options, layers store, table layerTable) (*solver, error) {
	problem, err := opts.Problem()
	if err != nil {
		return nil, err
	}
	e, err := newExpander(problem)
	if err != nil {
		return nil, err
	}
	workers := opts.workers()
	return &solver{
		expander: e, workers: workers, memory: budget{opts.Memory}, store: layers, table: table,
		collector: newCollector(workers, layers), scratch: make([]scratch, workers), progress: opts.Progress,
	}, nil
}

// run solves the problem from the start.
func (s *solver) run(ctx context.Context) error {
	all, err := s.enumerate(ctx, enumeration{next: 2})
	if err != nil {
		return err
	}
	return s.valueFrom(ctx, all.next-2)
}

// valueFrom values the layers from sum down, and the game.
func (s *solver) valueFrom(ctx context.Context, sum int) error {
	s.reserve()
	for ; sum >= 4; sum -= 2 {
		if err := s.valueLayer(ctx, sum); err != nil {
			return fmt.Errorf("value layer %d: %w", sum, err)
		}
	}
	var err error
	s.stats.Initial, err = s.initial(ctx)
	return err
}

// reserve makes room for the values of the largest layers that fit the memory, so that it is not asked for bit by bit.
func (s *solver) reserve() {
	var positions, afters int64
	for _, l := range s.stats.Layers {
		if 2*l.Positions+l.Afterstates <= s.memory.values(s.store.size())/lookupBytes {
			positions, afters = max(positions, l.Positions), max(afters, l.Afterstates)
		}
	}
	for i := range s.values {
		s.values[i].reset(uint64(positions))
	}
	s.afters.reset(uint64(afters))
}

// valueLayer values the positions of a sum, given the two layers after it.
func (s *solver) valueLayer(ctx context.Context, sum int) error {
	positions, err := s.store.open(positionsName(sum))
	if err != nil {
		return err
	}
	defer positions.Close()
	afters, err := s.store.open(aftersName(sum))
	if err != nil {
		return err
	}
	defer afters.Close()
	next, err := s.openNext(sum)
	defer next.close()
	if err != nil {
		return err
	}
	fill := s.valueAtOnce
	if needed := next[0].count + next[1].count + afters.count; int64(needed) > s.memory.values(s.store.size())/lookupBytes {
		fill = s.valueInParts
	}
	if err := s.writeLayer(ctx, sum, func(w *recordWriter) error { return fill(ctx, w, positions, afters, next) }); err != nil {
		return err
	}
	s.valued += int64(positions.count)
	s.report(Progress{Valuing: true, Sum: sum, Positions: s.valued, Total: s.stats.Positions})
	return errors.Join(s.forget(sum), s.memory.check(s.store.size(), sum))
}

// nextLayers are the valued layers that a layer depends on: those with one more 2 and with one more 4.
type nextLayers [2]*record

func (s *solver) openNext(sum int) (nextLayers, error) {
	var next nextLayers
	for i := range next {
		r, err := s.table.open(sum + 2 + 2*i)
		if err == errNoRecord { // beyond the last layer
			r, err = &record{header: header{sum: uint32(sum + 2 + 2*i)}}, nil
		}
		if err != nil {
			return next, err
		}
		next[i] = r
	}
	return next, nil
}

func (n nextLayers) close() {
	for _, r := range n {
		_ = r.Close() // only read
	}
}

// writeLayer adds a layer to the table.
func (s *solver) writeLayer(ctx context.Context, sum int, fill func(w *recordWriter) error) error {
	out, err := s.table.create(sum)
	if err != nil {
		return err
	}
	w := newRecordWriter(out, valuedBoards, sum, s.workers)
	if err = fill(w); err == nil {
		err = w.finish()
	}
	if err != nil {
		return errors.Join(err, out.abandon())
	}
	return nil
}

// lastStart is the greatest sum of a board that a game starts with.
const lastStart = 8

// forget drops what neither layers below sum nor the value of the game need.
func (s *solver) forget(sum int) error {
	var err error
	if sum+4 > lastStart {
		err = s.table.forget(sum + 4)
	}
	if s.keep {
		return err
	}
	return errors.Join(err, s.store.remove(positionsName(sum)), s.store.remove(aftersName(sum)))
}

func (s *solver) report(p Progress) {
	if s.progress != nil {
		s.progress(p)
	}
}

// initial returns the value of the empty board, to which two random tiles come.
func (s *solver) initial(ctx context.Context) (float64, error) {
	first := [2]*lookup{new(lookup), new(lookup)}
	for exp := 1; exp <= 2; exp++ {
		known := first[exp-1]
		known.reset(uint64(s.problem.Shape.Cells()))
		if !s.spawns(exp) {
			continue
		}
		next, err := s.openNext(2 * exp)
		defer next.close()
		if err != nil {
			return 0, err
		}
		values, err := s.loadBoth(ctx, next)
		if err != nil {
			return 0, err
		}
		boards, err := s.spawn(exp)(nil, []uint64{0})
		if err != nil {
			return 0, err
		}
		for _, b := range boards {
			if _, again := known.get(b); again {
				continue
			}
			value, err := s.mean(b, &values)
			if err != nil {
				return 0, err
			}
			known.add(b, value)
		}
	}
	return s.mean(0, &first)
}
