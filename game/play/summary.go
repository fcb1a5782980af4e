package play

import (
	"time"

	"tilecheck/game"
	"tilecheck/stats"
)

// Summary is what several games of one strategy came to, added in the order of their indices.
type Summary struct {
	Won          stats.Bernoulli
	Score, Moves stats.Moments
	WinMoves     stats.Moments               // of the games that were won
	Acts         stats.Moments               // moves at which a shield acted
	Largest      [game.MaxExponent + 1]int64 // games by the exponent of their largest tile at the end
	Overflows    int64
	Time         time.Duration // of all games together, as if played one after the other
}

// Add counts a game.
func (s *Summary) Add(g Game) {
	s.Won.Add(g.Won)
	s.Score.Add(float64(g.Score))
	s.Moves.Add(float64(g.Moves))
	if g.Won {
		s.WinMoves.Add(float64(g.WinMoves))
	}
	s.Acts.Add(float64(g.Acts))
	s.Largest[g.Max]++
	if g.Overflow {
		s.Overflows++
	}
	s.Time += g.Time
}

// Games returns the number of games.
func (s *Summary) Games() int64 { return s.Won.N }

// Reached returns how many games reached a tile of that exponent or a larger one.
func (s *Summary) Reached(exp int) stats.Bernoulli {
	b := stats.Bernoulli{N: s.Won.N}
	for _, n := range s.Largest[exp:] {
		b.K += n
	}
	return b
}

// Speed returns the moves per second of one worker, 0 when no time was measured.
func (s *Summary) Speed() float64 {
	if s.Time <= 0 || s.Moves.N == 0 {
		return 0
	}
	return s.Moves.Mean() * float64(s.Moves.N) / s.Time.Seconds()
}
