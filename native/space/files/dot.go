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
func (w *Writer) DOT(ctx context.Context, out io.Writer) error {
	if w.program.Type == syntax.POMDP {
		return w.requireNoIntervals("DOT")
	}
	w = w.plainWriter()
	return w.printTo(ctx, out, func(p *printer) error {
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
func (p *printer) writeDOTState(number, state int, valuation []int32) {
	p.writeInt(number)
	p.write(` [label="`)
	p.writeInt(number)
	if !p.opts.NoValuations {
		p.write(`\n`)
		p.writeValuation(valuation)
	}
	p.write(`"`)
	if p.model.Player != nil && p.model.Player[state] > 0 {
		p.write(`,shape="oval"`)
	}
	p.write(`];`)
	p.endLine()
}

// writePointName writes the name of the point that stands for a choice.
func (p *printer) writePointName(state, choice int) {
	p.write("n")
	p.writeInt(state)
	p.write("_")
	p.writeInt(choice)
}

// writeDOTChoice writes the edges of a choice. In an MDP it also writes the point where they begin. choice is the
// position of the choice in its state, and modelChoice is its index in the model.
func (p *printer) writeDOTChoice(state, choice, modelChoice int) {
	if p.nondeterministic() && p.probabilistic() {
		p.writeChoicePoint(state, choice, p.actionName(modelChoice))
	}
	for _, transition := range p.writtenRow(nil, modelChoice) {
		if p.probabilistic() {
			p.writeDOTTransition(state, choice, transition)
		} else {
			p.writeDOTEdge(state, choice, transition.target, p.actionName(modelChoice))
		}
	}
}

// writeChoicePoint writes the edge from a state to the point of a choice, and the point.
func (p *printer) writeChoicePoint(state, choice int, action string) {
	p.writeInt(state)
	p.write(" -> ")
	p.writePointName(state, choice)
	p.write(`  [label="`)
	p.writeInt(choice)
	if action != "" {
		p.write(":" + action)
	}
	p.write(`",arrowhead="none"];`)
	p.endLine()
	p.writePointName(state, choice)
	p.write(` [ shape=point,width=0.1,height=0.1,label="" ];`)
	p.endLine()
}

// writeDOTTransition writes the edge of a transition. In an MDP it begins at the point of the choice, and in a
// Markov chain at the state.
func (p *printer) writeDOTTransition(state, choice int, transition writtenTransition) {
	action := ""
	if p.nondeterministic() {
		p.writePointName(state, choice)
	} else {
		p.writeInt(state)
		action = transition.action
	}
	p.write(" -> ")
	p.writeInt(transition.target)
	p.write(` [label="`)
	p.writeWeight(transition)
	if action != "" {
		p.write(":" + action)
	}
	p.write(`"];`)
	p.endLine()
}

// writeDOTEdge writes the edge of a choice of an LTS.
func (p *printer) writeDOTEdge(state, choice, target int, action string) {
	p.writeInt(state)
	p.write(" -> ")
	p.writeInt(target)
	p.write(` [label="`)
	p.writeInt(choice)
	if action != "" {
		p.write(":" + action)
	}
	p.write(`"];`)
	p.endLine()
}
