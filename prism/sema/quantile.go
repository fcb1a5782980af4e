package sema

import "tilecheck/prism/syntax"

// quantile resolves quantile(bounds, X). X is a P operator with a threshold, in which each bound is the whole upper bound on one
// reward.
//
// Source: Storm 1.14 (QuantileHelper), for the formulas that have quantiles; it also accepts lower bounds.
func (r *resolver) quantile(expr *syntax.Call) Expr {
	quantile := &Quantile{Base: Base{Void, expr.Pos()}}
	outer := r.bounds
	defer func() { r.bounds = outer }()
	for _, variable := range expr.Bounds {
		r.checkBoundName(variable.Name)
		bound := &QuantileBound{Base{Int, variable.Name.Pos()}, variable.Name.Name, variable.Extremum}
		quantile.Bounds, r.bounds = append(quantile.Bounds, bound), append(r.bounds, bound)
	}
	if len(expr.Bounds) == 0 || len(expr.Args) != 1 {
		return r.semanticError(expr, "found %d variables and %d properties in quantile(...), want quantile(B, property) with at least one variable", len(expr.Bounds), len(expr.Args))
	}
	quantile.X = r.expr(expr.Args[0])
	if quantile.X.Type() == Invalid {
		return invalidExpr(expr, quantile.X)
	}
	if problem := quantile.problem(); problem != "" {
		return r.semanticError(expr, "found %s in quantile(...), want P with a threshold, and F or U with each variable as an upper bound: quantile(B, P>=0.9 [ F{\"r\"}<=B a ])", problem)
	}
	return quantile
}

// checkBoundName reports an error if the name of a variable of quantile(...) is declared already.
func (r *resolver) checkBoundName(name *syntax.Ident) {
	_, inModel := r.model.names[name.Name]
	_, inProperties := r.props.names[name.Name]
	for _, bound := range r.bounds {
		inModel = inModel || bound.Name == name.Name
	}
	if inModel || inProperties {
		r.semanticError(name, "found the variable %s of quantile(...), which is declared already", name.Name)
	}
}

// Operator returns the P operator, and whether it is negated, as Pmax>=p is in Storm's dialect: !P<p. It returns nil for another
// formula.
func (q *Quantile) Operator() (prob *Prob, negated bool) {
	expr := q.X
	if not, ok := expr.(*Unary); ok && not.Op == syntax.OpNot {
		expr, negated = not.X, true
	}
	prob, _ = expr.(*Prob)
	return prob, negated
}

// problem says what the formula has that no quantile has; "" if there is nothing.
func (q *Quantile) problem() string {
	prob, _ := q.Operator()
	if prob == nil || prob.Query() {
		return "another formula"
	}
	path, ok := prob.Path.(*CostBounded)
	if !ok {
		return "a path formula without bounds"
	}
	uses := map[*QuantileBound]int{}
	Inspect(q.X, func(expr Expr) bool {
		if bound, ok := expr.(*QuantileBound); ok {
			uses[bound]++
		}
		return true
	})
	upper := map[*QuantileBound]bool{}
	for _, cost := range path.Costs {
		if bound, ok := cost.Bound.High.(*QuantileBound); ok && cost.Bound.Low == nil && !cost.Bound.HighStrict {
			upper[bound] = true
		}
	}
	for _, bound := range q.Bounds {
		switch {
		case uses[bound] == 0:
			return "no bound " + bound.Name
		case uses[bound] > 1 || !upper[bound]:
			return bound.Name + " in another place"
		}
	}
	return ""
}
