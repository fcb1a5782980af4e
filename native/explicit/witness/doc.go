// Package witness finds the likeliest paths of a Markov chain, or of an MDP under
// a scheduler, that reach some states or that miss them for good.
//
//	chain, err := witness.New(ctx, model, &witness.Aim{Left: all, Right: goal, High: witness.Unbounded}, nil, from)
//	paths, err := chain.Paths(ctx)
//	path, err := paths.Next()        // the likeliest one, then the next, nil after the last
//	set, err := witness.Exceed(ctx, paths, bound, false, limit) // as few as have more than bound together
//
// The model has fractions, and all is exact: the order of the paths, which of
// them are equally likely, and their sum. Where paths are equally likely the
// one with fewer steps comes first, and then what the numbers of states decide.
//
// What it is not: it knows no properties (package check says what one asks
// for) and computes no probability but those of paths.
//
// Source: recursive enumeration, Jiménez and Marzal, Computing the K shortest
// paths (WAE 1999); as counterexamples, Han, Katoen and Damman, Counterexample
// generation in probabilistic model checking (IEEE TSE 2009).
package witness
