package serve

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"tilecheck/native/check"
	"tilecheck/native/explain/witness"
	"tilecheck/native/simulate"
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
	// Property, or Text, is the property whose value is shown at every state.
	Property *int   `json:"property"`
	Text     string `json:"text"`
}

type graph struct {
	Vars    []variable     `json:"vars"`
	Labels  []string       `json:"labels"`
	Nodes   []*node        `json:"nodes"`
	Choices []edge         `json:"choices"`
	More    bool           `json:"more,omitempty"` // some states are omitted because there are too many
	Type    string         `json:"type"`           // of the model
	Verdict *result.Record `json:"verdict,omitempty"`
	States  int            `json:"states,omitempty"` // number of states of the model, if known
}

type variable struct {
	Name string `json:"name"`
	Bool bool   `json:"bool,omitempty"`
	Low  int32  `json:"low"`
	High int32  `json:"high"`
}

type node struct {
	State    []int32     `json:"state"`
	Text     string      `json:"text"`
	Labels   []int       `json:"labels,omitempty"`
	Initial  bool        `json:"initial,omitempty"`
	Open     bool        `json:"open,omitempty"`
	Deadlock bool        `json:"deadlock,omitempty"`
	Value    *valueRange `json:"value,omitempty"`
}

type valueRange struct {
	Lo      result.JSONNumber `json:"lo"`
	Hi      result.JSONNumber `json:"hi"`
	Boolean bool              `json:"boolean,omitempty"`
}

// edge is a choice of a state.
type edge struct {
	From   int    `json:"from"`
	Action string `json:"action,omitempty"`
	Best   bool   `json:"best,omitempty"`
	To     []hop  `json:"to"`
}

type hop struct {
	To          int               `json:"to"`
	Probability result.JSONNumber `json:"p"`
}

// picture builds a graph.
type picture struct {
	*graph
	m      *model
	values *values
	src    simulate.Source
	labels []func(state []int32) (bool, error)
	index  map[string]int
}

func key(state []int32) string { return fmt.Sprint(state) }

// graph returns states and their successors. The state space is built only if values are needed.
func (h *handler) graph(ctx context.Context, q *graphQuestion, out *reply) (any, error) {
	if len(q.Open)+len(q.Shown) > MaxNodes {
		return nil, badf("%d states, want %d at most", len(q.Open)+len(q.Shown), MaxNodes)
	}
	var g *graph
	err := h.with(ctx, &q.source, func(m *model) (err error) {
		p := &picture{graph: &graph{Vars: variables(m.compiled.Program()), Choices: []edge{}, Type: m.compiled.Program().Type.String()}, m: m, index: map[string]int{}}
		if q.Property != nil || q.Text != "" {
			index := 0
			if q.Property != nil {
				index = *q.Property
			}
			if p.values, err = h.valuesOf(ctx, &q.source, m, index, q.Text, out); err != nil {
				return err
			}
			r := result.NewRecord(&p.values.verdict)
			p.Verdict = &r
		}
		if m.space != nil {
			p.States = m.space.Model().NumStates()
		}
		g, err = p.graph, p.draw(ctx, q)
		return err
	})
	return g, err
}

func variables(prog *sema.Program) []variable {
	out := []variable{}
	for _, v := range prog.Vars {
		out = append(out, variable{v.Name, v.Type == sema.Bool, v.Low, v.High})
	}
	return out
}

func (p *picture) draw(ctx context.Context, q *graphQuestion) error {
	prog := p.m.compiled.Program()
	p.Labels = []string{}
	for _, l := range prog.Labels {
		p.Labels = append(p.Labels, l.Name)
		e, err := p.m.compiled.Evaluator(l.X)
		if err != nil {
			return err
		}
		p.labels = append(p.labels, e.Bool)
	}
	p.src = simulate.FromModel(p.m.compiled)
	initial, err := p.src.Start(ctx, false)
	if err != nil {
		return err
	}
	for _, s := range append(append([][]int32{}, q.Open...), q.Shown...) {
		if err := p.m.valuation(s); err != nil {
			return err
		}
	}
	open := q.Open
	if len(open) == 0 && len(q.Shown) == 0 {
		open = initial[:min(len(initial), 20)]
	}
	for _, s := range append(append([][]int32{}, open...), q.Shown...) {
		if _, err := p.node(s); err != nil {
			return err
		}
	}
	for _, s := range open {
		if err := p.expand(s); err != nil {
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

// node returns the number of a state in the graph; -1 if there is no room for it.
func (p *picture) node(state []int32) (int, error) {
	if i, ok := p.index[key(state)]; ok {
		return i, nil
	}
	if len(p.Nodes) == MaxNodes {
		p.More = true
		return -1, nil
	}
	n := &node{State: append([]int32{}, state...), Text: p.m.compiled.StateText(state)}
	for i, holds := range p.labels {
		is, err := holds(state)
		if err != nil {
			return 0, err
		}
		if is {
			n.Labels = append(n.Labels, i)
		}
	}
	if p.values != nil {
		if s, ok := p.m.space.Find(state); ok {
			v := p.values
			n.Value = &valueRange{result.JSONNumber(v.Lo[s]), result.JSONNumber(v.Hi[s]), v.Boolean}
		}
	}
	p.index[key(state)] = len(p.Nodes)
	p.Nodes = append(p.Nodes, n)
	return len(p.Nodes) - 1, nil
}

// expand adds the choices of a state.
func (p *picture) expand(state []int32) error {
	from := p.index[key(state)]
	n := p.Nodes[from]
	if n.Open {
		return nil
	}
	choices, err := p.src.Expand(state)
	if err != nil {
		return err
	}
	n.Open, n.Deadlock = true, choices.Deadlock()
	best := -1
	if p.values != nil {
		if s, ok := p.m.space.Find(state); ok {
			best = p.m.best(p.values, s)
		}
	}
	merged := p.values != nil && p.m.space.Merged() > 0
	for i := range choices.List {
		c := &choices.List[i]
		e := edge{From: from, Action: p.action(i), Best: i == best && !merged}
		for _, t := range c.Transitions {
			to, err := p.node(t.Target)
			if err != nil {
				return err
			}
			e.To = append(e.To, hop{to, result.JSONNumber(t.Weight)})
		}
		p.Choices = append(p.Choices, e)
	}
	return nil
}

// action returns the action of a choice of the state that was expanded last.
func (p *picture) action(i int) string { return actionOf(p.m.compiled.Program(), p.src, i) }

func actionOf(prog *sema.Program, src simulate.Source, choice int) string {
	action, module := src.Action(choice, 0)
	return simulate.ActionText(prog, &simulate.Step{Action: action, Module: module})
}

type findQuestion struct {
	source
	Expr string `json:"expr"`
}

// find returns states that satisfy an expression, in breadth-first order.
func (h *handler) find(ctx context.Context, q *findQuestion, out *reply) (any, error) {
	found := struct {
		States [][]int32 `json:"states"`
		Count  int       `json:"count"`
		Of     int       `json:"of"`
	}{States: [][]int32{}}
	err := h.with(ctx, &q.source, func(m *model) error {
		x, _, err := h.expression(ctx, &q.source, q.Expr)
		if err != nil {
			return err
		}
		if err := h.states(ctx, m, out); err != nil {
			return err
		}
		set, err := m.space.States(x)
		if err != nil {
			return err
		}
		found.Count, found.Of = set.Count(), set.Len()
		for s := range set.All() {
			if found.States = append(found.States, m.space.State(nil, s)); len(found.States) == 50 {
				break
			}
		}
		return nil
	})
	return found, err
}

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
func (h *handler) path(ctx context.Context, q *pathQuestion, out *reply) (any, error) {
	var found *likelyPath
	err := h.with(ctx, &q.source, func(m *model) error {
		index := 0
		if q.Property != nil {
			index = *q.Property
		}
		p, err := h.property(ctx, &q.source, index, q.Text)
		if err != nil {
			return err
		}
		if err := h.states(ctx, m, out); err != nil {
			return err
		}
		if n := m.space.Model().NumStates(); n > maxExactStates {
			return badf("%d states are too many for likeliest paths, want %d at most", n, maxExactStates)
		}
		r, _, err := m.checker.Reach(ctx, p)
		if err != nil {
			return err
		}
		from := r.From
		if q.State != nil {
			if err := m.valuation(q.State); err != nil {
				return err
			}
			s, ok := r.Space.Find(q.State)
			if !ok {
				return badf("the state is not reached")
			}
			from = s
		}
		found, err = likelyPathFrom(ctx, r, from, q.Miss)
		return err
	})
	return found, err
}

// maxExactStates is the largest number of states for which paths are searched, because this uses
// rational arithmetic.
const maxExactStates = 200_000

func likelyPathFrom(ctx context.Context, r *check.Reach, from int, miss bool) (*likelyPath, error) {
	formula := &witness.PathFormula{Left: r.Left, Right: r.Right, Low: r.Steps.Low, High: r.Steps.High, Violating: miss != r.Negated}
	chain, err := witness.New(ctx, r.Space.Model(), formula, r.Choices, from)
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
	out := &likelyPath{Fraction: path.Prob.RatString()}
	p, _ := path.Prob.Float64()
	out.Probability = result.JSONNumber(p)
	if len(out.Fraction) > 60 {
		out.Fraction = ""
	}
	for _, n := range path.Nodes[:min(len(path.Nodes), MaxNodes)] {
		out.States = append(out.States, r.Space.State(nil, int(chain.State[n])))
	}
	return out, nil
}

type stepQuestion struct {
	source
	State []int32 `json:"state"` // nil is the first one
	// Properties have their values after each transition.
	Property *int   `json:"property"`
	Text     string `json:"text"`
}

// move is a choice of a state with its possible targets.
type move struct {
	Action string   `json:"action"`
	Best   bool     `json:"best,omitempty"`
	To     []target `json:"to"`
}

type target struct {
	State       []int32           `json:"state"`
	Text        string            `json:"text"`
	Probability result.JSONNumber `json:"p"`
	Value       *valueRange       `json:"value,omitempty"`
}

// situation describes a state and its choices.
type situation struct {
	State   []int32        `json:"state"`
	Text    string         `json:"text"`
	Vars    []variable     `json:"vars"`
	Type    string         `json:"type"`
	Labels  []string       `json:"labels"`
	Rewards []rewardOf     `json:"rewards"`
	Moves   []move         `json:"moves"`
	Value   *valueRange    `json:"value,omitempty"`
	Verdict *result.Record `json:"verdict,omitempty"`
}

type rewardOf struct {
	Name  string            `json:"name"`
	State result.JSONNumber `json:"state"`
}

// step describes a state and its choices.
func (h *handler) step(ctx context.Context, q *stepQuestion, out *reply) (any, error) {
	var s *situation
	err := h.with(ctx, &q.source, func(m *model) (err error) {
		p := &picture{graph: &graph{}, m: m, index: map[string]int{}, src: simulate.FromModel(m.compiled)}
		if q.Property != nil || q.Text != "" {
			index := 0
			if q.Property != nil {
				index = *q.Property
			}
			if p.values, err = h.valuesOf(ctx, &q.source, m, index, q.Text, out); err != nil {
				return err
			}
		}
		s, err = p.situation(ctx, q.State)
		return err
	})
	return s, err
}

func (p *picture) value(state []int32) *valueRange {
	if p.values == nil {
		return nil
	}
	s, ok := p.m.space.Find(state)
	if !ok {
		return nil
	}
	return &valueRange{result.JSONNumber(p.values.Lo[s]), result.JSONNumber(p.values.Hi[s]), p.values.Boolean}
}

func (p *picture) situation(ctx context.Context, state []int32) (*situation, error) {
	prog := p.m.compiled.Program()
	initial, err := p.src.Start(ctx, true)
	if err != nil {
		return nil, err
	}
	if state == nil {
		state = initial[0]
	}
	if err := p.m.valuation(state); err != nil {
		return nil, err
	}
	s := &situation{
		State: state, Text: p.m.compiled.StateText(state), Vars: variables(prog), Type: prog.Type.String(),
		Labels: []string{}, Rewards: []rewardOf{}, Moves: []move{}, Value: p.value(state),
	}
	for _, l := range prog.Labels {
		e, err := p.m.compiled.Evaluator(l.X)
		if err != nil {
			return nil, err
		}
		if holds, err := e.Bool(state); err != nil {
			return nil, err
		} else if holds {
			s.Labels = append(s.Labels, l.Name)
		}
	}
	rewards, err := p.src.StateRewards(state)
	if err != nil {
		return nil, err
	}
	for i, x := range rewards {
		name := prog.Rewards[i].Name
		if name == "" {
			name = strconv.Itoa(i + 1)
		}
		s.Rewards = append(s.Rewards, rewardOf{name, result.JSONNumber(x)})
	}
	return s, p.moves(s)
}

func (p *picture) moves(s *situation) error {
	choices, err := p.src.Expand(s.State)
	if err != nil {
		return err
	}
	best := -1
	if p.values != nil {
		if i, ok := p.m.space.Find(s.State); ok && p.m.space.Merged() == 0 {
			best = p.m.best(p.values, i)
		}
	}
	for i := range choices.List {
		v := move{Action: p.action(i), Best: i == best}
		for _, t := range choices.List[i].Transitions {
			if len(v.To) == MaxNodes {
				break
			}
			state := append([]int32{}, t.Target...)
			v.To = append(v.To, target{state, p.m.compiled.StateText(state), result.JSONNumber(t.Weight), p.value(state)})
		}
		s.Moves = append(s.Moves, v)
	}
	return nil
}

type walkQuestion struct {
	source
	State []int32 `json:"state"`
	Steps int64   `json:"steps"`
	Seed  uint64  `json:"seed"`
	Index uint64  `json:"index"` // number of earlier steps, so that continuing draws new numbers
}

// pathStep is a step of a path.
type pathStep struct {
	Action      string            `json:"action,omitempty"`
	Probability result.JSONNumber `json:"p,omitempty"`
	Time        result.JSONNumber `json:"time,omitempty"`
	State       []int32           `json:"state"`
	// Rewards are the rewards of the state, one per structure.
	Rewards []result.JSONNumber `json:"rewards"`
}

// pathSteps returns the steps of a path, with the rewards of its states.
func pathSteps(prog *sema.Program, src simulate.Source, path *simulate.Path) ([]pathStep, error) {
	out := []pathStep{}
	for v := range path.Visits() {
		rewards, err := src.StateRewards(v.State)
		if err != nil {
			return nil, err
		}
		w := pathStep{State: append([]int32{}, v.State...), Rewards: []result.JSONNumber{}}
		for _, x := range rewards {
			w.Rewards = append(w.Rewards, result.JSONNumber(x))
		}
		if v.In != nil {
			w.Action, w.Probability, w.Time = simulate.ActionText(prog, v.In), result.JSONNumber(v.In.Probability), result.JSONNumber(v.In.Time)
		}
		out = append(out, w)
	}
	return out, nil
}

type followQuestion struct {
	source
	Name string `json:"name"`
	Text string `json:"text"`
}

// checkedPath is a path that was read from a file and checked.
type checkedPath struct {
	Steps       []pathStep `json:"steps"`
	Probability string     `json:"probability"` // of all its steps
}

// follow reads a path and checks each step, as tilecheck simulate --path does.
func (h *handler) follow(ctx context.Context, q *followQuestion, _ *reply) (any, error) {
	var out checkedPath
	err := h.with(ctx, &q.source, func(m *model) error {
		record, err := simulate.ReadPath(ctx, cmp.Or(q.Name, "path"), []byte(q.Text), m.compiled.Program())
		if err != nil {
			return err
		}
		if record.Steps() > maxSteps {
			return badf("%d steps, want %d at most", record.Steps(), maxSteps)
		}
		src := simulate.FromModel(m.compiled)
		path := simulate.Walk(ctx, src, simulate.PathOptions{Record: record, Rewards: true})
		if out.Steps, err = pathSteps(m.compiled.Program(), src, path); err != nil {
			return err
		}
		out.Probability = path.Probability.Text('g', 6)
		return path.Err
	})
	return out, err
}

// from is a source whose paths start in a given state.
type from struct {
	simulate.Source
	state []int32
}

func (f from) Start(ctx context.Context, rewards bool) ([][]int32, error) {
	initial, err := f.Source.Start(ctx, rewards)
	if err == nil && f.state != nil {
		initial = [][]int32{f.state}
	}
	return initial, err
}

// maxSteps is the largest number of steps of one request.
const maxSteps = 10_000

// walk samples a path, as tilecheck simulate does.
func (h *handler) walk(ctx context.Context, q *walkQuestion, _ *reply) (any, error) {
	if q.Steps < 1 || q.Steps > maxSteps {
		return nil, badf("%d steps, want 1 to %d", q.Steps, maxSteps)
	}
	out := struct {
		Steps []pathStep `json:"steps"`
		End   string     `json:"end"`
	}{Steps: []pathStep{}}
	err := h.with(ctx, &q.source, func(m *model) error {
		if q.State != nil {
			if err := m.valuation(q.State); err != nil {
				return err
			}
		}
		src := from{simulate.FromModel(m.compiled), q.State}
		path := simulate.Walk(ctx, src, simulate.PathOptions{Steps: q.Steps, Rewards: true, Seed: q.Seed, Index: q.Index})
		var err error
		if out.Steps, err = pathSteps(m.compiled.Program(), src, path); err != nil {
			return err
		}
		out.End = path.End.String()
		return path.Err
	})
	return out, err
}
