package pareto_test

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/solve/pareto"
)

// TestSurface: of points, the corners bring every weighted sum to its greatest value, and
// each of them alone brings some sum there.
func TestSurface(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for range needs.Some(60) {
		aims := 1 + rng.IntN(4)
		var points [][]*big.Rat
		for range 1 + rng.IntN(14) {
			var x []*big.Rat
			for range aims {
				x = append(x, big.NewRat(rng.Int64N(21)-10, 3))
			}
			points = append(points, x)
		}
		oracle, _ := hull(points)
		s, err := pareto.New(aims, oracle, 0).Surface(t.Context(), 0, 10_000)
		if err != nil || s.MaxDistance.Sign() != 0 {
			t.Fatalf("%v: beyond %v, %v", points, s, err)
		}
		corner := make([]bool, len(s.Points))
		for range 100 {
			w := make([]*big.Rat, aims)
			for i := range w {
				w[i] = big.NewRat(1+rng.Int64N(1_000_000)*rng.Int64N(2), 1)
			}
			all, _ := support(points, w)
			found, at := support(s.Points, w)
			if all.Cmp(found) != 0 {
				t.Fatalf("%v by %v: %v of %v, want %v", points, w, found, s.Points, all)
			}
			if len(at) == 1 {
				corner[at[0]] = true
			}
		}
		for i, is := range corner {
			if !is && len(s.Points) < 4 {
				t.Errorf("%v: corner %v of %v is never alone the best", points, s.Points[i], s.Points)
			}
		}
	}
}

// support returns the greatest weighted sum, and which points have it.
func support(points [][]*big.Rat, w []*big.Rat) (best *big.Rat, at []int) {
	for k, x := range points {
		sum := new(big.Rat)
		for i := range w {
			sum.Add(sum, new(big.Rat).Mul(w[i], x[i]))
		}
		switch {
		case best == nil || sum.Cmp(best) > 0:
			best, at = sum, []int{k}
		case sum.Cmp(best) == 0:
			at = append(at, k)
		}
	}
	return best, at
}

// TestSphere: what is round has no end of corners, and what is left out is said.
func TestSphere(t *testing.T) {
	ball := func(_ context.Context, weights []*big.Rat) (*pareto.Answer, error) {
		length, out := 0.0, &pareto.Answer{Bound: new(big.Rat)}
		for _, w := range weights {
			f, _ := w.Float64()
			length += f * f
		}
		length = math.Sqrt(length)
		for _, w := range weights {
			f, _ := w.Float64()
			out.Point = append(out.Point, new(big.Rat).SetFloat64(f/length))
		}
		out.Bound.SetFloat64(length * (1 + 1e-9))
		return out, nil
	}
	rng := rand.New(rand.NewPCG(5, 5))
	for _, tt := range []struct {
		aims, questions int
		width, most     float64
	}{{2, 1000, 1e-4, 1.1e-4}, {3, 1000, 0.1, 0.1}, {3, 12, 1e-6, 0.3}} {
		s, err := pareto.New(tt.aims, ball, 48).Surface(t.Context(), tt.width, tt.questions)
		if err != nil {
			t.Fatal(err)
		}
		beyond, _ := s.MaxDistance.Float64()
		if beyond > tt.most || beyond == 0 {
			t.Errorf("%+v: beyond %v", tt, beyond)
		}
		for range 200 {
			w, sum, length := make([]*big.Rat, tt.aims), 0.0, 0.0
			for i := range w {
				f := rng.Float64()
				w[i] = new(big.Rat).SetFloat64(f)
				sum, length = sum+f, length+f*f
			}
			best, _ := support(s.Points, w)
			near, _ := best.Float64()
			if length = math.Sqrt(length); near > length+1e-9 || near+beyond*sum < length-1e-9 {
				t.Fatalf("%+v by %v: %v and %v beyond, the truth is %v", tt, w, near, beyond, length)
			}
		}
	}
}
