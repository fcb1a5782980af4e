package crosscheck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/result/agree"
)

// Table returns the report as a table. It has a row for each property and valuation, with the answers of the engines, the status and the reason. Its
// notes have the results of the strict checks, the first differences, and how to read the statuses.
func (r *Report) Table() *table.Table {
	hasConstants := slices.ContainsFunc(r.Rows, func(row Row) bool { return len(row.Constants) > 0 })
	report := &table.Table{Columns: r.columns(hasConstants)}
	for i := range r.Rows {
		r.Rows[i].appendTo(report, hasConstants)
	}
	report.Notes = append(report.Notes, r.String())
	if r.Count(Unchecked) > 0 {
		report.Notes = append(report.Notes, fmt.Sprintf("unchecked: fewer than two engines answered, so nothing was compared, and the exit code is %d", r.ExitCode()))
	}
	proofs := r.proofNotes()
	if len(proofs) == 0 && slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Basis == agree.Proven }) {
		report.Notes = append(report.Notes, "basis proven: by fractions, or by bounds that contain the true value; no certificate was checked (--certify)")
	}
	report.Notes = append(report.Notes, proofs...)
	for i := range r.Models {
		report.Notes = append(report.Notes, r.Models[i].String())
	}
	for i := range r.Diagnoses {
		report.Notes = append(report.Notes, r.Diagnoses[i].String())
	}
	report.Notes = append(report.Notes, r.Notes...)
	return report
}

// columns returns the columns of the report's table: the property, its constants, the engines and the outcome.
func (r *Report) columns(hasConstants bool) []table.Column {
	columns := []table.Column{{Name: "property", Min: 16, Code: true}}
	if hasConstants {
		columns = append(columns, table.Column{Name: "constants", Min: 10, Code: true})
	}
	for _, engine := range r.Engines {
		columns = append(columns, table.Column{Name: engine, Min: maxNumberLength}) // so that numbers are not broken
	}
	return append(columns, table.Column{Name: "outcome"}, table.Column{Name: "basis"}, table.Column{Name: "reason", Min: 20, Max: 60})
}

// appendTo appends the row to the table.
func (row *Row) appendTo(report *table.Table, withConstants bool) {
	cells := []any{result.NamedProperty(row.Name, row.Property)}
	if withConstants {
		cells = append(cells, result.Valuation(row.Constants).String())
	}
	for engine := range row.Verdicts {
		cells = append(cells, verdictText(&row.Verdicts[engine]))
	}
	reasons := row.Notes
	if row.Reason != "" {
		reasons = slices.Concat([]string{row.Reason}, row.Notes)
	}
	report.Append(append(cells, table.Cell{Text: string(row.Status), Tone: row.Status.tone()}, string(row.Basis), strings.Join(reasons, "; "))...)
}

// maxNumberLength is the length of the longest text of a float64, as number returns it.
const maxNumberLength = 24

// number returns the shortest decimal text of a float64.
func number(value float64) string { return result.JSONNumber(value).String() }

// intervalText returns an interval as the report shows it.
func intervalText(low, high float64) string { return "[" + number(low) + ", " + number(high) + "]" }

// tone returns the colour of the status in a table.
func (s Status) tone() table.Tone {
	switch s {
	case Agree:
		return table.Good
	case Disagree, Invalid:
		return table.Bad
	}
	return table.Plain
}

// verdictText returns a verdict as the text of a table cell: its value or the class of its error. For an estimate, it adds the confidence
// interval.
func verdictText(verdict *result.Verdict) string {
	switch {
	case verdict.Err != nil && verdict.Err.Class == result.Model:
		return "invalid model"
	case verdict.Err != nil:
		return string(verdict.Err.Class)
	case verdict.Value.Kind == result.Boolean:
		return strconv.FormatBool(verdict.Value.Bool)
	case verdict.Value.Kind == result.Range:
		return intervalText(verdict.Value.Num, verdict.Value.Hi)
	case verdict.Value.Kind == result.Function:
		return verdict.Value.Formula
	case verdict.Value.Kind == result.Curve:
		return result.CurveText(verdict.Value.Points, number, ", ")
	case verdict.Value.Kind == result.NoValue:
		return ""
	}
	text := number(verdict.Value.Num)
	if fraction := verdict.Value.Rat; fraction != nil && len(fraction.RatString()) <= maxNumberLength {
		text = fraction.RatString()
	}
	if verdict.Accuracy == result.Probable && verdict.Bound != nil {
		text += " in " + intervalText(verdict.Bound.Lo, verdict.Bound.Hi)
	}
	return text
}

// String returns the result of the diagnosis in one line. Further lines have the commands that cause the difference.
func (d *Diagnosis) String() string {
	text := d.First + " against " + d.Second
	if constants := result.Valuation(d.Constants).String(); constants != "" {
		text += ", " + constants
	}
	switch {
	case d.Err != nil:
		return text + ": state spaces not compared: " + d.Err.Error()
	case d.Difference == nil:
		return text + ": the same states, choices and probabilities"
	}
	text += ": " + d.Difference.String()
	for i := range d.Difference.Origins {
		origin := &d.Difference.Origins[i]
		text += "\n  " + origin.String()
		if origin.Model != origin.File {
			text += " of " + origin.Model
		}
	}
	return text
}
