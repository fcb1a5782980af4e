// Package solve computes the numbers of model checking on sparse models:
// probabilities of until formulas, expected rewards and long-run averages.
//
//	g := sparse.NewGraph(model)
//	v, err := solve.Until(ctx, g, left, right, solve.Max, solve.Options{})
//	// v.Lower[s] <= Pmax=? [ left U right ] from s <= v.Upper[s]
//	x, err := solve.Until(ctx, g, left, right, solve.Max, solve.Options{Exact: true})
//	// x.Exact[s] is a fraction
//
// Every function has an answer for all states at once. It is computed with doubles
// and has bounds that hold: where iteration is involved, a proof that the bounds
// enclose the solution is part of it, and every bound is moved outwards by what
// rounding may have done. What they enclose is said at Values. With Options.Exact
// it is computed with fractions, along the same way. With Options.Classic iteration
// stops as it does in other tools, unproved.
//
// The package knows no variables, labels or formulas; sets of states come from
// the caller. Files: until, reward, steps, transient and longrun have the
// functions; system, order and local solve equations over doubles, direct and
// policy do so where iteration is slow; exact, exactlocal and lift do it with fractions;
// trace collects schedulers that count steps.
package solve
