package sparse

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// ErrTooLarge says that a model needs more than 2^31-1 states or 2^32-1 choices or transitions.
var ErrTooLarge = errors.New("model too large for 32-bit numbers")

// maxStates leaves the upper half of the 32-bit numbers to the algorithms, as marks.
const maxStates = math.MaxInt32

// Builder assembles a Model state by state, by calls in this order:
//
//	State { [Choice] { Add | AddAction | AddRat | AddInterval } }
//
// Choice is called in an MDP only; in a Markov chain State opens the row. The first error is kept, and
// Finish returns it.
type Builder struct {
	m          Model // without the fields that columns collect
	first      column[uint32]
	start      column[uint32]
	target     column[uint32]
	weight     column[uint32]
	high       column[uint32]
	action     column[Action]
	idOfFloat  map[float64]uint32
	idOfRat    map[string]uint32
	byPointer  map[*big.Rat]uint32 // part of idOfRat by pointer, which is faster; fractions are immutable
	cache      [64]cachedWeight    // of idOfFloat: models repeat few weights
	hasActions bool
	outOfRange bool // a weight is out of the range of float64
	states     int
	maxTarget  uint32
	err        error
}

// cachedWeight is an entry of Builder.cache. Weights are never zero, so the zero value is empty.
type cachedWeight struct {
	weight float64
	id     uint32
}

// maxByPointer limits Builder.byPointer.
const maxByPointer = 1 << 12

// NewBuilder returns a Builder for an empty model.
func NewBuilder(kind Kind) *Builder {
	return &Builder{m: Model{Kind: kind}, idOfFloat: map[float64]uint32{}, idOfRat: map[string]uint32{}, byPointer: map[*big.Rat]uint32{}}
}

// Grow reserves space for more states, choices and transitions.
func (b *Builder) Grow(states, choices, transitions int) {
	b.start.reserve(choices + 1)
	b.target.reserve(transitions)
	b.weight.reserve(transitions)
	if b.m.Kind != MDP {
		b.action.reserve(transitions)
		return
	}
	b.action.reserve(choices)
	b.first.reserve(states + 1)
}

// Bytes returns the memory of the model so far, including reserved space.
func (b *Builder) Bytes() int64 {
	n := b.first.cap() + b.start.cap() + b.target.cap() + b.weight.cap() + b.high.cap()
	return int64(4*n + 40*cap(b.m.Weights) + 2*b.action.cap())
}

// State begins the next state.
func (b *Builder) State() {
	if b.states == maxStates {
		b.fail(ErrTooLarge)
		return
	}
	b.states++
	if b.m.Kind == MDP {
		b.first.add(uint32(b.start.len()))
		return
	}
	b.newRow()
}

// Choice begins the next choice of the current state of an MDP.
func (b *Builder) Choice(a Action) {
	if b.m.Kind != MDP || b.states == 0 {
		b.fail(fmt.Errorf("choice outside a state of an MDP"))
		return
	}
	b.newRow()
	b.addAction(a)
}

func (b *Builder) newRow() {
	if b.start.len() == math.MaxUint32 {
		b.fail(ErrTooLarge)
		return
	}
	b.start.add(uint32(b.target.len()))
}

func (b *Builder) addAction(a Action) {
	b.action.add(a)
	b.hasActions = b.hasActions || a != NoAction
}

// Add appends a transition without action. A weight of zero is dropped; a negative or infinite one is
// an error.
func (b *Builder) Add(target int, weight float64) { b.AddAction(target, weight, NoAction) }

// AddAction is Add for a transition of a Markov chain with an action.
func (b *Builder) AddAction(target int, weight float64, a Action) {
	switch {
	case weight == 0:
		return
	case !(weight > 0 && weight <= math.MaxFloat64):
		b.fail(fmt.Errorf("state %d: weight %v, it must be finite and not negative", b.states-1, weight))
		return
	}
	c := &b.cache[math.Float64bits(weight)*0x9e3779b97f4a7c15>>58]
	if weight != c.weight {
		*c = cachedWeight{weight, b.weightID(weight)}
	}
	b.add(target, c.id, a)
}

func (b *Builder) weightID(weight float64) uint32 {
	id, ok := b.idOfFloat[weight]
	if !ok {
		id = uint32(len(b.m.Weights))
		b.m.Weights = append(b.m.Weights, weight)
		b.idOfFloat[weight] = id
	}
	return id
}

// NormalFloat returns the normal float64 nearest to a positive fraction, and whether it differs by rounding
// only: false means overflow or underflow.
func NormalFloat(x *big.Rat) (f float64, near bool) {
	const minNormal = 0x1p-1022
	f, _ = x.Float64()
	if f >= minNormal && f <= math.MaxFloat64 {
		return f, true
	}
	return min(max(f, minNormal), math.MaxFloat64), false
}

// AddRat is AddAction with an exact weight. The weights of a model must be all exact, or all float64.
func (b *Builder) AddRat(target int, weight *big.Rat, a Action) {
	switch weight.Sign() {
	case 0:
		return
	case -1:
		b.fail(fmt.Errorf("state %d: weight %v, it must not be negative", b.states-1, weight.RatString()))
		return
	}
	b.add(target, b.rationalID(weight), a)
}

// AddInterval is AddRat with an interval as weight, whose lower end may be zero. The weights of a model
// must be all intervals, or none.
func (b *Builder) AddInterval(target int, low, high *big.Rat, a Action) {
	if low.Sign() < 0 || high.Sign() <= 0 || low.Cmp(high) > 0 {
		b.fail(fmt.Errorf("state %d: weight [%s,%s], want an interval of numbers that are not negative", b.states-1, low.RatString(), high.RatString()))
		return
	}
	b.add(target, b.rationalID(low), a)
	b.high.add(b.rationalID(high))
}

// rationalID returns the index of an exact weight, which it adds if it is new.
func (b *Builder) rationalID(weight *big.Rat) uint32 {
	id, ok := b.byPointer[weight]
	if ok {
		return id
	}
	key := weight.RatString()
	if id, ok = b.idOfRat[key]; !ok {
		id = uint32(len(b.m.Rats))
		f, near := 0.0, true
		if weight.Sign() != 0 {
			f, near = NormalFloat(weight)
		}
		b.outOfRange = b.outOfRange || !near
		b.m.Weights = append(b.m.Weights, f)
		b.m.Rats = append(b.m.Rats, weight)
		b.idOfRat[key] = id
	}
	if len(b.byPointer) < maxByPointer {
		b.byPointer[weight] = id
	}
	return id
}

func (b *Builder) add(target int, id uint32, a Action) {
	switch {
	case b.start.len() == 0:
		b.fail(errors.New("transition outside a choice"))
		return
	case target < 0 || target >= maxStates || b.target.len() == math.MaxUint32:
		b.fail(ErrTooLarge)
		return
	}
	b.target.add(uint32(target))
	b.weight.add(id)
	b.maxTarget = max(b.maxTarget, uint32(target))
	if b.m.Kind != MDP {
		b.addAction(a)
	}
}

// Rows are the choices and transitions of successive states, in flat slices: state i has Choices[i]
// choices (one in a Markov chain), choice j has Transitions[j] transitions. Actions has one entry per
// choice in an MDP, and per transition otherwise. Either Weights or Rats has the weights. In an
// interval model Rats has the lower ends and Highs the upper ones.
type Rows struct {
	Choices     []uint32
	Transitions []uint32
	Actions     []Action
	Targets     []uint32
	Weights     []float64
	Rats        []*big.Rat
	Highs       []*big.Rat
}

// AddRows appends the first n states of rows, and returns the rest.
func (b *Builder) AddRows(rows Rows, n int) Rows {
	chain := b.m.Kind != MDP
	choices, transitions := 0, 0
	for _, count := range rows.Choices[:n] {
		b.State()
		for range count {
			if !chain {
				b.Choice(rows.Actions[choices])
			}
			for range rows.Transitions[choices] {
				i, a := transitions, NoAction
				if chain {
					a = rows.Actions[i]
				}
				switch {
				case rows.Highs != nil:
					b.AddInterval(int(rows.Targets[i]), rows.Rats[i], rows.Highs[i], a)
				case rows.Rats != nil:
					b.AddRat(int(rows.Targets[i]), rows.Rats[i], a)
				default:
					b.AddAction(int(rows.Targets[i]), rows.Weights[i], a)
				}
				transitions++
			}
			choices++
		}
	}
	rows.Choices, rows.Transitions, rows.Targets = rows.Choices[n:], rows.Transitions[choices:], rows.Targets[transitions:]
	if chain {
		rows.Actions = rows.Actions[transitions:]
	} else {
		rows.Actions = rows.Actions[choices:]
	}
	if rows.Highs != nil {
		rows.Highs = rows.Highs[transitions:]
	}
	if rows.Rats != nil {
		rows.Rats = rows.Rats[transitions:]
	} else {
		rows.Weights = rows.Weights[transitions:]
	}
	return rows
}

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// Finish returns the model, or the first error. Every target must be a state, every state needs a
// choice and every choice a transition; sums of weights are not checked. Model.Err is set for weights
// that were rounded once, and to infinity if a weight is out of the range of float64. The Builder must
// not be used again.
func (b *Builder) Finish() (*Model, error) {
	if b.err != nil {
		return nil, b.err
	}
	if b.states == 0 {
		return nil, errors.New("model without states")
	}
	m := &b.m
	if m.Kind == MDP {
		b.first.add(uint32(b.start.len()))
		m.First = b.first.flatten()
	}
	b.start.add(uint32(b.target.len()))
	if b.hasActions {
		m.Actions = b.action.flatten()
	}
	b.action = column[Action]{}
	m.Start = b.start.flatten()
	m.Target = b.target.flatten()
	m.Weight = b.weight.flatten()
	if b.high.len() > 0 {
		m.High = b.high.flatten()
		if len(m.High) != len(m.Weight) {
			return nil, errors.New("weights partly intervals, partly not")
		}
	}
	if len(m.Rats) > 0 && len(b.idOfFloat) > 0 {
		return nil, errors.New("weights partly exact, partly not")
	}
	m.Err = 0x1p-53
	if b.outOfRange {
		m.Err = math.Inf(1)
	}
	if err := b.check(); err != nil {
		return nil, err
	}
	return m, nil
}

func (b *Builder) check() error {
	m := &b.m
	if len(m.Target) > 0 && int(b.maxTarget) >= b.states {
		return fmt.Errorf("transition to state %d of %d", b.maxTarget, b.states)
	}
	for s := range b.states {
		first, end := m.Choices(s)
		if first == end {
			return fmt.Errorf("state %d has no choice", s)
		}
		for c := first; c < end; c++ {
			if m.Start[c] == m.Start[c+1] {
				return fmt.Errorf("state %d has a choice without transitions", s)
			}
		}
	}
	return nil
}
