package simulate

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Record is a path from a file: written by PRISM's -simpath, by WriteTable, by report.WitnessPath or by hand.
type Record struct {
	File string // as the user named it
	rows []row
}

// row is a state of a record and the step that led to it.
type row struct {
	line, column int32
	action       string  // as ActionText writes it; empty if it is unknown
	probability  float64 // NaN if it is unknown
	time         float64 // NaN if it is unknown
	state        []int32
}

// Steps returns the number of steps of the record.
func (r *Record) Steps() int64 { return int64(len(r.rows) - 1) }

// maxRecord limits the number of values of a record.
const maxRecord = 50_000_000

// ReadPath reads a path of a model from a file: a heading, then a row for each state, with commas, tabulators
// or blanks between the columns. Each variable needs a column. The columns of the step number, the action and
// the time are checked if they exist. The probability (in a CTMC the rate, or its share) may be less than the
// probability of the step, because PRISM writes the probability of one of several updates with the same
// result. Other columns, such as rewards, are ignored. The action ? stands for any action. The error is a
// *result.Failure with the position in the file, or the error of the context.
func ReadPath(ctx context.Context, file string, text []byte, program *sema.Program) (*Record, error) {
	reader := &recordReader{file: file, program: program, columns: make(map[string]int)}
	record := &Record{File: file}
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		reader.line++
		if reader.line&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := reader.readLine(record, string(line)); err != nil {
			return nil, err
		}
	}
	if len(record.rows) == 0 {
		return nil, reader.formatError(1, "found no row, want a heading and a row for each state of the path")
	}
	return record, nil
}

// recordReader reads a record line by line.
type recordReader struct {
	file            string
	program         *sema.Program
	line            int32
	separator       string
	columns         map[string]int
	numColumns      int
	variableColumns []int // by variable: the index of its column
	lastTime        float64
}

// readLine reads a line that is not blank: the first is the heading, each other adds a row to the record.
func (reader *recordReader) readLine(record *Record, line string) error {
	if reader.separator == "" {
		return reader.readHeading(line)
	}
	next, err := reader.readRow(line, len(record.rows))
	if err != nil {
		return err
	}
	if next.action == "null" { // PRISM writes this last row if a path up to a time ends in a deadlock
		return nil
	}
	record.rows = append(record.rows, next)
	if len(record.rows)*max(1, len(next.state)) > maxRecord {
		return reader.formatError(1, "the path has more than %d values", maxRecord)
	}
	return nil
}

// formatError returns an error at a column of the current line.
func (reader *recordReader) formatError(col int, format string, args ...any) error {
	return recordError(reader.file, reader.line, int32(col), format, args...)
}

// recordError returns an error at a position of a record.
func recordError(file string, line, col int32, format string, args ...any) error {
	return &result.Failure{
		Class: result.Parse, File: file, Pos: syntax.Pos{Line: line, Col: col}, Message: fmt.Sprintf(format, args...),
	}
}

// splitColumns returns the trimmed text of each column of a line, and the position at which each text begins.
func (reader *recordReader) splitColumns(line string) (texts []string, positions []int) {
	position := 1
	for part := range strings.SplitSeq(line, reader.separator) {
		if reader.separator != " " || part != "" { // several blanks separate like one
			trimmed := strings.TrimLeft(part, " ")
			texts = append(texts, strings.TrimRight(trimmed, " "))
			positions = append(positions, position+len(part)-len(trimmed))
		}
		position += len(part) + len(reader.separator)
	}
	return texts, positions
}

// readHeading reads the heading: it detects the separator, and finds the column of each variable.
func (reader *recordReader) readHeading(line string) error {
	switch {
	case strings.Contains(line, ","):
		reader.separator = ","
	case strings.Contains(line, "\t"):
		reader.separator = "\t"
	default:
		reader.separator = " "
	}
	names, positions := reader.splitColumns(line)
	reader.numColumns = len(names)
	for i, name := range names {
		if _, duplicate := reader.columns[name]; duplicate {
			return reader.formatError(positions[i], "found a second column %q", name)
		}
		reader.columns[name] = i
	}
	for _, variable := range reader.program.Vars {
		i, ok := reader.columns[variable.Name]
		if !ok {
			return reader.formatError(1, "found no column %q, want one for each variable of %s", variable.Name, reader.program.File)
		}
		reader.variableColumns = append(reader.variableColumns, i)
	}
	return nil
}

// readRow reads the row of state number, and checks the columns of the step number, the probability and the
// time.
func (reader *recordReader) readRow(line string, number int) (row, error) {
	texts, positions := reader.splitColumns(line)
	if len(texts) != reader.numColumns {
		return row{}, reader.formatError(1, "found %d columns, want %d, as in the heading", len(texts), reader.numColumns)
	}
	result := row{line: reader.line, column: int32(positions[0]), probability: math.NaN(), time: math.NaN()}
	if len(reader.variableColumns) > 0 {
		result.column = int32(positions[reader.variableColumns[0]])
	}
	var err error
	if result.state, err = reader.parseState(texts, positions); err != nil {
		return result, err
	}
	if i, ok := reader.columns["action"]; ok && texts[i] != "?" && number > 0 {
		result.action = texts[i]
	}
	if result.action == "null" {
		return result, nil
	}
	if i, ok := reader.columns["step"]; ok && texts[i] != strconv.Itoa(number) {
		return result, reader.formatError(positions[i], "found step %s, want %d: a path with all its states (no changes=true, no snapshots)", texts[i], number)
	}
	if i, ok := reader.columns["probability"]; ok && (texts[i] != "-" || number > 0) {
		if result.probability, err = reader.parseNumber("probability", texts[i], positions[i], 0); err != nil {
			return result, err
		}
	}
	if i, ok := reader.columns["time"]; ok && reader.program.Timed() && (texts[i] != "-" || number > 0) {
		if result.time, err = reader.parseNumber("time", texts[i], positions[i], reader.lastTime); err != nil {
			return result, err
		}
		reader.lastTime = result.time
	}
	return result, nil
}

// parseState returns the values of the variables in a row.
func (reader *recordReader) parseState(texts []string, positions []int) ([]int32, error) {
	state := make([]int32, len(reader.variableColumns))
	for slot, i := range reader.variableColumns {
		variable := &reader.program.Vars[slot]
		value, ok := valueOf(variable.Type, texts[i])
		if !ok {
			wanted := "an integer"
			if variable.Type == sema.Bool {
				wanted = "true or false"
			}
			return nil, reader.formatError(positions[i], "found %q for %s, want %s", texts[i], variable.Name, wanted)
		}
		state[slot] = value
	}
	return state, nil
}

// parseNumber parses the text of a column, a finite number of at least minimum.
func (reader *recordReader) parseNumber(column, text string, position int, minimum float64) (float64, error) {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil || !(value >= minimum) || math.IsInf(value, 1) {
		return 0, reader.formatError(position, "found %q for the %s, want a number of at least %s", text, column, strconv.FormatFloat(minimum, 'g', -1, 64))
	}
	return value, nil
}

// valueOf parses the value of a variable of the given type. ok is false if the text is not such a value. It is the inverse of value.
func valueOf(exprType sema.Type, text string) (x int32, ok bool) {
	if exprType == sema.Bool {
		switch text {
		case "true":
			return 1, true
		case "false":
			return 0, true
		}
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), err == nil
}

// initialState returns the initial state of the model that equals the first row. The error lists some initial
// states.
func (r *Record) initialState(program *sema.Program, initial [][]int32) ([]int32, error) {
	first := &r.rows[0]
	for _, state := range initial {
		if slices.Equal(state, first.state) {
			return state, nil
		}
	}
	const maxListed = 3
	var listed []string
	for _, state := range initial[:min(maxListed, len(initial))] {
		listed = append(listed, compile.StateText(program, state))
	}
	if len(initial) > maxListed {
		listed = append(listed, "...")
	}
	return nil, recordError(r.File, first.line, first.column, "found %s in the first row, want an initial state: %s", compile.StateText(program, first.state), strings.Join(listed, ", "))
}

// recordedStep returns the step of the record that leaves the current state, and the index of its transition.
// In a Markov chain the probability of the step is the sum over all commands that make it, unless the record
// has the probability of a single one.
func (drawer *pathDrawer) recordedStep(current *Visit, choices *compile.Choices) (*Step, int, error) {
	recorded := &drawer.opts.Record.rows[current.Number+1]
	candidates, others := drawer.matchingSteps(recorded, choices)
	if len(candidates) == 0 {
		from := compile.StateText(drawer.source.Program(), current.State)
		if len(choices.List) == 0 {
			return nil, 0, drawer.errorAtRow(recorded, "found %s after %s, which is a deadlock", drawer.describe(recorded), from)
		}
		return nil, 0, drawer.errorAtRow(recorded, "found %s, which is not a step from %s, want %s", drawer.describe(recorded), from, strings.Join(others, " or "))
	}
	step, transition := drawer.selectCandidate(candidates, recorded, choices)
	// A smaller probability may be PRISM's, of one of several updates.
	if recorded.probability > step.Probability && !drawer.equalsRecord(step.Probability, recorded, choices) {
		return nil, 0, drawer.errorAtRow(recorded, "found %s with %s, want %s", drawer.describe(recorded), number(recorded.probability), number(step.Probability))
	}
	var err error
	if drawer.source.Program().Timed() {
		step.Time, err = drawer.recordedSojourn(current, recorded, choices)
	}
	return step, transition, err
}

// errorAtRow returns an error at the position of a row of the record.
func (drawer *pathDrawer) errorAtRow(recorded *row, format string, args ...any) error {
	return recordError(drawer.opts.Record.File, recorded.line, recorded.column, format, args...)
}

// candidateStep is a step that fits a row of a record, with the index of its transition.
type candidateStep struct {
	Step
	transition int
}

// matchingSteps returns the steps with the action and the target of a row. It also describes up to four other steps.
func (drawer *pathDrawer) matchingSteps(recorded *row, choices *compile.Choices) (matching []candidateStep, others []string) {
	const maxOthers = 4
	program := drawer.source.Program()
	for i := range choices.List {
		for j, transition := range choices.List[i].Transitions {
			step := Step{Choice: i, Choices: len(choices.List), Probability: drawer.probability(choices, transition.Weight)}
			step.Action, step.Module = drawer.source.Action(i, j)
			action := ActionText(program, &step)
			sameAction := recorded.action == "" || recorded.action == action
			if sameAction && slices.Equal(transition.Target, recorded.state) {
				matching = append(matching, candidateStep{step, j})
				continue
			}
			if len(others) == maxOthers {
				continue
			}
			text := action + " to " + compile.StateText(program, transition.Target)
			if !slices.Contains(others, text) {
				others = append(others, text)
			}
		}
	}
	return matching, others
}

// selectCandidate returns the first candidate with the recorded probability. If there is none, it returns the first candidate that is at
// least as probable as recorded, or else the last one. In a Markov chain the probability of the result is then the sum over all
// candidates.
func (drawer *pathDrawer) selectCandidate(candidates []candidateStep, recorded *row, choices *compile.Choices) (*Step, int) {
	sum := 0.0
	selected := &candidates[0]
	for i := range candidates {
		candidate := &candidates[i]
		if drawer.equalsRecord(candidate.Probability, recorded, choices) {
			return &candidate.Step, candidate.transition
		}
		sum += candidate.Probability
		if selected.Probability < recorded.probability {
			selected = candidate
		}
	}
	if kind := drawer.source.Program().Type; kind == syntax.DTMC || kind == syntax.CTMC {
		selected.Probability = sum
	}
	return &selected.Step, selected.transition
}

// equalsRecord reports whether a probability is the recorded one. A row of a CTMC may have the rate of the
// step, or its probability in the race.
func (drawer *pathDrawer) equalsRecord(probability float64, recorded *row, choices *compile.Choices) bool {
	if equalsWritten(probability, recorded.probability) {
		return true
	}
	return drawer.continuous() && equalsWritten(probability/exitRate(choices), recorded.probability)
}

// recordedSojourn returns the time that the record spends in the current state, or the mean if it has no time.
func (drawer *pathDrawer) recordedSojourn(current *Visit, recorded *row, choices *compile.Choices) (float64, error) {
	if math.IsNaN(recorded.time) {
		drawer.usesMeanTimes = true
		return drawer.meanSojourn(current.State, choices)
	}
	return max(0, recorded.time-current.Time), nil
}

// describe returns the action and the target of a row.
func (drawer *pathDrawer) describe(recorded *row) string {
	target := compile.StateText(drawer.source.Program(), recorded.state)
	if recorded.action == "" {
		return target
	}
	return recorded.action + " to " + target
}

// equalsWritten reports whether a probability equals a number that was written with all or some of its digits.
// It is false if the number is NaN.
func equalsWritten(probability, written float64) bool {
	return math.Abs(probability-written) <= 1e-9*probability
}
