// Package solve computes the numbers of model checking on sparse models: probabilities of until
// formulas, expected rewards, transient probabilities and long-run averages.
//
//	g := sparse.NewGraph(model)
//	v, err := solve.Until(ctx, g, left, right, solve.Max, solve.Options{})
//	// v.Lower[s] <= Pmax=? [ left U right ] from s <= v.Upper[s]
//	x, err := solve.Until(ctx, g, left, right, solve.Max, solve.Options{Exact: true})
//	// x.Exact[s] is a fraction
//
// Every function computes the values of all states at once. By default it uses float64, and the bounds
// hold: iterative methods prove that their bounds enclose the solution, and every bound is rounded
// outwards by a bound on the rounding error. With Options.Exact it computes fractions instead. With
// Options.Classic iteration stops as it does in other tools, without a proof.
//
// The package knows no variables, labels or formulas; callers pass sets of states. The functions are in
// until, reward, steps, transient, budget, longrun, steady_state, markov_automaton, intervals and game. The
// solvers of linear equations are in components (one strongly connected component after the other),
// local_system (value iteration), elimination_solver, policy_iteration and bicgstab; the exact ones in
// exact, action_elimination, exact_local_system and lifting.
package solve
