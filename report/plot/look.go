package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	filledRadius = vg.Length(2.8)
	hollowRadius = vg.Length(4.2)
)

// look is the colour and shape of a strategy.
type look struct {
	color color.Color
	sides int // of the polygon; 0 is a circle
	turn  float64
}

// lookOf returns the look of the i-th strategy. The colours can be told apart
// by colour-blind readers, and the shapes without any colour; together they
// repeat after 28.
//
// Source: Okabe and Ito 2008, "Color Universal Design", without yellow.
func lookOf(i int) look {
	colors := []color.Color{
		color.RGBA{R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, // blue
		color.RGBA{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, // vermillion
		color.RGBA{R: 0x00, G: 0x9e, B: 0x73, A: 0xff}, // bluish green
		color.RGBA{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff}, // reddish purple
		color.RGBA{R: 0xe6, G: 0x9f, B: 0x00, A: 0xff}, // orange
		color.RGBA{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff}, // sky blue
		color.Black,
	}
	shapes := []look{
		{sides: 0},
		{sides: 4, turn: math.Pi / 4}, // square
		{sides: 3, turn: math.Pi / 2}, // triangle
		{sides: 4},                    // diamond
	}
	l := shapes[i%len(shapes)]
	l.color = colors[i%len(colors)]
	return l
}

func (l look) line(width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: l.color, Width: width}
}

func (l look) glyph(filled bool) draw.GlyphStyle {
	radius := hollowRadius
	if filled {
		radius = filledRadius
	}
	return draw.GlyphStyle{Color: l.color, Radius: radius, Shape: shape{l, filled}}
}

// shape draws a look as a filled or hollow marker.
type shape struct {
	look   look
	filled bool
}

// DrawGlyph implements [draw.GlyphDrawer].
func (s shape) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	var p vg.Path
	if s.look.sides == 0 {
		p.Move(vg.Point{X: at.X + style.Radius, Y: at.Y})
		p.Arc(at, style.Radius, 0, 2*math.Pi)
	}
	// Polygons get a larger radius than the circle to look as large.
	radius := float64(style.Radius) * 1.25
	for i := range s.look.sides {
		sin, cos := math.Sincos(s.look.turn + 2*math.Pi*float64(i)/float64(s.look.sides))
		corner := vg.Point{X: at.X + vg.Length(radius*cos), Y: at.Y + vg.Length(radius*sin)}
		if i == 0 {
			p.Move(corner)
		} else {
			p.Line(corner)
		}
	}
	p.Close()
	if s.filled {
		c.SetColor(style.Color)
		c.Fill(p)
		return
	}
	c.SetLineStyle(draw.LineStyle{Color: style.Color, Width: vg.Points(1)})
	c.Stroke(p)
}

// thumbnail shows a marker in the legend.
type thumbnail struct{ style draw.GlyphStyle }

// Thumbnail implements [plot.Thumbnailer].
func (t thumbnail) Thumbnail(c *draw.Canvas) { c.DrawGlyph(t.style, c.Center()) }

// addTo draws the published values first, so that verdicts lie above them, and
// adds the strategy to the legend.
func (s *series) addTo(f *figure, name string) error {
	if err := s.addBars(f.plot, s.published, 0.6); err != nil {
		return err
	}
	if err := s.addMarkers(f.plot, s.published, false); err != nil {
		return err
	}
	if err := s.addLines(f.plot); err != nil {
		return err
	}
	if err := s.addBars(f.plot, s.points, 1.2); err != nil {
		return err
	}
	if err := s.addMarkers(f.plot, s.points, true); err != nil {
		return err
	}
	f.legend.Add(name, &plotter.Line{LineStyle: s.look.line(1.5)}, thumbnail{s.look.glyph(true)})
	return nil
}

// addLines joins the verdicts, with a gap where one is missing.
func (s *series) addLines(p *plot.Plot) error {
	for start := 0; start < len(s.points); {
		end := start + 1
		for end < len(s.points) && s.points[end].run == s.points[start].run {
			end++
		}
		line, err := plotter.NewLine(xys(s.points[start:end]))
		if err != nil {
			return err
		}
		line.LineStyle = s.look.line(1.5)
		p.Add(line)
		start = end
	}
	return nil
}

func (s *series) addMarkers(p *plot.Plot, points []point, filled bool) error {
	if len(points) == 0 {
		return nil
	}
	markers, err := plotter.NewScatter(xys(points))
	if err != nil {
		return err
	}
	markers.GlyphStyle = s.look.glyph(filled)
	p.Add(markers)
	return nil
}

// addBars draws the bars of the points that have one.
func (s *series) addBars(p *plot.Plot, points []point, width vg.Length) error {
	var at bars
	for _, pt := range points {
		if pt.low < pt.high {
			at.XYs = append(at.XYs, plotter.XY{X: pt.x, Y: pt.y})
			at.YErrors = append(at.YErrors, struct{ Low, High float64 }{pt.y - pt.low, pt.high - pt.y})
		}
	}
	if len(at.XYs) == 0 {
		return nil
	}
	drawn, err := plotter.NewYErrorBars(at)
	if err != nil {
		return err
	}
	drawn.LineStyle = s.look.line(width)
	p.Add(drawn)
	return nil
}

// bars is what [plotter.NewYErrorBars] wants.
type bars struct {
	plotter.XYs
	plotter.YErrors
}

func xys(points []point) plotter.XYs {
	out := make(plotter.XYs, len(points))
	for i, p := range points {
		out[i] = plotter.XY{X: p.x, Y: p.y}
	}
	return out
}
