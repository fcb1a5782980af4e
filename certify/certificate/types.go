package certificate

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/bits"
)

// File is a certificate: claims about a model, with their proofs.
//
// Sets and vectors are referred to by their indices. A set refers only to earlier sets. A
// vector may refer to any sets, but a set that compares a vector (Bound) comes after
// the sets of that vector. So a checker can go through Sets in order, and check
// each vector when it is first used.
type File struct {
	Model   *Model
	Sets    []Set
	Vectors []Vector
	Claims  []Claim
	// Symmetry is nil if Model is the whole model.
	Symmetry *Symmetry
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
	// FirstChoice[s] is the first choice of state s, FirstChoice[NumStates()] the number of
	// choices. nil is one choice for each state.
	FirstChoice []uint32
	// FirstTransition[c] is the first transition of choice c, FirstTransition[NumChoices()] the number of
	// transitions.
	FirstTransition []uint32
	// Target and Prob describe the transitions. Prob indexes Numbers.
	Target, Prob []uint32
	// Numbers are the distinct numbers of the model, probabilities and rewards.
	Numbers []*big.Rat
	// ExitRate is the exit rate of each state of a CTMC, an index of Numbers; else nil.
	ExitRate []uint32
	Initial  Bits
	Rewards  []Reward
}

// Reward is a reward structure. A step in state s (in a CTMC a unit of time) earns State[s], and choice c earns
// Choice[c]; in a chain that is the mean over its transitions. Both index Model.Numbers; nil is zero everywhere.
type Reward struct {
	Name          string
	State, Choice []uint32
	// PerTransition says that Choice has the means of rewards that a file gives for transitions.
	PerTransition bool
}

// NumStates returns the number of states.
func (m *Model) NumStates() int {
	if m.FirstChoice != nil {
		return len(m.FirstChoice) - 1
	}
	return len(m.FirstTransition) - 1
}

// Choices returns the range of the choices of state s.
func (m *Model) Choices(s int) (first, end int) {
	if m.FirstChoice == nil {
		return s, s + 1
	}
	return int(m.FirstChoice[s]), int(m.FirstChoice[s+1])
}

// Row returns the range of the transitions of choice c.
func (m *Model) Row(c int) (first, end int) {
	return int(m.FirstTransition[c]), int(m.FirstTransition[c+1])
}

// Bits is a set of states, 64 to a word. nil is the empty set.
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

// SetKind says how a set is defined.
type SetKind string

// The kinds of sets.
const (
	Atomic SetKind = "atomic"  // Bits, the states in which the expression Text holds
	All    SetKind = "all"     // every state
	Init   SetKind = "initial" // the initial states
	Not    SetKind = "not"     // those not in Sets[0]
	And    SetKind = "and"     // those in all of Sets
	Or     SetKind = "or"      // those in at least one of Sets
	// Bound: the states whose value of Vector is in the Relation to Threshold. If the bounds of a
	// state's value do not decide that, its membership is unknown: a checker accepts neither answer.
	Bound SetKind = "bound"
	// ExistsUntil and ForallUntil: the states from which some path, or every path, stays in
	// Sets[0] until it reaches Sets[1]. Bits are the states, each with a Rank. The rank
	// of a state outside Sets[1] is greater than that of some successor (of all successors).
	ExistsUntil SetKind = "exists until"
	ForallUntil SetKind = "forall until"
	// ArgMin and ArgMax: the states of Sets[0] with the least, or greatest, value of Vector.
	// Membership may be unknown, as for Bound.
	ArgMin SetKind = "argmin"
	ArgMax SetKind = "argmax"
	// ExistsNext and ForallNext: the states with a successor, or with all successors, in Sets[0].
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

// IndependentStates returns the states of a set that does not depend on other sets or vectors. It returns nil for all other sets.
func (s *Set) IndependentStates(model *Model) Bits {
	switch s.Kind {
	case Atomic:
		return s.Bits
	case Init:
		return model.Initial
	case All:
		return allBits(model.NumStates())
	}
	return nil
}

// DependsOnValues reports whether the set depends on the values of its Vector.
func (s *Set) DependsOnValues() bool { return s.Kind == Bound || s.Kind == ArgMin || s.Kind == ArgMax }

// None is the rank or layer of a state without one.
const None = math.MaxUint32

// VectorKind says what the values of a vector are.
type VectorKind string

// The kinds of vectors. In an MDP a value is the maximum or minimum over all schedulers.
// Package certify says which columns each kind needs. The checker itself computes
// the values of kinds without columns.
const (
	Until       VectorKind = "until"        // the probability of Left until Right
	Steps       VectorKind = "steps"        // the same within From to To steps (To -1: no upper limit); no columns
	Next        VectorKind = "next"         // the probability of Right in the next state; no columns
	ReachReward VectorKind = "reach reward" // the expected Reward until Right; infinite unless Right is reached almost surely
	TotalReward VectorKind = "total reward" // the expected Reward of all steps
	Cumulative  VectorKind = "cumulative"   // the expected Reward of the first To steps; no columns
	Instant     VectorKind = "instant"      // the expected Reward of the state after To steps; no columns
	// Average is the expected long-run average of Reward or, if Reward is -1, the long-run probability of
	// Right. Lower and Upper bound this gain; LowerBias and UpperBias are the biases that prove them.
	Average VectorKind = "average"
	// PathFormula is the maximal probability that the Automaton accepts a path. Lower,
	// Upper and Rank are about the pairs of the product, WinningRanks and Layer about its runs.
	PathFormula VectorKind = "path formula"
	// CoSafe is the expected Reward until the Automaton reaches an accepting state.
	// All columns are about the pairs of the product.
	CoSafe VectorKind = "co-safe reward"
	// Objectives is the value of the multi-objective query Several in the initial state. Upper, Lower, Rank and Layer
	// are about the states of its product.
	Objectives VectorKind = "several objectives"
	// Discounted is the expected Reward of all steps (To -1), or of the first To steps, in which the reward of step k, from 0 on, is multiplied by
	// Discount^k. The sum of all steps has columns.
	Discounted VectorKind = "discounted reward"
	// RewardBounded is the probability of Left until Right within the bounds of Budgets. All columns are about the states of the product of
	// the model with the rewards so far.
	RewardBounded VectorKind = "reward-bounded until"
	// RewardWithinBounds is the expected Reward of the steps after which the bounds of Budgets hold. All columns are about the same product.
	RewardWithinBounds VectorKind = "reward within bounds"
	// Conditional is the share a/(a+b) of two probabilities in a Markov chain, the vectors Shares: that a path satisfies a condition and a
	// formula, and that it satisfies the condition and not the formula. It has no columns. The value is undefined where both are 0.
	Conditional VectorKind = "conditional"
	// MaxConditional is the maximal probability of the Automaton's Formula given its Condition, over the schedulers that give the Condition a
	// positive probability. Lower, Upper and Rank are about the pairs of the product, WinningRanks and Layer about its runs.
	MaxConditional VectorKind = "maximal conditional"
)

// Vector is a value for every state, with a lower and an upper bound.
type Vector struct {
	Kind      VectorKind `json:"kind"`
	IsMaximum bool       `json:"max,omitempty"` // over the schedulers of an MDP; false is the minimum
	// Maximizer is a set, for Until in a stochastic game: the choices in its states maximize, and those in the other states
	// minimize. 0 stands for none: the model is no game.
	Maximizer int `json:"maximizer,omitempty"`
	Left      int `json:"left"`   // a set
	Right     int `json:"right"`  // a set
	Reward    int `json:"reward"` // the index of a reward structure
	From      int `json:"from,omitempty"`
	To        int `json:"to,omitempty"`
	// Timed is the time bound of Steps, Cumulative and Instant in a CTMC; it replaces From and To.
	Timed     *Timed     `json:"timed,omitempty"`
	Automaton *Automaton `json:"automaton,omitempty"`
	// ExistsPath asks for the existence of a path. The vector is then about the MDP whose choices are the transitions: its
	// value is 1 where the automaton accepts some path, otherwise 0.
	ExistsPath bool     `json:"paths,omitempty"`
	Several    *Several `json:"several,omitempty"`
	// Discount is the factor of Discounted, between 0 and 1.
	Discount          *big.Rat           `json:"discount,omitempty"`
	Budgets           *Budgets           `json:"budgets,omitempty"` // of RewardBounded and RewardWithinBounds
	Shares            []Share            `json:"shares,omitempty"`  // the two vectors of Conditional
	ConditionalBounds *ConditionalBounds `json:"given,omitempty"`   // of MaxConditional

	// Lower and Upper are the bounds; they may be the same column. nil is the trivial bound: 0 below; above,
	// 1 for a probability and infinity for a reward.
	Lower, Upper         *Values `json:"-"`
	LowerBias, UpperBias *Values `json:"-"`
	// Rank and Layer are one number for each state, or None; nil where no state has one.
	Rank, Layer, WinningRanks []uint32 `json:"-"`
}

// Timed is a time interval, and how the checker computes with it: by uniformisation with Rate, which must be at
// least the exit rate of every state that matters, and in numbers of Scale binary places. To is nil if there is no
// upper bound; for rewards From is 0.
type Timed struct {
	From  *big.Rat `json:"from"`
	To    *big.Rat `json:"to,omitempty"`
	Rate  *big.Rat `json:"rate"`
	Scale uint     `json:"scale"`
}

// Values has a nonnegative number for each state: Fixed[s] / 2^Scale, or Floats[s] if Fixed is nil, or Fractions[s] if
// both are nil. The states in Infinite have the value infinity, and their entries are ignored.
// The checker is fast for Floats, and for Fixed with a Scale up to 62. A file stores as many bytes for a value as
// the greatest one needs (5 for probabilities with Scale 39), and float64 numbers as fractions.
type Values struct {
	Fixed     []uint64
	Scale     uint // at most MaxScale
	Floats    []float64
	Fractions []*big.Rat
	Infinite  Bits
}

// Len returns the number of values.
func (v *Values) Len() int { return max(len(v.Fixed), len(v.Floats), len(v.Fractions)) }

// MaxScale is the greatest scale.
const MaxScale = 1100

// FromFloats returns values from float64 numbers. No number may be negative or NaN.
func FromFloats(numbers []float64) *Values {
	values := &Values{Floats: numbers}
	for s, number := range numbers {
		if math.IsInf(number, 1) {
			if values.Infinite == nil {
				values.Infinite = NewBits(len(numbers))
			}
			values.Infinite.Add(s)
		}
	}
	return values
}

// Rat returns the value of state s as a fraction, or nil for infinity.
func (values *Values) Rat(s int) *big.Rat {
	switch {
	case values.Infinite.Has(s):
		return nil
	case values.Fixed != nil:
		numerator, denominator := new(big.Int).SetUint64(values.Fixed[s]), new(big.Int).Lsh(big.NewInt(1), values.Scale)
		return new(big.Rat).SetFrac(numerator, denominator)
	case values.Floats != nil:
		return new(big.Rat).SetFloat64(values.Floats[s])
	}
	return values.Fractions[s]
}

// IsZero reports whether the value of state s is 0.
func (values *Values) IsZero(s int) bool {
	switch {
	case values.Infinite.Has(s):
		return false
	case values.Fixed != nil:
		return values.Fixed[s] == 0
	case values.Floats != nil:
		return values.Floats[s] == 0
	}
	return values.Fractions[s].Sign() == 0
}

// Compare returns a function that compares the value of state s with number. It returns 1, 0 or -1 if the value is greater than, equal to or
// less than number.
func (values *Values) Compare(number *big.Rat) func(s int) int {
	if values.Fixed == nil {
		nearest, _ := number.Float64() // no float64 number lies between both
		return func(s int) int {
			if values.Infinite.Has(s) {
				return 1
			}
			if values.Floats != nil && values.Floats[s] != nearest {
				return cmp.Compare(values.Floats[s], nearest)
			}
			return values.Rat(s).Cmp(number)
		}
	}
	// The quotient is the greatest multiple of 2^-Scale that is at most number.
	quotient, remainder := new(big.Int).DivMod(new(big.Int).Lsh(number.Num(), values.Scale), number.Denom(), new(big.Int))
	return func(s int) int {
		switch value := values.Fixed[s]; {
		case values.Infinite.Has(s) || quotient.Sign() < 0:
			return 1
		case !quotient.IsUint64():
			return -1
		case value == quotient.Uint64() && remainder.Sign() > 0:
			return -1
		default:
			return cmp.Compare(value, quotient.Uint64())
		}
	}
}

// Claim is the answer to a property. If Vector is not -1, it says that for all states in Over the value of Vector
// (with Complement: 1 minus it) lies between Lower and Upper. If Vector is -1, it says with Holds whether all
// states in Over are in Set.
type Claim struct {
	Property   string `json:"property"` // the text of the property; not part of the proof
	Name       string `json:"name,omitempty"`
	Vector     int    `json:"vector"`
	Complement bool   `json:"complement,omitempty"` // of a probability
	// Operator combines the values instead of bounding all of them: "min", "max", "sum" or "avg",
	// or "first", the value of the state with the least index. For a Set it is "count", the number of
	// states of Over in it, "exists", whether one state of Over is in it, or again "first".
	Operator string `json:"of,omitempty"`
	Set      int    `json:"set"`
	OverSet  int    `json:"over"` // a set, usually one of kind Init
	Holds    bool   `json:"holds,omitempty"`
	// Lower and Upper are the claimed bounds: fractions such as 1/3, or inf. Empty bounds claim nothing: the checker
	// then reports what the vector proves.
	Lower string `json:"lower,omitempty"`
	Upper string `json:"upper,omitempty"`
}

// Bounds returns the claimed bounds. A nil bound is infinity. A missing lower bound is 0, and a missing upper bound is
// infinity.
func (c *Claim) Bounds() (lower, upper *big.Rat, err error) {
	read := func(text string, absent *big.Rat) *big.Rat {
		if text == "" || text == "inf" {
			return absent
		}
		bound, ok := new(big.Rat).SetString(text)
		if !ok {
			err = fmt.Errorf("found the bound %q, wanted a fraction or inf", text)
		}
		return bound
	}
	lower, upper = read(c.Lower, new(big.Rat)), read(c.Upper, nil)
	if c.Lower == "inf" {
		lower = nil
	}
	return lower, upper, err
}
