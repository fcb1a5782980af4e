package strategy

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/game"
	"tilecheck/game/solve"
)

// plainMinimax is minimax by its definition: no cuts, no shared code but the evaluation of boards.
func plainMinimax(rules *game.Rules, e evaluation, against solve.Against, b game.Board, rounds int) int64 {
	if rounds == 0 {
		return e.value(b)
	}
	value := func(n, exp int) int64 {
		next := rules.Spawn(b, n, exp)
		best, legal := int64(math.MinInt64), rules.Legal(next)
		for i := range legal.Len() {
			moved, _, err := rules.Move(next, legal.At(i))
			if err != nil {
				panic(err)
			}
			best = max(best, plainMinimax(rules, e, against, moved, rounds-1))
		}
		if legal == 0 {
			return e.replaceLost(next, e.floor())
		}
		return max(best, e.floor())
	}
	least, sums := int64(math.MaxInt64), [3]int64{}
	for n := range rules.NumEmptyCells(b) {
		two, four := value(n, 1), value(n, 2)
		sums[1], sums[2] = sums[1]+two, sums[2]+four
		switch against {
		case solve.Worst:
			least = min(least, two, four)
		case solve.WorstCell:
			least = min(least, (9*two+four)/10)
		}
	}
	if against == solve.WorstTile {
		least = min(sums[1], sums[2]) / int64(rules.NumEmptyCells(b))
	}
	return least
}

// TestMinimaxIsMinimax compares the values of moves, and the moves, with those of plain minimax on random boards.
func TestMinimaxIsMinimax(t *testing.T) {
	for _, shape := range []game.Shape{{Rows: 3, Cols: 3}, {Rows: 4, Cols: 4}, {Rows: 2, Cols: 3}} {
		rules := newRules(t, shape)
		for _, eval := range []string{"modern", "snake", "cs221"} {
			for _, against := range []solve.Against{solve.Worst, solve.WorstCell, solve.WorstTile} {
				o := newOptions("", "depth=2,eval="+eval)
				search, _, _ := minimaxOptions(o, rules, against)
				s := parsed(t, rules, "minimax:depth=2,eval="+eval+",against="+against.String())
				rng := rand.New(rand.NewPCG(4, 5))
				for range 6 {
					b := crowdedBoard(rules, rng)
					legal := rules.Legal(b)
					if legal == 0 {
						continue
					}
					dir, err := s.Player().Choose(b, legal, nil)
					if err != nil {
						t.Fatal(err)
					}
					best, want := int64(math.MinInt64), game.Dir(0)
					for i := range legal.Len() {
						moved, _, err := rules.Move(b, legal.At(i))
						if err != nil {
							t.Fatal(err)
						}
						plain := plainMinimax(rules, search.evaluation, against, moved, 2)
						if got, err := search.after(moved, 2, math.MinInt64); err != nil || got != plain {
							t.Fatalf("%v %s %v: board %v is worth %d, %v, want %d", shape, eval, against, moved, got, err, plain)
						}
						if plain > best {
							best, want = plain, legal.At(i)
						}
					}
					if dir != want {
						t.Errorf("%v on %v: %v, want %v", s, b, dir, want)
					}
				}
			}
		}
	}
}

// crowdedBoard returns a board with few empty cells, so that plain minimax is fast.
func crowdedBoard(rules *game.Rules, rng *rand.Rand) game.Board {
	var b game.Board
	for i := range rules.Shape().Cells() {
		if rng.IntN(5) > 0 {
			b = b.With(i, 1+rng.IntN(7))
		}
	}
	return b
}

func TestParseOpponent(t *testing.T) {
	small, large := newRules(t, game.Shape{Rows: 2, Cols: 2}), newRules(t, game.Shape{Rows: 4, Cols: 4})
	for _, c := range []struct {
		spec string
		s    Setting
		want string // the spec with defaults, or the error
	}{
		{"chance", Setting{Rules: small, Max: 4}, ""},
		{"worst", Setting{Rules: small, Max: 4}, "worst:by=solved"},
		{"worst", Setting{Rules: small}, "worst:by=search,eval=modern,depth=2"},
		{"worst-cell:by=search,depth=3", Setting{Rules: small, Max: 4}, "worst-cell:by=search,eval=modern,depth=3"},
		{"worst-tile:eval=snake", Setting{Rules: large, Max: 11}, "worst-tile:by=search,eval=snake,depth=2"},
		{"worst-cell:file=t", Setting{Rules: large, Max: 11}, "worst-cell:by=solved,file=t"},
		{"best", Setting{Rules: small}, `unknown opponent "best", want chance, worst-cell, worst-tile or worst`},
		{"chance:depth=2", Setting{Rules: small}, "options depth=2, want none"},
		{"worst:by=solved", Setting{Rules: small}, "by=solved in a game that goes on, want a tile that ends it, or by=search"},
		{"worst:depth=9", Setting{Rules: large}, "depth is 9, want an integer from 1 to 6"},
		{"worst:by=solved,depth=2", Setting{Rules: small, Max: 4}, `unknown option "depth"`},
		{"worst:by=search,file=t", Setting{Rules: small, Max: 4}, "a file for a search, want by=solved"},
	} {
		p, err := ParseOpponent(c.spec, c.s)
		switch {
		case err != nil:
			if !strings.Contains(err.Error(), c.want) || c.want == "" {
				t.Errorf("%s: %v, want %s", c.spec, err, c.want)
			}
		case p == nil && c.want != "" || p != nil && p.String() != c.want:
			t.Errorf("%s: %v, want %s", c.spec, p, c.want)
		}
	}
}

// TestOptimalAgainst plays optimally against each opponent on boards where that differs.
func TestOptimalAgainst(t *testing.T) {
	s := Setting{Rules: newRules(t, game.Shape{Rows: 2, Cols: 3}), Max: 5, Against: solve.WorstTile}
	for _, c := range []struct{ spec, want string }{
		{"optimal", "optimal:objective=win,against=worst-tile"},
		{"optimal:against=chance", "optimal:objective=win"},
		{"minimax", "minimax:against=worst-tile,eval=modern,depth=2"},
	} {
		x, err := Parse(c.spec, s)
		if err != nil || x.String() != c.want {
			t.Errorf("%s: %v, %v, want %s", c.spec, x, err, c.want)
		}
	}
	x, err := Parse("optimal:against=worst", s)
	if err != nil {
		t.Fatal(err)
	}
	if err := Prepare(t.Context(), x); err != nil {
		t.Fatal(err)
	}
	if p := x.(*optimal).table.Problem(); p.Against != solve.Worst {
		t.Errorf("solved %v", p)
	}
}
