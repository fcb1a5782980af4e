package sema

import (
	"fmt"
	"slices"

	"tilecheck/prism/syntax"
)

// operator resolves an expression that only properties have.
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
	return r.semantic(e, "found %T, want an expression", e)
}

// quoted resolves "name": an observable, another property or a label.
func (r *resolver) quoted(e *syntax.Quoted) Expr {
	b := Base{Bool, e.Pos()}
	s, ok := r.props.quoted.lookup(r.model.quoted, e.Name)
	switch {
	case ok && s.use == "observable":
		x := r.model.observables[s.index].X
		if x == nil {
			return r.semantic(e, "found the observable %q, of which only the values are known, want a label or an expression over the variables", e.Name)
		}
		return x
	case ok && s.use == "property":
		x := r.property(s.index)
		if !r.nesting.add(r.props.props[s.index].nesting) {
			return r.tooDeep(e)
		}
		return x
	case e.Name == "init":
		return &Label{b, e.Name, LabelInit}
	case e.Name == "deadlock":
		return &Label{b, e.Name, LabelDeadlock}
	case !ok:
		return r.semantic(e, "undeclared label %q%s", e.Name, r.suggestLabel(e.Name))
	case s.loc == "the model":
		return &Label{b, e.Name, s.index}
	}
	return &Label{b, e.Name, len(r.model.labels) + s.index}
}

// property resolves a property once. PRISM reports type errors in it when it is first referred to,
// and other errors in its turn.
func (r *resolver) property(i int) Expr {
	p := r.props.props[i]
	if p.x != nil {
		return p.x
	}
	unit, n, outer := r.unit, len(r.list), *r.nesting
	r.unit, *r.nesting = i+1, nesting{stack: outer.stack}
	p.x = r.expr(p.decl.X)
	p.nesting, *r.nesting = *r.nesting, outer
	for j := range r.list[n:] {
		if d := &r.list[n+j]; d.phase == phaseTypes {
			d.unit = unit
		}
	}
	r.unit = unit
	return p.x
}

// numberBound checks that a bound of an operator is a constant number.
func (r *resolver) numberBound(e syntax.Expr, x Expr, notConstant, notNumber string) {
	if x == nil {
		return
	}
	if !isConstant(x) {
		r.semantic(e, "%s", notConstant)
	}
	if t := x.Type(); t != Invalid && !numeric(t) {
		r.typeError(e, "%s: %s", notNumber, wants(x, "a number"))
	}
}

func (r *resolver) temporal(e *syntax.Temporal) Expr {
	out := &Temporal{Base: Base{Path, e.Pos()}, Op: e.Op, X: r.optional(e.X), Y: r.expr(e.Y)}
	if len(e.Costs) > 0 {
		return r.costBounded(e, out)
	}
	if b := e.Bound; b != nil {
		out.Bound = r.timeBound(b, e.Op.String())
		if e.Op == syntax.Next {
			r.semantic(e, "cannot attach bounds to X operator")
		}
	}
	if e.X != nil {
		r.temporalOperand(e, e.X, out.X)
	}
	r.temporalOperand(e, e.Y, out.Y)
	return out
}

func (r *resolver) timeBound(b *syntax.TimeBound, operator string) *Bound {
	out := &Bound{Low: r.optional(b.Low), LowStrict: b.LowStrict, HighStrict: b.HighStrict, At: b.Pos()}
	out.High = out.Low
	if !b.Equal {
		out.High = r.optional(b.High)
	}
	op := operator + " operator"
	r.numberBound(b.Low, out.Low, "lower bound in "+op+" is not constant", "lower bound in "+op+" must be an int or double")
	r.numberBound(b.High, out.High, "upper bound in "+op+" is not constant", "upper bound in "+op+" must be an int or double")
	return out
}

// costBounded resolves an operator with reward bounds, whose operands are in x.
func (r *resolver) costBounded(e *syntax.Temporal, x *Temporal) Expr {
	out := &CostBounded{Base: x.Base, X: x.X, Y: x.Y}
	if e.Op != syntax.Future && e.Op != syntax.Until {
		r.semantic(e, "found reward bounds on the %s operator, want them on F or U", e.Op)
	}
	out.Costs = r.costs(e.Costs, e.Op.String())
	if e.X != nil {
		r.temporalOperand(e, e.X, out.X)
	}
	r.temporalOperand(e, e.Y, out.Y)
	return out
}

// costs resolves the reward bounds of an operator, which is named in messages.
func (r *resolver) costs(bounds []*syntax.CostBound, operator string) []Cost {
	var out []Cost
	for _, b := range bounds {
		c := Cost{Struct: -1, Bound: r.timeBound(b.Bound, operator)}
		if b.Word == "rew" {
			c.Struct = r.costStruct(b)
		}
		if b.Rate != nil {
			c.Rate = r.expr(b.Rate)
		}
		out = append(out, c)
	}
	return out
}

// costStruct returns the reward structure of a bound, by its name or the first.
func (r *resolver) costStruct(c *syntax.CostBound) int {
	q, named := c.Struct.(*syntax.Quoted)
	if c.Struct != nil && !named {
		r.semantic(c, "found the number of a reward structure in a bound, want its name in quotes")
		return 0
	}
	for i, s := range r.model.rewards {
		if !named || s.Name == q.Name {
			return i
		}
	}
	if named {
		r.semantic(c, "reward structure %q does not exist", q.Name)
	} else {
		r.semantic(c, "model has no rewards specified")
	}
	return 0
}

func (r *resolver) temporalOperand(e *syntax.Temporal, arg syntax.Expr, x Expr) {
	if t := x.Type(); t != Invalid && !boolean(t) {
		r.typeError(arg, "argument of %s operator is not Boolean: %s", e.Op, wants(x, "bool"))
	}
}

// modifier reports an error for any modifier of an operator, since none is supported.
func (r *resolver) modifier(id *syntax.Ident, op string) {
	if id != nil {
		r.semantic(id, "modifier %q not supported for %s operator", id.Name, op)
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

func (r *resolver) prob(e *syntax.Prob) Expr {
	states := r.oldStates(e.Filter)
	out := &Prob{Threshold: r.threshold(e.Threshold), Path: r.expr(e.Path)}
	out.Base = Base{out.valueType(), e.Pos()}
	r.modifier(e.Modifier, "P")
	r.numberBound(e.Bound, out.Bound, "P operator probability bound is not constant", "P operator probability bound is not a double")
	r.checkOldFilter(e, e.Filter, states, out.Threshold)
	if t := out.Path.Type(); t != Invalid && !boolean(t) {
		r.typeError(e.Path, "contents of P operator is not a path formula: %s", wants(out.Path, "a path formula"))
	}
	return r.oldFilter(e, e.Filter, out, states, e.Threshold)
}

func (r *resolver) steady(e *syntax.Steady) Expr {
	states := r.oldStates(e.Filter)
	out := &Steady{Threshold: r.threshold(e.Threshold), X: r.expr(e.X)}
	out.Base = Base{out.valueType(), e.Pos()}
	r.modifier(e.Modifier, "S")
	r.numberBound(e.Bound, out.Bound, "S operator probability bound is not constant", "S operator probability bound is not a double")
	r.checkOldFilter(e, e.Filter, states, out.Threshold)
	if t := out.X.Type(); t != Invalid && t != Bool {
		r.typeError(e.X, "contents of S operator is not a Boolean-valued expression: %s", wants(out.X, "bool"))
	}
	return r.oldFilter(e, e.Filter, out, states, e.Threshold)
}

func (r *resolver) reward(e *syntax.Reward) Expr {
	states := r.oldStates(e.Filter)
	out := &Reward{StructDiv: -1}
	out.index, out.indexDiv = r.structIndex(e.Struct), r.structIndex(e.StructDiv)
	out.Threshold, out.Path = r.threshold(e.Threshold), r.expr(e.Path)
	out.Base = Base{out.valueType(), e.Pos()}
	r.modifier(e.Modifier, "R")
	out.Struct = r.rewardStruct(e, e.Struct, out.index, 0)
	out.StructDiv = r.rewardStruct(e, e.StructDiv, out.indexDiv, -1)
	r.numberBound(e.Bound, out.Bound, "R operator reward bound is not constant", "R operator reward bound is not a double")
	r.checkOldFilter(e, e.Filter, states, out.Threshold)
	if t := out.Path.Type(); t != Invalid && !boolean(t) {
		r.typeError(e.Path, "contents of R operator is invalid: %s", wants(out.Path, "a reward objective or path formula"))
	}
	return r.oldFilter(e, e.Filter, out, states, e.Threshold)
}

// structIndex resolves the number of a reward structure; nil if it is a name or missing.
func (r *resolver) structIndex(e syntax.Expr) Expr {
	if _, ok := e.(*syntax.Quoted); ok || e == nil {
		return nil
	}
	return r.expr(e)
}

// rewardStruct checks the selection of a reward structure. It returns the index if it is known;
// byDefault if no structure is named.
func (r *resolver) rewardStruct(op *syntax.Reward, e syntax.Expr, x Expr, byDefault int) int {
	if q, ok := e.(*syntax.Quoted); ok {
		if op.Time && !slices.ContainsFunc(r.model.rewards, func(s RewardStruct) bool { return s.Name == q.Name }) {
			r.semantic(op, "found the operator T for files of states, which have no reward structure of time")
			return -1
		}
		for i, s := range r.model.rewards {
			if s.Name == q.Name {
				return i
			}
		}
		r.semantic(op, "R operator reward struct index %q does not exist", q.Name)
		return -1
	}
	if x == nil {
		return byDefault
	}
	if !isConstant(x) {
		r.semantic(e, "R operator reward struct index is not constant")
	}
	if t := x.Type(); t != Int && t != Invalid {
		r.typeError(e, "reward structure index must be string or integer: %s", wants(x, "int"))
	}
	return -1
}

func (r *resolver) rewardPath(e *syntax.RewardPath) Expr {
	letter := [...]string{syntax.Cumulative: "C", syntax.Instantaneous: "I", syntax.LongRun: "S", syntax.UntilReached: "Fc", syntax.ZeroUnlessReached: "F0"}[e.Kind]
	out := &RewardPath{Base{Path, e.Pos()}, e.Kind, r.optional(e.Bound), r.optional(e.Target), r.costs(e.Costs, letter)}
	if out.Target != nil {
		r.gameTarget(e, out.Target, letter)
	}
	op := letter + " operator"
	r.numberBound(e.Bound, out.Bound, "upper bound in "+op+" is not constant", "upper bound in "+op+" must be an int or double")
	return out
}

// gameTarget checks the target of Fc or F0, which only games have.
func (r *resolver) gameTarget(e *syntax.RewardPath, target Expr, letter string) {
	if r.model.typ != syntax.SMG {
		r.semantic(e, "the %s reward operator only works for stochastic games (smg)", letter)
	}
	if t := target.Type(); t != Bool && t != Invalid {
		r.typeError(e.Target, "target of the %s operator is not Boolean: %s", letter, wants(target, "bool"))
	}
}

// oldStates resolves the states of an old-style filter, which PRISM resolves first.
func (r *resolver) oldStates(f *syntax.OldFilter) Expr {
	if f == nil {
		return nil
	}
	return r.expr(f.States)
}

func (r *resolver) checkOldFilter(e syntax.Expr, f *syntax.OldFilter, states Expr, t Threshold) {
	if f == nil {
		return
	}
	if s := states.Type(); s != Bool && s != Invalid {
		r.typeError(f.States, "filter of the operator is not a Boolean: %s", wants(states, "bool"))
	}
	if !t.Query() && (f.Min || f.Max) {
		r.typeError(e, "cannot use min/max filters in Boolean-valued properties")
	}
}

// oldFilter wraps an operator with an old-style filter.
func (r *resolver) oldFilter(e syntax.Expr, f *syntax.OldFilter, x, states Expr, t syntax.Threshold) Expr {
	if f == nil {
		return x
	}
	return r.filter(e, f.Op(t), x, e, states, f.States)
}

// filterName returns the full name of a filter; "" if there is no such filter.
func filterName(op string) string {
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

// filter makes a filter from its resolved parts; arg and set are their texts.
func (r *resolver) filter(e syntax.Expr, op string, x Expr, arg syntax.Expr, states Expr, set syntax.Expr) Expr {
	name := filterName(op)
	if name == "" {
		return r.semantic(e, "unknown filter type %q", op)
	}
	if states != nil && states.Type() != Bool && states.Type() != Invalid {
		r.typeError(set, "second argument of filter is not a Boolean: %s", wants(states, "bool"))
	}
	t := x.Type()
	problem := ""
	switch name {
	case "min", "max", "argmin", "argmax", "sum", "avg", "range":
		if t == Bool {
			problem = fmt.Sprintf("Boolean argument not allowed as operand for filter of type %q, want a number", op)
		}
	case "count", "forall", "exists":
		if t != Bool {
			problem = fmt.Sprintf("operand for filter of type %q must be Boolean: %s", op, wants(x, "bool"))
		}
	}
	if t == Void && name != "state" && problem == "" {
		problem = fmt.Sprintf("void arguments not allowed as operand for filter of type %q", op)
	}
	switch {
	case t == Invalid:
		return invalidExpr(e, x)
	case problem != "":
		r.typeError(arg, "%s", problem)
		return invalidExpr(e, x)
	}
	return &Filter{Base{filterType(name, t), e.Pos()}, name, x, states}
}

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

// multi checks the objectives of multi(…): numbers first, then Booleans.
func (r *resolver) multi(e *syntax.Call, args []Expr) Expr {
	booleans := false
	for i, a := range args {
		problem := ""
		switch t := a.Type(); {
		case t != Bool && t != Double:
			problem = "non-Boolean/Double argument to function \"multi\": " + wants(a, "bool or double")
		case t == Bool:
			booleans = true
		case booleans:
			problem = "in the function \"multi\", any Double arguments must come before any Boolean arguments"
		}
		if problem != "" {
			r.typeError(e.Args[i], "%s", problem)
			return invalidExpr(e, args...)
		}
	}
	t := args[0].Type()
	if t == Double && len(args) > 1 && args[1].Type() == Double {
		t = Void
	}
	return &Multi{Base{t, e.Pos()}, args}
}
