// Package tiles checks certificates about the game 2048. It has rules of the game of its own, and shares no code with what makes the certificates
// (packages game/guarantee, game/induced and game/stages).
//
//	statement, err := tiles.CheckGuarantee(ctx, file)
//	bound, err := tiles.CheckBound(ctx, file)
//	bound, err := tiles.CheckStages(ctx, file, 0)
package tiles
