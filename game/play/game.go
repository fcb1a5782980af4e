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
	match   Match
	rules   *game.Rules
	player  strategy.Player
	wide    strategy.WidePlayer // the player if it knows all tiles, otherwise nil
	shield  strategy.Shielded   // the player if it has a shield, otherwise nil
	spec    string
	spawns  *source
	choices *source
	stop    *atomic.Bool // polled before every move
}

func newGameRunner(m Match, s strategy.Strategy, stop *atomic.Bool) (*gameRunner, error) {
	rules, err := m.newRules()
	if err != nil {
		return nil, err
	}
	player := s.Player()
	wide, _ := player.(strategy.WidePlayer)
	shield, _ := player.(strategy.Shielded)
	return &gameRunner{match: m, rules: rules, player: player, wide: wide, shield: shield, spec: s.String(), spawns: newSource(), choices: newSource(), stop: stop}, nil
}

// play plays one game and calls onFrame, if it is not nil, with every frame. The error is errStopped, or an error of the player.
func (t *gameRunner) play(index int64, onFrame func(Frame)) (Game, error) {
	start := time.Now()
	t.spawns.seek(t.match.Seed, index, spawnStream)
	t.choices.seek(t.match.Seed, index, playerStream)
	t.player.Start()
	g := Game{Index: index, Spawns: 2}
	b, err := t.start()
	if err != nil {
		return g, fmt.Errorf("game %d: %w", index, err)
	}
	g, err = t.playFrom(g, b, onFrame)
	g.Time = time.Since(start)
	return g, err
}

// start returns the board with the first two tiles.
func (t *gameRunner) start() (game.Wide, error) {
	if t.match.Opponent != nil {
		b, err := t.match.Opponent.Start(t.spawns.rng)
		return game.Wide{Low: b}, err
	}
	return game.Wide{Low: t.rules.Start(t.spawns.rng)}, nil
}

// playFrom plays a game from the board b, with the record of the game so far.
func (t *gameRunner) playFrom(g Game, b game.Wide, onFrame func(Frame)) (Game, error) {
	g.Won = t.match.won(b)
	if onFrame != nil {
		onFrame(Frame{Moved: b, Board: b})
	}
	for t.match.PlayOn || !g.Won {
		legal := t.rules.LegalWide(b)
		if legal == 0 {
			break
		}
		if t.stop.Load() {
			return g, errStopped
		}
		next, dir, score, err := t.chooseMove(b, legal)
		if err != nil {
			if g.Overflow = errors.Is(err, game.ErrOverflow); g.Overflow {
				break
			}
			if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
				return g, errStopped // an external player that was ended
			}
			return g, fmt.Errorf("game %d of %s: %w", g.Index, t.spec, err)
		}
		if t.shield != nil && t.shield.Acted() {
			g.Acts++
		}
		if b, err = t.applyMove(&g, next, score); err != nil {
			return g, fmt.Errorf("game %d of %s: %w", g.Index, t.spec, err)
		}
		if onFrame != nil {
			onFrame(Frame{Moves: g.Moves, Dir: dir, Moved: next, Board: b, Score: g.Score})
		}
	}
	g.Max = max(g.Max, b.Max())
	return g, nil
}

// chooseMove asks the player for a move and applies it to b.
func (t *gameRunner) chooseMove(b game.Wide, legal game.Moves) (next game.Wide, dir game.Dir, score int, err error) {
	if dir, err = t.ask(b, legal); err != nil {
		return b, dir, 0, err
	}
	if !legal.Has(dir) {
		return b, dir, 0, fmt.Errorf("board %v: the player moves %v, want one of %v", b, dir, legal)
	}
	next, score, err = t.rules.MoveWide(b, dir)
	return next, dir, score, err
}

// ask returns the player's move. A player that knows tiles to 32768 sees a downgraded board if b has larger ones, or if the player saw a merge
// for which the board has no room.
func (t *gameRunner) ask(b game.Wide, legal game.Moves) (dir game.Dir, err error) {
	if t.wide != nil {
		return t.wide.ChooseWide(b, legal, t.choices.rng)
	}
	if seen, fits := b.Narrow(); fits {
		if dir, err = t.player.Choose(seen, legal, t.choices.rng); err == nil || !errors.Is(err, game.ErrOverflow) {
			return dir, err
		}
	}
	return t.askDowngraded(b, legal)
}

// askDowngraded is ask for a board that does not fit, or has no room for the merges that the player sees.
func (t *gameRunner) askDowngraded(b game.Wide, legal game.Moves) (dir game.Dir, err error) {
	err = chooseDowngraded(b, func(seen game.Board) (err error) {
		dir, err = t.player.Choose(seen, legal, t.choices.rng)
		return err
	})
	return dir, err
}

// chooseDowngraded calls choose with downgraded boards of b, which have more and more room, until it does not return game.ErrOverflow. The error is
// the last one of choose.
func chooseDowngraded(b game.Wide, choose func(seen game.Board) error) error {
	for most := min(b.Max(), game.MaxExponent+1) - 1; most > 0; most-- {
		seen, ok := b.Downgraded(most)
		if !ok {
			break
		}
		if err := choose(seen); !errors.Is(err, game.ErrOverflow) {
			return err
		}
	}
	return game.ErrOverflow
}

// newTileMax is the exponent of the largest new tile: it can win when the goal is 4.
const newTileMax = 2

// applyMove counts a move that led to next, and adds the new tile unless the game ended with the move. It returns the new board.
func (t *gameRunner) applyMove(g *Game, next game.Wide, score int) (game.Wide, error) {
	g.Moves++
	g.Score += int64(score)
	t.checkWin(g, next)
	if g.Won && !t.match.PlayOn {
		return next, nil
	}
	b, err := t.addTile(next)
	if err != nil {
		return next, err
	}
	g.Spawns++
	if t.match.Published { // the next move may remove the largest tile
		g.Max = max(g.Max, b.Max())
	}
	if t.match.Goal <= newTileMax {
		t.checkWin(g, b)
	}
	return b, nil
}

// addTile adds the new tile that chance or the opponent chooses.
func (t *gameRunner) addTile(b game.Wide) (game.Wide, error) {
	if t.match.Opponent == nil {
		return t.rules.AddRandomWide(b, t.spawns.rng), nil
	}
	placed := b
	place := func(seen game.Board) error {
		with, err := t.match.Opponent.Place(seen, t.spawns.rng)
		if err == nil {
			placed.Low |= with ^ seen // a new tile is in a cell that is empty on both
		}
		return err
	}
	if seen, fits := b.Narrow(); fits {
		if err := place(seen); !errors.Is(err, game.ErrOverflow) {
			return placed, err
		}
	}
	return placed, chooseDowngraded(b, place)
}

func (t *gameRunner) checkWin(g *Game, b game.Wide) {
	if !g.Won && t.match.won(b) {
		g.Won, g.WinMoves = true, g.Moves
	}
}
