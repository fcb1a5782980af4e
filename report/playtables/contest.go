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

// WriteContest prints the ranking and the pairs: as two tables for people, as one for programs.
func WriteContest(w io.Writer, c *play.Contest, f table.Format, opt table.Options) error {
	if f.Machine() {
		t, err := contestRows(c)
		if err != nil {
			return err
		}
		return t.Write(w, f, opt)
	}
	ranking, err := rankingTable(c)
	if err != nil {
		return err
	}
	if err := ranking.Write(w, f, opt); err != nil {
		return err
	}
	if _, err := io.WriteString(w, "\n"); err != nil {
		return err
	}
	return pairTable(c).Write(w, f, opt)
}

// standing returns the players in the order of their ranking.
func standing(c *play.Contest) []int {
	order := make([]int, len(c.Players))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(criterion(c, &c.Players[b]), criterion(c, &c.Players[a]))
	})
	return order
}

// criterion is the number that ranks the players.
func criterion(c *play.Contest, p *play.Contestant) float64 {
	if c.By == play.ByScore {
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

// rankingTable returns the table of the strategies in the order of their results.
func rankingTable(c *play.Contest) (*table.Table, error) {
	t := &table.Table{
		Title: fmt.Sprintf("%d strategies on %v, by %s", len(c.Players), c.Match, c.By),
		Columns: []table.Column{
			{Name: "place", Align: table.Right},
			{Name: "strategy", Min: 16, Code: true},
			{Name: "won", Align: table.Right},
			{Name: "interval"},
			{Name: "mean score", Align: table.Right},
			{Name: "interval, nominal"},
			{Name: "largest tile", Align: table.Right},
			{Name: "moves/s", Align: table.Right},
		},
		Notes: contestNotes(c),
	}
	for _, i := range standing(c) {
		p := &c.Players[i]
		won, score, err := mainEstimates(c, i)
		if err != nil {
			return nil, err
		}
		wonCell, wonInterval := estimateCells(won)
		scoreCell, scoreInterval := estimateCells(score)
		t.Append(placeText(p), p.Strategy, wonCell, wonInterval, scoreCell, scoreInterval, largestTile(&p.Summary), rounded(p.Speed()))
	}
	return t, nil
}

// mainEstimates returns the share of wins and the mean score.
func mainEstimates(c *play.Contest, player int) (won, score play.Estimate, err error) {
	estimates, err := c.Estimates(player, c.Confidence)
	for _, e := range slices.Backward(estimates) { // the first of each
		switch e.Quantity {
		case play.Won:
			won = e
		case play.Score:
			score = e
		}
	}
	return won, score, err
}

// pairTable returns the table of the differences of every two strategies.
func pairTable(c *play.Contest) *table.Table {
	t := &table.Table{
		Title: "Differences, first less second",
		Columns: []table.Column{
			{Name: "first", Min: 16, Code: true},
			{Name: "second", Min: 16, Code: true},
			{Name: string(c.By), Align: table.Right},
			{Name: "interval"},
			{Name: "better"},
		},
	}
	for i := range c.Pairs {
		p := &c.Pairs[i]
		value, interval := table.Estimate(p.Difference.Mean(), p.Interval.Lo, p.Interval.Hi)
		t.Append(c.Players[p.A].Strategy, c.Players[p.B].Strategy, value, interval, winnerText(p))
	}
	return t
}

// winnerText names the better player. If the games do not distinguish two players, they need not be equal.
func winnerText(p *play.Pair) string {
	return [...]string{"second", "not known", "first"}[p.Winner()+1]
}

// contestNotes explain the end of the contest and the intervals.
func contestNotes(c *play.Contest) []string {
	notes := []string{fmt.Sprintf("seed %d, %s of each of at most %d: %v", c.Match.Seed, noun.Count(c.Games, "game"), c.Asked, c.End)}
	known := int64(0)
	for _, p := range c.Players {
		known += min(p.Resumed, c.Games)
	}
	if known > 0 {
		notes[0] += fmt.Sprintf("; %s from the state", noun.Count(known, "game"))
	}
	notes = append(append(notes, c.Warnings...), opponentNotes(c.Match)...)
	confidence := 100 * c.Confidence
	pairs := fmt.Sprintf("with %g %% confidence all places and differences are right; all players met the same tiles (common random numbers)", confidence)
	if c.By == play.ByWin {
		pairs += "; proven, " + stats.EmpiricalBernsteinSequence.String()
	} else {
		pairs += fmt.Sprintf("; nominal, Student t with the error probability divided among pairs and looks (%d so far)", c.Looks)
	}
	won := fmt.Sprintf("won: %s, each at %g %% confidence; mean score: Student t, nominal", shareMethod(c.Sequential), confidence)
	return append(notes, pairs, won)
}

// shareMethod names the method of the interval of a share.
func shareMethod(sequential bool) string {
	if sequential {
		return stats.BetaBinomial.String()
	}
	return stats.ClopperPearson.String()
}

// contestRows is the ranking and the pairs, for programs.
func contestRows(c *play.Contest) (*table.Table, error) {
	t := &table.Table{
		Title: fmt.Sprintf("%d strategies on %v, by %s", len(c.Players), c.Match, c.By), Notes: contestNotes(c),
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
	seed := c.Match.Seed
	for _, i := range standing(c) {
		p := &c.Players[i]
		estimates, err := c.Estimates(i, c.Confidence)
		if err != nil {
			return nil, err
		}
		for _, e := range estimates {
			row := append([]any{p.Strategy, nil}, machineRow(e)...)
			t.Append(append(row, p.Best, p.Worst, nil, seed)...)
		}
		t.Append(p.Strategy, nil, "moves per second", nil, nil, p.Games(), p.Speed(), nil, nil, nil, nil, nil, nil, p.Best, p.Worst, nil, nil)
	}
	for i := range c.Pairs {
		p := &c.Pairs[i]
		t.Append(c.Players[p.A].Strategy, c.Players[p.B].Strategy, "difference of "+string(c.By), nil, nil, c.Games, p.Difference.Mean(),
			p.Interval.Lo, p.Interval.Hi, c.Confidence, len(c.Pairs), p.Interval.Method.String(), soundness(p.Interval).String(), nil, nil, outcomeText(p), seed)
	}
	return t, nil
}

// outcomeText compares the first player with the second.
func outcomeText(p *play.Pair) string {
	return [...]string{"worse", "undecided", "better"}[p.Winner()+1]
}

// ContestChart draws how far the players get: the share of the games that reached each tile.
func ContestChart(c *play.Contest) (*plot.Chart, error) {
	chart := &plot.Chart{
		Title: fmt.Sprintf("%s on %v, %s of each", noun.Count(len(c.Players), "strategy"), c.Match, noun.Count(c.Games, "game")), X: "tile", Y: "share of the games that reached it",
		Probability: true,
	}
	var exps []int
	for _, i := range standing(c) {
		s, seen, err := reachedSeries(c, i)
		if err != nil {
			return nil, err
		}
		chart.Series, exps = append(chart.Series, s), append(exps, seen...)
	}
	chart.Ticks = tileTicks(exps)
	return chart, nil
}

// reachedSeries has the share of games that reached each tile that some game ended with; the intervals of one player hold together.
func reachedSeries(c *play.Contest, player int) (s plot.Series, exps []int, err error) {
	p := &c.Players[player]
	s.Name = p.Strategy
	for exp, n := range p.Largest {
		if n > 0 {
			exps = append(exps, exp)
		}
	}
	each := stats.Confidence(stats.Alpha(c.Confidence) / game.MaxWideExponent)
	for exp := exps[0]; exp <= exps[len(exps)-1]; exp++ {
		b := p.Reached(exp)
		i, err := stats.BernoulliInterval(b, each, c.Sequential)
		if err != nil {
			return s, nil, err
		}
		s.Points = append(s.Points, plot.Point{X: float64(exp), Y: b.Mean(), Lo: i.Lo, Hi: i.Hi})
	}
	return s, exps, nil
}
