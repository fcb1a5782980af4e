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

	state          []int32 // that was visited last
	resolvedChoice bool    // there was more than one choice
}

// Print prints the path while it is drawn: as boards, as CSV like PRISM's, or as a table. It returns an error of w, or a usage error if the model has
// no board.
func (p *Printer) Print(w io.Writer, format table.Format, opt table.Options) error {
	switch {
	case p.Board:
		return p.boards(w)
	case format == table.CSV:
		return simulate.WriteTable(w, p.Path, simulate.TableOptions{
			Separator: ",", Vars: p.Vars, Probs: p.Probs, Rewards: p.Rewards, Changes: p.Changes,
		})
	}
	var stream *table.Rows
	for visit := range p.Path.Visits() {
		if stream == nil { // there is a path
			stream = p.table().Stream(w, format, opt)
		}
		if !p.observe(visit) {
			continue
		}
		if err := stream.Append(p.row(visit)...); err != nil {
			return err
		}
	}
	if stream == nil {
		return nil
	}
	return stream.Close(p.notes()...)
}

// table returns the table of the steps without rows, with the columns of Figure 2.3 of the thesis.
func (p *Printer) table() *table.Table {
	steps := &table.Table{Columns: []table.Column{{Name: "action"}, {Name: "step", Align: table.Right}}}
	addColumn := func(isShown bool, name, group, field string) {
		if isShown {
			steps.Columns = append(steps.Columns, table.Column{Name: name, Group: group, Field: field, Align: table.Right})
		}
	}
	addColumn(p.Probs, "probability", "", "")
	addColumn(p.Program.Timed(), "time", "", "")
	for _, slot := range p.Vars {
		addColumn(true, p.Program.Vars[slot].Name, "variables", "")
	}
	for i := range p.Program.Rewards {
		name := p.rewardName(i)
		addColumn(p.Rewards, name+" state", "state_rewards", name)
		addColumn(p.Rewards, name+" step", "step_rewards", name)
	}
	return steps
}

// observe remembers a visited state, and whether a choice was resolved. It reports whether the state gets a row: with --changes, only a state in
// which a shown variable changes.
func (p *Printer) observe(visit *simulate.Visit) bool {
	differs := visit.Incoming == nil || !p.Changes
	for _, slot := range p.Vars {
		differs = differs || visit.State[slot] != p.state[slot]
	}
	p.state = append(p.state[:0], visit.State...)
	p.resolvedChoice = p.resolvedChoice || visit.Outgoing != nil && visit.Outgoing.Choices > 1 && (p.Record == nil || visit.Number >= p.Record.Steps())
	return differs
}

// row returns the table row of a visited state.
func (p *Printer) row(visit *simulate.Visit) []any {
	row := []any{p.action(visit), visit.Number}
	if p.Probs && visit.Incoming != nil {
		row = append(row, visit.Incoming.Probability)
	} else if p.Probs {
		row = append(row, nil)
	}
	if p.Program.Timed() {
		row = append(row, visit.Time)
	}
	for _, slot := range p.Vars {
		row = append(row, valueOf(p.Program, slot, visit.State[slot]))
	}
	for i, reward := range visit.Rewards {
		row = append(row, reward)
		if visit.Outgoing != nil {
			row = append(row, visit.Outgoing.Rewards[i])
		} else {
			row = append(row, nil)
		}
	}
	return row
}

// action returns the action that led to a state; empty for the first state.
func (p *Printer) action(visit *simulate.Visit) string {
	if visit.Incoming == nil {
		return ""
	}
	return simulate.ActionText(p.Program, visit.Incoming)
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
	if name := p.Program.RewardName(i); name != "" {
		return name
	}
	return strconv.Itoa(i + 1)
}

// notes returns the notes below the path: the seed, and why the path ends.
func (p *Printer) notes() []string {
	ending := p.Path.End.String()
	if p.Path.End == simulate.AtRequest {
		ending = p.Path.Err.Error()
	}
	notes := []string{fmt.Sprintf("seed %d; the path ends here: %s", p.Seed, ending)}
	if record := p.Record; record != nil {
		if !p.Drawn {
			notes[0] = "the path ends here: " + ending
		}
		if p.Path.Err == nil {
			notes[0] += "; its probability is " + p.Path.Probability.Text('g', 6)
			notes = append([]string{fmt.Sprintf("%s: %s, all of them steps of the model", record.File, noun.Count(record.Steps(), "step"))}, notes...)
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
	} else if p.resolvedChoice && p.Program.Type != syntax.DTMC && p.Program.Type != syntax.CTMC {
		notes = append(notes, "choices were resolved uniformly")
	}
	return notes
}

// boards draws every shown state as a board of 2048 with the action that led to it.
func (p *Printer) boards(w io.Writer) error {
	drawing, err := newBoardDrawing(p.Program, p.Cols)
	if err != nil {
		return err
	}
	for visit := range p.Path.Visits() {
		if !p.observe(visit) {
			continue
		}
		heading := "start"
		if visit.Incoming != nil {
			heading = p.action(visit)
		}
		if _, err := fmt.Fprintf(w, "%d %s\n%s\n", visit.Number, heading, drawing.draw(visit.State)); err != nil {
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
