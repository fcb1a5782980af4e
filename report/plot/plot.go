package plot

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
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
)

const (
	plotWidth  = 8 * vg.Inch
	plotHeight = 5 * vg.Inch
	plotDPI    = 144 // of the PNG
)

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

// CheckPlotPath returns the error that [PlotChart] will have for the extension of
// path, so that a caller finds out before a long run.
func CheckPath(path string) error {
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

// emptyFigure sets the title, the axes, a light grid and the fonts.
func emptyFigure(title, x, y string) *figure {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text = printable.Text(x), printable.Text(y)
	p.X.Label.Padding, p.Y.Label.Padding = vg.Points(4), vg.Points(4)
	p.Y.Min, p.Y.Max = 0, 1
	p.Y.Tick.Marker = plot.ConstantTicks(probabilityTicks())
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

// series is what is drawn in one colour.
type series struct {
	look      look
	points    []point // in the order of X
	published []point
}

// point is a number with the ends of its bar; run counts the gaps before it.
type point struct {
	x, y, low, high float64
	run             int
}
