package simulate

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"

	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
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

// VarSlots returns the slots of variables by name.
func VarSlots(prog *sema.Program, names []string) ([]int, error) {
	slots := make([]int, len(names))
	for i, name := range names {
		slots[i] = slices.IndexFunc(prog.Vars, func(v sema.Variable) bool { return v.Name == name })
		if slots[i] < 0 {
			return nil, fmt.Errorf("unknown variable %q", name)
		}
	}
	return slots, nil
}

// WriteTable draws a path and writes it as PRISM's -simpath does: a heading,
// then a row per state with the action that led to it, its number, in a CTMC the
// time, the variables, its rewards and those of the step that leaves it; "-" and
// "?" stand for what does not exist at the first and the last state. Nothing is
// written of a path without a first state. The error is that of w.
//
// Source: PRISM's PathToText; reference, section 5.7.
func WriteTable(w io.Writer, p *Path, opt TableOptions) error {
	opt.Rewards = opt.Rewards && p.opt.Rewards
	prog := p.src.Program()
	t := &table{w: bufio.NewWriter(w), prog: prog, opt: opt}
	if t.opt.Separator == "" {
		t.opt.Separator = " "
	}
	for slot := 0; opt.Vars == nil && slot < len(prog.Vars); slot++ {
		t.opt.Vars = append(t.opt.Vars, slot)
	}
	for v := range p.Visits() {
		if err := t.visit(v); err != nil {
			return err
		}
	}
	return t.w.Flush()
}

type table struct {
	w     *bufio.Writer
	prog  *sema.Program
	opt   TableOptions
	open  bool   // the line has a column
	shown *Visit // what Changes compares with; nil before the first row
}

// visit writes the row of a state, if it has one.
func (t *table) visit(v *Visit) error {
	if t.shown == nil {
		if err := t.heading(); err != nil {
			return err
		}
		t.shown = &Visit{}
	} else if t.opt.Changes && !t.differ(t.shown, v) {
		return nil
	}
	t.shown.State = append(t.shown.State[:0], v.State...)
	t.shown.Rewards = v.Rewards
	return t.row(v)
}

// cell writes one column; errors stay in the writer until the end of the line.
func (t *table) cell(text string) {
	if t.open {
		t.w.WriteString(t.opt.Separator)
	}
	t.w.WriteString(text)
	t.open = true
}

func (t *table) end() error {
	t.open = false
	return t.w.WriteByte('\n')
}

func (t *table) timed() bool { return t.prog.Type == syntax.CTMC }

func (t *table) heading() error {
	t.cell("action")
	if t.opt.Probs {
		t.cell("probability")
	}
	t.cell("step")
	if t.timed() {
		t.cell("time")
	}
	for _, slot := range t.opt.Vars {
		t.cell(t.prog.Vars[slot].Name)
	}
	for i := 0; t.opt.Rewards && i < len(t.prog.Rewards); i++ {
		number := ""
		if len(t.prog.Rewards) > 1 {
			number = strconv.Itoa(i + 1)
		}
		t.cell("state_reward" + number)
		t.cell("transition_reward" + number)
	}
	return t.end()
}

func (t *table) row(v *Visit) error {
	action, probability := "-", "-"
	if v.In != nil {
		action, probability = ActionText(t.prog, v.In), number(v.In.Probability)
	}
	t.cell(action)
	if t.opt.Probs {
		t.cell(probability)
	}
	t.cell(strconv.FormatInt(v.Number, 10))
	if t.timed() {
		t.cell(number(v.Time))
	}
	for _, slot := range t.opt.Vars {
		t.cell(value(t.prog.Vars[slot].Type, v.State[slot]))
	}
	t.rewards(v)
	return t.end()
}

func (t *table) rewards(v *Visit) {
	if !t.opt.Rewards {
		return
	}
	for i, x := range v.Rewards {
		t.cell(number(x))
		if v.Out != nil {
			t.cell(number(v.Out.Rewards[i]))
		} else {
			t.cell("?")
		}
	}
}

// differ reports whether two states differ in what is shown of them.
func (t *table) differ(v, w *Visit) bool {
	for _, slot := range t.opt.Vars {
		if v.State[slot] != w.State[slot] {
			return true
		}
	}
	return t.opt.Rewards && !slices.Equal(v.Rewards, w.Rewards)
}

// number formats like Java.
func number(x float64) string { return sema.DoubleValue(x).String() }

func value(t sema.Type, x int32) string {
	if t == sema.Bool {
		return strconv.FormatBool(x != 0)
	}
	return strconv.Itoa(int(x))
}
