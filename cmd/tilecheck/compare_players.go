package main

import (
	"context"
	"fmt"
	"slices"

	"tilecheck/game/play"
	"tilecheck/game/strategy"
	"tilecheck/report/playtables"
	"tilecheck/report/table"
	"tilecheck/stats"
)

type comparePlayersCmd struct {
	Words        []string `arg:"" optional:"" name:"strategy" help:"Strategies, as tilecheck strategies lists them (default: the four of the thesis)."`
	strategyFlag `embed:""`

	Max             int `help:"End a game when this tile is made; that wins it. Without --max, making 2048 wins, and the game goes on." placeholder:"TILE"`
	sizeFlags       `embed:""`
	On              bool `help:"With --max: play on until no move is legal."`
	spawnFlag       `embed:""`
	By              string  `help:"Rank by win (the share of games won) or by score." enum:"win,score" default:"win" placeholder:"CRITERION"`
	Games           int64   `help:"Largest number of games of each strategy." default:"1000" placeholder:"N"`
	All             bool    `name:"all-games" aliases:"all" help:"Play all games, even if the order is known earlier."`
	Seed            *uint64 `help:"Seed of random numbers (default: drawn, and printed)." placeholder:"N"`
	confidenceFlags `embed:""`
	budgetFlag      `embed:""`
	moveTimeFlag    `embed:""`
	State           string `name:"checkpoint" aliases:"state" help:"Keep finished games in DIR: after a stop, the same command continues." placeholder:"DIR" file:"keep"`
	Workers         int    `rare:"" help:"Goroutines (default: one per processor); the results do not depend on it." want:"[1,1024]" placeholder:"N"`
	timeFlag        `embed:""`
	shardFlags      `embed:""`
	Plot            string `help:"Draw the share of games that reached each tile, with intervals, .svg or .png." placeholder:"FILE" file:"out"`
	shieldFlags     `embed:""`
	Format          table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`
}

// Run lets the strategies play the same random games, and prints which strategy is better.
func (c *comparePlayersCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withTimeLimit(ctx, c.Timeout)
	defer cancel()
	options, err := c.contestOptions(env)
	if err != nil {
		return err
	}
	showProgress, stopProgress := env.startProgress()
	defer stopProgress()
	options.Progress = gamesProgress(fmt.Sprintf("games of %d strategies", len(options.Strategies)), showProgress)
	contest, err := play.Compare(ctx, options)
	if err != nil {
		return err
	}
	stopProgress()
	switch {
	case env.shard.Recording():
		return nil
	case contest.Games == 0:
		return noGameError(ctx, contest.End)
	}
	if err := playtables.WriteContest(env.stdout, contest, c.Format, env.reportOptions()); err != nil {
		return err
	}
	if c.Plot != "" {
		chart, err := playtables.ContestChart(contest)
		if err == nil {
			err = env.writeChart(c.Plot, chart)
		}
		if err != nil {
			return err
		}
	}
	env.printWarningLines(c.Format, contest.Warnings)
	return missingGamesError(ctx, contest.End, contest.Cause, contest.Games, contest.Asked)
}

// contestOptions returns the contest that the flags describe.
func (c *comparePlayersCmd) contestOptions(env *environment) (options play.CompareOptions, err error) {
	if err := env.refuseWithShard("budget", "checkpoint"); err != nil {
		return options, err
	}
	if c.State != "" && c.Seed == nil {
		return options, errStateSeed()
	}
	if err := (plotFlag{c.Plot}).checkExtension(); err != nil {
		return options, err
	}
	if options.Match, err = env.newMatch(c.sizeFlags, c.Max, c.On, c.Seed, c.Spawn); err != nil {
		return options, err
	}
	if options.Strategies, err = c.findStrategies(env, options.Match); err != nil {
		return options, err
	}
	options.By, options.All, options.Confidence, options.Games = play.Criterion(c.By), c.All, c.confidence(stats.DefaultConfidence), c.Games
	options.Workers, options.Time, options.Split = c.Workers, c.Budget, env.shard
	options.State, options.Version, err = env.checkpoint(c.State)
	return options, err
}

// findStrategies returns the strategies to compare. They must be at least two, and all different. With --shield, they make only moves that the shield
// allows.
func (c *comparePlayersCmd) findStrategies(env *environment, match play.Match) ([]strategy.Strategy, error) {
	shield, err := c.newShield(env, match)
	if err != nil {
		return nil, err
	}
	var strategies []strategy.Strategy
	for _, spec := range c.specsOrThesis(c.Words) {
		player, err := c.parseStrategy(match, spec)
		if err != nil {
			return nil, err
		}
		if shield != nil {
			player = shield.Guard(player)
		}
		if slices.ContainsFunc(strategies, func(earlier strategy.Strategy) bool { return earlier.String() == player.String() }) {
			return nil, usageError("%s is given twice", player)
		}
		strategies = append(strategies, player)
	}
	if len(strategies) < 2 {
		return nil, usageError("found %d strategy, want at least 2 to compare", len(strategies))
	}
	return strategies, nil
}
