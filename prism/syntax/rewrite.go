package syntax

import (
	"reflect"
	"slices"
)

// Rewrite returns an expression with f applied to each subexpression, innermost first. f gets a node with rewritten children, and returns this
// node or another one. f must not modify its argument.
//
// Rewrite changes nothing in place. It copies nodes with changed children and shares unchanged subtrees. It visits the same nodes as Walk, so f
// renames a function through its *Call.
func Rewrite(expr Expr, f func(Expr) Expr) Expr {
	if expr == nil {
		return nil
	}
	rewriting := rewriter{f: f}
	return f(rewriting.children(expr))
}

// rewriter rewrites the children of one node, and records whether any of them changed.
type rewriter struct {
	f       func(Expr) Expr
	changed bool
}

// expr rewrites a child.
func (r *rewriter) expr(original Expr) Expr {
	rewritten := Rewrite(original, r.f)
	r.changed = r.changed || original != rewritten
	return rewritten
}

// keep returns the copy of a node if one of its children changed, or else the original.
func keep[N any](r *rewriter, original, copied N) N {
	if r.changed {
		return copied
	}
	return original
}

// children returns an expression with rewritten children, or the same pointer if no child changed.
func (r *rewriter) children(expr Expr) Expr {
	switch expr := expr.(type) {
	case *Paren:
		result := *expr
		result.X = r.expr(expr.X)
		return keep(r, expr, &result)
	case *Unary:
		result := *expr
		result.X = r.expr(expr.X)
		return keep(r, expr, &result)
	case *Binary:
		result := *expr
		result.X, result.Y = r.expr(expr.X), r.expr(expr.Y)
		return keep(r, expr, &result)
	case *Cond:
		result := *expr
		result.C, result.T, result.E = r.expr(expr.C), r.expr(expr.T), r.expr(expr.E)
		return keep(r, expr, &result)
	case *Call:
		result := *expr
		result.Args = slices.Clone(expr.Args)
		for i := range result.Args {
			result.Args[i] = r.expr(result.Args[i])
		}
		return keep(r, expr, &result)
	case *Quant:
		result := *expr
		result.Path = r.expr(expr.Path)
		return keep(r, expr, &result)
	case *Strategy:
		result := *expr
		result.X = r.expr(expr.X)
		return keep(r, expr, &result)
	case *Filter:
		result := *expr
		result.X, result.States = r.expr(expr.X), r.expr(expr.States)
		return keep(r, expr, &result)
	}
	return r.propertyChildren(expr)
}

// propertyChildren returns an operator of properties with rewritten children. It returns other expressions unchanged.
func (r *rewriter) propertyChildren(expr Expr) Expr {
	switch expr := expr.(type) {
	case *Temporal:
		result := *expr
		result.X, result.Bound, result.Y = r.expr(expr.X), r.bound(expr.Bound), r.expr(expr.Y)
		result.Costs = r.costs(expr.Costs)
		return keep(r, expr, &result)
	case *Conditional:
		result := *expr
		result.X, result.Condition = r.expr(expr.X), r.expr(expr.Condition)
		return keep(r, expr, &result)
	case *Prob:
		result := *expr
		result.Bound, result.Path, result.Filter = r.expr(expr.Bound), r.expr(expr.Path), r.filter(expr.Filter)
		return keep(r, expr, &result)
	case *Steady:
		result := *expr
		result.Bound, result.X, result.Filter = r.expr(expr.Bound), r.expr(expr.X), r.filter(expr.Filter)
		return keep(r, expr, &result)
	case *Reward:
		result := *expr
		result.Struct, result.StructDivisor = r.rewardIndex(expr.Struct), r.rewardIndex(expr.StructDivisor)
		result.Bound, result.Path, result.Filter = r.expr(expr.Bound), r.expr(expr.Path), r.filter(expr.Filter)
		return keep(r, expr, &result)
	case *RewardPath:
		result := *expr
		result.Bound, result.Target, result.Costs = r.expr(expr.Bound), r.expr(expr.Target), r.costs(expr.Costs)
		result.Discount = r.expr(expr.Discount)
		return keep(r, expr, &result)
	}
	return expr
}

// costs returns copies of reward bounds with their numbers rewritten.
func (r *rewriter) costs(costs []*CostBound) []*CostBound {
	rewritten := slices.Clone(costs)
	for i, costBound := range costs {
		copied := *costBound
		copied.Bound = r.bound(costBound.Bound)
		rewritten[i] = &copied
	}
	return rewritten
}

// rewardIndex rewrites the number of a reward structure. It returns a name unchanged.
func (r *rewriter) rewardIndex(expr Expr) Expr {
	if rewardIndexExpr(expr) == nil {
		return expr
	}
	return r.expr(expr)
}

// bound returns a copy of a time bound with rewritten expressions.
func (r *rewriter) bound(original *TimeBound) *TimeBound {
	if original == nil {
		return nil
	}
	result := *original
	result.Low = r.expr(original.Low)
	if original.Equal { // the bound =k has one node as Low and High
		result.High = result.Low
	} else {
		result.High = r.expr(original.High)
	}
	return &result
}

// filter returns a copy of a filter in braces with its states rewritten.
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
	value := reflect.ValueOf(&n).Elem()
	return cloneValue(value).Interface().(N)
}

// cloneValue returns a deep copy of a node, or of a field or element of a node.
func cloneValue(value reflect.Value) reflect.Value {
	copied := reflect.New(value.Type()).Elem()
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			copied.Set(reflect.New(value.Type().Elem()))
			copied.Elem().Set(cloneValue(value.Elem()))
		}
	case reflect.Interface:
		if !value.IsNil() {
			copied.Set(cloneValue(value.Elem()))
		}
	case reflect.Slice:
		if !value.IsNil() {
			copied.Set(reflect.MakeSlice(value.Type(), value.Len(), value.Len()))
			for i := range value.Len() {
				copied.Index(i).Set(cloneValue(value.Index(i)))
			}
		}
	case reflect.Struct:
		for i := range value.NumField() {
			copied.Field(i).Set(cloneValue(value.Field(i)))
		}
		// A bound =k has the same node as Low and High.
		if bound, ok := copied.Addr().Interface().(*TimeBound); ok && bound.Equal {
			bound.High = bound.Low
		}
	default:
		copied.Set(value)
	}
	return copied
}
