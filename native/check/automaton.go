package check

import (
	"context"
	"encoding/json"
	"io"

	"tilecheck/native/solve/belief"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// Automaton is a strategy for a partially observable model: it begins in node 0, takes
// the action of its node, and goes on by what it is shown then.
type Automaton struct {
	Property string `json:"property"`
	// Observables name the parts of an observation, and States is how many the chain has
	// that the automaton leaves of the model.
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

// AutomatonBranch says where an Automaton goes when it is shown something.
type AutomatonBranch struct {
	Observation string `json:"observation"`
	Node        int    `json:"node"`
}

// Write writes the automaton as JSON.
func (a *Automaton) Write(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(a)
}

// Automaton evaluates a property of a partially observable model as Check does, and
// returns a strategy that attains the bound on the player's bad side: the lower one of a
// maximum. Where there is none, an error says why.
func (c *Checker) Automaton(ctx context.Context, p *Property) (*Automaton, result.Verdict, error) {
	c.lastBeliefs = nil
	v := c.Check(ctx, p)
	switch b := c.lastBeliefs; {
	case v.Err != nil:
		return nil, v, v.Err
	case c.bounds.space.Program().Type != syntax.POMDP || b == nil || b.strategy == nil || len(b.strategy.Nodes) == 0:
		return nil, v, noScheduler(p, p.X, "found no single choice of strategies to make, want P or R with F or U from one state")
	default:
		return c.automaton(p, b), v, nil
	}
}

// automaton names what a controller has by numbers.
func (c *Checker) automaton(p *Property, b *beliefs) *Automaton {
	m, seen := c.exact, c.exact.observations
	out := &Automaton{Property: p.Text, States: b.chain}
	for _, o := range m.space.Program().Observables {
		out.Observables = append(out.Observables, o.Name)
	}
	leader := map[uint32]int{}
	for s := len(seen.ByState) - 1; s >= 0; s-- {
		leader[seen.ByState[s]] = s
	}
	for _, n := range b.strategy.Nodes {
		x := AutomatonNode{Observation: seen.Texts[n.Observation], Any: n.Action == belief.Any, Next: []AutomatonBranch{}}
		if first, _ := m.space.Model().Choices(leader[n.Observation]); !x.Any && m.space.Model().Actions != nil {
			if a := m.space.Model().Actions[first+n.Action]; a != sparse.NoAction {
				x.Action = m.space.Program().Actions[a-1]
			}
		}
		for _, e := range n.Next {
			x.Next = append(x.Next, AutomatonBranch{seen.Texts[e.Observation], e.Node})
		}
		out.Nodes = append(out.Nodes, x)
	}
	return out
}
