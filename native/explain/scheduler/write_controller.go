package scheduler

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// WriteController writes a scheduler with memory in the given format. A list has a line for each reachable pair of a state and a memory, such as
// (0,true),3=move. A randomized choice lists its actions with probabilities: 0.25:left+0.75:right. JSON has an entry for each pair, with the
// memory after each successor. In a game it also has the pairs that are reachable if a player does not follow the scheduler, and all choices of
// each pair: those that the scheduler does not make have probability 0. The states of an induced model are the pairs, numbered breadth-first.
// The errors are the same as for Write.
func WriteController(ctx context.Context, out io.Writer, space *explicit.Space, controller *sparse.Controller, format Format, opts Options) error {
	writer := newWriter(ctx, out, space, opts)
	var err error
	switch format {
	case Actions, Indices:
		err = writer.writeControllerList(controller.Followed(), format == Indices)
	case InducedModel, Dot:
		err = writer.writeInducedChain(controller.Followed(), format == Dot)
	case JSON:
		err = writer.writeControllerJSON(controller)
	default:
		err = fmt.Errorf("scheduler format %v for a scheduler with memory, want actions, indices, induced, dot or json", format)
	}
	if err != nil {
		return err
	}
	return writer.Flush()
}

// nodeOrder returns the numbers of the controller nodes, sorted by PRISM's number of the node's state, and then by its memory. prismNumber[s] is PRISM's
// number of state s.
func (writer *writer) nodeOrder(controller *sparse.Controller) (order, prismNumber []int) {
	prismNumber = make([]int, writer.model.NumStates())
	for number, s := range writer.space.Order() {
		prismNumber[s] = number
	}
	for number := range controller.Nodes {
		order = append(order, number)
	}
	slices.SortFunc(order, func(a, b int) int {
		left, right := &controller.Nodes[a], &controller.Nodes[b]
		return cmp.Or(prismNumber[left.State]-prismNumber[right.State], int(left.Memory)-int(right.Memory))
	})
	return order, prismNumber
}

// writeControllerList writes a line for each controller node, with the actions of its choices, or with their indices if useIndices is true.
func (writer *writer) writeControllerList(controller *sparse.Controller, useIndices bool) error {
	order, prismNumber := writer.nodeOrder(controller)
	for position, number := range order {
		if err := writer.poll(position); err != nil {
			return err
		}
		node := &controller.Nodes[number]
		line := writer.beginLine(prismNumber[node.State], int(node.State), useIndices)
		line = fmt.Appendf(line, ",%d=", node.Memory)
		writer.line = append(writer.appendMoves(line, node, useIndices), '\n')
		writer.Write(writer.line)
	}
	return nil
}

// appendMoves appends the choices of a controller node to a line. If there are several choices, each has its probability, as in 0.5:a+0.5:b.
func (writer *writer) appendMoves(line []byte, node *sparse.Node, useIndices bool) []byte {
	for i, move := range node.Moves {
		if i > 0 {
			line = append(line, '+')
		}
		if move.Prob != nil && len(node.Moves) > 1 {
			probability, _ := move.Prob.Float64()
			line = fmt.Appendf(line, "%s:", formatNumber(probability))
		}
		line = writer.appendChoice(line, int(node.State), int(move.Choice), useIndices)
	}
	return line
}

// writeInducedChain writes the Markov chain that the controller induces, in the DOT language if useDot is true, else as a .tra file. Its states
// are the controller nodes.
func (writer *writer) writeInducedChain(controller *sparse.Controller, useDot bool) error {
	if writer.opts.Restrict {
		return fmt.Errorf("found mode=restrict for a scheduler with memory, want mode=reduce")
	}
	chain, err := controller.Chain(writer.ctx, writer.model)
	if err != nil {
		return err
	}
	induced := &Induced{Model: chain}
	for _, node := range controller.Nodes {
		induced.State = append(induced.State, node.State)
		induced.Step = append(induced.Step, node.Memory)
	}
	if useDot {
		return writer.writeDot(induced)
	}
	return writer.writeTransitions(induced)
}

// writeControllerJSON writes a controller in Storm's JSON format, with an entry for each node. In a game, the choices that the controller does not make
// (deviations) have the probability 0.
func (writer *writer) writeControllerJSON(controller *sparse.Controller) error {
	order, _ := writer.nodeOrder(controller)
	separator := "[\n" + indent
	for position, number := range order {
		if err := writer.poll(position); err != nil {
			return err
		}
		node := &controller.Nodes[number]
		memory := int(node.Memory)
		var choices []jsonChoice
		for index := range node.Moves {
			probability, _ := node.Moves[index].Probability().Float64()
			choices = append(choices, writer.jsonMove(controller, &node.Moves[index], probability))
		}
		for index := range node.Deviations {
			choices = append(choices, writer.jsonMove(controller, &node.Deviations[index], 0))
		}
		entry := jsonState{Choice: choices, Memory: &memory, State: writer.variables(int(node.State))}
		if err := writer.writeElement(&separator, entry); err != nil {
			return err
		}
	}
	_, err := writer.WriteString("\n]\n")
	return err
}

// jsonMove returns a move of a controller in Storm's JSON format: its choice with the given probability, and the memory after each successor.
func (writer *writer) jsonMove(controller *sparse.Controller, move *sparse.Move, probability float64) jsonChoice {
	choice := writer.jsonChoice(int(move.Choice), probability)
	first, _ := writer.model.Transitions(int(move.Choice))
	for index, next := range move.Next {
		successor := int(writer.model.Target[first+index])
		choice.Updates = append(choice.Updates, map[string]any{"m'": controller.Nodes[next].Memory, "s'": writer.variables(successor)})
	}
	return choice
}
