package syntax

import (
	"reflect"
	"slices"
)

// Rewrite returns x with every expression replaced by the result of f, innermost first. f gets a
// node with rewritten children, and returns it or another node. It is not applied to its own
// results.
//
// Nothing is changed in place. A node with a changed child is copied with its position; unchanged
// subtrees are shared with x. f must not modify its argument. Names that Walk does not visit are
// not rewritten, so a function is renamed through its *Call.
func Rewrite(x Expr, f func(Expr) Expr) Expr {
	if x == nil {
		return nil
	}
	r := rewriter{f: f}
	return f(r.children(x))
}

// rewriter replaces the children of one node and notes whether any changed.
type rewriter struct {
	f       func(Expr) Expr
	changed bool
}

func (r *rewriter) expr(x Expr) Expr {
	y := Rewrite(x, r.f)
	r.changed = r.changed || x != y
	return y
}

// keep returns the copy if any child changed and the original otherwise.
func keep[N any](r *rewriter, original, changed N) N {
	if r.changed {
		return changed
	}
	return original
}

func (r *rewriter) children(x Expr) Expr {
	switch x := x.(type) {
	case *Paren:
		c := *x
		c.X = r.expr(x.X)
		return keep(r, x, &c)
	case *Unary:
		c := *x
		c.X = r.expr(x.X)
		return keep(r, x, &c)
	case *Binary:
		c := *x
		c.X, c.Y = r.expr(x.X), r.expr(x.Y)
		return keep(r, x, &c)
	case *Cond:
		c := *x
		c.C, c.T, c.E = r.expr(x.C), r.expr(x.T), r.expr(x.E)
		return keep(r, x, &c)
	case *Call:
		c := *x
		c.Args = slices.Clone(x.Args)
		for i := range c.Args {
			c.Args[i] = r.expr(c.Args[i])
		}
		return keep(r, x, &c)
	case *Quant:
		c := *x
		c.Path = r.expr(x.Path)
		return keep(r, x, &c)
	case *Strategy:
		c := *x
		c.X = r.expr(x.X)
		return keep(r, x, &c)
	case *Filter:
		c := *x
		c.X, c.States = r.expr(x.X), r.expr(x.States)
		return keep(r, x, &c)
	}
	return r.propChildren(x)
}

func (r *rewriter) propChildren(x Expr) Expr {
	switch x := x.(type) {
	case *Temporal:
		c := *x
		c.X, c.Bound, c.Y = r.expr(x.X), r.bound(x.Bound), r.expr(x.Y)
		c.Costs = r.costs(x.Costs)
		return keep(r, x, &c)
	case *Prob:
		c := *x
		c.Bound, c.Path, c.Filter = r.expr(x.Bound), r.expr(x.Path), r.filter(x.Filter)
		return keep(r, x, &c)
	case *Steady:
		c := *x
		c.Bound, c.X, c.Filter = r.expr(x.Bound), r.expr(x.X), r.filter(x.Filter)
		return keep(r, x, &c)
	case *Reward:
		c := *x
		c.Struct, c.StructDiv = r.index(x.Struct), r.index(x.StructDiv)
		c.Bound, c.Path, c.Filter = r.expr(x.Bound), r.expr(x.Path), r.filter(x.Filter)
		return keep(r, x, &c)
	case *RewardPath:
		c := *x
		c.Bound, c.Target, c.Costs = r.expr(x.Bound), r.expr(x.Target), r.costs(x.Costs)
		return keep(r, x, &c)
	}
	return x
}

func (r *rewriter) costs(list []*CostBound) []*CostBound {
	out := slices.Clone(list)
	for i, b := range list {
		c := *b
		c.Bound = r.bound(b.Bound)
		out[i] = &c
	}
	return out
}

func (r *rewriter) index(x Expr) Expr {
	if index(x) == nil {
		return x
	}
	return r.expr(x)
}

func (r *rewriter) bound(b *TimeBound) *TimeBound {
	if b == nil {
		return nil
	}
	c := *b
	c.Low = r.expr(b.Low)
	if c.High = c.Low; !b.Equal {
		c.High = r.expr(b.High)
	}
	return &c
}

func (r *rewriter) filter(f *OldFilter) *OldFilter {
	if f == nil {
		return nil
	}
	c := *f
	c.States = r.expr(f.States)
	return &c
}

// Clone returns a deep copy of n, with its positions.
func Clone[N Node](n N) N {
	v := reflect.ValueOf(&n).Elem()
	return cloneValue(v).Interface().(N)
}

func cloneValue(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			c.Set(reflect.New(v.Type().Elem()))
			c.Elem().Set(cloneValue(v.Elem()))
		}
	case reflect.Interface:
		if !v.IsNil() {
			c.Set(cloneValue(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			c.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				c.Index(i).Set(cloneValue(v.Index(i)))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c.Field(i).Set(cloneValue(v.Field(i)))
		}
		if b, ok := c.Addr().Interface().(*TimeBound); ok && b.Equal {
			b.High = b.Low
		}
	default:
		c.Set(v)
	}
	return c
}
