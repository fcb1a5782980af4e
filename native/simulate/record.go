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
	for rest, hasMore := text, true; hasMore; {
		var line []byte
		line, rest, hasMore = bytes.Cut(rest, []byte("\n"))
		reader.line++
		if reader.line&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if reader.separator == "" {
			if err := reader.readHeading(string(line)); err != nil {
				return nil, err
			}
			continue
		}
		next, err := reader.readRow(string(line), len(record.rows))
		if err != nil {
			return nil, err
		}
		if next.action == "null" { // PRISM writes this last row if a path up to a time ends in a deadlock
			continue
		}
		record.rows = append(record.rows, next)
		if len(record.rows)*max(1, len(next.state)) > maxRecord {
			return nil, reader.formatError(1, "the path has more than %d values", maxRecord)
		}
	}
	if len(record.rows) == 0 {
		return nil, reader.formatError(1, "found no row, want a heading and a row for each state of the path")
	}
	return record, nil
}

// recordReader reads a record line by line.
type recordReader struct {
	file       string
	program    *sema.Program
	line       int32
	separator  string
	columns    map[string]int
	numColumns int
	slots      []int // of each variable: its column
	lastTime   float64
}

func (p *recordReader) formatError(col int, format string, args ...any) error {
	return recordError(p.file, p.line, int32(col), format, args...)
}

func recordError(file string, line, col int32, format string, args ...any) error {
	return &result.Failure{
		Class: result.Parse, File: file, Pos: syntax.Pos{Line: line, Col: col}, Message: fmt.Sprintf(format, args...),
	}
}

// splitColumns returns the trimmed text of each column of a line, and the position at which each begins.
func (p *recordReader) splitColumns(line string) (text []string, columns []int) {
	for column := 1; ; {
		part, rest, more := strings.Cut(line, p.separator)
		if p.separator != " " || part != "" { // several blanks separate like one
			trimmed := strings.TrimLeft(part, " ")
			text = append(text, strings.TrimRight(trimmed, " "))
			columns = append(columns, column+len(part)-len(trimmed))
		}
		if !more {
			return text, columns
		}
		column += len(part) + 1
		line = rest
	}
}

// readHeading reads the heading: it detects the separator, and finds the column of each variable.
func (p *recordReader) readHeading(line string) error {
	p.separator = " "
	for _, separator := range []string{",", "\t"} {
		if strings.Contains(line, separator) {
			p.separator = separator
			break
		}
	}
	names, columns := p.splitColumns(line)
	p.numColumns = len(names)
	for i, name := range names {
		if _, duplicate := p.columns[name]; duplicate {
			return p.formatError(columns[i], "found a second column %q", name)
		}
		p.columns[name] = i
	}
	for _, variable := range p.program.Vars {
		i, ok := p.columns[variable.Name]
		if !ok {
			return p.formatError(1, "found no column %q, want one for each variable of %s", variable.Name, p.program.File)
		}
		p.slots = append(p.slots, i)
	}
	return nil
}

// readRow reads the row of state number, and checks the columns of the step number, the probability and the
// time.
func (p *recordReader) readRow(line string, number int) (row, error) {
	texts, columns := p.splitColumns(line)
	if len(texts) != p.numColumns {
		return row{}, p.formatError(1, "found %d columns, want %d, as in the heading", len(texts), p.numColumns)
	}
	result := row{line: p.line, column: int32(columns[0]), probability: math.NaN(), time: math.NaN(), state: make([]int32, len(p.slots))}
	for slot, i := range p.slots {
		variable := &p.program.Vars[slot]
		value, ok := valueOf(variable.Type, texts[i])
		if !ok {
			return result, p.formatError(columns[i], "found %q for %s, want %s", texts[i], variable.Name, map[bool]string{true: "true or false", false: "an integer"}[variable.Type == sema.Bool])
		}
		result.state[slot] = value
	}
	if len(p.slots) > 0 {
		result.column = int32(columns[p.slots[0]])
	}
	if i, ok := p.columns["action"]; ok && texts[i] != "?" && number > 0 {
		if result.action = texts[i]; result.action == "null" {
			return result, nil
		}
	}
	if i, ok := p.columns["step"]; ok && texts[i] != strconv.Itoa(number) {
		return result, p.formatError(columns[i], "found step %s, want %d: a path with all its states (no changes=true, no snapshots)", texts[i], number)
	}
	parseColumn := func(column string, least float64) (float64, error) {
		i, ok := p.columns[column]
		if !ok || texts[i] == "-" && number == 0 {
			return math.NaN(), nil
		}
		value, err := strconv.ParseFloat(texts[i], 64)
		if err != nil || !(value >= least) || math.IsInf(value, 1) {
			return 0, p.formatError(columns[i], "found %q for the %s, want a number of at least %s", texts[i], column, strconv.FormatFloat(least, 'g', -1, 64))
		}
		return value, nil
	}
	var err error
	if result.probability, err = parseColumn("probability", 0); err != nil {
		return result, err
	}
	if p.program.Type == syntax.CTMC {
		result.time, err = parseColumn("time", p.lastTime)
		if err == nil && result.time == result.time {
			p.lastTime = result.time
		}
	}
	return result, err
}

// valueOf returns the value of the given type that a text stands for; it is the inverse of value.
func valueOf(exprType sema.Type, text string) (x int32, ok bool) {
	if exprType == sema.Bool {
		return map[string]int32{"true": 1}[text], text == "true" || text == "false"
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

// recordedStep returns the step that the record has. If several transitions fit, it prefers one with the
// recorded probability. In a Markov chain the probability of the step is the sum over all commands that make
// it.
func (drawer *pathDrawer) recordedStep(current *Visit, choices *compile.Choices) (step *Step, transition int, err error) {
	program, recorded := drawer.source.Program(), &drawer.opts.Record.rows[current.Number+1]
	step = &Step{Choices: len(choices.List), Choice: -1}
	hasProbability := !math.IsNaN(recorded.probability)
	equalsRecord := func(p float64) bool { // in a CTMC the record may have the rate, or the probability in the race
		return hasProbability && (written(p, recorded.probability) || drawer.continuous() && written(p/exitRateOf(choices), recorded.probability))
	}
	sum := 0.0          // of the probabilities of all candidates
	exactMatch := false // whether a candidate has the recorded probability
	var others []string
	for i := range choices.List {
		for transitionIndex, t := range choices.List[i].Transitions {
			candidate := Step{Probability: drawer.probability(choices, t.Weight)}
			candidate.Action, candidate.Module = drawer.source.Action(i, transitionIndex)
			action := ActionText(program, &candidate)
			if !slices.Equal(t.Target, recorded.state) || recorded.action != "" && recorded.action != action {
				if text := action + " to " + compile.StateText(program, t.Target); len(others) < 4 && !slices.Contains(others, text) {
					others = append(others, text)
				}
				continue
			}
			sum += candidate.Probability
			if step.Choice < 0 || !exactMatch && (equalsRecord(candidate.Probability) || step.Probability < recorded.probability) {
				step.Choice = i
				step.Action = candidate.Action
				step.Module = candidate.Module
				step.Probability = candidate.Probability
				transition = transitionIndex
			}
			exactMatch = exactMatch || equalsRecord(candidate.Probability)
		}
	}
	found := compile.StateText(program, recorded.state)
	if recorded.action != "" {
		found = recorded.action + " to " + found
	}
	chain := program.Type == syntax.DTMC || program.Type == syntax.CTMC
	if chain && !exactMatch {
		step.Probability = sum
	}
	wrong := func(format string, args ...any) (*Step, int, error) {
		return nil, 0, recordError(drawer.opts.Record.File, recorded.line, recorded.column, format, args...)
	}
	switch {
	case step.Choices == 0:
		return wrong("found %s after %s, which is a deadlock", found, compile.StateText(program, current.State))
	case step.Choice < 0:
		return wrong("found %s, which is not a step from %s, want %s", found, compile.StateText(program, current.State), strings.Join(others, " or "))
	case hasProbability && !equalsRecord(step.Probability) && recorded.probability > step.Probability: // a smaller one may be PRISM's, of one of several updates
		return wrong("found %s with %s, want %s", found, number(recorded.probability), number(step.Probability))
	}
	if drawer.continuous() {
		if math.IsNaN(recorded.time) {
			step.Time = 1 / exitRateOf(choices)
			drawer.usesMeanTimes = true
		} else {
			step.Time = max(0, recorded.time-current.Time)
		}
	}
	return step, transition, nil
}

// written reports whether a probability is the one that was written down, with all or some of its digits.
func written(p, as float64) bool { return math.Abs(p-as) <= 1e-9*p }
