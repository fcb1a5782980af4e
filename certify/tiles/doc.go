// Package tiles checks certificates about the game 2048. It has its own rules of the game. The only code that it shares with the packages that make the
// certificates (game/guarantee, game/induced and game/stages) is internal/parallel, which runs the goroutines of CheckStages.
//
//	statement, err := tiles.CheckGuarantee(ctx, file)
//	bound, err := tiles.CheckBound(ctx, file)
//	bound, err := tiles.CheckStages(ctx, file, 0)
package tiles
