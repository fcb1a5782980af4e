// Package pareto solves multi-objective problems whose achievable points are a convex set. An oracle
// gives the best point for a weighted sum of the objectives.
//
//	c := pareto.New(2, oracle)
//	best, err := c.Maximize(ctx, objective, limits, 1e-8)
//	// objective·best.Point <= sup { objective·x : x achievable, x >= limits } <= best.Upper
//
// The inner approximation consists of the points that the oracle found and everything below; the outer
// one is the intersection of the half-spaces from its bounds. Exact linear programs find the optimum of
// each. If they differ, a separating hyperplane gives the weights of the next query. With an exact
// oracle the two meet after finitely many queries.
//
//	s, err := c.Surface(ctx, 1e-4, 500)
//	// the extreme achievable points, and how far beyond them any achievable point may lie
//
// Source: Forejt, Kwiatkowska and Parker, Pareto curves for probabilistic model
// checking (ATVA 2012).
//
// The package does not know models.
package pareto
