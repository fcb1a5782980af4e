// Package scheduler holds schedulers of MDPs: the Markov chains
// they induce, and their files. Scheduler is deterministic and remembers no more than
// steps; sparse.Controller remembers anything and may throw dice.
//
//	x := scheduler.Scheduler{choices}        // memoryless: one row
//	in, err := x.Induce(ctx, m, scheduler.InduceOptions{})
//	err = scheduler.Write(ctx, w, space, x, scheduler.Actions, scheduler.Actions.Defaults())
//
// Where choices come from is not its business: solve returns them as
// Values.Scheduler and Values.Steps, check as Scheduler.Choices.
//
// Files are PRISM's, byte for byte, as `-exportstrat` of its explicit engine
// writes them, with these differences:
//
//   - Where several choices are optimal PRISM may take another one, and it may
//     list states in which any choice will do, or leave such states out.
//   - PRISM puts all choices of a state that have the action chosen into an
//     induced model, and adds their probabilities: the rows of two choices [a]
//     sum to 2. Here the one that was chosen is in it.
//   - PRISM has no schedulers for C<=k, I=k, F[i,j], minimal total rewards and
//     minimal rewards with end components without reward; here they have one.
//   - Some of PRISM's do not attain the value it prints. It calls a choice
//     arbitrary that is not: for Pmax=?[X a] in states of a, for F>=k in all.
//     Where Rmax=?[F a] is infinite it may choose what reaches a for certain.
//
// JSON is Storm's format (`--exportscheduler f.json`), with states as
// valuations.
package scheduler
