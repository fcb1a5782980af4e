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

// ShieldValue evaluates a strategy with and without its shield, which must be prepared for the game of opt. It explores the chain of each. If the
// shield's table is large and the player is random, it computes the values from the table instead, because random has the same value on
// canonical boards. The error is an error of ctx, of the strategy or of the table's file.
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

func chainValue(ctx context.Context, s strategy.Strategy, opt Options) (PlayerValue, error) {
	c, err := Explore(ctx, s, opt)
	if _, tooLarge := errors.AsType[*SizeError](err); tooLarge || errors.Is(err, strategy.ErrTooLarge) {
		return PlayerValue{Reason: err.Error()}, nil
	}
	if err != nil {
		return PlayerValue{}, err
	}
	v, err := c.Bracket(ctx)
	if err != nil {
		return PlayerValue{}, err
	}
	return PlayerValue{Known: true, Win: interval.Interval{Lo: v.Win.Lo, Hi: min(1, v.Win.Hi)}, Moves: v.Moves, Acts: v.Acts, States: c.Len()}, nil
}

func randomValue(ctx context.Context, x *strategy.Shield, shielded bool) (PlayerValue, error) {
	near := x.Allowance()
	if !shielded {
		near.Loss, near.Relative = 1, false // allows every move
	}
	random, err := x.Table().RandomPlay(ctx, near, x.Options().Hide)
	if err != nil {
		return PlayerValue{}, err
	}
	widened := func(v float64) interval.Interval {
		return interval.Interval{Lo: max(0, interval.Below(v/(1+random.Error))), Hi: interval.Above(v / (1 - random.Error))}
	}
	win := widened(random.Win)
	win.Hi = min(1, win.Hi)
	return PlayerValue{Known: true, Win: win, Moves: widened(random.Moves), Acts: widened(random.Acts), States: int(x.Table().Stats().Positions)}, nil
}
