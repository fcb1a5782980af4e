// Package check evaluates properties over state spaces: P, R, S, E and A,
// nested as they come, filters, and arithmetic on their values.
//
//	c := check.New(space, check.Options{})
//	verdict := c.Check(ctx, &check.Property{Property: p, Program: prog, File: "die.props"})
//
// A formula has a value in every state, and so is evaluated: state formulas to
// sets, numeric ones to bounds, from the inside out. What iteration leaves open,
// whether a value reaches the bound it is compared with, stays open: such a
// set has states that are neither in nor out. If the answer to the property
// depends on them it is computed again, more precisely and then with
// fractions. The verdict says which accuracy the answer has.
//
// Path formulas with several temporal operators (LTL) are checked on the product
// of the space with an automaton (native/space/automata), in every state. In
// them bounds count steps; for a CTMC, in E and A, and in co-safe rewards they
// are refused by name, and so are ratios of rewards.
package check
