// Package several is what package certify needs of several objectives of one scheduler: the
// product of the model with what they remember, what is to be shown of it by the rule on
// total rewards, and the bounds that follow.
//
//	bounds, err := several.Values(ctx, model, vector, sets, earned, func(l several.Lemma) error {
//		// rule 3 of certify
//	})
//
// # The mathematics
//
// A state of the product is one of the model with, for each probability, whether its until
// formula is open, was satisfied by just this state, or is over; and with the number of
// steps, as far as a reward counts them. Choices are those of the model. So every objective i
// is an expected total reward f_i(σ) of the scheduler σ from the initial state, of rewards
// r_i >= 0: 1 in the states that have just satisfied a formula, and the reward of the model's
// choices while it counts. G are the objectives that are to be great, L those that are to be
// small. Schedulers that remember the past of the model and those of the product are the same.
//
// What no scheduler exceeds. Given are weights w_i >= 0, a shift c >= 0, a factor k >= 0, and
// functions y >= 0 and x >= 0, where x, perhaps infinite, is at most the least total of r_L,
// the sum of r_i over L, that any scheduler has from each state (rule 3). Let r_w be the sum
// of w_i r_i over G, minus that over L. In each state with x finite, let y + k x >= c, and
// let y >= r_w + P_a y for every choice a whose successors all have x finite. Then for every
// scheduler whose f_i are finite for all i in L: the sum of w_i f_i over G, minus that over L,
// is at most y - c in the initial state. Proof: states with x infinite are not reached, as
// r_L would be infinite then. So by induction y(initial) >= the mean of r_w of n steps + the
// mean of y after n steps, and that is at least c - k (the mean of x after n steps). The
// latter is at most the mean of r_L after n steps, the rest of a sum that is finite, and
// goes to 0. (The first mean never exceeds y(initial), so the sum over G is finite, too.)
//
// So if the bounds b_i of all but objective q are kept, w_q f_q (for q in L minus that) is at
// most y - c + the sum of w_i b_i over L - that over G, without q. Without an objective q the
// bounds cannot all be kept if this is negative. A scheduler with an infinite f_i, i in L,
// keeps no bound on it, and if it is f_q then f_q is not less than anything.
//
// What can be had. Given are schedulers that choose by the state of the product alone, with
// shares that sum to 1. One of them is drawn at the start, and obeyed for ever: that is a
// scheduler, whose f_i are the means of theirs. Each of them makes a chain of the product, in
// which rule 3 gives lower bounds of f_i for G, and upper ones for L. If the means keep all
// bounds b_i, then they can be kept, and f_q has at least (at most) the mean.
package several
