package sema

import (
	"fmt"
	"slices"

	"tilecheck/prism/syntax"
)

// operator resolves an expression that occurs in properties only.
func (r *resolver) operator(expr syntax.Expr) Expr {
	switch expr := expr.(type) {
	case *syntax.Quoted:
		return r.quoted(expr)
	case *syntax.Temporal:
		return r.temporal(expr)
	case *syntax.Prob:
		return r.prob(expr)
	case *syntax.Steady:
		return r.steady(expr)
	case *syntax.Reward:
		return r.reward(expr)
	case *syntax.RewardPath:
		return r.rewardPath(expr)
	case *syntax.Conditional:
		return r.conditional(expr)
	case *syntax.Quant:
		return &Quant{Base{Bool, expr.Pos()}, expr.All, r.expr(expr.Path)}
	case *syntax.Strategy:
		resolved := r.expr(expr.X)
		typ := resolved.Type()
		if typ != Bool && typ != Invalid {
			typ = Double
		}
		names, players := r.coalition(expr)
		return &Strategy{Base{typ, expr.Pos()}, expr.Box, expr.All, names, players, resolved}
	case *syntax.Filter:
		states := r.optional(expr.States)
		return r.filter(expr, expr.Op, r.expr(expr.X), expr.X, states, expr.States)
	}
	return r.semanticError(expr, "found %T, want an expression", expr)
}

// quoted resolves a quoted name: an observable, another property or a label.
func (r *resolver) quoted(expr *syntax.Quoted) Expr {
	base := Base{Bool, expr.Pos()}
	meaning, ok := r.props.quoted.lookup(r.model.quoted, expr.Name)
	switch {
	case ok && meaning.kind == "observable":
		meaningExpr := r.model.observables[meaning.index].X
		if meaningExpr == nil {
			return r.semanticError(expr, "found the observable %q, whose expression is unknown, want a label or an expression over the variables", expr.Name)
		}
		return meaningExpr
	case ok && meaning.kind == "property":
		meaningExpr := r.property(meaning.index)
		if !r.nesting.add(r.props.props[meaning.index].nesting) {
			return r.tooDeep(expr)
		}
		return meaningExpr
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

// property resolves property i, once. PRISM reports type errors in it when another property refers to
// it, and other errors when it checks the property itself.
func (r *resolver) property(i int) Expr {
	property := r.props.props[i]
	if property.expr != nil {
		return property.expr
	}
	outerUnit, outerNesting := r.unit, *r.nesting
	firstError := len(r.entries)
	r.unit = i + 1
	*r.nesting = nesting{totalDepth: outerNesting.totalDepth}
	property.expr = r.expr(property.decl.X)
	property.nesting = *r.nesting
	r.unit, *r.nesting = outerUnit, outerNesting
	for index := firstError; index < len(r.entries); index++ {
		if r.entries[index].phase == phaseTypes {
			r.entries[index].unit = outerUnit
		}
	}
	return property.expr
}

// checkNumberBound checks that the bound of an operator is a constant number. notConstant and
// notNumber are the error messages.
func (r *resolver) checkNumberBound(expr syntax.Expr, resolved Expr, notConstant, notNumber string) {
	if resolved == nil {
		return
	}
	if !isConstant(resolved) {
		r.semanticError(expr, "%s", notConstant)
	}
	if typ := resolved.Type(); typ != Invalid && !numeric(typ) {
		r.typeError(expr, "%s: %s", notNumber, typeMismatch(resolved, "a number"))
	}
}

// temporal resolves a temporal operator with its bound.
func (r *resolver) temporal(expr *syntax.Temporal) Expr {
	result := &Temporal{Base: Base{Path, expr.Pos()}, Op: expr.Op, X: r.optional(expr.X), Y: r.expr(expr.Y)}
	if len(expr.Costs) > 0 {
		return r.costBounded(expr, expr.Costs, result)
	}
	if expr.Bound != nil && r.model.embedded {
		return r.costBounded(expr, []*syntax.CostBound{{Word: "time", Bound: expr.Bound, Span: expr.Bound.Span}}, result)
	}
	if timeBound := expr.Bound; timeBound != nil {
		result.Bound = r.timeBound(timeBound, expr.Op.String())
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

// timeBound resolves the time, step or reward bound of an operator, whose letter error messages contain.
func (r *resolver) timeBound(source *syntax.TimeBound, letter string) *Bound {
	bound := &Bound{Low: r.optional(source.Low), LowStrict: source.LowStrict, HighStrict: source.HighStrict, At: source.Pos()}
	bound.High = bound.Low
	if !source.Equal {
		bound.High = r.optional(source.High)
	}
	op := letter + " operator"
	r.checkNumberBound(source.Low, bound.Low, "lower bound in "+op+" is not constant", "lower bound in "+op+" must be an int or double")
	r.checkNumberBound(source.High, bound.High, "upper bound in "+op+" is not constant", "upper bound in "+op+" must be an int or double")
	return bound
}

// costBounded resolves an operator with reward bounds, or bounds on the time of a Markov automaton; temporal has its resolved operands.
func (r *resolver) costBounded(expr *syntax.Temporal, costs []*syntax.CostBound, temporal *Temporal) Expr {
	result := &CostBounded{Base: temporal.Base, X: temporal.X, Y: temporal.Y}
	if expr.Op != syntax.Future && expr.Op != syntax.Until {
		r.semanticError(expr, "found reward bounds on the %s operator, want them on F or U", expr.Op)
	}
	result.Costs = r.costs(costs, expr.Op.String())
	if expr.X != nil {
		r.checkTemporalOperand(expr, expr.X, result.X)
	}
	r.checkTemporalOperand(expr, expr.Y, result.Y)
	return result
}

// costs resolves the reward bounds of an operator, whose letter error messages contain.
func (r *resolver) costs(bounds []*syntax.CostBound, letter string) []Cost {
	var costs []Cost
	for _, costBound := range bounds {
		cost := Cost{Struct: -1, Time: costBound.Word == "time" && r.model.embedded, Bound: r.timeBound(costBound.Bound, letter)}
		if costBound.Word == "rew" {
			cost.Struct = r.boundedRewardStruct(costBound)
		}
		costs = append(costs, cost)
	}
	return costs
}

// boundedRewardStruct returns the index of the reward structure that a bound names; the first
// structure if it names none.
func (r *resolver) boundedRewardStruct(costBound *syntax.CostBound) int {
	quoted, named := costBound.Struct.(*syntax.Quoted)
	if costBound.Struct != nil && !named {
		r.semanticError(costBound, "found the number of a reward structure in a bound, want its name in quotes")
		return 0
	}
	for i, rewards := range r.model.rewards {
		if !named || rewards.Name == quoted.Name {
			return i
		}
	}
	if named {
		r.semanticError(costBound, "reward structure %q does not exist", quoted.Name)
	} else {
		r.semanticError(costBound, "model has no rewards specified")
	}
	return 0
}

// checkTemporalOperand checks that an operand of a temporal operator is Boolean or a path formula.
func (r *resolver) checkTemporalOperand(expr *syntax.Temporal, arg syntax.Expr, resolved Expr) {
	if typ := resolved.Type(); typ != Invalid && !boolean(typ) {
		r.typeError(arg, "argument of %s operator is not Boolean: %s", expr.Op, typeMismatch(resolved, "bool"))
	}
}

// refuseModifier reports an error for any modifier of an operator, since none is supported.
func (r *resolver) refuseModifier(ident *syntax.Ident, op string) {
	if ident != nil {
		r.semanticError(ident, "modifier %q not supported for %s operator", ident.Name, op)
	}
}

// threshold resolves the bound of an operator.
func (r *resolver) threshold(source syntax.Threshold) Threshold {
	return Threshold{source.Extremum, source.Rel, r.optional(source.Bound)}
}

func (t Threshold) valueType() Type {
	if t.Query() {
		return Double
	}
	return Bool
}

// prob resolves a P operator.
func (r *resolver) prob(expr *syntax.Prob) Expr {
	states := r.oldFilterStates(expr.Filter)
	operator := &Prob{Threshold: r.threshold(expr.Threshold), Path: r.expr(expr.Path)}
	operator.Base = Base{operator.valueType(), expr.Pos()}
	r.refuseModifier(expr.Modifier, "P")
	r.checkNumberBound(expr.Bound, operator.Bound, "P operator probability bound is not constant", "P operator probability bound is not a double")
	r.checkOldFilter(expr, expr.Filter, states, operator.Threshold)
	if pathType := operator.Path.Type(); pathType != Invalid && !boolean(pathType) {
		r.typeError(expr.Path, "contents of P operator is not a path formula: %s", typeMismatch(operator.Path, "a path formula"))
	}
	return r.wrapInOldFilter(expr, expr.Filter, operator, states, expr.Threshold)
}

// steady resolves an S operator.
func (r *resolver) steady(expr *syntax.Steady) Expr {
	states := r.oldFilterStates(expr.Filter)
	operator := &Steady{Threshold: r.threshold(expr.Threshold), X: r.expr(expr.X)}
	operator.Base = Base{operator.valueType(), expr.Pos()}
	r.refuseModifier(expr.Modifier, "S")
	r.checkNumberBound(expr.Bound, operator.Bound, "S operator probability bound is not constant", "S operator probability bound is not a double")
	r.checkOldFilter(expr, expr.Filter, states, operator.Threshold)
	if typ := operator.X.Type(); typ != Invalid && typ != Bool {
		r.typeError(expr.X, "contents of S operator is not a Boolean-valued expression: %s", typeMismatch(operator.X, "bool"))
	}
	return r.wrapInOldFilter(expr, expr.Filter, operator, states, expr.Threshold)
}

// reward resolves an R operator and selects its reward structure.
func (r *resolver) reward(expr *syntax.Reward) Expr {
	states := r.oldFilterStates(expr.Filter)
	operator := &Reward{StructDiv: -1}
	operator.index, operator.indexDiv = r.rewardStructNumber(expr.Struct), r.rewardStructNumber(expr.StructDiv)
	operator.Threshold, operator.Path = r.threshold(expr.Threshold), r.expr(expr.Path)
	operator.Base = Base{operator.valueType(), expr.Pos()}
	r.refuseModifier(expr.Modifier, "R")
	operator.Struct = r.selectRewardStruct(expr, expr.Struct, operator.index, 0)
	operator.StructDiv = r.selectRewardStruct(expr, expr.StructDiv, operator.indexDiv, -1)
	r.checkNumberBound(expr.Bound, operator.Bound, "R operator reward bound is not constant", "R operator reward bound is not a double")
	r.checkOldFilter(expr, expr.Filter, states, operator.Threshold)
	if typ := operator.Path.Type(); typ != Invalid && !boolean(typ) {
		r.typeError(expr.Path, "contents of R operator is invalid: %s", typeMismatch(operator.Path, "a reward objective or path formula"))
	}
	return r.wrapInOldFilter(expr, expr.Filter, operator, states, expr.Threshold)
}

// rewardStructNumber resolves the number of a reward structure; nil if there is a name or nothing.
func (r *resolver) rewardStructNumber(expr syntax.Expr) Expr {
	if _, ok := expr.(*syntax.Quoted); ok || expr == nil {
		return nil
	}
	return r.expr(expr)
}

// selectRewardStruct checks which reward structure an R operator selects, by a quoted name or the
// resolved number of the structure. It returns the index of a named structure, byDefault if nothing is selected, and
// -1 for a number, which is evaluated later, or an error.
func (r *resolver) selectRewardStruct(operator *syntax.Reward, expr syntax.Expr, resolved Expr, byDefault int) int {
	if quoted, ok := expr.(*syntax.Quoted); ok {
		return r.namedRewardStruct(operator, quoted.Name)
	}
	if resolved == nil {
		return byDefault
	}
	if !isConstant(resolved) {
		r.semanticError(expr, "R operator reward struct index is not constant")
	}
	if typ := resolved.Type(); typ != Int && typ != Invalid {
		r.typeError(expr, "reward structure index must be string or integer: %s", typeMismatch(resolved, "int"))
	}
	return -1
}

// namedRewardStruct returns the index of the reward structure with a name; it reports an error and returns -1 if there is none.
func (r *resolver) namedRewardStruct(operator *syntax.Reward, name string) int {
	i := slices.IndexFunc(r.model.rewards, func(rewards RewardStruct) bool { return rewards.Name == name })
	switch {
	case i >= 0:
	case operator.Time:
		r.semanticError(operator, "found the operator T, which is not supported for state spaces from files: they have no reward structure for time")
	default:
		r.semanticError(operator, "R operator reward struct index %q does not exist%s", name, nearestOrAll(name, namesOf(r.model.rewards, func(s RewardStruct) string { return s.Name })))
	}
	return i
}

// rewardPath resolves the objective C, C<=k, I=k or S of an R operator.
func (r *resolver) rewardPath(expr *syntax.RewardPath) Expr {
	letter := [...]string{syntax.Cumulative: "C", syntax.Instantaneous: "I", syntax.LongRun: "S", syntax.UntilReached: "Fc", syntax.ZeroUnlessReached: "F0"}[expr.Kind]
	objective := &RewardPath{Base{Path, expr.Pos()}, expr.Kind, r.optional(expr.Bound), r.optional(expr.Target), r.costs(expr.Costs, letter), r.optional(expr.Discount)}
	if objective.Target != nil {
		r.checkGameTarget(expr, objective.Target, letter)
	}
	op := letter + " operator"
	r.checkNumberBound(expr.Bound, objective.Bound, "upper bound in "+op+" is not constant", "upper bound in "+op+" must be an int or double")
	r.checkNumberBound(expr.Discount, objective.Discount, "discount factor in "+op+" is not constant", "discount factor in "+op+" must be an int or double")
	return objective
}

// conditional resolves the path formula or reward objective of an operator and its condition.
func (r *resolver) conditional(expr *syntax.Conditional) Expr {
	result := &Conditional{Base{Path, expr.Pos()}, r.expr(expr.X), r.expr(expr.Condition)}
	if typ := result.X.Type(); typ != Invalid && !boolean(typ) {
		r.typeError(expr.X, "left side of || is not a path formula: %s", typeMismatch(result.X, "a path formula"))
	}
	if typ := result.Condition.Type(); typ != Invalid && !boolean(typ) {
		r.typeError(expr.Condition, "condition behind || is not a path formula: %s", typeMismatch(result.Condition, "a path formula"))
	}
	return result
}

// checkGameTarget checks the target of Fc or F0, which only games have.
func (r *resolver) checkGameTarget(expr *syntax.RewardPath, target Expr, letter string) {
	if r.model.typ != syntax.SMG {
		r.semanticError(expr, "the %s reward operator only works for stochastic games (smg)", letter)
	}
	if typ := target.Type(); typ != Bool && typ != Invalid {
		r.typeError(expr.Target, "target of the %s operator is not Boolean: %s", letter, typeMismatch(target, "bool"))
	}
}

// oldFilterStates resolves the states of an old filter {states}, which PRISM resolves before the
// operator.
func (r *resolver) oldFilterStates(filter *syntax.OldFilter) Expr {
	if filter == nil {
		return nil
	}
	return r.expr(filter.States)
}

// checkOldFilter checks the types in an old filter {states}{min}{max} of an operator.
func (r *resolver) checkOldFilter(expr syntax.Expr, filter *syntax.OldFilter, states Expr, threshold Threshold) {
	if filter == nil {
		return
	}
	if typ := states.Type(); typ != Bool && typ != Invalid {
		r.typeError(filter.States, "filter of the operator is not a Boolean: %s", typeMismatch(states, "bool"))
	}
	if !threshold.Query() && (filter.Min || filter.Max) {
		r.typeError(expr, "cannot use min/max filters in Boolean-valued properties")
	}
}

// wrapInOldFilter returns an operator inside the filter(...) that its old filter stands for, if it
// has one.
func (r *resolver) wrapInOldFilter(expr syntax.Expr, filter *syntax.OldFilter, resolved, states Expr, threshold syntax.Threshold) Expr {
	if filter == nil {
		return resolved
	}
	return r.filter(expr, filter.Op(threshold), resolved, expr, states, filter.States)
}

// fullFilterName returns the full name of a filter type; "" if there is no such type.
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

// filter makes a filter from its resolved operand resolved and states, and checks their types. operandText
// and statesText are the expressions in the source.
func (r *resolver) filter(expr syntax.Expr, op string, resolved Expr, operandText syntax.Expr, states Expr, statesText syntax.Expr) Expr {
	name := fullFilterName(op)
	if name == "" {
		return r.semanticError(expr, "unknown filter type %q", op)
	}
	if states != nil && states.Type() != Bool && states.Type() != Invalid {
		r.typeError(statesText, "second argument of filter is not a Boolean: %s", typeMismatch(states, "bool"))
	}
	if resolved.Type() == Invalid {
		return invalidExpr(expr, resolved)
	}
	if problem := filterOperandProblem(name, op, resolved); problem != "" {
		r.typeError(operandText, "%s", problem)
		return invalidExpr(expr, resolved)
	}
	return &Filter{Base{filterType(name, resolved.Type()), expr.Pos()}, name, resolved, states}
}

// filterOperandProblem returns a message if the operand of a filter has the wrong type, otherwise "". name is the full name of
// the filter type, and op its name in the source.
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

// filterType returns the type of a filter's value.
func filterType(name string, operand Type) Type {
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
	return operand
}

// multiObjective resolves multi(...) and multilex(...). Objectives that are numbers must come before Boolean ones, which multilex(...)
// does not have.
func (r *resolver) multiObjective(expr *syntax.Call, args []Expr) Expr {
	hasBoolean := false
	for i, arg := range args {
		problem := objectiveProblem(arg, expr.Lexicographic, hasBoolean)
		if problem != "" {
			r.typeError(expr.Args[i], "%s", problem)
			return invalidExpr(expr, args...)
		}
		hasBoolean = hasBoolean || arg.Type() == Bool
	}
	if expr.Lexicographic {
		return &Multi{Base{Void, expr.Pos()}, true, args}
	}
	result := args[0].Type()
	if result == Double && len(args) > 1 && args[1].Type() == Double {
		result = Void
	}
	return &Multi{Base{result, expr.Pos()}, false, args}
}

// objectiveProblem returns a message if an argument of multi(...) or multilex(...) has a wrong type; otherwise "". afterBoolean says that a Boolean
// argument comes before it.
func objectiveProblem(arg Expr, lexicographic, afterBoolean bool) string {
	switch argType := arg.Type(); {
	case lexicographic && argType != Double:
		return "argument of multilex is not a query: " + typeMismatch(arg, "double")
	case argType != Bool && argType != Double:
		return "non-Boolean/Double argument to function \"multi\": " + typeMismatch(arg, "bool or double")
	case argType == Double && afterBoolean:
		return "in the function \"multi\", any Double arguments must come before any Boolean arguments"
	}
	return ""
}
