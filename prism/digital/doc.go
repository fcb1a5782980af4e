// Package digital translates a probabilistic timed automaton to an MDP whose clocks
// count whole units of time.
//
//	d, err := digital.Translate(program, property)
//	// d.Property of d.Program, an MDP, has the value of property of program
//
// Time passes in steps of one unit, simultaneously in all modules, and only if all invariants
// allow it. A clock stops one above the greatest number that it is compared
// with, since larger values are indistinguishable. The time bound of a property becomes a
// separate clock. The unit is the greatest common divisor of the numbers in model and
// property.
//
// The MDP has the same reachability probabilities and expected reachability rewards as the
// automaton, if no constraint is strict, none compares two clocks, and clocks occur
// neither in rewards nor on the left of U. Translate returns an error for everything
// else: nested operators, lower time bounds, LTL, other reward objectives.
//
// Source: Kwiatkowska, Norman, Parker and Sproston, Performance analysis of
// probabilistic timed automata using digital clocks (Formal Methods in System Design
// 29, 2006); PRISM's -ptamethod digital.
package digital
