package scheduler

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
)

// Read reads a memoryless scheduler: Storm's JSON, or one of PRISM's lists. A list has states with actions, (0,true)=move or
// 17=move, or with choice indices, 17=1. In a state without an entry any choice is allowed. An action that does not identify
// a choice is an error. Errors name the file and the line, unless the context has ended.
func Read(ctx context.Context, file string, text []byte, space *explicit.Space) (Scheduler, error) {
	reader := newReader(space)
	if err := reader.read(ctx, file, text); err != nil {
		return nil, err
	}
	return Scheduler{reader.choices}, nil
}

// ReadPermitted reads a scheduler file that may permit several choices in a state, in one of the formats of Read. A list has a line for each
// permitted choice; JSON has equally likely choices. All choices of a state without an entry are permitted. scheduler is nil if the file permits
// several choices in some state.
func ReadPermitted(ctx context.Context, file string, text []byte, space *explicit.Space) (permitted *sparse.Set, scheduler Scheduler, err error) {
	model := space.Model()
	reader := newReader(space)
	reader.permittedChoices = sparse.NewSet(model.NumChoices())
	if err := reader.read(ctx, file, text); err != nil {
		return nil, nil, err
	}
	for s, choice := range reader.choices {
		if choice != sparse.None {
			continue
		}
		first, end := model.Choices(s)
		for c := first; c < end; c++ {
			reader.permittedChoices.Add(c)
		}
	}
	if reader.hasSeveralChoices {
		return reader.permittedChoices, nil, nil
	}
	return reader.permittedChoices, Scheduler{reader.choices}, nil
}

// newReader returns a reader for schedulers of a space. No state has a choice yet.
func newReader(space *explicit.Space) *reader {
	reader := &reader{space: space, choices: make([]uint32, space.Model().NumStates()), varIndex: map[string]int{}}
	for s := range reader.choices {
		reader.choices[s] = sparse.None
	}
	for i, variable := range space.Program().Vars {
		reader.varIndex[variable.Name] = i
	}
	return reader
}

// read reads Storm's JSON, which begins with a bracket, or one of PRISM's lists.
func (reader *reader) read(ctx context.Context, file string, text []byte) error {
	isJSON := bytes.HasPrefix(bytes.TrimSpace(text), []byte("["))
	readFormat := reader.readList
	if isJSON {
		readFormat = reader.readJSON
	}
	if err := readFormat(ctx, file, text); err != nil {
		return err
	}
	if err := reader.checkStates(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// reader reads one scheduler.
type reader struct {
	space    *explicit.Space
	choices  []uint32       // the choice that was read last for each state, sparse.None if there was none
	varIndex map[string]int // the index of each variable
	// permittedChoices has all choices that were read, if the file may permit several choices of a state; otherwise it is
	// nil. hasSeveralChoices says that the file permits several choices of some state.
	permittedChoices  *sparse.Set
	hasSeveralChoices bool
	order             []uint32 // the state with each of PRISM's numbers; nil until needed
	// numReachable counts the states in the file that are reachable; numUnreachable counts the others, which are ignored.
	numReachable, numUnreachable int
}

// readList reads a list of choices in one of PRISM's formats. Errors name the file and the line.
func (reader *reader) readList(ctx context.Context, file string, text []byte) error {
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
		if err := reader.readLine(line); err != nil {
			return fmt.Errorf("%s:%d:1: %w", file, lineNumber, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// readLine reads a line of a list in one of PRISM's formats. The line begins with the valuation or with the number of a state, as in (0,true)=move or
// 17=move. A memory after the state, as in (0,true),3=move, is an error.
func (reader *reader) readLine(line string) error {
	if !strings.HasPrefix(line, "(") {
		return reader.readNumberedLine(line)
	}
	state, action, hasAction := strings.Cut(line, ")=")
	words := strings.Split(strings.TrimPrefix(state, "("), ",")
	if len(reader.varIndex) == 0 && words[0] == "" { // the line ()=move of a model without variables
		words = nil
	}
	if strings.Contains(state, ")") { // (0,true),3=move
		return errNeedsMemory
	}
	if !hasAction || len(words) != len(reader.varIndex) {
		return reader.formatError(line)
	}
	valuation, err := parseValuation(words)
	if err != nil {
		return err
	}
	return reader.setChoiceOfValuation(valuation, action)
}

// parseValuation parses the values of all variables in a state, in the order of the variables.
func parseValuation(words []string) ([]int32, error) {
	valuation := make([]int32, len(words))
	for i, word := range words {
		value, err := parseValue(word)
		if err != nil {
			return nil, fmt.Errorf("found the value %.60q, want a number, true or false", word)
		}
		valuation[i] = value
	}
	return valuation, nil
}

// errNeedsMemory says that a list has the choices of a scheduler with memory.
var errNeedsMemory = errors.New("this list does not say how the memory of the scheduler changes: export the scheduler again as FILE.json, and use that file")

// formatError returns the error for a line that does not have PRISM's format.
func (reader *reader) formatError(line string) error {
	if strings.HasPrefix(line, "# Transitions") || strings.HasPrefix(line, "# Reward") {
		return errors.New("found the induced chain of a scheduler, want its choices: check --export-scheduler FILE.json writes them")
	}
	return fmt.Errorf("found %.60q, want the values of %s or the number of a state, and then its action or the number of its choice: such as (0,true)=move, 17=move or 17=1", line, noun.Count(len(reader.varIndex), "variable"))
}

// readNumberedLine reads a line that begins with the number of a state. The choice is given by its action, as in `17=move`, or by its index
// among the choices of the state, as in `17=1`.
func (reader *reader) readNumberedLine(line string) error {
	numberText, choice, hasChoice := strings.Cut(line, "=")
	if hasChoice && strings.Contains(numberText, ",") { // 17,3=move
		return errNeedsMemory
	}
	stateNumber, err := strconv.Atoi(numberText)
	if !hasChoice || err != nil {
		return reader.formatError(line)
	}
	if reader.order == nil {
		reader.order = reader.space.Order()
	}
	if stateNumber < 0 || stateNumber >= len(reader.order) {
		return fmt.Errorf("found state %d, the model has 0 to %d", stateNumber, len(reader.order)-1)
	}
	reader.numReachable++
	state := int(reader.order[stateNumber])
	index, err := strconv.Atoi(choice)
	if err != nil { // choice is an action, whose name does not begin with a digit
		return reader.setChoiceByAction(state, choice)
	}
	first, end := reader.space.Model().Choices(state)
	if index < 0 || index >= end-first {
		return fmt.Errorf("found choice %d of state %d, which has 0 to %d", index, stateNumber, end-first-1)
	}
	return reader.setChoice(state, first+index)
}

// parseValue parses the value of a variable. It returns 1 for true and 0 for false.
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

// readJSON reads a scheduler in Storm's JSON format. Errors name the file and the entry.
func (reader *reader) readJSON(ctx context.Context, file string, text []byte) error {
	var entries []jsonEntry
	if err := json.Unmarshal(text, &entries); err != nil {
		return fmt.Errorf("%s: found no list of states with choices, want one in Storm's JSON format: %w", file, err)
	}
	if len(entries) == 0 {
		return fmt.Errorf("%s: found an empty list, want an entry for each state", file)
	}
	for number := range entries {
		if number%statesPerPoll == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if err := reader.readEntry(&entries[number]); err != nil {
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

// readEntry records the choices in an entry of Storm's JSON format. An entry describes one state. If its choice is not a list, as in "undefined", all
// choices are allowed. Entries of unreachable states are ignored.
func (reader *reader) readEntry(entry *jsonEntry) error {
	if entry.Memory != nil {
		return errors.New("found a scheduler with a memory, want one without")
	}
	valuation, err := reader.valuationOf(entry.State)
	if err != nil {
		return err
	}
	state, isReachable := reader.find(valuation)
	var choices []readChoice
	if json.Unmarshal(entry.Choice, &choices) != nil {
		return nil // "undefined": any choice
	}
	if err := reader.checkChoices(choices); err != nil || !isReachable {
		return err
	}
	for i := range choices {
		choice, err := reader.choiceOf(state, &choices[i])
		if err != nil {
			return err
		}
		if err := reader.setChoice(state, choice); err != nil {
			return err
		}
	}
	return nil
}

// readChoice is a choice of an entry: its index in the model if the file has one, its actions and its probability.
type readChoice struct {
	Index  *int            `json:"index"`
	Labels []string        `json:"labels"`
	Prob   json.RawMessage `json:"prob"`
}

// checkChoices checks the choices in an entry of Storm's JSON format. It is an error if there is no choice, if there are several choices and the file
// must not permit several choices in a state, or if they are not equally likely.
func (reader *reader) checkChoices(choices []readChoice) error {
	mayHaveSeveral := reader.permittedChoices != nil
	hasTooMany := len(choices) > 1 && !mayHaveSeveral
	if len(choices) == 0 || hasTooMany {
		return fmt.Errorf("found %d choices, want one with one action", len(choices))
	}
	for _, choice := range choices {
		if !bytes.Equal(choice.Prob, choices[0].Prob) {
			return errors.New("found choices with different probabilities, want equally likely ones")
		}
	}
	return nil
}

// choiceOf returns the choice of state s that an entry of Storm's JSON format describes by its index in the model and its labels. If the index
// is not a choice of s with this action, it returns the only choice of s with the action. Without labels the choice has no action.
func (reader *reader) choiceOf(s int, described *readChoice) (int, error) {
	if len(described.Labels) > 1 {
		return 0, fmt.Errorf("found a choice with %d actions, want one", len(described.Labels))
	}
	action := ""
	if len(described.Labels) == 1 {
		action = described.Labels[0]
	}
	if described.Index != nil {
		index := *described.Index
		first, end := reader.space.Model().Choices(s)
		isChoice := index >= first && index < end
		if isChoice && reader.actionName(reader.space.Model(), index) == action {
			return index, nil
		}
	}
	return reader.choiceWithAction(s, action)
}

// valuationOf parses the values of all variables in a state. state has a JSON value for each name of a variable. The result is in the order of the
// program's variables.
func (reader *reader) valuationOf(state map[string]json.RawMessage) ([]int32, error) {
	valuation := make([]int32, len(reader.varIndex))
	for name, variable := range reader.varIndex {
		value, err := parseValue(string(state[name]))
		if err != nil {
			return nil, fmt.Errorf("found no value of %s, want a number, true or false", name)
		}
		valuation[variable] = value
	}
	return valuation, nil
}

// setChoiceOfValuation records that the state with a valuation has the choice with an action. It ignores unreachable states.
func (reader *reader) setChoiceOfValuation(valuation []int32, action string) error {
	state, isReachable := reader.find(valuation)
	if !isReachable {
		return nil
	}
	return reader.setChoiceByAction(state, action)
}

// find returns the state with a valuation, and whether it is reachable. It counts the reachable and the unreachable states of the file; checkStates
// refuses a file that has unreachable states only.
func (reader *reader) find(valuation []int32) (state int, isReachable bool) {
	state, isReachable = reader.space.Find(valuation)
	if isReachable {
		reader.numReachable++
	} else {
		reader.numUnreachable++
	}
	return state, isReachable
}

// checkStates returns an error if the file describes states, and none of them is reachable: such a file is of another model, and ignoring
// all of it would leave every choice open.
func (reader *reader) checkStates() error {
	if reader.numReachable == 0 && reader.numUnreachable > 0 {
		return fmt.Errorf("no state of the file (%d) is a reachable state of the model: the scheduler is of another model, or of other constants", reader.numUnreachable)
	}
	return nil
}

// setChoiceByAction records the choice of state s that has the given action.
func (reader *reader) setChoiceByAction(s int, action string) error {
	choice, err := reader.choiceWithAction(s, action)
	if err != nil {
		return err
	}
	return reader.setChoice(s, choice)
}

// choiceWithAction returns the only choice of state s with the given action, where "" stands for no action. It is an error if no choice or more than one
// choice has this action.
func (reader *reader) choiceWithAction(s int, action string) (int, error) {
	model := reader.space.Model()
	var matches []int
	var actions []string
	first, end := model.Choices(s)
	for choice := first; choice < end; choice++ {
		name := reader.actionName(model, choice)
		if actions = append(actions, name); name == action {
			matches = append(matches, choice)
		}
	}
	switch {
	case len(matches) == 0:
		slices.Sort(actions)
		return 0, fmt.Errorf("state %s has no action %.60q, want one of %q", reader.stateText(s), action, slices.Compact(actions))
	case len(matches) > 1 && action == "":
		return 0, fmt.Errorf("state %s has several choices without an action, want a list of choice indices (type=indices)", reader.stateText(s))
	case len(matches) > 1:
		return 0, fmt.Errorf("state %s has several choices with action %s, want a list of choice indices (type=indices)", reader.stateText(s), action)
	}
	return matches[0], nil
}

// setChoice records a choice of state s. A second, different choice of a state is an error, unless the file may permit several choices in a state.
func (reader *reader) setChoice(s, choice int) error {
	hasOtherChoice := reader.choices[s] != sparse.None && reader.choices[s] != uint32(choice)
	mayHaveSeveral := reader.permittedChoices != nil
	if hasOtherChoice && !mayHaveSeveral {
		return fmt.Errorf("found two choices of state %s, a scheduler has one", reader.stateText(s))
	}
	if mayHaveSeveral {
		reader.permittedChoices.Add(choice)
		reader.hasSeveralChoices = reader.hasSeveralChoices || hasOtherChoice
	}
	reader.choices[s] = uint32(choice)
	return nil
}

// actionName returns the action of a choice; empty for none.
func (reader *reader) actionName(model *sparse.Model, choice int) string {
	if model.Actions == nil || model.Actions[choice] == sparse.NoAction {
		return ""
	}
	return reader.space.Program().Actions[model.Actions[choice]-1]
}

func (reader *reader) stateText(s int) string {
	return reader.space.Compiled().StateText(reader.space.State(nil, s))
}
