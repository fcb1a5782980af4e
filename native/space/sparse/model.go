package sparse

import (
	"math/big"
	"slices"
)

// Kind is the type of a model.
type Kind uint8

// The kinds. In a CTMC weights are rates, otherwise probabilities.
const (
	DTMC Kind = iota
	MDP
	CTMC
)

// String returns the name of the kind.
func (k Kind) String() string { return [...]string{"DTMC", "MDP", "CTMC"}[k] }

// Action is the action of a choice or transition: 0 for none, i+1 for the i-th name in the list of the
// model's builder.
type Action uint16

// MinNumber and MaxNumber bound the weights of a model: products of a few weights neither overflow nor
// underflow. If a weight is outside, Model.RelErr is infinite, and the model must be solved exactly. Rewards
// must be normal float64, or Reward.Err is infinite.
const (
	MinNumber = 0x1p-900
	MaxNumber = 0x1p+900
)

// InRange reports whether MinNumber <= value <= MaxNumber.
func InRange(value float64) bool { return value >= MinNumber && value <= MaxNumber }

// NoAction is the Action of a choice or transition without an action.
const NoAction Action = 0

// Model is an explicit DTMC, CTMC or MDP. Every state has at least one choice. In a Markov chain it has
// exactly one, with the number of the state. Every choice has at least one transition, and every weight
// is positive.
//
// Models are immutable once built, and safe for concurrent use.
type Model struct {
	Kind Kind
	// FirstChoice[s] is the first choice of state s, FirstChoice[NumStates()] the number of choices; nil unless the
	// model is an MDP.
	FirstChoice []uint32
	// FirstTransition[c] is the first transition of choice c, FirstTransition[NumChoices()] the
	// number of transitions.
	FirstTransition []uint32
	// Target and WeightIndex describe the transitions; WeightIndex[i] is an index into Weights. A choice of an MDP has each
	// target once. A state of a Markov chain may have one transition per action to the same target.
	Target      []uint32
	WeightIndex []uint32
	// HighIndex has the upper ends of an interval model, as indexes into Weights; WeightIndex has the lower ends.
	// It is nil in other models. Intervals are exact and tight: some distribution attains each end.
	// CTMCs have none.
	HighIndex []uint32
	// Weights are the distinct weights, in order of first use.
	Weights []float64
	// Fractions are the same weights as fractions; nil if they are known as float64 only.
	Fractions []*big.Rat
	// RelErr bounds the relative error of a weight; for example, the float64 0.1 is not exactly a tenth.
	// The true model is within these bounds, and its probabilities sum to exactly one. RelErr is infinite
	// if a weight is outside MinNumber and MaxNumber; Weights then only tell that it is positive.
	RelErr float64
	// Actions has one entry per choice in an MDP, and per transition in a Markov chain; nil if there
	// are no actions.
	Actions []Action
	// Player has the player who owns each state of a turn-based game, which otherwise is an MDP; nil for
	// other models.
	Player []uint16
	// Initial are the initial states, in increasing order.
	Initial []uint32
	// Deadlocks are the states without a choice, which got a self-loop; nil if there are none.
	Deadlocks *Set
	Labels    []Label
	Rewards   []Reward
}

// Label is a named set of states.
type Label struct {
	Name   string
	States *Set
}

// Reward is a reward structure. State has the reward of each state: per step, or per unit of time in a
// CTMC. Choice has the reward of each choice; in a Markov chain it is the weighted sum over the state's
// transitions, that is, the expected reward per step in a DTMC, and per unit of time in a CTMC. Either
// is nil if it is zero everywhere. Rewards are finite and nonnegative.
type Reward struct {
	Name   string
	State  []float64
	Choice []float64
	// RelErr bounds the relative error of the rewards, as Model.RelErr does. RangeErr is the reason if it is
	// infinite, or nil.
	RelErr   float64
	RangeErr error
	// StateFractions and ChoiceFractions have the exact values of State and Choice. An entry is nil if the reward is 0. Both
	// slices are nil if the exact values are unknown.
	StateFractions, ChoiceFractions []*big.Rat
}

// Within returns a copy of the reward structure in which all states outside of the given set have the state reward 0. Choice rewards do not change.
func (reward *Reward) Within(states *Set) *Reward {
	restricted := *reward
	restricted.State, restricted.StateFractions = slices.Clone(reward.State), slices.Clone(reward.StateFractions)
	for state := range states.Complement().All() {
		if restricted.State != nil {
			restricted.State[state] = 0
		}
		if restricted.StateFractions != nil {
			restricted.StateFractions[state] = nil
		}
	}
	return &restricted
}

// ChoiceTotal returns the reward of a state plus the reward of one of its choices. Without a reward structure (nil) the result is 0.
func (reward *Reward) ChoiceTotal(state, choice int) float64 {
	sum := 0.0
	if reward != nil && reward.State != nil {
		sum += reward.State[state]
	}
	if reward != nil && reward.Choice != nil {
		sum += reward.Choice[choice]
	}
	return sum
}

// ExactChoiceTotal returns the reward of a state plus the reward of one of its choices, as a new fraction. Without a reward structure (nil) the
// result is 0.
func (reward *Reward) ExactChoiceTotal(state, choice int) *big.Rat {
	sum := new(big.Rat)
	if reward == nil {
		return sum
	}
	if reward.StateFractions != nil && reward.StateFractions[state] != nil {
		sum.Add(sum, reward.StateFractions[state])
	}
	if reward.ChoiceFractions != nil && reward.ChoiceFractions[choice] != nil {
		sum.Add(sum, reward.ChoiceFractions[choice])
	}
	return sum
}

// One returns the index of the weight 1 in the table of weights, and adds this weight if it is missing.
func (model *Model) One() uint32 {
	index := slices.Index(model.Weights, 1)
	if model.Fractions != nil { // compare fractions, because a fraction slightly below 1 is rounded to the float64 1
		one := big.NewRat(1, 1)
		index = slices.IndexFunc(model.Fractions, func(weight *big.Rat) bool { return weight.Cmp(one) == 0 })
	}
	if index >= 0 {
		return uint32(index)
	}
	// Clip makes append copy the tables, because other models may share them.
	model.Weights = append(slices.Clip(model.Weights), 1)
	if model.Fractions != nil {
		model.Fractions = append(slices.Clip(model.Fractions), big.NewRat(1, 1))
	}
	return uint32(len(model.Weights) - 1)
}

// NumStates returns the number of states.
func (model *Model) NumStates() int {
	if model.FirstChoice != nil {
		return len(model.FirstChoice) - 1
	}
	return len(model.FirstTransition) - 1
}

// NumChoices returns the number of choices of all states.
func (model *Model) NumChoices() int { return len(model.FirstTransition) - 1 }

// NumTransitions returns the number of transitions of all choices.
func (model *Model) NumTransitions() int { return len(model.Target) }

// IsDeadlock reports whether a state had no choice before it got a self-loop.
func (model *Model) IsDeadlock(state int) bool {
	return model.Deadlocks != nil && model.Deadlocks.Has(state)
}

// NumDeadlocks returns the number of deadlocks.
func (model *Model) NumDeadlocks() int {
	if model.Deadlocks == nil {
		return 0
	}
	return model.Deadlocks.Count()
}

// HasSeveralChoices reports whether a state has more than one choice. Every state must have a choice.
func (model *Model) HasSeveralChoices() bool { return model.NumChoices() > model.NumStates() }

// NumStatesWithChoices returns the number of states with several choices.
func (model *Model) NumStatesWithChoices() int {
	count := 0
	for state := range model.NumStates() {
		if first, end := model.Choices(state); end-first > 1 {
			count++
		}
	}
	return count
}

// NumEdges returns the number of pairs of a state and a successor. Several transitions between two states count
// once.
func (model *Model) NumEdges() int {
	count := 0
	for state := range model.NumStates() {
		successors := map[uint32]bool{}
		for _, target := range model.successors(state) {
			successors[target] = true
		}
		count += len(successors)
	}
	return count
}

// Choices returns the range of the choices of state s.
func (model *Model) Choices(s int) (first, end int) {
	if model.FirstChoice == nil {
		return s, s + 1
	}
	return int(model.FirstChoice[s]), int(model.FirstChoice[s+1])
}

// ChoiceOrFirst returns the choice that a scheduler has for state s. If it is None, every choice of s will do, and it returns the first one.
func (model *Model) ChoiceOrFirst(s int, choice uint32) uint32 {
	if choice != None {
		return choice
	}
	first, _ := model.Choices(s)
	return uint32(first)
}

// Transitions returns the range of the transitions of choice c.
func (model *Model) Transitions(c int) (first, end int) {
	return int(model.FirstTransition[c]), int(model.FirstTransition[c+1])
}

// Prob returns the weight of transition i.
func (model *Model) Prob(i int) float64 { return model.Weights[model.WeightIndex[i]] }

// Fraction returns the exact weight of transition i of an exact model.
func (model *Model) Fraction(i int) *big.Rat { return model.Fractions[model.WeightIndex[i]] }

// HighFraction returns the exact upper end of transition i of an interval model.
func (model *Model) HighFraction(i int) *big.Rat { return model.Fractions[model.HighIndex[i]] }

// Intervals reports whether this is an interval model.
func (model *Model) Intervals() bool { return model.HighIndex != nil }

// Exact reports whether the weights are known as fractions.
func (model *Model) Exact() bool { return model.Fractions != nil }

// Bytes returns the memory of the states, choices and transitions.
func (model *Model) Bytes() int64 {
	numIndices := len(model.FirstChoice) + len(model.FirstTransition) + len(model.Target) + len(model.WeightIndex) + len(model.HighIndex) + len(model.Initial)
	return int64(4*numIndices + 8*len(model.Weights) + 2*len(model.Actions) + 2*len(model.Player)) // bytes per entry
}
