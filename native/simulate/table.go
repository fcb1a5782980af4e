package simulate

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"

	"tilecheck/prism/sema"
)

// TableOptions says which columns and rows a table of a path has.
type TableOptions struct {
	Separator string // between columns; a blank if empty
	// Vars are the slots of the variables to show, in this order; nil means all.
	Vars []int
	// Probs adds the column of probabilities (rates in a CTMC), Rewards those of
	// the rewards, for which the path must have been drawn with rewards.
	Probs, Rewards bool
	// Changes shows only states in which a shown value differs from the row above.
	Changes bool
}

// VarSlots returns the index of each named variable in program.Vars. It is an error if a name is unknown.
func VarSlots(program *sema.Program, names []string) ([]int, error) {
	slots := make([]int, len(names))
	for i, name := range names {
		slots[i] = slices.IndexFunc(program.Vars, func(variable sema.Variable) bool { return variable.Name == name })
		if slots[i] < 0 {
			return nil, fmt.Errorf("unknown variable %q", name)
		}
	}
	return slots, nil
}

// WriteTable draws a path and writes it like PRISM's -simpath: a heading, then a row for each state.
// A row has the action before the state, the step number, the time, the variables, and the rewards of the state and of the next step.
// "-" stands for the missing action of the first state, "?" for the missing rewards of the last step.
// The error comes from w.
//
// Source: PRISM's PathToText.
func WriteTable(w io.Writer, path *Path, opts TableOptions) error {
	program := path.source.Program()
	opts.Rewards = opts.Rewards && path.opts.Rewards
	if opts.Separator == "" {
		opts.Separator = " "
	}
	if opts.Vars == nil {
		for slot := range program.Vars {
			opts.Vars = append(opts.Vars, slot)
		}
	}
	t := &table{writer: bufio.NewWriter(w), program: program, opts: opts}
	for visit := range path.Visits() {
		if err := t.writeVisit(visit); err != nil {
			return err
		}
	}
	return t.writer.Flush()
}

// table writes the rows of a path.
type table struct {
	writer      *bufio.Writer
	program     *sema.Program
	opts        TableOptions
	lineStarted bool   // the current line has a column
	lastShown   *Visit // the last row, with which Changes compares; nil before the first row
}

// writeVisit writes the row of a state, and the heading before the first row. If only changes are shown, it skips a state whose row would equal
// the last row.
func (t *table) writeVisit(visit *Visit) error {
	if t.lastShown == nil {
		if err := t.writeHeading(); err != nil {
			return err
		}
		t.lastShown = &Visit{}
	} else if t.opts.Changes && !t.differ(t.lastShown, visit) {
		return nil
	}
	t.lastShown.State = append(t.lastShown.State[:0], visit.State...)
	t.lastShown.Rewards = visit.Rewards
	return t.writeRow(visit)
}

// writeCell writes one column. The writer keeps an error until the end of the line.
func (t *table) writeCell(text string) {
	if t.lineStarted {
		t.writer.WriteString(t.opts.Separator)
	}
	t.writer.WriteString(text)
	t.lineStarted = true
}

// endLine ends the line, and returns the first error of the writer.
func (t *table) endLine() error {
	t.lineStarted = false
	return t.writer.WriteByte('\n')
}

func (t *table) isTimed() bool { return t.program.Timed() }

// writeHeading writes a line with the names of the columns.
func (t *table) writeHeading() error {
	t.writeCell("action")
	if t.opts.Probs {
		t.writeCell("probability")
	}
	t.writeCell("step")
	if t.isTimed() {
		t.writeCell("time")
	}
	for _, slot := range t.opts.Vars {
		t.writeCell(t.program.Vars[slot].Name)
	}
	if t.opts.Rewards {
		t.writeRewardNames()
	}
	return t.endLine()
}

// writeRewardNames writes the names of the reward columns: two for each structure. With several structures the names have numbers.
func (t *table) writeRewardNames() {
	for i := range t.program.Rewards {
		number := ""
		if len(t.program.Rewards) > 1 {
			number = strconv.Itoa(i + 1)
		}
		t.writeCell("state_reward" + number)
		t.writeCell("transition_reward" + number)
	}
}

// writeRow writes the row of a state: the step that led to it, the values of the variables, and the rewards.
func (t *table) writeRow(visit *Visit) error {
	action, probability := "-", "-"
	if visit.Incoming != nil {
		action, probability = ActionText(t.program, visit.Incoming), number(visit.Incoming.Probability)
	}
	t.writeCell(action)
	if t.opts.Probs {
		t.writeCell(probability)
	}
	t.writeCell(strconv.FormatInt(visit.Number, 10))
	if t.isTimed() {
		t.writeCell(number(visit.Time))
	}
	for _, slot := range t.opts.Vars {
		t.writeCell(value(t.program.Vars[slot].Type, visit.State[slot]))
	}
	t.writeRewards(visit)
	return t.endLine()
}

// writeRewards writes the rewards of a state and of the step that leaves it. "?" stands for the unknown reward of a missing step.
func (t *table) writeRewards(visit *Visit) {
	if !t.opts.Rewards {
		return
	}
	for i, reward := range visit.Rewards {
		t.writeCell(number(reward))
		if visit.Outgoing != nil {
			t.writeCell(number(visit.Outgoing.Rewards[i]))
		} else {
			t.writeCell("?")
		}
	}
}

// differ reports whether two states have different values in a column that is shown.
func (t *table) differ(left, right *Visit) bool {
	for _, slot := range t.opts.Vars {
		if left.State[slot] != right.State[slot] {
			return true
		}
	}
	return t.opts.Rewards && !slices.Equal(left.Rewards, right.Rewards)
}

// number formats a number as Java and PRISM do.
func number(value float64) string { return sema.DoubleValue(value).String() }

// value formats the value of a variable.
func value(exprType sema.Type, x int32) string {
	if exprType == sema.Bool {
		return strconv.FormatBool(x != 0)
	}
	return strconv.Itoa(int(x))
}
