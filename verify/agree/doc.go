// Package agree decides whether two verdicts agree. Every comparison of answers
// asks it: of engines, of models, of runs, and of values that were published.
//
//	o := agree.Verdicts("native", ours, "storm", theirs, agree.Options{})
//	o.Relation, o.Basis, o.Reason, o.Error
//
// An answer is a set of possible truths, by what is known about it:
//
//   - exact: the fraction, integer or truth value itself; proven
//   - bounded: our interval; proven
//   - claimed: the interval that another program claims. It is evidence and no
//     proof: what contradicts a proven value is different, and what agrees with
//     one is the same, both on the basis "claimed"
//   - float, estimated, unknown: the value, as far off as the tolerance, or as
//     far as the program itself says it may be
//   - probable: a confidence interval, made again for the error probability that
//     is asked for, by a method that fits how the samples were drawn
//
// Two answers are different when no truth is in both sets, the same when none is
// far from the other, and else unknown. A value that its own engine doubts proves
// nothing: it may agree, and is otherwise unknown. So is what answers another
// question: a minimum and a maximum, or a drawn scheduler and an optimal one.
//
// The package computes no values and compares no models.
package agree
