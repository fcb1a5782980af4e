package strategy_test

import (
	"errors"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"tilecheck/game"
	"tilecheck/game/strategy"
)

func TestParseExpectimax(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 4, Cols: 4})
	for _, c := range []struct{ spec, canonical string }{
		{"expectimax", "expectimax:eval=snake,depth=adaptive,empty=32,mono=1"},
		{"expectimax:depth=2", "expectimax:eval=snake,depth=2,empty=32,mono=1"},
		{"expectimax:eval=diagonal,empty=0,mono=1000000,depth=8", "expectimax:eval=diagonal,depth=8,empty=0,mono=1000000"},
		{"expectimax:eval=cs221", "expectimax:eval=cs221,depth=variable"},
		{"expectimax:eval=cs221,depth=6", "expectimax:eval=cs221,depth=6"},
		{"expectimax:eval=modern", "expectimax:eval=modern,depth=distinct,cutoff=0.0001"},
		{"modern", "expectimax:eval=modern,depth=distinct,cutoff=0.0001"},
		{"modern:cutoff=0,depth=3", "expectimax:eval=modern,depth=3,cutoff=0"},
		{"modern:cutoff=2e-3", "expectimax:eval=modern,depth=distinct,cutoff=0.002"},
	} {
		s := parse(t, rules, c.spec)
		if got := s.String(); got != c.canonical {
			t.Errorf("%q is %q, want %q", c.spec, got, c.canonical)
		}
		if !s.Deterministic() || s.Memory() != 1 {
			t.Errorf("%q: deterministic %t, memory %d, want true and 1", c.spec, s.Deterministic(), s.Memory())
		}
	}
	for _, c := range []struct{ spec, want string }{
		{"expectimax:eval=zigzag", "eval is zigzag, want snake, diagonal, cs221, modern"},
		{"expectimax:depth=0", "depth is 0, want an integer from 1 to 8 or adaptive"},
		{"expectimax:depth=variable", "depth is variable, want an integer from 1 to 8 or adaptive"},
		{"expectimax:empty=-1", "empty is -1, want an integer from 0 to 1000000"},
		{"expectimax:cutoff=0", `unknown option "cutoff", want eval, depth, empty, mono`},
		{"expectimax:eval=cs221,depth=7", "depth is 7, want an integer from 1 to 6 or variable"},
		{"expectimax:eval=cs221,empty=1", `unknown option "empty", want eval, depth`},
		{"modern:depth=9", "depth is 9, want an integer from 1 to 8 or distinct"},
		{"modern:cutoff=1.5", "cutoff is 1.5, want a number from 0 to 1"},
		{"modern:cutoff=nan", "cutoff is nan, want a number from 0 to 1"},
		{"modern:eval=snake", `unknown option "eval", want depth, cutoff`},
	} {
		_, err := strategy.Parse(c.spec, strategy.Setting{Rules: rules})
		specErr, ok := errors.AsType[*strategy.SpecError](err)
		if !ok || specErr.Found+", want "+specErr.Want != c.want {
			t.Errorf("%q: error is %v, want %s", c.spec, err, c.want)
		}
	}
}

// every has each kind of expectimax, and each way to choose a depth.
var every = []string{
	"expectimax:eval=snake,depth=1", "expectimax:eval=snake,depth=2", "expectimax:eval=snake",
	"expectimax:eval=diagonal,depth=3", "expectimax:eval=cs221,depth=1", "expectimax:eval=cs221,depth=2", "expectimax:eval=cs221",
	"modern:depth=1", "modern:depth=3,cutoff=0", "modern",
}

// On every reachable board of 2x2 the chooser has one choice, and it is what the player does.
func TestExpectimaxPlayersAgreeWithChoosers(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 2, Cols: 2})
	boards := reachable(rules)
	for _, spec := range every {
		s := parse(t, rules, spec)
		player, chooser := s.Player(), s.Chooser()
		player.Start()
		for _, b := range boards {
			legal := rules.Legal(b)
			d, err := player.Choose(b, legal, nil)
			if err != nil || !legal.Has(d) {
				t.Fatalf("%v: board %v, moves %v, error %v, want a legal move", s, b, d, err)
			}
			got, err := chooser.Decide(b, legal, 0)
			if err != nil {
				t.Fatal(err)
			}
			sameChoices(t, b, got, map[game.Dir]*big.Rat{d: big.NewRat(1, 1)})
		}
	}
}

// The probabilities of the choices of every family sum to 1 exactly, each is positive, and each move is legal.
func TestChoicesSumToOne(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 2, Cols: 2})
	boards := reachable(rules)
	specs := append([]string{
		"random", "orthogonal", "alternating", "sparse:depth=2,n=2", "sparse:depth=3,ties=first", "mc:runs=2", "mc:runs=3,value=max,ties=first",
	}, every...)
	for _, spec := range specs {
		s := parse(t, rules, spec)
		chooser := s.Chooser()
		for _, b := range boards {
			for memory := range s.Memory() {
				choices, err := chooser.Decide(b, rules.Legal(b), memory)
				if err != nil {
					t.Fatal(err)
				}
				sum, seen := new(big.Rat), map[[2]int]bool{}
				for _, c := range choices {
					sum.Add(sum, c.Prob)
					if c.Prob.Sign() <= 0 || !rules.Legal(b).Has(c.Dir) || c.Memory >= s.Memory() || seen[[2]int{int(c.Dir), c.Memory}] {
						t.Fatalf("%v: board %v, memory %d: choice %v of %v", s, b, memory, c, choices)
					}
					seen[[2]int{int(c.Dir), c.Memory}] = true
				}
				if sum.Cmp(big.NewRat(1, 1)) != 0 {
					t.Fatalf("%v: board %v, memory %d: probabilities sum to %v, want 1", s, b, memory, sum)
				}
			}
		}
	}
}

// playedBoards returns boards of random games in which there is a choice.
func playedBoards(t *testing.T, rules *game.Rules, n int) []game.Board {
	t.Helper()
	player, rng := parse(t, rules, "expectimax:depth=1").Player(), newRand(11)
	var out []game.Board
	for b := rules.Start(rng); len(out) < n; {
		legal := rules.Legal(b)
		if legal == 0 {
			b = rules.Start(rng)
			continue
		}
		if legal.Len() > 1 && rng.IntN(20) == 0 {
			out = append(out, b)
		}
		d, err := player.Choose(b, legal, rng)
		if err != nil {
			t.Fatal(err)
		}
		next, _, err := rules.Move(b, d)
		if err != nil {
			t.Fatal(err)
		}
		b = rules.AddRandom(next, rng)
	}
	return out
}

// Players of one strategy make the same moves wherever they run and whatever they saw before.
func TestExpectimaxIsTheSameForAnyWorkers(t *testing.T) {
	for _, shape := range []game.Shape{{Rows: 3, Cols: 3}, {Rows: 4, Cols: 4}} {
		rules := newRules(t, shape)
		boards := playedBoards(t, rules, 12)
		for _, spec := range every {
			s := parse(t, rules, spec)
			alone := moves(rules, s, boards)
			const workers = 3
			var group sync.WaitGroup
			got := make([][]game.Dir, workers)
			for w := range workers {
				group.Go(func() {
					// Each begins elsewhere.
					first := w * len(boards) / workers
					dirs := moves(rules, s, slices.Concat(boards[first:], boards[:first]))
					got[w] = slices.Concat(dirs[len(boards)-first:], dirs[:len(boards)-first])
				})
			}
			group.Wait()
			for w := range workers {
				if alone == nil || !slices.Equal(got[w], alone) {
					t.Errorf("%v on %s: worker %d moves %v, want %v", s, shape, w, got[w], alone)
				}
			}
		}
	}
}

// moves returns what a new player does on boards, nil after an error.
func moves(rules *game.Rules, s strategy.Strategy, boards []game.Board) []game.Dir {
	player := s.Player()
	var out []game.Dir
	for _, b := range boards {
		d, err := player.Choose(b, rules.Legal(b), nil)
		if err != nil {
			return nil
		}
		out = append(out, d)
	}
	return out
}

// The only move is made; of equal moves, the first in the order left, right, up, down.
func TestExpectimaxForcedAndTied(t *testing.T) {
	for _, c := range []struct {
		shape game.Shape
		board string
		tied  bool // mirror images follow, which the snake and the diagonal tell apart
		want  game.Dir
	}{
		{game.Shape{Rows: 1, Cols: 3}, "2 4 .", false, game.Right},
		{game.Shape{Rows: 1, Cols: 4}, "2 4 4 2", true, game.Left},
		{game.Shape{Rows: 4, Cols: 1}, "2 / 4 / 4 / 2", true, game.Up},
		{game.Shape{Rows: 4, Cols: 4}, "2 4 8 16 / 4 8 16 32 / 2 4 8 16 / . . . .", false, game.Down},
	} {
		rules := newRules(t, c.shape)
		b, err := c.shape.Parse(c.board)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range every {
			if c.tied && !strings.Contains(spec, "cs221") && !strings.Contains(spec, "modern") {
				continue
			}
			if got := moves(rules, parse(t, rules, spec), []game.Board{b}); !slices.Equal(got, []game.Dir{c.want}) {
				t.Errorf("%s: %s moves %v, want %v", c.board, spec, got, c.want)
			}
		}
	}
}

// A game that cannot go on after the next tile, and one with a single empty cell, are no trouble: every legal move can be weighed.
func TestExpectimaxOnFullBoards(t *testing.T) {
	for _, shape := range []game.Shape{{Rows: 2, Cols: 2}, {Rows: 3, Cols: 3}, {Rows: 4, Cols: 4}} {
		rules := newRules(t, shape)
		// All tiles differ, but for one empty cell.
		var b game.Board
		for i := range shape.Cells() - 1 {
			b = b.With(i, 1+(i*2+i/shape.Cols)%13)
		}
		// The same, full, with one pair that merges.
		pair := b.With(shape.Cells()-1, b.Cell(shape.Cells()-2))
		for _, b := range []game.Board{b, pair} {
			legal := rules.Legal(b)
			if legal.Len() < 2 {
				t.Fatalf("%s board %v: legal moves %v, want two", shape, b, legal)
			}
			for _, spec := range every {
				d, err := parse(t, rules, spec).Player().Choose(b, legal, nil)
				if err != nil || !legal.Has(d) {
					t.Errorf("%s board %v: %s moves %v, error %v", shape, b, spec, d, err)
				}
			}
		}
	}
}

// A merge of two 32768 is an error, now and ahead.
func TestExpectimaxOverflow(t *testing.T) {
	for _, c := range []struct {
		shape game.Shape
		board string
		ahead bool
	}{
		{game.Shape{Rows: 2, Cols: 2}, "32768 32768 / 2 4", false},
		{game.Shape{Rows: 4, Cols: 4}, "32768 32768 2 4 / 8 16 8 16 / 16 8 16 8 / . . . .", false},
		{game.Shape{Rows: 2, Cols: 2}, "32768 2 / . 32768", true},
		{game.Shape{Rows: 4, Cols: 4}, "32768 2 4 8 / . 32768 2 4 / 2 4 8 16 / 4 8 16 32", true},
	} {
		rules := newRules(t, c.shape)
		b, err := c.shape.Parse(c.board)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range every {
			if c.ahead && strings.HasSuffix(spec, "depth=1") && !strings.HasPrefix(spec, "modern") {
				continue // looks at no move after the first
			}
			if _, err := parse(t, rules, spec).Player().Choose(b, rules.Legal(b), nil); !errors.Is(err, game.ErrOverflow) {
				t.Errorf("%s: %s returned error %v, want %v", c.board, spec, err, game.ErrOverflow)
			}
		}
	}
}

// The move that expectimax makes is the first of those with the largest value.
func TestValuesOfMoves(t *testing.T) {
	for _, spec := range []string{"expectimax:depth=3", "expectimax:eval=cs221,depth=2", "expectimax:eval=modern,depth=2"} {
		t.Run(spec, func(t *testing.T) { valuesOfMoves(t, spec) })
	}
}

func valuesOfMoves(t *testing.T, spec string) {
	rules, err := game.New(game.Shape{Rows: 4, Cols: 4})
	if err != nil {
		t.Fatal(err)
	}
	s, err := strategy.Parse(spec, strategy.Setting{Rules: rules, Max: 11})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	player := s.Player()
	b := rules.Start(rng)
	compared := 0
	for legal := rules.Legal(b); legal != 0 && compared < 100; legal = rules.Legal(b) {
		values, ok, err := strategy.Values(s, b)
		if err != nil || !ok || len(values) != legal.Len() {
			t.Fatalf("%v: %v, %v, %v", b, values, ok, err)
		}
		best := values[0]
		for _, v := range values[1:] {
			if v.Value > best.Value {
				best = v
			}
		}
		dir, err := player.Choose(b, legal, rng)
		if err != nil {
			t.Fatal(err)
		}
		if dir != best.Dir {
			t.Errorf("%v: makes %v, the values are %v", b, dir, values)
		}
		if b, _, err = rules.Move(b, dir); err != nil {
			t.Fatal(err)
		}
		b = rules.AddRandom(b, rng)
		compared++
	}
	if compared < 50 {
		t.Errorf("%d moves were compared", compared)
	}
}
