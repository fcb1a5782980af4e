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

// Write writes a chart to w as an image. The extension of path, .svg or .png, decides the format.
//
// Each series has a colour and a shape. The points of a series are filled marks that lines connect; published numbers are hollow marks. If the ticks
// have names, the series are moved a little sideways, so that their bars do not cover each other. The same chart always gives the same bytes.
//
// Write returns an error if the extension is unknown, there is nothing to draw, or a number cannot be drawn.
func Write(w io.Writer, path string, chart *Chart) error {
	encode, err := encoder(path)
	if err != nil {
		return err
	}
	picture, err := chart.draw()
	if err != nil {
		return err
	}
	return encode(w, picture)
}

// CheckPath returns the error of Write for the extension of a path, so that a caller can check it before a long run.
func CheckPath(path string) error {
	_, err := encoder(path)
	return err
}

// encoder returns the function that writes a drawing in the format that the extension of a file asks for.
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

// draw returns the drawing of the chart. It returns an error if the chart has no points, or a number that cannot be drawn.
func (c *Chart) draw() (*drawing, error) {
	layout := &figure{title: printable.Text(c.Title), font: newFont(), chart: c}
	hasPoints := false
	for i := range c.Series {
		converted, err := c.series(i)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Series[i].Name, err)
		}
		layout.series = append(layout.series, converted)
		hasPoints = hasPoints || len(converted.points)+len(converted.published) > 0
	}
	if !hasPoints {
		return nil, errors.New("there is no number to draw")
	}
	return layout.draw(), nil
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

// series returns a series of the chart with converted points, and with the look of its index. The error names a number that cannot be drawn.
func (c *Chart) series(index int) (converted *series, err error) {
	converted = &series{name: printable.Text(c.Series[index].Name), look: lookOf(index), band: c.Series[index].Band, areas: c.Series[index].Areas}
	shift := 0.0
	if count := float64(len(c.Series)); len(c.Ticks) > 0 {
		shift = (float64(index) - (count-1)/2) * min(0.1, 0.5/count)
	}
	if converted.points, err = c.points(c.Series[index].Points, shift); err == nil {
		converted.published, err = c.points(c.Series[index].Published, shift)
	}
	return converted, err
}

// points converts the points of a series, moved sideways by shift. It returns an error if one is not finite or, for probabilities, not in [0,1].
func (c *Chart) points(originals []Point, shift float64) ([]point, error) {
	var allConverted []point
	gaps := 0
	for _, original := range originals {
		if _, special := result.SpecialNumber(original.X + original.Y); special {
			return nil, fmt.Errorf("the point (%v, %v) is not finite", original.X, original.Y)
		}
		if c.Probability && !(original.Y >= 0 && original.Y <= 1) {
			return nil, fmt.Errorf("%s is not a probability", result.JSONNumber(original.Y).String())
		}
		converted := point{x: original.X + shift, y: original.Y, low: original.Lo, high: original.Hi}
		if _, special := result.SpecialNumber(original.Lo + original.Hi); special {
			converted.low, converted.high = original.Y, original.Y
		}
		if c.Probability {
			converted.low, converted.high = max(converted.low, 0), min(converted.high, 1)
		}
		if original.Gap || c.Apart {
			gaps++
		}
		converted.run = gaps
		allConverted = append(allConverted, converted)
	}
	return allConverted, nil
}
