package check

import (
	"context"
	"time"

	"tilecheck/internal/progress"
	"tilecheck/native/solve"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Options says how to compute values. The zero value computes bounds.
type Options struct {
	// Accuracy is the required accuracy. Exact computes fractions, and it is an error if a value has none. Estimated
	// ends iterations when values change little, as other tools do. All others compute bounds.
	Accuracy result.Accuracy
	// Epsilon is the relative width of the bounds; 0 stands for the default of package solve.
	Epsilon float64
	// MaxSweeps limits iterations; 0 stands for the default of package solve.
	MaxSweeps int
	// ExactStates is the greatest number of states for which fractions are tried if bounds do not decide the property; 0 is
	// 20,000, a negative number means never.
	ExactStates int
	// Workers is as in explicit.Options.
	Workers int
	// Fair restricts the schedulers of an MDP to fair ones.
	Fair bool
	// Progress is called with the progress of the computation.
	Progress func(progress.Progress)
	// OnVerdict is called with each verdict of Check that has no error, before Check returns it.
	OnVerdict func(*result.Verdict)
	// Beliefs is as in belief.Options, for partially observable models.
	Beliefs int
	// Solver, unless nil, is tried before package solve to compute bounds.
	Solver Solver
}

// Solver computes bounds as package solve does. If it returns nil values, package solve computes them.
type Solver interface {
	Until(ctx context.Context, left, right *sparse.Set, dir solve.Direction) (*solve.Values, error)
	ReachReward(ctx context.Context, r *sparse.Reward, target *sparse.Set, dir solve.Direction) (*solve.Values, error)
}

// epsilon returns the greatest relative width that is accepted for bounds: Epsilon, or the default of package solve if that is 0.
func (o Options) epsilon() float64 {
	if o.Epsilon > 0 {
		return o.Epsilon
	}
	return solve.DefaultEpsilon
}

// exactStates returns the greatest number of states for which fractions are tried.
func (o Options) exactStates() int {
	if o.ExactStates == 0 {
		return 20_000
	}
	return o.ExactStates
}

// Property is a property to check.
type Property = logic.Property

// Checker checks properties of one state space. It keeps the results that several properties need, such as the rewards of the
// states. It is not safe for concurrent use.
type Checker struct {
	compiled         *compile.Model
	opts             Options
	floatModel       *model            // with float64 weights
	exactModel       *model            // with fractions; nil until they are needed
	schedulerRequest *schedulerRequest // asks for a scheduler of an operator; nil for none
	lastBeliefs      *beliefs          // the beliefs of the last attempt, for a partially observable model
	// wantsValues says that Values asks for the values in all states, which are stored in values.
	wantsValues bool
	values      *StateValues
	assumption  assumption // what Truncated assumes of unexplored states
}

// model is a state space with its graph and its rewards.
type model struct {
	space   *explicit.Space
	graph   *sparse.Graph
	rewards map[int]*sparse.Reward
	// observations of a partially observable model; nil until they are needed.
	observations *explicit.Observations
}

// newModel returns the model of a state space, without rewards.
func newModel(space *explicit.Space) *model {
	return &model{space: space, graph: sparse.NewGraph(space.Model()), rewards: map[int]*sparse.Reward{}}
}

// reward returns the reward structure with the given index. The first call for an index evaluates the structure.
func (model *model) reward(index int) (*sparse.Reward, error) {
	if reward := model.rewards[index]; reward != nil {
		return reward, nil
	}
	reward, err := model.space.Reward(index)
	if err != nil {
		return nil, err
	}
	model.rewards[index] = reward
	return reward, nil
}

// Reward returns the reward structure with the given index.
func (checker *Checker) Reward(index int) (*sparse.Reward, error) {
	return checker.floatModel.reward(index)
}

// New returns a checker of a space that was built from a compiled model. If the weights of the space are not exact, the checker builds an
// exact space when it needs fractions.
func New(compiled *compile.Model, space *explicit.Space, opts Options) *Checker {
	checker := &Checker{compiled: compiled, opts: opts, floatModel: newModel(space)}
	if space.Model().Exact() && !space.Normalised() {
		checker.exactModel = checker.floatModel
	}
	return checker
}

// Check evaluates a property. The verdict has the value of the property, or the error in its field Err. The caller sets the fields Constants
// and Engine.
func (checker *Checker) Check(ctx context.Context, property *Property) result.Verdict {
	start := time.Now()
	model, verdict := checker.floatModel.space.Model(), checker.newVerdict(property)
	verdict.Warnings = append(verdict.Warnings, checker.floatModel.space.Warnings()...)
	best, err := checker.bestOutcome(ctx, property, &verdict)
	if err != nil {
		verdict.Err = Failure(err, property.File, property.Pos)
	} else {
		checker.writeOutcome(best, &verdict)
		if !checker.opts.Fair && !model.Intervals() && property.Program.Type != syntax.POMDP {
			verdict.Warnings = append(verdict.Warnings, InfiniteRewardWarnings(property.Expr, &verdict)...)
		}
	}
	verdict.Warnings = append(verdict.Warnings, checker.floatWarnings(property)...)
	verdict.Seconds = time.Since(start).Seconds()
	if checker.opts.OnVerdict != nil && verdict.Err == nil {
		checker.opts.OnVerdict(&verdict)
	}
	return verdict
}

// newVerdict returns a verdict of a property that has no value yet.
func (checker *Checker) newVerdict(property *Property) result.Verdict {
	model := checker.floatModel.space.Model()
	return result.Verdict{
		Property: property.Text, Name: property.Name, Method: "states", Resolution: checker.resolution(property.Expr),
		States: int64(model.NumStates()), Choices: int64(model.NumChoices()), Transitions: int64(model.NumTransitions()),
	}
}

// resolution returns how the outermost operator of a property resolves nondeterminism: by a minimum or a maximum over schedulers, or
// uniformly in a DTMC with overlapping commands.
func (checker *Checker) resolution(expr sema.Expr) result.Resolution {
	model := checker.floatModel.space.Model()
	hasChoice := model.Kind == sparse.MDP && model.HasSeveralChoices()
	switch formula := logic.WithoutFilters(expr); {
	case checker.floatModel.space.Overlaps() > 0:
		return result.Uniform
	case !hasChoice:
		return result.NoNondet
	case formula.Measure():
		return ResolutionOf(formula.Threshold)
	}
	return result.ResolutionUnknown
}

// ResolutionOf returns how a threshold of P, R or S resolves nondeterminism: by the minimum or the maximum over schedulers. The resolution of
// a query without min or max is unknown.
func ResolutionOf(threshold sema.Threshold) result.Resolution {
	direction, hasDirection := directionOf(threshold, false)
	switch {
	case !hasDirection:
		return result.ResolutionUnknown
	case direction == solve.Min:
		return result.Minimum
	}
	return result.Maximum
}

// directionOf returns whether a threshold of P, R or S asks for the minimum or the maximum over schedulers. isKnown is false for a query without
// min or max. If forSomeScheduler is true, a bound must hold under some scheduler instead of all schedulers.
func directionOf(threshold sema.Threshold, forSomeScheduler bool) (direction solve.Direction, isKnown bool) {
	isMinimum, isKnown := threshold.IsMinimum(forSomeScheduler)
	if isMinimum {
		return solve.Min, isKnown
	}
	return solve.Max, isKnown
}
