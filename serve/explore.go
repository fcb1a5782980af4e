package serve

import (
	"context"
	"fmt"

	"tilecheck/native/check"
	"tilecheck/native/explain/witness"
	"tilecheck/native/simulate"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

// MaxNodes is the largest number of states in a graph; more would be unreadable.
const MaxNodes = 300

type graphQuestion struct {
	source
	// Open are the states whose successors are shown; by default the initial states.
	Open [][]int32 `json:"open"`
	// Shown are further states to show.
	Shown [][]int32 `json:"shown"`
	// Depth asks for all states that are reached from From in that many steps; without From from the
	// initial states.
	Depth int     `json:"depth"`
	From  []int32 `json:"from"`
	// The property's value is shown at every state.
	valued
}

type graph struct {
	Vars    []variable `json:"vars"`
	Labels  []string   `json:"labels"`
	Nodes   []*node    `json:"nodes"`
	Choices []edge     `json:"choices"`
	More    bool       `json:"more,omitempty"` // some states are omitted because there are too many
	// Depth is the asked depth, or the largest one whose states are all in the graph.
	Depth   int            `json:"depth,omitempty"`
	Type    string         `json:"type"`              // of the model
	Players []string       `json:"players,omitempty"` // of a game
	Modules int            `json:"modules"`           // number of modules of the model
	Verdict *result.Record `json:"verdict,omitempty"`
	States  int            `json:"states,omitempty"` // number of states of the model, if known
}

type variable struct {
	Name string `json:"name"`
	Bool bool   `json:"bool,omitempty"`
	Low  int32  `json:"low"`
	High int32  `json:"high"`
	// Module is the name of the module that the variable is local to; empty for a global one.
	Module string `json:"module,omitempty"`
}

type node struct {
	State    []int32     `json:"state"`
	Text     string      `json:"text"`
	Labels   []int       `json:"labels,omitempty"`
	Initial  bool        `json:"initial,omitempty"`
	Open     bool        `json:"open,omitempty"`
	Deadlock bool        `json:"deadlock,omitempty"`
	Player   *int        `json:"player,omitempty"` // who owns the state of a game
	Value    *valueRange `json:"value,omitempty"`
}

type valueRange struct {
	Lower   result.JSONNumber `json:"lower"`
	Upper   result.JSONNumber `json:"upper"`
	Boolean bool              `json:"boolean,omitempty"`
}

// edge is a choice of a state.
type edge struct {
	From int `json:"from"`
	// Action is the action, "[a]", or the module of an unlabelled command.
	Action   string         `json:"action,omitempty"`
	Commands []commandPlace `json:"commands"`
	Best     bool           `json:"best,omitempty"`
	To       []hop          `json:"to"`
	// Transitions is the number of all transitions, in decimal digits, if To has only the first ones.
	Transitions string `json:"transitions,omitempty"`
}

type hop struct {
	To          int               `json:"to"`
	Probability result.JSONNumber `json:"probability"`
}

// picture builds a graph.
type picture struct {
	*graph
	m      *model
	values *values
	src    simulate.Source
	labels []func(state []int32) (bool, error)
	owner  func(state []int32) (*int, error)
	index  map[string]int
}

func key(state []int32) string { return fmt.Sprint(state) }

// graph returns states and their successors. The state space is built only if values are needed.
func (h *API) graph(ctx context.Context, question *graphQuestion, response *reply) (any, error) {
	if len(question.Open)+len(question.Shown) > MaxNodes {
		return nil, badf("%d states, want %d at most", len(question.Open)+len(question.Shown), MaxNodes)
	}
	if question.Depth < 0 || question.Depth > MaxNodes {
		return nil, badf("depth %d, want 0 to %d", question.Depth, MaxNodes)
	}
	var answer *graph
	err := h.withFor(ctx, &question.source, &question.valued, func(loaded *model) error {
		picture, err := h.pathsOf(ctx, &question.source, &question.valued, loaded, response)
		if err != nil {
			return err
		}
		if picture.values != nil {
			record := result.NewRecord(&picture.values.verdict)
			picture.Verdict = &record
		}
		if loaded.space != nil {
			picture.States = loaded.space.Model().NumStates()
		}
		answer, err = picture.graph, picture.draw(ctx, question)
		return err
	})
	return answer, err
}

// newPicture returns a picture without states.
func newPicture(loaded *model) (*picture, error) {
	program := loaded.compiled.Program()
	picture := &picture{
		graph: &graph{Vars: variables(program), Choices: []edge{}, Type: program.Type.String(), Players: program.Model().Players(), Modules: len(program.Modules)},
		m:     loaded, index: map[string]int{}, src: simulate.FromModel(loaded.compiled),
	}
	if err := picture.addLabels(); err != nil {
		return nil, err
	}
	var err error
	picture.owner, err = ownerOf(loaded.compiled)
	return picture, err
}

// ownerOf returns a function that returns the player who owns a state; nil if the model is not a game.
func ownerOf(compiled *compile.Model) (func(state []int32) (*int, error), error) {
	owner, err := explicit.Owner(compiled)
	if owner == nil || err != nil {
		return func([]int32) (*int, error) { return nil, nil }, err
	}
	expander := compiled.NewExpander()
	return func(state []int32) (*int, error) {
		choices, err := expander.Enabled(state)
		if err != nil {
			return nil, err
		}
		player, err := owner(state, choices)
		return &player, err
	}, nil
}

func variables(program *sema.Program) []variable {
	variables := []variable{}
	for _, declared := range program.Vars {
		current := variable{Name: declared.Name, Bool: declared.Type == sema.Bool, Low: declared.Low, High: declared.High}
		if declared.Module >= 0 {
			current.Module = program.Modules[declared.Module].Name
		}
		variables = append(variables, current)
	}
	return variables
}

func (p *picture) draw(ctx context.Context, question *graphQuestion) error {
	initial, err := p.src.Start(ctx, false)
	if err != nil {
		return err
	}
	asked := append(append([][]int32{}, question.Open...), question.Shown...)
	if question.From != nil {
		asked = append(asked, question.From)
	}
	for _, s := range asked {
		if err := p.m.valuation(s); err != nil {
			return err
		}
	}
	open := question.Open
	first := initial[:min(len(initial), 20)]
	if len(asked) == 0 {
		open = first
	}
	for _, s := range append(append([][]int32{}, open...), question.Shown...) {
		if _, err := p.node(s); err != nil {
			return err
		}
	}
	for _, s := range open {
		if err := p.expand(s); err != nil {
			return err
		}
	}
	if question.Depth > 0 {
		from := first
		if question.From != nil {
			from = [][]int32{question.From}
		}
		if err := p.expandTo(ctx, from, question.Depth); err != nil {
			return err
		}
	}
	for _, s := range initial {
		if i, ok := p.index[key(s)]; ok {
			p.Nodes[i].Initial = true
		}
	}
	return nil
}

// expandTo adds the states that are reached from some states in at most depth steps, nearest first. It stops when
// the picture has MaxNodes states.
func (p *picture) expandTo(ctx context.Context, states [][]int32, depth int) error {
	var level []int
	seen := map[int]bool{}
	reached := func(i int) {
		if i >= 0 && !seen[i] {
			seen[i] = true
			level = append(level, i)
		}
	}
	for _, state := range states {
		i, err := p.node(state)
		if err != nil {
			return err
		}
		reached(i)
	}
	for p.Depth = 0; p.Depth < depth; p.Depth++ {
		nodes := level
		level = nil
		for _, i := range nodes {
			if err := ctx.Err(); err != nil {
				return err
			}
			if len(p.Nodes) == MaxNodes && !p.Nodes[i].Open {
				p.More = true
				return nil
			}
			if err := p.expand(p.Nodes[i].State); err != nil {
				return err
			}
			for _, target := range p.successors(i) {
				if target < 0 {
					return nil
				}
				reached(target)
			}
		}
	}
	return nil
}

// successors returns the nodes of the successors of an expanded node; -1 stands for a successor that is not in the picture.
func (p *picture) successors(node int) []int {
	var nodes []int
	for i := range p.Choices {
		if p.Choices[i].From != node {
			continue
		}
		for _, half := range p.Choices[i].To {
			nodes = append(nodes, half.To)
		}
	}
	return nodes
}

// addLabels adds the names of the model's labels to the picture, and a function for each that evaluates it in a state.
func (p *picture) addLabels() error {
	p.Labels = []string{}
	for _, label := range p.m.compiled.Program().Labels {
		evaluator, err := p.m.compiled.Evaluator(label.Expr)
		if err != nil {
			return err
		}
		p.Labels = append(p.Labels, label.Name)
		p.labels = append(p.labels, evaluator.Bool)
	}
	return nil
}

// labelsOf returns the indices of the labels of a state.
func (p *picture) labelsOf(state []int32) ([]int, error) {
	var indices []int
	for i, holds := range p.labels {
		hasLabel, err := holds(state)
		if err != nil {
			return nil, err
		}
		if hasLabel {
			indices = append(indices, i)
		}
	}
	return indices, nil
}

// node returns the number of a state in the picture, to which it adds the state if necessary. It returns -1 if the picture is full.
func (p *picture) node(state []int32) (int, error) {
	if i, ok := p.index[key(state)]; ok {
		return i, nil
	}
	if len(p.Nodes) == MaxNodes {
		p.More = true
		return -1, nil
	}
	labels, err := p.labelsOf(state)
	if err != nil {
		return 0, err
	}
	player, err := p.owner(state)
	if err != nil {
		return 0, err
	}
	newNode := &node{State: append([]int32{}, state...), Text: p.m.compiled.StateText(state), Labels: labels, Player: player, Value: p.value(state)}
	p.index[key(state)] = len(p.Nodes)
	p.Nodes = append(p.Nodes, newNode)
	return len(p.Nodes) - 1, nil
}

// expand adds the choices of a state, with their successors, to the picture.
func (p *picture) expand(state []int32) error {
	source := p.index[key(state)]
	node := p.Nodes[source]
	if node.Open {
		return nil
	}
	choices, err := p.src.Expand(state)
	if err != nil {
		return err
	}
	node.Open, node.Deadlock = true, choices.Deadlock()
	best := -1
	if p.values != nil {
		if number, ok := p.m.space.Find(state); ok {
			best = p.m.best(p.values, number)
		}
	}
	merged := p.values != nil && p.m.space.Merged() > 0
	for i := range choices.List {
		choice := &choices.List[i]
		drawnEdge := edge{From: source, Action: p.action(i), Commands: p.commands(choice), Best: i == best && !merged}
		numTransitions, err := choice.ListFirst(MaxNodes)
		if err != nil {
			return err
		}
		if choice.Unlisted() {
			drawnEdge.Transitions, p.More = numTransitions.String(), true
		}
		for _, transition := range choice.Transitions {
			target, err := p.node(transition.Target)
			if err != nil {
				return err
			}
			drawnEdge.To = append(drawnEdge.To, hop{target, result.JSONNumber(transition.Weight)})
		}
		p.Choices = append(p.Choices, drawnEdge)
	}
	return nil
}

// action returns the action of a choice of the state that was expanded last.
func (p *picture) action(i int) string { return actionOf(p.m.compiled.Program(), p.src, i) }

type pathQuestion struct {
	source
	Property *int    `json:"property"`
	Text     string  `json:"text"`
	Miss     bool    `json:"miss"` // to a failure
	State    []int32 `json:"state"`
}

// likelyPath is a path with its probability.
type likelyPath struct {
	States      [][]int32         `json:"states"`
	Actions     []string          `json:"actions,omitempty"`
	Probability result.JSONNumber `json:"probability"`
	Fraction    string            `json:"fraction"`
}

// path returns the most probable path from a state that satisfies the path formula of a property
// (or violates it, if Miss is set) under the optimal scheduler.
func (h *API) path(ctx context.Context, question *pathQuestion, response *reply) (any, error) {
	var found *likelyPath
	err := h.with(ctx, &question.source, func(loaded *model) error {
		index := 0
		if question.Property != nil {
			index = *question.Property
		}
		property, err := h.property(ctx, &question.source, index, question.Text)
		if err != nil {
			return err
		}
		if err := h.states(ctx, loaded, response); err != nil {
			return err
		}
		if numStates := loaded.space.Model().NumStates(); numStates > maxExactStates {
			return badf("%d states are too many for likeliest paths, want %d at most", numStates, maxExactStates)
		}
		reach, _, err := loaded.checker.Reach(ctx, property)
		if err != nil {
			return err
		}
		from := reach.From
		if question.State != nil {
			if err := loaded.valuation(question.State); err != nil {
				return err
			}
			state, ok := reach.Space.Find(question.State)
			if !ok {
				return badf("the state is not reached")
			}
			from = state
		}
		found, err = likelyPathFrom(ctx, reach, from, question.Miss)
		return err
	})
	return found, err
}

// maxExactStates is the largest number of states for which paths are searched, because this uses
// rational arithmetic.
const maxExactStates = 200_000

func likelyPathFrom(ctx context.Context, reach *check.Reach, start int, miss bool) (*likelyPath, error) {
	formula := &witness.PathFormula{Left: reach.Left, Right: reach.Right, Low: reach.Steps.Low, High: reach.Steps.High, Violating: miss != reach.Negated}
	chain, err := witness.New(ctx, reach.Space.Model(), formula, reach.Choices, start)
	if err != nil {
		return nil, err
	}
	paths, err := chain.Paths(ctx)
	if err != nil {
		return nil, err
	}
	path, err := paths.Next()
	if err != nil {
		return nil, err
	}
	if path == nil {
		return nil, badf("there is no such path: its probability is 0")
	}
	likely := &likelyPath{Fraction: path.Prob.RatString()}
	probability, _ := path.Prob.Float64()
	likely.Probability = result.JSONNumber(probability)
	if len(likely.Fraction) > 60 {
		likely.Fraction = ""
	}
	for _, node := range path.Nodes[:min(len(path.Nodes), MaxNodes)] {
		likely.States = append(likely.States, reach.Space.State(nil, int(chain.State[node])))
	}
	return likely, nil
}
