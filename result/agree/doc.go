// Package agree decides whether two verdicts agree. All comparisons of answers
// use it: comparisons of engines, models, runs, and published values.
//
//	o := agree.Verdicts("native", ours, "storm", theirs, agree.Options{})
//	o.Relation, o.Basis, o.Reason, o.Error
//
// An answer is a set of possible true values, which depends on its accuracy:
//
//   - exact: the fraction, integer or truth value itself (basis proven)
//   - bounded: the interval of the native engine (basis proven)
//   - claimed: the interval that another program claims. It is evidence, not
//     proof: an answer that contradicts a proven value is different, and one that agrees with
//     one is the same, both on the basis "claimed"
//   - float, estimated, unknown: the values within the tolerance, or within the
//     error that the program itself states
//   - probable: a confidence interval, recomputed for the error probability that
//     is asked for, by a method that fits how the samples were drawn
//
// Two answers are different if their sets are disjoint, the same if all their elements are
// close to each other, and otherwise unknown. A value that its own engine doubts proves
// nothing: it is the same or unknown. Answers to different questions are unknown:
// a minimum and a maximum, or a random scheduler and an optimal one.
//
// The package computes no values and compares no models.
package agree
