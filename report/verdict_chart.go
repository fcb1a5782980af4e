package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"tilecheck/report/frontier"
	"tilecheck/report/plot"
	"tilecheck/result"
)

// VerdictChart draws an experiment over the constant with the most values, or Pareto curves if there are any. Each property,
// engine and valuation of the other constants has a series; intervals are bands. The notes say what is not drawn. The error says
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
	if axis == "" || slices.ContainsFunc(verdicts, func(v result.Verdict) bool { return v.Value.Kind == result.Curve }) {
		return paretoChart(newVerdictChart("", varyingConstants(valuations), verdicts), verdicts)
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
		b.chart.Series = append(b.chart.Series, plot.Series{Name: name, Band: true})
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

// paretoChart draws the Pareto curves of two objectives. What is achievable is filled; nothing beyond the thin line is achievable.
func paretoChart(names *verdictChart, verdicts []result.Verdict) (chart *plot.Chart, notes []string, err error) {
	chart = &plot.Chart{Title: names.chart.Title, X: firstObjective, Y: secondObjective}
	for i := range verdicts {
		v := &verdicts[i]
		if v.Err != nil || v.Value.Kind != result.Curve || len(v.Value.Points) == 0 {
			continue
		}
		if n := len(v.Value.Points[0]); n != 2 {
			notes = append(notes, fmt.Sprintf("%s: a curve of %d objectives is not in the plot, want 2", verdictTitle(v), n))
			continue
		}
		series := plot.Series{Name: names.seriesName(v)}
		for _, p := range v.Value.Points {
			series.Points = append(series.Points, plot.Point{X: p[0], Y: p[1], Lo: p[1], Hi: p[1]})
		}
		f := frontier.Of(v)
		if f != nil {
			series.Areas = areasOf(f)
		}
		if len(chart.Series) == 0 && f != nil {
			chart.X, chart.Y = f.Objectives[0], f.Objectives[1]
		}
		if len(chart.Series) > 0 && (f == nil || chart.X != f.Objectives[0] || chart.Y != f.Objectives[1]) {
			chart.X, chart.Y = firstObjective, secondObjective
		}
		chart.Series = append(chart.Series, series)
	}
	if len(chart.Series) == 0 {
		return nil, notes, errNothingToPlot
	}
	return chart, notes, nil
}

// The axes of curves with different objectives.
const firstObjective, secondObjective = "first objective", "second objective"

// areasOf returns the achievable region up to the edges of the plot, and the limit of what may be achievable.
func areasOf(f *frontier.Frontier) []plot.Area {
	worst := [2]float64{math.Inf(-1), math.Inf(-1)}
	for i, direction := range f.Directions {
		if direction == "min" {
			worst[i] = math.Inf(1)
		}
	}
	outline := func(points [][2]float64) [][2]float64 {
		first, last := points[0], points[len(points)-1]
		before, after := [2]float64{worst[0], first[1]}, [2]float64{last[0], worst[1]}
		if f.Directions[0] == "min" {
			before, after = [2]float64{first[0], worst[1]}, [2]float64{worst[0], last[1]}
		}
		return slices.Concat([][2]float64{before}, points, [][2]float64{after})
	}
	areas := []plot.Area{{Corners: append(outline(f.Under), worst)}}
	if len(f.Over) > 0 {
		areas = append(areas, plot.Area{Corners: outline(f.Over), Outline: true})
	}
	return areas
}
