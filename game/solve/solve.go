package solve

import (
	"context"

	"tilecheck/internal/shard"
)

// Stats have the sizes of a problem and its value.
type Stats struct {
	Initial     float64 // the value of a game before the two random tiles it starts with
	Positions   int64   // canonical boards with the player to move, without MAX
	Afterstates int64   // canonical boards between a move and the new tile, without MAX
	Layers      []Layer // the layers that have positions, by sum
}

// leastBounded is the smallest value for which RelativeError holds; smaller ones may have lost digits by underflow.
const leastBounded = 1e-300

// RelativeError bounds the relative rounding error of all values from leastBounded on. All terms are non-negative, so errors do not grow by
// cancellation. Each move adds one rounding for each term of a mean and four more.
func (s Stats) RelativeError(p Problem) float64 {
	const u = 0x1p-53
	n := float64(len(s.Layers)+2) * float64(p.Shape.Cells()+4) * u
	return n / (1 - n)
}

// Bounds returns an interval that contains the value of the game. ok is false if the value may have suffered from underflow, so that its error
// has no bound.
func (s Stats) Bounds(problem Problem) (low, high float64, ok bool) {
	switch {
	case s.Initial == 0 && problem.Discount == 1: // MAX cannot be reached, so every value is 0 without rounding
		return 0, 0, true
	case problem.Against == Worst && problem.Objective == Win && problem.Discount == 1: // all values are 0 or 1
		return s.Initial, s.Initial, true
	case s.Initial < leastBounded:
		return 0, 0, false
	}
	errorBound := s.RelativeError(problem) + 0x1p-50 // and the error of the two divisions here
	low, high = s.Initial/(1+errorBound), s.Initial/(1-errorBound)
	if problem.Objective == Win {
		high = min(high, 1)
	}
	return low, high, true
}

// Layer has the numbers of positions and afterstates of one sum of tiles.
type Layer struct {
	Sum                    int
	Positions, Afterstates int64
}

// Progress is the progress of a solver. It enumerates layers of positions by ascending sums, and then values them by descending sums.
type Progress struct {
	Valuing   bool
	Sum       int   // sum of the layer that was completed
	Positions int64 // number of positions enumerated, or valued, so far
	Total     int64 // number of all positions; 0 during the enumeration
}

// Solve returns the solution of a problem as a table in memory.
//
// The error is an error of opts.Problem or of ctx, a *MemoryError, or game.ErrOverflow if two tiles of 32768 can meet.
func Solve(ctx context.Context, opts Options) (*Table, Stats, error) {
	opts.Process = shard.Part{}
	layers := memoryStore{}
	table := &memoryTable{records: layers, all: true}
	solver, err := newSolver(opts, layers, table)
	if err != nil {
		return nil, Stats{}, err
	}
	if err := solver.run(ctx); err != nil {
		return nil, Stats{}, err
	}
	solved, err := table.table(solver)
	return solved, solver.stats, err
}

// InitialValue solves a problem like Solve, but returns the statistics only. It takes less memory, and even less if dir is a directory, which it uses
// for layers. It removes them afterwards.
func InitialValue(ctx context.Context, opts Options, dir string) (Stats, error) {
	opts.Process = shard.Part{}
	var layers store = memoryStore{}
	if dir != "" {
		layers = dirStore(dir)
	}
	solver, err := newSolver(opts, layers, &memoryTable{records: layers})
	if err != nil {
		return Stats{}, err
	}
	err = solver.run(ctx)
	return solver.stats, err
}
