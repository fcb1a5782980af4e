package game_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/game"
)

// TestApply draws each symmetry by hand.
func TestApply(t *testing.T) {
	square := game.Shape{Rows: 3, Cols: 3}
	values := []int{
		2, 4, 8,
		16, 0, 32,
		64, 128, 256,
	}
	tests := []struct {
		s    game.Symmetry
		name string
		want []int
	}{
		{0, "identity", values},
		{game.FlipH, "flipH", []int{8, 4, 2, 32, 0, 16, 256, 128, 64}},
		{game.FlipV, "flipV", []int{64, 128, 256, 16, 0, 32, 2, 4, 8}},
		{game.FlipH | game.FlipV, "flipH+flipV", []int{256, 128, 64, 32, 0, 16, 8, 4, 2}},
		{game.Transpose, "transpose", []int{2, 16, 64, 4, 0, 128, 8, 32, 256}},
		// Clockwise and anticlockwise quarter turns.
		{game.Transpose | game.FlipH, "flipH+transpose", []int{64, 16, 2, 128, 0, 4, 256, 32, 8}},
		{game.Transpose | game.FlipV, "flipV+transpose", []int{8, 32, 256, 4, 0, 128, 2, 16, 64}},
		{game.Transpose | game.FlipV | game.FlipH, "flipH+flipV+transpose", []int{256, 32, 8, 128, 0, 4, 64, 16, 2}},
	}
	r := newRules(t, square)
	b := pack(t, square, values)
	for _, tt := range tests {
		if got := square.Values(r.Apply(tt.s, b)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.s, got, tt.want)
		}
		if got := tt.s.String(); got != tt.name {
			t.Errorf("name %q, want %q", got, tt.name)
		}
	}
}

func TestApplyOblong(t *testing.T) {
	s := game.Shape{Rows: 2, Cols: 3}
	r := newRules(t, s)
	b := pack(t, s, []int{2, 4, 8, 16, 0, 32})
	wants := [][]int{
		{2, 4, 8, 16, 0, 32}, {8, 4, 2, 32, 0, 16}, {16, 0, 32, 2, 4, 8}, {32, 0, 16, 8, 4, 2},
	}
	if r.Symmetries() != len(wants) {
		t.Fatalf("%d symmetries, want %d", r.Symmetries(), len(wants))
	}
	for i, want := range wants {
		if got := s.Values(r.Apply(game.Symmetry(i), b)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", game.Symmetry(i), got, want)
		}
	}
}

// TestSymmetries checks all shapes; FuzzMove looks further.
func TestSymmetries(t *testing.T) {
	for i, s := range shapes {
		r := newRules(t, s)
		rng := rand.New(rand.NewPCG(3, uint64(i)))
		for range 200 {
			checkSymmetries(t, r, randomBoard(s, rng))
		}
	}
}

// TestOrbits counts boards by Burnside's lemma. With k kinds of cell content a 2x2 board has (k^4+2k^3+3k^2+2k)/8 different boards up
// to its eight symmetries; for k=3 that is 21. A 2x3 board has (k^6+k^4+2k^3)/4 up to four; for k=2 that is 24.
func TestOrbits(t *testing.T) {
	tests := []struct {
		shape game.Shape
		kinds int
		want  int
	}{
		{game.Shape{Rows: 2, Cols: 2}, 3, 21},
		{game.Shape{Rows: 2, Cols: 3}, 2, 24},
	}
	for _, tt := range tests {
		r := newRules(t, tt.shape)
		orbits := map[game.Board]bool{}
		for b := range allBoards(tt.shape, tt.kinds) {
			least, _ := r.Canonical(b)
			orbits[least] = true
		}
		if len(orbits) != tt.want {
			t.Errorf("%s, %d kinds: %d boards up to symmetry, want %d", tt.shape, tt.kinds, len(orbits), tt.want)
		}
	}
}

// allBoards yields every board with exponents below kinds.
func allBoards(s game.Shape, kinds int) func(func(game.Board) bool) {
	return func(yield func(game.Board) bool) {
		for b := range game.Board(1) << (4 * s.Cells()) {
			if !b.AtLeast(kinds) && !yield(b) {
				return
			}
		}
	}
}
