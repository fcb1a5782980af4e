package check

import (
	"context"
	"encoding/json"
	"io"
	"slices"

	"tilecheck/native/solve/belief"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Automaton is a strategy for a partially observable model, as a finite automaton. It begins in
// node 0, takes the action of its node, and moves to the next node for the observation that
// follows.
type Automaton struct {
	Property string `json:"property"`
	// Observables are the names of the parts of an observation. States is the number of states of
	// the Markov chain that the automaton induces.
	Observables []string        `json:"observables"`
	States      int             `json:"chain_states"`
	Nodes       []AutomatonNode `json:"nodes"`
}

// AutomatonNode is a state of an Automaton.
type AutomatonNode struct {
	Observation string `json:"observation"` // "0,true"
	// Action is empty for a choice without one. Any takes every choice with the same
	// probability.
	Action string            `json:"action,omitempty"`
	Any    bool              `json:"any,omitempty"`
	Next   []AutomatonBranch `json:"next"`
}

// AutomatonBranch is the next node of an Automaton for an observation.
type AutomatonBranch struct {
	Observation string `json:"observation"`
	Node        int    `json:"node"`
}

// Write writes the automaton as JSON.
func (automaton *Automaton) Write(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", " ")
	return encoder.Encode(automaton)
}

// Automaton evaluates a property of a POMDP as Check does. It returns a strategy with finite memory, as an automaton that reads observations, and the
// verdict. The strategy attains the lower bound of a maximum, or the upper bound of a minimum. It is an error if the property is not P or R with F or U
// from one state.
func (checker *Checker) Automaton(ctx context.Context, property *Property) (*Automaton, result.Verdict, error) {
	checker.lastBeliefs = nil
	verdict := checker.Check(ctx, property)
	if verdict.Err != nil {
		return nil, verdict, verdict.Err
	}
	search := checker.lastBeliefs
	hasStrategy := search != nil && search.strategy != nil && len(search.strategy.Nodes) > 0
	if !hasStrategy || checker.floatModel.space.Program().Type != syntax.POMDP {
		return nil, verdict, noSchedulerError(property, property.Expr, "found a property without one optimal strategy, want P or R with F or U from one state")
	}
	return checker.strategyAutomaton(property, search), verdict, nil
}

// strategyAutomaton converts the strategy that a belief search has found to an automaton with the names of observations and actions. A node has no
// action if every action is optimal there.
func (checker *Checker) strategyAutomaton(property *Property, search *beliefs) *Automaton {
	space, observations := checker.exactModel.space, checker.exactModel.observations
	automaton := &Automaton{Property: property.Text, States: search.chainStates}
	for _, observable := range space.Program().Observables {
		automaton.Observables = append(automaton.Observables, observable.Name)
	}
	firstState := map[uint32]int{} // the first state with each observation
	for s, observation := range slices.Backward(observations.ByState) {
		firstState[observation] = s
	}
	for _, strategyNode := range search.strategy.Nodes {
		node := AutomatonNode{Observation: observations.Texts[strategyNode.Observation], Any: strategyNode.Action == belief.AnyAction, Next: []AutomatonBranch{}}
		if !node.Any {
			node.Action = actionName(space, firstState[strategyNode.Observation], strategyNode.Action)
		}
		for _, next := range strategyNode.Next {
			node.Next = append(node.Next, AutomatonBranch{observations.Texts[next.Observation], next.Node})
		}
		automaton.Nodes = append(automaton.Nodes, node)
	}
	return automaton
}

// actionName returns the name of the action of a choice in state s, or "" if the choice has no action. choiceInState counts the choices of the state
// from 0.
func actionName(space *explicit.Space, s, choiceInState int) string {
	model := space.Model()
	if model.Actions == nil {
		return ""
	}
	first, _ := model.Choices(s)
	action := model.Actions[first+choiceInState]
	if action == sparse.NoAction {
		return ""
	}
	return space.Program().Actions[action-1]
}
