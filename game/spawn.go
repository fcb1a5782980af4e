package game

import (
	"math/bits"
	"math/rand/v2"
)

// FourOdds says how often a new tile is a 4: once in FourOdds times; otherwise it is a 2.
const FourOdds = 10

// Spawn puts a tile with an exponent into the n-th empty cell, row-major and counted from 0.
// It panics unless 0 <= n < NumEmptyCells(b) and 1 <= exponent <= MaxExponent.
func (r *Rules) Spawn(board Board, n, exponent int) Board {
	checkRange("empty cell", n, r.NumEmptyCells(board))
	checkRange("exponent less one", exponent-1, MaxExponent)
	return board | Board(exponent)<<nthFlag(r.cells&^filled(board), uint64(n))
}

// AddRandom puts a 2, or once in FourOdds times a 4, into an empty cell chosen uniformly. It draws once from rng (with the usual
// rejection, so nothing is biased). It panics when the board is full.
//
// Source: thesis section 3.1; the rejection is that of Lemire 2019, Fast random integer generation in an interval.
func (r *Rules) AddRandom(board Board, rng *rand.Rand) Board {
	for {
		if spawned, _, ok := r.placeTile(board, rng.Uint64(), 1); ok {
			return spawned
		}
	}
}

// placeTile puts a new tile on a board. draw determines the cell and the exponent. It reports false for the draws to be rejected. It panics when the
// board is full.
//
// The draw times the number of empty cells is the cell, above 64 bits, and a fraction; the fraction times FourOdds says which tile it is,
// and leaves a fraction. Each cell and tile has equally many draws, but for some with the smallest fractions, which are rejected. The
// draw may itself be the fraction left by a draw from so many parts.
func (r *Rules) placeTile(board Board, draw, parts uint64) (spawned Board, exponent uint64, ok bool) {
	empty := r.cells &^ filled(board)
	n := uint64(bits.OnesCount64(empty))
	if n == 0 {
		panic("game: new tile on a full board")
	}
	cell, draw := bits.Mul64(draw, n)
	tile, draw := bits.Mul64(draw, FourOdds)
	if outcomes := parts * n * FourOdds; draw < outcomes && draw < -outcomes%outcomes {
		return board, 0, false
	}
	exponent = 1
	if tile == 0 {
		exponent = 2
	}
	return board | Board(exponent)<<(nthFlag(empty, cell)&63), exponent, true
}

// Start returns the board a game starts with: two random tiles.
func (r *Rules) Start(rng *rand.Rand) Board { return r.AddRandom(r.AddRandom(0, rng), rng) }

// nthFlag returns where the n-th flag is, in bits and counted from 0; there must be more than n, and one flag a cell at most.
//
// The flags of cells 2i and 2i+1 are counted in byte i of pairs, those of cells up to 2i+1 in byte i of upTo. The n-th flag is in the first byte
// where upTo is more than n: as many bytes come before it as there are where it is not.
func nthFlag(flags, n uint64) uint64 {
	const bytes, topBits = 0x0101_0101_0101_0101, 0x8080_8080_8080_8080
	pairs := (flags + flags>>4) & (3 * bytes)
	upTo := pairs * bytes
	bytesBefore := (n*bytes | topBits) - upTo // the top bit of a byte stays where upTo <= n
	shift := 8 * uint64(bits.OnesCount64(bytesBefore&topBits))
	rank := n - upTo<<8>>(shift&63)&0xFF
	lower := flags >> (shift & 63) & 1
	return shift + 4*(rank|(lower^1))
}
