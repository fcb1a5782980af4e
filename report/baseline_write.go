package report

import (
	"io"
	"strconv"
	"strings"

	"tilecheck/report/number"
	"tilecheck/report/table"
	"tilecheck/result"
)

// maxBaselineRows is the number of rows in Markdown. The other formats have all rows.
const maxBaselineRows = 100

// Write prints a table with a row for each changed result, the gravest changes first, with the old and the new state.
// Markdown has at most a hundred rows, and says how many are left out. JSON is the member "baseline" of [WriteTests].
//
// The error is that of w.
func (b *Baseline) Write(w io.Writer, f table.Format, opt table.Options) error {
	if f == table.JSON {
		return table.WriteJSON(w, b.summary())
	}
	if len(b.Changes) == 0 && f != table.CSV {
		_, err := io.WriteString(w, "Nothing changed since the baseline: "+b.words()+"\n")
		return err
	}
	t := b.table(opt)
	if left := len(t.Rows) - maxBaselineRows; f == table.Markdown && left > 0 {
		t.Rows = t.Rows[:maxBaselineRows]
		t.Notes = append([]string{strconv.Itoa(left) + " more changes are left out here; --format json has them"}, t.Notes...)
	}
	if f != table.CSV {
		t = t.DropEmpty()
	}
	return t.Write(w, f, opt)
}

// table returns a table with a row for each change.
func (b *Baseline) table(opt table.Options) *table.Table {
	out := &table.Table{
		Title: "Changes since the baseline",
		Columns: []table.Column{
			{Name: "change"},
			{Name: "where", Min: 16},
			{Name: "property", Min: 16, Max: 60, Code: true},
			{Name: "with", Min: 8, Max: 40, Code: true},
			{Name: "engine"},
			{Name: "was", Min: 12, Max: 40},
			{Name: "is", Min: 12, Max: 40},
		},
		Notes: []string{b.words()},
	}
	for i := range b.Changes {
		change := &b.Changes[i]
		shown := change.result()
		out.Append(change.cell(), shown.place(), shown.title(), shown.setting(), shown.Engine, change.sideText(change.Old, opt), change.sideText(change.New, opt))
	}
	return out
}

// result returns the new result, or the old one if there is no new one.
func (c *BaselineChange) result() *TestResult {
	if c.New != nil {
		return c.New
	}
	return c.Old
}

// cell returns the aspects of a change, coloured by the first one.
func (c *BaselineChange) cell() table.Cell {
	tone := table.Plain
	switch c.Aspects[0] {
	case Broken, ValueChanged, StatesChanged:
		tone = table.Bad
	case Mended:
		tone = table.Good
	}
	return table.Cell{Text: strings.Join(words(c.Aspects), ", "), Tone: tone}
}

// words returns the names of aspects.
func words(aspects []Aspect) []string {
	out := make([]string, len(aspects))
	for i, a := range aspects {
		out[i] = a.String()
	}
	return out
}

// sideText describes the old or the new result in the aspects that changed, one line for each. A result without
// counterpart has its outcome.
func (c *BaselineChange) sideText(r *TestResult, opt table.Options) string {
	if r == nil {
		return ""
	}
	var lines []string
	for _, a := range c.Aspects {
		switch a {
		case ValueChanged:
			lines = append(lines, knownText(r.Verdict, opt))
		case StatesChanged:
			lines = append(lines, spaceText(r.Verdict))
		case Slower, Faster:
			lines = append(lines, number.Duration(r.seconds()))
		case Broken, OutcomeChanged, Mended, Vanished, Added:
			lines = append(lines, r.Outcome.String())
		}
	}
	return strings.Join(lines, "\n")
}

// knownText returns the value of a verdict with its interval.
func knownText(v *result.Verdict, opt table.Options) string {
	text := valueText(v, opt)
	if interval := intervalText(v, opt); interval != "" {
		text += " " + interval
	}
	return text
}

// spaceText returns the size of the state space as far as it is known: "13 states, 20 transitions".
func spaceText(v *result.Verdict) string {
	var parts []string
	for _, size := range []struct {
		n    int64
		name string
	}{{v.States, "states"}, {v.Choices, "choices"}, {v.Transitions, "transitions"}} {
		if size.n > 0 {
			parts = append(parts, countText(size.n)+" "+size.name)
		}
	}
	return strings.Join(parts, ", ")
}

// baselineSummary is a baseline in JSON.
type baselineSummary struct {
	Broken      int            `json:"broken"`
	Value       int            `json:"value"`
	States      int            `json:"states"`
	Outcome     int            `json:"outcome"`
	Slower      int            `json:"slower"`
	Vanished    int            `json:"vanished"`
	Mended      int            `json:"mended"`
	Faster      int            `json:"faster"`
	New         int            `json:"new"`
	Same        int            `json:"same"`
	Compared    int            `json:"compared"`
	NotCompared int            `json:"not_compared"`
	Changes     []changeRecord `json:"changes"`
}

// changeRecord is a BaselineChange in JSON.
type changeRecord struct {
	Aspects []string    `json:"aspects"`
	Old     *testRecord `json:"old,omitempty"`
	New     *testRecord `json:"new,omitempty"`
}

// summary returns the baseline as it is encoded in JSON.
func (b *Baseline) summary() baselineSummary {
	out := baselineSummary{
		Broken: b.Count(Broken), Value: b.Count(ValueChanged), States: b.Count(StatesChanged), Outcome: b.Count(OutcomeChanged),
		Slower: b.Count(Slower), Vanished: b.Count(Vanished), Mended: b.Count(Mended), Faster: b.Count(Faster), New: b.Count(Added),
		Same: b.Same, Compared: b.Compared.Compared(), NotCompared: b.Compared.Unknown, Changes: []changeRecord{},
	}
	for i := range b.Changes {
		change := &b.Changes[i]
		out.Changes = append(out.Changes, changeRecord{words(change.Aspects), sideRecord(change.Old), sideRecord(change.New)})
	}
	return out
}

// sideRecord returns the record of the old or the new result of a change; nil if there is none.
func sideRecord(r *TestResult) *testRecord {
	if r == nil {
		return nil
	}
	out := r.record()
	out.Log = ""
	return &out
}
