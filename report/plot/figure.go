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
	apart         = 5 // between an axis and what is drawn
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

// draw lays the figure out and returns its drawing.
func (f *figure) draw() *drawing {
	f.width, f.height = width, height
	f.x, f.y = f.axes()
	top := f.drawTitle()
	right := width - margin - f.legendWidth()
	f.drawLegend(right, top)
	f.place(top, right-margin)
	f.drawAxes()
	for _, s := range f.series {
		f.drawAreas(s)
	}
	for _, s := range f.series {
		f.drawSeries(s)
	}
	return &f.drawing
}

// axes returns axes with the ranges of the numbers and the names of the chart.
func (f *figure) axes() (x, y axis) {
	x, y = emptyAxis(), emptyAxis()
	for _, s := range f.series {
		for _, points := range [][]point{s.points, s.published} {
			for _, p := range points {
				x.include(p.x)
				y.include(p.y)
				y.include(p.low)
				y.include(p.high)
			}
		}
		for _, area := range s.areas {
			for _, corner := range area.Corners {
				x.includeFinite(corner[0])
				y.includeFinite(corner[1])
			}
		}
	}
	if len(f.chart.Ticks) > 0 {
		for _, t := range f.chart.Ticks {
			x.include(t.At - 0.3)
			x.include(t.At + 0.3)
			x.ticks = append(x.ticks, tick{t.At, printable.Text(t.Name)})
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

// wrapTitle breaks the title into as few lines as fit the width, of about equal length.
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

// hollow reports whether a series has published numbers.
func (f *figure) hollow() bool {
	for _, s := range f.series {
		if len(s.published) > 0 {
			return true
		}
	}
	return false
}

// legendWidth returns the width of the legend, at most half of the figure.
func (f *figure) legendWidth() float64 {
	widest := 0.0
	for _, s := range f.series {
		widest = max(widest, f.font.width(s.name, textSize))
	}
	if f.hollow() {
		widest = max(widest, f.font.width(hollowName, textSize))
	}
	return min(thumbnailWidth+thumbnailGap+widest, width/2)
}

// drawLegend draws a sample and the name of every series.
func (f *figure) drawLegend(left, top float64) {
	const step = textSize*lineHeight + 3
	at := xy{left + thumbnailWidth/2, top + textSize}
	name := func(text string) {
		f.labels = append(f.labels, label{text: text, at: xy{left + thumbnailWidth + thumbnailGap, at.y + middleOf*textSize}, size: textSize})
		at.y += step
	}
	for _, s := range f.series {
		f.line(s.look.color, 1.5, xy{left, at.y}, xy{left + thumbnailWidth, at.y})
		f.marker(s.look, true, at)
		name(s.name)
	}
	if f.hollow() {
		f.marker(look{color: gray(90)}, false, at)
		name(hollowName)
	}
}

// place sets the coordinates of the axes: they get the room that the labels leave.
func (f *figure) place(top, right float64) {
	f.x.turned = f.x.letters() > maxLetters
	names := textSize * lineHeight
	left := margin + axisSize*lineHeight + labelGap + f.widest(&f.y) + labelGap + tickLength + apart
	if f.x.turned {
		names = min(f.widest(&f.x)*math.Sqrt2/2+textSize, height/2)
		left = max(left, min(margin+f.font.width(f.x.ticks[0].name, textSize)*math.Sqrt2/2-textSize, width/3))
	}
	bottom := height - margin - axisSize*lineHeight - labelGap - names - tickLength - apart
	// Half of a marker, and of a name, is beside what it marks.
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
	left, bottom := f.x.from-textSize/2-apart, f.y.from+textSize/2+apart
	for _, t := range f.y.ticks {
		y, length := f.y.at(t.value), float64(tickLength)
		if t.name == "" {
			length /= 2
		} else {
			f.line(gray(225), thin, xy{left + apart, y}, xy{f.x.to + textSize/2, y})
		}
		f.line(gray(0), thin, xy{left - length, y}, xy{left, y})
		f.labels = append(f.labels, label{text: t.name, at: xy{left - tickLength - labelGap, y + middleOf*textSize}, size: textSize, anchor: end})
	}
	f.line(gray(0), thin, xy{left, f.y.at(f.y.min)}, xy{left, f.y.at(f.y.max)})
	f.labels = append(f.labels, label{text: f.y.label, at: xy{margin + axisSize, (f.y.from + f.y.to) / 2}, size: axisSize, anchor: middle, turn: -90})

	for _, t := range f.x.ticks {
		x := f.x.at(t.value)
		f.line(gray(0), thin, xy{x, bottom}, xy{x, bottom + tickLength})
		name := label{text: t.name, at: xy{x, bottom + tickLength + textSize}, size: textSize, anchor: middle}
		if f.x.turned {
			name.anchor, name.turn = end, -45
			name.at.x += textSize / 2
		}
		f.labels = append(f.labels, name)
	}
	f.line(gray(0), thin, xy{f.x.from - textSize/2, bottom}, xy{f.x.to + textSize/2, bottom})
	f.labels = append(f.labels, label{text: f.x.label, at: xy{(f.x.from + f.x.to) / 2, height - margin - axisSize*(lineHeight-1)}, size: axisSize, anchor: middle})
}

// drawSeries draws the published numbers first, so that the others are above them.
func (f *figure) drawSeries(s *series) {
	f.drawBars(s.look, s.published, 0.6)
	for _, p := range s.published {
		f.marker(s.look, false, f.at(p.x, p.y))
	}
	f.drawLines(s)
	if !s.hasBand() {
		f.drawBars(s.look, s.points, 1.2)
	}
	for _, p := range s.points {
		f.marker(s.look, true, f.at(p.x, p.y))
	}
}

// hasBand reports whether the intervals of a series are drawn as a band.
func (s *series) hasBand() bool { return s.band && len(s.points) > 1 }

// drawAreas draws what is below the points of a series: its areas, and the band of its intervals.
func (f *figure) drawAreas(s *series) {
	for _, area := range s.areas {
		corners := make([]xy, len(area.Corners))
		for i, corner := range area.Corners {
			corners[i] = f.at(corner[0], corner[1])
		}
		if area.Outline {
			f.line(s.look.color, 0.6, corners...)
		} else {
			f.area(s.look.color, corners)
		}
	}
	if !s.hasBand() {
		return
	}
	var upper, lower []xy
	fill := func() {
		if len(upper) > 1 {
			slices.Reverse(lower)
			f.area(s.look.color, append(upper, lower...))
		}
		upper, lower = nil, nil
	}
	for i, p := range s.points {
		if i > 0 && p.run != s.points[i-1].run {
			fill()
		}
		upper, lower = append(upper, f.at(p.x, p.high)), append(lower, f.at(p.x, p.low))
	}
	fill()
}

// at returns the point of the drawing for two numbers of the axes.
func (f *figure) at(x, y float64) xy { return xy{f.x.at(x), f.y.at(y)} }

// drawLines joins points, with a gap where one is missing.
func (f *figure) drawLines(s *series) {
	var run []xy
	for i, p := range s.points {
		run = append(run, f.at(p.x, p.y))
		if i+1 == len(s.points) || s.points[i+1].run != p.run {
			if len(run) > 1 {
				f.line(s.look.color, 1.5, run...)
			}
			run = nil
		}
	}
}

// drawBars draws the bars of the points that have one.
func (f *figure) drawBars(l look, points []point, width float64) {
	const half = 2.5 // of the caps
	for _, p := range points {
		if p.low >= p.high {
			continue
		}
		low, high := f.at(p.x, p.low), f.at(p.x, p.high)
		f.line(l.color, width, low, high)
		for _, end := range []xy{low, high} {
			f.line(l.color, width, xy{end.x - half, end.y}, xy{end.x + half, end.y})
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
func (a *axis) at(x float64) float64 {
	x = min(max(x, a.min), a.max)
	// Numbers of the size of MaxFloat64 are halved: their difference is infinite.
	part := (x/2 - a.min/2) / (a.max/2 - a.min/2)
	return a.from + part*(a.to-a.from)
}

// letters returns the number of letters that the tick names need if all are as long as the longest.
func (a *axis) letters() int {
	longest := 0
	for _, t := range a.ticks {
		longest = max(longest, table.Width(t.name))
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
