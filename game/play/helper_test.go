package play

import (
	"math/rand/v2"
	"testing"

	"tilecheck/game"
	"tilecheck/game/strategy"
)

func parse(t testing.TB, m Match, spec string) strategy.Strategy {
	t.Helper()
	s, err := m.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func run(t testing.TB, opt Options) *Outcome {
	t.Helper()
	out, err := Run(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// games plays and returns every game.
func games(t testing.TB, opt Options) []Played {
	t.Helper()
	var all []Played
	opt.Each = func(p *Played) error {
		all = append(all, *p)
		return nil
	}
	run(t, opt)
	return all
}

// timeless is the outcome without what differs between equal runs.
func timeless(o *Outcome) Outcome {
	out := *o
	out.Time, out.Elapsed, out.Resumed, out.Warnings = 0, 0, 0, nil
	return out
}

func square(size, goal int, on bool, seed uint64) Match {
	return Match{Shape: game.Shape{Rows: size, Cols: size}, Goal: goal, PlayOn: on, Seed: seed}
}

// custom is a strategy made of a function.
type custom struct {
	name   string
	choose func(b game.Board, legal game.Moves, rng *rand.Rand) (game.Dir, error)
}

func (c custom) String() string            { return c.name }
func (custom) Deterministic() bool         { return false }
func (custom) Memory() int                 { return 1 }
func (c custom) Player() strategy.Player   { return c }
func (c custom) Chooser() strategy.Chooser { return nil }
func (custom) Start()                      {}

func (c custom) Choose(b game.Board, legal game.Moves, rng *rand.Rand) (game.Dir, error) {
	return c.choose(b, legal, rng)
}
