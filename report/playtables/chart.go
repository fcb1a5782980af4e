package playtables

import (
	"fmt"
	"math"
	"strconv"

	"tilecheck/game/play"
	"tilecheck/internal/noun"
	"tilecheck/report/plot"
	"tilecheck/stats"
)

// ScoreCurve is the mean score after some numbers of games, about evenly apart on a logarithmic scale.
type ScoreCurve struct {
	moments stats.Moments
	next    int64
	points  []stats.Moments
}

// Add counts the next game.
func (c *ScoreCurve) Add(g play.Game) {
	c.moments.Add(float64(g.Score))
	if c.moments.N >= c.next {
		c.points = append(c.points, c.moments)
		c.next = c.moments.N + max(1, c.moments.N/4)
	}
}

// fewGames is so few that their interval would be all that can be seen of a longer run.
const fewGames = 8

// series returns the mean scores with Student's intervals, over the logarithm to base 2 of the number of games.
func (c *ScoreCurve) series(name string, confidence float64) (plot.Series, error) {
	curve := plot.Series{Name: name}
	points := c.points
	if last := points[len(points)-1]; last.N < c.moments.N {
		points = append(points, c.moments)
	}
	for _, moments := range points {
		if moments.N < fewGames && c.moments.N > 2*fewGames {
			continue
		}
		interval, err := stats.RewardInterval(moments, nil, confidence, true)
		if err != nil {
			return curve, err
		}
		curve.Points = append(curve.Points, plot.Point{X: math.Log2(float64(moments.N)), Y: moments.Mean(), Lo: interval.Lo, Hi: interval.Hi})
	}
	return curve, nil
}

// Largest returns a chart of the distribution of the largest tile: the share of the games that ended with each tile.
func Largest(outcome *play.Outcome, estimates []play.Estimate) *plot.Chart {
	series := plot.Series{Name: outcome.Strategy}
	var exponents []int
	for _, estimate := range estimates {
		if estimate.Quantity != play.Largest {
			continue
		}
		exponent := int(math.Log2(float64(estimate.Tile)))
		series.Points = append(series.Points, plot.Point{X: float64(exponent), Y: estimate.Value, Lo: estimate.Interval.Lo, Hi: estimate.Interval.Hi})
		exponents = append(exponents, exponent)
	}
	return &plot.Chart{
		Title: fmt.Sprintf("%s on %v, %s", outcome.Strategy, outcome.Match, noun.Count(outcome.Games(), "game")), X: "largest tile at the end", Y: "share of the games",
		Probability: true, Series: []plot.Series{series}, Ticks: tileTicks(exponents),
	}
}

// Chart returns a chart of the mean score over the number of games.
func (c *ScoreCurve) Chart(outcome *play.Outcome, confidence float64) (*plot.Chart, error) {
	series, err := c.series(outcome.Strategy, confidence)
	if err != nil {
		return nil, err
	}
	chart := &plot.Chart{
		Title: fmt.Sprintf("%s on %v: mean score so far", outcome.Strategy, outcome.Match), X: "games", Y: "mean score, Student's intervals",
		Series: []plot.Series{series},
	}
	for games := int64(1); games <= 2*outcome.Games(); games *= 4 {
		chart.Ticks = append(chart.Ticks, plot.Tick{At: math.Log2(float64(games)), Name: strconv.FormatInt(games, 10)})
	}
	return chart, nil
}

// tileTicks returns a tick for each tile from the smallest to the largest exponent, with the value of the tile as its label.
func tileTicks(exponents []int) []plot.Tick {
	smallest, largest := exponents[0], exponents[0]
	for _, exponent := range exponents {
		smallest, largest = min(smallest, exponent), max(largest, exponent)
	}
	var ticks []plot.Tick
	for exponent := smallest; exponent <= largest; exponent++ {
		ticks = append(ticks, plot.Tick{At: float64(exponent), Name: strconv.Itoa(1 << exponent)})
	}
	return ticks
}
