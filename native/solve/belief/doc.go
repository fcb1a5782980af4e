// Package belief solves partially observable MDPs (POMDPs), in which the player sees an observation of the
// state instead of the state itself.
//
//	p := belief.Problem{Graph: g, Observation: o, Left: left, Target: target, Direction: solve.Max}
//	b, err := belief.Solve(ctx, p, start, belief.Options{})
//	// b.Lo <= Pmax <= b.Hi, and b.Strategy attains b.Lo
//
// The player's knowledge is a belief: a probability distribution over states. Beliefs have integer
// weights here, so their updates are exact. The bounds rest on two arguments:
//
//   - Optimistic: a player who sees more does not do worse. A belief that is cut off has the QMDP or the
//     fast informed bound (Hauskrecht 2000), for a player who is shown states. A belief may be replaced by
//     grid points around it (Lovejoy 1991), for a player who is shown which point the state is drawn from.
//   - Pessimistic: any strategy is a bound. A Controller is a finite automaton that reads observations. It
//     induces a Markov chain, which package solve bounds. How it was found does not matter.
//
// The bounds may stay wide, since the problem is undecidable (Madani, Hanks, Condon 2003).
package belief
