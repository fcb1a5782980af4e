package crosscheck

import (
	"slices"

	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// explain describes choices that only one space has: two with the same action
// by the first transition that differs, another by itself.
func (d *differ) explain(i, j int, left, right []*move) *Difference {
	for _, m := range left {
		for _, o := range right {
			if m.action == o.action {
				return d.explainEdge(i, j, m, o)
			}
		}
	}
	x := &Difference{Kind: Choices, First: "not there", Second: "not there"}
	if len(left) > 0 {
		x.What, x.First = d.moveText(left[0]), "there"
		x.Made = slices.Concat(d.origins(d.a, i, left[0], nil), d.absent(d.b, left[0].action))
		return x
	}
	x.What, x.Second = d.moveText(right[0]), "there"
	x.Made = slices.Concat(d.likely(i, right[0]), d.origins(d.b, j, right[0], nil))
	return x
}

func actionText(action string) string { return "choice [" + action + "]" }

func (d *differ) moveText(m *move) string {
	text := actionText(m.action) + " to " + d.text(m.edges[0].target)
	if len(m.edges) > 1 {
		text += " and others"
	}
	return text
}

// explainEdge describes the first transition in which two choices differ.
func (d *differ) explainEdge(i, j int, m, o *move) *Difference {
	x := &Difference{Kind: Probability, First: "none", Second: "none"}
	e, f := firstDifferent(m.edges, o.edges, edge.mass)
	if e == nil && f == nil {
		e, f = firstDifferent(m.edges, o.edges, edge.most)
	}
	at := e
	if e == nil {
		at = f
	}
	if d.a.model.Kind == sparse.MDP {
		x.What = actionText(m.action) + ", "
	} else if at.action != "" {
		x.What = "action [" + at.action + "], "
	}
	x.What += "to " + d.text(at.target)
	if e != nil {
		x.First = e.text()
	}
	if f != nil {
		x.Second = f.text()
	}
	x.Made = slices.Concat(d.origins(d.a, i, m, e), d.origins(d.b, j, o, f))
	return x
}

// text writes the weight of an edge.
func (e edge) text() string {
	if e.high == (quantity{}) {
		return e.weight.String()
	}
	return "[" + e.weight.String() + "," + e.high.String() + "]"
}

// mass is the weight of an edge, most the upper end of an interval, and mean what its
// transitions earn.
func (e edge) mass() quantity { return e.weight }
func (e edge) most() quantity { return e.high }
func (e edge) mean() quantity { return e.earned.over(e.weight) }

// firstDifferent returns the first entries of two sorted lists that differ, nil
// for the one that is missing.
func firstDifferent(es, fs []edge, value func(edge) quantity) (e, f *edge) {
	for k := 0; ; k++ {
		switch {
		case k == len(es) && k == len(fs):
			return nil, nil
		case k == len(es):
			return nil, &fs[k]
		case k == len(fs):
			return &es[k], nil
		}
		switch c := es[k].compare(fs[k]); {
		case c < 0:
			return &es[k], nil
		case c > 0:
			return nil, &fs[k]
		case !value(es[k]).equal(value(fs[k])):
			return &es[k], &fs[k]
		}
	}
}

// origins lists the commands that made a choice, or in a Markov chain a
// transition of a state, nil for all of them.
func (d *differ) origins(v *view, i int, m *move, e *edge) []Origin {
	if v.Space.Imported() {
		return nil
	}
	state := v.Space.State(nil, i)
	cs, err := v.Space.Compiled().NewExpander().Expand(state)
	if err != nil { // not in a state that was built
		return nil
	}
	var exact, alike []Origin
	for k := range cs.List {
		c := &cs.List[k]
		switch {
		case v.model.Kind == sparse.MDP && d.actions && actionName(v, c.Action) != m.action:
			continue
		case d.leads(v, c, m, e):
			exact = v.commands(exact, c)
		}
		alike = v.commands(alike, c)
	}
	if len(exact) > 0 {
		return exact
	}
	return alike
}

func actionName(v *view, action int) string {
	if action == sema.Unlabelled {
		return ""
	}
	return v.Space.Program().Actions[action]
}

// leads reports whether a choice is a move of an MDP, or has a transition to the
// edge's target.
func (d *differ) leads(v *view, c *compile.Choice, m *move, e *edge) bool {
	if v.model.Kind == sparse.MDP {
		return len(c.Transitions) == len(m.edges) && !slices.ContainsFunc(m.edges, func(f edge) bool { return !d.reaches(v, c, f.target) })
	}
	return e != nil && d.reaches(v, c, e.target)
}

func (d *differ) reaches(v *view, c *compile.Choice, of int32) bool {
	target := d.target(of)
	return slices.ContainsFunc(c.Transitions, func(t compile.Transition) bool {
		for k, slot := range v.slots {
			if t.Target[slot] != target[k] {
				return false
			}
		}
		return true
	})
}

// commands appends the commands of a choice that are not there.
func (v *view) commands(out []Origin, c *compile.Choice) []Origin {
	p := v.Space.Program()
	for _, ref := range c.Commands {
		o := Origin{Model: v.Name, File: p.File, Pos: p.Modules[ref.Module].Commands[ref.Command].Pos, Action: actionName(v, c.Action), Enabled: true}
		if !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}

// likely lists the commands of a that might have made a choice which only b has in
// state i: those with an update that leads to one of its targets, else those of its
// action.
func (d *differ) likely(i int, m *move) []Origin {
	if d.a.Space.Imported() {
		return nil
	}
	var out []Origin
	state := d.a.Space.State(nil, i)
	p := d.a.Space.Program()
	for _, module := range p.Modules {
		for _, c := range module.Commands {
			leads := slices.ContainsFunc(c.Updates, func(u sema.Update) bool {
				target := updated(state, &u)
				return target != nil && slices.ContainsFunc(m.edges, func(e edge) bool { return slices.Equal(d.target(e.target), target) })
			})
			if !leads {
				continue
			}
			guard, err := sema.Eval(c.Guard, state)
			out = append(out, Origin{Model: d.a.Name, File: p.File, Pos: c.Pos, Action: actionName(d.a, c.Action), Enabled: err == nil && guard.Bool})
		}
	}
	if out == nil {
		return d.absent(d.a, m.action)
	}
	return out
}

// updated is what an update of one command makes of a state; nil for nothing else, or
// what has no value.
func updated(state []int32, u *sema.Update) []int32 {
	out := slices.Clone(state)
	for _, a := range u.Assigns {
		x, err := sema.Eval(a.Value, state)
		if err != nil {
			return nil
		}
		if out[a.Slot] = x.Int; x.Bool {
			out[a.Slot] = 1
		}
	}
	if slices.Equal(out, state) {
		return nil
	}
	return out
}

// absent lists the commands that might have made a choice with that action.
func (d *differ) absent(v *view, action string) []Origin {
	var out []Origin
	if v.Space.Imported() || action == "" {
		return nil
	}
	p := v.Space.Program()
	for _, m := range p.Modules {
		for _, c := range m.Commands {
			if actionName(v, c.Action) == action {
				out = append(out, Origin{Model: v.Name, File: p.File, Pos: c.Pos, Action: action})
			}
		}
	}
	return out
}
