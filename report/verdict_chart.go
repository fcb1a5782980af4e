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

// VerdictChart returns a chart of verdicts. If there are Pareto curves, it draws these. Otherwise it draws the values over the constant with the most
// values, with intervals as bands. Each property, engine and valuation of the other constants has a series. The notes say which verdicts are not drawn.
// It returns an error if there is nothing to draw.
func VerdictChart(verdicts []result.Verdict) (chart *plot.Chart, notes []string, err error) {
	var valuations [][]result.Constant
	for i := range verdicts {
		valuations = append(valuations, verdicts[i].Constants)
	}
	if len(verdicts) == 0 {
		return nil, nil, errNothingToPlot
	}
	constant := experimentConstant(valuations, 2)
	isCurve := func(verdict result.Verdict) bool { return verdict.Value.Kind == result.Curve }
	if constant == "" || slices.ContainsFunc(verdicts, isCurve) {
		return paretoChart(newVerdictChart("", varyingConstants(valuations), verdicts), verdicts)
	}
	builder := newVerdictChart(constant, varyingConstants(valuations), verdicts)
	for i := range verdicts {
		builder.add(&verdicts[i])
	}
	if builder.truthValues > 0 {
		notes = append(notes, fmt.Sprintf("results that are true or false, which are not in the plot: %d; a property with =? has a number", builder.truthValues))
	}
	if builder.omitted > 0 {
		notes = append(notes, fmt.Sprintf("results without a finite number, which are not in the plot: %d", builder.omitted))
	}
	for _, series := range builder.chart.Series {
		slices.SortStableFunc(series.Points, func(first, second plot.Point) int { return cmp.Compare(first.X, second.X) })
	}
	return builder.chart, notes, nil
}

var errNothingToPlot = errors.New("there is nothing to plot: want a constant with several values (--const p=0.1:0.1:0.9) or a Pareto curve of two objectives")

var errNoValueToPlot = errors.New("there is nothing to plot: no property has a value")

// verdictChart collects the series of an experiment. Whatever is the same in all verdicts is in the title, and not in the names of
// the series.
type verdictChart struct {
	chart       *plot.Chart
	axis        string
	properties  bool     // the names have the property
	engines     bool     // the names have the engine
	constants   []string // the constants that the names have
	truthValues int      // verdicts that are true or false
	omitted     int      // other verdicts without a finite number
}

// newVerdictChart returns a chart without series. constant is the x axis, and varying are the constants with several values.
func newVerdictChart(constant string, varying []string, verdicts []result.Verdict) *verdictChart {
	builder := &verdictChart{axis: constant, chart: &plot.Chart{X: constant, Y: "value", Probability: true}}
	first := &verdicts[0]
	for i := range verdicts {
		verdict := &verdicts[i]
		builder.properties = builder.properties || verdictTitle(verdict) != verdictTitle(first)
		builder.engines = builder.engines || verdict.Engine != first.Engine
		builder.chart.Probability = builder.chart.Probability && strings.HasPrefix(verdict.Property, "P")
	}
	if !builder.properties {
		builder.chart.Title = verdictTitle(first)
	}
	builder.constants = slices.DeleteFunc(varying, func(name string) bool { return name == constant })
	return builder
}

// verdictTitle returns the name of a property, or its text if it has no name.
func verdictTitle(verdict *result.Verdict) string { return cmp.Or(verdict.Name, verdict.Property) }

// add adds the value of a verdict to its series. It only counts a verdict that is true or false, or has no finite number.
func (b *verdictChart) add(verdict *result.Verdict) {
	x, ok := constantNumber(verdict.Constants, b.axis)
	_, special := result.SpecialNumber(verdict.Value.Num)
	isNumber := verdict.Value.Kind == result.Number || verdict.Value.Kind == result.Integer
	if ok && verdict.Err == nil && verdict.Value.Kind == result.Boolean {
		b.truthValues++
		return
	}
	if !ok || verdict.Err != nil || !isNumber || special {
		b.omitted++
		return
	}
	point := plot.Point{X: x, Y: verdict.Value.Num, Lo: verdict.Value.Num, Hi: verdict.Value.Num}
	switch {
	case verdict.Bound != nil:
		point.Lo, point.Hi = verdict.Bound.Lo, verdict.Bound.Hi
	case verdict.HalfWidth != nil:
		point.Lo, point.Hi = point.Y-*verdict.HalfWidth, point.Y+*verdict.HalfWidth
	}
	name := b.seriesName(verdict)
	index := slices.IndexFunc(b.chart.Series, func(series plot.Series) bool { return series.Name == name })
	if index < 0 {
		index = len(b.chart.Series)
		b.chart.Series = append(b.chart.Series, plot.Series{Name: name, Band: true})
	}
	b.chart.Series[index].Points = append(b.chart.Series[index].Points, point)
}

// seriesName returns the name of a verdict's series: its property, engine and constants, each only if the verdicts differ in it.
func (b *verdictChart) seriesName(verdict *result.Verdict) string {
	var parts []string
	if b.properties {
		parts = append(parts, verdictTitle(verdict))
	}
	if b.engines || !b.properties && len(b.constants) == 0 {
		parts = append(parts, verdict.Engine)
	}
	for _, constant := range verdict.Constants {
		if slices.Contains(b.constants, constant.Name) {
			parts = append(parts, constant.Name+"="+constant.Value)
		}
	}
	return strings.Join(parts, ", ")
}

// paretoChart returns a chart of the Pareto curves of two objectives. The achievable points are filled. A thin line is the over-approximation: no
// point beyond it is achievable.
func paretoChart(builder *verdictChart, verdicts []result.Verdict) (chart *plot.Chart, notes []string, err error) {
	chart = &plot.Chart{Title: builder.chart.Title, X: firstObjective, Y: secondObjective}
	for i := range verdicts {
		verdict := &verdicts[i]
		if verdict.Err != nil || verdict.Value.Kind != result.Curve || len(verdict.Value.Points) == 0 {
			continue
		}
		if objectives := len(verdict.Value.Points[0]); objectives != 2 {
			notes = append(notes, fmt.Sprintf("%s: a curve of %d objectives is not in the plot, want 2", verdictTitle(verdict), objectives))
			continue
		}
		series := plot.Series{Name: builder.seriesName(verdict)}
		for _, corner := range verdict.Value.Points {
			series.Points = append(series.Points, plot.Point{X: corner[0], Y: corner[1], Lo: corner[1], Hi: corner[1]})
		}
		curve := frontier.FromVerdict(verdict)
		if curve != nil {
			series.Areas = areasOf(curve)
		}
		if len(chart.Series) == 0 && curve != nil {
			chart.X, chart.Y = curve.Objectives[0], curve.Objectives[1]
		}
		if len(chart.Series) > 0 && (curve == nil || chart.X != curve.Objectives[0] || chart.Y != curve.Objectives[1]) {
			chart.X, chart.Y = firstObjective, secondObjective
		}
		chart.Series = append(chart.Series, series)
	}
	hasValue := func(verdict result.Verdict) bool { return verdict.Value.Kind != result.NoValue }
	switch {
	case len(chart.Series) == 0 && !slices.ContainsFunc(verdicts, hasValue):
		return nil, notes, errNoValueToPlot
	case len(chart.Series) == 0:
		return nil, notes, errNothingToPlot
	}
	return chart, notes, nil
}

// The axes of curves with different objectives.
const firstObjective, secondObjective = "first objective", "second objective"

// areasOf returns the areas of a Pareto curve: the achievable points, up to the edges of the plot, and the outline of the over-approximation.
func areasOf(curve *frontier.Frontier) []plot.Area {
	worst := [2]float64{math.Inf(-1), math.Inf(-1)}
	for i, direction := range curve.Directions {
		if direction == "min" {
			worst[i] = math.Inf(1)
		}
	}
	outline := func(points [][2]float64) [][2]float64 {
		first, last := points[0], points[len(points)-1]
		start, end := [2]float64{worst[0], first[1]}, [2]float64{last[0], worst[1]}
		if curve.Directions[0] == "min" {
			start, end = [2]float64{first[0], worst[1]}, [2]float64{worst[0], last[1]}
		}
		return slices.Concat([][2]float64{start}, points, [][2]float64{end})
	}
	areas := []plot.Area{{Corners: append(outline(curve.Under), worst)}}
	if len(curve.Over) > 0 {
		areas = append(areas, plot.Area{Corners: outline(curve.Over), Outline: true})
	}
	return areas
}
