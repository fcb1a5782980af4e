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
func writeWitnesses(w io.Writer, f table.Format, verdicts []result.Verdict, opt table.Options) error {
	for i := range verdicts {
		v := &verdicts[i]
		for j := range v.Witnesses {
			var b bytes.Buffer
			fmt.Fprintf(&b, "\nWitness of %s%s\n", propertyText(v), withConstants(v))
			if err := writeWitness(&b, f, &v.Witnesses[j], opt); err != nil {
				return err
			}
			if _, err := w.Write(b.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeWitness prints a witness: a sentence, the paths, and the critical subsystem.
func writeWitness(w io.Writer, f table.Format, x *result.Witness, opt table.Options) error {
	fmt.Fprintln(w, witnessText(x))
	if err := writePaths(w, f, x, opt); err != nil {
		return err
	}
	return writePart(w, f, x.Part, opt)
}

// witnessText describes the paths of a witness: their number and probability, and what they show about the bound.
func witnessText(w *result.Witness) string {
	under := ""
	if w.Scheduler {
		under = "Under an optimal scheduler, "
	}
	such := "on which the formula holds"
	if !w.Holds {
		such = "on which the formula does not hold"
	}
	if w.Count == 0 {
		return upperFirst(under + "there is no path " + such + ".")
	}
	sum := number.Of(float64(w.Sum), 0).Format(float64(w.Sum), 0)
	if bound, ok := strings.CutPrefix(w.Wanted, ">="); ok && sum == bound && !w.Enough && !w.Shown {
		sum = "just under " + sum // as it is printed
	}
	text := upperFirst(under + "the likeliest path " + such + " has probability " + sum + ".")
	if w.Count > 1 {
		text = upperFirst(under + fmt.Sprintf("the %d likeliest paths %s have probability %s together.", w.Count, such, sum))
	}
	wanted := wantedText(w.Wanted)
	switch {
	case w.Wanted == "" && w.All:
		return text + " There are no other such paths."
	case w.Wanted == "":
		return text
	case w.Shown && w.Count == 1:
		return text + " This is " + wanted + ", which decides the property."
	case w.Shown:
		return text + " This is " + wanted + ", which decides the property; fewer paths do not."
	case w.Enough:
		return text + " This is " + wanted + ". Other schedulers do not come closer to the bound."
	case w.All:
		return text + " There are no other such paths, and this is not " + wanted + "."
	default:
		return text + " This is not " + wanted + ", but the search for more paths was given up."
	}
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

// writePaths prints paths as tables of states.
func writePaths(w io.Writer, f table.Format, x *result.Witness, opt table.Options) error {
	shown, fixed := changing(x.Paths)
	sum := 0.0
	for i := range x.Paths {
		p := &x.Paths[i]
		sum += float64(p.Probability)
		text := number.Of(float64(p.Probability), 0).Format(float64(p.Probability), 0)
		if p.Fraction != "" && p.Fraction != text && len(p.Fraction) <= number.MaxFraction {
			text = p.Fraction + " = " + text
		}
		if i > 0 {
			text += ", with the paths above " + number.Of(sum, 0).Format(sum, 0)
		}
		fmt.Fprintf(w, "\nPath %d of %d: %s, probability %s\n", i+1, x.Count, noun.Count(len(p.Steps)-1, "step"), text)
		if f == table.Markdown {
			fmt.Fprintln(w)
		}
		if err := pathTable(p, x.Columns, shown, fixed).Write(w, f, opt); err != nil {
			return err
		}
	}
	return nil
}

// changing returns the variables with several values on some paths, by their index in a state, and the other ones as
// texts.
func changing(all []result.WitnessPath) (shown []int, fixed []string) {
	if len(all) == 0 || len(all[0].Steps) == 0 {
		return nil, nil
	}
	first := all[0].Steps[0].State
	for i, c := range first {
		differs := slices.ContainsFunc(all, func(p result.WitnessPath) bool {
			return slices.ContainsFunc(p.Steps, func(s result.WitnessStep) bool { return s.State[i].Value != c.Value })
		})
		if differs || isCell(c.Name) {
			shown = append(shown, i)
		} else {
			fixed = append(fixed, c.Name+"="+c.Value)
		}
	}
	return shown, fixed
}

// isCell reports whether a variable is a cell of a generated board.
func isCell(name string) bool {
	n, ok := strings.CutPrefix(name, "v_")
	_, err := strconv.ParseUint(n, 10, 8)
	return ok && err == nil
}

// pathTable has a row for each state, with its board if columns is positive.
func pathTable(p *result.WitnessPath, columns int, shown []int, fixed []string) *table.Table {
	t := &table.Table{Columns: []table.Column{{Name: "step", Align: table.Right}, {Name: "action"}, {Name: "probability", Align: table.Right}}}
	var cells []int
	others := shown
	if columns > 0 {
		cells, others = boardOf(p.Steps[0].State, shown)
	}
	if cells != nil {
		t.Columns = append(t.Columns, table.Column{Name: "board"})
	}
	for _, i := range others {
		t.Columns = append(t.Columns, table.Column{Name: p.Steps[0].State[i].Name, Align: table.Right})
	}
	for k, s := range p.Steps {
		if len(p.Steps) > longestPath && k >= endsOfPath && k < len(p.Steps)-endsOfPath {
			if k == endsOfPath {
				gap := make([]any, len(t.Columns))
				gap[0] = "..."
				t.Append(gap...)
			}
			continue
		}
		row := []any{k, s.Action, number.Of(float64(s.Probability), 0).Format(float64(s.Probability), 0)}
		if k == 0 {
			row[2] = ""
		}
		if cells != nil {
			row = append(row, boardText(s.State, cells, columns))
		}
		for _, i := range others {
			row = append(row, s.State[i].Value)
		}
		t.Append(row...)
	}
	if len(fixed) > 0 {
		t.Notes = []string{"in every state: " + strings.Join(fixed, ", ")}
	}
	return t.DropEmpty()
}

// boardOf separates the cells of a board, in order, from other variables.
func boardOf(state result.Valuation, shown []int) (cells, others []int) {
	for _, i := range shown {
		if state[i].Name == "v_"+strconv.Itoa(len(cells)) {
			cells = append(cells, i)
		} else {
			others = append(others, i)
		}
	}
	return cells, others
}

// boardText is a board in the form of tilecheck policy --board: "2 . / 4 8".
func boardText(state result.Valuation, cells []int, cols int) string {
	var words []string
	for i, c := range cells {
		if i > 0 && i%cols == 0 {
			words = append(words, "/")
		}
		if state[c].Value == "0" {
			words = append(words, ".")
		} else {
			words = append(words, state[c].Value)
		}
	}
	return strings.Join(words, " ")
}

// writePart prints the critical subsystem.
func writePart(w io.Writer, f table.Format, p *result.WitnessPart, opt table.Options) error {
	if p == nil {
		return nil
	}
	bound := func(x result.JSONNumber) string { return "at least " + number.Of(float64(x), 0).Format(float64(x), -1) }
	how := func(minimal bool, what string) string {
		if minimal {
			return "; none of these " + what + "s can be left out"
		}
		return "; some of these " + what + "s may not be needed"
	}
	fmt.Fprintf(w, "\n%d of %s %s the bound alone, with probability %s%s.\n", p.States, noun.Count(p.Of, "state"), noun.Verb(p.States, "breaks", "break"), bound(p.Lower), how(p.Minimal, "state"))
	if p.Commands == nil {
		return nil
	}
	fmt.Fprintf(w, "%d of %s %s the bound alone, with probability %s%s.\n", len(p.Commands), noun.Count(p.OfCommands, "command"), noun.Verb(len(p.Commands), "breaks", "break"), bound(p.LowerCommands), how(p.CommandsMinimal, "command"))
	fmt.Fprintln(w)
	t := &table.Table{Columns: []table.Column{{Name: "module"}, {Name: "line", Align: table.Right}, {Name: "command", Code: true, Max: 100}}}
	for _, c := range p.Commands {
		t.Append(c.Module, c.Line, c.Text)
	}
	return t.Write(w, f, opt)
}

// maxActions is the number of actions in the three lines of likeliestPath.
const maxActions = 12

// likeliestPath is the likeliest path of a verdict's witness in three lines, empty if it has none.
func likeliestPath(v *result.Verdict) string {
	if v == nil || len(v.Witnesses) == 0 || len(v.Witnesses[0].Paths) == 0 {
		return ""
	}
	w := &v.Witnesses[0]
	p := &w.Paths[0]
	what := map[bool]string{true: "holds", false: "does not hold"}[w.Holds]
	first := fmt.Sprintf("the formula %s on the likeliest path, which has probability %s", what, number.Of(float64(p.Probability), 0).Format(float64(p.Probability), 0))
	if w.Enough && w.Count > 1 {
		first += fmt.Sprintf("; %d paths have %s together, which is %s", w.Count, number.Of(float64(w.Sum), 0).Format(float64(w.Sum), 0), wantedText(w.Wanted))
	}
	steps := p.Steps[1:]
	var names []string
	for i, s := range steps {
		if i == maxActions && len(steps) > maxActions+1 {
			names = append(names, "...")
			break
		}
		names = append(names, "["+s.Action+"]")
	}
	return fmt.Sprintf("%s\nsteps %d: %s\nto %s", first, len(steps), strings.Join(names, " "), p.Steps[len(p.Steps)-1].State)
}

// WitnessPath writes the likeliest path of a witness in the form of simulate --format csv --probs. A step of a Markov
// chain has the action ?, because several commands may have made it.
func WitnessPath(w io.Writer, x *result.Witness) error {
	steps := x.Paths[0].Steps
	var b strings.Builder
	b.WriteString("action,probability,step")
	for _, v := range steps[0].State {
		b.WriteString("," + v.Name)
	}
	for i, s := range steps {
		action, probability := "-", "-"
		if i > 0 {
			action, probability = "?", sema.DoubleValue(float64(s.Probability)).String()
			if x.Scheduler && s.Action != "" {
				action = "[" + s.Action + "]"
			}
		}
		fmt.Fprintf(&b, "\n%s,%s,%d", action, probability, i)
		for _, v := range s.State {
			b.WriteString("," + v.Value)
		}
	}
	_, err := io.WriteString(w, b.String()+"\n")
	return err
}
