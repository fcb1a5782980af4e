package strategy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"tilecheck/game"
	"tilecheck/game/solve"
)

// Opponent places the new tiles so that the player does badly. It is immutable after PrepareOpponent and may be shared by goroutines.
type Opponent struct {
	spec    string
	against solve.Against
	rules   *game.Rules
	search  *minimax // nil if the game is solved
	rounds  int
	solved  *optimal // nil if the opponent searches
}

// maxSolvedCells is the number of cells of the largest board on which an opponent is solved if its spec does not say how it plays.
const maxSolvedCells = 9

// ParseOpponent returns the opponent that a spec describes: worst-cell, worst-tile or worst, and perhaps options after a colon. It returns nil for
// chance.
//
// The option by is solved or search. A solved opponent minimizes the probability of the winning tile, by the values of solve.Options.Against; file
// names their table. A searching opponent looks depth rounds ahead and minimizes an evaluation. The error is a *SpecError.
func ParseOpponent(spec string, setting Setting) (*Opponent, error) {
	name, args, _ := strings.Cut(spec, ":")
	against, err := solve.ParseAgainst(name)
	if err != nil {
		return nil, &SpecError{spec, fmt.Sprintf("unknown opponent %q", name), "chance, worst-cell, worst-tile or worst"}
	}
	if against == solve.Chance {
		if args != "" {
			return nil, &SpecError{spec, "options " + args, "none"}
		}
		return nil, nil
	}
	options := newOptions(spec, args)
	opponent := &Opponent{against: against, rules: setting.Rules}
	file := options.text("file", "")
	methods := []string{"search", "solved"}
	if file != "" || setting.Max != 0 && setting.Rules.Shape().Cells() <= maxSolvedCells {
		methods = []string{"solved", "search"}
	}
	if method := options.word("by", methods...); method == "search" {
		var text string
		opponent.search, opponent.rounds, text = minimaxOptions(options, setting.Rules, against)
		opponent.spec = fmt.Sprintf("%s:by=search,%s", against, text)
		if file != "" {
			options.fail("a file for a search", "by=solved")
		}
		return opponent, options.done()
	}
	if setting.Max == 0 {
		options.fail("by=solved in a game that goes on", "a tile that ends it, or by=search")
	}
	opponent.solved = &optimal{shape: setting.Rules.Shape(), max: setting.Max, objective: solve.Win, against: against, file: file}
	opponent.spec = against.String() + ":by=solved"
	if file != "" {
		opponent.spec += ",file=" + file
	}
	return opponent, options.done()
}

// againstOption returns the value of the option against, which must be one of the allowed opponents or the default.
func (o *options) againstOption(defaultOpponent solve.Against, allowed ...solve.Against) solve.Against {
	words := []string{defaultOpponent.String()}
	for _, opponent := range allowed {
		if opponent != defaultOpponent {
			words = append(words, opponent.String())
		}
	}
	against, err := solve.ParseAgainst(o.word("against", words...))
	if err != nil {
		return defaultOpponent // word has the error
	}
	return against
}

// PrepareOpponent solves the game for a solved opponent, or opens its table. Further calls, and a call for nil, do nothing.
func PrepareOpponent(ctx context.Context, opponent *Opponent) error {
	if opponent == nil || opponent.solved == nil {
		return nil
	}
	if err := opponent.solved.prepare(ctx); err != nil {
		return fmt.Errorf("opponent %v: %w", opponent, err)
	}
	return nil
}

// String returns the spec with all defaults written out.
func (p *Opponent) String() string { return p.spec }

// Against returns what the opponent chooses.
func (p *Opponent) Against() solve.Against { return p.against }

// Deterministic reports whether the opponent leaves nothing to chance.
func (p *Opponent) Deterministic() bool { return p.against == solve.Worst }

// Guaranteed returns the winning probability that the player can guarantee, and that no player exceeds against this opponent. It reports false
// for an opponent that searches.
func (p *Opponent) Guaranteed() (value float64, ok bool) {
	if p.solved == nil || p.solved.table == nil {
		return 0, false
	}
	return p.solved.table.Stats().Initial, true
}

// Start returns a board with the first two tiles.
func (p *Opponent) Start(rng *rand.Rand) (game.Board, error) {
	first, err := p.Place(0, rng)
	if err != nil {
		return 0, err
	}
	return p.Place(first, rng)
}

// Place adds a new tile to a board after a move, or to the empty board, as the opponent chooses. If the opponent does not choose the cell or the
// tile, this is drawn at random. The error is game.ErrOverflow if the search foresees a tile that is too large for a board, or another error if the
// table does not have the board.
func (p *Opponent) Place(board game.Board, rng *rand.Rand) (game.Board, error) {
	switch {
	case p.solved != nil && p.solved.table == nil:
		return 0, errors.New("the opponent is not prepared, want a call of PrepareOpponent first")
	case p.solved != nil:
		return p.solved.table.Place(board, rng)
	}
	_, placement, err := p.search.place(board, p.rounds, math.MinInt64)
	if err != nil {
		return 0, err
	}
	if placement.N < 0 {
		placement.N = rng.IntN(p.rules.NumEmptyCells(board))
	}
	if placement.Exp == 0 {
		placement.Exp = 1
		if rng.IntN(game.FourOdds) == 0 {
			placement.Exp = 2
		}
	}
	return p.rules.Spawn(board, placement.N, placement.Exp), nil
}
