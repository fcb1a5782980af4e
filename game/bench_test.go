package game_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tilecheck/game"
)

// reportMoves reports moves per second and per game.
func reportMoves(b *testing.B, moves int) {
	b.ReportMetric(float64(moves)/b.Elapsed().Seconds(), "moves/s")
	b.ReportMetric(float64(moves)/float64(b.N), "moves/op")
}

// playedBoards returns boards from random games, in order of play.
func playedBoards(b *testing.B, r *game.Rules, n int) []game.Board {
	rng := rand.New(rand.NewPCG(1, 0))
	var boards []game.Board
	for board := r.Start(rng); len(boards) < n; {
		boards = append(boards, board)
		legal := r.Legal(board)
		if legal == 0 {
			board = r.Start(rng)
			continue
		}
		next, _, err := r.Move(board, legal.At(rng.IntN(legal.Len())))
		if err != nil {
			b.Fatal(err)
		}
		board = r.AddRandom(next, rng)
	}
	return boards
}

func BenchmarkMove(b *testing.B) {
	for _, s := range []game.Shape{{Rows: 4, Cols: 4}, {Rows: 3, Cols: 3}, {Rows: 2, Cols: 6}} {
		for _, d := range directions {
			b.Run(s.String()+"/"+d.String(), func(b *testing.B) {
				r := newRules(b, s)
				boards := playedBoards(b, r, 1<<12)
				i := 0
				for b.Loop() {
					r.Move(boards[i%len(boards)], d)
					i++
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "moves/s")
			})
		}
	}
}

func BenchmarkLegal(b *testing.B) {
	r := newRules(b, game.Shape{Rows: 4, Cols: 4})
	boards := playedBoards(b, r, 1<<12)
	i := 0
	for b.Loop() {
		r.Legal(boards[i%len(boards)])
		i++
	}
}

func BenchmarkCanonical(b *testing.B) {
	for _, s := range []game.Shape{{Rows: 4, Cols: 4}, {Rows: 3, Cols: 3}, {Rows: 3, Cols: 4}} {
		b.Run(s.String(), func(b *testing.B) {
			r := newRules(b, s)
			boards := playedBoards(b, r, 1<<12)
			i := 0
			for b.Loop() {
				r.Canonical(boards[i%len(boards)])
				i++
			}
		})
	}
}

func BenchmarkMoved(b *testing.B) {
	for _, s := range []game.Shape{{Rows: 4, Cols: 4}, {Rows: 3, Cols: 3}, {Rows: 3, Cols: 4}} {
		b.Run(s.String(), func(b *testing.B) {
			r := newRules(b, s)
			boards := playedBoards(b, r, 1<<12)
			var next [4]game.Board
			i := 0
			for b.Loop() {
				r.Moved(boards[i%len(boards)], &next)
				i++
			}
		})
	}
}

func BenchmarkAddRandom(b *testing.B) {
	r := newRules(b, game.Shape{Rows: 4, Cols: 4})
	boards := slices.DeleteFunc(playedBoards(b, r, 1<<12), func(b game.Board) bool { return r.NumEmptyCells(b) == 0 })
	rng := rand.New(rand.NewPCG(1, 0))
	i := 0
	for b.Loop() {
		r.AddRandom(boards[i%len(boards)], rng)
		i++
	}
}

// BenchmarkGame plays games one after the other, on all moves at once or on the legal moves and one of them.
func BenchmarkGame(b *testing.B) {
	r := newRules(b, game.Shape{Rows: 4, Cols: 4})
	random := func(legal game.Moves, rng *rand.Rand) game.Dir { return legal.Random(rng) }
	list := func(legal game.Moves, _ *rand.Rand) game.Dir { return thesisOrthogonal.Choose(legal) }
	b.Run("random/Moved", func(b *testing.B) { benchmarkMoved(b, r, random) })
	b.Run("random/Move", func(b *testing.B) { benchmarkMove(b, r, random) })
	b.Run("list/Moved", func(b *testing.B) { benchmarkMoved(b, r, list) })
	b.Run("list/Move", func(b *testing.B) { benchmarkMove(b, r, list) })
}

func benchmarkMoved(b *testing.B, r *game.Rules, choose func(game.Moves, *rand.Rand) game.Dir) {
	rng := rand.New(rand.NewPCG(1, 0))
	moves := 0
	var next [4]game.Board
	for b.Loop() {
		for board := r.Start(rng); ; moves++ {
			legal, overflow := r.Moved(board, &next)
			if overflow != 0 {
				b.Fatal(game.ErrOverflow)
			}
			if legal == 0 {
				break
			}
			board = r.AddRandom(next[choose(legal, rng)], rng)
		}
	}
	reportMoves(b, moves)
}

func benchmarkMove(b *testing.B, r *game.Rules, choose func(game.Moves, *rand.Rand) game.Dir) {
	rng := rand.New(rand.NewPCG(1, 0))
	moves := 0
	for b.Loop() {
		board := r.Start(rng)
		for legal := r.Legal(board); legal != 0; legal = r.Legal(board) {
			next, _, err := r.Move(board, choose(legal, rng))
			if err != nil {
				b.Fatal(err)
			}
			board = r.AddRandom(next, rng)
			moves++
		}
	}
	reportMoves(b, moves)
}

func BenchmarkPlayOut(b *testing.B) {
	r := newRules(b, game.Shape{Rows: 4, Cols: 4})
	for _, player := range []struct {
		name  string
		habit *game.Habit
	}{{"random", game.RandomHabit()}, {"list", thesisOrthogonal.Habit()}} {
		b.Run(player.name, func(b *testing.B) {
			rng := rand.New(rand.NewPCG(1, 0))
			games := make([]game.Playout, 100)
			moves := 0
			for b.Loop() {
				for i := range games {
					games[i] = game.Playout{Board: r.Start(rng)}
				}
				if err := r.PlayOut(games, player.habit, rng); err != nil {
					b.Fatal(err)
				}
				for _, g := range games {
					moves += g.Moves
				}
			}
			reportMoves(b, moves)
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		newRules(b, game.Shape{Rows: 4, Cols: 4})
	}
}
