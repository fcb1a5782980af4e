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
	// translucent says that shapes below a filled shape remain visible.
	translucent bool
}

// opacity is the alpha value of translucent shapes, from 0 (invisible) to 255 (opaque).
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

// baselineBelowMiddle is how far the baseline is below the middle of digits, in parts of the size.
const baselineBelowMiddle = 0.35

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

// lookOf returns the colour and the shape of the series with an index. Colour-blind readers can distinguish the colours, and the shapes need no
// colour. The looks repeat after 28 series.
//
// Source: Okabe and Ito 2008, "Color Universal Design", without yellow.
func lookOf(index int) look {
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
	style := shapes[index%len(shapes)]
	style.color = colors[index%len(colors)]
	return style
}

// marker adds a mark with the shape and the colour of a look, filled or hollow.
func (d *drawing) marker(style look, isFilled bool, center xy) {
	shape := path{points: []xy{center}, closed: true, radius: hollowRadius, color: style.color, width: 1}
	if isFilled {
		shape.radius, shape.width = filledRadius, 0
	}
	if style.sides > 0 {
		// A polygon needs a larger radius than a circle to seem equally large.
		radius := shape.radius * 1.25
		shape.points, shape.radius = nil, 0
		for i := range style.sides {
			sin, cos := math.Sincos(style.turn + 2*math.Pi*float64(i)/float64(style.sides))
			shape.points = append(shape.points, xy{center.x + radius*cos, center.y - radius*sin})
		}
	}
	d.paths = append(d.paths, shape)
}

// gray returns a gray colour of this brightness.
func gray(y uint8) color.RGBA { return color.RGBA{R: y, G: y, B: y, A: 0xff} }
