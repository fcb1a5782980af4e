// Package tiles checks certificates about the game 2048. It has rules of the game of its own, and shares no code with what makes the certificates
// (package game/guarantee).
//
//	statement, err := tiles.CheckGuarantee(ctx, file)
package tiles
