// Package tree writes a scheduler of an MDP as a decision tree over the variables of
// the model, small enough to be read: as a module that makes the choices, as text, as a
// picture.
//
//	t, err := tree.Learn(ctx, space, tree.Objective{…}, tree.Options{Loss: 1e-3})
//	err = t.Module(w, "Pmax=? [ F done ]")
//	// whoever plays by it loses at most t.Loss, which is proven
//
// The search is greedy and does not find the smallest tree; what it finds is evaluated:
// the chain that a tree leaves of the model is solved, with bounds that hold. States
// where choices are as good, or nearly, leave the tree its freedom.
//
// Source: Brázdil et al., Counterexample explanation by learning small strategies in
// Markov decision processes, CAV 2015; Ashok et al., dtControl, HSCC 2020.
package tree
