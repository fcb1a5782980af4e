// Package parametric computes values of Markov chains and MDPs as functions of parameters.
//
// A [Chain] has the states of a model that was built at a point, where every parameter has a
// value, and its weights as functions (package ratfunc). Each weight that is not zero
// everywhere is positive at the point, so that the chain has the same graph wherever all of
// them are: there, and only there, a value is the function that is returned. Sets of states
// are given, and do not depend on parameters.
//
// Values are solutions of linear equations. They are found by eliminating one state after the
// other, those with few neighbours first, until only the initial state is left.
//
// Source: Daws, Symbolic and parametric model checking of discrete-time Markov chains, ICTAC
// 2004; Hahn, Hermanns, Zhang, Probabilistic reachability for parametric Markov models, STTT
// 13(1), 2011.
//
// Of an MDP the schedulers are found that are best somewhere, and where: see [Chain.Best].
package parametric
