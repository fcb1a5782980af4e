// Package zones reduces the probability of reaching states of a timed automaton to that of a finite MDP, by zones of clock valuations.
//
//	timed, err := digital.ForZones(program, property)
//	built, err := zones.Build(ctx, timed, zones.Options{})
//	// built.Property of built.Space has the value of property of program
//
// Discrete variables are explicit, and clocks are symbolic. The number of states does not grow with the numbers that clocks are compared with.
//
//  1. Forward: the reachable locations with their zones. They show timelocks, errors of the model and invariants that are
//     violated on entering, and the other stages ignore what is not reachable.
//  2. Sure avoidance, for a minimal probability: the greatest set of states from which some scheduler avoids the target surely. The minimal
//     probability of the target is one minus the maximal probability of this set.
//  3. Backward: the predecessors of the target. A command with several updates needs the intersections of what its updates
//     lead to.
//  4. The MDP: in a symbolic state the scheduler chooses when to take which command, and into which symbolic state of those that contain
//     its successor each update leads.
//
// The schedulers and the meaning of invariants are those of package digital: a scheduler may take infinitely many
// commands in finite time, and a command that violates an invariant is possible.
//
// Source: Kwiatkowska, Norman, Sproston and Wang, Symbolic model checking for probabilistic timed automata (Information and Computation 205, 2007).
package zones
