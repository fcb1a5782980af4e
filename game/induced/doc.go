// Package induced says what is proven about a strategy: the Markov chain that it makes of the game, its value, a model of both, and a
// certified lower bound of optimal play where the chain is too large.
//
// [Explore] finds every state that a strategy reaches; [Chain.Exact] evaluates it directly, with fractions, and [Chain.Bracket] with
// floating point that rounds outwards. The chain is written for model checkers as a policy ([Chain.Table], a module of package modelgen)
// or as explicit files ([Chain.WriteTransitions]). All of them have the same value.
//
//	err := strategy.Prepare(ctx, s)
//	chain, err := induced.Explore(ctx, s, induced.Options{Rules: rules, Max: 5})
//	value, err := chain.Exact(ctx) // value.Win is a fraction
//
// # Bounds
//
// [Survey] looks at a part of the boards that a strategy visits, [Part.Refine] at a better one, and [Part.Prove] computes a lower bound of
// the best winning probability and writes its certificate. [CheckCertificate] checks one without trusting the rest: it has the rules of the
// game written down again. Everything outside the part counts as lost, and values are integers in units of 1e-15 that are rounded down.
//
// # Order
//
// A move keeps the sum of the tiles and a new tile raises it. So both computations go through layers of equal sums, forwards to find the
// boards and backwards to value them, and nothing is iterated.
//
// The package solves no games (package solve), plays none (package play), and checks no properties: see docs/proof.md.
package induced
