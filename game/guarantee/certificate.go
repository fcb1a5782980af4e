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

// textOf returns the exponents of a board in the order of their text, which begins in the highest bits.
func textOf(board game.Board) uint64 {
	x := bits.ReverseBytes64(uint64(board))
	const low = 0x0F0F_0F0F_0F0F_0F0F
	return x>>4&low | x&low<<4
}

// boardOf returns the board with a text.
func boardOf(text uint64) game.Board { return game.Board(textOf(game.Board(text))) }

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
	layers, err := newStrategy(f).findMoves(ctx)
	if err != nil {
		return 0, err
	}
	hash := sha256.New()
	writer := bufio.NewWriter(io.MultiWriter(w, hash)) // it keeps the first error of w
	side := "spawner"
	if f.Guaranteed {
		side = "player"
	}
	cells := f.problem.cells
	fmt.Fprintf(writer, "tilecheck guarantee 1\nboard %s\nmax %d\nside %s\n", f.problem.rules.Shape(), game.Value(f.problem.max), side)
	line := make([]byte, 0, game.MaxCells+2)
	for half, entries := range slices.Backward(layers) {
		if len(entries) == 0 {
			continue
		}
		boards += len(entries)
		fmt.Fprintf(writer, "sum %d\n", 2*half)
		for i, current := range entries {
			from := 0
			if i > 0 {
				from = bits.LeadingZeros64(current.text^entries[i-1].text) / 4
			}
			line = line[:0]
			for cell := from; cell < cells; cell++ {
				line = append(line, "0123456789abcdef"[current.text>>(60-4*cell)&15])
			}
			if f.Guaranteed {
				line = append(line, "LRUD"[current.move])
			}
			writer.Write(append(line, '\n'))
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
	}
	fmt.Fprintf(writer, "boards %d\n", boards)
	if err := writer.Flush(); err != nil {
		return 0, err
	}
	fmt.Fprintf(writer, "sha256 %x\n", hash.Sum(nil))
	return boards, writer.Flush()
}
