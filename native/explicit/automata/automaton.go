package automata

import (
	"fmt"
)

// Limits restrict the size of an automaton. The zero value is the default.
type Limits struct {
	States int // 0 is 100,000
	Nodes  int // of decision diagrams; 0 is four million
}

func (l Limits) states() int {
	if l.States == 0 {
		return 100_000
	}
	return l.States
}

func (l Limits) nodes() int {
	if l.Nodes == 0 {
		return 4_000_000
	}
	return l.Nodes
}

// Class says what a state waits for.
type Class uint8

// The classes. A run never leaves Accepted and Rejected, and leaves Safe and
// Recurring only for one of these.
const (
	// Open states are those of the initial part: a run that stays in them is
	// accepted if it jumps and is accepted then.
	Open Class = iota
	// Accepted: every continuation satisfies the formula.
	Accepted
	// Rejected: none does.
	Rejected
	// Safe: exactly those continuations do that never come to Rejected.
	Safe
	// Recurring states are those of the accepting part with goals: a run is
	// accepted if it is in states that are Accepting infinitely often.
	Recurring
)

// Automaton is the automaton of a formula. States are numbered from 0 in the
// order in which they are first asked for. It is not safe for concurrent use.
type Automaton struct {
	t      *table
	limits Limits
	states []state
	number map[state]int
	goals  [][]ref // the lists of goals; 0 is the empty one
	lists  map[string]int
	jumps  map[int][]int
}

// state has what remains of the formula, in the initial part, or the invariant
// and the goals of the accepting part: rest is what remains of the current one.
type state struct {
	f     ref
	list  int
	goal  int
	rest  ref
	round bool // all goals were met once more
}

// New returns an automaton that accepts the sequences that satisfy f.
func New(f *Formula, limits Limits) (*Automaton, error) { return create(f, limits, false) }

// NewPrefixes returns an automaton for a co-safe formula that becomes Accepted
// with the letter that proves the formula; X takes a letter more even where
// it does not matter which. This is what the rewards of PRISM wait for.
func NewPrefixes(f *Formula, limits Limits) (*Automaton, error) {
	if !CoSafe(f) {
		return nil, fmt.Errorf("%v is not syntactically co-safe", f)
	}
	return create(f, limits, true)
}

func create(f *Formula, limits Limits, strict bool) (*Automaton, error) {
	a := &Automaton{
		t: newTable(limits.nodes()), limits: limits, number: map[state]int{},
		goals: [][]ref{nil}, lists: map[string]int{"[]": 0}, jumps: map[int][]int{},
	}
	b := &builder{a.t, strict}
	r, err := b.build(f, false)
	if err != nil {
		return nil, err
	}
	_, err = a.state(state{f: r})
	return a, err
}

// state returns the number of a state.
func (a *Automaton) state(s state) (int, error) {
	if err := a.t.err(); err != nil {
		return 0, err
	}
	q, ok := a.number[s]
	if !ok {
		if len(a.states) >= a.limits.states() {
			return 0, ErrTooLarge
		}
		q = len(a.states)
		a.states = append(a.states, s)
		a.number[s] = q
	}
	return q, nil
}

// Initial returns the state in which no letter has been read.
func (a *Automaton) Initial() int { return 0 }

// NumStates returns the number of states made so far.
func (a *Automaton) NumStates() int { return len(a.states) }

// Step returns the state after a letter, the set of the propositions that hold:
// bit i is proposition i.
func (a *Automaton) Step(q int, letter uint64) (int, error) {
	s := a.states[q]
	s.f, s.round = a.t.after(s.f, letter), false
	switch {
	case s.list == 0:
	case s.f == no:
		s = state{f: no}
	default:
		goals := a.goals[s.list]
		if s.rest = a.t.after(s.rest, letter); s.rest == yes {
			s.goal++
			if s.round = s.goal == len(goals); s.round {
				s.goal = 0
			}
			s.rest = goals[s.goal]
		}
	}
	return a.state(s)
}

// Class returns the class of a state.
func (a *Automaton) Class(q int) Class {
	s := a.states[q]
	switch {
	case s.list > 0:
		return Recurring
	case s.f == yes:
		return Accepted
	case s.f == no:
		return Rejected
	case a.t.nodes[s.f].ops&hasUntil == 0:
		return Safe
	}
	return Open
}

// Accepting reports whether a run that is in q infinitely often is accepted.
func (a *Automaton) Accepting(q int) bool {
	c := a.Class(q)
	return c == Accepted || c == Safe || a.states[q].round
}

// CanStay reports whether a run may be accepted that goes on from q and never
// comes to an Accepted state. It is the same for states that can reach each other.
func (a *Automaton) CanStay(q int) bool {
	switch a.Class(q) {
	case Rejected:
		return false
	case Open:
		return a.t.nodes[a.states[q].f].ops&hasWeak != 0
	}
	return true
}

// Jumps returns the states of the accepting part that a run may go on in
// instead of q. Only Open states have jumps. A run of which the initial part is
// settled, that is, repeats its states, loses nothing by jumping where it is.
func (a *Automaton) Jumps(q int) ([]int, error) {
	f := a.states[q].f
	if a.Class(q) != Open || !a.CanStay(q) {
		return nil, nil
	}
	if out, ok := a.jumps[q]; ok {
		return out, nil
	}
	targets, err := a.t.targets(f)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, g := range targets {
		s := state{f: g.safe}
		if len(g.goals) > 0 {
			s.list, s.rest = a.list(g.goals), g.goals[0]
		}
		to, err := a.state(s)
		if err != nil {
			return nil, err
		}
		out = append(out, to)
	}
	a.jumps[q] = out
	return out, nil
}

// list returns the number of a list of goals.
func (a *Automaton) list(goals []ref) int {
	key := fmt.Sprint(goals)
	i, ok := a.lists[key]
	if !ok {
		i = len(a.goals)
		a.goals = append(a.goals, goals)
		a.lists[key] = i
	}
	return i
}
