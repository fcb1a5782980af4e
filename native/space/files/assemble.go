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

// sumTolerance is how far the probabilities of a row may be from one: PRISM
// reads any, and by itself builds models within this. How far they are goes
// into the bounds of every value.
//
// Source: prism -sumroundoff.
const sumTolerance = 1e-5

// noteworthy is the deviation from which on there is a warning; numbers with 16
// digits stay below.
const noteworthy = 1e-12

// defaultMaxStates keeps a corrupt total from taking all memory.
const defaultMaxStates = 1 << 27

// ReadOptions says how to read. The zero value is the default.
type ReadOptions struct {
	// Type is the type of the model: DTMC, MDP or CTMC. By default it is what
	// the file says or, as in PRISM, what it looks like.
	Type syntax.ModelType
	// Exact keeps all numbers as fractions, too. Probabilities must then sum to
	// exactly one, unless Normalise is set.
	Exact bool
	// Normalise, with Exact, divides the probabilities of a row by their sum where that is one but for rounding.
	Normalise bool
	// Fractions refuses UMB files that have doubles.
	Fractions bool
	// NoFixDeadlocks makes a state without transitions an error.
	NoFixDeadlocks bool
	// MaxStates is the greatest number of states; 0 means about 134 million.
	MaxStates int
}

// limit returns an error for too many states.
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
	begun   int // states that have begun
	one     number

	names   []string
	actions map[string]sparse.Action

	// Of the row that is open:
	at      syntax.Pos
	targets edges
	sum     number
	// Of a model with intervals, the upper end of the next transition, whose lower
	// one is its number, and the sum of those of the row.
	intervals bool
	high      number
	highs     *big.Rat

	transitions, choices int
	deadlocks            *sparse.Set
	loops                *sparse.Set // states with nothing but a self-loop
	sums                 int         // diagnostics about sums
	off                  float64     // greatest deviation of a sum from one
	offRows              int
	// With normalise, the transitions of the row that is open, which are put when their sum is known.
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

// edges numbers those of a row, which is short as a rule.
type edges struct {
	all []edge
	of  map[edge]int // of a long row
}

// short is how long a row is that is searched from end to end.
const short = 16

// add returns the number of an edge, and whether it is new.
func (e *edges) add(x edge) (int, bool) {
	n := len(e.all)
	if n < short {
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

// clear begins another row.
func (e *edges) clear() { e.all, e.of = e.all[:0], nil }

func newAssembly(l *lines, kind sparse.Kind, states int, opts ReadOptions) *assembly {
	return &assembly{
		lines: l, kind: kind, exact: opts.Exact, normalise: opts.Exact && opts.Normalise && kind != sparse.CTMC, states: states, builder: sparse.NewBuilder(kind),
		actions: map[string]sparse.Action{}, one: number{f: 1, r: big.NewRat(1, 1)}, loops: sparse.NewSet(states), deadlocks: sparse.NewSet(states),
	}
}

// state begins a state. Those that are left out before it are deadlocks.
func (a *assembly) state(i int) {
	a.endRow()
	for a.begun < i {
		a.deadlocks.Add(a.begun)
		a.builder.State()
		a.row(sparse.NoAction)
		a.high = a.one
		a.put(a.begun, a.one, sparse.NoAction)
		a.begun++
	}
	if i < a.states {
		a.builder.State()
		a.begun++
		a.loops.Add(i)
	}
}

func (a *assembly) row(action sparse.Action) {
	if a.kind == sparse.MDP {
		a.builder.Choice(action)
	}
}

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

// choice begins a row of the current state.
func (a *assembly) choice(action sparse.Action, at syntax.Pos) {
	a.endRow()
	a.row(action)
	a.choices++
	a.at, a.sum = at, number{}
	if a.exact {
		a.sum.r, a.highs = new(big.Rat), new(big.Rat)
	}
}

// transition adds to the row. The positions are those of target and weight.
func (a *assembly) transition(target int, x number, action sparse.Action, atTarget, atWeight int) {
	switch {
	case !(x.f > 0) && a.kind == sparse.CTMC:
		a.fail(atWeight, "found rate %v, wanted more than 0", x.f)
		return
	case a.intervals: // checked when it was read
	case a.kind != sparse.CTMC && !(x.f > 0 && x.f <= 1+sumTolerance):
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
	if target != a.begun-1 {
		a.loops.Remove(a.begun - 1)
	}
}

// endRow checks the sum of the row that is open.
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
	off := math.Abs(a.sum.f - 1)
	before := len(a.errs)
	switch {
	case before > a.sums: // another diagnostic may be why
		return
	case a.exact && a.sum.r.Cmp(a.one.r) != 0 && !(a.normalise && off <= sumTolerance):
		a.failAt(a.at, "the probabilities from here on sum to %s, exactly, wanted 1 (fractions such as 1/3 are exact, too)", a.sum.r.RatString())
	case off > sumTolerance:
		a.failAt(a.at, "the probabilities from here on sum to %s, wanted 1", strconv.FormatFloat(a.sum.f, 'g', 10, 64))
	}
	a.sums += len(a.errs) - before
	a.putOpen()
	a.off = max(a.off, off)
	if off > noteworthy {
		a.offRows++
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

// endIntervals is endRow for intervals.
func (a *assembly) endIntervals() {
	if one := big.NewRat(1, 1); a.sum.r.Cmp(one) > 0 || a.highs.Cmp(one) < 0 {
		a.failAt(a.at, "the intervals from here on sum to [%s,%s], exactly, wanted one with 1 in it", a.sum.r.RatString(), a.highs.RatString())
	}
}

// interval reads [0.1,0.3], of probabilities.
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

// isInterval reports whether two fractions are the ends of an interval of probabilities
// that are not only 0.
func isInterval(low, high number) bool {
	return low.f >= 0 && high.f > 0 && low.r.Cmp(high.r) <= 0 && high.f <= 1
}

// action returns the number of an action.
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

// finish ends the last state and returns the model, nil after errors.
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
		model.Err = 1.01 * (a.off + unit)
	}
	return model
}

// declared is what files say about sets of states.
type declared struct {
	labels   []sparse.Label
	init     *sparse.Set // nil when nothing says
	deadlock *sparse.Set // nil when nothing says
}

// complete adds labels and deadlocks to a model. A state that is labelled as a
// deadlock and has transitions to others is an error.
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
