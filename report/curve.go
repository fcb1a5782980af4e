package report

import (
	"bytes"
	"fmt"
	"strconv"

	"tilecheck/report/frontier"
	"tilecheck/report/number"
	"tilecheck/report/table"
	"tilecheck/result"
)

// hasPointTable reports whether the points of a verdict are printed below the table of verdicts, because there are several.
func hasPointTable(verdict *result.Verdict) bool {
	return verdict.Value.Kind == result.Curve && len(verdict.Value.Points) > 1
}

// pointCountText is the value of a verdict whose points are printed below.
func pointCountText(verdict *result.Verdict) string {
	return strconv.Itoa(len(verdict.Value.Points)) + " points, listed below"
}

// writePoints prints the points of a Pareto curve as a table with a column for each objective. It prints nothing for other values.
func writePoints(text *bytes.Buffer, format table.Format, verdict *result.Verdict, opt table.Options) error {
	if !hasPointTable(verdict) {
		return nil
	}
	fmt.Fprintf(text, "\nPoints of %s%s:\n", propertyText(verdict), withConstants(verdict))
	if format == table.Markdown {
		text.WriteString("\n")
	}
	points := &table.Table{}
	names := frontier.QueryObjectives(verdict.Property)
	for i := range verdict.Value.Points[0] {
		name := fmt.Sprintf("objective %d", i+1)
		if len(names) == len(verdict.Value.Points[0]) {
			name = names[i]
		}
		points.Columns = append(points.Columns, table.Column{Name: name, Align: table.Right})
	}
	for i, point := range verdict.Value.Points {
		var row []any
		for j, coordinate := range point {
			if verdict.Value.RatPoints != nil {
				row = append(row, number.Exact(verdict.Value.RatPoints[i][j]))
			} else {
				row = append(row, number.Text(coordinate))
			}
		}
		points.Append(row...)
	}
	return points.Write(text, format, opt)
}
