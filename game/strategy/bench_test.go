package strategy_test

import (
	"testing"

	"tilecheck/game"
	"tilecheck/game/strategy"
)

// BenchmarkPlayers plays whole games on 4x4: moves of the game a second, not moves looked at.
func BenchmarkPlayers(b *testing.B) {
	rules := newRules(b, game.Shape{Rows: 4, Cols: 4})
	for _, spec := range []string{
		"random", "orthogonal", "alternating", "sparse:depth=1", "sparse:depth=2", "sparse:depth=2,n=4", "sparse:depth=3", "sparse:depth=4",
		"mc:runs=10", "mc:runs=50", "mc:runs=50,value=max",
	} {
		b.Run(spec, func(b *testing.B) {
			player, rng := parse(b, rules, spec).Player(), newRand(0)
			moves := 0
			var board game.Board
			for b.Loop() {
				legal := rules.Legal(board)
				if legal == 0 {
					player.Start()
					board = rules.Start(rng)
					legal = rules.Legal(board)
				}
				d, err := player.Choose(board, legal, rng)
				if err != nil {
					b.Fatal(err)
				}
				next, _, err := rules.Move(board, d)
				if err != nil {
					b.Fatal(err)
				}
				board = rules.AddRandom(next, rng)
				moves++
			}
			b.ReportMetric(float64(moves)/b.Elapsed().Seconds(), "moves/s")
		})
	}
}

// BenchmarkChoosers decides on every reachable board of 2x2 with more than one legal move, from nothing.
func BenchmarkChoosers(b *testing.B) {
	rules := newRules(b, game.Shape{Rows: 2, Cols: 2})
	boards := reachable(rules)
	for _, spec := range []string{"sparse:depth=3,n=2", "sparse:depth=4,n=4", "mc:runs=1", "mc:runs=10", "mc:runs=50,value=max"} {
		s := parse(b, rules, spec)
		b.Run(spec, func(b *testing.B) {
			for b.Loop() {
				decideAll(b, rules, s, boards)
			}
		})
	}
}

func decideAll(b *testing.B, rules *game.Rules, s strategy.Strategy, boards []game.Board) {
	b.Helper()
	chooser := s.Chooser()
	for _, board := range boards {
		if _, err := chooser.Decide(board, rules.Legal(board), 0); err != nil {
			b.Fatal(err)
		}
	}
}
