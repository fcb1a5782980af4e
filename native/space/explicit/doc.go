// Package explicit builds the state space of a model: every reachable state,
// choice and transition, with PRISM's meaning.
//
//	space, err := explicit.Build(ctx, compiled, explicit.Options{})
//	m := space.Model()              // states, choices, transitions as numbers
//	state := space.State(nil, 17)   // the valuation of state 17
//	set, err := space.States(expr)  // the states that satisfy an expression
//	order := space.Order()          // PRISM's numbering
//
// States are numbered in the order in which a breadth-first search finds them,
// whatever the number of workers. The graphs and the numbers of model checking
// are computed by the packages below it, sparse and solve.
package explicit
