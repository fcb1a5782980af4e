package playtables

import (
	"fmt"
	"strconv"
	"strings"

	"tilecheck/game"
	"tilecheck/game/play"
	"tilecheck/internal/noun"
	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/stats"
)

// Play has a row for every estimate.
func Play(out *play.Outcome, estimates []play.Estimate, f table.Format) *table.Table {
	t := &table.Table{Title: fmt.Sprintf("%s on %v", out.Strategy, out.Match), Notes: playNotes(out, estimates)}
	if f.Machine() {
		t.Columns = []table.Column{
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
		for _, e := range estimates {
			t.Append(append(machineRow(e), out.Match.Seed)...)
		}
		if speed := out.Speed(); speed > 0 {
			t.Append("moves per second", nil, nil, out.Games(), speed, nil, nil, nil, nil, nil, nil, nil)
		}
		return t
	}
	t.Columns = []table.Column{
		{Name: "quantity"},
		{Name: "games", Align: table.Right},
		{Name: "value", Align: table.Right},
		{Name: "interval"},
		{Name: "method"},
	}
	for i, e := range estimates {
		t.Append(playRow(e, i > 0 && !e.Share && estimates[i-1].Quantity == e.Quantity)...)
	}
	if speed := out.Speed(); speed > 0 {
		t.Append("moves per second", nil, table.Cell{Text: rounded(speed), Value: speed}, nil, "of one worker")
	}
	return t
}

// playRow is an estimate for people. A second interval for the same number does not repeat it.
func playRow(e play.Estimate, again bool) []any {
	value, interval := estimateCells(e)
	games := any(e.Games)
	if e.Share {
		games = e.Count
	}
	method := e.Interval.Method.String()
	switch {
	case e.Interval.Method == stats.NoInterval:
		method = "too few games"
	case !e.Interval.Sound():
		method += ", nominal"
	case !e.Share:
		method += ", proven"
	}
	if again {
		return []any{nil, nil, nil, interval, method}
	}
	return []any{quantityText(e), games, value, interval, method}
}

// estimateCells returns the cells of an estimate and its interval.
func estimateCells(e play.Estimate) (value, interval table.Cell) {
	value, interval = table.Estimate(e.Value, e.Interval.Lo, e.Interval.Hi)
	if e.Interval.Method == stats.NoInterval {
		value, interval = table.Cell{Text: rounded(e.Value), Value: e.Value}, table.Cell{}
	}
	return value, interval
}

// machineRow returns the machine-readable row of an estimate.
func machineRow(e play.Estimate) []any {
	tile, count, together := any(nil), any(nil), any(nil)
	if e.Tile > 0 {
		tile = e.Tile
	}
	if e.Share {
		count = e.Count
	}
	if e.Together > 1 {
		together = e.Together
	}
	row := []any{string(e.Quantity), tile, count, e.Games, e.Value}
	if e.Interval.Method == stats.NoInterval {
		return append(row, nil, nil, nil, together, nil, result.Estimated.String())
	}
	i := e.Interval
	return append(row, i.Lo, i.Hi, i.Confidence, together, i.Method.String(), soundness(i).String())
}

// soundness is the accuracy of an interval: nominal ones guarantee nothing.
func soundness(i stats.Interval) result.Accuracy {
	if i.Sound() {
		return result.Probable
	}
	return result.Estimated
}

// quantityText names the quantity of an estimate.
func quantityText(e play.Estimate) string {
	switch e.Quantity {
	case play.Won:
		return fmt.Sprintf("won (reached %d)", e.Tile)
	case play.Score:
		return "mean score"
	case play.Moves:
		return "mean moves"
	case play.WinMoves:
		return "mean moves to the win"
	case play.Acts:
		return "mean moves at which the shield acts"
	case play.Reached:
		return "reached " + strconv.Itoa(e.Tile)
	case play.Largest:
		return "largest tile " + strconv.Itoa(e.Tile)
	}
	return string(e.Quantity)
}

// rounded writes a number without an interval with at most four digits.
func rounded(x float64) string {
	text := strconv.FormatFloat(x+0, 'g', 4, 64) // -0 + 0 is 0
	if strings.Contains(text, "e") && x >= 1 && x < 1e15 {
		text = strconv.FormatFloat(x, 'f', 0, 64)
	}
	return text
}

// playNotes explain the number of games and the intervals.
func playNotes(out *play.Outcome, estimates []play.Estimate) []string {
	notes := append(append([]string{gamesNote(out)}, out.Warnings...), opponentNotes(out.Match)...)
	confidence := 100 * estimates[0].Interval.Confidence
	text := fmt.Sprintf("intervals: each holds with %g %% confidence; the rows of tiles reached hold together, and so do those of largest tiles (Bonferroni)", confidence)
	if out.Sequential() {
		text += "; time decided the number of games, so the proven ones hold for every number of games at once"
	}
	return append(notes, text)
}

// opponentNotes say what a result against the opponent of a match means.
func opponentNotes(m play.Match) []string {
	if m.Opponent == nil {
		return nil
	}
	value, ok := m.Opponent.Guaranteed()
	if !ok {
		return []string{fmt.Sprintf("new tiles by %v, an opponent that looks ahead: a result against it bounds nothing, since others can be worse for the player", m.Opponent)}
	}
	return []string{fmt.Sprintf("new tiles by %v: the player can guarantee to win with %s (tilecheck solve), and no player wins more often against this opponent",
		m.Opponent, Value(value))}
}

// gamesNote is the note about the number of games.
func gamesNote(out *play.Outcome) string {
	text := fmt.Sprintf("seed %d, %s", out.Match.Seed, noun.Count(out.Games(), "game"))
	if out.Games() < out.Asked {
		text += fmt.Sprintf(" of %d: %v", out.Asked, out.End)
	}
	if out.Resumed > 0 {
		text += fmt.Sprintf(", %d of them from the state", min(out.Resumed, out.Games()))
	}
	return text + fmt.Sprintf("; best score %.0f, largest tile %d", out.Score.Max, largestTile(&out.Summary))
}

// largestTile returns the largest tile of all games.
func largestTile(s *play.Summary) int {
	for exp := len(s.Largest) - 1; exp > 0; exp-- {
		if s.Largest[exp] > 0 {
			return game.Value(exp)
		}
	}
	return 0
}
