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

// Write prints a table with a row for each changed result, the most serious changes first. Markdown has at most maxBaselineRows rows. JSON is the
// same object as the member "baseline" of [WriteTests].
func (b *Baseline) Write(w io.Writer, format table.Format, opt table.Options) error {
	if format == table.JSON {
		return table.WriteJSON(w, b.summary())
	}
	if len(b.Changes) == 0 && !format.Machine() {
		_, err := io.WriteString(w, "Nothing changed since the baseline: "+b.countsLine()+"\n")
		return err
	}
	changes := b.table(opt)
	if omitted := len(changes.Rows) - maxBaselineRows; format == table.Markdown && omitted > 0 {
		changes.Rows = changes.Rows[:maxBaselineRows]
		changes.Notes = append([]string{strconv.Itoa(omitted) + " more changes are left out here; --format json has them"}, changes.Notes...)
	}
	if !format.Machine() {
		changes = changes.DropEmpty()
	}
	return changes.Write(w, format, opt)
}

// table returns a table with a row for each change.
func (b *Baseline) table(opt table.Options) *table.Table {
	changesTable := &table.Table{
		Title: "Changes since the baseline",
		Columns: []table.Column{
			{Name: "change", Each: true},
			{Name: "where", Min: 16},
			{Name: "property", Min: 16, Max: 60, Code: true},
			{Name: "with", Min: 8, Max: 40, Code: true},
			{Name: "engine"},
			{Name: "was", Min: 12, Max: 40, Each: true},
			{Name: "is", Min: 12, Max: 40, Each: true},
		},
		Notes: []string{b.countsLine()},
	}
	for i := range b.Changes {
		change := &b.Changes[i]
		changed := change.result()
		changesTable.Append(change.cell(), changed.place(), changed.title(), changed.setting(), changed.Engine, change.sideCell(change.Old, opt), change.sideCell(change.New, opt))
	}
	return changesTable
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
	return table.Cell{Text: strings.Join(aspectNames(c.Aspects), ", "), Tone: tone}
}

// aspectNames returns the names of aspects.
func aspectNames(aspects []Aspect) []string {
	names := make([]string, len(aspects))
	for i, aspect := range aspects {
		names[i] = aspect.String()
	}
	return names
}

// sideCell returns the text of the column "was" or "is": a line for each changed aspect. test is the old or the new result; nil gives an empty text.
func (c *BaselineChange) sideCell(test *TestResult, opt table.Options) string {
	if test == nil {
		return ""
	}
	var lines []string
	for _, aspect := range c.Aspects {
		switch aspect {
		case ValueChanged:
			lines = append(lines, valueAndInterval(test.Verdict, opt))
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

// line returns a change in one line, such as "a.props:3:1: broken since the baseline: P=? [ F s=1 ] on native was pass, is fail".
func (c *BaselineChange) line() string {
	changed := c.result()
	text := changed.place() + ": " + strings.Join(aspectNames(c.Aspects), ", ") + " since the baseline: " + changed.title()
	if setting := changed.setting(); setting != "" {
		text += " " + setting
	}
	text += " on " + changed.Engine
	for _, side := range []struct {
		word string
		test *TestResult
	}{{"was", c.Old}, {"is", c.New}} {
		if side.test != nil {
			text += ", " + side.word + " " + strings.ReplaceAll(c.sideCell(side.test, table.Options{}), "\n", ", ")
		}
	}
	return text
}

// valueAndInterval returns the value of a verdict with its interval, if it has one.
func valueAndInterval(verdict *result.Verdict, opt table.Options) string {
	text := valueText(verdict, opt)
	if interval := intervalText(verdict, opt); interval != "" {
		text += " " + interval
	}
	return text
}

// spaceText returns the known sizes of a state space, such as "13 states, 20 transitions".
func spaceText(verdict *result.Verdict) string {
	var parts []string
	sizes := []struct {
		count int64
		name  string
	}{{verdict.States, "states"}, {verdict.Choices, "choices"}, {verdict.Transitions, "transitions"}}
	for _, size := range sizes {
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

// summary returns the struct that is the JSON of the baseline.
func (b *Baseline) summary() baselineSummary {
	summary := baselineSummary{
		Broken: b.Count(Broken), Value: b.Count(ValueChanged), States: b.Count(StatesChanged), Outcome: b.Count(OutcomeChanged),
		Slower: b.Count(Slower), Vanished: b.Count(Vanished), Mended: b.Count(Mended), Faster: b.Count(Faster), New: b.Count(Added),
		Same: b.Same, Compared: b.Compared.Compared(), NotCompared: b.Compared.Unknown, Changes: []changeRecord{},
	}
	for i := range b.Changes {
		change := &b.Changes[i]
		summary.Changes = append(summary.Changes, changeRecord{aspectNames(change.Aspects), recordOrNil(change.Old), recordOrNil(change.New)})
	}
	return summary
}

// recordOrNil returns the struct that is the JSON of a result, without its log. It returns nil for nil.
func recordOrNil(test *TestResult) *testRecord {
	if test == nil {
		return nil
	}
	record := test.record()
	record.Log = ""
	return &record
}
