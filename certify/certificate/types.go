package certificate

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// File is a certificate: claims about a model, and what proves them.
//
// Sets and vectors are numbered by their places. A set is made of sets before it; a
// vector may be about any sets, but a set that compares a vector (Bound) comes after
// the sets of that vector. So everything can be checked in the order of Sets, with
// each vector where it is first used.
type File struct {
	Model   *Model
	Sets    []Set
	Vectors []Vector
	Claims  []Claim
}

// Kind is the kind of a model.
type Kind string

// The kinds.
const (
	DTMC Kind = "dtmc"
	MDP  Kind = "mdp"
	CTMC Kind = "ctmc"
)

// Model is a model as plain arrays. Every state has a choice and every choice a
// transition; the probabilities of a choice are positive and sum to 1, exactly.
type Model struct {
	Kind Kind
	// First[s] is the first choice of state s, First[NumStates()] the number of
	// choices. nil is one choice for each state.
	First []uint32
	// Start[c] is the first transition of choice c, Start[NumChoices()] the number of
	// transitions.
	Start []uint32
	// Target and Prob describe the transitions. Prob indexes Numbers.
	Target, Prob []uint32
	// Numbers are the distinct numbers of the model, probabilities and rewards.
	Numbers []*big.Rat
	// Exit is the exit rate of each state of a CTMC, an index of Numbers; else nil.
	Exit    []uint32
	Initial Bits
	Rewards []Reward
}

// Reward is a reward structure. Being in a state for a step (in a CTMC for a unit of
// time) is worth State[s], and taking choice c is worth Choice[c], in a chain the mean
// over its transitions. Both index Model.Numbers; nil is zero everywhere.
type Reward struct {
	Name          string
	State, Choice []uint32
}

// NumStates returns the number of states.
func (m *Model) NumStates() int {
	if m.First != nil {
		return len(m.First) - 1
	}
	return len(m.Start) - 1
}

// Choices returns the range of the choices of state s.
func (m *Model) Choices(s int) (first, end int) {
	if m.First == nil {
		return s, s + 1
	}
	return int(m.First[s]), int(m.First[s+1])
}

// Row returns the range of the transitions of choice c.
func (m *Model) Row(c int) (first, end int) { return int(m.Start[c]), int(m.Start[c+1]) }

// Bits is a set of states, 64 to a word. nil has none.
type Bits []uint64

// NewBits returns the empty set of n states.
func NewBits(n int) Bits { return make(Bits, (n+63)/64) }

// allBits returns the set of all n states.
func allBits(n int) Bits {
	b := NewBits(n)
	for i := range b {
		b[i] = math.MaxUint64
	}
	if n%64 != 0 {
		b[len(b)-1] = 1<<(n%64) - 1
	}
	return b
}

// Has reports whether a state is in the set.
func (b Bits) Has(s int) bool { return b != nil && b[s/64]>>(s%64)&1 != 0 }

// Add puts a state into the set.
func (b Bits) Add(s int) { b[s/64] |= 1 << (s % 64) }

// Count returns the number of states in the set.
func (b Bits) Count() int {
	n := 0
	for _, x := range b {
		n += bits.OnesCount64(x)
	}
	return n
}

// SetKind is how a set is given.
type SetKind string

// The kinds of sets.
const (
	Atomic SetKind = "atomic"  // Bits, the states in which the expression Text holds
	All    SetKind = "all"     // every state
	Init   SetKind = "initial" // the initial states
	Not    SetKind = "not"     // those not in Sets[0]
	And    SetKind = "and"     // those in all of Sets
	Or     SetKind = "or"      // those in one of Sets, at least
	// Bound: those whose value of Vector is in the Relation to Threshold. What the
	// bounds of the vector do not decide is in the set for nobody, and not out of it.
	Bound SetKind = "bound"
	// ExistsUntil and ForallUntil: those of which a path, or every path, stays in
	// Sets[0] until it is in Sets[1]. Bits are the states, each with a Rank; the rank
	// of one not in Sets[1] is greater than that of a successor (of all successors).
	ExistsUntil SetKind = "exists until"
	ForallUntil SetKind = "forall until"
	// ArgMin and ArgMax: those of Sets[0] whose value of Vector is the least, or greatest.
	// What the bounds leave open is as for Bound.
	ArgMin SetKind = "argmin"
	ArgMax SetKind = "argmax"
	// ExistsNext and ForallNext: those with a successor, or only successors, in Sets[0].
	ExistsNext SetKind = "exists next"
	ForallNext SetKind = "forall next"
)

// Set is a set of states.
type Set struct {
	Kind      SetKind  `json:"kind"`
	Text      string   `json:"text,omitempty"`
	Sets      []int    `json:"sets,omitempty"`
	Vector    int      `json:"vector,omitempty"`
	Relation  string   `json:"relation,omitempty"` // <, <=, > or >=
	Threshold *big.Rat `json:"threshold,omitempty"`
	Bits      Bits     `json:"-"`
	Rank      []uint32 `json:"-"` // one for each state, or None
}

// Given returns the states of a set that is not made of others; nil for one that is.
func (s *Set) Given(m *Model) Bits {
	switch s.Kind {
	case Atomic:
		return s.Bits
	case Init:
		return m.Initial
	case All:
		return allBits(m.NumStates())
	}
	return nil
}

// Compares reports whether the set is of the values of its Vector.
func (s *Set) Compares() bool { return s.Kind == Bound || s.Kind == ArgMin || s.Kind == ArgMax }

// None is the rank or layer of a state that has none.
const None = math.MaxUint32

// VectorKind is what the values of a vector are.
type VectorKind string

// The kinds of vectors. In an MDP all are the maximum over the schedulers, or the
// minimum. What columns each needs is in package certify; those without any are
// computed by the checker.
const (
	Until       VectorKind = "until"        // the probability of Left until Right
	Steps       VectorKind = "steps"        // the same within From to To steps; To -1 is no limit; no columns
	Next        VectorKind = "next"         // the probability of Right in the next state; no columns
	ReachReward VectorKind = "reach reward" // the expected Reward until Right; infinite unless Right is reached almost surely
	TotalReward VectorKind = "total reward" // the expected Reward of all steps
	Cumulative  VectorKind = "cumulative"   // the expected Reward of the first To steps; no columns
	Instant     VectorKind = "instant"      // the expected Reward of the state after To steps; no columns
	// Average is the expected long-run average of Reward, or if that is -1 of being in
	// Right: the gain, in Lower and Upper. LowerBias and UpperBias go with them.
	Average VectorKind = "average"
	// PathFormula is the greatest probability that the Automaton accepts a path. Lower,
	// Upper and Rank are of its pairs, Won and Layer of its runs.
	PathFormula VectorKind = "path formula"
	// CoSafe is the expected Reward until the Automaton comes to an accepting state, or has
	// read a path up to one. All columns are of pairs.
	CoSafe VectorKind = "co-safe reward"
	// Objectives are what Several ask for in the initial state. Upper, Lower, Rank and Layer
	// are of the states of its product.
	Objectives VectorKind = "several objectives"
)

// Vector is a value for every state, between two bounds.
type Vector struct {
	Kind   VectorKind `json:"kind"`
	Max    bool       `json:"max,omitempty"` // over the schedulers of an MDP; false is the minimum
	Left   int        `json:"left"`          // a set
	Right  int        `json:"right"`         // a set
	Reward int        `json:"reward"`        // a reward structure, by its place
	From   int        `json:"from,omitempty"`
	To     int        `json:"to,omitempty"`
	// Timed is the time, instead of steps, of a CTMC's Steps, Cumulative and Instant.
	Timed     *Timed     `json:"timed,omitempty"`
	Automaton *Automaton `json:"automaton,omitempty"`
	// Paths makes a PathFormula that of the MDP whose choices are the transitions: 1 where the
	// automaton accepts some path, otherwise 0.
	Paths   bool     `json:"paths,omitempty"`
	Several *Several `json:"several,omitempty"`

	// Lower and Upper are the bounds. They may be the same one. nil is what needs no
	// proof: 0 below, and above 1 for a probability, infinity for a reward.
	Lower, Upper         *Values `json:"-"`
	LowerBias, UpperBias *Values `json:"-"`
	// Rank and Layer are one number for each state, or None; nil where no state has one.
	Rank, Layer, Won []uint32 `json:"-"`
}

// Timed is a time, from From to To, and how the checker is to let it pass: by steps at a
// Rate, the fastest of the states that matter or more, and with numbers of Scale binary
// places. To is nil for a time without end; for rewards From is 0.
type Timed struct {
	From  *big.Rat `json:"from"`
	To    *big.Rat `json:"to,omitempty"`
	Rate  *big.Rat `json:"rate"`
	Scale uint     `json:"scale"`
}

// Values is a number, not negative, for each state: Fixed[s] / 2^Scale, or Doubles[s]
// where Fixed is nil, or Rats[s] where both are, and infinity for the states in Infinite,
// whose entry is ignored. Fixed with a Scale up to 62 and Doubles are what is checked fast.
// A file has as many bytes a value as the greatest needs, 5 for probabilities with
// Scale 39, and doubles as fractions.
type Values struct {
	Fixed    []uint64
	Scale    uint // at most MaxScale
	Doubles  []float64
	Rats     []*big.Rat
	Infinite Bits
}

// Len is how many values there are.
func (v *Values) Len() int { return max(len(v.Fixed), len(v.Doubles), len(v.Rats)) }

// MaxScale is the greatest scale.
const MaxScale = 1100

// FromDoubles returns values that are doubles, of which none is negative or NaN.
func FromDoubles(xs []float64) *Values {
	v := &Values{Doubles: xs}
	for s, x := range xs {
		if math.IsInf(x, 1) {
			if v.Infinite == nil {
				v.Infinite = NewBits(len(xs))
			}
			v.Infinite.Add(s)
		}
	}
	return v
}

// Rat returns the value of state s; nil is infinity.
func (v *Values) Rat(s int) *big.Rat {
	switch {
	case v.Infinite.Has(s):
		return nil
	case v.Fixed != nil:
	case v.Doubles != nil:
		return new(big.Rat).SetFloat64(v.Doubles[s])
	default:
		return v.Rats[s]
	}
	x := new(big.Rat).SetInt(new(big.Int).SetUint64(v.Fixed[s]))
	return x.Quo(x, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), v.Scale)))
}

// Zero reports whether the value of state s is 0.
func (v *Values) Zero(s int) bool {
	switch {
	case v.Infinite.Has(s):
		return false
	case v.Fixed != nil:
		return v.Fixed[s] == 0
	case v.Doubles != nil:
		return v.Doubles[s] == 0
	}
	return v.Rats[s].Sign() == 0
}

// Compare returns a function for the sign of the value of a state minus p.
func (v *Values) Compare(p *big.Rat) func(s int) int {
	if v.Fixed == nil {
		near, _ := p.Float64() // no double lies between the two
		return func(s int) int {
			if v.Infinite.Has(s) {
				return 1
			}
			if v.Doubles != nil && v.Doubles[s] != near {
				return cmp.Compare(v.Doubles[s], near)
			}
			return v.Rat(s).Cmp(p)
		}
	}
	// The greatest multiple of 2^-Scale that is not above p.
	whole, rest := new(big.Int).DivMod(new(big.Int).Lsh(p.Num(), v.Scale), p.Denom(), new(big.Int))
	return func(s int) int {
		switch x := v.Fixed[s]; {
		case v.Infinite.Has(s) || whole.Sign() < 0:
			return 1
		case !whole.IsUint64():
			return -1
		case x == whole.Uint64() && rest.Sign() > 0:
			return -1
		default:
			return cmp.Compare(x, whole.Uint64())
		}
	}
}

// Claim is the answer to a property: of the states in Over, the values of Vector, or
// with Complement what they lack to 1, lie from Lower to Upper; or, if Vector is -1,
// Holds says whether all are in Set.
type Claim struct {
	Property   string `json:"property"` // as it was asked; not part of what is proven
	Name       string `json:"name,omitempty"`
	Vector     int    `json:"vector"`
	Complement bool   `json:"complement,omitempty"` // of a probability
	// Of is what the claim is about instead of all values: their "min", "max", "sum" or "avg",
	// or the "first" of them, that of the state with the least number. Of a set it is how many
	// of the states are in it, "count", whether one is, "exists", or whether the "first" is.
	Of    string `json:"of,omitempty"`
	Set   int    `json:"set"`
	Over  int    `json:"over"` // a set, as a rule one of the kind Init
	Holds bool   `json:"holds,omitempty"`
	// Lower and Upper are what is claimed, fractions such as 1/3, or inf. Without them
	// whatever the vector proves is.
	Lower string `json:"lower,omitempty"`
	Upper string `json:"upper,omitempty"`
}

// Bounds returns what is claimed; an absent bound is 0 or infinity, which is nil.
func (c *Claim) Bounds() (lower, upper *big.Rat, err error) {
	read := func(text string, absent *big.Rat) *big.Rat {
		if text == "" || text == "inf" {
			return absent
		}
		x, ok := new(big.Rat).SetString(text)
		if !ok {
			err = fmt.Errorf("found the bound %q, wanted a fraction or inf", text)
		}
		return x
	}
	lower, upper = read(c.Lower, new(big.Rat)), read(c.Upper, nil)
	if c.Lower == "inf" {
		lower = nil
	}
	return lower, upper, err
}
