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
// best winning probability and writes a certificate. Boards outside the part count as lost. Values are integers in units of 1e-15, rounded down.
// Package certify/tiles checks a certificate by its own implementation of the rules.
//
// The format is not that of package certify/certificate, for three reasons:
//
//   - What is proven. A certificate of package certify is about the model in the same file, and no model has all boards: a file with the
//     part alone would prove a bound of that part. Package certify/tiles makes the successors of each board from the rules, so it proves a
//     bound of the game. Package certify would need these rules, and checks models only.
//   - Size. A board takes a line of 24 bytes on 4x4. The transitions of its move, which a model has to list, are about twice as many as
//     there are empty cells: 18 on average, each with a target of 8 bytes and a probability.
//   - Memory. Sums descend, so the checker keeps the boards of the last three sums; that of package certify keeps the whole model.
//
// # Order
//
// A move keeps the sum of the tiles and a new tile increases it. All computations therefore visit layers of equal sums, forwards to find the
// boards and backwards to compute their values. No iteration is needed.
//
// The package does not compute optimal play (package solve), prove bounds of large tiles (package stages), play games (package play) or check properties: see docs/proof.md.
package induced
