package plot

import (
	"math"
	"slices"
	"strings"

	"tilecheck/internal/printable"
	"tilecheck/report/table"
)

// The picture, in points.
const (
	width, height = 576, 360
	margin        = 10
	axisGap       = 5 // between an axis and what is drawn
	tickLength    = 8
	labelGap      = 4

	titleSize, axisSize, textSize = 13, 11, 10

	thumbnailWidth, thumbnailGap = 26, 6
)

// figure is the layout of a chart: the title above, and the legend to the right.
type figure struct {
	chart  *Chart
	title  string
	series []*series
	font   *typeface

	drawing
	x, y axis
}

// draw computes the layout of the figure, and returns the drawing.
func (f *figure) draw() *drawing {
	f.width, f.height = width, height
	f.x, f.y = f.axes()
	top := f.drawTitle()
	right := width - margin - f.legendWidth()
	f.drawLegend(right, top)
	f.place(top, right-margin)
	f.drawAxes()
	for _, series := range f.series {
		f.drawAreas(series)
	}
	for _, series := range f.series {
		f.drawSeries(series)
	}
	return &f.drawing
}

// axes returns the two axes, with the ranges of all numbers to draw, ticks and labels. They have no coordinates yet.
func (f *figure) axes() (x, y axis) {
	x, y = emptyAxis(), emptyAxis()
	for _, series := range f.series {
		for _, points := range [][]point{series.points, series.published} {
			for _, value := range points {
				x.include(value.x)
				y.include(value.y)
				y.include(value.low)
				y.include(value.high)
			}
		}
		for _, area := range series.areas {
			for _, corner := range area.Corners {
				x.includeFinite(corner[0])
				y.includeFinite(corner[1])
			}
		}
	}
	if len(f.chart.Ticks) > 0 {
		for _, namedTick := range f.chart.Ticks {
			x.include(namedTick.At - 0.3)
			x.include(namedTick.At + 0.3)
			x.ticks = append(x.ticks, tick{namedTick.At, printable.Text(namedTick.Name)})
		}
	} else {
		x.setNumbers()
	}
	if f.chart.Probability {
		y = axis{min: 0, max: 1, ticks: probabilityTicks()}
	} else {
		y.setNumbers()
	}
	x.label, y.label = printable.Text(f.chart.X), printable.Text(f.chart.Y)
	return x, y
}

// drawTitle draws the title and returns the y coordinate below it.
func (f *figure) drawTitle() float64 {
	if f.title == "" {
		return margin
	}
	y := float64(margin)
	for _, line := range f.wrapTitle(width - 2*margin) {
		f.labels = append(f.labels, label{text: line, at: xy{width / 2, y + titleSize}, size: titleSize, anchor: middle})
		y += titleSize * lineHeight
	}
	return y + margin
}

// wrapTitle breaks the title into as few lines as possible, of about equal length. No line is wider than width, in points.
func (f *figure) wrapTitle(width float64) []string {
	fits := func(columns int) bool {
		for _, line := range table.Wrap(f.title, columns) {
			if f.font.width(line, titleSize) > width {
				return false
			}
		}
		return true
	}
	columns := table.Width(f.title)
	for columns > 1 && !fits(columns) {
		columns--
	}
	lines := table.Wrap(f.title, columns)
	for columns > 1 && len(table.Wrap(f.title, columns-1)) == len(lines) {
		columns--
	}
	return table.Wrap(f.title, columns)
}

const hollowName = "published (hollow)"

// hasPublished reports whether a series has published numbers.
func (f *figure) hasPublished() bool {
	for _, series := range f.series {
		if len(series.published) > 0 {
			return true
		}
	}
	return false
}

// legendWidth returns the width of the legend, at most half of the figure.
func (f *figure) legendWidth() float64 {
	widest := 0.0
	for _, entry := range f.series {
		widest = max(widest, f.font.width(entry.name, textSize))
	}
	if f.hasPublished() {
		widest = max(widest, f.font.width(hollowName, textSize))
	}
	return min(thumbnailWidth+thumbnailGap+widest, width/2)
}

// drawLegend draws the legend: a sample and the name of each series, and the meaning of hollow marks.
func (f *figure) drawLegend(left, top float64) {
	const step = textSize*lineHeight + 3
	sample := xy{left + thumbnailWidth/2, top + textSize}
	addName := func(text string) {
		f.labels = append(f.labels, label{text: text, at: xy{left + thumbnailWidth + thumbnailGap, sample.y + baselineBelowMiddle*textSize}, size: textSize})
		sample.y += step
	}
	for _, entry := range f.series {
		f.line(entry.look.color, 1.5, xy{left, sample.y}, xy{left + thumbnailWidth, sample.y})
		f.marker(entry.look, true, sample)
		addName(entry.name)
	}
	if f.hasPublished() {
		f.marker(look{color: gray(90)}, false, sample)
		addName(hollowName)
	}
}

// place sets the coordinates of the axes. They fill the space between top and right that the labels of the axes do not need. The names of the ticks
// of the x axis are turned if they are too long.
func (f *figure) place(top, right float64) {
	f.x.turned = f.x.letters() > maxLetters
	names := textSize * lineHeight
	left := margin + axisSize*lineHeight + labelGap + f.widest(&f.y) + labelGap + tickLength + axisGap
	if f.x.turned {
		names = min(f.widest(&f.x)*math.Sqrt2/2+textSize, height/2)
		left = max(left, min(margin+f.font.width(f.x.ticks[0].name, textSize)*math.Sqrt2/2-textSize, width/3))
	}
	bottom := height - margin - axisSize*lineHeight - labelGap - names - tickLength - axisGap
	// Half of a mark, and half of a name, extends beyond the end of an axis.
	f.x.from, f.x.to = left+textSize/2, right-textSize/2
	f.y.from, f.y.to = bottom-textSize/2, top+textSize/2
	if len(f.chart.Ticks) == 0 {
		f.x.to -= f.font.width(f.x.lastName(), textSize) / 2
	}
}

// widest returns the width of the widest tick name of an axis.
func (f *figure) widest(a *axis) float64 {
	widest := 0.0
	for _, t := range a.ticks {
		widest = max(widest, f.font.width(t.name, textSize))
	}
	return widest
}

// maxLetters is how much text fits side by side below the X axis; more is turned.
const maxLetters = 80

// drawAxes draws both axes with their ticks and names.
func (f *figure) drawAxes() {
	const thin = 0.5
	left, bottom := f.x.from-textSize/2-axisGap, f.y.from+textSize/2+axisGap
	for _, mark := range f.y.ticks {
		y, length := f.y.position(mark.value), float64(tickLength)
		if mark.name == "" {
			length /= 2
		} else {
			f.line(gray(225), thin, xy{left + axisGap, y}, xy{f.x.to + textSize/2, y})
		}
		f.line(gray(0), thin, xy{left - length, y}, xy{left, y})
		f.labels = append(f.labels, label{text: mark.name, at: xy{left - tickLength - labelGap, y + baselineBelowMiddle*textSize}, size: textSize, anchor: end})
	}
	f.line(gray(0), thin, xy{left, f.y.position(f.y.min)}, xy{left, f.y.position(f.y.max)})
	f.labels = append(f.labels, label{text: f.y.label, at: xy{margin + axisSize, (f.y.from + f.y.to) / 2}, size: axisSize, anchor: middle, turn: -90})

	for _, mark := range f.x.ticks {
		x := f.x.position(mark.value)
		f.line(gray(0), thin, xy{x, bottom}, xy{x, bottom + tickLength})
		name := label{text: mark.name, at: xy{x, bottom + tickLength + textSize}, size: textSize, anchor: middle}
		if f.x.turned {
			name.anchor, name.turn = end, -45
			name.at.x += textSize / 2
		}
		f.labels = append(f.labels, name)
	}
	f.line(gray(0), thin, xy{f.x.from - textSize/2, bottom}, xy{f.x.to + textSize/2, bottom})
	f.labels = append(f.labels, label{text: f.x.label, at: xy{(f.x.from + f.x.to) / 2, height - margin - axisSize*(lineHeight-1)}, size: axisSize, anchor: middle})
}

// drawSeries draws a series: first its published numbers, then lines, bars and marks, which cover them.
func (f *figure) drawSeries(series *series) {
	f.drawBars(series.look, series.published, 0.6)
	for _, value := range series.published {
		f.marker(series.look, false, f.position(value.x, value.y))
	}
	f.drawLines(series)
	if !series.hasBand() {
		f.drawBars(series.look, series.points, 1.2)
	}
	for _, value := range series.points {
		f.marker(series.look, true, f.position(value.x, value.y))
	}
}

// hasBand reports whether the intervals of a series are drawn as a band.
func (s *series) hasBand() bool { return s.band && len(s.points) > 1 }

// drawAreas draws the areas of a series and the band of its intervals. A gap in the series interrupts the band.
func (f *figure) drawAreas(series *series) {
	for _, area := range series.areas {
		corners := make([]xy, len(area.Corners))
		for i, corner := range area.Corners {
			corners[i] = f.position(corner[0], corner[1])
		}
		if area.Outline {
			f.line(series.look.color, 0.6, corners...)
		} else {
			f.area(series.look.color, corners)
		}
	}
	if !series.hasBand() {
		return
	}
	var upper, lower []xy
	fillBand := func() {
		if len(upper) > 1 {
			slices.Reverse(lower)
			f.area(series.look.color, append(upper, lower...))
		}
		upper, lower = nil, nil
	}
	for i, value := range series.points {
		if i > 0 && value.run != series.points[i-1].run {
			fillBand()
		}
		upper, lower = append(upper, f.position(value.x, value.high)), append(lower, f.position(value.x, value.low))
	}
	fillBand()
}

// at returns the point of the drawing for two numbers of the axes.
func (f *figure) position(x, y float64) xy { return xy{f.x.position(x), f.y.position(y)} }

// drawLines connects the points of a series by lines, except across gaps.
func (f *figure) drawLines(series *series) {
	var connected []xy
	for i, value := range series.points {
		connected = append(connected, f.position(value.x, value.y))
		if i+1 == len(series.points) || series.points[i+1].run != value.run {
			if len(connected) > 1 {
				f.line(series.look.color, 1.5, connected...)
			}
			connected = nil
		}
	}
}

// drawBars draws the interval of each point as a vertical bar with a cap at each end. It draws nothing for an interval of width 0.
func (f *figure) drawBars(style look, points []point, width float64) {
	const halfCap = 2.5 // half of the width of a cap
	for _, value := range points {
		if value.low >= value.high {
			continue
		}
		low, high := f.position(value.x, value.low), f.position(value.x, value.high)
		f.line(style.color, width, low, high)
		for _, end := range []xy{low, high} {
			f.line(style.color, width, xy{end.x - halfCap, end.y}, xy{end.x + halfCap, end.y})
		}
	}
}

// axis maps numbers from min to max to coordinates.
type axis struct {
	label    string
	min, max float64
	ticks    []tick
	turned   bool // the names of the ticks are
	from, to float64
}

// tick is a position on an axis. A tick without a name is short.
type tick struct {
	value float64
	name  string
}

// emptyAxis returns an axis without numbers.
func emptyAxis() axis { return axis{min: math.Inf(1), max: math.Inf(-1)} }

// include extends the range of the axis to a number.
func (a *axis) include(x float64) { a.min, a.max = min(a.min, x), max(a.max, x) }

// includeFinite extends the range of the axis to a number, if it is finite.
func (a *axis) includeFinite(x float64) {
	if !math.IsInf(x, 0) {
		a.include(x)
	}
}

// at returns the coordinate of a number. Infinities are at the ends of the axis.
func (a *axis) position(x float64) float64 {
	x = min(max(x, a.min), a.max)
	// Numbers of the size of MaxFloat64 are halved: their difference is infinite.
	part := (x/2 - a.min/2) / (a.max/2 - a.min/2)
	return a.from + part*(a.to-a.from)
}

// letters returns the number of letters that the tick names need if all are as long as the longest.
func (a *axis) letters() int {
	longest := 0
	for _, mark := range a.ticks {
		longest = max(longest, table.Width(mark.name))
	}
	return longest * len(a.ticks)
}

// lastName returns the name of the last tick.
func (a *axis) lastName() string {
	if len(a.ticks) == 0 {
		return ""
	}
	return strings.TrimSpace(a.ticks[len(a.ticks)-1].name)
}
