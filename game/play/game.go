package play

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"tilecheck/game"
	"tilecheck/game/strategy"
)

// Game is the result of one game. Everything but Time is determined by the match, the strategy and Index.
type Game struct {
	Index  int64
	Score  int64 // sum of the values of the merged tiles
	Moves  int64
	Spawns int64 // new tiles, with the two of the start
	Max    int   // exponent of the largest tile; only under published updates can this tile vanish before the end
	Won    bool  // the goal was reached
	// WinMoves is the number of moves until the goal was first on the board, 0 if it never was.
	WinMoves int64
	// Acts is the number of moves at which the shield acted, 0 without a shield.
	Acts int64
	// Overflow says that the game ended because the player looks ahead on boards with tiles to 32768, and even a downgraded board has no room for
	// the merges that it saw (see game.Wide.Downgraded).
	Overflow bool
	Time     time.Duration
}

// same reports whether two games are equal in everything but their time.
func (g Game) same(o Game) bool {
	g.Time = o.Time
	return g == o
}

// Frame is one position of a game: the start, or the board after a move and the new tile.
type Frame struct {
	Moves int64     // number of moves so far, 0 at the start
	Dir   game.Dir  // the last move, undefined at the start
	Moved game.Wide // the board after the move, before the new tile
	Board game.Wide // the board after the new tile; equal to Moved if the move ended the game
	Score int64     // the score so far
}

// errStopped says that a game was abandoned because the run is over.
var errStopped = errors.New("stopped")

// gameRunner plays games of one strategy for one worker.
type gameRunner struct {
	match      Match
	rules      *game.Rules
	player     strategy.Player
	widePlayer strategy.WidePlayer // the player if it knows all tiles, otherwise nil
	shielded   strategy.Shielded   // the player if it has a shield, otherwise nil
	spec       string
	spawns     *source
	choices    *source
	stop       *atomic.Bool // polled before every move
}

// newGameRunner returns a runner that plays games of a match with a strategy, one after the other. A game ends early when stop becomes true.
func newGameRunner(match Match, playerStrategy strategy.Strategy, stop *atomic.Bool) (*gameRunner, error) {
	rules, err := match.newRules()
	if err != nil {
		return nil, err
	}
	player := playerStrategy.Player()
	widePlayer, _ := player.(strategy.WidePlayer)
	shield, _ := player.(strategy.Shielded)
	return &gameRunner{match: match, rules: rules, player: player, widePlayer: widePlayer, shielded: shield, spec: playerStrategy.String(), spawns: newSource(), choices: newSource(), stop: stop}, nil
}

// play plays the game with an index, whose random numbers depend on the seed and the index only. It calls onFrame, unless it is nil, with each frame.
// The error is errStopped, or an error of the player.
func (t *gameRunner) play(index int64, onFrame func(Frame)) (Game, error) {
	start := time.Now()
	t.spawns.seek(t.match.Seed, index, spawnStream)
	t.choices.seek(t.match.Seed, index, playerStream)
	t.player.Start()
	record := Game{Index: index, Spawns: 2}
	board, err := t.start()
	if err != nil {
		return record, fmt.Errorf("game %d: %w", index, err)
	}
	record, err = t.playFrom(record, board, onFrame)
	record.Time = time.Since(start)
	return record, err
}

// start returns the board with the first two tiles.
func (t *gameRunner) start() (game.Wide, error) {
	if t.match.Opponent != nil {
		b, err := t.match.Opponent.Start(t.spawns.rng)
		return game.Wide{Low: b}, err
	}
	return game.Wide{Low: t.rules.Start(t.spawns.rng)}, nil
}

// playFrom continues a game from a board. record is the result of the game so far.
func (t *gameRunner) playFrom(record Game, board game.Wide, onFrame func(Frame)) (Game, error) {
	record.Won = t.match.won(board)
	var err error
	if onFrame != nil {
		onFrame(Frame{Moved: board, Board: board})
	} else if t.hasNarrowGames() && board.High == 0 {
		board, err = t.playNarrow(&record, board.Low)
	}
	if err == nil {
		board, err = t.playWide(&record, board, onFrame)
	}
	record.Max = max(record.Max, board.Max())
	return record, err
}

// hasNarrowGames reports whether playNarrow can play the games: against chance by the rules, with a goal that no new tile reaches.
func (t *gameRunner) hasNarrowGames() bool {
	return t.widePlayer == nil && t.match.Opponent == nil && !t.match.Published && (t.match.Goal == 0 || t.match.Goal > newTileMax)
}

// playNarrow plays a game from a board while no tile exceeds 32768, for matches with hasNarrowGames. It returns the board from which playWide
// continues. It is a faster version of playWide: random players need a sixth less time.
func (t *gameRunner) playNarrow(record *Game, board game.Board) (game.Wide, error) {
	goal := t.match.Goal
	if goal > game.MaxExponent {
		goal = 0 // no Board can have a tile of this size
	}
	for !t.ended(record) {
		legal := t.rules.Legal(board)
		if legal == 0 || t.stop.Load() {
			break // playWide checks it again
		}
		dir, err := t.player.Choose(board, legal, t.choices.rng)
		if err != nil && errors.Is(err, game.ErrOverflow) {
			dir, err = t.askDowngraded(game.Wide{Low: board}, legal)
		}
		if err == nil && !legal.Has(dir) {
			err = illegalMove(game.Wide{Low: board}, dir, legal)
		}
		if err != nil {
			return game.Wide{Low: board}, t.playerError(record, err)
		}
		moved, score, err := t.rules.Move(board, dir)
		if err != nil { // a tile of 65536
			_, afterstate, err := t.applyMove(record, game.Wide{Low: board}, dir)
			return afterstate, err
		}
		t.countMove(record, score)
		if goal > 0 && !record.Won && moved.AtLeast(goal) {
			record.Won, record.WinMoves = true, record.Moves
			if !t.match.PlayOn {
				return game.Wide{Low: moved}, nil
			}
		}
		board = t.rules.AddRandom(moved, t.spawns.rng)
		record.Spawns++
	}
	return game.Wide{Low: board}, nil
}

// playWide plays a game from a board to its end, and returns the last board. It updates the result in record.
func (t *gameRunner) playWide(record *Game, board game.Wide, onFrame func(Frame)) (game.Wide, error) {
	for !t.ended(record) {
		legal := t.rules.LegalWide(board)
		if legal == 0 {
			break
		}
		if t.stop.Load() {
			return board, errStopped
		}
		dir, err := t.chooseMove(board, legal)
		if err != nil {
			return board, t.playerError(record, err)
		}
		moved, newBoard, err := t.applyMove(record, board, dir)
		if err != nil {
			return board, err
		}
		if board = newBoard; onFrame != nil && !record.Overflow {
			onFrame(Frame{Moves: record.Moves, Dir: dir, Moved: moved, Board: board, Score: record.Score})
		}
	}
	return board, nil
}

// ended reports whether a game ends although moves are legal.
func (t *gameRunner) ended(g *Game) bool { return g.Won && !t.match.PlayOn || g.Overflow }

// playerError returns the error of a game after its player has returned err. If the player foresaw a tile that is too large for its board, this ends
// the game, and the error is nil.
func (t *gameRunner) playerError(record *Game, err error) error {
	switch {
	case errors.Is(err, game.ErrOverflow):
		record.Overflow = true
		return nil
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return errStopped // an external player that was ended
	}
	return t.gameError(record, err)
}

func (t *gameRunner) gameError(g *Game, err error) error {
	return fmt.Errorf("game %d of %s: %w", g.Index, t.spec, err)
}

// chooseMove asks the player for a move, which must be legal.
func (t *gameRunner) chooseMove(board game.Wide, legal game.Moves) (game.Dir, error) {
	dir, err := t.ask(board, legal)
	if err == nil && !legal.Has(dir) {
		err = illegalMove(board, dir, legal)
	}
	return dir, err
}

func illegalMove(board game.Wide, dir game.Dir, legal game.Moves) error {
	return fmt.Errorf("board %v: the player moves %v, want one of %v", board, dir, legal)
}

// ask returns the player's move on a board. A player that knows only tiles up to 32768 sees a downgraded board if the board has larger tiles, or if
// the player foresees a larger one.
func (t *gameRunner) ask(board game.Wide, legal game.Moves) (dir game.Dir, err error) {
	if t.widePlayer != nil {
		return t.widePlayer.ChooseWide(board, legal, t.choices.rng)
	}
	if narrowBoard, fits := board.Narrow(); fits {
		if dir, err = t.player.Choose(narrowBoard, legal, t.choices.rng); err == nil || !errors.Is(err, game.ErrOverflow) {
			return dir, err
		}
	}
	return t.askDowngraded(board, legal)
}

// askDowngraded is ask for a board that does not fit, or has no room for the merges that the player sees.
func (t *gameRunner) askDowngraded(board game.Wide, legal game.Moves) (dir game.Dir, err error) {
	err = chooseDowngraded(board, func(downgraded game.Board) (err error) {
		dir, err = t.player.Choose(downgraded, legal, t.choices.rng)
		return err
	})
	return dir, err
}

// chooseDowngraded calls choose with downgraded boards, each with smaller tiles than the one before, until choose returns another error than
// game.ErrOverflow, or nil. It returns the last error of choose.
func chooseDowngraded(board game.Wide, choose func(downgraded game.Board) error) error {
	for largest := min(board.Max(), game.MaxExponent+1) - 1; largest > 0; largest-- {
		downgraded, ok := board.Downgraded(largest)
		if !ok {
			break
		}
		if err := choose(downgraded); !errors.Is(err, game.ErrOverflow) {
			return err
		}
	}
	return game.ErrOverflow
}

// newTileMax is the exponent of the largest new tile: it can win when the goal is 4.
const newTileMax = 2

// applyMove makes a move on a board, and adds the new tile unless the move ends the game. It updates the result in record, and returns the boards
// before and after the new tile.
func (t *gameRunner) applyMove(record *Game, board game.Wide, dir game.Dir) (moved, newBoard game.Wide, err error) {
	moved, score, err := t.rules.MoveWide(board, dir)
	if err != nil {
		return board, board, t.playerError(record, err)
	}
	t.countMove(record, score)
	t.checkWin(record, moved)
	if t.ended(record) {
		return moved, moved, nil
	}
	newBoard, err = t.addTile(moved)
	if err != nil {
		return moved, moved, t.gameError(record, err)
	}
	record.Spawns++
	if t.match.Published { // the next move may remove the largest tile
		record.Max = max(record.Max, newBoard.Max())
	}
	if t.match.Goal <= newTileMax {
		t.checkWin(record, newBoard)
	}
	return moved, newBoard, nil
}

// countMove counts a move.
func (t *gameRunner) countMove(counted *Game, score int) {
	counted.Moves++
	counted.Score += int64(score)
	if t.shielded != nil && t.shielded.Acted() {
		counted.Acts++
	}
}

// addTile returns a board with a new tile, which chance or the opponent chooses.
func (t *gameRunner) addTile(board game.Wide) (game.Wide, error) {
	if t.match.Opponent == nil {
		return t.rules.AddRandomWide(board, t.spawns.rng), nil
	}
	placed := board
	placeTile := func(downgraded game.Board) error {
		newBoard, err := t.match.Opponent.Place(downgraded, t.spawns.rng)
		if err == nil {
			placed.Low |= newBoard ^ downgraded // a new tile is in a cell that is empty on both
		}
		return err
	}
	if downgraded, fits := board.Narrow(); fits {
		if err := placeTile(downgraded); !errors.Is(err, game.ErrOverflow) {
			return placed, err
		}
	}
	return placed, chooseDowngraded(board, placeTile)
}

func (t *gameRunner) checkWin(g *Game, board game.Wide) {
	if !g.Won && t.match.won(board) {
		g.Won, g.WinMoves = true, g.Moves
	}
}
