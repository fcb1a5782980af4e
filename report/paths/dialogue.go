package paths

import (
	"context"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"tilecheck/native/simulate"
	"tilecheck/report/table"
)

// dialogueHelp lists the commands of a Dialogue.
const dialogueHelp = `N       take transition N
Enter   take a random transition
b       go back one step
j N     jump to step N: back, or forward at random
r       restart in the initial state
p       print the path
w FILE  write the path, which simulate --path replays
q       end, as Ctrl-D does
`

// Dialogue lets a person, or a script, choose the steps of a path. It shows the current state with its transitions, and reads a command a line.
type Dialogue struct {
	Stepper *simulate.Stepper
	Source  simulate.Source
	// Vars are the slots of the variables to show.
	Vars []int
	// Probs and Rewards are shown in the path that is printed or written.
	Probs, Rewards bool
	// Out gets states and paths, Errors what is wrong with a command.
	Out, Errors io.Writer
	// Prompt is printed before a command is read.
	Prompt string
	// Write writes a file.
	Write func(file string, write func(io.Writer) error) error
	// Table are the options of a path that is printed.
	Table table.Options
}

// Run reads commands from lines, and executes them. It returns nil after the command q or the last line, and otherwise an error of Out or ctx.
func (d *Dialogue) Run(ctx context.Context, lines <-chan string) error {
	mustShow := true
	for {
		options, total, modelErr := d.Stepper.Options()
		if mustShow {
			if err := d.show(options, total, modelErr); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(d.Out, d.Prompt); err != nil {
			return err
		}
		var line string
		var ok bool
		select {
		case line, ok = <-lines:
		case <-ctx.Done():
			return ctx.Err()
		}
		line = strings.TrimSpace(line)
		if !ok || line == "q" {
			return nil
		}
		var err error
		if mustShow, err = d.execute(ctx, line, options); err != nil {
			return err
		}
	}
}

// show prints the current state and its transitions. If the model has an error in this state, it prints modelErr instead of the transitions; the user
// can still go back.
func (d *Dialogue) show(options []simulate.Option, total *big.Int, modelErr error) error {
	if _, err := io.WriteString(d.Out, d.stateText()); err != nil {
		return err
	}
	if modelErr != nil {
		_, err := fmt.Fprintf(d.Errors, "%v\n", modelErr)
		return err
	}
	text := d.optionsText(options)
	if total.Cmp(big.NewInt(int64(len(options)))) > 0 {
		text += fmt.Sprintf("  %d of %v transitions are listed; Enter draws one of all\n", len(options), total)
	}
	_, err := io.WriteString(d.Out, text)
	return err
}

// execute executes the command in a line. show is true if the current state must be printed again. options are the transitions of the current state.
// An error ends the dialogue.
func (d *Dialogue) execute(ctx context.Context, line string, options []simulate.Option) (show bool, err error) {
	command, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimSpace(argument)
	number, numberErr := strconv.Atoi(line)
	current := int(d.Stepper.Current().Number)
	switch {
	case line == "":
		moved, err := d.Stepper.Random()
		return moved, d.refused(ctx, err)
	case numberErr == nil && number >= 1 && number <= len(options):
		return true, d.refused(ctx, d.Stepper.Take(&options[number-1]))
	case line == "b" && current > 0:
		return true, d.Stepper.JumpTo(current - 1)
	case line == "b":
		return false, d.complain("this is the initial state")
	case line == "r":
		return true, d.Stepper.JumpTo(0)
	case command == "j":
		target, err := strconv.Atoi(argument)
		if err != nil || target < 0 {
			return false, d.complain("found j %s, want j and the number of a state", argument)
		}
		return true, d.refused(ctx, d.Stepper.JumpTo(target))
	case line == "p":
		return false, d.printer(ctx).Print(d.Out, table.Text, d.Table)
	case command == "w" && argument != "":
		return false, d.write(ctx, argument)
	case line == "?":
		_, err := io.WriteString(d.Out, dialogueHelp)
		return false, err
	case len(options) == 0:
		return false, d.complain("found %q, want b, j, r, p, w FILE, ? or q", line)
	}
	return false, d.complain("found %q, want a number from 1 to %d, Enter, or ? for help", line, len(options))
}

// refused prints the error of a step. It returns an error only if the dialogue must end, because ctx has ended.
func (d *Dialogue) refused(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return d.complain("%v", err)
}

// complain prints a message about a wrong command.
func (d *Dialogue) complain(format string, args ...any) error {
	_, err := fmt.Fprintf(d.Errors, format+"\n", args...)
	return err
}

// write writes the path to a file, as CSV. It prints an error of the file, and returns only errors of the output.
func (d *Dialogue) write(ctx context.Context, file string) error {
	printer := d.printer(ctx)
	err := d.Write(file, func(w io.Writer) error { return printer.Print(w, table.CSV, d.Table) })
	if err != nil {
		return d.complain("%v", err)
	}
	return nil
}

// printer returns a printer of the path so far. Each step is checked again on the way.
func (d *Dialogue) printer(ctx context.Context) *Printer {
	record := d.Stepper.Record()
	path := simulate.Walk(ctx, d.Source, simulate.PathOptions{Record: record, Rewards: d.Rewards})
	return &Printer{Program: d.Source.Program(), Path: path, Vars: d.Vars, Record: record, Probs: d.Probs, Rewards: d.Rewards}
}

// stateText returns a line about the current state: its step, the action before it, the time and the values of the variables.
func (d *Dialogue) stateText() string {
	visit := d.Stepper.Current()
	program := d.Source.Program()
	var values []string
	for _, slot := range d.Vars {
		values = append(values, fmt.Sprintf("%s=%v", program.Vars[slot].Name, valueOf(program, slot, visit.State[slot])))
	}
	text := fmt.Sprintf("step %d", visit.Number)
	if visit.Incoming != nil {
		text += " after " + simulate.ActionText(program, visit.Incoming)
	}
	if visit.Time > 0 {
		text += fmt.Sprintf(" at time %.6g", visit.Time)
	}
	return text + ": " + strings.Join(values, ", ") + "\n"
}

// optionsText returns a line for each transition: its number, action and modules, probability or rate, and the variables that it changes.
func (d *Dialogue) optionsText(options []simulate.Option) string {
	if len(options) == 0 {
		return "  deadlock: there is no transition\n"
	}
	rows := make([][3]string, len(options))
	var widths [2]int
	for i, option := range options {
		origin := option.Action
		if modules := strings.Join(option.Modules, ", "); modules != "" && modules != origin {
			origin += " " + modules
		}
		rows[i] = [3]string{origin, strconv.FormatFloat(option.Probability, 'g', 6, 64), d.changes(option.Target)}
		widths[0], widths[1] = max(widths[0], len(origin)), max(widths[1], len(rows[i][1]))
	}
	var text strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&text, "%3d  %-*s  %-*s  %s\n", i+1, widths[0], row[0], widths[1], row[1], row[2])
	}
	return text.String()
}

// changes returns the new values of the variables that a transition to target changes, such as "x'=1, y'=0".
func (d *Dialogue) changes(target []int32) string {
	program := d.Source.Program()
	var changes []string
	for slot, oldValue := range d.Stepper.Current().State {
		if target[slot] != oldValue {
			changes = append(changes, fmt.Sprintf("%s'=%v", program.Vars[slot].Name, valueOf(program, slot, target[slot])))
		}
	}
	if len(changes) == 0 {
		return "no change"
	}
	return strings.Join(changes, ", ")
}
