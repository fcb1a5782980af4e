package scheduler

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/sparse"
)

// Read reads a scheduler that does not count steps: Storm's JSON, or PRISM's lists of states
// with actions, (0,true)=move or 17=move, or with the numbers of choices, 17=1. States that are
// not there have any choice. An action that several choices of its state have is an error: it
// does not say which is meant. Errors name the file, and the line of a list, or are the context's.
func Read(ctx context.Context, file string, text []byte, space *explicit.Space) (Scheduler, error) {
	r := newReader(space)
	if err := r.read(ctx, file, text); err != nil {
		return nil, err
	}
	return Scheduler{r.choices}, nil
}

// ReadPermitted is Read for a file that may permit several choices of a state, as a shield does: in a list with a line for each, in
// JSON with several that are equally likely. It returns all that are permitted, any where the file says nothing of a state, and
// the scheduler if that is what they are; otherwise nil.
func ReadPermitted(ctx context.Context, file string, text []byte, space *explicit.Space) (*sparse.Set, Scheduler, error) {
	m := space.Model()
	r := newReader(space)
	r.permitted = sparse.NewSet(m.NumChoices())
	if err := r.read(ctx, file, text); err != nil {
		return nil, nil, err
	}
	for s, c := range r.choices {
		if c != sparse.None {
			continue
		}
		first, end := m.Choices(s)
		for c := first; c < end; c++ {
			r.permitted.Add(c)
		}
	}
	if r.several {
		return r.permitted, nil, nil
	}
	return r.permitted, Scheduler{r.choices}, nil
}

func newReader(space *explicit.Space) *reader {
	r := &reader{space: space, choices: make([]uint32, space.Model().NumStates()), at: map[string]int{}}
	for i := range r.choices {
		r.choices[i] = sparse.None
	}
	for i, v := range space.Program().Vars {
		r.at[v.Name] = i
	}
	return r
}

// read reads a file of either form.
func (r *reader) read(ctx context.Context, file string, text []byte) error {
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '[' {
		return r.json(ctx, file, text)
	}
	return r.list(ctx, file, text)
}

// reader reads one scheduler.
type reader struct {
	space   *explicit.Space
	choices []uint32       // of each state the first that was read
	at      map[string]int // of variables
	// permitted are all that were read, if several of a state may be; several says that there are some.
	permitted *sparse.Set
	several   bool
	order     []uint32 // by PRISM's numbers of states; nil until one is asked for
}

// list reads one of PRISM's lists.
func (r *reader) list(ctx context.Context, file string, text []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		if n%statesPerPoll == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		if err := r.line(line); err != nil {
			return fmt.Errorf("%s:%d:1: %w", file, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// line reads what a scheduler does in one state.
func (r *reader) line(line string) error {
	if !strings.HasPrefix(line, "(") {
		return r.numbered(line)
	}
	state, action, ok := strings.Cut(line, ")=")
	words := strings.Split(strings.TrimPrefix(state, "("), ",")
	if len(r.at) == 0 && words[0] == "" {
		words = nil
	}
	if strings.Contains(state, ")") {
		return errSteps
	}
	if !ok || len(words) != len(r.at) {
		return r.unlike(line)
	}
	valuation := make([]int32, len(words))
	for i, w := range words {
		x, err := value(w)
		if err != nil {
			return fmt.Errorf("found the value %.60q, want a number, true or false", w)
		}
		valuation[i] = x
	}
	return r.choose(valuation, action)
}

var errSteps = errors.New("found a list of a scheduler with a memory, which does not say what it remembers next: want Storm's JSON")

func (r *reader) unlike(line string) error {
	return fmt.Errorf("found %.60q, want a state of %d variables or a number of one, and its action or the number of a choice, such as (0,true)=move, 17=move or 17=1", line, len(r.at))
}

// numbered reads a line about a state that has a number: 17=move or 17=1. No action is a number.
func (r *reader) numbered(line string) error {
	number, what, ok := strings.Cut(line, "=")
	if strings.Contains(number, ",") && ok {
		return errSteps
	}
	k, err := strconv.Atoi(number)
	if !ok || err != nil {
		return r.unlike(line)
	}
	if r.order == nil {
		r.order = r.space.Order()
	}
	if k < 0 || k >= len(r.order) {
		return fmt.Errorf("found state %d, the model has 0 to %d", k, len(r.order)-1)
	}
	s := int(r.order[k])
	i, err := strconv.Atoi(what)
	if err != nil {
		return r.named(s, what)
	}
	first, end := r.space.Model().Choices(s)
	if i < 0 || i >= end-first {
		return fmt.Errorf("found choice %d of state %d, which has 0 to %d", i, k, end-first-1)
	}
	return r.note(s, first+i)
}

func value(word string) (int32, error) {
	switch word = strings.TrimSpace(word); word {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	x, err := strconv.ParseInt(word, 10, 32)
	return int32(x), err
}

// json reads Storm's format.
func (r *reader) json(ctx context.Context, file string, text []byte) error {
	var states []struct {
		Choice json.RawMessage            `json:"c"`
		Memory *int                       `json:"m"`
		State  map[string]json.RawMessage `json:"s"`
	}
	if err := json.Unmarshal(text, &states); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for n, s := range states {
		if n%statesPerPoll == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if s.Memory != nil {
			return fmt.Errorf("%s: entry %d: found a scheduler with a memory, want one without", file, n)
		}
		var choices []readChoice
		if json.Unmarshal(s.Choice, &choices) != nil {
			continue // "undefined": any will do
		}
		actions, err := r.actions(choices)
		if err != nil {
			return fmt.Errorf("%s: entry %d: %w", file, n, err)
		}
		valuation, err := r.valuation(s.State)
		if err != nil {
			return fmt.Errorf("%s: entry %d: %w", file, n, err)
		}
		for _, action := range actions {
			if err := r.choose(valuation, action); err != nil {
				return fmt.Errorf("%s: entry %d: %w", file, n, err)
			}
		}
	}
	return nil
}

// readChoice is a choice of an entry, with its probability as it is written.
type readChoice struct {
	Labels []string        `json:"labels"`
	Prob   json.RawMessage `json:"prob"`
}

// actions returns those of the choices of an entry.
func (r *reader) actions(choices []readChoice) ([]string, error) {
	if len(choices) == 0 || len(choices) > 1 && r.permitted == nil {
		return nil, fmt.Errorf("found %d choices, want one with one action", len(choices))
	}
	var actions []string
	for _, c := range choices {
		switch {
		case len(c.Labels) > 1:
			return nil, fmt.Errorf("found a choice with %d actions, want one", len(c.Labels))
		case !bytes.Equal(c.Prob, choices[0].Prob):
			return nil, errors.New("found choices that are not equally likely, want those that are permitted")
		case len(c.Labels) == 0:
			actions = append(actions, "")
		default:
			actions = append(actions, c.Labels[0])
		}
	}
	return actions, nil
}

// valuation reads a state by the names of its variables.
func (r *reader) valuation(state map[string]json.RawMessage) ([]int32, error) {
	out := make([]int32, len(r.at))
	for name, i := range r.at {
		x, err := value(string(state[name]))
		if err != nil {
			return nil, fmt.Errorf("found no value of %s", name)
		}
		out[i] = x
	}
	return out, nil
}

// choose notes the choice with an action. A state that the model does not reach is none.
func (r *reader) choose(valuation []int32, action string) error {
	s, ok := r.space.Find(valuation)
	if !ok {
		return nil
	}
	return r.named(s, action)
}

// named notes the choice of a state with an action.
func (r *reader) named(s int, action string) error {
	c, err := r.find(s, action)
	if err != nil {
		return err
	}
	return r.note(s, c)
}

// find returns the choice of a state with an action.
func (r *reader) find(s int, action string) (int, error) {
	m := r.space.Model()
	found := -1
	first, end := m.Choices(s)
	for c := first; c < end; c++ {
		switch {
		case r.name(m, c) != action:
		case found >= 0 && action == "":
			return 0, fmt.Errorf("state %s has several choices without an action, want a list of the numbers of choices (type=indices)", r.text(s))
		case found >= 0:
			return 0, fmt.Errorf("state %s has several choices with action %s, want a list of the numbers of choices (type=indices)", r.text(s), action)
		default:
			found = c
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("state %s has no action %.60q", r.text(s), action)
	}
	return found, nil
}

func (r *reader) note(s, c int) error {
	another := r.choices[s] != sparse.None && r.choices[s] != uint32(c)
	switch {
	case r.permitted != nil:
		r.permitted.Add(c)
		r.several = r.several || another
	case another:
		return fmt.Errorf("state %s has two choices, want one of a scheduler", r.text(s))
	}
	r.choices[s] = uint32(c)
	return nil
}

func (r *reader) name(m *sparse.Model, c int) string {
	if m.Actions == nil || m.Actions[c] == sparse.NoAction {
		return ""
	}
	return r.space.Program().Actions[m.Actions[c]-1]
}

func (r *reader) text(s int) string { return r.space.Compiled().StateText(r.space.State(nil, s)) }
