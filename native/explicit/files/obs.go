package files

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// observations are what a partially observable model shows of its states: of each the
// number, in the order in which they are come upon, and what it is.
type observations struct {
	of   []int
	list []string // "true,3"
}

// observe finds the observations of a partially observable model.
func (p *printer) observe() error {
	if p.program.Type != syntax.POMDP {
		return nil
	}
	out := &observations{of: make([]int, p.model.NumStates())}
	number := map[string]int{}
	state := p.space.State(nil, 0)
	for i := range out.of {
		if i&0xfff == 0 && p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		text := ""
		for k, o := range p.program.Observables {
			v, _, err := sema.EvalExact(o.X, p.space.State(state, i))
			if err != nil {
				return fmt.Errorf("observable %q in state %d: %w", o.Name, p.numbers[i], err)
			}
			if k > 0 {
				text += ","
			}
			if v.Type == sema.Bool {
				text += strconv.FormatBool(v.Bool)
			} else {
				text += strconv.Itoa(int(v.Int))
			}
		}
		n, known := number[text]
		if !known {
			n = len(out.list)
			number[text] = n
			out.list = append(out.list, text)
		}
		out.of[i] = n
	}
	p.seen = out
	return nil
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
		p.spaced(p.seen.of[i])
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
		for k, text := range p.seen.list {
			p.int(k)
			p.text(":(" + text + ")")
			p.end()
		}
		return nil
	})
}
