// Package certify checks certificates: it proves that the claims of a file follow from its model.
// The check does not depend on how the values were computed, and uses rational arithmetic
// only.
//
//	results, err := certify.Check(ctx, file) // file from certificate.Read, or built in memory
//
// # The mathematics
//
// Let S be the states, A(s) the choices of s, P_a(s,t) their probabilities and r_a(s) >= 0
// their rewards; a Markov chain has one choice in each state. opt is min or max over the
// schedulers. For x: S -> [0,inf] let (P_a x)(s) be the mean of x over the successors.
// "The choice" below means: for a lower bound of max and for an upper bound of min, some
// one choice of s that satisfies all the conditions; for a lower bound of min and for an upper
// bound of max, every choice of s. Let V be the value, x the lower bound, y the upper bound. All
// of x, y, rank and layer come from the certificate; a missing rank or layer is
// greater than all others. L and R are sets of states.
//
// Rule 1, probability of L until R. Upper: y >= 1 in R, and y >= P_a y for the choice in
// L\R. Proof: V is the least such function [0,inf]^S (Tarski); for min, of the chain of the
// chosen choices, whose value is not below V. Lower: x <= 1 in R, x = 0 outside of L and R,
// and in W = {s in L\R: x(s) > 0} the choice has x <= P_a x and a successor outside of W or
// of smaller rank. Proof: take the scheduler of the chosen choices, or for min any optimal
// one, and its values v. If d = x-v had a maximum m > 0 then it would have it in a state of
// W, where d <= P_a d <= m, so in all its successors, which thus are in W; but of these
// states the one with the least rank has a successor outside of W or of smaller rank.
//
// In a turn-based stochastic game the choices of some states maximize, and the choices of all other states minimize. There "the choice" is that
// of the owner: for a lower bound some one choice of the maximizer's states and every choice of the others, for an upper bound the
// other way round. Proof: let the maximizer take the chosen choices, which is a strategy of its own. An MDP of the minimizer is left,
// in which the conditions are those of a lower bound of min; so no strategy of the minimizer brings the probability below x. The same
// goes for the minimizer and y. So x and y bound the value of the game from both sides.
//
// Rule 2, reward until R, infinite unless R is reached almost surely. Upper, where finite,
// outside R: y >= r_a + P_a y for the choice (so all successors are finite), which has a
// successor in R or of smaller rank. Proof: from every finite state R is reached within |S|
// steps with a probability above some p > 0, so almost surely, and by induction y is not
// less than the reward of any number of steps. Lower, where finite: x = 0 in R, elsewhere
// x <= r_a + P_a x for the choice. Proof: let V(s) be finite (or there is nothing to
// show), and take the chosen choices, or any scheduler of finite value. R is reached almost
// surely (for max, V would be infinite otherwise), and no state on the way is infinite; x is
// bounded on them, so that x <= reward of n steps + mean of x after n, which goes to 0.
// Infinite, for max: layer 0 has a choice with all successors in layer 0 and so avoids R,
// others have a successor in a lower layer. For min: every choice has a successor in a lower
// layer, or all in the same one. Proof: by induction on layers, no scheduler reaches R almost
// surely; one that stays in the layer never does, and others are below with some
// probability. No state of R is infinite.
//
// Rule 3, reward of all steps. Upper: y >= r_a + P_a y for the choice; V is the least such
// function. Lower, where finite: in W = {0 < x < inf} the choice has x <= r_a + P_a x, and
// r_a > 0 or a successor outside of W or of smaller rank. Proof: if a scheduler's value is
// finite, it takes choices with a reward finitely often, almost surely (there is a least
// positive reward). Of |S| choices without, in W, the chance to leave W is above some p > 0,
// so W is left almost surely, to x = 0 (its value would be infinite otherwise); x is
// bounded, so x <= reward until then. Infinite,
// for max: a choice of layer 0 has all successors in layer 0, and r_a > 0 or one of smaller
// rank; others have a successor in a lower layer. Proof: there r_a > 0 happens within |S|
// steps with a probability above some p > 0, again and again. For min: every choice has a
// successor in a lower layer, or all in its own and r_a > 0 or one of them of smaller rank.
// Proof: by induction on layers; staying in one earns again and again, as before.
//
// Rule 4, step bounds, time bounds and the next state: package steps computes the values itself, rounded down
// and up; its package comment has the proof.
//
// Rule 5, long-run average. With gain g and bias h, lower: the choice has g <= P_a g and
// g + h <= r_a + P_a h; upper, both the other way round. Proof: sum the second over n steps
// of the scheduler: n g(s) <= sum of the means of g (by the first) <= reward of n steps +
// mean of h after n steps - h(s), and h is bounded. In a CTMC with exit rates E, r_a is the
// reward for the mean time 1/E(s) in s, and g/E + h stands for g + h: times E(s), with the
// generator Q, Qg >= 0 and g <= E r + Q h, which is summed over time in the same way.
//
// Rule 6, path formulas and co-safe rewards: rules 1 and 2 for the product with an automaton;
// the comment of package omega has the proof.
//
// Rule 7, several objectives of one scheduler: rule 3 for the product with the objectives' memory;
// the comment of package several has the proof.
//
// Rule 8, discounted reward of all steps in a DTMC or MDP, with the factor d. Lower: x <= r_a + d P_a x for the choice; upper: y >= r_a + d P_a y. Proof:
// V is the fixed point of the operator T that takes opt over the choices, and T is monotone and a contraction with factor d (Puterman 1994,
// section 6.2). x <= T x, so x <= T^n x, which goes to V; the same for y. The reward of the first steps is computed step by step, rounded down and up.
//
// Rule 9, until and rewards with bounds on rewards: rules 1 and 3 for the product with the rewards so far; the comment of package budget has the
// proof.
//
// Rule 10, conditional probabilities of a Markov chain. The vector refers to the probabilities a, that a path satisfies a condition and a formula, and b,
// that it satisfies the condition and not the formula. The value a/(a+b) increases with a and decreases with b, so bounds of both bound it. It is
// undefined if a+b = 0: a claim about a state where lower bounds do not show that a+b > 0 is not proven, and neither is its membership in a set.
//
// Rule 11, maximal conditional probabilities of an MDP: bounds of the mean payoff of the product with an automaton of two parts; the comment of
// package omega has the proof.
//
// In a CTMC rules 1 to 3 are about the jump chain; a state reward is multiplied by the mean sojourn time.
//
// Paths. A state in a set E [L U R] is in R, or it is in L and has a successor in the set with smaller
// rank. A state outside is not in R, and it is not in L or has no successor in the set. So the set is
// the least fixed point. For A [L U R], "a successor" becomes "all successors", and "no" becomes "not all".
//
// If the bounds of a vector do not decide its relation to a threshold, a set is known only from below and from
// above. Until probabilities are monotone in L and R, so the lower bound uses the lower sets and the upper bound the
// upper ones; the other rules require that the set is known.
package certify
