// Package automata translates formulas of linear temporal logic to automata
// whose products with Markov chains and MDPs can be checked.
//
//	f := automata.Binary(automata.And, automata.Unary(automata.Globally, p), …)
//	a, err := automata.New(f, automata.Limits{})
//	q, err := a.Step(a.Initial(), 0b01) // proposition 0 holds, 1 does not
//	a.Class(q)                          // what is still to be waited for
//	jumps, err := a.Jumps(q)            // the guesses open in q
//
// The automaton is limit-deterministic (Sickert, Esparza, Jaax and Kretinsky,
// CAV 2016). Its initial part is deterministic: a state is what remains of the
// formula after the letters read. From there a run may jump, reading nothing,
// to the accepting part, which is deterministic, too: a jump guesses which
// eventualities come true for ever and which invariants hold from here on, and
// what is left is an invariant and a list of goals to be met again and again.
// States are formulas up to propositional equivalence, kept as binary decision
// diagrams; they are made when they are first reached, so that only letters
// that a model has cost anything.
//
// Why this one, and not a Rabin or parity automaton: both parts are formula
// progression and nothing else, which a page of code can show; the guesses
// follow from a theorem (Esparza, Kretinsky and Sickert, LICS 2018) that is as
// short; and a formula without a mixture of eventualities and invariants has a
// deterministic automaton, without a special case. The product with the
// initial part alone has the probabilities of the formula: within an end
// component of it, some jump wins surely or the formula fails surely.
//
// The package knows no models, and propositions are numbers.
package automata
