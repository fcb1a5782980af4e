// Package crosscheck gives one job to several engines and says whether they
// agree.
//
//	report, err := crosscheck.Run(ctx, job, []runner.Entrant{
//		{Engine: native.New()},
//		{Engine: bridge.PRISM(cmd, bridge.Options{})},
//	}, crosscheck.Options{})
//	report, err = crosscheck.Against(ctx, right, wrong, entrants, crosscheck.Options{})
//
// Every answer enters with what is known about it: fractions as points, bounds
// as intervals, simulations as confidence intervals that hold together with a
// stated probability, and values of iterations without bounds as what they are.
// Answers disagree when they cannot be of one value, and agree when they cannot
// be far from each other; else they are undecided, and simulations are repeated
// with more samples. What only one engine answered is unchecked, never agreed.
//
// The model itself is checked first, in every state, so that a model that the
// engines accept although it is wrong is invalid. A disagreement is diagnosed:
// the state spaces are compared by valuation up to the first state, choice or
// probability that differs, which is shown with the commands that made it.
// Against compares two models in the same way, and Models what tools build of one
// model, without any property.
//
// The package computes no values itself; what an engine may be asked is the
// engine's business.
package crosscheck
