// Package play plays games of 2048 with strategies and estimates how often they win, how far they get and which of them is better.
//
// [Run] plays games of one strategy, [Compare] plays several against each other, [Repeat] repeats the tables of the source documents.
//
//	m := play.Match{Shape: game.Shape{Rows: 4, Cols: 4}, Goal: 11, On: true, Seed: 1}
//	s, err := m.Parse("pref:left,up,down,right")
//	out, err := play.Run(ctx, play.Options{Match: m, Strategy: s, Games: 1000})
//	estimates, err := out.Estimates(0.99)
//
// # Random numbers
//
// Game i has two random streams, one for the new tiles and one for the player. Both depend only on the seed and i, so a result does not
// depend on the number of workers or on earlier games. Strategies that play the same games get the same tiles as long as they make the
// same moves (common random numbers), which makes the estimated differences between them more precise.
//
// # Files
//
// A state file keeps the finished games. A run that was killed continues from it and loses only the games that were not finished. A record
// keeps whole games with every move and every new tile; [ReadRecord] checks it against the rules.
//
// # Intervals
//
// Shares have proven intervals: Clopper-Pearson if the number of games was fixed beforehand, a confidence sequence if the time or the games
// themselves decided when to stop. Means of scores and moves have a nominal interval (Student's t) and a proven one, which follows from
// the largest score that is possible on the board and is wide on 4x4.
//
// The package does not choose moves, does not compute optimal values and prints nothing.
package play
