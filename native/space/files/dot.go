package files

import (
	"context"
	"io"

	"tilecheck/prism/syntax"
)

// DOT writes the model as a graph for Graphviz, in the way PRISM does. A state is a box with its number and, unless NoValuations is set,
// the values of the variables. A choice of an MDP is a point between the state and the targets. A choice of an LTS is an edge.
//
// Source: prism -exportmodel model.dot.
func (writer *Writer) DOT(ctx context.Context, out io.Writer) error {
	if writer.program.Type == syntax.POMDP {
		return writer.unsupportedFormat("DOT")
	}
	writer = writer.plainWriter()
	return writer.printTo(ctx, out, func(printer *printer) error {
		printer.writeText("digraph M {\nnode [label=\"\",shape=\"box\"];")
		printer.endLine()
		valuation := printer.space.State(nil, 0)
		err := printer.forEachState(func(number, state int) error {
			printer.writeDOTState(number, state, printer.space.State(valuation, state))
			choices, err := printer.sortedChoices(nil, state)
			if err != nil {
				return err
			}
			for choice, modelChoice := range choices {
				printer.writeDOTChoice(number, choice, modelChoice)
			}
			return nil
		})
		printer.writeText("}")
		printer.endLine()
		return err
	})
}

// writeDOTState writes the node of a state, such as: 3 [label="3\n(0,true)"]; number is the state's number in the file. In a game, the
// states of the first player are boxes, and other states are ovals.
//
// Source: prism-games -exportmodel model.dot.
func (printer *printer) writeDOTState(number, state int, valuation []int32) {
	printer.writeInt(number)
	printer.writeText(` [label="`)
	printer.writeInt(number)
	if !printer.opts.NoValuations {
		printer.writeText(`\n`)
		printer.writeValuation(valuation)
	}
	printer.writeText(`"`)
	if printer.model.Player != nil && printer.model.Player[state] > 0 {
		printer.writeText(`,shape="oval"`)
	}
	printer.writeText(`];`)
	printer.endLine()
}

// writePointName writes the name of the point that stands for a choice.
func (printer *printer) writePointName(state, choice int) {
	printer.writeText("n")
	printer.writeInt(state)
	printer.writeText("_")
	printer.writeInt(choice)
}

// writeDOTChoice writes the edges of a choice. In an MDP it first writes the point at which they begin. state is the number of the state in
// the file, choice the position of the choice among those of its state, and modelChoice its index in the model.
func (printer *printer) writeDOTChoice(state, choice, modelChoice int) {
	if printer.isNondeterministic() && printer.isProbabilistic() {
		printer.writeChoicePoint(state, choice, printer.actionName(modelChoice))
	}
	for _, transition := range printer.writtenRow(nil, modelChoice) {
		if printer.isProbabilistic() {
			printer.writeDOTTransition(state, choice, transition)
		} else {
			printer.writeDOTEdge(state, choice, transition.target, printer.actionName(modelChoice))
		}
	}
}

// writeChoicePoint writes the edge from a state of an MDP to the point of a choice, with the position and the action of the choice as
// label. Then it writes the point.
func (printer *printer) writeChoicePoint(state, choice int, action string) {
	printer.writeInt(state)
	printer.writeText(" -> ")
	printer.writePointName(state, choice)
	printer.writeText(`  [label="`)
	printer.writeInt(choice)
	if action != "" {
		printer.writeText(":" + action)
	}
	printer.writeText(`",arrowhead="none"];`)
	printer.endLine()
	printer.writePointName(state, choice)
	printer.writeText(` [ shape=point,width=0.1,height=0.1,label="" ];`)
	printer.endLine()
}

// writeDOTTransition writes the edge of a transition, with its probability or rate as label. In an MDP it begins at the point of the
// choice. In a Markov chain it begins at the state, and the label also has the action.
func (printer *printer) writeDOTTransition(state, choice int, transition writtenTransition) {
	action := ""
	if printer.isNondeterministic() {
		printer.writePointName(state, choice)
	} else {
		printer.writeInt(state)
		action = transition.action
	}
	printer.writeText(" -> ")
	printer.writeInt(transition.target)
	printer.writeText(` [label="`)
	printer.writeWeight(transition)
	if action != "" {
		printer.writeText(":" + action)
	}
	printer.writeText(`"];`)
	printer.endLine()
}

// writeDOTEdge writes a choice of an LTS as an edge from the state to the target. Its label has the position of the choice and the action.
func (printer *printer) writeDOTEdge(state, choice, target int, action string) {
	printer.writeInt(state)
	printer.writeText(" -> ")
	printer.writeInt(target)
	printer.writeText(` [label="`)
	printer.writeInt(choice)
	if action != "" {
		printer.writeText(":" + action)
	}
	printer.writeText(`"];`)
	printer.endLine()
}
