package play

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/game"
	"tilecheck/game/strategy"
	"tilecheck/internal/needs"
	"tilecheck/internal/progress"
	"tilecheck/stats"
)

func compare(t testing.TB, opt CompareOptions) *Contest {
	t.Helper()
	c, err := Compare(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func thesisOptions(t testing.TB, goal int) CompareOptions {
	m := square(4, goal, false, 6)
	var all []strategy.Strategy
	for _, spec := range []string{"random", "opposite", "orthogonal", "alternating"} {
		all = append(all, parse(t, m, spec))
	}
	return CompareOptions{Match: m, Strategies: all, Games: 2000, Confidence: 0.99}
}

// The differences are those of the games that Run plays with each strategy alone, game by game.
func TestCompareIsPaired(t *testing.T) {
	for _, by := range []Criterion{ByWin, ByScore} {
		opt := thesisOptions(t, 7)
		opt.Games, opt.By, opt.All = 300, by, true
		c := compare(t, opt)
		alone := make([][]Played, len(opt.Strategies))
		for i, s := range opt.Strategies {
			alone[i] = games(t, Options{Match: opt.Match, Strategy: s, Games: 300})
		}
		for _, p := range c.Pairs {
			var want stats.Moments
			for i := range alone[p.A] {
				a, b := alone[p.A][i], alone[p.B][i]
				if by == ByScore {
					want.Add(float64(a.Score) - float64(b.Score))
				} else {
					want.Add(float64(bit(a.Won) - bit(b.Won)))
				}
			}
			if p.Difference != want {
				t.Errorf("by %s, %d and %d: %+v, want %+v", by, p.A, p.B, p.Difference, want)
			}
		}
		// The intervals are those that the documentation of Compare promises: 6 pairs, and by score 4 looks, 64, 128, 256 and 300.
		for _, p := range c.Pairs {
			bounds, alpha := &stats.Bounds{Lo: -1, Hi: 1}, 0.01/6
			if by == ByScore {
				bounds, alpha = nil, 0.01/6/5
			}
			want, err := stats.RewardInterval(p.Difference, bounds, stats.Confidence(alpha), true)
			if err != nil || p.Interval != want {
				t.Errorf("by %s: %+v, want %+v (%v)", by, p.Interval, want, err)
			}
		}
		if c.Looks != len(looks(300, by)) || c.End != AllPlayed || c.Games != 300 {
			t.Errorf("%d looks, %v after %d games", c.Looks, c.End, c.Games)
		}
	}
}

func TestCompareIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	opt := thesisOptions(t, 8)
	opt.By = ByScore
	opt.Workers = 1
	want := compare(t, opt)
	for _, workers := range []int{2, 5} {
		opt.Workers = workers
		got := compare(t, opt)
		if got.Games != want.Games || got.End != want.End || !slices.Equal(got.Pairs, want.Pairs) {
			t.Errorf("%d workers: %+v, want %+v", workers, got, want)
		}
		for i := range got.Players {
			a, b := got.Players[i], want.Players[i]
			if a.Time, b.Time = 0, 0; a != b {
				t.Errorf("%d workers: %+v, want %+v", workers, a, b)
			}
		}
	}
}

// To 128, opposite loses 0.737 of its games and orthogonal 0.098 (reference, Table 3.6 recounted): that is settled long before the games
// are all played, at a look, and in favour of orthogonal.
func TestCompareStopsWhenSettled(t *testing.T) {
	opt := thesisOptions(t, 7)
	opt.Strategies = opt.Strategies[1:3]
	c := compare(t, opt)
	if c.End != Settled || c.Games >= opt.Games || !slices.Contains(looks(opt.Games, opt.By), c.Games) || !c.Sequential {
		t.Errorf("%v after %d games, looks at %v", c.End, c.Games, looks(opt.Games, opt.By))
	}
	if c.Pairs[0].Winner() != -1 || c.Players[0].Best != 2 || c.Players[1].Worst != 1 {
		t.Errorf("winner %d, places %+v", c.Pairs[0].Winner(), c.Players)
	}
	opt.All = true
	if all := compare(t, opt); all.Games != opt.Games || all.End != AllPlayed || all.Sequential {
		t.Errorf("all games: %v after %d", all.End, all.Games)
	}
}

// Players that make the same moves are tied, whatever the number of games.
func TestCompareTie(t *testing.T) {
	m := square(4, 7, false, 1)
	same := custom{"same", func(_ game.Board, legal game.Moves, _ *rand.Rand) (game.Dir, error) {
		return game.Preference{game.Left, game.Up, game.Down, game.Right}.Choose(legal), nil
	}}
	for _, by := range []Criterion{ByWin, ByScore} {
		c := compare(t, CompareOptions{Match: m, Strategies: []strategy.Strategy{parse(t, m, "orthogonal"), same}, Games: 500, Confidence: 0.9, By: by})
		if c.Pairs[0].Winner() != 0 || c.Games != 500 || c.Pairs[0].Difference.Mean() != 0 || c.Players[0].Best != 1 || c.Players[0].Worst != 2 {
			t.Errorf("by %s: %+v", by, c)
		}
	}
}

// Two players that are equally good are told apart in at most one of ten contests at 90 % confidence, though the pairs are looked at again
// and again. 200 contests: more than 36 would happen with probability 3e-4 if the probability of a false statement were 0.1; the sequences
// are far more careful than that.
func TestCompareKeepsItsConfidence(t *testing.T) {
	needs.NotShort(t, "measures a probability in hundreds of contests")
	uniform := func(name string, skip int) custom {
		return custom{name, func(_ game.Board, legal game.Moves, rng *rand.Rand) (game.Dir, error) {
			for range skip {
				rng.Uint64()
			}
			return legal.At(rng.IntN(legal.Len())), nil
		}}
	}
	for _, by := range []Criterion{ByWin, ByScore} {
		wrong := 0
		for seed := range uint64(200) {
			m := square(2, 4, false, seed)
			c := compare(t, CompareOptions{
				Match: m, Strategies: []strategy.Strategy{uniform("a", 0), uniform("b", 1)}, Games: 256, Confidence: 0.9, By: by, Workers: 1,
			})
			if c.Pairs[0].Winner() != 0 {
				wrong++
			}
		}
		t.Logf("by %s: %d of 200 contests are wrong", by, wrong)
		if wrong > 36 {
			t.Errorf("by %s: %d of 200 contests tell equal players apart", by, wrong)
		}
	}
}

// The intervals of all pairs hold at once when the contest stops by looking at them. A population of real games, each a row with the result of
// every player on the same tiles, has known mean differences; contests draw rows from it. The share of contests in which every interval
// contains its mean must be at least nominal, both where the contest stopped and at all looks before.
func TestCompareCoverage(t *testing.T) {
	needs.NotShort(t, "measures a probability in a thousand contests")
	const contests = 1000
	for i, test := range []struct {
		name    string
		by      Criterion
		goal    int
		nominal float64
		specs   []string
	}{
		{"win", ByWin, 7, 0.9, []string{"random", "orthogonal", "opposite"}},
		{"rare wins", ByWin, 9, 0.9, []string{"random", "orthogonal", "alternating"}},
		{"score, near", ByScore, 11, 0.9, []string{"orthogonal", "alternating", "opposite"}},
		{"score, near", ByScore, 11, 0.99, []string{"orthogonal", "alternating", "opposite"}},
		{"score, far and skewed", ByScore, 11, 0.9, []string{"random", "sparse:depth=2,n=1", "orthogonal"}},
		{"score, far and skewed", ByScore, 11, 0.99, []string{"random", "sparse:depth=2,n=1", "orthogonal"}},
	} {
		if i%3 > 0 && !needs.IsFull() {
			continue
		}
		m := square(4, test.goal, true, 12)
		opt := CompareOptions{Match: m, By: test.by, Games: 512, Confidence: test.nominal}
		population := make([][]Game, 1000)
		for _, spec := range test.specs {
			s := parse(t, m, spec)
			opt.Strategies = append(opt.Strategies, s)
			for i, g := range games(t, Options{Match: m, Strategy: s, Games: int64(len(population))}) {
				population[i] = append(population[i], g.Game)
			}
		}
		r := newContest(&opt)
		means := make([]stats.Moments, len(r.contest.Pairs))
		for _, row := range population {
			r.currentGames = row
			for i, p := range r.contest.Pairs {
				means[i].Add(r.result(p.A) - r.result(p.B))
			}
		}
		rng := rand.New(rand.NewPCG(4, 6))
		stopped, always, early := 0, 0, 0
		for range contests {
			r := newContest(&opt)
			heldAlways, held, looked := true, true, 0
			for more := true; more && r.contest.Games < opt.Games; {
				for player, g := range population[rng.IntN(len(population))] {
					more = r.addGame(player, &Played{Game: g})
				}
				if r.contest.Looks > looked {
					looked, held = r.contest.Looks, true
					for i, p := range r.contest.Pairs {
						held = held && p.Interval.Contains(means[i].Mean())
					}
					heldAlways = heldAlways && held
				}
			}
			stopped, always = stopped+int(bit(held)), always+int(bit(heldAlways))
			early += int(bit(r.allDecided))
		}
		t.Logf("%s: %d of %d contests hold where they stop, %d at every look; %d stopped early", test.name, stopped, contests, always, early)
		if want := test.nominal * contests; float64(always) < want || stopped < always {
			t.Errorf("%s: %d of %d contests hold where they stop, %d at every look, want %g", test.name, stopped, contests, always, want)
		}
	}
}

func TestRank(t *testing.T) {
	above, below, open := stats.Interval{Lo: 1, Hi: 2}, stats.Interval{Lo: -2, Hi: -1}, stats.Interval{Lo: -1, Hi: 1}
	r := contestRun{contest: &Contest{Players: make([]Contestant, 3), Pairs: []Pair{
		{A: 0, B: 1, Interval: below}, // 1 beats 0
		{A: 0, B: 2, Interval: open},
		{A: 1, B: 2, Interval: above}, // 1 beats 2
	}}}
	r.rankPlayers()
	for i, want := range [][2]int{{2, 3}, {1, 1}, {2, 3}} {
		if p := r.contest.Players[i]; p.Best != want[0] || p.Worst != want[1] {
			t.Errorf("player %d has places %d to %d, want %v", i, p.Best, p.Worst, want)
		}
	}
}

func TestLooks(t *testing.T) {
	for _, test := range []struct {
		games int64
		by    Criterion
		want  []int64
	}{
		{1, ByWin, []int64{1}},
		{16, ByWin, []int64{16}},
		{17, ByWin, []int64{16, 17}},
		{100, ByWin, []int64{16, 32, 64, 100}},
		{100, ByScore, []int64{64, 100}},
	} {
		if got := looks(test.games, test.by); !slices.Equal(got, test.want) {
			t.Errorf("looks(%d) = %v, want %v", test.games, got, test.want)
		}
	}
}

// A contest that was cut and goes on comes to the same, and each strategy has a state of its own.
func TestCompareResumes(t *testing.T) {
	opt := thesisOptions(t, 8)
	opt.Games, opt.All = 400, true
	want := compare(t, opt)
	opt.State, opt.Version = t.TempDir(), "test"
	ctx, cancel := context.WithCancel(t.Context())
	opt.Progress = func(p progress.Progress) {
		if p.Done > 50 {
			cancel()
		}
	}
	if _, err := Compare(ctx, opt); err != nil {
		t.Fatal(err)
	}
	cancel()
	opt.Progress = nil
	got := compare(t, opt)
	if !slices.Equal(got.Pairs, want.Pairs) || got.Games != want.Games {
		t.Errorf("resumed: %+v, want %+v", got, want)
	}
	again := compare(t, opt)
	for _, p := range again.Players {
		if p.Resumed != 400 {
			t.Errorf("%s: %d games were known, want 400", p.Strategy, p.Resumed)
		}
	}
	opt.Version = "later"
	if _, err := Compare(t.Context(), opt); err == nil || !strings.Contains(err.Error(), `another build: found "test", want "later"`) {
		t.Errorf("games of another build: %v", err)
	}
}

func TestCompareErrors(t *testing.T) {
	good := thesisOptions(t, 7)
	for _, test := range []struct {
		change func(*CompareOptions)
		want   string
	}{
		{func(o *CompareOptions) { o.Strategies = o.Strategies[:1] }, "1 strategies"},
		{func(o *CompareOptions) { o.Strategies = append(o.Strategies[:2:2], o.Strategies[0]) }, "random is there twice"},
		{func(o *CompareOptions) { o.Games = 0 }, "0 games"},
		{func(o *CompareOptions) { o.Confidence = 1 }, "confidence is 1"},
		{func(o *CompareOptions) { o.By = "luck" }, `criterion is "luck"`},
		{func(o *CompareOptions) { o.Match.Goal = 0 }, "no tile wins"},
		{func(o *CompareOptions) { o.State = "/dev/null/x" }, "state"},
	} {
		opt := good
		test.change(&opt)
		if _, err := Compare(t.Context(), opt); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want an error with %q", err, test.want)
		}
	}
}
