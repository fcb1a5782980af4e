package parse

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// ResultsForm is the shape of an exported results file: what stands after the
// file name in PRISM's -exportresults.
type ResultsForm int

// The forms, with the option that makes them.
const (
	ListPlain   ResultsForm = iota // none
	ListCSV                        // csv
	MatrixPlain                    // matrix
	MatrixCSV                      // matrix,csv
	DataFrame                      // dataframe
	Comment                        // comment
)

// Results are the exported results of one property.
type Results struct {
	// Property is the property as PRISM prints it, without its name. It is empty
	// when the file does not say it: PRISM leaves it out when there is only one,
	// and the data frame has names alone.
	Name, Property string
	Rows           []ResultsRow
}

// ResultsRow is one result. The file has 12 significant digits of a number and
// says nothing of its accuracy: the log knows more.
type ResultsRow struct {
	Constants []result.Constant // those that vary; all that are defined in the form Comment
	Text      string
	Value     result.Value
	Err       *result.Failure // nil when there is a value
}

// ReadResults reads a file of PRISM's -exportresults. Errors are *syntax.Error with the line.
func ReadResults(r io.Reader, name string, form ResultsForm) ([]Results, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	t := &table{file: name, lines: strings.Split(strings.ReplaceAll(clean(data), "\r\n", "\n"), "\n"), sep: "\t"}
	if form == ListCSV || form == MatrixCSV || form == DataFrame {
		t.sep = ","
	}
	switch form {
	case ListPlain, ListCSV:
		err = t.lists()
	case MatrixPlain, MatrixCSV:
		err = t.matrices()
	case DataFrame:
		err = t.frame()
	case Comment:
		err = t.comments()
	default:
		err = errors.New("unknown form of results")
	}
	if err != nil {
		return nil, err
	}
	return t.out, nil
}

// table reads the forms of results line by line.
type table struct {
	file  string
	lines []string
	sep   string
	out   []Results
}

func (t *table) errorf(line int, format string, args ...any) error {
	return &syntax.Error{File: t.file, Pos: syntax.Pos{Line: int32(line + 1), Col: 1}, Msg: fmt.Sprintf(format, args...)}
}

// blocks calls f for every run of lines that are not blank, with the index of the first.
func (t *table) blocks(f func(first int, lines []string) error) error {
	for i := 0; i < len(t.lines); {
		end := i
		for end < len(t.lines) && t.lines[end] != "" {
			end++
		}
		if end > i {
			if err := f(i, t.lines[i:end]); err != nil {
				return err
			}
		}
		i = end + 1
	}
	return nil
}

// start begins the results of a property.
func (t *table) start(heading string) *Results {
	name, text := named(heading)
	t.out = append(t.out, Results{Name: name, Property: text})
	return &t.out[len(t.out)-1]
}

// unheading undoes what PRISM does to the line above a property's results.
func (t *table) unheading(s string) (string, bool) {
	if t.sep == "," {
		return unquoteCSV(s)
	}
	return strings.CutSuffix(s, ":")
}

func unquoteCSV(s string) (string, bool) {
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		return s, false
	}
	return strings.ReplaceAll(s[1:len(s)-1], `""`, `"`), true
}

// row reads one result.
func row(constants []result.Constant, text string) ResultsRow {
	r := ResultsRow{Constants: constants, Text: text}
	if msg, failed := strings.CutPrefix(text, "Error: "); failed {
		msg = strings.TrimSuffix(msg, ".")
		r.Err = &result.Failure{Class: prismClass(msg, running), Message: msg, Pos: position(msg)}
		return r
	}
	v, err := prismValue(text)
	if err != nil {
		r.Err = &result.Failure{Class: result.Unsupported, Message: err.Error()}
		return r
	}
	r.Value = v
	return r
}

// lists reads a header and one row a line. A message of several lines goes on
// below its row.
func (t *table) lists() error {
	isHeader := func(s string) bool { return s == "Result" || strings.HasSuffix(s, t.sep+"Result") }
	return t.blocks(func(first int, lines []string) error {
		at, heading := 0, ""
		if !isHeader(lines[0]) {
			var ok bool
			if heading, ok = t.unheading(lines[0]); !ok || len(lines) < 2 || !isHeader(lines[1]) {
				return t.errorf(first, "found %q, want a header that ends in Result", clip(lines[0], 80))
			}
			at = 1
		}
		header := strings.Split(lines[at], t.sep)
		out := t.start(heading)
		for i, line := range lines[at+1:] {
			if err := t.listRow(out, header, line, first+at+1+i); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *table) listRow(out *Results, header []string, line string, at int) error {
	cells := strings.SplitN(line, t.sep, len(header))
	last := len(out.Rows) - 1
	if (len(cells) < len(header) || len(header) == 1) && last >= 0 && out.Rows[last].Err != nil {
		out.Rows[last] = row(out.Rows[last].Constants, out.Rows[last].Text+" "+line)
		return nil
	}
	if len(cells) < len(header) {
		return t.errorf(at, "found %d fields, want %d", len(cells), len(header))
	}
	out.Rows = append(out.Rows, row(pair(header, cells[:len(cells)-1]), cells[len(cells)-1]))
	return nil
}

// pair names values; what is blank was not a constant of this property.
func pair(names, values []string) []result.Constant {
	var out []result.Constant
	for i, v := range values {
		if v != "" {
			out = append(out, result.Constant{Name: names[i], Value: v})
		}
	}
	return out
}

var matrixLabel = regexp.MustCompile(`^((?:\w+=[^,\\]*, )*)([A-Za-z_]\w*)(?:\\([A-Za-z_]\w*))?$`)

// matrices reads a grid for every pair of values of the last two constants.
// Each is labelled with their names, and with the values of those before.
func (t *table) matrices() error {
	label := func(s string) []string {
		s, ok := t.unheading(s)
		if !ok {
			return nil
		}
		return matrixLabel.FindStringSubmatch(s)
	}
	return t.blocks(func(first int, lines []string) error {
		switch {
		case len(lines) == 1:
			out := t.start("")
			out.Rows = append(out.Rows, row(nil, lines[0]))
			return nil
		case label(lines[1]) != nil || len(lines) == 2:
			heading, ok := t.unheading(lines[0])
			if !ok {
				return t.errorf(first, "found %q, want a property", clip(lines[0], 80))
			}
			out := t.start(heading)
			if len(lines) == 2 {
				out.Rows = append(out.Rows, row(nil, lines[1]))
				return nil
			}
			first, lines = first+1, lines[1:]
		case len(t.out) == 0:
			t.start("")
		}
		g := label(lines[0])
		if g == nil {
			return t.errorf(first, "found %q, want the names of constants", clip(lines[0], 80))
		}
		return t.grid(&t.out[len(t.out)-1], g, lines, first)
	})
}

// grid reads the rows below a label; g is the label's fixed constants, row and column.
func (t *table) grid(out *Results, g, lines []string, first int) error {
	if len(lines) < 3 {
		return t.errorf(first, "a matrix ends after its label")
	}
	fixed := constants(strings.TrimSuffix(g[1], ", "))
	top := strings.Split(lines[1], t.sep)
	for i, line := range lines[2:] {
		cells := strings.Split(line, t.sep)
		if len(cells) != len(top) {
			return t.errorf(first+2+i, "found %d fields, want %d", len(cells), len(top))
		}
		for k, cell := range cells {
			at := append([]result.Constant(nil), fixed...)
			switch {
			case g[3] == "":
				at = append(at, result.Constant{Name: g[2], Value: top[k]})
			case k == 0:
				continue
			default:
				at = append(at, result.Constant{Name: g[2], Value: cells[0]}, result.Constant{Name: g[3], Value: top[k]})
			}
			out.Rows = append(out.Rows, row(at, cell))
		}
	}
	return nil
}

// frame reads one table of all properties.
func (t *table) frame() error {
	header := strings.Split(t.lines[0], ",")
	if len(header) < 2 || header[0] != "Property" {
		return t.errorf(0, "found %q, want a header that begins with Property", clip(t.lines[0], 80))
	}
	for i, line := range t.lines[1:] {
		if line == "" {
			continue
		}
		cells := strings.SplitN(line, ",", len(header))
		if len(cells) != len(header) {
			return t.errorf(i+1, "found %d fields, want %d", len(cells), len(header))
		}
		if n := len(t.out); n == 0 || t.out[n-1].Name != cells[0] {
			t.out = append(t.out, Results{Name: cells[0]})
		}
		out, last := &t.out[len(t.out)-1], len(cells)-1
		out.Rows = append(out.Rows, row(pair(header[1:], cells[1:last]), cells[last]))
	}
	return nil
}

var commentForm = regexp.MustCompile(`^// RESULT(?: \(([^()]*)\))?: (.*)$`)

// comments reads RESULT annotations and the property below them.
func (t *table) comments() error {
	return t.blocks(func(first int, lines []string) error {
		out := t.start("")
		for i, line := range lines {
			if g := commentForm.FindStringSubmatch(line); g != nil {
				out.Rows = append(out.Rows, row(constants(g[1]), g[2]))
				continue
			}
			if i != len(lines)-1 || i == 0 {
				return t.errorf(first+i, "found %q, want // RESULT", clip(line, 80))
			}
			out.Name, out.Property = named(line)
		}
		return nil
	})
}
