package pareto_test

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"

	"tilecheck/native/solve/pareto"
)

// hull is an exact oracle of the points below means of some points.
func hull(points [][]*big.Rat) (pareto.Oracle, *int) {
	asked := new(int)
	return func(_ context.Context, weights []*big.Rat) (*pareto.Answer, error) {
		*asked++
		var best *pareto.Answer
		for _, x := range points {
			sum := new(big.Rat)
			for i, w := range weights {
				sum.Add(sum, new(big.Rat).Mul(w, x[i]))
			}
			if best == nil || sum.Cmp(best.Bound) > 0 {
				best = &pareto.Answer{Point: x, Bound: sum}
			}
		}
		return best, nil
	}, asked
}

// TestMaximize compares with all mixtures of two points, which is where the greatest
// first coordinate under one bound lies.
func TestMaximize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	reached := 0
	for range 300 {
		var points [][]*big.Rat
		for range 1 + rng.IntN(12) {
			points = append(points, []*big.Rat{big.NewRat(rng.Int64N(40)-20, 7), big.NewRat(rng.Int64N(40)-20, 3)})
		}
		least := big.NewRat(rng.Int64N(40)-20, 3)
		oracle, _ := hull(points)
		best, err := pareto.New(2, oracle, 0).Maximize(t.Context(), []*big.Rat{big.NewRat(1, 1), new(big.Rat)}, []*big.Rat{nil, least}, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := mixture(points, least)
		switch {
		case want == nil && best.Point == nil:
		case want == nil || best.Point == nil || best.Upper.Cmp(want) != 0 || best.Point[0].Cmp(want) != 0 || best.Point[1].Cmp(least) < 0:
			t.Fatalf("%v with the second at least %v: got %v <= %v, want %v", points, least, best.Point, best.Upper, want)
		default:
			reached++
		}
	}
	if reached < 100 {
		t.Errorf("only %d could be reached", reached)
	}
}

// mixture returns the greatest first coordinate of mixtures of two points with the
// second coordinate at least least.
func mixture(points [][]*big.Rat, least *big.Rat) *big.Rat {
	var out *big.Rat
	take := func(x *big.Rat) {
		if out == nil || x.Cmp(out) > 0 {
			out = x
		}
	}
	for _, p := range points {
		if p[1].Cmp(least) < 0 {
			continue
		}
		take(p[0])
		for _, q := range points {
			if q[1].Cmp(least) >= 0 || q[0].Cmp(p[0]) <= 0 {
				continue
			}
			part := new(big.Rat).Quo(new(big.Rat).Sub(p[1], least), new(big.Rat).Sub(p[1], q[1]))
			x := new(big.Rat).Sub(q[0], p[0])
			take(x.Add(p[0], x.Mul(x, part)))
		}
	}
	return out
}

// TestOpen: what bounds leave open is said to be open, and an error is passed on.
func TestOpen(t *testing.T) {
	one, half, most := big.NewRat(1, 1), big.NewRat(1, 2), big.NewRat(3, 4)
	blurred := func(context.Context, []*big.Rat) (*pareto.Answer, error) {
		return &pareto.Answer{Point: []*big.Rat{half}, Bound: most}, nil
	}
	for _, tt := range []struct {
		least   *big.Rat
		reached bool
		err     error
	}{{half, true, nil}, {big.NewRat(5, 8), false, pareto.ErrUndecided}, {most, false, pareto.ErrUndecided}, {one, false, nil}} {
		best, err := pareto.New(1, blurred, 0).Maximize(t.Context(), []*big.Rat{one}, []*big.Rat{tt.least}, 1e-9)
		if !errors.Is(err, tt.err) || err == nil && (best.Point != nil) != tt.reached {
			t.Errorf("at least %v: %v, %v", tt.least, best, err)
		}
	}
	fails := func(context.Context, []*big.Rat) (*pareto.Answer, error) { return nil, context.Canceled }
	if _, err := pareto.New(1, fails, 0).Maximize(t.Context(), []*big.Rat{one}, []*big.Rat{nil}, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
