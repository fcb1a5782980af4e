// Package condition checks maximal conditional probabilities of an MDP: those of F a, or of G !a, given F b.
//
//	product, err := condition.New(ctx, model, size, a, b)
//	payoff := product.Payoff(state, avoids, q)
//
// # The mathematics
//
// The product pairs a state with what the path has seen: nothing, a, b, or both. A path that has seen both is decided. Let E be the event F a, or its negation.
// For a number q, a path has the payoff 1 if it satisfies E and F b, 0 if it satisfies F b only, and q if it never sees b. A scheduler S has the mean
// payoff P_S(E & F b) + q (1 - P_S(F b)). So if no scheduler has a mean above q, then P_S(E & F b) <= q P_S(F b): no scheduler has a conditional probability above q. And if
// some scheduler has a mean above q, then P_S(E & F b) > q P_S(F b), so P_S(F b) > 0, and its conditional probability is above q.
//
// A path that is not decided remains in one part of the product for ever: before b, where its payoff is q, or after b and before a, where its payoff is that
// of F b without F a. Let base be this payoff, for each state that is not decided.
//
// Upper bound y of the mean: y is at least the payoff of a decided state; elsewhere y >= P_c y for every choice c, and in W = {y < base} every choice has a successor
// outside of W or of smaller rank. Proof: for every scheduler, y is a bounded supermartingale, so it converges almost surely, and the mean of its limit is not above its first
// value. From W, W is left within |W| steps with a probability above some p > 0. So almost every path that is never decided is outside of W infinitely often, and the limit is at
// least base, its payoff.
//
// Lower bound x: x is at most the payoff of a decided state; elsewhere some choice c has x <= P_c x and, in W = {x > base}, also a successor outside of W or of smaller rank. Proof: take
// these choices. Then x is a bounded submartingale, and the same argument shows that its limit is not above the payoff.
//
// The reset method of Baier, Klein, Klüppelholz and Märcker (TACAS 2014) has the same optimum: a path that restarts has the payoff of the start, q.
package condition
