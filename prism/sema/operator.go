package sema

import (
	"fmt"
	"slices"

	"tilecheck/prism/syntax"
)

// operator resolves an expression that occurs in properties only.
func (r *resolver) operator(e syntax.Expr) Expr {
	switch e := e.(type) {
	case *syntax.Quoted:
		return r.quoted(e)
	case *syntax.Temporal:
		return r.temporal(e)
	case *syntax.Prob:
		return r.prob(e)
	case *syntax.Steady:
		return r.steady(e)
	case *syntax.Reward:
		return r.reward(e)
	case *syntax.RewardPath:
		return r.rewardPath(e)
	case *syntax.Quant:
		return &Quant{Base{Bool, e.Pos()}, e.All, r.expr(e.Path)}
	case *syntax.Strategy:
		x := r.expr(e.X)
		t := x.Type()
		if t != Bool && t != Invalid {
			t = Double
		}
		names, players := r.coalition(e)
		return &Strategy{Base{t, e.Pos()}, e.Box, e.All, names, players, x}
	case *syntax.Filter:
		states := r.optional(e.States)
		return r.filter(e, e.Op, r.expr(e.X), e.X, states, e.States)
	}
	return r.semanticError(e, "found %T, want an expression", e)
}

// quoted resolves a quoted name: an observable, another property or a label.
func (r *resolver) quoted(e *syntax.Quoted) Expr {
	base := Base{Bool, e.Pos()}
	meaning, ok := r.props.quoted.lookup(r.model.quoted, e.Name)
	switch {
	case ok && meaning.kind == "observable":
		x := r.model.observables[meaning.index].X
		if x == nil {
			return r.semanticError(e, "found the observable %q, whose expression is unknown, want a label or an expression over the variables", e.Name)
		}
		return x
	case ok && meaning.kind == "property":
		x := r.property(meaning.index)
		if !r.nesting.add(r.props.props[meaning.index].nesting) {
			return r.tooDeep(e)
		}
		return x
	case e.Name == "init":
		return &Label{base, e.Name, LabelInit}
	case e.Name == "deadlock":
		return &Label{base, e.Name, LabelDeadlock}
	case !ok:
		return r.semanticError(e, "undeclared label %q%s", e.Name, r.suggestLabel(e.Name))
	case meaning.location == "the model":
		return &Label{base, e.Name, meaning.index}
	}
	return &Label{base, e.Name, len(r.model.labels) + meaning.index}
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
	for j := firstError; j < len(r.entries); j++ {
		if r.entries[j].phase == phaseTypes {
			r.entries[j].unit = outerUnit
		}
	}
	return property.expr
}

// checkNumberBound checks that the bound of an operator is a constant number. notConstant and
// notNumber are the error messages.
func (r *resolver) checkNumberBound(e syntax.Expr, x Expr, notConstant, notNumber string) {
	if x == nil {
		return
	}
	if !isConstant(x) {
		r.semanticError(e, "%s", notConstant)
	}
	if t := x.Type(); t != Invalid && !numeric(t) {
		r.typeError(e, "%s: %s", notNumber, typeMismatch(x, "a number"))
	}
}

// temporal resolves a temporal operator with its bound.
func (r *resolver) temporal(e *syntax.Temporal) Expr {
	result := &Temporal{Base: Base{Path, e.Pos()}, Op: e.Op, X: r.optional(e.X), Y: r.expr(e.Y)}
	if len(e.Costs) > 0 {
		return r.costBounded(e, result)
	}
	if b := e.Bound; b != nil {
		result.Bound = r.timeBound(b, e.Op.String())
		if e.Op == syntax.Next {
			r.semanticError(e, "cannot attach bounds to X operator")
		}
	}
	if e.X != nil {
		r.checkTemporalOperand(e, e.X, result.X)
	}
	r.checkTemporalOperand(e, e.Y, result.Y)
	return result
}

// timeBound resolves the time, step or reward bound of an operator, whose letter error messages contain.
func (r *resolver) timeBound(b *syntax.TimeBound, letter string) *Bound {
	bound := &Bound{Low: r.optional(b.Low), LowStrict: b.LowStrict, HighStrict: b.HighStrict, At: b.Pos()}
	bound.High = bound.Low
	if !b.Equal {
		bound.High = r.optional(b.High)
	}
	op := letter + " operator"
	r.checkNumberBound(b.Low, bound.Low, "lower bound in "+op+" is not constant", "lower bound in "+op+" must be an int or double")
	r.checkNumberBound(b.High, bound.High, "upper bound in "+op+" is not constant", "upper bound in "+op+" must be an int or double")
	return bound
}

// costBounded resolves an operator with reward bounds; x has its resolved operands.
func (r *resolver) costBounded(e *syntax.Temporal, x *Temporal) Expr {
	result := &CostBounded{Base: x.Base, X: x.X, Y: x.Y}
	if e.Op != syntax.Future && e.Op != syntax.Until {
		r.semanticError(e, "found reward bounds on the %s operator, want them on F or U", e.Op)
	}
	result.Costs = r.costs(e.Costs, e.Op.String())
	if e.X != nil {
		r.checkTemporalOperand(e, e.X, result.X)
	}
	r.checkTemporalOperand(e, e.Y, result.Y)
	return result
}

// costs resolves the reward bounds of an operator, whose letter error messages contain.
func (r *resolver) costs(bounds []*syntax.CostBound, letter string) []Cost {
	var costs []Cost
	for _, b := range bounds {
		cost := Cost{Struct: -1, Bound: r.timeBound(b.Bound, letter)}
		if b.Word == "rew" {
			cost.Struct = r.boundedRewardStruct(b)
		}
		if b.Rate != nil {
			cost.Rate = r.expr(b.Rate)
		}
		costs = append(costs, cost)
	}
	return costs
}

// boundedRewardStruct returns the index of the reward structure that a bound names; the first
// structure if it names none.
func (r *resolver) boundedRewardStruct(c *syntax.CostBound) int {
	quoted, named := c.Struct.(*syntax.Quoted)
	if c.Struct != nil && !named {
		r.semanticError(c, "found the number of a reward structure in a bound, want its name in quotes")
		return 0
	}
	for i, s := range r.model.rewards {
		if !named || s.Name == quoted.Name {
			return i
		}
	}
	if named {
		r.semanticError(c, "reward structure %q does not exist", quoted.Name)
	} else {
		r.semanticError(c, "model has no rewards specified")
	}
	return 0
}

// checkTemporalOperand checks that an operand of a temporal operator is Boolean or a path formula.
func (r *resolver) checkTemporalOperand(e *syntax.Temporal, arg syntax.Expr, x Expr) {
	if t := x.Type(); t != Invalid && !boolean(t) {
		r.typeError(arg, "argument of %s operator is not Boolean: %s", e.Op, typeMismatch(x, "bool"))
	}
}

// modifier reports an error for any modifier of an operator, since none is supported.
func (r *resolver) refuseModifier(id *syntax.Ident, op string) {
	if id != nil {
		r.semanticError(id, "modifier %q not supported for %s operator", id.Name, op)
	}
}

// threshold resolves the bound of an operator.
func (r *resolver) threshold(t syntax.Threshold) Threshold {
	return Threshold{t.Extremum, t.Rel, r.optional(t.Bound)}
}

func (t Threshold) valueType() Type {
	if t.Query() {
		return Double
	}
	return Bool
}

// prob resolves a P operator.
func (r *resolver) prob(e *syntax.Prob) Expr {
	states := r.oldFilterStates(e.Filter)
	operator := &Prob{Threshold: r.threshold(e.Threshold), Path: r.expr(e.Path)}
	operator.Base = Base{operator.valueType(), e.Pos()}
	r.refuseModifier(e.Modifier, "P")
	r.checkNumberBound(e.Bound, operator.Bound, "P operator probability bound is not constant", "P operator probability bound is not a double")
	r.checkOldFilter(e, e.Filter, states, operator.Threshold)
	if pathType := operator.Path.Type(); pathType != Invalid && !boolean(pathType) {
		r.typeError(e.Path, "contents of P operator is not a path formula: %s", typeMismatch(operator.Path, "a path formula"))
	}
	return r.wrapInOldFilter(e, e.Filter, operator, states, e.Threshold)
}

// steady resolves an S operator.
func (r *resolver) steady(e *syntax.Steady) Expr {
	states := r.oldFilterStates(e.Filter)
	operator := &Steady{Threshold: r.threshold(e.Threshold), X: r.expr(e.X)}
	operator.Base = Base{operator.valueType(), e.Pos()}
	r.refuseModifier(e.Modifier, "S")
	r.checkNumberBound(e.Bound, operator.Bound, "S operator probability bound is not constant", "S operator probability bound is not a double")
	r.checkOldFilter(e, e.Filter, states, operator.Threshold)
	if t := operator.X.Type(); t != Invalid && t != Bool {
		r.typeError(e.X, "contents of S operator is not a Boolean-valued expression: %s", typeMismatch(operator.X, "bool"))
	}
	return r.wrapInOldFilter(e, e.Filter, operator, states, e.Threshold)
}

// reward resolves an R operator and selects its reward structure.
func (r *resolver) reward(e *syntax.Reward) Expr {
	states := r.oldFilterStates(e.Filter)
	operator := &Reward{StructDiv: -1}
	operator.index, operator.indexDiv = r.rewardStructNumber(e.Struct), r.rewardStructNumber(e.StructDiv)
	operator.Threshold, operator.Path = r.threshold(e.Threshold), r.expr(e.Path)
	operator.Base = Base{operator.valueType(), e.Pos()}
	r.refuseModifier(e.Modifier, "R")
	operator.Struct = r.selectRewardStruct(e, e.Struct, operator.index, 0)
	operator.StructDiv = r.selectRewardStruct(e, e.StructDiv, operator.indexDiv, -1)
	r.checkNumberBound(e.Bound, operator.Bound, "R operator reward bound is not constant", "R operator reward bound is not a double")
	r.checkOldFilter(e, e.Filter, states, operator.Threshold)
	if t := operator.Path.Type(); t != Invalid && !boolean(t) {
		r.typeError(e.Path, "contents of R operator is invalid: %s", typeMismatch(operator.Path, "a reward objective or path formula"))
	}
	return r.wrapInOldFilter(e, e.Filter, operator, states, e.Threshold)
}

// rewardStructNumber resolves the number of a reward structure; nil if there is a name or nothing.
func (r *resolver) rewardStructNumber(e syntax.Expr) Expr {
	if _, ok := e.(*syntax.Quoted); ok || e == nil {
		return nil
	}
	return r.expr(e)
}

// selectRewardStruct checks which reward structure an R operator selects, by a quoted name e or the
// resolved number x. It returns the index of a named structure, byDefault if nothing is selected, and
// -1 for a number, which is evaluated later, or an error.
func (r *resolver) selectRewardStruct(operator *syntax.Reward, e syntax.Expr, x Expr, byDefault int) int {
	if quoted, ok := e.(*syntax.Quoted); ok {
		if operator.Time && !slices.ContainsFunc(r.model.rewards, func(s RewardStruct) bool { return s.Name == quoted.Name }) {
			r.semanticError(operator, "found the operator T, which is not supported for state spaces from files: they have no reward structure for time")
			return -1
		}
		for i, s := range r.model.rewards {
			if s.Name == quoted.Name {
				return i
			}
		}
		r.semanticError(operator, "R operator reward struct index %q does not exist", quoted.Name)
		return -1
	}
	if x == nil {
		return byDefault
	}
	if !isConstant(x) {
		r.semanticError(e, "R operator reward struct index is not constant")
	}
	if t := x.Type(); t != Int && t != Invalid {
		r.typeError(e, "reward structure index must be string or integer: %s", typeMismatch(x, "int"))
	}
	return -1
}

// rewardPath resolves the objective C, C<=k, I=k or S of an R operator.
func (r *resolver) rewardPath(e *syntax.RewardPath) Expr {
	letter := [...]string{syntax.Cumulative: "C", syntax.Instantaneous: "I", syntax.LongRun: "S", syntax.UntilReached: "Fc", syntax.ZeroUnlessReached: "F0"}[e.Kind]
	objective := &RewardPath{Base{Path, e.Pos()}, e.Kind, r.optional(e.Bound), r.optional(e.Target), r.costs(e.Costs, letter)}
	if objective.Target != nil {
		r.checkGameTarget(e, objective.Target, letter)
	}
	op := letter + " operator"
	r.checkNumberBound(e.Bound, objective.Bound, "upper bound in "+op+" is not constant", "upper bound in "+op+" must be an int or double")
	return objective
}

// checkGameTarget checks the target of Fc or F0, which only games have.
func (r *resolver) checkGameTarget(e *syntax.RewardPath, target Expr, letter string) {
	if r.model.typ != syntax.SMG {
		r.semanticError(e, "the %s reward operator only works for stochastic games (smg)", letter)
	}
	if t := target.Type(); t != Bool && t != Invalid {
		r.typeError(e.Target, "target of the %s operator is not Boolean: %s", letter, typeMismatch(target, "bool"))
	}
}

// oldFilterStates resolves the states of an old filter {states}, which PRISM resolves before the
// operator.
func (r *resolver) oldFilterStates(f *syntax.OldFilter) Expr {
	if f == nil {
		return nil
	}
	return r.expr(f.States)
}

// checkOldFilter checks the types in an old filter {states}{min}{max} of an operator.
func (r *resolver) checkOldFilter(e syntax.Expr, f *syntax.OldFilter, states Expr, t Threshold) {
	if f == nil {
		return
	}
	if s := states.Type(); s != Bool && s != Invalid {
		r.typeError(f.States, "filter of the operator is not a Boolean: %s", typeMismatch(states, "bool"))
	}
	if !t.Query() && (f.Min || f.Max) {
		r.typeError(e, "cannot use min/max filters in Boolean-valued properties")
	}
}

// wrapInOldFilter returns an operator inside the filter(...) that its old filter stands for, if it
// has one.
func (r *resolver) wrapInOldFilter(e syntax.Expr, f *syntax.OldFilter, x, states Expr, t syntax.Threshold) Expr {
	if f == nil {
		return x
	}
	return r.filter(e, f.Op(t), x, e, states, f.States)
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

// filter makes a filter from its resolved operand x and states, and checks their types. operandText
// and statesText are the expressions in the source.
func (r *resolver) filter(e syntax.Expr, op string, x Expr, operandText syntax.Expr, states Expr, statesText syntax.Expr) Expr {
	name := fullFilterName(op)
	if name == "" {
		return r.semanticError(e, "unknown filter type %q", op)
	}
	if states != nil && states.Type() != Bool && states.Type() != Invalid {
		r.typeError(statesText, "second argument of filter is not a Boolean: %s", typeMismatch(states, "bool"))
	}
	operandType := x.Type()
	problem := ""
	switch name {
	case "min", "max", "argmin", "argmax", "sum", "avg", "range":
		if operandType == Bool {
			problem = fmt.Sprintf("Boolean argument not allowed as operand for filter of type %q, want a number", op)
		}
	case "count", "forall", "exists":
		if operandType != Bool {
			problem = fmt.Sprintf("operand for filter of type %q must be Boolean: %s", op, typeMismatch(x, "bool"))
		}
	}
	if operandType == Void && name != "state" && problem == "" {
		problem = fmt.Sprintf("void arguments not allowed as operand for filter of type %q", op)
	}
	switch {
	case operandType == Invalid:
		return invalidExpr(e, x)
	case problem != "":
		r.typeError(operandText, "%s", problem)
		return invalidExpr(e, x)
	}
	return &Filter{Base{filterType(name, operandType), e.Pos()}, name, x, states}
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

// multiObjective resolves multi(...). Objectives that are numbers must come before Boolean ones.
func (r *resolver) multiObjective(e *syntax.Call, args []Expr) Expr {
	booleans := false
	for i, a := range args {
		problem := ""
		switch argType := a.Type(); {
		case argType != Bool && argType != Double:
			problem = "non-Boolean/Double argument to function \"multi\": " + typeMismatch(a, "bool or double")
		case argType == Bool:
			booleans = true
		case booleans:
			problem = "in the function \"multi\", any Double arguments must come before any Boolean arguments"
		}
		if problem != "" {
			r.typeError(e.Args[i], "%s", problem)
			return invalidExpr(e, args...)
		}
	}
	result := args[0].Type()
	if result == Double && len(args) > 1 && args[1].Type() == Double {
		result = Void
	}
	return &Multi{Base{result, e.Pos()}, args}
}
