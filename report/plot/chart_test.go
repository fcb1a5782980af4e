package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/golden"
)

// chart has two series over named places, bars, a point without one, and published numbers.
func chart() *Chart {
	return &Chart{
		Title: "How far they get", X: "tile", Y: "share of the games", Probability: true,
		Ticks: []Tick{{7, "128"}, {8, "256"}, {9, "512"}},
		Series: []Series{
			{
				Name:      "random",
				Points:    []Point{{X: 7, Y: 0.56, Lo: 0.52, Hi: 0.6}, {X: 8, Y: 0.08, Lo: 0.06, Hi: 0.1}, {X: 9, Y: 0, Lo: 0, Hi: 0.005}},
				Published: []Point{{X: 7, Y: 0.86, Lo: 0.83, Hi: 0.89}},
			},
			{Name: "optimal", Points: []Point{{X: 7, Y: 1, Lo: 0.99, Hi: 1}, {X: 9, Y: 0.9, Lo: math.Inf(-1), Hi: math.Inf(1)}}},
		},
	}
}

func charted(t *testing.T, name string, c *Chart) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, name, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPlotChartGolden(t *testing.T) {
	golden.Want(t, "chart.svg", func(w io.Writer) error {
		_, err := w.Write(charted(t, "chart.svg", chart()))
		return err
	})
}

func TestPlotChartSaysEverything(t *testing.T) {
	texts := svgTexts(t, charted(t, "a.svg", chart()))
	for _, want := range []string{"How far they get", "tile", "share of the games", "128", "256", "512", "0.0", "1.0", "random", "optimal", "published (hollow)"} {
		if !slices.Contains(texts, want) {
			t.Errorf("no text %q in %q", want, texts)
		}
	}
	c := chart()
	c.Ticks, c.Probability, c.Series[0].Published = nil, false, nil
	if texts := svgTexts(t, charted(t, "b.svg", c)); slices.Contains(texts, "128") || slices.Contains(texts, "published (hollow)") {
		t.Errorf("names of places and published numbers that are not there in %q", texts)
	}
}

func TestPlotChartIsDeterministic(t *testing.T) {
	for _, name := range []string{"a.svg", "a.png"} {
		if !bytes.Equal(charted(t, name, chart()), charted(t, name, chart())) {
			t.Errorf("%s differs between two runs", name)
		}
	}
}

// What lies beyond the named places is within the picture: the bars of points are below the legend's left edge.
func TestPlotChartPointsBeyondTheNames(t *testing.T) {
	c := chart()
	c.Series[0].Points = append(c.Series[0].Points, Point{X: 11, Y: 0.2, Lo: 0.1, Hi: 0.3})
	d, err := c.draw()
	if err != nil {
		t.Fatal(err)
	}
	legend := d.width
	for _, l := range d.labels {
		if l.text == "random" {
			legend = l.at.x
		}
	}
	for _, p := range d.paths {
		if p.radius == filledRadius && p.points[0].x > legend {
			t.Errorf("a point at %v, and the names of the legend begin at %v", p.points[0], legend)
		}
	}
}

// Long names of many places are turned to have room; lines between places are left out on request.
func TestPlotChartManyPlaces(t *testing.T) {
	c := &Chart{Title: "rows", X: "row", Y: "share", Probability: true, Apart: true, Series: []Series{{Name: "ours"}}}
	for i := range 16 {
		c.Ticks = append(c.Ticks, Tick{float64(i), "table 1, depth adaptive"})
		c.Series[0].Points = append(c.Series[0].Points, Point{X: float64(i), Y: 0.5, Lo: 0.4, Hi: 0.6})
	}
	apart := string(charted(t, "a.svg", c))
	if !strings.Contains(apart, "rotate(") {
		t.Error("16 long names side by side are not turned")
	}
	c.Apart = false
	segments := func(svg string) int { return strings.Count(svg, "L") }
	if joined := string(charted(t, "a.svg", c)); segments(joined) != segments(apart)+15 {
		t.Errorf("%d segments with lines and %d without, want 15 more", segments(joined), segments(apart))
	}
}

func TestPlotChartErrors(t *testing.T) {
	with := func(change func(*Chart)) *Chart {
		c := chart()
		change(c)
		return c
	}
	for _, test := range []struct {
		path string
		c    *Chart
		want string
	}{
		{"a.pdf", chart(), "unknown file extension"},
		{"a.svg", with(func(c *Chart) { c.Series = nil }), "no number to draw"},
		{"a.svg", with(func(c *Chart) { c.Series[0].Points[0].Y = 1.5 }), "random: 1.5 is not a probability"},
		{"a.svg", with(func(c *Chart) { c.Series[1].Points[0].Y = math.NaN() }), "optimal: the point (7, NaN) is not finite"},
		{"a.svg", with(func(c *Chart) { c.Series[0].Published[0].Y = -1 }), "random: -1 is not a probability"},
	} {
		var b bytes.Buffer
		if err := Write(&b, test.path, test.c); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want an error with %q", err, test.want)
		}
		if b.Len() > 0 {
			t.Errorf("%s was written", test.path)
		}
	}
}

func TestPlotBreaksLongTitles(t *testing.T) {
	c := chart()
	c.Title = strings.TrimSpace(strings.Repeat("a long title that goes on ", 10))
	var lines []string
	for _, text := range svgTexts(t, charted(t, "a.svg", c)) {
		if strings.Contains(text, "title") {
			lines = append(lines, text)
		}
	}
	if len(lines) < 2 || strings.Join(lines, " ") != c.Title {
		t.Errorf("the title is drawn as %q", lines)
	}
	shortest := len(slices.MinFunc(lines, func(a, b string) int { return len(a) - len(b) }))
	longest := len(slices.MaxFunc(lines, func(a, b string) int { return len(a) - len(b) }))
	if shortest < longest/2 {
		t.Errorf("the lines of the title are not balanced: %q", lines)
	}
}

// The picture has the size of 8 by 5 inches at 144 dots an inch, a white
// corner, and every colour of the two series.
func TestPlotPNG(t *testing.T) {
	img, err := png.Decode(bytes.NewReader(charted(t, "a.png", chart())))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := img.Bounds().Size(), (image.Point{X: 1152, Y: 720}); got != want {
		t.Errorf("size %v, want %v", got, want)
	}
	seen := make(map[color.RGBA]int)
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			seen[color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)]++
		}
	}
	if got := color.RGBAModel.Convert(img.At(0, 0)); got != (color.RGBA{R: 255, G: 255, B: 255, A: 255}) {
		t.Errorf("the corner is %v, want white", got)
	}
	for i := range 2 {
		if n := seen[lookOf(i).color]; n < 100 {
			t.Errorf("%d pixels have the colour of series %d", n, i)
		}
	}
}

// The marks are multiples of 1, 2 or 5 times a power of ten, with as many digits as they need. By hand.
func TestNumbersOnAxes(t *testing.T) {
	for _, test := range []struct {
		min, max float64
		want     string
	}{
		{0, 1, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{0, 1200, "0 200 400 600 800 1000 1200"},
		{99.9, 100.2, "99.90 99.95 100.00 100.05 100.10 100.15 100.20"},
		{-0.3, 0.4, "-0.2 0.0 0.2 0.4"},
		{5, 5, "4.0 4.5 5.0 5.5 6.0"},
		{0, 3e9, "0 5e+08 1e+09 1.5e+09 2e+09 2.5e+09 3e+09"},
		{0, 4e-9, "0 1e-09 2e-09 3e-09 4e-09"},
		{-math.MaxFloat64, math.MaxFloat64, "-1.5e+308 -1e+308 -5e+307 0 5e+307 1e+308 1.5e+308"},
	} {
		a := axis{min: test.min, max: test.max}
		a.setNumbers()
		var got []string
		for _, tick := range a.ticks {
			got = append(got, tick.name)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("from %v to %v: %q, want %q", test.min, test.max, strings.Join(got, " "), test.want)
		}
	}
}

func TestLooksDiffer(t *testing.T) {
	for i := range 28 {
		for j := range i {
			if lookOf(i) == lookOf(j) {
				t.Errorf("strategies %d and %d look alike", i, j)
			}
		}
	}
}

func TestPlotWriterErrorIsReturned(t *testing.T) {
	fig, err := chart().draw()
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("disk full")
	w := writer(func([]byte) (int, error) { return 0, full })
	if err := writeSVG(w, fig); !errors.Is(err, full) {
		t.Errorf("SVG: error %v", err)
	}
	if err := writePNG(w, fig); !errors.Is(err, full) {
		t.Errorf("PNG: error %v", err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// svgTexts parses the drawing and returns the contents of its text elements.
func svgTexts(t *testing.T, svg []byte) (texts []string) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "text" {
			var s string
			if err := d.DecodeElement(&s, &start); err != nil {
				t.Fatal(err)
			}
			texts = append(texts, s)
		}
	}
}

// Bands and areas are translucent and below the lines; an infinite coordinate is on the edge.
func TestPlotBandsAndAreas(t *testing.T) {
	c := &Chart{Series: []Series{
		{Name: "band", Band: true, Points: []Point{{X: 1, Y: 2, Lo: 1, Hi: 3}, {X: 2, Y: 2, Lo: 1, Hi: 3}, {X: 3, Y: 2, Lo: 1, Hi: 3, Gap: true}, {X: 4, Y: 2, Lo: 1, Hi: 3}}},
		{Name: "area", Points: []Point{{X: 2, Y: 5, Lo: 5, Hi: 5}}, Areas: []Area{
			{Corners: [][2]float64{{math.Inf(-1), 5}, {2, 5}, {2, math.Inf(-1)}, {math.Inf(-1), math.Inf(-1)}}},
			{Corners: [][2]float64{{math.Inf(-1), 6}, {3, 6}}, Outline: true},
		}},
	}}
	text := string(charted(t, "a.svg", c))
	if n := strings.Count(text, "fill-opacity"); n != 3 {
		t.Errorf("%d translucent shapes, want two parts of a band and an area", n)
	}
	if strings.Contains(text, "Inf") || strings.Contains(text, "NaN") {
		t.Errorf("a coordinate is no number in %s", text)
	}
	picture, err := png.Decode(bytes.NewReader(charted(t, "a.png", c)))
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.draw()
	if err != nil {
		t.Fatal(err)
	}
	area := d.paths[slices.IndexFunc(d.paths, func(p path) bool { return p.translucent && len(p.points) == 4 && p.color == lookOf(1).color })]
	const inside, scale = 6, dotsPerInch / 72
	corner := area.points[2]
	r, g, b, _ := picture.At(int((corner.x-inside)*scale), int((corner.y-inside)*scale)).RGBA()
	if !(r > g && g > b && b > 0xa000) {
		t.Errorf("the area has the colour %x %x %x, want a light red", r, g, b)
	}
}
