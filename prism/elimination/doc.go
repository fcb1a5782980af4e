// Package elimination makes a program smaller for a property, before its states are explored.
//
//   - Control states are eliminated: a command continues with the commands that follow it, as long as these are the only ones that are enabled, which constants
//     decide. A loop of a sequential program becomes one command with an update for each way through its body.
//   - Dead variables, which are written before they are read again, are reset to their initial values. States that differ only in them become one state.
//
// The eliminated states are indistinguishable, for the property, from the state in which the command starts. So the property has the same value.
//
//	smaller := elimination.Eliminate(ctx, property)   // nil if nothing can be eliminated
//
// Sources: T. Winkler, J. Lehnen and J.-P. Katoen, "Out of control: reducing probabilistic models by control-state elimination" (VMCAI 2022);
// M. Bozga, J.-C. Fernandez and L. Ghirvu, "State space reduction based on live variables analysis" (SAS 1999).
package elimination
