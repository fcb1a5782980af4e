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
	marginLeft, marginRight, marginTop, foot = 62.0, 14.0, 12.0, 46.0
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
		r := &rep.Results[i]
		if len(r.Constants) == 0 || r.title() == wholeRun {
			continue
		}
		key := r.question()
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], r)
	}
	var out []*experiment
	for _, key := range order {
		if e := newExperiment(groups[key], rep.engines(), opt); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// newExperiment returns the experiment that the results of one property form; nil if they are not enough for a figure.
func newExperiment(results []*TestResult, engines []string, opt table.Options) *experiment {
	var valuations [][]result.Constant
	for _, r := range results {
		valuations = append(valuations, r.Constants)
	}
	constant := experimentConstant(valuations, minExperiment)
	if constant == "" {
		return nil
	}
	e := &experiment{first: results[0], constant: constant}
	varying := varyingConstants(valuations)
	fixed := result.Valuation(pick(results[0], func(name string) bool { return !slices.Contains(varying, name) }))
	switches := strings.TrimPrefix(results[0].setting(), result.Valuation(results[0].Constants).String())
	e.setting = strings.TrimSpace(fixed.String() + switches)
	for _, r := range results {
		x, ok := constantNumber(r.Constants, constant)
		if !ok {
			continue
		}
		if len(varying) == 1 { // with several constants, one x could have several expectations
			e.addExpected(x, r.Expected)
		}
		if point, ok := experimentPoint(r, x, opt); ok {
			rest := result.Valuation(pick(r, func(name string) bool { return name != constant && slices.Contains(varying, name) }))
			e.addPoint(strings.TrimSpace(r.Engine+" "+rest.String()), point)
		}
	}
	return e.finish(engines)
}

// pick returns the constants of a result with the wanted names.
func pick(r *TestResult, wanted func(name string) bool) []result.Constant {
	var out []result.Constant
	for _, c := range r.Constants {
		if wanted(c.Name) {
			out = append(out, c)
		}
	}
	return out
}

// addPoint adds a point to a series.
func (e *experiment) addPoint(name string, p labelled) {
	i := slices.IndexFunc(e.series, func(s curve) bool { return s.name == name })
	if i < 0 {
		i = len(e.series)
		e.series = append(e.series, curve{name: name})
	}
	e.series[i].points = append(e.series[i].points, p)
}

// addExpected adds an expectation, if it is a number. The engines have the same ones.
func (e *experiment) addExpected(x float64, text string) {
	y, ok := plainNumber(text)
	if ok && !slices.ContainsFunc(e.expected, func(p dot) bool { return p.x == x }) {
		e.expected = append(e.expected, dot{x: x, y: y, low: y, high: y})
	}
}

// finish sorts the points and assigns the looks of the series. It returns nil if there are not enough points for a figure.
func (e *experiment) finish(engines []string) *experiment {
	e.series = slices.DeleteFunc(e.series, func(s curve) bool { return len(s.points) < minExperiment })
	if len(e.series) == 0 {
		return nil
	}
	if len(e.series) > maxSeries {
		e.left = len(e.series) - maxSeries
		e.series = e.series[:maxSeries]
	}
	byX := func(a, b dot) int { return cmp.Compare(a.x, b.x) }
	seriesAreEngines := true // the series are engines
	for i := range e.series {
		slices.SortStableFunc(e.series[i].points, func(a, b labelled) int { return byX(a.dot, b.dot) })
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
	for _, c := range valuations[0] {
		if len(constantValues(valuations, c.Name)) > 1 {
			names = append(names, c.Name)
		}
	}
	return names
}

// constantValues returns the set of values of a constant.
func constantValues(valuations [][]result.Constant, name string) map[string]bool {
	values := make(map[string]bool)
	for _, valuation := range valuations {
		for _, c := range valuation {
			if c.Name == name {
				values[c.Value] = true
			}
		}
	}
	return values
}

// experimentConstant returns the constant with the most values, if these are numbers and at least fewest; "" if there is none.
func experimentConstant(valuations [][]result.Constant, fewest int) string {
	best, maxValues := "", fewest-1
	for _, c := range valuations[0] {
		if _, ok := constantNumber(valuations[0], c.Name); !ok {
			continue
		}
		if n := len(constantValues(valuations, c.Name)); n > maxValues {
			best, maxValues = c.Name, n
		}
	}
	return best
}

// constantNumber returns the value of a constant, if it is a number.
func constantNumber(valuation []result.Constant, name string) (float64, bool) {
	for _, c := range valuation {
		if c.Name == name {
			return plainNumber(c.Value)
		}
	}
	return 0, false
}

// plainNumber reads a number, perhaps with "~" before it, or a fraction. It refuses huge numbers, which no axis can
// show.
func plainNumber(text string) (float64, bool) {
	text = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "~"))
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return x, math.Abs(x) < 1e300
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return 0, false
	}
	x, _ := r.Float64()
	return x, math.Abs(x) < 1e300
}

// experimentPoint returns the value of a result with its interval and a text.
func experimentPoint(r *TestResult, x float64, opt table.Options) (p labelled, ok bool) {
	verdict := r.Verdict
	if verdict == nil || verdict.Value.Kind != result.Number && verdict.Value.Kind != result.Integer {
		return p, false
	}
	if !(math.Abs(verdict.Value.Num) < 1e300) {
		return p, false
	}
	bounds := result.Interval{Lo: verdict.Value.Num, Hi: verdict.Value.Num}
	if verdict.Bound != nil && verdict.Value.Rat == nil {
		bounds = *verdict.Bound
	}
	if !(bounds.Hi-bounds.Lo < 1e300) {
		bounds = result.Interval{Lo: verdict.Value.Num, Hi: verdict.Value.Num}
	}
	p.dot = dot{x: x, y: verdict.Value.Num, low: min(bounds.Lo, verdict.Value.Num), high: max(bounds.Hi, verdict.Value.Num)}
	p.text = result.Valuation(r.Constants).String() + ": " + knownText(verdict, opt) + ", " + r.Engine + ", " + r.Outcome.String()
	return p, true
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
func (rep *TestReport) htmlFigures(opt table.Options) (out []htmlFigure, more string) {
	experiments := rep.experiments(opt)
	for i, e := range experiments {
		if i == maxFigures {
			return out, fmt.Sprintf("%d more experiments are not drawn; their values are in the suites.", len(experiments)-i)
		}
		out = append(out, e.figure())
	}
	return out, ""
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
func newFigure(ax, ay axis, xs, ys []float64) htmlFigure {
	return htmlFigure{
		Width: svgNumber(figureWidth), Height: svgNumber(figureHeight),
		Axis:  "M" + svgPoint(marginLeft, marginTop) + "V" + svgNumber(ay.from) + "H" + svgNumber(figureWidth-marginRight),
		NameX: svgNumber((ax.from + ax.to) / 2), NameY: svgNumber(figureHeight - 8),
		XTicks: xTicks(ax, ay, xs), YTicks: yTicks(ay, ys),
	}
}

// figure returns the figure of an experiment.
func (e *experiment) figure() htmlFigure {
	xs, ax, ay := e.axes()
	f := newFigure(ax, ay, xs, roundNumbers(ay))
	f.Property, f.Place, f.Setting, f.Constant = e.first.title(), e.first.place(), e.setting, e.constant
	f.Label = fmt.Sprintf("%s over %s from %g to %g: %d series; the values are in the suites", e.first.title(), e.constant, xs[0], xs[len(xs)-1], len(e.series))
	if e.left > 0 {
		f.Note = fmt.Sprintf("%d more series are not drawn.", e.left)
	}
	if len(e.expected) > 0 {
		f.addExpected(e.expected, ax, ay)
	}
	for i, s := range e.series {
		shift := (float64(i) - float64(len(e.series)-1)/2) * 4
		f.addSeries(s, ax, ay, shift)
	}
	return f
}

// axes returns the values of the constant in order, and the axes.
func (e *experiment) axes() (xs []float64, ax, ay axis) {
	low, high := math.Inf(1), math.Inf(-1)
	include := func(p dot) {
		xs = append(xs, p.x)
		low, high = min(low, p.low), max(high, p.high)
	}
	for _, s := range e.series {
		for _, p := range s.points {
			include(p.dot)
		}
	}
	for _, p := range e.expected {
		include(p)
	}
	slices.Sort(xs)
	xs = slices.Compact(xs)
	const spread = 50 // from this ratio on the axis is logarithmic
	first, last := xs[0], xs[len(xs)-1]
	ax = axis{low: first, high: last, from: marginLeft + 18, to: figureWidth - marginRight - 18, log: first > 0 && last/first >= spread}
	if first == last {
		ax.low, ax.high = first-1, last+1
	}
	pad := (high - low) * 0.06
	if pad == 0 {
		pad = max(math.Abs(high)*0.1, 1e-3)
	}
	// The names of ticks have six digits: what differs by less is a flat line.
	pad = max(pad, math.Abs(high)*1e-5, math.Abs(low)*1e-5)
	ay = axis{low: low - pad, high: high + pad, from: figureHeight - foot, to: marginTop}
	if low >= 0 && ay.low < 0 {
		ay.low = 0
	}
	if strings.HasPrefix(e.first.Property, "P") && high <= 1 && ay.high > 1 {
		ay.high = 1
	}
	return xs, ax, ay
}

// xTicks labels the values of the constant if there is room.
func xTicks(ax, ay axis, xs []float64) []htmlTick {
	const room = 38
	var out []htmlTick
	last := math.Inf(-1)
	for _, x := range xs {
		position := ax.at(x)
		tick := htmlTick{Path: "M" + svgPoint(position, ay.from) + "v4", X: svgNumber(position), Y: svgNumber(ay.from + 18)}
		if position-last >= room {
			tick.Text = tickText(x)
			last = position
		}
		out = append(out, tick)
	}
	return out
}

// yTicks returns the ticks of the vertical axis, with lines across the figure.
func yTicks(ay axis, ys []float64) []htmlTick {
	var out []htmlTick
	for _, y := range ys {
		position := ay.at(y)
		out = append(out, htmlTick{
			Path: "M" + svgPoint(marginLeft, position) + "H" + svgNumber(figureWidth-marginRight),
			X:    svgNumber(marginLeft - 7), Y: svgNumber(position), Text: tickText(y),
		})
	}
	return out
}

// roundNumbers returns about five round numbers of an axis.
func roundNumbers(ay axis) []float64 {
	step := niceStep((ay.high - ay.low) / 5)
	var out []float64
	for n := math.Ceil(ay.low/step - 1e-9); n*step <= ay.high+step*1e-9; n++ {
		out = append(out, n*step+0) // no negative zero
	}
	return out
}

// niceStep returns the smallest number 1, 2 or 5 times a power of ten that is at least x.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, n := range []float64{1, 2, 5} {
		if n*power >= x*(1-1e-9) {
			return n * power
		}
	}
	return 10 * power
}

// tickText returns the text of a tick.
func tickText(x float64) string { return number.Of(x, 0).Format(x, 0) }

// svgPoint returns the coordinates of a point in a path.
func svgPoint(x, y float64) string { return svgNumber(x) + " " + svgNumber(y) }

// addSeries draws a series as a line with marks and the bars of its intervals. shift moves it sideways, so that bars of several series are
// apart.
func (f *htmlFigure) addSeries(s curve, ax, ay axis, shift float64) {
	out := htmlSeries{Class: "s" + strconv.Itoa(s.look%7)}
	var line, bars strings.Builder
	for i, p := range s.points {
		x, y := ax.at(p.x)+shift, ay.at(p.y)
		line.WriteString([...]string{"M", "L"}[min(i, 1)] + svgPoint(x, y))
		if p.low < p.high {
			low, high := ay.at(max(p.low, ay.low)), ay.at(min(p.high, ay.high))
			fmt.Fprintf(&bars, "M%sV%sM%sh6M%sh6", svgPoint(x, low), svgNumber(high), svgPoint(x-3, low), svgPoint(x-3, high))
		}
		out.Points = append(out.Points, htmlPoint{"dot", markPath(s.look, x, y, 3.6), p.text})
	}
	out.Line, out.Bars = line.String(), bars.String()
	f.Series = append(f.Series, out)
	f.Legend = append(f.Legend, htmlLegend{Class: out.Class, Name: s.name, Mark: "dot", Path: markPath(s.look, 14, 7, 4), Line: true})
}

// addExpected draws crosses at the expectations.
func (f *htmlFigure) addExpected(points []dot, ax, ay axis) {
	cross := func(x, y float64) string { return "M" + svgPoint(x-6, y-6) + "l12 12m0 -12l-12 12" }
	out := htmlSeries{Class: "expected"}
	for _, p := range points {
		text := "expected " + tickText(p.y)
		out.Points = append(out.Points, htmlPoint{"cross", cross(ax.at(p.x), ay.at(p.y)), text})
	}
	f.Series = append(f.Series, out)
	f.Legend = append(f.Legend, htmlLegend{Class: out.Class, Name: "expected", Mark: "cross", Path: cross(14, 7)})
}

// markPath returns the path of the i-th shape at a point: a circle, square, triangle or diamond.
func markPath(i int, x, y, r float64) string {
	switch i % 4 {
	case 0:
		return fmt.Sprintf("M%sa%g %g 0 1 0 %g 0a%g %g 0 1 0 %g 0z", svgPoint(x-r, y), r, r, 2*r, r, r, -2*r)
	case 1:
		return fmt.Sprintf("M%sh%gv%gh%gz", svgPoint(x-r, y-r), 2*r, 2*r, -2*r)
	case 2:
		return fmt.Sprintf("M%sl%g %gh%gz", svgPoint(x, y-r*1.2), r*1.2, r*2.1, -r*2.4)
	}
	return fmt.Sprintf("M%sl%g %gl%g %gl%g %gz", svgPoint(x, y-r*1.3), r*1.3, r*1.3, -r*1.3, r*1.3, -r*1.3, -r*1.3)
}
