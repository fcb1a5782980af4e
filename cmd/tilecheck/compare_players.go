package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"tilecheck/game/play"
	"tilecheck/game/play/tables"
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
	if err := tables.WriteContest(env.stdout, contest, c.Format, env.reportOptions()); err != nil {
		return err
	}
	if c.Plot != "" {
		chart, err := tables.ContestChart(contest)
		if err != nil {
			return err
		}
		if err := report.PlotChart(c.Plot, chart); err != nil {
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
	opt.Workers, opt.Time = c.Workers, c.Time
	if opt.State, opt.Version, err = env.state(c.State); err != nil {
		return opt, err
	}
	return opt, nil
}
