package play

import (
	"testing"

	"tilecheck/game"
	"tilecheck/internal/needs"
)

// 70 and 530 are printed in the article. The other counts of boards apart are those of a separate program on lists of tile values.
func TestCensus(t *testing.T) {
	for _, test := range []struct{ goal, states, transitions int64 }{
		{3, 70, 530},
		{4, 198, 1378},
		{5, 350, 2170},
	} {
		m := square(2, int(test.goal), false, 0)
		states, transitions, err := Census(t.Context(), m)
		if err != nil || states != test.states || transitions != test.transitions {
			t.Errorf("%v: %d states and %d transitions, %v, want %d and %d", m, states, transitions, err, test.states, test.transitions)
		}
	}
}

// Two accounts of one thing: the classes are those of the boards that Census goes through.
func TestClassesAreThoseOfCensus(t *testing.T) {
	for _, m := range []Match{square(3, 4, false, 0), {Shape: game.Shape{Rows: 2, Cols: 3}, Goal: 5}, {Shape: game.Shape{Rows: 1, Cols: 4}, Goal: 4}} {
		rules, err := game.New(m.Shape)
		if err != nil {
			t.Fatal(err)
		}
		c := census{match: m, rules: rules, seenBoards: make(map[game.Board]bool), finalStatuses: make(map[status]bool)}
		if err := c.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := make(map[game.Board]bool)
		for b := range c.seenBoards {
			least, _ := rules.Canonical(b)
			want[least] = true
		}
		if got, err := Classes(t.Context(), m); err != nil || got != int64(len(want)+len(c.finalStatuses)) {
			t.Errorf("%v: %d classes, %v, want %d", m, got, err, len(want)+len(c.finalStatuses))
		}
	}
}

// The author's own counts, without the two ends: github.com/jdleesmiller/twenty48@c628d7e, data/combinatorics/layers_canonical.csv, summed.
func TestClassesAgainstTheAuthor(t *testing.T) {
	for _, test := range []struct {
		size, goal int
		states     int64
		slow       bool
	}{
		{2, 3, 15, false},
		{2, 4, 35, false},
		{2, 5, 57, false},
		{3, 3, 1_186, false},
		{3, 4, 16_834, false},
		{3, 5, 124_372, false},
		{4, 3, 84_659, false},
		{3, 10, 25_179_012, true}, // 20 s
	} {
		if test.slow && !needs.IsLong() {
			continue
		}
		m := square(test.size, test.goal, false, 0)
		if got, err := Classes(t.Context(), m); err != nil || got != test.states+2 {
			t.Errorf("%v: %d states, %v, want %d", m, got, err, test.states+2)
		}
	}
}
