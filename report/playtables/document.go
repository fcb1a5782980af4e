package playtables

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/game/play"
	"tilecheck/internal/noun"
	"tilecheck/report/number"
	"tilecheck/report/table"
	"tilecheck/stats"
)

// Document returns a table that compares published numbers with ours. It has a row for each published number.
func Document(document play.Document, opt play.RepeatOptions, results []play.RowResult, format table.Format) *table.Table {
	out := &table.Table{Title: document.Source}
	if format.Machine() {
		out.Columns = []table.Column{
			{Name: "table"},
			{Name: "row"},
			{Name: "strategy"},
			{Name: "quantity"},
			{Name: "tile"},
			{Name: "text", Group: "published"},
			{Name: "value", Group: "published"},
			{Name: "samples", Group: "published"},
			{Name: "value"},
			{Name: "lower"},
			{Name: "upper"},
			{Name: "confidence"},
			{Name: "bound_method"},
			{Name: "accuracy"},
			{Name: "successes"},
			{Name: "samples"},
			{Name: "outcome"},
			{Name: "basis"},
			{Name: "notes"},
			{Name: "seed"},
		}
	} else {
		out.Columns = []table.Column{
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
		appendRow(out, &results[i], opt.Seed, &notes, format.Machine())
	}
	out.Notes = append(documentNotes(document, opt, results), notes.Paragraphs()...)
	return out
}

// appendRow adds the numbers of a published row to the table, each as a row. Reasons go to the footnotes, unless the format is for programs.
func appendRow(rows *table.Table, result *play.RowResult, seed uint64, notes *table.Footnotes, forPrograms bool) {
	for i := range result.Row.Values {
		published, judgement := &result.Row.Values[i], &result.Judgements[i]
		reasons := judgementNotes(result, published, judgement)
		value, interval := judgedCells(judgement)
		if forPrograms {
			row := machineJudgement(result, published, judgement, value, reasons)
			if judgement.Games > 0 {
				row = append(row, seed)
			} else {
				row = append(row, nil)
			}
			rows.Append(row...)
			continue
		}
		name := ""
		if i == 0 {
			name = result.Row.Table + ", " + result.Row.Name
		}
		rows.Append(name, published.String(), published.Text, countCell(judgement.Theirs), value, interval, countCell(judgement.Games), verdictCell(judgement.Verdict), notes.Add(reasons...))
	}
}

// judgedCells returns our number and its interval, as text and Markdown show them. Both are empty if we have no number. A predicted number has the
// word "predicted" before its interval.
func judgedCells(judgement *play.Judgement) (value, interval table.Cell) {
	lower, upper := judgement.Interval.Lo, judgement.Interval.Hi
	switch {
	case math.IsNaN(judgement.Value):
		return value, interval
	case judgement.Predicted:
		value = table.Cell{Text: rounded(judgement.Value), Value: judgement.Value}
		switch {
		case !math.IsInf(upper, 0):
			interval.Text = "predicted " + number.ScaleOf(0, 0).Interval(lower, upper)
		case !math.IsInf(lower, 0):
			interval.Text = "predicted at least " + number.ScaleOf(lower, 0).Format(lower, -1)
		}
		return value, interval
	case upper > lower:
		return table.Estimate(judgement.Value, max(lower, 0), upper) // all numbers are at least 0, but the lower bound may not be
	}
	return table.Cell{Text: rounded(judgement.Value), Value: judgement.Value}, interval
}

// machineJudgement returns the machine-readable row of a published number and our result.
func machineJudgement(row *play.RowResult, published *play.Published, judgement *play.Judgement, value table.Cell, notes []string) []any {
	var tile, share, lower, upper, confidence, method, accuracy, successes, outcome any
	if published.Tile > 0 {
		tile = published.Tile
	}
	if value, ok := published.Share(); ok {
		share = value
	}
	if judgement.IsShare {
		successes = judgement.Successes
	}
	if judgement.Interval.Hi > judgement.Interval.Lo {
		method, accuracy, confidence = judgement.Interval.Method.String(), soundness(judgement.Interval).String(), judgement.Interval.Confidence
		if judgement.Predicted { // of their best game, so it says nothing about the accuracy of a mean
			method, accuracy = "99.9 % prediction for the best of their games", nil
		}
		lower, upper = finite(judgement.Interval.Lo), finite(judgement.Interval.Hi)
	}
	switch judgement.Verdict {
	case play.Compatible:
		outcome = "as published"
	case play.Incompatible:
		outcome = "differs"
	case play.TooFew:
		outcome = "too few"
	}
	notesCell := table.Cell{}
	if len(notes) > 0 {
		notesCell.Value = notes
	}
	return []any{
		row.Row.Table, row.Row.Name, row.Strategy, string(published.Measure), tile, published.Text, share, countCell(judgement.Theirs), value,
		lower, upper, confidence, method, accuracy, successes, countCell(judgement.Games), outcome, judgement.Method, notesCell,
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
func verdictCell(verdict play.Verdict) table.Cell {
	switch verdict {
	case play.Compatible:
		return table.Cell{Text: "yes", Tone: table.Good}
	case play.Incompatible:
		return table.Cell{Text: "no", Tone: table.Bad}
	case play.TooFew:
		return table.Cell{Text: "too few"}
	}
	return table.Cell{Text: "-"}
}

// judgementNotes returns the notes about one number: warnings, remarks, an early end of the games, and a contradiction to the published number. It
// omits warnings about PRISM's half-width, because this table has no half-widths.
func judgementNotes(row *play.RowResult, published *play.Published, judgement *play.Judgement) []string {
	notes := slices.DeleteFunc(slices.Clone(row.Warnings), func(warning string) bool { return strings.Contains(warning, "PRISM's half-width") })
	for i, warning := range notes {
		if row.Row.Model && strings.HasPrefix(warning, "Pmin=?: open choices were made at random") {
			notes[i] = "the document writes Pmin=?, but its number and ours are values of random choices, not minima"
		}
	}
	if judgement.Remark != "" {
		notes = append(notes, judgement.Remark)
	}
	if row.End != play.AllPlayed && row.Games > 0 {
		notes = append(notes, fmt.Sprintf("%s after %s", row.End.Reason(row.Cause), noun.Count(row.Games, "game")))
	}
	if judgement.Verdict == play.Incompatible {
		notes = append(notes, play.NotMet(published.Note))
	}
	return notes
}

// jointNote says whether the mean scores of a table agree with ours together.
func jointNote(document play.Document, j play.Joint) string {
	text := fmt.Sprintf("%s: the %d mean scores together are %s standard deviations from ours (p = %s, nominal): ", j.Table, j.Rows, strconv.FormatFloat(math.Round(j.Deviation*10)/10+0, 'f', 1, 64), rounded(j.PValue))
	if j.Verdict == play.Incompatible {
		return text + play.NotMet(document.Together[j.Table])
	}
	return text + "compatible"
}

// hasPrediction reports whether one of our numbers is a prediction.
func hasPrediction(results []play.RowResult) bool {
	return slices.ContainsFunc(results, func(row play.RowResult) bool {
		return slices.ContainsFunc(row.Judgements, func(judgement play.Judgement) bool { return judgement.Predicted })
	})
}

// documentNotes returns the notes that explain the numbers, the tests and the results of the comparison.
func documentNotes(document play.Document, opt play.RepeatOptions, results []play.RowResult) []string {
	notes := []string{
		fmt.Sprintf("seed %d; intervals have %g %% confidence: proven for shares, nominal (not proven; Student t) for means", opt.Seed, 100*opt.Confidence),
		fmt.Sprintf("compatible: no significant difference at %g %% confidence (too few: no difference was found, but there were too few games to find one). Tests: an exact test of two samples for shares, "+
			"Student's t for means, with the deviation of our games (nominal), an exact rank test for best scores, rounding for values; speeds and times are not tested", 100*stats.CompareConfidence),
	}
	if hasPrediction(results) {
		notes = append(notes, fmt.Sprintf("predicted: with probability %g %% the best of as many games as theirs is in this range, by our games; the value is the median", 100*stats.CompareConfidence))
	}
	tally := play.Count(document, results)
	counts := fmt.Sprintf("%d of %d compared numbers are compatible", tally.Compatible, tally.Compatible+tally.Incompatible)
	if tally.TooFew > 0 {
		counts += fmt.Sprintf("; %d more got too few games to judge", tally.TooFew)
	}
	notes = append(notes, counts)
	for _, joint := range play.Joints(results) {
		notes = append(notes, jointNote(document, joint))
	}
	return append(notes, document.Notes...)
}
