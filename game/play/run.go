package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"tilecheck/game/strategy"
	"tilecheck/internal/ending"
	"tilecheck/internal/progress"
	"tilecheck/internal/shard"
)

// Options say which games to play.
type Options struct {
	Match    Match
	Strategy strategy.Strategy
	Games    int64 // at least 1
	Workers  int   // 0 means one per processor
	// Time, if positive, ends the run. The finished games before the first unfinished one count.
	Time time.Duration
	// State is the file that keeps finished games; empty: games are not kept. Version identifies the program; Run refuses a file that another
	// version wrote.
	State, Version string
	// Record gives each game passed to Each a Transcript. Games from the state file are then played again.
	Record bool
	// Each, if not nil, is called with the games in the order of their indices. An error ends the run.
	Each func(*Played) error
	// Progress, if not nil, is called a few times a second.
	Progress func(progress.Progress)
	// Split, if not nil, divides the games among processes. Time, State and Record must then not be set.
	Split *shard.Ledger
}

// End says why a run ended.
type End uint8

// The reasons for the end of a run.
const (
	AllPlayed   End = iota
	OutOfTime       // Options.Time was up
	Settled         // all pairs of a comparison were decided
	Interrupted     // the context ended
	Lacking         // games of some shards are missing
)

// String returns the reason in words.
func (e End) String() string {
	return [...]string{"all games were played", "the time was up", "the order of all pairs is decided", "the run was interrupted", "games of some shards are missing"}[e]
}

// Outcome is the result of a run. Everything but the times is the same for any number of workers and for any number of interruptions and
// resumptions, unless the run ended early.
type Outcome struct {
	Summary
	Match    Match
	Strategy string // canonical
	Shielded bool   // the strategy is under a shield
	Asked    int64  // games that were wanted
	Resumed  int64  // games that were read from the state file
	End      End
	Cause    error // of the end Interrupted: the error of the context; of the end Lacking: it names the missing shards
	Elapsed  time.Duration
	Warnings []string
}

// Sequential reports whether the number of games was decided by anything but Options.Games. Then only intervals that hold for all numbers of
// games at once are valid.
func (o *Outcome) Sequential() bool { return o.End != AllPlayed }

// Run plays the games. If the time or the context ends the run early, the outcome has the longest prefix of indices whose games are all
// finished, and End gives the reason; the error is nil.
//
// Counting all finished games instead of a prefix would favour short games: each worker's unfinished game tends to be a long one, and
// shorter games with later indices finish before it. A prefix only has the bias that its first missing game tends to be long. The
// intervals of a Sequential outcome allow for that, because they hold for all lengths of the prefix at once.
//
// The error is an error of the strategy, of a file or of Options.Each.
func Run(ctx context.Context, opt Options) (outcome *Outcome, err error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	if err := opt.Match.prepare(ctx, opt.Strategy); err != nil {
		return nil, err
	}
	start := time.Now()
	outcome = &Outcome{Match: opt.Match, Strategy: opt.Strategy.String(), Asked: opt.Games}
	shield, _ := strategy.UnderShield(opt.Strategy)
	outcome.Shielded = shield != nil
	player := competitor{strategy: opt.Strategy}
	if opt.State != "" {
		if player.state, err = openState(opt.State, header(opt.Match, outcome.Strategy, opt.Version)); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, player.state.close()) }()
		outcome.Resumed, outcome.Warnings = player.state.resumedGames(opt.Games)
	}
	limited, cancel := ending.After(ctx, opt.Time)
	defer cancel()
	var failed error
	plan := opt.schedule(player, outcome, &failed)
	played := plan.run(limited)
	if err := cmp.Or(failed, played); err != nil {
		return nil, err
	}
	switch {
	case outcome.Games() == opt.Games:
	case opt.Split.Replaying():
		outcome.End, outcome.Cause = Lacking, plan.missingShards(outcome.Games())
	default:
		outcome.End, outcome.Cause = endOf(ctx), ctx.Err()
	}
	if outcome.Overflows > 0 {
		outcome.Warnings = append(outcome.Warnings, overflowWarning(outcome.Strategy, outcome.Overflows))
	}
	outcome.Warnings = append(outcome.Warnings, opt.Match.sameGames(opt.Strategy)...)
	outcome.Elapsed = time.Since(start)
	return outcome, nil
}

// check returns an error if the options are not valid.
func (opt *Options) check() error {
	switch {
	case opt.Games < 1:
		return fmt.Errorf("%d games, want at least 1", opt.Games)
	case opt.Strategy == nil:
		return errors.New("no strategy, want one")
	case opt.Record && opt.Match.Published:
		return errors.New("records are of games by the rules, want none of published updates")
	case opt.Workers < 0:
		return fmt.Errorf("%d workers, want at least 1", opt.Workers)
	}
	return opt.Match.Validate()
}

// schedule returns the schedule of the run, which adds the games to outcome and stores the error of Each in eachErr.
func (opt *Options) schedule(player competitor, outcome *Outcome, eachErr *error) *schedule {
	lastReport := time.Now()
	return &schedule{
		match: opt.Match, competitors: []competitor{player}, games: opt.Games, workers: opt.Workers, record: opt.Record, split: opt.Split,
		takeGame: func(_ int, played *Played) bool {
			outcome.Add(played.Game)
			if opt.Each != nil {
				*eachErr = opt.Each(played)
			}
			return *eachErr == nil
		},
		tick: func() {
			if opt.Progress != nil && time.Since(lastReport) > progressInterval {
				lastReport = time.Now()
				opt.Progress(progress.Progress{Done: outcome.Games(), Target: opt.Games, Unit: progress.Games})
			}
		},
	}
}

// sameGames returns a warning if all games of the strategies are the same because nothing in them is drawn.
func (m Match) sameGames(strategies ...strategy.Strategy) []string {
	if m.Opponent == nil || !m.Opponent.Deterministic() {
		return nil
	}
	for _, player := range strategies {
		if !player.Deterministic() {
			return nil
		}
	}
	return []string{"neither player nor opponent draws a random number, so all games are the same: one would do"}
}

const progressInterval = 100 * time.Millisecond

func overflowWarning(strategy string, n int64) string {
	return fmt.Sprintf("%s: %d games ended where the player saw merges for which its boards, with tiles to 32768, have no room; their scores and moves are too small",
		strategy, n)
}

// Reason says why the games ended. cause is the Cause of the outcome.
func (e End) Reason(cause error) string {
	switch {
	case cause == nil:
		return e.String()
	case e == Lacking:
		return cause.Error()
	}
	return ending.Reason(cause)
}

// endOf returns Interrupted if ctx ended, and OutOfTime otherwise.
func endOf(ctx context.Context) End {
	if ctx.Err() != nil {
		return Interrupted
	}
	return OutOfTime
}
