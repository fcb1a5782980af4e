package serve

import "tilecheck/game/solve"

// solved is optimal play of a game.
type solved struct{ table *solve.Table }

func (s *solved) bytes() int64 { return s.table.Stats().Positions * 24 }
