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
// Formulas of LTL with several temporal operators, multi(...), co-safe rewards
// and ratios of rewards are refused by name.
package check
