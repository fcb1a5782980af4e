// Package omega is what package certify needs of path formulas: the product of a model with
// an automaton, which sets of its states accept surely or surely not, and whether the
// automaton is that of the formula.
//
//	err := omega.Agrees(ctx, automaton)                  // as far as that is tried
//	pairs, err := omega.Pairs(ctx, model, automaton, sets)
//	all, won, sure, err := omega.Won(ctx, pairs, vector)
//
// # The mathematics
//
// A path is read as letters: a letter is the set of propositions that hold in a state. The
// automaton moves deterministically with each letter, and once, after some letter, it jumps
// to one of the states that where it is allows, reading nothing. From there on it moves
// deterministically again, and it accepts if it is in accepting states infinitely often.
// So an accepted path is one for which some jump, at some time, is right.
//
// The pairs (s,q) are the states of a model in which q has read the path up to s; its
// choices are those of s. The runs (s,q,d) have with them where some jump d took place, or
// what has become of it. Only what can be reached from the states, having been read, is in
// a product, and only runs that begin with a jump. A d that is not accepting and that every
// letter leaves as it is goes nowhere: its runs stay where they are.
//
// Won. A run that has a rank has a choice with all successors ranked, and d is accepting or
// one of them has a smaller rank. Proof that some scheduler makes such a run accept, almost
// surely: take these choices. An accepting d comes within as many steps as there are runs
// with a probability above some p > 0, again and again. So from a pair with a jump to a
// ranked run, a scheduler (which remembers q and d) wins surely, and rule 1 of certify gives
// lower bounds x of the maximal probability, with R the set of these pairs.
//
// Lost. Let y >= P_a y for all choices of all pairs where y < 1, and in each run with y(s,q) < 1
// let every choice have a successor in a lower layer, or one where y >= 1; or let d be not
// accepting and all successors in its own layer. Then y is an upper bound of the probability,
// for every scheduler. Proof: y is a supermartingale while it is below 1, so a path comes to
// y >= 1 with a probability of y at most. Consider a jump at some time, and paths that never
// come there. Let l be the least layer that its run is in infinitely often. A choice that
// leads lower, or to y >= 1, with a probability above some p > 0 is almost surely not taken
// infinitely often in l. So in the end only others are, which stay in l, and d is not
// accepting from then on. So no jump accepts but with probability 0, and there are only
// countably many jumps: one for each time and each state of the automaton.
//
// Nothing here depends on the automaton being a good one: lower bounds are those of the
// paths that it accepts, and upper ones, too. That these are the paths that satisfy the
// formula is tried with all lassos, words u v v v ..., up to a size: see Agrees.
//
// Some path. That the automaton accepts some path from a state is that the greatest probability
// is 1 in the MDP whose choices are the transitions: a scheduler, which remembers what it did,
// takes any path there, and nothing else; without such a path the probability is 0.
//
// A co-safe reward is earned until the automaton, which has no jumps, comes to an accepting
// state: rule 2 of certify, about pairs. Those of accepting states go nowhere.
package omega
