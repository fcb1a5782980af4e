// Package game is 2048's rules on boards of up to 16 cells, packed four bits a cell into a [Board].
//
// [New] builds the [Rules] of one [Shape] once; [Rules.Move] slides and merges; [Rules.Spawn] and [Rules.AddRandom] put the
// new tile down. [Rules.Legal] and [Rules.Lost] say whether play can go on.
//
//	rules, err := game.New(game.Shape{Rows: 4, Cols: 4})
//	board := rules.Start(rng)
//	for legal := rules.Legal(board); legal != 0; legal = rules.Legal(board) {
//		if board, _, err = rules.Move(board, legal.At(rng.IntN(legal.Len()))); err != nil {
//			return err
//		}
//		board = rules.AddRandom(board, rng)
//	}
//
// [Slide] is the same move on one line of plain values, written to be read: it is the oracle of everything faster.
//
// A cell of a Board holds at most 2^15 = 32768. A merge beyond that is [ErrOverflow], never a tile that vanishes or stops growing. Whole games are
// played on a [Wide] board, which has tiles to 131072 and is a Board until then.
//
// The package knows neither phases, nor models, nor what a good move is: it imports the standard library only. [Preference] and
// [Alternating] are here because they are functions of the legal moves alone; players that look at the board are elsewhere.
//
// Source: thesis section 3.1, after https://github.com/gabrielecirulli/2048.
package game
