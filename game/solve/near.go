package solve

import (
	"context"
	"errors"
	"math/bits"
	"runtime"
	"slices"

	"tilecheck/game"
	"tilecheck/internal/parallel"
)

// Near says which moves are near the best one: those that lose at most Loss of its value or, if Relative, at most that share of it. A move that
// exceeds the limit by no more than the rounding error counts as near.
type Near struct {
	Loss     float64
	Relative bool
}

// allows reports whether a move is near the best one. share is the largest relative rounding error of the values.
func (n Near) allows(best, value, share float64) bool {
	limit := n.Loss
	if n.Relative {
		limit *= best
	}
	return best-value <= limit+4*share*best
}

// Near returns the moves of a board that are near the best one, and one of the best moves as a replacement for other moves. It is the best move that
// comes first on the canonical board, so symmetric boards get symmetric replacements. On a won board all legal moves are near. ok is false if the
// values of the moves are not available.
func (t *Table) Near(board game.Board, limit Near) (nearMoves game.Moves, replacement game.Dir, ok bool) {
	if t.won(board) {
		legal := t.rules.Legal(board)
		return legal, legal.At(0), true
	}
	value, best, ok := t.Value(board)
	if !ok || best == 0 {
		return 0, 0, false
	}
	moves, ok := t.Moves(board)
	nearMoves = best
	tolerance := t.roundingShare()
	for _, move := range moves {
		if limit.allows(value, move.Value, tolerance) {
			nearMoves |= 1 << move.Dir
		}
	}
	_, symmetry := t.rules.Canonical(board)
	replacement = best.At(0)
	for i := range best.Len() {
		if dir := best.At(i); symmetry.Dir(dir) < symmetry.Dir(replacement) {
			replacement = dir
		}
	}
	return nearMoves, replacement, ok
}

// roundingShare returns the largest relative rounding error of a value.
func (t *Table) roundingShare() float64 { return t.Stats().RelativeError(t.problem) }

// LeastWin returns, for each limit, the smallest probability of winning of a player who only makes near moves. The table must be for Win without
// discount. Each result is rounded down to a lower bound. The error is an error of ctx or of the file.
func (t *Table) LeastWin(ctx context.Context, limits []Near) ([]float64, error) {
	won := make([]float64, len(limits))
	for i := range won {
		won[i] = 1
	}
	share := t.roundingShare()
	result, err := t.solveBackwards(ctx, won, func(best float64, moves []moveOption, result []float64) {
		for i, limit := range limits {
			least := 1.0
			for _, move := range moves {
				if limit.allows(best, move.value, share) {
					least = min(least, move.next[i])
				}
			}
			result[i] = least
		}
	})
	for i := range result {
		result[i] *= 1 - t.backwardError()
	}
	return result, err
}

// RandomResult has the results of a player who makes all legal moves with equal probability, with or without a shield.
type RandomResult struct {
	Win   float64 // probability
	Acts  float64 // expected number of moves at which the shield acts
	Moves float64 // expected number of moves
	// Error bounds the relative rounding error of each result.
	Error float64
}

// RandomPlay computes the results of a random player under a shield that allows near moves only. If hidden, the shield hides other moves from the
// player and acts if there are any. Otherwise it replaces a move that is not near by the move that Near returns, and acts only then.
// It has the same requirements and errors as LeastWin.
func (t *Table) RandomPlay(ctx context.Context, limit Near, hidden bool) (*RandomResult, error) {
	share := t.roundingShare()
	vector, err := t.solveBackwards(ctx, []float64{1, 0, 0}, func(best float64, moves []moveOption, vector []float64) {
		numNear, first := 0, slices.IndexFunc(moves, func(move moveOption) bool { return move.best })
		for i := range moves {
			if moves[i].near = limit.allows(best, moves[i].value, share); moves[i].near {
				numNear++
			}
		}
		numMoves := float64(len(moves))
		outside := float64(len(moves)-numNear) / numMoves
		for i, move := range moves {
			weight := 0.0
			switch {
			case move.near && hidden:
				weight = 1 / float64(numNear)
			case move.near:
				weight = 1 / numMoves
			}
			if i == first && !hidden {
				weight += outside
			}
			for component, value := range move.next {
				vector[component] += float64(weight * value)
			}
		}
		if hidden && numNear < len(moves) {
			outside = 1
		}
		vector[1] += outside
		vector[2]++
	})
	if err != nil {
		return nil, err
	}
	return &RandomResult{Win: vector[0], Acts: vector[1], Moves: vector[2], Error: t.backwardError()}, nil
}

// backwardError bounds the relative error of solveBackwards. All terms are non-negative, and each move adds one rounding for each of two tiles
// per cell and less than 20 others.
func (t *Table) backwardError() float64 {
	const u = 0x1p-53
	n := float64(len(t.layers)+2) * float64(2*t.problem.Shape.Cells()+20) * u
	return n / (1 - n)
}

// moveOption is a legal move with its value and the expected vector after it.
type moveOption struct {
	value      float64
	best, near bool
	next       []float64
}

// backwardLayer has the vectors of the positions of a layer, in the order of their boards.
type backwardLayer struct {
	boards  []Position
	index   lookup // index of each board in boards
	numbers []float64
}

var errNoWin = errors.New("the table is not of probabilities of winning without a discount")

// solveBackwards computes a vector for each position by backward induction, and returns the vector of the empty board. A won board has the vector
// won. A lost board has zeros. For each other board, solveBackwards calls value, which must add the vector of the board to its last argument. best is
// the best value, and moves have the values and the expected vectors of the legal moves.
func (t *Table) solveBackwards(ctx context.Context, won []float64, value func(best float64, moves []moveOption, vector []float64)) ([]float64, error) {
	if t.problem.Objective != Win || t.problem.Discount != 1 || t.problem.Against != Chance {
		return nil, errNoWin
	}
	induction := &backward{Table: t, won: won, valueFunc: value, layers: map[int]*backwardLayer{}}
	workers := runtime.GOMAXPROCS(0)
	for _, current := range t.layers { // by descending sums
		positions, err := t.Layer(int(current.sum))
		if err != nil {
			return nil, err
		}
		computed := &backwardLayer{boards: positions, numbers: make([]float64, len(positions)*len(won))}
		computed.index.reset(len(positions))
		for i, position := range positions {
			computed.index.add(uint64(position.Board), float64(i))
		}
		const chunkSize = 1 << 10
		err = parallel.ForEach(ctx, workers, (len(positions)+chunkSize-1)/chunkSize, func(_, chunk int) error {
			return induction.computeLayer(computed, chunk*chunkSize, min(len(positions), (chunk+1)*chunkSize))
		})
		if err != nil {
			return nil, err
		}
		induction.layers[int(current.sum)] = computed
		delete(induction.layers, int(current.sum)+6) // a layer depends on the two layers above it; the initial boards need 4, 6 and 8
	}
	vector := make([]float64, len(won))
	var images [8]uint64
	return vector, induction.addInitial(vector, &images)
}

// backward is the state of solveBackwards.
type backward struct {
	*Table
	won       []float64
	valueFunc func(best float64, moves []moveOption, out []float64)
	layers    map[int]*backwardLayer // by sum
}

// computeLayer computes the vectors of the positions first to end-1 of a layer.
func (r *backward) computeLayer(layer *backwardLayer, first, end int) error {
	width := len(r.won)
	var next [4]game.Board
	var images [8]uint64
	numbers := make([]float64, 4*(width+1))
	moves := make([]moveOption, 0, 4)
	for i, position := range layer.boards[first:end] {
		if position.Best == 0 {
			continue // lost
		}
		legal, _ := r.rules.Moved(position.Board, &next)
		clear(numbers)
		moves = moves[:0]
		for index := range legal.Len() {
			dir := legal.At(index)
			vector := numbers[index*(width+1) : (index+1)*(width+1)]
			if err := r.addExpected(uint64(next[dir]), vector, &images); err != nil {
				return err
			}
			moves = append(moves, moveOption{value: vector[width], best: position.Best.Has(dir), next: vector[:width]})
		}
		r.valueFunc(position.Value, moves, layer.numbers[(first+i)*width:(first+i+1)*width])
	}
	return nil
}

// addExpected adds the expected vector of an afterstate to vector, and the expected value of the afterstate to the last element of vector.
func (r *backward) addExpected(afterstate uint64, vector []float64, images *[8]uint64) error {
	width := len(r.won)
	if r.Table.won(game.Board(afterstate)) {
		copy(vector, r.won)
		vector[width] = 1
		return nil
	}
	canonical := r.orbit.leastImage(afterstate)
	r.orbit.allImages(canonical, images)
	empty := r.empties(canonical)
	sum := r.sum(game.Board(canonical))
	share := 1 / (float64(r.problem.Total) * float64(bits.OnesCount64(empty)))
	for exponent := 1; exponent <= 2; exponent++ {
		odds := float64(r.tileWeight(exponent)) * share
		if odds == 0 {
			continue
		}
		layer := r.layers[sum+2*exponent]
		for remaining := empty; remaining != 0; remaining &= remaining - 1 {
			if r.spawnWins(exponent) {
				addScaled(vector, odds, r.won)
				vector[width] += odds
				continue
			}
			if layer == nil {
				return errMissing
			}
			index, ok := layer.index.get(r.orbit.leastImageWithTile(images, bits.TrailingZeros64(remaining)/4, uint64(exponent)))
			if !ok {
				return errMissing
			}
			addScaled(vector, odds, layer.numbers[int(index)*width:int(index+1)*width])
			vector[width] += float64(odds * layer.boards[int(index)].Value)
		}
	}
	return nil
}

// addInitial adds the expected vector of the empty board, after its first two tiles.
func (r *backward) addInitial(vector []float64, images *[8]uint64) error {
	cells := r.problem.Shape.Cells()
	second := make([]float64, len(vector)+1)
	for exponent := 1; exponent <= 2; exponent++ {
		odds := float64(r.tileWeight(exponent)) / (float64(r.problem.Total) * float64(cells))
		if odds == 0 {
			continue
		}
		for cell := range cells {
			clear(second)
			if err := r.addExpected(uint64(exponent)<<(4*cell), second, images); err != nil {
				return err
			}
			addScaled(vector, odds, second[:len(vector)])
		}
	}
	return nil
}

// addScaled adds factor times x to out. The conversion prevents fusing the product with the sum on some machines.
func addScaled(out []float64, factor float64, x []float64) {
	for i, v := range x {
		out[i] += float64(factor * v)
	}
}
