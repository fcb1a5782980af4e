// Package quotient reduces models by strong probabilistic bisimulation, which merges states that no
// property distinguishes.
//
//	p, err := quotient.Refine(ctx, m, initial, rewards)
//	err = p.Check(ctx, m, initial, rewards) // independent, and simple
//	q, err := p.Model(m)
//
// A partition is a certificate. Two states of a block have the same initial block and the same rewards;
// and each choice of one has an equivalent choice of the other, with the same rewards and the same exact
// probability of every block (in a CTMC: the same rate). So both have the same value for every formula
// of PCTL* (CSL) and every expected reward, if its labels do not distinguish states of an initial block.
// Action names are ignored.
//
// Source: Larsen and Skou 1991; signature refinement after Blom and Orzan 2003.
package quotient
