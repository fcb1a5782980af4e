// Package paths prints sample paths: as rows, as PRISM's table, or as boards of
// 2048. It draws none.
package paths

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/native/simulate"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/report/table"
)

// Printer prints one path in one format, while it is drawn.
type Printer struct {
	Program *sema.Program
	Path    *simulate.Path
	Vars    []int            // slots of the variables to show
	Seed    uint64           // for a note
	Record  *simulate.Record // with which the path begins; nil for none
	Drawn   bool             // it goes on at random behind that

	Players   []string // of a game: those whose choices Scheduler makes; nil for all
	Scheduler string   // file of what resolved the choices; empty if they were resolved uniformly

	Probs, Rewards bool // are shown
	Changes        bool // only states in which a shown variable changes
	Board          bool // the variables v_0, v_1, … as a board, and nothing else
	Cols           int  // of the board; 0 for those of a generated model, or a square one

	state []int32 // that was visited last
	chose bool    // there was more than one choice
}

// Print prints the path. The error is that of w, or says why there is no board.
func (p *Printer) Print(w io.Writer, f table.Format, opt table.Options) error {
	switch {
	case p.Board:
		return p.boards(w)
	case f == table.CSV:
		return simulate.WriteTable(w, p.Path, simulate.TableOptions{
			Separator: ",", Vars: p.Vars, Probs: p.Probs, Rewards: p.Rewards, Changes: p.Changes,
		})
	}
	var rows *table.Rows
	for v := range p.Path.Visits() {
		if rows == nil { // there is a path
			rows = p.table().Stream(w, f, opt)
		}
		if !p.shown(v) {
			continue
		}
		if err := rows.Append(p.row(v)...); err != nil {
			return err
		}
	}
	if rows == nil {
		return nil
	}
	return rows.Close(p.notes()...)
}

// table is the step table of the thesis's Figure 2.3, without its rows.
func (p *Printer) table() *table.Table {
	t := &table.Table{Columns: []table.Column{{Name: "action"}, {Name: "step", Align: table.Right}}}
	add := func(on bool, name, group, field string) {
		if on {
			t.Columns = append(t.Columns, table.Column{Name: name, Group: group, Field: field, Align: table.Right})
		}
	}
	add(p.Probs, "probability", "", "")
	add(p.Program.Timed(), "time", "", "")
	for _, slot := range p.Vars {
		add(true, p.Program.Vars[slot].Name, "variables", "")
	}
	for i := range p.Program.Rewards {
		name := p.rewardName(i)
		add(p.Rewards, name+" state", "state_rewards", name)
		add(p.Rewards, name+" step", "step_rewards", name)
	}
	return t
}

// shown collects the notes about the path, and reports whether a state gets a row.
func (p *Printer) shown(v *simulate.Visit) bool {
	differs := v.Incoming == nil || !p.Changes
	for _, slot := range p.Vars {
		differs = differs || v.State[slot] != p.state[slot]
	}
	p.state = append(p.state[:0], v.State...)
	p.chose = p.chose || v.Outgoing != nil && v.Outgoing.Choices > 1 && (p.Record == nil || v.Number >= p.Record.Steps())
	return differs
}

// row returns the table row of a visited state.
func (p *Printer) row(v *simulate.Visit) []any {
	row := []any{p.action(v), v.Number}
	if p.Probs && v.Incoming != nil {
		row = append(row, v.Incoming.Probability)
	} else if p.Probs {
		row = append(row, nil)
	}
	if p.Program.Timed() {
		row = append(row, v.Time)
	}
	for _, slot := range p.Vars {
		row = append(row, valueOf(p.Program, slot, v.State[slot]))
	}
	for i, x := range v.Rewards {
		row = append(row, x)
		if v.Outgoing != nil {
			row = append(row, v.Outgoing.Rewards[i])
		} else {
			row = append(row, nil)
		}
	}
	return row
}

// action returns the action that led to a state; empty for the first state.
func (p *Printer) action(v *simulate.Visit) string {
	if v.Incoming == nil {
		return ""
	}
	return simulate.ActionText(p.Program, v.Incoming)
}

// valueOf returns the value of a variable as a number or a Boolean.
func valueOf(program *sema.Program, slot int, value int32) any {
	if program.Vars[slot].Type == sema.Bool {
		return value != 0
	}
	return value
}

// rewardName returns the name of a reward structure, or its number if it has none.
func (p *Printer) rewardName(i int) string {
	if name := p.Program.Rewards[i].Name; name != "" {
		return name
	}
	return strconv.Itoa(i + 1)
}

// notes returns the notes below the path: the seed, and why the path ends.
func (p *Printer) notes() []string {
	why := p.Path.End.String()
	if p.Path.End == simulate.AtRequest {
		why = p.Path.Err.Error()
	}
	notes := []string{fmt.Sprintf("seed %d; the path ends here: %s", p.Seed, why)}
	if r := p.Record; r != nil {
		if !p.Drawn {
			notes[0] = "the path ends here: " + why
		}
		if p.Path.Err == nil {
			notes[0] += "; its probability is " + p.Path.Probability.Text('g', 6)
			notes = append([]string{fmt.Sprintf("%s: %s, all of them steps of the model", r.File, noun.Count(r.Steps(), "step"))}, notes...)
		}
		if p.Path.MeanTimes {
			notes = append(notes, "times that the file does not have are means")
		}
	}
	if p.Scheduler != "" {
		note := "choices are those of " + p.Scheduler
		if len(p.Players) > 0 {
			note = fmt.Sprintf("choices of %s are those of %s, all others were resolved uniformly", strings.Join(p.Players, ", "), p.Scheduler)
		}
		notes = append(notes, note)
	} else if p.chose && p.Program.Type != syntax.DTMC && p.Program.Type != syntax.CTMC {
		notes = append(notes, "choices were resolved uniformly")
	}
	return notes
}

// boards draws every shown state as a board of 2048 with the action that led to it.
func (p *Printer) boards(w io.Writer) error {
	b, err := newBoardDrawing(p.Program, p.Cols)
	if err != nil {
		return err
	}
	for v := range p.Path.Visits() {
		if !p.shown(v) {
			continue
		}
		heading := "start"
		if v.Incoming != nil {
			heading = p.action(v)
		}
		if _, err := fmt.Fprintf(w, "%d %s\n%s\n", v.Number, heading, b.draw(v.State)); err != nil {
			return err
		}
	}
	if p.state == nil {
		return nil // there is no path
	}
	for _, note := range p.notes() {
		if _, err := fmt.Fprintln(w, note); err != nil {
			return err
		}
	}
	return nil
}
