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

// WriteTable draws a path and writes it in the format of PRISM's option -simpath: a heading, then a row for each state.
// A row has the action before the state, the step number, the time, the variables, and the rewards of the state and of the next step.
// "-" stands for the missing action of the first state, "?" for the missing rewards of the last step.
// The error comes from out.
//
// Source: PRISM's PathToText.
func WriteTable(out io.Writer, path *Path, opts TableOptions) error {
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
	table := &tableWriter{writer: bufio.NewWriter(out), program: program, opts: opts}
	for visit := range path.Visits() {
		if err := table.writeVisit(visit); err != nil {
			return err
		}
	}
	return table.writer.Flush()
}

// tableWriter writes the rows of a path.
type tableWriter struct {
	writer         *bufio.Writer
	program        *sema.Program
	opts           TableOptions
	hasCells       bool   // the current line has a column
	lastShownVisit *Visit // the last row, with which Changes compares; nil before the first row
}

// writeVisit writes the row of a state, and before the first row the heading. With Options.Changes it skips a state if no shown column differs from the last
// row.
func (table *tableWriter) writeVisit(visit *Visit) error {
	if table.lastShownVisit == nil {
		if err := table.writeHeading(); err != nil {
			return err
		}
		table.lastShownVisit = &Visit{}
	} else if table.opts.Changes && !table.hasChanged(table.lastShownVisit, visit) {
		return nil
	}
	table.lastShownVisit.State = append(table.lastShownVisit.State[:0], visit.State...)
	table.lastShownVisit.Rewards = visit.Rewards
	return table.writeRow(visit)
}

// writeCell writes one column. The writer keeps an error until the end of the line.
func (table *tableWriter) writeCell(text string) {
	if table.hasCells {
		table.writer.WriteString(table.opts.Separator)
	}
	table.writer.WriteString(text)
	table.hasCells = true
}

// endLine ends the line, and returns the first error of the writer.
func (table *tableWriter) endLine() error {
	table.hasCells = false
	return table.writer.WriteByte('\n')
}

func (table *tableWriter) isTimed() bool { return table.program.Timed() }

// writeHeading writes a line with the names of the columns.
func (table *tableWriter) writeHeading() error {
	table.writeCell("action")
	if table.opts.Probs {
		table.writeCell("probability")
	}
	table.writeCell("step")
	if table.isTimed() {
		table.writeCell("time")
	}
	for _, slot := range table.opts.Vars {
		table.writeCell(table.program.Vars[slot].Name)
	}
	if table.opts.Rewards {
		table.writeRewardNames()
	}
	return table.endLine()
}

// writeRewardNames writes the names of the reward columns: two for each structure. With several structures the names have numbers.
func (table *tableWriter) writeRewardNames() {
	for i := range table.program.Rewards {
		number := ""
		if len(table.program.Rewards) > 1 {
			number = strconv.Itoa(i + 1)
		}
		table.writeCell("state_reward" + number)
		table.writeCell("transition_reward" + number)
	}
}

// writeRow writes the row of a state: the step that led to it, the values of the variables, and the rewards.
func (table *tableWriter) writeRow(visit *Visit) error {
	action, probability := "-", "-"
	if visit.Incoming != nil {
		action, probability = ActionText(table.program, visit.Incoming), numberText(visit.Incoming.Probability)
	}
	table.writeCell(action)
	if table.opts.Probs {
		table.writeCell(probability)
	}
	table.writeCell(strconv.FormatInt(visit.Number, 10))
	if table.isTimed() {
		table.writeCell(numberText(visit.Time))
	}
	for _, slot := range table.opts.Vars {
		table.writeCell(valueText(table.program.Vars[slot].Type, visit.State[slot]))
	}
	table.writeRewards(visit)
	return table.endLine()
}

// writeRewards writes the rewards of a state and of the step that leaves it. "?" stands for the unknown reward of a missing step.
func (table *tableWriter) writeRewards(visit *Visit) {
	if !table.opts.Rewards {
		return
	}
	for i, reward := range visit.Rewards {
		table.writeCell(numberText(reward))
		if visit.Outgoing != nil {
			table.writeCell(numberText(visit.Outgoing.Rewards[i]))
		} else {
			table.writeCell("?")
		}
	}
}

// hasChanged reports whether two states have different values in a column that is shown.
func (table *tableWriter) hasChanged(left, right *Visit) bool {
	for _, slot := range table.opts.Vars {
		if left.State[slot] != right.State[slot] {
			return true
		}
	}
	return table.opts.Rewards && !slices.Equal(left.Rewards, right.Rewards)
}

// numberText formats a number as Java and PRISM do.
func numberText(value float64) string { return sema.DoubleValue(value).String() }

// valueText formats the value of a variable.
func valueText(exprType sema.Type, x int32) string {
	if exprType == sema.Bool {
		return strconv.FormatBool(x != 0)
	}
	return strconv.Itoa(int(x))
}
