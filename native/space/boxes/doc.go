// Package boxes explores boxes of states instead of states. A box gives each variable an interval of values. All states of a box behave in the same way: they
// enable the same commands, with the same probabilities and rewards, and their successors are again boxes, in which each variable has one value or
// the interval of before, moved by a constant. So a box is a state of a bisimilar model. If its states behave differently, it is divided, and so are the
// boxes that lead to it. The initial states are one box at first, even if they are too many to enumerate.
//
// A step to one successor with probability 1 is followed and not stored: its rewards are added to those of the steps before. So only initial boxes,
// boxes that branch, and every 128th box of a longer walk are stored.
//
//	built, err := boxes.Build(ctx, compiled, property, boxes.Options{})
//	verdict := check.New(built.Space.Compiled(), built.Space, options).Check(ctx, ...) // of built.Property
//
// Probabilities and rewards are fractions, so no sum is rounded. Expressions are evaluated by interval arithmetic; one that does not have one value in a
// box proposes a variable and a number at which the box is divided.
//
// Sources: P. Cousot and R. Cousot, "Static determination of dynamic properties of programs" (1976), for intervals; R. Paige and R. E. Tarjan, "Three
// partition refinement algorithms" (1987), for the division of predecessors; C. Baier and J.-P. Katoen, "Principles of model checking" (2008), section 10.4.2,
// for probabilistic bisimulation.
package boxes
