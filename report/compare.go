package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/report/number"
	"tilecheck/report/plot"
	"tilecheck/report/table"
	"tilecheck/result"
)

// Comparison is a table of strategies and goals: the probability that a strategy
// loses before it reaches the tile MAX, and the published number.
//
// Source: thesis section 3.9, Table 3.6 and Figure 3.25.
type Comparison struct {
	Title string
	// Finding is the conclusion, printed before tables and Markdown.
	Finding []string
	Cells   []ComparisonCell // in any order; at most one for a strategy, updates and MAX
	Notes   []string         // explanations, printed below tables and Markdown
}

// ComparisonCell is the verdict on one strategy and one MAX.
type ComparisonCell struct {
	Strategy   string
	Updates    string // the kind of updates of the model, a modelgen.Updates; empty for other models
	Max        int    // the tile to reach, positive
	Verdict    result.Verdict
	Published  *Published // nil if there is no published number
	Compatible Compatibility
}

// Published is a number from the literature.
type Published struct {
	Value     float64
	HalfWidth *float64 // nominal; nil when none was published
}

// Compatibility says whether a verdict and the published number can both be right. The caller decides. The zero value
// means that there is nothing to compare.
type Compatibility uint8

// The answers.
const (
	Incomparable Compatibility = iota
	Compatible
	Incompatible
)

// outcome compares a cell with the published number, in words; it is empty if they cannot be compared.
func (c *ComparisonCell) outcome() string {
	ours := c.Verdict.Value
	switch {
	case c.Compatible == Compatible:
		return "as published"
	case c.Compatible != Incompatible:
		return ""
	case ours.Kind == result.Number && ours.Num > c.Published.Value:
		return "higher"
	case ours.Kind == result.Number && ours.Num < c.Published.Value:
		return "lower"
	}
	return "differs"
}

// outcomeCell returns the outcome of a cell, coloured.
func (c *ComparisonCell) outcomeCell(opt table.Options) table.Cell {
	switch word := c.outcome(); {
	case word == "":
		return table.Cell{Text: opt.Unknown()}
	case c.Compatible == Compatible:
		return table.Cell{Text: word, Tone: table.Good}
	default:
		return table.Cell{Text: word, Tone: table.Bad}
	}
}

// Write prints the comparison.
//
// The table for people has the layout of Table 3.6: a group of lines for every
// MAX and a column for every strategy, in as many tables below each other as
// [Options.Width] asks for. Markdown and CSV have one row a cell, ordered by
// MAX. With models of several updates it has a line for each instead, which fits
// 100 columns for four strategies. JSON has the members of a verdict and strategy,
// updates, tile, published {value, half_width} and outcome.
//
// The error is that of w, or says which strategy and MAX occur twice.
func (c *Comparison) Write(w io.Writer, f table.Format, opt table.Options) error {
	g, err := newCellGrid(c)
	if err != nil {
		return err
	}
	switch f {
	case table.Text:
		return c.writeText(w, g, opt)
	case table.JSON, table.CSV:
		records := make([]cellRecord, len(g.cells))
		for i := range g.cells {
			records[i] = newCellRecord(&g.cells[i])
		}
		return table.WriteRecords(w, f, opt, table.Summary(c.Title), records, slices.Concat(c.Finding, c.Notes))
	}
	return c.longTable(g, opt).Write(w, f, opt)
}

// cellGrid has the cells by MAX, then by strategy in the order of first appearance.
type cellGrid struct {
	strategies []string
	maxima     []int
	cells      []ComparisonCell
}

// newCellGrid sorts the cells of a comparison. It returns an error if a strategy occurs twice for one MAX and kind of updates.
func newCellGrid(c *Comparison) (*cellGrid, error) {
	grid := &cellGrid{cells: slices.Clone(c.Cells)}
	for i := range grid.cells {
		if s := grid.cells[i].Strategy; !slices.Contains(grid.strategies, s) {
			grid.strategies = append(grid.strategies, s)
		}
		grid.maxima = append(grid.maxima, grid.cells[i].Max)
	}
	slices.Sort(grid.maxima)
	grid.maxima = slices.Compact(grid.maxima)
	slices.SortStableFunc(grid.cells, func(a, b ComparisonCell) int {
		return cmp.Or(cmp.Compare(a.Max, b.Max),
			cmp.Compare(slices.Index(grid.strategies, a.Strategy), slices.Index(grid.strategies, b.Strategy)), cmp.Compare(b.Updates, a.Updates))
	})
	for i := 1; i < len(grid.cells); i++ {
		if a, b := &grid.cells[i-1], &grid.cells[i]; a.Max == b.Max && a.Strategy == b.Strategy && a.Updates == b.Updates {
			return nil, fmt.Errorf("strategy %q occurs twice for MAX %d", a.Strategy, a.Max)
		}
	}
	return grid, nil
}

// at returns a cell, nil if there is none.
func (g *cellGrid) at(strategy, updates string, maximum int) *ComparisonCell {
	i := slices.IndexFunc(g.cells, func(c ComparisonCell) bool {
		return c.Strategy == strategy && c.Updates == updates && c.Max == maximum
	})
	if i < 0 {
		return nil
	}
	return &g.cells[i]
}

// cellRecord is a cell in JSON and CSV.
type cellRecord struct {
	Strategy string `json:"strategy"`
	Max      int    `json:"tile"`
	result.Record
	Published *publishedRecord `json:"published,omitempty"`
	Outcome   string           `json:"outcome,omitempty"`
	Updates   string           `json:"updates,omitempty"`
}

// publishedRecord is a Published in JSON.
type publishedRecord struct {
	Value     result.JSONNumber  `json:"value"`
	HalfWidth *result.JSONNumber `json:"half_width,omitempty"`
}

// newCellRecord returns a cell as it is encoded in JSON and CSV.
func newCellRecord(c *ComparisonCell) cellRecord {
	record := cellRecord{Strategy: c.Strategy, Updates: c.Updates, Max: c.Max, Record: result.NewRecord(&c.Verdict)}
	if published := c.Published; published != nil {
		record.Published = &publishedRecord{result.JSONNumber(published.Value), (*result.JSONNumber)(published.HalfWidth)}
	}
	if c.Published != nil {
		record.Outcome = c.outcome()
	}
	return record
}

// cellTexts are the texts of a cell in a table.
type cellTexts struct{ estimate, interval, published, outcome, notes table.Cell }

// textsOf returns the texts of a cell. Remarks go to the footnotes.
func textsOf(c *ComparisonCell, notes *table.Footnotes, opt table.Options) cellTexts {
	verdict := &c.Verdict
	out := cellTexts{
		estimate: valueCell(verdict, opt),
		interval: table.Cell{Text: intervalText(verdict, opt)},
		notes:    table.Cell{Text: notes.Add(slices.Concat(longFraction(verdict), Remarks(verdict))...)},
	}
	if published := c.Published; published != nil {
		out.published = table.Cell{Text: publishedText(published, opt)}
		out.outcome = c.outcomeCell(opt)
	}
	return out
}

// publishedText writes at most the digits that the half-width justifies, and no trailing zeros that may not be in the
// publication.
func publishedText(p *Published, opt table.Options) string {
	if p.HalfWidth == nil {
		return number.Of(p.Value, 0).Format(p.Value, 0)
	}
	s := number.Of(p.Value, *p.HalfWidth)
	value := s
	value.Trim = true
	return value.Format(p.Value, 0) + opt.PlusMinus() + s.Format(*p.HalfWidth, 0)
}

// longTable has one row for each cell.
func (c *Comparison) longTable(g *cellGrid, opt table.Options) *table.Table {
	t := &table.Table{Title: c.Title, Columns: []table.Column{
		{Name: "MAX", Align: table.Right},
		{Name: "strategy", Min: 8},
		{Name: "updates"},
		{Name: g.valueName(), Min: 12, Max: 40},
		{Name: "interval"},
		{Name: "published"},
		{Name: "outcome"},
		{Name: "notes"},
	}}
	var notes table.Footnotes
	for i := range g.cells {
		x := textsOf(&g.cells[i], &notes, opt)
		updates := ""
		if len(g.updates()) > 1 {
			updates = g.cells[i].Updates
		}
		t.Append(g.cells[i].Max, g.cells[i].Strategy, updates, x.estimate, x.interval, x.published, x.outcome, x.notes)
	}
	t.Notes = slices.Concat(c.Finding, c.allNotes(g, notes))
	return t.DropEmpty()
}

// allNotes returns the notes below the table: where the verdicts come from, the footnotes, and the notes of the comparison.
func (c *Comparison) allNotes(g *cellGrid, notes table.Footnotes) []string {
	verdicts := make([]result.Verdict, len(g.cells))
	for i := range g.cells {
		verdicts[i] = g.cells[i].Verdict
	}
	return slices.Concat(provenance(verdicts), notes.Paragraphs(), c.Notes)
}

// writeText prints as few tables as the width permits, with about the same number of strategies in each. The title is
// above the first table, and the notes are below the last one. If the terminal is too narrow for one strategy, it prints
// the long table.
func (c *Comparison) writeText(w io.Writer, g *cellGrid, opt table.Options) error {
	tables, notes := g.wideTables(opt)
	if tables == nil {
		return c.longTable(g, opt).Write(w, table.Text, opt)
	}
	tables[0].Title = c.Title
	tables[len(tables)-1].Notes = c.allNotes(g, notes)
	if len(g.updates()) > 1 {
		tables[len(tables)-1].Notes = c.modelsNotes(g)
	}
	if len(c.Finding) > 0 {
		tables[0].Title = ""
		if _, err := io.WriteString(w, strings.Join(append([]string{c.Title, ""}, c.Finding...), "\n")+"\n\n"); err != nil {
			return err
		}
	}
	for i, t := range tables {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := t.Write(w, table.Text, opt); err != nil {
			return err
		}
	}
	return nil
}

// wideTables returns nil if not even one strategy fits.
func (g *cellGrid) wideTables(opt table.Options) ([]*table.Table, table.Footnotes) {
	for parts := 1; parts <= max(len(g.strategies), 1); parts++ {
		var tables []*table.Table
		var notes table.Footnotes
		fits := true
		for _, strategies := range split(g.strategies, parts) {
			t := g.modelsTable(strategies, opt)
			if len(g.updates()) <= 1 {
				t = g.wideTable(strategies, &notes, opt)
			}
			fits = fits && t.Fits(opt.Width)
			tables = append(tables, t)
		}
		if fits {
			return tables, notes
		}
	}
	return nil, nil
}

// split splits s into parts whose lengths differ by at most one.
func split(s []string, parts int) [][]string {
	out := make([][]string, parts)
	for i := range out {
		out[i] = s[i*len(s)/parts : (i+1)*len(s)/parts]
	}
	return out
}

// wideTable has a column for each strategy. For every MAX it has the lines that are not empty, and an empty row after
// them.
func (g *cellGrid) wideTable(strategies []string, notes *table.Footnotes, opt table.Options) *table.Table {
	t := &table.Table{Columns: []table.Column{{Name: "MAX", Align: table.Right}, {Name: ""}}}
	for _, s := range strategies {
		t.Columns = append(t.Columns, table.Column{Name: s, Max: 26})
	}
	for i, maximum := range g.maxima {
		if i > 0 {
			t.Rows = append(t.Rows, make([]table.Cell, len(t.Columns)))
		}
		texts := make([]cellTexts, len(strategies))
		for j, s := range strategies {
			if c := g.at(s, g.updates()[0], maximum); c != nil {
				texts[j] = textsOf(c, notes, opt)
			}
		}
		appendLines(t, strconv.Itoa(maximum), g.valueName(), texts)
	}
	return t
}

// valueName is the name of the row of values: they are not estimates if each has bounds or is a fraction.
func (g *cellGrid) valueName() string {
	if slices.ContainsFunc(g.cells, func(c ComparisonCell) bool {
		return c.Verdict.Accuracy != result.Exact && c.Verdict.Accuracy != result.Bounded && c.Verdict.Err == nil
	}) {
		return "estimate"
	}
	return "value"
}

// appendLines adds the rows of one MAX. The first row names it.
func appendLines(t *table.Table, maximum, value string, texts []cellTexts) {
	lines := []struct {
		label string
		pick  func(*cellTexts) table.Cell
	}{
		{value, func(x *cellTexts) table.Cell { return x.estimate }},
		{"interval", func(x *cellTexts) table.Cell { return x.interval }},
		{"published", func(x *cellTexts) table.Cell { return x.published }},
		{"outcome", func(x *cellTexts) table.Cell { return x.outcome }},
		{"notes", func(x *cellTexts) table.Cell { return x.notes }},
	}
	for i, line := range lines {
		row := []table.Cell{{}, {Text: line.label}}
		used := false
		for j := range texts {
			cell := line.pick(&texts[j])
			used = used || cell.Text != ""
			row = append(row, cell)
		}
		if i == 0 {
			row[0].Text = maximum
		}
		if used || i == 0 {
			t.Rows = append(t.Rows, row)
		}
	}
}

// Chart returns a plot of the probability over MAX, on a logarithmic axis, and of the
// published numbers. It has a series for each strategy; a bar is the verdict's interval, or
// its half-width. Cells without a number interrupt the line.
//
// The error says which strategy and MAX occur twice, or have no probability.
//
// Source: thesis Figure 3.25.
func (c *Comparison) Chart() (*plot.Chart, error) {
	g, err := newCellGrid(c)
	if err != nil {
		return nil, err
	}
	chart := &plot.Chart{Title: c.Title, X: "MAX", Y: "probability", Probability: true}
	for _, m := range g.maxima {
		if m < 1 {
			return nil, fmt.Errorf("strategy %q: MAX is %d, want a positive number", g.cells[0].Strategy, m)
		}
		chart.Ticks = append(chart.Ticks, plot.Tick{At: math.Log2(float64(m)), Name: strconv.Itoa(m)})
	}
	for _, updates := range g.updates() {
		for _, strategy := range g.strategies {
			s, err := g.series(chart, strategy, updates)
			if err != nil {
				return nil, err
			}
			chart.Series = append(chart.Series, s)
		}
	}
	return chart, nil
}

// series is the line of a strategy. The last model of several has the published points.
func (g *cellGrid) series(chart *plot.Chart, strategy, updates string) (plot.Series, error) {
	all := g.updates()
	s := plot.Series{Name: strategy}
	if len(all) > 1 {
		s.Name += ", " + updatesLabel(updates)
	}
	gap := false
	for i, m := range g.maxima {
		cell := g.at(strategy, updates, m)
		if cell == nil {
			gap = true
			continue
		}
		p, ok := verdictPoint(&cell.Verdict)
		p.X, p.Gap = chart.Ticks[i].At, gap
		if gap = !ok; ok {
			s.Points = append(s.Points, p)
		}
		var q plot.Point
		if cell.Published != nil && updates == all[len(all)-1] {
			q = barred(cell.Published.Value, cell.Published.HalfWidth)
			q.X = p.X
			s.Published = append(s.Published, q)
		}
		for _, y := range []float64{p.Y, q.Y} {
			if !(y >= 0 && y <= 1) {
				return s, fmt.Errorf("strategy %q: MAX %d: %s is not a probability", strategy, m, result.JSONNumber(y).String())
			}
		}
	}
	return s, nil
}

// verdictPoint returns the value and bar of a verdict; ok is false if it has no number.
func verdictPoint(v *result.Verdict) (p plot.Point, ok bool) {
	if v.Value.Kind != result.Number && v.Value.Kind != result.Integer {
		return p, false
	}
	p = barred(v.Value.Num, v.HalfWidth)
	if b := v.Bound; b != nil && b.Lo <= b.Hi {
		p.Lo, p.Hi = max(b.Lo, 0), min(b.Hi, 1)
	}
	return p, true
}

// barred returns a point with a bar of this half-width inside [0, 1]; nil means no bar.
func barred(y float64, half *float64) plot.Point {
	p := plot.Point{Y: y, Lo: y, Hi: y}
	if half != nil {
		p.Lo, p.Hi = max(y-*half, 0), min(y+*half, 1)
	}
	return p
}
