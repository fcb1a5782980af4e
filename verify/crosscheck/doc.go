// Package crosscheck gives one job to several engines and compares their answers.
//
//	report, err := crosscheck.Run(ctx, job, []runner.EngineConfig{
//		{Engine: native.New()},
//		{Engine: bridge.PRISM(cmd, bridge.Options{})},
//	}, crosscheck.Options{})
//	report, err = crosscheck.Against(ctx, right, wrong, engines, crosscheck.Options{})
//
// An answer is compared as what it guarantees: a fraction is a point, bounds are
// an interval, simulations are confidence intervals that hold together with a
// stated probability, and a value of an iteration without bounds guarantees nothing.
// Two answers disagree if no value fits both, and agree if the values cannot
// be far from each other. Otherwise they are undecided, and simulations are repeated
// with more samples. A property that only one engine answered is unchecked.
//
// The model itself is checked first, in every state: an erroneous model that the
// engines accept anyway is reported as invalid. A disagreement is diagnosed:
// the state spaces are compared by valuation up to the first state, choice or
// probability that differs, which is shown with the commands that made it.
// Against compares two models in the same way. Models compares the state spaces that tools build of one
// model, without properties.
//
// The package computes no values itself. The engines decide which properties they
// can check.
package crosscheck
