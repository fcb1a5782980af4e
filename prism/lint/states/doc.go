// Package states finds what is likely a mistake in the reachable states of a model.
//
// It explores on its own, with the expander that package explicit uses: a state in which the
// model is wrong is a finding and not the end, and which command a choice comes from matters
// more than where it leads. It keeps no transitions.
package states
