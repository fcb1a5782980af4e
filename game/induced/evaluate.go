package induced

import (
	"context"
	"math/big"

	"tilecheck/game/strategy"
)

// Value is what a strategy is worth from the random start: numbers of one kind, *big.Rat where they are exact and Interval where not.
type Value[V any] struct {
	Win V // the probability that the winning tile appears
	// Score and Moves are the expected score and the expected number of moves until the game is won or lost.
	Score, Moves V
	// Acts is the expected number of moves at which a shield acts.
	Acts   V
	States int // of the chain, without the empty board
}

// Evaluate returns the exact value of a strategy: Explore and Chain.Exact.
func Evaluate(ctx context.Context, s strategy.Strategy, opt Options) (*Value[*big.Rat], error) {
	c, err := Explore(ctx, s, opt)
	if err != nil {
		return nil, err
	}
	return c.Exact(ctx)
}

// Exact computes the value with fractions, in some ten microseconds a state. The error is that of ctx.
func (c *Chain) Exact(ctx context.Context) (*Value[*big.Rat], error) {
	return evaluate(ctx, c, numbers[*big.Rat]{
		rat: func(x *big.Rat) *big.Rat { return x },
		add: func(x, y *big.Rat) *big.Rat { return new(big.Rat).Add(x, y) },
		mul: func(x, y *big.Rat) *big.Rat { return new(big.Rat).Mul(x, y) },
	})
}

// Bracket computes intervals that contain the value: floating point, rounded outwards after every operation. The error is that of ctx.
func (c *Chain) Bracket(ctx context.Context) (*Value[Interval], error) {
	return evaluate(ctx, c, numbers[Interval]{rat: intervalOf, add: Interval.add, mul: Interval.mul})
}

// numbers is the arithmetic of non-negative numbers. Results may share memory with operands, which nobody changes.
type numbers[V any] struct {
	rat      func(*big.Rat) V
	add, mul func(x, y V) V
}

// evaluator computes the values of a chain's states, from the last to the first.
type evaluator[V any] struct {
	*Chain
	numbers[V]
	zero, one, p2, p4 V
	share             []V // 1/n
}

func evaluate[V any](ctx context.Context, c *Chain, num numbers[V]) (*Value[V], error) {
	e := &evaluator[V]{Chain: c, numbers: num, zero: num.rat(new(big.Rat)), one: num.rat(big.NewRat(1, 1))}
	p2 := c.opt.p2()
	e.p2, e.p4 = num.rat(p2), num.rat(new(big.Rat).Sub(big.NewRat(1, 1), p2))
	e.share = append(e.share, e.zero)
	for n := range c.opt.Rules.Shape().Cells() {
		e.share = append(e.share, num.rat(big.NewRat(1, int64(n+1))))
	}
	win, score, moves, acts := e.ends()
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
	return &Value[V]{Win: e.start(win), Score: e.start(score), Moves: e.start(moves), Acts: e.start(acts), States: c.Len()}, nil
}

// ends returns the values of the states where the game is over; the others are yet to be computed.
func (e *evaluator[V]) ends() (win, score, moves, acts []V) {
	win, score, moves, acts = make([]V, e.Len()), make([]V, e.Len()), make([]V, e.Len()), make([]V, e.Len())
	for s, outcome := range e.outcomes {
		win[s], score[s], moves[s], acts[s] = e.zero, e.zero, e.zero, e.zero
		if outcome == Won {
			win[s] = e.one
		}
	}
	return win, score, moves, acts
}

// mean is the expected value after a new tile, or after none when the game is won.
func (e *evaluator[V]) mean(targets []uint32, values []V) V {
	if len(targets) == 1 {
		return values[targets[0]]
	}
	n := len(targets) / e.opt.kinds()
	twos := e.mul(e.p2, e.sum(targets[:n], values))
	fours := e.mul(e.p4, e.sum(targets[n:], values))
	return e.mul(e.share[n], e.add(twos, fours))
}

func (e *evaluator[V]) sum(targets []uint32, values []V) V {
	sum := e.zero
	for _, t := range targets {
		sum = e.add(sum, values[t])
	}
	return sum
}

// start is the expected value after the first two tiles.
func (e *evaluator[V]) start(values []V) V {
	n, kinds := e.opt.Rules.Shape().Cells(), e.opt.kinds()
	second := kinds * (n - 1)
	var after []V
	var first []uint32
	for i := range kinds * n {
		after = append(after, e.mean(e.starts[i*second:(i+1)*second], values))
		first = append(first, uint32(i))
	}
	return e.mean(first, after)
}
