package serve

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"tilecheck/modelgen"
	"tilecheck/native/check"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/compile"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// source is the part of a request with the model and the properties.
type source struct {
	File      string `json:"file"`
	Model     string `json:"model"`
	PropsFile string `json:"props_file"`
	Props     string `json:"props"`
	Const     string `json:"const"` // see definitions
}

// job returns the job for a source, as the command check makes it. Constants with a list have its
// first value.
func (h *API) job(s *source) runner.Job {
	job := runner.Job{
		File: cmp.Or(s.File, "model.prism"), Model: []byte(s.Model),
		PropsFile: cmp.Or(s.PropsFile, "model.props"), Properties: []byte(s.Props),
		Settings:  runner.Settings{Numeric: runner.Numeric{MaxStates: h.Limits.States, MaxMemory: h.Limits.Memory}},
		Generated: modelgen.Recognizer{},
	}
	for first := range s.consts() {
		if first != "" {
			job.Consts = []string{first}
		}
		break
	}
	return job
}

// model is a model with values for its constants, and cached results. Only one request uses it at
// a time.
type model struct {
	compiled *compile.Model
	warnings []string
	space    *explicit.Space // nil until it is needed
	checker  *check.Checker
	graph    *sparse.Graph
	values   map[string]*values // by property
	// larger is a number of states that the space is known to exceed; 0 if none is.
	larger     int
	partitions map[componentKind]*partition
}

// values are the values of a property in all states.
type values struct {
	*check.StateValues
	scheduler *check.Scheduler // nil if there is none
	verdict   result.Verdict
}

// maxValues is the largest number of properties whose values are cached for a model.
const maxValues = 8

func (m *model) bytes() int64 {
	size := int64(1 << 20)
	if m.space != nil {
		states := int64(m.space.Model().NumStates())
		size += 3*m.space.Bytes() + int64(len(m.values))*20*states + int64(len(m.partitions))*4*states
	}
	return size
}

// with calls f with the model of a source.
func (h *API) with(ctx context.Context, s *source, f func(*model) error) error {
	return h.withModel(ctx, s, "states", f)
}

// withTextOnly calls f with another copy of the model. The states of this copy are never built, so f does not wait for them.
func (h *API) withTextOnly(ctx context.Context, s *source, f func(*model) error) error {
	return h.withModel(ctx, s, "text", f)
}

// withModel calls f with one of the copies of the model of a source.
func (h *API) withModel(ctx context.Context, s *source, name string, f func(*model) error) error {
	text, err := json.Marshal([]string{name, s.File, s.Model, s.Const})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	return h.models.use(ctx, hex.EncodeToString(sum[:]), func() (*model, error) { return h.load(ctx, s) }, f)
}

func (h *API) load(ctx context.Context, s *source) (*model, error) {
	job := h.job(s)
	job.Properties = nil
	compiled, warnings, err := load.Model(ctx, job)
	if err != nil {
		return nil, err
	}
	return &model{compiled: compiled, warnings: warnings, values: map[string]*values{}, partitions: map[componentKind]*partition{}}, nil
}

// states builds the state space once.
func (h *API) states(ctx context.Context, m *model, out *reply) error {
	if m.space != nil {
		return nil
	}
	err := h.build(ctx, m, h.Limits.States, out)
	if err != nil {
		return check.Failure(err, m.compiled.Program().File, syntax.Pos{})
	}
	return nil
}

// builtUnasked is the largest number of states that are found for a question that can also be answered about the states of a picture alone.
const builtUnasked = 50_000

// statesFor builds the state space if all is set, or if it has at most builtUnasked states. It reports whether the space is there.
func (h *API) statesFor(ctx context.Context, m *model, all bool, out *reply) (bool, error) {
	if all || m.space != nil {
		return true, h.states(ctx, m, out)
	}
	limit := min(builtUnasked, h.Limits.States)
	if m.larger >= limit {
		return false, nil
	}
	err := h.build(ctx, m, limit, out)
	if _, ok := errors.AsType[*explicit.LimitError](err); ok {
		m.larger = limit
		return false, nil
	}
	if err != nil {
		return false, check.Failure(err, m.compiled.Program().File, syntax.Pos{})
	}
	return true, nil
}

// build builds the state space, which may have at most a given number of states.
func (h *API) build(ctx context.Context, m *model, maxStates int, out *reply) error {
	space, err := explicit.Build(ctx, m.compiled, explicit.Options{
		MaxStates: maxStates, MaxMemory: h.Limits.Memory, Progress: out.progress,
	})
	if err != nil {
		return err
	}
	m.space, m.graph = space, sparse.NewGraph(space.Model())
	m.checker = check.New(m.compiled, space, check.Options{})
	return nil
}

// property returns property number index of a source, or the property in text.
func (h *API) property(ctx context.Context, s *source, index int, text string) (*check.Property, error) {
	job := h.job(s)
	if text != "" {
		job.Props = []string{text}
	} else {
		job.Select = []string{strconv.Itoa(index + 1)}
	}
	p, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, err
	}
	last := len(p.Tasks) - 1
	if r := p.Tasks[last].Rejected; r != nil {
		return nil, r
	}
	if p, err = p.Part([]int{last}, nil); err != nil {
		return nil, err
	}
	_, list, err := p.Instances()
	if err != nil {
		return nil, err
	}
	if len(list) != 1 {
		return nil, errors.New("the property cannot be checked")
	}
	return &check.Property{Property: list[0].Property, Program: list[0].Program, File: job.PropsFile}, nil
}

// valuesOf returns the values of a property in all states, and the scheduler that attains them.
func (h *API) valuesOf(ctx context.Context, s *source, m *model, index int, text string, out *reply) (*values, error) {
	key := fmt.Sprintf("%d\x00%s\x00%s", index, text, s.Props)
	if v := m.values[key]; v != nil {
		return v, nil
	}
	p, err := h.property(ctx, s, index, text)
	if err != nil {
		return nil, err
	}
	if err := h.states(ctx, m, out); err != nil {
		return nil, err
	}
	all, verdict := m.checker.Values(ctx, p)
	if verdict.Err != nil {
		return nil, verdict.Err
	}
	v := &values{StateValues: all, verdict: verdict}
	v.verdict.Property, v.verdict.Name = p.Text, p.Name
	if m.space.Model().Kind == sparse.MDP {
		// Some properties have values but no scheduler.
		if x, _, err := m.checker.Scheduler(ctx, p); err == nil && x.Controller == nil {
			v.scheduler = x
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if len(m.values) >= maxValues {
		clear(m.values)
	}
	m.values[key] = v
	return v, nil
}

// best returns the choice of the optimal scheduler in a state, counted from the state's first
// choice; -1 if it is unknown or does not matter.
func (m *model) best(v *values, state int) int {
	if v == nil || v.scheduler == nil {
		return -1
	}
	c := v.scheduler.Choices[0][state]
	if c == sparse.None {
		return -1
	}
	first, _ := m.space.Model().Choices(state)
	return int(c) - first
}

// valuation checks that the values in a request are a valuation of the model's variables.
func (m *model) valuation(state []int32) error {
	vars := m.compiled.Program().Vars
	if len(state) != len(vars) {
		return badf("a state with %d values, want %d", len(state), len(vars))
	}
	for i, x := range state {
		if v := &vars[i]; x < v.Low || x > v.High {
			return badf("%s is %d, want %d to %d", v.Name, x, v.Low, v.High)
		}
	}
	return nil
}

// expression resolves an expression of type Bool over the variables and labels of the model.
func (h *API) expression(ctx context.Context, s *source, text string) (sema.Expr, *sema.Program, error) {
	p, err := h.property(ctx, s, 0, text)
	if err != nil {
		return nil, nil, err
	}
	x := p.X
	if x.Type() != sema.Bool {
		return nil, nil, &result.Failure{Class: result.TypeError, Message: fmt.Sprintf("found an expression of type %s, want one of type bool", x.Type())}
	}
	return x, p.Program, nil
}
