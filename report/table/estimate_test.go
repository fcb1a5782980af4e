package table

import (
	"math"
	"slices"
	"testing"
)

// The digits follow from the half-width, and the ends of intervals are rounded outwards, as for verdicts.
func TestEstimate(t *testing.T) {
	for _, test := range []struct {
		value, lo, hi  float64
		text, interval string
	}{
		{0.4443, 0.4031, 0.4855, "0.444", "[0.403, 0.486]"},
		{0, 0, 0.00527, "0.0000", "[0.0000, 0.0053]"},
		{2030.25, 1817.4, 2342.6, "2030", "[1817, 2343]"},
		{7, 7, 7, "7", "[7, 7]"},
		{12345.678, math.Inf(-1), math.Inf(1), "12345.7", ""},
		{math.NaN(), math.NaN(), 1, "NaN", ""},
	} {
		number, interval := Estimate(test.value, test.lo, test.hi)
		if number.Text != test.text || interval.Text != test.interval {
			t.Errorf("%v in [%v, %v]: %q and %q, want %q and %q", test.value, test.lo, test.hi, number.Text, interval.Text, test.text, test.interval)
		}
		if x, ok := number.Value.(float64); !ok || x != test.value && !math.IsNaN(x) {
			t.Errorf("%v: a machine reads %v", test.value, number.Value)
		}
	}
}

func TestFootnotes(t *testing.T) {
	var f Footnotes
	for _, test := range []struct {
		notes []string
		want  string
	}{{nil, ""}, {[]string{"a"}, "[1]"}, {[]string{"b", "a"}, "[1,2]"}, {[]string{"b", "b"}, "[2]"}} {
		if got := f.Add(test.notes...); got != test.want {
			t.Errorf("%q: %q, want %q", test.notes, got, test.want)
		}
	}
	if want := []string{"[1] a", "[2] b"}; !slices.Equal(f.Paragraphs(), want) {
		t.Errorf("%q, want %q", f.Paragraphs(), want)
	}
}
