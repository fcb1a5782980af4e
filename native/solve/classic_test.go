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
		for name, dir := range directions {
			values, err := solve.Until(in.Context(), in.g, in.left, in.right, dir, solve.Options{Classic: true})
			if err != nil {
				in.Fatal(err)
			}
			w, err := solve.Until(in.Context(), in.g, in.left, in.right, dir, solve.Options{})
			if err != nil {
				in.Fatal(err)
			}
			if values.Sweeps > 0 != values.Estimated {
				in.Errorf("%s: estimated %v after %d sweeps", name, values.Estimated, values.Sweeps)
			}
			for s := range values.Lower {
				if values.Estimated && values.Lower[s] != values.Upper[s] || values.Lower[s] > w.Upper[s] || math.Abs(values.Value(s)-w.Value(s)) > 1e-3 {
					in.Errorf("%s: state %d: [%v, %v], want [%v, %v]", name, s, values.Lower[s], values.Upper[s], w.Lower[s], w.Upper[s])
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
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	graph := sparse.NewGraph(model)
	all, goal := sparse.FullSet(4), sparse.SetOf(4, 2)
	values, err := solve.Until(t.Context(), graph, all, goal, solve.Max, solve.Options{Classic: true, Epsilon: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	if !values.Estimated || !values.Converged || values.Value(0) > 0.4 {
		t.Errorf("classic: %v, converged %v, estimated %v; want a wrong value", values.Value(0), values.Converged, values.Estimated)
	}
	values, err = solve.Until(t.Context(), graph, all, goal, solve.Max, solve.Options{Epsilon: 1e-3})
	if err != nil {
		t.Fatal(err)
	}
	if values.Estimated || values.Lower[0] > 0.5 || values.Upper[0] < 0.5 || values.Upper[0]-values.Lower[0] > 1e-3 {
		t.Errorf("[%v, %v], want 1/2", values.Lower[0], values.Upper[0])
	}
}
