package shield

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"tilecheck/native/space/sparse"
	"tilecheck/prism/sema"
)

// jsonState is a state in Storm's format of schedulers, with the probability of each choice.
type jsonState struct {
	Choices []jsonChoice   `json:"c"`
	State   map[string]any `json:"s"`
}

// jsonChoice is a choice with its number in the model, its actions and its probability.
type jsonChoice struct {
	Index  int      `json:"index"`
	Labels []string `json:"labels"`
	Prob   float64  `json:"prob"`
}

// JSON writes the shield as a randomized scheduler, in the format of Storm's --exportscheduler. All allowed choices of a state are equally
// likely.
func (shield *Shield) JSON(ctx context.Context, out io.Writer) error {
	writer := bufio.NewWriter(out)
	separator := "[\n    "
	for s := range shield.Space.Model().NumStates() {
		if s&0xfff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		text, err := json.MarshalIndent(shield.jsonState(s), "    ", "    ")
		if err != nil {
			return err
		}
		writer.WriteString(separator)
		writer.Write(text)
		separator = ",\n    "
	}
	writer.WriteString("\n]\n")
	return writer.Flush()
}

// jsonState returns the entry of Storm's JSON format for state s. The allowed choices of s are equally likely.
func (shield *Shield) jsonState(s int) jsonState {
	entry := jsonState{State: shield.variables(s)}
	first, end := shield.Space.Model().Choices(s)
	for choice := first; choice < end; choice++ {
		if shield.Allowed.Has(choice) {
			entry.Choices = append(entry.Choices, jsonChoice{Index: choice, Labels: shield.labels(choice)})
		}
	}
	for i := range entry.Choices {
		entry.Choices[i].Prob = 1 / float64(len(entry.Choices))
	}
	return entry
}

// labels returns a list with the action of a choice, or an empty list if the choice has no action.
func (shield *Shield) labels(choice int) []string {
	if name := shield.Action(choice); name != "" {
		return []string{name}
	}
	return []string{}
}

// Action returns the name of the action of a choice, or "" if the choice has no action.
func (shield *Shield) Action(choice int) string {
	model := shield.Space.Model()
	if model.Actions == nil || model.Actions[choice] == sparse.NoAction {
		return ""
	}
	return shield.Space.Program().Actions[model.Actions[choice]-1]
}

// variables returns the value of each variable in state s, as int32 or bool, by the name of the variable.
func (shield *Shield) variables(s int) map[string]any {
	valuation := map[string]any{}
	state := shield.Space.State(nil, s)
	for i, variable := range shield.Space.Program().Vars {
		valuation[variable.Name] = state[i]
		if variable.Type == sema.Bool {
			valuation[variable.Name] = state[i] != 0
		}
	}
	return valuation
}
