// Package witness enumerates the paths of a Markov chain, or of an MDP under a scheduler, that satisfy or
// violate an until formula, in decreasing order of probability.
//
//	chain, err := witness.New(ctx, model, &witness.PathFormula{Left: all, Right: goal, High: witness.Unbounded}, nil, from)
//	paths, err := chain.Paths(ctx)
//	path, err := paths.Next()        // the most probable path, then the next, nil after the last
//	set, err := witness.Exceed(ctx, paths, bound, false, maxPaths, maxStored) // the smallest set that exceeds bound
//
// The model must be exact. So the order of the paths and their sums are exact, too. Of equally probable
// paths the one with fewer steps comes first; then the numbers of the states decide.
//
// The package does not know properties; package check translates them.
//
// Source: recursive enumeration, Jiménez and Marzal, Computing the K shortest
// paths (WAE 1999); as counterexamples, Han, Katoen and Damman, Counterexample
// generation in probabilistic model checking (IEEE TSE 2009).
package witness
