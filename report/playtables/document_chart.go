package playtables

import (
	"math"

	"tilecheck/game/play"
	"tilecheck/report/plot"
)

// DocumentChart returns a chart of the shares in a document: our shares with their intervals, beside the published ones.
func DocumentChart(document play.Document, results []play.RowResult) *plot.Chart {
	b := chartBuilder{chart: &plot.Chart{Title: document.Source, X: "row", Y: "share of the games", Probability: true, Apart: true}, at: make(map[string]int)}
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

// row adds the shares in a row of the document to the chart. It adds a tick with the name of the row if there is a share.
func (b *chartBuilder) row(result *play.RowResult) {
	x, isDrawn := float64(len(b.chart.Ticks)), false
	for i := range result.Row.Values {
		published, judgement := &result.Row.Values[i], &result.Judgements[i]
		share, ok := published.Share()
		if !ok || math.IsNaN(judgement.Value) {
			continue
		}
		isDrawn = true
		series := b.series(published.String())
		series.Points = append(series.Points, plot.Point{X: x, Y: judgement.Value, Lo: judgement.Interval.Lo, Hi: max(judgement.Interval.Hi, judgement.Value)})
		series.Published = append(series.Published, plot.Point{X: x, Y: share, Lo: share, Hi: share})
	}
	if isDrawn {
		b.chart.Ticks = append(b.chart.Ticks, plot.Tick{At: x, Name: result.Row.Table + ", " + result.Row.Name})
	}
}

// series returns the series with a name, and adds it if necessary. The pointer is valid until the next call.
func (b *chartBuilder) series(name string) *plot.Series {
	index, exists := b.at[name]
	if !exists {
		index = len(b.chart.Series)
		b.at[name] = index
		b.chart.Series = append(b.chart.Series, plot.Series{Name: name})
	}
	return &b.chart.Series[index]
}
