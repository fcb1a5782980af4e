// Package budget checks the probability of an until formula with bounds on rewards, as one of an until formula without bounds in
// another model, and a reward that counts while such bounds hold, as a total reward of that model.
//
//	product, err := budget.New(ctx, model, vector.Budgets, left, right)
//	// rule 1 of package certify about product.Model, from all states to product.Target
//
// # The mathematics
//
// A path satisfies the formula if, in some state of it, Right holds and the sum of the rewards of the steps before is within every bound, and Left
// holds in all states before. The product pairs a state with these sums. A pair is decided if Right and all bounds hold there (it is in the target),
// or otherwise if Left does not hold or an upper bound is exceeded: rewards are not negative, so the sum stays above it. A decided pair only has a loop.
// So the paths of the product that begin in a pair of a state with sums 0 and reach the target are those of the model that satisfy the
// formula, with the same probability for each scheduler, and a scheduler of the model, which may remember the path, knows the sums.
//
// The product is finite. The sums are multiples of one unit, the inverse of a common denominator of all rewards and bounds. A sum above the upper bound,
// or without one above the lower bound, is replaced by the least such number: both bounds have the same truth value from there on.
//
// A reward that counts while upper bounds hold has the same product, with Left everywhere and Right nowhere. The choices of an open pair earn the
// reward of the model unless a sum exceeds its bound after the step, which depends on the pair and the choice only. The value is the reward of all
// steps of the product.
//
// A Markov chain has one reward for all transitions of a state, so its reward structures must not have rewards of transitions: the
// certificate has their means only.
package budget
