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
	return writer.printTo(ctx, out, func(printer *printer) error {
		if printer.opts.Format == Plain {
			printer.writeComment("Transitions (" + printer.program.Type.String() + ")")
		}
		if err := printer.computeObservations(); err != nil {
			return err
		}
		printer.showsPlayers = printer.model.Player != nil
		if err := printer.writeTransitionsHeader(); err != nil {
			return err
		}
		return printer.writeTransitions(printer.matrixSymbol())
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
		if choice%pollInterval == 0 && printer.ctx.Err() != nil {
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
		printer.writeText(":")
		printer.writeInt(len(printer.program.Players))
	}
	if printer.isNondeterministic() {
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
		printer.writeText(" = sparse(")
		printer.writeInt(printer.model.NumStates())
		printer.writeText(",")
		printer.writeInt(printer.model.NumStates())
		printer.writeText(");")
		printer.endLine()
	}
}

// writeMatrixName writes the name of the MATLAB matrix for the choices with the given index.
func (printer *printer) writeMatrixName(matrixName string, choice int) {
	printer.writeText(matrixName)
	if printer.isNondeterministic() {
		printer.writeInt(choice + 1)
	}
}

// writeTransitions writes all transitions with their weights, in the format of the options. matrixName is the name of the matrix in MATLAB
// code.
func (printer *printer) writeTransitions(matrixName string) error {
	withActions := printer.isNondeterministic()
	return printer.forEachChoice(printer.writtenRow, func(position choicePosition, row []writtenTransition) {
		action := ""
		if withActions {
			action = printer.actionName(position.modelChoice)
		}
		switch printer.opts.Format {
		case Rows:
			printer.writeRow(position.state, row)
			if withActions && !printer.opts.NoActions {
				printer.writeText(" " + action)
			}
			printer.endLine()
		case Matlab:
			printer.writeAssignments(matrixName, position, row)
		default:
			printer.writeChoiceLines(position, row, action, printer.isProbabilistic())
		}
	})
}

// writeTransitionRewards writes the rewards of transitions, in the format of the options. rowOf returns those of a choice. matrixName is
// the name of the matrix in MATLAB code.
func (printer *printer) writeTransitionRewards(matrixName string, rowOf rowFunc) error {
	return printer.forEachChoice(rowOf, func(position choicePosition, row []writtenTransition) {
		switch printer.opts.Format {
		case Rows:
			printer.writeRow(position.state, row)
			printer.endLine()
		case Matlab:
			printer.writeAssignments(matrixName, position, row)
		default:
			printer.writeChoiceLines(position, row, "", true)
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
func (printer *printer) forEachChoice(rowOf rowFunc, write func(position choicePosition, row []writtenTransition)) error {
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
func (printer *printer) writeAssignments(matrixName string, position choicePosition, row []writtenTransition) {
	for _, transition := range row {
		printer.writeAssignment(matrixName, position.state, position.choice, transition)
	}
}

// writeChoiceLines writes a line for each transition of a choice. An action that is not empty replaces the actions
// of the transitions.
func (printer *printer) writeChoiceLines(position choicePosition, row []writtenTransition, action string, withWeights bool) {
	for _, transition := range row {
		if action != "" {
			transition.action = action
		}
		printer.writeTransition(position.state, position.choice, transition, withWeights)
	}
}

// writeRow writes the transitions of a state or a choice without ending the line: "0 0.5:1 0.5:2" for two transitions of state 0.
func (printer *printer) writeRow(state int, row []writtenTransition) {
	printer.writeInt(state)
	for _, transition := range row {
		printer.writeText(" ")
		printer.writeNumber(transition.value)
		printer.writeText(":")
		printer.writeInt(transition.target)
	}
}

// writeAssignment writes MATLAB code that assigns the weight of a transition to an entry of the matrix: "P(1,2)=0.5;". MATLAB counts from
// 1.
func (printer *printer) writeAssignment(matrixName string, state, choice int, transition writtenTransition) {
	printer.writeMatrixName(matrixName, choice)
	printer.writeText("(")
	printer.writeInt(state + 1)
	printer.writeText(",")
	printer.writeInt(transition.target + 1)
	printer.writeText(")=")
	printer.writeNumber(transition.value)
	printer.writeText(";")
	printer.endLine()
}

// writeTransition writes a line of a .tra or .trew file. state and choice are the numbers of the state and the choice in the file.
// withWeight says whether the line has the weight.
func (printer *printer) writeTransition(state, choice int, transition writtenTransition, withWeight bool) {
	printer.writeInt(state)
	if printer.showsPlayers {
		printer.writeText(":")
		printer.writeInt(int(printer.model.Player[printer.stateOrder[state]]))
	}
	if printer.isNondeterministic() {
		printer.writeSpaceAndInt(choice)
	}
	printer.writeSpaceAndInt(transition.target)
	if withWeight {
		printer.writeText(" ")
		printer.writeWeight(transition)
	}
	if printer.observations != nil {
		printer.writeSpaceAndInt(int(printer.observations.ByState[printer.stateOrder[transition.target]]))
	}
	if transition.action != "" {
		printer.writeText(" " + transition.action)
	}
	printer.endLine()
}

// writeWeight writes the weight of a transition: a number, or an interval such as [0.1,0.3].
func (printer *printer) writeWeight(transition writtenTransition) {
	if transition.upperBound.fraction == nil {
		printer.writeNumber(transition.value)
		return
	}
	printer.writeText("[")
	printer.writeNumber(transition.value)
	printer.writeText(",")
	printer.writeNumber(transition.upperBound)
	printer.writeText("]")
}

// States writes PRISM's .sta file. It has a line with the names of the variables and, for each state, a line such as "0:(0,true)" with
// their values.
func (writer *Writer) States(ctx context.Context, out io.Writer) error {
	return writer.printTo(ctx, out, func(printer *printer) error {
		if printer.opts.Format == Matlab {
			return printer.writeMatlabStates()
		}
		printer.writeComment("States")
		printer.writeVariables()
		valuation := printer.space.State(nil, 0)
		return printer.forEachState(func(number, state int) error {
			printer.writeInt(number)
			printer.writeText(":")
			printer.writeValuation(printer.space.State(valuation, state))
			printer.endLine()
			return nil
		})
	})
}

// writeMatlabStates writes the states as MATLAB code: a matrix with a row for each state, which has the values of the variables.
func (printer *printer) writeMatlabStates() error {
	if printer.opts.Symbolic {
		printer.writeComment("States")
	}
	printer.writeText("% ")
	printer.writeVariables()
	printer.writeText("states=[")
	printer.endLine()
	valuation := printer.space.State(nil, 0)
	err := printer.forEachState(func(_, state int) error {
		printer.writeValues(printer.space.State(valuation, state))
		printer.endLine()
		return nil
	})
	printer.writeText("];")
	printer.endLine()
	return err
}

// writeVariables writes a line with the names of the variables in parentheses: "(x,y)".
func (printer *printer) writeVariables() {
	printer.writeText("(")
	for slot, variable := range printer.program.Vars {
		if slot > 0 {
			printer.writeText(",")
		}
		printer.writeText(variable.Name)
	}
	printer.writeText(")")
	printer.endLine()
}

// writeValuation writes the values of the variables in parentheses: "(0,true)".
func (printer *printer) writeValuation(values []int32) {
	printer.writeText("(")
	printer.writeValues(values)
	printer.writeText(")")
}

// writeValues writes the given values of the variables, separated by commas: "0,true".
func (printer *printer) writeValues(values []int32) {
	for slot, variable := range printer.program.Vars {
		if slot > 0 {
			printer.writeText(",")
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
	return writer.printTo(ctx, out, func(printer *printer) error {
		printer.writeComment("Labels")
		for index, label := range labels {
			if index > 0 {
				printer.writeText(" ")
			}
			printer.writeInt(index)
			printer.writeText(`="` + label.Name + `"`)
		}
		printer.endLine()
		return printer.forEachState(func(number, state int) error {
			printer.writeStateLabels(number, state, labels)
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
			printer.writeText(":")
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
	return writer.printTo(ctx, out, func(printer *printer) error {
		for _, label := range labels {
			printer.writeText("l_" + label.Name + "=sparse(")
			printer.writeInt(printer.model.NumStates())
			printer.writeText(",1);")
			printer.endLine()
		}
		printer.endLine()
		return printer.forEachState(func(number, state int) error {
			printer.writeLabelAssignments(number, state, labels)
			return nil
		})
	})
}

// writeLabelAssignments writes MATLAB code that sets the entry of a state to 1 in the vectors of the labels that hold in it. number is the
// number of the state in the file.
func (printer *printer) writeLabelAssignments(number, state int, labels []sparse.Label) {
	for _, label := range labels {
		if label.States.Has(state) {
			printer.writeText("l_" + label.Name + "(")
			printer.writeInt(number + 1)
			printer.writeText(")=1;")
			printer.endLine()
		}
	}
}

// evaluateAllLabels returns the labels init and deadlock and the labels of the program, with their states.
func (writer *Writer) evaluateAllLabels(ctx context.Context) ([]sparse.Label, error) {
	builtin := func(name string, index int) sema.LabelDef {
		return sema.LabelDef{Name: name, Expr: &sema.Label{Base: sema.Base{ValueType: sema.Bool}, Name: name, Index: index}}
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
		states, err := writer.space.States(definition.Expr)
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
	return writer.printTo(ctx, out, func(printer *printer) error {
		if printer.opts.Format == Matlab {
			return printer.writeMatlabStateRewards("c"+strconv.Itoa(index+1), reward)
		}
		printer.writeRewardHeader(index, "State")
		numRewards := 0
		for state := range printer.stateOrder {
			if !rewardAt(reward.State, reward.StateFractions, state).isZero() {
				numRewards++
			}
		}
		printer.writeInt(printer.model.NumStates())
		printer.writeSpaceAndInt(numRewards)
		printer.endLine()
		return printer.forEachStateReward(reward, func(state int, value number) {
			printer.writeInt(state)
			printer.writeText(" ")
			printer.writeNumber(value)
		})
	})
}

// writeMatlabStateRewards writes the state rewards of a structure as MATLAB code. They are the entries of a vector with the given name.
func (printer *printer) writeMatlabStateRewards(vectorName string, reward *sparse.Reward) error {
	printer.writeText(vectorName + " = sparse(")
	printer.writeInt(printer.model.NumStates())
	printer.writeText(",1);")
	printer.endLine()
	return printer.forEachStateReward(reward, func(state int, value number) {
		printer.writeText(vectorName + "(")
		printer.writeInt(state + 1)
		printer.writeText(")=")
		printer.writeNumber(value)
		printer.writeText(";")
	})
}

// forEachStateReward calls writeLine for each state with a nonzero reward, and ends the line. It calls it with the reward and with the
// number of the state in the file.
func (printer *printer) forEachStateReward(reward *sparse.Reward, writeLine func(state int, value number)) error {
	return printer.forEachState(func(number, state int) error {
		value := rewardAt(reward.State, reward.StateFractions, state)
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
	return writer.printTo(ctx, out, func(printer *printer) error {
		rewardRow := func(buffer []writtenTransition, choice int) []writtenTransition {
			return printer.rewardRow(buffer, choice, reward)
		}
		matrixName := "C" + strconv.Itoa(index+1)
		if printer.opts.Format == Matlab {
			printer.declareMatrices(matrixName)
			return printer.writeTransitionRewards(matrixName, rewardRow)
		}
		if printer.opts.Format == Plain {
			printer.writeRewardHeader(index, "Transition")
		}
		numRewards, err := printer.countTransitions(rewardRow)
		if err != nil {
			return err
		}
		printer.writeTotals(numRewards)
		return printer.writeTransitionRewards(matrixName, rewardRow)
	})
}

// transitionReward returns a function that returns the reward of a transition in the reward structure with the given index. In a
// nondeterministic model this is the reward of the transition's choice.
func (writer *Writer) transitionReward(index int) (func(choice, transition int) number, error) {
	reward, transitions, err := writer.space.WrittenReward(index)
	if err != nil {
		return nil, err
	}
	if writer.isNondeterministic() {
		return func(choice, _ int) number { return rewardAt(reward.Choice, reward.ChoiceFractions, choice) }, nil
	}
	return func(_, transition int) number { return rewardAt(transitions.Values, transitions.Fractions, transition) }, nil
}
