package files

import (
	"bytes"
	"context"
	"math"
	"strconv"

	"tilecheck/internal/noun"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/prism/textlines"
)

// staFile reads a .sta or .obs file.
type staFile struct {
	*lines
	entryNoun   string // "state" or "observation"
	variables   []sema.Variable
	values      []int32
	hasTypes    bool // the types of the variables are known from the first state
	tupleFields []field
}

// readValues reads a .sta or .obs file, which has the values of variables in each state or observation. noun is "state" or "observation",
// and count is their number in the .tra file. The result has the errors of the file. The returned error is that of the context.
func readValues(ctx context.Context, source Source, noun string, count int) (*staFile, error) {
	file := &staFile{lines: newLines(source), entryNoun: noun}
	if !file.nextData(noun+"s", nil) {
		file.ErrorAtEnd("found the end of the file, wanted the names of the variables, such as (x,y)")
		return file, nil
	}
	if !file.readNames() {
		return file, nil
	}
	maxValuations := len(source.Text) / (2 * len(file.variables)) // a value takes at least two bytes
	file.values = make([]int32, 0, len(file.variables)*min(count, maxValuations))
	numRead := 0
	for ; file.nextData(noun+"s", nil); numRead++ {
		if numRead%pollInterval == 0 && ctx.Err() != nil {
			return file, ctx.Err()
		}
		file.readState(numRead, count)
	}
	if len(file.Errs) == 0 && numRead != count {
		file.ErrorAtEnd("found %d %ss, wanted %d as in the transitions", numRead, noun, count)
	}
	return file, nil
}

// splitTuple splits a list in parentheses, such as (a,b), that starts at a column of the current line. It returns the elements with their
// columns. The next call overwrites them.
func (file *staFile) splitTuple(column int) (elements []field, ok bool) {
	text := bytes.TrimRight(file.LineText[column:], " \t")
	isTuple := len(text) >= 2 && text[0] == '(' && text[len(text)-1] == ')'
	if !isTuple {
		file.ErrorAt(column, "found %s, wanted values in parentheses, such as (0,true)", textlines.Quote(text))
		return nil, false
	}
	list := text[1 : len(text)-1]
	if len(list) == 0 {
		return nil, true
	}
	file.tupleFields = file.tupleFields[:0]
	column++
	for element := range bytes.SplitSeq(list, []byte(",")) {
		file.tupleFields = append(file.tupleFields, field{Text: element, Column: column})
		column += len(element) + 1
	}
	return file.tupleFields, true
}

// readNames reads the names of the variables from the current line, such as (x,y). It returns false after an error.
func (file *staFile) readNames() bool {
	names, ok := file.splitTuple(file.Fields[0].Column)
	if !ok {
		return false
	}
	if len(names) == 0 {
		file.ErrorAt(0, "found no variables, wanted at least one")
	}
	seen := map[string]bool{}
	for _, field := range names {
		switch name := field.String(); {
		case !syntax.IsIdent(name):
			file.ErrorAt(field.Column, "found %s, wanted the name of a variable", textlines.Quote(field.Text))
		case seen[name]:
			file.ErrorAt(field.Column, "found variable %q again, wanted each once", name)
		default:
			seen[name] = true
			file.variables = append(file.variables, sema.Variable{Name: name, Low: math.MaxInt32, High: math.MinInt32})
		}
	}
	return len(file.Errs) == 0
}

// readState reads a line such as 0:(1,false), which has the number of a state and the values of the variables in it. States must be in
// order, so the number must be expected. The same holds for observations in an .obs file.
func (file *staFile) readState(expected, numStates int) {
	column := file.Fields[0].Column
	colon := bytes.IndexByte(file.LineText, ':')
	if colon < 0 {
		file.ErrorAt(column, "found %s, wanted a %s such as %d:(...)", textlines.Quote(file.LineText), file.entryNoun, expected)
		return
	}
	index, ok := file.ParseIndex(field{Text: bytes.TrimSpace(file.LineText[:colon]), Column: column}, file.entryNoun, numStates)
	if !ok {
		return
	}
	if index != expected {
		file.ErrorAt(column, "found %[1]s %[2]d, wanted %[1]s %[3]d: every %[1]s once and in order", file.entryNoun, index, expected)
		return
	}
	values, ok := file.splitTuple(colon + 1)
	if !ok {
		return
	}
	if len(values) != len(file.variables) {
		file.ErrorAt(colon+1, "found %s, wanted %d", noun.Count(len(values), "value"), len(file.variables))
		return
	}
	if !file.hasTypes {
		file.setTypes(values)
	}
	for slot, value := range values {
		file.appendValue(slot, value)
	}
}

// setTypes sets the types of the variables. values are those in the first state. A variable with the value true or false is Boolean, and
// any other is an integer.
func (file *staFile) setTypes(values []field) {
	file.hasTypes = true
	for slot, field := range values {
		variable := &file.variables[slot]
		variable.Type = sema.Int
		if name := field.String(); name == "true" || name == "false" {
			variable.Type, variable.Low, variable.High = sema.Bool, 0, 1
		}
	}
}

// appendValue parses the value of a variable and appends it to the values of the file. slot is the index of the variable. If the variable
// is an integer, it extends the range of the variable by the value.
func (file *staFile) appendValue(slot int, field field) {
	variable := &file.variables[slot]
	text := field.String()
	if variable.Type == sema.Bool {
		switch text {
		case "true":
			file.values = append(file.values, 1)
		case "false":
			file.values = append(file.values, 0)
		default:
			file.ErrorAt(field.Column, "found %s, wanted true or false as before: %q is Boolean", textlines.Quote(field.Text), variable.Name)
		}
		return
	}
	value, err := strconv.ParseInt(text, 10, 32)
	isExtreme := value == math.MinInt32 || value == math.MaxInt32
	if err != nil || text[0] == '+' || isExtreme {
		file.ErrorAt(field.Column, "found %s, wanted an integer of 32 bits for %q", textlines.Quote(field.Text), variable.Name)
		return
	}
	variable.Low, variable.High = min(variable.Low, int32(value)), max(variable.High, int32(value))
	file.values = append(file.values, int32(value))
}

// findState returns the position of a state in a file without errors.
func (file *staFile) findState(state int) syntax.Pos {
	lines := newLines(file.Source)
	lines.nextData(file.entryNoun+"s", nil)
	for range state + 1 {
		lines.nextData(file.entryNoun+"s", nil)
	}
	return lines.Position(0)
}
