package game_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/game"
)

// By hand from the description of the two faults in docs/thesis.md.
func TestSlidePublished(t *testing.T) {
	for _, tt := range []struct {
		name      string
		line, out []int
		score     int
	}{
		{"A: the third tile vanishes", []int{4, 2, 4, 0}, []int{4, 2, 0, 0}, 0},
		{"A: not with a merge", []int{2, 2, 4, 0}, []int{4, 4, 0, 0}, 4},
		{"A: not with a merge of the last two", []int{4, 2, 2, 0}, []int{4, 4, 0, 0}, 4},
		{"A: not with another cell empty", []int{4, 0, 2, 4}, []int{4, 2, 4, 0}, 0},
		{"A: not with the first cell empty", []int{0, 4, 2, 4}, []int{4, 2, 4, 0}, 0},
		{"B: the last tile is doubled", []int{2, 2, 4, 8}, []int{4, 4, 16, 0}, 4},
		{"B: whatever the third is", []int{2, 2, 2, 8}, []int{4, 2, 16, 0}, 4},
		{"B: not with two merges", []int{2, 2, 8, 8}, []int{4, 16, 0, 0}, 20},
		{"B: not with another merge", []int{4, 2, 2, 8}, []int{4, 4, 8, 0}, 4},
		{"B: not without a merge", []int{2, 4, 2, 4}, []int{2, 4, 2, 4}, 0},
		{"three cells", []int{4, 2, 4}, []int{4, 2, 4}, 0},
		{"five cells", []int{4, 2, 4, 0, 0}, []int{4, 2, 4, 0, 0}, 0},
	} {
		if out, score := game.SlidePublished(tt.line); !slices.Equal(out, tt.out) || score != tt.score {
			t.Errorf("%s: %v becomes %v, %d, want %v, %d", tt.name, tt.line, out, score, tt.out, tt.score)
		}
	}
}

// Moves of the published rules are SlidePublished along each line, in all four directions alike; what is legal is not touched by the faults.
func TestPublishedRules(t *testing.T) {
	for i, shape := range []game.Shape{{Rows: 1, Cols: 4}, {Rows: 4, Cols: 1}, {Rows: 2, Cols: 4}, {Rows: 4, Cols: 3}, {Rows: 4, Cols: 4}} {
		rules, err := game.NewPublished(shape)
		if err != nil {
			t.Fatal(err)
		}
		plain := newRules(t, shape)
		rng := rand.New(rand.NewPCG(9, uint64(i)))
		for range 3000 {
			var b game.Board
			for cell := range shape.Cells() {
				b = b.With(cell, max(0, rng.IntN(7)-2)) // few different tiles, so that the faults are met
			}
			if rules.Legal(b) != plain.Legal(b) {
				t.Fatalf("%v: legal are %v, by the rules %v", b, rules.Legal(b), plain.Legal(b))
			}
			var next [4]game.Board
			if legal, overflow := rules.Moved(b, &next); legal != plain.Legal(b) || overflow != 0 {
				t.Fatalf("%v: Moved says %v and %v, want %v", b, legal, overflow, plain.Legal(b))
			}
			for d := game.Left; d <= game.Down; d++ {
				want, score := slowMoveBy(game.SlidePublished, shape, shape.Values(b), d)
				got, scored, err := rules.Move(b, d)
				if err != nil || !slices.Equal(shape.Values(got), want) || scored != score || next[d] != got {
					t.Fatalf("%v %v: %v, %d, %v, want %v, %d", shape.Values(b), d, shape.Values(got), scored, err, want, score)
				}
				if rules.Legal(b).Has(d) && got == b {
					t.Fatalf("%v %v: a legal move changes nothing", b, d)
				}
			}
		}
	}
}
