package strategy

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/game"
	"tilecheck/game/solve"
)

// optimal makes the first best move in the order of game.Dir.
//
// If the winning tile is already on the board, all moves are equally good, and it makes the first legal one. A board that the game cannot reach
// is an error.
type optimal struct {
	shape     game.Shape
	max       int // exponent of the winning tile; 0: taken from the file
	objective solve.Objective
	against   solve.Against
	file      string       // path of a table; empty: prepare solves the game in memory
	table     *solve.Table // nil before prepare
}

// parseOptimal parses the options of optimal play: the objective, the opponent and the file with the solved game.
func parseOptimal(spec, args string, setting Setting) (Strategy, error) {
	options := newOptions(spec, args)
	name := options.word("objective", solve.Win.String(), solve.Score.String(), solve.Moves.String())
	against := options.againstOption(setting.Against, solve.Chance, solve.WorstCell, solve.WorstTile, solve.Worst)
	result := &optimal{shape: setting.Rules.Shape(), max: setting.Max, against: against, file: options.text("file", "")}
	if err := options.done(); err != nil {
		return nil, err
	}
	var err error
	if result.objective, err = solve.ParseObjective(name); err != nil {
		return nil, err
	}
	if result.max != 0 || result.file != "" {
		return result, nil
	}
	// A game without a winning tile is solved with one that cannot be reached: the largest possible tile is 2^(cells+1).
	result.max = result.shape.Cells() + 2
	if result.objective == solve.Win || result.max > game.MaxExponent {
		return nil, &SpecError{spec, "a game that goes on", "a tile that ends it, or a file of tilecheck solve"}
	}
	return result, nil
}

func (p *optimal) String() string {
	text := "optimal:objective=" + p.objective.String()
	if p.against != solve.Chance {
		text += ",against=" + p.against.String()
	}
	if p.file != "" {
		text += ",file=" + p.file
	}
	return text
}
func (*optimal) Deterministic() bool { return true }
func (*optimal) Memory() int         { return 1 }
func (p *optimal) Player() Player    { return deterministicPlayer(p.choose) }
func (p *optimal) Chooser() Chooser  { return deterministicPlayer(p.choose) }

// choose returns the first legal move among the best ones.
func (p *optimal) choose(board game.Board, legal game.Moves) (game.Dir, error) {
	if p.table == nil {
		return 0, errors.New("optimal play is not prepared, want a call of Prepare first")
	}
	_, best, ok := p.table.Value(board)
	switch {
	case !ok:
		return 0, p.missing(board)
	case best&legal == 0:
		return legal.At(0), nil // won
	}
	return (best & legal).At(0), nil
}

func (p *optimal) missing(board game.Board) error {
	return fmt.Errorf("board %v is not in the table of %v, want one that the game can reach", board, p.table.Problem())
}

// prepare solves the game, or opens the file and checks that its problem is the game.
func (p *optimal) prepare(ctx context.Context) error {
	switch {
	case p.table != nil:
		return nil
	case p.file != "":
		return p.open()
	}
	return p.solve(ctx)
}

// solve solves the game in memory. An error for lack of memory says how to use a file instead.
func (p *optimal) solve(ctx context.Context) error {
	const memory = 2 << 30 // bytes
	table, _, err := solve.Solve(ctx, solve.Options{Shape: p.shape, Max: game.Value(p.max), Objective: p.objective, Against: p.against, Memory: memory})
	if _, ok := errors.AsType[*solve.MemoryError](err); ok {
		return fmt.Errorf("solve for optimal play: %w; let tilecheck solve write a file, and give optimal:file=FILE", err)
	}
	if err != nil {
		return fmt.Errorf("solve for optimal play: %w", err)
	}
	p.table = table
	return nil
}

// open opens the file. It is never closed, because a strategy has no Close.
func (p *optimal) open() error {
	table, err := solve.Open(p.file)
	if err != nil {
		return err
	}
	if err := p.fits(table.Problem()); err != nil {
		return errors.Join(fmt.Errorf("table %s: %w", p.file, err), table.Close())
	}
	p.table = table
	return nil
}

// fits returns an error unless a file has the solution of this game, with any discount. found is the problem that the file solves.
func (p *optimal) fits(found solve.Problem) error {
	wanted := solve.Problem{
		Shape: p.shape, MaxExp: p.max, Objective: p.objective, Discount: found.Discount,
		Twos: game.FourOdds - 1, Total: game.FourOdds, Against: p.against,
	}
	if p.max == 0 {
		wanted.MaxExp = found.MaxExp
	}
	if found != wanted {
		return fmt.Errorf("found %v, want %v", found, wanted)
	}
	return nil
}
