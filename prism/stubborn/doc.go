// Package stubborn finds commands of an MDP or a Markov automaton that can be executed at once, because their order does not matter for a property.
//
// In a state, a stubborn set of commands contains every command that could be disabled by, or would not commute with, one of its enabled commands,
// and whatever could enable one of its disabled commands. If all enabled commands of the set have the same effect, and it is certain and
// invisible to the property, then only this effect is explored.
//
// Source: Valmari, Stubborn sets for reduced state space generation, 1991; Baier, D'Argenio and Größer, Partial order reduction for probabilistic
// branching time, 2006; for Markov automata, Timmer, van de Pol and Stoelinga, Confluence reduction for Markov automata, 2013.
package stubborn
