package induced_test

import (
	"context"
	"errors"
	"math/big"
	"slices"
	"testing"

	"tilecheck/game"
	"tilecheck/game/induced"
	"tilecheck/game/strategy"
	"tilecheck/internal/interval"
	"tilecheck/internal/needs"
)

// Direct evaluation is what the slow game says, to the last digit.
func TestEvaluate(t *testing.T) {
	for _, g := range []setting{{1, 3, 2}, {1, 3, 3}, {2, 2, 3}, {2, 2, 4}, {2, 2, 5}, {2, 3, 4}}[:needs.OrFull(4, 6)] {
		for _, spec := range specs() {
			opt := g.options(t)
			if g.long(spec) || g.rows*g.cols > 4 && !slices.Contains([]string{"pref:down,right,up,left", "alternating", "optimal:objective=score"}, spec) {
				continue
			}
			t.Run(g.String()+"/"+nameOf(spec), func(t *testing.T) {
				if g.rows*g.cols > 4 {
					needs.NotShort(t, "more than four cells")
				}
				compareWithSlow(t, spec, opt)
			})
		}
	}
}

// The probability of a 2 is a parameter; with 1 there are no fours.
func TestEvaluateP2(t *testing.T) {
	for _, p2 := range []*big.Rat{big.NewRat(1, 1), big.NewRat(1, 3)} {
		opt := setting{2, 2, 4}.options(t)
		opt.P2 = p2
		compareWithSlow(t, "random", opt)
		compareWithSlow(t, "alternating", opt)
	}
}

func compareWithSlow(t *testing.T, spec string, opt induced.Options) {
	t.Helper()
	s := remember(parse(t, spec, opt))
	c, err := induced.Explore(t.Context(), s, opt)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := c.Exact(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	bracket, err := c.Bracket(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	oracle, chooser := newSlow(opt), s.Chooser()
	want := oracle.start(func(b []int) values { return oracle.played(t, chooser, b, 0) })
	got := [3]*big.Rat{exact.Win, exact.Score, exact.Moves}
	intervals := [3]interval.Interval{bracket.Win, bracket.Score, bracket.Moves}
	for i, what := range []string{"win", "score", "moves"} {
		if got[i].Cmp(want[i]) != 0 {
			t.Errorf("%s is %s, want %s", what, got[i].RatString(), want[i].RatString())
		}
		if x, _ := want[i].Float64(); !intervals[i].ContainsFraction(want[i]) || intervals[i].Width() > 1e-12*max(x, 1e-6) {
			t.Errorf("%s is in %v, want a narrow interval around %s", what, intervals[i], want[i].RatString())
		}
	}
}

// These fractions are known from PRISM's exact engine on the thesis's models (docs/models.md, testdata/logs/prism).
func TestKnownValues(t *testing.T) {
	for _, tt := range []struct {
		spec string
		g    setting
		want string
	}{
		{"random", setting{2, 2, 4}, "54788699/450000000"}, // 1 - 395211301/450000000
		{"optimal:objective=win", setting{2, 2, 4}, "770009003/800000000"},
		{"optimal:objective=win", setting{2, 2, 5}, "663098312572433/8000000000000000"},
	} {
		opt := tt.g.options(t)
		v, err := induced.Evaluate(t.Context(), parse(t, tt.spec, opt), opt)
		if err != nil {
			t.Fatal(err)
		}
		if v.Win.RatString() != tt.want {
			t.Errorf("%s on %s wins with probability %s, want %s", tt.spec, tt.g, v.Win.RatString(), tt.want)
		}
	}
}

func TestExploreErrors(t *testing.T) {
	good := setting{2, 2, 4}.options(t)
	s := parse(t, "random", good)
	for name, change := range map[string]func(*induced.Options){
		"no rules":    func(o *induced.Options) { o.Rules = nil },
		"max 2":       func(o *induced.Options) { o.Max = 1 },
		"max 65536":   func(o *induced.Options) { o.Max = 16 },
		"p2 0":        func(o *induced.Options) { o.P2 = new(big.Rat) },
		"p2 2":        func(o *induced.Options) { o.P2 = big.NewRat(2, 1) },
		"states":      func(o *induced.Options) { o.MaxStates = -1 },
		"many states": func(o *induced.Options) { o.MaxStates = 10 },
	} {
		opt := good
		change(&opt)
		_, err := induced.Explore(t.Context(), s, opt)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, tooLarge := errors.AsType[*induced.SizeError](err); tooLarge != (name == "many states") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := induced.Explore(ctx, s, good); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// cancelling cancels a context with its first decision, and counts them.
type cancelling struct {
	strategy.Strategy
	cancel  context.CancelFunc
	decided *int
}

func (c cancelling) Chooser() strategy.Chooser { return cancellingChooser{c.Strategy.Chooser(), c} }

type cancellingChooser struct {
	strategy.Chooser
	cancelling
}

func (c cancellingChooser) Decide(b game.Board, legal game.Moves, memory int) ([]strategy.Choice, error) {
	c.cancel()
	*c.decided++
	return c.Chooser.Decide(b, legal, memory)
}

// A decision can take many seconds, so an interruption is noticed before the next one.
func TestExploreInterrupted(t *testing.T) {
	rules, err := game.New(game.Shape{Rows: 2, Cols: 2})
	if err != nil {
		t.Fatal(err)
	}
	s, err := strategy.Parse("random", strategy.Setting{Rules: rules, Max: 5})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	decided := 0
	if _, err := induced.Explore(ctx, cancelling{s, cancel, &decided}, induced.Options{Rules: rules, Max: 5}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context", err)
	}
	if decided != 1 {
		t.Errorf("%d decisions, want 1", decided)
	}
}
