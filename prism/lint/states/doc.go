// Package states finds likely mistakes in the reachable states of a model.
//
// It has its own exploration, with the expander that package explicit uses: an error of the model
// in a state is a finding and does not end the exploration, and the commands of a choice matter
// more than its targets. It stores no transitions.
package states
