// Package induced computes facts about a strategy of 2048: the Markov chain that it induces, its exact value, a model of the chain, and, if the
// chain is too large, a certified lower bound of optimal play.
//
// [Explore] finds every state that a strategy reaches. [Chain.Exact] computes its value in rational arithmetic and [Chain.Bracket] in
// floating point with outward rounding. [Chain.Table] returns the chain as a policy of package modelgen, and [Chain.WriteTransitions] writes it
// as explicit files, both for model checkers. All of them have the same value.
//
//	err := strategy.Prepare(ctx, s)
//	chain, err := induced.Explore(ctx, s, induced.Options{Rules: rules, Max: 5})
//	value, err := chain.Exact(ctx) // value.Win is a fraction
//
// # Bounds
//
// [Survey] finds a part of the boards that a strategy visits, and [Part.Refine] finds a better one. [Part.Prove] computes a lower bound of the
// best winning probability and writes a certificate. [CheckCertificate] checks a certificate by its own implementation of the rules. Boards
// outside the part count as lost. Values are integers in units of 1e-15, rounded down.
//
// # Order
//
// A move keeps the sum of the tiles and a new tile increases it. All computations therefore visit layers of equal sums, forwards to find the
// boards and backwards to compute their values. No iteration is needed.
//
// The package does not compute optimal play (package solve), play games (package play) or check properties: see docs/proof.md.
package induced
