package report

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tilecheck/report/plot"
	"tilecheck/result"
)

// VerdictChart draws an experiment over the constant with the most values or, without an experiment, Pareto curves. Each property,
// engine and valuation of the other constants has a series; intervals are bars. The notes say what is not drawn. The error says
// that there is nothing to draw.
func VerdictChart(verdicts []result.Verdict) (chart *plot.Chart, notes []string, err error) {
	var valuations [][]result.Constant
	for i := range verdicts {
		valuations = append(valuations, verdicts[i].Constants)
	}
	if len(verdicts) == 0 {
		return nil, nil, errNothingToPlot
	}
	axis := experimentConstant(valuations, 2)
	if axis == "" {
		return paretoChart(verdicts)
	}
	b := newVerdictChart(axis, varyingConstants(valuations), verdicts)
	for i := range verdicts {
		b.add(&verdicts[i])
	}
	if b.omitted > 0 {
		notes = append(notes, fmt.Sprintf("results without a finite number, which are not in the plot: %d", b.omitted))
	}
	for _, s := range b.chart.Series {
		slices.SortStableFunc(s.Points, func(p, q plot.Point) int { return cmp.Compare(p.X, q.X) })
	}
	return b.chart, notes, nil
}

var errNothingToPlot = errors.New("there is nothing to plot: want a constant with several values (--const p=0.1:0.1:0.9) or a Pareto curve of two objectives")

// verdictChart collects the series of an experiment. Whatever is the same in all verdicts is in the title, and not in the names of
// the series.
type verdictChart struct {
	chart      *plot.Chart
	axis       string
	properties bool     // the names have the property
	engines    bool     // the names have the engine
	constants  []string // the constants that the names have
	omitted    int      // verdicts without a finite number
}

func newVerdictChart(axis string, varying []string, verdicts []result.Verdict) *verdictChart {
	b := &verdictChart{axis: axis, chart: &plot.Chart{X: axis, Y: "value", Probability: true}}
	first := &verdicts[0]
	for i := range verdicts {
		v := &verdicts[i]
		b.properties = b.properties || verdictTitle(v) != verdictTitle(first)
		b.engines = b.engines || v.Engine != first.Engine
		b.chart.Probability = b.chart.Probability && strings.HasPrefix(v.Property, "P")
	}
	if !b.properties {
		b.chart.Title = verdictTitle(first)
	}
	b.constants = slices.DeleteFunc(varying, func(name string) bool { return name == axis })
	return b
}

// verdictTitle returns the name of a property, or its text if it has no name.
func verdictTitle(v *result.Verdict) string { return cmp.Or(v.Name, v.Property) }

// add adds the value of a verdict to its series.
func (b *verdictChart) add(v *result.Verdict) {
	x, ok := constantNumber(v.Constants, b.axis)
	_, special := result.SpecialNumber(v.Value.Num)
	if !ok || v.Err != nil || special || v.Value.Kind != result.Number && v.Value.Kind != result.Integer {
		b.omitted++
		return
	}
	point := plot.Point{X: x, Y: v.Value.Num, Lo: v.Value.Num, Hi: v.Value.Num}
	switch {
	case v.Bound != nil:
		point.Lo, point.Hi = v.Bound.Lo, v.Bound.Hi
	case v.HalfWidth != nil:
		point.Lo, point.Hi = point.Y-*v.HalfWidth, point.Y+*v.HalfWidth
	}
	name := b.seriesName(v)
	i := slices.IndexFunc(b.chart.Series, func(s plot.Series) bool { return s.Name == name })
	if i < 0 {
		i = len(b.chart.Series)
		b.chart.Series = append(b.chart.Series, plot.Series{Name: name})
	}
	b.chart.Series[i].Points = append(b.chart.Series[i].Points, point)
}

func (b *verdictChart) seriesName(v *result.Verdict) string {
	var parts []string
	if b.properties {
		parts = append(parts, verdictTitle(v))
	}
	if b.engines || !b.properties && len(b.constants) == 0 {
		parts = append(parts, v.Engine)
	}
	for _, c := range v.Constants {
		if slices.Contains(b.constants, c.Name) {
			parts = append(parts, c.Name+"="+c.Value)
		}
	}
	return strings.Join(parts, ", ")
}

// paretoChart draws the Pareto curves of two objectives.
func paretoChart(verdicts []result.Verdict) (chart *plot.Chart, notes []string, err error) {
	chart = &plot.Chart{X: "first objective", Y: "second objective"}
	for i := range verdicts {
		v := &verdicts[i]
		if v.Err != nil || v.Value.Kind != result.Curve || len(v.Value.Points) == 0 {
			continue
		}
		if n := len(v.Value.Points[0]); n != 2 {
			notes = append(notes, fmt.Sprintf("%s: a curve of %d objectives is not in the plot, want 2", verdictTitle(v), n))
			continue
		}
		series := plot.Series{Name: verdictTitle(v)}
		for _, p := range v.Value.Points {
			series.Points = append(series.Points, plot.Point{X: p[0], Y: p[1], Lo: p[1], Hi: p[1]})
		}
		chart.Series = append(chart.Series, series)
	}
	switch len(chart.Series) {
	case 0:
		return nil, notes, errNothingToPlot
	case 1:
		chart.Title = chart.Series[0].Name
	}
	return chart, notes, nil
}
