// Package tiles checks certificates about the game 2048. It has rules of the game of its own, and shares no code with what makes the certificates
// (packages game/guarantee and game/induced).
//
//	statement, err := tiles.CheckGuarantee(ctx, file)
//	bound, err := tiles.CheckBound(ctx, file)
package tiles
