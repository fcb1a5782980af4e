package strategy_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
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
		"expectimax:eval=diagonal,depth=2", "expectimax:eval=diagonal,depth=3", "expectimax:eval=diagonal,depth=4", "expectimax:eval=diagonal",
		"expectimax:eval=snake,depth=2", "expectimax:eval=snake,depth=3", "expectimax:eval=snake,depth=4", "expectimax:eval=snake",
		"expectimax:eval=cs221,depth=3", "expectimax:eval=cs221,depth=4", "expectimax:eval=cs221",
		"modern:depth=1", "modern:depth=2", "modern:depth=3", "modern",
	} {
		b.Run(spec, func(b *testing.B) {
			g := benchGame{rules: rules, player: parse(b, rules, spec).Player(), rng: newRand(0)}
			moves := 0
			for b.Loop() {
				if err := g.move(); err != nil {
					b.Fatal(err)
				}
				moves++
			}
			b.ReportMetric(float64(moves)/b.Elapsed().Seconds(), "moves/s")
		})
	}
}

// benchGame plays games without end.
type benchGame struct {
	rules  *game.Rules
	player strategy.Player
	rng    *rand.Rand
	board  game.Board
}

func (g *benchGame) move() error {
	legal := g.rules.Legal(g.board)
	if legal == 0 {
		g.player.Start()
		g.board = g.rules.Start(g.rng)
		legal = g.rules.Legal(g.board)
	}
	d, err := g.player.Choose(g.board, legal, g.rng)
	if err != nil {
		return err
	}
	next, _, err := g.rules.Move(g.board, d)
	g.board = g.rules.AddRandom(next, g.rng)
	return err
}

// BenchmarkWorkers plays games with one worker and with two: moves of all of them a second.
func BenchmarkWorkers(b *testing.B) {
	rules := newRules(b, game.Shape{Rows: 4, Cols: 4})
	const batch = 100 // moves of each worker an iteration
	for _, spec := range []string{"random", "sparse:depth=3", "expectimax:eval=snake,depth=2", "modern:depth=2"} {
		for workers := 1; workers <= 2; workers++ {
			b.Run(fmt.Sprintf("%s/workers=%d", spec, workers), func(b *testing.B) {
				s := parse(b, rules, spec)
				var group sync.WaitGroup
				for w := range workers {
					group.Go(func() {
						g := benchGame{rules: rules, player: s.Player(), rng: newRand(uint64(w))}
						for range b.N * batch {
							if err := g.move(); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				group.Wait()
				b.ReportMetric(float64(workers*batch*b.N)/b.Elapsed().Seconds(), "moves/s")
			})
		}
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
