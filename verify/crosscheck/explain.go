package crosscheck

import (
	"slices"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// explainChoices describes choices without a counterpart. If there are two with the same action, it names the first
// transition that differs, otherwise a choice that only one space has.
func (d *spaceComparison) explainChoices(i, j int, left, right []*choice) *Difference {
	for _, m := range left {
		for _, o := range right {
			if m.action == o.action {
				return d.explainTransition(i, j, m, o)
			}
		}
	}
	x := &Difference{Kind: Choices, First: absent, Second: absent}
	if len(left) > 0 {
		x.What, x.First = d.choiceText(left[0]), present
		x.Made = slices.Concat(d.origins(d.a, i, left[0], nil), d.commandsWithAction(d.b, left[0].action))
		return x
	}
	x.What, x.Second = d.choiceText(right[0]), present
	x.Made = slices.Concat(d.candidateCommands(i, right[0]), d.origins(d.b, j, right[0], nil))
	return x
}

func actionText(action string) string { return "choice [" + action + "]" }

func (d *spaceComparison) choiceText(m *choice) string {
	text := actionText(m.action) + " to " + d.stateText(m.transitions[0].target)
	if len(m.transitions) > 1 {
		text += " and others"
	}
	return text
}

// explainTransition describes the first transition in which two choices differ.
func (d *spaceComparison) explainTransition(i, j int, m, o *choice) *Difference {
	x := &Difference{Kind: Probability, First: "none", Second: "none"}
	e, f := firstDifferent(m.transitions, o.transitions, transition.mass)
	if e == nil && f == nil {
		e, f = firstDifferent(m.transitions, o.transitions, transition.upperEnd)
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
	x.What += "to " + d.stateText(at.target)
	if e != nil {
		x.First = e.text()
	}
	if f != nil {
		x.Second = f.text()
	}
	x.Made = slices.Concat(d.origins(d.a, i, m, e), d.origins(d.b, j, o, f))
	return x
}

// text returns the weight, or the interval of weights.
func (e transition) text() string {
	if e.high == (quantity{}) {
		return e.weight.String()
	}
	return "[" + e.weight.String() + "," + e.high.String() + "]"
}

// mass is the weight, upperEnd the upper end of an interval of weights, and meanReward the mean transition reward.
func (e transition) mass() quantity       { return e.weight }
func (e transition) upperEnd() quantity   { return e.high }
func (e transition) meanReward() quantity { return e.weightedReward.dividedBy(e.weight) }

// firstDifferent returns the first entries of two sorted lists that differ. A missing entry is nil.
func firstDifferent(es, fs []transition, value func(transition) quantity) (e, f *transition) {
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

// origins lists the commands that made a choice; in a Markov chain those that made a transition of the state, or all if e is nil.
func (d *spaceComparison) origins(v *view, i int, m *choice, e *transition) []Origin {
	if v.Space.Imported() {
		return nil
	}
	state := v.Space.State(nil, i)
	cs, err := v.Space.Compiled().NewExpander().Expand(state)
	if err != nil { // cannot happen in a reachable state
		return nil
	}
	var exact, alike []Origin
	for k := range cs.List {
		c := &cs.List[k]
		switch {
		case v.model.Kind == sparse.MDP && d.namedActions && actionName(v, c.Action) != m.action:
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

// leads reports whether a compiled choice can be choice m of an MDP, or has a transition to the target of e.
func (d *spaceComparison) leads(v *view, c *compile.Choice, m *choice, e *transition) bool {
	if v.model.Kind == sparse.MDP {
		return len(c.Transitions) == len(m.transitions) && !slices.ContainsFunc(m.transitions, func(f transition) bool { return !d.reaches(v, c, f.target) })
	}
	return e != nil && d.reaches(v, c, e.target)
}

func (d *spaceComparison) reaches(v *view, c *compile.Choice, of int32) bool {
	target := d.valuationOf(of)
	return slices.ContainsFunc(c.Transitions, func(t compile.Transition) bool {
		for k, slot := range v.slots {
			if t.Target[slot] != target[k] {
				return false
			}
		}
		return true
	})
}

// commands appends the commands of a choice to out, without duplicates.
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

// candidateCommands lists the commands of a that may have been meant to make a choice which only b has in state i: those with an
// update that leads to one of its targets, or else those with its action.
func (d *spaceComparison) candidateCommands(i int, m *choice) []Origin {
	if d.a.Space.Imported() {
		return nil
	}
	var out []Origin
	state := d.a.Space.State(nil, i)
	p := d.a.Space.Program()
	for _, module := range p.Modules {
		for _, c := range module.Commands {
			leads := slices.ContainsFunc(c.Updates, func(u sema.Update) bool {
				target := applyUpdate(state, &u)
				return target != nil && slices.ContainsFunc(m.transitions, func(e transition) bool { return slices.Equal(d.valuationOf(e.target), target) })
			})
			if !leads {
				continue
			}
			guard, err := sema.Eval(c.Guard, state)
			out = append(out, Origin{Model: d.a.Name, File: p.File, Pos: c.Pos, Action: actionName(d.a, c.Action), Enabled: err == nil && guard.Bool})
		}
	}
	if out == nil {
		return d.commandsWithAction(d.a, m.action)
	}
	return out
}

// applyUpdate returns the valuation after an update. It is nil if nothing changes or a value cannot be computed.
func applyUpdate(state []int32, u *sema.Update) []int32 {
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

// commandsWithAction lists the commands with an action.
func (d *spaceComparison) commandsWithAction(v *view, action string) []Origin {
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
