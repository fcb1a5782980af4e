// Package confluence finds commands of a program that can be executed at once: whenever one of them is enabled, executing it first
// does not change the value of a property F or U. The order of such commands then does not matter, and states in which one of them is
// enabled need not be stored.
//
//	steps := confluence.Find(program, nil, goal)   // for example the gates of a fault tree that fail because an input fails
//
// The commands and their guards are compared as texts: a guard is a conjunction of bounds on variables, and of the condition that no
// command of a higher priority is enabled. So the commands of Petri nets with inhibitor arcs and priorities are recognised.
//
// Source: Timmer, van de Pol and Stoelinga, Confluence reduction for Markov automata, FORMATS 2013.
package confluence
