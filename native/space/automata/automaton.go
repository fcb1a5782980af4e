package automata

import (
	"fmt"
)

// Limits restrict the size of an automaton. The zero value stands for the defaults.
type Limits struct {
	States int // default 100,000
	Nodes  int // of the decision diagrams; default four million
}

// states returns the limit of states, or its default.
func (limits Limits) states() int {
	if limits.States == 0 {
		return 100_000
	}
	return limits.States
}

// nodes returns the limit of nodes of decision diagrams, or its default.
func (limits Limits) nodes() int {
	if limits.Nodes == 0 {
		return 4_000_000
	}
	return limits.Nodes
}

// Class says what the rest of a run must do from a state on, so that the run is accepted.
type Class uint8

// The classes. A run never leaves Accepted and Rejected, and leaves Safe and
// Recurring only for one of these.
const (
	// Open states belong to the initial part: a run that stays in them is accepted only if it jumps.
	Open Class = iota
	// Accepted: every continuation satisfies the formula.
	Accepted
	// Rejected: no continuation does.
	Rejected
	// Safe: exactly the continuations that never reach Rejected do.
	Safe
	// Recurring states belong to the accepting part and have goals: a run is accepted if it visits
	// Accepting states infinitely often.
	Recurring
)

// Automaton is the limit-deterministic Büchi automaton of a formula. States are numbered from 0 in the
// order in which they are first reached. It is not safe for concurrent use.
type Automaton struct {
	diagram        *decisionDiagram
	limits         Limits
	states         []state
	stateNumber    map[state]int
	goalLists      [][]formulaRef // the lists of goals; list 0 is empty
	goalListNumber map[string]int
	jumps          map[int][]int
}

// state is a state of the initial or of the accepting part. In the initial part, formula remains to be satisfied, and
// the other fields are zero. In the accepting part, formula is an invariant, goalIndex is the current goal of the list,
// and goalFormula remains to be satisfied for this goal.
type state struct {
	formula        formulaRef
	goalList       int
	goalIndex      int
	goalFormula    formulaRef
	areAllGoalsMet bool // the last letter met the last goal of the list
}

// New returns an automaton that accepts the sequences of letters that satisfy formula.
func New(formula *Formula, limits Limits) (*Automaton, error) {
	return newAutomaton(formula, limits, false)
}

// NewPrefixes returns an automaton for a co-safe formula. It becomes Accepted with the letter that proves the
// formula. X reads one more letter even if its operand is decided. As in PRISM, rewards of co-safe formulas are
// collected until then.
func NewPrefixes(formula *Formula, limits Limits) (*Automaton, error) {
	if !CoSafe(formula) {
		return nil, fmt.Errorf("%v is not syntactically co-safe", formula)
	}
	return newAutomaton(formula, limits, true)
}

// newAutomaton returns an automaton with only its initial state. Other states are added when a step leads to them. If explicitNext is set,
// the operator X reads one more letter even if its operand is already decided.
func newAutomaton(formula *Formula, limits Limits, explicitNext bool) (*Automaton, error) {
	automaton := &Automaton{
		diagram: newBDD(limits.nodes()), limits: limits, stateNumber: map[state]int{},
		goalLists: [][]formulaRef{nil}, goalListNumber: map[string]int{"[]": 0}, jumps: map[int][]int{},
	}
	translator := &builder{automaton.diagram, explicitNext}
	initial, err := translator.translate(formula, false)
	if err != nil {
		return nil, err
	}
	_, err = automaton.stateNumberOf(state{formula: initial})
	return automaton, err
}

// stateNumberOf returns the number of a state of the automaton, and adds the state if it is new. The error is ErrTooLarge if there are too many states or
// formulas.
func (automaton *Automaton) stateNumberOf(wanted state) (int, error) {
	if err := automaton.diagram.sizeError(); err != nil {
		return 0, err
	}
	if number, isKnown := automaton.stateNumber[wanted]; isKnown {
		return number, nil
	}
	number := len(automaton.states)
	if number >= automaton.limits.states() {
		return 0, ErrTooLarge
	}
	automaton.states = append(automaton.states, wanted)
	automaton.stateNumber[wanted] = number
	return number, nil
}

// Initial returns the state before the first letter.
func (automaton *Automaton) Initial() int { return 0 }

// NumStates returns the number of states reached so far.
func (automaton *Automaton) NumStates() int { return len(automaton.states) }

// Step returns the number of the state after state number reads a letter. Bit i of the letter says whether proposition i holds. The error is ErrTooLarge.
func (automaton *Automaton) Step(number int, letter uint64) (int, error) {
	next := automaton.states[number]
	next.formula = automaton.diagram.progressFormula(next.formula, letter)
	next.areAllGoalsMet = false
	isInAcceptingPart := next.goalList > 0
	if isInAcceptingPart && next.formula == falseFormula {
		return automaton.stateNumberOf(state{formula: falseFormula})
	}
	if isInAcceptingPart {
		next.goalFormula = automaton.diagram.progressFormula(next.goalFormula, letter)
		if next.goalFormula == trueFormula {
			automaton.advanceGoal(&next)
		}
	}
	return automaton.stateNumberOf(next)
}

// advanceGoal is called when a run has met its current goal. The next goal of its list becomes the current goal. After the last goal it begins with the
// first one again and sets areAllGoalsMet, which makes the state accepting.
func (automaton *Automaton) advanceGoal(current *state) {
	goals := automaton.goalLists[current.goalList]
	current.goalIndex++
	if current.goalIndex == len(goals) {
		current.goalIndex = 0
		current.areAllGoalsMet = true
	}
	current.goalFormula = goals[current.goalIndex]
}

// Class returns the class of a state, which says what the rest of an accepted run must do.
func (automaton *Automaton) Class(number int) Class {
	state := automaton.states[number]
	switch {
	case state.goalList > 0:
		return Recurring
	case state.formula == trueFormula:
		return Accepted
	case state.formula == falseFormula:
		return Rejected
	case automaton.diagram.nodes[state.formula].operators&hasUntil == 0:
		return Safe
	}
	return Open
}

// Accepting reports whether a run that visits a state infinitely often is accepted.
func (automaton *Automaton) Accepting(number int) bool {
	class := automaton.Class(number)
	return class == Accepted || class == Safe || automaton.states[number].areAllGoalsMet
}

// CanStay reports whether an accepted run can stay forever in the strongly connected component of a state, without reaching an Accepted state. The answer is
// the same for all states of a component.
func (automaton *Automaton) CanStay(number int) bool {
	switch automaton.Class(number) {
	case Rejected:
		return false
	case Open:
		return automaton.diagram.nodes[automaton.states[number].formula].operators&hasWeak != 0
	}
	return true
}

// Jumps returns the states that a run can jump to from a state without reading a letter. A jump leads from the initial
// part of the automaton to its accepting part, and is a guess of what happens infinitely often. Only Open states have
// jumps. A run that visits a state of the initial part infinitely often can jump at any time without losing acceptance.
func (automaton *Automaton) Jumps(from int) ([]int, error) {
	if automaton.Class(from) != Open || !automaton.CanStay(from) {
		return nil, nil
	}
	if cached, isCached := automaton.jumps[from]; isCached {
		return cached, nil
	}
	targets, err := automaton.diagram.jumpTargets(automaton.states[from].formula)
	if err != nil {
		return nil, err
	}
	var successors []int
	for _, target := range targets {
		successor, err := automaton.stateNumberOf(automaton.acceptingState(target))
		if err != nil {
			return nil, err
		}
		successors = append(successors, successor)
	}
	automaton.jumps[from] = successors
	return successors, nil
}

// acceptingState returns the state of the accepting part to which a jump leads.
func (automaton *Automaton) acceptingState(target jumpTarget) state {
	if len(target.goals) == 0 {
		return state{formula: target.invariant}
	}
	return state{formula: target.invariant, goalList: automaton.goalListOf(target.goals), goalFormula: target.goals[0]}
}

// goalListOf returns the number of a list of goals in automaton.goalLists, and adds the list if it is new. Equal lists have the same number.
func (automaton *Automaton) goalListOf(goals []formulaRef) int {
	key := fmt.Sprint(goals)
	number, isKnown := automaton.goalListNumber[key]
	if !isKnown {
		number = len(automaton.goalLists)
		automaton.goalLists = append(automaton.goalLists, goals)
		automaton.goalListNumber[key] = number
	}
	return number
}
