package play

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"tilecheck/game"
	"tilecheck/game/strategy"
)

// Game is what one game came to. All but Time follows from match, strategy and Index.
type Game struct {
	Index  int64
	Score  int64 // sum of the values of the merged tiles
	Moves  int64
	Spawns int64 // tiles put down, the two of the start among them
	Max    int   // exponent of the largest tile; it is there at the end, unless published updates made it vanish
	Won    bool  // the goal was reached
	// WinMoves is the number of moves made when the goal was first on the board, 0 if it never was.
	WinMoves int64
	// Acts is the number of moves at which a shield acted, 0 where there is none.
	Acts int64
	// Overflow says that the game ended because two tiles of 32768 were to merge, which a board cannot hold.
	Overflow bool
	Time     time.Duration
}

// same reports whether two games are equal in all but the time they took.
func (g Game) same(o Game) bool {
	g.Time = o.Time
	return g == o
}

// Frame is a moment of a game: the start, or the board after a move and the new tile.
type Frame struct {
	Moves int64      // made so far; 0 is the start
	Dir   game.Dir   // the last move, if any
	Moved game.Board // after the move and before the new tile
	Board game.Board // equal to Moved when the game ended with the move
	Score int64      // so far
}

// errStopped says that a game was given up because the run is over.
var errStopped = errors.New("stopped")

// table is where one worker plays the games of one strategy.
type table struct {
	match  Match
	rules  *game.Rules
	player strategy.Player
	shield strategy.Shielded // the player, nil when it has none
	spec   string
	spawns *source
	thinks *source
	stop   *atomic.Bool // polled before every move
}

func newTable(m Match, s strategy.Strategy, stop *atomic.Bool) (*table, error) {
	rules, err := m.newRules()
	if err != nil {
		return nil, err
	}
	player := s.Player()
	shield, _ := player.(strategy.Shielded)
	return &table{match: m, rules: rules, player: player, shield: shield, spec: s.String(), spawns: newSource(), thinks: newSource(), stop: stop}, nil
}

// play plays a game and shows every frame to see, if that is not nil. The error is errStopped, or that of the player.
func (t *table) play(index int64, see func(Frame)) (Game, error) {
	start := time.Now()
	t.spawns.seek(t.match.Seed, index, spawnStream)
	t.thinks.seek(t.match.Seed, index, playerStream)
	t.player.Start()
	g := Game{Index: index, Spawns: 2}
	b := t.rules.Start(t.spawns.rng)
	g.Won = t.match.won(b)
	if see != nil {
		see(Frame{Moved: b, Board: b})
	}
	for t.match.On || !g.Won {
		legal := t.rules.Legal(b)
		if legal == 0 {
			break
		}
		if t.stop.Load() {
			return g, errStopped
		}
		next, dir, score, err := t.move(b, legal)
		if err != nil {
			if g.Overflow = errors.Is(err, game.ErrOverflow); g.Overflow {
				break
			}
			return g, fmt.Errorf("game %d of %s: %w", index, t.spec, err)
		}
		if t.shield != nil && t.shield.Acted() {
			g.Acts++
		}
		b = t.count(&g, next, score)
		if see != nil {
			see(Frame{Moves: g.Moves, Dir: dir, Moved: next, Board: b, Score: g.Score})
		}
	}
	g.Max = max(g.Max, b.Max())
	g.Time = time.Since(start)
	return g, nil
}

// move asks the player and makes its move.
func (t *table) move(b game.Board, legal game.Moves) (next game.Board, dir game.Dir, score int, err error) {
	if dir, err = t.player.Choose(b, legal, t.thinks.rng); err != nil {
		return b, dir, 0, err
	}
	if !legal.Has(dir) {
		return b, dir, 0, fmt.Errorf("board %v: the player moves %v, want one of %v", b, dir, legal)
	}
	next, score, err = t.rules.Move(b, dir)
	return next, dir, score, err
}

// newTileMax is the exponent of the largest new tile: it can win when the goal is 4.
const newTileMax = 2

// count counts a move that led to next, and puts the new tile down unless the game ends there.
func (t *table) count(g *Game, next game.Board, score int) game.Board {
	g.Moves++
	g.Score += int64(score)
	t.win(g, next)
	if g.Won && !t.match.On {
		return next
	}
	b := t.rules.AddRandom(next, t.spawns.rng)
	g.Spawns++
	if t.match.Published { // whose largest tile may vanish with the next move
		g.Max = max(g.Max, b.Max())
	}
	if t.match.Goal <= newTileMax {
		t.win(g, b)
	}
	return b
}

func (t *table) win(g *Game, b game.Board) {
	if !g.Won && t.match.won(b) {
		g.Won, g.WinMoves = true, g.Moves
	}
}
