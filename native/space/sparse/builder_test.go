package sparse_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tilecheck/native/space/sparse"
)

func TestBuilder(t *testing.T) {
	b := sparse.NewBuilder(sparse.MDP)
	b.State()
	b.Choice(2)
	b.Add(0, 0.5)
	b.Add(1, 0.5)
	b.Add(1, 0) // dropped
	b.Choice(sparse.NoAction)
	b.Add(1, 1)
	b.State()
	b.Choice(1)
	b.Add(1, 1)
	m, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if m.NumStates() != 2 || m.NumChoices() != 3 || m.NumTransitions() != 4 {
		t.Errorf("%d states, %d choices, %d transitions, want 2, 3, 4", m.NumStates(), m.NumChoices(), m.NumTransitions())
	}
	if !slices.Equal(m.Weights, []float64{0.5, 1}) {
		t.Errorf("weights %v, want the two distinct ones", m.Weights)
	}
	if !slices.Equal(m.Actions, []sparse.Action{2, 0, 1}) {
		t.Errorf("actions %v", m.Actions)
	}
}

func TestBuilderMistakes(t *testing.T) {
	tests := []struct {
		name string
		make func(b *sparse.Builder)
		want string
	}{
		{"empty", func(*sparse.Builder) {}, "without states"},
		{"no choice", func(b *sparse.Builder) { b.State() }, "state 0 has no choice"},
		{"no transition", func(b *sparse.Builder) { b.State(); b.Choice(0) }, "without transitions"},
		{"all zero", func(b *sparse.Builder) { b.State(); b.Choice(0); b.Add(0, 0) }, "without transitions"},
		{"negative", func(b *sparse.Builder) { b.State(); b.Choice(0); b.Add(0, -1) }, "weight -1"},
		{"NaN", func(b *sparse.Builder) { b.State(); b.Choice(0); b.Add(0, math.NaN()) }, "weight NaN"},
		{"unknown target", func(b *sparse.Builder) { b.State(); b.Choice(0); b.Add(1, 1) }, "transition to state 1 of 1"},
		{"negative target", func(b *sparse.Builder) { b.State(); b.Choice(0); b.Add(-1, 1) }, "32-bit"},
		{"choice first", func(b *sparse.Builder) { b.Choice(0) }, "choice outside"},
		{"transition first", func(b *sparse.Builder) { b.Add(0, 1) }, "transition outside"},
		{"negative exact", func(b *sparse.Builder) { b.State(); b.Choice(0); b.AddRat(0, big.NewRat(-1, 3), 0) }, "weight -1/3"},
		{"mixed", func(b *sparse.Builder) {
			b.State()
			b.Choice(0)
			b.AddRat(0, big.NewRat(1, 3), 0)
			b.Add(0, 0.5)
		}, "some weights are fractions"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := sparse.NewBuilder(sparse.MDP)
			tt.make(b)
			if _, err := b.Finish(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestSet(t *testing.T) {
	a, b := sparse.SetOf(70, 0, 63, 64, 69), sparse.SetOf(70, 1, 64)
	tests := []struct {
		name string
		got  *sparse.Set
		want []int
	}{
		{"union", a.Union(b), []int{0, 1, 63, 64, 69}},
		{"intersection", a.Intersect(b), []int{64}},
		{"difference", a.Minus(b), []int{0, 63, 69}},
		{"full minus complement", sparse.FullSet(70).Minus(a.Complement()), []int{0, 63, 64, 69}},
	}
	for _, tt := range tests {
		if got := slices.Collect(tt.got.All()); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
		if tt.got.Count() != len(tt.want) {
			t.Errorf("%s: count %d, want %d", tt.name, tt.got.Count(), len(tt.want))
		}
	}
	if full := sparse.FullSet(70); full.Count() != 70 || !full.Complement().Empty() {
		t.Errorf("full set has %d members", full.Count())
	}
}

// TestAddRows compares with adding one by one, in models of several pages.
func TestAddRows(t *testing.T) {
	for _, kind := range []sparse.Kind{sparse.DTMC, sparse.MDP} {
		rng := rand.New(rand.NewPCG(1, uint64(kind)))
		const states = 100_000
		one, many, grown := sparse.NewBuilder(kind), sparse.NewBuilder(kind), sparse.NewBuilder(kind)
		grown.Grow(states, 3*states, 6*states)
		var rows sparse.Rows
		for s := range states {
			choices := 1
			if kind == sparse.MDP {
				choices += rng.IntN(3)
			}
			one.State()
			rows.Choices = append(rows.Choices, uint32(choices))
			for range choices {
				if kind == sparse.MDP {
					a := sparse.Action(rng.IntN(3))
					one.Choice(a)
					rows.Actions = append(rows.Actions, a)
				}
				n := 1 + rng.IntN(2)
				rows.Transitions = append(rows.Transitions, uint32(n))
				for range n {
					target, weight, a := rng.IntN(states), []float64{0.25, 0.5, 1}[rng.IntN(3)], sparse.NoAction
					if kind != sparse.MDP {
						a = sparse.Action(1 + s%2)
						rows.Actions = append(rows.Actions, a)
					}
					one.AddAction(target, weight, a)
					rows.Targets, rows.Weights = append(rows.Targets, uint32(target)), append(rows.Weights, weight)
				}
			}
		}
		grown.AddRows(rows, states)
		for rest := rows; len(rest.Choices) > 0; {
			rest = many.AddRows(rest, min(777, len(rest.Choices)))
		}
		want, err := one.Finish()
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []*sparse.Builder{many, grown} {
			got, err := b.Finish()
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%v: models differ", kind)
			}
		}
	}
}
