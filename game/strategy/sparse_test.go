package strategy_test

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"tilecheck/game"
	"tilecheck/game/strategy"
)

// By hand, on 2x2: with 2 4 / 8 . to the right leaves 2 4 / . 8. A 2 below the 2 makes a merge worth 4 next, a 4 makes a lost board. Down
// leaves 2 . / 8 4: a 2 makes a merge worth 4, a 4 one worth 8.
func TestSparseByHand(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 2, Cols: 2})
	for _, c := range []struct {
		spec, board string
		want        map[game.Dir]string
	}{
		{"sparse:depth=1", "2 2 / 4 8", map[game.Dir]string{game.Left: "1/2", game.Right: "1/2"}},
		{"sparse:depth=1,ties=first", "2 2 / 4 8", map[game.Dir]string{game.Left: "1"}},
		{"sparse:depth=1", "2 2 / 4 4", map[game.Dir]string{game.Left: "1/2", game.Right: "1/2"}},
		{"sparse:depth=1", "2 2 / 2 4", map[game.Dir]string{game.Left: "1/4", game.Right: "1/4", game.Up: "1/4", game.Down: "1/4"}},
		{"sparse:depth=1", "2 8 / 2 .", map[game.Dir]string{game.Up: "1/2", game.Down: "1/2"}}, // right is legal and scores nothing
		{"sparse:depth=2", "2 4 / 8 .", map[game.Dir]string{game.Right: "81/200", game.Down: "119/200"}},
		{"sparse:depth=2,ties=first", "2 4 / 8 .", map[game.Dir]string{game.Right: "81/100", game.Down: "19/100"}},
		{"sparse:depth=2,n=2", "2 4 / 8 .", map[game.Dir]string{game.Right: "6561/20000", game.Down: "13439/20000"}},
		{"sparse:depth=2,n=2,ties=first", "2 4 / 8 .", map[game.Dir]string{game.Right: "6561/10000", game.Down: "3439/10000"}},
	} {
		b, err := rules.Shape().Parse(c.board)
		if err != nil {
			t.Fatal(err)
		}
		got, err := parse(t, rules, c.spec).Chooser().Decide(b, rules.Legal(b), 0)
		if err != nil {
			t.Fatal(err)
		}
		want := map[game.Dir]*big.Rat{}
		for d, p := range c.want {
			want[d], _ = new(big.Rat).SetString(p)
		}
		t.Run(c.spec+" "+c.board, func(t *testing.T) { sameChoices(t, b, got, want) })
	}
}

func TestSparseAgreesWithAlgorithm(t *testing.T) {
	for _, c := range []struct {
		shape    game.Shape
		depth, n int
		late     int // compares boards with this sum of tiles or more
		want     int // of boards compared
	}{
		{game.Shape{Rows: 2, Cols: 2}, 1, 2, 50, 60},
		{game.Shape{Rows: 2, Cols: 2}, 2, 1, 46, 60},
		{game.Shape{Rows: 2, Cols: 2}, 2, 2, 54, 16},
		{game.Shape{Rows: 2, Cols: 2}, 3, 1, 50, 30},
		{game.Shape{Rows: 1, Cols: 3}, 3, 1, 10, 10},
		{game.Shape{Rows: 1, Cols: 2}, 4, 2, 0, 2},
	} {
		t.Run(fmt.Sprint(c.shape, c.depth, c.n), func(t *testing.T) {
			compared := agreeWithSlow(t, c.shape, fmt.Sprintf("sparse:depth=%d,n=%d", c.depth, c.n), c.late, func(s slow, values []int) game.Dir {
				d, _ := s.sparse(values, c.depth, c.n)
				return d
			})
			t.Log(compared, "boards")
			if compared < c.want {
				t.Errorf("compared %d boards, want %d", compared, c.want)
			}
		})
	}
}

func TestSparseDeterministic(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 4, Cols: 4})
	for spec, want := range map[string]bool{
		"sparse:depth=1,ties=first": true, "sparse:depth=1": false, "sparse:depth=2,ties=first": false,
	} {
		if s := parse(t, rules, spec); s.Deterministic() != want {
			t.Errorf("%v: deterministic is %t, want %t", s, !want, want)
		}
	}
}

// Two tiles of 32768 side by side cannot be merged, neither now nor when looking ahead.
func TestOverflow(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 2, Cols: 2})
	for _, c := range []struct{ spec, board string }{
		{"sparse:depth=1", "32768 32768 / 2 4"},
		{"sparse:depth=2", "32768 2 / . 32768"},
		{"sparse:depth=3", "32768 2 / . 32768"},
		{"mc:runs=200", "32768 2 / . 32768"},
	} {
		t.Run(c.spec, func(t *testing.T) {
			b, err := rules.Shape().Parse(c.board)
			if err != nil {
				t.Fatal(err)
			}
			s := parse(t, rules, c.spec)
			if _, err := s.Player().Choose(b, rules.Legal(b), newRand(1)); !errors.Is(err, game.ErrOverflow) {
				t.Errorf("Choose returned error %v, want %v", err, game.ErrOverflow)
			}
			if _, err := s.Chooser().Decide(b, rules.Legal(b), 0); !errors.Is(err, game.ErrOverflow) {
				t.Errorf("Decide returned error %v, want %v", err, game.ErrOverflow)
			}
		})
	}
}

func TestTooLarge(t *testing.T) {
	for _, c := range []struct {
		spec  string
		shape game.Shape
		board string
	}{
		{"mc:runs=20000", game.Shape{Rows: 2, Cols: 2}, "2 . / . 2"},
		{"sparse:depth=2,n=200000", game.Shape{Rows: 2, Cols: 2}, "2 4 / 8 ."},
		{"mc:runs=1", game.Shape{Rows: 4, Cols: 4}, "2 . . . / . . . . / . 2 . . / . . . ."},
		{"mc:runs=1,value=max", game.Shape{Rows: 3, Cols: 3}, "2 2 . / . . . / . . ."},
	} {
		t.Run(c.spec, func(t *testing.T) {
			rules := newRules(t, c.shape)
			b, err := c.shape.Parse(c.board)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := parse(t, rules, c.spec).Chooser().Decide(b, rules.Legal(b), 0); !errors.Is(err, strategy.ErrTooLarge) {
				t.Errorf("error is %v, want %v", err, strategy.ErrTooLarge)
			}
		})
	}
}
