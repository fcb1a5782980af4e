// Package stages proves a lower bound of the probability that optimal play of 2048 makes a tile, for boards that are too large for package solve.
//
// The game is divided into stages ([Stage]). Before each stage, some large tiles lie in the first row, in descending order: they are locked. The stage
// ends when one more tile, the unit, lies beside them, or when the last two locked tiles have merged. All other tiles are small. So a stage has as many
// boards as there are arrangements of small tiles on the other cells, which are few enough to compute the value of each of them.
//
//	plan, err := stages.NewPlan(rules.Shape(), 11, []int{4, 4, 4, 5, 6}, 32)
//	proof, err := stages.Prove(ctx, plan, stages.Options{})
//	proof.Bound // at most the best probability of making 2048
//
// # Why this is a bound
//
// The value of a board is that of its best move, and the value of a move is the mean value of the boards with a new tile. A move that makes the winning
// tile has the value 1. If a move leads to a later stage, the boards with a new tile have their values in that stage. Boards that belong to no stage, and
// boards whose small tiles have a greater sum than their stage allows, have the value 0. The sum of the tiles grows, so by induction from great sums to
// small ones, no value exceeds the probability that optimal play wins from the board. This holds for any stages: they determine only how much is proven.
// Values are integers, and means are rounded down.
//
// # The certificate
//
// A certificate ([Proof.WriteCertificate]) has the stages and the bound, but no values: there are 10^11 of them for 2048. Package certify/tiles computes
// the values again, by its own rules of the game and its own numbering of the boards.
//
// The package does not compute the value of the game (package solve) and does not play.
//
// Source: the idea to lock large tiles is that of Slizkov, arXiv 2303.07266; numbering boards by two halves is ours.
package stages
