// Package scheduler has schedulers of MDPs, the Markov chains that they induce, and their files. A
// Scheduler is deterministic and may count steps; a sparse.Controller has any finite memory and may be
// randomized.
//
//	x := scheduler.Scheduler{choices}        // memoryless: one row
//	in, err := x.Induce(ctx, m, scheduler.InduceOptions{})
//	err = scheduler.Write(ctx, w, space, x, scheduler.Actions, scheduler.Actions.Defaults())
//
// Package solve computes schedulers, as Values.Scheduler and Values.Steps.
//
// Files are PRISM's, byte for byte, as `-exportstrat` of its explicit engine
// writes them, with these differences:
//
//   - If several choices are optimal, PRISM may take another one. It may list
//     or omit states in which every choice is optimal.
//   - If several choices of a state have the chosen action, PRISM adds all of
//     them to the induced model: the rows of two choices [a] sum to 2. Here the
//     induced model has the chosen one only.
//   - PRISM has no schedulers for C<=k, I=k, F[i,j], minimal total rewards and
//     minimal rewards with end components without reward. Here they have one.
//   - Some of PRISM's schedulers do not attain the value that it prints: it takes
//     an arbitrary choice for Pmax=?[X a] in states of a, and for F>=k in all
//     states. If Rmax=?[F a] is infinite, it may take a choice that reaches a
//     with probability one.
//
// JSON is Storm's format (`--exportscheduler f.json`), with states as
// valuations.
package scheduler
