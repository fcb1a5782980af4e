package game

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
)

// MaxWideExponent is the largest exponent of a cell of a Wide board: 2^17 = 131072, the largest tile that a game on 16 cells can make.
const MaxWideExponent = 17

// Wide is a board with tiles to 131072: the fifth bit of each exponent is in a word of its own. While no tile exceeds 32768, High is 0 and
// Low is the Board, so that all of such a game is played with the tables of Board.
type Wide struct {
	Low  Board  // the lower four bits of each exponent
	High uint64 // the flags of the cells with a tile of 2^16 or more; cell i is bit 4i
}

// Cell returns the exponent of cell i, 0 when it is empty. It panics unless 0 <= i < MaxCells.
func (w Wide) Cell(i int) int { return w.Low.Cell(i) | int(w.High>>(4*i)&1)<<4 }

// With returns w with an exponent in cell i. It panics unless 0 <= i < MaxCells and 0 <= exponent <= MaxWideExponent.
func (w Wide) With(i, exponent int) Wide {
	checkRange("exponent", exponent, MaxWideExponent+1)
	return Wide{w.Low.With(i, exponent&15), w.High&^(1<<(4*i)) | uint64(exponent>>4)<<(4*i)}
}

// Narrow returns w as a Board. It reports false if a tile does not fit.
func (w Wide) Narrow() (Board, bool) { return w.Low, w.High == 0 }

// Max returns the largest exponent on the board, 0 when it is empty.
func (w Wide) Max() int {
	if w.High == 0 {
		return w.Low.Max()
	}
	return 16 + Board(uint64(w.Low)&(w.High*15)).Max()
}

// AtLeast reports whether a tile of this exponent or a greater one is on the board; 1 <= exponent <= MaxWideExponent, or it panics.
func (w Wide) AtLeast(exponent int) bool {
	if exponent <= MaxExponent {
		return w.High != 0 || w.Low.AtLeast(exponent)
	}
	checkRange("exponent less one", exponent-1, MaxWideExponent)
	return w.Max() >= exponent
}

// String returns the exponents as Board.String does, g and h for 16 and 17.
func (w Wide) String() string {
	text := []byte(w.Low.String())
	for high := w.High; high != 0; high &= high - 1 {
		i := bits.TrailingZeros64(high) / 4
		text[i] = "gh"[w.Cell(i)-16]
	}
	return string(text)
}

// taken returns a board with some tile in each cell that is not empty.
func (w Wide) taken() Board { return w.Low | Board(w.High) }

// MoveWide is Move on a Wide board. The error is ErrOverflow if a tile would exceed 131072, which cannot happen in a game.
//
// It must not be called for rules of NewPublished with tiles above 32768.
func (r *Rules) MoveWide(w Wide, dir Dir) (moved Wide, score int, err error) {
	if w.High == 0 {
		b, score, err := r.Move(w.Low, dir)
		if err == nil {
			return Wide{Low: b}, score, nil
		}
	}
	return r.moveValues(w, dir)
}

// moveValues moves line by line with Slide. Games have few such moves.
func (r *Rules) moveValues(w Wide, dir Dir) (moved Wide, score int, err error) {
	checkRange("direction", int(dir), numDirs)
	lines, cells := r.shape.Rows, r.shape.Cols
	if dir == Up || dir == Down {
		lines, cells = cells, lines
	}
	line := make([]int, cells)
	for i := range lines {
		cell := func(k int) int { // the cells of line i, in the order in which its tiles slide
			if dir == Right || dir == Down {
				k = cells - 1 - k
			}
			if dir == Left || dir == Right {
				return i*cells + k
			}
			return k*lines + i
		}
		for k := range line {
			line[k] = Value(w.Cell(cell(k)))
		}
		slid, gain := Slide(line)
		score += gain
		for k, value := range slid {
			exponent := 0
			if value > 0 {
				exponent = bits.TrailingZeros(uint(value))
			}
			if exponent > MaxWideExponent {
				return w, 0, ErrOverflow
			}
			moved = moved.With(cell(k), exponent)
		}
	}
	return moved, score, nil
}

// LegalWide is Legal on a Wide board.
func (r *Rules) LegalWide(w Wide) Moves {
	if w.High == 0 {
		return r.Legal(w.Low)
	}
	b, ok := w.Downgraded(MaxExponent)
	if !ok {
		return 0 // sixteen different tiles
	}
	return r.Legal(b)
}

// AddRandomWide is AddRandom on a Wide board. It draws the same tile from the same stream.
func (r *Rules) AddRandomWide(w Wide, rng *rand.Rand) Wide {
	taken := w.taken()
	w.Low |= r.AddRandom(taken, rng) ^ taken
	return w
}

// SpawnWide is Spawn on a Wide board.
func (r *Rules) SpawnWide(w Wide, n, exponent int) Wide {
	taken := w.taken()
	w.Low |= r.Spawn(taken, n, exponent) ^ taken
	return w
}

// Downgraded returns a board without tiles above 2^most that has the same legal moves: tiles that are equal, or different, or in an order on w are so
// on the board. Until it fits, all tiles above the largest missing tile are halved. It reports false if no smaller tile is missing.
//
// Players that know tiles to 2^most see it in place of w. It says less than w about which merges follow each other.
//
// Source: Guei, Chen and Wu, Optimistic temporal difference learning for 2048 (IEEE Transactions on Games 2021), tile-downgrading.
func (w Wide) Downgraded(maxTiles int) (Board, bool) {
	var exps [MaxCells]int
	var there uint32 // bit e is set if exponent e is on the board
	for i := range exps {
		exps[i] = w.Cell(i)
		there |= 1 << exps[i]
	}
	there |= 1
	for largest := bits.Len32(there) - 1; largest > maxTiles; largest-- {
		missing := bits.Len32(^there&(1<<largest-1)) - 1
		if missing < 0 {
			return 0, false
		}
		there = there&(1<<missing-1) | there>>(missing+1)<<missing
		for i := range exps {
			if exps[i] > missing {
				exps[i]--
			}
		}
	}
	var board Board
	for i, exponent := range exps {
		board = board.With(i, exponent)
	}
	return board, true
}

// WideValues returns the tile values 0, 2, 4, ..., 131072 of a Wide board, row-major, Cells() of them. The shape must be valid.
func (s Shape) WideValues(w Wide) []int {
	values := make([]int, s.Cells())
	for i := range values {
		values[i] = Value(w.Cell(i))
	}
	return values
}

// Wide packs tile values, row-major. It is the inverse of WideValues: there must be Cells() of them, each 0 or a power of two in 2..131072.
func (s Shape) Wide(values []int) (Wide, error) {
	if err := s.checkValues(values); err != nil {
		return Wide{}, err
	}
	var w Wide
	for i, value := range values {
		exponent, ok := wideExponent(value)
		if !ok {
			return Wide{}, fmt.Errorf("cell %d is %d, want 0 or a power of two from 2 to %d", i, value, Value(MaxWideExponent))
		}
		w = w.With(i, exponent)
	}
	return w, nil
}

// DrawWide is Draw for a Wide board.
func (s Shape) DrawWide(w Wide) string { return s.drawValues(s.WideValues(w)) }

// FormatWide is Format for a Wide board.
func (s Shape) FormatWide(w Wide) string { return s.formatValues(s.WideValues(w)) }
