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
	given      map[*constant]Value
	parameters map[*constant]bool
	// mentioned says that an expression has a parameter, or a constant that depends on one.
	usesParameter bool
	known         map[*constant]Expr // values, or definitions that cannot be folded
	values        map[*constant]Value
	memo          map[Expr]Expr
	errs          syntax.ErrorList
	floatDiffers  []syntax.Pos // where doubles give another Bool or Int than fractions
	// labels maps the index of a label in Model and Properties to that in the Program.
	labels  []int
	rewards int // reward structures of the model
}

func newFolder() *folder {
	return &folder{
		given:      make(map[*constant]Value),
		parameters: make(map[*constant]bool),
		known:      make(map[*constant]Expr),
		values:     make(map[*constant]Value),
		memo:       make(map[Expr]Expr),
	}
}

// constant evaluates a constant, after the constants it depends on.
func (f *folder) constant(c *constant) Expr {
	if x, ok := f.known[c]; ok {
		return x
	}
	var x Expr
	if f.parameters[c] {
		x = &Param{Base{c.typ, c.decl.Name.Pos()}, c.name}
	} else if v, ok := f.given[c]; ok {
		x = &Const{Base{c.typ, c.decl.Name.Pos()}, v}
	} else {
		x = castTo(c.typ, f.fold(c.def))
	}
	f.known[c] = x
	if len(f.parameters) > 0 && Parametric(x) {
		return x
	}
	v, err := constantValue(x)
	if e, ok := errors.AsType[*EvalError](err); ok && !f.reported(c.file, e.Pos) {
		f.errs.Add(c.file, e.Pos, "in the definition of constant %q: %s", c.name, e.Msg)
	}
	f.values[c] = v
	return x
}

// reported reports whether an error at this position was added before.
func (f *folder) reported(file string, pos syntax.Pos) bool {
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

// fold folds an expression; the result for nil is nil.
func (f *folder) fold(e Expr) Expr {
	switch e := e.(type) {
	case nil:
		return nil
	case *Const, *Var, *Param:
		return e
	case *constRef:
		return f.children(e)
	}
	if x, ok := f.memo[e]; ok {
		return x
	}
	x := f.children(e)
	if constantOperands(x) {
		x = f.reduce(x)
	} else {
		x = simplify(x)
	}
	f.memo[e] = x
	return x
}

// children folds the operands of an expression.
func (f *folder) children(e Expr) Expr {
	switch e := e.(type) {
	case *constRef:
		x := f.constant(e.c)
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
		return &Cond{e.Base, f.fold(e.C), f.fold(e.A), f.fold(e.B)}
	case *Call:
		return &Call{e.Base, e.Func, f.all(e.Args)}
	}
	return f.operator(e)
}

func (f *folder) all(list []Expr) []Expr {
	out := make([]Expr, len(list))
	for i, e := range list {
		out[i] = f.fold(e)
	}
	return out
}

// operator folds the operands of a property operator.
func (f *folder) operator(e Expr) Expr {
	switch e := e.(type) {
	case *Label:
		l := *e
		if l.Index >= 0 {
			l.Index = f.labels[l.Index]
		}
		return &l
	case *Temporal:
		return &Temporal{e.Base, e.Op, f.fold(e.X), f.fold(e.Y), f.bound(e.Bound)}
	case *CostBounded:
		return &CostBounded{e.Base, f.fold(e.X), f.fold(e.Y), f.costs(e.Costs)}
	case *Prob:
		return &Prob{e.Base, f.threshold(e.Threshold), f.fold(e.Path)}
	case *Steady:
		return &Steady{e.Base, f.threshold(e.Threshold), f.fold(e.X)}
	case *Reward:
		return f.reward(e)
	case *RewardPath:
		return &RewardPath{e.Base, e.Kind, f.fold(e.Bound), f.fold(e.Target), f.costs(e.Costs)}
	case *Quant:
		return &Quant{e.Base, e.All, f.fold(e.Path)}
	case *Strategy:
		return &Strategy{e.Base, e.Box, e.All, e.Coalition, e.Players, f.fold(e.X)}
	case *Filter:
		return &Filter{e.Base, e.Op, f.fold(e.X), f.fold(e.States)}
	case *Multi:
		return &Multi{e.Base, f.all(e.Args)}
	}
	return e
}

func (f *folder) costs(list []Cost) []Cost {
	var out []Cost
	for _, c := range list {
		out = append(out, Cost{c.Struct, f.fold(c.Rate), f.bound(c.Bound)})
	}
	return out
}

func (f *folder) bound(b *Bound) *Bound {
	if b == nil {
		return nil
	}
	out := *b
	out.Low, out.High = f.fold(b.Low), f.fold(b.High)
	return &out
}

func (f *folder) threshold(t Threshold) Threshold {
	t.Bound = f.fold(t.Bound)
	return t
}

// constantOperands reports whether all operands of e are values.
func constantOperands(e Expr) bool {
	value := func(e Expr) bool { _, ok := e.(*Const); return ok }
	switch e := e.(type) {
	case *Unary:
		return value(e.X)
	case *Binary:
		return value(e.X) && value(e.Y)
	case *Cond:
		return value(e.C) && value(e.A) && value(e.B)
	case *Call:
		return !slices.ContainsFunc(e.Args, func(a Expr) bool { return !value(a) })
	}
	return false
}

// reduce evaluates an operation on values exactly, if it has a value. The Float of the result is
// the number that PRISM computes with float64, or a float64 next to the exact value if PRISM's is
// not close to it.
func (f *folder) reduce(e Expr) Expr {
	x, err := Enclose(e, nil)
	if err != nil {
		return e
	}
	v := x.Value
	d, err := Eval(e, nil)
	switch {
	case v.Type == Double:
		if !x.Exact {
			v.in = &x.in
		}
		if lo, hi, ok := x.Ends(); ok && err == nil && Close(d.Float, lo) && Close(d.Float, hi) {
			v.Float = d.Float
		}
	case (err != nil || d.Bool != v.Bool || d.Int != v.Int) && !slices.Contains(f.floatDiffers, e.Pos()):
		f.floatDiffers = append(f.floatDiffers, e.Pos())
	}
	return &Const{Base{e.Type(), e.Pos()}, v}
}

// differences returns warnings for expressions that have another value in PRISM.
func (f *folder) differences(file string) []error {
	var out []error
	for _, at := range f.floatDiffers {
		out = append(out, &syntax.Error{File: file, Pos: at, Msg: "computed exactly, which gives another value than PRISM's doubles"})
	}
	return out
}

// maxError is the largest relative error of a float64 that Close accepts.
const maxError = 0x1p-40

// Close reports whether f is within the relative distance 2^-40 of x, as the result of float64
// arithmetic without cancellation, underflow or overflow is.
func Close(f float64, x *big.Rat) bool {
	if x.Sign() == 0 || f == 0 || math.IsInf(f, 0) || f != f {
		return x.Sign() == 0 && f == 0
	}
	g, _ := x.Float64()
	return math.Abs(f-g) <= maxError*math.Abs(g) && math.Abs(g) >= 0x1p-1000 && math.Abs(g) <= 0x1p1000
}

// simplify removes constant Booleans from an operation if its value and its errors stay the same
// in every state.
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
		c, ok := e.C.(*Const)
		if !ok || !Stateless(e.A) || !Stateless(e.B) {
			return e
		}
		branch := e.B
		if c.Val.Bool {
			branch = e.A
		}
		if _, ok := branch.(*Const); ok {
			return castTo(e.T, branch)
		}
		if branch.Type() == e.T {
			return branch
		}
	}
	return e
}

// simplifyLogic simplifies an operation on two Bools, at most one of which is a value.
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
			return negateIf(b == (e.Op == syntax.OpNe), e.Y)
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
		return negateIf(true, e.X)
	case e.Op == syntax.OpIff || e.Op == syntax.OpEq || e.Op == syntax.OpNe:
		return negateIf(b == (e.Op == syntax.OpNe), e.X)
	}
	return e // the left operand may fail
}

func negateIf(not bool, x Expr) Expr {
	if !not {
		return x
	}
	return simplify(&Unary{Base{Bool, x.Pos()}, syntax.OpNot, x})
}

// Operands calls visit for every operand of an expression.
func Operands(e Expr, visit func(Expr)) {
	each := func(xs ...Expr) {
		for _, x := range xs {
			if x != nil {
				visit(x)
			}
		}
	}
	switch e := e.(type) {
	case *bad:
		each(e.operands...)
	case *Unary:
		each(e.X)
	case *Binary:
		each(e.X, e.Y)
	case *Cond:
		each(e.C, e.A, e.B)
	case *Call:
		each(e.Args...)
	case *Temporal:
		each(e.X, e.Y)
		if e.Bound != nil {
			each(e.Bound.Low, e.Bound.High)
		}
	case *CostBounded:
		each(e.X, e.Y)
		eachCostBound(e.Costs, each)
	case *Prob:
		each(e.Bound, e.Path)
	case *Steady:
		each(e.Bound, e.X)
	case *Reward:
		each(e.index, e.indexDiv, e.Bound, e.Path)
	case *RewardPath:
		each(e.Bound, e.Target)
		eachCostBound(e.Costs, each)
	case *Quant:
		each(e.Path)
	case *Strategy:
		each(e.X)
	case *Filter:
		each(e.X, e.States)
	case *Multi:
		each(e.Args...)
	}
}

func eachCostBound(costs []Cost, each func(...Expr)) {
	for _, c := range costs {
		each(c.Bound.Low, c.Bound.High)
	}
}
