package files

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/syntax"
)

// maxSumError is the largest accepted difference of a row's sum of probabilities from 1. PRISM
// accepts any sum in a file, and builds models within this limit. The difference widens the bounds
// of every value.
//
// Source: prism -sumroundoff.
const maxSumError = 1e-5

// warnSumError is the difference from 1 above which a warning is given. Numbers with 16 digits
// stay below it.
const warnSumError = 1e-12

// defaultMaxStates prevents a corrupt total from using all memory.
const defaultMaxStates = 1 << 27

// ReadOptions configures a reader. The zero value is the default.
type ReadOptions struct {
	// Type is the type of the model. By default it is read from the file or, as in PRISM,
	// guessed from its numbers.
	Type syntax.ModelType
	// Exact keeps all numbers also as fractions. Probabilities must then sum to
	// exactly 1, unless Normalise is set.
	Exact bool
	// Normalise, with Exact, divides the probabilities of a row by their sum where it is within maxSumError of 1.
	Normalise bool
	// Fractions rejects UMB files with floating-point numbers.
	Fractions bool
	// NoFixDeadlocks makes a state without transitions an error.
	NoFixDeadlocks bool
	// MaxStates is the greatest number of states; 0 means about 134 million.
	MaxStates int
}

// limit returns an error if there are too many states.
func (o ReadOptions) limit(n int) error {
	most := o.MaxStates
	if most <= 0 {
		most = defaultMaxStates
	}
	if n > most {
		return &explicit.LimitError{Limit: int64(most), States: n}
	}
	return nil
}

// assembly builds the rows of a model and checks them.
type assembly struct {
	*lines
	kind    sparse.Kind
	exact   bool
	states  int // in all
	builder *sparse.Builder
	started int // number of states whose rows were begun
	one     number

	names   []string
	actions map[string]sparse.Action

	// The current row:
	at      syntax.Pos
	targets edges
	sum     number
	// In an interval model, high is the upper bound of the next transition and highs the
	// sum of the row's upper bounds. The other numbers are lower bounds.
	intervals bool
	high      number
	highs     *big.Rat

	transitions, choices int
	deadlocks            *sparse.Set
	selfLoops            *sparse.Set // states whose only transitions are self-loops
	sums                 int         // diagnostics about sums
	maxDeviation         float64     // largest difference of a sum from 1
	deviatingRows        int         // rows with a difference above warnSumError
	// With normalise, the transitions of the current row, which are put when their sum is known.
	normalise  bool
	open       []transition
	normalised bool // as explicit.Space.Normalised
}

// transition is one of an exact row.
type transition struct {
	edge
	x number
}

// edge is a transition of a row.
type edge struct {
	target int
	action sparse.Action
}

// edges numbers the transitions of a row.
type edges struct {
	all []edge
	of  map[edge]int // index of each edge, in a long row
}

// shortRow is the length up to which a row is searched linearly.
const shortRow = 16

// add returns the number of an edge and whether it is new.
func (e *edges) add(x edge) (int, bool) {
	n := len(e.all)
	if n < shortRow {
		if i := slices.Index(e.all, x); i >= 0 {
			return i, false
		}
		e.all = append(e.all, x)
		return n, true
	}
	if e.of == nil {
		e.of = make(map[edge]int)
		for i, y := range e.all {
			e.of[y] = i
		}
	}
	if i, ok := e.of[x]; ok {
		return i, false
	}
	e.of[x] = n
	e.all = append(e.all, x)
	return n, true
}

// clear starts another row.
func (e *edges) clear() { e.all, e.of = e.all[:0], nil }

func newAssembly(l *lines, kind sparse.Kind, states int, opts ReadOptions) *assembly {
	return &assembly{
		lines: l, kind: kind, exact: opts.Exact, normalise: opts.Exact && opts.Normalise && kind != sparse.CTMC, states: states, builder: sparse.NewBuilder(kind),
		actions: map[string]sparse.Action{}, one: number{f: 1, r: big.NewRat(1, 1)}, selfLoops: sparse.NewSet(states), deadlocks: sparse.NewSet(states),
	}
}

// state starts state i. Skipped states before it become deadlocks.
func (a *assembly) state(i int) {
	a.endRow()
	for a.started < i {
		a.deadlocks.Add(a.started)
		a.builder.State()
		a.row(sparse.NoAction)
		a.high = a.one
		a.put(a.started, a.one, sparse.NoAction)
		a.started++
	}
	if i < a.states {
		a.builder.State()
		a.started++
		a.selfLoops.Add(i)
	}
}

// row starts a row in the builder.
func (a *assembly) row(action sparse.Action) {
	if a.kind == sparse.MDP {
		a.builder.Choice(action)
	}
}

// put adds a transition to the builder.
func (a *assembly) put(target int, x number, action sparse.Action) {
	switch {
	case a.intervals:
		a.builder.AddInterval(target, x.r, a.high.r, action)
		return
	case a.exact:
		a.builder.AddRat(target, x.r, action)
		return
	}
	a.builder.AddAction(target, x.f, action)
}

// choice starts a choice of the current state.
func (a *assembly) choice(action sparse.Action, at syntax.Pos) {
	a.endRow()
	a.row(action)
	a.choices++
	a.at, a.sum = at, number{}
	if a.exact {
		a.sum.r, a.highs = new(big.Rat), new(big.Rat)
	}
}

// transition adds a transition to the current row. atTarget and atWeight are the columns of its
// fields.
func (a *assembly) transition(target int, x number, action sparse.Action, atTarget, atWeight int) {
	switch {
	case !(x.f > 0) && a.kind == sparse.CTMC:
		a.fail(atWeight, "found rate %v, wanted more than 0", x.f)
		return
	case a.intervals: // checked when it was read
	case a.kind != sparse.CTMC && !(x.f > 0 && x.f <= 1+maxSumError):
		a.fail(atWeight, "found probability %v, wanted more than 0 and at most 1", x.f)
		return
	}
	if _, isNew := a.targets.add(edge{target, action}); !isNew {
		a.fail(atTarget, "found a second transition to state %d, wanted one", target)
		return
	}
	a.transitions++
	a.sum.f += x.f
	if a.exact {
		a.sum.r.Add(a.sum.r, x.r)
		if a.intervals {
			a.highs.Add(a.highs, a.high.r)
		}
	}
	if a.normalise && !a.intervals {
		a.open = append(a.open, transition{edge{target, action}, x})
	} else {
		a.put(target, x, action)
	}
	if target != a.started-1 {
		a.selfLoops.Remove(a.started - 1)
	}
}

// endRow checks the sum of the current row.
func (a *assembly) endRow() {
	open := len(a.targets.all) > 0
	a.targets.clear()
	if !open || a.kind == sparse.CTMC {
		return
	}
	if a.intervals {
		a.endIntervals()
		return
	}
	deviation := math.Abs(a.sum.f - 1)
	before := len(a.errs)
	switch {
	case before > a.sums: // another error may have caused the wrong sum
		return
	case a.exact && a.sum.r.Cmp(a.one.r) != 0 && !(a.normalise && deviation <= maxSumError):
		a.failAt(a.at, "the probabilities from here on sum to %s, exactly, wanted 1 (fractions such as 1/3 are exact, too)", a.sum.r.RatString())
	case deviation > maxSumError:
		a.failAt(a.at, "the probabilities from here on sum to %s, wanted 1", strconv.FormatFloat(a.sum.f, 'g', 10, 64))
	}
	a.sums += len(a.errs) - before
	a.putOpen()
	a.maxDeviation = max(a.maxDeviation, deviation)
	if deviation > warnSumError {
		a.deviatingRows++
	}
}

// putOpen puts the transitions of the row that is open, divided by their sum.
func (a *assembly) putOpen() {
	exactly := a.sum.r == nil || a.sum.r.Cmp(a.one.r) == 0
	for _, t := range a.open {
		if !exactly {
			t.x.r = new(big.Rat).Quo(t.x.r, a.sum.r)
			a.normalised = true
		}
		a.put(t.target, t.x, t.action)
	}
	a.open = a.open[:0]
}

// endIntervals checks that the intervals of the current row contain a distribution.
func (a *assembly) endIntervals() {
	if one := big.NewRat(1, 1); a.sum.r.Cmp(one) > 0 || a.highs.Cmp(one) < 0 {
		a.failAt(a.at, "the intervals from here on sum to [%s,%s], exactly, wanted one with 1 in it", a.sum.r.RatString(), a.highs.RatString())
	}
}

// interval reads an interval of probabilities such as [0.1,0.3].
func (a *assembly) interval(f field) (low, high number, ok bool) {
	text, opens := strings.CutPrefix(f.String(), "[")
	text, closes := strings.CutSuffix(text, "]")
	l, h, comma := strings.Cut(text, ",")
	if !opens || !closes || !comma {
		a.fail(f.at, "found %s, wanted an interval such as [0.1,0.3]", quote(f.text))
		return low, high, false
	}
	if low, ok = a.value(field{[]byte(l), f.at + 1}, "probability", true); !ok {
		return low, high, false
	}
	if high, ok = a.value(field{[]byte(h), f.at + 2 + len(l)}, "probability", true); !ok {
		return low, high, false
	}
	if !isInterval(low, high) {
		a.fail(f.at, "found %s, wanted an interval of probabilities from 0 to 1, not only of 0", quote(f.text))
		return low, high, false
	}
	return low, high, true
}

// isInterval reports whether low and high are bounds of probabilities, not both zero.
func isInterval(low, high number) bool {
	return low.f >= 0 && high.f > 0 && low.r.Cmp(high.r) <= 0 && high.f <= 1
}

// action returns the number of an action, new or known.
func (a *assembly) action(name string) sparse.Action {
	if name == "" {
		return sparse.NoAction
	}
	if id, ok := a.actions[name]; ok {
		return id
	}
	if len(a.names) >= math.MaxUint16-1 {
		a.fail(0, "found more than %d actions", math.MaxUint16-1)
		return sparse.NoAction
	}
	a.names = append(a.names, name)
	id := sparse.Action(len(a.names))
	a.actions[name] = id
	return id
}

// finish ends the last state and returns the model; nil if there were errors.
func (a *assembly) finish() *sparse.Model {
	a.endRow()
	if len(a.errs) > 0 {
		return nil
	}
	a.state(a.states)
	model, err := a.builder.Finish()
	if err != nil {
		a.failEnd("%v", err)
		return nil
	}
	if a.exact {
		model.Err = 0
	} else {
		model.Err = 1.01 * (a.maxDeviation + unit)
	}
	return model
}

// declared holds the sets of states that files define.
type declared struct {
	labels   []sparse.Label
	init     *sparse.Set // nil if not defined
	deadlock *sparse.Set // nil if not defined
}

// complete adds labels, initial states and deadlocks to the model.
func (a *assembly) complete(m *sparse.Model, d declared) {
	m.Labels = d.labels
	m.Initial = []uint32{0}
	if d.init != nil {
		m.Initial = nil
		for i := range d.init.All() {
			m.Initial = append(m.Initial, uint32(i))
		}
	}
	dead := a.deadlocks
	if d.deadlock != nil {
		dead = dead.Union(d.deadlock)
	}
	if !dead.Empty() {
		m.Deadlocks = dead
	}
}
