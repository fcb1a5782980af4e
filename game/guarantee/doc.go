// Package guarantee decides which tiles of 2048 are guaranteed, and proves it.
//
// A tile is guaranteed if the player has a strategy that makes it whatever tiles come and wherever they fall. This is the same as a winning
// probability of 1: every new tile has a positive probability, and games are finite. So the answer is the same against chance and against every
// opponent of package solve.
//
//	found, err := guarantee.Search(ctx, guarantee.Options{Rules: rules, Max: 5})
//	err = found.WriteCertificate(ctx, w)
//
// [Search] begins with a depth-first search and a table of the boards that it has decided. It looks at fewer boards than package solve, which
// enumerates all that the player can come to: a winning move ends the search of a board, and so does a new tile that loses.
//
// If the search has decided a million boards without an answer, retrograde analysis takes its place. It decides boards without the winning tile, by
// layers of the sum of their tiles, with one bit each: at first those up to a limit of the sum, with all others as won or as lost. A board is cut
// into two halves. For each left half, the bits of all right halves stand in a row. So 64 boards are combined by one instruction for new tiles in the
// left half, and after a transposition for those in the right half. This needs two halves of at least two rows, at most 2^18 different halves, and
// memory for the bits; else the depth-first search goes on.
//
// # The certificate
//
// A guaranteed tile has a set of boards with a move each. The set has every board after the first two tiles, and with a board every
// board that a new tile can make of its move, unless the move makes the tile. So the player stays in the set until the tile is made. This happens
// at last, because new tiles increase the sum of the tiles, which is bounded while the tile is not there.
//
// A tile that is not guaranteed has a set of boards that the spawner can stay in. It has a board after the first two tiles; no move
// of its boards makes the tile, and after each move some new tile leads to a board of the set. The sum of the tiles is bounded, so the
// game ends in a board without a move.
//
// Package certify/tiles checks both by rules of its own. Symmetric boards count as one.
package guarantee
