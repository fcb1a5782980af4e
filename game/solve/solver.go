package solve

import (
	"context"
	"fmt"
	"os"

	"tilecheck/internal/shard"
)

// solver enumerates the layers by ascending sums of tiles and values them by descending sums.
//
// A move keeps the sum and a new tile adds 2 or 4. So the positions of sum s follow from the afterstates of sums s-2 and s-4, and the values of the
// afterstates of sum s depend on the positions of sums s+2 and s+4.
//
// Source: Lees-Miller, The Mathematics of 2048: Optimal Play with Markov Decision Processes, appendix B.
type solver struct {
	*expander
	workers     int
	memory      budget
	store       store // positions, afterstates and, with several processes, values
	keepRecords bool  // do not remove layers that are no longer needed
	table       layerTable
	runs        runs

	share          shard.Part
	owners         []int        // the process that owns each part, from 0
	first, end     int          // the parts of this process
	lastSum        int          // sum of the last layer
	joinedTable    *fileTable   // the table that this process assembles from the values of all processes; nil if another one does
	checkPublished func() error // returns an error if another process has completed the table

	scratch  []worker
	values   [2]valueLayer
	afters   lookups
	stats    Stats
	valued   int64 // positions
	progress func(Progress)
}

// layerTable stores the valued positions. The layer of the greatest sum comes first.
type layerTable interface {
	create(sum int) (sink, error)
	// open opens an existing layer.
	open(sum int) (*record, error)
	// forget removes a layer that the solver no longer needs.
	forget(sum int) error
}

// valueLayer has the values of the positions of one layer.
type valueLayer struct {
	lookups
	sum int // 0: no layer
}

// newSolver returns a solver for a problem. It will store layers of boards in layers, and layers of values in table.
func newSolver(opts Options, layers store, table layerTable) (*solver, error) {
	problem, err := opts.Problem()
	if err != nil {
		return nil, err
	}
	moves, err := newExpander(problem)
	if err != nil {
		return nil, err
	}
	result := &solver{
		expander: moves, workers: opts.workers(), memory: budget{opts.Memory}, store: layers, table: table, progress: opts.Progress,
	}
	result.runs.createFile = func() (*os.File, error) { return layers.spill(result.ownName(runName, 0)) }
	result.scratch = newWorkers(result.workers, moves.parts)
	result.assignParts(opts.Process)
	return result, nil
}

// assignParts assigns a range of parts to each process.
func (s *solver) assignParts(process shard.Part) {
	if s.share = process; process.Count == 0 {
		s.share = shard.Part{Index: 1, Count: 1}
	}
	s.owners = make([]int, s.parts)
	for i := range s.share.Count {
		first, end := shard.Part{Index: i + 1, Count: s.share.Count}.Range(int64(s.parts))
		for part := first; part < end; part++ {
			s.owners[part] = i
		}
		if i+1 == s.share.Index {
			s.first, s.end = int(first), int(end)
		}
	}
}

// run solves the problem from the start.
func (s *solver) run(ctx context.Context) error {
	enumerated, err := s.enumerate(ctx, enumeration{next: 2})
	if err != nil {
		return err
	}
	s.lastSum = enumerated.next - 2
	return s.valueFrom(ctx, s.lastSum)
}

// valueFrom computes the values of the layers from a sum down to 4, and then the value of the game.
func (s *solver) valueFrom(ctx context.Context, sum int) error {
	for above := s.lastSum; above > sum; above -= 2 {
		s.valued += s.layerSizes(above).Positions
	}
	s.scratch = newWorkers(s.workers, s.parts) // release the large buffers of the enumeration
	s.reserveValues()
	for ; sum >= 4; sum -= 2 {
		if err := s.valueLayer(ctx, sum); err != nil {
			return fmt.Errorf("value layer %d: %w", sum, err)
		}
	}
	var err error
	s.stats.Initial, err = s.initial(ctx)
	return err
}

// reserveValues allocates memory for the values of the largest cached layers in advance.
func (s *solver) reserveValues() {
	positions := int64(0)
	for _, layer := range s.stats.Layers {
		if s.keepsValues(layer.Sum) {
			positions = max(positions, layer.Positions)
		}
	}
	for i := range s.values {
		s.values[i].slots = make([]slot, 0, slotsFor(int(positions))+s.parts)
	}
}

// lastStart is the greatest sum of an initial board.
const lastStart = 8

// layerSizes returns the sizes of a layer, 0 if it does not exist.
func (s *solver) layerSizes(sum int) Layer {
	for _, layer := range s.stats.Layers {
		if layer.Sum == sum {
			return layer
		}
	}
	return Layer{Sum: sum}
}

func (s *solver) notifyProgress(p Progress) {
	if s.progress != nil {
		s.progress(p)
	}
}

// initial returns the value of the empty board, before its first two random tiles.
func (s *solver) initial(ctx context.Context) (float64, error) {
	var firstTiles nextValues
	for exponent := 1; exponent <= 2; exponent++ {
		values := &firstTiles[exponent-1][0]
		values.reset(s.problem.Shape.Cells())
		firstTiles[exponent-1][1] = *values
		if !s.canSpawn(exponent) {
			continue
		}
		next, err := s.openNext(ctx, 2*exponent)
		defer next.close()
		if err != nil {
			return 0, err
		}
		for _, board := range s.spawn(nil, 0, exponent, s.cells) {
			if _, isKnown := values.get(board); isKnown {
				continue
			}
			if err := s.loadNext(ctx, &s.scratch[0], s.partOf(board), next, false); err != nil {
				return 0, err
			}
			value, err := s.spawned(board, &s.scratch[0].values)
			if err != nil {
				return 0, err
			}
			values.add(board, value)
		}
	}
	return s.spawned(0, &firstTiles)
}
