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
	figureWidth, figureHeight                        = 560.0, 300.0
	marginLeft, marginRight, marginTop, marginBottom = 62.0, 14.0, 12.0, 46.0
)

// experiment is a property over a range of a constant.
type experiment struct {
	first    *TestResult // for the texts
	constant string
	setting  string
	series   []curve
	expected []dot
	omitted  int // number of series that are not drawn
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

// experiments returns the experiments to draw, in the order of the suite. An experiment has the results of one property for several values of a
// constant.
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
	var drawable []*experiment
	for _, key := range order {
		if experiment := newExperiment(groups[key], rep.engines(), opt); experiment != nil {
			drawable = append(drawable, experiment)
		}
	}
	return drawable
}

// newExperiment returns the experiment of the results of one property; nil if they are too few for a figure. It has a series for each engine and each
// valuation of the constants that are not on the x axis.
func newExperiment(results []*TestResult, engines []string, opt table.Options) *experiment {
	var valuations [][]result.Constant
	for _, test := range results {
		valuations = append(valuations, test.Constants)
	}
	constant := experimentConstant(valuations, minExperiment)
	if constant == "" {
		return nil
	}
	plotted := &experiment{first: results[0], constant: constant}
	varying := varyingConstants(valuations)
	constantsInTitle := result.Valuation(selectConstants(results[0], func(name string) bool { return !slices.Contains(varying, name) }))
	switches := strings.TrimPrefix(results[0].setting(), result.Valuation(results[0].Constants).String())
	plotted.setting = strings.TrimSpace(constantsInTitle.String() + switches)
	for _, test := range results {
		x, ok := constantNumber(test.Constants, constant)
		if !ok {
			continue
		}
		if len(varying) == 1 { // if several constants vary, one value of x can have several expectations
			plotted.addExpected(x, test.Expected)
		}
		if point, ok := experimentPoint(test, x, opt); ok {
			others := result.Valuation(selectConstants(test, func(name string) bool { return name != constant && slices.Contains(varying, name) }))
			plotted.addToSeries(strings.TrimSpace(test.Engine+" "+others.String()), point)
		}
	}
	return plotted.finish(engines)
}

// selectConstants returns the constants of a result for whose names isSelected returns true.
func selectConstants(test *TestResult, isSelected func(name string) bool) []result.Constant {
	var selected []result.Constant
	for _, constant := range test.Constants {
		if isSelected(constant.Name) {
			selected = append(selected, constant)
		}
	}
	return selected
}

// addToSeries adds a point to the series with this name, which it creates if necessary.
func (e *experiment) addToSeries(name string, point labelled) {
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

// finish removes the series with too few points, limits their number, sorts the points by x, and assigns a look to each series. It returns nil if no
// series remains.
func (e *experiment) finish(engines []string) *experiment {
	e.series = slices.DeleteFunc(e.series, func(series curve) bool { return len(series.points) < minExperiment })
	if len(e.series) == 0 {
		return nil
	}
	if len(e.series) > maxSeries {
		e.omitted = len(e.series) - maxSeries
		e.series = e.series[:maxSeries]
	}
	byX := func(first, second dot) int { return cmp.Compare(first.x, second.x) }
	seriesAreEngines := true // each series is named after an engine, whose look is the same in all figures
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

// varyingConstants returns the names of the constants that have several values.
func varyingConstants(valuations [][]result.Constant) []string {
	var names []string
	for _, constant := range valuations[0] {
		if len(constantValues(valuations, constant.Name)) > 1 {
			names = append(names, constant.Name)
		}
	}
	return names
}

// constantValues returns the set of values that a constant has in the valuations.
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

// experimentConstant returns the name of the constant with the most values. It returns "" if no constant with numbers has at least minValues values.
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

// constantNumber returns the value of a constant; false if it is not a number or there is no such constant.
func constantNumber(valuation []result.Constant, name string) (float64, bool) {
	for _, constant := range valuation {
		if constant.Name == name {
			return plainNumber(constant.Value)
		}
	}
	return 0, false
}

// plainNumber parses a number or a fraction; a "~" before it is ignored. It returns false for other texts, and for numbers from 1e300 on, for which
// the arithmetic of axes could overflow.
func plainNumber(text string) (float64, bool) {
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "~"))
	if value, err := strconv.ParseFloat(text, 64); err == nil {
		return value, math.Abs(value) < 1e300
	}
	fraction, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0, false
	}
	value, _ := fraction.Float64()
	return value, math.Abs(value) < 1e300
}

// experimentPoint returns the value of a result as a point at x, with the bar of its interval and a text that the page shows for the point. It
// returns false if the result has no number, or a number from 1e300 on.
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

// position returns the coordinate of a number.
func (a axis) position(x float64) float64 {
	low, high := a.low, a.high
	if a.log {
		x, low, high = math.Log(x), math.Log(low), math.Log(high)
	}
	return a.from + (x-low)/(high-low)*(a.to-a.from)
}

// newFigure returns a figure without series, with ticks at the given numbers of its axes.
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
	figure := newFigure(xAxis, yAxis, xValues, roundNumbers(yAxis))
	figure.Property, figure.Place, figure.Setting, figure.Constant = e.first.title(), e.first.place(), e.setting, e.constant
	figure.Label = fmt.Sprintf("%s over %s from %g to %g: %d series; the values are in the suites", e.first.title(), e.constant, xValues[0], xValues[len(xValues)-1], len(e.series))
	if e.omitted > 0 {
		figure.Note = fmt.Sprintf("%d more series are not drawn.", e.omitted)
	}
	if len(e.expected) > 0 {
		figure.addExpected(e.expected, xAxis, yAxis)
	}
	for i, series := range e.series {
		shift := (float64(i) - float64(len(e.series)-1)/2) * 4
		figure.addSeries(series, xAxis, yAxis, shift)
	}
	return figure
}

// axes returns the values of the constant in ascending order, and the two axes of the figure.
func (e *experiment) axes() (xValues []float64, xAxis, yAxis axis) {
	xValues, low, high := e.axisRanges()
	return xValues, constantAxis(xValues[0], xValues[len(xValues)-1]), e.valueAxis(low, high)
}

// axisRanges returns the values of the constant in ascending order, and the range of all results, intervals and expectations.
func (e *experiment) axisRanges() (xValues []float64, low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
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
	return slices.Compact(xValues), low, high
}

// constantAxis returns the horizontal axis for the values of a constant from first to last. It is logarithmic if their ratio is large.
func constantAxis(first, last float64) axis {
	const minLogRatio = 50
	xAxis := axis{low: first, high: last, from: marginLeft + 18, to: figureWidth - marginRight - 18, log: first > 0 && last/first >= minLogRatio}
	if first == last {
		xAxis.low, xAxis.high = first-1, last+1
	}
	return xAxis
}

// valueAxis returns the vertical axis for values from low to high, with some space below and above them. The axis does not leave [0, 1] if the values
// are probabilities, and has no negative part if they are not negative.
func (e *experiment) valueAxis(low, high float64) axis {
	pad := (high - low) * 0.06
	if pad == 0 {
		pad = max(math.Abs(high)*0.1, 1e-3)
	}
	// The labels of ticks have six digits. So values that differ by less are drawn as a flat line.
	pad = max(pad, math.Abs(high)*1e-5, math.Abs(low)*1e-5)
	yAxis := axis{low: low - pad, high: high + pad, from: figureHeight - marginBottom, to: marginTop}
	if low >= 0 && yAxis.low < 0 {
		yAxis.low = 0
	}
	if strings.HasPrefix(e.first.Property, "P") && high <= 1 && yAxis.high > 1 {
		yAxis.high = 1
	}
	return yAxis
}

// xTicks returns a tick for each value of the constant. A tick has a label if there is room for it.
func xTicks(xAxis, yAxis axis, values []float64) []htmlTick {
	const minDistance = 38 // between labels
	var ticks []htmlTick
	lastLabel := math.Inf(-1)
	for _, value := range values {
		position := xAxis.position(value)
		tick := htmlTick{Path: "M" + svgPoint(position, yAxis.from) + "v4", X: svgNumber(position), Y: svgNumber(yAxis.from + 18)}
		if position-lastLabel >= minDistance {
			tick.Text = tickText(value)
			lastLabel = position
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// yTicks returns a tick of the vertical axis for each value. Each is a line across the figure with a label.
func yTicks(yAxis axis, values []float64) []htmlTick {
	var ticks []htmlTick
	for _, value := range values {
		position := yAxis.position(value)
		ticks = append(ticks, htmlTick{
			Path: "M" + svgPoint(marginLeft, position) + "H" + svgNumber(figureWidth-marginRight),
			X:    svgNumber(marginLeft - 7), Y: svgNumber(position), Text: tickText(value),
		})
	}
	return ticks
}

// roundNumbers returns about five round numbers in the range of an axis, in ascending order.
func roundNumbers(yAxis axis) []float64 {
	step := niceStep((yAxis.high - yAxis.low) / 5)
	var numbers []float64
	for multiple := math.Ceil(yAxis.low/step - 1e-9); multiple*step <= yAxis.high+step*1e-9; multiple++ {
		numbers = append(numbers, multiple*step+0) // -0 + 0 is 0
	}
	return numbers
}

// niceStep returns the smallest number of at least minStep that is 1, 2 or 5 times a power of ten.
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

// addSeries adds a series to the figure, as a line with marks and the bars of its intervals. shift moves it sideways, to separate the bars of several
// series.
func (f *htmlFigure) addSeries(series curve, xAxis, yAxis axis, shift float64) {
	htmlCurve := htmlSeries{Class: "s" + strconv.Itoa(series.look%7)}
	var line, bars strings.Builder
	for i, point := range series.points {
		x, y := xAxis.position(point.x)+shift, yAxis.position(point.y)
		moveOrLine := "L"
		if i == 0 {
			moveOrLine = "M"
		}
		line.WriteString(moveOrLine + svgPoint(x, y))
		if point.low < point.high {
			low, high := yAxis.position(max(point.low, yAxis.low)), yAxis.position(min(point.high, yAxis.high))
			fmt.Fprintf(&bars, "M%sV%sM%sh6M%sh6", svgPoint(x, low), svgNumber(high), svgPoint(x-3, low), svgPoint(x-3, high))
		}
		htmlCurve.Points = append(htmlCurve.Points, htmlPoint{"dot", markPath(series.look, x, y, 3.6), point.text})
	}
	htmlCurve.Line, htmlCurve.Bars = line.String(), bars.String()
	f.Series = append(f.Series, htmlCurve)
	f.Legend = append(f.Legend, htmlLegend{Class: htmlCurve.Class, Name: series.name, Mark: "dot", Path: markPath(series.look, 14, 7, 4), Line: true})
}

// addExpected adds the expected values to the figure, as crosses.
func (f *htmlFigure) addExpected(points []dot, xAxis, yAxis axis) {
	cross := func(x, y float64) string { return "M" + svgPoint(x-6, y-6) + "l12 12m0 -12l-12 12" }
	crosses := htmlSeries{Class: "expected"}
	for _, point := range points {
		text := "expected " + tickText(point.y)
		crosses.Points = append(crosses.Points, htmlPoint{"cross", cross(xAxis.position(point.x), yAxis.position(point.y)), text})
	}
	f.Series = append(f.Series, crosses)
	f.Legend = append(f.Legend, htmlLegend{Class: crosses.Class, Name: "expected", Mark: "cross", Path: cross(14, 7)})
}

// markPath returns the SVG path of a mark at a point. shape modulo 4 is 0 for a circle, 1 for a square, 2 for a triangle and 3 for a diamond.
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
