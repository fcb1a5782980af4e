package scheduler

import (
	"encoding/json"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
)

// jsonState is an entry of the JSON format: a state, possibly with a number of steps or a memory. The
// fields of the structs are sorted by name, as Storm writes them.
type jsonState struct {
	Choice any            `json:"c"` // []jsonChoice, or "undefined"
	Memory *int           `json:"m,omitempty"`
	State  map[string]any `json:"s"`
}

type jsonChoice struct {
	Index  int      `json:"index"`
	Labels []string `json:"labels"`
	// Updates have the memory (m') after each successor state (s').
	Updates []map[string]any `json:"memory-updates,omitempty"`
	Prob    float64          `json:"prob"`
}

const indent = "    "

func (w *writer) json() error {
	separator := "[\n" + indent
	for s := range w.model.NumStates() {
		if err := w.poll(s); err != nil {
			return err
		}
		for i := range w.scheduler {
			if err := w.jsonElement(&separator, w.jsonState(s, i)); err != nil {
				return err
			}
		}
	}
	_, err := w.WriteString("\n]\n")
	return err
}

// jsonElement writes an element of the list, after the separator.
func (w *writer) jsonElement(separator *string, x jsonState) error {
	text, err := json.MarshalIndent(x, indent, indent)
	if err != nil {
		return err
	}
	w.WriteString(*separator)
	w.Write(text)
	*separator = ",\n" + indent
	return nil
}

func (w *writer) jsonState(s, step int) jsonState {
	out := jsonState{Choice: "undefined", State: w.variables(s)}
	if !w.scheduler.Memoryless() {
		out.Memory = &step
	}
	c := w.scheduler[step][s]
	if c == sparse.None {
		return out
	}
	choice := w.jsonChoice(int(c), 1)
	if !w.scheduler.Memoryless() {
		lo, hi := w.model.Row(int(c))
		for _, t := range w.model.Target[lo:hi] {
			choice.Updates = append(choice.Updates, map[string]any{"m'": min(step+1, len(w.scheduler)-1), "s'": w.variables(int(t))})
		}
	}
	out.Choice = []jsonChoice{choice}
	return out
}

func (w *writer) jsonChoice(c int, prob float64) jsonChoice {
	out := jsonChoice{Index: c, Labels: []string{}, Prob: prob}
	if a := w.action(w.model.Actions, c); a != "" {
		out.Labels = append(out.Labels, a)
	}
	return out
}

// variables returns the valuation of a state by variable name.
func (w *writer) variables(s int) map[string]any {
	w.space.State(w.valuation, s)
	out := make(map[string]any, len(w.vars))
	for i, v := range w.vars {
		out[v.Name] = w.valuation[i]
		if v.Type == sema.Bool {
			out[v.Name] = w.valuation[i] != 0
		}
	}
	return out
}
