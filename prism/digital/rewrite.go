package digital

import (
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

func base(typ sema.Type, at syntax.Pos) sema.Base { return sema.Base{T: typ, At: at} }

func truth(at syntax.Pos) sema.Expr {
	return &sema.Const{Base: base(sema.Bool, at), Val: sema.BoolValue(true)}
}

func number(n int32, at syntax.Pos) sema.Expr {
	return &sema.Const{Base: base(sema.Int, at), Val: sema.IntValue(n)}
}

func variable(slot int, at syntax.Pos) sema.Expr {
	return &sema.Var{Base: base(sema.Int, at), Slot: slot}
}

// rewrite replaces clocks by multiples of the unit, and a time bound by a condition on the timer.
func (t *translation) rewrite(x sema.Expr) sema.Expr { return t.put(x, false) }

// later returns the condition that x holds after one more unit of time.
func (t *translation) later(x sema.Expr) sema.Expr { return t.put(x, true) }

func (t *translation) put(x sema.Expr, later bool) sema.Expr {
	switch x := x.(type) {
	case nil:
		return nil
	case *sema.Var:
		return t.reading(x, later)
	case *sema.Unary:
		return &sema.Unary{Base: x.Base, Op: x.Op, X: t.put(x.X, later)}
	case *sema.Binary:
		return &sema.Binary{Base: x.Base, Op: x.Op, X: t.put(x.X, later), Y: t.put(x.Y, later)}
	case *sema.Cond:
		return &sema.Cond{Base: x.Base, C: t.put(x.C, later), A: t.put(x.A, later), B: t.put(x.B, later)}
	case *sema.Call:
		out := &sema.Call{Base: x.Base, Func: x.Func}
		for _, a := range x.Args {
			out.Args = append(out.Args, t.put(a, later))
		}
		return out
	case *sema.Prob:
		return &sema.Prob{Base: x.Base, Threshold: x.Threshold, Path: t.put(x.Path, later)}
	case *sema.Reward:
		out := *x
		out.Path = t.put(x.Path, later)
		return &out
	case *sema.Temporal:
		out := &sema.Temporal{Base: x.Base, Op: x.Op, X: t.put(x.X, later), Y: t.put(x.Y, later)}
		if x.Bound != nil {
			in := &sema.Binary{Base: base(sema.Bool, x.Bound.At), Op: syntax.OpLe, X: variable(t.timer, x.Bound.At), Y: number(int32(*t.deadline/t.unit), x.Bound.At)}
			out.Y = &sema.Binary{Base: base(sema.Bool, x.Bound.At), Op: syntax.OpAnd, X: out.Y, Y: in}
		}
		return out
	}
	return x
}

// reading returns the time on a clock.
func (t *translation) reading(x *sema.Var, later bool) sema.Expr {
	if t.clocks[x.Slot] == nil {
		return x
	}
	at := x.At
	v := variable(x.Slot, at)
	if later {
		v = &sema.Binary{Base: base(sema.Int, at), Op: syntax.OpAdd, X: v, Y: number(1, at)}
	}
	if t.unit > 1 {
		v = &sema.Binary{Base: base(sema.Int, at), Op: syntax.OpMul, X: v, Y: number(int32(t.unit), at)}
	}
	return v
}
