// Package product builds the product of a model with what a path remembers. The rules of package certify that need a memory share it: an automaton,
// the objectives of a query, sums of rewards, or what a path has seen.
//
// The numbering is part of the certificate format, because the columns of a vector have an entry for each state of the product: first the given states,
// then the others breadth-first, choice by choice, successors in the order of the model's states. It does not depend on the order of transitions.
package product
