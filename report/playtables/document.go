package playtables

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"tilecheck/game/play"
	"tilecheck/internal/noun"
	"tilecheck/report/number"
	"tilecheck/report/table"
	"tilecheck/stats"
)

// Document has a line for every published number.
func Document(d play.Document, opt play.RepeatOptions, results []play.RowResult, f table.Format) *table.Table {
	t := &table.Table{Title: d.Source}
	if f.Machine() {
		t.Columns = []table.Column{
			{Name: "table"},
			{Name: "row"},
			{Name: "strategy"},
			{Name: "quantity"},
			{Name: "tile"},
			{Name: "text", Group: "published"},
			{Name: "samples", Group: "published"},
			{Name: "value"},
			{Name: "lower"},
			{Name: "upper"},
			{Name: "bound_method"},
			{Name: "samples"},
			{Name: "outcome"},
			{Name: "basis"},
			{Name: "notes"},
			{Name: "seed"},
		}
	} else {
		t.Columns = []table.Column{
			{Name: "row", Min: 12},
			{Name: "measure", Min: 12},
			{Name: "published", Align: table.Right},
			{Name: "their games", Align: table.Right},
			{Name: "ours", Align: table.Right},
			{Name: "interval"},
			{Name: "our games", Align: table.Right},
			{Name: "compatible"},
			{Name: "notes"},
		}
	}
	var notes table.Footnotes
	for i := range results {
		appendRow(t, &results[i], opt.Seed, &notes, f.Machine())
	}
	t.Notes = append(documentNotes(d, opt, results), notes.Paragraphs()...)
	return t
}

// appendRow adds the numbers of a row.
func appendRow(t *table.Table, r *play.RowResult, seed uint64, notes *table.Footnotes, machine bool) {
	for i := range r.Row.Values {
		p, j := &r.Row.Values[i], &r.Judgements[i]
		why := judgementNotes(r, p, j)
		value, interval := judgedCells(j)
		if machine {
			row := machineJudgement(r, p, j, value, why)
			if j.Games > 0 {
				row = append(row, seed)
			} else {
				row = append(row, nil)
			}
			t.Append(row...)
			continue
		}
		name := ""
		if i == 0 {
			name = r.Row.Table + ", " + r.Row.Name
		}
		t.Append(name, p.String(), p.Text, countCell(j.Theirs), value, interval, countCell(j.Games), verdictCell(j.Verdict), notes.Add(why...))
	}
}

// judgedCells returns our number and its interval, for people.
func judgedCells(j *play.Judgement) (value, interval table.Cell) {
	lo, hi := j.Interval.Lo, j.Interval.Hi
	switch {
	case math.IsNaN(j.Value):
		return value, interval
	case j.Predicted:
		value = table.Cell{Text: rounded(j.Value), Value: j.Value}
		switch {
		case !math.IsInf(hi, 0):
			interval.Text = "predicted " + number.ScaleOf(0, 0).Interval(lo, hi)
		case !math.IsInf(lo, 0):
			interval.Text = "predicted at least " + number.ScaleOf(lo, 0).Format(lo, -1)
		}
		return value, interval
	case hi > lo:
		return table.Estimate(j.Value, max(lo, 0), hi) // no number here is negative, but rounding is
	}
	return table.Cell{Text: rounded(j.Value), Value: j.Value}, interval
}

// machineJudgement returns the machine-readable row of a published number and our result.
func machineJudgement(r *play.RowResult, p *play.Published, j *play.Judgement, value table.Cell, notes []string) []any {
	tile, lower, upper, kind, outcome := any(nil), any(nil), any(nil), any(nil), any(nil)
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
		outcome = "as published"
	case play.Incompatible:
		outcome = "differs"
	case play.TooFew:
		outcome = "too few"
	}
	remarks := table.Cell{}
	if len(notes) > 0 {
		remarks.Value = notes
	}
	return []any{
		r.Row.Table, r.Row.Name, r.Strategy, string(p.Measure), tile, p.Text, countCell(j.Theirs), value, lower, upper, kind,
		countCell(j.Games), outcome, j.Method, remarks,
	}
}

// finite returns a number, or nil if it is infinite.
func finite(x float64) any {
	if math.IsInf(x, 0) {
		return nil
	}
	return x
}

// countCell returns a cell with a number; empty for 0.
func countCell(n int64) table.Cell {
	if n == 0 {
		return table.Cell{}
	}
	return table.Cell{Text: strconv.FormatInt(n, 10), Value: n}
}

// verdictCell returns a cell that says whether our result is compatible with the published one.
func verdictCell(v play.Verdict) table.Cell {
	switch v {
	case play.Compatible:
		return table.Cell{Text: "yes", Tone: table.Good}
	case play.Incompatible:
		return table.Cell{Text: "no", Tone: table.Bad}
	case play.TooFew:
		return table.Cell{Text: "too few"}
	}
	return table.Cell{Text: "-"}
}

// judgementNotes returns the notes about one number, with the reason of a contradiction if there is one.
func judgementNotes(r *play.RowResult, p *play.Published, j *play.Judgement) []string {
	notes := slices.Clone(r.Warnings)
	if j.Remark != "" {
		notes = append(notes, j.Remark)
	}
	if r.End != play.AllPlayed && r.Games > 0 {
		notes = append(notes, fmt.Sprintf("%v after %s", r.End, noun.Count(r.Games, "game")))
	}
	if j.Verdict == play.Incompatible {
		notes = append(notes, play.NotMet(p.Note))
	}
	return notes
}

// jointNote says whether the mean scores of a table agree with ours together.
func jointNote(d play.Document, j play.Joint) string {
	text := fmt.Sprintf("%s: the %d mean scores together are %s standard deviations from ours (p = %s, nominal): ", j.Table, j.Rows, strconv.FormatFloat(math.Round(j.Deviation*10)/10+0, 'f', 1, 64), rounded(j.PValue))
	if j.Verdict == play.Incompatible {
		return text + play.NotMet(d.Together[j.Table])
	}
	return text + "compatible"
}

// documentNotes explain the numbers and the verdicts.
func documentNotes(d play.Document, opt play.RepeatOptions, results []play.RowResult) []string {
	notes := []string{
		fmt.Sprintf("seed %d; intervals at %g %% confidence, for shares proven, for means Student's, nominal", opt.Seed, 100*opt.Confidence),
		fmt.Sprintf("compatible: no significant difference at %g %% confidence. Tests: shares by an exact test of two samples, "+
			"means by Student's with our deviation (nominal), best scores by an exact rank test, values by rounding; speeds and times are not tested; "+
			"too few: no difference found, but there were too few games to find one", 100*stats.CompareConfidence),
		fmt.Sprintf("predicted: by our games, the range of the best of as many games as theirs with probability %g %%, and its median", 100*stats.CompareConfidence),
	}
	t := play.Count(d, results)
	counts := fmt.Sprintf("%d of %d compared numbers are compatible", t.Compatible, t.Compatible+t.Incompatible)
	if t.TooFew > 0 {
		counts += fmt.Sprintf("; %d more got too few games to judge", t.TooFew)
	}
	notes = append(notes, counts)
	for _, j := range play.Joints(results) {
		notes = append(notes, jointNote(d, j))
	}
	return append(notes, d.Notes...)
}
