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

// updates lists the updates of the cells, in order of first appearance.
func (g *cellGrid) updates() []string {
	var out []string
	for i := range g.cells {
		if u := g.cells[i].Updates; !slices.Contains(out, u) {
			out = append(out, u)
		}
	}
	return out
}

// modelsTable has a column for each strategy. For every MAX it has a row with the published numbers and one for each
// model, named by its updates. Numbers have three decimals, as in Table 3.6; the ends of intervals are rounded outward.
func (g *cellGrid) modelsTable(strategies []string, opt table.Options) *table.Table {
	t := &table.Table{Columns: []table.Column{{Name: "MAX", Align: table.Right}, {Name: ""}}}
	for _, s := range strategies {
		t.Columns = append(t.Columns, table.Column{Name: s, Max: 26})
	}
	for i, maximum := range g.maxima {
		if i > 0 {
			t.Rows = append(t.Rows, make([]table.Cell, len(t.Columns)))
		}
		number, found := strconv.Itoa(maximum), false // the first row has it
		published := []table.Cell{{Text: number}, {Text: "thesis"}}
		for _, s := range strategies {
			var c table.Cell
			for _, u := range g.updates() {
				if x := g.at(s, u, maximum); x != nil && x.Published != nil {
					found = true
					c.Text = decimals(x.Published.Value)
					if h := x.Published.HalfWidth; h != nil {
						c.Text += opt.PlusMinus() + decimals(*h)
					}
				}
			}
			published = append(published, c)
		}
		if found {
			t.Rows, number = append(t.Rows, published), ""
		}
		for _, u := range g.updates() {
			row := []table.Cell{{Text: number}, {Text: updatesLabel(u)}}
			number = ""
			for _, s := range strategies {
				var c table.Cell
				if x := g.at(s, u, maximum); x != nil {
					c = x.modelCell(opt)
				}
				row = append(row, c)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// decimals returns a number with three decimals.
func decimals(x float64) string { return strconv.FormatFloat(x, 'f', 3, 64) }

// apartMark marks a number that contradicts the published one.
const apartMark = "*"

// modelCell is the value and the interval of a cell, with a mark if it contradicts the published number.
func (c *ComparisonCell) modelCell(opt table.Options) table.Cell {
	v := &c.Verdict
	cell := valueCell(v, opt)
	mark := ""
	if c.Compatible == Incompatible {
		mark, cell.Tone = apartMark, table.Bad
	}
	if (v.Err == nil || v.SampledInPart()) && v.Value.Kind == result.Number && v.Bound != nil && v.Accuracy == result.Probable {
		lo, hi := math.Floor(v.Bound.Lo*1000)/1000, math.Ceil(v.Bound.Hi*1000)/1000
		cell.Text = fmt.Sprintf("%s [%s,%s]%s", decimals(v.Value.Num), decimals(lo), decimals(hi), mark)
		if v.Err != nil {
			cell.Text += "\n" + failureText(v.Err)
		}
		return cell
	}
	cell.Text += mark
	return cell
}

// modelsNotes explain the rows and marks of the table of several models, and have the remarks of the verdicts, each
// once. A remark on PRISM's half-width is left out, because this table has no half-widths.
func (c *Comparison) modelsNotes(g *cellGrid) []string {
	var verdicts []result.Verdict
	var remarks []string
	for i := range g.cells {
		v := &g.cells[i].Verdict
		verdicts = append(verdicts, *v)
		for _, r := range Remarks(v) {
			if !slices.Contains(remarks, r) && !strings.Contains(r, "PRISM's half-width") {
				remarks = append(remarks, r)
			}
		}
	}
	return slices.Concat(c.Notes, remarks, provenance(verdicts))
}
