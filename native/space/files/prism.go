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
func (w *Writer) Transitions(ctx context.Context, out io.Writer) error {
	return w.printTo(ctx, out, func(p *printer) error {
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
func (p *printer) writeTransitionsHeader() error {
	if p.opts.Format == Matlab {
		p.declareMatrices(p.matrixSymbol())
		return nil
	}
	numTransitions := p.model.NumTransitions()
	if p.mergesParallel() {
		var err error
		if numTransitions, err = p.countTransitions(p.writtenRow); err != nil {
			return err
		}
	}
	p.writeTotals(numTransitions)
	p.writeInitialObservations()
	return nil
}

// matrixSymbol returns the name of the transition matrix in MATLAB code.
func (p *printer) matrixSymbol() string {
	switch p.model.Kind {
	case sparse.DTMC:
		return "P"
	case sparse.CTMC:
		return "R"
	}
	return "S"
}

// countTransitions returns the total number of transitions that a function returns for the choices of the model.
func (p *printer) countTransitions(transitions rowFunc) (int, error) {
	total := 0
	var row []writtenTransition
	for choice := range p.model.NumChoices() {
		if choice&0xfff == 0 {
			if err := p.ctx.Err(); err != nil {
				return 0, err
			}
		}
		row = transitions(row, choice)
		total += len(row)
	}
	return total, nil
}

// writeTotals writes the numbers of states, players, choices, transitions and observations, as far as the type of
// the model has them.
func (p *printer) writeTotals(numTransitions int) {
	p.writeInt(p.model.NumStates())
	if p.players {
		p.write(":")
		p.writeInt(len(p.program.Players))
	}
	if p.nondeterministic() {
		p.writeSpaceInt(p.model.NumChoices())
	}
	p.writeSpaceInt(numTransitions)
	if p.observations != nil {
		p.writeSpaceInt(len(p.observations.Texts))
	}
	p.endLine()
}

// declareMatrices declares sparse matrices in MATLAB code. A Markov chain has one matrix. An MDP has one matrix
// for the first choices of all states, one for the second choices, and so on.
func (p *printer) declareMatrices(name string) {
	maxChoices := 0
	for state := range p.model.NumStates() {
		first, end := p.model.Choices(state)
		maxChoices = max(maxChoices, end-first)
	}
	for choice := range maxChoices {
		p.writeMatrixName(name, choice)
		p.write(" = sparse(")
		p.writeInt(p.model.NumStates())
		p.write(",")
		p.writeInt(p.model.NumStates())
		p.write(");")
		p.endLine()
	}
}

// writeMatrixName writes the name of the MATLAB matrix for the choices with the given index.
func (p *printer) writeMatrixName(name string, choice int) {
	p.write(name)
	if p.nondeterministic() {
		p.writeInt(choice + 1)
	}
}

// writeTransitions writes the weights of all transitions in the format of the options. In MATLAB code the matrix
// is the variable matrixName.
func (p *printer) writeTransitions(matrixName string) error {
	withActions := p.nondeterministic()
	return p.forEachChoice(p.writtenRow, func(at choicePosition, row []writtenTransition) {
		action := ""
		if withActions {
			action = p.actionName(at.modelChoice)
		}
		switch p.opts.Format {
		case Rows:
			p.writeRow(at.state, row)
			if withActions && !p.opts.NoActions {
				p.write(" " + action)
			}
			p.endLine()
		case Matlab:
			p.writeAssignments(matrixName, at, row)
		default:
			p.writeChoiceLines(at, row, action, p.probabilistic())
		}
	})
}

// writeTransitionRewards writes the rewards of transitions in the format of the options. rewardRow returns the
// rewards of a choice. In MATLAB code the matrix is the variable matrixName.
func (p *printer) writeTransitionRewards(matrixName string, rewardRow rowFunc) error {
	return p.forEachChoice(rewardRow, func(at choicePosition, row []writtenTransition) {
		switch p.opts.Format {
		case Rows:
			p.writeRow(at.state, row)
			p.endLine()
		case Matlab:
			p.writeAssignments(matrixName, at, row)
		default:
			p.writeChoiceLines(at, row, "", true)
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
func (p *printer) forEachChoice(transitions rowFunc, write func(at choicePosition, row []writtenTransition)) error {
	var row []writtenTransition
	var choices []int
	return p.forEachState(func(number, state int) error {
		var err error
		choices, err = p.sortedChoices(choices, state)
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
func (p *printer) writeAssignments(matrixName string, at choicePosition, row []writtenTransition) {
	for _, transition := range row {
		p.writeAssignment(matrixName, at.state, at.choice, transition)
	}
}

// writeChoiceLines writes a line for each transition of a choice. An action that is not empty replaces the actions
// of the transitions.
func (p *printer) writeChoiceLines(at choicePosition, row []writtenTransition, action string, withWeights bool) {
	for _, transition := range row {
		if action != "" {
			transition.action = action
		}
		p.writeTransition(at.state, at.choice, transition, withWeights)
	}
}

// writeRow writes the transitions of a state on one line: "0 0.5:1 0.5:2".
func (p *printer) writeRow(state int, row []writtenTransition) {
	p.writeInt(state)
	for _, transition := range row {
		p.write(" ")
		p.writeNumber(transition.value)
		p.write(":")
		p.writeInt(transition.target)
	}
}

// writeAssignment writes a transition in MATLAB code: "P(1,2)=0.5;".
func (p *printer) writeAssignment(name string, state, choice int, transition writtenTransition) {
	p.writeMatrixName(name, choice)
	p.write("(")
	p.writeInt(state + 1)
	p.write(",")
	p.writeInt(transition.target + 1)
	p.write(")=")
	p.writeNumber(transition.value)
	p.write(";")
	p.endLine()
}

// writeTransition writes a line of a .tra or .trew file. withWeight says whether it has the weight.
func (p *printer) writeTransition(state, choice int, transition writtenTransition, withWeight bool) {
	p.writeInt(state)
	if p.players {
		p.write(":")
		p.writeInt(int(p.model.Player[p.stateOrder[state]]))
	}
	if p.nondeterministic() {
		p.writeSpaceInt(choice)
	}
	p.writeSpaceInt(transition.target)
	if withWeight {
		p.write(" ")
		p.writeWeight(transition)
	}
	if p.observations != nil {
		p.writeSpaceInt(int(p.observations.ByState[p.stateOrder[transition.target]]))
	}
	if transition.action != "" {
		p.write(" " + transition.action)
	}
	p.endLine()
}

// writeWeight writes the weight of a transition, or its interval.
func (p *printer) writeWeight(transition writtenTransition) {
	if transition.high.rat == nil {
		p.writeNumber(transition.value)
		return
	}
	p.write("[")
	p.writeNumber(transition.value)
	p.write(",")
	p.writeNumber(transition.high)
	p.write("]")
}

// States writes PRISM's .sta file. It has the variables and their values in every state.
func (w *Writer) States(ctx context.Context, out io.Writer) error {
	return w.printTo(ctx, out, func(p *printer) error {
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
func (p *printer) writeMatlabStates() error {
	if p.opts.Symbolic {
		p.writeComment("States")
	}
	p.write("% ")
	p.writeVariables()
	p.write("states=[")
	p.endLine()
	valuation := p.space.State(nil, 0)
	err := p.forEachState(func(_, state int) error {
		p.writeValues(p.space.State(valuation, state))
		p.endLine()
		return nil
	})
	p.write("];")
	p.endLine()
	return err
}

// writeVariables writes a line with the names of the variables: "(x,y)".
func (p *printer) writeVariables() {
	p.write("(")
	for i, variable := range p.program.Vars {
		if i > 0 {
			p.write(",")
		}
		p.write(variable.Name)
	}
	p.write(")")
	p.endLine()
}

// writeValuation writes the values of the variables in parentheses: "(0,true)".
func (p *printer) writeValuation(state []int32) {
	p.write("(")
	p.writeValues(state)
	p.write(")")
}

// writeValues writes the values of the variables: "0,true".
func (p *printer) writeValues(state []int32) {
	for i, variable := range p.program.Vars {
		if i > 0 {
			p.write(",")
		}
		if variable.Type == sema.Bool {
			p.line = strconv.AppendBool(p.line, state[i] != 0)
			continue
		}
		p.writeInt(int(state[i]))
	}
}

// Labels writes PRISM's .lab file. It has the names of the labels, including init and deadlock, and the labels of
// every state.
func (w *Writer) Labels(ctx context.Context, out io.Writer) error {
	labels, err := w.evaluateAllLabels(ctx)
	if err != nil {
		return err
	}
	return w.writeLabels(ctx, out, labels)
}

// PropertyLabels writes a .lab file with only the labels that Options.Program adds to the program of the space.
//
// Source: prism -exportproplabels.
func (w *Writer) PropertyLabels(ctx context.Context, out io.Writer) error {
	var added []sema.LabelDef
	for _, label := range w.program.Labels {
		isKnown := func(known sema.LabelDef) bool { return known.Name == label.Name }
		if !slices.ContainsFunc(w.space.Program().Labels, isKnown) {
			added = append(added, label)
		}
	}
	labels, err := w.evaluateLabels(ctx, added)
	if err != nil {
		return err
	}
	return w.writeLabels(ctx, out, labels)
}

// writeLabels writes a .lab file with the given labels.
func (w *Writer) writeLabels(ctx context.Context, out io.Writer, labels []sparse.Label) error {
	if w.opts.Format == Matlab {
		return w.matlabLabels(ctx, out, labels)
	}
	return w.printTo(ctx, out, func(p *printer) error {
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
func (p *printer) writeStateLabels(number, state int, labels []sparse.Label) {
	hasLabels := false
	for index, label := range labels {
		if !label.States.Has(state) {
			continue
		}
		if !hasLabels {
			p.writeInt(number)
			p.write(":")
		}
		p.writeSpaceInt(index)
		hasLabels = true
	}
	if hasLabels {
		p.endLine()
	}
}

// matlabLabels writes a sparse vector of ones for each label, in MATLAB code.
func (w *Writer) matlabLabels(ctx context.Context, out io.Writer, labels []sparse.Label) error {
	for _, label := range labels {
		if !isWord(label.Name) {
			return fmt.Errorf("label %q is not a valid name in MATLAB", label.Name)
		}
	}
	return w.printTo(ctx, out, func(p *printer) error {
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
func (p *printer) writeLabelAssignments(number, state int, labels []sparse.Label) {
	for _, label := range labels {
		if label.States.Has(state) {
			p.write("l_" + label.Name + "(")
			p.writeInt(number + 1)
			p.write(")=1;")
			p.endLine()
		}
	}
}

// evaluateAllLabels returns the labels init and deadlock and the labels of the program, with their states.
func (w *Writer) evaluateAllLabels(ctx context.Context) ([]sparse.Label, error) {
	builtin := func(name string, index int) sema.LabelDef {
		return sema.LabelDef{Name: name, X: &sema.Label{Base: sema.Base{ValueType: sema.Bool}, Name: name, Index: index}}
	}
	definitions := []sema.LabelDef{builtin("init", sema.LabelInit), builtin("deadlock", sema.LabelDeadlock)}
	return w.evaluateLabels(ctx, append(definitions, w.program.Labels...))
}

// evaluateLabels returns labels with their states.
func (w *Writer) evaluateLabels(ctx context.Context, definitions []sema.LabelDef) ([]sparse.Label, error) {
	var labels []sparse.Label
	for _, definition := range definitions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		set, err := w.space.States(definition.X)
		if err != nil {
			return nil, err
		}
		labels = append(labels, sparse.Label{Name: definition.Name, States: set})
	}
	return labels, nil
}

// StateRewards writes PRISM's .srew file. It has the state rewards of Program.Rewards[index] that are not zero.
func (w *Writer) StateRewards(ctx context.Context, out io.Writer, index int) error {
	reward, _, err := w.space.WrittenReward(index)
	if err != nil {
		return err
	}
	return w.printTo(ctx, out, func(p *printer) error {
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
func (p *printer) writeMatlabStateRewards(vectorName string, reward *sparse.Reward) error {
	p.write(vectorName + " = sparse(")
	p.writeInt(p.model.NumStates())
	p.write(",1);")
	p.endLine()
	return p.forEachStateReward(reward, func(state int, value number) {
		p.write(vectorName + "(")
		p.writeInt(state + 1)
		p.write(")=")
		p.writeNumber(value)
		p.write(";")
	})
}

// forEachStateReward calls writeLine for each state with a nonzero reward, and then ends the line. state is the
// number in the file.
func (p *printer) forEachStateReward(reward *sparse.Reward, writeLine func(state int, value number)) error {
	return p.forEachState(func(number, state int) error {
		value := rewardAt(reward.State, reward.StateRat, state)
		if value.isZero() {
			return nil
		}
		writeLine(number, value)
		p.endLine()
		return nil
	})
}

// writeRewardHeader writes the comments at the top of a file of rewards.
func (p *printer) writeRewardHeader(index int, kind string) {
	title := "Reward structure"
	if name := p.program.Rewards[index].Name; name != "" {
		title += ` "` + name + `"`
	}
	p.writeComment(title)
	p.writeComment(kind + " rewards")
}

// TransitionRewards writes PRISM's .trew file. It has the transition rewards of Program.Rewards[index] that are
// not zero. In an MDP each transition has the reward of its choice.
func (w *Writer) TransitionRewards(ctx context.Context, out io.Writer, index int) error {
	reward, err := w.transitionReward(index)
	if err != nil {
		return err
	}
	return w.printTo(ctx, out, func(p *printer) error {
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
func (w *Writer) transitionReward(index int) (func(choice, transition int) number, error) {
	reward, transitions, err := w.space.WrittenReward(index)
	if err != nil {
		return nil, err
	}
	if w.nondeterministic() {
		return func(choice, _ int) number { return rewardAt(reward.Choice, reward.ChoiceRat, choice) }, nil
	}
	return func(_, transition int) number { return rewardAt(transitions.Values, transitions.Rats, transition) }, nil
}
