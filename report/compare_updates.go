package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/report/table"
	"tilecheck/result"
)

// updatesLabel is the label of a row in the table of several models.
func updatesLabel(updates string) string {
	if updates == "published" {
		return "faults"
	}
	return updates
}

// updates returns the kinds of updates in the cells, in order of first appearance.
func (g *cellGrid) updates() []string {
	var kinds []string
	for i := range g.cells {
		if updates := g.cells[i].Updates; !slices.Contains(kinds, updates) {
			kinds = append(kinds, updates)
		}
	}
	return kinds
}

// modelsTable returns a table with a column for each strategy. For every MAX it has a row with the published numbers and a row for each model.
func (g *cellGrid) modelsTable(strategies []string, opt table.Options) *table.Table {
	models := &table.Table{Columns: []table.Column{{Name: "MAX", Align: table.Right}, {Name: ""}}}
	for _, strategy := range strategies {
		models.Columns = append(models.Columns, table.Column{Name: strategy, Max: 26})
	}
	for i, maximum := range g.maxima {
		if i > 0 {
			models.Rows = append(models.Rows, make([]table.Cell, len(models.Columns)))
		}
		rows := g.modelRows(strategies, maximum, opt)
		rows[0][0].Text = strconv.Itoa(maximum)
		models.Rows = append(models.Rows, rows...)
	}
	return models
}

// modelRows returns the rows of one MAX: the published numbers, then the values of each model. It omits the first row if nothing was published. The
// caller fills in MAX.
func (g *cellGrid) modelRows(strategies []string, maximum int, opt table.Options) [][]table.Cell {
	var rows [][]table.Cell
	published, hasNumber := []table.Cell{{}, {Text: "thesis"}}, false
	for _, strategy := range strategies {
		text := g.publishedDecimals(strategy, maximum, opt)
		hasNumber = hasNumber || text != ""
		published = append(published, table.Cell{Text: text})
	}
	if hasNumber {
		rows = append(rows, published)
	}
	for _, updates := range g.updates() {
		row := []table.Cell{{}, {Text: updatesLabel(updates)}}
		for _, strategy := range strategies {
			var cell table.Cell
			if found := g.cell(strategy, updates, maximum); found != nil {
				cell = found.modelCell(opt)
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	return rows
}

// publishedDecimals returns the published number of a strategy with three decimals, as in Table 3.6; empty if there is none.
func (g *cellGrid) publishedDecimals(strategy string, maximum int, opt table.Options) (text string) {
	for _, updates := range g.updates() {
		cell := g.cell(strategy, updates, maximum)
		if cell == nil || cell.Published == nil {
			continue
		}
		text = decimals(cell.Published.Value)
		if halfWidth := cell.Published.HalfWidth; halfWidth != nil {
			text += opt.PlusMinus() + decimals(*halfWidth)
		}
	}
	return text
}

// decimals returns a number with three decimals.
func decimals(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

// contradictionMark marks a number that contradicts the published one.
const contradictionMark = "*"

// modelCell returns the value and the interval of a cell, with a mark if it contradicts the published number. The interval is rounded outward.
func (c *ComparisonCell) modelCell(opt table.Options) table.Cell {
	verdict := &c.Verdict
	cell := valueCell(verdict, opt)
	mark := ""
	if c.Compatible == Incompatible {
		mark, cell.Tone = contradictionMark, table.Bad
	}
	hasValue := verdict.Value.Kind == result.Number && (verdict.Err == nil || verdict.SampledInPart())
	hasSampledInterval := verdict.Bound != nil && verdict.Accuracy == result.Probable
	if hasValue && hasSampledInterval {
		low, high := math.Floor(verdict.Bound.Lo*1000)/1000, math.Ceil(verdict.Bound.Hi*1000)/1000
		cell.Text = fmt.Sprintf("%s [%s,%s]%s", decimals(verdict.Value.Num), decimals(low), decimals(high), mark)
		if verdict.Err != nil {
			cell.Text += "\n" + verdict.Err.Error()
		}
		return cell
	}
	cell.Text += mark
	return cell
}

// modelsNotes returns the notes of the table of several models, with the remarks on the verdicts. It omits remarks on PRISM's half-width, because
// this table has no half-widths.
func (c *Comparison) modelsNotes(grid *cellGrid) []string {
	var verdicts []result.Verdict
	var remarks []string
	for i := range grid.cells {
		verdict := &grid.cells[i].Verdict
		verdicts = append(verdicts, *verdict)
		for _, remark := range Remarks(verdict) {
			if !slices.Contains(remarks, remark) && !strings.Contains(remark, "PRISM's half-width") {
				remarks = append(remarks, remark)
			}
		}
	}
	return slices.Concat(c.Notes, remarks, provenance(verdicts))
}
