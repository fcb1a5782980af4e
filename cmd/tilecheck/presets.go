package main

import (
	"context"
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
	"tilecheck/native/stats"
	"tilecheck/report"
	"tilecheck/runner"
)

// rowTime is the default time of a row of a preset, so that a whole one takes some minutes.
const rowTime = 20 * time.Second

// preset repeats the tables of a document and prints them beside the published ones.
func (c *compareCmd) preset(ctx context.Context, env *world) error {
	document, opt, err := c.presetOptions()
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
		return noGame(play.Interrupted)
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
		return status(exitCannotRun)
	}
	return presetStatus(results)
}

// presetStatus is a success when every row compared something, or had nothing to compare.
func presetStatus(results []play.RowResult) error {
	for _, r := range results {
		if r.Strategy != "" && r.Games == 0 {
			return &codedError{code: exitOutOfLimit, err: fmt.Errorf("%s, %s: the time was up before a game was finished, want more with --time", r.Row.Table, r.Row.Name)}
		}
	}
	return nil
}

// presetOptions checks the flags and returns what they ask for.
func (c *compareCmd) presetOptions() (d play.Document, opt play.PresetOptions, err error) {
	if err := c.forPlayers(); err != nil {
		return d, opt, err
	}
	if !slices.Equal(c.Strategies, strings.Split(thesisStrategies, ";")) || len(c.Max) > 0 || c.boardFlags.Size+c.boardFlags.Rows+c.boardFlags.Cols != 0 || c.On || c.All {
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
	if opt.Time = c.Time; opt.Time == 0 {
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
		value, interval := report.Cell{}, report.Cell{}
		switch {
		case math.IsNaN(j.Value):
		case j.Interval.Hi > j.Interval.Lo:
			value, interval = report.Estimate(j.Value, j.Interval.Lo, j.Interval.Hi)
		default:
			value = report.Cell{Text: rounded(j.Value), Value: j.Value}
		}
		if machine {
			t.Append(machineJudgement(r, p, j, value, why)...)
			continue
		}
		if j.Range {
			interval.Text += " central 99.9 %"
		}
		name := ""
		if i == 0 {
			name = r.Row.Table + ", " + r.Row.Name
		}
		t.Append(name, measureText(p), p.Text, countCell(j.Theirs), value, interval, countCell(j.Games), verdictCell(j.Verdict), notes.Add(why...))
	}
}

func machineJudgement(r *play.RowResult, p *play.Published, j *play.Judgement, value report.Cell, notes []string) []any {
	tile, lower, upper, kind, compatible := any(nil), any(nil), any(nil), any(nil), any(nil)
	if p.Tile > 0 {
		tile = p.Tile
	}
	if j.Interval.Hi > j.Interval.Lo {
		lower, upper, kind = j.Interval.Lo, j.Interval.Hi, j.Interval.Method.String()
		if j.Range {
			kind = "central 99.9 % of our games"
		}
	}
	if j.Verdict != play.NotCompared {
		compatible = j.Verdict == play.Compatible
	}
	return []any{
		r.Row.Table, r.Row.Name, r.Strategy, string(p.Measure), tile, p.Text, countCell(j.Theirs), value, lower, upper, kind,
		countCell(j.Games), compatible, j.Method, strings.Join(notes, "; "),
	}
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
	if j.Verdict == play.Incompatible && p.Note != "" {
		notes = append(notes, "not compatible: "+p.Note)
	}
	return notes
}

// presetNotes say what the numbers and the answers mean.
func presetNotes(d play.Document, opt play.PresetOptions, results []play.RowResult) []string {
	notes := []string{
		fmt.Sprintf("seed %d; intervals at %g %% confidence, for shares proven, for means Student's, nominal", opt.Seed, 100*opt.Confidence),
		fmt.Sprintf("compatible: the test of the row does not tell the published number from ours at %g %% confidence: shares by an exact test of two samples, "+
			"means by Student's with our deviation (nominal), best scores by an exact rank test, values by rounding; speeds and times are information",
			100*stats.CompareConfidence),
	}
	compared, met := 0, 0
	for _, r := range results {
		for _, j := range r.Judgements {
			switch j.Verdict {
			case play.Compatible:
				compared, met = compared+1, met+1
			case play.Incompatible:
				compared++
			}
		}
	}
	notes = append(notes, fmt.Sprintf("%d of %d compared numbers are compatible", met, compared))
	return append(notes, d.Notes...)
}
