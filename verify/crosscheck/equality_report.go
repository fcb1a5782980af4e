package crosscheck

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"tilecheck/report/table"
	"tilecheck/result"
)

// comparisonRecord is a Comparison in JSON and CSV.
type comparisonRecord struct {
	Equal       Equal  `json:"outcome"`
	Numbers     string `json:"numbers,omitempty"`
	States      int    `json:"states,omitempty"`
	Choices     int    `json:"choices,omitempty"`
	Transitions int    `json:"transitions,omitempty"`
	differenceRecord
	Notes []string `json:"notes,omitempty"`
}

type equalityRecord struct {
	Same        int               `json:"same"`
	Different   int               `json:"different"`
	NotCompared int               `json:"not_compared"`
	Seconds     result.JSONNumber `json:"seconds"`
	Models      []modelRecord     `json:"models"`
}

// Write prints the comparisons: a row for each, and below the table the differences.
func (e *Equality) Write(w io.Writer, f table.Format, opt table.Options) error {
	if !f.Machine() {
		return e.Table().Write(w, f, opt)
	}
	records := []comparisonRecord{}
	for i := range e.Comparisons {
		c := &e.Comparisons[i]
		records = append(records, comparisonRecord{
			Equal: c.Equal(), Numbers: c.numbers(), States: c.States, Choices: c.Choices, Transitions: c.Transitions,
			differenceRecord: newDifferenceRecord(&c.Diagnosis), Notes: c.Remarks,
		})
	}
	return table.WriteRecords(w, f, opt, equalityRecord{
		Same: e.Count(Same), Different: e.Count(Different), NotCompared: e.Count(NotCompared),
		Seconds: result.JSONNumber(e.Seconds), Models: modelRecords(e.Models),
	}, records, e.Notes)
}

// numbers returns the number type of the comparison: "fractions" or "floats".
func (c *Comparison) numbers() string {
	switch {
	case c.Equal() == NotCompared || c.Difference != nil && c.Difference.Kind == Refused:
		return ""
	case c.Exact:
		return "fractions"
	}
	return "floats"
}

// Table returns the comparisons as a table.
func (e *Equality) Table() *table.Table {
	t := &table.Table{Columns: []table.Column{
		{Name: "first"},
		{Name: "second"},
		{Name: "outcome"},
		{Name: "numbers"},
		{Name: "states", Align: table.Right},
		{Name: "choices", Align: table.Right},
		{Name: "transitions", Align: table.Right},
	}}
	constants := slices.ContainsFunc(e.Comparisons, func(c Comparison) bool { return len(c.Constants) > 0 })
	if constants {
		t.Columns = slices.Insert(t.Columns, 2, table.Column{Name: "constants", Min: 10, Code: true})
	}
	counts := fmt.Sprintf("%d same, %d different", e.Count(Same), e.Count(Different))
	if n := e.Count(NotCompared); n > 0 {
		counts += fmt.Sprintf(", %d not compared", n)
	}
	t.Notes = append(t.Notes, counts)
	tones := map[Equal]table.Tone{Same: table.Good, Different: table.Bad}
	for i := range e.Comparisons {
		c := &e.Comparisons[i]
		row := []any{c.First, c.Second}
		if constants {
			row = append(row, result.Valuation(c.Constants).String())
		}
		t.Append(append(row, table.Cell{Text: string(c.Equal()), Tone: tones[c.Equal()]}, c.numbers(), c.States, c.Choices, c.Transitions)...)
		if c.Equal() != Same {
			t.Notes = append(t.Notes, c.Diagnosis.String())
		}
		for _, r := range c.Remarks {
			t.Notes = append(t.Notes, strings.TrimSpace(c.Second+" "+result.Valuation(c.Constants).String())+": "+r)
		}
	}
	for i := range e.Models {
		t.Notes = append(t.Notes, e.Models[i].String())
	}
	t.Notes = append(t.Notes, e.Notes...)
	return t
}
