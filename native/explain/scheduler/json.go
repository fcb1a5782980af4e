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

// writeJSON writes a scheduler in Storm's JSON format: an entry for each state and each number of steps that the scheduler distinguishes.
func (w *writer) writeJSON() error {
	separator := "[\n" + indent
	for s := range w.model.NumStates() {
		if err := w.poll(s); err != nil {
			return err
		}
		for step := range w.scheduler {
			if err := w.writeElement(&separator, w.jsonState(s, step)); err != nil {
				return err
			}
		}
	}
	_, err := w.WriteString("\n]\n")
	return err
}

// writeElement writes a separator and an entry of a JSON list. It then sets the separator to the text between two entries.
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

// jsonState returns the entry of Storm's JSON format for state s after a number of steps. If the scheduler counts steps, the entry has that
// number as its memory.
func (w *writer) jsonState(s, step int) jsonState {
	entry := jsonState{Choice: "undefined", State: w.variables(s)}
	if !w.scheduler.Memoryless() {
		entry.Memory = &step
	}
	c := w.scheduler[step][s]
	if c == sparse.None {
		return entry
	}
	choice := w.jsonChoice(int(c), 1)
	if !w.scheduler.Memoryless() {
		nextStep := min(step+1, len(w.scheduler)-1)
		first, end := w.model.Row(int(c))
		for _, target := range w.model.Target[first:end] {
			choice.Updates = append(choice.Updates, map[string]any{"m'": nextStep, "s'": w.variables(int(target))})
		}
	}
	entry.Choice = []jsonChoice{choice}
	return entry
}

// jsonChoice returns choice c of the model in Storm's format, with the given probability.
func (w *writer) jsonChoice(c int, prob float64) jsonChoice {
	choice := jsonChoice{Index: c, Labels: []string{}, Prob: prob}
	if action := w.action(w.model.Actions, c); action != "" {
		choice.Labels = append(choice.Labels, action)
	}
	return choice
}

// variables returns the value of each variable in state s, as int32 or bool, by the name of the variable.
func (w *writer) variables(s int) map[string]any {
	w.space.State(w.valuation, s)
	valuation := make(map[string]any, len(w.vars))
	for i, variable := range w.vars {
		valuation[variable.Name] = w.valuation[i]
		if variable.Type == sema.Bool {
			valuation[variable.Name] = w.valuation[i] != 0
		}
	}
	return valuation
}
