package strategy

import (
	"context"
	"io"
	"math/big"
	"math/rand/v2"

	"tilecheck/game"
	"tilecheck/game/solve"
)

// Setting is the game for which a strategy is made.
type Setting struct {
	Rules *game.Rules
	// Max is the exponent of the winning tile, 11 for 2048; 0 if the game goes on until no move is legal. Most strategies ignore it.
	Max int
	// Against is who places the new tiles. It is the default of strategies that expect an opponent.
	Against solve.Against
	// Programs starts external players; nil: there are none.
	Programs Programs
}

// Strategy is a way to play on boards of one shape. It is immutable and may be shared by goroutines; its players and choosers may not.
type Strategy interface {
	// String returns the spec with all defaults written out. Parse makes the same strategy from it.
	String() string
	// Deterministic reports whether the move depends on the board and the memory only.
	Deterministic() bool
	// Memory returns the number of values of the memory: 1 for a strategy that depends on the board only.
	Memory() int
	Player() Player
	Chooser() Chooser
}

// Prepare does the long work of a strategy, such as solving the game, if it has any. Call it once after Parse and before the use of a Player or a
// Chooser. Without it, players and choosers of such a strategy return an error.
func Prepare(ctx context.Context, s Strategy) error {
	if p, ok := s.(preparer); ok {
		return p.prepare(ctx)
	}
	return nil
}

// Solves reports whether Prepare solves a game in memory for this strategy: for optimal play or for a shield.
func Solves(s Strategy) bool {
	switch s := s.(type) {
	case *optimal:
		return s.file == ""
	case *shieldedStrategy:
		return s.shield.options.File == "" || Solves(s.Strategy)
	}
	return false
}

// preparer is a Strategy with long work to do before its first move. Further calls of prepare do nothing.
type preparer interface {
	prepare(ctx context.Context) error
}

// Player plays one game at a time.
type Player interface {
	// Start begins a new game.
	Start()
	// Choose returns one of the moves in legal. legal is not empty; it has all legal moves, or those that a Shield shows. A deterministic
	// strategy does not use rng. The error is game.ErrOverflow if a merge does not fit the board.
	Choose(b game.Board, legal game.Moves, rng *rand.Rand) (game.Dir, error)
}

// ClosePlayer ends the program of an external player, or of one under a shield. For other players it does nothing.
func ClosePlayer(p Player) error {
	if c, ok := p.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// WidePlayer is a Player that knows tiles above 32768. Other players see a downgraded board instead.
type WidePlayer interface {
	Player
	// ChooseWide is Choose on a Wide board.
	ChooseWide(w game.Wide, legal game.Moves, rng *rand.Rand) (game.Dir, error)
}

// Chooser computes exactly how a strategy chooses its moves. It agrees with the Player: the Player makes each move with the probability that
// Decide returns for the same board and memory.
type Chooser interface {
	// Decide returns the possible moves on b. legal is not empty; it has all legal moves, or those that a Shield shows. A game begins with
	// memory 0. Each choice has a positive probability, and the probabilities sum to 1. No two choices have the same Dir and Memory. The
	// error is ErrTooLarge if the exact distribution would take too much time or memory.
	Decide(b game.Board, legal game.Moves, memory int) ([]Choice, error)
}

// Choice is a move with its probability and the memory after it.
type Choice struct {
	Dir    game.Dir
	Prob   *big.Rat
	Memory int
}

// deterministicPlayer is the Player and Chooser of a deterministic strategy without memory, given by a function that chooses a move.
type deterministicPlayer func(b game.Board, legal game.Moves) (game.Dir, error)

func (deterministicPlayer) Start() {}

func (d deterministicPlayer) Choose(board game.Board, legal game.Moves, _ *rand.Rand) (game.Dir, error) {
	return d(board, legal)
}

func (d deterministicPlayer) Decide(board game.Board, legal game.Moves, _ int) ([]Choice, error) {
	dir, err := d(board, legal)
	if err != nil {
		return nil, err
	}
	return singleChoice(dir, 0), nil
}

// singleChoice returns a move with probability 1.
func singleChoice(dir game.Dir, memory int) []Choice {
	return []Choice{{Dir: dir, Prob: big.NewRat(1, 1), Memory: memory}}
}
