// Package quotient makes models smaller: states that no property can tell apart, by
// strong probabilistic bisimulation, become one.
//
//	p, err := quotient.Refine(ctx, m, initial, rewards)
//	err = p.Check(ctx, m, initial, rewards) // independent, and simple
//	q, err := p.Model(m)
//
// A partition is a certificate: two states of a block have the same initial block and
// the same rewards, and for each choice of one there is a choice of the other that earns
// the same and leads into every block with the same probability, as fractions (in a CTMC:
// with the same rate). So both have the same value for every formula of PCTL* (CSL) and
// every expected reward over what the initial partition tells apart; names of actions do
// not count.
//
// Source: Larsen and Skou 1991; signature refinement after Blom and Orzan 2003.
package quotient
