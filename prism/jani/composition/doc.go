// Package composition replaces automata of a network by a smaller one. It composes two automata at a time, makes the steps internal that
// no other automaton takes part in, and minimises the result.
//
//	network := &composition.Network{Automata: automata, Vectors: vectors}
//	err := network.Reduce(ctx)
//
// Automata are interactive Markov chains: their states have immediate steps with actions, and rates. By maximal progress no time passes in
// a state with an internal step. Two states are merged if they are branching bisimilar. This keeps divergence, which is an infinite sequence of internal
// steps. It keeps the probabilities of F and U, with and without bounds on the time, expected times, and long-run averages of
// what the other automata of the network do. It does not keep the number of steps.
//
// Source: Hermanns, Interactive Markov Chains, LNCS 2428, 2002, for the congruence; Blom and Orzan, A distributed algorithm for
// strong bisimulation reduction of state spaces, STTT 7(1), 2005, for refinement by signatures; Boudali, Crouzen and Stoelinga, A compositional
// semantics for dynamic fault trees in terms of interactive Markov chains, ATVA 2007, for the use on fault trees.
package composition
