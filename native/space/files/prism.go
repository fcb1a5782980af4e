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

// Transitions writes PRISM's .tra file: one line per transition, with the number of the choice in
// an MDP, and with its action if there is one.
func (w *Writer) Transitions(ctx context.Context, out io.Writer) error {
	return w.print(ctx, out, func(p *printer) error {
		if p.opts.Format == Plain {
			p.header("Transitions (" + p.program.Type.String() + ")")
		}
		if err := p.observe(); err != nil {
			return err
		}
		p.players = p.model.Player != nil
		if p.opts.Format == Matlab {
			p.matrices(p.symbol())
		} else {
			n := p.model.NumTransitions()
			if p.merged() {
				var err error
				if n, err = p.count(p.weights); err != nil {
					return err
				}
			}
			p.counts(n)
			p.firstObservations()
		}
		return p.matrix(p.symbol(), true, p.weights)
	})
}

// symbol returns the name of the matrix in MATLAB code.
func (p *printer) symbol() string {
	switch p.model.Kind {
	case sparse.DTMC:
		return "P"
	case sparse.CTMC:
		return "R"
	}
	return "S"
}

// count returns the total number of steps.
func (p *printer) count(steps func(dst []step, c int) []step) (int, error) {
	n := 0
	var row []step
	for c := range p.model.NumChoices() {
		if c&0xfff == 0 {
			if err := p.ctx.Err(); err != nil {
				return 0, err
			}
		}
		row = steps(row, c)
		n += len(row)
	}
	return n, nil
}

// counts writes the line of totals. n is the last of them.
func (p *printer) counts(n int) {
	p.int(p.model.NumStates())
	if p.players {
		p.text(":")
		p.int(len(p.program.Players))
	}
	if p.nondeterministic() {
		p.spaced(p.model.NumChoices())
	}
	p.spaced(n)
	if p.seen != nil {
		p.spaced(len(p.seen.List))
	}
	p.end()
}

// matrices declares the matrices in MATLAB code: one for a Markov chain; for an MDP one with the
// first choices of all states, one with the second choices, and so on.
func (p *printer) matrices(name string) {
	widest := 0
	for i := range p.model.NumStates() {
		first, end := p.model.Choices(i)
		widest = max(widest, end-first)
	}
	for j := range widest {
		p.matrixName(name, j)
		p.text(" = sparse(")
		p.int(p.model.NumStates())
		p.text(",")
		p.int(p.model.NumStates())
		p.text(");")
		p.end()
	}
}

// matrixName writes the name of the MATLAB matrix for the j-th choices.
func (p *printer) matrixName(name string, j int) {
	p.text(name)
	if p.nondeterministic() {
		p.int(j + 1)
	}
}

// matrix writes steps, with their actions if actions is set.
func (p *printer) matrix(name string, actions bool, steps func(dst []step, c int) []step) error {
	var row []step
	var choices []int
	return p.states(func(k, i int) error {
		var err error
		choices, err = p.choices(choices, i)
		for j, c := range choices {
			row = steps(row, c)
			switch {
			case p.opts.Format == Rows:
				p.row(k, row)
				if actions && !p.opts.NoActions && p.nondeterministic() {
					p.text(" " + p.action(c))
				}
				p.end()
			case p.opts.Format == Matlab:
				for _, s := range row {
					p.assignment(name, k, j, s)
				}
			default:
				for _, s := range row {
					if actions && p.nondeterministic() {
						s.action = p.action(c)
					}
					p.step(k, j, s, !actions || p.probabilistic())
				}
			}
		}
		return err
	})
}

// row writes "0 0.5:1 0.5:2".
func (p *printer) row(k int, row []step) {
	p.int(k)
	for _, s := range row {
		p.text(" ")
		p.num(s.x)
		p.text(":")
		p.int(s.target)
	}
}

// assignment writes "P(1,2)=0.5;".
func (p *printer) assignment(name string, k, j int, s step) {
	p.matrixName(name, j)
	p.text("(")
	p.int(k + 1)
	p.text(",")
	p.int(s.target + 1)
	p.text(")=")
	p.num(s.x)
	p.text(";")
	p.end()
}

// step writes a line of a .tra or .trew file, with its weight if number is set.
func (p *printer) step(k, j int, s step, number bool) {
	p.int(k)
	if p.players {
		p.text(":")
		p.int(int(p.model.Player[p.order[k]]))
	}
	if p.nondeterministic() {
		p.spaced(j)
	}
	p.spaced(s.target)
	if number {
		p.text(" ")
		p.weight(s)
	}
	if p.seen != nil {
		p.spaced(int(p.seen.Of[p.order[s.target]]))
	}
	if s.action != "" {
		p.text(" " + s.action)
	}
	p.end()
}

// weight writes the weight of a step, or its interval.
func (p *printer) weight(s step) {
	if s.high.r == nil {
		p.num(s.x)
		return
	}
	p.text("[")
	p.num(s.x)
	p.text(",")
	p.num(s.high)
	p.text("]")
}

// States writes PRISM's .sta file: the variables, and their values in every state.
func (w *Writer) States(ctx context.Context, out io.Writer) error {
	return w.print(ctx, out, func(p *printer) error {
		matlab := p.opts.Format == Matlab
		if !matlab || p.opts.Symbolic {
			p.header("States")
		}
		if matlab {
			p.text("% ")
		}
		p.text("(")
		for i, v := range p.program.Vars {
			if i > 0 {
				p.text(",")
			}
			p.text(v.Name)
		}
		p.text(")")
		p.end()
		if matlab {
			p.text("states=[")
			p.end()
		}
		state := p.space.State(nil, 0)
		err := p.states(func(k, i int) error {
			p.space.State(state, i)
			if matlab {
				p.values(state)
			} else {
				p.int(k)
				p.text(":")
				p.valuation(state)
			}
			p.end()
			return nil
		})
		if matlab {
			p.text("];")
			p.end()
		}
		return err
	})
}

// valuation writes "(0,true)".
func (p *printer) valuation(state []int32) {
	p.text("(")
	p.values(state)
	p.text(")")
}

// values writes "0,true".
func (p *printer) values(state []int32) {
	for i, v := range p.program.Vars {
		if i > 0 {
			p.text(",")
		}
		if v.Type == sema.Bool {
			p.line = strconv.AppendBool(p.line, state[i] != 0)
			continue
		}
		p.int(int(state[i]))
	}
}

// Labels writes PRISM's .lab file: the names of the labels, including init and deadlock, and the
// labels of every state that has any.
func (w *Writer) Labels(ctx context.Context, out io.Writer) error {
	labels, err := w.labels(ctx)
	if err != nil {
		return err
	}
	return w.writeLabels(ctx, out, labels)
}

// PropertyLabels writes a .lab file with the labels of Options.Program that the program of the
// space lacks.
//
// Source: prism -exportproplabels.
func (w *Writer) PropertyLabels(ctx context.Context, out io.Writer) error {
	own := w.space.Program().Labels
	extra := slices.DeleteFunc(slices.Clone(w.program.Labels), func(l sema.LabelDef) bool {
		return slices.ContainsFunc(own, func(o sema.LabelDef) bool { return o.Name == l.Name })
	})
	labels, err := w.evaluate(ctx, extra)
	if err != nil {
		return err
	}
	return w.writeLabels(ctx, out, labels)
}

func (w *Writer) writeLabels(ctx context.Context, out io.Writer, labels []sparse.Label) error {
	if w.opts.Format == Matlab {
		return w.matlabLabels(ctx, out, labels)
	}
	return w.print(ctx, out, func(p *printer) error {
		p.header("Labels")
		for j, l := range labels {
			if j > 0 {
				p.text(" ")
			}
			p.int(j)
			p.text("=" + `"` + l.Name + `"`)
		}
		p.end()
		return p.states(func(k, i int) error {
			some := false
			for j, l := range labels {
				if !l.States.Has(i) {
					continue
				}
				if !some {
					p.int(k)
					p.text(":")
				}
				p.spaced(j)
				some = true
			}
			if some {
				p.end()
			}
			return nil
		})
	})
}

// matlabLabels writes a 0-1 vector for each label.
func (w *Writer) matlabLabels(ctx context.Context, out io.Writer, labels []sparse.Label) error {
	for _, l := range labels {
		if !isWord(l.Name) {
			return fmt.Errorf("label %q is no name in MATLAB", l.Name)
		}
	}
	return w.print(ctx, out, func(p *printer) error {
		for _, l := range labels {
			p.text("l_" + l.Name + "=sparse(")
			p.int(p.model.NumStates())
			p.text(",1);")
			p.end()
		}
		p.end()
		return p.states(func(k, i int) error {
			for _, l := range labels {
				if l.States.Has(i) {
					p.text("l_" + l.Name + "(")
					p.int(k + 1)
					p.text(")=1;")
					p.end()
				}
			}
			return nil
		})
	})
}

// labels evaluates all labels.
func (w *Writer) labels(ctx context.Context) ([]sparse.Label, error) {
	builtin := func(name string, index int) sema.LabelDef {
		return sema.LabelDef{Name: name, X: &sema.Label{Base: sema.Base{T: sema.Bool}, Name: name, Index: index}}
	}
	return w.evaluate(ctx, append([]sema.LabelDef{builtin("init", sema.LabelInit), builtin("deadlock", sema.LabelDeadlock)}, w.program.Labels...))
}

func (w *Writer) evaluate(ctx context.Context, defs []sema.LabelDef) ([]sparse.Label, error) {
	var out []sparse.Label
	for _, l := range defs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		set, err := w.space.States(l.X)
		if err != nil {
			return nil, err
		}
		out = append(out, sparse.Label{Name: l.Name, States: set})
	}
	return out, nil
}

// StateRewards writes PRISM's .srew file with the nonzero state rewards of Program.Rewards[index].
func (w *Writer) StateRewards(ctx context.Context, out io.Writer, index int) error {
	r, err := w.space.Reward(index)
	if err != nil {
		return err
	}
	return w.print(ctx, out, func(p *printer) error {
		matlab := p.opts.Format == Matlab
		name := "c" + strconv.Itoa(index+1)
		if matlab {
			p.text(name + " = sparse(")
			p.int(p.model.NumStates())
			p.text(",1);")
		} else {
			p.rewardHeader(index, "State")
			n := 0
			for i := range p.order {
				if !rewardOf(r.State, r.StateRat, i).zero() {
					n++
				}
			}
			p.int(p.model.NumStates())
			p.spaced(n)
		}
		p.end()
		return p.states(func(k, i int) error {
			x := rewardOf(r.State, r.StateRat, i)
			switch {
			case x.zero():
				return nil
			case matlab:
				p.text(name + "(")
				p.int(k + 1)
				p.text(")=")
				p.num(x)
				p.text(";")
			default:
				p.int(k)
				p.text(" ")
				p.num(x)
			}
			p.end()
			return nil
		})
	})
}

func (p *printer) rewardHeader(index int, kind string) {
	title := "Reward structure"
	if name := p.program.Rewards[index].Name; name != "" {
		title += ` "` + name + `"`
	}
	p.header(title)
	p.header(kind + " rewards")
}

// TransitionRewards writes PRISM's .trew file with the nonzero transition rewards of
// Program.Rewards[index]. The reward of a choice of an MDP is repeated for each of its
// transitions.
func (w *Writer) TransitionRewards(ctx context.Context, out io.Writer, index int) error {
	reward, err := w.reward(index)
	if err != nil {
		return err
	}
	return w.print(ctx, out, func(p *printer) error {
		steps := func(dst []step, c int) []step { return p.rewardSteps(dst, c, reward) }
		name := "C" + strconv.Itoa(index+1)
		switch p.opts.Format {
		case Plain:
			p.rewardHeader(index, "Transition")
		case Matlab:
			p.matrices(name)
		}
		if p.opts.Format != Matlab {
			n, err := p.count(steps)
			if err != nil {
				return err
			}
			p.counts(n)
		}
		return p.matrix(name, false, steps)
	})
}

// reward returns a function that returns the reward of transition t of choice c.
func (w *Writer) reward(index int) (func(c, t int) number, error) {
	if w.nondeterministic() {
		r, err := w.space.Reward(index)
		if err != nil {
			return nil, err
		}
		return func(c, _ int) number { return rewardOf(r.Choice, r.ChoiceRat, c) }, nil
	}
	values, rats, err := w.space.TransitionRewards(index)
	return func(_, t int) number { return rewardOf(values, rats, t) }, err
}
