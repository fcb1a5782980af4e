package jani

import (
	"slices"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/prism/syntax"
)

// translateProperties translates all properties. A property that cannot be translated has its JSON text as its expression, and its error is in
// Refused.
func (t *translator) translateProperties() {
	names := make(names)
	for _, item := range t.labelItems {
		names[item.(*syntax.LabelDecl).Name.Name] = true
	}
	for _, declared := range t.document.properties {
		property := &syntax.Property{Name: &syntax.Ident{Name: names.unusedName(declared.name), Span: declared.Span}, Span: declared.Span}
		err := catchAbort(func() { property.X = t.translateProperty(declared.expr) })
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

// prismFilters maps the filters of JANI to those of PRISM.
var prismFilters = map[string]string{
	"min": "min", "max": "max", "sum": "sum", "avg": "avg", "count": "count", "argmin": "argmin", "argmax": "argmax",
	"∀": "forall", "∃": "exists",
}

// translateProperty translates a property, usually a filter over the initial states.
func (t *translator) translateProperty(value *jsonValue) syntax.Expr {
	context := &exprContext{scope: t.globalScope, isInProperty: true}
	op := value.get("op")
	if !op.isText("filter") {
		return t.translateExpr(value, context)
	}
	t.requireKeys(value, "fun", "values", "states")
	filter, states := value.get("fun"), value.get("states")
	expr := t.translateExpr(value.get("values"), context)
	if states.get("op").isText("initial") {
		hasOneInitialState := t.initialCondition == nil
		isIdentityOnOne := slices.Contains([]string{"min", "max", "avg", "sum", "∀", "∃"}, filter.text)
		if filter.isText("values") || hasOneInitialState && isIdentityOnOne {
			return expr // PRISM does this without a filter
		}
	}
	name, ok := prismFilters[filter.text]
	switch {
	case filter.text == "values":
		name = "state"
	case !ok:
		t.abort(filter.Start, "the filter %s is not supported", filter.describe())
	}
	return &syntax.Filter{Op: name, OpPos: filter.Start, X: expr, States: t.translateExpr(states, context), Span: value.Span}
}

// translatePropertyOperator translates an operator that occurs only in properties. It returns nil for any other operator.
func (t *translator) translatePropertyOperator(value, op *jsonValue, context *exprContext) syntax.Expr {
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
		return &syntax.Prob{Threshold: t.queryThreshold(op), Path: t.translatePath(value.get("exp"), context), Span: value.Span}
	case "∀", "∃":
		t.requireKeys(value, "exp")
		return &syntax.Quant{All: op.text == "∀", Path: t.translatePath(value.get("exp"), context), Span: value.Span}
	case "Emin", "Emax":
		return t.translateExpectation(value, op, context)
	case "Smin", "Smax":
		t.requireKeysOptionally(value, "accumulate", "exp")
		if !t.isReward(value, op.text) {
			return &syntax.Steady{Threshold: t.queryThreshold(op), X: t.translateExpr(value.get("exp"), context), Span: value.Span}
		}
		return t.rewardOperator(value, op, &syntax.RewardPath{Kind: syntax.LongRun, Span: value.Span})
	case "U", "W", "F", "G", "R", "X":
		t.abort(op.Start, "found the operator %s, want it only inside Pmin, Pmax, ∀ or ∃", op.text)
	}
	return nil
}

// queryThreshold returns the threshold of an operator that asks for a value: min, max or, in a Markov chain, neither.
func (t *translator) queryThreshold(op *jsonValue) syntax.Threshold {
	switch {
	case t.document.modelType == syntax.DTMC || t.document.modelType == syntax.CTMC:
		return syntax.Threshold{}
	case strings.HasSuffix(op.text, "min"):
		return syntax.Threshold{Extremum: syntax.Min}
	}
	return syntax.Threshold{Extremum: syntax.Max}
}

// translateBoundedOperator translates a comparison such as Pmin >= 0.5 to an operator with a bound such as P>=0.5. It returns nil if the
// comparison has another form.
func (t *translator) translateBoundedOperator(value *jsonValue, op syntax.Op, context *exprContext) syntax.Expr {
	left := value.get("left")
	if !context.isInProperty || !t.canBeBounded(left.get("op"), op) {
		return nil
	}
	bound := syntax.Threshold{Rel: op, Bound: t.translateExpr(value.get("right"), context)}
	switch expr := t.translateExpr(left, context).(type) {
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

// canBeBounded reports whether PRISM's language can express the comparison of this operator with a bound by a bounded operator such as P>=0.5.
func (t *translator) canBeBounded(operator *jsonValue, comparison syntax.Op) bool {
	if operator == nil || operator.kind != text {
		return false
	}
	if !slices.Contains([]string{"Pmin", "Pmax", "Emin", "Emax", "Smin", "Smax"}, operator.text) {
		return false
	}
	// PRISM's bounds hold for all schedulers. So a lower bound is on the minimum, and an upper bound on the maximum.
	hasSchedulers := t.document.modelType != syntax.DTMC && t.document.modelType != syntax.CTMC
	switch comparison {
	case syntax.OpGe, syntax.OpGt:
		return !hasSchedulers || strings.HasSuffix(operator.text, "min")
	case syntax.OpLe, syntax.OpLt:
		return !hasSchedulers || strings.HasSuffix(operator.text, "max")
	}
	return false
}

// requireKeysOptionally aborts with an error if the object of an operator lacks a required key, or has a key that is neither required nor
// optionalKeys. optionalKeys lists keys, separated by blanks.
func (t *translator) requireKeysOptionally(value *jsonValue, optionalKeys string, requiredKeys ...string) {
	keys := requiredKeys
	for key := range strings.FieldsSeq(optionalKeys) {
		if value.get(key) != nil {
			keys = append(keys, key)
		}
	}
	t.requireKeys(value, keys...)
}

// translatePath translates a path formula. Its operands may be state formulas.
func (t *translator) translatePath(value *jsonValue, context *exprContext) syntax.Expr {
	op := value.get("op")
	if op == nil || op.kind != text {
		return t.translateExpr(value, context)
	}
	var temporal *syntax.Temporal
	switch op.text {
	case "U":
		temporal = t.translateBinaryPath(value, syntax.Until, context)
		if left, ok := temporal.X.(*syntax.BoolLit); ok && left.Value { // true U b is F b
			temporal.Op, temporal.X = syntax.Future, nil
		}
	case "W":
		temporal = t.translateBinaryPath(value, syntax.WeakUntil, context)
	case "R":
		temporal = t.translateBinaryPath(value, syntax.Release, context)
	case "F":
		temporal = t.translateUnaryPath(value, syntax.Future, pathBounds, context)
	case "G":
		temporal = t.translateUnaryPath(value, syntax.Globally, pathBounds, context)
	case "X":
		temporal = t.translateUnaryPath(value, syntax.Next, "", context)
	case "∧", "∨", "⇒", "¬":
		return t.translateCombinedPath(value, op, context)
	default:
		return t.translateExpr(value, context)
	}
	t.addPathBounds(temporal, value, context)
	return temporal
}

// pathBounds lists the keys of the bounds that a temporal operator may have.
const pathBounds = "step-bounds time-bounds reward-bounds"

// translateBinaryPath translates a temporal operator with two operands, without its bounds.
func (t *translator) translateBinaryPath(value *jsonValue, op syntax.TemporalOp, context *exprContext) *syntax.Temporal {
	t.requireKeysOptionally(value, pathBounds, "left", "right")
	left, right := t.translatePath(value.get("left"), context), t.translatePath(value.get("right"), context)
	return &syntax.Temporal{Op: op, X: left, Y: right, Span: value.Span}
}

// translateUnaryPath translates a temporal operator with one operand, without its bounds.
func (t *translator) translateUnaryPath(value *jsonValue, op syntax.TemporalOp, optionalKeys string, context *exprContext) *syntax.Temporal {
	t.requireKeysOptionally(value, optionalKeys, "exp")
	return &syntax.Temporal{Op: op, Y: t.translatePath(value.get("exp"), context), Span: value.Span}
}

// addPathBounds adds to a temporal operator the bounds on steps, on time and on rewards that value has.
func (t *translator) addPathBounds(temporal *syntax.Temporal, value *jsonValue, context *exprContext) {
	temporal.Bound = t.translatePathBound(value, context)
	if timeBound := temporal.Bound; timeBound != nil && t.document.isMarkovAutomaton && !Elapse(temporal) {
		t.abort(timeBound.Start, "%s", NotTimed)
	}
	if rewards := value.get("reward-bounds"); rewards != nil {
		t.addRewardBounds(temporal, rewards, context)
	}
}

// translateCombinedPath translates a Boolean operator whose operands are path formulas.
func (t *translator) translateCombinedPath(value, op *jsonValue, context *exprContext) syntax.Expr {
	if op.text == "¬" {
		t.requireKeys(value, "exp")
		return &syntax.Unary{Op: syntax.OpNot, X: t.translatePath(value.get("exp"), context), Span: value.Span}
	}
	t.requireKeys(value, "left", "right")
	left, right := t.translatePath(value.get("left"), context), t.translatePath(value.get("right"), context)
	return &syntax.Binary{Op: operators[op.text], X: left, Y: right, OpPos: op.Start, Span: value.Span}
}

// translatePathBound translates the bound of a path formula: on time in a model with time, and on steps in other models.
func (t *translator) translatePathBound(value *jsonValue, context *exprContext) *syntax.TimeBound {
	steps, times := value.get("step-bounds"), value.get("time-bounds")
	hasTime := t.document.hasTime()
	switch {
	case t.document.isMarkovAutomaton && steps != nil:
		t.abort(value.Start, "bounds on the steps of a Markov automaton are not supported")
	case steps != nil && hasTime:
		t.abort(steps.Start, "bounds on the steps of %s are not supported, want bounds on time", t.describeModel())
	case times != nil && !hasTime:
		t.abort(times.Start, "found a time bound in %s, which has no time", t.describeModel())
	case times != nil:
		return t.translateTimeInterval(times, context)
	case steps != nil:
		return t.translateStepInterval(steps, context)
	}
	return nil
}

// describeModel returns the type of the model with an article, for error messages.
func (t *translator) describeModel() string { return noun.WithArticle(t.document.modelType.String()) }

// addRewardBounds adds reward bounds to a temporal operator, in Storm's dialect.
func (t *translator) addRewardBounds(temporal *syntax.Temporal, value *jsonValue, context *exprContext) {
	if value.kind != array {
		t.abort(value.Start, "found %s, want bounds on rewards in an array", value.describe())
	}
	if t.document.hasTime() && t.document.modelType != syntax.CTMC {
		t.abort(value.Start, "reward bounds of a Markov automaton or timed automaton are not supported")
	}
	for _, element := range value.elements {
		rewardBound := t.translateRewardBound(element, context)
		if rewardBound == nil {
			continue
		}
		supportsCosts := temporal.Op == syntax.Future || temporal.Op == syntax.Until
		if !supportsCosts || temporal.Bound != nil {
			t.abort(element.Start, "bounds on rewards are supported only for F and U without other bounds")
		}
		temporal.Costs = append(temporal.Costs, rewardBound)
	}
}

// translateRewardBound translates one bound on a reward. It returns nil if the bound has neither a lower nor an upper limit.
func (t *translator) translateRewardBound(value *jsonValue, context *exprContext) *syntax.CostBound {
	if value.get("exp") == nil || value.get("accumulate") == nil || value.get("bounds") == nil {
		t.abort(value.Start, "a bound on rewards lacks \"exp\", \"accumulate\" or \"bounds\", want all of them")
	}
	t.checkAccumulate(value.get("accumulate"))
	reward := t.findReward(value)
	bound := t.translateTimeInterval(value.get("bounds"), context)
	if reward.isMean { // a bound depends on the reward of each path, not on the mean
		t.abort(value.Start, "found a bound on a reward that differs between destinations of an edge, which is not supported")
	}
	if bound == nil {
		return nil
	}
	return &syntax.CostBound{Word: "rew", Struct: t.structureOperand(reward), Bound: bound, Span: value.Span}
}

// translateTimeInterval translates a bound on time or rewards, or returns nil if it has no limits. PRISM's language has no open interval with two
// limits.
func (t *translator) translateTimeInterval(value *jsonValue, context *exprContext) *syntax.TimeBound {
	bound := t.translateBoundInterval(value, context)
	if bound != nil && isOpenInterval(bound) {
		t.abort(value.Start, "found an open interval of time, which PRISM's language cannot express, want a closed one")
	}
	return bound
}

// translateStepInterval translates a bound on steps. It returns nil if the bound has no limits. An exclusive lower limit k becomes k+1, and an
// exclusive upper limit k becomes k-1.
func (t *translator) translateStepInterval(value *jsonValue, context *exprContext) *syntax.TimeBound {
	bound := t.translateBoundInterval(value, context)
	if bound == nil || !isOpenInterval(bound) {
		return bound
	}
	combineWithOne := func(op syntax.Op, expr syntax.Expr) syntax.Expr {
		return &syntax.Binary{Op: op, X: expr, Y: oneExpr(value.Span), OpPos: expr.Pos(), Span: value.Span}
	}
	if bound.IsLowStrict {
		bound.Low, bound.IsLowStrict = combineWithOne(syntax.OpAdd, bound.Low), false
	}
	if bound.IsHighStrict {
		bound.High, bound.IsHighStrict = combineWithOne(syntax.OpSub, bound.High), false
	}
	return bound
}

// isOpenInterval reports whether a bound has two limits and at least one of them is exclusive.
func isOpenInterval(bound *syntax.TimeBound) bool {
	return bound.Low != nil && bound.High != nil && (bound.IsLowStrict || bound.IsHighStrict)
}

// translateBoundInterval translates a bound, an object with the keys lower, upper, lower-exclusive and upper-exclusive. It returns nil if the
// bound has no limits.
func (t *translator) translateBoundInterval(value *jsonValue, context *exprContext) *syntax.TimeBound {
	if value.kind != object {
		t.abort(value.Start, "found %s, want a bound as an object", value.describe())
	}
	bound := &syntax.TimeBound{Span: value.Span}
	for _, member := range value.members {
		switch member.key {
		case "lower":
			bound.Low = t.translateExpr(member.value, context)
		case "upper":
			bound.High = t.translateExpr(member.value, context)
		case "lower-exclusive":
			bound.IsLowStrict = t.boolean(member.value)
		case "upper-exclusive":
			bound.IsHighStrict = t.boolean(member.value)
		case "comment":
		default:
			t.abort(member.pos, "a bound has a key %q, want only lower, lower-exclusive, upper, upper-exclusive", shortened(member.key))
		}
	}
	if bound.Low == nil && bound.High == nil {
		return nil
	}
	if bound.Low == nil {
		bound.IsLowStrict = false
	}
	return bound
}

// boolean returns the value of true or false. It refuses any other value.
func (t *translator) boolean(value *jsonValue) bool {
	if value.kind != boolean {
		t.abort(value.Start, "found %s, want true or false", value.describe())
	}
	return value.isTrue
}

// translateExpectation translates the operators Emin and Emax to the operator R of PRISM's language.
func (t *translator) translateExpectation(value, op *jsonValue, context *exprContext) syntax.Expr {
	t.requireKeysOptionally(value, "accumulate reach step-instant time-instant reward-instants", "exp")
	t.checkExpectation(value)
	if reach := value.get("reach"); reach != nil {
		path := &syntax.Temporal{Op: syntax.Future, Y: t.translateExpr(reach, context), Span: reach.Span}
		return t.rewardOperator(value, op, path)
	}
	instant := value.get("step-instant")
	if t.document.hasTime() {
		instant = value.get("time-instant")
	}
	path := &syntax.RewardPath{Kind: syntax.Cumulative, Span: value.Span}
	if value.get("accumulate") == nil {
		path.Kind = syntax.Instantaneous
		if instant == nil {
			t.abort(value.Start, "an expectation has no accumulate, reach or instant, want one of them")
		}
	}
	if instant != nil {
		path.Bound = t.translateExpr(instant, context)
	}
	return t.rewardOperator(value, op, path)
}

// checkExpectation aborts with an error if PRISM's language cannot express an expectation, or if its instant is not of the kind that the model
// has: time or steps.
func (t *translator) checkExpectation(value *jsonValue) {
	steps, times := value.get("step-instant"), value.get("time-instant")
	reach, accumulate := value.get("reach"), value.get("accumulate")
	hasInstant := steps != nil || times != nil
	if instants := value.get("reward-instants"); instants != nil {
		t.abort(instants.Start, "instants of rewards are not supported")
	}
	switch {
	case t.document.isMarkovAutomaton && reach == nil && (accumulate == nil || hasInstant):
		t.abort(value.Start, "instants of a Markov automaton are not supported")
	case steps != nil && t.document.hasTime():
		t.abort(steps.Start, "a number of steps of %s is not supported, want an instant of time", t.describeModel())
	case times != nil && !t.document.hasTime():
		t.abort(times.Start, "found an instant of time in %s, which has no time", t.describeModel())
	case reach != nil && hasInstant:
		t.abort(value.Start, "found both reach and an instant, which PRISM's language cannot express")
	case reach != nil && accumulate == nil:
		t.abort(value.Start, "found reach without accumulate, which PRISM's language cannot express")
	}
}

// rewardOperator returns the R operator for an expectation. path is its objective.
func (t *translator) rewardOperator(value, op *jsonValue, path syntax.Expr) syntax.Expr {
	if accumulate := value.get("accumulate"); accumulate != nil {
		t.checkAccumulate(accumulate)
	}
	return &syntax.Reward{Struct: t.structureOperand(t.findReward(value)), Threshold: t.queryThreshold(op), Path: path, Span: value.Span}
}

// checkAccumulate aborts with an error unless value is a list of the words steps, time and exit. The word time is only allowed in a model with
// time.
func (t *translator) checkAccumulate(value *jsonValue) {
	if value.kind != array || len(value.elements) == 0 {
		t.abort(value.Start, "found %s, want steps, time or exit in an array", value.describe())
	}
	for _, word := range value.elements {
		switch {
		case word.isText("steps"), word.isText("exit"):
		case !word.isText("time"):
			t.abort(word.Start, "found %s, want steps, time or exit", word.describe())
		case !t.document.hasTime():
			t.abort(word.Start, "found rewards that %s accumulates over time, which it does not have, want exit or steps", t.describeModel())
		}
	}
}
