package files

import (
	"context"
	"io"

	"tilecheck/prism/syntax"
)

// DOT writes the graph for Graphviz, as PRISM does. A state is a box with its number and, unless NoValuations is
// set, its valuation. A choice of an MDP is a point. A choice of an LTS is an edge.
//
// Source: prism -exportmodel model.dot.
func (writer *Writer) DOT(ctx context.Context, out io.Writer) error {
	if writer.program.Type == syntax.POMDP {
		return writer.unsupportedFormat("DOT")
	}
	writer = writer.plainWriter()
	return writer.printTo(ctx, out, func(p *printer) error {
		p.write("digraph M {\nnode [label=\"\",shape=\"box\"];")
		p.endLine()
		valuation := p.space.State(nil, 0)
		err := p.forEachState(func(number, state int) error {
			p.writeDOTState(number, state, p.space.State(valuation, state))
			choices, err := p.sortedChoices(nil, state)
			if err != nil {
				return err
			}
			for choice, modelChoice := range choices {
				p.writeDOTChoice(number, choice, modelChoice)
			}
			return nil
		})
		p.write("}")
		p.endLine()
		return err
	})
}

// writeDOTState writes a state. In a game, the states of the first player are boxes, and other states are ovals.
//
// Source: prism-games -exportmodel model.dot.
func (printer *printer) writeDOTState(number, state int, valuation []int32) {
	printer.writeInt(number)
	printer.write(` [label="`)
	printer.writeInt(number)
	if !printer.opts.NoValuations {
		printer.write(`\n`)
		printer.writeValuation(valuation)
	}
	printer.write(`"`)
	if printer.model.Player != nil && printer.model.Player[state] > 0 {
		printer.write(`,shape="oval"`)
	}
	printer.write(`];`)
	printer.endLine()
}

// writePointName writes the name of the point that stands for a choice.
func (printer *printer) writePointName(state, choice int) {
	printer.write("n")
	printer.writeInt(state)
	printer.write("_")
	printer.writeInt(choice)
}

// writeDOTChoice writes the edges of a choice. In an MDP it also writes the point where they begin. choice is the
// position of the choice in its state, and modelChoice is its index in the model.
func (printer *printer) writeDOTChoice(state, choice, modelChoice int) {
	if printer.nondeterministic() && printer.probabilistic() {
		printer.writeChoicePoint(state, choice, printer.actionName(modelChoice))
	}
	for _, transition := range printer.writtenRow(nil, modelChoice) {
		if printer.probabilistic() {
			printer.writeDOTTransition(state, choice, transition)
		} else {
			printer.writeDOTEdge(state, choice, transition.target, printer.actionName(modelChoice))
		}
	}
}

// writeChoicePoint writes the edge from a state to the point of a choice, and the point.
func (printer *printer) writeChoicePoint(state, choice int, action string) {
	printer.writeInt(state)
	printer.write(" -> ")
	printer.writePointName(state, choice)
	printer.write(`  [label="`)
	printer.writeInt(choice)
	if action != "" {
		printer.write(":" + action)
	}
	printer.write(`",arrowhead="none"];`)
	printer.endLine()
	printer.writePointName(state, choice)
	printer.write(` [ shape=point,width=0.1,height=0.1,label="" ];`)
	printer.endLine()
}

// writeDOTTransition writes the edge of a transition. In an MDP it begins at the point of the choice, and in a
// Markov chain at the state.
func (printer *printer) writeDOTTransition(state, choice int, transition writtenTransition) {
	action := ""
	if printer.nondeterministic() {
		printer.writePointName(state, choice)
	} else {
		printer.writeInt(state)
		action = transition.action
	}
	printer.write(" -> ")
	printer.writeInt(transition.target)
	printer.write(` [label="`)
	printer.writeWeight(transition)
	if action != "" {
		printer.write(":" + action)
	}
	printer.write(`"];`)
	printer.endLine()
}

// writeDOTEdge writes the edge of a choice of an LTS.
func (printer *printer) writeDOTEdge(state, choice, target int, action string) {
	printer.writeInt(state)
	printer.write(" -> ")
	printer.writeInt(target)
	printer.write(` [label="`)
	printer.writeInt(choice)
	if action != "" {
		printer.write(":" + action)
	}
	printer.write(`"];`)
	printer.endLine()
}
