// Package digital turns a probabilistic timed automaton into an MDP whose clocks
// count whole units of time.
//
//	d, err := digital.Translate(program, property)
//	// d.Property of d.Program, an MDP, has the value of property of program
//
// Time passes in steps of one unit, together in all modules and where all invariants
// allow it. A clock counts up to one more than the greatest number that it is compared
// with, since nobody sees a difference beyond. A bound on the time of a property is a
// clock of its own. Units are as long as the numbers of model and property have a
// divisor in common.
//
// Probabilities and expected rewards until something is reached are those of the
// automaton if no constraint is strict, none compares two clocks, and clocks are
// neither in rewards nor to the left of U. What the theorem is not about is refused
// by name: nested operators, lower bounds on time, LTL, rewards of other forms.
//
// Source: Kwiatkowska, Norman, Parker and Sproston, Performance analysis of
// probabilistic timed automata using digital clocks (Formal Methods in System Design
// 29, 2006); PRISM's -ptamethod digital.
package digital
