package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"time"

	"tilecheck/game"
	"tilecheck/game/play"
	"tilecheck/game/strategy"
	"tilecheck/internal/noun"
	"tilecheck/internal/progress"
	"tilecheck/modelgen"
	"tilecheck/report/playtables"
	"tilecheck/report/table"
	"tilecheck/runner/local"
	"tilecheck/stats"
)

// budgetFlag is the time to spend; the results at its end are those of a complete run. In contrast, --timeout is a limit with its own exit code.
type budgetFlag struct {
	Budget time.Duration `aliases:"time" help:"Time to spend; the games finished by then count." placeholder:"DURATION"`
}

// moveTimeFlag limits the moves of external players.
type moveTimeFlag struct {
	MoveTime time.Duration `rare:"" help:"Time limit of a move of an external player, exec:COMMAND (default: 10s)." default:"10s" want:"(0,]" placeholder:"DURATION"`
}

// externalPlayers starts external players on this machine.
type externalPlayers struct{ limit time.Duration }

func (e externalPlayers) MoveTime() time.Duration { return e.limit }

func (externalPlayers) Start(ctx context.Context, command []string) (strategy.Conversation, error) {
	tool, err := local.New(command[0])
	if err != nil {
		return nil, err
	}
	return tool.Converse(ctx, command[1:])
}

// newMatch returns the match that the flags describe. Without a goal tile (tile is 0), the goal is the tile 2048, and a game continues after it is won.
func (e *environment) newMatch(board sizeFlags, tile int, playOn bool, seed *uint64, spawn string) (match play.Match, err error) {
	if match.Shape.Rows, match.Shape.Cols, err = board.boardShape(); err != nil {
		return match, err
	}
	match.PlayOn = playOn || tile == 0
	if tile == 0 {
		tile = defaultGoal
	}
	largest := game.Value(game.MaxWideExponent)
	isPowerOfTwo := bits.OnesCount(uint(tile)) == 1
	if tile < 4 || tile > largest || !isPowerOfTwo {
		return match, usageError("--max is %d, want a power of two from 4 to %d", tile, largest)
	}
	match.Goal = bits.TrailingZeros(uint(tile))
	if match.Seed, err = e.seedOrRandom(seed); err != nil {
		return match, err
	}
	if err := match.Validate(); err != nil {
		return match, usageError("%w", err)
	}
	if match.Opponent, err = match.ParseOpponent(cmp.Or(spawn, "chance")); err != nil {
		return match, usageError("--spawn: %w", err)
	}
	return match, nil
}

// spawnFlag chooses who places the new tiles.
type spawnFlag struct {
	Spawn string `aliases:"against" help:"Who places new tiles: chance, worst-cell, worst-tile, worst." placeholder:"SPAWN"`
}

// defaultGoal is the tile that the game is named after.
const defaultGoal = 2048

// parseStrategy parses a strategy for a match, which may be an external player. An error is a usage error.
func (f moveTimeFlag) parseStrategy(match play.Match, spec string) (strategy.Strategy, error) {
	parsed, err := match.ParseWith(spec, externalPlayers{limit: f.MoveTime})
	if err != nil {
		return nil, usageError("%w", err)
	}
	return parsed, nil
}

type playCmd struct {
	Strategy string `arg:"" help:"Strategy, such as random, pref:left,up,down,right or expectimax:eval=snake,depth=2."`

	sizeFlags       `embed:""`
	Max             int  `help:"End a game when this tile is made; that wins it. Without --max, making 2048 wins, and the game goes on." placeholder:"TILE"`
	On              bool `help:"With --max: play on until no move is legal."`
	spawnFlag       `embed:""`
	updateFlag      `embed:""`
	Games           int64   `help:"Games to play." default:"1000" placeholder:"N"`
	Seed            *uint64 `help:"Seed of random numbers (default: drawn, and printed)." placeholder:"N"`
	Workers         int     `rare:"" help:"Goroutines (default: one per processor); the results do not depend on it." want:"[1,1024]" placeholder:"N"`
	confidenceFlags `embed:""`
	budgetFlag      `embed:""`
	moveTimeFlag    `embed:""`
	State           string `name:"checkpoint" aliases:"state,resume" help:"Keep finished games in FILE: after a stop, the same command continues." placeholder:"FILE" file:"keep"`
	Record          string `help:"Write moves and tiles, for tilecheck replay." placeholder:"FILE" file:"out"`

	shieldFlags `embed:""`
	Within      *fraction `help:"With --shield: exit code 2 unless the player provably wins with at most E below the best probability." placeholder:"E"`
	MaxStates   int       `name:"shield-states" aliases:"max-states" rare:"" help:"With --shield: compute the probability of winning of a player with at most N states (default: 1000000)." placeholder:"N"`

	Watch bool          `help:"Show one game instead, on a terminal as a film."`
	Game  int64         `rare:"" help:"The game to watch." default:"0" want:"[0,]" placeholder:"INDEX"`
	Delay time.Duration `rare:"" help:"Time between the boards of a film." default:"150ms" want:"[0,]" placeholder:"DURATION"`

	Plot      string       `help:"Draw the distribution of the largest tile, .svg or .png." placeholder:"FILE" file:"out"`
	PlotScore string       `help:"Draw the mean score as the games go on, .svg or .png." placeholder:"FILE" file:"out"`
	Format    table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`

	timeFlag   `embed:""`
	shardFlags `embed:""`
}

// Run plays the games and prints their statistics.
func (c *playCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withTimeLimit(ctx, c.Timeout)
	defer cancel()
	err := cmp.Or(
		env.refuseFlags(!c.Watch, "without --watch", "game", "delay"),
		env.refuseFlags(c.Watch, "with --watch", "games", "confidence", "alpha", "budget", "workers", "shard", "partial", "within", "shield-states"),
		env.refuseWithShard("budget", "checkpoint", "record"),
		env.refuseFlags(c.Shield == nil, "without --shield", "within", "shield-states"),
	)
	if err != nil {
		return err
	}
	options, err := c.options(env)
	if err != nil {
		return err
	}
	if c.Watch {
		return c.watchGame(ctx, env, options)
	}
	showProgress, stopProgress := env.startProgress()
	defer stopProgress()
	options.Progress = gamesProgress(options.Strategy.String(), showProgress)
	var curve playtables.ScoreCurve
	outcome, recordErr, err := c.playGames(ctx, env, options, &curve)
	if err != nil {
		return err
	}
	stopProgress()
	switch {
	case env.shard.Recording(): // the merge prints the results
		return nil
	case outcome.Games() == 0:
		return noGameError(ctx, outcome.End)
	}
	return c.printResults(ctx, env, options, outcome, &curve, recordErr)
}

// printResults prints the statistics of the games and draws the charts. It returns the error for the exit code. recordErr is the error of writing
// the file of --record, or nil, and is returned too.
func (c *playCmd) printResults(ctx context.Context, env *environment, options play.Options, outcome *play.Outcome, curve *playtables.ScoreCurve, recordErr error) error {
	estimates, err := outcome.Estimates(c.confidence(stats.DefaultConfidence))
	if err != nil {
		return err
	}
	statistics := playtables.Play(outcome, estimates, c.Format)
	lossError := c.addShieldEffect(ctx, options, statistics)
	err = statistics.Write(env.stdout, c.Format, env.reportOptions())
	env.printWarningLines(c.Format, outcome.Warnings)
	err = errors.Join(err, recordErr, c.drawCharts(env, outcome, estimates, curve))
	return cmp.Or(err, missingGamesError(ctx, outcome.End, outcome.Cause, outcome.Games(), outcome.Asked), lossError)
}

// options returns the options of the games that the flags describe.
func (c *playCmd) options(env *environment) (options play.Options, err error) {
	if err := c.refuseFlagPairs(); err != nil {
		return options, err
	}
	if options.Match, err = c.newMatchOfFlags(env); err != nil {
		return options, err
	}
	options.Games, options.Workers, options.Time, options.Split = c.Games, c.Workers, c.Budget, env.shard
	if options.State, options.Version, err = env.checkpoint(c.State); err != nil {
		return options, err
	}
	if options.Strategy, err = c.parseStrategy(options.Match, c.Strategy); err != nil {
		return options, err
	}
	shield, err := c.newShield(env, options.Match)
	if shield != nil {
		options.Strategy = shield.Guard(options.Strategy)
	}
	return options, err
}

// refuseFlagPairs returns a usage error if flags do not fit together.
func (c *playCmd) refuseFlagPairs() error {
	writesFiles := c.Record != "" || c.State != "" || c.Plot != "" || c.PlotScore != ""
	switch {
	case c.Watch && writesFiles:
		return usageError("--watch shows one game, want it without --record, --checkpoint, --plot and --plot-score")
	case c.Watch && c.Format != table.Text:
		return errOnlyText("--watch", c.Format)
	case c.State != "" && c.Seed == nil:
		return errStateSeed()
	case isStdout(c.Record):
		return usageError("--record is %s, want a file: the results go to standard output", c.Record)
	}
	return cmp.Or((plotFlag{c.Plot}).checkExtension(), (plotFlag{c.PlotScore}).checkExtension())
}

// newMatchOfFlags returns the match that the flags describe. With --updates published, the rules are those of the published model, and a game ends at the
// goal.
func (c *playCmd) newMatchOfFlags(env *environment) (match play.Match, err error) {
	updates, err := c.updates()
	if err != nil {
		return match, asUsageError(err)
	}
	if updates == modelgen.UpdatesRules {
		return env.newMatch(c.sizeFlags, c.Max, c.On, c.Seed, c.Spawn)
	}
	if c.Record != "" || c.Shield != nil {
		return match, usageError("--updates published has other rules than the game, want it without --record and --shield, which know the rules of the game only")
	}
	if match, err = env.newMatch(c.sizeFlags, cmp.Or(c.Max, defaultGoal), c.On, c.Seed, c.Spawn); err != nil {
		return match, err
	}
	match.Published = true
	return match, asUsageError(match.Validate())
}

// playGames plays the games and adds their scores to curve. With --record it also writes the games to a file, and recordErr is the error of writing.
func (c *playCmd) playGames(ctx context.Context, env *environment, options play.Options, curve *playtables.ScoreCurve) (outcome *play.Outcome, recordErr, err error) {
	if c.Record != "" {
		return c.playAndRecord(ctx, env, options, curve)
	}
	options.Each = func(game *play.Played) error {
		curve.Add(game.Game)
		return nil
	}
	outcome, err = play.Run(ctx, options)
	return outcome, nil, err
}

// playAndRecord plays the games and writes them to the file of --record. A write error does not end the games; it is returned as recordErr.
func (c *playCmd) playAndRecord(ctx context.Context, env *environment, options play.Options, curve *playtables.ScoreCurve) (outcome *play.Outcome, recordErr, err error) {
	options.Record = true
	recordErr = env.writeFile(c.Record, func(w io.Writer) error {
		recorder, writeErr := play.NewRecorder(w, options.Match, options.Strategy.String())
		options.Each = func(game *play.Played) error {
			curve.Add(game.Game)
			if writeErr == nil {
				writeErr = recorder.Write(game)
			}
			return nil
		}
		if outcome, err = play.Run(ctx, options); err == nil && outcome.Games() == 0 {
			err = noGameError(ctx, outcome.End)
		}
		return cmp.Or(err, writeErr) // after an error the file keeps its former contents
	})
	if err == nil && recordErr == nil {
		env.noteWritten(c.Record)
	}
	if outcome == nil && err == nil { // the file could not be opened, so no game was played
		err = recordErr
	}
	return outcome, recordErr, err
}

// drawCharts draws the charts of --plot and --plot-score.
func (c *playCmd) drawCharts(env *environment, outcome *play.Outcome, estimates []play.Estimate, curve *playtables.ScoreCurve) error {
	var plotErr error
	if c.Plot != "" {
		plotErr = env.writeChart(c.Plot, playtables.Largest(outcome, estimates))
	}
	if c.PlotScore == "" {
		return plotErr
	}
	chart, err := curve.Chart(outcome, c.confidence(stats.DefaultConfidence))
	if err == nil {
		err = env.writeChart(c.PlotScore, chart)
	}
	return errors.Join(plotErr, err)
}

// errOnlyText returns the usage error about a format together with a flag that draws boards.
func errOnlyText(flag string, f table.Format) error {
	return usageError("%s draws boards, want it without --format %v", flag, f)
}

// checkpoint returns the file for finished games and the version of this program. Both are empty if path is empty.
func (e *environment) checkpoint(path string) (place, version string, err error) {
	if path == "" {
		return "", "", nil
	}
	version, err = e.identifyBuild()
	return path, version, err
}

// errStateSeed returns the usage error about kept games without a seed, because such games could not be continued.
func errStateSeed() error {
	return usageError("--checkpoint needs --seed: without it, each run would draw a different seed and play other games")
}

// noGameError returns the error of a run that finished no game.
func noGameError(ctx context.Context, end play.End) error {
	switch end {
	case play.Interrupted:
		return fmt.Errorf("%w before a game was finished", ctx.Err())
	case play.Lacking:
		return errors.New("the shards that are there have no game")
	}
	return &codedError{code: exitOutOfLimit, err: errors.New("the time was over before a game was finished, want more time with --budget")}
}

// missingGamesError returns the error of a run that has finished only some of its games, because it was interrupted or because shards are missing. A run
// that ends because its budget is used up has succeeded.
func missingGamesError(ctx context.Context, end play.End, cause error, finished, asked int64) error {
	games := fmt.Sprintf("%d of %s", finished, noun.Count(asked, "game"))
	switch end {
	case play.Interrupted:
		return &codedError{code: exitCodeAfterEnd(ctx.Err()), err: fmt.Errorf("%w after %s", ctx.Err(), games)}
	case play.Lacking:
		return fmt.Errorf("%s: the result is of %s", end.Reason(cause), games)
	}
	return nil
}

// gamesProgress returns a function that reports the progress of games under the given name. It returns nil if report is nil.
func gamesProgress(name string, report func(progress.Progress)) func(progress.Progress) {
	if report == nil {
		return nil
	}
	return func(current progress.Progress) {
		current.Property = name
		report(current)
	}
}

// printWarningLines prints warnings on standard error. For text and Markdown it prints nothing, because their tables show the warnings as notes.
func (e *environment) printWarningLines(format table.Format, warnings []string) {
	if format == table.Text || format == table.Markdown {
		return
	}
	for _, warning := range warnings {
		fmt.Fprintf(e.stderr, "warning: %s\n", warning)
	}
}
