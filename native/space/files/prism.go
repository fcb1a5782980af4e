package files

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
)

// Transitions writes PRISM's .tra file, with one line per transition. In an MDP a line has the number of the
// choice. A line also has the action, if there is one.
func (writer *Writer) Transitions(ctx context.Context, out io.Writer) error {
	return writer.printTo(ctx, out, func(p *printer) error {
		if p.opts.Format == Plain {
			p.writeComment("Transitions (" + p.program.Type.String() + ")")
		}
		if err := p.computeObservations(); err != nil {
			return err
		}
		p.players = p.model.Player != nil
		if err := p.writeTransitionsHeader(); err != nil {
			return err
		}
		return p.writeTransitions(p.matrixSymbol())
	})
}

// writeTransitionsHeader writes the line with the totals or, in MATLAB code, the declarations.
func (printer *printer) writeTransitionsHeader() error {
	if printer.opts.Format == Matlab {
		printer.declareMatrices(printer.matrixSymbol())
		return nil
	}
	numTransitions := printer.model.NumTransitions()
	if printer.mergesParallel() {
		var err error
		if numTransitions, err = printer.countTransitions(printer.writtenRow); err != nil {
			return err
		}
	}
	printer.writeTotals(numTransitions)
	printer.writeInitialObservations()
	return nil
}

// matrixSymbol returns the name of the transition matrix in MATLAB code.
func (printer *printer) matrixSymbol() string {
	switch printer.model.Kind {
	case sparse.DTMC:
		return "P"
	case sparse.CTMC:
		return "R"
	}
	return "S"
}

// countTransitions returns the total number of transitions that a function returns for the choices of the model.
func (printer *printer) countTransitions(transitions rowFunc) (int, error) {
	total := 0
	var row []writtenTransition
	for choice := range printer.model.NumChoices() {
		if choice&0xfff == 0 && printer.ctx.Err() != nil {
			return 0, printer.ctx.Err()
		}
		row = transitions(row, choice)
		total += len(row)
	}
	return total, nil
}

// writeTotals writes the numbers of states, players, choices, transitions and observations, as far as the type of
// the model has them.
func (printer *printer) writeTotals(numTransitions int) {
	printer.writeInt(printer.model.NumStates())
	if printer.players {
		printer.write(":")
		printer.writeInt(len(printer.program.Players))
	}
	if printer.nondeterministic() {
		printer.writeSpaceInt(printer.model.NumChoices())
	}
	printer.writeSpaceInt(numTransitions)
	if printer.observations != nil {
		printer.writeSpaceInt(len(printer.observations.Texts))
	}
	printer.endLine()
}

// declareMatrices declares sparse matrices in MATLAB code. A Markov chain has one matrix. An MDP has one matrix
// for the first choices of all states, one for the second choices, and so on.
func (printer *printer) declareMatrices(name string) {
	maxChoices := 0
	for state := range printer.model.NumStates() {
		first, end := printer.model.Choices(state)
		maxChoices = max(maxChoices, end-first)
	}
	for choice := range maxChoices {
		printer.writeMatrixName(name, choice)
		printer.write(" = sparse(")
		printer.writeInt(printer.model.NumStates())
		printer.write(",")
		printer.writeInt(printer.model.NumStates())
		printer.write(");")
		printer.endLine()
	}
}

// writeMatrixName writes the name of the MATLAB matrix for the choices with the given index.
func (printer *printer) writeMatrixName(name string, choice int) {
	printer.write(name)
	if printer.nondeterministic() {
		printer.writeInt(choice + 1)
	}
}

// writeTransitions writes the weights of all transitions in the format of the options. In MATLAB code the matrix
// is the variable matrixName.
func (printer *printer) writeTransitions(matrixName string) error {
	withActions := printer.nondeterministic()
	return printer.forEachChoice(printer.writtenRow, func(at choicePosition, row []writtenTransition) {
		action := ""
		if withActions {
			action = printer.actionName(at.modelChoice)
		}
		switch printer.opts.Format {
		case Rows:
			printer.writeRow(at.state, row)
			if withActions && !printer.opts.NoActions {
				printer.write(" " + action)
			}
			printer.endLine()
		case Matlab:
			printer.writeAssignments(matrixName, at, row)
		default:
			printer.writeChoiceLines(at, row, action, printer.probabilistic())
		}
	})
}

// writeTransitionRewards writes the rewards of transitions in the format of the options. rewardRow returns the
// rewards of a choice. In MATLAB code the matrix is the variable matrixName.
func (printer *printer) writeTransitionRewards(matrixName string, rewardRow rowFunc) error {
	return printer.forEachChoice(rewardRow, func(at choicePosition, row []writtenTransition) {
		switch printer.opts.Format {
		case Rows:
			printer.writeRow(at.state, row)
			printer.endLine()
		case Matlab:
			printer.writeAssignments(matrixName, at, row)
		default:
			printer.writeChoiceLines(at, row, "", true)
		}
	})
}

// rowFunc returns the transitions of a choice of the model. It overwrites buffer, to reuse its memory.
type rowFunc func(buffer []writtenTransition, modelChoice int) []writtenTransition

// choicePosition says where the file has a choice: the number of its state in the file, and its number among the choices of
// this state. modelChoice is its index in the model.
type choicePosition struct {
	state, choice int
	modelChoice   int
}

// forEachChoice calls write with the transitions of each choice, in the order of the file.
func (printer *printer) forEachChoice(transitions rowFunc, write func(at choicePosition, row []writtenTransition)) error {
	var row []writtenTransition
	var choices []int
	return printer.forEachState(func(number, state int) error {
		var err error
		choices, err = printer.sortedChoices(choices, state)
		if err != nil {
			return err
		}
		for choice, modelChoice := range choices {
			row = transitions(row, modelChoice)
			write(choicePosition{state: number, choice: choice, modelChoice: modelChoice}, row)
		}
		return nil
	})
}

// writeAssignments writes the transitions of a choice in MATLAB code.
func (printer *printer) writeAssignments(matrixName string, at choicePosition, row []writtenTransition) {
	for _, transition := range row {
		printer.writeAssignment(matrixName, at.state, at.choice, transition)
	}
}

// writeChoiceLines writes a line for each transition of a choice. An action that is not empty replaces the actions
// of the transitions.
func (printer *printer) writeChoiceLines(at choicePosition, row []writtenTransition, action string, withWeights bool) {
	for _, transition := range row {
		if action != "" {
			transition.action = action
		}
		printer.writeTransition(at.state, at.choice, transition, withWeights)
	}
}

// writeRow writes the transitions of a state on one line: "0 0.5:1 0.5:2".
func (printer *printer) writeRow(state int, row []writtenTransition) {
	printer.writeInt(state)
	for _, transition := range row {
		printer.write(" ")
		printer.writeNumber(transition.value)
		printer.write(":")
		printer.writeInt(transition.target)
	}
}

// writeAssignment writes a transition in MATLAB code: "P(1,2)=0.5;".
func (printer *printer) writeAssignment(name string, state, choice int, transition writtenTransition) {
	printer.writeMatrixName(name, choice)
	printer.write("(")
	printer.writeInt(state + 1)
	printer.write(",")
	printer.writeInt(transition.target + 1)
	printer.write(")=")
	printer.writeNumber(transition.value)
	printer.write(";")
	printer.endLine()
}

// writeTransition writes a line of a .tra or .trew file. withWeight says whether it has the weight.
func (printer *printer) writeTransition(state, choice int, transition writtenTransition, withWeight bool) {
	printer.writeInt(state)
	if printer.players {
		printer.write(":")
		printer.writeInt(int(printer.model.Player[printer.stateOrder[state]]))
	}
	if printer.nondeterministic() {
		printer.writeSpaceInt(choice)
	}
	printer.writeSpaceInt(transition.target)
	if withWeight {
		printer.write(" ")
		printer.writeWeight(transition)
	}
	if printer.observations != nil {
		printer.writeSpaceInt(int(printer.observations.ByState[printer.stateOrder[transition.target]]))
	}
	if transition.action != "" {
		printer.write(" " + transition.action)
	}
	printer.endLine()
}

// writeWeight writes the weight of a transition, or its interval.
func (printer *printer) writeWeight(transition writtenTransition) {
	if transition.high.rat == nil {
		printer.writeNumber(transition.value)
		return
	}
	printer.write("[")
	printer.writeNumber(transition.value)
	printer.write(",")
	printer.writeNumber(transition.high)
	printer.write("]")
}

// States writes PRISM's .sta file. It has the variables and their values in every state.
func (writer *Writer) States(ctx context.Context, out io.Writer) error {
	return writer.printTo(ctx, out, func(p *printer) error {
		if p.opts.Format == Matlab {
			return p.writeMatlabStates()
		}
		p.writeComment("States")
		p.writeVariables()
		valuation := p.space.State(nil, 0)
		return p.forEachState(func(number, state int) error {
			p.writeInt(number)
			p.write(":")
			p.writeValuation(p.space.State(valuation, state))
			p.endLine()
			return nil
		})
	})
}

// writeMatlabStates writes the matrix "states" in MATLAB code. It has a row of values for each state.
func (printer *printer) writeMatlabStates() error {
	if printer.opts.Symbolic {
		printer.writeComment("States")
	}
	printer.write("% ")
	printer.writeVariables()
	printer.write("states=[")
	printer.endLine()
	valuation := printer.space.State(nil, 0)
	err := printer.forEachState(func(_, state int) error {
		printer.writeValues(printer.space.State(valuation, state))
		printer.endLine()
		return nil
	})
	printer.write("];")
	printer.endLine()
	return err
}

// writeVariables writes a line with the names of the variables: "(x,y)".
func (printer *printer) writeVariables() {
	printer.write("(")
	for i, variable := range printer.program.Vars {
		if i > 0 {
			printer.write(",")
		}
		printer.write(variable.Name)
	}
	printer.write(")")
	printer.endLine()
}

// writeValuation writes the values of the variables in parentheses: "(0,true)".
func (printer *printer) writeValuation(state []int32) {
	printer.write("(")
	printer.writeValues(state)
	printer.write(")")
}

// writeValues writes the values of the variables: "0,true".
func (printer *printer) writeValues(state []int32) {
	for i, variable := range printer.program.Vars {
		if i > 0 {
			printer.write(",")
		}
		if variable.Type == sema.Bool {
			printer.line = strconv.AppendBool(printer.line, state[i] != 0)
			continue
		}
		printer.writeInt(int(state[i]))
	}
}

// Labels writes PRISM's .lab file. It has the names of the labels, including init and deadlock, and the labels of
// every state.
func (writer *Writer) Labels(ctx context.Context, out io.Writer) error {
	labels, err := writer.evaluateAllLabels(ctx)
	if err != nil {
		return err
	}
	return writer.writeLabels(ctx, out, labels)
}

// PropertyLabels writes a .lab file with only the labels that Options.Program adds to the program of the space.
//
// Source: prism -exportproplabels.
func (writer *Writer) PropertyLabels(ctx context.Context, out io.Writer) error {
	var added []sema.LabelDef
	for _, label := range writer.program.Labels {
		isKnown := func(known sema.LabelDef) bool { return known.Name == label.Name }
		if !slices.ContainsFunc(writer.space.Program().Labels, isKnown) {
			added = append(added, label)
		}
	}
	labels, err := writer.evaluateLabels(ctx, added)
	if err != nil {
		return err
	}
	return writer.writeLabels(ctx, out, labels)
}

// writeLabels writes a .lab file with the given labels.
func (writer *Writer) writeLabels(ctx context.Context, out io.Writer, labels []sparse.Label) error {
	if writer.opts.Format == Matlab {
		return writer.matlabLabels(ctx, out, labels)
	}
	return writer.printTo(ctx, out, func(p *printer) error {
		p.writeComment("Labels")
		for index, label := range labels {
			if index > 0 {
				p.write(" ")
			}
			p.writeInt(index)
			p.write(`="` + label.Name + `"`)
		}
		p.endLine()
		return p.forEachState(func(number, state int) error {
			p.writeStateLabels(number, state, labels)
			return nil
		})
	})
}

// writeStateLabels writes a line with the numbers of a state's labels, such as "3: 0 2". It writes nothing for a
// state without labels.
func (printer *printer) writeStateLabels(number, state int, labels []sparse.Label) {
	hasLabels := false
	for index, label := range labels {
		if !label.States.Has(state) {
			continue
		}
		if !hasLabels {
			printer.writeInt(number)
			printer.write(":")
		}
		printer.writeSpaceInt(index)
		hasLabels = true
	}
	if hasLabels {
		printer.endLine()
	}
}

// matlabLabels writes a sparse vector of ones for each label, in MATLAB code.
func (writer *Writer) matlabLabels(ctx context.Context, out io.Writer, labels []sparse.Label) error {
	for _, label := range labels {
		if !isWord(label.Name) {
			return fmt.Errorf("label %q is not a valid name in MATLAB", label.Name)
		}
	}
	return writer.printTo(ctx, out, func(p *printer) error {
		for _, label := range labels {
			p.write("l_" + label.Name + "=sparse(")
			p.writeInt(p.model.NumStates())
			p.write(",1);")
			p.endLine()
		}
		p.endLine()
		return p.forEachState(func(number, state int) error {
			p.writeLabelAssignments(number, state, labels)
			return nil
		})
	})
}

// writeLabelAssignments writes MATLAB code that sets the entry of a state in the vector of each of its labels.
func (printer *printer) writeLabelAssignments(number, state int, labels []sparse.Label) {
	for _, label := range labels {
		if label.States.Has(state) {
			printer.write("l_" + label.Name + "(")
			printer.writeInt(number + 1)
			printer.write(")=1;")
			printer.endLine()
		}
	}
}

// evaluateAllLabels returns the labels init and deadlock and the labels of the program, with their states.
func (writer *Writer) evaluateAllLabels(ctx context.Context) ([]sparse.Label, error) {
	builtin := func(name string, index int) sema.LabelDef {
		return sema.LabelDef{Name: name, X: &sema.Label{Base: sema.Base{ValueType: sema.Bool}, Name: name, Index: index}}
	}
	definitions := []sema.LabelDef{builtin("init", sema.LabelInit), builtin("deadlock", sema.LabelDeadlock)}
	return writer.evaluateLabels(ctx, append(definitions, writer.program.Labels...))
}

// evaluateLabels returns labels with their states.
func (writer *Writer) evaluateLabels(ctx context.Context, definitions []sema.LabelDef) ([]sparse.Label, error) {
	var labels []sparse.Label
	for _, definition := range definitions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		set, err := writer.space.States(definition.X)
		if err != nil {
			return nil, err
		}
		labels = append(labels, sparse.Label{Name: definition.Name, States: set})
	}
	return labels, nil
}

// StateRewards writes PRISM's .srew file. It has the state rewards of Program.Rewards[index] that are not zero.
func (writer *Writer) StateRewards(ctx context.Context, out io.Writer, index int) error {
	reward, _, err := writer.space.WrittenReward(index)
	if err != nil {
		return err
	}
	return writer.printTo(ctx, out, func(p *printer) error {
		if p.opts.Format == Matlab {
			return p.writeMatlabStateRewards("c"+strconv.Itoa(index+1), reward)
		}
		p.writeRewardHeader(index, "State")
		numNonzero := 0
		for state := range p.stateOrder {
			if !rewardAt(reward.State, reward.StateRat, state).isZero() {
				numNonzero++
			}
		}
		p.writeInt(p.model.NumStates())
		p.writeSpaceInt(numNonzero)
		p.endLine()
		return p.forEachStateReward(reward, func(state int, value number) {
			p.writeInt(state)
			p.write(" ")
			p.writeNumber(value)
		})
	})
}

// writeMatlabStateRewards writes the vector of state rewards in MATLAB code, as the variable vectorName.
func (printer *printer) writeMatlabStateRewards(vectorName string, reward *sparse.Reward) error {
	printer.write(vectorName + " = sparse(")
	printer.writeInt(printer.model.NumStates())
	printer.write(",1);")
	printer.endLine()
	return printer.forEachStateReward(reward, func(state int, value number) {
		printer.write(vectorName + "(")
		printer.writeInt(state + 1)
		printer.write(")=")
		printer.writeNumber(value)
		printer.write(";")
	})
}

// forEachStateReward calls writeLine for each state with a nonzero reward, and then ends the line. state is the
// number in the file.
func (printer *printer) forEachStateReward(reward *sparse.Reward, writeLine func(state int, value number)) error {
	return printer.forEachState(func(number, state int) error {
		value := rewardAt(reward.State, reward.StateRat, state)
		if value.isZero() {
			return nil
		}
		writeLine(number, value)
		printer.endLine()
		return nil
	})
}

// writeRewardHeader writes the comments at the top of a file of rewards.
func (printer *printer) writeRewardHeader(index int, kind string) {
	title := "Reward structure"
	if name := printer.program.Rewards[index].Name; name != "" {
		title += ` "` + name + `"`
	}
	printer.writeComment(title)
	printer.writeComment(kind + " rewards")
}

// TransitionRewards writes PRISM's .trew file. It has the transition rewards of Program.Rewards[index] that are
// not zero. In an MDP each transition has the reward of its choice.
func (writer *Writer) TransitionRewards(ctx context.Context, out io.Writer, index int) error {
	reward, err := writer.transitionReward(index)
	if err != nil {
		return err
	}
	return writer.printTo(ctx, out, func(p *printer) error {
		rewardRow := func(dst []writtenTransition, choice int) []writtenTransition { return p.rewardRow(dst, choice, reward) }
		matrixName := "C" + strconv.Itoa(index+1)
		if p.opts.Format == Matlab {
			p.declareMatrices(matrixName)
			return p.writeTransitionRewards(matrixName, rewardRow)
		}
		if p.opts.Format == Plain {
			p.writeRewardHeader(index, "Transition")
		}
		total, err := p.countTransitions(rewardRow)
		if err != nil {
			return err
		}
		p.writeTotals(total)
		return p.writeTransitionRewards(matrixName, rewardRow)
	})
}

// transitionReward returns a function that returns the reward of a choice's transition.
func (writer *Writer) transitionReward(index int) (func(choice, transition int) number, error) {
	reward, transitions, err := writer.space.WrittenReward(index)
	if err != nil {
		return nil, err
	}
	if writer.nondeterministic() {
		return func(choice, _ int) number { return rewardAt(reward.Choice, reward.ChoiceRat, choice) }, nil
	}
	return func(_, transition int) number { return rewardAt(transitions.Values, transitions.Rats, transition) }, nil
}
