// Package omega checks the certificates of path formulas for package certify: it builds the product of a model with
// an automaton, checks which of its states accept almost surely and which do not, and tests whether the
// automaton accepts the paths that satisfy the formula.
//
//	err := omega.Agrees(ctx, automaton)                  // tested with short lassos
//	pairs, err := omega.Pairs(ctx, model, automaton, sets)
//	all, won, sure, err := omega.CheckRuns(ctx, pairs, vector)
//
// # The mathematics
//
// The automaton reads a path as letters: a letter is the set of propositions that hold in a state. The
// automaton moves deterministically with each letter. Once, after some letter, it jumps
// to one of the states that its current state allows, without reading. From there on it moves
// deterministically again, and it accepts if it visits accepting states infinitely often.
// So it accepts a path if some jump at some time leads to an accepting run.
//
// The pairs (s,q) are the states of a model in which q has read the path up to s; its
// choices are the choices of s. The runs (s,q,d) also have the state d that the run which jumped has
// reached since. A product contains only states that are reachable from the model's states after reading them,
// and only runs that begin with a jump. If d is not accepting and every
// letter leads back to d, its runs are absorbing.
//
// Won. Each run with a rank has a choice with all successors ranked, and d is accepting or
// one of these successors has a smaller rank. Proof that some scheduler makes such a run accept almost
// surely: take these choices. Within as many steps as there are runs, an accepting d comes
// with a probability above some p > 0, again and again. So from a pair with a jump to a
// ranked run, a scheduler (which remembers q and d) wins surely, and rule 1 of certify gives
// lower bounds x of the maximal probability, with R the set of these pairs.
//
// Lost. Let y >= P_a y for all choices of all pairs where y < 1, and in each run with y(s,q) < 1
// let every choice have a successor in a lower layer, or one where y >= 1; or let d be not
// accepting and all successors in its own layer. Then y is an upper bound of the probability,
// for every scheduler. Proof: y is a supermartingale while it is below 1, so a path comes to
// y >= 1 with a probability of y at most. Consider a jump at some time, and paths that never
// come there. Let l be the least layer that the run is in infinitely often. A choice that
// leads with a probability above some p > 0 to a lower layer, or to y >= 1, is almost surely not taken
// infinitely often in l. So from some time on only choices that stay in l are taken, and d is not
// accepting from then on. So each jump accepts with probability 0, and there are only
// countably many jumps: one for each time and each state of the automaton.
//
// These proofs hold for any automaton: both bounds are about the paths that it accepts.
// That these are the paths that satisfy the
// formula is tested, not proven: with all lassos (words u v v v ...) up to a size. See Agrees.
//
// E [...]. The automaton accepts some path from a state if and only if the maximal probability
// is 1 in the MDP whose choices are the transitions: a scheduler with memory can
// follow any single path there; without such a path the probability is 0.
//
// Conditional probabilities. The maximal probability of E given B in an MDP has an automaton of two parts. A run that jumps into the first part
// accepts if the path satisfies E and B, and one that jumps into the second part accepts if the path violates B. For a number q, such paths have the
// payoffs 1 and q, and the others, which satisfy B only, have the payoff 0. So a scheduler S has the mean payoff P_S(E & B) + q (1 - P_S(B)). If no
// scheduler has a mean above q, then P_S(E & B) <= q P_S(B): no scheduler has a conditional probability above q. And if some scheduler has a mean
// above q, then P_S(E & B) > q P_S(B), so P_S(B) > 0, and its conditional probability is above q. The reset method of Baier, Klein, Klüppelholz and
// Märcker (TACAS 2014) has the same optimum: a path that restarts has the payoff of the start, q.
//
// Upper bound y of the mean: y >= P_a y for all choices of all pairs where y < 1. In each run of a part with y(s,q) below the payoff of the part, let
// every choice have a successor in a lower layer, or one where y is not below that payoff; or let d be not accepting and all successors in its own
// layer. Proof: min(y,1) is a supermartingale, so it converges almost surely, and the mean of its limit is at most its first value. By the proof
// above, almost every path with an accepting run in a part has a pair with y >= the payoff again and again, so the limit is at least the payoff of
// the path. The other paths have the payoff 0.
//
// Lower bound x of the mean: a pair with a jump to a ranked run has the end payoff 1 in the first part, otherwise q in the second part, and every
// other pair has 0. In W, the pairs where x is above the end payoff, some choice has x <= P_a x and a successor outside of W or of smaller rank.
// Proof: take these choices until W is left, which is almost surely. Then x is a bounded submartingale, so its mean outside of W is not below its
// first value. From there a scheduler wins the end payoff.
//
// Certain. If no chosen choice leads to a pair with x = 0, then almost every path from a pair with x > q ends with the payoff 1 or q, so P_S(E & B) +
// 1 - P_S(B) = 1. As the mean is above q, P_S(E & B) > 0. So the conditional probability is 1.
//
// A co-safe reward is earned until the automaton, which has no jumps, reaches an accepting
// state: rule 2 of certify, about pairs. Pairs with an accepting state are absorbing.
package omega
