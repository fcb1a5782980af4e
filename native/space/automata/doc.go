// Package automata translates formulas of linear temporal logic to automata
// whose products with Markov chains and MDPs can be checked.
//
//	f := automata.Binary(automata.And, automata.Unary(automata.Globally, p), …)
//	a, err := automata.New(f, automata.Limits{})
//	q, err := a.Step(a.Initial(), 0b01) // proposition 0 holds, 1 does not
//	a.Class(q)                          // what the rest of the run must do
//	jumps, err := a.Jumps(q)            // states of the accepting part to jump to
//
// The automaton is limit-deterministic (Sickert, Esparza, Jaax and Kretinsky,
// CAV 2016). Its initial part is deterministic: a state is the formula that
// the remaining letters must satisfy. From there a run may jump, without
// reading a letter, to the accepting part, which is deterministic too. A jump
// guesses which eventualities hold infinitely often and which invariants hold
// from now on; the result is an invariant and a list of goals that must be met
// infinitely often. States are formulas up to propositional equivalence, as
// binary decision diagrams. They are built when they are first reached, so that
// letters that do not occur in a model cost nothing.
//
// Reasons for this automaton rather than a Rabin or parity automaton: both
// parts are plain formula progression; the guesses follow from a short theorem
// (Esparza, Kretinsky and Sickert, LICS 2018); and a formula that does not mix
// eventualities and invariants has a deterministic automaton without a special
// case. The product of a model with the initial part has the probabilities of
// the formula: in each of its end components, some jump satisfies the formula
// with probability one, or the formula has probability zero.
//
// The package knows no models, and propositions are numbers.
package automata
