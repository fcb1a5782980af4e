package files

import (
	"context"
	"io"

	"tilecheck/prism/syntax"
)

// DOT writes the graph for Graphviz as PRISM does. States are boxes with their number and, unless
// NoValuations is set, their valuation. A choice of an MDP is a point, a choice of an LTS is an
// edge.
//
// Source: prism -exportmodel model.dot.
func (w *Writer) DOT(ctx context.Context, out io.Writer) error {
	if w.program.Type == syntax.POMDP {
		return w.requirePlainWeights("DOT")
	}
	w = w.withoutVariants()
	return w.print(ctx, out, func(p *printer) error {
		p.text("digraph M {\nnode [label=\"\",shape=\"box\"];")
		p.end()
		var row []step
		var choices []int
		state := p.space.State(nil, 0)
		err := p.states(func(k, i int) error {
			p.dotState(k, i, p.space.State(state, i))
			var err error
			choices, err = p.choices(choices, i)
			for j, c := range choices {
				if p.nondeterministic() && p.probabilistic() {
					p.dotChoice(k, j, p.action(c))
				}
				row = p.weights(row, c)
				for _, s := range row {
					if p.probabilistic() {
						p.dotTransition(k, j, s)
					} else {
						p.dotEdge(k, j, s.target, p.action(c))
					}
				}
			}
			return err
		})
		p.text("}")
		p.end()
		return err
	})
}

// dotState writes state i, whose number is k. The states of the first player of a game are boxes, those
// of others are ovals.
//
// Source: prism-games -exportmodel model.dot.
func (p *printer) dotState(k, i int, state []int32) {
	p.int(k)
	p.text(` [label="`)
	p.int(k)
	if !p.opts.NoValuations {
		p.text(`\n`)
		p.valuation(state)
	}
	p.text(`"`)
	if p.model.Player != nil && p.model.Player[i] > 0 {
		p.text(`,shape="oval"`)
	}
	p.text(`];`)
	p.end()
}

// point writes the name of the point for choice j of state k.
func (p *printer) point(k, j int) {
	p.text("n")
	p.int(k)
	p.text("_")
	p.int(j)
}

func (p *printer) dotChoice(k, j int, action string) {
	p.int(k)
	p.text(" -> ")
	p.point(k, j)
	p.text(`  [label="`)
	p.int(j)
	if action != "" {
		p.text(":" + action)
	}
	p.text(`",arrowhead="none"];`)
	p.end()
	p.point(k, j)
	p.text(` [ shape=point,width=0.1,height=0.1,label="" ];`)
	p.end()
}

func (p *printer) dotTransition(k, j int, s step) {
	action := ""
	if p.nondeterministic() {
		p.point(k, j)
	} else {
		p.int(k)
		action = s.action
	}
	p.text(" -> ")
	p.int(s.target)
	p.text(` [label="`)
	p.weight(s)
	if action != "" {
		p.text(":" + action)
	}
	p.text(`"];`)
	p.end()
}

// dotEdge writes choice j of state k of an LTS.
func (p *printer) dotEdge(k, j, target int, action string) {
	p.int(k)
	p.text(" -> ")
	p.int(target)
	p.text(` [label="`)
	p.int(j)
	if action != "" {
		p.text(":" + action)
	}
	p.text(`"];`)
	p.end()
}
