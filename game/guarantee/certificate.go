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
func textOf(board game.Board) uint64 {
	x := bits.ReverseBytes64(uint64(board))
	const low = 0x0F0F_0F0F_0F0F_0F0F
	return x>>4&low | x&low<<4
}

// WriteCertificate writes the certificate of the answer: text in lines, so that a checker is a short program in any language. It returns the number
// of its boards.
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

// strategy returns the boards that a strategy of the winning side reaches, by half of the sum of their tiles. If the tile is guaranteed, this is a
// strategy of the player, otherwise of the spawner. Among the winning moves, or new tiles, it selects one that adds few boards.
func (f *Found) strategy(ctx context.Context) ([][]entry, error) {
	x := &extraction{problem: f.problem, decided: f.decided, added: newTable()}
	var start game.Board // the first board of a strategy of the spawner; 0 if there is none
	for _, first := range x.spawned(0) {
		switch {
		case first.AtLeast(x.max):
		case f.Guaranteed:
			x.addAll(first)
		default:
			for _, board := range x.spawned(first) {
				if better(board, start) && x.decided.get(board) == loses {
					start = board
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
func (x *extraction) add(board game.Board) {
	if x.added.get(board) != 0 {
		return
	}
	x.added.set(board, 1)
	half := board.Sum() / 2
	for len(x.layers) <= half {
		x.layers = append(x.layers, nil)
	}
	x.layers[half] = append(x.layers[half], entry{text: textOf(board)})
}

// addAll adds all boards after a new tile.
func (x *extraction) addAll(after game.Board) {
	for _, board := range x.spawned(after) {
		if !board.AtLeast(x.max) {
			x.add(board)
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

// addMove returns a winning move on a board, and adds the boards after this move and a new tile. It prefers the move that adds the fewest boards.
func (x *extraction) addMove(board game.Board) game.Dir {
	var next [4]game.Board
	legal, _ := x.rules.Moved(board, &next)
	best, fewest := game.Dir(0), 2*game.MaxCells+1
	for i := range legal.Len() {
		dir := legal.At(i)
		if next[dir].AtLeast(x.max) {
			return dir
		}
		if added, known := x.newBoards(next[dir]); known && added < fewest {
			best, fewest = dir, added
		}
	}
	x.addAll(next[best])
	return best
}

// newBoards returns the number of boards after a new tile that are not in the strategy yet. known is false if the player is not known to win on one
// of them.
func (x *extraction) newBoards(after game.Board) (count int, known bool) {
	for _, board := range x.spawned(after) {
		if x.added.get(board) != 0 || board.AtLeast(x.max) {
			continue
		}
		if x.decided.get(board) != wins {
			return 0, false
		}
		count++
	}
	return count, true
}

// addAnswers adds the answers of the spawner to all moves on the boards of a layer: for each move, a board after it on which the player loses.
func (x *extraction) addAnswers(layer []entry) {
	for _, losing := range layer {
		var next [4]game.Board
		legal, _ := x.rules.Moved(boardOf(losing.text), &next)
		for i := range legal.Len() {
			x.addLosing(next[legal.At(i)])
		}
	}
}

// addLosing adds a board after a new tile on which the player loses, unless there is none or one was added before. It prefers a new 4, because fewer
// boards can follow, and then the least board. Then similar boards have similar answers: for the tile 128 on 2x5 this saves a quarter of the boards.
func (x *extraction) addLosing(after game.Board) {
	var best game.Board
	for _, board := range x.spawned(after) {
		if x.added.get(board) != 0 {
			return
		}
		if better(board, best) && x.decided.get(board) == loses {
			best = board
		}
	}
	if best != 0 {
		x.add(best)
	}
}

// better reports whether the spawner prefers a board to another one; 0 stands for none.
func better(board, than game.Board) bool {
	if than == 0 || board.Sum() != than.Sum() {
		return board.Sum() > than.Sum()
	}
	return board < than
}
