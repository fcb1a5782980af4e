// Package cartesian finds states from which no path reaches a target, without exploring these paths.
//
// For a given state, it computes a set of values for each variable that has few values. The set contains each value that the variable has on some path from
// the state. In the beginning, it has only the value in the state. Then commands are executed, until no set grows:
//
//   - A command is executed if each conjunct of its guard that reads one such variable holds for a value of the set. Other conjuncts are taken for true.
//   - The values that its updates assign are added to the sets.
//
// So it does not matter which values of several variables occur together, or which commands synchronise. The sets may have too many values, but none is missing.
//
//	abstraction := cartesian.New(program, target)    // nil if no condition on a variable can exclude the target
//	if !abstraction.MayReach(state) { … }            // then no path from state reaches target
//
// Sources: Ball, Podelski and Rajamani, Boolean and Cartesian abstraction for model checking C programs (TACAS 2001); in planning it is called delete
// relaxation: Bonet and Geffner, Planning as heuristic search (Artificial Intelligence 129, 2001).
package cartesian
