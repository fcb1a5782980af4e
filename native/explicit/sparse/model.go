package sparse

import (
	"math/big"
	"slices"
)

// Kind is the kind of a model.
type Kind uint8

// The kinds. In a CTMC weights are rates, otherwise probabilities.
const (
	DTMC Kind = iota
	MDP
	CTMC
)

// String returns the name of the kind.
func (k Kind) String() string { return [...]string{"DTMC", "MDP", "CTMC"}[k] }

// Action is the action of a choice or transition: 0 for none, i+1 for the i-th
// name of whoever built the model.
type Action uint16

// MinNumber and MaxNumber are the ends of the range in which the weights of a
// model of doubles lie, so that products of a few of them neither overflow nor
// lose digits. Where a model says something else its Err is infinite, and it is
// not to be solved with doubles. Rewards are normal doubles, or their Err is.
const (
	MinNumber = 0x1p-900
	MaxNumber = 0x1p+900
)

// InRange reports whether a positive number is from MinNumber to MaxNumber.
func InRange(x float64) bool { return x >= MinNumber && x <= MaxNumber }

// NoAction is the Action of what has no action.
const NoAction Action = 0

// Model is an explicit DTMC, CTMC or MDP. Every state has at least one choice,
// and exactly one, with the state's own number, unless the model is an MDP.
// Every choice has at least one transition, every weight is positive.
//
// Models are immutable once built and safe for concurrent use.
type Model struct {
	Kind Kind
	// First[s] is the first choice of state s, First[NumStates()] the number
	// of choices; nil unless the model is an MDP.
	First []uint32
	// Start[c] is the first transition of choice c, Start[NumChoices()] the
	// number of transitions.
	Start []uint32
	// Target and Weight describe the transitions; Weight indexes Weights. A
	// choice of an MDP has each target once; a state of a Markov chain may have
	// one transition per action to the same target.
	Target []uint32
	Weight []uint32
	// High has, where weights are intervals, the upper ends, of which Weight has the
	// lower ones; it indexes Weights, too. nil where weights are numbers. Intervals
	// are exact, delimited (some distribution takes each end), and DTMCs' or MDPs'.
	High []uint32
	// Weights are the distinct weights, in order of first use.
	Weights []float64
	// Rats are the same weights exactly; nil in a model of doubles.
	Rats []*big.Rat
	// Err bounds the relative difference between a weight and the number it
	// stands for (0.1 is not quite a tenth). The model meant is one
	// within these bounds whose probabilities sum to exactly one. It is infinite
	// if a weight is not between MinNumber and MaxNumber, where Weights only tell
	// that it is positive.
	Err float64
	// Actions has one entry per choice in an MDP, per transition in a Markov
	// chain; nil when there are no actions.
	Actions []Action
	// Initial are the initial states, in increasing order.
	Initial []uint32
	// Deadlocks are the states that had no choice until they were given a
	// self-loop; nil when there are none.
	Deadlocks *Set
	Labels    []Label
	Rewards   []Reward
}

// Label is a named set of states.
type Label struct {
	Name   string
	States *Set
}

// Reward is a reward structure. State has the reward of each state, per step
// or, in a CTMC, per unit of time; Choice that of each choice, which in a
// Markov chain is the weighted sum over the state's transitions: the mean
// reward of a step in a DTMC, the mean reward per unit of time in a CTMC.
// Either is nil when it is zero everywhere; rewards are finite and not negative.
type Reward struct {
	Name   string
	State  []float64
	Choice []float64
	// Err is as Model.Err, for the rewards. Unfit says why it is infinite, if
	// somebody knows.
	Err   float64
	Unfit error
	// StateRat and ChoiceRat are the same exactly, nil for a zero; both nil in
	// a model of doubles.
	StateRat, ChoiceRat []*big.Rat
}

// Gain returns what leaving a state by a choice earns; of no rewards, nothing.
func (r *Reward) Gain(state, choice int) float64 {
	sum := 0.0
	if r != nil && r.State != nil {
		sum += r.State[state]
	}
	if r != nil && r.Choice != nil {
		sum += r.Choice[choice]
	}
	return sum
}

// GainRat is Gain, exactly: a new number.
func (r *Reward) GainRat(state, choice int) *big.Rat {
	sum := new(big.Rat)
	if r != nil && r.StateRat != nil && r.StateRat[state] != nil {
		sum.Add(sum, r.StateRat[state])
	}
	if r != nil && r.ChoiceRat != nil && r.ChoiceRat[choice] != nil {
		sum.Add(sum, r.ChoiceRat[choice])
	}
	return sum
}

// One returns the number of the weight 1, which it adds where there is none, to a
// model that shares its weights with others. The double of a fraction may be 1 although it is
// a bit less, as that of 1-1e-17.
func (m *Model) One() uint32 {
	i := slices.Index(m.Weights, 1)
	if m.Rats != nil {
		i = slices.IndexFunc(m.Rats, func(x *big.Rat) bool { return x.IsInt() && x.Num().IsInt64() && x.Num().Int64() == 1 })
	}
	if i < 0 {
		i = len(m.Weights)
		m.Weights = append(slices.Clip(m.Weights), 1)
		if m.Rats != nil {
			m.Rats = append(slices.Clip(m.Rats), big.NewRat(1, 1))
		}
	}
	return uint32(i)
}

// NumStates returns the number of states.
func (m *Model) NumStates() int {
	if m.First != nil {
		return len(m.First) - 1
	}
	return len(m.Start) - 1
}

// NumChoices returns the number of choices of all states.
func (m *Model) NumChoices() int { return len(m.Start) - 1 }

// NumTransitions returns the number of transitions of all choices.
func (m *Model) NumTransitions() int { return len(m.Target) }

// Choices returns the range of the choices of state s.
func (m *Model) Choices(s int) (first, end int) {
	if m.First == nil {
		return s, s + 1
	}
	return int(m.First[s]), int(m.First[s+1])
}

// Row returns the range of the transitions of choice c.
func (m *Model) Row(c int) (first, end int) { return int(m.Start[c]), int(m.Start[c+1]) }

// Prob returns the weight of transition i.
func (m *Model) Prob(i int) float64 { return m.Weights[m.Weight[i]] }

// Rat returns the exact weight of transition i of an exact model.
func (m *Model) Rat(i int) *big.Rat { return m.Rats[m.Weight[i]] }

// HighRat returns the exact upper end of transition i of a model with intervals.
func (m *Model) HighRat(i int) *big.Rat { return m.Rats[m.High[i]] }

// Intervals reports whether the weights are intervals.
func (m *Model) Intervals() bool { return m.High != nil }

// Exact reports whether the weights are known exactly.
func (m *Model) Exact() bool { return m.Rats != nil }

// Bytes returns the memory that the states, choices and transitions take.
func (m *Model) Bytes() int64 {
	n := len(m.First) + len(m.Start) + len(m.Target) + len(m.Weight) + len(m.High) + len(m.Initial)
	return int64(4*n + 8*len(m.Weights) + 2*len(m.Actions))
}
