// Package subsystem computes critical subsystems: small sets of states, or of commands, that violate a
// bound on a probability by themselves.
//
//	q := &subsystem.Question{Chain: chain, Bound: bound, Space: space, ...}
//	states, err := subsystem.States(ctx, q)           // few states of a chain
//	commands, err := subsystem.Commands(ctx, q, states) // few commands of the model
//	text, err := subsystem.Model(tree, commands.Kept)   // the model with only these commands
//
// Removed parts lead nowhere, so removing more never raises the probability. Hence a set is minimal (no
// member can be removed) if removing each member was tried once; there may be smaller sets. That a set is
// sufficient is proved by a lower bound or an exact value.
//
// States belong to a Markov chain, which package witness builds; those on the most probable paths come
// first. Commands belong to the whole model; in an MDP all schedulers count.
//
// Source: critical subsystems, Ábrahám, Becker, Dehnert, Jansen, Katoen and Wimmer,
// Counterexample generation for discrete-time Markov models (SFM 2014); minimal command
// sets, Wimmer, Jansen, Vorpahl, Ábrahám, Katoen and Becker (LMCS 2015).
package subsystem
