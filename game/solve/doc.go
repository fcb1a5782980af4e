// Package solve computes optimal play of 2048: for every board that a game can reach, its value and its best moves.
//
// A player maximises one of three expectations ([Objective]). [Solve] returns the solution as a [Table] in memory. [SolveFile] writes it to a file
// and can continue after an interruption; [Open] reads the file. [InitialValue] computes the value of the game only.
//
//	table, stats, err := solve.Solve(ctx, solve.Options{Shape: game.Shape{Rows: 3, Cols: 3}, Max: 64})
//	value, best, ok := table.Value(board)
//	moves, ok := table.Moves(board) // the value of each move
//
// # Method
//
// A move keeps the sum of the tiles, and a new tile adds 2 or 4. So the boards of one sum, a layer, depend on the next two layers only, and two
// passes are enough: enumerate the layers upwards, value them downwards. Of symmetric boards only one is stored.
//
//	positions(s) = a 2 on afterstates(s-2), a 4 on afterstates(s-4)     upwards
//	afterstates(s) = the moves of positions(s)
//	value(afterstate of s) = mean of value(positions of s+2, s+4)       downwards
//	value(position of s) = best of its moves' rewards and afterstates
//
// The boards of a layer are divided into parts. A new tile leads from one part to few parts. So each part can be computed from a few others,
// with little memory, and by several processes ([Options].Process).
//
// Values are float64. Each value is computed from the same numbers in the same order for any number of goroutines and any memory, so results
// are the same to the last bit. [Stats.RelativeError] bounds the rounding errors.
//
// The package does not play games, except for single new tiles ([Table.AddRandom]), and draws no pictures: see package draw.
//
// Source: Lees-Miller, The Mathematics of 2048: Optimal Play with Markov Decision Processes, 2018, appendix B. The format of the files and
// measurements are in docs/solve.md.
package solve
