package belief

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"tilecheck/internal/progress"
	"tilecheck/native/explicit/solve"
)

// Options says how far to go. The zero value is the default.
type Options struct {
	// Epsilon is the relative width of the interval wanted; 0 is solve.DefaultEpsilon.
	Epsilon float64
	// Beliefs is how many beliefs are looked into at most; 0 is DefaultBeliefs.
	Beliefs int
	// Exact asks for the fraction, where finitely many beliefs can be reached.
	Exact bool
	// Progress is called now and then; nil is never.
	Progress func(progress.Progress)
}

// DefaultBeliefs is the number of beliefs of Options that have none.
const DefaultBeliefs = 1 << 14

// Bounds is what is known of a value: Lower <= truth <= Upper.
type Bounds struct {
	Lower, Upper float64
	// Exact is the value, if Options.Exact asked for it and Complete; nil where it is
	// infinite.
	Exact *big.Rat
	// Complete says that there are finitely many beliefs, and all were looked into.
	Complete bool
	// Beliefs is how many were, in the last round, and Resolution the grid's; 0 for none.
	Beliefs, Resolution int
	// Strategy attains the bound on the player's bad side: Lower if the value is to be
	// great.
	Strategy *Controller
	// Chain is the model under Strategy.
	Chain *Chain
}

// chainStates is the greatest number of states of the chain of a strategy.
const chainStates = 1 << 21

// Solve bounds a problem's value in a state, which the player knows. It looks into more
// and more beliefs until the interval is as narrow as wanted, or Options.Beliefs stops
// it. The error is that of the context, a *sparse.ActionsError, or of a model whose fractions
// are too large.
func Solve(ctx context.Context, p Problem, start int, opts Options) (*Bounds, error) {
	g, err := newGame(p)
	if err != nil {
		return nil, err
	}
	if opts.Epsilon <= 0 {
		opts.Epsilon = solve.DefaultEpsilon
	}
	if opts.Beliefs <= 0 {
		opts.Beliefs = DefaultBeliefs
	}
	if g.over.Has(start) {
		return g.decided(start), nil
	}
	r := &refinement{game: g, opts: opts, start: uint32(start), solving: solve.Options{Epsilon: opts.Epsilon / 8}}
	if r.hope, err = newOptimist(ctx, g, r.solving); err != nil {
		return nil, err
	}
	if r.pool, err = newPool(ctx, r.hope, r.start, r.solving); err != nil {
		return nil, err
	}
	r.vectors = newVectors(r.hope, r.pool)
	return r.run(ctx)
}

// decided returns the value of a state where the game is over.
func (g *game) decided(s int) *Bounds {
	out := &Bounds{Complete: true, Exact: new(big.Rat), Strategy: &Controller{}}
	if g.Reward == nil && g.Target.Has(s) {
		out.Lower, out.Upper, out.Exact = 1, 1, big.NewRat(1, 1)
	}
	return out
}

// refinement narrows an interval.
type refinement struct {
	*game
	opts    Options
	solving solve.Options
	start   uint32
	hope    *optimist
	pool    *pool
	vectors *vectors
	// good and bad are the bounds on the player's good and bad side so far.
	good, bad float64
	out       Bounds
}

// trials is how many moves of games are played for each belief that is looked into: they are much faster.
const trials = 32

// firstBeliefs and firstResolution are those of the first round; growth and finer are
// by what the next has more.
const (
	firstBeliefs    = 64
	firstResolution = 2
	growth          = 4
)

func (r *refinement) run(ctx context.Context) (*Bounds, error) {
	r.good = r.hope.bound(point(r.start))
	if err := r.remember(ctx); err != nil {
		return nil, err
	}
	beliefs, resolution := min(firstBeliefs, r.opts.Beliefs), firstResolution
	for {
		if r.opts.Progress != nil {
			r.opts.Progress(progress.Progress{Done: int64(beliefs), Target: int64(r.opts.Beliefs), Unit: progress.States})
		}
		known := *r.bounds()
		s := &search{stepper: newStepper(r.game), hope: r.hope, pool: r.pool, limit: beliefs, points: beliefs, resolution: resolution}
		if err := s.explore(ctx, point(r.start)); err != nil {
			return nil, soFar(known, err)
		}
		if err := r.round(ctx, s); err != nil {
			return nil, soFar(known, err)
		}
		if !s.partial || r.narrow() || beliefs == r.opts.Beliefs {
			return r.bounds(), nil
		}
		beliefs, resolution = min(beliefs*growth, r.opts.Beliefs), resolution*2
	}
}

// soFar says in an error what was known of the value before it.
func soFar(b Bounds, err error) error {
	return fmt.Errorf("%w; so far the value is known to lie in [%v, %v]", err, b.Lower, b.Upper)
}

// remember begins with the best strategy without memory.
func (r *refinement) remember(ctx context.Context) error {
	empty := &search{stepper: newStepper(r.game), hope: r.hope, pool: r.pool}
	empty.admit(point(r.start), false) // closed: there is no room
	return r.try(ctx, empty.assemble(nil, nil, false))
}

// narrow reports whether the interval is as narrow as wanted.
func (r *refinement) narrow() bool {
	return r.good == r.bad || math.Abs(r.good-r.bad) <= r.opts.Epsilon*max(r.good, r.bad) && !math.IsInf(max(r.good, r.bad), 1)
}

func (r *refinement) bounds() *Bounds {
	if r.Direction == solve.Max {
		r.out.Lower, r.out.Upper = r.bad, r.good
	} else {
		r.out.Lower, r.out.Upper = r.good, r.bad
	}
	return &r.out
}

// round improves both bounds by what a search found.
func (r *refinement) round(ctx context.Context, s *search) error {
	r.out.Beliefs, r.out.Resolution = s.exact+s.grid, 0
	if s.grid > 0 {
		r.out.Resolution = s.resolution
	}
	r.out.Complete = !s.partial
	opts := r.solving
	opts.Scheduler = true
	hopeful, err := s.abstract(true, false)
	if err != nil {
		return err
	}
	v, err := s.value(ctx, hopeful, opts)
	if err != nil {
		return err
	}
	if x := r.optimistic(v)[firstNode]; r.better(r.good, x) {
		r.good = x
	}
	if err := r.try(ctx, s.assemble(hopeful, v.Scheduler, true)); err != nil {
		return err
	}
	if !s.partial {
		return r.exactly(ctx, s)
	}
	safe, err := s.abstract(false, false)
	if err != nil {
		return err
	}
	if v, err = s.value(ctx, safe, opts); err != nil {
		return err
	}
	if err := r.try(ctx, s.assemble(safe, v.Scheduler, false)); err != nil {
		return err
	}
	if err := r.vectors.improve(ctx, r.start, trials*s.limit); err != nil {
		return err
	}
	return r.try(ctx, r.vectors.controller(r.start))
}

// try takes a strategy, if it is better than the one there is.
func (r *refinement) try(ctx context.Context, c *Controller) error {
	v, chain, err := r.evaluate(ctx, c, r.start, chainStates, r.solving)
	if errors.Is(err, errTooLarge) {
		return nil
	}
	if err != nil {
		return err
	}
	if x := r.pessimistic(v)[0]; r.out.Strategy == nil || r.better(x, r.bad) {
		r.bad, r.out.Strategy, r.out.Chain = x, c, chain
	}
	return nil
}

// exactly computes the fraction, if that is asked for.
func (r *refinement) exactly(ctx context.Context, s *search) error {
	if !r.opts.Exact {
		return nil
	}
	a, err := s.abstract(true, true)
	if err != nil {
		return err
	}
	v, err := s.value(ctx, a, solve.Options{Exact: true})
	if err == nil {
		r.out.Exact = v.Exact[firstNode]
	}
	return err
}
