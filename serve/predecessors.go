package serve

import (
	"context"
	"slices"

	"tilecheck/native/simulate"
	"tilecheck/result"
)

type predecessorsQuestion struct {
	source
	State []int32 `json:"state"`
	// All asks for the predecessors among all states, however many there are.
	All bool `json:"all"`
}

// incoming are the predecessors of a state.
type incoming struct {
	// Whole says that all states of the model were searched; otherwise none was.
	Whole bool `json:"whole"`
	Count int  `json:"count"` // number of predecessors; the first maxFound are in From
	Of    int  `json:"of"`    // number of states of the model
	// From are the transitions to the state.
	From []incomingTransition `json:"from"`
}

// incomingTransition is a transition from a predecessor.
type incomingTransition struct {
	State       []int32           `json:"state"`
	Text        string            `json:"text"`
	Action      string            `json:"action,omitempty"`
	Commands    []commandPlace    `json:"commands"`
	Probability result.JSONNumber `json:"p"`
}

// predecessors returns the states from which a state is reached in one step, unless the state space is large.
func (h *API) predecessors(ctx context.Context, q *predecessorsQuestion, out *reply) (any, error) {
	found := incoming{From: []incomingTransition{}}
	err := h.with(ctx, &q.source, func(m *model) (err error) {
		if err := m.valuation(q.State); err != nil {
			return err
		}
		if found.Whole, err = h.statesFor(ctx, m, q.All, out); err != nil || !found.Whole {
			return err
		}
		s, ok := m.space.Find(q.State)
		if !ok {
			return badf("the state is not reachable")
		}
		found.Of = m.space.Model().NumStates()
		return found.add(ctx, m, s)
	})
	return found, err
}

// add adds the transitions to a state of the space.
func (f *incoming) add(ctx context.Context, m *model, target int) error {
	var owners []int
	for _, c := range m.graph.Into(target) {
		owners = append(owners, m.graph.Owner(c))
	}
	slices.Sort(owners)
	owners = slices.Compact(owners)
	if d := m.space.Model().Deadlocks; d != nil && d.Has(target) { // its self-loop is not of the model
		owners = slices.DeleteFunc(owners, func(s int) bool { return s == target })
	}
	f.Count = len(owners)
	src := simulate.FromModel(m.compiled)
	if _, err := src.Start(ctx, false); err != nil {
		return err
	}
	to := m.space.State(nil, target)
	for _, s := range owners[:min(len(owners), maxFound)] {
		if err := f.addFrom(m, src, m.space.State(nil, s), to); err != nil {
			return err
		}
	}
	return nil
}

// addFrom adds the transitions from one state to another one.
func (f *incoming) addFrom(m *model, src simulate.Source, from, to []int32) error {
	choices, err := src.Expand(from)
	if err != nil {
		return err
	}
	prog := m.compiled.Program()
	for i := range choices.List {
		c := &choices.List[i]
		for _, t := range c.Transitions {
			if !slices.Equal(t.Target, to) {
				continue
			}
			f.From = append(f.From, incomingTransition{from, m.compiled.StateText(from), actionOf(prog, src, i), commandPlaces(prog, c), result.JSONNumber(t.Weight)})
		}
	}
	return nil
}
