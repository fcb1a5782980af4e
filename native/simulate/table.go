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

// WriteTable writes a path as PRISM's -simpath does: a heading, then a row per
// state with the action that led to it, its number, in a CTMC the time, the
// variables, its rewards and those of the step that leaves it; "-" and "?" stand
// for what does not exist at the first and the last state.
//
// Source: PRISM's PathToText; reference, section 5.7.
func WriteTable(w io.Writer, prog *sema.Program, p *Path, opt TableOptions) error {
	opt.Rewards = opt.Rewards && p.StateRewards != nil
	t := &table{w: bufio.NewWriter(w), prog: prog, p: p, opt: opt}
	if t.opt.Separator == "" {
		t.opt.Separator = " "
	}
	for slot := 0; opt.Vars == nil && slot < len(prog.Vars); slot++ {
		t.opt.Vars = append(t.opt.Vars, slot)
	}
	t.heading()
	shown, time := -1, 0.0
	for i := range p.States {
		if i > 0 {
			time += p.Steps[i-1].Time
		}
		if shown < 0 || !opt.Changes || t.differ(shown, i) {
			t.row(i, time)
			shown = i
		}
	}
	return t.w.Flush()
}

type table struct {
	w    *bufio.Writer
	prog *sema.Program
	p    *Path
	opt  TableOptions
	open bool // the line has a column
}

// cell writes one column; errors stay in the writer until Flush.
func (t *table) cell(text string) {
	if t.open {
		t.w.WriteString(t.opt.Separator)
	}
	t.w.WriteString(text)
	t.open = true
}

func (t *table) end() {
	t.w.WriteByte('\n')
	t.open = false
}

func (t *table) timed() bool { return t.prog.Type == syntax.CTMC }

func (t *table) heading() {
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
	t.end()
}

func (t *table) row(i int, time float64) {
	action, probability := "-", "-"
	if i > 0 {
		s := &t.p.Steps[i-1]
		action, probability = ActionText(t.prog, s), number(s.Probability)
	}
	t.cell(action)
	if t.opt.Probs {
		t.cell(probability)
	}
	t.cell(strconv.Itoa(i))
	if t.timed() {
		t.cell(number(time))
	}
	for _, slot := range t.opt.Vars {
		t.cell(value(t.prog.Vars[slot].Type, t.p.States[i][slot]))
	}
	t.rewards(i)
	t.end()
}

func (t *table) rewards(i int) {
	if !t.opt.Rewards {
		return
	}
	for j, x := range t.p.StateRewards[i] {
		t.cell(number(x))
		if i < len(t.p.Steps) {
			t.cell(number(t.p.Steps[i].Rewards[j]))
		} else {
			t.cell("?")
		}
	}
}

// differ reports whether two states differ in what is shown of them.
func (t *table) differ(i, j int) bool {
	for _, slot := range t.opt.Vars {
		if t.p.States[i][slot] != t.p.States[j][slot] {
			return true
		}
	}
	return t.opt.Rewards && !slices.Equal(t.p.StateRewards[i], t.p.StateRewards[j])
}

// number formats like Java.
func number(x float64) string { return sema.DoubleValue(x).String() }

func value(t sema.Type, x int32) string {
	if t == sema.Bool {
		return strconv.FormatBool(x != 0)
	}
	return strconv.Itoa(int(x))
}
