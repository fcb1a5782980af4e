package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// observe computes the observations of a POMDP.
func (p *printer) observe() (err error) {
	p.seen, err = p.space.Observations(p.ctx)
	if wrong, ok := errors.AsType[*explicit.ChoicesError](err); ok {
		return fmt.Errorf("%s: %w", wrong.File, wrong)
	}
	return err
}

// observed returns the observations of a POMDP, with the values of the .obs file if there is one.
func (t *traFile) observed(obs *staFile) *explicit.Observations {
	out := &explicit.Observations{}
	for k := range t.totals[3] {
		text := strconv.Itoa(k)
		if obs != nil {
			text = obs.valueText(k)
		}
		out.List = append(out.List, text)
	}
	for _, o := range t.seen {
		out.Of = append(out.Of, uint32(o))
	}
	return out
}

// valueText returns the values of state or observation k, separated by commas.
func (s *staFile) valueText(k int) string {
	var out []string
	for i, v := range s.vars {
		x := s.values[k*len(s.vars)+i]
		text := strconv.Itoa(int(x))
		if v.Type == sema.Bool {
			text = strconv.FormatBool(x != 0)
		}
		out = append(out, text)
	}
	return strings.Join(out, ",")
}

// varNames returns the names of the variables.
func (s *staFile) varNames() []string {
	var out []string
	for _, v := range s.vars {
		out = append(out, v.Name)
	}
	return out
}

// firstObservations writes a line with the observation of each initial state.
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

// Observations writes PRISM's .obs file: the observables and their values in every observation. A
// model that is not a POMDP is a *compile.UnsupportedError.
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
