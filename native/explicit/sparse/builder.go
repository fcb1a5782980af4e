package sparse

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// ErrTooLarge says that a model needs more than 2^31-1 states or 2^32-1
// choices or transitions.
var ErrTooLarge = errors.New("model too large for 32-bit numbers")

// maxStates leaves the upper half of the 32-bit numbers to the algorithms.
const maxStates = math.MaxInt32

// Builder assembles a Model state by state:
//
//	State { [Choice] { Add | AddRat } }
//
// Choice is called in an MDP only; the row of a Markov chain's state is opened
// by State. The first mistake is kept and returned by Finish.
type Builder struct {
	m      Model
	float  map[float64]uint32
	exact  map[string]uint32
	recent [64]cached // of float: models repeat themselves
	acted  bool
	states int
	max    uint32 // greatest target
	err    error
}

// cached is the number of a weight; no weight is zero.
type cached struct {
	weight float64
	id     uint32
}

// NewBuilder returns a Builder for an empty model.
func NewBuilder(kind Kind) *Builder {
	return &Builder{m: Model{Kind: kind}, float: map[float64]uint32{}, exact: map[string]uint32{}}
}

// Grow makes room for as many more states, choices and transitions.
func (b *Builder) Grow(states, choices, transitions int) {
	b.m.Start = grow(b.m.Start, choices+1)
	b.m.Target = grow(b.m.Target, transitions)
	b.m.Weight = grow(b.m.Weight, transitions)
	if b.m.Kind == MDP {
		b.m.First = grow(b.m.First, states+1)
	}
}

func grow(s []uint32, n int) []uint32 {
	if cap(s)-len(s) >= n {
		return s
	}
	return append(make([]uint32, 0, len(s)+n), s...)
}

// Bytes returns the memory that the model takes so far, room to grow included.
func (b *Builder) Bytes() int64 {
	n := cap(b.m.First) + cap(b.m.Start) + cap(b.m.Target) + cap(b.m.Weight)
	return int64(4*n + 40*cap(b.m.Weights) + 2*cap(b.m.Actions))
}

// State begins the next state.
func (b *Builder) State() {
	if b.states == maxStates {
		b.fail(ErrTooLarge)
		return
	}
	b.states++
	if b.m.Kind == MDP {
		b.m.First = append(b.m.First, uint32(len(b.m.Start)))
		return
	}
	b.row()
}

// Choice begins the next choice of the current state of an MDP.
func (b *Builder) Choice(a Action) {
	if b.m.Kind != MDP || b.states == 0 {
		b.fail(fmt.Errorf("choice outside a state of an MDP"))
		return
	}
	b.row()
	b.action(a)
}

func (b *Builder) row() {
	if len(b.m.Start) == math.MaxUint32 {
		b.fail(ErrTooLarge)
		return
	}
	b.m.Start = append(b.m.Start, uint32(len(b.m.Target)))
}

func (b *Builder) action(a Action) {
	b.m.Actions = append(b.m.Actions, a)
	b.acted = b.acted || a != NoAction
}

// Add appends a transition without an action of its own. A weight of zero is
// dropped; a negative or non-finite one is a mistake.
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
	c := &b.recent[math.Float64bits(weight)*0x9e3779b97f4a7c15>>58]
	if weight != c.weight {
		*c = cached{weight, b.number(weight)}
	}
	b.add(target, c.id, a)
}

func (b *Builder) number(weight float64) uint32 {
	id, ok := b.float[weight]
	if !ok {
		id = uint32(len(b.m.Weights))
		b.m.Weights = append(b.m.Weights, weight)
		b.float[weight] = id
	}
	return id
}

// AddRat is AddAction with an exact weight. All weights of a model are exact, or none.
func (b *Builder) AddRat(target int, weight *big.Rat, a Action) {
	switch weight.Sign() {
	case 0:
		return
	case -1:
		b.fail(fmt.Errorf("state %d: weight %v, it must not be negative", b.states-1, weight.RatString()))
		return
	}
	key := weight.RatString()
	id, ok := b.exact[key]
	if !ok {
		id = uint32(len(b.m.Rats))
		f, _ := weight.Float64()
		b.m.Weights = append(b.m.Weights, f)
		b.m.Rats = append(b.m.Rats, weight)
		b.exact[key] = id
	}
	b.add(target, id, a)
}

func (b *Builder) add(target int, id uint32, a Action) {
	switch {
	case len(b.m.Start) == 0:
		b.fail(errors.New("transition outside a choice"))
		return
	case target < 0 || target >= maxStates || len(b.m.Target) == math.MaxUint32:
		b.fail(ErrTooLarge)
		return
	}
	b.m.Target = append(b.m.Target, uint32(target))
	b.m.Weight = append(b.m.Weight, id)
	b.max = max(b.max, uint32(target))
	if b.m.Kind != MDP {
		b.action(a)
	}
}

func (b *Builder) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// Finish returns the model, or the first mistake. Targets must be states, every
// state needs a choice and every choice a transition; sums are not checked. The
// model's Err is that of weights rounded once. The Builder must not be used again.
func (b *Builder) Finish() (*Model, error) {
	if b.err != nil {
		return nil, b.err
	}
	if b.states == 0 {
		return nil, errors.New("model without states")
	}
	m := &b.m
	if m.Kind == MDP {
		m.First = append(m.First, uint32(len(m.Start)))
	}
	m.Start = append(m.Start, uint32(len(m.Target)))
	if !b.acted {
		m.Actions = nil
	}
	if len(m.Rats) > 0 && len(b.float) > 0 {
		return nil, errors.New("weights partly exact, partly not")
	}
	m.Err = 0x1p-53
	if err := b.check(); err != nil {
		return nil, err
	}
	return m, nil
}

func (b *Builder) check() error {
	m := &b.m
	if len(m.Target) > 0 && int(b.max) >= b.states {
		return fmt.Errorf("transition to state %d of %d", b.max, b.states)
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
