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
// The format is not that of package certify/certificate, for three reasons:
//
//   - What is proven. A certificate of package certify is about the model in the same file, and no model has all boards: a file with the
//     part alone would prove a bound of that part. The checker here makes the successors of each board from the rules, so it proves a
//     bound of the game. Package certify would need these rules, and it knows no game.
//   - Size. A board takes a line of 24 bytes on 4x4. The transitions of its move, which a model has to list, are about twice as many as
//     there are empty cells: 18 on average, each with a target of 8 bytes and a probability.
//   - Memory. Sums descend, so the checker keeps the boards of the last three sums; that of package certify keeps the whole model.
//
// # Order
//
// A move keeps the sum of the tiles and a new tile raises it. So both computations go through layers of equal sums, forwards to find the
// boards and backwards to value them, and nothing is iterated.
//
// The package solves no games (package solve), plays none (package play), and checks no properties: see docs/proof.md.
package induced
