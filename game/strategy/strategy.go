package strategy

import (
	"context"
	"math/big"
	"math/rand/v2"

	"tilecheck/game"
)

// Setting is the game a strategy is made for.
type Setting struct {
	Rules *game.Rules
	// Max is the exponent of the tile that ends the game as a win, 11 for 2048; 0 when the game goes on until no move is legal.
	// Only strategies that know the goal look at it.
	Max int
}

// Strategy is a way to play on boards of one shape. It does not change once made and may be shared by goroutines; the players and
// choosers it gives out may not.
type Strategy interface {
	// String returns the spec with every default written out; Parse makes the same strategy from it.
	String() string
	// Deterministic reports whether the move depends on the board and the memory only.
	Deterministic() bool
	// Memory returns the number of values of the memory: 1 for a strategy that looks at nothing but the board.
	Memory() int
	Player() Player
	Chooser() Chooser
}

// Prepare does the long work of a strategy, such as solving the game, if it has any; Parse does none. Call it once after Parse, before a
// Player or a Chooser is used: without it the players and choosers of such a strategy return an error.
func Prepare(ctx context.Context, s Strategy) error {
	if p, ok := s.(preparer); ok {
		return p.prepare(ctx)
	}
	return nil
}

// Solves reports whether Prepare solves the game for a strategy, which takes time and memory: it is optimal play, or a shield is derived from it.
func Solves(s Strategy) bool {
	switch s := s.(type) {
	case *optimal:
		return s.file == ""
	case *guarded:
		return s.shield.options.File == "" || Solves(s.Strategy)
	}
	return false
}

// preparer is a Strategy with long work to do before its first move. Doing it again does nothing.
type preparer interface {
	prepare(ctx context.Context) error
}

// Player plays one game at a time.
type Player interface {
	// Start forgets the last game: a new one begins.
	Start()
	// Choose returns a move of legal, which is Rules.Legal(b), or what a Shield leaves of it, and not empty. A deterministic strategy does not draw from rng.
	// The error is game.ErrOverflow where a merge does not fit the board.
	Choose(b game.Board, legal game.Moves, rng *rand.Rand) (game.Dir, error)
}

// Chooser says exactly how a strategy chooses. It agrees with the Player: over many games on equal boards and memories the moves are
// distributed as Decide says.
type Chooser interface {
	// Decide returns the moves that may be made on b, whose legal moves, or those that a Shield leaves of them, are legal (not empty), when the memory is memory; a game
	// begins with memory 0. Each choice has a positive probability; they sum to 1 exactly; no two have the same Dir and Memory.
	// The error is an ErrTooLarge where the distribution is beyond computing.
	Decide(b game.Board, legal game.Moves, memory int) ([]Choice, error)
}

// Choice is a move with its probability and the memory after it.
type Choice struct {
	Dir    game.Dir
	Prob   *big.Rat
	Memory int
}

// decider makes a deterministic strategy without memory out of a function that chooses a move.
type decider func(b game.Board, legal game.Moves) (game.Dir, error)

func (decider) Start() {}

func (d decider) Choose(b game.Board, legal game.Moves, _ *rand.Rand) (game.Dir, error) {
	return d(b, legal)
}

func (d decider) Decide(b game.Board, legal game.Moves, _ int) ([]Choice, error) {
	dir, err := d(b, legal)
	if err != nil {
		return nil, err
	}
	return certain(dir, 0), nil
}

// certain is the one move that is made.
func certain(dir game.Dir, memory int) []Choice {
	return []Choice{{Dir: dir, Prob: big.NewRat(1, 1), Memory: memory}}
}
