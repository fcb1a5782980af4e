// Package several checks certificates of multi-objective queries for package certify. It builds the
// product of the model with the objectives' memory, lists the bounds that the rule on
// total rewards has to prove about it (lemmas), and computes the bounds that follow from these.
//
//	bounds, err := several.Values(ctx, model, vector, sets, earned, func(l several.Lemma) error {
//		// rule 3 of certify
//	})
//
// # The mathematics
//
// A state of the product is a state of the model with, for each probability, whether its until
// formula is undecided, was satisfied by just this state, or is closed; and with the number of
// steps so far, as long as some reward counts them. The choices are the choices of the model. So every objective i
// is an expected total reward f_i(σ) of the scheduler σ from the initial state, of rewards
// r_i >= 0: 1 in the states that have just satisfied the formula, or the reward of the model's
// choices while the steps count. G are the maximised objectives, L the minimised
// ones. The schedulers of the product are the schedulers of the model, with memory.
//
// Upper bound. The certificate has weights w_i >= 0, a shift c >= 0, a factor k >= 0, and
// functions y >= 0 and x >= 0, where x (perhaps infinite) is a lower bound of the minimal expected total of r_L,
// the sum of r_i over L, from each state (rule 3). Let r_w be the sum
// of w_i r_i over G, minus that over L. In each state with x finite, let y + k x >= c, and
// let y >= r_w + P_a y for every choice a whose successors all have x finite. Then for every
// scheduler whose f_i are finite for all i in L: the sum of w_i f_i over G, minus that over L,
// is at most y - c in the initial state. Proof: states with x infinite are not reached, as
// r_L would be infinite then. So by induction y(initial) >= the mean of r_w of n steps + the
// mean of y after n steps, and that is at least c - k (the mean of x after n steps). The
// latter is at most the mean of r_L after n steps, the rest of a sum that is finite, and
// goes to 0. (The first mean never exceeds y(initial), so the sum over G is finite, too.)
//
// So if a scheduler satisfies the bounds b_i of all objectives but q, then w_q f_q (for q in L: minus that) is at
// most y - c + the sum of w_i b_i over L - that over G, without q. If there is no objective q, the
// bounds cannot all be satisfied if this is negative. A scheduler with an infinite f_i, i in L,
// violates every bound on it; if i is q, its f_q is infinite and so above every lower bound.
//
// Achievable values. The certificate has memoryless schedulers of the product, with
// shares that sum to 1. Drawing one of them at the start and following it for ever is a
// scheduler whose f_i are the means of theirs. Each of them induces a Markov chain, in
// which rule 3 gives lower bounds of f_i for G, and upper ones for L. If the means satisfy all
// bounds b_i, the mixture satisfies them too, and its f_q is at least (for q in L: at most) the mean.
package several
