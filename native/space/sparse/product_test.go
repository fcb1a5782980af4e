package sparse_test

import (
	"errors"
	"slices"
	"testing"

	"tilecheck/native/space/sparse"
)

// visits counts the visits to state 1, up to two.
type visits struct{ state, count uint32 }

type visitMemory struct{}

func (visitMemory) State(p visits) uint32 { return p.state }

func (visitMemory) Step(p visits, t uint32) (visits, error) {
	return visits{t, p.count + t}, nil
}

func (visitMemory) Absorbing(p visits) bool { return p.count == 2 }

func TestProduct(t *testing.T) {
	b := sparse.NewBuilder(sparse.MDP)
	b.State()
	b.Choice(0)
	b.Add(0, 0.5)
	b.Add(1, 0.5)
	b.Choice(0)
	b.Add(1, 1)
	b.State()
	b.Choice(0)
	b.Add(0, 1)
	m, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	starts := []visits{{0, 0}, {0, 1}}
	p, err := sparse.NewProduct(t.Context(), m, visitMemory{}, starts, nil, 10)
	if err != nil {
		t.Fatal(err)
	}
	if want := []visits{{0, 0}, {0, 1}, {1, 1}, {1, 2}}; !slices.Equal(p.Pairs, want) || !slices.Equal(p.Start, []uint32{0, 1}) {
		t.Errorf("states %v, starts %v, want %v", p.Pairs, p.Start, want)
	}
	if want := []uint32{0, 1, 0, 1, 2, sparse.None}; !slices.Equal(p.Choice, want) {
		t.Errorf("choices %v, want %v", p.Choice, want)
	}
	if want := []uint32{0, 2, 2, 1, 3, 3, 1, 3}; !slices.Equal(p.Target, want) {
		t.Errorf("targets %v, want %v", p.Target, want)
	}
	if p.Prob(p.NumTransitions()-1) != 1 || p.Prob(0) != 0.5 {
		t.Errorf("weights %v of %v", p.WeightIndex, p.Weights)
	}
	if _, err := sparse.NewProduct(t.Context(), m, visitMemory{}, starts, nil, 3); !errors.Is(err, sparse.ErrTooLarge) {
		t.Errorf("error %v for more than three states", err)
	}
	first := sparse.SetOf(m.NumChoices(), 1, 2)
	if p, err = sparse.NewProduct(t.Context(), m, visitMemory{}, starts[:1], first, 10); err != nil || !slices.Equal(p.Choice, []uint32{1, 2, 1, sparse.None}) {
		t.Errorf("choices %v, error %v within a set of choices", p.Choice, err)
	}
}
