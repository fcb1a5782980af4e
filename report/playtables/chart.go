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

// series draws the means with Student's intervals, over the logarithm of the number of games.
func (c *ScoreCurve) series(name string, confidence float64) (plot.Series, error) {
	s := plot.Series{Name: name}
	points := c.points
	if last := points[len(points)-1]; last.N < c.moments.N {
		points = append(points, c.moments)
	}
	for _, m := range points {
		if m.N < fewGames && c.moments.N > 2*fewGames {
			continue
		}
		i, err := stats.RewardInterval(m, nil, confidence, true)
		if err != nil {
			return s, err
		}
		s.Points = append(s.Points, plot.Point{X: math.Log2(float64(m.N)), Y: m.Mean(), Lo: i.Lo, Hi: i.Hi})
	}
	return s, nil
}

// Largest draws the distribution of the largest tile.
func Largest(out *play.Outcome, estimates []play.Estimate) *plot.Chart {
	s := plot.Series{Name: out.Strategy}
	var exps []int
	for _, e := range estimates {
		if e.Quantity != play.Largest {
			continue
		}
		exp := int(math.Log2(float64(e.Tile)))
		s.Points = append(s.Points, plot.Point{X: float64(exp), Y: e.Value, Lo: e.Interval.Lo, Hi: e.Interval.Hi})
		exps = append(exps, exp)
	}
	return &plot.Chart{
		Title: fmt.Sprintf("%s on %v, %s", out.Strategy, out.Match, noun.Count(out.Games(), "game")), X: "largest tile at the end", Y: "share of the games",
		Probability: true, Series: []plot.Series{s}, Ticks: tileTicks(exps),
	}
}

// Chart draws the mean score over the number of games.
func (c *ScoreCurve) Chart(out *play.Outcome, confidence float64) (*plot.Chart, error) {
	series, err := c.series(out.Strategy, confidence)
	if err != nil {
		return nil, err
	}
	chart := &plot.Chart{
		Title: fmt.Sprintf("%s on %v: mean score so far", out.Strategy, out.Match), X: "games", Y: "mean score, Student's intervals",
		Series: []plot.Series{series},
	}
	for n := int64(1); n <= 2*out.Games(); n *= 4 {
		chart.Ticks = append(chart.Ticks, plot.Tick{At: math.Log2(float64(n)), Name: strconv.FormatInt(n, 10)})
	}
	return chart, nil
}

// tileTicks names every tile from the smallest exponent to the largest.
func tileTicks(exps []int) []plot.Tick {
	lo, hi := exps[0], exps[0]
	for _, exp := range exps {
		lo, hi = min(lo, exp), max(hi, exp)
	}
	var ticks []plot.Tick
	for exp := lo; exp <= hi; exp++ {
		ticks = append(ticks, plot.Tick{At: float64(exp), Name: strconv.Itoa(1 << exp)})
	}
	return ticks
}
