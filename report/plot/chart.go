package plot

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg/draw"

	"tilecheck/internal/printable"
	"tilecheck/report/table"
	"tilecheck/result"
)

// Chart is a plot of series of numbers, each with its interval.
type Chart struct {
	Title, X, Y string
	// Ticks name places on the X axis; without any the axis has numbers.
	Ticks []Tick
	// Probability has the Y axis go from 0 to 1, and refuses other numbers.
	Probability bool
	// Apart leaves out the lines between the points of a series, for places that have no order.
	Apart  bool
	Series []Series
}

// Tick is a named place on an axis.
type Tick struct {
	At   float64
	Name string
}

// Series is what is drawn in one colour: its points, in the order of X, and what was published about the same, hollow.
type Series struct {
	Name              string
	Points, Published []Point
}

// Point is a number with the ends of its bar; when an end is not finite there is no bar.
type Point struct {
	X, Y, Lo, Hi float64
	Gap          bool // no line comes here from the point before
}

// PlotChart draws a chart to w, as SVG or PNG by the extension of the file's name.
//
// Each series has a colour and a shape, filled for its points, which are joined
// by lines, and hollow for what was published. Where places have names the
// series are a little apart, so that bars do not cover each other.
//
// The same chart gives the same bytes. The error says when name has another
// extension, when there is nothing to draw, which number cannot be drawn, or is
// that of w.
func Write(w io.Writer, name string, c *Chart) error {
	return writeFigure(w, name, func() (*figure, error) { return newFigure(c) })
}

func newFigure(c *Chart) (*figure, error) {
	f := emptyFigure(c.Title, c.X, c.Y)
	if !c.Probability {
		f.plot.Y.Min, f.plot.Y.Max = math.Inf(1), math.Inf(-1) // the points set them
		f.plot.Y.Tick.Marker = plot.DefaultTicks{}
	}
	f.plot.X.Tick.Marker = plot.DefaultTicks{}
	if len(c.Ticks) > 0 {
		f.setTicks(c.Ticks)
	}
	drawn, hollow := false, false
	for i := range c.Series {
		s, err := c.series(i)
		if err == nil {
			err = s.addTo(f, c.Series[i].Name)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Series[i].Name, err)
		}
		drawn = drawn || len(s.points)+len(s.published) > 0
		hollow = hollow || len(s.published) > 0
	}
	if !drawn {
		return nil, errors.New("there is no number to draw")
	}
	if hollow {
		f.legend.Add("published (hollow)", thumbnail{draw.GlyphStyle{Color: color.Gray{Y: 90}, Radius: hollowRadius, Shape: draw.RingGlyph{}}})
	}
	return f, nil
}

// setTicks puts the names on the X axis, with room at both sides.
func (f *figure) setTicks(ticks []Tick) {
	marks := make([]plot.Tick, len(ticks))
	for i, t := range ticks {
		marks[i] = plot.Tick{Value: t.At, Label: printable.Text(t.Name)}
	}
	f.plot.X.Tick.Marker = plot.ConstantTicks(marks)
	if longestLabel(marks)*len(marks) > maxLetters {
		f.plot.X.Tick.Label.Rotation = math.Pi / 4
		f.plot.X.Tick.Label.XAlign, f.plot.X.Tick.Label.YAlign = text.XRight, text.YCenter
	}
	f.plot.X.Min = slices.MinFunc(ticks, byPlace).At - 0.3
	f.plot.X.Max = slices.MaxFunc(ticks, byPlace).At + 0.3
}

func byPlace(a, b Tick) int { return cmp.Compare(a.At, b.At) }

// maxLetters is how much text fits side by side below the X axis; more is turned.
const maxLetters = 80

func longestLabel(marks []plot.Tick) int {
	longest := 0
	for _, m := range marks {
		longest = max(longest, table.Width(m.Label))
	}
	return longest
}

// series turns a Series into what is drawn. The error says which number cannot be.
func (c *Chart) series(i int) (s *series, err error) {
	s = &series{look: lookOf(i)}
	shift := 0.0
	if n := float64(len(c.Series)); len(c.Ticks) > 0 {
		shift = (float64(i) - (n-1)/2) * min(0.1, 0.5/n)
	}
	if s.points, err = c.points(c.Series[i].Points, shift); err == nil {
		s.published, err = c.points(c.Series[i].Published, shift)
	}
	return s, err
}

func (c *Chart) points(from []Point, shift float64) ([]point, error) {
	var out []point
	run := 0
	for _, p := range from {
		if _, special := result.SpecialNumber(p.X + p.Y); special {
			return nil, fmt.Errorf("the point (%v, %v) is not finite", p.X, p.Y)
		}
		if c.Probability && !(p.Y >= 0 && p.Y <= 1) {
			return nil, fmt.Errorf("%s is not a probability", result.JSONNumber(p.Y).String())
		}
		q := point{x: p.X + shift, y: p.Y, low: p.Lo, high: p.Hi}
		if _, special := result.SpecialNumber(p.Lo + p.Hi); special {
			q.low, q.high = p.Y, p.Y
		}
		if c.Probability {
			q.low, q.high = max(q.low, 0), min(q.high, 1)
		}
		if p.Gap || c.Apart {
			run++
		}
		q.run = run
		out = append(out, q)
	}
	return out, nil
}
