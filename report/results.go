package report

import (
	"bufio"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/result"
)

// ResultsStyle is a form of PRISM's -exportresults.
type ResultsStyle string

// The styles: lists and matrices separated by tabs or commas, one table for all
// properties, and annotations as PRISM's test mode reads them. A matrix has a
// row per value of the last constant but one that varies, and a column per value
// of the last; there is one for all values of those before.
const (
	ResultsList      ResultsStyle = "list"
	ResultsCSV       ResultsStyle = "csv"
	ResultsMatrix    ResultsStyle = "matrix"
	ResultsMatrixCSV ResultsStyle = "matrix,csv"
	ResultsDataFrame ResultsStyle = "dataframe"
	ResultsComment   ResultsStyle = "comment"
)

// ParseResultsStyle returns the style with the given name. The empty name means list, as in PRISM.
func ParseResultsStyle(name string) (ResultsStyle, error) {
	styles := []ResultsStyle{ResultsList, ResultsCSV, ResultsMatrix, ResultsMatrixCSV, ResultsDataFrame, ResultsComment}
	switch style := ResultsStyle(name); {
	case name == "":
		return ResultsList, nil
	case name == "csv,matrix":
		return ResultsMatrixCSV, nil
	case slices.Contains(styles, style):
		return style, nil
	}
	return "", fmt.Errorf("unknown style %q of results, want list, csv, matrix, matrix,csv, dataframe or comment", name)
}

// ExportResults writes verdicts as PRISM's -exportresults does: values with 12 significant digits, only the constants
// that vary (all constants in comments), no intervals, and quotes around properties only.
func ExportResults(w io.Writer, style ResultsStyle, verdicts []result.Verdict) error {
	buffered := bufio.NewWriter(w)
	groups := groupResults(verdicts)
	var err error
	switch style {
	case ResultsCSV:
		err = exportLists(buffered, groups, ",")
	case ResultsMatrix:
		err = exportMatrices(buffered, groups, "\t")
	case ResultsMatrixCSV:
		err = exportMatrices(buffered, groups, ",")
	case ResultsDataFrame:
		err = exportDataFrame(buffered, groups)
	case ResultsComment:
		err = exportComments(buffered, groups)
	default:
		err = exportLists(buffered, groups, "\t")
	}
	if err != nil {
		return err
	}
	return buffered.Flush()
}

// resultGroup has the verdicts of one property.
type resultGroup struct {
	verdicts []*result.Verdict
	varying  []string // constants with several values, in order
}

// groupResults groups the verdicts by property, in the order of their first verdicts. A property that occurs twice gives two groups: the second
// verdict for the same valuation belongs to the second group.
func groupResults(verdicts []result.Verdict) []*resultGroup {
	var order []*resultGroup
	groups := make(map[string]*resultGroup)
	seen := make(map[string]int)
	for i := range verdicts {
		verdict := &verdicts[i]
		property := propertyText(verdict)
		instance := property + "\n" + result.Valuation(verdict.Constants).String()
		key := fmt.Sprintf("%s\n%d", property, seen[instance])
		seen[instance]++
		group := groups[key]
		if group == nil {
			group = &resultGroup{}
			groups[key] = group
			order = append(order, group)
		}
		group.verdicts = append(group.verdicts, verdict)
	}
	for _, group := range order {
		group.setVarying()
	}
	return order
}

// setVarying sets the names of the constants that have several values in the group.
func (g *resultGroup) setVarying() {
	first := g.verdicts[0]
	for _, constant := range first.Constants {
		differs := func(verdict *result.Verdict) bool {
			return result.Valuation(verdict.Constants).Text(constant.Name) != constant.Value
		}
		if slices.ContainsFunc(g.verdicts, differs) {
			g.varying = append(g.varying, constant.Name)
		}
	}
}

// row returns the values of some constants, followed by the result.
func row(verdict *result.Verdict, names []string) []string {
	cells := make([]string, 0, len(names)+1)
	for _, name := range names {
		cells = append(cells, result.Valuation(verdict.Constants).Text(name))
	}
	return append(cells, exportedValue(verdict))
}

// exportLists writes one list for each property: a line per verdict, with the varying constants and the result.
func exportLists(w io.Writer, groups []*resultGroup, separator string) error {
	for i, group := range groups {
		exportTitle(w, groups, i, separator)
		fmt.Fprintln(w, strings.Join(append(slices.Clone(group.varying), "Result"), separator))
		for _, verdict := range group.verdicts {
			if _, err := fmt.Fprintln(w, strings.Join(row(verdict, group.varying), separator)); err != nil {
				return err
			}
		}
	}
	return nil
}

// exportTitle writes the property of a group as a heading, with a blank line before all groups but the first. A single group gets no heading.
func exportTitle(w io.Writer, groups []*resultGroup, index int, separator string) {
	if index > 0 {
		fmt.Fprintln(w)
	}
	if len(groups) < 2 {
		return
	}
	title := propertyText(groups[index].verdicts[0])
	if separator == "," {
		title = `"` + strings.ReplaceAll(title, `"`, `""`) + `"`
	} else {
		title += ":"
	}
	fmt.Fprintln(w, title)
}

// exportMatrices writes the results of each property as matrices. A cell without a verdict is empty.
func exportMatrices(w io.Writer, groups []*resultGroup, separator string) error {
	for i, group := range groups {
		exportTitle(w, groups, i, separator)
		matrix := &resultMatrix{resultGroup: group, w: w, separator: separator, cells: map[string]string{}}
		matrix.values = make([][]string, len(group.varying))
		for _, verdict := range group.verdicts {
			cells := row(verdict, group.varying)
			matrix.cells[strings.Join(cells[:len(group.varying)], ",")] = cells[len(group.varying)]
			for index := range group.varying {
				if !slices.Contains(matrix.values[index], cells[index]) {
					matrix.values[index] = append(matrix.values[index], cells[index])
				}
			}
		}
		if err := matrix.write(nil); err != nil {
			return err
		}
	}
	return nil
}

// resultMatrix writes the results of one property.
type resultMatrix struct {
	*resultGroup
	w         io.Writer
	separator string
	values    [][]string        // of every constant that varies, in the order of the verdicts
	cells     map[string]string // by the values of those constants
}

// write writes a matrix for each combination of values of the varying constants, except for the last two, which are the rows and columns. firstValues
// has the values of the first constants, which the recursive calls choose one after another; the first call has none.
func (m *resultMatrix) write(firstValues []string) error {
	free := len(m.varying) - len(firstValues)
	if free <= 2 {
		return m.matrix(firstValues)
	}
	for i, value := range m.values[len(firstValues)] {
		if i > 0 {
			fmt.Fprintln(m.w)
		}
		if err := m.write(append(slices.Clone(firstValues), value)); err != nil {
			return err
		}
	}
	return nil
}

// matrix writes one matrix: a title with the values of the first constants, a line with the values of the last constant, and a row for each value of
// the constant before it. A single constant gives one row. Without varying constants, there is one cell.
func (m *resultMatrix) matrix(firstValues []string) error {
	var title []string
	for index, value := range firstValues {
		title = append(title, m.varying[index]+"="+value)
	}
	numVarying := len(m.varying)
	corner := strings.Join(title, ",")
	if len(firstValues) > 0 {
		corner += ", "
	}
	corner += strings.Join(m.varying[len(firstValues):], `\`)
	switch {
	case numVarying == 0:
		return m.line(m.cells[""])
	case m.separator == ",":
		fmt.Fprintf(m.w, "\"%s\"\n", corner)
	default:
		fmt.Fprintf(m.w, "%s:\n", corner)
	}
	columns := m.values[numVarying-1]
	if numVarying == 1 {
		if err := m.line(columns...); err != nil {
			return err
		}
		return m.line(m.cellsOf(nil, columns)...)
	}
	if err := m.line(append([]string{""}, columns...)...); err != nil {
		return err
	}
	for _, value := range m.values[numVarying-2] {
		valuesBefore := append(slices.Clone(firstValues), value)
		if err := m.line(append([]string{value}, m.cellsOf(valuesBefore, columns)...)...); err != nil {
			return err
		}
	}
	return nil
}

// cellsOf returns the results in a row of the matrix: for the values before and each value of the last constant.
func (m *resultMatrix) cellsOf(before, columns []string) []string {
	var out []string
	for _, value := range columns {
		out = append(out, m.cells[strings.Join(append(slices.Clone(before), value), ",")])
	}
	return out
}

// line writes one line of the matrix.
func (m *resultMatrix) line(cells ...string) error {
	_, err := fmt.Fprintln(m.w, strings.Join(cells, m.separator))
	return err
}

// exportDataFrame writes the results of all properties as one CSV table, with a column for each varying constant.
func exportDataFrame(w io.Writer, groups []*resultGroup) error {
	var names []string
	for _, group := range groups {
		for _, name := range group.varying {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	writeLine := func(cells ...string) error {
		_, err := fmt.Fprintln(w, strings.Join(cells, ","))
		return err
	}
	if err := writeLine(slices.Concat([]string{"Property"}, names, []string{"Result"})...); err != nil {
		return err
	}
	for i, group := range groups {
		for _, verdict := range group.verdicts {
			name := verdict.Name
			if name == "" {
				name = "Property_" + strconv.Itoa(i+1)
			}
			if err := writeLine(append([]string{name}, row(verdict, names)...)...); err != nil {
				return err
			}
		}
	}
	return nil
}

// exportComments writes the results as RESULT annotations, each a comment line that PRISM's test mode reads.
func exportComments(w io.Writer, groups []*resultGroup) error {
	for i, group := range groups {
		if i > 0 {
			fmt.Fprintln(w)
		}
		for _, verdict := range group.verdicts {
			// Put the constants that do not vary first.
			var equal, varying result.Valuation
			for _, constant := range verdict.Constants {
				if slices.Contains(group.varying, constant.Name) {
					varying = append(varying, constant)
				} else {
					equal = append(equal, constant)
				}
			}
			valuation := ""
			if constants := append(equal, varying...); len(constants) > 0 {
				valuation = " (" + constants.String() + ")"
			}
			if _, err := fmt.Fprintf(w, "// RESULT%s: %s\n", valuation, exportedValue(verdict)); err != nil {
				return err
			}
		}
		if len(groups) > 1 {
			fmt.Fprintln(w, propertyText(group.verdicts[0]))
		}
	}
	return nil
}

// exportedValue returns a result as PRISM writes it: with 12 significant digits, complete fractions, ranges as Java writes float64, and errors
// with their text.
func exportedValue(verdict *result.Verdict) string {
	value := verdict.Value
	switch {
	case verdict.Err != nil || value.Kind == result.NoValue:
		if verdict.Err == nil {
			return "Error: no value"
		}
		return "Error: " + verdict.Err.Message
	case value.Kind == result.Boolean:
		return strconv.FormatBool(value.Bool)
	case value.Kind == result.Range:
		return "[" + sema.DoubleValue(value.Num).String() + "," + sema.DoubleValue(value.Hi).String() + "]"
	case value.Kind == result.Function:
		return value.Formula
	case value.RatPoints != nil:
		return result.CurveText(value.RatPoints, (*big.Rat).RatString, ",")
	case value.Kind == result.Curve:
		return result.CurveText(value.Points, func(coordinate float64) string { return sema.DoubleValue(coordinate).String() }, ",")
	case value.Rat != nil && verdict.Accuracy == result.Exact:
		return value.Rat.RatString()
	}
	if name, special := result.SpecialNumber(value.Num); special {
		return name
	}
	return strconv.FormatFloat(value.Num+0, 'g', 12, 64) // -0 + 0 is 0
}
