package play

import (
	"time"

	"tilecheck/game"
	"tilecheck/stats"
)

// Summary adds up several games of one strategy.
type Summary struct {
	Won          stats.Bernoulli
	Score, Moves stats.Moments
	WinMoves     stats.Moments                   // of the won games
	Acts         stats.Moments                   // moves at which a shield acted
	Largest      [game.MaxWideExponent + 1]int64 // number of games by the exponent of their largest tile
	Overflows    int64
	Time         time.Duration // sum of the times of all games
}

// Add adds the result of a game to the summary.
func (s *Summary) Add(finished Game) {
	s.Won.Add(finished.Won)
	s.Score.Add(float64(finished.Score))
	s.Moves.Add(float64(finished.Moves))
	if finished.Won {
		s.WinMoves.Add(float64(finished.WinMoves))
	}
	s.Acts.Add(float64(finished.Acts))
	s.Largest[finished.Max]++
	if finished.Overflow {
		s.Overflows++
	}
	s.Time += finished.Time
}

// Games returns the number of games.
func (s *Summary) Games() int64 { return s.Won.N }

// Reached returns how many of the games reached a tile with that exponent or a larger one.
func (s *Summary) Reached(exp int) stats.Bernoulli {
	b := stats.Bernoulli{N: s.Won.N}
	for _, n := range s.Largest[exp:] {
		b.K += n
	}
	return b
}

// Speed returns the moves per second of one worker, 0 if no time was measured.
func (s *Summary) Speed() float64 {
	if s.Time <= 0 || s.Moves.N == 0 {
		return 0
	}
	return s.Moves.Mean() * float64(s.Moves.N) / s.Time.Seconds()
}
