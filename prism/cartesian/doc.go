// Package cartesian finds states from which no path reaches a target, without exploring these paths.
//
// For a given state, it computes for each variable with few values a set that contains all values that the variable has on paths from this state. At first,
// each set has the value in the state. A command may be enabled if each conjunct of its guard that reads one such variable is true for some value of the set;
// then the values that it assigns are added. Which values occur together is ignored, and commands that synchronise are not combined, so the sets may be too
// large, but never too small.
//
//	abstraction := cartesian.New(program, target)    // nil if no condition on a variable can exclude the target
//	if !abstraction.MayReach(state) { … }            // then no path from state reaches target
//
// Sources: Ball, Podelski and Rajamani, Boolean and Cartesian abstraction for model checking C programs (TACAS 2001); in planning it is called delete
// relaxation: Bonet and Geffner, Planning as heuristic search (Artificial Intelligence 129, 2001).
package cartesian
