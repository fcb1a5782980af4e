package play

import (
	"math"

	"tilecheck/game"
	"tilecheck/stats"
)

// Quantity names a quantity that is estimated from games.
type Quantity string

// The estimated quantities.
const (
	Won      Quantity = "won"          // share of the games that reached the goal
	Score    Quantity = "score"        // mean score
	Moves    Quantity = "moves"        // mean number of moves
	WinMoves Quantity = "moves to win" // mean number of moves to the goal, of the games that reached it
	Reached  Quantity = "reached"      // share of the games that reached a tile
	Acts     Quantity = "shield acts"  // mean number of moves at which the shield acted
	Largest  Quantity = "largest"      // share of the games whose largest tile at the end was this one
)

// Estimate is a quantity with an interval. A quantity can have several estimates with different kinds of intervals.
type Estimate struct {
	Quantity Quantity
	Tile     int   // value of the tile that the quantity is about, 0 if none
	Count    int64 // games that have the property, if Share is set
	Games    int64 // number of games
	Share    bool  // Value is Count/Games; otherwise it is a mean
	Value    float64
	// Interval is for Value. Its Method is stats.NoInterval if there are too few games. Its Confidence is the probability that all intervals
	// of this quantity hold together. Together is their number; for Largest it includes the tiles that were never the largest.
	Interval stats.Interval
	Together int
}

// Estimates returns estimates of all quantities, with intervals of the given confidence, such as 0.99.
//
// Shares have proven intervals. Means have two estimates: a nominal one with Student's interval, and a proven one from the bounds that board
// and rules put on a game. Moves to a win have only the nominal one, because the number of won games is not fixed beforehand.
func (o *Outcome) Estimates(confidence float64) ([]Estimate, error) {
	estimates, err := o.estimates(o.Match, confidence, o.Sequential())
	if err != nil || !o.Shielded {
		return estimates, err
	}
	result := estimator{confidence: confidence, sequential: o.Sequential(), estimates: estimates}
	moves := o.Match.moveBounds() // a shield acts at most once a move
	result.addMean(Acts, o.Acts, nil)
	result.addMean(Acts, o.Acts, &moves)
	return result.estimates, result.err
}

// Estimates returns all quantities of one player, as [Outcome.Estimates] does.
func (c *Contest) Estimates(player int, confidence float64) ([]Estimate, error) {
	return c.Players[player].estimates(c.Match, confidence, c.Sequential)
}

// estimates returns estimates of all quantities of a match. sequential says that the number of games was not fixed beforehand.
func (s *Summary) estimates(match Match, confidence float64, sequential bool) ([]Estimate, error) {
	result := estimator{confidence: confidence, sequential: sequential}
	if match.Goal > 0 {
		result.addShare(Won, match.Goal, s.Won, 1)
	}
	score, moves := match.scoreBounds(), match.moveBounds()
	addMeans := func(quantity Quantity, moments stats.Moments, bounds *stats.Bounds) {
		if result.addMean(quantity, moments, nil); !match.Published { // games under published updates have no bounds
			result.addMean(quantity, moments, bounds)
		}
	}
	addMeans(Score, s.Score, &score)
	addMeans(Moves, s.Moves, &moves)
	if s.Won.K > 0 {
		result.addMean(WinMoves, s.WinMoves, nil)
	}
	tiles := match.reachedExponents()
	for _, exponent := range tiles {
		result.addShare(Reached, exponent, s.Reached(exponent), len(tiles))
	}
	largest := match.maxExponent()
	for exponent := 1; exponent <= largest; exponent++ {
		if games := s.Largest[exponent]; games > 0 {
			result.addShare(Largest, exponent, stats.Bernoulli{N: s.Games(), K: games}, largest)
		}
	}
	return result.estimates, result.err
}

// reachedExponents returns the exponents of the tiles for the quantity Reached: 512 to 8192 as in the documents, or the five largest possible
// tiles on smaller boards.
func (m Match) reachedExponents() []int {
	largest := min(m.maxExponent(), 13)
	var exponents []int
	for exponent := max(largest-4, 2); exponent <= largest; exponent++ {
		exponents = append(exponents, exponent)
	}
	return exponents
}

// estimator collects estimates and keeps the first error.
type estimator struct {
	confidence float64
	sequential bool
	estimates  []Estimate
	err        error
}

func (e *estimator) addShare(quantity Quantity, exp int, counts stats.Bernoulli, together int) {
	eachConfidence := stats.Confidence(stats.Alpha(e.confidence) / float64(together)) // Bonferroni
	i, err := stats.BernoulliInterval(counts, eachConfidence, e.sequential)
	e.addEstimate(Estimate{
		Quantity: quantity, Tile: game.Value(exp), Count: counts.K, Games: counts.N, Share: true, Value: counts.Mean(), Interval: i, Together: together,
	}, err)
}

// addMean adds a mean with the interval that bounds prove, or with Student's interval if bounds is nil.
func (e *estimator) addMean(quantity Quantity, moments stats.Moments, bounds *stats.Bounds) {
	i, err := stats.RewardInterval(moments, bounds, e.confidence, e.sequential)
	if math.IsInf(i.Lo, 0) { // too few games
		i.Method = stats.NoInterval
	}
	e.addEstimate(Estimate{Quantity: quantity, Games: moments.N, Value: moments.Mean(), Interval: i, Together: 1}, err)
}

func (e *estimator) addEstimate(estimate Estimate, err error) {
	if e.err == nil {
		e.err = err
	}
	estimate.Interval.Confidence = e.confidence
	e.estimates = append(e.estimates, estimate)
}
