package playtables

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tilecheck/game"
	"tilecheck/game/play"
	"tilecheck/internal/noun"
	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/stats"
)

// Play returns a table with a row for each estimate of a player's results, and a row for its speed.
func Play(outcome *play.Outcome, estimates []play.Estimate, format table.Format) *table.Table {
	rows := &table.Table{Title: fmt.Sprintf("%s on %v", outcome.Strategy, outcome.Match), Notes: playNotes(outcome, estimates)}
	if format.Machine() {
		rows.Columns = []table.Column{
			{Name: "quantity"},
			{Name: "tile"},
			{Name: "successes"},
			{Name: "samples"},
			{Name: "value"},
			{Name: "lower"},
			{Name: "upper"},
			{Name: "confidence"},
			{Name: "together"},
			{Name: "bound_method"},
			{Name: "accuracy"},
			{Name: "seed"},
		}
		for _, estimate := range estimates {
			rows.Append(append(machineRow(estimate), outcome.Match.Seed)...)
		}
		if speed := outcome.Speed(); speed > 0 {
			rows.Append("moves per second", nil, nil, outcome.Games(), speed, nil, nil, nil, nil, nil, nil, nil)
		}
		return rows
	}
	rows.Columns = []table.Column{
		{Name: "quantity"},
		{Name: "games", Align: table.Right},
		{Name: "value", Align: table.Right},
		{Name: "interval"},
		{Name: "method"},
	}
	for i, estimate := range estimates {
		rows.Append(playRow(estimate, i > 0 && !estimate.Share && estimates[i-1].Quantity == estimate.Quantity)...)
	}
	if speed := outcome.Speed(); speed > 0 {
		rows.Append("moves per second", nil, table.Cell{Text: rounded(speed), Value: speed}, nil, "of one worker")
	}
	return rows
}

// playRow returns the row of an estimate, as text and Markdown show it. repeats says that the row above has the same number with another interval:
// then the row has only the interval and the method.
func playRow(estimate play.Estimate, repeats bool) []any {
	value, interval := estimateCells(estimate)
	games := any(estimate.Games)
	if estimate.Share {
		games = fmt.Sprintf("%d of %d", estimate.Count, estimate.Games)
	}
	method := estimate.Interval.Method.String()
	switch {
	case estimate.Interval.Method == stats.NoInterval:
		method = "too few games"
	case !estimate.Interval.Sound():
		method += ", nominal"
	case !estimate.Share:
		method += ", proven"
	}
	if estimate.Together > 1 && estimate.Interval.Method != stats.NoInterval {
		method += fmt.Sprintf(", %d together", estimate.Together)
	}
	if repeats {
		return []any{nil, nil, nil, interval, method}
	}
	return []any{quantityText(estimate), games, value, interval, method}
}

// estimateCells returns the cells of an estimate and its interval.
func estimateCells(estimate play.Estimate) (value, interval table.Cell) {
	value, interval = table.Estimate(estimate.Value, estimate.Interval.Lo, estimate.Interval.Hi)
	if estimate.Interval.Method == stats.NoInterval {
		value, interval = table.Cell{Text: rounded(estimate.Value), Value: estimate.Value}, table.Cell{}
	}
	return value, interval
}

// machineRow returns the machine-readable row of an estimate.
func machineRow(estimate play.Estimate) []any {
	tile, count, together := any(nil), any(nil), any(nil)
	if estimate.Tile > 0 {
		tile = estimate.Tile
	}
	if estimate.Share {
		count = estimate.Count
	}
	if estimate.Together > 1 {
		together = estimate.Together
	}
	row := []any{string(estimate.Quantity), tile, count, estimate.Games, estimate.Value}
	if estimate.Interval.Method == stats.NoInterval {
		return append(row, nil, nil, nil, together, nil, result.Estimated.String())
	}
	interval := estimate.Interval
	return append(row, interval.Lo, interval.Hi, interval.Confidence, together, interval.Method.String(), soundness(interval).String())
}

// soundness is the accuracy of an interval: nominal ones guarantee nothing.
func soundness(i stats.Interval) result.Accuracy {
	if i.Sound() {
		return result.Probable
	}
	return result.Estimated
}

// quantityText returns the name of the quantity of an estimate, with its tile.
func quantityText(estimate play.Estimate) string {
	switch estimate.Quantity {
	case play.Won:
		return fmt.Sprintf("won (reached %d)", estimate.Tile)
	case play.Score:
		return "mean score"
	case play.Moves:
		return "mean moves"
	case play.WinMoves:
		return "mean moves to the win"
	case play.Acts:
		return "mean acts of the shield"
	case play.Reached:
		return "reached " + strconv.Itoa(estimate.Tile)
	case play.Largest:
		return "largest tile " + strconv.Itoa(estimate.Tile)
	}
	return string(estimate.Quantity)
}

// rounded writes a number without an interval with at most four digits.
func rounded(x float64) string {
	text := strconv.FormatFloat(x+0, 'g', 4, 64) // -0 + 0 is 0
	if strings.Contains(text, "e") && x >= 1 && x < 1e15 {
		text = strconv.FormatFloat(x, 'f', 0, 64)
	}
	return text
}

// playNotes returns notes about the number of games, the opponent, and the intervals.
func playNotes(outcome *play.Outcome, estimates []play.Estimate) []string {
	notes := append(append([]string{gamesNote(outcome)}, outcome.Warnings...), opponentNotes(outcome.Match)...)
	confidence := 100 * estimates[0].Interval.Confidence
	text := fmt.Sprintf("Each interval holds with %g %% confidence, a nominal one approximately (not proven). N together: N intervals that all hold at once with that confidence (Bonferroni), so they are wider", confidence)
	if !reachesAny(estimates) {
		text += "; the tiles of the rows reached are chosen before the games, those of the rows largest tile are the ones that occurred"
	}
	if outcome.Sequential() {
		text += fmt.Sprintf("; the number of games was not fixed beforehand (%s), so the proven ones hold for every number of games at once", outcome.End.Reason(outcome.Cause))
	}
	return append(notes, text)
}

// reachesAny reports whether a game reached a tile of the rows reached.
func reachesAny(estimates []play.Estimate) bool {
	return slices.ContainsFunc(estimates, func(estimate play.Estimate) bool { return estimate.Quantity == play.Reached && estimate.Count > 0 })
}

// opponentNotes returns a note that says what a result against the opponent of a match means; nil if new tiles are random.
func opponentNotes(match play.Match) []string {
	if match.Opponent == nil {
		return nil
	}
	value, ok := match.Opponent.Guaranteed()
	if !ok {
		return []string{fmt.Sprintf("new tiles by %v, an opponent that looks ahead: a result against it bounds nothing, since others can be worse for the player", match.Opponent)}
	}
	return []string{fmt.Sprintf("new tiles by %v: the player can guarantee to win with %s (tilecheck solve), and no player wins more often against this opponent",
		match.Opponent, Value(value))}
}

// gamesNote returns a note with the seed, the number of games, and the best score and tile.
func gamesNote(outcome *play.Outcome) string {
	text := fmt.Sprintf("seed %d, %s", outcome.Match.Seed, noun.Count(outcome.Games(), "game"))
	if outcome.Games() < outcome.Asked {
		text += fmt.Sprintf(" of %d: %s", outcome.Asked, outcome.End.Reason(outcome.Cause))
	}
	if outcome.Resumed > 0 {
		text += fmt.Sprintf(", %d of them from the state", min(outcome.Resumed, outcome.Games()))
	}
	return text + fmt.Sprintf("; best score %.0f, largest tile %d", outcome.Score.Max, largestTile(&outcome.Summary))
}

// largestTile returns the value of the largest tile of all games; 0 without games.
func largestTile(summary *play.Summary) int {
	for exponent := len(summary.Largest) - 1; exponent > 0; exponent-- {
		if summary.Largest[exponent] > 0 {
			return game.Value(exponent)
		}
	}
	return 0
}
