package solve

import (
	"context"

	"tilecheck/internal/shard"
)

// Stats say how large a problem is and what its solution is worth.
type Stats struct {
	Initial     float64 // the value of a game before the two random tiles it starts with
	Positions   int64   // canonical boards with the player to move, without MAX
	Afterstates int64   // canonical boards between a move and the new tile, without MAX
	Layers      []Layer // those that have positions, by sum
}

// leastBounded is the value from which on RelativeError holds: smaller ones may have lost digits to underflow.
const leastBounded = 1e-300

// RelativeError bounds the rounding error of all values from leastBounded on, relative to the true one: all terms are at least 0, so errors do
// not cancel, and a move costs one rounding for each term of a mean and four more.
func (s Stats) RelativeError(p Problem) float64 {
	const u = 0x1p-53
	n := float64(len(s.Layers)+2) * float64(p.Shape.Cells()+4) * u
	return n / (1 - n)
}

// Bounds returns an interval that the value of the game is in. It is not ok where
// numbers underflow, and nothing bounds the error.
func (s Stats) Bounds(p Problem) (low, high float64, ok bool) {
	switch {
	case s.Initial == 0 && p.Discount == 1: // a MAX that cannot be reached is worth 0 without rounding
		return 0, 0, true
	case s.Initial < leastBounded:
		return 0, 0, false
	}
	e := s.RelativeError(p) + 0x1p-50 // and of the two operations here
	low, high = s.Initial/(1+e), s.Initial/(1-e)
	if p.Objective == Win {
		high = min(high, 1)
	}
	return low, high, true
}

// Layer is the positions and afterstates of one sum of tiles.
type Layer struct {
	Sum                    int
	Positions, Afterstates int64
}

// Progress says how far a solution is. Layers of positions are enumerated by ascending sums, then valued by descending sums.
type Progress struct {
	Valuing   bool
	Sum       int   // of the layer that is done
	Positions int64 // enumerated, or valued, so far
	Total     int64 // positions there are; 0 while they are enumerated
}

// Solve returns the solution of a problem as a table in memory.
//
// The errors are those of opts.Problem, ctx.Err, a *MemoryError, and game.ErrOverflow where two tiles of 32768 can meet.
func Solve(ctx context.Context, opts Options) (*Table, Stats, error) {
	opts.Process = shard.Part{}
	layers := memoryStore{}
	table := &memoryTable{records: layers, all: true}
	s, err := newSolver(opts, layers, table)
	if err != nil {
		return nil, Stats{}, err
	}
	if err := s.run(ctx); err != nil {
		return nil, Stats{}, err
	}
	solved, err := table.table(s)
	return solved, s.stats, err
}

// InitialValue solves a problem like Solve and keeps the value of the game only. It takes less memory, and even less when a directory is
// given for the layers: they do not stay there.
func InitialValue(ctx context.Context, opts Options, dir string) (Stats, error) {
	opts.Process = shard.Part{}
	var layers store = memoryStore{}
	if dir != "" {
		layers = dirStore(dir)
	}
	s, err := newSolver(opts, layers, &memoryTable{records: layers})
	if err != nil {
		return Stats{}, err
	}
	err = s.run(ctx)
	return s.stats, err
}
