package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/prism/sema"
	"tilecheck/report/number"
	"tilecheck/report/table"
	"tilecheck/result"
)

// Of a path with more states than longestPath, the first and the last endsOfPath are shown.
const (
	longestPath = 60
	endsOfPath  = 20
)

// writeWitnesses prints the witnesses of verdicts below them.
func writeWitnesses(w io.Writer, format table.Format, verdicts []result.Verdict, opt table.Options) error {
	for i := range verdicts {
		verdict := &verdicts[i]
		for j := range verdict.Witnesses {
			var text bytes.Buffer
			fmt.Fprintf(&text, "\nWitness of %s%s\n", propertyText(verdict), withConstants(verdict))
			if err := writeWitness(&text, format, &verdict.Witnesses[j], verdict, opt); err != nil {
				return err
			}
			if _, err := w.Write(text.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeWitness prints a witness of a verdict: a sentence, the paths, and the critical subsystem.
func writeWitness(w io.Writer, format table.Format, witness *result.Witness, verdict *result.Verdict, opt table.Options) error {
	fmt.Fprintln(w, witnessText(witness, verdict))
	if err := writePaths(w, format, witness, opt); err != nil {
		return err
	}
	if err := writeChoices(w, witness.Choices); err != nil {
		return err
	}
	return writeSubsystem(w, format, witness, opt)
}

// witnessText describes the paths of a witness in sentences: the scheduler, the number and probability of the paths, and whether they decide the
// property.
func witnessText(witness *result.Witness, verdict *result.Verdict) string {
	under := ""
	if witness.Scheduler {
		under = "Under " + schedulerText(verdict.Resolution) + ", "
	}
	pathsThat := "on which the formula holds"
	if !witness.Holds {
		pathsThat = "on which the formula does not hold"
	}
	if witness.Count == 0 {
		return upperFirst(under + "there is no path " + pathsThat + ".")
	}
	sum := number.Text(float64(witness.Sum))
	if bound, ok := strings.CutPrefix(witness.Wanted, ">="); ok && sum == bound && !witness.Enough && !witness.Shown {
		sum = "just under " + sum // rounding has made it equal to the bound
	}
	text := upperFirst(under + "the likeliest path " + pathsThat + " has probability " + sum + ".")
	if witness.Count > 1 {
		text = upperFirst(under + fmt.Sprintf("the %d likeliest paths %s have probability %s together.", witness.Count, pathsThat, sum))
	}
	if witness.Count == 1 && witness.Longest == 0 {
		text = upperFirst(under + initialStateText(witness.Holds) + ", so the path ends there. Its probability is 1.")
	}
	wanted := wantedText(witness.Wanted)
	decision := "the property fails"
	if verdict.Value.Bool {
		decision = "the property holds"
	}
	switch {
	case witness.Wanted == "" && witness.All:
		return text + " There are no other such paths."
	case witness.Wanted == "":
		return text
	case witness.Shown && witness.Count == 1:
		return text + " This is " + wanted + ", so " + decision + "."
	case witness.Shown:
		return text + " This is " + wanted + ", so " + decision + "; fewer paths do not show this."
	case witness.Enough:
		return text + " This is " + wanted + ". Other schedulers do not come closer to the bound."
	case witness.All:
		return text + " There are no other such paths, and this is not " + wanted + "."
	default:
		return text + " This is not " + wanted + ", but the search for more paths was given up."
	}
}

// initialStateText says why a path ends in the initial state.
func initialStateText(holds bool) string {
	if holds {
		return "the formula holds already in the initial state"
	}
	return "the formula cannot hold on any path from the initial state"
}

// schedulerText names the scheduler of a witness by its aim. In a game, and with several extrema, it attains the value.
func schedulerText(resolution result.Resolution) string {
	switch resolution {
	case result.Minimum:
		return "a scheduler that minimises the probability of the formula"
	case result.Maximum:
		return "a scheduler that maximises the probability of the formula"
	}
	return "a scheduler that attains the value"
}

// wantedText is what the paths of a witness are to have together, in words: "more than 1/2" for ">1/2".
func wantedText(wanted string) string {
	if bound, ok := strings.CutPrefix(wanted, ">="); ok {
		return "at least " + bound
	}
	return "more than " + strings.TrimPrefix(wanted, ">")
}

// upperFirst returns a sentence of ASCII with a capital letter.
func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// writePaths prints the paths of a witness, each as a table of its states.
func writePaths(w io.Writer, format table.Format, witness *result.Witness, opt table.Options) error {
	changing, constantVars := splitChangingVariables(witness.Paths)
	sum := 0.0
	for i := range witness.Paths {
		path := &witness.Paths[i]
		sum += float64(path.Probability)
		text := number.Text(float64(path.Probability))
		if path.Fraction != "" && path.Fraction != text && len(path.Fraction) <= number.MaxFraction {
			text = path.Fraction + " = " + text
		}
		if i > 0 {
			text += ", with the paths above " + number.Text(sum)
		}
		fmt.Fprintf(w, "\nPath %d of %d: %s, probability %s\n", i+1, witness.Count, noun.Count(len(path.Steps)-1, "step"), text)
		if format == table.Markdown {
			fmt.Fprintln(w)
		}
		if err := pathTable(path, witness.Columns, changing, constantVars).Write(w, format, opt); err != nil {
			return err
		}
	}
	return nil
}

// writeChoices prints the choices of a scheduler that satisfies the formula on no path. It prints nothing if there are none.
func writeChoices(w io.Writer, choices *result.WitnessChoices) error {
	if choices == nil {
		return nil
	}
	var texts []string
	for _, choice := range choices.First {
		texts = append(texts, "["+choice.Action+"] in ("+choice.State.String()+")")
	}
	if others := choices.Count - len(choices.First); others > 0 {
		texts = append(texts, "and in "+strconv.Itoa(others)+" more "+noun.Plural(others, "state"))
	}
	_, err := fmt.Fprintf(w, "\nThis scheduler chooses %s. --export-scheduler FILE writes its choices.\n", strings.Join(texts, ", "))
	return err
}

// splitChangingVariables returns the indexes of the variables that have several values on the paths, and of the cells of a board. The other variables it
// returns as texts such as "x=1".
func splitChangingVariables(paths []result.WitnessPath) (changing []int, constantVars []string) {
	if len(paths) == 0 || len(paths[0].Steps) == 0 {
		return nil, nil
	}
	first := paths[0].Steps[0].State
	for i, variable := range first {
		differs := slices.ContainsFunc(paths, func(path result.WitnessPath) bool {
			return slices.ContainsFunc(path.Steps, func(step result.WitnessStep) bool { return step.State[i].Value != variable.Value })
		})
		if differs || isCell(variable.Name) {
			changing = append(changing, i)
		} else {
			constantVars = append(constantVars, variable.Name+"="+variable.Value)
		}
	}
	return changing, constantVars
}

// isCell reports whether a variable is a cell of a generated board.
func isCell(name string) bool {
	n, ok := strings.CutPrefix(name, "v_")
	_, err := strconv.ParseUint(n, 10, 8)
	return ok && err == nil
}

// pathTable returns a table with a row for each state of a path, without the middle of a long path. In a model of 2048 it has a column for the board,
// which has the given number of columns; otherwise columns is 0. It has a column for each other variable in shownVars. constantVars has a text
// such as "x=1" for each variable that never changes.
func pathTable(path *result.WitnessPath, columns int, shownVars []int, constantVars []string) *table.Table {
	stepTable := &table.Table{Columns: []table.Column{{Name: "step", Align: table.Right}, {Name: "action"}, {Name: "probability", Align: table.Right}}}
	var cells []int
	others := shownVars
	if columns > 0 {
		cells, others = boardOf(path.Steps[0].State, shownVars)
	}
	if cells != nil {
		stepTable.Columns = append(stepTable.Columns, table.Column{Name: "board"})
	}
	for _, i := range others {
		stepTable.Columns = append(stepTable.Columns, table.Column{Name: path.Steps[0].State[i].Name, Align: table.Right})
	}
	for position, step := range path.Steps {
		isInMiddle := position >= endsOfPath && position < len(path.Steps)-endsOfPath
		if len(path.Steps) > longestPath && isInMiddle {
			if position == endsOfPath {
				gap := make([]any, len(stepTable.Columns))
				gap[0] = "..."
				stepTable.Append(gap...)
			}
			continue
		}
		row := []any{position, step.Action, number.Text(float64(step.Probability))}
		if position == 0 {
			row[2] = ""
		}
		if cells != nil {
			row = append(row, boardText(step.State, cells, columns))
		}
		for _, i := range others {
			row = append(row, step.State[i].Value)
		}
		stepTable.Append(row...)
	}
	if len(constantVars) > 0 {
		where := "in every state: "
		if len(path.Steps) == 1 {
			where = "in this state: "
		}
		stepTable.Notes = []string{where + strings.Join(constantVars, ", ")}
	}
	return stepTable.DropEmpty()
}

// boardOf splits the indexes of variables into the cells v_0, v_1, ... of a board and the other variables.
func boardOf(state result.Valuation, variables []int) (cells, others []int) {
	for _, i := range variables {
		if state[i].Name == "v_"+strconv.Itoa(len(cells)) {
			cells = append(cells, i)
		} else {
			others = append(others, i)
		}
	}
	return cells, others
}

// boardText returns a board in the form of tilecheck policy --board, such as "2 . / 4 8".
func boardText(state result.Valuation, cells []int, cols int) string {
	var words []string
	for i, cell := range cells {
		if i > 0 && i%cols == 0 {
			words = append(words, "/")
		}
		if state[cell].Value == "0" {
			words = append(words, ".")
		} else {
			words = append(words, state[cell].Value)
		}
	}
	return strings.Join(words, " ")
}

// writeSubsystem prints the critical subsystem: the numbers of its states and commands, and a table of the commands. It prints nothing if there
// is none.
func writeSubsystem(w io.Writer, format table.Format, witness *result.Witness, opt table.Options) error {
	subsystem := witness.Part
	if subsystem == nil {
		return nil
	}
	outcome := "fails"
	if witness.Holds {
		outcome = "holds"
	}
	under := ""
	if witness.Scheduler {
		under = " under this scheduler"
	}
	sentence := func(share, condition string, count int, kind string, lower result.JSONNumber, minimal bool) {
		fmt.Fprintf(w, "%s %s enough to break the bound: the paths that %s, and on which the formula %s, have probability about %s, which is %s. %s\n",
			share, noun.Verb(count, "is", "are"), condition, outcome, number.Text(float64(lower)), wantedText(witness.Wanted), minimalityText(count, kind, minimal))
	}
	fmt.Fprintln(w)
	sentence(shareText(subsystem.States, subsystem.Of, "searched state")+under, "visit no other state", subsystem.States, "state", subsystem.Lower, subsystem.Minimal)
	if subsystem.Commands == nil {
		return nil
	}
	if len(subsystem.Commands) == 0 {
		cause := ""
		if witness.Scheduler && !witness.Holds {
			cause = " So not the commands but the choices of the scheduler explain the failure."
		}
		_, err := fmt.Fprintf(w, "No command is needed to break the bound: a model without the %s stays in its initial state, and the formula %s there with probability about %s.%s\n",
			noun.Count(subsystem.OfCommands, "command"), outcome, number.Text(float64(subsystem.LowerCommands)), cause)
		return err
	}
	share := shareText(len(subsystem.Commands), subsystem.OfCommands, "command") + " of the model"
	sentence(share, "use no other command", len(subsystem.Commands), "command", subsystem.LowerCommands, subsystem.CommandsMinimal)
	fmt.Fprintln(w)
	commandTable := &table.Table{Columns: []table.Column{{Name: "module"}, {Name: "line", Align: table.Right}, {Name: "command", Code: true, Max: 100}}}
	for _, command := range subsystem.Commands {
		commandTable.Append(command.Module, command.Line, command.Text)
	}
	return commandTable.Write(w, format, opt)
}

// shareText says how many of all states or commands a subsystem has, such as "4 of the 13 searched states".
func shareText(count, total int, kind string) string {
	switch {
	case count < total:
		return fmt.Sprintf("%d of the %s", count, noun.Count(total, kind))
	case count == 1:
		return "The only " + kind
	}
	return "All " + noun.Count(total, kind)
}

// minimalityText says whether all states or commands of a subsystem are needed.
func minimalityText(count int, kind string, isMinimal bool) string {
	switch {
	case count == 1 && isMinimal:
		return "It cannot be left out."
	case count == 1:
		return "It may not be needed."
	case isMinimal:
		return "None of these " + kind + "s can be left out."
	}
	return "Some of these " + kind + "s may not be needed."
}

// maxActions is the number of actions in the three lines of likeliestPath.
const maxActions = 12

// likeliestPath describes the likeliest path of a verdict's witness in three lines; "" if there is none.
func likeliestPath(verdict *result.Verdict) string {
	if verdict == nil || len(verdict.Witnesses) == 0 || len(verdict.Witnesses[0].Paths) == 0 {
		return ""
	}
	witness := &verdict.Witnesses[0]
	path := &witness.Paths[0]
	holds := "holds"
	if !witness.Holds {
		holds = "does not hold"
	}
	first := fmt.Sprintf("the formula %s on the likeliest path, which has probability %s", holds, number.Text(float64(path.Probability)))
	if witness.Enough && witness.Count > 1 {
		first += fmt.Sprintf("; %d paths have %s together, which is %s", witness.Count, number.Text(float64(witness.Sum)), wantedText(witness.Wanted))
	}
	steps := path.Steps[1:]
	var names []string
	for i, step := range steps {
		if i == maxActions && len(steps) > maxActions+1 {
			names = append(names, "...")
			break
		}
		names = append(names, "["+step.Action+"]")
	}
	return fmt.Sprintf("%s\nsteps %d: %s\nto %s", first, len(steps), strings.Join(names, " "), path.Steps[len(path.Steps)-1].State)
}

// WitnessPath writes the likeliest path of a witness in the form of simulate --format csv --probs. A step of a Markov
// chain has the action ?, because several commands may have made it.
func WitnessPath(w io.Writer, witness *result.Witness) error {
	steps := witness.Paths[0].Steps
	var text strings.Builder
	text.WriteString("action,probability,step")
	for _, variable := range steps[0].State {
		text.WriteString("," + variable.Name)
	}
	for i, step := range steps {
		action, probability := "-", "-"
		if i > 0 {
			action, probability = "?", sema.DoubleValue(float64(step.Probability)).String()
			if witness.Scheduler && step.Action != "" {
				action = "[" + step.Action + "]"
			}
		}
		fmt.Fprintf(&text, "\n%s,%s,%d", action, probability, i)
		for _, variable := range step.State {
			text.WriteString("," + variable.Value)
		}
	}
	_, err := io.WriteString(w, text.String()+"\n")
	return err
}
