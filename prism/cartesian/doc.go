// Package cartesian finds states from which no path reaches a target, without exploring these paths.
//
// It computes, for each variable, a set of values that contains those of all reachable states: in a state, each variable has one value. A command may be
// enabled if each conjunct of its guard is true for some values of the sets; then the values that it assigns are added. Which values occur together is not
// kept, and commands that synchronise are not combined, so the sets may be too large, but never too small.
//
//	abstraction := cartesian.New(program, target)    // nil if no condition on a variable can exclude the target
//	if !abstraction.MayReach(state) { … }            // then no path from state reaches target
//
// Sources: Ball, Podelski and Rajamani, Boolean and Cartesian abstraction for model checking C programs (TACAS 2001); in planning it is called delete
// relaxation: Bonet and Geffner, Planning as heuristic search (Artificial Intelligence 129, 2001).
package cartesian
