// Package stats decides when statistical model checking has seen enough
// samples, and what may be said about the mean afterwards.
//
// It is a leaf: it draws no samples and knows no models. A caller feeds the
// sufficient statistics [Bernoulli] (did the path satisfy the formula?) or
// [Moments] (what reward did it earn?) sample by sample.
//
// There are two halves, which are deliberately kept apart.
//
// What PRISM does. [NewPlan] turns the simulation options and a property into
// a [Plan] with the mathematics of PRISM's methods CI, ACI, APMC and SPRT;
// [Plan.Done] says after each sample whether to stop and [Plan.Outcome] gives
// the numbers PRISM would print. CI and ACI are nominal: their intervals rest
// on the central limit theorem and fail near 0 and 1, and worse when the
// variance decides when to stop. With p = 0.011, half-width 0.01 and
// confidence 0.99 the interval of CI contains p with probability 0.67 only;
// the tests compute that number.
//
// What can be proven. [BernoulliInterval] and [RewardInterval] return an
// [Interval] whose coverage is at least its confidence for every model, for
// the case that the number of samples was fixed beforehand and for the case
// that it was decided by looking at the samples. Where no such interval exists
// (rewards without known bounds) the result says so: [Interval.Sound] is false.
// [Compare] decides whether two independent estimates can be of the same
// probability, and [Published] makes a sample out of a printed estimate.
//
// Confidence is always the probability of being right, 0.99, and never PRISM's
// -simconf, which is the probability of error, 0.01; [Confidence] and [Alpha]
// convert. Width is always half the length of the interval, as in PRISM.
//
// Results do not depend on the number of workers if the caller keeps to two
// things: Done is asked after every sample in the order of the sample index,
// and shards are merged in a fixed order.
package stats
