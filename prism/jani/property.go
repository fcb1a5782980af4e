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
	for _, declared := range t.doc.properties {
		property := &syntax.Property{Name: &syntax.Ident{Name: names.unused(declared.name), Span: declared.Span}, Span: declared.Span}
		err := catchRefusal(func() { property.X = t.translateProperty(declared.expr) })
		if err != nil {
			var text strings.Builder
			writeJSON(&text, declared.expr)
			property.X = &syntax.Ident{Name: shortened(text.String()), Span: declared.Span}
			t.result.Refused[property] = err
		}
		t.result.Names[property] = declared.name
		t.result.Properties.Items = append(t.result.Properties.Items, property)
	}
}

// filters maps the filters of JANI to those of PRISM.
var filters = map[string]string{
	"min": "min", "max": "max", "sum": "sum", "avg": "avg", "count": "count", "argmin": "argmin", "argmax": "argmax",
	"∀": "forall", "∃": "exists",
}

// translateProperty translates a property, usually a filter over the initial states.
func (t *translator) translateProperty(value *jsonValue) syntax.Expr {
	context := &exprContext{scope: t.global, inProperty: true}
	op := value.get("op")
	if !op.isText("filter") {
		return t.expr(value, context)
	}
	t.requireKeys(value, "fun", "values", "states")
	filter, states := value.get("fun"), value.get("states")
	expr := t.expr(value.get("values"), context)
	if states.get("op").isText("initial") {
		if filter.isText("values") { // PRISM also evaluates a property in all initial states
			return expr
		}
		if t.init == nil && slices.Contains([]string{"min", "max", "avg", "sum", "∀", "∃"}, filter.text) {
			return expr // there is one initial state
		}
	}
	name, ok := filters[filter.text]
	switch {
	case filter.text == "values":
		name = "state"
	case !ok:
		t.refuse(filter.Start, "the filter %s is not supported", filter.describe())
	}
	return &syntax.Filter{Op: name, OpPos: filter.Start, X: expr, States: t.expr(states, context), Span: value.Span}
}

// propertyOperator translates an operator that occurs in properties only; nil if op is not one.
func (t *translator) propertyOperator(value, op *jsonValue, context *exprContext) syntax.Expr {
	switch op.text {
	case "initial", "deadlock":
		t.requireKeys(value)
		name := "init"
		if op.text == "deadlock" {
			name = "deadlock"
		}
		return &syntax.Quoted{Name: name, Span: value.Span}
	case "Pmin", "Pmax":
		t.requireKeys(value, "exp")
		return &syntax.Prob{Threshold: t.queryThreshold(op), Path: t.path(value.get("exp"), context), Span: value.Span}
	case "∀", "∃":
		t.requireKeys(value, "exp")
		return &syntax.Quant{All: op.text == "∀", Path: t.path(value.get("exp"), context), Span: value.Span}
	case "Emin", "Emax":
		return t.expectation(value, op, context)
	case "Smin", "Smax":
		t.requireKeysOptionally(value, "accumulate", "exp")
		if t.doc.markov {
			t.refuse(op.Start, "long-run averages of a Markov automaton are not supported")
		}
		if !t.isReward(value, op.text) {
			return &syntax.Steady{Threshold: t.queryThreshold(op), X: t.expr(value.get("exp"), context), Span: value.Span}
		}
		return t.rewardOperator(value, op, &syntax.RewardPath{Kind: syntax.LongRun, Span: value.Span})
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
func (t *translator) boundedOperator(value *jsonValue, op syntax.Op, context *exprContext) syntax.Expr {
	left := value.get("left")
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
	bound := syntax.Threshold{Rel: op, Bound: t.expr(value.get("right"), context)}
	switch expr := t.expr(left, context).(type) {
	case *syntax.Prob:
		expr.Threshold, expr.Span = bound, value.Span
		return expr
	case *syntax.Reward:
		expr.Threshold, expr.Span = bound, value.Span
		return expr
	case *syntax.Steady:
		expr.Threshold, expr.Span = bound, value.Span
		return expr
	}
	return nil
}

// requireKeysOptionally checks that an operator has the required keys, and others only if they are in
// the list optional.
func (t *translator) requireKeysOptionally(value *jsonValue, optional string, required ...string) {
	keys := required
	for key := range strings.FieldsSeq(optional) {
		if value.get(key) != nil {
			keys = append(keys, key)
		}
	}
	t.requireKeys(value, keys...)
}

// path translates a path formula, whose operands may be state formulas.
func (t *translator) path(value *jsonValue, context *exprContext) syntax.Expr {
	op := value.get("op")
	if op == nil || op.kind != text {
		return t.expr(value, context)
	}
	const bounds = "step-bounds time-bounds reward-bounds"
	temporal := &syntax.Temporal{Span: value.Span}
	switch op.text {
	case "U", "W", "R":
		t.requireKeysOptionally(value, bounds, "left", "right")
		temporal.Op = map[string]syntax.TemporalOp{"U": syntax.Until, "W": syntax.WeakUntil, "R": syntax.Release}[op.text]
		temporal.X, temporal.Y = t.path(value.get("left"), context), t.path(value.get("right"), context)
		if b, ok := temporal.X.(*syntax.BoolLit); ok && b.Value && op.text == "U" {
			temporal.Op, temporal.X = syntax.Future, nil
		}
	case "F", "G", "X":
		optional := bounds
		if op.text == "X" {
			optional = ""
		}
		t.requireKeysOptionally(value, optional, "exp")
		temporal.Op = map[string]syntax.TemporalOp{"F": syntax.Future, "G": syntax.Globally, "X": syntax.Next}[op.text]
		temporal.Y = t.path(value.get("exp"), context)
	case "∧", "∨", "⇒", "¬":
		return t.combinedPath(value, op, context)
	default:
		return t.expr(value, context)
	}
	temporal.Bound = t.pathBound(value, context)
	if timeBound := temporal.Bound; timeBound != nil && t.doc.markov && !t.result.Elapse(temporal) {
		t.refuse(timeBound.Start, "%s", NotTimed)
	}
	if rewards := value.get("reward-bounds"); rewards != nil {
		t.addRewardBounds(temporal, rewards, context)
	}
	return temporal
}

// combinedPath translates Boolean operators of path formulas.
func (t *translator) combinedPath(value, op *jsonValue, context *exprContext) syntax.Expr {
	if op.text == "¬" {
		t.requireKeys(value, "exp")
		return &syntax.Unary{Op: syntax.OpNot, X: t.path(value.get("exp"), context), Span: value.Span}
	}
	t.requireKeys(value, "left", "right")
	return &syntax.Binary{Op: operators[op.text], X: t.path(value.get("left"), context), Y: t.path(value.get("right"), context), OpPos: op.Start, Span: value.Span}
}

// pathBound translates the bound of a path formula. PRISM's language has one bound: on steps in
// discrete time, and on time otherwise.
func (t *translator) pathBound(value *jsonValue, context *exprContext) *syntax.TimeBound {
	steps, times := value.get("step-bounds"), value.get("time-bounds")
	timed := t.doc.hasTime()
	switch {
	case t.doc.markov && steps != nil:
		t.refuse(value.Start, "bounds on the steps of a Markov automaton are not supported")
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
func (t *translator) addRewardBounds(temporal *syntax.Temporal, value *jsonValue, context *exprContext) {
	if value.kind != array {
		t.refuse(value.Start, "found %s, want bounds on rewards in an array", value.describe())
	}
	if t.doc.hasTime() && t.doc.modelType != syntax.CTMC {
		t.refuse(value.Start, "reward bounds of a Markov automaton or timed automaton are not supported")
	}
	for _, b := range value.elements {
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
func (t *translator) boundInterval(value *jsonValue, context *exprContext, steps bool) *syntax.TimeBound {
	if value.kind != object {
		t.refuse(value.Start, "found %s, want a bound as an object", value.describe())
	}
	bound := &syntax.TimeBound{Span: value.Span}
	for _, member := range value.members {
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
		t.refuse(value.Start, "found an open interval of time, which PRISM's language cannot express, want a closed one")
	}
	addOrSubtractOne := func(op syntax.Op, expr syntax.Expr) syntax.Expr {
		return &syntax.Binary{Op: op, X: expr, Y: &syntax.IntLit{Value: 1, Span: value.Span}, OpPos: expr.Pos(), Span: value.Span}
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
func (t *translator) expectation(value, op *jsonValue, context *exprContext) syntax.Expr {
	t.requireKeysOptionally(value, "accumulate reach step-instant time-instant reward-instants", "exp")
	steps, times, reach, accumulate := value.get("step-instant"), value.get("time-instant"), value.get("reach"), value.get("accumulate")
	hasTime := t.doc.hasTime()
	if r := value.get("reward-instants"); r != nil {
		t.refuse(r.Start, "instants of rewards are not supported")
	}
	switch {
	case t.doc.markov && reach == nil && (accumulate == nil || steps != nil || times != nil):
		t.refuse(value.Start, "instants of a Markov automaton are not supported")
	case steps != nil && hasTime:
		t.refuse(steps.Start, "a number of steps of %s is not supported, want an instant of time", noun.WithArticle(t.doc.modelType.String()))
	case times != nil && !hasTime:
		t.refuse(times.Start, "found an instant of time in %s, which has no time", noun.WithArticle(t.doc.modelType.String()))
	case reach != nil && (steps != nil || times != nil):
		t.refuse(value.Start, "found both reach and an instant, which PRISM's language cannot express")
	case reach != nil && accumulate == nil:
		t.refuse(value.Start, "found reach without accumulate, which PRISM's language cannot express")
	case reach != nil:
		to := &syntax.Temporal{Op: syntax.Future, Y: t.expr(reach, context), Span: reach.Span}
		return t.rewardOperator(value, op, to)
	}
	instant := steps
	if hasTime {
		instant = times
	}
	path := &syntax.RewardPath{Kind: syntax.Cumulative, Span: value.Span}
	if accumulate == nil {
		path.Kind = syntax.Instantaneous
		if instant == nil {
			t.refuse(value.Start, "an expectation has no accumulate, reach or instant, want one of them")
		}
	}
	if instant != nil {
		path.Bound = t.expr(instant, context)
	}
	return t.rewardOperator(value, op, path)
}

// rewardOperator returns the R operator for an expectation, with the given objective.
func (t *translator) rewardOperator(value, op *jsonValue, path syntax.Expr) syntax.Expr {
	if accumulate := value.get("accumulate"); accumulate != nil {
		t.checkAccumulate(accumulate)
	}
	reward := t.findReward(value)
	return &syntax.Reward{Struct: &syntax.Quoted{Name: reward.name, Span: reward.span}, Threshold: t.queryThreshold(op), Path: path, Span: value.Span}
}

// checkAccumulate checks the list of times at which a reward is accumulated: steps, time or exit. In a
// model without time, accumulating over time is an error.
func (t *translator) checkAccumulate(value *jsonValue) {
	if value.kind != array || len(value.elements) == 0 {
		t.refuse(value.Start, "found %s, want steps, time or exit in an array", value.describe())
	}
	for _, arg := range value.elements {
		switch {
		case arg.isText("time") && !t.doc.hasTime():
			t.refuse(arg.Start, "found rewards that %s accumulates over time, which it does not have, want exit or steps", noun.WithArticle(t.doc.modelType.String()))
		case !arg.isText("steps") && !arg.isText("time") && !arg.isText("exit"):
			t.refuse(arg.Start, "found %s, want steps, time or exit", arg.describe())
		}
	}
}
