package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tilecheck/game"
	"tilecheck/game/play"
	"tilecheck/modelgen"
	"tilecheck/native"
	"tilecheck/report"
	"tilecheck/stats"
)

// thesisStrategies are those of the thesis's experiment (section 3.8.1), which is what compare does when nothing is said.
const thesisStrategies = "random,opposite,orthogonal,alternating"

// playersFlags are the flags of compare that are about players and their games.
type playersFlags struct {
	Games  *int64        `help:"Play so many games of each at most (default: 1000; with a preset, as many as the document)." placeholder:"N"`
	By     string        `help:"Rank by win, the share of games that reach the tile, or by score." enum:"win,score" default:"win" placeholder:"CRITERION"`
	On     bool          `help:"Go on after a win until no move is legal."`
	All    bool          `help:"Play all games, even when the order is settled before."`
	Time   time.Duration `help:"Stop after this time; with a preset, the time of each row (default 20s)." placeholder:"DURATION"`
	Budget time.Duration `help:"With a preset: the time of all its rows together, divided among them." placeholder:"DURATION"`
	State  string        `help:"Directory that keeps finished games: a run that was killed goes on where it was." placeholder:"DIR" file:"keep"`
	Preset string        `help:"Repeat the tables of a document: thesis, stanford, dtu, lees-miller or cs221." enum:",thesis,stanford,dtu,lees-miller,cs221" default:"" placeholder:"NAME"`
	Table  string        `help:"Only this table of the preset: 1, or a name such as solved." placeholder:"N"`
	Row    string        `help:"Only the rows of the preset whose name matches." placeholder:"REGEXP"`
}

// presetThesis is the experiment that compare repeats anyway, on models.
const presetThesis = "thesis"

// modelMax are the tiles of the thesis's experiment.
func modelMax() []int { return []int{128, 256, 512, 1024, 2048} }

// wantsPlayers reports whether strategies are to play rather than to be checked as models.
func (c *compareCmd) wantsPlayers() bool {
	return c.Games != nil || slices.ContainsFunc(c.specs(), func(spec string) bool {
		_, err := modelgen.ParsePolicy(spec)
		return err != nil
	})
}

// forModels refuses the flags of players and sets what depends on there being none.
func (c *compareCmd) forModels() error {
	if c.On || c.All || c.Time != 0 || c.State != "" || c.Table != "" || c.Row != "" || c.By != string(play.ByWin) {
		return usageError("--on, --all, --by, --time, --state, --table and --row are for players, want --games, or a preset other than thesis")
	}
	if c.Preset == "" && c.Budget != 0 {
		return usageError("--budget is for presets, want --preset, or --timeout")
	}
	if c.Games != nil && c.Samples == nil { // the thesis's preset
		c.Samples = c.Games
	}
	if len(c.Max) == 0 {
		c.Max = modelMax()
	}
	return nil
}

// forPlayers refuses the flags of models.
func (c *compareCmd) forPlayers(env *world) error {
	if err := env.without(true, "on players", "max-path", "max-reward", "jobs", "tool-arg", "prism-path", "prism-image", "storm-path", "storm-image"); err != nil {
		return err
	}
	switch {
	case c.Samples != nil || c.Width != nil || c.Method != "":
		return usageError("--samples, --width and --method are for models, want --games for players")
	case c.Property != thesisProperty || c.Spawn != "cell" || c.P2 != modelgen.DefaultP2:
		return usageError("--property, --spawn and --p2 are for models; players play by the rules, to a tile given by --max")
	case !slices.Equal(c.Engines, []string{native.Name}) || c.numericFlags != (numericFlags{Memory: c.Memory}):
		return usageError("--engines and the flags of the state space are for models, want --time for players")
	case c.State != "" && c.Seed == nil:
		return errStateSeed()
	}
	if c.Plot != "" {
		if err := report.CheckPlotPath(c.Plot); err != nil {
			return usageError("%w", err)
		}
	}
	return nil
}

// confidence is what intervals are for.
func (c *compareCmd) confidence() float64 {
	if c.Alpha == nil {
		return stats.DefaultConfidence
	}
	return stats.Confidence(*c.Alpha)
}

// comparePlayers has the strategies play and prints who is better.
func (c *compareCmd) comparePlayers(ctx context.Context, env *world) error {
	opt, err := c.contest(env)
	if err != nil {
		return err
	}
	progress, done := env.progress()
	defer done()
	opt.Progress = gamesProgress(fmt.Sprintf("games of %d strategies", len(opt.Strategies)), progress)
	contest, err := play.Compare(ctx, opt)
	if err != nil {
		return err
	}
	done()
	if contest.Games == 0 {
		return noGame(ctx, contest.End)
	}
	if err := writeContest(env, contest, c.Format); err != nil {
		return err
	}
	if c.Plot != "" {
		if err := plotContest(c.Plot, contest); err != nil {
			return err
		}
	}
	env.warnLines(c.Format, contest.Warnings)
	return status(endCode(ctx, contest.End))
}

// contest checks the flags and returns what they ask for.
func (c *compareCmd) contest(env *world) (opt play.CompareOptions, err error) {
	if err := c.forPlayers(env); err != nil {
		return opt, err
	}
	if c.Table != "" || c.Row != "" || c.Budget != 0 {
		return opt, usageError("--table, --row and --budget are for presets, want --preset")
	}
	tile := 0
	switch len(c.Max) {
	case 0:
	case 1:
		tile = c.Max[0]
	default:
		return opt, usageError("--max has %d tiles, want one for players", len(c.Max))
	}
	if opt.Match, err = matchOf(c.boardFlags, tile, c.On, c.Seed); err != nil {
		return opt, err
	}
	for _, spec := range c.specs() {
		s, err := parseStrategy(opt.Match, spec)
		if err != nil {
			return opt, err
		}
		for _, other := range opt.Strategies {
			if other.String() == s.String() {
				return opt, usageError("--strategies has %s twice", s)
			}
		}
		opt.Strategies = append(opt.Strategies, s)
	}
	if len(opt.Strategies) < 2 {
		return opt, usageError("found %d strategy, want at least 2 to compare", len(opt.Strategies))
	}
	opt.By, opt.All, opt.Confidence, opt.Games = play.Criterion(c.By), c.All, c.confidence(), stats.DefaultSamples
	if c.Games != nil {
		opt.Games = *c.Games
	}
	opt.Workers, opt.Time, opt.State, opt.Version = c.Workers, c.Time, c.State, version
	return opt, nil
}

// writeContest prints the ranking and the pairs: as two tables for people, as one for programs.
func writeContest(env *world, c *play.Contest, f report.Format) error {
	if machine(f) {
		t, err := contestRows(c)
		if err != nil {
			return err
		}
		return t.Write(env.stdout, f, env.reportOptions())
	}
	ranking, err := rankingTable(c)
	if err != nil {
		return err
	}
	if err := ranking.Write(env.stdout, f, env.reportOptions()); err != nil {
		return err
	}
	fmt.Fprintln(env.stdout)
	return pairTable(c).Write(env.stdout, f, env.reportOptions())
}

// standing returns the players in the order of what they are ranked by.
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

// criterion is the number that players are ranked by.
func criterion(c *play.Contest, p *play.Contestant) float64 {
	if c.By == play.ByScore {
		return p.Score.Mean()
	}
	return p.Won.Mean()
}

// placeText is "2", or "2-3" where the games do not tell players apart.
func placeText(p *play.Contestant) string {
	if p.Best == p.Worst {
		return strconv.Itoa(p.Best)
	}
	return fmt.Sprintf("%d-%d", p.Best, p.Worst)
}

func rankingTable(c *play.Contest) (*report.Table, error) {
	t := &report.Table{
		Title: fmt.Sprintf("%d strategies on %v, by %s", len(c.Players), c.Match, c.By),
		Columns: []report.Column{
			{Name: "place", Align: report.Right},
			{Name: "strategy", Min: 16, Code: true},
			{Name: "won", Align: report.Right},
			{Name: "interval"},
			{Name: "mean score", Align: report.Right},
			{Name: "interval, nominal"},
			{Name: "largest tile", Align: report.Right},
			{Name: "moves/s", Align: report.Right},
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

func pairTable(c *play.Contest) *report.Table {
	t := &report.Table{
		Title: "Differences, first less second",
		Columns: []report.Column{
			{Name: "first", Min: 16, Code: true},
			{Name: "second", Min: 16, Code: true},
			{Name: string(c.By), Align: report.Right},
			{Name: "interval"},
			{Name: "better"},
		},
	}
	for i := range c.Pairs {
		p := &c.Pairs[i]
		value, interval := report.Estimate(p.Difference.Mean(), p.Interval.Lo, p.Interval.Hi)
		t.Append(c.Players[p.A].Strategy, c.Players[p.B].Strategy, value, interval, winnerText(p))
	}
	return t
}

func winnerText(p *play.Pair) string { return [...]string{"second", "tie", "first"}[p.Winner()+1] }

// contestNotes say why it ended and what the intervals are.
func contestNotes(c *play.Contest) []string {
	notes := []string{fmt.Sprintf("seed %d, %d games of each of at most %d: %v", c.Match.Seed, c.Games, c.Asked, c.End)}
	known := int64(0)
	for _, p := range c.Players {
		known += min(p.Known, c.Games)
	}
	if known > 0 {
		notes[0] += fmt.Sprintf("; %d games from the state", known)
	}
	notes = append(notes, c.Warnings...)
	confidence := 100 * c.Confidence
	pairs := fmt.Sprintf("places and differences: right together at %g %% confidence, with the same tiles for all players (common random numbers)", confidence)
	if c.By == play.ByWin {
		pairs += "; proven, " + stats.EmpiricalBernsteinSequence.String()
	} else {
		pairs += fmt.Sprintf("; nominal, Student t with the error probability divided among pairs and looks (%d so far)", c.Looks)
	}
	won := fmt.Sprintf("won: %s, each at %g %% confidence; mean score: Student t, nominal", shareMethod(c.Sequential), confidence)
	return append(notes, pairs, won)
}

func shareMethod(sequential bool) string {
	if sequential {
		return stats.BetaBinomial.String()
	}
	return stats.ClopperPearson.String()
}

// contestRows is the ranking and the pairs for programs.
func contestRows(c *play.Contest) (*report.Table, error) {
	t := &report.Table{
		Title: fmt.Sprintf("%d strategies on %v, by %s", len(c.Players), c.Match, c.By), Notes: contestNotes(c),
		Columns: []report.Column{
			{Name: "strategy"},
			{Name: "against"},
			{Name: "quantity"},
			{Name: "games"},
			{Name: "value"},
			{Name: "lower"},
			{Name: "upper"},
			{Name: "confidence"},
			{Name: "method"},
			{Name: "best_place"},
			{Name: "worst_place"},
			{Name: "better"},
		},
	}
	for _, i := range standing(c) {
		p := &c.Players[i]
		estimates, err := c.Estimates(i, c.Confidence)
		if err != nil {
			return nil, err
		}
		for _, e := range estimates {
			row := machineRow(e)
			t.Append(p.Strategy, nil, strings.TrimSpace(string(e.Quantity)+" "+tileText(e)), e.Games, e.Value, row[5], row[6], row[7], row[9], p.Best, p.Worst, nil)
		}
		t.Append(p.Strategy, nil, "moves per second", p.Games(), p.Speed(), nil, nil, nil, nil, p.Best, p.Worst, nil)
	}
	for i := range c.Pairs {
		p := &c.Pairs[i]
		t.Append(c.Players[p.A].Strategy, c.Players[p.B].Strategy, "difference of "+string(c.By), c.Games, p.Difference.Mean(),
			p.Interval.Lo, p.Interval.Hi, c.Confidence, p.Interval.Method.String(), nil, nil, winnerText(p))
	}
	return t, nil
}

func tileText(e play.Estimate) string {
	if e.Tile == 0 || e.Quantity == play.Won {
		return ""
	}
	return strconv.Itoa(e.Tile)
}

// plotContest draws how far the players get: the share of the games that reached each tile.
func plotContest(path string, c *play.Contest) error {
	chart := report.Chart{
		Title: fmt.Sprintf("%d strategies on %v, %d games of each", len(c.Players), c.Match, c.Games), X: "tile", Y: "share of the games that reached it",
		Probability: true,
	}
	var exps []int
	for _, i := range standing(c) {
		s, seen, err := reachedSeries(c, i)
		if err != nil {
			return err
		}
		chart.Series, exps = append(chart.Series, s), append(exps, seen...)
	}
	chart.Ticks = tileTicks(exps)
	return report.PlotChart(path, &chart)
}

// reachedSeries has the share of games that reached each tile that some game ended with; the intervals of one player hold together.
func reachedSeries(c *play.Contest, player int) (s report.Series, exps []int, err error) {
	p := &c.Players[player]
	s.Name = p.Strategy
	for exp, n := range p.Largest {
		if n > 0 {
			exps = append(exps, exp)
		}
	}
	each := stats.Confidence(stats.Alpha(c.Confidence) / game.MaxExponent)
	for exp := exps[0]; exp <= exps[len(exps)-1]; exp++ {
		b := p.Reached(exp)
		i, err := stats.BernoulliInterval(b, each, c.Sequential)
		if err != nil {
			return s, nil, err
		}
		s.Points = append(s.Points, report.Point{X: float64(exp), Y: b.Mean(), Lo: i.Lo, Hi: i.Hi})
	}
	return s, exps, nil
}
