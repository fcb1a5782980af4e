package guarantee

import (
	"context"
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"

	"tilecheck/game"
)

// retrograde decides all boards without the winning tile, with one bit each, by retrograde analysis: by layers of the sum of the tiles, from the
// greatest downwards. A new tile leads to one of the two layers above. The player wins on a board if a move makes the winning tile or leads to a
// board on which the player wins whatever tile comes.
type retrograde struct {
	*halves
	won     []*layer // boards on which the player moves and wins, by half of the sum of the tiles
	decided int
	free    []uint64 // memory for the boards on which a new tile comes
}

// leastHalf is half of the sum of the least two tiles.
const leastHalf = 2

// greatestHalf returns half of the greatest sum of the tiles.
func (h *halves) greatestHalf() int { return 2 * (len(h.members) - 1) }

// analysisBytes returns the number of bytes that retrograde analysis needs: for the bits of all layers, and for one more layer of the largest size.
func (h *halves) analysisBytes() (size int64) {
	maxWords := 0
	for half := leastHalf; half <= h.greatestHalf(); half++ {
		words := h.layerWords(half)
		maxWords = max(maxWords, words)
		size += 8 * int64(words)
	}
	return size + 8*int64(maxWords)
}

// analyse decides for all boards whether the player wins, from the greatest sums of tiles to the least. It calls progress, unless it is nil, with the
// number of decided boards. It returns an error only if ctx ends.
func analyse(ctx context.Context, h *halves, progress func(decided int)) (*retrograde, error) {
	x := &retrograde{halves: h, won: make([]*layer, h.greatestHalf()+1)}
	for half := h.greatestHalf(); half >= leastHalf; half-- {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		x.won[half] = x.winningPositions(x.afterstates(half))
		for class, members := range x.members {
			if other, exists := x.other(half, class); exists {
				x.decided += len(members) * len(x.members[other])
			}
		}
		if progress != nil {
			progress(x.decided)
		}
	}
	x.free = nil
	return x, nil
}

// get says what is known of a board on which the player moves.
func (x *retrograde) get(board game.Board) uint8 {
	if left, right := x.cut(board); x.won[board.Sum()/2].has(left, right) {
		return wins
	}
	return loses
}

// afterstates returns the boards of a layer, before a new tile, on which the player wins whatever tile comes. It also contains all full boards, but
// no move leads to them. The result is valid until the next call.
func (x *retrograde) afterstates(half int) *layer {
	words := x.layerWords(half)
	if cap(x.free) < words {
		x.free = make([]uint64, words)
	}
	result := x.newLayer(half, x.free[:words])
	inParallel(len(x.members), func(class int) {
		if _, exists := x.other(half, class); !exists {
			return
		}
		for _, left := range x.members[class] {
			x.afterLeftTiles(result.row(left), half, left)
		}
	})
	result.reflect(func(a, b uint64) uint64 { return a & b }) // for new tiles in the right half
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
	inParallel(len(x.members), func(class int) {
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
	result.reflect(or)

	starts := make([]uint32, len(x.boards))
	for class, members := range x.members {
		if _, exists := x.other(result.half, class); exists {
			for _, left := range members {
				starts[left] = uint32(result.start(left))
			}
		}
	}
	inParallel(len(x.members), func(class int) {
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
	result.reflect(or) // for moves to the right
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
	for index := range row {
		word := uint64(0)
		for bit, right := range rights[64*index : min(64*index+64, len(rights))] {
			switch newRight := moved[right]; {
			case newLeft == winning || newRight == winning:
				word |= 1 << bit
			case newLeft != left || newRight != right:
				place := x.place[newRight]
				word |= successors[place>>6] >> (place & 63) & 1 << bit
			}
		}
		row[index] |= word
	}
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
		undecided := ^word
		if n := len(rights) - 64*index; n < 64 {
			undecided &= 1<<n - 1
		}
		for ; undecided != 0; undecided &= undecided - 1 {
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

// inParallel calls job(0) to job(n-1), in any order, on all processors, and waits for them.
func inParallel(n int, job func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				job(i)
			}
		})
	}
	workers.Wait()
}
