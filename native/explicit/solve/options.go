package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"

	"tilecheck/internal/progress"
	"tilecheck/native/explicit/sparse"
)

// Direction says which scheduler a value is for. It means nothing in a Markov chain.
// Where probabilities are intervals, something chooses from them in every step, which
// is called nature: it is on the scheduler's side or against it.
type Direction uint8

// The directions. Nature is on the scheduler's side, but for MinMax, where it makes
// large what the scheduler makes small, and MaxMin.
const (
	Max Direction = iota
	Min
	MinMax
	MaxMin
)

// Opposite returns the direction of one minus a value.
func (d Direction) Opposite() Direction { return [...]Direction{Min, Max, MaxMin, MinMax}[d] }

// Scheduler returns Min or Max: what the scheduler does.
func (d Direction) Scheduler() Direction { return [...]Direction{Max, Min, Min, Max}[d] }

// nature returns what nature does.
func (d Direction) nature() Direction { return [...]Direction{Max, Min, Max, Min}[d] }

// Options changes how a value is computed. The zero value is the default.
type Options struct {
	// Epsilon is the width that the interval of an iterative solution may have,
	// relative to its upper end, in one component: components that depend on one
	// another add up. 0 is DefaultEpsilon. Intervals hold whatever it is.
	Epsilon float64
	// MaxSweeps limits the sweeps over one component; 0 is a million. A
	// component that needs more keeps the bounds reached.
	MaxSweeps int
	// MaxWork limits the operations of a solution, roughly, but for the equations of
	// fewer than 10,000 states; 0 is no limit. One that needs more is ErrWork.
	MaxWork int
	// Classic stops an iteration when a sweep changes no value by more than
	// Epsilon, relatively, as other tools do by default; then that is 1e-6
	// unless set. The values are from below and may be far off.
	Classic bool
	// Exact asks for fractions, which a model of doubles has not: that is ErrNotExact.
	// Time and memory grow with the size of the fractions. What has a time bound
	// has none.
	Exact bool
	// Within are the states in which values are wanted; nil is all. Fractions may be
	// left out in others, which have any value then.
	Within *sparse.Set
	// Grid, unless zero, asks for bounds that are multiples of it, a power of two, and
	// that the equations imply as they stand: one step raises no upper bound and
	// lowers no lower one, which is what a certificate shows. Bounds that are wide
	// compared with Epsilon may mean that it is too coarse.
	Grid float64
	// Scheduler asks for the choices that attain the value.
	Scheduler bool
	// Progress is called now and then while the computation runs; nil is never.
	Progress func(progress.Progress)
}

// ErrWork says that a solution takes more work than Options.MaxWork.
var ErrWork = errors.New("the solution takes too long")

// DefaultEpsilon is the Epsilon of Options that have none, unless Classic is set.
const DefaultEpsilon = 1e-8

func (o Options) epsilon() float64 {
	switch {
	case o.Epsilon > 0:
		return o.Epsilon
	case o.Classic:
		return 1e-6
	}
	return DefaultEpsilon
}

func (o Options) maxSweeps() int {
	if o.MaxSweeps <= 0 {
		return 1_000_000
	}
	return o.MaxSweeps
}

// Values are bounds on a value of each state: Lower <= truth <= Upper, where an
// infinite value has both bounds infinite. The truth is that of every model
// whose weights and rewards are within sparse.Model.Err of the given ones and
// whose probabilities sum to one; rounding in the computation is accounted for.
// The bounds of a probability are between 0 and 1, and equal where it is 0 or 1.
type Values struct {
	Lower, Upper []float64
	// Exact are the values themselves, nil where they are infinite, if Options.Exact
	// was set; there are no bounds then. They must not be changed.
	Exact []*big.Rat
	// Converged is false when a component was given up before its interval
	// was as narrow as asked for. The bounds hold all the same.
	Converged bool
	// Estimated says that Options.Classic was set and something was iterated:
	// Lower and Upper are equal, and only the lower bound holds.
	Estimated bool
	// Extended says that a component was solved by elimination on numbers beyond the
	// range of doubles, since iteration takes too long.
	Extended bool
	Sweeps   int64
	// Scheduler has the choice of each state of an MDP that attains a value
	// within the bounds when followed always; sparse.None where every choice
	// does. nil unless asked for.
	Scheduler []uint32
	// Steps is the same where schedulers count steps: Steps[i] has the choices
	// after i steps, its last entry those after any more. Entries may share
	// memory. nil unless asked for, and where it would take too much.
	Steps [][]uint32
}

// Value returns the midpoint of a state's interval.
func (v *Values) Value(s int) float64 {
	if v.Lower[s] == v.Upper[s] {
		return v.Lower[s]
	}
	return v.Lower[s] + (v.Upper[s]-v.Lower[s])/2
}

// newValues returns bounds of zero for every state, or zeros.
func newValues(m *sparse.Model, opts Options) *Values {
	n := m.NumStates()
	v := &Values{Lower: make([]float64, n), Upper: make([]float64, n), Converged: true}
	if opts.Exact {
		v.Exact = slices.Repeat([]*big.Rat{new(big.Rat)}, n)
	}
	if opts.Scheduler && m.Kind == sparse.MDP {
		v.Scheduler = make([]uint32, n)
		for s := range v.Scheduler {
			v.Scheduler[s] = sparse.None
		}
	}
	return v
}

// set gives all states of a set the same value, a small integer or infinity.
func (v *Values) set(states *sparse.Set, x float64) {
	for s := range states.All() {
		v.Lower[s], v.Upper[s] = x, x
	}
	if v.Exact != nil {
		var r *big.Rat
		if !math.IsInf(x, 1) {
			r = new(big.Rat).SetFloat64(x)
		}
		for s := range states.All() {
			v.Exact[s] = r
		}
	}
}

// assign gives a state a fraction, of which the doubles are what guides to others.
func (v *Values) assign(s int, x *big.Rat) {
	v.Exact[s] = x
	f, _ := x.Float64()
	v.Lower[s], v.Upper[s] = f, f
}

// certain returns the states from which everything that can be reached through
// open states is worth nothing, or 1, of the states that count: so are they, on
// average.
func (v *Values) certain(g *sparse.Graph, open, count *sparse.Set) (zero, one *sparse.Set) {
	some, less := sparse.NewSet(g.NumStates()), sparse.NewSet(g.NumStates())
	for s := range count.All() {
		if v.Upper[s] > 0 {
			some.Add(s)
		}
		if v.Lower[s] != 1 || v.Upper[s] != 1 {
			less.Add(s)
		}
	}
	return g.ExistsUntil(open, some).Complement(), g.ExistsUntil(open, less).Complement()
}

// distance is how far a computation has come.
type progressCount struct {
	Done, Total int   // states solved, or steps taken, of how many
	Sweeps      int64 // sweeps over components so far
}

// meter polls the context and reports progress, every so much work.
type meter struct {
	ctx      context.Context
	report   func(progress.Progress)
	progress progressCount
	work     int
	total    int // before work
	limit    int
}

// sofar returns the work noted.
func (t *meter) totalWork() float64 { return float64(t.total) + float64(t.work) }

const workPerPoll = 1 << 18

func newMeter(ctx context.Context, opts Options, total int) *meter {
	return &meter{ctx: ctx, report: opts.Progress, progress: progressCount{Total: total}, limit: opts.MaxWork}
}

// did notes work, in transitions looked at, and returns the context's error.
func (t *meter) did(work int) error {
	if t.work += work; t.work < workPerPoll {
		return nil
	}
	t.total += t.work
	t.work = 0
	if t.limit > 0 && t.total > t.limit {
		return ErrWork
	}
	if t.report != nil {
		t.report(progress.Progress{Done: int64(t.progress.Done), Target: int64(t.progress.Total), Unit: progress.States})
	}
	if why := t.ctx.Err(); why != nil {
		return fmt.Errorf("%w with %d of %d states solved or steps taken, after %d sweeps", why, t.progress.Done, t.progress.Total, t.progress.Sweeps)
	}
	return nil
}
