// Package belief bounds what a player can attain who does not see the state of an
// MDP, only an observation of it: a POMDP.
//
//	p := belief.Problem{Graph: g, Observation: o, Left: left, Target: target, Direction: solve.Max}
//	b, err := belief.Solve(ctx, p, start, belief.Options{})
//	// b.Lower <= the greatest probability <= b.Upper, attained to b.Lower by b.Strategy
//
// What such a player knows is a belief: a probability for every state. Beliefs are
// vectors of integers here, so that their updates are exact; each step from one to
// the next is as the model's text says. Both bounds rest on one argument each:
//
//   - Whoever sees more does not fare worse. From a belief that is not looked into
//     any further the player is shown the state (the value of the MDP), or, first, is
//     shown it after the next step only (QMDP and the fast informed bound of Hauskrecht
//     2000); where a belief is replaced by points of a grid around it (Lovejoy 1991),
//     the player is shown which of the points the state was drawn from.
//   - Whatever a strategy attains can be attained. A Controller is a finite automaton
//     that reads observations; with it the model is a Markov chain, which package
//     solve bounds. How the automaton was found does not matter.
//
// The package knows no variables and no formulas. It does not say that an interval is
// narrow enough: undecidability (Madani, Hanks, Condon 2003) leaves some wide.
package belief
