package solve

import (
	"testing"

	"tilecheck/internal/interval"
	"tilecheck/native/space/sparse"
)

// TestVisitsSweeps finds by sweeps what elimination finds: how often each place is visited
// of a walk that goes up with probability 1/3 and is reflected at 0, until it is above all.
func TestVisitsSweeps(t *testing.T) {
	const n = 6
	b := sparse.NewBuilder(sparse.DTMC)
	for k := range n {
		b.State()
		b.Add(max(k-1, 0), 2)
		b.Add(k+1, 1)
	}
	b.State()
	b.Add(n, 1)
	model, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	model.Kind = sparse.CTMC // whose rows are divided by their sums
	y, err := newSystem(sparse.NewGraph(model), nil, Max, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var index unknownIndex
	equations := newVisitEquations(y.localSystem([]uint32{0, 1, 2, 3, 4, 5}, &index))
	equations.initialVisits[0] = 1
	meter := newMeter(t.Context(), Options{}, n)
	swept, ok, err := equations.iterate(meter, Options{})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	solved, ok, err := equations.solve(meter, Options{})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	// Up from k goes u(k) = 1 + d(k+1), down from k+1 goes d(k+1) = 2 u(k+1); u(n-1) = 1.
	up := 1.0
	for k := n - 1; k >= 0; k-- {
		want := 3 * up // visits: one in three goes up, but for 0, where the others stay
		if k == 0 {
			want = up
		}
		for how, x := range map[string]interval.Number{"swept": swept[k], "solved": solved[k]} {
			if x.Lo > want || x.Hi < want || x.Hi-x.Lo > 1e-7*want {
				t.Errorf("%s: place %d: [%v, %v], want %v", how, k, x.Lo, x.Hi, want)
			}
		}
		up = 1 + 2*up
	}
	if _, ok, err = equations.iterate(meter, Options{MaxSweeps: 3}); ok || err != nil {
		t.Errorf("three sweeps: %v, %v", ok, err)
	}
	if x, _ := equations.proveBounds(make([]float64, n), make([]float64, n), 1); x != nil {
		t.Errorf("bounds of nothing: %v", x)
	}
}
