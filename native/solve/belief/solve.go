package belief

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"tilecheck/internal/progress"
	"tilecheck/native/solve"
)

// Options limits the effort of Solve. The zero value stands for the defaults.
type Options struct {
	// Epsilon is the wanted relative width of the bounds; 0 stands for solve.DefaultEpsilon.
	Epsilon float64
	// Beliefs limits the beliefs that are expanded; 0 stands for DefaultBeliefs.
	Beliefs int
	// Exact asks for the exact value, if finitely many beliefs are reachable.
	Exact bool
	// Progress is called regularly, unless it is nil.
	Progress func(progress.Progress)
}

// DefaultBeliefs replaces a value of 0 for Options.Beliefs.
const DefaultBeliefs = 1 << 14

// Bounds is the result of Solve: Lower <= true value <= Upper.
type Bounds struct {
	Lower, Upper float64
	// Exact is the exact value if Options.Exact and Complete are set; nil if it is infinite.
	Exact *big.Rat
	// Complete says that all reachable beliefs were expanded; there are finitely many.
	Complete bool
	// Beliefs is the number of beliefs expanded in the last round, Resolution that of its grid; 0 for
	// none.
	Beliefs, Resolution int
	// Strategy attains the pessimistic bound: Lower for the maximum, Upper for the minimum.
	Strategy *Controller
	// Chain is the Markov chain that Strategy induces.
	Chain *Chain
}

// chainStates limits the states of the chain that a strategy induces.
const chainStates = 1 << 21

// Solve bounds the value of a problem in a start state that the player knows. It expands more and more
// beliefs, until the bounds are narrow enough or Options.Beliefs is reached. The error is the
// context's, a *sparse.ActionsError, or says that the probabilities have too large denominators.
func Solve(ctx context.Context, p Problem, start int, opts Options) (*Bounds, error) {
	g, err := newPOMDP(p)
	if err != nil {
		return nil, err
	}
	if opts.Epsilon <= 0 {
		opts.Epsilon = solve.DefaultEpsilon
	}
	if opts.Beliefs <= 0 {
		opts.Beliefs = DefaultBeliefs
	}
	if g.terminal.Has(start) {
		return g.terminalBounds(start), nil
	}
	r := &refinement{pomdp: g, opts: opts, start: uint32(start), solveOptions: solve.Options{Epsilon: opts.Epsilon / 8}}
	if r.informed, err = newInformedBound(ctx, g, r.solveOptions); err != nil {
		return nil, err
	}
	if r.pool, err = newPool(ctx, r.informed, r.start, r.solveOptions); err != nil {
		return nil, err
	}
	r.vectors = newPointBased(r.informed, r.pool)
	return r.run(ctx)
}

// terminalBounds returns the exact value of a terminal state.
func (g *pomdp) terminalBounds(s int) *Bounds {
	out := &Bounds{Complete: true, Exact: new(big.Rat), Strategy: &Controller{}}
	if g.Reward == nil && g.Target.Has(s) {
		out.Lower, out.Upper, out.Exact = 1, 1, big.NewRat(1, 1)
	}
	return out
}

// refinement holds the state of Solve.
type refinement struct {
	*pomdp
	opts         Options
	solveOptions solve.Options
	start        uint32
	informed     *informedBound
	pool         *pool
	vectors      *pointBased
	// The best bounds so far.
	optimisticBound, pessimisticBound float64
	result                            Bounds
}

// movesPerBelief is the number of simulated moves of point-based value iteration for each expanded
// belief. Moves are much faster.
const movesPerBelief = 32

// The limits of the first round, and the factor by which the number of beliefs grows from round to round.
const (
	firstBeliefs    = 64
	firstResolution = 2
	growth          = 4
)

func (r *refinement) run(ctx context.Context) (*Bounds, error) {
	r.optimisticBound = r.informed.bound(point(r.start))
	if err := r.tryMemoryless(ctx); err != nil {
		return nil, err
	}
	beliefs, resolution := min(firstBeliefs, r.opts.Beliefs), firstResolution
	for {
		if r.opts.Progress != nil {
			r.opts.Progress(progress.Progress{Done: int64(beliefs), Target: int64(r.opts.Beliefs), Unit: progress.States})
		}
		known := *r.bounds()
		explored := &exploration{updater: newUpdater(r.pomdp), informed: r.informed, pool: r.pool, maxExact: beliefs, maxGrid: beliefs, resolution: resolution}
		if err := explored.explore(ctx, point(r.start)); err != nil {
			return nil, soFar(known, err)
		}
		if err := r.refine(ctx, explored); err != nil {
			return nil, soFar(known, err)
		}
		if !explored.partial || r.converged() || beliefs == r.opts.Beliefs {
			return r.bounds(), nil
		}
		beliefs, resolution = min(beliefs*growth, r.opts.Beliefs), resolution*2
	}
}

// soFar adds the bounds known so far to an error.
func soFar(b Bounds, err error) error {
	return fmt.Errorf("%w; so far the value is known to lie in [%v, %v]", err, b.Lower, b.Upper)
}

// tryMemoryless starts with the best memoryless strategy of the pool.
func (r *refinement) tryMemoryless(ctx context.Context) error {
	empty := &exploration{updater: newUpdater(r.pomdp), informed: r.informed, pool: r.pool}
	empty.addNode(point(r.start), false) // cut off at once, since the limits are 0
	return r.tryController(ctx, empty.controller(nil, nil, false))
}

// converged reports whether the bounds are as narrow as wanted.
func (r *refinement) converged() bool {
	return r.optimisticBound == r.pessimisticBound || math.Abs(r.optimisticBound-r.pessimisticBound) <= r.opts.Epsilon*max(r.optimisticBound, r.pessimisticBound) && !math.IsInf(max(r.optimisticBound, r.pessimisticBound), 1)
}

func (r *refinement) bounds() *Bounds {
	if r.Direction == solve.Max {
		r.result.Lower, r.result.Upper = r.pessimisticBound, r.optimisticBound
	} else {
		r.result.Lower, r.result.Upper = r.optimisticBound, r.pessimisticBound
	}
	return &r.result
}

// refine improves both bounds by an exploration: the optimistic one by the optimistic MDP, the
// pessimistic one by the controllers of both MDPs and of point-based value iteration.
func (r *refinement) refine(ctx context.Context, explored *exploration) error {
	r.result.Beliefs, r.result.Resolution = explored.exactNodes+explored.gridNodes, 0
	if explored.gridNodes > 0 {
		r.result.Resolution = explored.resolution
	}
	r.result.Complete = !explored.partial
	opts := r.solveOptions
	opts.Scheduler = true
	optimistic, err := explored.finiteMDP(true, false)
	if err != nil {
		return err
	}
	v, err := explored.solveMDP(ctx, optimistic, opts)
	if err != nil {
		return err
	}
	if x := r.optimistic(v)[firstNode]; r.better(r.optimisticBound, x) {
		r.optimisticBound = x
	}
	if err := r.tryController(ctx, explored.controller(optimistic, v.Scheduler, true)); err != nil {
		return err
	}
	if !explored.partial {
		return r.solveExactly(ctx, explored)
	}
	pessimistic, err := explored.finiteMDP(false, false)
	if err != nil {
		return err
	}
	if v, err = explored.solveMDP(ctx, pessimistic, opts); err != nil {
		return err
	}
	if err := r.tryController(ctx, explored.controller(pessimistic, v.Scheduler, false)); err != nil {
		return err
	}
	if err := r.vectors.improve(ctx, r.start, movesPerBelief*explored.maxExact); err != nil {
		return err
	}
	return r.tryController(ctx, r.vectors.controller(r.start))
}

// tryController evaluates a controller, and keeps it if it is the best so far.
func (r *refinement) tryController(ctx context.Context, c *Controller) error {
	v, chain, err := r.evaluate(ctx, c, r.start, chainStates, r.solveOptions)
	if errors.Is(err, errTooLarge) {
		return nil
	}
	if err != nil {
		return err
	}
	if x := r.pessimistic(v)[0]; r.result.Strategy == nil || r.better(x, r.pessimisticBound) {
		r.pessimisticBound, r.result.Strategy, r.result.Chain = x, c, chain
	}
	return nil
}

// solveExactly computes the exact value if it is asked for.
func (r *refinement) solveExactly(ctx context.Context, s *exploration) error {
	if !r.opts.Exact {
		return nil
	}
	a, err := s.finiteMDP(true, true)
	if err != nil {
		return err
	}
	v, err := s.solveMDP(ctx, a, solve.Options{Exact: true})
	if err == nil {
		r.result.Exact = v.Exact[firstNode]
	}
	return err
}
