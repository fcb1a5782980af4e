package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"

	"tilecheck/internal/interval"
	"tilecheck/internal/noun"
	"tilecheck/internal/progress"
	"tilecheck/native/space/sparse"
)

// Direction says which scheduler, and in interval models which nature, a value is for. It is ignored
// for Markov chains without intervals. Nature picks the probabilities from their intervals in every
// step.
type Direction uint8

// The directions. With Max and Min, nature and scheduler have the same goal. With MinMax the scheduler
// minimizes and nature maximizes; MaxMin is the reverse.
const (
	Max Direction = iota
	Min
	MinMax
	MaxMin
)

// Opposite returns the direction for one minus the value.
func (d Direction) Opposite() Direction { return [...]Direction{Min, Max, MaxMin, MinMax}[d] }

// Scheduler returns the scheduler's direction: Min or Max.
func (d Direction) Scheduler() Direction { return [...]Direction{Max, Min, Min, Max}[d] }

// nature returns nature's direction: Min or Max.
func (d Direction) nature() Direction { return [...]Direction{Max, Min, Max, Min}[d] }

// Options controls how a value is computed. The zero value is the default.
type Options struct {
	// Epsilon is the wanted width of the bounds relative to the upper bound, for one strongly connected
	// component; widths of components that depend on one another add up. 0 stands for DefaultEpsilon.
	// Bounds hold for any Epsilon.
	Epsilon float64
	// MaxSweeps limits the sweeps over one component; 0 stands for a million. A component that needs
	// more keeps the bounds reached.
	MaxSweeps int
	// MaxWork limits the operations of a solution, roughly; 0 is no limit. Above it the error is
	// ErrWork. Equations of fewer than 10,000 states are not limited.
	MaxWork int
	// Classic stops an iteration when a sweep changes no value by more than Epsilon, relatively, as
	// other tools do by default; Epsilon then defaults to 1e-6. The values come from below and may be
	// far off.
	Classic bool
	// Exact asks for fractions. The error is ErrNotExact for models with float64 weights. Time and
	// memory grow with the size of the fractions. Properties with time bounds have no exact values.
	Exact bool
	// Within are the states whose values are wanted; nil stands for all. In exact results the values of
	// other states may be missing or wrong.
	Within *sparse.Set
	// Grid, if not zero, is a power of two of which all bounds must be multiples. The bounds are then
	// inductive as they stand: one step raises no upper bound and lowers no lower one, which a
	// certificate shows. Bounds much wider than Epsilon may mean that the grid is too coarse.
	Grid float64
	// Scheduler asks for a scheduler that attains the value.
	Scheduler bool
	// Progress is called regularly during the computation, unless it is nil.
	Progress func(progress.Progress)
}

// ErrWork says that a solution takes more work than Options.MaxWork.
var ErrWork = errors.New("the solution takes too long")

// DefaultEpsilon replaces an Epsilon of 0, unless Classic is set.
const DefaultEpsilon = 1e-8

// epsilon returns Epsilon or its default: the greatest accepted relative width of bounds.
func (opts Options) epsilon() float64 {
	switch {
	case opts.Epsilon > 0:
		return opts.Epsilon
	case opts.Classic:
		return 1e-6
	}
	return DefaultEpsilon
}

// maxSweeps returns MaxSweeps or its default.
func (opts Options) maxSweeps() int {
	if opts.MaxSweeps <= 0 {
		return 1_000_000
	}
	return opts.MaxSweeps
}

// Values are bounds on a value of each state: Lower <= true value <= Upper. Both bounds of an infinite
// value are infinite. They hold for every model whose weights and rewards are within sparse.Model.RelErr
// of the given ones and whose probabilities sum to one; rounding errors are accounted for. The bounds
// of a probability are between 0 and 1, and both are exact where it is 0 or 1.
type Values struct {
	Lower, Upper []float64
	// Exact are the exact values if Options.Exact was set, nil where they are infinite; there are no
	// bounds then. They must not be changed.
	Exact []*big.Rat
	// Converged is false if the bounds of some component are wider than asked for. The bounds hold
	// anyway.
	Converged bool
	// Estimated says that values were iterated with Options.Classic: Lower and Upper are equal, and
	// only the lower bound holds.
	Estimated bool
	// Extended says that a component was solved by elimination in extended numbers, beyond the range of
	// float64, since iteration would take too long.
	Extended bool
	Sweeps   int64
	// Scheduler has the choice of each state of an MDP; the memoryless scheduler attains a value within
	// the bounds. It is sparse.None where every choice does. Scheduler is nil unless asked for.
	Scheduler []uint32
	// Nature is an MDP, which an interval model with the same states and choices becomes under a strategy of nature. The scheduler attains the
	// value in it. The scheduler guarantees the value also against other strategies, if its direction is not that of nature. Nature is nil unless a
	// scheduler is asked for.
	Nature *sparse.Model
	// StepChoices is a step-counting scheduler: StepChoices[i] has the choices after i steps, the last entry those
	// for all later steps. Entries may share memory. It is nil unless asked for, and if it would be too
	// large.
	StepChoices [][]uint32
	// Controller has strategies with memory of both sides of a game. It is nil unless Game.ZeroUnlessReached was asked for them.
	Controller *sparse.Controller
}

// Value returns the midpoint of the bounds of a state.
func (values *Values) Value(state int) float64 {
	if values.Lower[state] == values.Upper[state] {
		return values.Lower[state]
	}
	return values.Lower[state] + (values.Upper[state]-values.Lower[state])/2
}

// Number returns the value of a state with its bounds. The bounds of an exact value are as narrow as possible.
func (values *Values) Number(state int) interval.Number {
	switch {
	case values.Exact == nil:
		return interval.Number{Interval: interval.Interval{Lo: values.Lower[state], Hi: values.Upper[state]}}
	case values.Exact[state] == nil:
		return interval.Number{Interval: interval.Point(math.Inf(1))}
	}
	return interval.Fraction(values.Exact[state])
}

// newValues returns the value 0 for every state: as bounds and, if opts.Exact is set, as fractions. The scheduler, if requested, has no
// choices yet.
func newValues(model *sparse.Model, opts Options) *Values {
	numStates := model.NumStates()
	values := &Values{Lower: make([]float64, numStates), Upper: make([]float64, numStates), Converged: true}
	if opts.Exact {
		values.Exact = slices.Repeat([]*big.Rat{new(big.Rat)}, numStates)
	}
	if opts.Scheduler && model.Kind == sparse.MDP {
		values.Scheduler = make([]uint32, numStates)
		for state := range values.Scheduler {
			values.Scheduler[state] = sparse.None
		}
	}
	return values
}

// setAll gives all states of a set the same value, which must be an integer or positive infinity.
func (values *Values) setAll(states *sparse.Set, value float64) {
	for state := range states.All() {
		values.Lower[state], values.Upper[state] = value, value
	}
	if values.Exact == nil {
		return
	}
	var exact *big.Rat // nil for infinity
	if !math.IsInf(value, 1) {
		exact = new(big.Rat).SetFloat64(value)
	}
	for state := range states.All() {
		values.Exact[state] = exact
	}
}

// setExact gives a state an exact value. Its bounds become the nearest float64.
func (values *Values) setExact(state int, value *big.Rat) {
	values.Exact[state] = value
	rounded, _ := value.Float64()
	values.Lower[state], values.Upper[state] = rounded, rounded
}

// statesWithCertainValue returns the maybe states, and others, whose value is certainly 0, and those whose value is certainly 1: all states of valuedStates
// that they can reach through maybe states have this value.
func (values *Values) statesWithCertainValue(graph *sparse.Graph, maybe, valuedStates *sparse.Set) (zeroStates, oneStates *sparse.Set) {
	positiveStates, belowOneStates := sparse.NewSet(graph.NumStates()), sparse.NewSet(graph.NumStates())
	for state := range valuedStates.All() {
		if values.Upper[state] > 0 {
			positiveStates.Add(state)
		}
		if values.Lower[state] != 1 || values.Upper[state] != 1 {
			belowOneStates.Add(state)
		}
	}
	return graph.ExistsUntil(maybe, positiveStates).Complement(), graph.ExistsUntil(maybe, belowOneStates).Complement()
}

// progressCount is the progress of a computation.
type progressCount struct {
	Done, Total int   // states solved, or steps taken, of how many
	Sweeps      int64 // over all components
	// Change is the greatest relative change of the last sweep, 0 if it is not known.
	Change float64
}

// detail describes the progress of iterations as a text for the user. The text is empty before the first sweep.
func (progress progressCount) detail() string {
	switch {
	case progress.Sweeps == 0:
		return ""
	case progress.Change == 0 || math.IsInf(progress.Change, 0):
		return fmt.Sprintf("%d iterations", progress.Sweeps)
	}
	return fmt.Sprintf("%d iterations, relative change %.1e", progress.Sweeps, progress.Change)
}

// meter counts work. It polls the context and reports progress at regular amounts of work.
type meter struct {
	ctx           context.Context
	report        func(progress.Progress)
	progress      progressCount
	unit          progress.Unit // of Done and Total
	workSincePoll int           // since the last poll
	polledWork    int           // before the last poll
	maxWork       int           // Options.MaxWork
}

// totalWork returns the work that was counted so far.
func (meter *meter) totalWork() float64 {
	return float64(meter.polledWork) + float64(meter.workSincePoll)
}

const workPerPoll = 1 << 18

// pollInterval is the number of iterations of a loop between two checks of the context.
const pollInterval = 1 << 12

// newMeter returns the meter of a computation that solves states one after the other.
func newMeter(ctx context.Context, opts Options, total int) *meter {
	return &meter{ctx: ctx, report: opts.Progress, progress: progressCount{Total: total}, unit: progress.States, maxWork: opts.MaxWork}
}

// newStepMeter returns the meter of a computation that takes steps.
func newStepMeter(ctx context.Context, opts Options, total int) *meter {
	result := newMeter(ctx, opts, total)
	result.unit = progress.Steps
	return result
}

// addWork adds an amount of work, counted in evaluated transitions. From time to time it reports the progress and checks the context. It
// returns ErrWork if the total exceeds Options.MaxWork, or the error of the context.
func (meter *meter) addWork(work int) error {
	meter.workSincePoll += work
	if meter.workSincePoll < workPerPoll {
		return nil
	}
	meter.polledWork += meter.workSincePoll
	meter.workSincePoll = 0
	if meter.maxWork > 0 && meter.polledWork > meter.maxWork {
		return ErrWork
	}
	if meter.report != nil {
		meter.report(progress.Progress{
			Done: int64(meter.progress.Done), Target: int64(meter.progress.Total), Unit: meter.unit, Detail: meter.progress.detail(),
		})
	}
	if err := meter.ctx.Err(); err != nil {
		return meter.interruption(err)
	}
	return nil
}

// interruption adds the progress of the computation to the text of an error of the context.
func (meter *meter) interruption(err error) error {
	unitName := strings.TrimSuffix(string(meter.unit), "s")
	total, sweeps := noun.Count(meter.progress.Total, unitName), noun.Count(meter.progress.Sweeps, "sweep")
	return fmt.Errorf("%w with %d of %s done, after %s", err, meter.progress.Done, total, sweeps)
}
