package play

import (
	"math"

	"tilecheck/game"
	"tilecheck/stats"
)

// Quantity is something that is estimated from games.
type Quantity string

// The quantities.
const (
	Won      Quantity = "won"          // share of the games that reached the goal
	Score    Quantity = "score"        // mean score
	Moves    Quantity = "moves"        // mean number of moves
	WinMoves Quantity = "moves to win" // mean number of moves to the goal, of the games that reached it
	Reached  Quantity = "reached"      // share of the games that reached a tile
	Acts     Quantity = "shield acts"  // mean number of moves at which the shield acted
	Largest  Quantity = "largest"      // share of the games whose largest tile at the end was this one
)

// Estimate is a quantity with an interval. The same quantity may be there twice, with intervals of different kinds.
type Estimate struct {
	Quantity Quantity
	Tile     int   // value of the tile that it is about, 0 if none
	Count    int64 // games with the property, for a share
	Games    int64 // games that were looked at
	Share    bool  // Value is Count/Games; otherwise it is a mean
	Value    float64
	// Interval is for Value; its Method is stats.NoInterval when there are too few games to say anything. Its Confidence is that of
	// all intervals of this quantity together, of which there are Together: those of Largest count the tiles that no game ended with.
	Interval stats.Interval
	Together int
}

// Estimates returns what the games say about every quantity, for that confidence (0.99 is 99 %).
//
// Shares have proven intervals. Means have Student's, which is nominal, and then one proven from the bounds that board and rules put on a
// game. The number of moves to a win has no proven one in a match that goes on, since the games that are won are not known beforehand.
func (o *Outcome) Estimates(confidence float64) ([]Estimate, error) {
	out, err := o.estimates(o.Match, confidence, o.Sequential())
	if err != nil || !o.Shielded {
		return out, err
	}
	e := estimator{confidence: confidence, sequential: o.Sequential(), out: out}
	moves := o.Match.moveBounds() // no more than there are moves
	e.mean(Acts, o.Acts, nil)
	e.mean(Acts, o.Acts, &moves)
	return e.out, e.err
}

// Estimates returns what the games of a player say about every quantity, each for that confidence, as [Outcome.Estimates] does.
func (c *Contest) Estimates(player int, confidence float64) ([]Estimate, error) {
	return c.Players[player].estimates(c.Match, confidence, c.Sequential)
}

// estimates computes the intervals; sequential when something else than a number fixed beforehand decided how many games there are.
func (s *Summary) estimates(m Match, confidence float64, sequential bool) ([]Estimate, error) {
	e := estimator{confidence: confidence, sequential: sequential}
	if m.Goal > 0 {
		e.share(Won, m.Goal, s.Won, 1)
	}
	score, moves := m.scoreBounds(), m.moveBounds()
	bounded := func(q Quantity, x stats.Moments, bounds *stats.Bounds) {
		if e.mean(q, x, nil); !m.Published { // whose games have no bounds
			e.mean(q, x, bounds)
		}
	}
	bounded(Score, s.Score, &score)
	bounded(Moves, s.Moves, &moves)
	if s.Won.K > 0 {
		e.mean(WinMoves, s.WinMoves, nil)
	}
	tiles := m.milestones()
	for _, exp := range tiles {
		e.share(Reached, exp, s.Reached(exp), len(tiles))
	}
	most := m.largest()
	for exp := 1; exp <= most; exp++ {
		if n := s.Largest[exp]; n > 0 {
			e.share(Largest, exp, stats.Bernoulli{N: s.Games(), K: n}, most)
		}
	}
	return e.out, e.err
}

// milestones returns the exponents of the tiles that Reached is about: 512 to 8192 as in the documents, or on smaller boards the five
// largest tiles there can be.
func (m Match) milestones() []int {
	most := min(m.largest(), 13)
	var exps []int
	for exp := max(most-4, 2); exp <= most; exp++ {
		exps = append(exps, exp)
	}
	return exps
}

// estimator collects estimates; the first error is kept.
type estimator struct {
	confidence float64
	sequential bool
	out        []Estimate
	err        error
}

func (e *estimator) share(q Quantity, exp int, b stats.Bernoulli, together int) {
	each := stats.Confidence(stats.Alpha(e.confidence) / float64(together)) // Bonferroni
	i, err := stats.BernoulliInterval(b, each, e.sequential)
	e.add(Estimate{
		Quantity: q, Tile: game.Value(exp), Count: b.K, Games: b.N, Share: true, Value: b.Mean(), Interval: i, Together: together,
	}, err)
}

// mean adds the interval proven from bounds, or Student's if they are nil.
func (e *estimator) mean(q Quantity, m stats.Moments, bounds *stats.Bounds) {
	i, err := stats.RewardInterval(m, bounds, e.confidence, e.sequential)
	if math.IsInf(i.Lo, 0) { // too few games
		i.Method = stats.NoInterval
	}
	e.add(Estimate{Quantity: q, Games: m.N, Value: m.Mean(), Interval: i, Together: 1}, err)
}

func (e *estimator) add(x Estimate, err error) {
	if e.err == nil {
		e.err = err
	}
	x.Interval.Confidence = e.confidence
	e.out = append(e.out, x)
}
