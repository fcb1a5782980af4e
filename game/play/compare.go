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

// Criterion says by which result strategies are compared.
type Criterion string

// The criteria of a comparison.
const (
	ByWin   Criterion = "win"   // the share of games that reach the goal
	ByScore Criterion = "score" // the mean score
)

// CompareOptions say which strategies to compare, and how.
type CompareOptions struct {
	Match      Match
	Strategies []strategy.Strategy // at least 2, all different
	By         Criterion           // ByWin when empty
	Games      int64               // of each strategy; fewer are played if all pairs are decided earlier
	// Confidence is the probability that all statements about pairs are right (0.99 is 99 %).
	Confidence float64
	// All makes every game be played, even if all pairs are decided earlier.
	All     bool
	Workers int
	Time    time.Duration // as in Options
	// State is a directory with one file of finished games for each strategy; empty: games are not kept.
	State, Version string
	Progress       func(progress.Progress)
	// OnLook, if not nil, gets the results so far at each look, never concurrently. It must not keep or change them.
	OnLook func(*Contest)
	Split  *shard.Ledger // as in Options
}

// Contest is the result of a comparison. Everything but the times is the same for any number of workers, unless the time ended the run early.
type Contest struct {
	Match      Match
	By         Criterion
	Confidence float64
	Players    []Contestant // in the order of the options
	Pairs      []Pair       // of players a < b, ordered by a and then b
	Asked      int64
	Games      int64 // of each
	Looks      int   // number of looks: intermediate evaluations of the games
	End        End
	Cause      error // as in Outcome
	Sequential bool  // the games could decide when to stop, so intervals must hold for all numbers of games at once
	Elapsed    time.Duration
	Warnings   []string
}

// Contestant is a compared strategy with a summary of its games.
type Contestant struct {
	Strategy string // canonical
	Summary
	// Best and Worst are the best and the worst rank, from 1, that the decided pairs leave open for the strategy. The ranks of all strategies
	// are right together with the confidence of the contest.
	Best, Worst int
	Resumed     int64 // games that were read from the state file
}

// Pair compares the players with the indices A and B.
type Pair struct {
	A, B int
	// Difference has, for each game, the result of A minus the result of B. Both get the same tiles as long as they make the same moves.
	Difference stats.Moments
	// Interval is a confidence interval for the mean difference. The intervals of all pairs hold together with the confidence of the contest.
	Interval stats.Interval
}

// Winner returns 1 if A is better, -1 if B is better, and 0 if the games do not decide it.
func (p *Pair) Winner() int {
	switch {
	case p.Interval.Lo > 0:
		return 1
	case p.Interval.Hi < 0:
		return -1
	}
	return 0
}

// looks returns the numbers of games after which the pairs are evaluated. Each number is twice the previous one, and the last is games. The first is 16
// by win, and 64 by score, because the mean of fewer scores is not normal enough for Student's interval (TestCompareCoverage).
func looks(games int64, criterion Criterion) []int64 {
	firstLook := int64(16)
	if criterion == ByScore {
		firstLook = 64
	}
	var counts []int64
	for count := firstLook; count < games; count *= 2 {
		counts = append(counts, count)
	}
	return append(counts, games)
}

// Compare plays the strategies in rounds: game 0 of every strategy, then game 1 of every strategy, and so on. It stops at the first look at which every
// pair is decided.
//
// By win, the interval of a pair is a confidence sequence for differences in [-1,1], which is proven to hold at all looks at once. By score,
// the interval is Student's and nominal, because the largest possible score on 4x4 is too large to give a useful proven one. Its error
// probability is divided evenly among the pairs and among all possible looks, including one for a comparison that the time ends.
//
// Source: Howard, Ramdas, McAuliffe and Sekhon 2021 (sequences); Bonferroni's inequality.
func Compare(ctx context.Context, opt CompareOptions) (contest *Contest, err error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	start := time.Now()
	run := newContest(&opt)
	competitors, closeStates, err := run.openStates(ctx)
	defer func() { err = errors.Join(err, closeStates()) }()
	if err != nil {
		return nil, err
	}
	limited, cancel := ending.After(ctx, opt.Time)
	defer cancel()
	plan := schedule{
		match: opt.Match, competitors: competitors, games: opt.Games, workers: opt.Workers,
		takeGame: run.addGame, tick: run.progressTicker(opt.Progress), split: opt.Split,
	}
	if !opt.All {
		plan.firstLook = run.lookAt[0]
	}
	if err := cmp.Or(plan.run(limited), run.err); err != nil {
		return nil, err
	}
	contest = run.contest
	switch {
	case run.allDecided:
		contest.End = Settled
	case contest.Games < opt.Games:
		contest.End, contest.Cause = endOf(ctx), ctx.Err()
		if opt.Split.Replaying() {
			contest.End, contest.Cause = Lacking, plan.missingShards(contest.Games)
		}
		run.updateIntervals()
	}
	contest.Sequential = !opt.All || contest.End != AllPlayed
	run.rankPlayers()
	contest.Warnings = append(contest.Warnings, opt.Match.sameGames(opt.Strategies...)...)
	contest.Elapsed = time.Since(start)
	return contest, run.err
}

// check returns an error if the options are not valid. It sets the default criterion.
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
	seenSpecs := make(map[string]bool)
	for _, competitor := range opt.Strategies {
		if seenSpecs[competitor.String()] {
			return fmt.Errorf("strategy %v is there twice, want it once", competitor)
		}
		seenSpecs[competitor.String()] = true
	}
	return opt.Match.Validate()
}

// contestRun is the state of one call of Compare.
type contestRun struct {
	opt          *CompareOptions
	contest      *Contest
	currentGames []Game // the games with the current index, by player
	lookAt       []int64
	allDecided   bool
	err          error
}

// newContest returns a contest of the strategies before the first game, with a pair for each two strategies.
func newContest(opt *CompareOptions) *contestRun {
	contest := &Contest{Match: opt.Match, By: opt.By, Confidence: opt.Confidence, Asked: opt.Games}
	for player, playerStrategy := range opt.Strategies {
		contest.Players = append(contest.Players, Contestant{Strategy: playerStrategy.String()})
		for opponent := player + 1; opponent < len(opt.Strategies); opponent++ {
			contest.Pairs = append(contest.Pairs, Pair{A: player, B: opponent})
		}
	}
	return &contestRun{opt: opt, contest: contest, currentGames: make([]Game, len(opt.Strategies)), lookAt: looks(opt.Games, opt.By)}
}

// openStates prepares the strategies and opens their state files. closeStates closes the opened files; the caller must call it after an error too.
func (r *contestRun) openStates(ctx context.Context) (competitors []competitor, closeStates func() error, err error) {
	closeStates = func() error {
		var errs []error
		for _, opened := range competitors {
			errs = append(errs, opened.state.close())
		}
		return errors.Join(errs...)
	}
	if err := r.opt.Match.prepare(ctx, r.opt.Strategies...); err != nil {
		return competitors, closeStates, err
	}
	for i, player := range r.opt.Strategies {
		opened := competitor{strategy: player}
		if r.opt.State != "" {
			path, err := statePath(r.opt.State, r.opt.Match, player.String())
			if err != nil {
				return competitors, closeStates, err
			}
			if opened.state, err = openState(path, header(r.opt.Match, player.String(), r.opt.Version)); err != nil {
				return competitors, closeStates, err
			}
			resumed, warnings := opened.state.resumedGames(r.opt.Games)
			r.contest.Players[i].Resumed = resumed
			r.contest.Warnings = append(r.contest.Warnings, warnings...)
		}
		competitors = append(competitors, opened)
	}
	return competitors, closeStates, nil
}

// addGame adds the game of a player to the current round. The game of the last player completes the round: then addGame updates all players and pairs
// and, at a look, the intervals. needsMore is false if no more games are needed, or after an error.
func (r *contestRun) addGame(player int, played *Played) (needsMore bool) {
	contest := r.contest
	r.currentGames[player] = played.Game
	if player < len(r.currentGames)-1 {
		return true
	}
	for i := range contest.Players {
		contest.Players[i].Add(r.currentGames[i])
	}
	for i := range contest.Pairs {
		pair := &contest.Pairs[i]
		pair.Difference.Add(r.result(pair.A) - r.result(pair.B))
	}
	contest.Games++
	if contest.Games != r.lookAt[min(contest.Looks, len(r.lookAt)-1)] {
		return true
	}
	r.updateIntervals()
	r.showInterim()
	r.allDecided = r.err == nil && !r.opt.All && contest.Games < r.opt.Games && r.allSettled()
	return r.err == nil && !r.allDecided
}

// result returns the number by which a player is compared in the current round: the score, or 1 for a win.
func (r *contestRun) result(player int) float64 {
	switch current := r.currentGames[player]; {
	case r.opt.By == ByScore:
		return float64(current.Score)
	case current.Won:
		return 1
	}
	return 0
}

// updateIntervals computes the interval of each pair at a look. It divides the error probability among the pairs and, for scores, among the looks.
func (r *contestRun) updateIntervals() {
	contest := r.contest
	contest.Looks++
	alpha := stats.Alpha(r.opt.Confidence) / float64(len(contest.Pairs))
	var bounds *stats.Bounds
	if r.opt.By == ByWin {
		bounds = &stats.Bounds{Lo: -1, Hi: 1}
	} else {
		alpha /= float64(len(r.lookAt) + 1)
	}
	for i := range contest.Pairs {
		pair := &contest.Pairs[i]
		var err error
		pair.Interval, err = stats.RewardInterval(pair.Difference, bounds, stats.Confidence(alpha), true)
		r.err = cmp.Or(r.err, err)
	}
}

// showInterim calls OnLook, if it is set, with a copy of the results so far.
func (r *contestRun) showInterim() {
	if r.opt.OnLook == nil {
		return
	}
	interim := *r
	copied := *r.contest
	copied.Players, copied.Warnings = slices.Clone(copied.Players), nil
	interim.contest = &copied
	interim.rankPlayers()
	r.opt.OnLook(&copied)
}

// allSettled reports whether each pair has a winner.
func (r *contestRun) allSettled() bool {
	for i := range r.contest.Pairs {
		if r.contest.Pairs[i].Winner() == 0 {
			return false
		}
	}
	return true
}

// rankPlayers computes the ranks of every player from the decided pairs, and adds warnings about overflows.
func (r *contestRun) rankPlayers() {
	contest := r.contest
	for i := range contest.Players {
		contest.Players[i].Best, contest.Players[i].Worst = 1, len(contest.Players)
		if overflows := contest.Players[i].Overflows; overflows > 0 {
			contest.Warnings = append(contest.Warnings, overflowWarning(contest.Players[i].Strategy, overflows))
		}
	}
	for i := range contest.Pairs {
		pair := &contest.Pairs[i]
		better, worse := pair.A, pair.B
		switch pair.Winner() {
		case 0:
			continue
		case -1:
			better, worse = pair.B, pair.A
		}
		contest.Players[worse].Best++
		contest.Players[better].Worst--
	}
}

// progressTicker returns a function that reports the progress of all players at most once per progressInterval.
func (r *contestRun) progressTicker(report func(progress.Progress)) func() {
	if report == nil {
		return nil
	}
	lastReport := time.Now()
	return func() {
		if time.Since(lastReport) > progressInterval {
			lastReport = time.Now()
			report(progress.Progress{Done: r.contest.Games, Target: r.opt.Games, Unit: progress.Games})
		}
	}
}
