// Package parametric computes values of Markov chains and MDPs as functions of parameters.
//
// A [Chain] has the states of a model at a reference point, where every parameter has a value, and weights
// that are functions (package ratfunc). Each weight that is not zero everywhere is positive at that point.
// So the graph is the same wherever all these weights are positive; there, and only there, the returned
// functions are the values. Sets of states do not depend on parameters.
//
// Values are solutions of linear equations, by elimination of states until only the initial state is left.
//
// Source: Daws, Symbolic and parametric model checking of discrete-time Markov chains, ICTAC
// 2004; Hahn, Hermanns, Zhang, Probabilistic reachability for parametric Markov models, STTT
// 13(1), 2011.
//
// For an MDP, [Chain.Best] finds the optimal schedulers and where they are optimal.
package parametric
