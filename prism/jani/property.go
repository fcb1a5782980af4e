package jani

import (
	"slices"
	"strings"

	"tilecheck/prism/syntax"
)

// properties translates the properties one by one.
func (t *translator) properties() {
	names := make(names)
	for _, d := range t.labelled {
		names[d.(*syntax.LabelDecl).Name.Name] = true
	}
	for _, p := range t.doc.properties {
		out := &syntax.Property{Name: &syntax.Ident{Name: names.unused(p.name), Span: p.Span}, Span: p.Span}
		err := guard(func() { out.X = t.property(p.x) })
		if err != nil {
			var text strings.Builder
			writeJSON(&text, p.x)
			out.X = &syntax.Ident{Name: short(text.String()), Span: p.Span}
			t.out.Refused[out] = err
		}
		t.out.Names[out] = p.name
		t.out.Properties.Items = append(t.out.Properties.Items, out)
	}
}

// filters maps the filters of JANI to those of PRISM.
var filters = map[string]string{
	"min": "min", "max": "max", "sum": "sum", "avg": "avg", "count": "count", "argmin": "argmin", "argmax": "argmax",
	"∀": "forall", "∃": "exists",
}

func (t *translator) property(v *value) syntax.Expr {
	p := &place{scope: t.global, prop: true}
	op := v.get("op")
	if !op.isText("filter") {
		return t.expr(v, p)
	}
	t.operands(v, "fun", "values", "states")
	fun, states := v.get("fun"), v.get("states")
	x := t.expr(v.get("values"), p)
	if states.get("op").isText("initial") {
		if fun.isText("values") { // PRISM also evaluates a property in all initial states
			return x
		}
		if t.init == nil && slices.Contains([]string{"min", "max", "avg", "sum", "∀", "∃"}, fun.text) {
			return x // there is one initial state
		}
	}
	name, ok := filters[fun.text]
	switch {
	case fun.text == "values":
		name = "state"
	case !ok:
		t.refuse(fun.Start, "the filter %s is not supported", fun.describe())
	}
	return &syntax.Filter{Op: name, OpPos: fun.Start, X: x, States: t.expr(states, p), Span: v.Span}
}

// propertyOperator translates an operator of properties; nil if it is not one.
func (t *translator) propertyOperator(v, op *value, p *place) syntax.Expr {
	switch op.text {
	case "initial", "deadlock":
		t.operands(v)
		name := "init"
		if op.text == "deadlock" {
			name = "deadlock"
		}
		return &syntax.Quoted{Name: name, Span: v.Span}
	case "Pmin", "Pmax":
		t.operands(v, "exp")
		return &syntax.Prob{Threshold: t.query(op), Path: t.path(v.get("exp"), p), Span: v.Span}
	case "∀", "∃":
		t.operands(v, "exp")
		return &syntax.Quant{All: op.text == "∀", Path: t.path(v.get("exp"), p), Span: v.Span}
	case "Emin", "Emax":
		return t.expectation(v, op, p)
	case "Smin", "Smax":
		t.optional(v, "accumulate", "exp")
		if t.doc.markov {
			t.refuse(op.Start, "long-run averages of a Markov automaton are not supported")
		}
		if !t.isReward(v, op.text) {
			return &syntax.Steady{Threshold: t.query(op), X: t.expr(v.get("exp"), p), Span: v.Span}
		}
		return t.rewarded(v, op, &syntax.RewardPath{Kind: syntax.LongRun, Span: v.Span})
	case "U", "W", "F", "G", "R", "X":
		t.refuse(op.Start, "the operator %s stands outside of Pmin, Pmax, ∀ and ∃", op.text)
	}
	return nil
}

// query returns the threshold of an operator that asks for a value.
func (t *translator) query(op *value) syntax.Threshold {
	switch {
	case t.doc.typ == syntax.DTMC || t.doc.typ == syntax.CTMC:
		return syntax.Threshold{}
	case strings.HasSuffix(op.text, "min"):
		return syntax.Threshold{Extremum: syntax.Min}
	}
	return syntax.Threshold{Extremum: syntax.Max}
}

// threshold translates the comparison of an operator with a number; nil if PRISM's language has no
// such comparison. PRISM's bounds hold for all schedulers, so a lower bound must be on the minimum
// and an upper bound on the maximum.
func (t *translator) threshold(v *value, op syntax.Op, p *place) syntax.Expr {
	left := v.get("left")
	of := left.get("op")
	if !p.prop || of == nil || of.kind != text {
		return nil
	}
	choices := t.doc.typ != syntax.DTMC && t.doc.typ != syntax.CTMC
	switch op {
	case syntax.OpGe, syntax.OpGt:
		if choices && !strings.HasSuffix(of.text, "min") {
			return nil
		}
	case syntax.OpLe, syntax.OpLt:
		if choices && !strings.HasSuffix(of.text, "max") {
			return nil
		}
	default:
		return nil
	}
	if !slices.Contains([]string{"Pmin", "Pmax", "Emin", "Emax", "Smin", "Smax"}, of.text) {
		return nil
	}
	bound := syntax.Threshold{Rel: op, Bound: t.expr(v.get("right"), p)}
	switch x := t.expr(left, p).(type) {
	case *syntax.Prob:
		x.Threshold, x.Span = bound, v.Span
		return x
	case *syntax.Reward:
		x.Threshold, x.Span = bound, v.Span
		return x
	case *syntax.Steady:
		x.Threshold, x.Span = bound, v.Span
		return x
	}
	return nil
}

// optional checks the keys of an operator; those in may can be missing.
func (t *translator) optional(v *value, may string, must ...string) {
	keys := must
	for key := range strings.FieldsSeq(may) {
		if v.get(key) != nil {
			keys = append(keys, key)
		}
	}
	t.operands(v, keys...)
}

// path translates a path formula, whose operands may be state formulas.
func (t *translator) path(v *value, p *place) syntax.Expr {
	op := v.get("op")
	if op == nil || op.kind != text {
		return t.expr(v, p)
	}
	const bounds = "step-bounds time-bounds reward-bounds"
	temporal := &syntax.Temporal{Span: v.Span}
	switch op.text {
	case "U", "W", "R":
		t.optional(v, bounds, "left", "right")
		temporal.Op = map[string]syntax.TemporalOp{"U": syntax.Until, "W": syntax.WeakUntil, "R": syntax.Release}[op.text]
		temporal.X, temporal.Y = t.path(v.get("left"), p), t.path(v.get("right"), p)
		if b, ok := temporal.X.(*syntax.BoolLit); ok && b.Value && op.text == "U" {
			temporal.Op, temporal.X = syntax.Future, nil
		}
	case "F", "G", "X":
		may := bounds
		if op.text == "X" {
			may = ""
		}
		t.optional(v, may, "exp")
		temporal.Op = map[string]syntax.TemporalOp{"F": syntax.Future, "G": syntax.Globally, "X": syntax.Next}[op.text]
		temporal.Y = t.path(v.get("exp"), p)
	case "∧", "∨", "⇒", "¬":
		return t.combinedPath(v, op, p)
	default:
		return t.expr(v, p)
	}
	temporal.Bound = t.bounds(v, p)
	if b := temporal.Bound; b != nil && t.doc.markov && !t.out.Elapse(temporal) {
		t.refuse(b.Start, "%s", NotTimed)
	}
	if rewards := v.get("reward-bounds"); rewards != nil {
		t.costs(temporal, rewards, p)
	}
	return temporal
}

// combinedPath translates Boolean operators of path formulas.
func (t *translator) combinedPath(v, op *value, p *place) syntax.Expr {
	if op.text == "¬" {
		t.operands(v, "exp")
		return &syntax.Unary{Op: syntax.OpNot, X: t.path(v.get("exp"), p), Span: v.Span}
	}
	t.operands(v, "left", "right")
	return &syntax.Binary{Op: infix[op.text], X: t.path(v.get("left"), p), Y: t.path(v.get("right"), p), OpPos: op.Start, Span: v.Span}
}

// bounds translates the bound of a path formula: PRISM's language has one bound, on steps in
// discrete time and on time otherwise.
func (t *translator) bounds(v *value, p *place) *syntax.TimeBound {
	steps, times := v.get("step-bounds"), v.get("time-bounds")
	timed := t.doc.timed()
	switch {
	case t.doc.markov && steps != nil:
		t.refuse(v.Start, "bounds on the steps of a Markov automaton are not supported")
	case steps != nil && timed:
		t.refuse(steps.Start, "bounds on steps of a %s are not supported, want those on time", t.doc.typ)
	case times != nil && !timed && !t.doc.markov:
		t.refuse(times.Start, "the time of a %s is bounded, which has none", t.doc.typ)
	case times != nil:
		return t.interval(times, p, false)
	case steps != nil:
		return t.interval(steps, p, true)
	}
	return nil
}

// costs translates reward bounds to those of Storm's dialect. They depend on the rewards of each
// path, so a mean over destinations is not enough.
func (t *translator) costs(x *syntax.Temporal, v *value, p *place) {
	if v.kind != array {
		t.refuse(v.Start, "found %s, want bounds on rewards in an array", v.describe())
	}
	if t.doc.timed() && t.doc.typ != syntax.CTMC {
		t.refuse(v.Start, "bounds on what a Markov or timed automaton earns are not supported")
	}
	for _, b := range v.elems {
		if b.get("exp") == nil || b.get("accumulate") == nil || b.get("bounds") == nil {
			t.refuse(b.Start, "a bound on rewards has no \"exp\", \"accumulate\" and \"bounds\", want all of them")
		}
		t.accumulates(b.get("accumulate"))
		r := t.findReward(b)
		bound := t.interval(b.get("bounds"), p, false)
		switch {
		case r.average:
			t.refuse(b.Start, "a bound is on a reward that destinations of one edge earn differently, which is not supported")
		case bound == nil:
			continue
		case x.Op != syntax.Future && x.Op != syntax.Until || x.Bound != nil:
			t.refuse(b.Start, "bounds on rewards are supported with F and U that have no other bounds")
		}
		name := &syntax.Quoted{Name: r.name, Span: r.at}
		x.Costs = append(x.Costs, &syntax.CostBound{Word: "rew", Struct: name, Bound: bound, Span: b.Span})
	}
}

// interval translates `{lower, lower-exclusive, upper, upper-exclusive}`. An exclusive bound on
// steps becomes an inclusive bound that is one step tighter.
func (t *translator) interval(v *value, p *place, steps bool) *syntax.TimeBound {
	if v.kind != object {
		t.refuse(v.Start, "found %s, want a bound as an object", v.describe())
	}
	out := &syntax.TimeBound{Span: v.Span}
	for _, m := range v.members {
		switch m.key {
		case "lower":
			out.Low = t.expr(m.value, p)
		case "upper":
			out.High = t.expr(m.value, p)
		case "lower-exclusive", "upper-exclusive":
			if m.value.kind != boolean {
				t.refuse(m.value.Start, "found %s, want true or false", m.value.describe())
			}
			if m.key[0] == 'l' {
				out.LowStrict = m.value.yes
			} else {
				out.HighStrict = m.value.yes
			}
		case "comment":
		default:
			t.refuse(m.at, "a bound has a key %q, want only lower, lower-exclusive, upper, upper-exclusive", short(m.key))
		}
	}
	if out.Low == nil {
		out.LowStrict = false
	}
	switch {
	case out.Low == nil && out.High == nil:
		return nil
	case out.Low == nil || out.High == nil || !out.LowStrict && !out.HighStrict:
		return out
	case !steps:
		t.refuse(v.Start, "an interval of time is open, which PRISM's language has no form for, want a closed one")
	}
	one := func(op syntax.Op, x syntax.Expr) syntax.Expr {
		return &syntax.Binary{Op: op, X: x, Y: &syntax.IntLit{Value: 1, Span: v.Span}, OpPos: x.Pos(), Span: v.Span}
	}
	if out.LowStrict {
		out.Low, out.LowStrict = one(syntax.OpAdd, out.Low), false
	}
	if out.HighStrict {
		out.High, out.HighStrict = one(syntax.OpSub, out.High), false
	}
	return out
}

// expectation translates Emin and Emax.
func (t *translator) expectation(v, op *value, p *place) syntax.Expr {
	t.optional(v, "accumulate reach step-instant time-instant reward-instants", "exp")
	steps, times, reach, acc := v.get("step-instant"), v.get("time-instant"), v.get("reach"), v.get("accumulate")
	timed := t.doc.timed()
	if r := v.get("reward-instants"); r != nil {
		t.refuse(r.Start, "instants of rewards are not supported")
	}
	switch {
	case t.doc.markov && reach == nil && (acc == nil || steps != nil || times != nil):
		t.refuse(v.Start, "instants of a Markov automaton are not supported")
	case steps != nil && timed:
		t.refuse(steps.Start, "a number of steps of a %s is not supported, want an instant of time", t.doc.typ)
	case times != nil && !timed:
		t.refuse(times.Start, "an instant of time of a %s is given, which has no time", t.doc.typ)
	case reach != nil && (steps != nil || times != nil):
		t.refuse(v.Start, "an expectation until states are reached and until an instant, which PRISM's language has no form for")
	case reach != nil && acc == nil:
		t.refuse(v.Start, "an expectation at the states that are reached, which PRISM's language has no form for")
	case reach != nil:
		to := &syntax.Temporal{Op: syntax.Future, Y: t.expr(reach, p), Span: reach.Span}
		return t.rewarded(v, op, to)
	}
	instant := steps
	if timed {
		instant = times
	}
	path := &syntax.RewardPath{Kind: syntax.Cumulative, Span: v.Span}
	if acc == nil {
		path.Kind = syntax.Instantaneous
		if instant == nil {
			t.refuse(v.Start, "an expectation without accumulate, reach or an instant, want one of them")
		}
	}
	if instant != nil {
		path.Bound = t.expr(instant, p)
	}
	return t.rewarded(v, op, path)
}

// rewarded makes the operator R for an expectation.
func (t *translator) rewarded(v, op *value, path syntax.Expr) syntax.Expr {
	if acc := v.get("accumulate"); acc != nil {
		t.accumulates(acc)
	}
	r := t.findReward(v)
	return &syntax.Reward{Struct: &syntax.Quoted{Name: r.name, Span: r.at}, Threshold: t.query(op), Path: path, Span: v.Span}
}

// accumulates checks when a reward is accumulated. Without time, accumulating by time alone is an
// error, because the model must mean something else.
func (t *translator) accumulates(v *value) {
	if v.kind != array || len(v.elems) == 0 {
		t.refuse(v.Start, "found %s, want steps, time or exit in an array", v.describe())
	}
	for _, a := range v.elems {
		switch {
		case a.isText("time") && !t.doc.timed():
			t.refuse(a.Start, "rewards of time are accumulated in a %s, which has no time, want exit or steps", t.doc.typ)
		case !a.isText("steps") && !a.isText("time") && !a.isText("exit"):
			t.refuse(a.Start, "found %s, want steps, time or exit", a.describe())
		}
	}
}
