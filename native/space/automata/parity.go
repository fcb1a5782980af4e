package automata

import (
	"fmt"
	"slices"
)

// Parity is a deterministic parity automaton: a run is accepted if the least priority that it sees
// infinitely often is even. It follows all runs of a limit-deterministic automaton at once: a state has
// the state of the initial part, and a list of the states that jumps have led to, the oldest run first.
// Runs that meet continue as one, with the place of the older one.
//
// If the run at place i ends, the priority is 2i+1, and if it is accepting, 2i+2; the least of them
// counts. A run that is accepted comes to a place that it keeps, as older runs end only finitely often.
//
// Source: Esparza, Kretinsky, Raskin and Sickert, From LTL and limit-deterministic Buechi automata to
// deterministic parity automata (TACAS 2017).
type Parity struct {
	automaton    *Automaton
	states       []parityState
	stateNumbers map[string]int
}

// parityState is a state of a Parity.
type parityState struct {
	initial  int   // the state of the initial part
	runs     []int // the states of the accepting part, the oldest run first
	priority int
}

// NewParity returns the parity automaton of a formula. States are built when they are reached.
func NewParity(formula *Formula, limits Limits) (*Parity, error) {
	automaton, err := New(formula, limits)
	if err != nil {
		return nil, err
	}
	parity := &Parity{automaton: automaton, stateNumbers: map[string]int{}}
	_, err = parity.nextState(automaton.Initial(), nil)
	return parity, err
}

// Initial returns the state before the first letter.
func (parity *Parity) Initial() int { return 0 }

// Priority returns the priority of a state.
func (parity *Parity) Priority(number int) int { return parity.states[number].priority }

// NumStates returns the number of states reached so far.
func (parity *Parity) NumStates() int { return len(parity.states) }

// Decided reports whether all runs from a state are accepted, or none is.
func (parity *Parity) Decided(number int) bool {
	class := parity.automaton.Class(parity.states[number].initial)
	return class == Accepted || class == Rejected
}

// Step returns the number of the state after a letter. Bit i of the letter says whether proposition i holds. The error is ErrTooLarge.
func (parity *Parity) Step(number int, letter uint64) (int, error) {
	current := parity.states[number]
	initial, err := parity.automaton.Step(current.initial, letter)
	if err != nil {
		return 0, err
	}
	runs := make([]int, len(current.runs))
	for i, run := range current.runs {
		if runs[i], err = parity.automaton.Step(run, letter); err != nil {
			return 0, err
		}
	}
	return parity.nextState(initial, runs)
}

// nextState returns the number of a parity state: a state of the initial part, with a list of runs that have jumped to the accepting part. It removes
// rejected and duplicate runs from the list, and adds a run for each jump that is possible now. If run i ends, the parity state can have the priority 2i+1;
// if it is accepting, 2i+2. The least of these numbers is the priority.
func (parity *Parity) nextState(initial int, runs []int) (int, error) {
	switch parity.automaton.Class(initial) {
	case Accepted, Safe:
		return parity.stateNumberOf(parityState{initial: initial, priority: 0})
	case Rejected:
		return parity.stateNumberOf(parityState{initial: initial, priority: 1})
	}
	next := parityState{initial: initial, priority: 2*len(runs) + 1}
	for i, run := range runs {
		hasEnded := parity.automaton.Class(run) == Rejected || parity.containsSameFuture(next.runs, run)
		if hasEnded {
			next.priority = min(next.priority, 2*i+1)
			continue
		}
		if parity.automaton.Accepting(run) {
			next.priority = min(next.priority, 2*i+2)
		}
		next.runs = append(next.runs, run)
	}
	jumps, err := parity.automaton.Jumps(initial)
	if err != nil {
		return 0, err
	}
	for _, run := range jumps {
		if !parity.containsSameFuture(next.runs, run) {
			next.runs = append(next.runs, run)
		}
	}
	return parity.stateNumberOf(next)
}

// containsSameFuture reports whether one of the runs accepts the same words from now on as another run.
func (parity *Parity) containsSameFuture(runs []int, other int) bool {
	return slices.ContainsFunc(runs, func(run int) bool { return parity.future(run) == parity.future(other) })
}

// future returns the part of a state that determines which words are accepted from it.
func (parity *Parity) future(number int) state {
	future := parity.automaton.states[number]
	future.areAllGoalsMet = false
	return future
}

// stateNumberOf returns the number of a state, and adds the state if it is new. The error is ErrTooLarge.
func (parity *Parity) stateNumberOf(wanted parityState) (int, error) {
	key := fmt.Sprint(wanted)
	if number, isKnown := parity.stateNumbers[key]; isKnown {
		return number, nil
	}
	number := len(parity.states)
	if number >= parity.automaton.limits.states() {
		return 0, ErrTooLarge
	}
	parity.states = append(parity.states, wanted)
	parity.stateNumbers[key] = number
	return number, nil
}
