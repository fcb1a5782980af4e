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

// Write prints a table with a row for each changed result, the gravest changes first. Markdown has at most maxBaselineRows rows. JSON is the member
// "baseline" of [WriteTests].
func (b *Baseline) Write(w io.Writer, format table.Format, opt table.Options) error {
	if format == table.JSON {
		return table.WriteJSON(w, b.summary())
	}
	if len(b.Changes) == 0 && format != table.CSV {
		_, err := io.WriteString(w, "Nothing changed since the baseline: "+b.words()+"\n")
		return err
	}
	changes := b.table(opt)
	if omitted := len(changes.Rows) - maxBaselineRows; format == table.Markdown && omitted > 0 {
		changes.Rows = changes.Rows[:maxBaselineRows]
		changes.Notes = append([]string{strconv.Itoa(omitted) + " more changes are left out here; --format json has them"}, changes.Notes...)
	}
	if format != table.CSV {
		changes = changes.DropEmpty()
	}
	return changes.Write(w, format, opt)
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
	names := make([]string, len(aspects))
	for i, aspect := range aspects {
		names[i] = aspect.String()
	}
	return names
}

// sideText describes the changed aspects of the old or the new result, one line for each.
func (c *BaselineChange) sideText(test *TestResult, opt table.Options) string {
	if test == nil {
		return ""
	}
	var lines []string
	for _, aspect := range c.Aspects {
		switch aspect {
		case ValueChanged:
			lines = append(lines, knownText(test.Verdict, opt))
		case StatesChanged:
			lines = append(lines, spaceText(test.Verdict))
		case Slower, Faster:
			lines = append(lines, number.Duration(test.seconds()))
		case Broken, OutcomeChanged, Mended, Vanished, Added:
			lines = append(lines, test.Outcome.String())
		}
	}
	return strings.Join(lines, "\n")
}

// knownText returns the value of a verdict with its interval.
func knownText(verdict *result.Verdict, opt table.Options) string {
	text := valueText(verdict, opt)
	if interval := intervalText(verdict, opt); interval != "" {
		text += " " + interval
	}
	return text
}

// spaceText returns the size of the state space as far as it is known: "13 states, 20 transitions".
func spaceText(verdict *result.Verdict) string {
	var parts []string
	for _, size := range []struct {
		count int64
		name  string
	}{{verdict.States, "states"}, {verdict.Choices, "choices"}, {verdict.Transitions, "transitions"}} {
		if size.count > 0 {
			parts = append(parts, countText(size.count)+" "+size.name)
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
	summary := baselineSummary{
		Broken: b.Count(Broken), Value: b.Count(ValueChanged), States: b.Count(StatesChanged), Outcome: b.Count(OutcomeChanged),
		Slower: b.Count(Slower), Vanished: b.Count(Vanished), Mended: b.Count(Mended), Faster: b.Count(Faster), New: b.Count(Added),
		Same: b.Same, Compared: b.Compared.Compared(), NotCompared: b.Compared.Unknown, Changes: []changeRecord{},
	}
	for i := range b.Changes {
		change := &b.Changes[i]
		summary.Changes = append(summary.Changes, changeRecord{words(change.Aspects), sideRecord(change.Old), sideRecord(change.New)})
	}
	return summary
}

// sideRecord returns the record of the old or the new result of a change; nil if there is none.
func sideRecord(test *TestResult) *testRecord {
	if test == nil {
		return nil
	}
	record := test.record()
	record.Log = ""
	return &record
}
