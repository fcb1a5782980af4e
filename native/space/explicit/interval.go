package explicit

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
)

// interval is the interval in which the probability of an update lies. Its bounds may be shared
// and must not be changed.
type interval struct{ low, high *big.Rat }

// requireOneCommand rejects a state of an interval Markov chain with several enabled commands.
// PRISM adds their intervals, and the result is no distribution.
func (x *exactExpander) requireOneCommand(state []int32, cs []compile.Choice) error {
	if len(cs) < 2 {
		return nil
	}
	second := cs[1].Commands[0]
	pos := x.m.Program().Modules[second.Module].Commands[second.Command].Pos
	return unsupported(x.m, state, pos, "several commands of an interval Markov chain are enabled")
}

// intervalChoice is choice for intervals. It multiplies and adds the bounds, then tightens them.
//
// Source: PRISM's explicit engine, for interval models.
func (x *exactExpander) intervalChoice(ctx context.Context, state []int32, c *compile.Choice) (exactChoice, error) {
	out := exactChoice{action: c.Action, highs: []*big.Rat{}}
	var weights [][]interval
	for _, ref := range c.Commands {
		ws, err := x.intervalWeights(state, &x.m.Program().Modules[ref.Module].Commands[ref.Command])
		if err != nil {
			return out, err
		}
		weights = append(weights, ws)
	}
	pick := make([]int, len(weights))
	for more := true; more; more = advance(pick, weights) >= 0 {
		w := weights[0][pick[0]]
		for i, u := range pick[1:] {
			v := weights[i+1][u]
			w = interval{new(big.Rat).Mul(w.low, v.low), new(big.Rat).Mul(w.high, v.high)}
		}
		if w.high.Sign() == 0 {
			continue
		}
		target := slices.Clone(state)
		if err := x.x.Apply(target, c.Commands, pick); err != nil {
			return out, err
		}
		out.addInterval(target, w)
		if len(out.targets)&0xff == 0 && ctx.Err() != nil {
			return out, ctx.Err()
		}
	}
	out.tighten()
	return out, nil
}

// addInterval adds a transition to the choice.
func (c *exactChoice) addInterval(target []int32, w interval) {
	for i, t := range c.targets {
		if slices.Equal(t, target) {
			c.weights[i] = new(big.Rat).Add(c.weights[i], w.low)
			c.highs[i] = new(big.Rat).Add(c.highs[i], w.high)
			return
		}
	}
	c.targets, c.weights, c.highs = append(c.targets, target), append(c.weights, w.low), append(c.highs, w.high)
}

// tighten moves each bound to the nearest value that some distribution attains.
func (c *exactChoice) tighten() {
	lows, highs := big.NewRat(1, 1), big.NewRat(1, 1) // 1 minus the sums
	for i := range c.weights {
		lows.Sub(lows, c.weights[i])
		highs.Sub(highs, c.highs[i])
	}
	for i := range c.weights {
		least, most := new(big.Rat).Add(highs, c.highs[i]), new(big.Rat).Add(lows, c.weights[i])
		if least.Cmp(c.weights[i]) > 0 {
			c.weights[i] = least
		}
		if most.Cmp(c.highs[i]) < 0 {
			c.highs[i] = most
		}
	}
}

// intervalWeights evaluates the intervals of a command and checks that they contain a
// distribution.
func (x *exactExpander) intervalWeights(state []int32, c *sema.Command) ([]interval, error) {
	if known := x.intervals[c]; known != nil {
		return known, nil
	}
	var out []interval
	lows, highs := new(big.Rat), new(big.Rat)
	constant := true
	for i := range c.Updates {
		u := &c.Updates[i]
		low, err := x.weight(state, "probability", u.Prob)
		if err != nil {
			return nil, err
		}
		high := low
		if u.ProbHigh != nil {
			if high, err = x.weight(state, "probability", u.ProbHigh); err != nil {
				return nil, err
			}
		}
		if low.Cmp(high) > 0 {
			return nil, x.fail(state, u.Pos, fmt.Sprintf("probability from %s to %s, exactly, which no number is", low.RatString(), high.RatString()))
		}
		out = append(out, interval{low, high})
		lows.Add(lows, low)
		highs.Add(highs, high)
		constant = constant && isConst(u.Prob) && (u.ProbHigh == nil || isConst(u.ProbHigh))
	}
	one := big.NewRat(1, 1)
	switch {
	case highs.Sign() == 0:
		return nil, x.fail(state, c.Pos, "probability of every update is zero")
	case lows.Cmp(one) > 0:
		return nil, x.fail(state, c.Pos, fmt.Sprintf("lower bounds of probabilities sum to %s, exactly, which is more than 1", lows.RatString()))
	case highs.Cmp(one) < 0:
		return nil, x.fail(state, c.Pos, fmt.Sprintf("upper bounds of probabilities sum to %s, exactly, which is less than 1", highs.RatString()))
	}
	if constant {
		x.intervals[c] = out
	}
	return out, nil
}
