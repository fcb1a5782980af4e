package playtables

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"tilecheck/game"
	"tilecheck/game/guarantee"
	"tilecheck/game/solve"
	"tilecheck/report/table"
	"tilecheck/result"
)

// boardSummary is the board itself, for programs.
type boardSummary struct {
	Game  string  `json:"game"`
	Value float64 `json:"value"`
	Over  bool    `json:"over"`
	Won   bool    `json:"won"`
}

// Layers has the positions of each sum of tiles of a solved game.
func Layers(problem solve.Problem, stats solve.Stats) *table.Table {
	t := &table.Table{
		Title: fmt.Sprintf("%s: %s", problem, Value(stats.Initial)),
		Columns: []table.Column{
			{Name: "sum", Align: table.Right}, {Name: "positions", Align: table.Right}, {Name: "afterstates", Align: table.Right},
		},
	}
	for _, l := range stats.Layers {
		t.Append(l.Sum, l.Positions, l.Afterstates)
	}
	return t
}

// Solved is the table of the value of a game and the cost of solving it.
func Solved(problem solve.Problem, stats solve.Stats, elapsed time.Duration) *table.Table {
	t := &table.Table{Columns: []table.Column{
		{Name: "board"},
		{Name: "tile", Align: table.Right},
		{Name: "objective"},
		{Name: "value", Align: table.Right},
		{Name: "interval", Field: "-"},
		{Field: "lower"},
		{Field: "upper"},
		{Field: "accuracy"},
		{Field: "relative_error"},
		{Name: "positions", Align: table.Right},
		{Name: "afterstates", Align: table.Right},
		{Name: "layers", Align: table.Right},
		{Name: "seconds", Align: table.Right},
		{Field: "spawn"},
	}}
	var interval, lower, upper, relative any
	accuracy := result.Float
	if low, high, ok := stats.Bounds(problem); ok {
		bound := stats.RelativeError(problem)
		_, interval = table.Estimate(stats.Initial, low, high)
		accuracy, lower, upper, relative = result.Bounded, low, high, table.Cell{Text: fmt.Sprintf("%.1e", bound), Value: bound}
	}
	t.Append(
		problem.Shape.String(), game.Value(problem.MaxExp), problem.Objective.String(), valueCell(stats.Initial),
		interval, lower, upper, accuracy.String(), relative, stats.Positions, stats.Afterstates, len(stats.Layers),
		table.Cell{Text: fmt.Sprintf("%.3g", elapsed.Seconds()), Value: elapsed.Seconds()}, problem.Against.String(),
	)
	if problem.Against != solve.Chance {
		t.Columns = slices.Insert(t.Columns, 3, table.Column{Name: "spawn", Field: "-"})
		t.Rows[0] = slices.Insert(t.Rows[0], 3, table.Cell{Text: problem.Against.String()})
	}
	return t
}

// Guarantee is the table of the answer whether a tile is guaranteed, with the number of boards in its certificate.
func Guarantee(problem solve.Problem, found *guarantee.Found, boards int, elapsed time.Duration) *table.Table {
	t := &table.Table{Columns: []table.Column{
		{Name: "board"},
		{Name: "tile", Align: table.Right},
		{Name: "guaranteed"},
		{Name: "boards decided", Align: table.Right},
		{Name: "in the certificate", Align: table.Right},
		{Name: "seconds", Align: table.Right},
	}}
	t.Append(
		problem.Shape.String(), game.Value(problem.MaxExp), table.Cell{Text: strconv.FormatBool(found.Guaranteed), Value: found.Guaranteed}, found.Decided, boards,
		table.Cell{Text: fmt.Sprintf("%.3g", elapsed.Seconds()), Value: elapsed.Seconds()},
	)
	return t
}

// Value writes the digits of a value that rounding does not change.
func Value(v float64) string { return strconv.FormatFloat(v, 'g', 12, 64) }

// valueCell returns a cell with the value of a position.
func valueCell(v float64) table.Cell { return table.Cell{Text: Value(v), Value: v} }

// Moves is the table of the values of the moves in a position.
func Moves(solved *solve.Table, b game.Board, value float64, best game.Moves, moves []solve.MoveValue) *table.Table {
	problem := solved.Problem()
	t := &table.Table{
		Title:   fmt.Sprintf("%s: value %s, %s", problem, Value(value), Best(solved, b, best)),
		Summary: boardSummary{Game: problem.String(), Value: value, Over: best == 0, Won: b.AtLeast(problem.MaxExp)},
		Columns: []table.Column{{Name: "move"}, {Name: "value", Align: table.Right}, {Name: "best"}, {Name: "reward", Align: table.Right}},
	}
	for _, m := range moves {
		t.Append(m.Dir.String(), valueCell(m.Value), best.Has(m.Dir), m.Reward)
	}
	return t
}

// Best names the best moves, or says that the game is over.
func Best(solved *solve.Table, b game.Board, best game.Moves) string {
	switch {
	case best != 0:
		return "best " + best.String()
	case b.AtLeast(solved.Problem().MaxExp):
		return "the game is won"
	}
	return "the game is lost"
}
