package tree_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/native/explain/tree"
	"tilecheck/prism/sema"
)

func variables(n int) []sema.Variable {
	var out []sema.Variable
	for i := range n {
		out = append(out, sema.Variable{Name: fmt.Sprintf("v%d", i), Type: sema.Int, High: 5})
	}
	return out
}

// grid has a decision for each value of two variables from 0 to 5.
func grid(decide func(a, b int32) []int) []tree.Example {
	var out []tree.Example
	for a := range int32(6) {
		for b := range int32(6) {
			out = append(out, tree.Example{Values: []int32{a, b}, Allowed: decide(a, b)})
		}
	}
	return out
}

// TestLearn grows trees whose smallest size is plain to see.
func TestLearn(t *testing.T) {
	for _, tt := range []struct {
		name   string
		decide func(a, b int32) []int
		leaves int
	}{
		{"one for all", func(a, b int32) []int { return []int{2} }, 1},
		{"a threshold", func(a, b int32) []int {
			if a <= 3 {
				return []int{0}
			}
			return []int{1}
		}, 2},
		{"a diagonal, which thresholds need eleven leaves for", func(a, b int32) []int {
			if a == b {
				return []int{0}
			}
			return []int{1}
		}, 2},
		{"a common decision among several", func(a, b int32) []int {
			if a < 2 {
				return []int{0, 3}
			}
			return []int{int(a) % 3, 3}
		}, 1},
	} {
		got, err := tree.Learn(t.Context(), variables(2), grid(tt.decide))
		if err != nil {
			t.Fatal(err)
		}
		if got.Leaves() != tt.leaves {
			t.Errorf("%s: %d leaves, want %d", tt.name, got.Leaves(), tt.leaves)
		}
	}
}

// TestLearnAllows asks trees of random examples for what each of them allows.
func TestLearnAllows(t *testing.T) {
	const seed = 7
	r := rand.New(rand.NewPCG(seed, seed))
	for range 50 {
		n := 1 + r.IntN(4)
		seen := map[string]bool{}
		var examples []tree.Example
		for range 1 + r.IntN(60) {
			x := tree.Example{Values: make([]int32, n)}
			for i := range x.Values {
				x.Values[i] = r.Int32N(6)
			}
			for d := range 5 {
				if r.IntN(3) == 0 {
					x.Allowed = append(x.Allowed, d)
				}
			}
			if key := fmt.Sprint(x.Values); len(x.Allowed) > 0 && !seen[key] {
				seen[key] = true
				examples = append(examples, x)
			}
		}
		if len(examples) == 0 {
			continue
		}
		got, err := tree.Learn(t.Context(), variables(n), examples)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range examples {
			if d := got.Decide(x.Values); !slices.Contains(x.Allowed, d) {
				t.Fatalf("%v: decision %d, allowed %v", x.Values, d, x.Allowed)
			}
		}
		if got.Leaves() > len(examples) {
			t.Errorf("%d leaves for %d examples", got.Leaves(), len(examples))
		}
	}
}
