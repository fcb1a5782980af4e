package play

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"tilecheck/game"
	"tilecheck/game/strategy"
	"tilecheck/internal/needs"
)

// TestReplayTo131072 replays a game on one row in which new tiles help: every one is a 4, next to the last tile, or where the row can slide.
// The tiles count in binary until 131072, the largest tile that a game can make.
func TestReplayTo131072(t *testing.T) {
	m := Match{Shape: game.Shape{Rows: 1, Cols: 16}, Goal: game.MaxWideExponent}
	rules, err := game.New(m.Shape)
	if err != nil {
		t.Fatal(err)
	}
	steps := &Transcript{Start: game.Board(0x22)}
	for w := (game.Wide{Low: steps.Start}); ; {
		next, _, err := rules.MoveWide(w, game.Left)
		if err != nil {
			t.Fatal(err)
		}
		if next.AtLeast(m.Goal) {
			steps.Steps = append(steps.Steps, Step{Dir: game.Left})
			break
		}
		last := 0
		for next.Cell(last) != 0 {
			last++
		}
		cell := min(last+1, 15) // a gap, so that the row can slide
		steps.Steps = append(steps.Steps, Step{Dir: game.Left, Cell: cell, Exp: 2})
		w = next.With(cell, 2)
	}
	var text strings.Builder
	g, err := m.Replay(steps, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !g.Won || g.Max != 17 || g.Score < 15<<17 || g.Moves != int64(len(steps.Steps)) {
		t.Errorf("%+v after %d steps, want the largest tile 2^17", g, len(steps.Steps))
	}
	// The same game through a record.
	rec, err := NewRecorder(&text, m, "pref:left,right,up,down")
	if err == nil {
		err = rec.Write(&Played{g, steps})
	}
	if err != nil {
		t.Fatal(err)
	}
	record := strings.Replace(text.String(), "seed 0", "seed none", 1)
	if !strings.Contains(record, "max 131072") || !strings.Contains(record, "largest 131072") {
		t.Errorf("record begins with %.100s", record)
	}
	if _, err := ReadRecord(strings.NewReader(record), "r", func(p *Played) error {
		if !p.same(g) {
			t.Errorf("read %+v, want %+v", p.Game, g)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// wideRunner returns a runner for a game on 4x4 that goes on after goal.
func wideRunner(t *testing.T, m Match, s strategy.Strategy) *gameRunner {
	t.Helper()
	r, err := newGameRunner(m, s, new(atomic.Bool))
	if err != nil {
		t.Fatal(err)
	}
	r.spawns.seek(1, 0, spawnStream)
	r.choices.seek(1, 0, playerStream)
	return r
}

// TestPlayBeyond32768 begins games where two tiles of 32768 can merge. Every kind of player plays on with what it sees.
func TestPlayBeyond32768(t *testing.T) {
	m := Match{Shape: game.Shape{Rows: 4, Cols: 4}, Goal: 16, PlayOn: true, Seed: 1}
	start, err := m.Shape.Wide([]int{32768, 32768, 4, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"random", "orthogonal", "sparse:depth=2", "mc:runs=2", "expectimax:depth=2", "expectimax:eval=cs221,depth=1", "modern:depth=1"} {
		r := wideRunner(t, m, parse(t, m, spec))
		r.stop.Store(false)
		moves := 0
		g, err := r.playFrom(Game{}, start, func(f Frame) {
			if moves++; moves == 60 {
				r.stop.Store(true)
			}
		})
		if err != nil && !errors.Is(err, errStopped) {
			t.Errorf("%s: %v", spec, err)
			continue
		}
		if !g.Won || g.Overflow || g.WinMoves == 0 {
			t.Errorf("%s: %+v, want 65536 reached", spec, g)
		}
	}
}

// TestNarrowGames compares games that are played on Boards as far as these suffice with the same games on Wide boards, as they are when frames are
// wanted: to goals that are missed, reached or above a Board, with a player that runs out of room, and from boards where tiles of 32768 merge.
func TestNarrowGames(t *testing.T) {
	shape := game.Shape{Rows: 3, Cols: 3}
	narrow, won, beyond := 0, 0, 0
	for i := range needs.Some(2000) {
		rng := rand.New(rand.NewPCG(40, uint64(i)))
		m := Match{Shape: shape, Goal: []int{0, 2, 3, 6, 9, 15, 16, 17}[rng.IntN(8)], PlayOn: rng.IntN(2) == 0, Seed: 1}
		values := make([]int, shape.Cells())
		for cell := range values {
			values[cell] = []int{0, 0, 2, 4, 64, 8192, 16384, 32768, 32768}[rng.IntN(9)]
		}
		start, err := shape.Wide(values)
		if err != nil {
			t.Fatal(err)
		}
		s := parse(t, m, []string{"random", "orthogonal", "expectimax:depth=1"}[rng.IntN(3)])
		played := func(onFrame func(Frame)) Game {
			r := wideRunner(t, m, s)
			r.spawns.seek(uint64(i), 0, spawnStream)
			r.choices.seek(uint64(i), 0, playerStream)
			g, err := r.playFrom(Game{Spawns: 2}, start, onFrame)
			if err != nil {
				t.Fatal(err)
			}
			if onFrame == nil && r.hasNarrowGames() {
				narrow++
			}
			return g
		}
		g := played(nil)
		if wide := played(func(Frame) {}); g != wide {
			t.Fatalf("game %d of %v, %v, from %v: %+v, on wide boards %+v", i, m, s, start, g, wide)
		}
		if g.Won {
			won++
		}
		if g.Max > game.MaxExponent {
			beyond++
		}
	}
	if narrow < needs.OrFull(50, 100) || won < 20 || beyond < 20 {
		t.Errorf("%d games began on Boards, %d were won, and %d went beyond 32768", narrow, won, beyond)
	}
}

// TestAskDowngrades checks what a player sees: the board while it fits, then a smaller one with the same order of tiles.
func TestAskDowngrades(t *testing.T) {
	m := Match{Shape: game.Shape{Rows: 2, Cols: 2}, Goal: 17}
	var seen []string
	s := custom{"looking", func(b game.Board, legal game.Moves, _ *rand.Rand) (game.Dir, error) {
		seen = append(seen, b.String()[:4])
		if b.Max() > 13 {
			return 0, game.ErrOverflow
		}
		return legal.At(0), nil
	}}
	for _, c := range []struct {
		tiles []int
		want  string
	}{
		{[]int{8, 2, 0, 2}, "31.1"},
		{[]int{32768, 32768, 2, 0}, "ff1. ee1. dd1."},
		{[]int{131072, 65536, 2, 0}, "fe1. ed1. dc1."},
		{[]int{131072, 32768, 2, 0}, "fe1. ed1. dc1."},
	} {
		w, err := m.Shape.Wide(c.tiles)
		if err != nil {
			t.Fatal(err)
		}
		seen = nil
		r := wideRunner(t, m, s)
		if _, err := r.ask(w, r.rules.LegalWide(w)); err != nil {
			t.Error(err)
		}
		if got := strings.Join(seen, " "); got != c.want {
			t.Errorf("%v: the player saw %s, want %s", c.tiles, got, c.want)
		}
	}
}
