package report

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/golden"
	"tilecheck/report/plot"
	"tilecheck/result"
)

func drawn(w io.Writer, name string, c *Comparison) error {
	chart, err := c.Chart()
	if err != nil {
		return err
	}
	return plot.Write(w, name, chart)
}

func plotted(t *testing.T, name string, c *Comparison) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := drawn(&b, name, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPlotGolden(t *testing.T) {
	for _, test := range []struct {
		name string
		c    *Comparison
	}{{"comparison.svg", comparison()}, {"broken.svg", brokenComparison()}} {
		golden.Want(t, test.name, func(w io.Writer) error {
			_, err := w.Write(plotted(t, test.name, test.c))
			return err
		})
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
		err := drawn(&b, test.file, test.c)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q", test.name, err, test.want)
		}
		if b.Len() > 0 {
			t.Errorf("%s: %d bytes were written", test.name, b.Len())
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
	chart, err := c.Chart()
	if err != nil {
		t.Fatal(err)
	}
	s := chart.Series[0]
	points := []plot.Point{
		{X: 3, Y: 0.1, Lo: 0, Hi: 0.1 + half},
		{X: 4, Y: 0.5, Lo: 0.45, Hi: 0.6},
		{X: 7, Y: 1, Lo: 1 - half, Hi: 1, Gap: true},
	}
	published := []plot.Point{{X: 3, Y: 0.5, Lo: 0, Hi: 1}, {X: 6, Y: 1, Lo: 1, Hi: 1}}
	if !slices.Equal(s.Points, points) || !slices.Equal(s.Published, published) {
		t.Errorf("verdicts %+v\nwant %+v\npublished %+v\nwant %+v", s.Points, points, s.Published, published)
	}
}
