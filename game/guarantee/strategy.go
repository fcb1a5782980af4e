package guarantee

import (
	"cmp"
	"context"
	"slices"

	"tilecheck/game"
)

// strategy finds the boards that a strategy of the winning side reaches. Among the winning moves, or new tiles, it takes one that adds few boards to
// those that are there already. Boards are found by layers of the sum of their tiles, upwards; each layer is processed in batches of a fixed size.
// All boards of a batch are compared with the boards before the batch, so the result does not depend on the number of workers.
type strategy struct {
	problem
	decisions
	guaranteed bool
	tileKeys   [game.MaxCells]uint64 // the key of a 2 in each cell
	added      boardSet              // the boards that are in layers
	layers     [][]entry             // by half of the sum of the tiles
}

// entry is a board of a strategy, with the move of the player.
type entry struct {
	text uint64 // the exponents of the tiles, row by row from the highest bits
	move game.Dir
}

// decisions has what is known of the boards on which the player moves. A board is given by its key, which is the sum of the keys of its tiles. The
// key of a tile is its exponent times that of a 2 in its cell.
type decisions interface {
	key(board game.Board) uint64
	// get returns wins, loses, or 0 if nothing is known. half is half of the sum of the tiles.
	get(key uint64, half int) uint8
	newSet() boardSet
}

// boardSet is a set of boards. With a board, it contains the images under the symmetries.
type boardSet interface {
	has(key uint64, half int) bool
	add(board game.Board, half int)
	// dropLayer removes the boards with a sum.
	dropLayer(half int)
}

const (
	wins  = 1 // the player can make the tile for certain
	loses = 2 // the spawner can prevent it
)

func newStrategy(found *Found) *strategy {
	x := &strategy{problem: found.problem, decisions: found.decided, guaranteed: found.Guaranteed, added: found.decided.newSet()}
	for cell := range x.cells {
		x.tileKeys[cell] = x.key(game.Board(1) << (4 * cell))
	}
	return x
}

// findMoves returns the boards by half of the sum of their tiles. The texts of the boards of a sum ascend. The error is that of ctx.
func (x *strategy) findMoves(ctx context.Context) ([][]entry, error) {
	x.addStartBoards()
	for half := 0; half < len(x.layers); half++ { // finish adds layers
		layer := x.layers[half]
		for from := 0; from < len(layer); from += batchBoards {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			x.addSuccessorsOf(layer[from:min(from+batchBoards, len(layer))], half)
		}
		x.added.dropLayer(half)
	}
	inParallel(x.workers, len(x.layers), func(half int) {
		slices.SortFunc(x.layers[half], func(leftEntry, rightEntry entry) int { return cmp.Compare(leftEntry.text, rightEntry.text) })
	})
	return x.layers, nil
}

// addStartBoards adds the boards after the first two tiles: all of them for the player, one for the spawner.
func (x *strategy) addStartBoards() {
	var startBoard game.Board // of the spawner
	for _, firstBoard := range x.spawned(0) {
		for _, board := range x.spawned(firstBoard) {
			switch {
			case board.AtLeast(x.max):
			case x.guaranteed:
				x.addBoard(board)
			case better(board, startBoard) && x.get(x.key(board), board.Sum()/2) == loses:
				startBoard = board
			}
		}
	}
	if startBoard != 0 {
		x.addBoard(startBoard)
	}
}

// addBoard adds a canonical board to the strategy, if it is not there already.
func (x *strategy) addBoard(board game.Board) {
	half := board.Sum() / 2
	if x.added.has(x.key(board), half) {
		return
	}
	x.added.add(board, half)
	for len(x.layers) <= half {
		x.layers = append(x.layers, nil)
	}
	x.layers[half] = append(x.layers[half], entry{text: textOf(board)})
}

const (
	// batchBoards is the number of boards that are processed without knowing which boards the others add.
	batchBoards = 1 << 8
	// partBoards is the number of boards that a worker takes at a time.
	partBoards = 1 << 5
)

// addSuccessorsOf adds the successors of a batch of boards whose tiles have the sum 2*half. If the player wins, it also selects the player's moves.
func (x *strategy) addSuccessorsOf(batch []entry, half int) {
	newBoards := make([][]game.Board, (len(batch)+partBoards-1)/partBoards)
	inParallel(x.workers, len(newBoards), func(partIndex int) {
		entries := batch[partIndex*partBoards : min((partIndex+1)*partBoards, len(batch))]
		for i := range entries {
			if x.guaranteed {
				newBoards[partIndex] = x.appendMove(newBoards[partIndex], &entries[i], half)
			} else {
				newBoards[partIndex] = x.appendAnswers(newBoards[partIndex], boardOf(entries[i].text), half)
			}
		}
	})
	for _, boards := range newBoards {
		for _, board := range boards {
			x.addBoard(board)
		}
	}
}

// appendMove selects a winning move on a board and appends the boards after it that are not in the strategy.
func (x *strategy) appendMove(boards []game.Board, current *entry, half int) []game.Board {
	var moved [4]game.Board
	legal, _ := x.rules.Moved(boardOf(current.text), &moved)
	bestDir, fewestNew := game.Dir(0), 2*game.MaxCells+1
	for i := range legal.Len() {
		dir := legal.At(i)
		if moved[dir].AtLeast(x.max) {
			current.move = dir
			return boards
		}
		if added, isKnown := x.newBoards(moved[dir], half); isKnown && added < fewestNew {
			bestDir, fewestNew = dir, added
		}
	}
	current.move = bestDir
	afterstate := moved[bestDir]
	key := x.key(afterstate)
	for cell, tile := range x.tileKeys[:x.cells] {
		if afterstate>>(4*cell)&15 != 0 {
			continue
		}
		for exp := 1; exp <= min(2, x.max-1); exp++ {
			if !x.added.has(key+uint64(exp)*tile, half+exp) {
				board, _ := x.rules.Canonical(afterstate | game.Board(exp)<<(4*cell))
				boards = append(boards, board)
			}
		}
	}
	return boards
}

// newBoards returns how many of the boards after a new tile are not in the strategy, and whether the player is known to win on all of them. half is
// half of the sum of the tiles before the new tile.
func (x *strategy) newBoards(afterstate game.Board, half int) (count int, isKnown bool) {
	key := x.key(afterstate)
	for cell, tile := range x.tileKeys[:x.cells] {
		if afterstate>>(4*cell)&15 != 0 {
			continue
		}
		for exp := 1; exp <= min(2, x.max-1); exp++ {
			key := key + uint64(exp)*tile
			if x.added.has(key, half+exp) {
				continue
			}
			if x.get(key, half+exp) != wins {
				return 0, false
			}
			count++
		}
	}
	return count, true
}

// appendAnswers appends a losing board after each move of a board.
func (x *strategy) appendAnswers(boards []game.Board, board game.Board, half int) []game.Board {
	var moved [4]game.Board
	legal, _ := x.rules.Moved(board, &moved)
	for i := range legal.Len() {
		if answer := x.answer(moved[legal.At(i)], half); answer != 0 {
			boards = append(boards, answer)
		}
	}
	return boards
}

// answer returns a losing board after a new tile. It returns 0 if there is none, or if one is in the strategy already. It prefers a 4, after which
// fewer boards can follow, and then the least board, so that equal tiles are answered in similar places: on 2x5 to 128 this saves a quarter of the
// boards.
func (x *strategy) answer(afterstate game.Board, half int) (bestBoard game.Board) {
	key := x.key(afterstate)
	for exp := min(2, x.max-1); exp > 0; exp-- {
		for cell, tile := range x.tileKeys[:x.cells] {
			if afterstate>>(4*cell)&15 == 0 && x.added.has(key+uint64(exp)*tile, half+exp) {
				return 0
			}
		}
	}
	for exp := min(2, x.max-1); exp > 0 && bestBoard == 0; exp-- {
		for cell, tile := range x.tileKeys[:x.cells] {
			if afterstate>>(4*cell)&15 != 0 || x.get(key+uint64(exp)*tile, half+exp) != loses {
				continue
			}
			board, _ := x.rules.Canonical(afterstate | game.Board(exp)<<(4*cell))
			if bestBoard == 0 || board < bestBoard {
				bestBoard = board
			}
		}
	}
	return bestBoard
}

// better reports whether the spawner prefers a board to another one; 0 stands for none.
func better(board, than game.Board) bool {
	if than == 0 || board.Sum() != than.Sum() {
		return board.Sum() > than.Sum()
	}
	return board < than
}
