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
func (h *API) job(input *source) runner.Job {
	job := runner.Job{
		File: cmp.Or(input.File, "model.prism"), Model: []byte(input.Model),
		PropsFile: cmp.Or(input.PropsFile, "model.props"), Properties: []byte(input.Props),
		Settings:  runner.Settings{Numeric: runner.Numeric{MaxStates: h.Limits.States, MaxMemory: h.Limits.Memory}},
		Generated: modelgen.Recognizer{},
	}
	for first := range input.consts() {
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
func (h *API) with(ctx context.Context, input *source, f func(*model) error) error {
	return h.withModel(ctx, input, "states", f)
}

// withTextOnly calls f with another copy of the model. The states of this copy are never built, so f does not wait for them.
func (h *API) withTextOnly(ctx context.Context, input *source, f func(*model) error) error {
	return h.withModel(ctx, input, "text", f)
}

// withModel calls action with a copy of the model of a source. Each name has a copy of its own.
func (h *API) withModel(ctx context.Context, input *source, name string, action func(*model) error) error {
	text, err := json.Marshal([]string{name, input.File, input.Model, input.Const})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	return h.models.use(ctx, hex.EncodeToString(sum[:]), func() (*model, error) { return h.load(ctx, input) }, action)
}

func (h *API) load(ctx context.Context, input *source) (*model, error) {
	job := h.job(input)
	job.Properties = nil
	compiled, warnings, err := load.Model(ctx, job)
	if err != nil {
		return nil, err
	}
	return &model{compiled: compiled, warnings: warnings, values: map[string]*values{}, partitions: map[componentKind]*partition{}}, nil
}

// states builds the state space of a model, unless it is already built.
func (h *API) states(ctx context.Context, loaded *model, response *reply) error {
	if loaded.space != nil {
		return nil
	}
	err := h.build(ctx, loaded, h.Limits.States, response)
	if err != nil {
		return check.Failure(err, loaded.compiled.Program().File, syntax.Pos{})
	}
	return nil
}

// builtUnasked is the largest number of states that are found for a question that can also be answered about the states of a picture alone.
const builtUnasked = 50_000

// statesFor builds the state space if all is set, or if it has at most builtUnasked states. It reports whether the space is there.
func (h *API) statesFor(ctx context.Context, loaded *model, everyState bool, response *reply) (bool, error) {
	if everyState || loaded.space != nil {
		return true, h.states(ctx, loaded, response)
	}
	limit := min(builtUnasked, h.Limits.States)
	if loaded.larger >= limit {
		return false, nil
	}
	err := h.build(ctx, loaded, limit, response)
	if _, ok := errors.AsType[*explicit.LimitError](err); ok {
		loaded.larger = limit
		return false, nil
	}
	if err != nil {
		return false, check.Failure(err, loaded.compiled.Program().File, syntax.Pos{})
	}
	return true, nil
}

// build builds the state space, which may have at most a given number of states.
func (h *API) build(ctx context.Context, loaded *model, maxStates int, response *reply) error {
	space, err := explicit.Build(ctx, loaded.compiled, explicit.Options{
		MaxStates: maxStates, MaxMemory: h.Limits.Memory, Progress: response.progress,
	})
	if err != nil {
		return err
	}
	loaded.space, loaded.graph = space, sparse.NewGraph(space.Model())
	loaded.checker = check.New(loaded.compiled, space, check.Options{})
	return nil
}

// property returns property number index of a source, or the property in text.
func (h *API) property(ctx context.Context, input *source, index int, text string) (*check.Property, error) {
	job := h.job(input)
	if text != "" {
		job.Props = []string{text}
	} else {
		job.Select = []string{strconv.Itoa(index + 1)}
	}
	plan, err := runner.NewPlan(ctx, job)
	if err != nil {
		return nil, err
	}
	lastTask := len(plan.Tasks) - 1
	if rejected := plan.Tasks[lastTask].Rejected; rejected != nil {
		return nil, rejected
	}
	if plan, err = plan.Part([]int{lastTask}, nil); err != nil {
		return nil, err
	}
	_, instances, err := plan.Instances()
	if err != nil {
		return nil, err
	}
	if len(instances) != 1 {
		return nil, errors.New("the property cannot be checked")
	}
	return &check.Property{Property: instances[0].Property, Program: instances[0].Program, File: job.PropsFile}, nil
}

// valuesOf returns the values of a property in all states, and the scheduler that attains them.
func (h *API) valuesOf(ctx context.Context, input *source, loaded *model, index int, text string, response *reply) (*values, error) {
	key := fmt.Sprintf("%d\x00%s\x00%s", index, text, input.Props)
	if computed := loaded.values[key]; computed != nil {
		return computed, nil
	}
	property, err := h.property(ctx, input, index, text)
	if err != nil {
		return nil, err
	}
	if err := h.states(ctx, loaded, response); err != nil {
		return nil, err
	}
	stateValues, verdict := loaded.checker.Values(ctx, property)
	if verdict.Err != nil {
		return nil, verdict.Err
	}
	computed := &values{StateValues: stateValues, verdict: verdict}
	computed.verdict.Property, computed.verdict.Name = property.Text, property.Name
	if loaded.space.Model().Kind == sparse.MDP {
		// Some properties have values but no scheduler.
		if scheduler, _, err := loaded.checker.Scheduler(ctx, property); err == nil && scheduler.Controller == nil {
			computed.scheduler = scheduler
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	if len(loaded.values) >= maxValues {
		clear(loaded.values)
	}
	loaded.values[key] = computed
	return computed, nil
}

// best returns the choice of the optimal scheduler in a state, counted from the state's first
// choice. It returns -1 if there is no scheduler, or if
// the choice does not change the value.
func (m *model) best(solved *values, state int) int {
	if solved == nil || solved.scheduler == nil {
		return -1
	}
	choice := solved.scheduler.Choices[0][state]
	if choice == sparse.None {
		return -1
	}
	first, _ := m.space.Model().Choices(state)
	return int(choice) - first
}

// valuation checks that the values in a request are a valuation of the model's variables.
func (m *model) valuation(state []int32) error {
	vars := m.compiled.Program().Vars
	if len(state) != len(vars) {
		return badf("a state with %d values, want %d", len(state), len(vars))
	}
	for i, value := range state {
		if variable := &vars[i]; value < variable.Low || value > variable.High {
			return badf("%s is %d, want %d to %d", variable.Name, value, variable.Low, variable.High)
		}
	}
	return nil
}

// expression resolves an expression of type Bool over the variables and labels of the model.
func (h *API) expression(ctx context.Context, input *source, text string) (sema.Expr, *sema.Program, error) {
	property, err := h.property(ctx, input, 0, text)
	if err != nil {
		return nil, nil, err
	}
	expr := property.Expr
	if expr.Type() != sema.Bool {
		return nil, nil, &result.Failure{Class: result.TypeError, Message: fmt.Sprintf("found an expression of type %s, want one of type bool", expr.Type())}
	}
	return expr, property.Program, nil
}
