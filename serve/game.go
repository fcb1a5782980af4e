package serve

import "tilecheck/game/solve"

// solvedGame is a table of optimal play.
type solvedGame struct{ table *solve.Table }

func (s *solvedGame) bytes() int64 { return s.table.Stats().Positions * 24 }
