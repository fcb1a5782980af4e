package sema

import (
	"errors"
	"math"
	"math/big"
	"slices"

	"tilecheck/prism/syntax"
)

// folder replaces constants by their values and evaluates constant sub-expressions exactly. An
// operation without a value, such as mod(1,0), stays as it is, so that it fails only if it is
// evaluated.
type folder struct {
	given      map[*constant]Value // values from the caller
	parameters map[*constant]bool
	// usesParameter is set when an expression has a parameter, or a constant that depends on one.
	usesParameter bool
	folded        map[*constant]Expr // values, or definitions with a parameter or an error
	values        map[*constant]Value
	memo          map[Expr]Expr
	errs          syntax.ErrorList
	floatDiffers  []syntax.Pos // where float64 arithmetic gives another Bool or Int
	// labelIndexes maps the index of a label in Model and Properties to its index in the Program.
	labelIndexes []int
	rewardCount  int // number of reward structures of the model
}

// newFolder returns a folder without values for constants.
func newFolder() *folder {
	return &folder{
		given:      make(map[*constant]Value),
		parameters: make(map[*constant]bool),
		folded:     make(map[*constant]Expr),
		values:     make(map[*constant]Value),
		memo:       make(map[Expr]Expr),
	}
}

// foldConstant evaluates a constant, after the constants on which it depends, and caches the result.
func (f *folder) foldConstant(c *constant) Expr {
	if value, ok := f.folded[c]; ok {
		return value
	}
	var value Expr
	if f.parameters[c] {
		value = &Param{Base{c.typ, c.decl.Name.Pos()}, c.name}
	} else if v, ok := f.given[c]; ok {
		value = &Const{Base{c.typ, c.decl.Name.Pos()}, v}
	} else {
		value = castTo(c.typ, f.fold(c.def))
	}
	f.folded[c] = value
	if len(f.parameters) > 0 && Parametric(value) {
		return value
	}
	v, err := constantValue(value)
	if e, ok := errors.AsType[*EvalError](err); ok && !f.hasErrorAt(c.file, e.Pos) {
		f.errs.Add(c.file, e.Pos, "in the definition of constant %q: %s", c.name, e.Msg)
	}
	f.values[c] = v
	return value
}

// hasErrorAt reports whether an error at this position has been added before.
func (f *folder) hasErrorAt(file string, pos syntax.Pos) bool {
	return pos.IsValid() && slices.ContainsFunc(f.errs, func(e *syntax.Error) bool { return e.File == file && e.Pos == pos })
}

// err returns the errors in the order in which they were found, or nil.
func (f *folder) err() error {
	if len(f.errs) == 0 {
		return nil
	}
	return f.errs
}

// constantValue evaluates a folded expression without variables.
func constantValue(x Expr) (Value, error) {
	if c, ok := x.(*Const); ok {
		return c.Val, nil
	}
	v, _, err := EvalExact(x, nil)
	return v, err
}

// castTo converts an Int expression to Double if t is Double.
func castTo(t Type, x Expr) Expr {
	if t != Double || x.Type() != Int {
		return x
	}
	b := Base{Double, x.Pos()}
	if c, ok := x.(*Const); ok {
		return &Const{b, c.Val.toDouble()}
	}
	return &Binary{b, syntax.OpMul, &Const{b, RatValue(big.NewRat(1, 1))}, x}
}

// fold replaces constants in an expression by their values and evaluates constant parts. It returns
// nil for nil.
func (f *folder) fold(e Expr) Expr {
	switch e := e.(type) {
	case nil:
		return nil
	case *Const, *Var, *Param:
		return e
	case *constRef:
		return f.foldOperands(e)
	}
	if x, ok := f.memo[e]; ok {
		return x
	}
	x := f.foldOperands(e)
	if constantOperands(x) {
		x = f.evaluateExactly(x)
	} else {
		x = simplify(x)
	}
	f.memo[e] = x
	return x
}

// foldOperands returns the expression with its operands folded.
func (f *folder) foldOperands(e Expr) Expr {
	switch e := e.(type) {
	case *constRef:
		x := f.foldConstant(e.constant)
		f.usesParameter = f.usesParameter || len(f.parameters) > 0 && Parametric(x)
		switch x := x.(type) {
		case *Const:
			return &Const{e.Base, x.Val}
		case *Param:
			return &Param{e.Base, x.Name}
		}
		return x
	case *Unary:
		if x := f.fold(e.X); x != e.X {
			return &Unary{e.Base, e.Op, x}
		}
		return e
	case *Binary:
		if x, y := f.fold(e.X), f.fold(e.Y); x != e.X || y != e.Y {
			return &Binary{e.Base, e.Op, x, y}
		}
		return e
	case *Cond:
		return &Cond{e.Base, f.fold(e.Condition), f.fold(e.Then), f.fold(e.Else)}
	case *Call:
		return &Call{e.Base, e.Func, f.foldAll(e.Args)}
	}
	return f.foldOperator(e)
}

// foldAll folds several expressions.
func (f *folder) foldAll(list []Expr) []Expr {
	out := make([]Expr, len(list))
	for i, e := range list {
		out[i] = f.fold(e)
	}
	return out
}

// foldOperator folds the operands of a property operator.
func (f *folder) foldOperator(e Expr) Expr {
	switch e := e.(type) {
	case *Label:
		l := *e
		if l.Index >= 0 {
			l.Index = f.labelIndexes[l.Index]
		}
		return &l
	case *Temporal:
		return &Temporal{e.Base, e.Op, f.fold(e.X), f.fold(e.Y), f.foldBound(e.Bound)}
	case *CostBounded:
		return &CostBounded{e.Base, f.fold(e.X), f.fold(e.Y), f.foldCosts(e.Costs)}
	case *Prob:
		return &Prob{e.Base, f.foldThreshold(e.Threshold), f.fold(e.Path)}
	case *Steady:
		return &Steady{e.Base, f.foldThreshold(e.Threshold), f.fold(e.X)}
	case *Reward:
		return f.foldReward(e)
	case *RewardPath:
		return &RewardPath{e.Base, e.Kind, f.fold(e.Bound), f.fold(e.Target), f.foldCosts(e.Costs)}
	case *Quant:
		return &Quant{e.Base, e.All, f.fold(e.Path)}
	case *Strategy:
		return &Strategy{e.Base, e.Box, e.All, e.Coalition, e.Players, f.fold(e.X)}
	case *Filter:
		return &Filter{e.Base, e.Op, f.fold(e.X), f.fold(e.States)}
	case *Multi:
		return &Multi{e.Base, f.foldAll(e.Args)}
	}
	return e
}

// foldCosts folds the numbers of reward bounds.
func (f *folder) foldCosts(costs []Cost) []Cost {
	var folded []Cost
	for _, c := range costs {
		folded = append(folded, Cost{c.Struct, f.fold(c.Rate), f.foldBound(c.Bound)})
	}
	return folded
}

// foldBound folds the numbers of a time or step bound.
func (f *folder) foldBound(b *Bound) *Bound {
	if b == nil {
		return nil
	}
	out := *b
	out.Low, out.High = f.fold(b.Low), f.fold(b.High)
	return &out
}

func (f *folder) foldThreshold(t Threshold) Threshold {
	t.Bound = f.fold(t.Bound)
	return t
}

// constantOperands reports whether all operands of e are constants.
func constantOperands(e Expr) bool {
	value := func(e Expr) bool { _, ok := e.(*Const); return ok }
	switch e := e.(type) {
	case *Unary:
		return value(e.X)
	case *Binary:
		return value(e.X) && value(e.Y)
	case *Cond:
		return value(e.Condition) && value(e.Then) && value(e.Else)
	case *Call:
		return !slices.ContainsFunc(e.Args, func(a Expr) bool { return !value(a) })
	}
	return false
}

// evaluateExactly evaluates an operation on constants, if it has a value. The Float of the result is
// the number that PRISM computes with float64, or the float64 next to the exact value if PRISM's is
// not close to it.
func (f *folder) evaluateExactly(e Expr) Expr {
	x, err := Enclose(e, nil)
	if err != nil {
		return e
	}
	value := x.Value
	inFloat, err := Eval(e, nil)
	switch {
	case value.Type == Double:
		if !x.Exact {
			value.enclosure = &x.enclosure
		}
		if lo, hi, ok := x.Ends(); ok && err == nil && Close(inFloat.Float, lo) && Close(inFloat.Float, hi) {
			value.Float = inFloat.Float
		}
	case (err != nil || inFloat.Bool != value.Bool || inFloat.Int != value.Int) && !slices.Contains(f.floatDiffers, e.Pos()):
		f.floatDiffers = append(f.floatDiffers, e.Pos())
	}
	return &Const{Base{e.Type(), e.Pos()}, value}
}

// differences returns a warning for each expression to which float64 arithmetic, as in PRISM, gives
// another Bool or Int than exact arithmetic.
func (f *folder) differences(file string) []error {
	var warnings []error
	for _, pos := range f.floatDiffers {
		warnings = append(warnings, &syntax.Error{File: file, Pos: pos, Msg: "computed exactly; PRISM's float64 arithmetic gives another value"})
	}
	return warnings
}

// maxError is the largest relative error of a float64 that Close accepts.
const maxError = 0x1p-40

// Close reports whether f is within the relative distance 2^-40 of x. The result of float64
// arithmetic is, unless there is cancellation, underflow or overflow.
func Close(f float64, x *big.Rat) bool {
	if x.Sign() == 0 || f == 0 || math.IsInf(f, 0) || f != f {
		return x.Sign() == 0 && f == 0
	}
	nearest, _ := x.Float64()
	return math.Abs(f-nearest) <= maxError*math.Abs(nearest) && math.Abs(nearest) >= 0x1p-1000 && math.Abs(nearest) <= 0x1p1000
}

// simplify removes a constant Bool from an operation, if the value and the evaluation errors stay the
// same in every state.
func simplify(e Expr) Expr {
	switch e := e.(type) {
	case *Unary:
		if x, ok := e.X.(*Unary); ok && e.Op == syntax.OpNot && x.Op == syntax.OpNot {
			return x.X
		}
	case *Binary:
		if e.X.Type() == Bool && e.Y.Type() == Bool {
			return simplifyLogic(e)
		}
	case *Cond:
		c, ok := e.Condition.(*Const)
		if !ok || !Stateless(e.Then) || !Stateless(e.Else) {
			return e
		}
		branch := e.Else
		if c.Val.Bool {
			branch = e.Then
		}
		if _, ok := branch.(*Const); ok {
			return castTo(e.ValueType, branch)
		}
		if branch.Type() == e.ValueType {
			return branch
		}
	}
	return e
}

// simplifyLogic simplifies an operation on two Bools, at most one of which is constant.
func simplifyLogic(e *Binary) Expr {
	if c, ok := e.X.(*Const); ok {
		switch b := c.Val.Bool; e.Op {
		case syntax.OpAnd, syntax.OpOr, syntax.OpImplies:
			if !shortCircuits(e.Op, b) {
				return e.Y
			}
			if Stateless(e.Y) {
				return &Const{e.Base, BoolValue(e.Op != syntax.OpAnd)}
			}
			return e
		default:
			return negatedIf(b == (e.Op == syntax.OpNe), e.Y)
		}
	}
	c, ok := e.Y.(*Const)
	if !ok {
		return e
	}
	switch b := c.Val.Bool; {
	case e.Op == syntax.OpAnd && b, e.Op == syntax.OpOr && !b:
		return e.X
	case e.Op == syntax.OpImplies && !b:
		return negatedIf(true, e.X)
	case e.Op == syntax.OpIff || e.Op == syntax.OpEq || e.Op == syntax.OpNe:
		return negatedIf(b == (e.Op == syntax.OpNe), e.X)
	}
	return e // the left operand may fail
}

// negatedIf returns !x if not is true, otherwise x.
func negatedIf(not bool, x Expr) Expr {
	if !not {
		return x
	}
	return simplify(&Unary{Base{Bool, x.Pos()}, syntax.OpNot, x})
}

// Operands calls visit for each operand of an expression that is not nil.
func Operands(e Expr, visit func(Expr)) {
	visitAll := func(xs ...Expr) {
		for _, x := range xs {
			if x != nil {
				visit(x)
			}
		}
	}
	switch e := e.(type) {
	case *erroneousExpr:
		visitAll(e.operands...)
	case *Unary:
		visitAll(e.X)
	case *Binary:
		visitAll(e.X, e.Y)
	case *Cond:
		visitAll(e.Condition, e.Then, e.Else)
	case *Call:
		visitAll(e.Args...)
	case *Temporal:
		visitAll(e.X, e.Y)
		if e.Bound != nil {
			visitAll(e.Bound.Low, e.Bound.High)
		}
	case *CostBounded:
		visitAll(e.X, e.Y)
		visitCostBounds(e.Costs, visitAll)
	case *Prob:
		visitAll(e.Bound, e.Path)
	case *Steady:
		visitAll(e.Bound, e.X)
	case *Reward:
		visitAll(e.index, e.indexDiv, e.Bound, e.Path)
	case *RewardPath:
		visitAll(e.Bound, e.Target)
		visitCostBounds(e.Costs, visitAll)
	case *Quant:
		visitAll(e.Path)
	case *Strategy:
		visitAll(e.X)
	case *Filter:
		visitAll(e.X, e.States)
	case *Multi:
		visitAll(e.Args...)
	}
}

// visitCostBounds calls visitAll with both sides of each reward bound.
func visitCostBounds(costs []Cost, visitAll func(...Expr)) {
	for _, c := range costs {
		visitAll(c.Bound.Low, c.Bound.High)
	}
}
