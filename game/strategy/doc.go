// Package strategy implements strategies for 2048: the strategies of the source documents, and a strong one for comparison.
//
// [Parse] makes a [Strategy] from a spec such as "expectimax:eval=snake,depth=adaptive"; [List] lists the families of strategies. A Strategy
// provides a [Player], which plays games, and a [Chooser], which returns the exact probability of each move on a board. With a Chooser a
// strategy can be evaluated exactly, written as a model, and checked.
//
//	s, err := strategy.Parse("pref:left,up,down,right", strategy.Setting{Rules: rules})
//	err = strategy.Prepare(ctx, s)
//	player := s.Player()
//	player.Start()
//	dir, err := player.Choose(board, rules.Legal(board), rng)
//
// docs/strategies.md says which details the documents leave open, and how this package decides them.
//
// The package does not play whole games (package game/play) or compute optimal play (package game/solve).
package strategy
