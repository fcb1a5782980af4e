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
	return f(rewriting.rewriteChildren(expr))
}

// rewriter rewrites the children of one node, and records whether any of them changed.
type rewriter struct {
	f       func(Expr) Expr
	changed bool
}

// rewriteExpr rewrites a child.
func (r *rewriter) rewriteExpr(original Expr) Expr {
	rewritten := Rewrite(original, r.f)
	r.changed = r.changed || original != rewritten
	return rewritten
}

// copyIfChanged returns the copy of a node if one of its children changed, or else the original.
func copyIfChanged[N any](r *rewriter, original, copied N) N {
	if r.changed {
		return copied
	}
	return original
}

// rewriteChildren returns an expression with rewritten children, or the same pointer if no child changed.
func (r *rewriter) rewriteChildren(expr Expr) Expr {
	switch expr := expr.(type) {
	case *Paren:
		result := *expr
		result.X = r.rewriteExpr(expr.X)
		return copyIfChanged(r, expr, &result)
	case *Unary:
		result := *expr
		result.X = r.rewriteExpr(expr.X)
		return copyIfChanged(r, expr, &result)
	case *Binary:
		result := *expr
		result.X, result.Y = r.rewriteExpr(expr.X), r.rewriteExpr(expr.Y)
		return copyIfChanged(r, expr, &result)
	case *Cond:
		result := *expr
		result.Condition, result.Then, result.Else = r.rewriteExpr(expr.Condition), r.rewriteExpr(expr.Then), r.rewriteExpr(expr.Else)
		return copyIfChanged(r, expr, &result)
	case *Call:
		result := *expr
		result.Args = slices.Clone(expr.Args)
		for i := range result.Args {
			result.Args[i] = r.rewriteExpr(result.Args[i])
		}
		return copyIfChanged(r, expr, &result)
	case *Quant:
		result := *expr
		result.Path = r.rewriteExpr(expr.Path)
		return copyIfChanged(r, expr, &result)
	case *Strategy:
		result := *expr
		result.X = r.rewriteExpr(expr.X)
		return copyIfChanged(r, expr, &result)
	case *Filter:
		result := *expr
		result.X, result.States = r.rewriteExpr(expr.X), r.rewriteExpr(expr.States)
		return copyIfChanged(r, expr, &result)
	}
	return r.rewritePropertyChildren(expr)
}

// rewritePropertyChildren returns an operator of properties with rewritten children. It returns other expressions unchanged.
func (r *rewriter) rewritePropertyChildren(expr Expr) Expr {
	switch expr := expr.(type) {
	case *Temporal:
		result := *expr
		result.X, result.Bound, result.Y = r.rewriteExpr(expr.X), r.rewriteBound(expr.Bound), r.rewriteExpr(expr.Y)
		result.Costs = r.rewriteCosts(expr.Costs)
		return copyIfChanged(r, expr, &result)
	case *Conditional:
		result := *expr
		result.X, result.Condition = r.rewriteExpr(expr.X), r.rewriteExpr(expr.Condition)
		return copyIfChanged(r, expr, &result)
	case *Prob:
		result := *expr
		result.Bound, result.Path, result.Filter = r.rewriteExpr(expr.Bound), r.rewriteExpr(expr.Path), r.rewriteFilter(expr.Filter)
		return copyIfChanged(r, expr, &result)
	case *Steady:
		result := *expr
		result.Bound, result.X, result.Filter = r.rewriteExpr(expr.Bound), r.rewriteExpr(expr.X), r.rewriteFilter(expr.Filter)
		return copyIfChanged(r, expr, &result)
	case *Reward:
		result := *expr
		result.Struct, result.DivisorStruct = r.rewriteRewardIndex(expr.Struct), r.rewriteRewardIndex(expr.DivisorStruct)
		result.Bound, result.Path, result.Filter = r.rewriteExpr(expr.Bound), r.rewriteExpr(expr.Path), r.rewriteFilter(expr.Filter)
		return copyIfChanged(r, expr, &result)
	case *RewardPath:
		result := *expr
		result.Bound, result.Target, result.Costs = r.rewriteExpr(expr.Bound), r.rewriteExpr(expr.Target), r.rewriteCosts(expr.Costs)
		result.Discount = r.rewriteExpr(expr.Discount)
		return copyIfChanged(r, expr, &result)
	}
	return expr
}

// rewriteCosts returns copies of reward bounds with their numbers rewritten.
func (r *rewriter) rewriteCosts(costs []*CostBound) []*CostBound {
	rewritten := slices.Clone(costs)
	for i, costBound := range costs {
		copied := *costBound
		copied.Bound = r.rewriteBound(costBound.Bound)
		rewritten[i] = &copied
	}
	return rewritten
}

// rewriteRewardIndex rewrites the number of a reward structure. It returns a name unchanged.
func (r *rewriter) rewriteRewardIndex(expr Expr) Expr {
	if rewardIndexExpr(expr) == nil {
		return expr
	}
	return r.rewriteExpr(expr)
}

// rewriteBound returns a copy of a time bound with rewritten expressions.
func (r *rewriter) rewriteBound(original *TimeBound) *TimeBound {
	if original == nil {
		return nil
	}
	result := *original
	result.Low = r.rewriteExpr(original.Low)
	if original.Equal { // the bound =k has one node as Low and High
		result.High = result.Low
	} else {
		result.High = r.rewriteExpr(original.High)
	}
	return &result
}

// rewriteFilter returns a copy of a filter in braces with its states rewritten.
func (r *rewriter) rewriteFilter(filter *OldFilter) *OldFilter {
	if filter == nil {
		return nil
	}
	result := *filter
	result.States = r.rewriteExpr(filter.States)
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
