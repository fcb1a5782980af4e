package crosscheck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tilecheck/report/table"
	"tilecheck/result"
)

// Table returns the report as a table: a row per property and valuation with the answers of the engines, the status and
// the reason. Below it come the errors of models, the first differences, and how to read the statuses.
func (r *Report) Table() *table.Table {
	t := &table.Table{Columns: []table.Column{{Name: "property", Min: 16, Code: true}}}
	constants := slices.ContainsFunc(r.Rows, func(row Row) bool { return len(row.Constants) > 0 })
	if constants {
		t.Columns = append(t.Columns, table.Column{Name: "constants", Min: 10, Code: true})
	}
	for _, e := range r.Engines {
		t.Columns = append(t.Columns, table.Column{Name: e, Min: 12})
	}
	t.Columns = append(t.Columns, table.Column{Name: "status"}, table.Column{Name: "basis"}, table.Column{Name: "reason", Min: 20, Max: 60})
	for i := range r.Rows {
		row := &r.Rows[i]
		values := []any{row.Property}
		if constants {
			values = append(values, result.Valuation(row.Constants).String())
		}
		for k := range row.Verdicts {
			values = append(values, said(&row.Verdicts[k]))
		}
		reason := strings.Join(append([]string{row.Reason}, row.Notes...), "; ")
		t.Append(append(values, table.Cell{Text: string(row.Status), Tone: row.Status.tone()}, string(row.Basis), strings.TrimPrefix(reason, "; "))...)
	}
	t.Notes = append(t.Notes, r.String())
	if r.Count(Unchecked) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("unchecked: fewer than two engines answered, so that nothing was compared; the exit code is %d, and never 0 then", r.ExitCode()))
	}
	t.Notes = append(t.Notes, r.proofNotes()...)
	for i := range r.Models {
		t.Notes = append(t.Notes, r.Models[i].String())
	}
	for i := range r.Diagnoses {
		t.Notes = append(t.Notes, r.Diagnoses[i].String())
	}
	t.Notes = append(t.Notes, r.Notes...)
	return t
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

func intervalText(lo, hi float64) string { return "[" + number(lo) + ", " + number(hi) + "]" }

func (s Status) tone() table.Tone {
	switch s {
	case Agree:
		return table.Good
	case Disagree, Invalid:
		return table.Bad
	}
	return table.Plain
}

// said returns the text of a verdict in a table cell.
func said(v *result.Verdict) string {
	switch {
	case v.Err != nil:
		return string(v.Err.Class)
	case v.Value.Kind == result.Boolean:
		return strconv.FormatBool(v.Value.Bool)
	case v.Value.Kind == result.Range:
		return intervalText(v.Value.Num, v.Value.Hi)
	case v.Value.Kind == result.Function:
		return v.Value.Formula
	case v.Value.Kind == result.Curve:
		return result.CurveText(v.Value.Points, number, ", ")
	case v.Value.Kind == result.NoValue:
		return ""
	}
	text := number(v.Value.Num)
	if q := v.Value.Rat; q != nil && len(q.RatString()) <= 24 {
		text = q.RatString()
	}
	if v.Accuracy == result.Probable && v.Bound != nil {
		text += " in " + intervalText(v.Bound.Lo, v.Bound.Hi)
	}
	return text
}

// String returns the result of the diagnosis, with one command per line below it.
func (d *Diagnosis) String() string {
	text := d.First + " against " + d.Second
	if c := result.Valuation(d.Constants).String(); c != "" {
		text += ", " + c
	}
	switch {
	case d.Err != nil:
		return text + ": state spaces not compared: " + d.Err.Error()
	case d.Difference == nil:
		return text + ": the same states, choices and probabilities"
	}
	text += ": " + d.Difference.String()
	for i := range d.Difference.Made {
		o := &d.Difference.Made[i]
		text += "\n  " + o.String()
		if o.Model != o.File {
			text += " of " + o.Model
		}
	}
	return text
}
