package plot

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/vector"
)

const dotsPerInch = 144

// writePNG writes a drawing as a PNG image.
func writePNG(w io.Writer, d *drawing) error {
	const scale = dotsPerInch / 72.0
	img := image.NewRGBA(image.Rect(0, 0, int(math.Round(d.width*scale)), int(math.Round(d.height*scale))))
	draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
	c := canvas{img: img, scale: scale}
	for i := range d.paths {
		c.path(&d.paths[i])
	}
	f := newFont()
	for i := range d.labels {
		c.label(f, &d.labels[i])
	}
	return png.Encode(w, img)
}

// canvas paints on an image that has scale dots in a point.
type canvas struct {
	img   *image.RGBA
	scale float64
}

// path draws a path: filled if it has no line width.
func (c *canvas) path(p *path) {
	points := p.points
	if p.radius > 0 {
		points = circle(points[0], p.radius)
	}
	if p.width == 0 {
		paint := p.color
		if p.translucent {
			paint = color.RGBAModel.Convert(color.NRGBA{R: p.color.R, G: p.color.G, B: p.color.B, A: opacity}).(color.RGBA)
		}
		c.fill(paint, [][]xy{points})
		return
	}
	if p.closed {
		points = append(points[:len(points):len(points)], points[0])
	}
	c.fill(p.color, stroke(points, p.width))
}

// circle is a polygon with so many corners that none is seen.
func circle(at xy, radius float64) []xy {
	corners := make([]xy, 32)
	for i := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(corners)))
		corners[i] = xy{at.x + radius*cos, at.y + radius*sin}
	}
	return corners
}

// stroke returns what a line of a width covers: a rectangle for each segment, and a disc
// at each corner. All of them have the same sense of rotation.
func stroke(points []xy, width float64) [][]xy {
	var out [][]xy
	for i := range points[1:] {
		a, b := points[i], points[i+1]
		length := math.Hypot(b.x-a.x, b.y-a.y)
		if length == 0 {
			continue
		}
		nx, ny := (b.y-a.y)/length*width/2, (a.x-b.x)/length*width/2
		out = append(out, []xy{{a.x + nx, a.y + ny}, {b.x + nx, b.y + ny}, {b.x - nx, b.y - ny}, {a.x - nx, a.y - ny}})
		if i > 0 {
			out = append(out, circle(a, width/2))
		}
	}
	return out
}

// fill paints the inside of polygons.
func (c *canvas) fill(paint color.RGBA, polygons [][]xy) {
	c.rasterize(paint, polygons, func(r *vector.Rasterizer, to func(xy) (float32, float32)) {
		for _, points := range polygons {
			r.MoveTo(to(points[0]))
			for _, p := range points[1:] {
				r.LineTo(to(p))
			}
			r.ClosePath()
		}
	})
}

// rasterize paints what add adds, which is between the corners.
func (c *canvas) rasterize(paint color.RGBA, corners [][]xy, add func(r *vector.Rasterizer, to func(xy) (float32, float32))) {
	lo, hi := xy{math.Inf(1), math.Inf(1)}, xy{math.Inf(-1), math.Inf(-1)}
	for _, points := range corners {
		for _, p := range points {
			lo, hi = xy{min(lo.x, p.x), min(lo.y, p.y)}, xy{max(hi.x, p.x), max(hi.y, p.y)}
		}
	}
	box := image.Rect(int(math.Floor(lo.x*c.scale)), int(math.Floor(lo.y*c.scale)), int(math.Ceil(hi.x*c.scale))+1, int(math.Ceil(hi.y*c.scale))+1)
	if box = box.Intersect(c.img.Bounds()); box.Empty() {
		return
	}
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	add(r, func(p xy) (float32, float32) {
		return float32(p.x*c.scale - float64(box.Min.X)), float32(p.y*c.scale - float64(box.Min.Y))
	})
	r.Draw(c.img, box, image.NewUniform(paint), image.Point{})
}

// label paints the outlines of its letters.
func (c *canvas) label(f *typeface, l *label) {
	letters, length := f.outlines(l.text, l.size)
	sin, cos := math.Sincos(l.turn * math.Pi / 180)
	place := func(p xy) xy {
		x, y := p.x-float64(l.anchor)*length, p.y
		return xy{l.at.x + x*cos - y*sin, l.at.y + x*sin + y*cos}
	}
	for _, letter := range letters {
		for i := range letter {
			for j := range letter[i].args {
				letter[i].args[j] = place(letter[i].args[j])
			}
		}
		corners := make([][]xy, len(letter))
		for i := range letter {
			corners[i] = letter[i].args
		}
		c.rasterize(gray(0), corners, func(r *vector.Rasterizer, to func(xy) (float32, float32)) { addOutline(r, to, letter) })
	}
}

// addOutline adds contours of a letter, which are closed by the next one.
func addOutline(r *vector.Rasterizer, to func(xy) (float32, float32), letter []segment) {
	for _, s := range letter {
		ax, ay := to(s.args[0])
		switch {
		case s.begins:
			r.ClosePath()
			r.MoveTo(ax, ay)
		case len(s.args) == 1:
			r.LineTo(ax, ay)
		default:
			bx, by := to(s.args[1])
			r.QuadTo(ax, ay, bx, by)
		}
	}
	r.ClosePath()
}
