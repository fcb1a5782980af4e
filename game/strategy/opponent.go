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

// ParseOpponent makes an opponent from a spec: worst-cell, worst-tile or worst, optionally followed by a colon and options; nil for chance.
//
// The option by is solved or search. A solved opponent minimizes the probability of the winning tile, by the values of solve.Options.Against; file
// names their table. A searching opponent looks depth rounds ahead and minimizes an evaluation. The error is a *SpecError.
func ParseOpponent(spec string, s Setting) (*Opponent, error) {
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
	o := newOptions(spec, args)
	p := &Opponent{against: against, rules: s.Rules}
	file := o.text("file", "")
	ways := []string{"search", "solved"}
	if file != "" || s.Max != 0 && s.Rules.Shape().Cells() <= maxSolvedCells {
		ways = []string{"solved", "search"}
	}
	if way := o.word("by", ways...); way == "search" {
		var text string
		p.search, p.rounds, text = minimaxOptions(o, s.Rules, against)
		p.spec = fmt.Sprintf("%s:by=search,%s", against, text)
		if file != "" {
			o.fail("a file for a search", "by=solved")
		}
		return p, o.done()
	}
	if s.Max == 0 {
		o.fail("by=solved in a game that goes on", "a tile that ends it, or by=search")
	}
	p.solved = &optimal{shape: s.Rules.Shape(), max: s.Max, objective: solve.Win, against: against, file: file}
	p.spec = against.String() + ":by=solved"
	if file != "" {
		p.spec += ",file=" + file
	}
	return p, o.done()
}

// againstOption reads the option against, one of allowed. The default is among them.
func (o *options) againstOption(otherwise solve.Against, allowed ...solve.Against) solve.Against {
	words := []string{otherwise.String()}
	for _, a := range allowed {
		if a != otherwise {
			words = append(words, a.String())
		}
	}
	against, err := solve.ParseAgainst(o.word("against", words...))
	if err != nil {
		return otherwise // word has the error
	}
	return against
}

// PrepareOpponent solves the game for a solved opponent, or opens its table. Further calls, and a call for nil, do nothing.
func PrepareOpponent(ctx context.Context, p *Opponent) error {
	if p == nil || p.solved == nil {
		return nil
	}
	if err := p.solved.prepare(ctx); err != nil {
		return fmt.Errorf("opponent %v: %w", p, err)
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

// Place returns b, the empty board or a board after a move, with a new tile. It draws what the opponent does not choose. It returns
// game.ErrOverflow if the search meets a merge for which the board has no room, and another error if the table does not have b.
func (p *Opponent) Place(board game.Board, rng *rand.Rand) (game.Board, error) {
	switch {
	case p.solved != nil && p.solved.table == nil:
		return 0, errors.New("the opponent is not prepared, want a call of PrepareOpponent first")
	case p.solved != nil:
		return p.solved.table.Place(board, rng)
	}
	_, at, err := p.search.place(board, p.rounds, math.MinInt64)
	if err != nil {
		return 0, err
	}
	if at.N < 0 {
		at.N = rng.IntN(p.rules.Empties(board))
	}
	if at.Exp == 0 {
		at.Exp = 1
		if rng.IntN(game.FourOdds) == 0 {
			at.Exp = 2
		}
	}
	return p.rules.Spawn(board, at.N, at.Exp), nil
}
