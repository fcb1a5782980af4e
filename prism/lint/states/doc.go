// Package states finds likely mistakes in the reachable states of a model.
//
// It explores the state space itself, with the expander of package compile: an error of the model
// in a state is a finding and does not end the exploration. It stores no transitions.
package states
