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
		rat: func(x *big.Rat) *big.Rat { return x },
		add: func(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) },
		mul: func(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) },
	})
}

// Bracket computes intervals that contain the value, in floating point with outward rounding. The error is that of ctx.
func (c *Chain) Bracket(ctx context.Context) (*Value[interval.Interval], error) {
	return evaluate(ctx, c, numbers[interval.Interval]{rat: interval.Around, add: interval.Interval.Plus, mul: interval.Interval.Times})
}

// numbers is an arithmetic of non-negative numbers. Results may share memory with operands, so neither may be changed.
type numbers[V any] struct {
	rat      func(*big.Rat) V
	add, mul func(x, y V) V
}

// evaluator computes the values of a chain's states, in the reverse of their order.
type evaluator[V any] struct {
	*Chain
	numbers[V]
	zero, one, p2, p4 V
	inverse           []V // 1/n by n
}

func evaluate[V any](ctx context.Context, c *Chain, num numbers[V]) (*Value[V], error) {
	e := &evaluator[V]{Chain: c, numbers: num, zero: num.rat(new(big.Rat)), one: num.rat(big.NewRat(1, 1))}
	p2 := c.opt.p2()
	e.p2, e.p4 = num.rat(p2), num.rat(new(big.Rat).Sub(big.NewRat(1, 1), p2))
	e.inverse = append(e.inverse, e.zero)
	for n := range c.opt.Rules.Shape().Cells() {
		e.inverse = append(e.inverse, num.rat(big.NewRat(1, int64(n+1))))
	}
	win, score, moves, acts := e.finalValues()
	for i := len(c.order) - 1; i >= 0; i-- {
		if i&0xff == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		s := c.order[i]
		win[s], score[s], moves[s], acts[s] = e.zero, e.zero, e.one, e.zero
		if c.acts[s] != nil {
			acts[s] = num.rat(c.acts[s])
		}
		for _, ch := range c.choices[s] {
			p, gain := num.rat(ch.prob), num.rat(big.NewRat(int64(ch.score), 1))
			win[s] = num.add(win[s], num.mul(p, e.mean(ch.targets, win)))
			score[s] = num.add(score[s], num.mul(p, num.add(gain, e.mean(ch.targets, score))))
			moves[s] = num.add(moves[s], num.mul(p, e.mean(ch.targets, moves)))
			acts[s] = num.add(acts[s], num.mul(p, e.mean(ch.targets, acts)))
		}
	}
	return &Value[V]{Win: e.startValue(win), Score: e.startValue(score), Moves: e.startValue(moves), Acts: e.startValue(acts), States: c.Len()}, nil
}

// finalValues returns slices of values, set for the states in which the game is over.
func (e *evaluator[V]) finalValues() (win, score, moves, acts []V) {
	win, score, moves, acts = make([]V, e.Len()), make([]V, e.Len()), make([]V, e.Len()), make([]V, e.Len())
	for s, outcome := range e.outcomes {
		win[s], score[s], moves[s], acts[s] = e.zero, e.zero, e.zero, e.zero
		if outcome == Won {
			win[s] = e.one
		}
	}
	return win, score, moves, acts
}

// mean returns the expected value of the targets, which are in the order of spawns; a single target has probability 1.
func (e *evaluator[V]) mean(targets []uint32, values []V) V {
	if len(targets) == 1 {
		return values[targets[0]]
	}
	n := len(targets) / e.opt.spawnKinds()
	twos := e.mul(e.p2, e.sum(targets[:n], values))
	fours := e.mul(e.p4, e.sum(targets[n:], values))
	return e.mul(e.inverse[n], e.add(twos, fours))
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
	n, kinds := e.opt.Rules.Shape().Cells(), e.opt.spawnKinds()
	second := kinds * (n - 1)
	var after []V
	var first []uint32
	for i := range kinds * n {
		after = append(after, e.mean(e.starts[i*second:(i+1)*second], values))
		first = append(first, uint32(i))
	}
	return e.mean(first, after)
}
