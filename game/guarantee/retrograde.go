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
// greatest downwards. A new tile leads to one of the two layers above. The player wins on a board if a move makes the winning tile or leads to a board on
// which the player wins whatever tile comes.
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

// analysisBytes returns the memory that retrograde analysis needs for its bits.
func (h *halves) analysisBytes() (size int64) {
	most := 0
	for half := leastHalf; half <= h.greatestHalf(); half++ {
		words := h.layerWords(half)
		most = max(most, words)
		size += 8 * int64(words)
	}
	return size + 8*int64(most)
}

// analyse decides all boards. The error is that of ctx. progress, if not nil, is called with the number of boards that are decided.
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
func (x *retrograde) get(b game.Board) uint8 {
	if left, right := x.cut(b); x.won[b.Sum()/2].has(left, right) {
		return wins
	}
	return loses
}

// afterstates returns the boards of a layer on which the player wins whatever tile comes, and all full boards, to which no move leads. The layer is
// valid until the next call.
func (x *retrograde) afterstates(half int) *layer {
	words := x.layerWords(half)
	if cap(x.free) < words {
		x.free = make([]uint64, words)
	}
	l := x.newLayer(half, x.free[:words])
	inParallel(len(x.members), func(class int) {
		if _, exists := x.other(half, class); !exists {
			return
		}
		for _, left := range x.members[class] {
			x.afterLeftTiles(l.row(left), half, left)
		}
	})
	l.reflect(func(a, b uint64) uint64 { return a & b }) // for new tiles in the right half
	return l
}

// afterLeftTiles fills a row of boards on which the player wins whatever tile comes in the left half.
func (x *retrograde) afterLeftTiles(row []uint64, half int, left uint32) {
	for i := range row {
		row[i] = ^uint64(0)
	}
	for cell, digit := range x.digit {
		if x.boards[left]>>(4*cell)&15 != 0 {
			continue
		}
		for exp := 1; exp <= 2; exp++ {
			for i, w := range x.won[half+exp].row(left + uint32(exp)*digit) {
				row[i] &= w
			}
		}
	}
}

// winningPositions returns the boards of a layer on which the player is to move and wins. after are the boards on which the player wins whatever
// tile comes. Moves up and down are tried first, because they take less time, and moves to the sides only for boards on which those do not
// win. A board upside down has the same value, so its bit is copied.
func (x *retrograde) winningPositions(after *layer) *layer {
	l := x.newLayer(after.half, make([]uint64, len(after.words)))
	or := func(a, b uint64) uint64 { return a | b }
	inParallel(len(x.members), func(class int) {
		other, exists := x.other(l.half, class)
		if !exists || class > other {
			return
		}
		for _, left := range x.members[class] {
			if left <= x.flipped[left] {
				for _, moved := range x.vertical {
					x.addVerticalWins(l, moved, left, after)
				}
				l.flip(left)
			}
		}
	})
	l.reflect(or)

	starts := make([]uint32, len(x.boards))
	for class, members := range x.members {
		if _, exists := x.other(l.half, class); exists {
			for _, left := range members {
				starts[left] = uint32(l.start(left))
			}
		}
	}
	inParallel(len(x.members), func(class int) {
		other, exists := x.other(l.half, class)
		if !exists {
			return
		}
		rights := make([]uint64, len(x.members[other]))
		for i, right := range x.members[other] {
			rights[i] = x.rowsOf[right]
		}
		for _, left := range x.members[class] {
			if left <= x.flipped[left] {
				x.addLeftWins(l, left, rights, after, starts)
				l.flip(left)
			}
		}
	})
	l.reflect(or) // for moves to the right
	return l
}

// addVerticalWins adds the boards with a left half on which a move up, or down, wins.
func (x *retrograde) addVerticalWins(l *layer, moved []uint32, left uint32, after *layer) {
	row, rights := l.row(left), x.members[l.half-int(x.class[left])]
	newLeft := moved[left]
	var from []uint64
	if newLeft != winning {
		from = after.row(newLeft)
	}
	for at := range row {
		word := uint64(0)
		for j, right := range rights[64*at : min(64*at+64, len(rights))] {
			switch newRight := moved[right]; {
			case newLeft == winning || newRight == winning:
				word |= 1 << j
			case newLeft != left || newRight != right:
				to := x.place[newRight]
				word |= from[to>>6] >> (to & 63) & 1 << j
			}
		}
		row[at] |= word
	}
}

// addLeftWins adds the boards with a left half on which a move to the left wins. rights are the rows of the right halves, and starts has the first
// word of each row of a layer.
func (x *retrograde) addLeftWins(l *layer, left uint32, rights []uint64, after *layer, starts []uint32) {
	mask := uint64(1)<<x.rowBits - 1
	tables := make([][]uint64, x.rows) // of each row from the last: what a move makes of it, by its right half
	for i := range tables {
		from := int(x.rowsOf[left]>>(i*x.rowBits)&mask) * x.rowCodes
		tables[i] = x.left[x.rows-1-i][from : from+x.rowCodes]
	}
	codes := x.members[l.half-int(x.class[left])]
	row := l.row(left)
	for at, word := range row {
		open := ^word
		if n := len(rights) - 64*at; n < 64 {
			open &= 1<<n - 1
		}
		for ; open != 0; open &= open - 1 {
			j := bits.TrailingZeros64(open)
			i := 64*at + j
			both, rows := uint64(0), rights[i]
			for _, table := range tables {
				both += table[rows&mask]
				rows >>= x.rowBits
			}
			newLeft, newRight := uint32(both&leftMask), uint32(both>>rightShift)
			switch {
			case both>>winShift != 0:
				word |= 1 << j
			case newLeft != left || newRight != codes[i]:
				to := x.place[newRight]
				word |= after.words[starts[newLeft]+to>>6] >> (to & 63) & 1 << j
			}
		}
		row[at] = word
	}
}

// inParallel calls a function for 0 to n-1, in any order, on all processors.
func inParallel(n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}
