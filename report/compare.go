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

// outcome says how our value compares with the published one: as published, higher, lower, or differs. It returns "" if they cannot be compared.
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

// outcomeCell returns the outcome as a table cell: green if the values are compatible, and red if they are not.
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

// Write prints the comparison. The table for people has the layout of Table 3.6 of the thesis, in several tables if the width requires it. The other
// formats have one row for each cell. It returns an error if a strategy and MAX occur twice.
func (c *Comparison) Write(w io.Writer, format table.Format, opt table.Options) error {
	grid, err := newCellGrid(c)
	if err != nil {
		return err
	}
	switch {
	case format == table.Text:
		return c.writeText(w, grid, opt)
	case format.Machine():
		records := make([]cellRecord, len(grid.cells))
		for i := range grid.cells {
			records[i] = newCellRecord(&grid.cells[i])
		}
		return table.WriteRecords(w, format, opt, table.Summary(c.Title), records, slices.Concat(c.Finding, c.Notes))
	}
	return c.longTable(grid, opt).Write(w, format, opt)
}

// cellGrid has the cells by MAX, then by strategy in the order of first appearance.
type cellGrid struct {
	strategies []string
	maxima     []int
	cells      []ComparisonCell
}

// newCellGrid sorts the cells of a comparison. It returns an error if a strategy occurs twice for one MAX and kind of updates.
func newCellGrid(comparison *Comparison) (*cellGrid, error) {
	grid := &cellGrid{cells: slices.Clone(comparison.Cells)}
	for i := range grid.cells {
		if strategy := grid.cells[i].Strategy; !slices.Contains(grid.strategies, strategy) {
			grid.strategies = append(grid.strategies, strategy)
		}
		grid.maxima = append(grid.maxima, grid.cells[i].Max)
	}
	slices.Sort(grid.maxima)
	grid.maxima = slices.Compact(grid.maxima)
	slices.SortStableFunc(grid.cells, func(first, second ComparisonCell) int {
		return cmp.Or(cmp.Compare(first.Max, second.Max),
			cmp.Compare(slices.Index(grid.strategies, first.Strategy), slices.Index(grid.strategies, second.Strategy)), cmp.Compare(second.Updates, first.Updates))
	})
	for i := 1; i < len(grid.cells); i++ {
		if first, second := &grid.cells[i-1], &grid.cells[i]; first.Max == second.Max && first.Strategy == second.Strategy && first.Updates == second.Updates {
			return nil, fmt.Errorf("strategy %q occurs twice for MAX %d", first.Strategy, first.Max)
		}
	}
	return grid, nil
}

// cell returns the cell of a strategy, a kind of updates and a MAX; nil if there is none.
func (g *cellGrid) cell(strategy, updates string, maximum int) *ComparisonCell {
	i := slices.IndexFunc(g.cells, func(candidate ComparisonCell) bool {
		return candidate.Strategy == strategy && candidate.Updates == updates && candidate.Max == maximum
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

// newCellRecord returns the struct that is the JSON and the CSV of a cell.
func newCellRecord(cell *ComparisonCell) cellRecord {
	record := cellRecord{Strategy: cell.Strategy, Updates: cell.Updates, Max: cell.Max, Record: result.NewRecord(&cell.Verdict)}
	if published := cell.Published; published != nil {
		record.Published = &publishedRecord{result.JSONNumber(published.Value), (*result.JSONNumber)(published.HalfWidth)}
	}
	if cell.Published != nil {
		record.Outcome = cell.outcome()
	}
	return record
}

// cellTexts are the texts of a cell in a table.
type cellTexts struct{ estimate, interval, published, outcome, notes table.Cell }

// textsOf returns the texts of a cell. It adds the remarks on the verdict to the footnotes, and puts their numbers into the texts.
func textsOf(cell *ComparisonCell, notes *table.Footnotes, opt table.Options) cellTexts {
	verdict := &cell.Verdict
	texts := cellTexts{
		estimate: valueCell(verdict, opt),
		interval: table.Cell{Text: intervalText(verdict, opt)},
		notes:    table.Cell{Text: notes.Add(slices.Concat(longFraction(verdict), Remarks(verdict))...)},
	}
	if published := cell.Published; published != nil {
		texts.published = table.Cell{Text: publishedText(published, opt)}
		texts.outcome = cell.outcomeCell(opt)
	}
	return texts
}

// publishedText returns a published number with the digits that its half-width justifies, without trailing zeros, such as "0.5 ± 0.012".
func publishedText(published *Published, opt table.Options) string {
	if published.HalfWidth == nil {
		return number.Text(published.Value)
	}
	scale := number.ScaleOf(published.Value, *published.HalfWidth)
	trimmed := scale
	trimmed.Trim = true
	return trimmed.Format(published.Value, 0) + opt.PlusMinus() + scale.Format(*published.HalfWidth, 0)
}

// longTable returns a table with one row for each cell.
func (c *Comparison) longTable(grid *cellGrid, opt table.Options) *table.Table {
	cellTable := &table.Table{Title: c.Title, Columns: []table.Column{
		{Name: "MAX", Align: table.Right},
		{Name: "strategy", Min: 8},
		{Name: "updates"},
		{Name: grid.valueName(), Min: 12, Max: 40},
		{Name: "interval"},
		{Name: "published"},
		{Name: "outcome"},
		{Name: "notes"},
	}}
	var notes table.Footnotes
	for i := range grid.cells {
		texts := textsOf(&grid.cells[i], &notes, opt)
		updates := ""
		if len(grid.updates()) > 1 {
			updates = grid.cells[i].Updates
		}
		cellTable.Append(grid.cells[i].Max, grid.cells[i].Strategy, updates, texts.estimate, texts.interval, texts.published, texts.outcome, texts.notes)
	}
	cellTable.Notes = slices.Concat(c.Finding, c.allNotes(grid, notes))
	return cellTable.DropEmpty()
}

// allNotes returns the notes below the table: the origin of the verdicts, the footnotes, and the notes of the comparison.
func (c *Comparison) allNotes(grid *cellGrid, notes table.Footnotes) []string {
	verdicts := make([]result.Verdict, len(grid.cells))
	for i := range grid.cells {
		verdicts[i] = grid.cells[i].Verdict
	}
	return slices.Concat(provenance(verdicts), notes.Paragraphs(), c.Notes)
}

// writeText prints as few tables as the width permits, with about the same number of strategies in each. If the terminal is too narrow for one
// strategy, it prints the long table.
func (c *Comparison) writeText(w io.Writer, grid *cellGrid, opt table.Options) error {
	tables, notes := grid.wideTables(opt)
	if tables == nil {
		return c.longTable(grid, opt).Write(w, table.Text, opt)
	}
	tables[0].Title = c.Title
	tables[len(tables)-1].Notes = c.allNotes(grid, notes)
	if len(grid.updates()) > 1 {
		tables[len(tables)-1].Notes = c.modelsNotes(grid)
	}
	if len(c.Finding) > 0 {
		tables[0].Title = ""
		if _, err := io.WriteString(w, strings.Join(append([]string{c.Title, ""}, c.Finding...), "\n")+"\n\n"); err != nil {
			return err
		}
	}
	for i, piece := range tables {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := piece.Write(w, table.Text, opt); err != nil {
			return err
		}
	}
	return nil
}

// wideTables returns as few tables as the width permits, and their footnotes; nil if a single strategy does not fit.
func (g *cellGrid) wideTables(opt table.Options) ([]*table.Table, table.Footnotes) {
	for parts := 1; parts <= max(len(g.strategies), 1); parts++ {
		var tables []*table.Table
		var notes table.Footnotes
		fits := true
		for _, strategies := range splitEvenly(g.strategies, parts) {
			piece := g.modelsTable(strategies, opt)
			if len(g.updates()) <= 1 {
				piece = g.wideTable(strategies, &notes, opt)
			}
			fits = fits && piece.Fits(opt.Width)
			tables = append(tables, piece)
		}
		if fits {
			return tables, notes
		}
	}
	return nil, nil
}

// splitEvenly splits a list into parts whose lengths differ by at most one.
func splitEvenly(list []string, parts int) [][]string {
	lists := make([][]string, parts)
	for i := range lists {
		lists[i] = list[i*len(list)/parts : (i+1)*len(list)/parts]
	}
	return lists
}

// wideTable returns a table with a column for each strategy and a group of lines for every MAX. Empty rows separate the groups.
func (g *cellGrid) wideTable(strategies []string, notes *table.Footnotes, opt table.Options) *table.Table {
	wide := &table.Table{Columns: []table.Column{{Name: "MAX", Align: table.Right}, {Name: ""}}}
	for _, strategy := range strategies {
		wide.Columns = append(wide.Columns, table.Column{Name: strategy, Max: 26})
	}
	for i, maximum := range g.maxima {
		if i > 0 {
			wide.Rows = append(wide.Rows, make([]table.Cell, len(wide.Columns)))
		}
		texts := make([]cellTexts, len(strategies))
		for column, strategy := range strategies {
			if cell := g.cell(strategy, g.updates()[0], maximum); cell != nil {
				texts[column] = textsOf(cell, notes, opt)
			}
		}
		appendLines(wide, strconv.Itoa(maximum), g.valueName(), texts)
	}
	return wide
}

// valueName returns the name of the row of values: "estimate" if some value has no proven bounds, otherwise "value".
func (g *cellGrid) valueName() string {
	isEstimate := func(cell ComparisonCell) bool {
		hasBounds := cell.Verdict.Accuracy == result.Exact || cell.Verdict.Accuracy == result.Bounded
		return !hasBounds && cell.Verdict.Err == nil
	}
	if slices.ContainsFunc(g.cells, isEstimate) {
		return "estimate"
	}
	return "value"
}

// appendLines adds the rows of one MAX to a table: values, intervals, published numbers, outcomes and notes. texts has an element for each strategy.
// MAX stands in the first row only. appendLines omits the other rows if they have no text.
func appendLines(grid *table.Table, maximumText, valueLabel string, texts []cellTexts) {
	lines := []struct {
		label string
		pick  func(*cellTexts) table.Cell
	}{
		{valueLabel, func(text *cellTexts) table.Cell { return text.estimate }},
		{"interval", func(text *cellTexts) table.Cell { return text.interval }},
		{"published", func(text *cellTexts) table.Cell { return text.published }},
		{"outcome", func(text *cellTexts) table.Cell { return text.outcome }},
		{"notes", func(text *cellTexts) table.Cell { return text.notes }},
	}
	for i, line := range lines {
		row := []table.Cell{{}, {Text: line.label}}
		hasText := false
		for column := range texts {
			cell := line.pick(&texts[column])
			hasText = hasText || cell.Text != ""
			row = append(row, cell)
		}
		if i == 0 {
			row[0].Text = maximumText
		}
		if hasText || i == 0 {
			grid.Rows = append(grid.Rows, row)
		}
	}
}

// Chart returns a plot of the probability over MAX, on a logarithmic axis, with a series for each strategy. It also shows the published numbers. It
// returns an error if a strategy and MAX occur twice or have no probability.
//
// Source: thesis Figure 3.25.
func (c *Comparison) Chart() (*plot.Chart, error) {
	grid, err := newCellGrid(c)
	if err != nil {
		return nil, err
	}
	chart := &plot.Chart{Title: c.Title, X: "MAX", Y: "probability", Probability: true}
	for _, maximum := range grid.maxima {
		if maximum < 1 {
			return nil, fmt.Errorf("strategy %q: MAX is %d, want a positive number", grid.cells[0].Strategy, maximum)
		}
		chart.Ticks = append(chart.Ticks, plot.Tick{At: math.Log2(float64(maximum)), Name: strconv.Itoa(maximum)})
	}
	for _, updates := range grid.updates() {
		for _, strategy := range grid.strategies {
			line, err := grid.series(chart, strategy, updates)
			if err != nil {
				return nil, err
			}
			chart.Series = append(chart.Series, line)
		}
	}
	return chart, nil
}

// series returns the values of a strategy as a line of the chart, with a gap where a value is missing. If there are several kinds of updates, only
// the last kind gets the published points: otherwise the chart would repeat them.
func (g *cellGrid) series(chart *plot.Chart, strategy, updates string) (plot.Series, error) {
	allUpdates := g.updates()
	line := plot.Series{Name: strategy}
	if len(allUpdates) > 1 {
		line.Name += ", " + updatesLabel(updates)
	}
	hasGap := false
	for i, maximum := range g.maxima {
		cell := g.cell(strategy, updates, maximum)
		if cell == nil {
			hasGap = true
			continue
		}
		point, hasNumber := verdictPoint(&cell.Verdict)
		point.X, point.Gap = chart.Ticks[i].At, hasGap
		if hasNumber {
			line.Points = append(line.Points, point)
		}
		hasGap = !hasNumber
		var published plot.Point
		if cell.Published != nil && updates == allUpdates[len(allUpdates)-1] {
			published = pointWithBar(cell.Published.Value, cell.Published.HalfWidth)
			published.X = point.X
			line.Published = append(line.Published, published)
		}
		for _, y := range []float64{point.Y, published.Y} {
			if !(y >= 0 && y <= 1) {
				return line, fmt.Errorf("strategy %q: MAX %d: %s is not a probability", strategy, maximum, result.JSONNumber(y).String())
			}
		}
	}
	return line, nil
}

// verdictPoint returns the value of a verdict as a point, with its interval restricted to [0, 1]. ok is false if the verdict has no number.
func verdictPoint(verdict *result.Verdict) (point plot.Point, ok bool) {
	if verdict.Value.Kind != result.Number && verdict.Value.Kind != result.Integer {
		return point, false
	}
	point = pointWithBar(verdict.Value.Num, verdict.HalfWidth)
	if bound := verdict.Bound; bound != nil && bound.Lo <= bound.Hi {
		point.Lo, point.Hi = max(bound.Lo, 0), min(bound.Hi, 1)
	}
	return point, true
}

// pointWithBar returns a point with a bar of this half-width, restricted to [0, 1]. It has no bar if halfWidth is nil.
func pointWithBar(y float64, halfWidth *float64) plot.Point {
	point := plot.Point{Y: y, Lo: y, Hi: y}
	if halfWidth != nil {
		point.Lo, point.Hi = max(y-*halfWidth, 0), min(y+*halfWidth, 1)
	}
	return point
}
