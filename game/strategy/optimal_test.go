package strategy_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tilecheck/game"
	"tilecheck/game/solve"
	"tilecheck/game/strategy"
)

// evaluator computes by recursion what a strategy without memory is worth.
type evaluator struct {
	*testing.T
	rules   *game.Rules
	chooser strategy.Chooser
	max     int // exponent
	// reward is what a move earns, won what a board with MAX is worth.
	reward func(score int) int64
	won    int64
	known  map[game.Board]*big.Rat
}

// after returns the value of a board that gets so many new tiles.
func (e *evaluator) after(b game.Board, tiles int) *big.Rat {
	if tiles == 0 {
		return e.value(b)
	}
	sum, empties := new(big.Rat), e.rules.NumEmptyCells(b)
	for i := range empties {
		for exp, odds := range []int64{1: 9, 2: 1} {
			if odds > 0 {
				p := big.NewRat(odds, int64(10*empties))
				sum.Add(sum, p.Mul(p, e.after(e.rules.Spawn(b, i, exp), tiles-1)))
			}
		}
	}
	return sum
}

func (e *evaluator) value(b game.Board) *big.Rat {
	legal := e.rules.Legal(b)
	switch {
	case b.AtLeast(e.max):
		return big.NewRat(e.won, 1)
	case legal == 0:
		return new(big.Rat)
	case e.known[b] != nil:
		return e.known[b]
	}
	sum := new(big.Rat)
	choices, err := e.chooser.Decide(b, legal, 0)
	if err != nil {
		e.Fatal(err)
	}
	for _, c := range choices {
		next, score, err := e.rules.Move(b, c.Dir)
		if err != nil {
			e.Fatal(err)
		}
		v := new(big.Rat).SetInt64(e.reward(score))
		if next.AtLeast(e.max) {
			v.Add(v, big.NewRat(e.won, 1))
		} else {
			v.Add(v, e.after(next, 1))
		}
		sum.Add(sum, v.Mul(v, c.Prob))
	}
	e.known[b] = sum
	return sum
}

func evaluate(t *testing.T, rules *game.Rules, s strategy.Strategy, max int, objective solve.Objective) *big.Rat {
	t.Helper()
	e := evaluator{T: t, rules: rules, chooser: s.Chooser(), max: max, known: map[game.Board]*big.Rat{}}
	switch objective {
	case solve.Win:
		e.reward, e.won = func(int) int64 { return 0 }, 1
	case solve.Score:
		e.reward = func(score int) int64 { return int64(score) }
	case solve.Moves:
		e.reward = func(int) int64 { return 1 }
	}
	return e.after(0, 2)
}

// The values are those of the exact engine and of PRISM (shared/reference/2048-numbers.md): the optimal probability of winning.
func TestOptimalWinsAsOften(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 2, Cols: 2})
	for max, want := range map[int]*big.Rat{
		3: big.NewRat(1, 1),
		4: big.NewRat(770009003, 800000000),
		5: big.NewRat(663098312572433, 8000000000000000),
	} {
		s := prepared(t, rules, max, "optimal")
		if got := evaluate(t, rules, s, max, solve.Win); got.Cmp(want) != 0 {
			t.Errorf("2x2 to %d: optimal play wins with probability %v, want %v", game.Value(max), got, want)
		}
	}
}

// For each objective optimal play is worth what the table says the game is, and no other strategy is worth more.
func TestOptimalIsBest(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 2, Cols: 2})
	for _, max := range []int{5, 0} {
		for _, objective := range []solve.Objective{solve.Win, solve.Score, solve.Moves} {
			end := max
			if max == 0 {
				end = 6 // out of reach on 2x2: the game goes on until it is lost
				if objective == solve.Win {
					continue
				}
			}
			_, stats, err := solve.Solve(t.Context(), solve.Options{Shape: rules.Shape(), Max: game.Value(end), Objective: objective})
			if err != nil {
				t.Fatal(err)
			}
			best, _ := evaluate(t, rules, prepared(t, rules, max, "optimal:objective="+objective.String()), end, objective).Float64()
			if math.Abs(best-stats.Initial) > 1e-12*best {
				t.Errorf("%v to exponent %d: optimal play is worth %v, want %v", objective, max, best, stats.Initial)
			}
			for _, spec := range []string{"random", "orthogonal", "sparse:depth=2", "mc:runs=1"} {
				if v, _ := evaluate(t, rules, parse(t, rules, spec), end, objective).Float64(); v > best*(1+1e-12) {
					t.Errorf("%v to exponent %d: %s is worth %v, more than optimal play, %v", objective, max, spec, v, best)
				}
			}
		}
	}
}

func TestOptimalFromFile(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 2, Cols: 2})
	path := solved(t, solve.Options{Shape: rules.Shape(), Max: 32})
	memory := prepared(t, rules, 5, "optimal").Chooser()
	for _, max := range []int{5, 0} {
		s := prepared(t, rules, max, "optimal:file="+path)
		if want := "optimal:objective=win,file=" + path; s.String() != want {
			t.Errorf("spec is %s, want %s", s, want)
		}
		file := s.Chooser()
		for _, b := range reachable(rules) {
			want, err := memory.Decide(b, rules.Legal(b), 0)
			if err != nil {
				t.Fatal(err)
			}
			got, err := file.Decide(b, rules.Legal(b), 0)
			if err != nil || len(got) != 1 || got[0].Dir != want[0].Dir {
				t.Fatalf("%v: %v, error %v, want %v", b, got, err, want)
			}
		}
	}
}

// With MAX on the board the first legal move is made.
func TestOptimalAfterWinning(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 2, Cols: 2})
	s := prepared(t, rules, 4, "optimal")
	for board, want := range map[string]game.Dir{"16 2 / . .": game.Down, "16 . / 2 2": game.Left, "32 . / . .": game.Right} {
		b, err := rules.Shape().Parse(board)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Player().Choose(b, rules.Legal(b), newRand(0)); err != nil || got != want {
			t.Errorf("%s: %v, error %v, want %v", board, got, err, want)
		}
	}
}

func TestOptimalErrors(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 2, Cols: 2})
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage")
	if err := os.WriteFile(garbage, make([]byte, 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	other := solved(t, solve.Options{Shape: rules.Shape(), Max: 16})
	oblong := solved(t, solve.Options{Shape: game.Shape{Rows: 1, Cols: 3}, Max: 16})
	twos := solved(t, solve.Options{Shape: rules.Shape(), Max: 32, P2: big.NewRat(1, 1)})
	for _, c := range []struct{ spec, want string }{
		{"optimal:file=" + filepath.Join(dir, "none"), "no such file"},
		{"optimal:file=" + garbage, "read table " + garbage},
		{"optimal:file=" + other, "found win on 2x2 to 16, want win on 2x2 to 32"},
		{"optimal:file=" + oblong, "found win on 1x3 to 16, want win on 2x2 to 32"},
		{"optimal:file=" + twos, "found win on 2x2 to 32, probability of a 2 1/1, want win on 2x2 to 32"},
		{"optimal:objective=score,file=" + other, "found win on 2x2 to 16, want score on 2x2 to 32"},
	} {
		s, err := strategy.Parse(c.spec, strategy.Setting{Rules: rules, Max: 5})
		if err != nil {
			t.Fatal(err)
		}
		if err := strategy.Prepare(t.Context(), s); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error is %v, want %s", c.spec, err, c.want)
		}
	}
	for _, c := range []struct {
		spec  string
		shape game.Shape
		want  string
	}{
		{"optimal", game.Shape{Rows: 2, Cols: 2}, "a game that goes on, want a tile that ends it"},
		{"optimal:objective=score", game.Shape{Rows: 4, Cols: 4}, "a game that goes on, want a tile that ends it"},
		{"optimal:objective=max", game.Shape{Rows: 2, Cols: 2}, "objective is max, want win, score, moves"},
		{"optimal:depth=1", game.Shape{Rows: 2, Cols: 2}, `unknown option "depth", want objective, against, file`},
	} {
		_, err := strategy.Parse(c.spec, strategy.Setting{Rules: newRules(t, c.shape)})
		if _, ok := errors.AsType[*strategy.SpecError](err); !ok || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s on %v: error is %v, want %s", c.spec, c.shape, err, c.want)
		}
	}
}

func TestOptimalNotPrepared(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 3, Cols: 3})
	s, err := strategy.Parse("optimal", strategy.Setting{Rules: rules, Max: 10})
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := strategy.Prepare(stopped, s); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want %v", err, context.Canceled)
	}
	b := rules.Start(newRand(0))
	if _, err := s.Player().Choose(b, rules.Legal(b), newRand(0)); err == nil || !strings.Contains(err.Error(), "not prepared") {
		t.Errorf("error is %v, want that it is not prepared", err)
	}
}

// A board without a 2 and a 4 has no new tile: the game cannot reach it.
func TestOptimalUnreachable(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 2, Cols: 2})
	s := prepared(t, rules, 5, "optimal")
	b, err := rules.Shape().Parse("16 16 / 16 16")
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Chooser().Decide(b, rules.Legal(b), 0)
	if err == nil || !strings.Contains(err.Error(), "not in the table of win on 2x2 to 32") {
		t.Errorf("error is %v, want that the board is not in the table", err)
	}
}

// prepared returns a strategy that is ready to play.
func prepared(t *testing.T, rules *game.Rules, max int, spec string) strategy.Strategy {
	t.Helper()
	s, err := strategy.Parse(spec, strategy.Setting{Rules: rules, Max: max})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := strategy.Prepare(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// solved returns the path of a file with the solution.
func solved(t *testing.T, opts solve.Options) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table")
	if _, err := solve.SolveFile(t.Context(), path, false, opts); err != nil {
		t.Fatal(err)
	}
	return path
}
