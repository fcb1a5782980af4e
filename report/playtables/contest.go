package playtables

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"tilecheck/game"
	"tilecheck/game/play"
	"tilecheck/internal/noun"
	"tilecheck/report/plot"
	"tilecheck/report/table"
	"tilecheck/stats"
)

// WriteContest writes the ranking of the strategies and the differences of each pair to w. Text and Markdown have two tables, and JSON and CSV have
// one.
func WriteContest(w io.Writer, contest *play.Contest, format table.Format, opt table.Options) error {
	if format.Machine() {
		rows, err := contestRows(contest)
		if err != nil {
			return err
		}
		return rows.Write(w, format, opt)
	}
	ranking, err := rankingTable(contest)
	if err != nil {
		return err
	}
	if err := ranking.Write(w, format, opt); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return pairTable(contest).Write(w, format, opt)
}

// standing returns the indexes of the players, the best player first.
func standing(contest *play.Contest) []int {
	order := make([]int, len(contest.Players))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(first, second int) int {
		return cmp.Compare(criterion(contest, &contest.Players[second]), criterion(contest, &contest.Players[first]))
	})
	return order
}

// criterion is the number that ranks the players.
func criterion(contest *play.Contest, p *play.Contestant) float64 {
	if contest.By == play.ByScore {
		return p.Score.Mean()
	}
	return p.Won.Mean()
}

// placeText is "2", or "2-3" if the games do not distinguish players.
func placeText(p *play.Contestant) string {
	if p.Best == p.Worst {
		return strconv.Itoa(p.Best)
	}
	return fmt.Sprintf("%d-%d", p.Best, p.Worst)
}

// rankingTable returns a table with a row for each strategy, the best strategy first.
func rankingTable(contest *play.Contest) (*table.Table, error) {
	ranking := &table.Table{
		Title: fmt.Sprintf("%d strategies on %v, by %s", len(contest.Players), contest.Match, contest.By),
		Columns: []table.Column{
			{Name: "place", Align: table.Right},
			{Name: "strategy", Min: 16, Code: true},
			{Name: "won", Align: table.Right},
			{Name: "interval"},
			{Name: "mean score", Align: table.Right},
			{Name: "nominal interval"},
			{Name: "largest tile", Align: table.Right},
			{Name: "moves/s", Align: table.Right},
		},
		Notes: contestNotes(contest),
	}
	for _, index := range standing(contest) {
		player := &contest.Players[index]
		won, score, err := mainEstimates(contest, index)
		if err != nil {
			return nil, err
		}
		wonCell, wonInterval := estimateCells(won)
		scoreCell, scoreInterval := estimateCells(score)
		ranking.Append(placeText(player), player.Strategy, wonCell, wonInterval, scoreCell, scoreInterval, largestTile(&player.Summary), rounded(player.Speed()))
	}
	return ranking, nil
}

// mainEstimates returns the share of wins and the mean score of a player. A quantity can have several estimates; it returns the first of each.
func mainEstimates(contest *play.Contest, player int) (won, score play.Estimate, err error) {
	estimates, err := contest.Estimates(player, contest.Confidence)
	for _, estimate := range slices.Backward(estimates) { // the first estimate of a quantity overwrites the later ones
		switch estimate.Quantity {
		case play.Won:
			won = estimate
		case play.Score:
			score = estimate
		}
	}
	return won, score, err
}

// pairTable returns a table with the difference of each pair of strategies.
func pairTable(contest *play.Contest) *table.Table {
	differences := &table.Table{
		Title: "Differences: first minus second",
		Columns: []table.Column{
			{Name: "first", Min: 16, Code: true},
			{Name: "second", Min: 16, Code: true},
			{Name: string(contest.By), Align: table.Right},
			{Name: "interval"},
			{Name: "better"},
		},
	}
	for i := range contest.Pairs {
		pair := &contest.Pairs[i]
		value, interval := table.EstimateBeside(0, pair.Difference.Mean(), pair.Interval.Lo, pair.Interval.Hi)
		differences.Append(contest.Players[pair.A].Strategy, contest.Players[pair.B].Strategy, value, interval, winnerText(pair))
	}
	return differences
}

// winnerText names the better player. If the games do not distinguish two players, they need not be equal.
func winnerText(p *play.Pair) string {
	return [...]string{"second", "undecided", "first"}[p.Winner()+1]
}

// contestNotes returns notes about the end of the contest, the opponent, and the intervals.
func contestNotes(contest *play.Contest) []string {
	notes := []string{fmt.Sprintf("Seed %d; each strategy played %s of at most %d: %s", contest.Match.Seed, noun.Count(contest.Games, "game"), contest.Asked, contest.End.Reason(contest.Cause))}
	if contest.End == play.Lacking {
		notes[0] += "; without --all-games only the games before the first missing one count"
	}
	resumed := int64(0)
	for _, player := range contest.Players {
		resumed += min(player.Resumed, contest.Games)
	}
	if resumed > 0 {
		notes[0] += fmt.Sprintf("; %s from the state", noun.Count(resumed, "game"))
	}
	notes[0] += "."
	notes = append(append(notes, contest.Warnings...), opponentNotes(contest.Match)...)
	confidence := 100 * contest.Confidence
	pairs := fmt.Sprintf("With %g %% confidence all places and differences are right; all players met the same tiles (common random numbers)", confidence)
	if contest.By == play.ByWin {
		pairs += "; method: " + stats.EmpiricalBernsteinSequence.String()
	} else {
		pairs += fmt.Sprintf("; nominal, which means not proven: Student t, with the error probability divided among the pairs and the %s so far", noun.Count(contest.Looks, "check"))
	}
	won := fmt.Sprintf("Intervals of won: %s, each with %g %% confidence; of mean score: Student t, nominal (not proven)", shareMethod(contest.Sequential), confidence)
	return append(notes, pairs, won)
}

// shareMethod names the method of the interval of a share.
func shareMethod(sequential bool) string {
	if sequential {
		return stats.BetaBinomial.String()
	}
	return stats.ClopperPearson.String()
}

// contestRows returns the table for JSON and CSV: the estimates of each strategy, then the difference of each pair.
func contestRows(contest *play.Contest) (*table.Table, error) {
	out := &table.Table{
		Title: fmt.Sprintf("%d strategies on %v, by %s", len(contest.Players), contest.Match, contest.By), Notes: contestNotes(contest),
		Columns: []table.Column{
			{Name: "strategy"},
			{Name: "against"},
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
			{Name: "best_place"},
			{Name: "worst_place"},
			{Name: "outcome"},
			{Name: "seed"},
		},
	}
	seed := contest.Match.Seed
	for _, i := range standing(contest) {
		player := &contest.Players[i]
		estimates, err := contest.Estimates(i, contest.Confidence)
		if err != nil {
			return nil, err
		}
		for _, estimate := range estimates {
			row := append([]any{player.Strategy, nil}, machineRow(estimate)...)
			out.Append(append(row, player.Best, player.Worst, nil, seed)...)
		}
		out.Append(player.Strategy, nil, "moves per second", nil, nil, player.Games(), player.Speed(), nil, nil, nil, nil, nil, nil, player.Best, player.Worst, nil, nil)
	}
	for i := range contest.Pairs {
		pair := &contest.Pairs[i]
		out.Append(contest.Players[pair.A].Strategy, contest.Players[pair.B].Strategy, "difference of "+string(contest.By), nil, nil, contest.Games, pair.Difference.Mean(),
			pair.Interval.Lo, pair.Interval.Hi, contest.Confidence, len(contest.Pairs), pair.Interval.Method.String(), soundness(pair.Interval).String(), nil, nil, outcomeText(pair), seed)
	}
	return out, nil
}

// outcomeText compares the first player with the second.
func outcomeText(p *play.Pair) string {
	return [...]string{"worse", "undecided", "better"}[p.Winner()+1]
}

// ContestChart returns a chart with a line for each player: the share of its games that reached each tile.
func ContestChart(contest *play.Contest) (*plot.Chart, error) {
	chart := &plot.Chart{
		Title:       fmt.Sprintf("%s on %v, %s of each", noun.Count(len(contest.Players), "strategy"), contest.Match, noun.Count(contest.Games, "game")),
		X:           fmt.Sprintf("tile (intervals: %g %% confidence for all tiles together)", 100*contest.Confidence),
		Y:           "share of the games that reached it",
		Probability: true,
	}
	exponents := finalExponents(contest)
	for _, player := range standing(contest) {
		series, err := reachedTilesSeries(contest, player, slices.Min(exponents), slices.Max(exponents))
		if err != nil {
			return nil, err
		}
		chart.Series = append(chart.Series, series)
	}
	chart.Ticks = tileTicks(exponents)
	return chart, nil
}

// finalExponents returns the exponents of the largest tiles of all games, some of them several times.
func finalExponents(contest *play.Contest) []int {
	var exponents []int
	for i := range contest.Players {
		for exponent, games := range contest.Players[i].Largest {
			if games > 0 {
				exponents = append(exponents, exponent)
			}
		}
	}
	return exponents
}

// reachedTilesSeries returns the share of a player's games that reached each tile from first to last, which are exponents. The intervals hold
// together with the confidence of the contest, by the Bonferroni inequality.
func reachedTilesSeries(contest *play.Contest, index, first, last int) (series plot.Series, err error) {
	player := &contest.Players[index]
	series.Name = player.Strategy
	confidence := stats.Confidence(stats.Alpha(contest.Confidence) / game.MaxWideExponent)
	for exponent := first; exponent <= last; exponent++ {
		reached := player.Reached(exponent)
		interval, err := stats.BernoulliInterval(reached, confidence, contest.Sequential)
		if err != nil {
			return series, err
		}
		series.Points = append(series.Points, plot.Point{X: float64(exponent), Y: reached.Mean(), Lo: interval.Lo, Hi: interval.Hi})
	}
	return series, nil
}
