package sema

import "tilecheck/prism/syntax"

// quantile resolves the names in quantile(bounds, X). X must be a P operator with a threshold, and each variable in bounds must be
// the upper bound of exactly one reward in X.
//
// Source: Storm 1.14 (QuantileHelper), for the formulas that have quantiles; it also accepts lower bounds.
func (r *resolver) quantile(expr *syntax.Call) Expr {
	quantile := &Quantile{Base: Base{Void, expr.Pos()}}
	outerBounds := r.bounds
	defer func() { r.bounds = outerBounds }()
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

// Operator returns the P operator of the formula and whether it is negated; Storm's dialect resolves Pmax>=p to !(P<p). It returns nil
// if the formula is another one.
func (q *Quantile) Operator() (prob *Prob, negated bool) {
	expr := q.X
	if not, ok := expr.(*Unary); ok && not.Op == syntax.OpNot {
		expr, negated = not.X, true
	}
	prob, _ = expr.(*Prob)
	return prob, negated
}

// problem describes, for a message, why the formula has no quantile. It returns "" if the formula has one.
func (q *Quantile) problem() string {
	prob, _ := q.Operator()
	if prob == nil || prob.Query() {
		return "another formula"
	}
	path, ok := prob.Path.(*CostBounded)
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

// upperBoundVariables returns the variables of quantile(...) that are the only bound of a reward: <=B, without a lower bound.
func (path *CostBounded) upperBoundVariables() map[*QuantileBound]bool {
	variables := map[*QuantileBound]bool{}
	for _, cost := range path.Costs {
		variable, isVariable := cost.Bound.High.(*QuantileBound)
		if isVariable && cost.Bound.Low == nil && !cost.Bound.HighStrict {
			variables[variable] = true
		}
	}
	return variables
}
