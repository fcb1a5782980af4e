package composition

import (
	"cmp"
	"math"
	"slices"
)

// Internal is the action of a step that no vector synchronises.
const Internal = 0

// Automaton is an interactive Markov chain.
type Automaton struct {
	Initial int
	States  []State
}

// State is a state of an automaton. It is stable if it has no internal step. In other states no time passes.
type State struct {
	Steps []Step
	Rates []Rate
}

// Step is an immediate step with an action, or with Internal.
type Step struct{ Action, Target int }

// Rate is a Markovian transition. All rates of a network are multiples of one unit.
type Rate struct {
	Target int
	Units  int64
}

// MaxUnits is the largest sum of the rates of a state, so that the sum of two of them is an int64.
const MaxUnits = math.MaxInt64 / 2

// isStable reports whether a state has no internal step.
func (s *State) isStable() bool {
	return !slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Action == Internal })
}

// normalize sorts the steps and removes repeated ones. It removes the rates of a state that is not stable.
func (s *State) normalize() {
	slices.SortFunc(s.Steps, compareSteps)
	s.Steps = slices.Compact(s.Steps)
	if !s.isStable() {
		s.Rates = nil
	}
}

// compareSteps compares steps by action, then by target.
func compareSteps(left, right Step) int {
	return cmp.Or(cmp.Compare(left.Action, right.Action), cmp.Compare(left.Target, right.Target))
}
