// Package stubborn finds commands of an MDP or a Markov automaton that can be executed immediately, before all others, because their order does not matter
// for a property.
//
// In a state, a stubborn set of commands contains every command that could be disabled by, or would not commute with, one of its enabled commands, and,
// for each of its disabled commands, every command that could make one false conjunct of the guard true. If all enabled commands of the set change the
// state in the same way, with probability 1, and change no variable of the property, then only this change is explored.
//
// Source: Valmari, Stubborn sets for reduced state space generation, 1991; Baier, D'Argenio and Größer, Partial order reduction for probabilistic
// branching time, 2006; for Markov automata, Timmer, van de Pol and Stoelinga, Confluence reduction for Markov automata, 2013.
package stubborn
