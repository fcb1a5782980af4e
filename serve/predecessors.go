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
func (h *API) predecessors(ctx context.Context, question *predecessorsQuestion, response *reply) (any, error) {
	answer := incoming{From: []incomingTransition{}}
	err := h.with(ctx, &question.source, func(loaded *model) (err error) {
		if err := loaded.valuation(question.State); err != nil {
			return err
		}
		if answer.Whole, err = h.statesFor(ctx, loaded, question.All, response); err != nil || !answer.Whole {
			return err
		}
		state, ok := loaded.space.Find(question.State)
		if !ok {
			return badf("the state is not reachable")
		}
		answer.Of = loaded.space.Model().NumStates()
		return answer.add(ctx, loaded, state)
	})
	return answer, err
}

// add adds the transitions that lead to a state of the space.
func (f *incoming) add(ctx context.Context, loaded *model, target int) error {
	var owners []int
	for _, choice := range loaded.graph.Into(target) {
		owners = append(owners, loaded.graph.Owner(choice))
	}
	slices.Sort(owners)
	owners = slices.Compact(owners)
	if deadlock := loaded.space.Model().Deadlocks; deadlock != nil && deadlock.Has(target) { // its self-loop is not of the model
		owners = slices.DeleteFunc(owners, func(state int) bool { return state == target })
	}
	f.Count = len(owners)
	src := simulate.FromModel(loaded.compiled)
	if _, err := src.Start(ctx, false); err != nil {
		return err
	}
	to := loaded.space.State(nil, target)
	for _, state := range owners[:min(len(owners), maxFound)] {
		if err := f.addFrom(loaded, src, loaded.space.State(nil, state), to); err != nil {
			return err
		}
	}
	return nil
}

// addFrom adds the transitions from one state to another one.
func (f *incoming) addFrom(loaded *model, src simulate.Source, source, target []int32) error {
	choices, err := src.Expand(source)
	if err != nil {
		return err
	}
	prog := loaded.compiled.Program()
	for i := range choices.List {
		choice := &choices.List[i]
		if _, err := choice.Find(target); err != nil {
			return err
		}
		for _, transition := range choice.Transitions {
			if !slices.Equal(transition.Target, target) {
				continue
			}
			f.From = append(f.From, incomingTransition{source, loaded.compiled.StateText(source), actionOf(prog, src, i), commandPlaces(prog, choice), result.JSONNumber(transition.Weight)})
		}
	}
	return nil
}
