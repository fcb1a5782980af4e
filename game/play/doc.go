// Package play has strategies play 2048 and says what came of it: how often they win, how far they get, and which is better.
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
// Game i draws its tiles from a stream of its own, a function of the seed and i, and the player from another one. So no result depends on
// the number of workers or on what was played before, and strategies that play the same games meet the same tiles as long as they make the
// same moves (common random numbers), which makes differences between them more precise.
//
// # Files
//
// A state file keeps the games that are finished, so that a run that was killed goes on where it was: it loses the games in flight and
// nothing else. A record has whole games, every move and every tile; [ReadRecord] checks it against the rules.
//
// # What intervals mean
//
// Shares have proven intervals: Clopper-Pearson when the number of games was fixed beforehand, a confidence sequence when time or the
// games themselves decided it. Means of scores and moves have nominal ones (Student's t), and proven ones beside them from the largest
// score that is possible on the board; on 4x4 these are wide.
//
// The package computes no moves and no optimal values, and prints nothing.
package play
