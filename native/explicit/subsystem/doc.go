// Package subsystem finds small parts of a model that refute a bound on a
// probability by themselves: states, and commands.
//
//	q := &subsystem.Question{Chain: chain, Bound: bound, Space: space, ...}
//	states, err := subsystem.States(ctx, q)           // few states of a chain
//	commands, err := subsystem.Commands(ctx, q, states) // few commands of the model
//	text, err := subsystem.Model(tree, commands.Kept)   // the model of these alone
//
// What is taken out leads nowhere, so that a probability only becomes less when
// more is taken out. Hence a set is minimal, that is, no member of it can be taken
// out, if each was tried once; it need not be the smallest there is. That a set
// suffices is proven: its value is bounded from below with directed rounding, or
// is a fraction.
//
// States are those of a Markov chain (package witness makes it), which are tried
// from the states on the likeliest paths on; commands are those of the whole
// model, of an MDP under all schedulers.
//
// Source: critical subsystems, Ábrahám, Becker, Dehnert, Jansen, Katoen and Wimmer,
// Counterexample generation for discrete-time Markov models (SFM 2014); minimal command
// sets, Wimmer, Jansen, Vorpahl, Ábrahám, Katoen and Becker (LMCS 2015).
package subsystem
