package game_test

import (
	"errors"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/game"
)

// slowPlayOut plays one game on tile values to its end. A draw makes one of 12 x cells x 10 outcomes, equally likely: the direction in the
// highest place, then the cell, then the tile.
func slowPlayOut(s game.Shape, values []int, choose func(legal []game.Dir, draw int) game.Dir, rng *rand.Rand) (end []int, moves, score int) {
	for {
		var legal []game.Dir
		for _, d := range directions {
			if next, _ := slowMove(s, values, d); !slices.Equal(next, values) {
				legal = append(legal, d)
			}
		}
		if len(legal) == 0 {
			return values, moves, score
		}
		draw := rng.Uint64()
		choice, _ := bits.Mul64(draw, 12)
		next, gain := slowMove(s, values, choose(legal, int(choice)))
		var empty []int
		for cell, v := range next {
			if v == 0 {
				empty = append(empty, cell)
			}
		}
		outcome, _ := bits.Mul64(draw, uint64(12*len(empty)*10))
		cell := empty[int(outcome)/10%len(empty)]
		if next[cell] = 2; outcome%10 == 0 {
			next[cell] = 4
		}
		values, moves, score = next, moves+1, score+gain
	}
}

// TestPlayOut plays single games, so that the draws are in the order of the moves.
func TestPlayOut(t *testing.T) {
	tests := []struct {
		name   string
		habit  *game.Habit
		choose func(legal []game.Dir, draw int) game.Dir
	}{
		{"random", game.RandomHabit(), func(legal []game.Dir, draw int) game.Dir { return legal[draw%len(legal)] }},
		{"list", thesisOrthogonal.Habit(), func(legal []game.Dir, _ int) game.Dir {
			return thesisOrthogonal[slices.IndexFunc(thesisOrthogonal[:], func(d game.Dir) bool { return slices.Contains(legal, d) })]
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i, s := range []game.Shape{{Rows: 4, Cols: 4}, {Rows: 3, Cols: 3}, {Rows: 2, Cols: 3}, {Rows: 1, Cols: 6}} {
				r := newRules(t, s)
				for stream := range uint64(50) {
					b := r.Start(rand.New(rand.NewPCG(uint64(i), stream)))
					end, moves, score := slowPlayOut(s, s.Values(b), tt.choose, rand.New(rand.NewPCG(7, stream)))
					games := []game.Playout{{Board: b, Moves: 1000, Score: 2000}}
					if err := r.PlayOut(games, tt.habit, rand.New(rand.NewPCG(7, stream))); err != nil {
						t.Fatal(err)
					}
					if got, want := games[0], (game.Playout{Board: pack(t, s, end), Moves: moves + 1000, Score: score + 2000}); got != want {
						t.Fatalf("%s, stream %d: %v, want %v", s, stream, got, want)
					}
				}
			}
		})
	}
}

// TestPlayOutTable36 plays as TestTable36IndependentCount does, in turns, with the same bounds and the same probability of a false alarm.
func TestPlayOutTable36(t *testing.T) {
	const games = 20_000
	habits := []*game.Habit{game.RandomHabit(), thesisOpposite.Habit(), thesisOrthogonal.Habit()} // the first columns
	r := newRules(t, game.Shape{Rows: 4, Cols: 4})
	tail := 0.001 / 2 / float64(len(habits)*len(table36.maxExps)) / 2
	for i, habit := range habits {
		rng := rand.New(rand.NewPCG(8, uint64(i)))
		played := make([]game.Playout, games)
		for k := range played {
			played[k].Board = r.Start(rng)
		}
		if err := r.PlayOut(played, habit, rng); err != nil {
			t.Fatal(err)
		}
		for k, maxExp := range table36.maxExps {
			lost := 0
			for _, p := range played {
				if !p.Board.AtLeast(maxExp) {
					lost++
				}
			}
			column := table36.columns[i]
			lo, hi := column.cells[k].interval(tail)
			if atLeast(lost, games, hi) < tail || atLeast(games-lost, games, 1-lo) < tail {
				t.Errorf("%s, MAX %d: lost %d of %d games, reference %v", column.name, 1<<maxExp, lost, games, column.cells[k].p)
			}
		}
	}
}

// TestPlayOutEnds plays different numbers of games, some of them over before the first move.
func TestPlayOutEnds(t *testing.T) {
	s := game.Shape{Rows: 2, Cols: 2}
	r := newRules(t, s)
	over := pack(t, s, []int{2, 4, 4, 2})
	for n := range 6 {
		games := make([]game.Playout, n)
		for i := range games {
			if games[i].Board = over; i%2 == 1 {
				games[i].Board = pack(t, s, []int{2, 2, 0, 0})
			}
		}
		if err := r.PlayOut(games, game.RandomHabit(), rand.New(rand.NewPCG(9, uint64(n)))); err != nil {
			t.Fatal(err)
		}
		for i, g := range games {
			if i%2 == 0 && g != (game.Playout{Board: over}) {
				t.Errorf("game %d of %d: %v, want no move", i, n, g)
			}
			if i%2 == 1 && (g.Moves == 0 || !r.Lost(g.Board)) {
				t.Errorf("game %d of %d: %v, want it lost after a move or more", i, n, g)
			}
		}
	}
}

func TestPlayOutOverflow(t *testing.T) {
	s := game.Shape{Rows: 2, Cols: 2}
	r := newRules(t, s)
	games := []game.Playout{{Board: pack(t, s, []int{32768, 32768, 2, 4})}}
	if err := r.PlayOut(games, game.RandomHabit(), rand.New(rand.NewPCG(1, 1))); !errors.Is(err, game.ErrOverflow) {
		t.Errorf("%v, want ErrOverflow", err)
	}
}
