package crosscheck

import (
	"fmt"
	"io"
	"slices"
	"strconv"

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
	// The numbers of the second space.
	SecondStates      int `json:"second_states,omitempty"`
	SecondChoices     int `json:"second_choices,omitempty"`
	SecondTransitions int `json:"second_transitions,omitempty"`
}

// equalityRecord is the summary of an Equality in JSON.
type equalityRecord struct {
	Same        int               `json:"same"`
	Different   int               `json:"different"`
	NotCompared int               `json:"not_compared"`
	Seconds     result.JSONNumber `json:"seconds"`
	Models      []modelRecord     `json:"models"`
}

// Write writes the comparisons in a format: as the table of [Equality.Table], or for machine formats a record per comparison and a summary.
func (e *Equality) Write(w io.Writer, format table.Format, options table.Options) error {
	if !format.Machine() {
		return e.Table().Write(w, format, options)
	}
	records := []comparisonRecord{}
	for i := range e.Comparisons {
		comparison := &e.Comparisons[i]
		records = append(records, comparisonRecord{
			Equal: comparison.Verdict(), Numbers: comparison.numbers(), States: comparison.States, Choices: comparison.Choices, Transitions: comparison.Transitions,
			differenceRecord: newDifferenceRecord(&comparison.Diagnosis), Notes: comparison.Remarks,
			SecondStates: comparison.SecondStates, SecondChoices: comparison.SecondChoices, SecondTransitions: comparison.SecondTransitions,
		})
	}
	return table.WriteRecords(w, format, options, equalityRecord{
		Same: e.Count(Same), Different: e.Count(Different), NotCompared: e.Count(NotCompared),
		Seconds: result.JSONNumber(e.Seconds), Models: modelRecords(e.Models),
	}, records, e.Notes)
}

// numbers returns the number type of the comparison: "fractions" or "floats".
func (c *Comparison) numbers() string {
	switch {
	case c.Verdict() == NotCompared || c.Difference != nil && c.Difference.Kind == Refused:
		return ""
	case c.Exact:
		return "fractions"
	}
	return "floats"
}

// Table returns a table with one row per comparison. The notes have the differences and the results of the strict checks.
func (e *Equality) Table() *table.Table {
	out := &table.Table{Columns: []table.Column{
		{Name: "first"},
		{Name: "second"},
		{Name: "outcome"},
		{Name: "compared as", Field: "numbers"},
		{Name: "states", Align: table.Right},
		{Name: "choices", Align: table.Right},
		{Name: "transitions", Align: table.Right},
	}}
	hasConstants := slices.ContainsFunc(e.Comparisons, func(comparison Comparison) bool { return len(comparison.Constants) > 0 })
	if hasConstants {
		out.Columns = slices.Insert(out.Columns, 2, table.Column{Name: "constants", Min: 10, Code: true})
	}
	counts := fmt.Sprintf("%d same, %d different", e.Count(Same), e.Count(Different))
	if n := e.Count(NotCompared); n > 0 {
		counts += fmt.Sprintf(", %d not compared", n)
	}
	out.Notes = append(out.Notes, counts)
	for i := range e.Comparisons {
		e.Comparisons[i].appendTo(out, hasConstants)
	}
	for i := range e.Models {
		out.Notes = append(out.Notes, e.Models[i].String())
	}
	out.Notes = append(out.Notes, e.Notes...)
	return out
}

// appendTo appends a comparison to a table: a row, and notes with the difference and the remarks.
func (c *Comparison) appendTo(out *table.Table, withConstants bool) {
	constants := result.Valuation(c.Constants).String()
	row := []any{c.First, c.Second}
	if withConstants {
		row = append(row, constants)
	}
	verdict := c.Verdict()
	tones := map[Equal]table.Tone{Same: table.Good, Different: table.Bad}
	out.Append(append(row, table.Cell{Text: string(verdict), Tone: tones[verdict]}, c.numbers(),
		sizes(c.States, c.SecondStates), sizes(c.Choices, c.SecondChoices), sizes(c.Transitions, c.SecondTransitions))...)
	if verdict != Same {
		out.Notes = append(out.Notes, c.Diagnosis.String())
	}
	out.Notes = append(out.Notes, c.Remarks...)
}

// sizes returns a number of both spaces as a cell: once if it is the same or the second is unknown, otherwise as in "11, 14".
func sizes(first, second int) table.Cell {
	text := strconv.Itoa(first)
	if second != 0 && second != first {
		text += ", " + strconv.Itoa(second)
	}
	return table.Cell{Text: text}
}
