// Package strategy has the players of 2048: those of the source documents and a strong one to measure them against.
//
// [Parse] makes a [Strategy] from a spec string such as "expectimax:eval=snake,depth=adaptive"; [List] says which there are. A Strategy
// gives out a [Player], which plays games, and a [Chooser], which says the same as exact probabilities: a board's moves, each with its
// probability, so that a strategy can be evaluated, written as a model, and checked.
//
//	s, err := strategy.Parse("pref:left,up,down,right", strategy.Setting{Rules: rules})
//	err = strategy.Prepare(ctx, s)
//	player := s.Player()
//	player.Start()
//	dir, err := player.Choose(board, rules.Legal(board), rng)
//
// docs/strategies.md says what the documents leave open and what was chosen.
//
// The package plays no games and counts no wins: that is game/play. It computes no optimal play: that is game/solve.
package strategy
