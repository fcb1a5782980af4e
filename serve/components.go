package serve

import (
	"context"
	"math/big"

	"tilecheck/native/simulate"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
)

// componentKind is a kind of component of a state graph.
type componentKind string

const (
	sccs  componentKind = "scc"  // strongly connected components with a cycle
	bsccs componentKind = "bscc" // bottom ones
	mecs  componentKind = "mec"  // maximal end components
)

type componentsQuestion struct {
	source
	Kind componentKind `json:"kind"`
	// Shown are the states of the picture, and Open those whose successors are shown, too.
	Shown [][]int32 `json:"shown"`
	Open  [][]int32 `json:"open"`
	// All asks for the components of the whole state space, however large it is.
	All bool `json:"all"`
}

// componentsAnswer has the components of the states of a picture.
type componentsAnswer struct {
	// Whole says that they are components of the whole state space. Otherwise only the states of Open were analysed: an SCC
	// or an end component is then a part of one of the model, and a bottom SCC is one of the model.
	Whole bool `json:"whole"`
	Of    int  `json:"of"`    // the number of states that were analysed
	Count int  `json:"count"` // the number of components
	// Component is the number of the component of each state of Shown, counted from 1; 0 for none.
	Component []int32 `json:"component"`
	// States is the number of states of each component that occurs in Component.
	States map[int32]int `json:"states"`
}

// partition assigns states to components.
type partition struct {
	component []int32 // of each state, counted from 1 in the order of their first states; 0 for none
	states    []int   // number of states by component; the first entry counts the states in none
}

// components returns the component of each state of a picture. It uses the components of the whole state space or, if the space is
// large, of the part that is shown.
func (h *API) components(ctx context.Context, question *componentsQuestion, response *reply) (any, error) {
	if len(question.Shown) > MaxNodes || len(question.Open) > MaxNodes {
		return nil, badf("%d states, want %d at most", max(len(question.Shown), len(question.Open)), MaxNodes)
	}
	if question.Kind != sccs && question.Kind != bsccs && question.Kind != mecs {
		return nil, badf("components of kind %q, want scc, bscc or mec", question.Kind)
	}
	var answer componentsAnswer
	err := h.with(ctx, &question.source, func(loaded *model) (err error) {
		for _, state := range append(append([][]int32{}, question.Shown...), question.Open...) {
			if err := loaded.valuation(state); err != nil {
				return err
			}
		}
		isWhole, err := h.statesFor(ctx, loaded, question.All, response)
		if err != nil {
			return err
		}
		if isWhole {
			answer, err = loaded.componentsOfSpace(ctx, question)
		} else {
			answer, err = loaded.componentsOfPart(ctx, question)
		}
		return err
	})
	return answer, err
}

// componentsOfSpace answers with the components of the whole state space. It computes them only once.
func (m *model) componentsOfSpace(ctx context.Context, question *componentsQuestion) (componentsAnswer, error) {
	components := m.partitions[question.Kind]
	if components == nil {
		var err error
		if components, err = newPartition(ctx, m.space.Model(), question.Kind, nil); err != nil {
			return componentsAnswer{}, err
		}
		m.partitions[question.Kind] = components
	}
	answer := components.answer(question.Shown, func(_ int, state []int32) (int, bool) { return m.space.Find(state) })
	answer.Whole, answer.Of = true, m.space.Model().NumStates()
	return answer, nil
}

// componentsOfPart answers with the components of the part of the state space that question.Open lists.
func (m *model) componentsOfPart(ctx context.Context, question *componentsQuestion) (componentsAnswer, error) {
	partModel, expanded, err := m.part(ctx, question.Shown, question.Open)
	if err != nil {
		return componentsAnswer{}, err
	}
	components, err := newPartition(ctx, partModel, question.Kind, expanded)
	if err != nil {
		return componentsAnswer{}, err
	}
	answer := components.answer(question.Shown, func(i int, _ []int32) (int, bool) { return i, true })
	answer.Of = expanded.Count()
	return answer, nil
}

// part returns the graph of the shown states, as an MDP whose weights are all 1. open are the states whose successors are
// known; others have a self-loop. The last state stands for all that are not shown.
func (m *model) part(ctx context.Context, shown, expanded [][]int32) (part *sparse.Model, open *sparse.Set, err error) {
	index := map[string]int{}
	for i, s := range shown {
		index[key(s)] = i
	}
	outside := len(shown)
	open = sparse.NewSet(outside + 1)
	for _, s := range expanded {
		if i, ok := index[key(s)]; ok {
			open.Add(i)
		}
	}
	src := simulate.FromModel(m.compiled)
	if _, err := src.Start(ctx, false); err != nil {
		return nil, nil, err
	}
	b := sparse.NewBuilder(sparse.MDP)
	for i := range outside + 1 {
		b.State()
		if !open.Has(i) {
			addLoop(b, i)
			continue
		}
		choices, err := src.Expand(shown[i])
		if err != nil {
			return nil, nil, err
		}
		if choices.Deadlock() {
			addLoop(b, i)
		}
		for k := range choices.List {
			c := &choices.List[k]
			b.Choice(sparse.NoAction)
			if c.Unlisted() {
				if err := addShown(b, c, shown, index); err != nil {
					return nil, nil, err
				}
				continue
			}
			targets := map[int]bool{}
			for _, t := range c.Transitions {
				to, ok := index[key(t.Target)]
				if !ok {
					to = outside
				}
				if !targets[to] {
					targets[to] = true
					b.Add(to, 1)
				}
			}
		}
	}
	part, err = b.Finish()
	return part, open, err
}

// addShown adds the transitions of an unlisted choice to the states that are shown, and one to the state after them for all others. index has the
// number of each state that is shown.
func addShown(b *sparse.Builder, choice *compile.Choice, shown [][]int32, index map[string]int) error {
	numTransitions, err := choice.ListFirst(0)
	if err != nil {
		return err
	}
	numAdded := 0
	for i, state := range shown {
		transition, err := choice.Find(state)
		if err != nil {
			return err
		}
		if transition >= 0 && index[key(state)] == i {
			b.Add(i, 1)
			numAdded++
		}
	}
	if numTransitions.Cmp(big.NewInt(int64(numAdded))) > 0 {
		b.Add(len(shown), 1)
	}
	return nil
}

// addLoop adds a self-loop to the current state.
func addLoop(b *sparse.Builder, state int) {
	b.Choice(sparse.NoAction)
	b.Add(state, 1)
}

// newPartition computes the components of a kind in a model. If states is not nil, it ignores all other states.
func newPartition(ctx context.Context, model *sparse.Model, kind componentKind, states *sparse.Set) (*partition, error) {
	if kind == mecs {
		components, err := model.EndComponents(ctx, states, nil)
		if err != nil {
			return nil, err
		}
		return numbered(components.ID, components.Num(), func(int) bool { return true }), nil
	}
	components := model.Components(states, nil)
	if kind == sccs {
		return numbered(components.ID, components.Num(), func(i int) bool { return components.Cyclic(model, i) }), nil
	}
	bottom := make([]bool, components.Num())
	for _, i := range components.Bottom(model) {
		bottom[i] = true
	}
	return numbered(components.ID, components.Num(), func(i int) bool { return bottom[i] }), nil
}

// numbered returns a partition with the components for which isCounted is true, numbered from 1 in the order of their first states. componentOf has the
// component of each state, and count is the number of all components. All other states have the number 0.
func numbered(componentOf []uint32, count int, isCounted func(component int) bool) *partition {
	result := &partition{component: make([]int32, len(componentOf)), states: []int{0}}
	numbers := make([]int32, count)
	for state, component := range componentOf {
		if component == sparse.None || !isCounted(int(component)) {
			result.states[0]++
			continue
		}
		if numbers[component] == 0 {
			numbers[component] = int32(len(result.states))
			result.states = append(result.states, 0)
		}
		result.component[state] = numbers[component]
		result.states[numbers[component]]++
	}
	return result
}

// answer returns the components of some states. find returns the number of a state, given its index and its values.
func (p *partition) answer(states [][]int32, find func(i int, state []int32) (int, bool)) componentsAnswer {
	answer := componentsAnswer{Count: len(p.states) - 1, Component: make([]int32, len(states)), States: map[int32]int{}}
	for i, state := range states {
		number, ok := find(i, state)
		if !ok {
			continue
		}
		component := p.component[number]
		answer.Component[i] = component
		if component > 0 {
			answer.States[component] = p.states[component]
		}
	}
	return answer
}
