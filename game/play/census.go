package play

import (
	"context"
	"slices"

	"tilecheck/game"
)

// Census counts the states and transitions of the match as a Markov decision process, in the same way as the article's first diagram. A
// state is a board on which the player moves; rotated boards are different states. One more state stands for all lost boards, and one for
// all won boards. A transition is a triple of state, action and possible next state; the lost and the won state have one transition each.
// All states are kept in memory, so Census is for small boards. The match must have a goal and must stop there.
//
// Source: Lees-Miller 2018, "States, Actions and Transition Probabilities".
func Census(ctx context.Context, match Match) (states, transitions int64, err error) {
	if err := match.Validate(); err != nil {
		return 0, 0, err
	}
	rules, err := game.New(match.Shape)
	if err != nil {
		return 0, 0, err
	}
	boardCensus := census{match: match, rules: rules, seenBoards: make(map[game.Board]bool), finalStatuses: make(map[status]bool)}
	if err := boardCensus.run(ctx); err != nil {
		return 0, 0, err
	}
	ends := int64(len(boardCensus.finalStatuses))
	return int64(len(boardCensus.seenBoards)) + ends, boardCensus.transitions + ends, nil
}

// census collects the states and transitions for Census.
type census struct {
	match         Match
	rules         *game.Rules
	seenBoards    map[game.Board]bool // boards on which the player moves
	pending       []game.Board        // boards in seen whose transitions are not counted yet
	finalStatuses map[status]bool     // the statuses lost and won, as far as they were reached
	transitions   int64
}

// status says whether a game goes on, is lost or is won.
type status uint8

const (
	undecided status = iota
	lost
	won
)

// run visits all boards that can be reached from the boards with two tiles.
func (c *census) run(ctx context.Context) error {
	for _, firstBoard := range c.spawns(0) {
		for _, board := range c.spawns(firstBoard) {
			c.addBoard(board)
		}
	}
	for len(c.pending) > 0 && ctx.Err() == nil {
		board := c.pending[len(c.pending)-1]
		c.pending = c.pending[:len(c.pending)-1]
		if err := c.countTransitions(board); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// addBoard adds a reachable board and returns the status of the game on it.
func (c *census) addBoard(board game.Board) status {
	outcome := undecided
	switch {
	case c.match.won(game.Wide{Low: board}):
		outcome = won
	case c.rules.Legal(board) == 0:
		outcome = lost
	}
	if outcome != undecided {
		c.finalStatuses[outcome] = true
	} else if !c.seenBoards[board] {
		c.seenBoards[board] = true
		c.pending = append(c.pending, board)
	}
	return outcome
}

// countTransitions counts the transitions from a board on which the player moves, and adds their target boards.
func (c *census) countTransitions(board game.Board) error {
	legal := c.rules.Legal(board)
	for i := range legal.Len() {
		moved, _, err := c.rules.Move(board, legal.At(i))
		if err != nil {
			return err
		}
		if c.match.won(game.Wide{Low: moved}) {
			c.finalStatuses[won] = true
			c.transitions++
			continue
		}
		finalReached := make(map[status]bool) // all lost next boards are one next state; likewise all won ones
		for _, spawned := range c.spawns(moved) {
			if outcome := c.addBoard(spawned); outcome == undecided {
				c.transitions++
			} else {
				finalReached[outcome] = true
			}
		}
		c.transitions += int64(len(finalReached))
	}
	return nil
}

// spawns returns the boards that result from adding one new tile to a board, without duplicates.
func (c *census) spawns(board game.Board) []game.Board {
	var boards []game.Board
	for n := range c.rules.NumEmptyCells(board) {
		boards = append(boards, c.rules.Spawn(board, n, 1), c.rules.Spawn(board, n, 2))
	}
	return boards
}

// Classes counts the states of the match as [Census] does, but counts boards that are rotations or reflections of each other once.
//
// Every new tile increases the sum of the tiles. Classes therefore visits the boards in the order of their sums and holds only the boards
// of three sums in memory.
//
// Source: Lees-Miller 2018, appendix A.
func Classes(ctx context.Context, match Match) (states int64, err error) {
	if err := match.Validate(); err != nil {
		return 0, err
	}
	rules, err := game.New(match.Shape)
	if err != nil {
		return 0, err
	}
	counter := classes{match: match, rules: rules, layers: make(map[int64][]game.Board), finalStatuses: make(map[status]bool)}
	for exponent := 1; exponent <= 2; exponent++ { // exponent of the first tile on the empty board
		firstBoards := counter.addTile([]game.Board{0}, exponent)
		counter.addLayer(int64(game.Value(exponent))+2, counter.addTile(firstBoards, 1))
		counter.addLayer(int64(game.Value(exponent))+4, counter.addTile(firstBoards, 2))
	}
	for sum := int64(4); sum <= match.maxSum(); sum += 2 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		nextBoards, err := counter.expandLayer(counter.removeLayer(sum))
		if err != nil {
			return 0, err
		}
		counter.addLayer(sum+2, counter.addTile(nextBoards, 1))
		counter.addLayer(sum+4, counter.addTile(nextBoards, 2))
	}
	return counter.states + int64(len(counter.finalStatuses)), nil
}

// classes collects the canonical boards for Classes.
type classes struct {
	match         Match
	rules         *game.Rules
	layers        map[int64][]game.Board // canonical boards that are not visited yet, by the sum of their tiles
	finalStatuses map[status]bool        // the statuses lost and won, as far as they were reached
	states        int64
}

func (c *classes) addLayer(sum int64, boards []game.Board) {
	c.layers[sum] = append(c.layers[sum], boards...)
}

// removeLayer removes the boards with that sum from the layers and returns them without duplicates.
func (c *classes) removeLayer(sum int64) []game.Board {
	boards := c.layers[sum]
	delete(c.layers, sum)
	slices.Sort(boards)
	return slices.Compact(boards)
}

// expandLayer counts boards as states. It returns the canonical boards after their moves and before the new tile, without duplicates.
func (c *classes) expandLayer(boards []game.Board) (movedBoards []game.Board, err error) {
	for _, board := range boards {
		legal := c.rules.Legal(board)
		switch {
		case c.match.won(game.Wide{Low: board}):
			c.finalStatuses[won] = true
			continue
		case legal == 0:
			c.finalStatuses[lost] = true
			continue
		}
		c.states++
		for i := range legal.Len() {
			moved, _, err := c.rules.Move(board, legal.At(i))
			if err != nil {
				return nil, err
			}
			if c.match.won(game.Wide{Low: moved}) {
				c.finalStatuses[won] = true
				continue
			}
			leastImage, _ := c.rules.Canonical(moved)
			movedBoards = append(movedBoards, leastImage)
		}
	}
	slices.Sort(movedBoards)
	return slices.Compact(movedBoards), nil
}

// addTile returns the canonical boards that result from adding one tile with that exponent to each board, without duplicates.
func (c *classes) addTile(boards []game.Board, exponent int) []game.Board {
	var results []game.Board
	for _, board := range boards {
		for empty := range c.rules.NumEmptyCells(board) {
			leastImage, _ := c.rules.Canonical(c.rules.Spawn(board, empty, exponent))
			results = append(results, leastImage)
		}
	}
	slices.Sort(results)
	return slices.Compact(results)
}
