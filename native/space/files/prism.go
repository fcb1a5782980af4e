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

// Transitions writes PRISM's .tra file. It has a line for each transition, with the state, the target, the weight and perhaps the action.
// In an MDP the line also has the number of the choice.
func (writer *Writer) Transitions(ctx context.Context, out io.Writer) error {
	return writer.printTo(ctx, out, func(p *printer) error {
		if p.opts.Format == Plain {
			p.writeComment("Transitions (" + p.program.Type.String() + ")")
		}
		if err := p.computeObservations(); err != nil {
			return err
		}
		p.showsPlayers = p.model.Player != nil
		if err := p.writeTransitionsHeader(); err != nil {
			return err
		}
		return p.writeTransitions(p.matrixSymbol())
	})
}

// writeTransitionsHeader writes the lines before the transitions: the numbers of states and transitions, and a POMDP's observations of the
// initial states. In MATLAB code they are the declarations of the matrices.
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

// matrixSymbol returns the name that PRISM uses in MATLAB code for the matrix of the transitions. It depends on the kind of the model.
func (printer *printer) matrixSymbol() string {
	switch printer.model.Kind {
	case sparse.DTMC:
		return "P"
	case sparse.CTMC:
		return "R"
	}
	return "S"
}

// countTransitions returns the number of all transitions that are written. rowOf returns those of a choice. The error is that of the
// context.
func (printer *printer) countTransitions(rowOf rowFunc) (int, error) {
	total := 0
	var row []writtenTransition
	for choice := range printer.model.NumChoices() {
		if choice&0xfff == 0 && printer.ctx.Err() != nil {
			return 0, printer.ctx.Err()
		}
		row = rowOf(row, choice)
		total += len(row)
	}
	return total, nil
}

// writeTotals writes the line with the number of states and the given number of transitions. Games also have the number of players, models
// with choices the number of choices, and POMDPs the number of observations.
func (printer *printer) writeTotals(numTransitions int) {
	printer.writeInt(printer.model.NumStates())
	if printer.showsPlayers {
		printer.write(":")
		printer.writeInt(len(printer.program.Players))
	}
	if printer.nondeterministic() {
		printer.writeSpaceAndInt(printer.model.NumChoices())
	}
	printer.writeSpaceAndInt(numTransitions)
	if printer.observations != nil {
		printer.writeSpaceAndInt(len(printer.observations.Texts))
	}
	printer.endLine()
}

// declareMatrices writes MATLAB code that declares empty sparse matrices. A Markov chain has one matrix. An MDP has one matrix for the
// first choices of all states, one for the second choices, and so on.
func (printer *printer) declareMatrices(matrixName string) {
	maxChoices := 0
	for state := range printer.model.NumStates() {
		first, end := printer.model.Choices(state)
		maxChoices = max(maxChoices, end-first)
	}
	for choice := range maxChoices {
		printer.writeMatrixName(matrixName, choice)
		printer.write(" = sparse(")
		printer.writeInt(printer.model.NumStates())
		printer.write(",")
		printer.writeInt(printer.model.NumStates())
		printer.write(");")
		printer.endLine()
	}
}

// writeMatrixName writes the name of the MATLAB matrix for the choices with the given index.
func (printer *printer) writeMatrixName(matrixName string, choice int) {
	printer.write(matrixName)
	if printer.nondeterministic() {
		printer.writeInt(choice + 1)
	}
}

// writeTransitions writes all transitions with their weights, in the format of the options. matrixName is the name of the matrix in MATLAB
// code.
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

// writeTransitionRewards writes the rewards of transitions, in the format of the options. rowOf returns those of a choice. matrixName is
// the name of the matrix in MATLAB code.
func (printer *printer) writeTransitionRewards(matrixName string, rowOf rowFunc) error {
	return printer.forEachChoice(rowOf, func(at choicePosition, row []writtenTransition) {
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

// forEachChoice calls write for each choice of the model, in the order of the file. rowOf returns the transitions of the choice.
func (printer *printer) forEachChoice(rowOf rowFunc, write func(at choicePosition, row []writtenTransition)) error {
	var row []writtenTransition
	var choices []int
	return printer.forEachState(func(number, state int) error {
		var err error
		choices, err = printer.sortedChoices(choices, state)
		if err != nil {
			return err
		}
		for choice, modelChoice := range choices {
			row = rowOf(row, modelChoice)
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

// writeRow writes the transitions of a state or a choice without ending the line: "0 0.5:1 0.5:2" for two transitions of state 0.
func (printer *printer) writeRow(state int, row []writtenTransition) {
	printer.writeInt(state)
	for _, transition := range row {
		printer.write(" ")
		printer.writeNumber(transition.value)
		printer.write(":")
		printer.writeInt(transition.target)
	}
}

// writeAssignment writes MATLAB code that assigns the weight of a transition to an entry of the matrix: "P(1,2)=0.5;". MATLAB counts from
// 1.
func (printer *printer) writeAssignment(matrixName string, state, choice int, transition writtenTransition) {
	printer.writeMatrixName(matrixName, choice)
	printer.write("(")
	printer.writeInt(state + 1)
	printer.write(",")
	printer.writeInt(transition.target + 1)
	printer.write(")=")
	printer.writeNumber(transition.value)
	printer.write(";")
	printer.endLine()
}

// writeTransition writes a line of a .tra or .trew file. state and choice are the numbers of the state and the choice in the file.
// withWeight says whether the line has the weight.
func (printer *printer) writeTransition(state, choice int, transition writtenTransition, withWeight bool) {
	printer.writeInt(state)
	if printer.showsPlayers {
		printer.write(":")
		printer.writeInt(int(printer.model.Player[printer.stateOrder[state]]))
	}
	if printer.nondeterministic() {
		printer.writeSpaceAndInt(choice)
	}
	printer.writeSpaceAndInt(transition.target)
	if withWeight {
		printer.write(" ")
		printer.writeWeight(transition)
	}
	if printer.observations != nil {
		printer.writeSpaceAndInt(int(printer.observations.ByState[printer.stateOrder[transition.target]]))
	}
	if transition.action != "" {
		printer.write(" " + transition.action)
	}
	printer.endLine()
}

// writeWeight writes the weight of a transition: a number, or an interval such as [0.1,0.3].
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

// States writes PRISM's .sta file. It has a line with the names of the variables and, for each state, a line such as "0:(0,true)" with
// their values.
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

// writeMatlabStates writes the states as MATLAB code: a matrix with a row for each state, which has the values of the variables.
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

// writeVariables writes a line with the names of the variables in parentheses: "(x,y)".
func (printer *printer) writeVariables() {
	printer.write("(")
	for slot, variable := range printer.program.Vars {
		if slot > 0 {
			printer.write(",")
		}
		printer.write(variable.Name)
	}
	printer.write(")")
	printer.endLine()
}

// writeValuation writes the values of the variables in parentheses: "(0,true)".
func (printer *printer) writeValuation(values []int32) {
	printer.write("(")
	printer.writeValues(values)
	printer.write(")")
}

// writeValues writes the given values of the variables, separated by commas: "0,true".
func (printer *printer) writeValues(values []int32) {
	for slot, variable := range printer.program.Vars {
		if slot > 0 {
			printer.write(",")
		}
		if variable.Type == sema.Bool {
			printer.line = strconv.AppendBool(printer.line, values[slot] != 0)
			continue
		}
		printer.writeInt(int(values[slot]))
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

// PropertyLabels writes a .lab file with only those labels that the program of the space does not have. Options.Program added them.
//
// Source: prism -exportproplabels.
func (writer *Writer) PropertyLabels(ctx context.Context, out io.Writer) error {
	var added []sema.LabelDef
	for _, label := range writer.program.Labels {
		hasSameName := func(known sema.LabelDef) bool { return known.Name == label.Name }
		if !slices.ContainsFunc(writer.space.Program().Labels, hasSameName) {
			added = append(added, label)
		}
	}
	labels, err := writer.evaluateLabels(ctx, added)
	if err != nil {
		return err
	}
	return writer.writeLabels(ctx, out, labels)
}

// writeLabels writes a .lab file with the given labels. The first line has their numbers and names, and each other line the labels of a
// state.
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

// writeStateLabels writes a line with the numbers of the labels that hold in a state, such as "3: 0 2". It writes nothing if none holds.
// number is the number of the state in the file.
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
		printer.writeSpaceAndInt(index)
		hasLabels = true
	}
	if hasLabels {
		printer.endLine()
	}
}

// matlabLabels writes the labels as MATLAB code. Each label is a vector with a 1 for each of its states.
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

// writeLabelAssignments writes MATLAB code that sets the entry of a state to 1 in the vectors of the labels that hold in it. number is the
// number of the state in the file.
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

// evaluateLabels returns the given labels with the sets of states in which they hold.
func (writer *Writer) evaluateLabels(ctx context.Context, definitions []sema.LabelDef) ([]sparse.Label, error) {
	var labels []sparse.Label
	for _, definition := range definitions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		states, err := writer.space.States(definition.X)
		if err != nil {
			return nil, err
		}
		labels = append(labels, sparse.Label{Name: definition.Name, States: states})
	}
	return labels, nil
}

// StateRewards writes PRISM's .srew file for the reward structure with the given index. It has a line for each state with a nonzero reward.
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
		numRewards := 0
		for state := range p.stateOrder {
			if !rewardAt(reward.State, reward.StateRat, state).isZero() {
				numRewards++
			}
		}
		p.writeInt(p.model.NumStates())
		p.writeSpaceAndInt(numRewards)
		p.endLine()
		return p.forEachStateReward(reward, func(state int, value number) {
			p.writeInt(state)
			p.write(" ")
			p.writeNumber(value)
		})
	})
}

// writeMatlabStateRewards writes the state rewards of a structure as MATLAB code. They are the entries of a vector with the given name.
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

// forEachStateReward calls writeLine for each state with a nonzero reward, and ends the line. It calls it with the reward and with the
// number of the state in the file.
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
	if name := printer.program.RewardName(index); name != "" {
		title += ` "` + name + `"`
	}
	printer.writeComment(title)
	printer.writeComment(kind + " rewards")
}

// TransitionRewards writes PRISM's .trew file for the reward structure with the given index. It has a line for each transition with a
// nonzero reward. In an MDP each transition has the reward of its choice.
func (writer *Writer) TransitionRewards(ctx context.Context, out io.Writer, index int) error {
	reward, err := writer.transitionReward(index)
	if err != nil {
		return err
	}
	return writer.printTo(ctx, out, func(p *printer) error {
		rewardRow := func(buffer []writtenTransition, choice int) []writtenTransition {
			return p.rewardRow(buffer, choice, reward)
		}
		matrixName := "C" + strconv.Itoa(index+1)
		if p.opts.Format == Matlab {
			p.declareMatrices(matrixName)
			return p.writeTransitionRewards(matrixName, rewardRow)
		}
		if p.opts.Format == Plain {
			p.writeRewardHeader(index, "Transition")
		}
		numRewards, err := p.countTransitions(rewardRow)
		if err != nil {
			return err
		}
		p.writeTotals(numRewards)
		return p.writeTransitionRewards(matrixName, rewardRow)
	})
}

// transitionReward returns a function that returns the reward of a transition in the reward structure with the given index. In a
// nondeterministic model this is the reward of the transition's choice.
func (writer *Writer) transitionReward(index int) (func(choice, transition int) number, error) {
	reward, transitions, err := writer.space.WrittenReward(index)
	if err != nil {
		return nil, err
	}
	if writer.nondeterministic() {
		return func(choice, _ int) number { return rewardAt(reward.Choice, reward.ChoiceRat, choice) }, nil
	}
	return func(_, transition int) number { return rewardAt(transitions.Values, transitions.Fractions, transition) }, nil
}
