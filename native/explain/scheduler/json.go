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

// jsonChoice is a choice of an entry: its number in the model, its actions and its probability.
type jsonChoice struct {
	Index  int      `json:"index"`
	Labels []string `json:"labels"`
	// Updates have the memory (m') after each successor state (s').
	Updates []map[string]any `json:"memory-updates,omitempty"`
	Prob    float64          `json:"prob"`
}

const indent = "    "

// writeJSON writes a scheduler in Storm's format: an entry for each state, and for each row of the scheduler.
func (w *writer) writeJSON() error {
	separator := "[\n" + indent
	for s := range w.model.NumStates() {
		if err := w.poll(s); err != nil {
			return err
		}
		for i := range w.scheduler {
			if err := w.writeElement(&separator, w.jsonState(s, i)); err != nil {
				return err
			}
		}
	}
	_, err := w.WriteString("\n]\n")
	return err
}

// writeElement writes the separator and an entry, and sets the separator for the next one.
func (w *writer) writeElement(separator *string, entry jsonState) error {
	text, err := json.MarshalIndent(entry, indent, indent)
	if err != nil {
		return err
	}
	w.WriteString(*separator)
	w.Write(text)
	*separator = ",\n" + indent
	return nil
}

// jsonState returns the entry of state s after some steps. The number of steps is the memory.
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
		nextStep := min(step+1, len(w.scheduler)-1)
		first, end := w.model.Row(int(c))
		for _, target := range w.model.Target[first:end] {
			choice.Updates = append(choice.Updates, map[string]any{"m'": nextStep, "s'": w.variables(int(target))})
		}
	}
	out.Choice = []jsonChoice{choice}
	return out
}

// jsonChoice returns choice c of the model with its action and the given probability.
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
	for i, variable := range w.vars {
		out[variable.Name] = w.valuation[i]
		if variable.Type == sema.Bool {
			out[variable.Name] = w.valuation[i] != 0
		}
	}
	return out
}
