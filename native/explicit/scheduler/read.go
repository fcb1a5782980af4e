package scheduler

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"tilecheck/native/explicit"
	"tilecheck/native/explicit/sparse"
	"tilecheck/prism/sema"
)

// Read reads a scheduler that does not count steps: Storm's JSON, or PRISM's list of
// states with actions, (0,true)=move. States that are not there have any choice. The error
// names the file, and the line of a list.
func Read(file string, text []byte, space *explicit.Space) (Scheduler, error) {
	r := &reader{space: space, choices: make([]uint32, space.Model().NumStates()), at: map[string]int{}}
	for i := range r.choices {
		r.choices[i] = sparse.None
	}
	for i, v := range space.Program().Vars {
		r.at[v.Name] = i
	}
	var err error
	if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '[' {
		err = r.json(file, text)
	} else {
		err = r.list(file, text)
	}
	if err != nil {
		return nil, err
	}
	return Scheduler{r.choices}, nil
}

// reader reads one scheduler.
type reader struct {
	space   *explicit.Space
	choices []uint32
	at      map[string]int // of variables
}

// list reads PRISM's list.
func (r *reader) list(file string, text []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		state, action, ok := strings.Cut(line, ")=")
		words := strings.Split(strings.TrimPrefix(state, "("), ",")
		if !ok || !strings.HasPrefix(state, "(") || len(words) != len(r.at) {
			return fmt.Errorf("%s:%d:1: found %.60q, want a state of %d variables and its action, such as (0,true)=move", file, n, line, len(r.at))
		}
		valuation := make([]int32, len(words))
		for i, w := range words {
			x, err := value(w)
			if err != nil {
				return fmt.Errorf("%s:%d:1: found the value %.60q, want a number, true or false", file, n, w)
			}
			valuation[i] = x
		}
		if err := r.choose(valuation, action); err != nil {
			return fmt.Errorf("%s:%d:1: %w", file, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
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
func (r *reader) json(file string, text []byte) error {
	var states []struct {
		Choice json.RawMessage            `json:"c"`
		Memory *int                       `json:"m"`
		State  map[string]json.RawMessage `json:"s"`
	}
	if err := json.Unmarshal(text, &states); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for n, s := range states {
		if s.Memory != nil {
			return fmt.Errorf("%s: entry %d: found a scheduler with a memory, want one without", file, n)
		}
		var choices []struct {
			Labels []string `json:"labels"`
		}
		if json.Unmarshal(s.Choice, &choices) != nil {
			continue // "undefined": any will do
		}
		if len(choices) != 1 || len(choices[0].Labels) > 1 {
			return fmt.Errorf("%s: entry %d: found %d choices, want one with one action", file, n, len(choices))
		}
		valuation := make([]int32, len(r.at))
		for name, i := range r.at {
			x, err := value(string(s.State[name]))
			if err != nil {
				return fmt.Errorf("%s: entry %d: found no value of %s", file, n, name)
			}
			valuation[i] = x
		}
		action := ""
		if len(choices[0].Labels) == 1 {
			action = choices[0].Labels[0]
		}
		if err := r.choose(valuation, action); err != nil {
			return fmt.Errorf("%s: entry %d: %w", file, n, err)
		}
	}
	return nil
}

// choose notes the choice with an action. A state that the model does not reach is none.
func (r *reader) choose(valuation []int32, action string) error {
	s, ok := r.space.Find(valuation)
	if !ok {
		return nil
	}
	m := r.space.Model()
	first, end := m.Choices(s)
	for c := first; c < end; c++ {
		if r.name(m, c) != action {
			continue
		}
		if r.choices[s] != sparse.None && r.choices[s] != uint32(c) {
			return fmt.Errorf("state %s has two actions", r.text(valuation))
		}
		r.choices[s] = uint32(c)
		return nil
	}
	return fmt.Errorf("state %s has no action %.60q", r.text(valuation), action)
}

func (r *reader) name(m *sparse.Model, c int) string {
	if m.Actions == nil || m.Actions[c] == sparse.NoAction {
		return ""
	}
	return r.space.Program().Actions[m.Actions[c]-1]
}

func (r *reader) text(valuation []int32) string {
	var out []string
	for i, v := range r.space.Program().Vars {
		word := strconv.Itoa(int(valuation[i]))
		if v.Type == sema.Bool {
			word = strconv.FormatBool(valuation[i] != 0)
		}
		out = append(out, v.Name+"="+word)
	}
	return "(" + strings.Join(out, ",") + ")"
}
