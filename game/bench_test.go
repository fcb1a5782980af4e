package game_test

import (
	"math/rand/v2"
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

func BenchmarkRandomGame(b *testing.B) {
	r := newRules(b, game.Shape{Rows: 4, Cols: 4})
	pcg := rand.NewPCG(1, 0)
	rng := rand.New(pcg)
	moves, stream := 0, uint64(0)
	for b.Loop() {
		pcg.Seed(1, stream)
		stream++
		board := r.Start(rng)
		for legal := r.Legal(board); legal != 0; legal = r.Legal(board) {
			next, _, err := r.Move(board, legal.At(int(rng.Uint32N(uint32(legal.Len())))))
			if err != nil {
				b.Fatal(err)
			}
			board = r.AddRandom(next, rng)
			moves++
		}
	}
	reportMoves(b, moves)
}

func BenchmarkPreferenceGame(b *testing.B) {
	r := newRules(b, game.Shape{Rows: 4, Cols: 4})
	pcg := rand.NewPCG(1, 0)
	rng := rand.New(pcg)
	moves, stream := 0, uint64(0)
	for b.Loop() {
		pcg.Seed(1, stream)
		stream++
		board := r.Start(rng)
		for legal := r.Legal(board); legal != 0; legal = r.Legal(board) {
			next, _, err := r.Move(board, thesisOrthogonal.Choose(legal))
			if err != nil {
				b.Fatal(err)
			}
			board = r.AddRandom(next, rng)
			moves++
		}
	}
	reportMoves(b, moves)
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		newRules(b, game.Shape{Rows: 4, Cols: 4})
	}
}
