// Package digital translates a probabilistic timed automaton to an MDP, by digital clocks or by regions.
//
//	d, err := digital.Translate(program, property, digital.Digital)
//	// d.Property of d.Program, an MDP, has the value of property of program
//
// Time passes in steps, simultaneously in all modules, and only if all invariants allow it. The time bound of a property
// becomes a separate clock. The unit of time is the greatest common divisor of the numbers in model and property. A
// clock stops one step above the greatest number that it is compared with, since larger values are indistinguishable.
//
// # Digital clocks
//
// A step is one unit of time. The MDP has the same reachability probabilities and expected reachability rewards as the
// automaton, if no constraint is strict and none compares two clocks.
//
// Source: Kwiatkowska, Norman, Parker and Sproston, Performance analysis of
// probabilistic timed automata using digital clocks (Formal Methods in System Design
// 29, 2006); PRISM's -ptamethod digital.
//
// # Regions
//
// A step leads to the next clock region: values of clocks between the same numbers and with the same order of fractional parts. Constraints
// may be strict. The MDP has the same minimal and maximal reachability probabilities as the automaton. There are no rewards,
// because the time of a step is not fixed. The number of regions grows with the numbers and exponentially with the number of
// clocks.
//
// Two additions leave the probabilities as they are. Clocks may be compared with each other: time does not change their order, and
// the MDP remembers it while both are above the greatest number. And a clock that is inactive in a location gets the
// value above the greatest number there (Daws and Yovine, RTSS 1996).
//
// Source: Alur and Dill, A theory of timed automata (Theoretical Computer Science 126, 1994);
// Kwiatkowska, Norman, Segala and Sproston, Automatic verification of real-time systems with discrete
// probability distributions (Theoretical Computer Science 282, 2002).
//
// # Assumptions
//
// As in PRISM, no infinite path may take only a bounded time (Zeno paths): the scheduler could follow such a path to avoid a target. This is
// not checked. A state without a command in which no time can pass (a timelock) is an error when the MDP is built. Entering a state that
// violates an invariant is possible, as with PRISM's digital clocks; PRISM's games and backwards methods disable such a command.
//
// # Zones
//
// [ForZones] prepares what native/space/zones needs, which represents sets of clock valuations instead.
//
// Translate and ForZones return an error for everything else: clocks in rewards, in probabilities or on the left of U, nested operators, lower
// time bounds, LTL, other reward objectives.
package digital
