package guarantee

import (
	"context"
	"math/bits"
	"sync"
	"sync/atomic"

	"tilecheck/game"
)

// retrograde decides the boards without the winning tile, with one bit each, by retrograde analysis: by layers of the sum of the tiles, from that of
// the horizon downwards. A new tile leads to one of the two layers above. The player wins on a board if a move makes the winning tile or leads to a
// board on which the player wins whatever tile comes.
type retrograde struct {
	*halves
	rules      *game.Rules
	top        horizon
	workers    int
	wonLayers  []*layer // boards on which the player moves and wins, by half of the sum of the tiles
	numDecided int
	freeWords  []uint64 // memory for the boards on which a new tile comes
}

// horizon is a limit of the sum of the tiles. The analysis does not look at boards with greater sums. If they count as won, the player's losses are
// certain; if they count as lost, the wins are.
type horizon struct {
	half int // half of the greatest sum
	won  bool
}

// horizons returns the horizons to try, in this order. The last one decides every tile. A spawner who can prevent a tile does so soon after the sum
// of the tiles suffices for it: up to 3/2 of the tile on all boards that were tried. A player needs up to 17/8 of the tile on most of them.
func (h *halves) horizons(maxExp int) (result []horizon) {
	tile := 1 << maxExp
	for _, top := range []horizon{{tile * 3 / 4, true}, {tile * 9 / 8, false}} {
		if top.half < h.greatestHalf() {
			result = append(result, top)
		}
	}
	return append(result, horizon{half: h.greatestHalf()})
}

// leastHalf is half of the sum of the least two tiles.
const leastHalf = 2

// greatestHalf returns half of the greatest sum of the tiles.
func (h *halves) greatestHalf() int { return 2 * (len(h.members) - 1) }

// analysisBytes returns the number of bytes that retrograde analysis needs up to a sum of the tiles: for the bits of all layers, and for one more
// layer of the largest size.
func (h *halves) analysisBytes(top int) (size int64) {
	maxWords := 0
	for half := leastHalf; half <= top; half++ {
		words := h.layerWords(half)
		maxWords = max(maxWords, words)
		size += 8 * int64(words)
	}
	return size + 8*int64(maxWords)
}

// analyse decides the boards up to a horizon. The error is that of ctx.
func analyse(ctx context.Context, opt Options, parts *halves, top horizon) (*retrograde, error) {
	analysis := &retrograde{halves: parts, rules: opt.Rules, top: top, workers: newProblem(opt).workers, wonLayers: make([]*layer, top.half+1)}
	for half := top.half; half >= leastHalf; half-- {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		analysis.wonLayers[half] = analysis.winningPositions(analysis.afterstates(half))
		for class, members := range analysis.members {
			if otherClass, exists := analysis.otherClass(half, class); exists {
				analysis.numDecided += len(members) * len(analysis.members[otherClass])
			}
		}
		if opt.Progress != nil {
			opt.Progress(analysis.numDecided)
		}
	}
	analysis.freeWords = nil
	return analysis, nil
}

// key returns the codes of the halves of a board: the left one in the low half of the word.
func (x *retrograde) key(board game.Board) uint64 {
	left, right := x.codesOf(board)
	return uint64(left) | uint64(right)<<32
}

// get says what is known of a board on which the player moves.
func (x *retrograde) get(key uint64, half int) uint8 {
	won := x.top.won
	if half <= x.top.half {
		won = x.wonLayers[half].has(uint32(key), uint32(key>>32))
	}
	if won {
		return wins
	}
	return loses
}

func (x *retrograde) newSet() boardSet { return &layerSet{x, make([]*layer, x.top.half+1)} }

// layerSet is a set of boards with a bit for each board.
type layerSet struct {
	*retrograde
	layers []*layer // by half of the sum of the tiles; nil if there are none
}

func (s *layerSet) has(key uint64, half int) bool {
	return half <= s.top.half && s.layers[half] != nil && s.layers[half].has(uint32(key), uint32(key>>32))
}

func (s *layerSet) add(board game.Board, half int) {
	if s.layers[half] == nil {
		s.layers[half] = s.newLayer(half, make([]uint64, s.layerWords(half)))
	}
	for symmetry := range s.rules.Symmetries() {
		s.layers[half].add(s.codesOf(s.rules.Apply(game.Symmetry(symmetry), board)))
	}
}

// dropLayer removes the boards whose tiles have the sum 2*half.
func (s *layerSet) dropLayer(half int) { s.layers[half] = nil }

// afterstates returns the boards of a layer, before a new tile, on which the player wins whatever tile comes. It also contains all full boards, but
// no move leads to them. The result is valid until the next call.
func (x *retrograde) afterstates(half int) *layer {
	words := x.layerWords(half)
	if cap(x.freeWords) < words {
		x.freeWords = make([]uint64, words)
	}
	result := x.newLayer(half, x.freeWords[:words])
	inParallel(x.workers, len(x.members), func(class int) {
		if _, exists := x.otherClass(half, class); !exists {
			return
		}
		for _, leftCode := range x.members[class] {
			x.afterLeftTiles(result.row(leftCode), half, leftCode)
		}
	})
	result.reflect(x.workers, func(a, b uint64) uint64 { return a & b }) // for new tiles in the right half
	return result
}

// afterLeftTiles sets the bits of the boards in a row on which the player wins whatever tile comes in the left half.
func (x *retrograde) afterLeftTiles(row []uint64, half int, leftCode uint32) {
	for i := range row {
		row[i] = ^uint64(0)
	}
	for cell, weight := range x.cellWeights {
		if x.boards[leftCode]>>(4*cell)&15 != 0 {
			continue
		}
		for exp := 1; exp <= 2; exp++ {
			if half+exp > x.top.half {
				if !x.top.won {
					clear(row)
					return
				}
				continue
			}
			for i, word := range x.wonLayers[half+exp].row(leftCode + uint32(exp)*weight) {
				row[i] &= word
			}
		}
	}
}

// winningPositions returns the boards of a layer on which the player is to move and wins. after are the boards on which the player wins whatever
// tile comes. Moves up and down are tried first, because they take less time, and moves to the sides only for boards on which those do not
// win. A board upside down has the same value, so its bit is copied.
func (x *retrograde) winningPositions(afterstates *layer) *layer {
	result := x.newLayer(afterstates.half, make([]uint64, len(afterstates.words)))
	or := func(a, b uint64) uint64 { return a | b }
	inParallel(x.workers, len(x.members), func(class int) {
		otherClass, exists := x.otherClass(result.half, class)
		if !exists || class > otherClass {
			return
		}
		for _, leftCode := range x.members[class] {
			if leftCode <= x.flipped[leftCode] {
				for _, moved := range x.verticalMoves {
					x.addVerticalWins(result, moved, leftCode, afterstates)
				}
				result.flip(leftCode)
			}
		}
	})
	result.reflect(x.workers, or)

	starts := make([]uint32, len(x.boards))
	for class, members := range x.members {
		if _, exists := x.otherClass(result.half, class); exists {
			for _, leftCode := range members {
				starts[leftCode] = uint32(result.start(leftCode))
			}
		}
	}
	inParallel(x.workers, len(x.members), func(class int) {
		otherClass, exists := x.otherClass(result.half, class)
		if !exists {
			return
		}
		rights := make([]uint64, len(x.members[otherClass]))
		for i, rightCode := range x.members[otherClass] {
			rights[i] = x.rowsOf[rightCode]
		}
		for _, leftCode := range x.members[class] {
			if leftCode <= x.flipped[leftCode] {
				x.addLeftWins(result, leftCode, rights, afterstates, starts)
				result.flip(leftCode)
			}
		}
	})
	result.reflect(x.workers, or) // for moves to the right
	return result
}

// addVerticalWins sets the bits of the boards with a left half on which a move up, or down, wins. moved has the code of each half board after the
// move.
func (x *retrograde) addVerticalWins(result *layer, moved []uint32, leftCode uint32, afterstates *layer) {
	row, rights := result.row(leftCode), x.members[result.half-int(x.classOf[leftCode])]
	newLeft := moved[leftCode]
	var successors []uint64
	if newLeft != winning {
		successors = afterstates.row(newLeft)
	}
	for index, word := range row {
		for undecided := undecidedBoards(word, len(rights)-64*index); undecided != 0; undecided &= undecided - 1 {
			bit := bits.TrailingZeros64(undecided)
			rightCode := rights[64*index+bit]
			switch newRight := moved[rightCode]; {
			case newLeft == winning || newRight == winning:
				word |= 1 << bit
			case newLeft != leftCode || newRight != rightCode:
				rank := x.rankInClass[newRight]
				word |= successors[rank>>6] >> (rank & 63) & 1 << bit
			}
		}
		row[index] = word
	}
}

// undecidedBoards returns the bits of the first n boards of a word on which no winning move is known.
func undecidedBoards(word uint64, n int) uint64 {
	if n < 64 {
		return ^word & (1<<n - 1)
	}
	return ^word
}

// addLeftWins sets the bits of the boards with a left half on which a move to the left wins. rights are the codes of the rows of the right halves.
// starts has, for each half board, the first word of its row in a layer.
func (x *retrograde) addLeftWins(result *layer, leftCode uint32, rights []uint64, afterstates *layer, starts []uint32) {
	mask := uint64(1)<<x.rowBits - 1
	tables := make([][]uint64, x.rows) // for each row, from the last: the result of the move by the right half of the row
	for number := range tables {
		from := int(x.rowsOf[leftCode]>>(number*x.rowBits)&mask) * x.rowCodes
		tables[number] = x.leftMoves[x.rows-1-number][from : from+x.rowCodes]
	}
	codes := x.members[result.half-int(x.classOf[leftCode])]
	row := result.row(leftCode)
	for index, word := range row {
		for undecided := undecidedBoards(word, len(rights)-64*index); undecided != 0; undecided &= undecided - 1 {
			bit := bits.TrailingZeros64(undecided)
			number := 64*index + bit
			packedCodes, rows := uint64(0), rights[number]
			for _, table := range tables {
				packedCodes += table[rows&mask]
				rows >>= x.rowBits
			}
			newLeft, newRight := uint32(packedCodes&leftMask), uint32(packedCodes>>rightShift)
			switch {
			case packedCodes>>winShift != 0:
				word |= 1 << bit
			case newLeft != leftCode || newRight != codes[number]:
				rank := x.rankInClass[newRight]
				word |= afterstates.words[starts[newLeft]+rank>>6] >> (rank & 63) & 1 << bit
			}
		}
		row[index] = word
	}
}

// inParallel calls job(0) to job(n-1), in any order, by some goroutines, and waits for them.
func inParallel(workers, n int, job func(i int)) {
	var nextJob atomic.Int64
	var workerGroup sync.WaitGroup
	for range min(n, workers) {
		workerGroup.Go(func() {
			for i := int(nextJob.Add(1)) - 1; i < n; i = int(nextJob.Add(1)) - 1 {
				job(i)
			}
		})
	}
	workerGroup.Wait()
}
