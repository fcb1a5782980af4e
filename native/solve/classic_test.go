package solve_test

import (
	"math"
	"testing"

	"tilecheck/native/solve"
	"tilecheck/native/space/sparse"
)

// TestClassic checks that classic value iteration returns a lower bound, close to the value in small
// models, and reports an estimate if it iterated.
func TestClassic(t *testing.T) {
	forRandom(t, sparse.MDP, func(in *instance) {
		for name, dir := range krylovDimension {
			v, err := solve.Until(in.Context(), in.g, in.left, in.right, dir, solve.Options{Classic: true})
			if err != nil {
				in.Fatal(err)
			}
			w, err := solve.Until(in.Context(), in.g, in.left, in.right, dir, solve.Options{})
			if err != nil {
				in.Fatal(err)
			}
			if v.Sweeps > 0 != v.Estimated {
				in.Errorf("%s: estimated %v after %d sweeps", name, v.Estimated, v.Sweeps)
			}
			for s := range v.Lower {
				if v.Estimated && v.Lower[s] != v.Upper[s] || v.Lower[s] > w.Upper[s] || math.Abs(v.Value(s)-w.Value(s)) > 1e-3 {
					in.Errorf("%s: state %d: [%v, %v], want [%v, %v]", name, s, v.Lower[s], v.Upper[s], w.Lower[s], w.Upper[s])
				}
			}
		}
	})
}

// TestClassicStopsEarly has a model in which classic value iteration stops far too early, and bounds do
// not: Haddad and Monmege's chain with escape probability 2^-20.
func TestClassicStopsEarly(t *testing.T) {
	b := sparse.NewBuilder(sparse.DTMC)
	for s := range 2 {
		b.State()
		b.Add(1-s, 1-0x1p-20)
		b.Add(2, 0x1p-21)
		b.Add(3, 0x1p-21)
	}
	for s := 2; s < 4; s++ {
		b.State()
		b.Add(s, 1)
	}
	m, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	g := sparse.NewGraph(m)
	all, goal := sparse.FullSet(4), sparse.SetOf(4, 2)
	v, err := solve.Until(t.Context(), g, all, goal, solve.Max, solve.Options{Classic: true, Epsilon: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	if !v.Estimated || !v.Converged || v.Value(0) > 0.4 {
		t.Errorf("classic: %v, converged %v, estimated %v; want a wrong value", v.Value(0), v.Converged, v.Estimated)
	}
	v, err = solve.Until(t.Context(), g, all, goal, solve.Max, solve.Options{Epsilon: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	if v.Estimated || v.Lower[0] > 0.5 || v.Upper[0] < 0.5 || v.Upper[0]-v.Lower[0] > 1e-3 {
		t.Errorf("[%v, %v], want 1/2", v.Lower[0], v.Upper[0])
	}
}
