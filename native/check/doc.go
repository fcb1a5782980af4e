// Package check evaluates properties over state spaces: P, R, S, E and A,
// nested as they come, filters, and arithmetic on their values.
//
//	c := check.New(space, check.Options{})
//	verdict := c.Check(ctx, &check.Property{Property: p, Program: prog, File: "die.props"})
//
// Formulas are evaluated in all states, from the inside out: state formulas to
// sets of states, numeric formulas to bounds. If bounds do not decide a
// comparison in a state, it is unknown whether the state is in the set. If the
// answer to the property depends on such states, it is computed again with
// narrower bounds and then with fractions. The verdict has the accuracy of the
// answer.
//
// Path formulas with several temporal operators (LTL) are checked on the product
// of the space with an automaton (native/space/automata), from every state.
// Bounds in such formulas count steps. They are unsupported for a CTMC, in E
// and A, and in co-safe rewards. Ratios of rewards are unsupported.
package check
