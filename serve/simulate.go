package serve

import (
	"cmp"
	"context"
	"math/big"
	"strconv"
	"strings"

	"tilecheck/native/check"
	"tilecheck/native/simulate"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/result"
)

// valued is the part of a request with the property whose values are wanted.
type valued struct {
	Property *int   `json:"property"`
	Text     string `json:"text"`
}

// given reports whether there is a property.
func (v *valued) given() bool { return v.Property != nil || v.Text != "" }

// withFor calls f with the model of a source. If no values are wanted, it does not wait for requests that compute with the states.
func (h *API) withFor(ctx context.Context, input *source, v *valued, f func(*model) error) error {
	if v.given() {
		return h.with(ctx, input, f)
	}
	return h.withTextOnly(ctx, input, f)
}

// pathsOf returns a picture of the model in which paths can be followed. If the request names a property, it has the value of the
// property in every state.
func (h *API) pathsOf(ctx context.Context, input *source, question *valued, loaded *model, response *reply) (*picture, error) {
	picture, err := newPicture(loaded)
	if err != nil || !question.given() {
		return picture, err
	}
	index := 0
	if question.Property != nil {
		index = *question.Property
	}
	picture.values, err = h.valuesOf(ctx, input, loaded, index, question.Text, response)
	return picture, err
}

type stepQuestion struct {
	source
	valued
	State []int32 `json:"state"` // nil for the initial state
}

// move is a choice of a state with its possible targets.
type move struct {
	Action string `json:"action"`
	// Commands are the commands that make the choice: module and line.
	Commands []commandPlace `json:"commands"`
	Best     bool           `json:"best,omitempty"`
	To       []target       `json:"to"`
	// Transitions is the number of all transitions, in decimal digits, if To has only the first ones.
	Transitions string              `json:"transitions,omitempty"`
	Rewards     []result.JSONNumber `json:"rewards"` // of the step, one per structure
}

type commandPlace struct {
	Module string `json:"module"`
	Line   int32  `json:"line"`
}

type target struct {
	State       []int32           `json:"state"`
	Text        string            `json:"text"`
	Probability result.JSONNumber `json:"probability"`
	Value       *valueRange       `json:"value,omitempty"`
}

// situation describes a state and its choices.
type situation struct {
	pathStep
	Text       string     `json:"text"`
	Vars       []variable `json:"vars"`
	Type       string     `json:"type"`
	Players    []string   `json:"players,omitempty"` // of a game
	AllLabels  []string   `json:"all_labels"`
	Structures []string   `json:"structures"` // names of the reward structures, or their numbers
	Moves      []move     `json:"moves"`
	// ExitRate is the sum of the rates of a state of a CTMC.
	ExitRate result.JSONNumber `json:"exit_rate,omitempty"`
}

// step describes a state and its choices.
func (h *API) step(ctx context.Context, question *stepQuestion, response *reply) (any, error) {
	var answer *situation
	err := h.withFor(ctx, &question.source, &question.valued, func(loaded *model) error {
		picture, err := h.pathsOf(ctx, &question.source, &question.valued, loaded, response)
		if err != nil {
			return err
		}
		answer, err = picture.situation(ctx, question.State)
		return err
	})
	return answer, err
}

// value returns the value of the property in a state; nil if there is no property, or if the state is not reachable.
func (p *picture) value(state []int32) *valueRange {
	if p.values == nil {
		return nil
	}
	number, ok := p.m.space.Find(state)
	if !ok {
		return nil
	}
	return &valueRange{result.JSONNumber(p.values.Lo[number]), result.JSONNumber(p.values.Hi[number]), p.values.Boolean}
}

// situation describes a state, or the initial state for nil.
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
	result := &situation{
		Text: p.m.compiled.StateText(state), Vars: variables(prog), Type: prog.Type.String(), Players: p.Players,
		AllLabels: p.Labels, Structures: []string{}, Moves: []move{},
	}
	for i := range prog.Rewards {
		result.Structures = append(result.Structures, cmp.Or(prog.RewardName(i), strconv.Itoa(i+1)))
	}
	if result.pathStep, err = p.stepTo(state); err != nil {
		return nil, err
	}
	return result, p.moves(result)
}

// moves adds the choices of the state to its description.
func (p *picture) moves(current *situation) error {
	choices, err := p.src.Expand(current.State)
	if err != nil {
		return err
	}
	best := -1
	if p.values != nil {
		if i, ok := p.m.space.Find(current.State); ok && p.m.space.Merged() == 0 {
			best = p.m.best(p.values, i)
		}
	}
	for i := range choices.List {
		listed := move{Action: p.action(i), Commands: p.commands(&choices.List[i]), Best: i == best}
		rewards, err := p.src.StepRewards(i, 0)
		if err != nil {
			return err
		}
		listed.Rewards = numbers(rewards)
		choice := &choices.List[i]
		current.ExitRate += result.JSONNumber(choice.TotalWeight())
		numTransitions, err := choice.ListFirst(MaxNodes)
		if err != nil {
			return err
		}
		if numTransitions.Cmp(big.NewInt(MaxNodes)) > 0 {
			listed.Transitions = numTransitions.String()
		}
		for _, transition := range choice.Transitions[:min(len(choice.Transitions), MaxNodes)] {
			state := append([]int32{}, transition.Target...)
			listed.To = append(listed.To, target{state, p.m.compiled.StateText(state), result.JSONNumber(transition.Weight), p.value(state)})
		}
		current.Moves = append(current.Moves, listed)
	}
	return nil
}

// commands returns the places of the commands of a choice.
func (p *picture) commands(c *compile.Choice) []commandPlace {
	return commandPlaces(p.m.compiled.Program(), c)
}

// commandPlaces returns the places of the commands of a choice.
func commandPlaces(prog *sema.Program, choice *compile.Choice) []commandPlace {
	places := []commandPlace{}
	for _, ref := range choice.Commands {
		module := &prog.Modules[ref.Module]
		places = append(places, commandPlace{module.Name, module.Commands[ref.Command].Pos.Line})
	}
	return places
}

func numbers(list []float64) []result.JSONNumber {
	out := []result.JSONNumber{}
	for _, x := range list {
		out = append(out, result.JSONNumber(x))
	}
	return out
}

// pathStep is a state of a path, and the steps around it.
type pathStep struct {
	Action      string            `json:"action,omitempty"`
	Probability result.JSONNumber `json:"probability,omitempty"`
	State       []int32           `json:"state"`
	Labels      []int             `json:"labels,omitempty"`
	Player      *int              `json:"player,omitempty"` // who owns the state of a game
	Value       *valueRange       `json:"value,omitempty"`
	// Rewards are those of the state, one per structure; StepRewards those of the step that leaves it, absent in the last state.
	Rewards     []result.JSONNumber `json:"rewards"`
	StepRewards []result.JSONNumber `json:"step_rewards,omitempty"`
	// Sojourn is the time that a CTMC or a Markov automaton stays in the state; absent in the last state.
	Sojourn result.JSONNumber `json:"sojourn,omitempty"`
}

// stepTo describes a state of a path.
func (p *picture) stepTo(state []int32) (pathStep, error) {
	rewards, err := p.src.StateRewards(state)
	if err != nil {
		return pathStep{}, err
	}
	labels, err := p.labelsOf(state)
	if err != nil {
		return pathStep{}, err
	}
	player, err := p.owner(state)
	return pathStep{State: append([]int32{}, state...), Labels: labels, Player: player, Value: p.value(state), Rewards: numbers(rewards)}, err
}

// steps returns the steps of a path.
func (p *picture) steps(path *simulate.Path) ([]pathStep, error) {
	prog := p.m.compiled.Program()
	steps := []pathStep{}
	for visit := range path.Visits() {
		step, err := p.stepTo(visit.State)
		if err != nil {
			return nil, err
		}
		if visit.Incoming != nil {
			step.Action, step.Probability = simulate.ActionText(prog, visit.Incoming), result.JSONNumber(visit.Incoming.Probability)
		}
		if visit.Outgoing != nil {
			step.StepRewards, step.Sojourn = numbers(visit.Outgoing.Rewards), result.JSONNumber(visit.Outgoing.Time)
		}
		steps = append(steps, step)
	}
	return steps, path.Err
}

type walkQuestion struct {
	source
	valued
	State []int32 `json:"state"`
	Steps int64   `json:"steps"`
	Seed  uint64  `json:"seed"`
	Index uint64  `json:"index"` // number of earlier steps, so that continuing draws new numbers
	// Optimal makes the choices of the optimal scheduler of the property. Without it all choices are equally likely.
	Optimal bool `json:"optimal"`
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

// optimalPath is a source whose choices an optimal scheduler makes. Where the scheduler leaves a choice open, all choices are
// equally likely.
type optimalPath struct {
	from
	model     *model
	scheduler *check.Scheduler
	state     int    // the state that was expanded last, as a number of the state space
	steps     uint64 // taken so far, also before this path
}

// optimalPathOf returns the source of paths with the optimal choices of the property whose values the picture has. steps is the
// number of steps before the path: a scheduler for F<=k counts them.
func (p *picture) optimalPathOf(source from, steps uint64) (*optimalPath, error) {
	switch {
	case p.values == nil || p.values.scheduler == nil:
		return nil, badf("optimal choices need a property with an optimal scheduler: want Pmin, Pmax, Rmin or Rmax of an MDP or a game")
	case p.m.space.Merged() > 0:
		return nil, badf("several choices of a state do the same, so the optimal one has no name: want a model without such choices")
	}
	return &optimalPath{from: source, model: p.m, scheduler: p.values.scheduler, steps: steps}, nil
}

// Expand implements simulate.Source.
func (path *optimalPath) Expand(state []int32) (*compile.Choices, error) {
	number, found := path.model.space.Find(state)
	if !found {
		return nil, badf("%s is not reachable, so no scheduler has a choice for it", path.model.compiled.StateText(state))
	}
	path.state = number
	return path.from.Expand(state)
}

// optimalChooser makes the choices of an optimalPath.
type optimalChooser struct{ path *optimalPath }

// Start implements simulate.Chooser. The path knows its states.
func (optimalChooser) Start([]int32) error { return nil }

// Choose implements simulate.Chooser. A scheduler that counts steps makes the choices of its last row in all later steps.
func (c optimalChooser) Choose(random float64) int {
	path := c.path
	rows := path.scheduler.Choices
	first, end := path.model.space.Model().Choices(path.state)
	choice := rows[min(path.steps, uint64(len(rows)-1))][path.state]
	if choice == sparse.None {
		return int(random * float64(end-first))
	}
	return int(choice) - first
}

// Take implements simulate.Chooser.
func (c optimalChooser) Take(_, _ int) { c.path.steps++ }

// maxSteps is the largest number of steps of one request.
const maxSteps = 10_000

// walk samples a path, as tilecheck simulate does.
func (h *API) walk(ctx context.Context, question *walkQuestion, reply *reply) (any, error) {
	if question.Steps < 1 || question.Steps > maxSteps {
		return nil, badf("%d steps, want 1 to %d", question.Steps, maxSteps)
	}
	answer := struct {
		Steps []pathStep `json:"steps"`
		End   string     `json:"end"`
	}{Steps: []pathStep{}}
	err := h.withFor(ctx, &question.source, &question.valued, func(loaded *model) error {
		if question.State != nil {
			if err := loaded.valuation(question.State); err != nil {
				return err
			}
		}
		picture, err := h.pathsOf(ctx, &question.source, &question.valued, loaded, reply)
		if err != nil {
			return err
		}
		options := simulate.PathOptions{Steps: question.Steps, Rewards: true, Seed: question.Seed, Index: question.Index}
		var source simulate.Source = from{picture.src, question.State}
		if question.Optimal {
			optimal, err := picture.optimalPathOf(from{picture.src, question.State}, question.Index)
			if err != nil {
				return err
			}
			source, options.Chooser = optimal, optimalChooser{optimal}
		}
		path := simulate.Walk(ctx, source, options)
		if answer.Steps, err = picture.steps(path); err != nil {
			return err
		}
		answer.End = path.End.String()
		return nil
	})
	return answer, err
}

type followQuestion struct {
	source
	valued
	Name string `json:"name"`
	Text string `json:"text"`
	// Start is the state of the first row; nil means that it must be an initial state.
	Start []int32 `json:"start"`
	// Write asks for the path as a table: "csv", or "prism" for what PRISM's -simpath writes.
	Write string `json:"write"`
}

// checkedPath is a path that was read from a file and checked.
type checkedPath struct {
	Steps       []pathStep `json:"steps"`
	Probability string     `json:"probability"` // of all its steps
	Table       string     `json:"table,omitempty"`
}

// follow reads a path and checks each step, as tilecheck simulate --path does.
func (h *API) follow(ctx context.Context, question *followQuestion, reply *reply) (any, error) {
	var answer checkedPath
	err := h.withFor(ctx, &question.source, &question.valued, func(loaded *model) error {
		if question.Start != nil {
			if err := loaded.valuation(question.Start); err != nil {
				return err
			}
		}
		record, err := simulate.ReadPath(ctx, cmp.Or(question.Name, "path"), []byte(question.Text), loaded.compiled.Program())
		if err != nil {
			return err
		}
		if record.Steps() > maxSteps {
			return badf("%d steps, want %d at most", record.Steps(), maxSteps)
		}
		picture, err := h.pathsOf(ctx, &question.source, &question.valued, loaded, reply)
		if err != nil {
			return err
		}
		path := simulate.Walk(ctx, from{picture.src, question.Start}, simulate.PathOptions{Record: record, Rewards: true})
		if separator, ok := map[string]string{"csv": ",", "prism": " "}[question.Write]; ok {
			var text strings.Builder
			err := simulate.WriteTable(&text, path, simulate.TableOptions{Separator: separator, Probs: true, Rewards: true})
			answer.Steps, answer.Table = []pathStep{}, text.String()
			return cmp.Or(err, path.Err)
		}
		if answer.Steps, err = picture.steps(path); err != nil {
			return err
		}
		answer.Probability = path.Probability.Text('g', 6)
		return nil
	})
	return answer, err
}

func actionOf(prog *sema.Program, src simulate.Source, choice int) string {
	action, module := src.Action(choice, 0)
	return simulate.ActionText(prog, &simulate.Step{Action: action, Module: module})
}
