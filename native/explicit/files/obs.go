package files

import (
	"context"
	"fmt"
	"io"

	"tilecheck/prism/compile"
	"tilecheck/prism/syntax"
)

// observe finds the observations of a partially observable model.
func (p *printer) observe() (err error) {
	p.seen, err = p.space.Observations(p.ctx)
	return err
}

// firstObservations writes a line for what each initial state shows.
func (p *printer) firstObservations() {
	if p.seen == nil {
		return
	}
	for _, i := range p.model.Initial {
		p.text("- -")
		p.spaced(int(p.numbers[i]))
		p.text(" -")
		p.spaced(int(p.seen.Of[i]))
		p.end()
	}
}

// Observations writes PRISM's .obs file: the observables, and their values in every
// observation. Other models than POMDPs have none, which is a *compile.UnsupportedError.
func (w *Writer) Observations(ctx context.Context, out io.Writer) error {
	if w.program.Type != syntax.POMDP {
		return &compile.UnsupportedError{File: w.program.File, Msg: fmt.Sprintf("found a model of type %s, only POMDPs have observations", w.program.Type)}
	}
	return w.print(ctx, out, func(p *printer) error {
		if err := p.observe(); err != nil {
			return err
		}
		p.header("Observations")
		p.text("(")
		for i, o := range p.program.Observables {
			if i > 0 {
				p.text(",")
			}
			p.text(o.Name)
		}
		p.text(")")
		p.end()
		for k, text := range p.seen.List {
			p.int(k)
			p.text(":(" + text + ")")
			p.end()
		}
		return nil
	})
}
