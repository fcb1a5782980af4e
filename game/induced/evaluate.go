package induced

import (
	"context"
	"math/big"

	"tilecheck/game/strategy"
	"tilecheck/internal/interval"
)

// Value has the expectations of a strategy from the random start. V is *big.Rat for exact values and interval.Interval for bounds.
type Value[V any] struct {
	Win V // the probability that the winning tile appears
	// Score and Moves are the expected score and the expected number of moves until the game is won or lost.
	Score, Moves V
	// Acts is the expected number of moves at which a shield acts.
	Acts   V
	States int // of the chain, without the empty board
}

// Evaluate returns the exact value of a strategy: it calls Explore and Chain.Exact.
func Evaluate(ctx context.Context, s strategy.Strategy, opt Options) (*Value[*big.Rat], error) {
	c, err := Explore(ctx, s, opt)
	if err != nil {
		return nil, err
	}
	return c.Exact(ctx)
}

// Exact computes the value in rational arithmetic, in about ten microseconds per state. The error is that of ctx.
func (c *Chain) Exact(ctx context.Context) (*Value[*big.Rat], error) {
	return evaluate(ctx, c, numbers[*big.Rat]{
		fromFraction: func(x *big.Rat) *big.Rat { return x },
		add:          func(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) },
		mul:          func(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) },
	})
}

// Bracket computes intervals that contain the value, in floating point with outward rounding. The error is that of ctx.
func (c *Chain) Bracket(ctx context.Context) (*Value[interval.Interval], error) {
	return evaluate(ctx, c, numbers[interval.Interval]{fromFraction: interval.Around, add: interval.Interval.Plus, mul: interval.Interval.Times})
}

// numbers is an arithmetic of non-negative numbers. Results may share memory with operands, so neither may be changed.
type numbers[V any] struct {
	fromFraction func(*big.Rat) V
	add, mul     func(x, y V) V
}

// evaluator computes the values of a chain's states, in the reverse of their order.
type evaluator[V any] struct {
	*Chain
	numbers[V]
	zero, one, probability2, probability4 V
	reciprocals                           []V // 1/n by n
}

// evaluate computes the probability of winning and the expected score, number of moves and number of shielded moves of a chain. It goes through the
// states from the last to the first. num is the arithmetic of the values: fractions or intervals.
func evaluate[V any](ctx context.Context, c *Chain, arithmetic numbers[V]) (*Value[V], error) {
	evaluation := &evaluator[V]{Chain: c, numbers: arithmetic, zero: arithmetic.fromFraction(new(big.Rat)), one: arithmetic.fromFraction(big.NewRat(1, 1))}
	chanceOf2 := c.opt.probabilityOf2()
	evaluation.probability2, evaluation.probability4 = arithmetic.fromFraction(chanceOf2), arithmetic.fromFraction(new(big.Rat).Sub(big.NewRat(1, 1), chanceOf2))
	evaluation.reciprocals = append(evaluation.reciprocals, evaluation.zero)
	for empties := range c.opt.Rules.Shape().Cells() {
		evaluation.reciprocals = append(evaluation.reciprocals, arithmetic.fromFraction(big.NewRat(1, int64(empties+1))))
	}
	win, score, moves, acts := evaluation.finalValues()
	for i := len(c.order) - 1; i >= 0; i-- {
		if i&0xff == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		state := c.order[i]
		win[state], score[state], moves[state], acts[state] = evaluation.zero, evaluation.zero, evaluation.one, evaluation.zero
		if c.actProbabilities[state] != nil {
			acts[state] = arithmetic.fromFraction(c.actProbabilities[state])
		}
		for _, choice := range c.choices[state] {
			probability, gain := arithmetic.fromFraction(choice.probability), arithmetic.fromFraction(big.NewRat(int64(choice.score), 1))
			win[state] = arithmetic.add(win[state], arithmetic.mul(probability, evaluation.mean(choice.targets, win)))
			score[state] = arithmetic.add(score[state], arithmetic.mul(probability, arithmetic.add(gain, evaluation.mean(choice.targets, score))))
			moves[state] = arithmetic.add(moves[state], arithmetic.mul(probability, evaluation.mean(choice.targets, moves)))
			acts[state] = arithmetic.add(acts[state], arithmetic.mul(probability, evaluation.mean(choice.targets, acts)))
		}
	}
	return &Value[V]{Win: evaluation.startValue(win), Score: evaluation.startValue(score), Moves: evaluation.startValue(moves), Acts: evaluation.startValue(acts), States: c.Len()}, nil
}

// finalValues returns slices of values by state. They are set for the states in which the game is over: the probability of winning is 1 for a won
// game, and all other values are 0.
func (e *evaluator[V]) finalValues() (win, score, moves, acts []V) {
	win, score, moves, acts = make([]V, e.Len()), make([]V, e.Len()), make([]V, e.Len()), make([]V, e.Len())
	for state, outcome := range e.outcomes {
		win[state], score[state], moves[state], acts[state] = e.zero, e.zero, e.zero, e.zero
		if outcome == Won {
			win[state] = e.one
		}
	}
	return win, score, moves, acts
}

// mean returns the expected value after a new tile. targets are the states after it, in the order of explorer.spawns. A single target has probability
// 1.
func (e *evaluator[V]) mean(targets []uint32, values []V) V {
	if len(targets) == 1 {
		return values[targets[0]]
	}
	empties := len(targets) / e.opt.spawnKinds()
	twos := e.mul(e.probability2, e.sum(targets[:empties], values))
	fours := e.mul(e.probability4, e.sum(targets[empties:], values))
	return e.mul(e.reciprocals[empties], e.add(twos, fours))
}

func (e *evaluator[V]) sum(targets []uint32, values []V) V {
	sum := e.zero
	for _, t := range targets {
		sum = e.add(sum, values[t])
	}
	return sum
}

// startValue returns the expected value after the first two tiles.
func (e *evaluator[V]) startValue(values []V) V {
	cells, kinds := e.opt.Rules.Shape().Cells(), e.opt.spawnKinds()
	perFirst := kinds * (cells - 1)
	var targets []V
	var first []uint32
	for i := range kinds * cells {
		targets = append(targets, e.mean(e.starts[i*perFirst:(i+1)*perFirst], values))
		first = append(first, uint32(i))
	}
	return e.mean(first, targets)
}
