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
func writePNG(w io.Writer, picture *drawing) error {
	const scale = dotsPerInch / 72.0
	img := image.NewRGBA(image.Rect(0, 0, int(math.Round(picture.width*scale)), int(math.Round(picture.height*scale))))
	draw.Draw(img, img.Bounds(), image.White, image.Point{}, draw.Src)
	target := canvas{img: img, scale: scale}
	for i := range picture.paths {
		target.path(&picture.paths[i])
	}
	letters := newFont()
	for i := range picture.labels {
		target.label(letters, &picture.labels[i])
	}
	return png.Encode(w, img)
}

// canvas paints on an image that has scale dots in a point.
type canvas struct {
	img   *image.RGBA
	scale float64
}

// path draws a path: its inside if the line width is 0, otherwise its line.
func (c *canvas) path(shape *path) {
	points := shape.points
	if shape.radius > 0 {
		points = circle(points[0], shape.radius)
	}
	if shape.width == 0 {
		paint := shape.color
		if shape.translucent {
			paint = color.RGBAModel.Convert(color.NRGBA{R: shape.color.R, G: shape.color.G, B: shape.color.B, A: opacity}).(color.RGBA)
		}
		c.fillPolygons(paint, [][]xy{points})
		return
	}
	if shape.closed {
		points = append(points[:len(points):len(points)], points[0])
	}
	c.fillPolygons(shape.color, stroke(points, shape.width))
}

// circle returns a polygon with 32 corners, which looks like a circle.
func circle(center xy, radius float64) []xy {
	corners := make([]xy, 32)
	for i := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(corners)))
		corners[i] = xy{center.x + radius*cos, center.y + radius*sin}
	}
	return corners
}

// stroke returns the polygons that a line through points covers: a rectangle for each segment, and a circle at each corner. All polygons have the
// same orientation, so that their union is filled.
func stroke(points []xy, width float64) [][]xy {
	var polygons [][]xy
	for i := range points[1:] {
		from, to := points[i], points[i+1]
		length := math.Hypot(to.x-from.x, to.y-from.y)
		if length == 0 {
			continue
		}
		// (dx, dy) leads from the line to its edge.
		dx, dy := (to.y-from.y)/length*width/2, (from.x-to.x)/length*width/2
		polygons = append(polygons, []xy{{from.x + dx, from.y + dy}, {to.x + dx, to.y + dy}, {to.x - dx, to.y - dy}, {from.x - dx, from.y - dy}})
		if i > 0 {
			polygons = append(polygons, circle(from, width/2))
		}
	}
	return polygons
}

// fillPolygons fills polygons with a colour.
func (c *canvas) fillPolygons(paint color.RGBA, polygons [][]xy) {
	c.rasterize(paint, polygons, func(rasterizer *vector.Rasterizer, toPixel func(xy) (float32, float32)) {
		for _, points := range polygons {
			rasterizer.MoveTo(toPixel(points[0]))
			for _, corner := range points[1:] {
				rasterizer.LineTo(toPixel(corner))
			}
			rasterizer.ClosePath()
		}
	})
}

// rasterize fills the outlines that addOutlines adds to a rasterizer. corners are points whose bounding box contains the outlines. toPixel converts a
// point of the drawing to a pixel of this box.
func (c *canvas) rasterize(paint color.RGBA, corners [][]xy, addOutlines func(rasterizer *vector.Rasterizer, toPixel func(xy) (float32, float32))) {
	low, high := xy{math.Inf(1), math.Inf(1)}, xy{math.Inf(-1), math.Inf(-1)}
	for _, points := range corners {
		for _, corner := range points {
			low, high = xy{min(low.x, corner.x), min(low.y, corner.y)}, xy{max(high.x, corner.x), max(high.y, corner.y)}
		}
	}
	box := image.Rect(int(math.Floor(low.x*c.scale)), int(math.Floor(low.y*c.scale)), int(math.Ceil(high.x*c.scale))+1, int(math.Ceil(high.y*c.scale))+1)
	if box = box.Intersect(c.img.Bounds()); box.Empty() {
		return
	}
	rasterizer := vector.NewRasterizer(box.Dx(), box.Dy())
	addOutlines(rasterizer, func(corner xy) (float32, float32) {
		return float32(corner.x*c.scale - float64(box.Min.X)), float32(corner.y*c.scale - float64(box.Min.Y))
	})
	rasterizer.Draw(c.img, box, image.NewUniform(paint), image.Point{})
}

// label draws a label: the outlines of its letters, turned around the position of the label.
func (c *canvas) label(font *typeface, line *label) {
	letters, length := font.outlines(line.text, line.size)
	sin, cos := math.Sincos(line.turn * math.Pi / 180)
	move := func(relative xy) xy {
		x, y := relative.x-float64(line.anchor)*length, relative.y
		return xy{line.at.x + x*cos - y*sin, line.at.y + x*sin + y*cos}
	}
	for _, letter := range letters {
		for i := range letter {
			for j := range letter[i].args {
				letter[i].args[j] = move(letter[i].args[j])
			}
		}
		corners := make([][]xy, len(letter))
		for i := range letter {
			corners[i] = letter[i].args
		}
		c.rasterize(gray(0), corners, func(rasterizer *vector.Rasterizer, toPixel func(xy) (float32, float32)) {
			addOutline(rasterizer, toPixel, letter)
		})
	}
}

// addOutline adds the contours of a letter to a rasterizer. A command that begins a contour closes the previous contour.
func addOutline(rasterizer *vector.Rasterizer, toPixel func(xy) (float32, float32), letter []segment) {
	for _, command := range letter {
		x1, y1 := toPixel(command.args[0])
		switch {
		case command.begins:
			rasterizer.ClosePath()
			rasterizer.MoveTo(x1, y1)
		case len(command.args) == 1:
			rasterizer.LineTo(x1, y1)
		default:
			x2, y2 := toPixel(command.args[1])
			rasterizer.QuadTo(x1, y1, x2, y2)
		}
	}
	rasterizer.ClosePath()
}
