package induced

import (
	"context"
	"errors"
	"fmt"

	"tilecheck/game/strategy"
)

// Gain is what a shield makes of a player.
type Gain struct {
	Optimal Interval // the winning probability of optimal play
	Least   float64  // a lower bound of that of whoever obeys the shield
	// Without and With are the player by itself and under the shield.
	Without, With Worth
}

// Worth is what is proven about a player. It is not Known where its chain is too large; Why says so.
type Worth struct {
	Known            bool
	Why              string
	Win, Moves, Acts Interval
	States           int // that it rests on
}

// Lost is what the player under the shield wins less often than optimal play, at least 0.
func (g *Gain) Lost() Interval {
	return Interval{down(g.Optimal.Lo - g.With.Win.Hi), up(max(0, g.Optimal.Hi-g.With.Win.Lo))}
}

// Share is the share of the moves at which the shield acts: the expected number of these, of the expected number of moves.
func (w Worth) Share() Interval {
	if w.Acts.Hi == 0 {
		return Interval{}
	}
	return Interval{down(w.Acts.Lo / w.Moves.Hi), min(1, up(w.Acts.Hi/w.Moves.Lo))}
}

// Shielded computes what a shield makes of a player: of a strategy under one that was prepared, on a game of its setting. Of the random player,
// whose value is that on canonical boards, the table of the shield is gone through where that has many. The error is that of ctx, of the strategy, or of the file.
func Shielded(ctx context.Context, s strategy.Strategy, opt Options) (*Gain, error) {
	shield, player := strategy.UnderShield(s)
	if shield == nil {
		return nil, fmt.Errorf("%s has no shield", s)
	}
	table := shield.Table()
	low, high, ok := table.Stats().Bounds(table.Problem())
	if !ok {
		return nil, errors.New("the winning probability of optimal play is too small for a bound")
	}
	g := &Gain{Optimal: Interval{low, high}, Least: shield.Least()}
	for _, x := range []struct {
		out *Worth
		strategy.Strategy
		near *strategy.Shield
	}{{&g.Without, player, nil}, {&g.With, s, shield}} {
		var err error
		if many := table.Stats().Positions > exactStates; many && player.String() == "random" {
			*x.out, err = randomWorth(ctx, shield, x.near != nil)
		} else {
			*x.out, err = chainWorth(ctx, x.Strategy, opt)
		}
		if err != nil {
			return nil, err
		}
	}
	return g, nil
}

func chainWorth(ctx context.Context, s strategy.Strategy, opt Options) (Worth, error) {
	c, err := Explore(ctx, s, opt)
	if _, tooLarge := errors.AsType[*SizeError](err); tooLarge || errors.Is(err, strategy.ErrTooLarge) {
		return Worth{Why: err.Error()}, nil
	}
	if err != nil {
		return Worth{}, err
	}
	v, err := c.Bracket(ctx)
	if err != nil {
		return Worth{}, err
	}
	return Worth{Known: true, Win: Interval{v.Win.Lo, min(1, v.Win.Hi)}, Moves: v.Moves, Acts: v.Acts, States: c.Len()}, nil
}

func randomWorth(ctx context.Context, x *strategy.Shield, shielded bool) (Worth, error) {
	near := x.Near()
	if !shielded {
		near.Loss, near.Relative = 1, false // everything
	}
	r, err := x.Table().Random(ctx, near, x.Options().Hide)
	if err != nil {
		return Worth{}, err
	}
	around := func(v float64) Interval { return Interval{down(v / (1 + r.Error)), up(v / (1 - r.Error))} }
	win := around(r.Win)
	win.Hi = min(1, win.Hi)
	return Worth{Known: true, Win: win, Moves: around(r.Moves), Acts: around(r.Acts), States: int(x.Table().Stats().Positions)}, nil
}
