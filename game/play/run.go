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

// Options say what to play.
type Options struct {
	Match    Match
	Strategy strategy.Strategy
	Games    int64 // at least 1
	Workers  int   // 0 means one per processor
	// Time, when positive, ends the run: the games that were finished by then count, up to the first that was not.
	Time time.Duration
	// State is the file that keeps finished games; empty is none. Version is the identity of the program: games of another
	// build are refused.
	State, Version string
	// Record has the Transcript of every game given to Each. Games that a state knows are then played again.
	Record bool
	// Each, when not nil, is given the games in the order of their indices. An error ends the run.
	Each func(*Played) error
	// Progress, when not nil, is told a few times a second how far the run is.
	Progress func(progress.Progress)
	// Split, when not nil, shares the games with other processes; then there is neither Time nor State nor Record.
	Split *shard.Ledger
}

// End is why a run ended.
type End uint8

// The reasons.
const (
	AllPlayed   End = iota
	OutOfTime       // Options.Time was up
	Settled         // a comparison needed no more games
	Interrupted     // the context ended
	Lacking         // not all shards are there
)

// String returns the reason in words.
func (e End) String() string {
	return [...]string{"all games were played", "the time was up", "every pair was settled", "the run was interrupted", "shards are missing"}[e]
}

// Outcome is what a run came to. All but the times is the same for any number of workers, and however often the run was killed and
// resumed, unless it ended early.
type Outcome struct {
	Summary
	Match    Match
	Strategy string // canonical
	Shielded bool   // the strategy is under a shield
	Asked    int64  // games that were wanted
	Known    int64  // games that the state knew, of those wanted
	End      End
	Elapsed  time.Duration
	Warnings []string
}

// Sequential reports whether something else than Options.Games decided the number of games, so that only intervals that hold for every
// number of games at once are valid.
func (o *Outcome) Sequential() bool { return o.End != AllPlayed }

// Run plays the games. When time or the context end it before all are played, the outcome has the longest prefix of the indices whose
// games are all finished, and End says so; that is no error.
//
// A prefix, and not simply every game that was finished: a short game with a late index finishes while a long one before it is still
// going on, so that counting everything would favour short games, as many of them as there are workers. What remains is that the first
// game cut off tends to be a long one. It matters by one game, and not for the intervals of a Sequential outcome: they hold for all
// lengths of the prefix together, however the length came about.
//
// The error is that of the strategy, of a file or of Options.Each.
func Run(ctx context.Context, opt Options) (out *Outcome, err error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	if err := strategy.Prepare(ctx, opt.Strategy); err != nil {
		return nil, err
	}
	start := time.Now()
	out = &Outcome{Match: opt.Match, Strategy: opt.Strategy.String(), Asked: opt.Games}
	shield, _ := strategy.UnderShield(opt.Strategy)
	out.Shielded = shield != nil
	e := entrant{strategy: opt.Strategy}
	if opt.State != "" {
		if e.state, err = openState(opt.State, header(opt.Match, out.Strategy, opt.Version)); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, e.state.close()) }()
		out.Known, out.Warnings = e.state.resumed(opt.Games)
	}
	limited, cancel := ending.After(ctx, opt.Time)
	defer cancel()
	var failed error
	s := opt.schedule(e, out, &failed)
	played := s.run(limited)
	if err := cmp.Or(failed, played); err != nil {
		return nil, err
	}
	switch {
	case out.Games() == opt.Games:
	case opt.Split.Replaying():
		out.End = s.lacking(out.Games())
	default:
		out.End = endOf(ctx)
	}
	if out.Overflows > 0 {
		out.Warnings = append(out.Warnings, overflowWarning(out.Strategy, out.Overflows))
	}
	out.Elapsed = time.Since(start)
	return out, nil
}

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

// schedule is that of the run, which sums up; failed is set to the error of Each.
func (opt *Options) schedule(e entrant, out *Outcome, failed *error) *schedule {
	told := time.Now()
	return &schedule{
		match: opt.Match, entrants: []entrant{e}, games: opt.Games, workers: opt.Workers, record: opt.Record, split: opt.Split,
		take: func(_ int, g *Played) bool {
			out.Add(g.Game)
			if opt.Each != nil {
				*failed = opt.Each(g)
			}
			return *failed == nil
		},
		tick: func() {
			if opt.Progress != nil && time.Since(told) > progressInterval {
				told = time.Now()
				opt.Progress(progress.Progress{Done: out.Games(), Target: opt.Games, Unit: progress.Games})
			}
		},
	}
}

const progressInterval = 100 * time.Millisecond

func overflowWarning(strategy string, n int64) string {
	return fmt.Sprintf("%s: %d games ended where two tiles of 32768 were to merge, which a board cannot hold; their scores and moves are too small",
		strategy, n)
}

// endOf tells the user's interruption from the end of the time.
func endOf(ctx context.Context) End {
	if ctx.Err() != nil {
		return Interrupted
	}
	return OutOfTime
}
