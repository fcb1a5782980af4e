package scheduler

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
)

// Write writes a scheduler of a state space in the given format. States are numbered as in PRISM, in the order of explicit.Space.Order. In JSON,
// choices have the numbers of the space. It is an error if the scheduler does not fit the space. The error can also come from ctx or w.
//
// Source: PRISM's -exportstrat; Storm's Scheduler::printJsonToStream.
func Write(ctx context.Context, out io.Writer, space *explicit.Space, scheduler Scheduler, format Format, opts Options) error {
	if err := scheduler.validate(space.Model()); err != nil {
		return err
	}
	writer := newWriter(ctx, out, space, opts)
	writer.scheduler = scheduler
	var err error
	switch format {
	case Actions, Indices:
		err = writer.writeList(format == Indices)
	case InducedModel, Dot:
		err = writer.writeInduced(format == Dot)
	case JSON:
		err = writer.writeJSON()
	default:
		err = fmt.Errorf("found scheduler format %v, wanted actions, indices, induced, dot or json", format)
	}
	if err != nil {
		return err
	}
	return writer.Flush()
}

// newWriter returns a writer whose scheduler is not set yet.
func newWriter(ctx context.Context, out io.Writer, space *explicit.Space, opts Options) *writer {
	return &writer{
		Writer: bufio.NewWriter(out), ctx: ctx, space: space, model: space.Model(), opts: opts,
		vars: space.Program().Vars, valuation: space.State(nil, 0),
	}
}

// writer writes one scheduler. The buffer keeps the first write error.
type writer struct {
	*bufio.Writer
	ctx       context.Context
	space     *explicit.Space
	model     *sparse.Model
	scheduler Scheduler
	opts      Options
	vars      []sema.Variable
	valuation []int32 // a buffer for the values of one state
	line      []byte  // a buffer for one line
}

// poll returns the context's error if i is a multiple of statesPerPoll, and nil for other numbers.
func (writer *writer) poll(i int) error {
	if i%statesPerPoll != 0 {
		return nil
	}
	return writer.ctx.Err()
}

// writeList writes a list of choices in PRISM's format: their actions, or their indices if useIndices is true. It omits states where the scheduler
// allows any choice.
func (writer *writer) writeList(useIndices bool) error {
	for number, s := range writer.space.Order() {
		if err := writer.poll(number); err != nil {
			return err
		}
		for steps, row := range writer.scheduler {
			if row[s] == sparse.None {
				continue
			}
			writer.writeEntry(number, int(s), steps, useIndices)
		}
	}
	return nil
}

// writeEntry writes a line with the scheduler's choice in state s after a number of steps. number is PRISM's number of the state.
func (writer *writer) writeEntry(number, s, steps int, useIndices bool) {
	line := writer.beginLine(number, s, useIndices)
	if !writer.scheduler.Memoryless() {
		line = strconv.AppendInt(append(line, ','), int64(steps), 10)
	}
	line = append(line, '=')
	writer.line = append(writer.appendChoice(line, s, int(writer.scheduler[steps][s]), useIndices), '\n')
	writer.Write(writer.line)
}

// beginLine begins a line with the valuation of state s, or with PRISM's number of the state.
func (writer *writer) beginLine(number, s int, useIndices bool) []byte {
	if writer.opts.States && !useIndices {
		return writer.appendState(writer.line[:0], s)
	}
	return strconv.AppendInt(writer.line[:0], int64(number), 10)
}

// appendChoice appends a choice of state s to a line: its index in the state if useIndices is true, else its action.
func (writer *writer) appendChoice(line []byte, s, choice int, useIndices bool) []byte {
	if useIndices {
		first, _ := writer.model.Choices(s)
		return strconv.AppendInt(line, int64(choice-first), 10)
	}
	return append(line, writer.action(writer.model.Actions, choice)...)
}

// appendState appends the valuation of a state, such as (0,true), to a line.
func (writer *writer) appendState(line []byte, s int) []byte {
	writer.space.State(writer.valuation, s)
	line = append(line, '(')
	for i, variable := range writer.vars {
		if i > 0 {
			line = append(line, ',')
		}
		if variable.Type == sema.Bool {
			line = strconv.AppendBool(line, writer.valuation[i] != 0)
		} else {
			line = strconv.AppendInt(line, int64(writer.valuation[i]), 10)
		}
	}
	return append(line, ')')
}

// action returns the name of actions[i], or "" for no action.
func (writer *writer) action(actions []sparse.Action, i int) string {
	if actions == nil || actions[i] == sparse.NoAction {
		return ""
	}
	return writer.space.Program().Actions[actions[i]-1]
}

// writeInduced writes the model that the scheduler induces, in the DOT language if useDot is true, else as a .tra file of PRISM.
func (writer *writer) writeInduced(useDot bool) error {
	induced, err := writer.scheduler.Induce(writer.ctx, writer.model, InduceOptions{Reachable: writer.opts.Reachable, Restrict: writer.opts.Restrict, Order: writer.space.Order()})
	if err != nil {
		return err
	}
	if useDot {
		return writer.writeDot(induced)
	}
	return writer.writeTransitions(induced)
}

// writeTransitions writes the transitions of the induced model as a .tra file of PRISM: the numbers of states, choices (for an MDP) and transitions, and
// then a line for each transition.
func (writer *writer) writeTransitions(induced *Induced) error {
	model := induced.Model
	fmt.Fprintf(writer, "# Transitions (%v)\n%d ", model.Kind, model.NumStates())
	choiceIndex := ""
	if model.Kind == sparse.MDP {
		fmt.Fprintf(writer, "%d ", model.NumChoices())
		choiceIndex = "0 "
	}
	fmt.Fprintf(writer, "%d\n", model.NumTransitions())
	for s := range model.NumStates() {
		if err := writer.poll(s); err != nil {
			return err
		}
		first, end := model.Transitions(s)
		for transition := first; transition < end; transition++ {
			action := withPrefix(" ", writer.transitionAction(induced, s, transition))
			fmt.Fprintf(writer, "%d %s%d %s%s\n", s, choiceIndex, model.Target[transition], formatNumber(model.Prob(transition)), action)
		}
	}
	return nil
}

// choiceAction returns the action of the choice in state i of the induced model, or "" if only its transitions have actions.
func (writer *writer) choiceAction(induced *Induced, i int) string {
	if induced.Choice == nil {
		return ""
	}
	return writer.action(writer.model.Actions, int(induced.Choice[i]))
}

// transitionAction returns the action of a transition of state i of the induced model.
func (writer *writer) transitionAction(induced *Induced, i, transition int) string {
	if induced.Choice == nil {
		return writer.action(induced.Model.Actions, transition)
	}
	return writer.choiceAction(induced, i)
}

// withPrefix returns prefix + text, or "" if text is empty.
func withPrefix(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// writeDot writes the induced model in the DOT language, as PRISM does.
func (writer *writer) writeDot(induced *Induced) error {
	writer.WriteString("digraph M {\nnode [label=\"\",shape=\"box\"];\n")
	for state := range induced.Model.NumStates() {
		if err := writer.poll(state); err != nil {
			return err
		}
		writer.writeDotState(induced, state)
	}
	writer.WriteString("}\n")
	return nil
}

// writeDotState writes a state of the induced model and its transitions in the DOT language. In an MDP, a small point between the state and its
// successors stands for the choice.
func (writer *writer) writeDotState(induced *Induced, state int) {
	model := induced.Model
	fmt.Fprintf(writer, "%d [label=\"%d%s\"];\n", state, state, writer.dotSublabel(induced, state))
	isMDP := model.Kind == sparse.MDP
	sourceNode := strconv.Itoa(state)
	if isMDP {
		sourceNode = fmt.Sprintf("n%d_0", state)
		fmt.Fprintf(writer, "%d -> %s  [label=\"0%s\",arrowhead=\"none\"];\n", state, sourceNode, withPrefix(":", writer.choiceAction(induced, state)))
		fmt.Fprintf(writer, "%s [ shape=point,width=0.1,height=0.1,label=\"\" ];\n", sourceNode)
	}
	first, end := model.Transitions(state)
	for transition := first; transition < end; transition++ {
		action := ""
		if !isMDP {
			action = withPrefix(":", writer.transitionAction(induced, state, transition))
		}
		fmt.Fprintf(writer, "%s -> %d [label=\"%s%s\"];\n", sourceNode, model.Target[transition], formatNumber(model.Prob(transition)), action)
	}
}

// dotSublabel returns the second line of the label of induced state i: the valuation and, if the scheduler counts steps, the number of steps.
func (writer *writer) dotSublabel(induced *Induced, i int) string {
	if !writer.opts.States {
		return ""
	}
	text := writer.appendState([]byte(`\n`), int(induced.State[i]))
	if induced.Step != nil {
		text = strconv.AppendUint(append(text[:len(text)-1], ','), uint64(induced.Step[i]), 10)
		text = append(text, ')')
	}
	return string(text)
}
