package report

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

	"tilecheck/result"
)

func plotted(t *testing.T, name string, c *Comparison) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Plot(&b, name, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPlotGolden(t *testing.T) {
	for _, test := range []struct {
		name string
		c    *Comparison
	}{{"comparison.svg", comparison()}, {"broken.svg", brokenComparison()}} {
		wantGolden(t, test.name, func(w io.Writer) error {
			_, err := w.Write(plotted(t, test.name, test.c))
			return err
		})
	}
}

func TestPlotIsDeterministic(t *testing.T) {
	for _, name := range []string{"a.svg", "a.PNG"} {
		if !bytes.Equal(plotted(t, name, comparison()), plotted(t, name, comparison())) {
			t.Errorf("%s differs between two runs", name)
		}
	}
}

func TestPlotSVGSaysEverything(t *testing.T) {
	texts := svgTexts(t, plotted(t, "a.svg", comparison()))
	for _, want := range []string{
		comparison().Title, "MAX", "probability", "128", "256", "512", "1024", "2048", "0.0", "1.0",
		"random", "opposite", "orthogonal", "alternating", "published (hollow)",
	} {
		if !slices.Contains(texts, want) {
			t.Errorf("no text %q in %q", want, texts)
		}
	}
}

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

func TestPlotBreaksLongTitles(t *testing.T) {
	c := comparison()
	c.Title = strings.TrimSpace(strings.Repeat("a long title that goes on ", 10))
	var lines []string
	for _, text := range svgTexts(t, plotted(t, "a.svg", c)) {
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
// corner, and every colour of the four strategies.
func TestPlotPNG(t *testing.T) {
	img, err := png.Decode(bytes.NewReader(plotted(t, "a.png", comparison())))
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
	for i := range 4 {
		if n := seen[lookOf(i).color.(color.RGBA)]; n < 100 {
			t.Errorf("%d pixels have the colour of strategy %d", n, i)
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

// A cell without a number interrupts the line; bars stay between 0 and 1.
func TestSeries(t *testing.T) {
	half, wide := 0.2, 0.9
	number := func(x float64) result.Verdict {
		return result.Verdict{Value: result.Value{Kind: result.Number, Num: x}, HalfWidth: &half}
	}
	bounded := number(0.5)
	bounded.Bound = &result.Interval{Lo: 0.45, Hi: 0.6}
	c := &Comparison{Cells: []ComparisonCell{
		{Strategy: "s", Max: 8, Verdict: number(0.1), Published: &Published{0.5, &wide}},
		{Strategy: "s", Max: 16, Verdict: bounded},
		{Strategy: "s", Max: 32, Verdict: result.Verdict{Err: &result.Failure{Class: result.Timeout}}},
		{Strategy: "s", Max: 64, Verdict: result.Verdict{Value: result.Value{Kind: result.Boolean, Bool: true}}, Published: &Published{Value: 1}},
		{Strategy: "s", Max: 128, Verdict: number(1)},
	}}
	g, err := newCellGrid(c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := newSeries(g, 0)
	if err != nil {
		t.Fatal(err)
	}
	points := []point{
		{x: 3, y: 0.1, low: 0, high: 0.1 + half},
		{x: 4, y: 0.5, low: 0.45, high: 0.6},
		{x: 7, y: 1, low: 1 - half, high: 1, run: 2},
	}
	published := []point{{x: 3, y: 0.5, low: 0, high: 1}, {x: 6, y: 1, low: 1, high: 1}}
	if !slices.Equal(s.points, points) || !slices.Equal(s.published, published) {
		t.Errorf("verdicts %+v\nwant %+v\npublished %+v\nwant %+v", s.points, points, s.published, published)
	}
}

func TestPlotErrors(t *testing.T) {
	one := func(maximum int, x float64) *Comparison {
		return &Comparison{Cells: []ComparisonCell{{
			Strategy: "s", Max: maximum, Verdict: result.Verdict{Value: result.Value{Kind: result.Number, Num: x}},
		}}}
	}
	twice := one(8, 0.5)
	twice.Cells = append(twice.Cells, twice.Cells[0])
	tests := []struct {
		name, file string
		c          *Comparison
		want       string
	}{
		{"pdf", "a.pdf", comparison(), `unknown file extension ".pdf", want .svg or .png`},
		{"no extension", "a", comparison(), "no file extension, want .svg or .png"},
		{"nothing", "a.svg", &Comparison{}, "there is no number to draw"},
		{"no number", "a.svg", &Comparison{Cells: []ComparisonCell{{Strategy: "s", Max: 8}}}, "there is no number to draw"},
		{"not a probability", "a.svg", one(8, 1.5), `strategy "s": MAX 8: 1.5 is not a probability`},
		{"NaN", "a.svg", one(8, math.NaN()), "NaN is not a probability"},
		{"MAX", "a.svg", one(0, 0.5), `strategy "s": MAX is 0, want a positive number`},
		{"twice", "a.svg", twice, "occurs twice"},
	}
	for _, test := range tests {
		var b bytes.Buffer
		err := Plot(&b, test.file, test.c)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
		if b.Len() > 0 {
			t.Errorf("%s: %d bytes were written", test.name, b.Len())
		}
	}
}

func TestPlotWriterErrorIsReturned(t *testing.T) {
	fig, err := newFigure(comparison())
	if err != nil {
		t.Fatal(err)
	}
	w := brokenWriter{errors.New("disk full")}
	if err := writeSVG(w, fig); !errors.Is(err, w.err) {
		t.Errorf("SVG: error %v", err)
	}
	if err := writePNG(w, fig); !errors.Is(err, w.err) {
		t.Errorf("PNG: error %v", err)
	}
}
