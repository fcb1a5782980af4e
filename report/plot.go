package report

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"tilecheck/internal/printable"
	"tilecheck/report/table"
	"tilecheck/result"
)

const (
	plotWidth  = 8 * vg.Inch
	plotHeight = 5 * vg.Inch
	plotDPI    = 144 // of the PNG
)

// Plot draws the probability over MAX to w, as SVG or PNG by the extension of
// the file's name.
//
// MAX is on a logarithmic axis. Each strategy has a colour and a shape, filled
// for its verdicts, which are joined by lines, and hollow for published values.
// The bars are the verdict's interval, or else its half-width, and the published
// half-width. The strategies are a little apart so that bars do not cover each
// other. Cells without a number are left out and interrupt the line.
//
// The same comparison gives the same bytes. The error says when name has another
// extension, when there is nothing to draw, what is wrong with the comparison, or
// is that of w.
//
// Source: thesis Figure 3.25.
func Plot(w io.Writer, name string, c *Comparison) error {
	return writeFigure(w, name, func() (*figure, error) { return newFigure(c) })
}

func writeFigure(w io.Writer, name string, draw func() (*figure, error)) error {
	encode, err := plotEncoder(name)
	if err != nil {
		return err
	}
	fig, err := draw()
	if err != nil {
		return err
	}
	return encode(w, fig)
}

// CheckPlotPath returns the error that [Plot] will have for the extension of
// path, so that a caller finds out before a long run.
func CheckPlotPath(path string) error {
	_, err := plotEncoder(path)
	return err
}

func plotEncoder(path string) (func(io.Writer, *figure) error, error) {
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

func writeSVG(w io.Writer, fig *figure) error {
	canvas := vgsvg.New(plotWidth, plotHeight)
	fig.draw(draw.New(canvas))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	// Few systems have the font by that name; these have the same metrics, or nearly.
	svg := bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;"))
	_, err := w.Write(svg)
	return err
}

func writePNG(w io.Writer, fig *figure) error {
	canvas := vgimg.NewWith(vgimg.UseWH(plotWidth, plotHeight), vgimg.UseDPI(plotDPI))
	fig.draw(draw.New(canvas))
	_, err := vgimg.PngCanvas{Canvas: canvas}.WriteTo(w)
	return err
}

// figure is a plot, its title above and the legend to its right, where neither hides data.
type figure struct {
	plot   *plot.Plot
	title  string
	style  text.Style // of the title
	legend plot.Legend
}

func (f *figure) draw(c draw.Canvas) {
	margin := vg.Points(10)
	c = draw.Crop(c, margin, -margin, margin, -margin)
	if f.title != "" {
		title := f.wrapTitle(c.Max.X - c.Min.X)
		c.FillText(f.style, vg.Point{X: c.Center().X, Y: c.Max.Y}, title)
		c = draw.Crop(c, 0, 0, 0, -f.style.Height(title)-margin)
	}
	box := f.legend.Rectangle(c)
	width := box.Max.X - box.Min.X
	f.plot.Draw(draw.Crop(c, 0, -width-margin, 0, 0))
	f.legend.Draw(draw.Crop(c, c.Max.X-c.Min.X-width, 0, 0, -margin))
}

// wrapTitle breaks the title into as few lines as fit the width, all about as long.
func (f *figure) wrapTitle(width vg.Length) string {
	columns := table.Width(f.title)
	for columns > 1 && f.style.Width(strings.Join(table.Wrap(f.title, columns), "\n")) > width {
		columns--
	}
	lines := table.Wrap(f.title, columns)
	for columns > 1 && len(table.Wrap(f.title, columns-1)) == len(lines) {
		columns--
	}
	return strings.Join(table.Wrap(f.title, columns), "\n")
}

// newFigure builds the plot of the comparison.
func newFigure(c *Comparison) (*figure, error) {
	g, err := newCellGrid(c)
	if err != nil {
		return nil, err
	}
	if len(g.maxima) > 0 && g.maxima[0] < 1 {
		return nil, fmt.Errorf("strategy %q: MAX is %d, want a positive number", g.cells[0].Strategy, g.maxima[0])
	}
	f := emptyFigure(c.Title, g)
	drawn, hollow := false, false
	for i, name := range g.strategies {
		s, err := newSeries(g, i)
		if err == nil {
			err = s.addTo(f, name)
		}
		if err != nil {
			return nil, fmt.Errorf("strategy %q: %w", name, err)
		}
		drawn = drawn || len(s.points) > 0 || len(s.published) > 0
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

// emptyFigure sets the title, the axes, a light grid and the fonts.
func emptyFigure(title string, g *cellGrid) *figure {
	p := plot.New()
	p.X.Label.Text = "MAX"
	p.Y.Label.Text = "probability"
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(4), vg.Points(4)
	p.Y.Min, p.Y.Max = 0, 1
	p.Y.Tick.Marker = plot.ConstantTicks(probabilityTicks())
	ticks := make([]plot.Tick, len(g.maxima))
	for i, m := range g.maxima {
		ticks[i] = plot.Tick{Value: math.Log2(float64(m)), Label: strconv.Itoa(m)}
	}
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	if n := len(ticks); n > 0 {
		p.X.Min, p.X.Max = ticks[0].Value-0.3, ticks[n-1].Value+0.3
	}
	grid := plotter.NewGrid()
	grid.Vertical.Width = 0
	grid.Horizontal.Color = color.Gray{Y: 225}
	p.Add(grid)

	f := &figure{plot: p, title: printable.Text(title), style: p.Title.TextStyle, legend: plot.NewLegend()}
	f.legend.Left, f.legend.Top = true, true
	f.legend.Padding = vg.Points(6)
	f.legend.ThumbnailWidth = vg.Points(26)
	setFont(13, &f.style.Font)
	setFont(11, &p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font)
	setFont(10, &p.X.Tick.Label.Font, &p.Y.Tick.Label.Font, &f.legend.TextStyle.Font)
	return f
}

func setFont(size vg.Length, fonts ...*font.Font) {
	for _, f := range fonts {
		f.Variant, f.Size = "Sans", size
	}
}

// probabilityTicks marks every tenth and names every second one.
func probabilityTicks() []plot.Tick {
	ticks := make([]plot.Tick, 11)
	for i := range ticks {
		ticks[i].Value = float64(i) / 10
		if i%2 == 0 {
			ticks[i].Label = strconv.FormatFloat(ticks[i].Value, 'f', 1, 64)
		}
	}
	return ticks
}

// series is what is drawn of one strategy.
type series struct {
	look      look
	points    []point // of the verdicts, in the order of MAX
	published []point
}

// point is a number with the ends of its bar; run counts the gaps before it.
type point struct {
	x, y, low, high float64
	run             int
}

// newSeries collects the numbers of the i-th strategy. The error says which is
// not a probability.
func newSeries(g *cellGrid, i int) (*series, error) {
	s := &series{look: lookOf(i)}
	const apart = 0.1 // in doublings of MAX
	n := float64(len(g.strategies))
	shift := (float64(i) - (n-1)/2) * min(apart, 0.5/n)
	run := 0
	for _, m := range g.maxima {
		c := g.at(g.strategies[i], m)
		if c == nil {
			run++
			continue
		}
		p, ok := verdictPoint(&c.Verdict)
		if p.x, p.run = math.Log2(float64(m))+shift, run; ok {
			s.points = append(s.points, p)
		} else {
			run++
		}
		q := point{x: p.x}
		if c.Published != nil {
			q.set(c.Published.Value, c.Published.HalfWidth)
			s.published = append(s.published, q)
		}
		for _, y := range []float64{p.y, q.y} {
			if !(y >= 0 && y <= 1) {
				return nil, fmt.Errorf("MAX %d: %s is not a probability", m, result.JSONNumber(y).String())
			}
		}
	}
	return s, nil
}

// verdictPoint returns the value and bar of a verdict; ok is false if it has no number.
func verdictPoint(v *result.Verdict) (p point, ok bool) {
	if v.Value.Kind != result.Number && v.Value.Kind != result.Integer {
		return p, false
	}
	p.set(v.Value.Num, v.HalfWidth)
	if b := v.Bound; b != nil && b.Lo <= b.Hi {
		p.low, p.high = max(b.Lo, 0), min(b.Hi, 1)
	}
	return p, true
}

// set makes p a point with a bar of that half-width inside [0, 1]; nil is no bar.
func (p *point) set(y float64, half *float64) {
	p.y, p.low, p.high = y, y, y
	if half != nil {
		p.low, p.high = max(y-*half, 0), min(y+*half, 1)
	}
}
