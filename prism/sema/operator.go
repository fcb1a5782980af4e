package sema

import (
	"cmp"
	"fmt"
	"slices"

	"tilecheck/prism/syntax"
)

// resolveOperator resolves an expression of a kind that occurs only in properties, such as a P operator.
func (r *resolver) resolveOperator(expr syntax.Expr) Expr {
	switch expr := expr.(type) {
	case *syntax.Quoted:
		return r.resolveQuoted(expr)
	case *syntax.Temporal:
		return r.resolveTemporal(expr)
	case *syntax.Prob:
		return r.resolveProb(expr)
	case *syntax.Steady:
		return r.resolveSteady(expr)
	case *syntax.Reward:
		return r.resolveReward(expr)
	case *syntax.RewardPath:
		return r.resolveRewardPath(expr)
	case *syntax.Conditional:
		return r.resolveConditional(expr)
	case *syntax.Quant:
		return &Quant{Base{Bool, expr.Pos()}, expr.All, r.resolveExpr(expr.Path)}
	case *syntax.Strategy:
		return r.resolveStrategy(expr)
	case *syntax.Filter:
		states := r.resolveOptional(expr.States)
		return r.newFilter(expr, expr.Op, r.resolveExpr(expr.X), expr.X, states, expr.States)
	}
	return r.semanticError(expr, "found %T, want an expression", expr)
}

// resolveStrategy resolves a coalition operator <<players>> or [[players]] and its operand.
func (r *resolver) resolveStrategy(expr *syntax.Strategy) Expr {
	operand := r.resolveExpr(expr.X)
	valueType := operand.Type()
	if valueType != Bool && valueType != Invalid {
		valueType = Double
	}
	names, players := r.resolveCoalition(expr)
	return &Strategy{Base{valueType, expr.Pos()}, expr.IsBox, expr.All, names, players, operand}
}

// resolveQuoted resolves a quoted name: the name of an observable, a property or a label.
func (r *resolver) resolveQuoted(expr *syntax.Quoted) Expr {
	base := Base{Bool, expr.Pos()}
	meaning, ok := r.props.quoted.lookup(r.model.quoted, expr.Name)
	switch {
	case ok && meaning.kind == "observable":
		observable := r.model.observables[meaning.index].X
		if observable == nil {
			return r.semanticError(expr, "found the observable %q, want a label or an expression over the variables; the expression of the observable is not known", expr.Name)
		}
		return observable
	case ok && meaning.kind == "property":
		resolvedProperty := r.property(meaning.index)
		if !r.nesting.add(r.props.props[meaning.index].nesting) {
			return r.tooDeep(expr)
		}
		return resolvedProperty
	case expr.Name == "init":
		return &Label{base, expr.Name, LabelInit}
	case expr.Name == "deadlock":
		return &Label{base, expr.Name, LabelDeadlock}
	case !ok:
		return r.semanticError(expr, "undeclared label %q%s", expr.Name, r.suggestLabel(expr.Name))
	case meaning.location == "the model":
		return &Label{base, expr.Name, meaning.index}
	}
	return &Label{base, expr.Name, len(r.model.labels) + meaning.index}
}

// property returns the resolved formula of the property with index i. The formula is resolved at the first call.
func (r *resolver) property(i int) Expr {
	property := r.props.props[i]
	if property.expr != nil {
		return property.expr
	}
	outerUnit, outerNesting := r.unit, *r.nesting
	firstError := len(r.entries)
	r.unit = i + 1
	*r.nesting = nesting{totalDepth: outerNesting.totalDepth}
	property.expr = r.resolveExpr(property.declaration.X)
	property.nesting = *r.nesting
	r.unit, *r.nesting = outerUnit, outerNesting
	// Like PRISM, attribute type errors to the property that refers to this property.
	for index := firstError; index < len(r.entries); index++ {
		if r.entries[index].phase == phaseTypes {
			r.entries[index].unit = outerUnit
		}
	}
	return property.expr
}

// checkNumberBound reports an error unless the bound of an operator is a constant number. resolved is the resolved bound, or nil without a bound.
// The messages are "<subject> is not constant" and "<subject> <otherType>".
func (r *resolver) checkNumberBound(expr syntax.Expr, resolved Expr, subject, otherType string) {
	if resolved == nil {
		return
	}
	if !isConstant(resolved) {
		r.semanticError(expr, "%s is not constant", subject)
	}
	if valueType := resolved.Type(); valueType != Invalid && !isNumeric(valueType) {
		r.typeError(expr, "%s %s: %s", subject, otherType, typeMismatch(resolved, "a number"))
	}
}

// resolveTemporal resolves a temporal operator with its bounds and operands.
func (r *resolver) resolveTemporal(expr *syntax.Temporal) Expr {
	result := &Temporal{Base: Base{Path, expr.Pos()}, Op: expr.Op, X: r.resolveOptional(expr.X), Y: r.resolveExpr(expr.Y)}
	if len(expr.Costs) > 0 {
		return r.newCostBounded(expr, expr.Costs, result)
	}
	if expr.Bound != nil && r.model.isEmbeddedMDP { // only some states of a Markov automaton let time pass
		return r.newCostBounded(expr, []*syntax.CostBound{{Word: "time", Bound: expr.Bound, Span: expr.Bound.Span}}, result)
	}
	if expr.Bound != nil {
		result.Bound = r.resolveBound(expr.Bound, expr.Op.String())
		if expr.Op == syntax.Next {
			r.semanticError(expr, "cannot attach bounds to X operator")
		}
	}
	if expr.X != nil {
		r.checkTemporalOperand(expr, expr.X, result.X)
	}
	r.checkTemporalOperand(expr, expr.Y, result.Y)
	return result
}

// resolveBound resolves a time, step or reward bound. operator is the name of the bounded operator in error messages.
func (r *resolver) resolveBound(source *syntax.TimeBound, operator string) *Bound {
	bound := &Bound{Low: r.resolveOptional(source.Low), IsLowStrict: source.IsLowStrict, IsHighStrict: source.IsHighStrict, Pos: source.Pos()}
	if source.Equal {
		bound.High = bound.Low
	} else {
		bound.High = r.resolveOptional(source.High)
	}
	r.checkNumberBound(source.Low, bound.Low, fmt.Sprintf("lower bound in %s operator", operator), "must be an int or double")
	r.checkNumberBound(source.High, bound.High, fmt.Sprintf("upper bound in %s operator", operator), "must be an int or double")
	return bound
}

// newCostBounded returns a temporal operator with bounds on rewards or on the time of a Markov automaton. temporal has the resolved operands.
func (r *resolver) newCostBounded(expr *syntax.Temporal, costBounds []*syntax.CostBound, temporal *Temporal) Expr {
	result := &CostBounded{Base: temporal.Base, X: temporal.X, Y: temporal.Y}
	if expr.Op != syntax.Future && expr.Op != syntax.Until {
		r.semanticError(expr, "found reward bounds on the %s operator, want them on F or U", expr.Op)
	}
	result.Costs = r.resolveCosts(costBounds, expr.Op.String())
	if expr.X != nil {
		r.checkTemporalOperand(expr, expr.X, result.X)
	}
	r.checkTemporalOperand(expr, expr.Y, result.Y)
	return result
}

// resolveCosts resolves bounds on rewards, steps and time. operator is the name of the bounded operator in error messages.
func (r *resolver) resolveCosts(bounds []*syntax.CostBound, operator string) []Cost {
	var costs []Cost
	for _, costBound := range bounds {
		cost := Cost{Struct: -1, IsTime: costBound.Word == "time" && r.model.isEmbeddedMDP, Bound: r.resolveBound(costBound.Bound, operator)}
		if costBound.Word == "rew" {
			cost.Struct = r.boundedRewardStruct(costBound)
		}
		costs = append(costs, cost)
	}
	return costs
}

// boundedRewardStruct returns the index of the reward structure whose rewards a bound limits. It is 0, the first structure, if the bound does not name one, or
// after an error.
func (r *resolver) boundedRewardStruct(costBound *syntax.CostBound) int {
	if costBound.Struct == nil {
		if len(r.model.declaredRewards()) == 0 {
			r.semanticError(costBound, "model has no rewards specified")
		}
		return 0
	}
	quoted, hasName := costBound.Struct.(*syntax.Quoted)
	if !hasName {
		r.semanticError(costBound, "found the number of a reward structure in a bound, want its name in quotes")
		return 0
	}
	i := slices.IndexFunc(r.model.rewards, func(rewards RewardStruct) bool { return rewards.Name == quoted.Name })
	if i < 0 {
		r.semanticError(costBound, "reward structure %q does not exist", quoted.Name)
		return 0
	}
	return i
}

// checkTemporalOperand reports an error unless an operand of a temporal operator is Boolean or a path formula.
func (r *resolver) checkTemporalOperand(expr *syntax.Temporal, operand syntax.Expr, resolved Expr) {
	if valueType := resolved.Type(); valueType != Invalid && !isBoolOrPath(valueType) {
		r.typeError(operand, "argument of %s operator is not Boolean: %s", expr.Op, typeMismatch(resolved, "bool"))
	}
}

// refuseModifier reports an error for a modifier of an operator, because no modifier is supported. ident may be nil.
func (r *resolver) refuseModifier(ident *syntax.Ident, op string) {
	if ident != nil {
		r.semanticError(ident, "modifier %q not supported for %s operator", ident.Name, op)
	}
}

// resolveThreshold resolves the query or the bound of an operator, such as min=? or >=0.5.
func (r *resolver) resolveThreshold(source syntax.Threshold) Threshold {
	return Threshold{source.Extremum, source.Rel, r.resolveOptional(source.Bound)}
}

// valueType returns the type of an operator with the threshold: Double for a query, Bool for a bound.
func (t Threshold) valueType() Type {
	if t.IsQuery() {
		return Double
	}
	return Bool
}

// resolveProb resolves a P operator.
func (r *resolver) resolveProb(expr *syntax.Prob) Expr {
	states := r.oldFilterStates(expr.Filter)
	operator := &Prob{Threshold: r.resolveThreshold(expr.Threshold), Path: r.resolveExpr(expr.Path)}
	operator.Base = Base{operator.valueType(), expr.Pos()}
	r.refuseModifier(expr.Modifier, "P")
	r.checkNumberBound(expr.Bound, operator.Bound, "P operator probability bound", "is not a double")
	r.checkOldFilter(expr, expr.Filter, states, operator.Threshold)
	if pathType := operator.Path.Type(); pathType != Invalid && !isBoolOrPath(pathType) {
		r.typeError(expr.Path, "contents of P operator is not a path formula: %s", typeMismatch(operator.Path, "a path formula"))
	}
	return r.wrapInOldFilter(expr, expr.Filter, operator, states, expr.Threshold)
}

// resolveSteady resolves an S operator.
func (r *resolver) resolveSteady(expr *syntax.Steady) Expr {
	states := r.oldFilterStates(expr.Filter)
	operator := &Steady{Threshold: r.resolveThreshold(expr.Threshold), X: r.resolveExpr(expr.X)}
	operator.Base = Base{operator.valueType(), expr.Pos()}
	r.refuseModifier(expr.Modifier, "S")
	r.checkNumberBound(expr.Bound, operator.Bound, "S operator probability bound", "is not a double")
	r.checkOldFilter(expr, expr.Filter, states, operator.Threshold)
	if valueType := operator.X.Type(); valueType != Invalid && valueType != Bool {
		r.typeError(expr.X, "contents of S operator is not a Boolean-valued expression: %s", typeMismatch(operator.X, "bool"))
	}
	return r.wrapInOldFilter(expr, expr.Filter, operator, states, expr.Threshold)
}

// resolveReward resolves an R operator and selects its reward structure.
func (r *resolver) resolveReward(expr *syntax.Reward) Expr {
	states := r.oldFilterStates(expr.Filter)
	operator := &Reward{DivisorStruct: -1}
	operator.index, operator.divisorIndex = r.rewardStructNumber(expr.Struct), r.rewardStructNumber(expr.DivisorStruct)
	operator.Threshold, operator.Path = r.resolveThreshold(expr.Threshold), r.resolveExpr(expr.Path)
	operator.Base = Base{operator.valueType(), expr.Pos()}
	r.refuseModifier(expr.Modifier, "R")
	first := 0
	if len(r.model.declaredRewards()) == 0 { // the structure of the operator T is not the default
		first = -1
	}
	operator.Struct = r.selectRewardStruct(expr, expr.Struct, operator.index, first)
	operator.DivisorStruct = r.selectRewardStruct(expr, expr.DivisorStruct, operator.divisorIndex, -1)
	r.checkNumberBound(expr.Bound, operator.Bound, "R operator reward bound", "is not a double")
	r.checkOldFilter(expr, expr.Filter, states, operator.Threshold)
	if valueType := operator.Path.Type(); valueType != Invalid && !isBoolOrPath(valueType) {
		r.typeError(expr.Path, "contents of R operator is invalid: %s", typeMismatch(operator.Path, "a reward objective or path formula"))
	}
	return r.wrapInOldFilter(expr, expr.Filter, operator, states, expr.Threshold)
}

// rewardStructNumber resolves the number of a reward structure; nil if the structure has a quoted name or is missing.
func (r *resolver) rewardStructNumber(expr syntax.Expr) Expr {
	if _, ok := expr.(*syntax.Quoted); ok || expr == nil {
		return nil
	}
	if ident, ok := expr.(*syntax.Ident); ok && !r.isDeclared(ident.Name) {
		return r.semanticError(expr, "undeclared identifier %q%s", ident.Name, r.suggestRewardStruct(ident.Name))
	}
	return r.resolveExpr(expr)
}

// isDeclared reports whether an identifier of a property has a meaning.
func (r *resolver) isDeclared(name string) bool {
	_, ok := r.props.names.lookup(r.model.names, name)
	return ok
}

// suggestRewardStruct returns a hint for an undeclared identifier in the braces of an R operator: the reward structure with this name, the most
// similar name, or all names.
func (r *resolver) suggestRewardStruct(name string) string {
	declared := r.declaredRewardStructs()
	if slices.Contains(declared, name) {
		return fmt.Sprintf("; there is a reward structure %q, want it in quotes", name)
	}
	return nearestOrAll(name, declared)
}

// declaredRewardStructs returns the names of the reward structures that are written in the model.
func (r *resolver) declaredRewardStructs() []string {
	return namesOf(r.model.declaredRewards(), func(rewards RewardStruct) string { return rewards.Name })
}

// selectRewardStruct returns the index of the reward structure that an R operator gives by its name, or defaultIndex if it gives none. If the operator gives a
// number, it returns -1, because the number is evaluated later.
func (r *resolver) selectRewardStruct(operator *syntax.Reward, expr syntax.Expr, number Expr, defaultIndex int) int {
	if quoted, ok := expr.(*syntax.Quoted); ok {
		return r.namedRewardStruct(operator, quoted.Name)
	}
	if number == nil {
		return defaultIndex
	}
	if !isConstant(number) {
		r.semanticError(expr, "R operator reward struct index is not constant")
	}
	if valueType := number.Type(); valueType != Int && valueType != Invalid {
		r.typeError(expr, "reward structure index must be string or integer: %s", typeMismatch(number, "int"))
	}
	return -1
}

// namedRewardStruct returns the index of a reward structure by name. It reports an error and returns -1 if there is no such structure.
func (r *resolver) namedRewardStruct(operator *syntax.Reward, name string) int {
	nameOf := func(rewards RewardStruct) string { return rewards.Name }
	names := namesOf(r.model.rewards, nameOf)
	i := slices.Index(names, name)
	switch {
	case i >= 0:
		return i
	case operator.IsTimeReward && r.model.dialect == syntax.Storm: // whoever evaluates the property adds the structure to the text of the model
	case operator.IsTimeReward:
		r.semanticError(operator, "found the operator T, which is not supported for these states: they were read without a reward structure for time")
	default:
		r.semanticError(operator, "R operator reward struct index %q does not exist%s", name, cmp.Or(unreadHint(r.model.unread.Rewards), nearestOrAll(name, r.declaredRewardStructs())))
	}
	return -1
}

// resolveRewardPath resolves a reward objective: cumulative (C, C<=k), instantaneous (I=k), long-run (S), or in games until a target (Fc, F0).
func (r *resolver) resolveRewardPath(expr *syntax.RewardPath) Expr {
	operator := rewardOperatorName(expr.Kind)
	objective := &RewardPath{
		Base:     Base{Path, expr.Pos()},
		Kind:     expr.Kind,
		Bound:    r.resolveOptional(expr.Bound),
		IsTime:   expr.Bound != nil && r.model.isEmbeddedMDP,
		Target:   r.resolveOptional(expr.Target),
		Costs:    r.resolveCosts(expr.Costs, operator),
		Discount: r.resolveOptional(expr.Discount),
	}
	if objective.Target != nil {
		r.checkGameTarget(expr, objective.Target, operator)
	}
	r.checkNumberBound(expr.Bound, objective.Bound, fmt.Sprintf("upper bound in %s operator", operator), "must be an int or double")
	r.checkNumberBound(expr.Discount, objective.Discount, fmt.Sprintf("discount factor in %s operator", operator), "must be an int or double")
	return objective
}

// rewardOperatorName returns the operator of a reward objective as it is written in a property.
func rewardOperatorName(kind syntax.RewardPathKind) string {
	switch kind {
	case syntax.Cumulative:
		return "C"
	case syntax.Instantaneous:
		return "I"
	case syntax.LongRun:
		return "S"
	case syntax.UntilReached:
		return "Fc"
	}
	return "F0"
}

// resolveConditional resolves a conditional formula, X || condition.
func (r *resolver) resolveConditional(expr *syntax.Conditional) Expr {
	result := &Conditional{Base{Path, expr.Pos()}, r.resolveExpr(expr.X), r.resolveExpr(expr.Condition)}
	if valueType := result.X.Type(); valueType != Invalid && !isBoolOrPath(valueType) {
		r.typeError(expr.X, "left side of || is not a path formula: %s", typeMismatch(result.X, "a path formula"))
	}
	if valueType := result.Condition.Type(); valueType != Invalid && !isBoolOrPath(valueType) {
		r.typeError(expr.Condition, "condition behind || is not a path formula: %s", typeMismatch(result.Condition, "a path formula"))
	}
	return result
}

// checkGameTarget reports an error unless the model is a game and the target of Fc or F0 is Boolean.
func (r *resolver) checkGameTarget(expr *syntax.RewardPath, target Expr, operator string) {
	if r.model.modelType != syntax.SMG {
		r.semanticError(expr, "the %s reward operator only works for stochastic games (smg)", operator)
	}
	if valueType := target.Type(); valueType != Bool && valueType != Invalid {
		r.typeError(expr.Target, "target of the %s operator is not Boolean: %s", operator, typeMismatch(target, "bool"))
	}
}

// oldFilterStates resolves the states of an old-style filter {states}; nil if there is no filter. The caller resolves them before the
// operator, so errors come in PRISM's order.
func (r *resolver) oldFilterStates(filter *syntax.OldFilter) Expr {
	if filter == nil {
		return nil
	}
	return r.resolveExpr(filter.States)
}

// checkOldFilter checks an old filter {states}{min}{max} of an operator. The states must be Boolean, and {min} and {max} are allowed only if the
// operator asks for a value. Without a filter, it does nothing.
func (r *resolver) checkOldFilter(expr syntax.Expr, filter *syntax.OldFilter, states Expr, threshold Threshold) {
	if filter == nil {
		return
	}
	if valueType := states.Type(); valueType != Bool && valueType != Invalid {
		r.typeError(filter.States, "filter of the operator is not a Boolean: %s", typeMismatch(states, "bool"))
	}
	if !threshold.IsQuery() && (filter.Min || filter.Max) {
		r.typeError(expr, "cannot use min/max filters in Boolean-valued properties")
	}
}

// wrapInOldFilter returns an operator with an old-style filter as filter(...). Without such a filter it returns the operator itself.
func (r *resolver) wrapInOldFilter(expr syntax.Expr, filter *syntax.OldFilter, resolved, states Expr, threshold syntax.Threshold) Expr {
	if filter == nil {
		return resolved
	}
	return r.newFilter(expr, filter.Op(threshold), resolved, expr, states, filter.States)
}

// fullFilterName returns the name of a filter type without abbreviation, such as sum for +. It returns "" if there is no such type.
func fullFilterName(op string) string {
	switch op {
	case "+":
		return "sum"
	case "&":
		return "forall"
	case "|":
		return "exists"
	case "min", "max", "argmin", "argmax", "count", "sum", "avg", "first", "range",
		"forall", "exists", "print", "printall", "state", "store":
		return op
	}
	return ""
}

// newFilter returns the filter of type op, such as min or count. The operand and the states are already resolved; newFilter checks their types. It
// reports errors at the positions of sourceOperand and sourceStates.
func (r *resolver) newFilter(expr syntax.Expr, op string, operand Expr, sourceOperand syntax.Expr, states Expr, sourceStates syntax.Expr) Expr {
	name := fullFilterName(op)
	if name == "" {
		return r.semanticError(expr, "unknown filter type %q", op)
	}
	if states != nil && states.Type() != Bool && states.Type() != Invalid {
		r.typeError(sourceStates, "second argument of filter is not a Boolean: %s", typeMismatch(states, "bool"))
	}
	if operand.Type() == Invalid {
		return invalidExpr(expr, operand)
	}
	if problem := filterOperandProblem(name, op, operand); problem != "" {
		r.typeError(sourceOperand, "%s", problem)
		return invalidExpr(expr, operand)
	}
	return &Filter{Base{filterType(name, operand.Type()), expr.Pos()}, name, operand, states}
}

// filterOperandProblem returns an error message for an operand of the wrong type, or "". name is the full name of the filter type, op its
// name in the source.
func filterOperandProblem(name, op string, operand Expr) string {
	isBool := operand.Type() == Bool
	switch name {
	case "min", "max", "argmin", "argmax", "sum", "avg", "range":
		if isBool {
			return fmt.Sprintf("Boolean argument not allowed as operand for filter of type %q, want a number", op)
		}
	case "count", "forall", "exists":
		if !isBool {
			return fmt.Sprintf("operand for filter of type %q must be Boolean: %s", op, typeMismatch(operand, "bool"))
		}
	}
	if operand.Type() == Void && name != "state" {
		return fmt.Sprintf("void arguments not allowed as operand for filter of type %q", op)
	}
	return ""
}

// filterType returns the type of a filter's value. operandType is the type of its operand.
func filterType(name string, operandType Type) Type {
	switch name {
	case "range":
		return Interval
	case "count":
		return Int
	case "avg":
		return Double
	case "argmin", "argmax", "forall", "exists":
		return Bool
	}
	return operandType
}

// resolveMulti returns the property multi(...) or multilex(...) with the given arguments, which are already resolved. It checks the types of
// the arguments.
func (r *resolver) resolveMulti(expr *syntax.Call, args []Expr) Expr {
	hasBoolean := false
	for i, arg := range args {
		problem := objectiveProblem(arg, expr.IsLexicographic, hasBoolean)
		if problem != "" {
			r.typeError(expr.Args[i], "%s", problem)
			return invalidExpr(expr, args...)
		}
		hasBoolean = hasBoolean || arg.Type() == Bool
	}
	if expr.IsLexicographic {
		return &Multi{Base{Void, expr.Pos()}, true, args}
	}
	resultType := args[0].Type()
	if resultType == Double && len(args) > 1 && args[1].Type() == Double {
		resultType = Void
	}
	return &Multi{Base{resultType, expr.Pos()}, false, args}
}

// objectiveProblem returns an error message for an argument of multi(...) or multilex(...) that has the wrong type, or "". hasBoolean reports
// whether an earlier argument is Boolean.
func objectiveProblem(arg Expr, isLexicographic, hasBoolean bool) string {
	switch argType := arg.Type(); {
	case isLexicographic && argType != Double:
		return "argument of multilex is not a query: " + typeMismatch(arg, "double")
	case argType != Bool && argType != Double:
		return "non-Boolean/Double argument to function \"multi\": " + typeMismatch(arg, "bool or double")
	case argType == Double && hasBoolean:
		return "in the function \"multi\", any Double arguments must come before any Boolean arguments"
	}
	return ""
}
