package belief

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"

	"tilecheck/internal/interval"
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

// Bounds is the result of Solve.
type Bounds struct {
	// Number is the value. It is exact, or infinite, if Options.Exact and Complete are set.
	interval.Number
	// Complete says that all reachable beliefs were expanded; there are finitely many.
	Complete bool
	// Beliefs is the number of beliefs expanded in the last round, Resolution that of its grid; 0 for
	// none.
	Beliefs, Resolution int
	// Strategy attains the pessimistic bound: Lo for the maximum, Hi for the minimum.
	Strategy *Controller
	// Chain is the Markov chain that Strategy induces.
	Chain *Chain
}

// chainStates limits the states of the chain that a strategy induces.
const chainStates = 1 << 21

// Solve bounds the value of a POMDP problem in a start state that the player knows.
// It expands beliefs with growing limits, until the bounds are narrow enough or Options.Beliefs is reached.
// The error comes from the context, is a *sparse.ActionsError, or says that the probabilities have too large denominators.
func Solve(ctx context.Context, problem Problem, start int, opts Options) (*Bounds, error) {
	pomdp, err := newPOMDP(problem)
	if err != nil {
		return nil, err
	}
	if opts.Epsilon <= 0 {
		opts.Epsilon = solve.DefaultEpsilon
	}
	if opts.Beliefs <= 0 {
		opts.Beliefs = DefaultBeliefs
	}
	if pomdp.terminalStates.Has(start) {
		return pomdp.terminalBounds(start), nil
	}
	search := &refinement{pomdp: pomdp, opts: opts, start: uint32(start), solveOptions: solve.Options{Epsilon: opts.Epsilon / 8}}
	if search.informedBound, err = newInformedBound(ctx, pomdp, search.solveOptions); err != nil {
		return nil, err
	}
	if search.pool, err = newPool(ctx, search.informedBound, search.start, search.solveOptions); err != nil {
		return nil, err
	}
	search.vectors = newPointBased(search.informedBound, search.pool)
	return search.run(ctx)
}

// terminalBounds returns the exact value of a terminal state.
func (problem *pomdp) terminalBounds(state int) *Bounds {
	value := new(big.Rat)
	if problem.Reward == nil && problem.Target.Has(state) {
		value.SetInt64(1)
	}
	return &Bounds{Number: interval.Fraction(value), Complete: true, Strategy: &Controller{}}
}

// refinement holds the state of Solve.
type refinement struct {
	*pomdp
	opts          Options
	solveOptions  solve.Options
	start         uint32
	informedBound *informedBound
	pool          *pool
	vectors       *pointBased
	// The best bounds so far.
	optimisticBound, pessimisticBound float64
	exactValue                        *interval.Number // the exact value, once it is known
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

// run explores beliefs in rounds with growing limits, and returns the best bounds. It stops when the bounds are narrow enough, all
// reachable beliefs are expanded, or Options.Beliefs is reached.
func (search *refinement) run(ctx context.Context) (*Bounds, error) {
	search.optimisticBound = search.informedBound.beliefBound(certainBelief(search.start))
	if err := search.tryMemoryless(ctx); err != nil {
		return nil, err
	}
	beliefs, resolution := min(firstBeliefs, search.opts.Beliefs), firstResolution
	for {
		search.reportProgress(beliefs)
		explored := &exploration{
			updater: newUpdater(search.pomdp), informedBound: search.informedBound, pool: search.pool,
			maxExactNodes: beliefs, maxGridNodes: beliefs, resolution: resolution,
		}
		if err := search.exploreAndRefine(ctx, explored); err != nil {
			return nil, err
		}
		if !explored.isPartial || search.hasConverged() || beliefs == search.opts.Beliefs {
			return search.bounds(), nil
		}
		beliefs, resolution = min(beliefs*growth, search.opts.Beliefs), resolution*2
	}
}

// reportProgress reports the number of beliefs that the next exploration may expand.
func (search *refinement) reportProgress(beliefs int) {
	if search.opts.Progress != nil {
		search.opts.Progress(progress.Progress{Done: int64(beliefs), Target: int64(search.opts.Beliefs), Unit: progress.States})
	}
}

// exploreAndRefine explores beliefs, and improves the bounds with them. If it fails, the text of the error contains the best bounds from before.
func (search *refinement) exploreAndRefine(ctx context.Context, explored *exploration) error {
	oldBounds := *search.bounds()
	err := explored.explore(ctx, certainBelief(search.start))
	if err == nil {
		err = search.refine(ctx, explored)
	}
	if err != nil {
		return withKnownBounds(err, oldBounds)
	}
	return nil
}

// withKnownBounds adds the known bounds on the value to the text of an error.
func withKnownBounds(err error, known Bounds) error {
	return fmt.Errorf("%w; so far the value is known to lie in [%v, %v]", err, known.Lo, known.Hi)
}

// tryMemoryless evaluates the best memoryless strategy of the pool, and stores it if it gives the best pessimistic bound.
func (search *refinement) tryMemoryless(ctx context.Context) error {
	empty := &exploration{updater: newUpdater(search.pomdp), informedBound: search.informedBound, pool: search.pool}
	empty.addNode(certainBelief(search.start), notOnGrid) // cut off at once, since the limits are 0
	return search.tryController(ctx, empty.controller(nil, nil, false))
}

// hasConverged reports whether the relative width of the bounds is at most epsilon.
func (search *refinement) hasConverged() bool {
	if search.optimisticBound == search.pessimisticBound {
		return true
	}
	greatest := max(search.optimisticBound, search.pessimisticBound)
	width := math.Abs(search.optimisticBound - search.pessimisticBound)
	return width <= search.opts.Epsilon*greatest && !math.IsInf(greatest, 1)
}

// bounds returns the exact value if it is known, and otherwise the best bounds. The pessimistic bound is the lower one for a maximum, and the upper one for
// a minimum.
func (search *refinement) bounds() *Bounds {
	switch {
	case search.exactValue != nil:
		search.result.Number = *search.exactValue
	case search.Direction == solve.Max:
		search.result.Lo, search.result.Hi = search.pessimisticBound, search.optimisticBound
	default:
		search.result.Lo, search.result.Hi = search.optimisticBound, search.pessimisticBound
	}
	return &search.result
}

// refine improves the bounds with the explored beliefs. The optimistic bound comes from the optimistic MDP. The pessimistic bound comes
// from controllers: of the schedulers of both MDPs, and of point-based value iteration.
func (search *refinement) refine(ctx context.Context, explored *exploration) error {
	search.result.Beliefs = explored.exactNodes + explored.gridNodes
	search.result.Resolution = 0
	if explored.gridNodes > 0 {
		search.result.Resolution = explored.resolution
	}
	search.result.Complete = !explored.isPartial
	if err := search.refineOptimistic(ctx, explored); err != nil {
		return err
	}
	if !explored.isPartial {
		return search.solveExactly(ctx, explored)
	}
	if err := search.refinePessimistic(ctx, explored); err != nil {
		return err
	}
	if err := search.vectors.improve(ctx, search.start, movesPerBelief*explored.maxExactNodes); err != nil {
		return err
	}
	return search.tryController(ctx, search.vectors.controller(search.start))
}

// refineOptimistic improves the optimistic bound by the optimistic MDP, and evaluates the controller of its best scheduler.
func (search *refinement) refineOptimistic(ctx context.Context, explored *exploration) error {
	mdp, values, err := search.solveAbstraction(ctx, explored, optimistic)
	if err != nil {
		return err
	}
	if bound := search.optimisticBounds(values)[firstNode]; search.isBetter(search.optimisticBound, bound) {
		search.optimisticBound = bound
	}
	return search.tryController(ctx, explored.controller(mdp, values.Scheduler, true))
}

// refinePessimistic evaluates the controller of the best scheduler of the pessimistic MDP.
func (search *refinement) refinePessimistic(ctx context.Context, explored *exploration) error {
	mdp, values, err := search.solveAbstraction(ctx, explored, pessimistic)
	if err != nil {
		return err
	}
	return search.tryController(ctx, explored.controller(mdp, values.Scheduler, false))
}

// solveAbstraction builds the optimistic or the pessimistic MDP of the explored beliefs, and solves it. The values include a scheduler.
func (search *refinement) solveAbstraction(ctx context.Context, explored *exploration, isOptimistic bool) (*finiteMDP, *solve.Values, error) {
	mdp, err := explored.buildMDP(isOptimistic, false)
	if err != nil {
		return nil, nil, err
	}
	opts := search.solveOptions
	opts.Scheduler = true
	values, err := explored.solveMDP(ctx, mdp, opts)
	return mdp, values, err
}

// tryController evaluates a controller, and stores it if it gives a better pessimistic bound than all controllers before. It ignores a controller whose
// induced Markov chain is too large.
func (search *refinement) tryController(ctx context.Context, controller *Controller) error {
	values, chain, err := search.evaluate(ctx, controller, search.start, chainStates, search.solveOptions)
	if errors.Is(err, errTooLarge) {
		return nil
	}
	if err != nil {
		return err
	}
	if bound := search.pessimisticBounds(values)[0]; search.result.Strategy == nil || search.isBetter(bound, search.pessimisticBound) {
		search.pessimisticBound = bound
		search.result.Strategy = controller
		search.result.Chain = chain
	}
	return nil
}

// solveExactly computes the exact value from a complete exploration, if the options ask for it.
func (search *refinement) solveExactly(ctx context.Context, explored *exploration) error {
	if !search.opts.Exact {
		return nil
	}
	mdp, err := explored.buildMDP(true, true)
	if err != nil {
		return err
	}
	values, err := explored.solveMDP(ctx, mdp, solve.Options{Exact: true})
	if err == nil {
		exact := values.Number(firstNode)
		search.exactValue = &exact
	}
	return err
}
