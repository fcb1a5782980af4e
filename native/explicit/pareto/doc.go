// Package pareto finds the best of several aims at once, where the points that can
// be had are a convex set that is known only through the best points for weighted
// sums of the aims.
//
//	c := pareto.New(2, oracle)
//	best, err := c.Maximize(ctx, gain, least, 1e-8)
//	// gain·best.Point <= sup { gain·x : x can be had, x >= least } <= best.Upper
//
// What is known is a polytope from inside, the points that the oracle found and
// everything below, and one from outside, the half-spaces that its bounds leave. A
// linear program over fractions tells the best of each; where they differ, a plane
// that separates the one from the other is what the oracle is asked next. With an
// oracle that is exact the two meet after finitely many questions.
//
//	s, err := c.Surface(ctx, 1e-4, 500)
//	// the corners of all that can be had, and how far beyond them anything may lie
//
// Source: Forejt, Kwiatkowska and Parker, Pareto curves for probabilistic model
// checking (ATVA 2012).
//
// The package knows no models.
package pareto
