package guarantee

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"tilecheck/game"
)

// entry is a board of a certificate, with the move of the player.
type entry struct {
	text uint64 // the exponents of the tiles, row by row from the highest bits
	move game.Dir
}

// textOf returns the exponents of a board in the order of their text, which begins in the highest bits.
func textOf(b game.Board) uint64 {
	x := bits.ReverseBytes64(uint64(b))
	const low = 0x0F0F_0F0F_0F0F_0F0F
	return x>>4&low | x&low<<4
}

// WriteCertificate writes the certificate of the answer: text in lines, so that a checker is a short program in any language. It returns the number of
// its boards.
//
//	tilecheck guarantee 1
//	board 2x2
//	max 8
//	side player
//	sum 10
//	0122U
//	212L
//	sum 8
//	…
//	boards 15
//	sha256 …
//
// The side is the player, if the tile is guaranteed, else the spawner. Boards stand behind the sum of their tiles. Sums descend; within a sum, the
// texts of the boards ascend. A board is the exponents of its tiles row by row in hexadecimal, 0 for an empty cell, and stands for its images under
// the symmetries. The digits that it has in common with the board before, at the beginning, are left out; the first board of a sum is
// complete. Behind the board is the player's move, if the side is the player: U, D, L or R. The last line has the SHA-256 of all lines before it.
func (f *Found) WriteCertificate(ctx context.Context, w io.Writer) (boards int, err error) {
	layers, err := f.strategy(ctx)
	if err != nil {
		return 0, err
	}
	hash := sha256.New()
	out := bufio.NewWriter(io.MultiWriter(w, hash)) // it keeps the first error of w
	side := "spawner"
	if f.Guaranteed {
		side = "player"
	}
	cells := f.problem.cells
	fmt.Fprintf(out, "tilecheck guarantee 1\nboard %s\nmax %d\nside %s\n", f.problem.rules.Shape(), game.Value(f.problem.max), side)
	line := make([]byte, 0, game.MaxCells+2)
	for half, entries := range slices.Backward(layers) {
		if len(entries) == 0 {
			continue
		}
		boards += len(entries)
		fmt.Fprintf(out, "sum %d\n", 2*half)
		slices.SortFunc(entries, func(a, b entry) int {
			if a.text < b.text {
				return -1
			}
			return 1
		})
		for i, e := range entries {
			from := 0
			if i > 0 {
				from = bits.LeadingZeros64(e.text^entries[i-1].text) / 4
			}
			line = line[:0]
			for cell := from; cell < cells; cell++ {
				line = append(line, "0123456789abcdef"[e.text>>(60-4*cell)&15])
			}
			if f.Guaranteed {
				line = append(line, "LRUD"[e.move])
			}
			out.Write(append(line, '\n'))
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
	}
	fmt.Fprintf(out, "boards %d\n", boards)
	if err := out.Flush(); err != nil {
		return 0, err
	}
	fmt.Fprintf(out, "sha256 %x\n", hash.Sum(nil))
	return boards, out.Flush()
}

// strategy returns the boards that a strategy of the winning side reaches, by half of the sum of their tiles. Among the winning moves, or new tiles, it
// takes one that adds few boards to those that are there already.
func (f *Found) strategy(ctx context.Context) ([][]entry, error) {
	x := &extraction{problem: f.problem, decided: f.decided, added: newTable()}
	var start game.Board // of the spawner
	for _, first := range x.spawned(0) {
		switch {
		case first.AtLeast(x.max):
		case f.Guaranteed:
			x.addAll(first)
		default:
			for _, b := range x.spawned(first) {
				if better(b, start) && x.decided.get(b) == loses {
					start = b
				}
			}
		}
	}
	if start != 0 {
		x.add(start)
	}
	for half := 0; half < len(x.layers); half++ {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if f.Guaranteed {
			x.addMoves(x.layers[half])
		} else {
			x.addAnswers(x.layers[half])
		}
	}
	return x.layers, nil
}

// extraction finds the boards of a strategy.
type extraction struct {
	problem
	decided decisions
	added   *table // boards that are in layers
	layers  [][]entry
}

// add adds a board to the strategy.
func (x *extraction) add(b game.Board) {
	if x.added.get(b) != 0 {
		return
	}
	x.added.set(b, 1)
	half := b.Sum() / 2
	for len(x.layers) <= half {
		x.layers = append(x.layers, nil)
	}
	x.layers[half] = append(x.layers[half], entry{text: textOf(b)})
}

// addAll adds all boards after a new tile.
func (x *extraction) addAll(after game.Board) {
	for _, b := range x.spawned(after) {
		if !b.AtLeast(x.max) {
			x.add(b)
		}
	}
}

// boardOf returns the board with a text.
func boardOf(text uint64) game.Board { return game.Board(textOf(game.Board(text))) }

// addMoves adds a winning move to each board of a layer, and the boards after it.
func (x *extraction) addMoves(layer []entry) {
	for i := range layer {
		layer[i].move = x.addMove(boardOf(layer[i].text))
	}
}

// addMove returns a winning move on a board and adds the boards after it.
func (x *extraction) addMove(b game.Board) game.Dir {
	var next [4]game.Board
	legal, _ := x.rules.Moved(b, &next)
	best, least := game.Dir(0), 2*game.MaxCells+1
	for i := range legal.Len() {
		dir := legal.At(i)
		if next[dir].AtLeast(x.max) {
			return dir
		}
		if n, known := x.newBoards(next[dir]); known && n < least {
			best, least = dir, n
		}
	}
	x.addAll(next[best])
	return best
}

// newBoards returns how many of the boards after a new tile are not in the strategy, and whether the player is known to win on all of them.
func (x *extraction) newBoards(after game.Board) (n int, known bool) {
	for _, b := range x.spawned(after) {
		if x.added.get(b) != 0 || b.AtLeast(x.max) {
			continue
		}
		if x.decided.get(b) != wins {
			return 0, false
		}
		n++
	}
	return n, true
}

// addAnswers adds, for each move of the boards of a layer, a losing board after it.
func (x *extraction) addAnswers(layer []entry) {
	for _, e := range layer {
		var next [4]game.Board
		legal, _ := x.rules.Moved(boardOf(e.text), &next)
		for i := range legal.Len() {
			x.addLosing(next[legal.At(i)])
		}
	}
}

// addLosing adds a losing board after a new tile, if there is one and none is added already. It prefers a 4, after which fewer boards can follow, and then
// the least board, so that equal tiles are answered in similar places: on 2x5 to 128 this saves a quarter of the boards.
func (x *extraction) addLosing(after game.Board) {
	var best game.Board
	for _, b := range x.spawned(after) {
		if x.added.get(b) != 0 {
			return
		}
		if better(b, best) && x.decided.get(b) == loses {
			best = b
		}
	}
	if best != 0 {
		x.add(best)
	}
}

// better reports whether the spawner prefers a board to another one; 0 stands for none.
func better(b, than game.Board) bool {
	if than == 0 || b.Sum() != than.Sum() {
		return b.Sum() > than.Sum()
	}
	return b < than
}
