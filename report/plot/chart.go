package plot

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"tilecheck/internal/printable"
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

// Tick is a named position on an axis.
type Tick struct {
	At   float64
	Name string
}

// Series is one colour of a plot: points in the order of X, and hollow points for published numbers.
type Series struct {
	Name              string
	Points, Published []Point
	// Band draws the intervals of Points as a band instead of bars, if there are at least two points.
	Band  bool
	Areas []Area
}

// Area is a polygon below the points of a series. An infinite coordinate is on the edge of the plot.
type Area struct {
	Corners [][2]float64
	// Outline draws a thin line through the corners instead of filling the polygon.
	Outline bool
}

// Point is a number with the ends of its bar. Without finite ends there is no bar.
type Point struct {
	X, Y, Lo, Hi float64
	Gap          bool // no line comes here from the point before
}

// Write draws a chart to w, as SVG or PNG by the extension of the file's name.
//
// Each series has a colour and a shape, filled for its points, which are joined
// by lines, and hollow for what was published. Where places have names the
// series are a little apart, so that bars do not cover each other.
//
// The same chart gives the same bytes. The error says when name has another
// extension, when there is nothing to draw, which number cannot be drawn, or is
// that of w.
func Write(w io.Writer, name string, c *Chart) error {
	encode, err := encoder(name)
	if err != nil {
		return err
	}
	d, err := c.draw()
	if err != nil {
		return err
	}
	return encode(w, d)
}

// CheckPath returns the error of Write for the extension of a path, so that a caller can check it before a long run.
func CheckPath(path string) error {
	_, err := encoder(path)
	return err
}

// encoder returns the function that writes a drawing in the format of a file's extension.
func encoder(path string) (func(io.Writer, *drawing) error, error) {
	switch ext := filepath.Ext(path); strings.ToLower(ext) {
	case ".svg":
		return writeSVG, nil
	case ".png":
		return writePNG, nil
	case "":
		return nil, fmt.Errorf("plot %q: no file extension, want .svg or .png", path)
	default:
		return nil, fmt.Errorf("plot %q: unknown file extension %q, want .svg or .png", path, ext)
	}
}

// draw returns the drawing of the chart. It returns an error if there is nothing to draw.
func (c *Chart) draw() (*drawing, error) {
	f := &figure{title: printable.Text(c.Title), font: newFont(), chart: c}
	drawn := false
	for i := range c.Series {
		s, err := c.series(i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Series[i].Name, err)
		}
		f.series = append(f.series, s)
		drawn = drawn || len(s.points)+len(s.published) > 0
	}
	if !drawn {
		return nil, errors.New("there is no number to draw")
	}
	return f.draw(), nil
}

// series is a series in the coordinates of the drawing.
type series struct {
	name      string
	look      look
	points    []point // in the order of X
	published []point
	band      bool
	areas     []Area
}

// point is a number with the ends of its bar; run is the number of gaps before it.
type point struct {
	x, y, low, high float64
	run             int
}

// series converts series i. The error names a number that cannot be drawn.
func (c *Chart) series(i int) (s *series, err error) {
	s = &series{name: printable.Text(c.Series[i].Name), look: lookOf(i), band: c.Series[i].Band, areas: c.Series[i].Areas}
	shift := 0.0
	if n := float64(len(c.Series)); len(c.Ticks) > 0 {
		shift = (float64(i) - (n-1)/2) * min(0.1, 0.5/n)
	}
	if s.points, err = c.points(c.Series[i].Points, shift); err == nil {
		s.published, err = c.points(c.Series[i].Published, shift)
	}
	return s, err
}

// points converts the points of a series, moved sideways by shift. It returns an error if one is not finite or, for probabilities, not in [0,1].
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
