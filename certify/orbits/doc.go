// Package orbits checks that the model of a certificate is the quotient of a program by a symmetry, so that claims about the quotient are
// claims about the whole model, whose states are never built.
//
//	quotient, err := orbits.NewQuotient(ctx, program, symmetry, model, states)
//	err = quotient.CheckProperty(ctx, program, property)
//
// It shares no code with package symmetry, which finds symmetries, or with the explorer: it needs the syntax tree of the program and the evaluation of
// expressions in fractions only.
//
// # The mathematics
//
// A permutation g of the variables acts on valuations: (g s)(g v) = s(v). NewQuotient checks three facts:
//
//  1. Each claimed permutation maps the program to itself: the ranges and the initial values, the commands of the modules, as a multiset of
//     modules that are multisets of commands, and the formula of the initial states. Two expressions count as equal if their trees are equal up
//     to the order of operands of commutative operators. The parallel composition of all modules depends only on this multiset. So s has the choice with the
//     distribution p exactly if g s has the choice with the distribution p after g, for every valuation s: each g is an automorphism, and so is
//     every composition of them. The initial states are mapped to initial states, so the reachable states to reachable states.
//  2. The initial states of the program, and all successors of the listed states, are mapped to listed states by compositions of the permutations. This defines
//     a listed state f(t) in the orbit of t, for every t that is needed.
//  3. The choices of each listed state s in the model are those of s in the program, where the probability of a listed state r is the sum over all t
//     with f(t) = r. All listed states are reachable in the model.
//
// CheckProperty checks that all state formulas, labels and reward structures of a property are invariant under the permutations. Then a state and its
// images have the same values: g maps the paths from s to those from g s, with their probabilities, rewards and the truth of every state formula. So the values V of the
// program satisfy V(t) = V(f(t)), and the relation between t and f(t) is a probabilistic bisimulation (Larsen and Skou 1991) between the reachable states of
// the program and the model. A property in the initial states, or in all states up to filters such as min and max, has the same value in both.
//
// Facts 1 and 3 read the model's text; fact 1 cannot be checked on the listed states instead. That the images of the listed states under the
// permutations behave as they should says nothing about images of these images, which are not listed.
//
// Source: Emerson and Sistla, Symmetry and model checking, 1996; Kwiatkowska, Norman and Parker, Symmetry reduction for
// probabilistic model checking, CAV 2006.
package orbits
