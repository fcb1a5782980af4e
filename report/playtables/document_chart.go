package playtables

import (
	"math"

	"tilecheck/game/play"
	"tilecheck/report/plot"
)

// DocumentChart draws the shares of the rows, ours with their intervals beside the published ones.
func DocumentChart(d play.Document, results []play.RowResult) *plot.Chart {
	b := chartBuilder{chart: &plot.Chart{Title: d.Source, X: "row", Y: "share of the games", Probability: true, Apart: true}, at: make(map[string]int)}
	for i := range results {
		b.row(&results[i])
	}
	return b.chart
}

// chartBuilder collects points by the name of their series.
type chartBuilder struct {
	chart *plot.Chart
	at    map[string]int // index of a series
}

// row adds the shares of a row, and its name if it has any.
func (b *chartBuilder) row(r *play.RowResult) {
	x, drawn := float64(len(b.chart.Ticks)), false
	for i := range r.Row.Values {
		p, j := &r.Row.Values[i], &r.Judgements[i]
		share, ok := p.Share()
		if !ok || math.IsNaN(j.Value) {
			continue
		}
		drawn = true
		s := b.series(p.String())
		s.Points = append(s.Points, plot.Point{X: x, Y: j.Value, Lo: j.Interval.Lo, Hi: max(j.Interval.Hi, j.Value)})
		s.Published = append(s.Published, plot.Point{X: x, Y: share, Lo: share, Hi: share})
	}
	if drawn {
		b.chart.Ticks = append(b.chart.Ticks, plot.Tick{At: x, Name: r.Row.Table + ", " + r.Row.Name})
	}
}

// series returns the series of that name, which lives until the next call.
func (b *chartBuilder) series(name string) *plot.Series {
	n, known := b.at[name]
	if !known {
		n = len(b.chart.Series)
		b.at[name] = n
		b.chart.Series = append(b.chart.Series, plot.Series{Name: name})
	}
	return &b.chart.Series[n]
}
