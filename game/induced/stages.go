package induced

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"

	"tilecheck/game"
)

// StageOptions say how StageBound proves a lower bound.
type StageOptions struct {
	Rules *game.Rules
	Max   int // exponent of the winning tile
	Unit  int // exponent of the tiles that stages collect: below Max, by at most the number of columns
	// States is the greatest number of boards of a stage; 0 means DefaultStageStates.
	States int
	// Rounds is how often boards are looked for, after the first time by the best moves of the round before; 0 means DefaultStageRounds.
	Rounds   int
	Progress func(PartProgress) // may be nil; a pass is a stage in a round
}

// The defaults of StageOptions.
const (
	DefaultStageStates = 200_000
	DefaultStageRounds = 3
)

// Validate returns an error if the options are not valid.
func (o *StageOptions) Validate() error {
	if err := (Options{Rules: o.Rules, Max: o.Max}).validate(); err != nil {
		return err
	}
	shape := o.Rules.Shape()
	switch {
	case shape.Rows < 2 || shape.Cols < 2:
		return fmt.Errorf("board is %s, want at least two rows and two columns", shape)
	case o.Unit < 2 || o.Unit >= o.Max || o.Max-o.Unit > shape.Cols:
		return fmt.Errorf("the tiles to collect are %d, want %d to %d for %d on %s: they lie in one row",
			game.Value(o.Unit), game.Value(max(2, o.Max-shape.Cols)), game.Value(o.Max-1), game.Value(o.Max), shape)
	case o.States < 0 || o.Rounds < 0:
		return errors.New("the number of states or rounds is negative")
	}
	return nil
}

// StageProof is a lower bound of the probability of winning under optimal play, with the values of the boards from which it follows.
type StageProof struct {
	Bound  Fixed
	Boards int // boards with values
	Stages int
	*stageBuilder
}

// stage is a part of the game in which tiles are locked. A game to 2^n with the unit 2^m collects 2^(n-m) units in row 0. After k of them, row 0
// begins with the binary digits of k, as tiles: they are locked. A stage looks only at boards on which row 0 begins with the locked tiles and all
// other tiles are at most a unit, and ends when row 0 begins with the locked tiles of the next stage. If k is even, that takes a unit in the next
// cell. If k is odd, that takes a unit merged with the last locked tile, which is one; if that makes two equal tiles, the next stages merge them.
//
// So the number of boards of a stage is that of the arrangements of small tiles on the other cells, and not that of the boards of the whole game.
type stage struct {
	numLocked   int // number of locked tiles, which are in the first cells
	mask, tiles game.Board
	// layers has the boards of the stage by half of the sum of their tiles, sorted. values has lower bounds of the probability to win from them.
	layers  map[int][]game.Board
	values  *table[Fixed]
	entries *table[float64] // the boards in which the stage begins, with their probabilities
	cutoff  float64
	states  int
}

// begins reports whether row 0 begins with the locked tiles of the stage.
func (s *stage) begins(board game.Board) bool { return board&s.mask == s.tiles }

// lockedTiles returns the exponents of the locked tiles of each stage. unit is the exponent of the tiles to collect, and maxExp that of the winning
// tile.
func lockedTiles(unit, maxExp int) (result [][]int) {
	for k := range 1 << (maxExp - unit) {
		var tiles []int
		for digit := maxExp - unit - 1; digit >= 0; digit-- {
			if k>>digit&1 != 0 {
				tiles = append(tiles, unit+digit)
			}
		}
		result = append(result, tiles)
		if k&1 == 0 {
			continue
		}
		for range bits.TrailingZeros(uint(k+1)) - 1 { // stages in which equal tiles are merged
			n := len(tiles)
			tiles = slices.Clone(tiles)
			if tiles[n-1] == unit {
				tiles[n-1]++
			} else {
				tiles = tiles[:n-1]
				tiles[n-2]++
			}
			result = append(result, tiles)
		}
	}
	return result
}

// stageBuilder looks for boards and computes their values.
type stageBuilder struct {
	StageOptions
	ctx    context.Context
	shape  game.Shape
	stages []*stage
	passes int
}

// StageBound proves a lower bound of optimal play by stages (see the type stage). The value of a board at the end of a stage is its value in the next
// stage, so StageBound computes values from the last stage to the first. Boards that a stage omits count as lost, and values are rounded down: so the
// result is a lower bound whatever boards are omitted. Of several rounds it returns the greatest bound.
func StageBound(ctx context.Context, opt StageOptions) (*StageProof, error) {
	if err := opt.Validate(); err != nil {
		return nil, err
	}
	opt.States = cmp.Or(opt.States, DefaultStageStates)
	opt.Rounds = cmp.Or(opt.Rounds, DefaultStageRounds)
	builder := &stageBuilder{StageOptions: opt, ctx: ctx, shape: opt.Rules.Shape()}
	for _, tiles := range lockedTiles(opt.Unit, opt.Max) {
		added := &stage{numLocked: len(tiles), entries: newTable[float64](0), cutoff: firstCutoff}
		for cell, exponent := range tiles {
			added.mask |= 15 << (4 * cell)
			added.tiles |= game.Board(exponent) << (4 * cell)
		}
		builder.stages = append(builder.stages, added)
	}
	var bestProof *StageProof
	for range opt.Rounds {
		for i := range builder.stages {
			if err := builder.survey(i); err != nil {
				return nil, err
			}
		}
		for i := range slices.Backward(builder.stages) {
			if err := builder.evaluate(i); err != nil {
				return nil, err
			}
		}
		if proof := builder.proof(); bestProof == nil || proof.Bound > bestProof.Bound {
			bestProof = proof
		}
	}
	return bestProof, nil
}

// proof returns the bound of the current round. It copies the stages, because the next round changes them.
func (b *stageBuilder) proof() *StageProof {
	copied := *b
	copied.stages = slices.Clone(b.stages)
	result := &StageProof{Stages: len(b.stages), stageBuilder: &copied}
	for i, current := range b.stages {
		saved := *current
		copied.stages[i] = &saved
		result.Boards += current.states
	}
	result.Bound = b.spawnMean(0, func(firstBoard game.Board) Fixed {
		return b.spawnMean(firstBoard, func(board game.Board) Fixed { return b.value(board, 0) })
	})
	return result
}

// representative returns the symmetric image under which a stage stores a board. Without locked tiles, it is the canonical board. With one locked
// tile on a square board, it is the less of the board and its transpose, which keeps this tile in cell 0. Otherwise it is the board itself.
func (b *stageBuilder) representative(board game.Board, stage int) game.Board {
	switch square := b.shape.Rows == b.shape.Cols; {
	case b.stages[stage].numLocked == 0:
		board, _ = b.Rules.Canonical(board)
	case b.stages[stage].numLocked == 1 && square:
		board = min(board, b.Rules.Apply(game.Transpose, board))
	}
	return board
}

// outcome is what a move does in a stage.
type outcome uint8

const (
	leaves outcome = iota // to a board that no stage looks at
	goesOn
	ends // the next stage begins
	wins
)

// outcomeOf says what a board after a move means for a stage: the game is won, the stage ends, it goes on, or the board leaves the stage and counts
// as lost.
func (b *stageBuilder) outcomeOf(afterstate game.Board, stage int) outcome {
	if afterstate.AtLeast(b.Max) {
		return wins
	}
	if stage+1 < len(b.stages) && b.stages[stage].numLocked == 0 {
		for _, corner := range b.corners() {
			if int(afterstate>>(4*corner)&15) == b.Unit && !(afterstate &^ (15 << (4 * corner))).AtLeast(b.Unit+1) {
				return ends
			}
		}
	}
	for i, result := range []outcome{ends, goesOn} {
		if number := stage + 1 - i; number < len(b.stages) && b.stages[number].begins(afterstate) && !(afterstate &^ b.stages[number].mask).AtLeast(b.Unit+1) {
			return result
		}
	}
	return leaves
}

func (b *stageBuilder) corners() [4]int {
	return [4]int{0, b.shape.Cols - 1, b.shape.Cells() - b.shape.Cols, b.shape.Cells() - 1}
}

// images returns the symmetric images of a board with which the next stage can begin. If the stage has a locked tile, this is only the board itself.
// Otherwise these are the images with a tile to collect in cell 0.
func (b *stageBuilder) images(board game.Board, stage int) []game.Board {
	if b.stages[stage].numLocked > 0 {
		return []game.Board{board}
	}
	var result []game.Board
	for symmetry := range b.Rules.Symmetries() {
		if image := b.representative(b.Rules.Apply(game.Symmetry(symmetry), board), stage+1); b.stages[stage+1].begins(image) && !slices.Contains(result, image) {
			result = append(result, image)
		}
	}
	return result
}

// evaluate computes the values of the boards of a stage, from the greatest sum of tiles to the least.
func (b *stageBuilder) evaluate(stage int) error {
	current := b.stages[stage]
	current.values = newTable[Fixed](current.states)
	for _, half := range descending(current.layers) {
		for index, board := range current.layers[half] {
			if index%chunk == 0 && b.ctx.Err() != nil {
				return context.Cause(b.ctx)
			}
			_, value := b.bestMove(board, stage)
			*current.values.valueAt(board) = value
		}
	}
	return nil
}

// descending returns the keys of layers, the greatest first.
func descending[V any](layers map[int]V) []int {
	all := slices.Sorted(maps.Keys(layers))
	slices.Reverse(all)
	return all
}

// best returns a move with the greatest value, and the value.
func (b *stageBuilder) bestMove(board game.Board, stage int) (bestMove game.Dir, value Fixed) {
	var moved [4]game.Board
	legal, overflow := b.Rules.Moved(board, &moved)
	for i := range legal.Len() {
		dir := legal.At(i)
		if overflow.Has(dir) {
			continue
		}
		if candidate := b.moveValue(moved[dir], stage); candidate > value || i == 0 {
			bestMove, value = dir, candidate
		}
	}
	return bestMove, value
}

// moveValue returns a lower bound of the probability to win after a move.
func (b *stageBuilder) moveValue(afterstate game.Board, stage int) Fixed {
	switch b.outcomeOf(afterstate, stage) {
	case wins:
		return Scale
	case goesOn:
		return b.spawnMean(afterstate, func(board game.Board) Fixed { return b.value(board, stage) })
	case ends:
		return b.spawnMean(afterstate, func(board game.Board) (maxValue Fixed) {
			for _, image := range b.images(board, stage) {
				maxValue = max(maxValue, b.value(image, stage+1))
			}
			return maxValue
		})
	}
	return 0
}

// spawnMean returns the expected value after a new tile, rounded down.
func (b *stageBuilder) spawnMean(afterstate game.Board, value func(game.Board) Fixed) Fixed {
	sum, weight := Fixed(0), Fixed(0)
	for cell := range b.shape.Cells() {
		if afterstate>>(4*cell)&15 == 0 {
			sum += (game.FourOdds-1)*value(afterstate|1<<(4*cell)) + value(afterstate|2<<(4*cell))
			weight += game.FourOdds
		}
	}
	return sum / weight
}

// value returns the value of a board of a stage; 0 if the stage does not look at it.
func (b *stageBuilder) value(x game.Board, stage int) Fixed {
	v, _ := b.stages[stage].values.get(b.representative(x, stage))
	return v
}

// WriteCertificate writes the certificate of the bound to w, in the format of Part.Prove with canonical boards. It omits boards with the value 0.
func (p *StageProof) WriteCertificate(ctx context.Context, w io.Writer) error {
	layers := map[int][]certificateEntry{} // by half of the sum
	for stage, current := range p.stages {
		for half, layer := range current.layers {
			for _, board := range layer {
				dir, value := p.bestMove(board, stage)
				if value > 0 {
					leastImage, symmetry := p.Rules.Canonical(board)
					layers[half] = append(layers[half], certificateEntry{leastImage, symmetry.Dir(dir), value})
				}
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
	}
	cert := newCertificate(w, p.shape, true, p.Max, fmt.Sprintf("stages:%d", game.Value(p.Unit)))
	for _, half := range descending(layers) {
		entries := layers[half]
		slices.SortFunc(entries, func(a, b certificateEntry) int {
			return cmp.Or(cmp.Compare(a.board, b.board), cmp.Compare(b.value, a.value))
		})
		// A board can occur in several stages. The greatest of its values is a bound, too.
		entries = slices.CompactFunc(entries, func(a, b certificateEntry) bool { return a.board == b.board })
		if err := cert.writeEntries(entries); err != nil {
			return err
		}
	}
	return cert.writeEnd(p.Bound)
}
