package jani

import (
	"slices"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/prism/syntax"
)

// translateProperties translates the properties one by one. One that cannot be translated is kept as its
// JSON text, with the error.
func (t *translator) translateProperties() {
	names := make(names)
	for _, d := range t.labelItems {
		names[d.(*syntax.LabelDecl).Name.Name] = true
	}
	for _, p := range t.doc.properties {
		property := &syntax.Property{Name: &syntax.Ident{Name: names.unused(p.name), Span: p.Span}, Span: p.Span}
		err := catchRefusal(func() { property.X = t.translateProperty(p.expr) })
		if err != nil {
			var text strings.Builder
			writeJSON(&text, p.expr)
			property.X = &syntax.Ident{Name: shortened(text.String()), Span: p.Span}
			t.result.Refused[property] = err
		}
		t.result.Names[property] = p.name
		t.result.Properties.Items = append(t.result.Properties.Items, property)
	}
}

// filters maps the filters of JANI to those of PRISM.
var filters = map[string]string{
	"min": "min", "max": "max", "sum": "sum", "avg": "avg", "count": "count", "argmin": "argmin", "argmax": "argmax",
	"∀": "forall", "∃": "exists",
}

// translateProperty translates a property, usually a filter over the initial states.
func (t *translator) translateProperty(v *jsonValue) syntax.Expr {
	context := &exprContext{scope: t.global, inProperty: true}
	op := v.get("op")
	if !op.isText("filter") {
		return t.expr(v, context)
	}
	t.requireKeys(v, "fun", "values", "states")
	filter, states := v.get("fun"), v.get("states")
	x := t.expr(v.get("values"), context)
	if states.get("op").isText("initial") {
		if filter.isText("values") { // PRISM also evaluates a property in all initial states
			return x
		}
		if t.init == nil && slices.Contains([]string{"min", "max", "avg", "sum", "∀", "∃"}, filter.text) {
			return x // there is one initial state
		}
	}
	name, ok := filters[filter.text]
	switch {
	case filter.text == "values":
		name = "state"
	case !ok:
		t.refuse(filter.Start, "the filter %s is not supported", filter.describe())
	}
	return &syntax.Filter{Op: name, OpPos: filter.Start, X: x, States: t.expr(states, context), Span: v.Span}
}

// propertyOperator translates an operator that occurs in properties only; nil if op is not one.
func (t *translator) propertyOperator(v, op *jsonValue, context *exprContext) syntax.Expr {
	switch op.text {
	case "initial", "deadlock":
		t.requireKeys(v)
		name := "init"
		if op.text == "deadlock" {
			name = "deadlock"
		}
		return &syntax.Quoted{Name: name, Span: v.Span}
	case "Pmin", "Pmax":
		t.requireKeys(v, "exp")
		return &syntax.Prob{Threshold: t.queryThreshold(op), Path: t.path(v.get("exp"), context), Span: v.Span}
	case "∀", "∃":
		t.requireKeys(v, "exp")
		return &syntax.Quant{All: op.text == "∀", Path: t.path(v.get("exp"), context), Span: v.Span}
	case "Emin", "Emax":
		return t.expectation(v, op, context)
	case "Smin", "Smax":
		t.requireKeysOptionally(v, "accumulate", "exp")
		if t.doc.markov {
			t.refuse(op.Start, "long-run averages of a Markov automaton are not supported")
		}
		if !t.isReward(v, op.text) {
			return &syntax.Steady{Threshold: t.queryThreshold(op), X: t.expr(v.get("exp"), context), Span: v.Span}
		}
		return t.rewardOperator(v, op, &syntax.RewardPath{Kind: syntax.LongRun, Span: v.Span})
	case "U", "W", "F", "G", "R", "X":
		t.refuse(op.Start, "found the operator %s, want it only inside Pmin, Pmax, ∀ or ∃", op.text)
	}
	return nil
}

// queryThreshold returns the threshold of an operator that asks for a value: min or max, or neither for a
// model without nondeterminism.
func (t *translator) queryThreshold(op *jsonValue) syntax.Threshold {
	switch {
	case t.doc.modelType == syntax.DTMC || t.doc.modelType == syntax.CTMC:
		return syntax.Threshold{}
	case strings.HasSuffix(op.text, "min"):
		return syntax.Threshold{Extremum: syntax.Min}
	}
	return syntax.Threshold{Extremum: syntax.Max}
}

// boundedOperator translates the comparison of an operator with a number as a bounded operator, such as
// P>=0.5; nil if PRISM's language has no such operator. PRISM's bounds hold for all schedulers, so a
// lower bound must be on the minimum and an upper bound on the maximum.
func (t *translator) boundedOperator(v *jsonValue, op syntax.Op, context *exprContext) syntax.Expr {
	left := v.get("left")
	leftOperator := left.get("op")
	if !context.inProperty || leftOperator == nil || leftOperator.kind != text {
		return nil
	}
	nondeterministic := t.doc.modelType != syntax.DTMC && t.doc.modelType != syntax.CTMC
	switch op {
	case syntax.OpGe, syntax.OpGt:
		if nondeterministic && !strings.HasSuffix(leftOperator.text, "min") {
			return nil
		}
	case syntax.OpLe, syntax.OpLt:
		if nondeterministic && !strings.HasSuffix(leftOperator.text, "max") {
			return nil
		}
	default:
		return nil
	}
	if !slices.Contains([]string{"Pmin", "Pmax", "Emin", "Emax", "Smin", "Smax"}, leftOperator.text) {
		return nil
	}
	bound := syntax.Threshold{Rel: op, Bound: t.expr(v.get("right"), context)}
	switch x := t.expr(left, context).(type) {
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

// requireKeysOptionally checks that an operator has the required keys, and others only if they are in
// the list optional.
func (t *translator) requireKeysOptionally(v *jsonValue, optional string, required ...string) {
	keys := required
	for key := range strings.FieldsSeq(optional) {
		if v.get(key) != nil {
			keys = append(keys, key)
		}
	}
	t.requireKeys(v, keys...)
}

// path translates a path formula, whose operands may be state formulas.
func (t *translator) path(v *jsonValue, context *exprContext) syntax.Expr {
	op := v.get("op")
	if op == nil || op.kind != text {
		return t.expr(v, context)
	}
	const bounds = "step-bounds time-bounds reward-bounds"
	temporal := &syntax.Temporal{Span: v.Span}
	switch op.text {
	case "U", "W", "R":
		t.requireKeysOptionally(v, bounds, "left", "right")
		temporal.Op = map[string]syntax.TemporalOp{"U": syntax.Until, "W": syntax.WeakUntil, "R": syntax.Release}[op.text]
		temporal.X, temporal.Y = t.path(v.get("left"), context), t.path(v.get("right"), context)
		if b, ok := temporal.X.(*syntax.BoolLit); ok && b.Value && op.text == "U" {
			temporal.Op, temporal.X = syntax.Future, nil
		}
	case "F", "G", "X":
		optional := bounds
		if op.text == "X" {
			optional = ""
		}
		t.requireKeysOptionally(v, optional, "exp")
		temporal.Op = map[string]syntax.TemporalOp{"F": syntax.Future, "G": syntax.Globally, "X": syntax.Next}[op.text]
		temporal.Y = t.path(v.get("exp"), context)
	case "∧", "∨", "⇒", "¬":
		return t.combinedPath(v, op, context)
	default:
		return t.expr(v, context)
	}
	temporal.Bound = t.pathBound(v, context)
	if b := temporal.Bound; b != nil && t.doc.markov && !t.result.Elapse(temporal) {
		t.refuse(b.Start, "%s", NotTimed)
	}
	if rewards := v.get("reward-bounds"); rewards != nil {
		t.addRewardBounds(temporal, rewards, context)
	}
	return temporal
}

// combinedPath translates Boolean operators of path formulas.
func (t *translator) combinedPath(v, op *jsonValue, context *exprContext) syntax.Expr {
	if op.text == "¬" {
		t.requireKeys(v, "exp")
		return &syntax.Unary{Op: syntax.OpNot, X: t.path(v.get("exp"), context), Span: v.Span}
	}
	t.requireKeys(v, "left", "right")
	return &syntax.Binary{Op: operators[op.text], X: t.path(v.get("left"), context), Y: t.path(v.get("right"), context), OpPos: op.Start, Span: v.Span}
}

// pathBound translates the bound of a path formula. PRISM's language has one bound: on steps in
// discrete time, and on time otherwise.
func (t *translator) pathBound(v *jsonValue, context *exprContext) *syntax.TimeBound {
	steps, times := v.get("step-bounds"), v.get("time-bounds")
	timed := t.doc.hasTime()
	switch {
	case t.doc.markov && steps != nil:
		t.refuse(v.Start, "bounds on the steps of a Markov automaton are not supported")
	case steps != nil && timed:
		t.refuse(steps.Start, "bounds on the steps of %s are not supported, want bounds on time", noun.WithArticle(t.doc.modelType.String()))
	case times != nil && !timed && !t.doc.markov:
		t.refuse(times.Start, "found a time bound in %s, which has no time", noun.WithArticle(t.doc.modelType.String()))
	case times != nil:
		return t.boundInterval(times, context, false)
	case steps != nil:
		return t.boundInterval(steps, context, true)
	}
	return nil
}

// addRewardBounds translates reward bounds to those of Storm's dialect. They depend on the rewards of each
// path, so rewards that are a mean over destinations are refused.
func (t *translator) addRewardBounds(temporal *syntax.Temporal, v *jsonValue, context *exprContext) {
	if v.kind != array {
		t.refuse(v.Start, "found %s, want bounds on rewards in an array", v.describe())
	}
	if t.doc.hasTime() && t.doc.modelType != syntax.CTMC {
		t.refuse(v.Start, "reward bounds of a Markov automaton or timed automaton are not supported")
	}
	for _, b := range v.elements {
		if b.get("exp") == nil || b.get("accumulate") == nil || b.get("bounds") == nil {
			t.refuse(b.Start, "a bound on rewards lacks \"exp\", \"accumulate\" or \"bounds\", want all of them")
		}
		t.checkAccumulate(b.get("accumulate"))
		reward := t.findReward(b)
		bound := t.boundInterval(b.get("bounds"), context, false)
		switch {
		case reward.isMean:
			t.refuse(b.Start, "found a bound on a reward that differs between destinations of an edge, which is not supported")
		case bound == nil:
			continue
		case temporal.Op != syntax.Future && temporal.Op != syntax.Until || temporal.Bound != nil:
			t.refuse(b.Start, "bounds on rewards are supported only for F and U without other bounds")
		}
		name := &syntax.Quoted{Name: reward.name, Span: reward.span}
		temporal.Costs = append(temporal.Costs, &syntax.CostBound{Word: "rew", Struct: name, Bound: bound, Span: b.Span})
	}
}

// boundInterval translates `{lower, lower-exclusive, upper, upper-exclusive}`; nil if there is neither
// bound. For a bound on both sides, exclusive bounds on steps become inclusive ones that are one step
// tighter.
func (t *translator) boundInterval(v *jsonValue, context *exprContext, steps bool) *syntax.TimeBound {
	if v.kind != object {
		t.refuse(v.Start, "found %s, want a bound as an object", v.describe())
	}
	bound := &syntax.TimeBound{Span: v.Span}
	for _, member := range v.members {
		switch member.key {
		case "lower":
			bound.Low = t.expr(member.value, context)
		case "upper":
			bound.High = t.expr(member.value, context)
		case "lower-exclusive", "upper-exclusive":
			if member.value.kind != boolean {
				t.refuse(member.value.Start, "found %s, want true or false", member.value.describe())
			}
			if member.key[0] == 'l' {
				bound.LowStrict = member.value.isTrue
			} else {
				bound.HighStrict = member.value.isTrue
			}
		case "comment":
		default:
			t.refuse(member.pos, "a bound has a key %q, want only lower, lower-exclusive, upper, upper-exclusive", shortened(member.key))
		}
	}
	if bound.Low == nil {
		bound.LowStrict = false
	}
	switch {
	case bound.Low == nil && bound.High == nil:
		return nil
	case bound.Low == nil || bound.High == nil || !bound.LowStrict && !bound.HighStrict:
		return bound
	case !steps:
		t.refuse(v.Start, "found an open interval of time, which PRISM's language cannot express, want a closed one")
	}
	addOrSubtractOne := func(op syntax.Op, x syntax.Expr) syntax.Expr {
		return &syntax.Binary{Op: op, X: x, Y: &syntax.IntLit{Value: 1, Span: v.Span}, OpPos: x.Pos(), Span: v.Span}
	}
	if bound.LowStrict {
		bound.Low, bound.LowStrict = addOrSubtractOne(syntax.OpAdd, bound.Low), false
	}
	if bound.HighStrict {
		bound.High, bound.HighStrict = addOrSubtractOne(syntax.OpSub, bound.High), false
	}
	return bound
}

// expectation translates Emin and Emax to an R operator.
func (t *translator) expectation(v, op *jsonValue, context *exprContext) syntax.Expr {
	t.requireKeysOptionally(v, "accumulate reach step-instant time-instant reward-instants", "exp")
	steps, times, reach, accumulate := v.get("step-instant"), v.get("time-instant"), v.get("reach"), v.get("accumulate")
	hasTime := t.doc.hasTime()
	if r := v.get("reward-instants"); r != nil {
		t.refuse(r.Start, "instants of rewards are not supported")
	}
	switch {
	case t.doc.markov && reach == nil && (accumulate == nil || steps != nil || times != nil):
		t.refuse(v.Start, "instants of a Markov automaton are not supported")
	case steps != nil && hasTime:
		t.refuse(steps.Start, "a number of steps of %s is not supported, want an instant of time", noun.WithArticle(t.doc.modelType.String()))
	case times != nil && !hasTime:
		t.refuse(times.Start, "found an instant of time in %s, which has no time", noun.WithArticle(t.doc.modelType.String()))
	case reach != nil && (steps != nil || times != nil):
		t.refuse(v.Start, "found both reach and an instant, which PRISM's language cannot express")
	case reach != nil && accumulate == nil:
		t.refuse(v.Start, "found reach without accumulate, which PRISM's language cannot express")
	case reach != nil:
		to := &syntax.Temporal{Op: syntax.Future, Y: t.expr(reach, context), Span: reach.Span}
		return t.rewardOperator(v, op, to)
	}
	instant := steps
	if hasTime {
		instant = times
	}
	path := &syntax.RewardPath{Kind: syntax.Cumulative, Span: v.Span}
	if accumulate == nil {
		path.Kind = syntax.Instantaneous
		if instant == nil {
			t.refuse(v.Start, "an expectation has no accumulate, reach or instant, want one of them")
		}
	}
	if instant != nil {
		path.Bound = t.expr(instant, context)
	}
	return t.rewardOperator(v, op, path)
}

// rewardOperator returns the R operator for an expectation, with the given objective.
func (t *translator) rewardOperator(v, op *jsonValue, path syntax.Expr) syntax.Expr {
	if accumulate := v.get("accumulate"); accumulate != nil {
		t.checkAccumulate(accumulate)
	}
	reward := t.findReward(v)
	return &syntax.Reward{Struct: &syntax.Quoted{Name: reward.name, Span: reward.span}, Threshold: t.queryThreshold(op), Path: path, Span: v.Span}
}

// checkAccumulate checks the list of times at which a reward is accumulated: steps, time or exit. In a
// model without time, accumulating over time is an error.
func (t *translator) checkAccumulate(v *jsonValue) {
	if v.kind != array || len(v.elements) == 0 {
		t.refuse(v.Start, "found %s, want steps, time or exit in an array", v.describe())
	}
	for _, a := range v.elements {
		switch {
		case a.isText("time") && !t.doc.hasTime():
			t.refuse(a.Start, "found rewards that %s accumulates over time, which it does not have, want exit or steps", noun.WithArticle(t.doc.modelType.String()))
		case !a.isText("steps") && !a.isText("time") && !a.isText("exit"):
			t.refuse(a.Start, "found %s, want steps, time or exit", a.describe())
		}
	}
}
