package induced

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/game/strategy"
	"tilecheck/internal/interval"
)

// ShieldEffect compares a player with and without a shield.
type ShieldEffect struct {
	Optimal  interval.Interval // the winning probability of optimal play
	LeastWin float64           // a lower bound of the winning probability of any player under the shield
	// Without is the player alone, With is the player under the shield.
	Without, With PlayerValue
}

// PlayerValue has the expectations of a player. If Known is false, its chain was too large, and Reason says so.
type PlayerValue struct {
	Known            bool
	Reason           string
	Win, Moves, Acts interval.Interval
	States           int // number of states that were evaluated
}

// Loss returns by how much the winning probability under the shield is below that of optimal play; it is at least 0.
func (g *ShieldEffect) Loss() interval.Interval {
	return interval.Interval{Lo: max(0, interval.Below(g.Optimal.Lo-g.With.Win.Hi)), Hi: interval.Above(max(0, g.Optimal.Hi-g.With.Win.Lo))}
}

// ActsShare returns the share of moves at which the shield acts: the expected number of such moves divided by the expected number of moves.
func (w PlayerValue) ActsShare() interval.Interval {
	if w.Acts.Hi == 0 {
		return interval.Interval{}
	}
	return interval.Interval{Lo: max(0, interval.Below(w.Acts.Lo/w.Moves.Hi)), Hi: min(1, interval.Above(w.Acts.Hi/w.Moves.Lo))}
}

// ShieldValue evaluates a strategy with and without its shield, which must be prepared for the game of opt. It explores the Markov chain of each. For
// the random strategy with a large table of the shield, it computes the values from the table instead: the random strategy has the same value on
// canonical boards. It returns an error of ctx, of the strategy or of the table's file.
func ShieldValue(ctx context.Context, s strategy.Strategy, opt Options) (*ShieldEffect, error) {
	shield, player := strategy.UnderShield(s)
	if shield == nil {
		return nil, fmt.Errorf("%s has no shield", s)
	}
	table := shield.Table()
	low, high, ok := table.Stats().Bounds(table.Problem())
	if !ok {
		return nil, errors.New("the winning probability of optimal play is too small for a bound")
	}
	effect := &ShieldEffect{Optimal: interval.Interval{Lo: low, Hi: high}, LeastWin: shield.LeastWin()}
	for _, player := range []struct {
		out *PlayerValue
		strategy.Strategy
		near *strategy.Shield
	}{{&effect.Without, player, nil}, {&effect.With, s, shield}} {
		var err error
		if many := table.Stats().Positions > exactStates; many && player.String() == "random" {
			*player.out, err = randomValue(ctx, shield, player.near != nil)
		} else {
			*player.out, err = chainValue(ctx, player.Strategy, opt)
		}
		if err != nil {
			return nil, err
		}
	}
	return effect, nil
}

// chainValue evaluates a strategy by its Markov chain. If the chain is too large, the value is unknown, with the reason.
func chainValue(ctx context.Context, s strategy.Strategy, opt Options) (PlayerValue, error) {
	chain, err := Explore(ctx, s, opt)
	if _, tooLarge := errors.AsType[*SizeError](err); tooLarge || errors.Is(err, strategy.ErrTooLarge) {
		return PlayerValue{Reason: err.Error()}, nil
	}
	if err != nil {
		return PlayerValue{}, err
	}
	value, err := chain.Bracket(ctx)
	if err != nil {
		return PlayerValue{}, err
	}
	return PlayerValue{Known: true, Win: interval.Interval{Lo: value.Win.Lo, Hi: min(1, value.Win.Hi)}, Moves: value.Moves, Acts: value.Acts, States: chain.Len()}, nil
}

// randomValue evaluates the random strategy, with or without the shield, by the table of the shield. Each value is widened by the bound of its
// rounding error.
func randomValue(ctx context.Context, shield *strategy.Shield, shielded bool) (PlayerValue, error) {
	allowance := shield.Allowance()
	if !shielded {
		allowance.Loss, allowance.Relative = 1, false // allows every move
	}
	random, err := shield.Table().RandomPlay(ctx, allowance, shield.Options().Hide)
	if err != nil {
		return PlayerValue{}, err
	}
	widened := func(value float64) interval.Interval {
		return interval.Interval{Lo: max(0, interval.Below(value/(1+random.Error))), Hi: interval.Above(value / (1 - random.Error))}
	}
	win := widened(random.Win)
	win.Hi = min(1, win.Hi)
	return PlayerValue{Known: true, Win: win, Moves: widened(random.Moves), Acts: widened(random.Acts), States: int(shield.Table().Stats().Positions)}, nil
}
