package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"tilecheck/game/play"
	"tilecheck/report"
	"tilecheck/stats"
)

// scoreCurve is the mean score after some numbers of games, about evenly apart on a logarithmic scale.
type scoreCurve struct {
	moments stats.Moments
	next    int64
	points  []stats.Moments
}

// add counts the next game.
func (c *scoreCurve) add(g play.Game) {
	c.moments.Add(float64(g.Score))
	if c.moments.N >= c.next {
		c.points = append(c.points, c.moments)
		c.next = c.moments.N + max(1, c.moments.N/4)
	}
}

// fewGames is so few that their interval would be all that can be seen of a longer run.
const fewGames = 8

// series draws the means with Student's intervals, over the logarithm of the number of games.
func (c *scoreCurve) series(name string, confidence float64) (report.Series, error) {
	s := report.Series{Name: name}
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
		s.Points = append(s.Points, report.Point{X: math.Log2(float64(m.N)), Y: m.Mean(), Lo: i.Lo, Hi: i.Hi})
	}
	return s, nil
}

// plots draws the pictures that are asked for.
func (c *playCmd) plots(out *play.Outcome, estimates []play.Estimate, curve *scoreCurve) error {
	var failed error
	if c.Plot != "" {
		chart := report.Chart{
			Title: fmt.Sprintf("%s on %v, %d games", out.Strategy, out.Match, out.Games()), X: "largest tile at the end", Y: "share of the games",
			Probability: true,
		}
		var exps []int
		chart.Series, exps = largestSeries(out.Strategy, estimates, nil)
		chart.Ticks = tileTicks(exps)
		failed = report.PlotChart(c.Plot, &chart)
	}
	if c.PlotScore == "" {
		return failed
	}
	series, err := curve.series(out.Strategy, stats.Confidence(c.Alpha))
	if err != nil {
		return errors.Join(failed, err)
	}
	return errors.Join(failed, report.PlotChart(c.PlotScore, scoreChart(out, series)))
}

// scoreChart has the mean score over the number of games.
func scoreChart(out *play.Outcome, series report.Series) *report.Chart {
	c := &report.Chart{
		Title: fmt.Sprintf("%s on %v: mean score so far", out.Strategy, out.Match), X: "games", Y: "mean score, Student's intervals",
		Series: []report.Series{series},
	}
	for n := int64(1); n <= 2*out.Games(); n *= 4 {
		c.Ticks = append(c.Ticks, report.Tick{At: math.Log2(float64(n)), Name: strconv.FormatInt(n, 10)})
	}
	return c
}

// largestSeries adds the distribution of the largest tile to the exponents that have been seen.
func largestSeries(name string, estimates []play.Estimate, exps []int) ([]report.Series, []int) {
	s := report.Series{Name: name}
	for _, e := range estimates {
		if e.Quantity != play.Largest {
			continue
		}
		exp := int(math.Log2(float64(e.Tile)))
		s.Points = append(s.Points, report.Point{X: float64(exp), Y: e.Value, Lo: e.Interval.Lo, Hi: e.Interval.Hi})
		exps = append(exps, exp)
	}
	return []report.Series{s}, exps
}

// tileTicks names every tile from the smallest exponent to the largest.
func tileTicks(exps []int) []report.Tick {
	lo, hi := exps[0], exps[0]
	for _, exp := range exps {
		lo, hi = min(lo, exp), max(hi, exp)
	}
	var ticks []report.Tick
	for exp := lo; exp <= hi; exp++ {
		ticks = append(ticks, report.Tick{At: float64(exp), Name: strconv.Itoa(1 << exp)})
	}
	return ticks
}
