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
func (writer *writer) writeJSON() error {
	separator := "[\n" + indent
	for s := range writer.model.NumStates() {
		if err := writer.poll(s); err != nil {
			return err
		}
		for step := range writer.scheduler {
			if err := writer.writeElement(&separator, writer.jsonState(s, step)); err != nil {
				return err
			}
		}
	}
	_, err := writer.WriteString("\n]\n")
	return err
}

// writeElement writes a separator and an entry of a JSON list. It then changes *separator to the text between two entries, for the next call.
func (writer *writer) writeElement(separator *string, entry jsonState) error {
	text, err := json.MarshalIndent(entry, indent, indent)
	if err != nil {
		return err
	}
	writer.WriteString(*separator)
	writer.Write(text)
	*separator = ",\n" + indent
	return nil
}

// jsonState returns the entry of Storm's JSON format for state s after a number of steps: the scheduler's choice and the values of the variables. If
// the scheduler counts steps, the number of steps is the memory of the entry.
func (writer *writer) jsonState(s, step int) jsonState {
	entry := jsonState{Choice: "undefined", State: writer.variables(s)}
	isGame := writer.model.Player != nil
	selected := writer.scheduler[step][s]
	if writer.scheduler.Memoryless() {
		if selected != sparse.None {
			entry.Choice = []jsonChoice{writer.jsonChoice(int(selected), 1)}
		}
		return entry
	}
	entry.Memory = &step
	switch {
	case isGame:
		entry.Choice = writer.gameChoices(s, step, int(writer.model.ChoiceOrFirst(s, selected)))
	case selected != sparse.None:
		entry.Choice = []jsonChoice{writer.steppedChoice(int(selected), step, 1)}
	}
	return entry
}

// gameChoices returns all choices of state s in a game, for a scheduler that counts steps: first the selected choice with probability 1, then the
// others with probability 0. So the file has the memory after each choice, also for players who do not follow the scheduler.
func (writer *writer) gameChoices(s, step, selected int) []jsonChoice {
	choices := []jsonChoice{writer.steppedChoice(selected, step, 1)}
	first, end := writer.model.Choices(s)
	for choice := first; choice < end; choice++ {
		if choice != selected {
			choices = append(choices, writer.steppedChoice(choice, step, 0))
		}
	}
	return choices
}

// steppedChoice returns the JSON of a choice after a number of steps, for a scheduler that counts steps. For each successor it has the memory there:
// the number of steps plus 1, or the last number that the scheduler distinguishes.
func (writer *writer) steppedChoice(choice, step int, probability float64) jsonChoice {
	described := writer.jsonChoice(choice, probability)
	nextStep := min(step+1, len(writer.scheduler)-1)
	first, end := writer.model.Transitions(choice)
	for _, target := range writer.model.Target[first:end] {
		described.Updates = append(described.Updates, map[string]any{"m'": nextStep, "s'": writer.variables(int(target))})
	}
	return described
}

// jsonChoice returns a choice of the model in Storm's format, with the given probability.
func (writer *writer) jsonChoice(c int, prob float64) jsonChoice {
	choice := jsonChoice{Index: c, Labels: []string{}, Prob: prob}
	if action := writer.action(writer.model.Actions, c); action != "" {
		choice.Labels = append(choice.Labels, action)
	}
	return choice
}

// variables returns the value of each variable in state s, as int32 or bool, by the name of the variable.
func (writer *writer) variables(s int) map[string]any {
	writer.space.State(writer.valuation, s)
	valuation := make(map[string]any, len(writer.vars))
	for i, variable := range writer.vars {
		valuation[variable.Name] = writer.valuation[i]
		if variable.Type == sema.Bool {
			valuation[variable.Name] = writer.valuation[i] != 0
		}
	}
	return valuation
}
