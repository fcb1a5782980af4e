package playtables

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"tilecheck/game"
	"tilecheck/game/guarantee"
	"tilecheck/game/solve"
	"tilecheck/report/number"
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

// Layers returns a table with the number of positions and afterstates of a solved game for each sum of the tiles.
func Layers(problem solve.Problem, stats solve.Stats) *table.Table {
	layers := &table.Table{
		Title: fmt.Sprintf("%s: %s", problem, Value(stats.Initial)),
		Columns: []table.Column{
			{Name: "sum", Align: table.Right}, {Name: "positions", Align: table.Right}, {Name: "afterstates", Align: table.Right},
		},
	}
	for _, layer := range stats.Layers {
		layers.Append(layer.Sum, layer.Positions, layer.Afterstates)
	}
	return layers
}

// Solved returns a table with one row: the value of a game with its bounds, and the sizes and the time of its solution.
func Solved(problem solve.Problem, stats solve.Stats, elapsed time.Duration) *table.Table {
	solution := &table.Table{Columns: []table.Column{
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
		{Field: "layers"},
		{Name: "seconds", Align: table.Right},
		{Field: "spawn"},
	}}
	var interval, lower, upper, relativeError any
	accuracy := result.Float
	if low, high, ok := stats.Bounds(problem); ok {
		bound := stats.RelativeError(problem)
		interval = table.Cell{Text: number.ScaleWithin(stats.Initial, (high-low)/2, valueDigits).Interval(low, high)}
		accuracy, lower, upper, relativeError = result.Bounded, low, high, table.Cell{Text: fmt.Sprintf("%.1e", bound), Value: bound}
	}
	solution.Append(
		problem.Shape.String(), game.Value(problem.MaxExp), problem.Objective.String(), valueCell(stats.Initial),
		interval, lower, upper, accuracy.String(), relativeError, stats.Positions, stats.Afterstates, len(stats.Layers),
		table.Cell{Text: fmt.Sprintf("%.3g", elapsed.Seconds()), Value: elapsed.Seconds()}, problem.Against.String(),
	)
	if problem.Against != solve.Chance {
		solution.Columns = slices.Insert(solution.Columns, 3, table.Column{Name: "spawn", Field: "-"})
		solution.Rows[0] = slices.Insert(solution.Rows[0], 3, table.Cell{Text: problem.Against.String()})
	}
	return solution
}

// Guarantee returns a table with one row: whether the player can guarantee to reach a tile, and the number of boards in the certificate.
func Guarantee(problem solve.Problem, found *guarantee.Found, boards int, elapsed time.Duration) *table.Table {
	answer := &table.Table{Columns: []table.Column{
		{Name: "board"},
		{Name: "tile", Align: table.Right},
		{Name: "guaranteed"},
		{Name: "boards decided", Align: table.Right},
		{Name: "in the certificate", Align: table.Right},
		{Name: "seconds", Align: table.Right},
	}}
	answer.Append(
		problem.Shape.String(), game.Value(problem.MaxExp), table.Cell{Text: strconv.FormatBool(found.Guaranteed), Value: found.Guaranteed}, found.Decided, boards,
		table.Cell{Text: fmt.Sprintf("%.3g", elapsed.Seconds()), Value: elapsed.Seconds()},
	)
	return answer
}

// Value writes the digits of a value that rounding does not change.
func Value(v float64) string { return strconv.FormatFloat(v, 'g', valueDigits, 64) }

// valueDigits is the largest number of digits of a value.
const valueDigits = 12

// valueCell returns a cell with the value of a position.
func valueCell(v float64) table.Cell { return table.Cell{Text: Value(v), Value: v} }

// Moves returns a table with the value of each move on a board. value is the value of the board, and best are its best moves.
func Moves(solved *solve.Table, board game.Board, value float64, best game.Moves, moves []solve.MoveValue) *table.Table {
	problem := solved.Problem()
	moveTable := &table.Table{
		Title:   fmt.Sprintf("%s: value %s, %s", problem, Value(value), Best(solved, board, best)),
		Summary: boardSummary{Game: problem.String(), Value: value, Over: best == 0, Won: board.AtLeast(problem.MaxExp)},
		Columns: []table.Column{{Name: "move"}, {Name: "value", Align: table.Right}, {Name: "best"}, {Name: "reward", Align: table.Right}},
	}
	for _, move := range moves {
		moveTable.Append(move.Dir.String(), valueCell(move.Value), best.Has(move.Dir), move.Reward)
	}
	return moveTable
}

// Best returns a text with the best moves on a board, or with the result if the game is over.
func Best(solved *solve.Table, board game.Board, best game.Moves) string {
	switch {
	case best != 0:
		return "best " + best.String()
	case board.AtLeast(solved.Problem().MaxExp):
		return "the game is won"
	}
	return "the game is lost"
}
