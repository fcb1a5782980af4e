// Package solve computes optimal play of 2048: for every board that a game can come to, the value and the best moves.
//
// A player maximises one of three expectations ([Objective]). [Solve] returns the solution as a [Table] in memory, [SolveFile] writes one
// to a file, in steps that survive a kill, and [Open] reads it. [InitialValue] keeps nothing but the value of the game.
//
//	table, stats, err := solve.Solve(ctx, solve.Options{Shape: game.Shape{Rows: 3, Cols: 3}, Max: 64})
//	value, best, ok := table.Value(board)
//	moves, ok := table.Moves(board) // what each is worth
//
// # Method
//
// A move keeps the sum of the tiles, and a new tile adds 2 or 4 to it. So the boards of one sum, a layer, depend on the next two layers
// only, and two passes are enough: enumerate the layers upwards, value them downwards. Symmetric boards are held once.
//
//	positions(s) = a 2 on afterstates(s-2), a 4 on afterstates(s-4)     upwards
//	afterstates(s) = the moves of positions(s)
//	value(afterstate of s) = mean of value(positions of s+2, s+4)       downwards
//	value(position of s) = best of its moves' rewards and afterstates
//
// Within a layer boards are in parts, such that those with one more tile are in few of them. So each part is made and valued from a
// handful of others, in little memory, and by several processes if need be ([Options].Process).
//
// Values are float64. Every value is computed from the same numbers in the same order however many goroutines there are and however little
// memory: results are the same to the last bit. [Stats.RelativeError] bounds what rounding does.
//
// The package plays no games but for one tile at a time ([Table.AddRandom]), and draws nothing: see package draw.
//
// Source: Lees-Miller, The Mathematics of 2048: Optimal Play with Markov Decision Processes, 2018, appendix B. The format of the files and
// measurements are in docs/solve.md.
package solve
