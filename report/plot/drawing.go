package plot

import (
	"image/color"
	"math"
)

// drawing is a picture of width times height points, which are 1/72 inch. Y goes down.
type drawing struct {
	width, height float64
	paths         []path
	labels        []label // above the paths
}

// xy is a point of the drawing.
type xy struct{ x, y float64 }

// path is a line of some width through its points, open or closed. Width 0 means a filled shape. With a radius, it is a
// circle around its only point.
type path struct {
	points []xy
	closed bool
	radius float64
	color  color.RGBA
	width  float64
	// translucent says that what is below a filled shape can be seen.
	translucent bool
}

// opacity is how much a translucent shape covers of what is below it, of 255.
const opacity = 46

// label is a line of black text. At is on its baseline, at the part of its length that
// the anchor says; the text is turned around it by an angle in degrees.
type label struct {
	text   string
	at     xy
	size   float64
	anchor anchor
	turn   float64
}

// anchor is the part of a label that is at its position.
type anchor float64

const (
	start  anchor = 0
	middle anchor = 0.5
	end    anchor = 1
)

// line adds a line through points.
func (d *drawing) line(c color.RGBA, width float64, points ...xy) {
	d.paths = append(d.paths, path{points: points, color: c, width: width})
}

// area adds a translucent polygon.
func (d *drawing) area(c color.RGBA, corners []xy) {
	d.paths = append(d.paths, path{points: corners, closed: true, color: c, translucent: true})
}

// middleOf is how far the baseline is below the middle of digits, in parts of the size.
const middleOf = 0.35

// lineHeight is the distance of lines of text, in parts of the size.
const lineHeight = 1.15

const (
	filledRadius = 2.8
	hollowRadius = 4.2
)

// look is the colour and shape of a series.
type look struct {
	color color.RGBA
	sides int // of the polygon; 0 is a circle
	turn  float64
}

// lookOf returns the look of the i-th strategy. The colours can be told apart
// by colour-blind readers, and the shapes without any colour; together they
// repeat after 28.
//
// Source: Okabe and Ito 2008, "Color Universal Design", without yellow.
func lookOf(i int) look {
	colors := []color.RGBA{
		{R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, // blue
		{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, // vermillion
		{R: 0x00, G: 0x9e, B: 0x73, A: 0xff}, // bluish green
		{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff}, // reddish purple
		{R: 0xe6, G: 0x9f, B: 0x00, A: 0xff}, // orange
		{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff}, // sky blue
		gray(0),
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

// marker draws the shape of a look, filled or hollow.
func (d *drawing) marker(l look, filled bool, at xy) {
	p := path{points: []xy{at}, closed: true, radius: hollowRadius, color: l.color, width: 1}
	if filled {
		p.radius, p.width = filledRadius, 0
	}
	if l.sides > 0 {
		// Polygons get a larger radius than the circle to look as large.
		radius := p.radius * 1.25
		p.points, p.radius = nil, 0
		for i := range l.sides {
			sin, cos := math.Sincos(l.turn + 2*math.Pi*float64(i)/float64(l.sides))
			p.points = append(p.points, xy{at.x + radius*cos, at.y - radius*sin})
		}
	}
	d.paths = append(d.paths, p)
}

// gray returns a gray colour of this brightness.
func gray(y uint8) color.RGBA { return color.RGBA{R: y, G: y, B: y, A: 0xff} }
