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
	line, col   int32
	action      string // as ActionText has it; empty if the file does not say
	probability float64
	time        float64 // both NaN if the file does not say
	state       []int32
}

// Steps returns the number of steps of the record.
func (r *Record) Steps() int64 { return int64(len(r.rows) - 1) }

// maxRecord limits the number of values of a record.
const maxRecord = 50_000_000

// ReadPath reads a path of a model: a heading, then a row per state, with commas, tabulators or blanks between the columns.
// Each variable needs a column. The columns of the step's number, its action and its time are checked if they exist. The
// probability (in a CTMC the rate, or its share) may be less than that of the step, because PRISM's is the probability of
// one of several updates with the same result. Other columns, such as rewards, are ignored. The action ? stands for any
// action. An error is a *result.Failure with the place in the file, or the context's.
func ReadPath(ctx context.Context, file string, text []byte, prog *sema.Program) (*Record, error) {
	p := &recordReader{file: file, prog: prog, columns: make(map[string]int)}
	out := &Record{File: file}
	for rest, more := text, true; more; {
		var line []byte
		line, rest, more = bytes.Cut(rest, []byte("\n"))
		if p.line++; p.line&0xfff == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if p.separator == "" {
			if err := p.heading(string(line)); err != nil {
				return nil, err
			}
			continue
		}
		r, err := p.row(string(line), len(out.rows))
		if err != nil {
			return nil, err
		}
		if r.action == "null" { // PRISM's last row of a path until a time that ends in a deadlock
			continue
		}
		if out.rows = append(out.rows, r); len(out.rows)*max(1, len(r.state)) > maxRecord {
			return nil, p.wrong(1, "the path has more than %d values", maxRecord)
		}
	}
	if len(out.rows) == 0 {
		return nil, p.wrong(1, "found no row, want a heading and a row for each state of the path")
	}
	return out, nil
}

// recordReader reads a record line by line.
type recordReader struct {
	file      string
	prog      *sema.Program
	line      int32
	separator string
	columns   map[string]int
	count     int // of the columns
	slots     []int
	last      float64 // time
}

func (p *recordReader) wrong(col int, format string, args ...any) error {
	return recordError(p.file, p.line, int32(col), format, args...)
}

func recordError(file string, line, col int32, format string, args ...any) error {
	return &result.Failure{
		Class: result.Parse, File: file, Pos: syntax.Pos{Line: line, Col: col}, Message: fmt.Sprintf(format, args...),
	}
}

// fields are the columns of a line, and where each starts.
func (p *recordReader) fields(line string) (text []string, at []int) {
	for col := 1; ; {
		part, rest, more := strings.Cut(line, p.separator)
		if p.separator != " " || part != "" { // several blanks are one
			trimmed := strings.TrimLeft(part, " ")
			text = append(text, strings.TrimRight(trimmed, " "))
			at = append(at, col+len(part)-len(trimmed))
		}
		if !more {
			return text, at
		}
		col, line = col+len(part)+1, rest
	}
}

func (p *recordReader) heading(line string) error {
	p.separator = " "
	for _, s := range []string{",", "\t"} {
		if strings.Contains(line, s) {
			p.separator = s
			break
		}
	}
	names, at := p.fields(line)
	p.count = len(names)
	for i, name := range names {
		if _, twice := p.columns[name]; twice {
			return p.wrong(at[i], "found a second column %q", name)
		}
		p.columns[name] = i
	}
	for _, v := range p.prog.Vars {
		i, ok := p.columns[v.Name]
		if !ok {
			return p.wrong(1, "found no column %q, want one for each variable of %s", v.Name, p.prog.File)
		}
		p.slots = append(p.slots, i)
	}
	return nil
}

func (p *recordReader) row(line string, number int) (row, error) {
	text, at := p.fields(line)
	if len(text) != p.count {
		return row{}, p.wrong(1, "found %d columns, want %d, as in the heading", len(text), p.count)
	}
	r := row{line: p.line, col: int32(at[0]), probability: math.NaN(), time: math.NaN(), state: make([]int32, len(p.slots))}
	for slot, i := range p.slots {
		v := &p.prog.Vars[slot]
		x, ok := valueOf(v.Type, text[i])
		if !ok {
			return r, p.wrong(at[i], "found %q for %s, want %s", text[i], v.Name, map[bool]string{true: "true or false", false: "an integer"}[v.Type == sema.Bool])
		}
		r.state[slot] = x
	}
	if len(p.slots) > 0 {
		r.col = int32(at[p.slots[0]])
	}
	if i, ok := p.columns["action"]; ok && text[i] != "?" && number > 0 {
		if r.action = text[i]; r.action == "null" {
			return r, nil
		}
	}
	if i, ok := p.columns["step"]; ok && text[i] != strconv.Itoa(number) {
		return r, p.wrong(at[i], "found step %s, want %d: a path with all its states (no changes=true, no snapshots)", text[i], number)
	}
	number64 := func(column string, least float64) (float64, error) {
		i, ok := p.columns[column]
		if !ok || text[i] == "-" && number == 0 {
			return math.NaN(), nil
		}
		x, err := strconv.ParseFloat(text[i], 64)
		if err != nil || !(x >= least) || math.IsInf(x, 1) {
			return 0, p.wrong(at[i], "found %q for the %s, want a number of at least %s", text[i], column, strconv.FormatFloat(least, 'g', -1, 64))
		}
		return x, nil
	}
	var err error
	if r.probability, err = number64("probability", 0); err != nil {
		return r, err
	}
	if p.prog.Type == syntax.CTMC {
		r.time, err = number64("time", p.last)
		if err == nil && r.time == r.time {
			p.last = r.time
		}
	}
	return r, err
}

// valueOf is the value that a text stands for; value is its inverse.
func valueOf(t sema.Type, text string) (x int32, ok bool) {
	if t == sema.Bool {
		return map[string]int32{"true": 1}[text], text == "true" || text == "false"
	}
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), err == nil
}

// start is the initial state with which a record begins.
func (r *Record) start(prog *sema.Program, initial [][]int32) ([]int32, error) {
	first := &r.rows[0]
	for _, s := range initial {
		if slices.Equal(s, first.state) {
			return s, nil
		}
	}
	const most = 3
	var want []string
	for _, s := range initial[:min(most, len(initial))] {
		want = append(want, compile.StateText(prog, s))
	}
	if len(initial) > most {
		want = append(want, "...")
	}
	return nil, recordError(r.File, first.line, first.col, "found %s in the first row, want an initial state: %s", compile.StateText(prog, first.state), strings.Join(want, ", "))
}

// follow takes the step that the record has, as pick and race do: in a Markov chain its
// probability is that of all commands which make it.
func (w *pathDrawer) follow(at *Visit, choices *compile.Choices) (s *Step, transition int, err error) {
	prog, r := w.src.Program(), &w.opt.Record.rows[at.Number+1]
	s = &Step{Choices: len(choices.List), Choice: -1}
	given := !math.IsNaN(r.probability)
	same := func(p float64) bool { // in a CTMC the rate, or what is to be expected of the race
		return given && (written(p, r.probability) || w.continuous() && written(p/total(choices), r.probability))
	}
	sum, near := 0.0, false // of all candidates, and whether one has the probability of the record
	var others []string
	for i := range choices.List {
		for j, t := range choices.List[i].Transitions {
			c := Step{Probability: w.probability(choices, t.Weight)}
			c.Action, c.Module = w.src.Action(i, j)
			action := ActionText(prog, &c)
			if !slices.Equal(t.Target, r.state) || r.action != "" && r.action != action {
				if text := action + " to " + compile.StateText(prog, t.Target); len(others) < 4 && !slices.Contains(others, text) {
					others = append(others, text)
				}
				continue
			}
			sum += c.Probability
			if s.Choice < 0 || !near && (same(c.Probability) || s.Probability < r.probability) {
				s.Choice = i
				s.Action = c.Action
				s.Module = c.Module
				s.Probability = c.Probability
				transition = j
			}
			near = near || same(c.Probability)
		}
	}
	found := compile.StateText(prog, r.state)
	if r.action != "" {
		found = r.action + " to " + found
	}
	chain := prog.Type == syntax.DTMC || prog.Type == syntax.CTMC
	if chain && !near {
		s.Probability = sum
	}
	wrong := func(format string, args ...any) (*Step, int, error) {
		return nil, 0, recordError(w.opt.Record.File, r.line, r.col, format, args...)
	}
	switch {
	case s.Choices == 0:
		return wrong("found %s behind %s, which is a deadlock", found, compile.StateText(prog, at.State))
	case s.Choice < 0:
		return wrong("found %s, which is no step from %s, want %s", found, compile.StateText(prog, at.State), strings.Join(others, " or "))
	case given && !same(s.Probability) && r.probability > s.Probability: // PRISM has that of one update of several
		return wrong("found %s with %s, want %s", found, number(r.probability), number(s.Probability))
	}
	if w.continuous() {
		s.Time = 1 / total(choices)
		if w.mean = w.mean || math.IsNaN(r.time); !math.IsNaN(r.time) {
			s.Time = max(0, r.time-at.Time)
		}
	}
	return s, transition, nil
}

// written reports whether a probability is the one that was written down, with all or some of its digits.
func written(p, as float64) bool { return math.Abs(p-as) <= 1e-9*p }
