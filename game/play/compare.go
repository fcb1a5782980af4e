package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tilecheck/game/strategy"
	"tilecheck/internal/ending"
	"tilecheck/internal/progress"
	"tilecheck/internal/shard"
	"tilecheck/stats"
)

// Criterion is what strategies are compared by.
type Criterion string

// The criteria.
const (
	ByWin   Criterion = "win"   // the share of games that reach the goal
	ByScore Criterion = "score" // the mean score
)

// CompareOptions say whom to compare, and how.
type CompareOptions struct {
	Match      Match
	Strategies []strategy.Strategy // at least 2, all different
	By         Criterion           // ByWin when empty
	Games      int64               // of each strategy at most
	// Confidence is the probability that no statement about a pair is wrong (0.99 is 99 %).
	Confidence float64
	// All has every game played, even when every pair is settled before.
	All     bool
	Workers int
	Time    time.Duration // as in Options
	// State is a directory for the finished games, a file for each strategy; empty is none.
	State, Version string
	Progress       func(progress.Progress)
	// Look, when not nil, is shown what is known at each look, never concurrently. It must not keep or change it.
	Look  func(*Contest)
	Split *shard.Ledger // as in Options
}

// Contest is what a comparison came to. All but the times is the same for any number of workers, unless it ended early for lack of time.
type Contest struct {
	Match      Match
	By         Criterion
	Confidence float64
	Players    []Contestant // in the order of the options
	Pairs      []Pair       // of players a < b, ordered by a and then b
	Asked      int64
	Games      int64 // of each
	Looks      int   // how often the games were looked at
	End        End
	Sequential bool // the games could decide how many there are, and so intervals have to hold for every number at once
	Elapsed    time.Duration
	Warnings   []string
}

// Contestant is a strategy and its games.
type Contestant struct {
	Strategy string // canonical
	Summary
	// Best and Worst are the places that the settled pairs leave to the strategy, from 1. They are all right at once with the confidence
	// of the contest.
	Best, Worst int
	Known       int64 // games that the state knew
}

// Pair compares players A and B.
type Pair struct {
	A, B int
	// Difference has, for each game, A's result less B's; both met the same tiles as long as they made the same moves.
	Difference stats.Moments
	// Interval is for the mean difference, at a confidence so that the intervals of all pairs hold together at that of the contest.
	Interval stats.Interval
}

// Winner returns 1 when A is better, -1 when B is, and 0 when the games do not tell them apart.
func (p *Pair) Winner() int {
	switch {
	case p.Interval.Lo > 0:
		return 1
	case p.Interval.Hi < 0:
		return -1
	}
	return 0
}

// looks returns the numbers of games after which the pairs are looked at: each is twice the one before, and the last is games. The first is 64
// by score, because fewer are not normal enough for Student's interval (TestCompareCoverage), and 16 by win.
func looks(games int64, by Criterion) []int64 {
	first := int64(16)
	if by == ByScore {
		first = 64
	}
	var at []int64
	for n := first; n < games; n *= 2 {
		at = append(at, n)
	}
	return append(at, games)
}

// Compare plays the strategies side by side, game 0 of all, then game 1 of all and so on, and stops when every pair is settled at a look.
//
// By win, the interval of a pair is a confidence sequence for differences in [-1,1]: it is proven, for all looks at once. By score, nothing
// is proven, since on 4x4 the largest possible score says too little: the interval is Student's, and the error probability is divided
// evenly among the pairs, among the looks that there may be, and one more look when time ends the comparison.
//
// Source: Howard, Ramdas, McAuliffe and Sekhon 2021 (sequences); Bonferroni's inequality.
func Compare(ctx context.Context, opt CompareOptions) (c *Contest, err error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	start := time.Now()
	run := newContest(&opt)
	entrants, done, err := run.enter(ctx)
	defer func() { err = errors.Join(err, done()) }()
	if err != nil {
		return nil, err
	}
	limited, cancel := ending.After(ctx, opt.Time)
	defer cancel()
	s := schedule{
		match: opt.Match, entrants: entrants, games: opt.Games, workers: opt.Workers,
		take: run.take, tick: run.tick(opt.Progress), split: opt.Split,
	}
	if !opt.All {
		s.first = run.looks[0]
	}
	if err := cmp.Or(s.run(limited), run.err); err != nil {
		return nil, err
	}
	c = run.contest
	switch {
	case run.settled:
		c.End = Settled
	case c.Games < opt.Games:
		if c.End = endOf(ctx); opt.Split.Replaying() {
			c.End = s.lacking(c.Games)
		}
		run.look()
	}
	c.Sequential = !opt.All || c.End != AllPlayed
	run.rank()
	c.Elapsed = time.Since(start)
	return c, run.err
}

func (opt *CompareOptions) check() error {
	switch {
	case len(opt.Strategies) < 2:
		return fmt.Errorf("%d strategies, want at least 2", len(opt.Strategies))
	case opt.Games < 1:
		return fmt.Errorf("%d games, want at least 1", opt.Games)
	case !(opt.Confidence > 0 && opt.Confidence < 1):
		return fmt.Errorf("confidence is %g, want a probability between 0 and 1", opt.Confidence)
	case opt.By == "":
		opt.By = ByWin
	case opt.By != ByWin && opt.By != ByScore:
		return fmt.Errorf("criterion is %q, want %s or %s", opt.By, ByWin, ByScore)
	}
	if opt.By == ByWin && opt.Match.Goal == 0 {
		return errors.New("no tile wins, want one to compare by wins")
	}
	seen := make(map[string]bool)
	for _, s := range opt.Strategies {
		if seen[s.String()] {
			return fmt.Errorf("strategy %v is there twice, want it once", s)
		}
		seen[s.String()] = true
	}
	return opt.Match.Validate()
}

// contestRun is the state of one Compare.
type contestRun struct {
	opt     *CompareOptions
	contest *Contest
	row     []Game // of the game that is being taken, by player
	looks   []int64
	settled bool
	err     error
}

func newContest(opt *CompareOptions) *contestRun {
	c := &Contest{Match: opt.Match, By: opt.By, Confidence: opt.Confidence, Asked: opt.Games}
	for a, s := range opt.Strategies {
		c.Players = append(c.Players, Contestant{Strategy: s.String()})
		for b := a + 1; b < len(opt.Strategies); b++ {
			c.Pairs = append(c.Pairs, Pair{A: a, B: b})
		}
	}
	return &contestRun{opt: opt, contest: c, row: make([]Game, len(opt.Strategies)), looks: looks(opt.Games, opt.By)}
}

// enter prepares the strategies and opens their states. done closes what was opened, also after an error.
func (r *contestRun) enter(ctx context.Context) (entrants []entrant, done func() error, err error) {
	done = func() error {
		var errs []error
		for _, e := range entrants {
			errs = append(errs, e.state.close())
		}
		return errors.Join(errs...)
	}
	for i, s := range r.opt.Strategies {
		if err := strategy.Prepare(ctx, s); err != nil {
			return entrants, done, err
		}
		e := entrant{strategy: s}
		if r.opt.State != "" {
			path, err := statePath(r.opt.State, r.opt.Match, s.String())
			if err != nil {
				return entrants, done, err
			}
			if e.state, err = openState(path, header(r.opt.Match, s.String(), r.opt.Version)); err != nil {
				return entrants, done, err
			}
			known, warnings := e.state.resumed(r.opt.Games)
			r.contest.Players[i].Known = known
			r.contest.Warnings = append(r.contest.Warnings, warnings...)
		}
		entrants = append(entrants, e)
	}
	return entrants, done, nil
}

// take counts a game; when it completes a row, the pairs.
func (r *contestRun) take(player int, p *Played) (more bool) {
	c := r.contest
	r.row[player] = p.Game
	if player < len(r.row)-1 {
		return true
	}
	for i := range c.Players {
		c.Players[i].Add(r.row[i])
	}
	for i := range c.Pairs {
		pair := &c.Pairs[i]
		pair.Difference.Add(r.value(pair.A) - r.value(pair.B))
	}
	c.Games++
	if c.Games != r.looks[min(c.Looks, len(r.looks)-1)] {
		return true
	}
	r.look()
	r.show()
	r.settled = r.err == nil && !r.opt.All && c.Games < r.opt.Games && r.allSettled()
	return r.err == nil && !r.settled
}

// value is the result of a player in the row.
func (r *contestRun) value(player int) float64 {
	switch g := r.row[player]; {
	case r.opt.By == ByScore:
		return float64(g.Score)
	case g.Won:
		return 1
	}
	return 0
}

// look computes the interval of every pair.
func (r *contestRun) look() {
	c := r.contest
	c.Looks++
	alpha := stats.Alpha(r.opt.Confidence) / float64(len(c.Pairs))
	var bounds *stats.Bounds
	if r.opt.By == ByWin {
		bounds = &stats.Bounds{Lo: -1, Hi: 1}
	} else {
		alpha /= float64(len(r.looks) + 1)
	}
	for i := range c.Pairs {
		p := &c.Pairs[i]
		var err error
		p.Interval, err = stats.RewardInterval(p.Difference, bounds, stats.Confidence(alpha), true)
		r.err = cmp.Or(r.err, err)
	}
}

// show shows what is known so far, if somebody wants to see it.
func (r *contestRun) show() {
	if r.opt.Look == nil {
		return
	}
	now := *r
	c := *r.contest
	c.Players, c.Warnings = slices.Clone(c.Players), nil
	now.contest = &c
	now.rank()
	r.opt.Look(&c)
}

func (r *contestRun) allSettled() bool {
	for i := range r.contest.Pairs {
		if r.contest.Pairs[i].Winner() == 0 {
			return false
		}
	}
	return true
}

// rank gives every player the places between those that are better and those that are worse.
func (r *contestRun) rank() {
	c := r.contest
	for i := range c.Players {
		c.Players[i].Best, c.Players[i].Worst = 1, len(c.Players)
		if n := c.Players[i].Overflows; n > 0 {
			c.Warnings = append(c.Warnings, overflowWarning(c.Players[i].Strategy, n))
		}
	}
	for i := range c.Pairs {
		p := &c.Pairs[i]
		better, worse := p.A, p.B
		switch p.Winner() {
		case 0:
			continue
		case -1:
			better, worse = p.B, p.A
		}
		c.Players[worse].Best++
		c.Players[better].Worst--
	}
}

// tick tells progress about the games of all players.
func (r *contestRun) tick(tell func(progress.Progress)) func() {
	if tell == nil {
		return nil
	}
	told := time.Now()
	return func() {
		if time.Since(told) > progressInterval {
			told = time.Now()
			tell(progress.Progress{Done: r.contest.Games, Target: r.opt.Games, Unit: progress.Games})
		}
	}
}
