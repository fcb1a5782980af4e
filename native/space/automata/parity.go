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
	automaton *Automaton
	states    []parityState
	number    map[string]int
}

// parityState is a state of a Parity.
type parityState struct {
	initial  int   // the state of the initial part
	runs     []int // the states of the accepting part, the oldest run first
	priority int
}

// NewParity returns the parity automaton of a formula. States are built when they are first reached.
func NewParity(f *Formula, limits Limits) (*Parity, error) {
	a, err := New(f, limits)
	if err != nil {
		return nil, err
	}
	p := &Parity{automaton: a, number: map[string]int{}}
	_, err = p.after(a.Initial(), nil)
	return p, err
}

// Initial returns the state before the first letter.
func (p *Parity) Initial() int { return 0 }

// Priority returns the priority of a state.
func (p *Parity) Priority(q int) int { return p.states[q].priority }

// NumStates returns the number of states reached so far.
func (p *Parity) NumStates() int { return len(p.states) }

// Decided reports whether all runs from a state are accepted, or none is.
func (p *Parity) Decided(q int) bool {
	class := p.automaton.Class(p.states[q].initial)
	return class == Accepted || class == Rejected
}

// Step returns the state after a letter.
func (p *Parity) Step(q int, letter uint64) (int, error) {
	from := p.states[q]
	initial, err := p.automaton.Step(from.initial, letter)
	if err != nil {
		return 0, err
	}
	runs := make([]int, len(from.runs))
	for i, run := range from.runs {
		if runs[i], err = p.automaton.Step(run, letter); err != nil {
			return 0, err
		}
	}
	return p.after(initial, runs)
}

// after returns the state with the given state of the initial part and the given runs, of which some may
// have ended or met.
func (p *Parity) after(initial int, runs []int) (int, error) {
	switch p.automaton.Class(initial) {
	case Accepted, Safe:
		return p.addState(parityState{initial: initial, priority: 0})
	case Rejected:
		return p.addState(parityState{initial: initial, priority: 1})
	}
	next := parityState{initial: initial, priority: 2*len(runs) + 1}
	for i, run := range runs {
		ended := p.automaton.Class(run) == Rejected || p.follows(next.runs, run)
		if ended {
			next.priority = min(next.priority, 2*i+1)
			continue
		}
		if p.automaton.Accepting(run) {
			next.priority = min(next.priority, 2*i+2)
		}
		next.runs = append(next.runs, run)
	}
	jumps, err := p.automaton.Jumps(initial)
	if err != nil {
		return 0, err
	}
	for _, run := range jumps {
		if !p.follows(next.runs, run) {
			next.runs = append(next.runs, run)
		}
	}
	return p.addState(next)
}

// follows reports whether one of the runs has the same future as another run.
func (p *Parity) follows(runs []int, other int) bool {
	future := func(q int) state {
		s := p.automaton.states[q]
		s.allGoalsMet = false
		return s
	}
	return slices.ContainsFunc(runs, func(q int) bool { return future(q) == future(other) })
}

// addState returns the number of a state, and adds it if it is new.
func (p *Parity) addState(s parityState) (int, error) {
	key := fmt.Sprint(s)
	if number, known := p.number[key]; known {
		return number, nil
	}
	number := len(p.states)
	if number >= p.automaton.limits.states() {
		return 0, ErrTooLarge
	}
	p.states = append(p.states, s)
	p.number[key] = number
	return number, nil
}
