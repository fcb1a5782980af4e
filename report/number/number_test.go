package number

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"tilecheck/result"
)

// The expected texts follow from the rule in the package comment by hand.
func TestDigitsFollowTheInterval(t *testing.T) {
	tests := []struct {
		x, half float64
		want    string
	}{
		{0.4443, 0.0412, "0.444"},
		{0.4443, 0.0041, "0.4443"},
		{0.5, 0.0996, "0.50"}, // two digits of the half-width are 0.10
		{0.01, 0.00811, "0.0100"},
		{0, 0.001, "0.0000"},
		{math.Copysign(0, -1), 0.001, "0.0000"},
		{-1e-7, 0.001, "0.0000"},
		{math.Copysign(0, -1), 0, "0"},
		{-1e-300, 0.1, "0.00"},
		{50724.26, 350, "50724"},
		{0.166666507, 4.8e-7, "0.16666651"},
		{0.166666507, 1e-12, "0.16666651"}, // never more than eight
		{1.23e-5, 2e-7, "1.230e-05"},
		{2.5e10, 1e8, "2.500e+10"},
		{1e-6, 1e-3, "0.0000"}, // not distinguishable from 0
		{1.0 / 3, 0, "0.333333"},
		{0.5, 0, "0.5"},
		{1, 0, "1"},
		{0, 0, "0"},
		{-2.5, 0, "-2.5"},
		{123456, 0, "123456"},
		{123456789, 0, "1.23457e+08"},
		{1e-9, 0, "1e-09"},
		{0.25, math.NaN(), "0.25"},
		{0.25, math.Inf(1), "0.25"},
		{math.NaN(), 0.1, "NaN"},
		{math.Inf(1), 0.1, "Infinity"},
		{math.Inf(-1), 0, "-Infinity"},
	}
	for _, test := range tests {
		if got := ScaleOf(test.x, test.half).Format(test.x, 0); got != test.want {
			t.Errorf("%v with half-width %v: %s, want %s", test.x, test.half, got, test.want)
		}
	}
}

func TestEndsOfIntervals(t *testing.T) {
	tests := []struct {
		lo, hi     float64
		down, upto string
	}{
		{0.4039, 0.4847, "0.403", "0.485"},
		{0.25, 1, "0.25", "1.00"},
		{0, 0.0123, "0.0000", "0.0123"},
		{0.1, 0.3, "0.10", "0.30"}, // the float64 0.3 is below 0.3, 0.1 above: no extra step
	}
	for _, test := range tests {
		s := ScaleOf((test.lo+test.hi)/2, (test.hi-test.lo)/2)
		if down, up := s.Format(test.lo, -1), s.Format(test.hi, +1); down != test.down || up != test.upto {
			t.Errorf("[%v, %v] is printed [%s, %s], want [%s, %s]", test.lo, test.hi, down, up, test.down, test.upto)
		}
	}
}

// An interval that decides something shows it: it does not contain the number beside which it lies.
func TestIntervalBeside(t *testing.T) {
	for _, test := range []struct {
		x, lo, hi float64
		want      string
	}{
		{0, -0.25, -0.0055, "[-0.250, -0.005]"},
		{0, -0.25, 0.0055, "[-0.25, 0.01]"},
		{0, 0.00004, 0.5, "[0.00004, 0.50000]"},
		{0.3, 0.05, 0.29996, "[0.05000, 0.29996]"},
		{math.NaN(), 0.05, 0.29996, "[0.05, 0.30]"},
		{0.1, 0.1, 0.3, "[0.10, 0.30]"},
	} {
		scale := ScaleOf((test.lo+test.hi)/2, (test.hi-test.lo)/2)
		if got := scale.IntervalBeside(test.x, test.lo, test.hi); got != test.want {
			t.Errorf("[%v, %v] beside %v is printed %s, want %s", test.lo, test.hi, test.x, got, test.want)
		}
	}
}

// A printed interval contains the interval. An end moves by less than two units
// of the last place, which is the second of the half-width's digits or the
// eighth of the number's.
func TestIntervalsAreRoundedOutwards(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		half := math.Pow(10, -6*r.Float64()) / 2
		lo := r.Float64()*math.Pow(10, 8*r.Float64()-4) - half
		hi := lo + 2*half
		s := ScaleOf(lo+half, half)
		down, err1 := strconv.ParseFloat(s.Format(lo, -1), 64)
		up, err2 := strconv.ParseFloat(s.Format(hi, +1), 64)
		if err1 != nil || err2 != nil || down > lo || up < hi {
			t.Fatalf("[%v, %v] is printed [%v, %v]", lo, hi, s.Format(lo, -1), s.Format(hi, +1))
		}
		slack := max(half/5, math.Abs(hi)*2e-7, math.Abs(lo)*2e-7)
		if lo-down > slack || up-hi > slack {
			t.Fatalf("[%v, %v] is printed [%v, %v], too wide", lo, hi, down, up)
		}
	}
}

// Interval contains the interval, also where there is no width to take digits from, and where digits are more than doubles tell apart.
func TestIntervalContains(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	read := func(text string) float64 {
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	for range 20000 {
		lo := r.Float64() * math.Pow(10, 20*r.Float64()-10)
		hi := lo + lo*math.Pow(10, -18*r.Float64())
		value := lo + (hi-lo)*r.Float64()
		value = min(max(value, lo), hi)
		for _, s := range []Scale{ScaleWithin(value, (hi-lo)/2, 2+r.IntN(16)), ScaleOf(0, 0)} {
			text := s.Interval(lo, hi)
			down, up, _ := strings.Cut(strings.Trim(text, "[]"), ", ")
			if least, most := read(down), read(up); least > lo || most < hi {
				t.Fatalf("[%v, %v] is printed %s", lo, hi, text)
			}
		}
		s := ScaleWithin(value, (hi-lo)/2, 2+r.IntN(16))
		down, up, _ := strings.Cut(strings.Trim(s.Interval(lo, hi), "[]"), ", ")
		if v := read(s.Format(value, 0)); v < read(down) || v > read(up) {
			t.Fatalf("%v in [%v, %v] is printed %s in %s", value, lo, hi, s.Format(value, 0), s.Interval(lo, hi))
		}
	}
}

func TestMachineNumbersReadBack(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 10000 {
		x := math.Float64frombits(r.Uint64())
		got, err := strconv.ParseFloat(result.JSONNumber(x).String(), 64)
		if err != nil || got != x && !math.IsNaN(x) {
			t.Fatalf("%v became %s and %v, %v", x, result.JSONNumber(x).String(), got, err)
		}
	}
}

// The fractions of 2x2 boards and their values are from reference/2048-numbers.md.
// TestExactExtremes: fractions beyond what doubles can be.
func TestExactExtremes(t *testing.T) {
	ten := func(n int64) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(n), nil) }
	for _, test := range []struct {
		x    *big.Rat
		want string
	}{
		{new(big.Rat).SetInt(ten(400)), "~1e+400"},
		{new(big.Rat).SetFrac(big.NewInt(-3), ten(500)), "~-3e-500"},
		{new(big.Rat).SetInt(ten(200)), "~1e+200"},
		{new(big.Rat).SetInt(ten(20)), "100000000000000000000"},
	} {
		if got := Exact(test.x); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}

func TestExactText(t *testing.T) {
	tests := []struct {
		num, den int64
		want     string
	}{
		{3, 1, "3"},
		{1, 2, "1/2 (0.5)"},
		{1, 6, "1/6 (~0.166667)"},
		{29990997, 800000000, "29990997/800000000 (0.03748874625)"},
		{770009003, 800000000, "770009003/800000000 (0.96251125375)"},
		{7336901687427567, 8000000000000000, "~0.917113"},
		{1, 10000019, "1/10000019 (~9.99998e-08)"},
	}
	for _, test := range tests {
		if got := Exact(big.NewRat(test.num, test.den)); got != test.want {
			t.Errorf("%d/%d: %s, want %s", test.num, test.den, got, test.want)
		}
	}
}

func TestPercent(t *testing.T) {
	for x, want := range map[float64]string{0.99: "99%", 0.999: "99.9%", 0.57: "57%", 0.9999999: "99.99999%", 1: "100%", 0.05: "5%"} {
		if got := Percent(x); got != want {
			t.Errorf("%v: %s, want %s", x, got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for x, want := range map[float64]string{
		0: "", 0.0004: "<1ms", 0.0123: "12.3ms", 0.9999: "1s", 1.2345: "1.23s", 59.96: "1m0s", 125.4: "2m5s", 3600: "1h0m0s",
	} {
		if got := Duration(x); got != want {
			t.Errorf("%v s: %q, want %q", x, got, want)
		}
	}
}
