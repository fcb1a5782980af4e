package jani

import (
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// reward is an expression that is accumulated, or evaluated in a state. It becomes a reward
// structure.
type reward struct {
	exp     *value
	at      syntax.Span
	steps   bool // accumulated on every step
	states  bool // accumulated in every state; with time, per unit of time
	exits   bool // on every step, the value in the state before; only with time
	average bool // the mean over destinations with different rewards
	// timeReward is the reward of a state, or per unit of time.
	timeReward syntax.Expr
	name       string
	decl       *syntax.Rewards
	refused    *syntax.Error
}

// key returns a text that is equal for equal rewards.
func (r *reward) key() string {
	var b strings.Builder
	writeJSON(&b, r.exp)
	for _, yes := range []bool{r.steps, r.states, r.exits} {
		if yes {
			b.WriteString("+")
		} else {
			b.WriteString("-")
		}
	}
	return b.String()
}

// writeJSON writes a value as compact JSON.
func writeJSON(b *strings.Builder, v *value) {
	switch v.kind {
	case null:
		b.WriteString("null")
	case boolean:
		b.WriteString(v.describe())
	case number:
		b.WriteString(v.text)
	case text:
		b.WriteString(`"` + v.text + `"`)
	case array:
		b.WriteString("[")
		for i, e := range v.elems {
			if i > 0 {
				b.WriteString(",")
			}
			writeJSON(b, e)
		}
		b.WriteString("]")
	case object:
		b.WriteString("{")
		for i, m := range v.members {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(`"` + m.key + `":`)
			writeJSON(b, m.value)
		}
		b.WriteString("}")
	}
}

// structures lists the rewards: the numeric transient variables, then the rewards in properties.
func (t *translator) structures() {
	for _, v := range t.doc.globals {
		s := t.global.names[v.name].slot
		if s == nil || !s.transient || s.typ.kind == boolType {
			continue
		}
		exp := &value{kind: text, text: v.name, Span: v.Span}
		t.reward(&reward{exp: exp, at: v.Span, steps: true, states: true, name: v.name})
	}
	for _, p := range t.doc.properties {
		t.rewardsOf(p.x)
	}
	usedNames := make(names)
	for _, r := range t.rewards {
		name := r.name
		if name == "" {
			name = "reward"
			if r.exp.kind == text {
				name = r.exp.text
			}
		}
		r.name = usedNames.unused(name)
		r.decl = &syntax.Rewards{Name: &syntax.Ident{Name: r.name, Span: r.at}, Span: r.at}
		if r.states {
			r.refused = guard(func() {
				r.timeReward = t.expr(r.exp, &place{scope: t.global})
				if x := r.timeReward; !isNumber(x, "0") {
					r.decl.Items = append(r.decl.Items, &syntax.RewardItem{Guard: trueLit(r.at), Value: x, Span: r.at})
				}
			})
		}
		if r.steps {
			t.reads(r.exp, t.global, map[*function]bool{}, func(s *slot) { s.earns = s.earns || s.transient })
		}
	}
}

func trueLit(at syntax.Span) syntax.Expr { return &syntax.BoolLit{Value: true, Span: at} }

// reward adds a reward, or returns an equal one that exists.
func (t *translator) reward(r *reward) *reward {
	key := r.key()
	i := slices.IndexFunc(t.rewards, func(q *reward) bool { return q.key() == key })
	if i >= 0 {
		return t.rewards[i]
	}
	t.rewards = append(t.rewards, r)
	return r
}

// rewardsOf adds the rewards in a property.
func (t *translator) rewardsOf(v *value) {
	if op := v.get("op"); op != nil && v.get("exp") != nil {
		switch op.text {
		case "Emin", "Emax", "Smin", "Smax":
			if t.isReward(v, op.text) {
				t.reward(t.rewardOf(v))
			}
		}
	}
	for _, e := range v.elems {
		t.rewardsOf(e)
	}
	for _, m := range v.members {
		if m.key == "reward-bounds" {
			for _, b := range m.value.elems {
				if b.get("exp") != nil && b.get("accumulate") != nil {
					t.reward(t.rewardOf(b))
				}
			}
		}
		t.rewardsOf(m.value)
	}
}

// isReward reports whether an operator becomes R in PRISM's language: a steady-state operator may
// become S.
func (t *translator) isReward(v *value, op string) bool {
	return op[0] == 'E' || v.get("accumulate") != nil || !t.isBool(v.get("exp"), &place{scope: t.global})
}

// rewardOf returns the reward of an operator. Without time, a reward on exit is what PRISM's
// language calls a state reward.
func (t *translator) rewardOf(v *value) *reward {
	r := &reward{exp: v.get("exp"), at: v.get("exp").Span}
	acc := v.get("accumulate")
	if acc == nil {
		// The expression is evaluated, not accumulated. For Storm and the models of QComp, the
		// long-run average of a transient variable includes the values that edges assign.
		r.states = true
		s := t.global.names[r.exp.text].slot
		r.steps = v.get("op").text[0] == 'S' && r.exp.kind == text && s != nil && s.transient
		return r
	}
	for _, a := range acc.elems {
		switch a.text {
		case "steps":
			r.steps = true
		case "exit":
			if t.doc.timed() {
				r.exits = true
			} else {
				r.states = true
			}
		case "time":
			r.states = r.states || t.doc.timed()
		}
	}
	return r
}

// findReward returns the reward structure for an operator. An earlier structure with the same
// items is used instead.
func (t *translator) findReward(v *value) *reward {
	r := t.reward(t.rewardOf(v))
	if r.refused != nil {
		panic(refused{r.refused})
	}
	for _, q := range t.rewards {
		if q != r && q.refused == nil && q.average == r.average && sameItems(q.decl.Items, r.decl.Items) {
			return q
		}
		if q == r {
			break
		}
	}
	return r
}

func sameItems(a, b []*syntax.RewardItem) bool {
	return len(a) > 0 && slices.EqualFunc(a, b, func(x, y *syntax.RewardItem) bool {
		name := func(i *syntax.RewardItem) string {
			if i.Action == nil {
				return ""
			}
			return i.Action.Name
		}
		return x.Transition == y.Transition && syntax.ExprString(x.Guard) == syntax.ExprString(y.Guard) && name(x) == name(y) && syntax.ExprString(x.Value) == syntax.ExprString(y.Value)
	})
}

// earnedBy returns the values of the step rewards after assignments.
func (t *translator) earnedBy(env map[*slot]sized) []syntax.Expr {
	out := make([]syntax.Expr, len(t.rewards))
	for i, r := range t.rewards {
		if r.refused != nil || !r.steps && !r.exits {
			continue
		}
		err := guard(func() {
			if r.steps {
				out[i] = t.expr(r.exp, &place{scope: t.global, env: env, steady: true})
			}
			if r.exits {
				x := t.expr(r.exp, &place{scope: t.global})
				if out[i] == nil || isNumber(out[i], "0") {
					out[i] = x
				} else {
					out[i] = &syntax.Binary{Op: syntax.OpAdd, X: out[i], Y: x, OpPos: x.Pos(), Span: r.at}
				}
			}
		})
		if err != nil {
			r.refused = err
		}
	}
	return out
}

// expected sets the rewards of a command. If they differ between destinations, it uses their
// expectation, on which all expected values depend.
func (t *translator) expected(c *combined, probs []syntax.Expr, earned [][]syntax.Expr) {
	nothing := t.earnedBy(map[*slot]sized{})
	var class strings.Builder
	differs := false
	for i, r := range t.rewards {
		x := earned[0][i]
		if x == nil || r.refused != nil {
			c.earned = append(c.earned, nil)
			continue
		}
		if slices.ContainsFunc(earned, func(e []syntax.Expr) bool { return syntax.ExprString(e[i]) != syntax.ExprString(x) }) {
			x, r.average = nil, true
			for k, e := range earned {
				if isNumber(e[i], "0") {
					continue
				}
				product := times(probs[k], e[i])
				t.charge(r.at.Start, 4)
				if x == nil {
					x = product
				} else {
					x = &syntax.Binary{Op: syntax.OpAdd, X: x, Y: product, OpPos: r.at.Start, Span: r.at}
				}
			}
		}
		c.earned = append(c.earned, x)
		s := syntax.ExprString(x)
		differs = differs || nothing[i] == nil || s != syntax.ExprString(nothing[i])
		class.WriteString(s + ";")
	}
	if differs {
		c.class = class.String()
	}
}

// earn adds the rewards of a step with an action to the structures.
func (t *translator) earn(s *step, action *syntax.Ident, earned []syntax.Expr) {
	if action == nil {
		if t.silent {
			return
		}
		t.silent = true
	}
	for i, x := range earned {
		r := t.rewards[i]
		if x == nil || isNumber(x, "0") || r.refused != nil {
			continue
		}
		span := syntax.Span{Start: s.at, Stop: s.at}
		r.decl.Items = append(r.decl.Items, &syntax.RewardItem{Transition: true, Action: action, Guard: trueLit(span), Value: x, Span: span})
	}
}

// labelDecls makes labels of the Boolean transient variables.
func (t *translator) labelDecls() {
	usedNames := names{"init": true, "deadlock": true}
	for _, p := range t.doc.properties {
		usedNames[p.name] = true
	}
	for _, v := range t.doc.globals {
		s := t.global.names[v.name].slot
		if s == nil || !s.transient || s.typ.kind != boolType {
			continue
		}
		t.labels[s] = usedNames.unused(v.name)
		if s.ambiguous {
			continue
		}
		x := s.initial
		if s.state != nil {
			x = s.state
		}
		t.labelled = append(t.labelled, &syntax.LabelDecl{Name: &syntax.Ident{Name: t.labels[s], Span: v.Span}, X: x, Span: v.Span})
	}
}
