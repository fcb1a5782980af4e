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
	rules   *game.Rules
	top     horizon
	workers int
	won     []*layer // boards on which the player moves and wins, by half of the sum of the tiles
	decided int
	free    []uint64 // memory for the boards on which a new tile comes
}

// horizon is a limit of the sum of the tiles. The analysis does not look at boards with greater sums. If they count as won, the player's losses are
// certain; if they count as lost, the wins are.
type horizon struct {
	half int // half of the greatest sum
	won  bool
}

// horizons returns the horizons to try, in this order. The last one decides every tile. A spawner who can prevent a tile does so soon after the sum
// of the tiles suffices for it: up to 3/2 of the tile on all boards that were tried. A player needs up to 17/8 of the tile on most of them.
func (h *halves) horizons(maxExp int) (all []horizon) {
	tile := 1 << maxExp
	for _, top := range []horizon{{tile * 3 / 4, true}, {tile * 9 / 8, false}} {
		if top.half < h.greatestHalf() {
			all = append(all, top)
		}
	}
	return append(all, horizon{half: h.greatestHalf()})
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
func analyse(ctx context.Context, opt Options, h *halves, top horizon) (*retrograde, error) {
	x := &retrograde{halves: h, rules: opt.Rules, top: top, workers: newProblem(opt).workers, won: make([]*layer, top.half+1)}
	for half := top.half; half >= leastHalf; half-- {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		x.won[half] = x.winningPositions(x.afterstates(half))
		for class, members := range x.members {
			if other, exists := x.other(half, class); exists {
				x.decided += len(members) * len(x.members[other])
			}
		}
		if opt.Progress != nil {
			opt.Progress(x.decided)
		}
	}
	x.free = nil
	return x, nil
}

// key returns the codes of the halves of a board: the left one in the low half of the word.
func (x *retrograde) key(board game.Board) uint64 {
	left, right := x.cut(board)
	return uint64(left) | uint64(right)<<32
}

// get says what is known of a board on which the player moves.
func (x *retrograde) get(key uint64, half int) uint8 {
	won := x.top.won
	if half <= x.top.half {
		won = x.won[half].has(uint32(key), uint32(key>>32))
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
	for by := range s.rules.Symmetries() {
		s.layers[half].add(s.cut(s.rules.Apply(game.Symmetry(by), board)))
	}
}

func (s *layerSet) forget(half int) { s.layers[half] = nil }

// afterstates returns the boards of a layer, before a new tile, on which the player wins whatever tile comes. It also contains all full boards, but
// no move leads to them. The result is valid until the next call.
func (x *retrograde) afterstates(half int) *layer {
	words := x.layerWords(half)
	if cap(x.free) < words {
		x.free = make([]uint64, words)
	}
	result := x.newLayer(half, x.free[:words])
	inParallel(x.workers, len(x.members), func(class int) {
		if _, exists := x.other(half, class); !exists {
			return
		}
		for _, left := range x.members[class] {
			x.afterLeftTiles(result.row(left), half, left)
		}
	})
	result.reflect(x.workers, func(a, b uint64) uint64 { return a & b }) // for new tiles in the right half
	return result
}

// afterLeftTiles sets the bits of the boards in a row on which the player wins whatever tile comes in the left half.
func (x *retrograde) afterLeftTiles(row []uint64, half int, left uint32) {
	for i := range row {
		row[i] = ^uint64(0)
	}
	for cell, digit := range x.digit {
		if x.boards[left]>>(4*cell)&15 != 0 {
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
			for i, word := range x.won[half+exp].row(left + uint32(exp)*digit) {
				row[i] &= word
			}
		}
	}
}

// winningPositions returns the boards of a layer on which the player is to move and wins. after are the boards on which the player wins whatever
// tile comes. Moves up and down are tried first, because they take less time, and moves to the sides only for boards on which those do not
// win. A board upside down has the same value, so its bit is copied.
func (x *retrograde) winningPositions(after *layer) *layer {
	result := x.newLayer(after.half, make([]uint64, len(after.words)))
	or := func(a, b uint64) uint64 { return a | b }
	inParallel(x.workers, len(x.members), func(class int) {
		other, exists := x.other(result.half, class)
		if !exists || class > other {
			return
		}
		for _, left := range x.members[class] {
			if left <= x.flipped[left] {
				for _, moved := range x.vertical {
					x.addVerticalWins(result, moved, left, after)
				}
				result.flip(left)
			}
		}
	})
	result.reflect(x.workers, or)

	starts := make([]uint32, len(x.boards))
	for class, members := range x.members {
		if _, exists := x.other(result.half, class); exists {
			for _, left := range members {
				starts[left] = uint32(result.start(left))
			}
		}
	}
	inParallel(x.workers, len(x.members), func(class int) {
		other, exists := x.other(result.half, class)
		if !exists {
			return
		}
		rights := make([]uint64, len(x.members[other]))
		for i, right := range x.members[other] {
			rights[i] = x.rowsOf[right]
		}
		for _, left := range x.members[class] {
			if left <= x.flipped[left] {
				x.addLeftWins(result, left, rights, after, starts)
				result.flip(left)
			}
		}
	})
	result.reflect(x.workers, or) // for moves to the right
	return result
}

// addVerticalWins sets the bits of the boards with a left half on which a move up, or down, wins. moved has the code of each half board after the
// move.
func (x *retrograde) addVerticalWins(result *layer, moved []uint32, left uint32, after *layer) {
	row, rights := result.row(left), x.members[result.half-int(x.class[left])]
	newLeft := moved[left]
	var successors []uint64
	if newLeft != winning {
		successors = after.row(newLeft)
	}
	for index, word := range row {
		for undecided := undecidedBoards(word, len(rights)-64*index); undecided != 0; undecided &= undecided - 1 {
			bit := bits.TrailingZeros64(undecided)
			right := rights[64*index+bit]
			switch newRight := moved[right]; {
			case newLeft == winning || newRight == winning:
				word |= 1 << bit
			case newLeft != left || newRight != right:
				place := x.place[newRight]
				word |= successors[place>>6] >> (place & 63) & 1 << bit
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
func (x *retrograde) addLeftWins(result *layer, left uint32, rights []uint64, after *layer, starts []uint32) {
	mask := uint64(1)<<x.rowBits - 1
	tables := make([][]uint64, x.rows) // for each row, from the last: the result of the move by the right half of the row
	for number := range tables {
		from := int(x.rowsOf[left]>>(number*x.rowBits)&mask) * x.rowCodes
		tables[number] = x.left[x.rows-1-number][from : from+x.rowCodes]
	}
	codes := x.members[result.half-int(x.class[left])]
	row := result.row(left)
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
			case newLeft != left || newRight != codes[number]:
				place := x.place[newRight]
				word |= after.words[starts[newLeft]+place>>6] >> (place & 63) & 1 << bit
			}
		}
		row[index] = word
	}
}

// inParallel calls job(0) to job(n-1), in any order, by some goroutines, and waits for them.
func inParallel(workers, n int, job func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, workers) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				job(i)
			}
		})
	}
	all.Wait()
}
