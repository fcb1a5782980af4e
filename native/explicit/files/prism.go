package files

import (
	"context"
	"io"
	"strconv"

	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
)

// Transitions writes PRISM's .tra file: one line per transition, in an MDP
// with the number of the choice, and with the action where there is one.
func (w *Writer) Transitions(ctx context.Context, out io.Writer) error {
	return w.print(ctx, out, func(p *printer) error {
		p.header("Transitions (" + p.program.Type.String() + ")")
		p.counts(p.model.NumTransitions())
		var row []int
		return p.states(func(k, i int) error {
			first, end := p.model.Choices(i)
			for c := first; c < end; c++ {
				row = p.sorted(row, c)
				for _, t := range row {
					p.transition(k, c, c-first, t)
				}
			}
			return nil
		})
	})
}

// counts writes the line of totals, which ends with n.
func (p *printer) counts(n int) {
	p.int(p.model.NumStates())
	if p.nondeterministic() {
		p.spaced(p.model.NumChoices())
	}
	p.spaced(n)
	p.end()
}

// transition writes transition t of choice c, the state's choice number j.
func (p *printer) transition(k, c, j, t int) {
	p.int(k)
	at := t
	if p.nondeterministic() {
		p.spaced(j)
		at = c
	}
	p.text(" ")
	p.target(t)
	p.text(" ")
	p.weight(t)
	if a := p.action(at); a != "" {
		p.text(" " + a)
	}
	p.end()
}

// States writes PRISM's .sta file: the variables, and their values in every state.
func (w *Writer) States(ctx context.Context, out io.Writer) error {
	return w.print(ctx, out, func(p *printer) error {
		p.header("States")
		p.text("(")
		for i, v := range p.program.Vars {
			if i > 0 {
				p.text(",")
			}
			p.text(v.Name)
		}
		p.text(")")
		p.end()
		state := p.space.State(nil, 0)
		return p.states(func(k, i int) error {
			p.int(k)
			p.text(":")
			p.valuation(p.space.State(state, i))
			p.end()
			return nil
		})
	})
}

// valuation writes "(0,true)".
func (p *printer) valuation(state []int32) {
	p.text("(")
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
	p.text(")")
}

// Labels writes PRISM's .lab file: init, deadlock and the labels of the
// program, and the labels of every state that has any.
func (w *Writer) Labels(ctx context.Context, out io.Writer) error {
	labels, err := w.labels(ctx)
	if err != nil {
		return err
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

// labels evaluates all labels.
func (w *Writer) labels(ctx context.Context) ([]sparse.Label, error) {
	builtin := func(name string, index int) sema.LabelDef {
		return sema.LabelDef{Name: name, X: &sema.Label{Base: sema.Base{T: sema.Bool}, Name: name, Index: index}}
	}
	defs := append([]sema.LabelDef{builtin("init", sema.LabelInit), builtin("deadlock", sema.LabelDeadlock)}, w.program.Labels...)
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

// StateRewards writes PRISM's .srew file of Program.Rewards[index]: the rewards
// of states that are not zero.
func (w *Writer) StateRewards(ctx context.Context, out io.Writer, index int) error {
	r, err := w.space.Reward(index)
	if err != nil {
		return err
	}
	return w.print(ctx, out, func(p *printer) error {
		p.rewardHeader(index, "State")
		n := 0
		for i := range p.order {
			if !rewardOf(r.State, r.StateRat, i).zero() {
				n++
			}
		}
		p.int(p.model.NumStates())
		p.spaced(n)
		p.end()
		return p.states(func(k, i int) error {
			if x := rewardOf(r.State, r.StateRat, i); !x.zero() {
				p.int(k)
				p.text(" ")
				p.num(x)
				p.end()
			}
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

// TransitionRewards writes PRISM's .trew file of Program.Rewards[index]: the
// rewards of transitions that are not zero. The reward of a choice of an MDP is
// repeated for each of its transitions.
func (w *Writer) TransitionRewards(ctx context.Context, out io.Writer, index int) error {
	earned, err := w.earned(index)
	if err != nil {
		return err
	}
	return w.print(ctx, out, func(p *printer) error {
		p.rewardHeader(index, "Transition")
		n := 0
		for c := range p.model.NumChoices() {
			lo, hi := p.model.Row(c)
			for t := lo; t < hi; t++ {
				if !earned(c, t).zero() {
					n++
				}
			}
		}
		p.counts(n)
		var row []int
		return p.states(func(k, i int) error {
			first, end := p.model.Choices(i)
			for c := first; c < end; c++ {
				row = p.sorted(row, c)
				for _, t := range row {
					p.reward(k, c-first, t, earned(c, t))
				}
			}
			return nil
		})
	})
}

// reward writes the reward of a transition, unless it is zero.
func (p *printer) reward(k, j, t int, x number) {
	if x.zero() {
		return
	}
	p.int(k)
	if p.nondeterministic() {
		p.spaced(j)
	}
	p.text(" ")
	p.target(t)
	p.text(" ")
	p.num(x)
	p.end()
}

// earned returns a function that tells the reward of transition t of choice c.
func (w *Writer) earned(index int) (func(c, t int) number, error) {
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
