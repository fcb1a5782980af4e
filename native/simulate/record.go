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
	rows []recordRow
}

// recordRow is a state of a record and the step that led to it.
type recordRow struct {
	line, column int32
	action       string  // as ActionText writes it; empty if it is unknown
	probability  float64 // NaN if it is unknown
	time         float64 // NaN if it is unknown
	state        []int32
}

// Steps returns the number of steps of the record.
func (record *Record) Steps() int64 { return int64(len(record.rows) - 1) }

// maxRecord limits the number of values of a record.
const maxRecord = 50_000_000

// ReadPath reads a path of a model from a file: a heading, then a row for each state. Commas, tabs or blanks separate the columns.
// Each variable needs a column. Columns of the step number, the action, the time and the probability are checked.
// Other columns are ignored. The action ? stands for any action.
// The error is a *result.Failure with the position in the file, or the error of the context.
func ReadPath(ctx context.Context, file string, text []byte, program *sema.Program) (*Record, error) {
	reader := &recordReader{file: file, program: program, columnIndex: make(map[string]int)}
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
	columnIndex     map[string]int
	numColumns      int
	variableColumns []int // by variable: the index of its column
	lastTime        float64
}

// readLine reads a line that is not blank. The first such line is the heading of the columns. Every other line becomes a row of the record.
func (reader *recordReader) readLine(record *Record, line string) error {
	if reader.separator == "" {
		return reader.readHeading(line)
	}
	parsedRow, err := reader.readRow(line, len(record.rows))
	if err != nil {
		return err
	}
	if parsedRow.action == "null" { // PRISM writes this additional row if a path with a time bound ends in a deadlock
		return nil
	}
	record.rows = append(record.rows, parsedRow)
	if len(record.rows)*max(1, len(parsedRow.state)) > maxRecord {
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

// splitColumns splits a line into columns. It returns the text of each column without blanks around it, and the position where the text begins.
func (reader *recordReader) splitColumns(line string) (texts []string, positions []int) {
	position := 1
	for columnText := range strings.SplitSeq(line, reader.separator) {
		if reader.separator != " " || columnText != "" { // several blanks are one separator
			trimmed := strings.TrimLeft(columnText, " ")
			texts = append(texts, strings.TrimRight(trimmed, " "))
			positions = append(positions, position+len(columnText)-len(trimmed))
		}
		position += len(columnText) + len(reader.separator)
	}
	return texts, positions
}

// readHeading reads the names of the columns from the first line, and finds the column of each variable.
func (reader *recordReader) readHeading(line string) error {
	reader.separator = columnSeparator(line)
	names, positions := reader.splitColumns(line)
	reader.numColumns = len(names)
	for i, name := range names {
		if _, isDuplicate := reader.columnIndex[name]; isDuplicate {
			return reader.formatError(positions[i], "found a second column %q", name)
		}
		reader.columnIndex[name] = i
	}
	for _, variable := range reader.program.Vars {
		i, ok := reader.columnIndex[variable.Name]
		if !ok {
			return reader.formatError(1, "found no column %q, want one for each variable of %s", variable.Name, reader.program.File)
		}
		reader.variableColumns = append(reader.variableColumns, i)
	}
	return nil
}

// columnSeparator returns the separator of the columns of a heading: a comma, a tab or a blank.
func columnSeparator(heading string) string {
	switch {
	case strings.Contains(heading, ","):
		return ","
	case strings.Contains(heading, "\t"):
		return "\t"
	}
	return " "
}

// readRow reads the row of a state. steps is the number of steps before this state; the column "step", if there is one, must have the same
// number.
func (reader *recordReader) readRow(line string, steps int) (recordRow, error) {
	texts, positions := reader.splitColumns(line)
	if len(texts) != reader.numColumns {
		return recordRow{}, reader.formatError(1, "found %d columns, want %d, as in the heading", len(texts), reader.numColumns)
	}
	parsed := recordRow{line: reader.line, column: int32(positions[0]), probability: math.NaN(), time: math.NaN()}
	if len(reader.variableColumns) > 0 {
		parsed.column = int32(positions[reader.variableColumns[0]])
	}
	var err error
	if parsed.state, err = reader.parseState(texts, positions); err != nil {
		return recordRow{}, err
	}
	isFirst := steps == 0
	action, hasAction := reader.columnIndex["action"]
	if hasAction && !isFirst && texts[action] != "?" {
		parsed.action = texts[action]
	}
	if parsed.action == "null" {
		return parsed, nil
	}
	if step, hasStep := reader.columnIndex["step"]; hasStep && texts[step] != strconv.Itoa(steps) {
		return recordRow{}, reader.formatError(positions[step], "found step %s, want %d: a path with all its states (no changes=true, no snapshots)", texts[step], steps)
	}
	err = reader.parseProbabilityAndTime(&parsed, texts, positions, isFirst)
	return parsed, err
}

// parseProbabilityAndTime sets the probability and the time of a row, if the file has these columns. In the first row, before any step, "-" says that there
// is no probability or time.
func (reader *recordReader) parseProbabilityAndTime(parsed *recordRow, texts []string, positions []int, isFirst bool) (err error) {
	isOmitted := func(column int) bool { return isFirst && texts[column] == "-" }
	column, hasColumn := reader.columnIndex["probability"]
	if hasColumn && !isOmitted(column) {
		parsed.probability, err = reader.parseNumber("probability", texts[column], positions[column], 0)
		if err != nil {
			return err
		}
	}
	column, hasColumn = reader.columnIndex["time"]
	if !hasColumn || !reader.program.Timed() || isOmitted(column) {
		return nil
	}
	parsed.time, err = reader.parseNumber("time", texts[column], positions[column], reader.lastTime)
	if err != nil {
		return err
	}
	reader.lastTime = parsed.time
	return nil
}

// parseState returns the values of the variables in a row. texts contains the text of each column, and positions contains where this text begins in the
// line.
func (reader *recordReader) parseState(texts []string, positions []int) ([]int32, error) {
	state := make([]int32, len(reader.variableColumns))
	for i, column := range reader.variableColumns {
		variable := &reader.program.Vars[i]
		value, ok := parseValue(variable.Type, texts[column])
		if !ok {
			wanted := "an integer"
			if variable.Type == sema.Bool {
				wanted = "true or false"
			}
			return nil, reader.formatError(positions[column], "found %q for %s, want %s", texts[column], variable.Name, wanted)
		}
		state[i] = value
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

// parseValue parses the value of a variable: an integer, or true or false for a Boolean. ok is false if the text is not a value of this type.
func parseValue(variableType sema.Type, text string) (parsed int32, ok bool) {
	if variableType == sema.Bool {
		switch text {
		case "true":
			return 1, true
		case "false":
			return 0, true
		}
		return 0, false
	}
	number, err := strconv.ParseInt(text, 10, 32)
	return int32(number), err == nil
}

// initialState returns the initial state of the model that equals the first row of the record. It is an error if there is none.
func (record *Record) initialState(program *sema.Program, initial [][]int32) ([]int32, error) {
	first := &record.rows[0]
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
	return nil, recordError(record.File, first.line, first.column, "found %s in the first row, want an initial state: %s", compile.StateText(program, first.state), strings.Join(listed, ", "))
}

// recordedStep returns the step of the model that leads to the next row of the record, and the index of its transition. It returns an error if the model has
// no such step, or if the recorded probability is greater than the probability of the step.
func (drawer *pathDrawer) recordedStep(current *Visit, choices *compile.Choices) (*Step, int, error) {
	recordedRow := &drawer.opts.Record.rows[current.Number+1]
	candidates, others, err := drawer.matchingSteps(recordedRow, choices)
	if err != nil {
		return nil, 0, err
	}
	if len(candidates) == 0 {
		return nil, 0, drawer.noMatchError(recordedRow, current, others)
	}
	step, transition := drawer.selectCandidate(candidates, recordedRow, choices)
	// The recorded probability may be smaller: PRISM writes the probability of one of several updates with the same target.
	if recordedRow.probability > step.Probability && !drawer.equalsRecord(step.Probability, recordedRow, choices) {
		return nil, 0, drawer.errorAtRow(recordedRow, "found %s with %s, want %s", drawer.describeRow(recordedRow), numberText(recordedRow.probability), numberText(step.Probability))
	}
	if drawer.source.Program().Timed() {
		step.Time, err = drawer.recordedSojourn(current, recordedRow, choices)
	}
	return step, transition, err
}

// noMatchError returns the error for a recorded step that the model does not allow. others describes possible steps.
func (drawer *pathDrawer) noMatchError(recordedRow *recordRow, current *Visit, others []string) error {
	from := compile.StateText(drawer.source.Program(), current.State)
	if len(others) == 0 {
		return drawer.errorAtRow(recordedRow, "found %s after %s, which is a deadlock", drawer.describeRow(recordedRow), from)
	}
	return drawer.errorAtRow(recordedRow, "found %s, which is not a step from %s, want %s", drawer.describeRow(recordedRow), from, strings.Join(others, " or "))
}

// errorAtRow returns an error at the position of a row of the record.
func (drawer *pathDrawer) errorAtRow(recordedRow *recordRow, format string, args ...any) error {
	return recordError(drawer.opts.Record.File, recordedRow.line, recordedRow.column, format, args...)
}

// candidateStep is a step that fits a row of a record, with the index of its transition.
type candidateStep struct {
	Step
	transition int
}

// matchingSteps returns the steps of the model that have the action of a recorded row and lead to its state. others describes up to four of the remaining
// steps, for the message if no step matches.
func (drawer *pathDrawer) matchingSteps(recordedRow *recordRow, choices *compile.Choices) (matching []candidateStep, others []string, err error) {
	const maxOthers = 4
	program := drawer.source.Program()
	for choiceIndex := range choices.List {
		choice := &choices.List[choiceIndex]
		if _, err := choice.ListFirst(maxOthers); err != nil {
			return nil, nil, err
		}
		if _, err := choice.Find(recordedRow.state); err != nil {
			return nil, nil, err
		}
		for transitionIndex, transition := range choice.Transitions {
			step := Step{Choice: choiceIndex, Choices: len(choices.List), Probability: drawer.normalisedWeight(choices, transition.Weight)}
			step.Action, step.Module = drawer.source.Action(choiceIndex, transitionIndex)
			action := ActionText(program, &step)
			isSameAction := recordedRow.action == "" || recordedRow.action == action
			if isSameAction && slices.Equal(transition.Target, recordedRow.state) {
				matching = append(matching, candidateStep{step, transitionIndex})
			} else if len(others) < maxOthers {
				others = appendIfNew(others, action+" to "+compile.StateText(program, transition.Target))
			}
		}
	}
	return matching, others, nil
}

// appendIfNew appends a text to a list unless the list contains it.
func appendIfNew(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// selectCandidate selects one of several steps that lead to a recorded row: the first step with the recorded probability. If there is none, it selects the
// first step with a greater probability, or else the last step. Then, in a Markov chain, the probability of the result is the sum over all candidates,
// because several updates can lead to the same state.
func (drawer *pathDrawer) selectCandidate(candidates []candidateStep, recordedRow *recordRow, choices *compile.Choices) (*Step, int) {
	sum := 0.0
	selected := &candidates[0]
	for i := range candidates {
		candidate := &candidates[i]
		if drawer.equalsRecord(candidate.Probability, recordedRow, choices) {
			return &candidate.Step, candidate.transition
		}
		sum += candidate.Probability
		if selected.Probability < recordedRow.probability {
			selected = candidate
		}
	}
	if kind := drawer.source.Program().Type; kind == syntax.DTMC || kind == syntax.CTMC {
		selected.Probability = sum
	}
	return &selected.Step, selected.transition
}

// equalsRecord reports whether a row has the given probability. A row of a CTMC may have a rate, or a probability of the embedded chain.
func (drawer *pathDrawer) equalsRecord(probability float64, recordedRow *recordRow, choices *compile.Choices) bool {
	if equalsWritten(probability, recordedRow.probability) {
		return true
	}
	return drawer.isContinuous && equalsWritten(probability/exitRate(choices), recordedRow.probability)
}

// recordedSojourn returns the recorded time in the current state, or the mean sojourn time if no time is recorded.
func (drawer *pathDrawer) recordedSojourn(current *Visit, recordedRow *recordRow, choices *compile.Choices) (float64, error) {
	if math.IsNaN(recordedRow.time) {
		drawer.usesMeanTimes = true
		return drawer.meanSojourn(current.State, choices)
	}
	return max(0, recordedRow.time-current.Time), nil
}

// describeRow returns the action and the target of a row.
func (drawer *pathDrawer) describeRow(recordedRow *recordRow) string {
	target := compile.StateText(drawer.source.Program(), recordedRow.state)
	if recordedRow.action == "" {
		return target
	}
	return recordedRow.action + " to " + target
}

// equalsWritten reports whether a probability equals a written number up to rounding of its digits. It is false if the number is NaN.
func equalsWritten(probability, written float64) bool {
	return math.Abs(probability-written) <= 1e-9*probability
}
