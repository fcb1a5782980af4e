package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tilecheck/game"
	"tilecheck/game/play"
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
	if err := presetTable(document, opt, results, c.Format).Write(env.stdout, c.Format, env.reportOptions()); err != nil {
		return err
	}
	if c.Plot != "" {
		if err := report.PlotChart(c.Plot, presetChart(document, results)); err != nil {
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
	tally := tallyOf(d, results)
	if len(tally.unexpected) > 0 {
		return &codedError{code: exitFailed, err: fmt.Errorf("not compatible, and no note says why: %s", strings.Join(tally.unexpected, "; "))}
	}
	for _, r := range results {
		if r.Strategy != "" && r.Games == 0 {
			return &codedError{code: exitOutOfLimit, err: fmt.Errorf("%s, %s: the time was up before a game was finished, want more with --time or --budget", r.Row.Table, r.Row.Name)}
		}
	}
	if tally.met+tally.unmet == 0 {
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
		return report.Incompatible, "not compatible: " + notExpected, nil
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

// presetTally counts the verdicts of a preset.
type presetTally struct {
	met, unmet, few int
	unexpected      []string // not met, without a note
}

func tallyOf(d play.Document, results []play.RowResult) presetTally {
	var t presetTally
	for _, j := range play.Joints(results) {
		if j.Verdict == play.Incompatible && d.Together[j.Table] == "" {
			t.unexpected = append(t.unexpected, j.Table+", mean scores together")
		}
	}
	for i := range results {
		r := &results[i]
		for k := range r.Judgements {
			p := &r.Row.Values[k]
			switch r.Judgements[k].Verdict {
			case play.Compatible:
				t.met++
			case play.TooFew:
				t.few++
			case play.Incompatible:
				t.unmet++
				if p.Note == "" {
					t.unexpected = append(t.unexpected, fmt.Sprintf("%s, %s, %s", r.Row.Table, r.Row.Name, measureText(p)))
				}
			}
		}
	}
	return t
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
	opt.Workers, opt.Confidence, opt.State, opt.Version = c.Workers, c.confidence(), c.State, version
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

// presetTable has a line for every published number.
func presetTable(d play.Document, opt play.PresetOptions, results []play.RowResult, f report.Format) *report.Table {
	t := &report.Table{Title: d.Source}
	if machine(f) {
		t.Columns = []report.Column{
			{Name: "table"},
			{Name: "row"},
			{Name: "strategy"},
			{Name: "measure"},
			{Name: "tile"},
			{Name: "published"},
			{Name: "published_games"},
			{Name: "value"},
			{Name: "lower"},
			{Name: "upper"},
			{Name: "interval"},
			{Name: "games"},
			{Name: "verdict"},
			{Name: "compatible"},
			{Name: "method"},
			{Name: "notes"},
		}
	} else {
		t.Columns = []report.Column{
			{Name: "row", Min: 12},
			{Name: "measure", Min: 12},
			{Name: "published", Align: report.Right},
			{Name: "their games", Align: report.Right},
			{Name: "ours", Align: report.Right},
			{Name: "interval"},
			{Name: "our games", Align: report.Right},
			{Name: "compatible"},
			{Name: "notes"},
		}
	}
	var notes report.Footnotes
	for i := range results {
		appendRow(t, &results[i], i > 0 && results[i-1].Row.Table == results[i].Row.Table, &notes, machine(f))
	}
	t.Notes = append(presetNotes(d, opt, results), notes.Paragraphs()...)
	return t
}

// appendRow adds the numbers of a row.
func appendRow(t *report.Table, r *play.RowResult, sameTable bool, notes *report.Footnotes, machine bool) {
	for i := range r.Row.Values {
		p, j := &r.Row.Values[i], &r.Judgements[i]
		why := judgementNotes(r, p, j)
		value, interval := judgedCells(j)
		if machine {
			t.Append(machineJudgement(r, p, j, value, why)...)
			continue
		}
		name := ""
		if i == 0 {
			name = r.Row.Table + ", " + r.Row.Name
		}
		t.Append(name, measureText(p), p.Text, countCell(j.Theirs), value, interval, countCell(j.Games), verdictCell(j.Verdict), notes.Add(why...))
	}
}

// judgedCells are our number and its interval, for people.
func judgedCells(j *play.Judgement) (value, interval report.Cell) {
	lo, hi := j.Interval.Lo, j.Interval.Hi
	switch {
	case math.IsNaN(j.Value):
		return value, interval
	case j.Predicted:
		value = report.Cell{Text: rounded(j.Value), Value: j.Value}
		switch {
		case !math.IsInf(hi, 0):
			interval.Text = fmt.Sprintf("predicted [%s, %s]", rounded(lo), rounded(hi))
		case !math.IsInf(lo, 0):
			interval.Text = "predicted at least " + rounded(lo)
		}
		return value, interval
	case hi > lo:
		return report.Estimate(j.Value, max(lo, 0), hi) // no number here is negative, but rounding is
	}
	return report.Cell{Text: rounded(j.Value), Value: j.Value}, interval
}

func machineJudgement(r *play.RowResult, p *play.Published, j *play.Judgement, value report.Cell, notes []string) []any {
	tile, lower, upper, kind, compatible := any(nil), any(nil), any(nil), any(nil), any(nil)
	if p.Tile > 0 {
		tile = p.Tile
	}
	if j.Interval.Hi > j.Interval.Lo {
		kind = j.Interval.Method.String()
		if j.Predicted {
			kind = "99.9 % prediction for the best of their games"
		}
		lower, upper = finite(j.Interval.Lo), finite(j.Interval.Hi)
	}
	switch j.Verdict {
	case play.Compatible:
		compatible = true
	case play.Incompatible:
		compatible = false
	}
	return []any{
		r.Row.Table, r.Row.Name, r.Strategy, string(p.Measure), tile, p.Text, countCell(j.Theirs), value, lower, upper, kind,
		countCell(j.Games), verdictCell(j.Verdict).Text, compatible, j.Method, strings.Join(notes, "; "),
	}
}

// finite is a number, or nothing when it is infinite.
func finite(x float64) any {
	if math.IsInf(x, 0) {
		return nil
	}
	return x
}

func measureText(p *play.Published) string {
	if p.Tile == 0 {
		return string(p.Measure)
	}
	return string(p.Measure) + " " + strconv.Itoa(p.Tile)
}

func countCell(n int64) report.Cell {
	if n == 0 {
		return report.Cell{}
	}
	return report.Cell{Text: strconv.FormatInt(n, 10), Value: n}
}

func verdictCell(v play.Verdict) report.Cell {
	switch v {
	case play.Compatible:
		return report.Cell{Text: "yes", Tone: report.Good}
	case play.Incompatible:
		return report.Cell{Text: "no", Tone: report.Bad}
	case play.TooFew:
		return report.Cell{Text: "too few"}
	}
	return report.Cell{Text: "-"}
}

// judgementNotes are what there is to say about one number: why it is not met only if it was computed not to be.
func judgementNotes(r *play.RowResult, p *play.Published, j *play.Judgement) []string {
	notes := slices.Clone(r.Warnings)
	if j.Remark != "" {
		notes = append(notes, j.Remark)
	}
	if r.End != play.AllPlayed && r.Games > 0 {
		notes = append(notes, fmt.Sprintf("%v after %d games", r.End, r.Games))
	}
	if j.Verdict == play.Incompatible {
		notes = append(notes, "not compatible: "+cmp.Or(p.Note, notExpected))
	}
	return notes
}

// notExpected is the note of a number that nobody expected not to be met.
const notExpected = "it is not known why, and was not expected"

// jointNote says whether the mean scores of a table are met together.
func jointNote(d play.Document, j play.Joint) string {
	text := fmt.Sprintf("%s: the %d mean scores together are %.1f standard deviations from ours (p = %s, nominal): ", j.Table, j.Rows, j.Deviation, rounded(j.PValue))
	if j.Verdict == play.Incompatible {
		return text + "not compatible: " + cmp.Or(d.Together[j.Table], notExpected)
	}
	return text + "compatible"
}

// presetNotes say what the numbers and the answers mean.
func presetNotes(d play.Document, opt play.PresetOptions, results []play.RowResult) []string {
	notes := []string{
		fmt.Sprintf("seed %d; intervals at %g %% confidence, for shares proven, for means Student's, nominal", opt.Seed, 100*opt.Confidence),
		fmt.Sprintf("compatible: the test of the row does not tell the published number from ours at %g %% confidence: shares by an exact test of two samples, "+
			"means by Student's with our deviation (nominal), best scores by an exact rank test, values by rounding; speeds and times are information; "+
			"too few: no contradiction, but so few games could hardly have contradicted", 100*stats.CompareConfidence),
		fmt.Sprintf("predicted: where the best of as many games as theirs lies with probability %g %%, by ours, and the median of it", 100*stats.CompareConfidence),
	}
	t := tallyOf(d, results)
	counts := fmt.Sprintf("%d of %d compared numbers are compatible", t.met, t.met+t.unmet)
	if t.few > 0 {
		counts += fmt.Sprintf("; %d more got too few games to judge", t.few)
	}
	notes = append(notes, counts)
	for _, j := range play.Joints(results) {
		notes = append(notes, jointNote(d, j))
	}
	return append(notes, d.Notes...)
}
