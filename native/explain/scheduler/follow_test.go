package scheduler_test

import (
	"testing"

	"tilecheck/native/check"
	"tilecheck/native/explain/scheduler"
)

// TestFollower: each move of a node is drawn with its probability, and the memory goes on as the move says.
func TestFollower(t *testing.T) {
	space := scheduled(t, "mdp module m s:[0..2]; [a] s=0 -> (s'=1); [b] s=0 -> (s'=2); [c] s>0 -> (s'=0); endmodule", "Pmax=? [ F s=1 ]", check.Options{}).Space
	f, err := scheduler.ReadFollower(t.Context(), "x.json", []byte(`[
		{"c": [{"index": 0, "labels": ["a"], "prob": 0.25, "memory-updates": [{"s'": {"s": 1}, "m'": 0}]},
		       {"index": 1, "labels": ["b"], "prob": 0.75, "memory-updates": [{"s'": {"s": 2}, "m'": 1}]}], "m": 0, "s": {"s": 0}},
		{"c": [{"labels": ["c"], "prob": 1, "memory-updates": [{"s'": {"s": 0}, "m'": 0}]}], "m": 0, "s": {"s": 1}},
		{"c": [{"labels": ["c"], "prob": 1, "memory-updates": [{"s'": {"s": 0}, "m'": 1}]}], "m": 1, "s": {"s": 2}},
		{"c": [{"index": 0, "labels": ["a"], "prob": 1, "memory-updates": [{"s'": {"s": 1}, "m'": 0}]}], "m": 1, "s": {"s": 0}}
	]`), space, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Start([]int32{0}); err != nil {
		t.Fatal(err)
	}
	for step, x := range []struct {
		drawn float64
		want  int
	}{{0.2, 0}, {0.9, 0}, {0.3, 1}, {0.1, 0}, {0.99, 0}, {0.5, 0}, {0.999, 1}} {
		got := f.Choose(x.drawn)
		if got != x.want {
			t.Fatalf("step %d: choice %d for the number %v, want %d", step, got, x.drawn, x.want)
		}
		f.Take(got, 0)
	}
}

// TestFollowerOfPermitted: several permitted choices of a state are equally likely.
func TestFollowerOfPermitted(t *testing.T) {
	space := scheduled(t, "mdp module m s:[0..1]; [a] s=0 -> true; [b] s=0 -> true; [c] s=0 -> (s'=1); endmodule", "Pmax=? [ F s=1 ]", check.Options{}).Space
	f, err := scheduler.ReadFollower(t.Context(), "x.adv", []byte("(0)=a\n(0)=c\n"), space, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Start([]int32{0}); err != nil {
		t.Fatal(err)
	}
	for x, want := range map[float64]int{0.1: 0, 0.49: 0, 0.51: 2, 0.99: 2} {
		if got := f.Choose(x); got != want {
			t.Errorf("choice %d for the number %v, want %d", got, x, want)
		}
	}
}
