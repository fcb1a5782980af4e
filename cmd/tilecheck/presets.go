package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"tilecheck/game"
	"tilecheck/game/play"
	"tilecheck/game/play/tables"
	"tilecheck/game/solve"
	"tilecheck/modelgen"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/stats"
	"tilecheck/verify/agree"
)

// rowTime is the default time of a row of a preset, so that a whole one takes some minutes.
const rowTime = 20 * time.Second

// preset repeats the tables of a document and prints them beside the published ones.
func (c *compareCmd) preset(ctx context.Context, env *world) error {
	document, opt, err := c.presetOptions(env)
	if err != nil {
		return err
	}
	progress, done := env.progress()
	defer done()
	if progress != nil {
		opt.Progress = func(row string, p play.Progress) {
			progress(runner.Progress{Property: row, Done: p.Done, Target: p.Target, Unit: "games"})
		}
	}
	results, err := play.RunPreset(ctx, opt)
	if err != nil {
		return err
	}
	done()
	if len(results) == 0 {
		return noGame(ctx, play.Interrupted)
	}
	if err := tables.Document(document, opt, results, c.Format).Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	if c.Plot != "" {
		if err := report.PlotChart(c.Plot, tables.DocumentChart(document, results)); err != nil {
			return err
		}
	}
	if len(results) < len(opt.Rows) || results[len(results)-1].End == play.Interrupted {
		return status(endCode(ctx, play.Interrupted))
	}
	return presetStatus(document, results)
}

// presetStatus is the exit code of a preset. A number that is not met although no note expects that is a failed expectation. A run in which
// nothing was compared, or a row got nothing at all in its time, is no success.
func presetStatus(d play.Document, results []play.RowResult) error {
	tally := play.Count(d, results)
	if len(tally.Unexpected) > 0 {
		return &codedError{code: exitFailed, err: fmt.Errorf("not compatible, and no note says why: %s", strings.Join(tally.Unexpected, "; "))}
	}
	for _, r := range results {
		if r.Strategy != "" && r.Games == 0 {
			return &codedError{code: exitOutOfLimit, err: fmt.Errorf("%s, %s: the time was up before a game was finished, want more with --time or --budget", r.Row.Table, r.Row.Name)}
		}
	}
	if tally.Met+tally.Unmet == 0 {
		return &codedError{code: exitOutOfLimit, err: errors.New("nothing was compared: there were too few games, want more with --games, --time or --budget")}
	}
	return nil
}

// judgeThesis compares a verdict with a cell of Table 3.6, whose games drew their moves, and says why they are not compatible or cannot be
// judged. Samples are compared by counts, with an eye on how many there are.
func judgeThesis(p modelgen.Published, v result.Verdict, sequential bool) (report.Compatibility, string, error) {
	var met bool
	var few string
	switch {
	case v.Err != nil || v.Value.Kind == result.NoValue:
		return report.Incomparable, "", nil
	case v.Samples > 0 && v.Value.Kind == result.Number && v.Doubt == "":
		var err error
		met, few, err = play.JudgeShare(stats.Sample{Bernoulli: successes(v.Value.Num, v.Samples), Sequential: sequential},
			[]stats.Bernoulli{successes(p.Loss, modelgen.PublishedSamples)})
		if err != nil {
			return report.Incomparable, "", err
		}
	default:
		theirs := result.Verdict{
			Value: result.Value{Kind: result.Number, Num: p.Loss}, Accuracy: result.Probable, Resolution: result.Uniform,
			Samples: modelgen.PublishedSamples, BoundMethod: stats.ClopperPearson.String(),
		}
		o := agree.Verdicts("ours", &v, "the published value", &theirs, agree.Ask(v.Property, v.Constants), agree.Options{Level: stats.CompareConfidence})
		met = o.Relation != agree.Different
		if o.Relation == agree.Unknown && !o.Compatible {
			return report.Incomparable, "not comparable with the published value: " + o.Reason, nil
		}
	}
	switch {
	case met && few != "":
		return report.Incomparable, "too few samples to judge: " + few, nil
	case met:
		return report.Compatible, "", nil
	case p.Reproducible:
		return report.Incompatible, "not compatible: " + play.NotExpected, nil
	}
	return report.Incompatible, "not compatible: the rules of the game contradict this column of Table 3.6; the updates of Tables 3.4 and 3.5 are printed with errors, " +
		"and what the published model did is not known", nil
}

// successes recovers the counts behind an estimate k/n.
func successes(mean float64, n int64) stats.Bernoulli {
	return stats.Bernoulli{N: n, K: int64(math.Round(mean * float64(n)))}
}

// publishedStatus is the exit code of a comparison with Table 3.6. Where its
// numbers stand beside ours and none could be compared, that is no success; only
// the preset is about whether they are met.
func (c *compareCmd) publishedStatus(cells []report.ComparisonCell) error {
	beside := func(x report.ComparisonCell) bool { return x.Published != nil }
	judged := func(x report.ComparisonCell) bool { return x.Compatible != report.Incomparable }
	switch {
	case c.Preset == presetThesis:
		return thesisStatus(cells)
	case slices.ContainsFunc(cells, beside) && !slices.ContainsFunc(cells, judged):
		return errors.New("none of the published values could be compared, see the notes")
	}
	return nil
}

// thesisStatus is the exit code of the thesis's preset, by the rules of presetStatus.
func thesisStatus(cells []report.ComparisonCell) error {
	compared := false
	for i := range cells {
		compared = compared || cells[i].Compatible != report.Incomparable
		expected := slices.ContainsFunc(modelgen.PublishedTable(), func(p modelgen.Published) bool {
			return !p.Reproducible && p.Strategy == cells[i].Strategy && p.Max == cells[i].Max
		})
		if cells[i].Compatible == report.Incompatible && !expected {
			return &codedError{code: exitFailed, err: fmt.Errorf("not compatible, and no note says why: %s, MAX %d", cells[i].Strategy, cells[i].Max)}
		}
	}
	if !compared {
		return &codedError{code: exitOutOfLimit, err: errors.New("nothing was compared with Table 3.6: want its strategies and tiles, and more samples")}
	}
	return nil
}

// presetOptions checks the flags and returns what they ask for.
func (c *compareCmd) presetOptions(env *world) (d play.Document, opt play.PresetOptions, err error) {
	if err := c.forPlayers(env); err != nil {
		return d, opt, err
	}
	if len(c.Words)+len(c.Strategies) > 0 || len(c.Max) > 0 || c.boardFlags.Size+c.boardFlags.Rows+c.boardFlags.Cols != 0 || c.On || c.All {
		return d, opt, usageError("--preset has strategies, boards and tiles of its own, want it without --strategies, --max, --size, --on and --all")
	}
	documents := play.Documents()
	d = documents[slices.IndexFunc(documents, func(d play.Document) bool { return d.Name == c.Preset })] // kong has checked the name
	name, err := regexp.Compile(c.Row)
	if err != nil {
		return d, opt, usageError("--row: %w", err)
	}
	for _, row := range d.Rows {
		if (c.Table == "" || row.Table == c.Table || strings.HasSuffix(row.Table, " "+c.Table)) && name.MatchString(row.Name) {
			opt.Rows = append(opt.Rows, row)
		}
	}
	if len(opt.Rows) == 0 {
		return d, opt, usageError("--table and --row leave no row of %s, want one of: %s", d.Name, rowNames(d))
	}
	if opt.Seed, err = seedOr(c.Seed); err != nil {
		return d, opt, err
	}
	opt.Time, opt.Budget = c.Time, c.Budget
	if opt.Time == 0 && opt.Budget == 0 {
		opt.Time = rowTime
	}
	if c.Games != nil {
		opt.Games = *c.Games
	}
	opt.Workers, opt.Confidence = c.Workers, c.confidence()
	if opt.State, opt.Version, err = env.state(c.State); err != nil {
		return d, opt, err
	}
	opt.Solve = func(ctx context.Context, m play.Match) (float64, error) {
		stats, err := solve.InitialValue(ctx, solve.Options{Shape: m.Shape, Max: game.Value(m.Goal), Workers: c.Workers, Memory: int64(c.Memory)}, "")
		return stats.Initial, err
	}
	return d, opt, nil
}

func rowNames(d play.Document) string {
	var names []string
	for _, row := range d.Rows {
		names = append(names, row.Table+": "+row.Name)
	}
	return strings.Join(names, ", ")
}
