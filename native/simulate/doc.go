// Package simulate estimates properties from random paths, as PRISM's
// statistical model checking does, and says what the estimates mean.
//
//	r := simulate.Check(ctx, m, &property, simulate.Options{})     // a property
//	p := simulate.Walk(ctx, simulate.FromModel(m), simulate.PathOptions{Steps: 5})
//	err := simulate.WriteTable(w, p, simulate.TableOptions{})      // a random path, as PRISM prints it
//
// A check has four parts, each in one place: an Objective is what a property
// asks of single paths; a sampler has workers draw them and puts the outcomes
// into the order of the samples; package stats decides when that is enough; and
// the result carries two kinds of precision, PRISM's nominal half-width and an
// interval that is sound. It also carries how nondeterminism was resolved: an
// estimate of Pmin under the uniform scheduler is not a minimum, and says so.
//
// The package knows no files and no state spaces: package native reads the
// former, and a value for all schedulers needs the latter. A path can be drawn
// from any Source, of which package explicit has one for states from files.
package simulate
