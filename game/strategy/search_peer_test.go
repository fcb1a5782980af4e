package strategy

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"tilecheck/game"
)

// peerSearch is what nneonneo/2048-ai makes of a board.
type peerSearch struct {
	board  game.Board
	depth  int
	moves  int // evaluated: four for each board with a new tile, legal or not
	values [4]float64
}

// peerSearches reads testdata/2048-ai.txt.
func peerSearches(t testing.TB) []peerSearch {
	t.Helper()
	text, err := os.ReadFile("testdata/2048-ai.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []peerSearch
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var p peerSearch
		v := &p.values
		if _, err := fmt.Sscanf(line, "%x %d %d %g %g %g %g", (*uint64)(&p.board), &p.depth, &p.moves, &v[game.Up], &v[game.Down], &v[game.Left], &v[game.Right]); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		out = append(out, p)
	}
	return out
}

// countingEvaluation counts the moves that a search evaluates.
type countingEvaluation struct {
	evaluation
	rules *game.Rules
	moves int
}

func (c *countingEvaluation) count(b game.Board, fours bool) {
	const directions, tiles = 4, 2
	c.moves += c.rules.NumEmptyCells(b) * directions
	if fours {
		c.moves += c.rules.NumEmptyCells(b) * directions * (tiles - 1)
	}
}

func (c *countingEvaluation) sumOverTiles(b game.Board, fours bool, after func(game.Board, int) (int64, error)) (two, four int64, err error) {
	c.count(b, fours)
	return c.evaluation.sumOverTiles(b, fours, after)
}

func (c *countingEvaluation) sumOverLastTiles(b game.Board, fours bool) (two, four int64, err error) {
	c.count(b, fours)
	return c.evaluation.sumOverLastTiles(b, fours)
}

// modern searches as the peer does: the values are the same but for the rounding of its floating point, and it looks at exactly as many
// boards.
func TestModernAgreesWithPeer(t *testing.T) {
	rules := newRules(t, game.Shape{Rows: 4, Cols: 4})
	counted := countingEvaluation{evaluation: newModernEvaluation(rules), rules: rules}
	s := cutSearch{rules: rules, evaluation: &counted, cutoff: 0.0001, table: newSearchTable()}
	for _, p := range peerSearches(t) {
		counted.moves, s.depth = 0, p.depth
		for d, want := range p.values {
			next, _, err := rules.Move(p.board, game.Dir(d))
			if err != nil {
				t.Fatal(err)
			}
			got := 0.0
			if next != p.board {
				s.table.reset()
				v, err := s.after(next, 0, 1)
				if err != nil {
					t.Fatal(err)
				}
				got = float64(v) / unit
			}
			const rounding = 1e-6 // relative, of sums of float32; and what the peer adds to every legal move
			if math.Abs(got-want) > rounding*max(want, 1) {
				t.Errorf("%v, depth %d, %v is worth %v, want %v", p.board, p.depth, game.Dir(d), got, want)
			}
		}
		if counted.moves != p.moves {
			t.Errorf("%v, depth %d: %d moves evaluated, want %d", p.board, p.depth, counted.moves, p.moves)
		}
	}
}

// BenchmarkModernSearch chooses moves on the boards of the peer, and counts the moves evaluated as the peer does.
func BenchmarkModernSearch(b *testing.B) {
	rules := newRules(b, game.Shape{Rows: 4, Cols: 4})
	all := peerSearches(b)
	for depth := 1; depth <= 3; depth++ {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			s, err := Parse(fmt.Sprintf("modern:depth=%d", depth), Setting{Rules: rules})
			if err != nil {
				b.Fatal(err)
			}
			player := s.Player()
			moves, roots := 0, 0
			for b.Loop() {
				for _, p := range all {
					if p.depth != depth {
						continue
					}
					if _, err := player.Choose(p.board, rules.Legal(p.board), nil); err != nil {
						b.Fatal(err)
					}
					moves += p.moves
					roots++
				}
			}
			b.ReportMetric(float64(moves)/b.Elapsed().Seconds(), "evals/s")
			b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(roots), "µs/choice")
		})
	}
}

func newRules(t testing.TB, shape game.Shape) *game.Rules {
	t.Helper()
	rules, err := game.New(shape)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}
