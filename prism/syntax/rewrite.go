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

// children returns x with its children rewritten, and x itself if none of them changed.
func (r *rewriter) children(x Expr) Expr {
	switch x := x.(type) {
	case *Paren:
		result := *x
		result.X = r.expr(x.X)
		return keep(r, x, &result)
	case *Unary:
		result := *x
		result.X = r.expr(x.X)
		return keep(r, x, &result)
	case *Binary:
		result := *x
		result.X, result.Y = r.expr(x.X), r.expr(x.Y)
		return keep(r, x, &result)
	case *Cond:
		result := *x
		result.C, result.T, result.E = r.expr(x.C), r.expr(x.T), r.expr(x.E)
		return keep(r, x, &result)
	case *Call:
		result := *x
		result.Args = slices.Clone(x.Args)
		for i := range result.Args {
			result.Args[i] = r.expr(result.Args[i])
		}
		return keep(r, x, &result)
	case *Quant:
		result := *x
		result.Path = r.expr(x.Path)
		return keep(r, x, &result)
	case *Strategy:
		result := *x
		result.X = r.expr(x.X)
		return keep(r, x, &result)
	case *Filter:
		result := *x
		result.X, result.States = r.expr(x.X), r.expr(x.States)
		return keep(r, x, &result)
	}
	return r.propChildren(x)
}

// propChildren is children for the operators that occur in properties only.
func (r *rewriter) propChildren(x Expr) Expr {
	switch x := x.(type) {
	case *Temporal:
		result := *x
		result.X, result.Bound, result.Y = r.expr(x.X), r.bound(x.Bound), r.expr(x.Y)
		result.Costs = r.costs(x.Costs)
		return keep(r, x, &result)
	case *Prob:
		result := *x
		result.Bound, result.Path, result.Filter = r.expr(x.Bound), r.expr(x.Path), r.filter(x.Filter)
		return keep(r, x, &result)
	case *Steady:
		result := *x
		result.Bound, result.X, result.Filter = r.expr(x.Bound), r.expr(x.X), r.filter(x.Filter)
		return keep(r, x, &result)
	case *Reward:
		result := *x
		result.Struct, result.StructDiv = r.index(x.Struct), r.index(x.StructDiv)
		result.Bound, result.Path, result.Filter = r.expr(x.Bound), r.expr(x.Path), r.filter(x.Filter)
		return keep(r, x, &result)
	case *RewardPath:
		result := *x
		result.Bound, result.Target, result.Costs = r.expr(x.Bound), r.expr(x.Target), r.costs(x.Costs)
		return keep(r, x, &result)
	}
	return x
}

// costs returns copies of reward bounds with their numbers rewritten.
func (r *rewriter) costs(costs []*CostBound) []*CostBound {
	rewritten := slices.Clone(costs)
	for i, c := range costs {
		copied := *c
		copied.Bound = r.bound(c.Bound)
		rewritten[i] = &copied
	}
	return rewritten
}

func (r *rewriter) index(x Expr) Expr {
	if rewardIndexExpr(x) == nil {
		return x
	}
	return r.expr(x)
}

// bound returns a copy of a bound with its numbers rewritten. The two sides of =k stay the same node.
func (r *rewriter) bound(bound *TimeBound) *TimeBound {
	if bound == nil {
		return nil
	}
	result := *bound
	result.Low = r.expr(bound.Low)
	if result.High = result.Low; !bound.Equal {
		result.High = r.expr(bound.High)
	}
	return &result
}

func (r *rewriter) filter(filter *OldFilter) *OldFilter {
	if filter == nil {
		return nil
	}
	result := *filter
	result.States = r.expr(filter.States)
	return &result
}

// Clone returns a deep copy of n, with its positions.
func Clone[N Node](n N) N {
	v := reflect.ValueOf(&n).Elem()
	return cloneValue(v).Interface().(N)
}

// cloneValue returns a deep copy of a reflected node or part of one.
func cloneValue(v reflect.Value) reflect.Value {
	copied := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			copied.Set(reflect.New(v.Type().Elem()))
			copied.Elem().Set(cloneValue(v.Elem()))
		}
	case reflect.Interface:
		if !v.IsNil() {
			copied.Set(cloneValue(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			copied.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				copied.Index(i).Set(cloneValue(v.Index(i)))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			copied.Field(i).Set(cloneValue(v.Field(i)))
		}
		if bound, ok := copied.Addr().Interface().(*TimeBound); ok && bound.Equal {
			bound.High = bound.Low
		}
	default:
		copied.Set(v)
	}
	return copied
}
