package sema

import (
	"slices"

	"tilecheck/prism/syntax"
)

// resolveQuantile resolves quantile(bounds, X). X must be a P operator with a threshold. Each variable in bounds must be the upper bound of one
// reward in X.
//
// Source: Storm 1.14 (QuantileHelper), for the formulas that have quantiles; it also accepts lower bounds.
func (r *resolver) resolveQuantile(expr *syntax.Call) Expr {
	quantile := &Quantile{Base: Base{Void, expr.Pos()}}
	outerBounds := r.boundVariables
	defer func() { r.boundVariables = outerBounds }()
	for _, variable := range expr.Bounds {
		r.checkBoundName(variable.Name)
		bound := &QuantileBound{Base{Int, variable.Name.Pos()}, variable.Name.Name, variable.Extremum}
		quantile.Bounds, r.boundVariables = append(quantile.Bounds, bound), append(r.boundVariables, bound)
	}
	if len(expr.Bounds) == 0 || len(expr.Args) != 1 {
		return r.semanticError(expr, "found %d variables and %d properties in quantile(...), want quantile(B, property) with at least one variable", len(expr.Bounds), len(expr.Args))
	}
	quantile.X = r.resolveExpr(expr.Args[0])
	if quantile.X.Type() == Invalid {
		return invalidExpr(expr, quantile.X)
	}
	if part := quantile.unsupportedPart(); part != "" {
		return r.semanticError(expr, "found %s in quantile(...), want P with a threshold, and F or U with each variable as an upper bound: quantile(B, P>=0.9 [ F{\"r\"}<=B a ])", part)
	}
	return quantile
}

// checkBoundName reports an error if the name of a variable of quantile(...) is already declared.
func (r *resolver) checkBoundName(name *syntax.Ident) {
	_, isDeclared := r.props.names.lookup(r.model.names, name.Name)
	isBound := slices.ContainsFunc(r.boundVariables, func(bound *QuantileBound) bool { return bound.Name == name.Name })
	if isDeclared || isBound {
		r.semanticError(name, "found the variable %s of quantile(...), which is declared already", name.Name)
	}
}

// Operator returns the P operator of the quantile's formula, and reports whether it is negated. It returns nil if the formula is no P operator.
// Storm's dialect resolves Pmax>=p to !(P<p).
func (q *Quantile) Operator() (probability *Prob, isNegated bool) {
	expr := q.X
	if not, ok := expr.(*Unary); ok && not.Op == syntax.OpNot {
		expr, isNegated = not.X, true
	}
	probability, _ = expr.(*Prob)
	return probability, isNegated
}

// unsupportedPart describes the part of the formula that quantile(...) does not support, for an error message. It returns "" if there is none.
func (q *Quantile) unsupportedPart() string {
	probability, _ := q.Operator()
	if probability == nil || probability.IsQuery() {
		return "another formula"
	}
	path, ok := probability.Path.(*CostBounded)
	if !ok {
		return "a path formula without bounds"
	}
	occurrences := map[*QuantileBound]int{}
	Inspect(q.X, func(expr Expr) bool {
		if bound, ok := expr.(*QuantileBound); ok {
			occurrences[bound]++
		}
		return true
	})
	isUpperBound := path.upperBoundVariables()
	for _, bound := range q.Bounds {
		switch {
		case occurrences[bound] == 0:
			return "no bound " + bound.Name
		case occurrences[bound] > 1 || !isUpperBound[bound]:
			return bound.Name + " in another place"
		}
	}
	return ""
}

// upperBoundVariables returns the variables B of quantile(...) that occur in bounds <=B on a reward. A bound with a lower end as well does not
// count.
func (path *CostBounded) upperBoundVariables() map[*QuantileBound]bool {
	variables := map[*QuantileBound]bool{}
	for _, cost := range path.Costs {
		variable, isVariable := cost.Bound.High.(*QuantileBound)
		if isVariable && cost.Bound.Low == nil && !cost.Bound.IsHighStrict {
			variables[variable] = true
		}
	}
	return variables
}
