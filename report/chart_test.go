package report

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

// chart has two series over named places, bars, a point without one, and published numbers.
func chart() *Chart {
	return &Chart{
		Title: "How far they get", X: "tile", Y: "share of the games", Probability: true,
		Ticks: []Tick{{7, "128"}, {8, "256"}, {9, "512"}},
		Series: []Series{
			{
				Name:      "random",
				Points:    []Point{{7, 0.56, 0.52, 0.6}, {8, 0.08, 0.06, 0.1}, {9, 0, 0, 0.005}},
				Published: []Point{{7, 0.86, 0.83, 0.89}},
			},
			{Name: "optimal", Points: []Point{{7, 1, 0.99, 1}, {9, 0.9, math.Inf(-1), math.Inf(1)}}},
		},
	}
}

func charted(t *testing.T, name string, c *Chart) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := PlotChart(&b, name, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPlotChartGolden(t *testing.T) {
	wantGolden(t, "chart.svg", func(w io.Writer) error {
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

// Long names of many places are turned to have room; lines between places are left out on request.
func TestPlotChartManyPlaces(t *testing.T) {
	c := &Chart{Title: "rows", X: "row", Y: "share", Probability: true, Apart: true, Series: []Series{{Name: "ours"}}}
	for i := range 16 {
		c.Ticks = append(c.Ticks, Tick{float64(i), "table 1, depth adaptive"})
		c.Series[0].Points = append(c.Series[0].Points, Point{float64(i), 0.5, 0.4, 0.6})
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
		if err := PlotChart(&b, test.path, test.c); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want an error with %q", err, test.want)
		}
		if b.Len() > 0 {
			t.Errorf("%s was written", test.path)
		}
	}
}
