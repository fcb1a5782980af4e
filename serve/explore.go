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

// MostNodes is the number of states of a picture: more of them nobody can look at.
const MostNodes = 300

type graphQuestion struct {
	source
	// Open are the states whose successors are shown; none stands for the initial ones.
	Open [][]int32 `json:"open"`
	// Shown are states that are shown besides.
	Shown [][]int32 `json:"shown"`
	// Property has its value on every state: its index, or a text.
	Property *int   `json:"property"`
	Text     string `json:"text"`
}

type graph struct {
	Vars    []variable `json:"vars"`
	Labels  []string   `json:"labels"`
	Nodes   []*node    `json:"nodes"`
	Choices []edge     `json:"choices"`
	More    bool       `json:"more,omitempty"` // states are left out: there are too many
	// Markov says that a state's choices are none: all transitions race or are drawn.
	Type    string         `json:"type"`
	Verdict *result.Record `json:"verdict,omitempty"`
	States  int            `json:"states,omitempty"` // of the model, where they are known
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

// picture is a graph that is being made.
type picture struct {
	*graph
	m      *model
	values *values
	src    simulate.Source
	labels []func(state []int32) (bool, error)
	index  map[string]int
}

func key(state []int32) string { return fmt.Sprint(state) }

// graph shows states and what leads from them elsewhere. The states of the model are found only where values are asked for.
func (h *handler) graph(ctx context.Context, q *graphQuestion, out *reply) (any, error) {
	if len(q.Open)+len(q.Shown) > MostNodes {
		return nil, badf("%d states, want %d at most", len(q.Open)+len(q.Shown), MostNodes)
	}
	var g *graph
	err := h.with(ctx, &q.source, func(m *model) (err error) {
		p := &picture{graph: &graph{Vars: variables(m.compiled.Program()), Choices: []edge{}, Type: m.compiled.Program().Type.String()}, m: m, index: map[string]int{}}
		if q.Property != nil || q.Text != "" {
			index := 0
			if q.Property != nil {
				index = *q.Property
			}
			if p.values, err = h.valued(ctx, &q.source, m, index, q.Text, out); err != nil {
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
		if err := p.unfold(s); err != nil {
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

// node returns the number of a state in the picture; -1 if there is no more room.
func (p *picture) node(state []int32) (int, error) {
	if i, ok := p.index[key(state)]; ok {
		return i, nil
	}
	if len(p.Nodes) == MostNodes {
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

// unfold adds what leaves a state.
func (p *picture) unfold(state []int32) error {
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

// action is the action of a choice of the state that was expanded last.
func (p *picture) action(i int) string { return actionOf(p.m.compiled.Program(), p.src, i) }

func actionOf(prog *sema.Program, src simulate.Source, choice int) string {
	action, module := src.Action(choice, 0)
	return simulate.ActionText(prog, &simulate.Step{Action: action, Module: module})
}

type findQuestion struct {
	source
	Expr string `json:"expr"`
}

// find returns states in which an expression holds, in the order of a breadth-first search.
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

// likeliest is a path, and its probability.
type likeliest struct {
	States      [][]int32         `json:"states"`
	Actions     []string          `json:"actions,omitempty"`
	Probability result.JSONNumber `json:"probability"`
	Fraction    string            `json:"fraction"`
}

// path returns the likeliest path from a state that satisfies the formula of a property, or that does not, under the scheduler that
// attains its value.
func (h *handler) path(ctx context.Context, q *pathQuestion, out *reply) (any, error) {
	var found *likeliest
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
		if n := m.space.Model().NumStates(); n > mostFractions {
			return badf("%d states are too many for likeliest paths, want %d at most", n, mostFractions)
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
		found, err = likeliestOf(ctx, r, from, q.Miss)
		return err
	})
	return found, err
}

// mostFractions is the number of states for which paths are looked for, which takes fractions.
const mostFractions = 200_000

func likeliestOf(ctx context.Context, r *check.Reach, from int, miss bool) (*likeliest, error) {
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
	out := &likeliest{Fraction: path.Prob.RatString()}
	p, _ := path.Prob.Float64()
	out.Probability = result.JSONNumber(p)
	if len(out.Fraction) > 60 {
		out.Fraction = ""
	}
	for _, n := range path.Nodes[:min(len(path.Nodes), MostNodes)] {
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

// move is a choice of a state, with all that it can come to.
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

// situation is a state and what can be done there.
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

// step says what a state is and what can be done there.
func (h *handler) step(ctx context.Context, q *stepQuestion, out *reply) (any, error) {
	var s *situation
	err := h.with(ctx, &q.source, func(m *model) (err error) {
		p := &picture{graph: &graph{}, m: m, index: map[string]int{}, src: simulate.FromModel(m.compiled)}
		if q.Property != nil || q.Text != "" {
			index := 0
			if q.Property != nil {
				index = *q.Property
			}
			if p.values, err = h.valued(ctx, &q.source, m, index, q.Text, out); err != nil {
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
			if len(v.To) == MostNodes {
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
	Index uint64  `json:"index"` // of the steps before, so that going on draws other numbers
}

// walked is a step of a path.
type walked struct {
	Action      string            `json:"action,omitempty"`
	Probability result.JSONNumber `json:"p,omitempty"`
	Time        result.JSONNumber `json:"time,omitempty"`
	State       []int32           `json:"state"`
	// Rewards are those of the state, one of each structure.
	Rewards []result.JSONNumber `json:"rewards"`
}

// walkedOf are the steps of a path that was drawn from a source, with rewards.
func walkedOf(prog *sema.Program, src simulate.Source, path *simulate.Path) ([]walked, error) {
	out := []walked{}
	for v := range path.Visits() {
		rewards, err := src.StateRewards(v.State)
		if err != nil {
			return nil, err
		}
		w := walked{State: append([]int32{}, v.State...), Rewards: []result.JSONNumber{}}
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

// followed is a path that was in a file.
type followed struct {
	Steps       []walked `json:"steps"`
	Probability string   `json:"probability"` // of all its steps
}

// follow reads a path, of which each step is checked, as tilecheck simulate --path does.
func (h *handler) follow(ctx context.Context, q *followQuestion, _ *reply) (any, error) {
	var out followed
	err := h.with(ctx, &q.source, func(m *model) error {
		record, err := simulate.ReadPath(ctx, cmp.Or(q.Name, "path"), []byte(q.Text), m.compiled.Program())
		if err != nil {
			return err
		}
		if record.Steps() > mostSteps {
			return badf("%d steps, want %d at most", record.Steps(), mostSteps)
		}
		src := simulate.FromModel(m.compiled)
		path := simulate.Walk(ctx, src, simulate.PathOptions{Record: record, Rewards: true})
		if out.Steps, err = walkedOf(m.compiled.Program(), src, path); err != nil {
			return err
		}
		out.Probability = path.Probability.Text('g', 6)
		return path.Err
	})
	return out, err
}

// from is a source whose paths begin elsewhere.
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

// mostSteps of a path at a time.
const mostSteps = 10_000

// walk draws random steps, as tilecheck simulate does.
func (h *handler) walk(ctx context.Context, q *walkQuestion, _ *reply) (any, error) {
	if q.Steps < 1 || q.Steps > mostSteps {
		return nil, badf("%d steps, want 1 to %d", q.Steps, mostSteps)
	}
	out := struct {
		Steps []walked `json:"steps"`
		End   string   `json:"end"`
	}{Steps: []walked{}}
	err := h.with(ctx, &q.source, func(m *model) error {
		if q.State != nil {
			if err := m.valuation(q.State); err != nil {
				return err
			}
		}
		src := from{simulate.FromModel(m.compiled), q.State}
		path := simulate.Walk(ctx, src, simulate.PathOptions{Steps: q.Steps, Rewards: true, Seed: q.Seed, Index: q.Index})
		var err error
		if out.Steps, err = walkedOf(m.compiled.Program(), src, path); err != nil {
			return err
		}
		out.End = path.End.String()
		return path.Err
	})
	return out, err
}
