package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"tilecheck/game"
	"tilecheck/game/induced"
	"tilecheck/game/play"
	"tilecheck/game/strategy"
	"tilecheck/report/playtables"
	"tilecheck/report/table"
)

// shieldFlags put players under a shield.
type shieldFlags struct {
	Shield   *fraction `help:"Allow only moves whose winning probability is at most D below the best one of their board: 0.01 or 1/100." placeholder:"D"`
	Relative bool      `help:"With --shield: D is a share of the best probability."`
	Total    bool      `help:"With --shield: D limits the loss of the whole game."`
	Hide     bool      `help:"With --shield: the player sees only the allowed moves (default: other moves are replaced by a best one)."`
	Solved   string    `help:"Optimal play, a file of tilecheck solve --output (default: solved in memory)." placeholder:"FILE" file:"in"`
}

// newShield returns the shield that the flags describe; nil without --shield.
func (c *shieldFlags) newShield(env *environment, match play.Match) (*strategy.Shield, error) {
	if err := env.refuseFlags(c.Shield == nil, "without --shield", "relative", "total", "hide", "solved"); err != nil || c.Shield == nil {
		return nil, err
	}
	rules, err := game.New(match.Shape)
	if err != nil {
		return nil, usageError("%w", err)
	}
	if match.Opponent != nil {
		return nil, usageError("--shield bounds what is lost against chance, want it without --spawn")
	}
	if match.PlayOn {
		return nil, usageError("--shield keeps the probability of a win, want --max, and not --on")
	}
	shield, err := strategy.NewShield(strategy.Setting{Rules: rules, Max: match.Goal}, strategy.ShieldOptions{
		Loss: &c.Shield.Rat, Relative: c.Relative, Game: c.Total, Hide: c.Hide, File: c.Solved,
	})
	if err != nil {
		return nil, usageError("--shield: %w", err)
	}
	return shield, nil
}

// shieldEffect computes the probability that the player wins, with and without its shield.
func (c *playCmd) shieldEffect(ctx context.Context, options play.Options) (*induced.ShieldEffect, error) {
	rules, err := game.New(options.Match.Shape)
	if err != nil {
		return nil, err
	}
	return induced.ShieldValue(ctx, options.Strategy, induced.Options{Rules: rules, Max: options.Match.Goal, MaxStates: cmp.Or(c.MaxStates, 1_000_000)})
}

// addShieldEffect adds rows about the effect of the shield to a table, and compares the loss with --within. Without a shield it does nothing.
func (c *playCmd) addShieldEffect(ctx context.Context, options play.Options, statistics *table.Table) error {
	shield, _ := strategy.UnderShield(options.Strategy)
	if shield == nil {
		return nil
	}
	effect, err := c.shieldEffect(ctx, options)
	if err != nil {
		return err
	}
	playtables.Shield(statistics, shield, effect, c.Format)
	return c.judgeLoss(effect)
}

// judgeLoss returns an error if the player loses more than --within allows, or if this is unknown. The loss is the optimal probability of winning
// minus the probability that the player wins.
func (c *playCmd) judgeLoss(effect *induced.ShieldEffect) error {
	if c.Within == nil {
		return nil
	}
	limit, _ := c.Within.Float64()
	loss := effect.Loss()
	switch {
	case !effect.With.Known:
		return errors.New("it is unknown whether the player is within --within of optimal play: " + effect.With.Reason)
	case loss.Hi <= limit:
		return nil
	case loss.Lo > limit:
		return &codedError{exitFailed, fmt.Errorf("the player loses at least %.6g to optimal play, more than %s", loss.Lo, c.Within.RatString())}
	}
	return fmt.Errorf("the player loses between %.15g and %.15g to optimal play: it is unknown whether that is within %s", loss.Lo, loss.Hi, c.Within.RatString())
}
