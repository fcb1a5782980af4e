package report

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/report/number"
	"tilecheck/report/table"
	"tilecheck/result"
)

// What a page draws of experiments.
const (
	minExperiment = 3  // points that a series needs for a picture
	maxSeries     = 7  // in one picture
	maxFigures    = 60 // on one page
)

// The size of a picture and of the margins of its axes.
const (
	figureWidth, figureHeight                = 560.0, 300.0
	marginLeft, marginRight, marginTop, marginBottom = 62.0, 14.0, 12.0, 46.0
)

// experiment is a property over a range of a constant.
type experiment struct {
	first    *TestResult // for the texts
	constant string
	setting  string
	series   []curve
	expected []dot
	left     int // series that are not drawn
}

// curve is the values of one engine under one valuation of the other constants.
type curve struct {
	name   string
	look   int // the engine, or the valuation if there is only one engine
	points []labelled
}

// labelled is a point with its text.
type labelled struct {
	dot
	text string
}

// dot is a point with the ends of its bar.
type dot struct{ x, y, low, high float64 }

// experiments collects the experiments to draw, in the order of the suite.
func (rep *TestReport) experiments(opt table.Options) []*experiment {
	groups := make(map[string][]*TestResult)
	var order []string
	for i := range rep.Results {
		test := &rep.Results[i]
		if len(test.Constants) == 0 || test.title() == wholeRun {
			continue
		}
		key := test.question()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], test)
	}
	var out []*experiment
	for _, key := range order {
		if drawn := newExperiment(groups[key], rep.engines(), opt); drawn != nil {
			out = append(out, drawn)
		}
	}
	return out
}

// newExperiment returns the experiment that the results of one property form; nil if they are not enough for a figure.
func newExperiment(results []*TestResult, engines []string, opt table.Options) *experiment {
	var valuations [][]result.Constant
	for _, test := range results {
		valuations = append(valuations, test.Constants)
	}
	constant := experimentConstant(valuations, minExperiment)
	if constant == "" {
		return nil
	}
	e := &experiment{first: results[0], constant: constant}
	varying := varyingConstants(valuations)
	fixed := result.Valuation(selectConstants(results[0], func(name string) bool { return !slices.Contains(varying, name) }))
	switches := strings.TrimPrefix(results[0].setting(), result.Valuation(results[0].Constants).String())
	e.setting = strings.TrimSpace(fixed.String() + switches)
	for _, test := range results {
		x, ok := constantNumber(test.Constants, constant)
		if !ok {
			continue
		}
		if len(varying) == 1 { // with several constants, one x could have several expectations
			e.addExpected(x, test.Expected)
		}
		if point, ok := experimentPoint(test, x, opt); ok {
			others := result.Valuation(selectConstants(test, func(name string) bool { return name != constant && slices.Contains(varying, name) }))
			e.addPoint(strings.TrimSpace(test.Engine+" "+others.String()), point)
		}
	}
	return e.finish(engines)
}

// pick returns the constants of a result with the wanted names.
func selectConstants(test *TestResult, wanted func(name string) bool) []result.Constant {
	var out []result.Constant
	for _, constant := range test.Constants {
		if wanted(constant.Name) {
			out = append(out, constant)
		}
	}
	return out
}

// addPoint adds a point to a series.
func (e *experiment) addPoint(name string, point labelled) {
	i := slices.IndexFunc(e.series, func(series curve) bool { return series.name == name })
	if i < 0 {
		i = len(e.series)
		e.series = append(e.series, curve{name: name})
	}
	e.series[i].points = append(e.series[i].points, point)
}

// addExpected adds an expectation, if it is a number. The engines have the same ones.
func (e *experiment) addExpected(x float64, text string) {
	y, ok := plainNumber(text)
	if ok && !slices.ContainsFunc(e.expected, func(point dot) bool { return point.x == x }) {
		e.expected = append(e.expected, dot{x: x, y: y, low: y, high: y})
	}
}

// finish sorts the points and assigns the looks of the series. It returns nil if there are not enough points for a figure.
func (e *experiment) finish(engines []string) *experiment {
	e.series = slices.DeleteFunc(e.series, func(series curve) bool { return len(series.points) < minExperiment })
	if len(e.series) == 0 {
		return nil
	}
	if len(e.series) > maxSeries {
		e.left = len(e.series) - maxSeries
		e.series = e.series[:maxSeries]
	}
	byX := func(first, second dot) int { return cmp.Compare(first.x, second.x) }
	seriesAreEngines := true // the series are engines
	for i := range e.series {
		slices.SortStableFunc(e.series[i].points, func(first, second labelled) int { return byX(first.dot, second.dot) })
		seriesAreEngines = seriesAreEngines && slices.Contains(engines, e.series[i].name)
	}
	slices.SortStableFunc(e.expected, byX)
	for i := range e.series {
		e.series[i].look = i
		if seriesAreEngines {
			e.series[i].look = slices.Index(engines, e.series[i].name)
		}
	}
	return e
}

// varyingConstants lists the constants that have several values.
func varyingConstants(valuations [][]result.Constant) []string {
	var names []string
	for _, constant := range valuations[0] {
		if len(constantValues(valuations, constant.Name)) > 1 {
			names = append(names, constant.Name)
		}
	}
	return names
}

// constantValues returns the set of values of a constant.
func constantValues(valuations [][]result.Constant, name string) map[string]bool {
	values := make(map[string]bool)
	for _, valuation := range valuations {
		for _, constant := range valuation {
			if constant.Name == name {
				values[constant.Value] = true
			}
		}
	}
	return values
}

// experimentConstant returns the constant with the most values, if these are numbers and at least fewest; "" if there is none.
func experimentConstant(valuations [][]result.Constant, minValues int) string {
	best, maxValues := "", minValues-1
	for _, constant := range valuations[0] {
		if _, ok := constantNumber(valuations[0], constant.Name); !ok {
			continue
		}
		if values := len(constantValues(valuations, constant.Name)); values > maxValues {
			best, maxValues = constant.Name, values
		}
	}
	return best
}

// constantNumber returns the value of a constant, if it is a number.
func constantNumber(valuation []result.Constant, name string) (float64, bool) {
	for _, constant := range valuation {
		if constant.Name == name {
			return plainNumber(constant.Value)
		}
	}
	return 0, false
}

// plainNumber reads a number, perhaps with "~" before it, or a fraction. It refuses huge numbers, which no axis can
// show.
func plainNumber(text string) (float64, bool) {
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "~"))
	if number0, err := strconv.ParseFloat(text, 64); err == nil {
		return number0, math.Abs(number0) < 1e300
	}
	fraction, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0, false
	}
	number0, _ := fraction.Float64()
	return number0, math.Abs(number0) < 1e300
}

// experimentPoint returns the value of a result with its interval and a text.
func experimentPoint(test *TestResult, x float64, opt table.Options) (point labelled, ok bool) {
	verdict := test.Verdict
	if verdict == nil || verdict.Value.Kind != result.Number && verdict.Value.Kind != result.Integer {
		return point, false
	}
	if !(math.Abs(verdict.Value.Num) < 1e300) {
		return point, false
	}
	bounds := result.Interval{Lo: verdict.Value.Num, Hi: verdict.Value.Num}
	if verdict.Bound != nil && verdict.Value.Rat == nil {
		bounds = *verdict.Bound
	}
	if !(bounds.Hi-bounds.Lo < 1e300) {
		bounds = result.Interval{Lo: verdict.Value.Num, Hi: verdict.Value.Num}
	}
	point.dot = dot{x: x, y: verdict.Value.Num, low: min(bounds.Lo, verdict.Value.Num), high: max(bounds.Hi, verdict.Value.Num)}
	point.text = result.Valuation(test.Constants).String() + ": " + valueAndInterval(verdict, opt) + ", " + test.Engine + ", " + test.Outcome.String()
	return point, true
}

// htmlFigure has the data of a picture for the template.
type htmlFigure struct {
	Property, Place, Setting, Label, Constant, Note string
	Width, Height, Axis, NameX, NameY               string
	XTicks, YTicks                                  []htmlTick
	Series                                          []htmlSeries
	Legend                                          []htmlLegend
}

// htmlTick is a tick of an axis.
type htmlTick struct{ Path, X, Y, Text string }

// htmlSeries is a drawn series.
type htmlSeries struct {
	Class, Line, Bars string
	Points            []htmlPoint
}

// htmlPoint is a drawn point with its tooltip.
type htmlPoint struct{ Mark, Path, Text string }

// htmlLegend is an entry of the legend.
type htmlLegend struct {
	Class, Name, Mark, Path string
	Line                    bool
}

// htmlFigures returns the figures of the experiments, and a note if some are not drawn.
func (rep *TestReport) htmlFigures(opt table.Options) (figures []htmlFigure, note string) {
	experiments := rep.experiments(opt)
	for i, experiment := range experiments {
		if i == maxFigures {
			return figures, fmt.Sprintf("%d more experiments are not drawn; their values are in the suites.", len(experiments)-i)
		}
		figures = append(figures, experiment.figure())
	}
	return figures, ""
}

// axis maps numbers to coordinates. A logarithmic axis has positive numbers only.
type axis struct {
	low, high float64 // of the numbers
	from, to  float64 // of the coordinates
	log       bool
}

// at returns the coordinate of a number.
func (a axis) at(x float64) float64 {
	low, high := a.low, a.high
	if a.log {
		x, low, high = math.Log(x), math.Log(low), math.Log(high)
	}
	return a.from + (x-low)/(high-low)*(a.to-a.from)
}

// newFigure returns an empty picture with ticks at some numbers of its axes.
func newFigure(xAxis, yAxis axis, xValues, yValues []float64) htmlFigure {
	return htmlFigure{
		Width: svgNumber(figureWidth), Height: svgNumber(figureHeight),
		Axis:  "M" + svgPoint(marginLeft, marginTop) + "V" + svgNumber(yAxis.from) + "H" + svgNumber(figureWidth-marginRight),
		NameX: svgNumber((xAxis.from + xAxis.to) / 2), NameY: svgNumber(figureHeight - 8),
		XTicks: xTicks(xAxis, yAxis, xValues), YTicks: yTicks(yAxis, yValues),
	}
}

// figure returns the figure of an experiment.
func (e *experiment) figure() htmlFigure {
	xValues, xAxis, yAxis := e.axes()
	drawn := newFigure(xAxis, yAxis, xValues, roundNumbers(yAxis))
	drawn.Property, drawn.Place, drawn.Setting, drawn.Constant = e.first.title(), e.first.place(), e.setting, e.constant
	drawn.Label = fmt.Sprintf("%s over %s from %g to %g: %d series; the values are in the suites", e.first.title(), e.constant, xValues[0], xValues[len(xValues)-1], len(e.series))
	if e.left > 0 {
		drawn.Note = fmt.Sprintf("%d more series are not drawn.", e.left)
	}
	if len(e.expected) > 0 {
		drawn.addExpected(e.expected, xAxis, yAxis)
	}
	for i, series := range e.series {
		shift := (float64(i) - float64(len(e.series)-1)/2) * 4
		drawn.addSeries(series, xAxis, yAxis, shift)
	}
	return drawn
}

// axes returns the values of the constant in order, and the axes.
func (e *experiment) axes() (xValues []float64, xAxis, yAxis axis) {
	low, high := math.Inf(1), math.Inf(-1)
	include := func(point dot) {
		xValues = append(xValues, point.x)
		low, high = min(low, point.low), max(high, point.high)
	}
	for _, series := range e.series {
		for _, point := range series.points {
			include(point.dot)
		}
	}
	for _, point := range e.expected {
		include(point)
	}
	slices.Sort(xValues)
	xValues = slices.Compact(xValues)
	const spread = 50 // from this ratio on the axis is logarithmic
	first, last := xValues[0], xValues[len(xValues)-1]
	xAxis = axis{low: first, high: last, from: marginLeft + 18, to: figureWidth - marginRight - 18, log: first > 0 && last/first >= spread}
	if first == last {
		xAxis.low, xAxis.high = first-1, last+1
	}
	pad := (high - low) * 0.06
	if pad == 0 {
		pad = max(math.Abs(high)*0.1, 1e-3)
	}
	// The names of ticks have six digits: what differs by less is a flat line.
	pad = max(pad, math.Abs(high)*1e-5, math.Abs(low)*1e-5)
	yAxis = axis{low: low - pad, high: high + pad, from: figureHeight - marginBottom, to: marginTop}
	if low >= 0 && yAxis.low < 0 {
		yAxis.low = 0
	}
	if strings.HasPrefix(e.first.Property, "P") && high <= 1 && yAxis.high > 1 {
		yAxis.high = 1
	}
	return xValues, xAxis, yAxis
}

// xTicks labels the values of the constant if there is room.
func xTicks(xAxis, yAxis axis, values []float64) []htmlTick {
	const room = 38
	var ticks []htmlTick
	lastLabel := math.Inf(-1)
	for _, value := range values {
		position := xAxis.at(value)
		tick := htmlTick{Path: "M" + svgPoint(position, yAxis.from) + "v4", X: svgNumber(position), Y: svgNumber(yAxis.from + 18)}
		if position-lastLabel >= room {
			tick.Text = tickText(value)
			lastLabel = position
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// yTicks returns the ticks of the vertical axis, with lines across the figure.
func yTicks(yAxis axis, values []float64) []htmlTick {
	var ticks []htmlTick
	for _, value := range values {
		position := yAxis.at(value)
		ticks = append(ticks, htmlTick{
			Path: "M" + svgPoint(marginLeft, position) + "H" + svgNumber(figureWidth-marginRight),
			X:    svgNumber(marginLeft - 7), Y: svgNumber(position), Text: tickText(value),
		})
	}
	return ticks
}

// roundNumbers returns about five round numbers of an axis.
func roundNumbers(yAxis axis) []float64 {
	step := niceStep((yAxis.high - yAxis.low) / 5)
	var numbers []float64
	for multiple := math.Ceil(yAxis.low/step - 1e-9); multiple*step <= yAxis.high+step*1e-9; multiple++ {
		numbers = append(numbers, multiple*step+0) // no negative zero
	}
	return numbers
}

// niceStep returns the smallest number 1, 2 or 5 times a power of ten that is at least x.
func niceStep(minStep float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(minStep)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*power >= minStep*(1-1e-9) {
			return factor * power
		}
	}
	return 10 * power
}

// tickText returns the text of a tick.
func tickText(x float64) string { return number.Text(x) }

// svgPoint returns the coordinates of a point in a path.
func svgPoint(x, y float64) string { return svgNumber(x) + " " + svgNumber(y) }

// addSeries draws a series as a line with marks and the bars of its intervals. shift moves it sideways, so that bars of several series are
// apart.
func (f *htmlFigure) addSeries(series curve, xAxis, yAxis axis, shift float64) {
	drawn := htmlSeries{Class: "s" + strconv.Itoa(series.look%7)}
	var line, bars strings.Builder
	for i, point := range series.points {
		x, y := xAxis.at(point.x)+shift, yAxis.at(point.y)
		line.WriteString([...]string{"M", "L"}[min(i, 1)] + svgPoint(x, y))
		if point.low < point.high {
			low, high := yAxis.at(max(point.low, yAxis.low)), yAxis.at(min(point.high, yAxis.high))
			fmt.Fprintf(&bars, "M%sV%sM%sh6M%sh6", svgPoint(x, low), svgNumber(high), svgPoint(x-3, low), svgPoint(x-3, high))
		}
		drawn.Points = append(drawn.Points, htmlPoint{"dot", markPath(series.look, x, y, 3.6), point.text})
	}
	drawn.Line, drawn.Bars = line.String(), bars.String()
	f.Series = append(f.Series, drawn)
	f.Legend = append(f.Legend, htmlLegend{Class: drawn.Class, Name: series.name, Mark: "dot", Path: markPath(series.look, 14, 7, 4), Line: true})
}

// addExpected draws crosses at the expectations.
func (f *htmlFigure) addExpected(points []dot, xAxis, yAxis axis) {
	cross := func(x, y float64) string { return "M" + svgPoint(x-6, y-6) + "l12 12m0 -12l-12 12" }
	drawn := htmlSeries{Class: "expected"}
	for _, point := range points {
		text := "expected " + tickText(point.y)
		drawn.Points = append(drawn.Points, htmlPoint{"cross", cross(xAxis.at(point.x), yAxis.at(point.y)), text})
	}
	f.Series = append(f.Series, drawn)
	f.Legend = append(f.Legend, htmlLegend{Class: drawn.Class, Name: "expected", Mark: "cross", Path: cross(14, 7)})
}

// markPath returns the path of the i-th shape at a point: a circle, square, triangle or diamond.
func markPath(shape int, x, y, radius float64) string {
	switch shape % 4 {
	case 0:
		return fmt.Sprintf("M%sa%g %g 0 1 0 %g 0a%g %g 0 1 0 %g 0z", svgPoint(x-radius, y), radius, radius, 2*radius, radius, radius, -2*radius)
	case 1:
		return fmt.Sprintf("M%sh%gv%gh%gz", svgPoint(x-radius, y-radius), 2*radius, 2*radius, -2*radius)
	case 2:
		return fmt.Sprintf("M%sl%g %gh%gz", svgPoint(x, y-radius*1.2), radius*1.2, radius*2.1, -radius*2.4)
	}
	return fmt.Sprintf("M%sl%g %gl%g %gl%g %gz", svgPoint(x, y-radius*1.3), radius*1.3, radius*1.3, -radius*1.3, radius*1.3, -radius*1.3, -radius*1.3)
}
