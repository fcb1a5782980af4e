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

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// Read reads a memoryless scheduler: Storm's JSON, or PRISM's lists of states with actions,
// (0,true)=move or 17=move, or with choice indices, 17=1. In states that the file does not contain, any
// choice is allowed. It returns an error if several choices of a state have the given action. Errors name the
// file and the line, unless the context has ended.
func Read(ctx context.Context, file string, text []byte, space *explicit.Space) (Scheduler, error) {
	r := newReader(space)
	if err := r.read(ctx, file, text); err != nil {
		return nil, err
	}
	return Scheduler{r.choices}, nil
}

// ReadPermitted reads a file as Read does, but the file may permit several choices of a state, as shields
// do: a list may have a line for each choice, and JSON may have equally likely choices. It returns the
// permitted choices; in states that the file does not contain, all are. It also returns the scheduler,
// which is nil if some state has several permitted choices in the file.
func ReadPermitted(ctx context.Context, file string, text []byte, space *explicit.Space) (*sparse.Set, Scheduler, error) {
	model := space.Model()
	reader := newReader(space)
	reader.permittedChoices = sparse.NewSet(model.NumChoices())
	if err := reader.read(ctx, file, text); err != nil {
		return nil, nil, err
	}
	for s, chosen := range reader.choices {
		if chosen != sparse.None {
			continue
		}
		first, end := model.Choices(s)
		for c := first; c < end; c++ {
			reader.permittedChoices.Add(c)
		}
	}
	if reader.nondeterministic {
		return reader.permittedChoices, nil, nil
	}
	return reader.permittedChoices, Scheduler{reader.choices}, nil
}

// newReader returns a reader that has read no choices yet.
func newReader(space *explicit.Space) *reader {
	created := &reader{space: space, choices: make([]uint32, space.Model().NumStates()), varIndex: map[string]int{}}
	for i := range created.choices {
		created.choices[i] = sparse.None
	}
	for i, variable := range space.Program().Vars {
		created.varIndex[variable.Name] = i
	}
	return created
}

// read reads JSON or a list. JSON begins with a bracket.
func (r *reader) read(ctx context.Context, file string, text []byte) error {
	isJSON := bytes.HasPrefix(bytes.TrimSpace(text), []byte("["))
	if isJSON {
		return r.readJSON(ctx, file, text)
	}
	return r.readList(ctx, file, text)
}

// reader reads one scheduler.
type reader struct {
	space    *explicit.Space
	choices  []uint32       // the choice that was read last for each state, sparse.None if there was none
	varIndex map[string]int // the index of each variable
	// permittedChoices has all choices that were read, if the file may permit several choices of a state; otherwise it is
	// nil. nondeterministic says that the file permits several choices of some state.
	permittedChoices *sparse.Set
	nondeterministic bool
	order            []uint32 // the state with each of PRISM's numbers; nil until needed
}

// readList reads one of PRISM's lists.
func (r *reader) readList(ctx context.Context, file string, text []byte) error {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lineNumber := 1; lines.Scan(); lineNumber++ {
		if lineNumber%statesPerPoll == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		line := strings.TrimSpace(lines.Text())
		if line == "" {
			continue
		}
		if err := r.readLine(line); err != nil {
			return fmt.Errorf("%s:%d:1: %w", file, lineNumber, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// readLine reads a line of a list: the choice of one state.
func (r *reader) readLine(line string) error {
	if !strings.HasPrefix(line, "(") {
		return r.readNumberedLine(line)
	}
	state, action, found := strings.Cut(line, ")=")
	words := strings.Split(strings.TrimPrefix(state, "("), ",")
	if len(r.varIndex) == 0 && words[0] == "" { // the line ()=move of a model without variables
		words = nil
	}
	if strings.Contains(state, ")") { // (0,true),3=move
		return errNeedsMemory
	}
	if !found || len(words) != len(r.varIndex) {
		return r.formatError(line)
	}
	valuation := make([]int32, len(words))
	for i, word := range words {
		value, err := parseValue(word)
		if err != nil {
			return fmt.Errorf("found the value %.60q, want a number, true or false", word)
		}
		valuation[i] = value
	}
	return r.setChoiceOfValuation(valuation, action)
}

// errNeedsMemory says that a list has the choices of a scheduler with memory.
var errNeedsMemory = errors.New("found a list of a scheduler with memory, which does not contain memory updates: want Storm's JSON")

// formatError returns an error that says that a line does not have PRISM's format.
func (r *reader) formatError(line string) error {
	if strings.HasPrefix(line, "# Transitions") || strings.HasPrefix(line, "# Reward") {
		return errors.New("found the induced chain of a scheduler, want its choices: check --export-scheduler FILE.json writes them")
	}
	return fmt.Errorf("found %.60q, want a state of %d variables or a number of one, and its action or the number of a choice, such as (0,true)=move, 17=move or 17=1", line, len(r.varIndex))
}

// readNumberedLine reads `17=move`, a state number and an action, or `17=1`, a state number and the number of a choice of the state.
// A number after = is never an action, because the name of an action does not begin with a digit.
func (r *reader) readNumberedLine(line string) error {
	number, choice, found := strings.Cut(line, "=")
	if strings.Contains(number, ",") && found { // 17,3=move
		return errNeedsMemory
	}
	stateNumber, err := strconv.Atoi(number)
	if !found || err != nil {
		return r.formatError(line)
	}
	if r.order == nil {
		r.order = r.space.Order()
	}
	if stateNumber < 0 || stateNumber >= len(r.order) {
		return fmt.Errorf("found state %d, the model has 0 to %d", stateNumber, len(r.order)-1)
	}
	state := int(r.order[stateNumber])
	choiceNumber, err := strconv.Atoi(choice)
	if err != nil {
		return r.setChoiceByAction(state, choice)
	}
	first, end := r.space.Model().Choices(state)
	if choiceNumber < 0 || choiceNumber >= end-first {
		return fmt.Errorf("found choice %d of state %d, which has 0 to %d", choiceNumber, stateNumber, end-first-1)
	}
	return r.setChoice(state, first+choiceNumber)
}

// parseValue reads a value of a variable. true is 1 and false is 0.
func parseValue(word string) (int32, error) {
	switch word = strings.TrimSpace(word); word {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	value, err := strconv.ParseInt(word, 10, 32)
	return int32(value), err
}

// readJSON reads Storm's format.
func (r *reader) readJSON(ctx context.Context, file string, text []byte) error {
	var entries []jsonEntry
	if err := json.Unmarshal(text, &entries); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for number := range entries {
		if number%statesPerPoll == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := r.readEntry(&entries[number]); err != nil {
			return fmt.Errorf("%s: entry %d: %w", file, number, err)
		}
	}
	return nil
}

// jsonEntry is the choice of a state in Storm's format.
type jsonEntry struct {
	Choice json.RawMessage            `json:"c"`
	Memory *int                       `json:"m"`
	State  map[string]json.RawMessage `json:"s"`
}

// readEntry sets the choice of the state of an entry.
func (r *reader) readEntry(entry *jsonEntry) error {
	if entry.Memory != nil {
		return errors.New("found a scheduler with a memory, want one without")
	}
	var choices []readChoice
	if json.Unmarshal(entry.Choice, &choices) != nil {
		return nil // "undefined": any choice
	}
	actions, err := r.actionsOf(choices)
	if err != nil {
		return err
	}
	valuation, err := r.valuationOf(entry.State)
	if err != nil {
		return err
	}
	for _, action := range actions {
		if err := r.setChoiceOfValuation(valuation, action); err != nil {
			return err
		}
	}
	return nil
}

// readChoice is a choice of an entry: its actions and its probability.
type readChoice struct {
	Labels []string        `json:"labels"`
	Prob   json.RawMessage `json:"prob"`
}

// actionsOf returns the action of each choice of an entry; "" for a choice without an action. It returns an error if there are several
// choices that are not equally likely or not permitted, or if a choice has several actions.
func (r *reader) actionsOf(choices []readChoice) ([]string, error) {
	mayHaveSeveral := r.permittedChoices != nil
	if len(choices) == 0 || len(choices) > 1 && !mayHaveSeveral {
		return nil, fmt.Errorf("found %d choices, want one with one action", len(choices))
	}
	var actions []string
	for _, choice := range choices {
		switch {
		case len(choice.Labels) > 1:
			return nil, fmt.Errorf("found a choice with %d actions, want one", len(choice.Labels))
		case !bytes.Equal(choice.Prob, choices[0].Prob):
			return nil, errors.New("found choices that are not equally likely, want those that are permitted")
		case len(choice.Labels) == 0:
			actions = append(actions, "")
		default:
			actions = append(actions, choice.Labels[0])
		}
	}
	return actions, nil
}

// valuationOf returns the values of the variables, in the model's order, from those by name.
func (r *reader) valuationOf(state map[string]json.RawMessage) ([]int32, error) {
	valuation := make([]int32, len(r.varIndex))
	for name, variable := range r.varIndex {
		value, err := parseValue(string(state[name]))
		if err != nil {
			return nil, fmt.Errorf("found no value of %s", name)
		}
		valuation[variable] = value
	}
	return valuation, nil
}

// setChoiceOfValuation records the choice with the given action of a state. It ignores states that the model does not
// have, as they are unreachable.
func (r *reader) setChoiceOfValuation(valuation []int32, action string) error {
	state, ok := r.space.Find(valuation)
	if !ok {
		return nil
	}
	return r.setChoiceByAction(state, action)
}

// setChoiceByAction records the choice of state s that has the given action.
func (r *reader) setChoiceByAction(s int, action string) error {
	c, err := r.choiceWithAction(s, action)
	if err != nil {
		return err
	}
	return r.setChoice(s, c)
}

// choiceWithAction returns the only choice of state s that has the given action, or no action if action is "". It returns an error if there
// is no such choice or if there are several.
func (r *reader) choiceWithAction(s int, action string) (int, error) {
	model := r.space.Model()
	var found []int
	first, end := model.Choices(s)
	for c := first; c < end; c++ {
		if r.actionName(model, c) == action {
			found = append(found, c)
		}
	}
	switch {
	case len(found) == 0:
		return 0, fmt.Errorf("state %s has no action %.60q", r.stateText(s), action)
	case len(found) > 1 && action == "":
		return 0, fmt.Errorf("state %s has several choices without an action, want a list of choice indices (type=indices)", r.stateText(s))
	case len(found) > 1:
		return 0, fmt.Errorf("state %s has several choices with action %s, want a list of choice indices (type=indices)", r.stateText(s), action)
	}
	return found[0], nil
}

// setChoice records choice c of state s. A second choice of a state is an error, unless several are
// permitted.
func (r *reader) setChoice(s, c int) error {
	hasOtherChoice := r.choices[s] != sparse.None && r.choices[s] != uint32(c)
	mayHaveSeveral := r.permittedChoices != nil
	if hasOtherChoice && !mayHaveSeveral {
		return fmt.Errorf("found two choices of state %s, a scheduler has one", r.stateText(s))
	}
	if mayHaveSeveral {
		r.permittedChoices.Add(c)
		r.nondeterministic = r.nondeterministic || hasOtherChoice
	}
	r.choices[s] = uint32(c)
	return nil
}

// actionName returns the action of choice c; empty for none.
func (r *reader) actionName(model *sparse.Model, c int) string {
	if model.Actions == nil || model.Actions[c] == sparse.NoAction {
		return ""
	}
	return r.space.Program().Actions[model.Actions[c]-1]
}

func (r *reader) stateText(s int) string { return r.space.Compiled().StateText(r.space.State(nil, s)) }
