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
	workers  int
	memory   budget
	store    store // positions and afterstates, and whatever else is kept in memory
	keep     bool  // they stay when they are not needed any more
	table    layerTable
	runs     runs
	scratch  []worker
	values   [2]valueLayer
	afters   lookups
	stats    Stats
	valued   int64 // positions
	progress func(Progress)
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
	lookups
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
		runs: runs{spill: layers.spill}, scratch: newWorkers(workers, e.parts), progress: opts.Progress,
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
	for ; sum >= 4; sum -= 2 {
		if err := s.valueLayer(ctx, sum); err != nil {
			return fmt.Errorf("value layer %d: %w", sum, err)
		}
	}
	var err error
	s.stats.Initial, err = s.initial()
	return err
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

// writer returns what writes a record.
func (s *solver) writer(out sink, k kind, sum int) *recordWriter {
	return &recordWriter{header: header{kind: k, sum: uint32(sum)}, out: out, workers: s.workers, by: s.numbering}
}

// open opens positions or afterstates.
func (s *solver) open(name string) (*record, error) {
	r, err := s.store.open(name)
	if err == nil {
		r.order = s.order()
	}
	return r, err
}

func (s *solver) report(p Progress) {
	if s.progress != nil {
		s.progress(p)
	}
}

// initial returns the value of the empty board, to which two random tiles come.
func (s *solver) initial() (float64, error) {
	var first nextValues
	for exp := 1; exp <= 2; exp++ {
		known := &first[exp-1][0]
		known.reset(s.problem.Shape.Cells())
		first[exp-1][1] = *known
		if !s.spawns(exp) {
			continue
		}
		next, err := s.openNext(2 * exp)
		defer next.close()
		if err != nil {
			return 0, err
		}
		for _, b := range s.spawn(nil, 0, exp, s.cells) {
			if _, again := known.get(b); again {
				continue
			}
			if err := s.nextOf(&s.scratch[0], s.of(b), next, false); err != nil {
				return 0, err
			}
			value, err := s.mean(b, &s.scratch[0].values)
			if err != nil {
				return 0, err
			}
			known.add(b, value)
		}
	}
	return s.mean(0, &first)
}
