package drn

import (
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// readStates reads the lines after @model: states, their actions and the transitions of these.
func (reader *reader) readStates() error {
	for reader.nextLine() {
		text := strings.TrimLeft(reader.line, " \t")
		column := len(reader.line) - len(text)
		var err error
		switch {
		case text == "" || strings.HasPrefix(text, "//"): // an empty line, or the values of variables in a comment
		case strings.HasPrefix(text, "state "):
			err = reader.readState(column + len("state "))
		case strings.HasPrefix(text, "action "):
			err = reader.readAction(column + len("action "))
		default:
			err = reader.readTransition(column)
		}
		if err != nil {
			return err
		}
	}
	if len(reader.states) != reader.numStates {
		return reader.errorAtPos(reader.numStatesPos, "found %d states after @model, wanted %d", len(reader.states), reader.numStates)
	}
	return reader.checkComplete()
}

// checkComplete returns an error if the last state has no choice, or its last choice no transition. It is called before each further state and choice.
func (reader *reader) checkComplete() error {
	if len(reader.states) == 0 {
		return nil
	}
	last := reader.states[len(reader.states)-1]
	if len(last.choices) == 0 {
		return reader.errorAtPos(last.pos, "found no action in state %d, wanted at least one", len(reader.states)-1)
	}
	return reader.checkTransitions(last)
}

// checkTransitions returns an error if the last choice of a state has no transition.
func (reader *reader) checkTransitions(last *state) error {
	if len(last.choices) == 0 || len(last.choices[len(last.choices)-1].transitions) > 0 {
		return nil
	}
	return reader.errorAtPos(last.choices[len(last.choices)-1].pos, "found an action without transitions, wanted at least one")
}

// readState reads the number of a state, its exit rate, its rewards and its labels: 3 !p [0, 1] init "goal". In a CTMC the exit rate is the sum of the
// rates, which follow.
func (reader *reader) readState(column int) error {
	if err := reader.checkComplete(); err != nil {
		return err
	}
	state := &state{pos: reader.position(column)}
	word := reader.wordAt(column)
	if number, err := strconv.Atoi(word); err != nil || number != len(reader.states) || number >= reader.numStates {
		return reader.errorAt(column, "found state %q, wanted state %d of %d: every state once and in order", word, len(reader.states), reader.numStates)
	}
	column = reader.skipBlanks(column + len(word))
	if strings.HasPrefix(reader.line[column:], "!") {
		if reader.modelType != syntax.CTMC {
			return reader.errorAt(column, "found an exit rate, wanted it in a CTMC only")
		}
		rate := reader.wordAt(column + 1)
		if _, err := reader.parse(column+1, rate); err != nil {
			return err
		}
		column = reader.skipBlanks(column + 1 + len(rate))
	}
	column, err := reader.readRewards(column, &state.rewards)
	if err != nil {
		return err
	}
	reader.states = append(reader.states, state)
	return reader.readLabels(column, state)
}

// wordAt returns the word at a column of the current line.
func (reader *reader) wordAt(column int) string {
	text := reader.line[column:]
	if end := strings.IndexAny(text, " \t"); end >= 0 {
		return text[:end]
	}
	return text
}

// skipBlanks returns the first column, from the given one on, that has no blank.
func (reader *reader) skipBlanks(column int) int {
	return len(reader.line) - len(strings.TrimLeft(reader.line[column:], " \t"))
}

// parse parses a function of the parameters, or the placeholder of one, at a column of the current line.
func (reader *reader) parse(column int, text string) (value, error) {
	if strings.HasPrefix(text, "$") {
		function, isKnown := reader.placeholders[text]
		if !isKnown {
			return value{}, reader.errorAt(column, "found the placeholder %q, wanted one that is defined after @placeholders", text)
		}
		return function, nil
	}
	expr, err := syntax.ParseExprAt(reader.file, []byte(text), reader.position(column))
	return value{expr, text}, err
}

// readRewards reads a list of rewards such as [p, 1], if there is one at the column. The list has an entry for each reward structure. It returns the
// column behind the list.
func (reader *reader) readRewards(column int, rewards *[]value) (end int, err error) {
	if !strings.HasPrefix(reader.line[column:], "[") {
		return column, nil
	}
	length := strings.IndexByte(reader.line[column:], ']')
	if length < 0 {
		return 0, reader.errorAt(column, "found no ], wanted one after the rewards")
	}
	begin := column + 1
	for text := range strings.SplitSeq(reader.line[begin:column+length], ",") {
		trimmed := strings.TrimLeft(text, " ")
		reward, err := reader.parse(begin+len(text)-len(trimmed), strings.TrimRight(trimmed, " "))
		if err != nil {
			return 0, err
		}
		*rewards = append(*rewards, reward)
		begin += len(text) + 1
	}
	if reader.mayHaveUnnamedReward && len(*rewards) == len(reader.rewardNames)+1 {
		reader.rewardNames = append(reader.rewardNames, "")
	}
	reader.mayHaveUnnamedReward = false
	if len(*rewards) != len(reader.rewardNames) {
		return 0, reader.errorAt(column, "found %d rewards, wanted %d: one per name after @reward_models", len(*rewards), len(reader.rewardNames))
	}
	return reader.skipBlanks(column + length + 1), nil
}

// readLabels reads the labels of a state, with or without quotes.
func (reader *reader) readLabels(column int, state *state) error {
	for column < len(reader.line) {
		name := reader.wordAt(column)
		end := column + len(name)
		if name[0] == '"' {
			length := strings.IndexByte(reader.line[column+1:], '"')
			if length <= 0 {
				return reader.errorAt(column, "found %q, wanted a label with a quote at both ends", reader.line[column:])
			}
			name, end = reader.line[column+1:column+1+length], column+length+2
		}
		state.labels = append(state.labels, name)
		column = reader.skipBlanks(end)
	}
	return nil
}

// noLabel is Storm's name for a missing action.
const noLabel = "__NOLABEL__"

// readAction reads the action of a choice and its rewards: left [1, 0]. A number stands for a missing action.
func (reader *reader) readAction(column int) error {
	if len(reader.states) == 0 {
		return reader.errorAt(column, "found an action, wanted a state before it")
	}
	last := reader.states[len(reader.states)-1]
	if err := reader.checkTransitions(last); err != nil {
		return err
	}
	if len(last.choices) > 0 && reader.modelType != syntax.MDP {
		return reader.errorAt(column, "found a second action, wanted one per state in a %s", reader.modelType)
	}
	name := reader.wordAt(column)
	choice := &choice{pos: reader.position(column)}
	if _, err := strconv.Atoi(name); err != nil && name != noLabel {
		if !syntax.IsIdent(name) {
			return reader.errorAt(column, "found the action %q, wanted a name that PRISM's language does not reserve", name)
		}
		choice.action = name
	}
	end, err := reader.readRewards(reader.skipBlanks(column+len(name)), &choice.rewards)
	if err != nil {
		return err
	}
	if end < len(reader.line) {
		return reader.errorAt(end, "found %q, wanted the end of the line", reader.line[end:])
	}
	last.choices = append(last.choices, choice)
	return nil
}

// readTransition reads a transition: 3 : p.
func (reader *reader) readTransition(column int) error {
	targetText, _, hasColon := strings.Cut(reader.line[column:], ":")
	switch {
	case !hasColon:
		return reader.errorAt(column, "found %q, wanted state, action or a transition such as 3 : p", reader.line[column:])
	case len(reader.states) == 0 || len(reader.states[len(reader.states)-1].choices) == 0:
		return reader.errorAt(column, "found a transition, wanted a state and an action before it")
	case reader.numTransitions == maxTransitions:
		return reader.errorAt(column, "found more than %d transitions, wanted fewer in a model with parameters", maxTransitions)
	}
	target, err := strconv.Atoi(strings.TrimRight(targetText, " \t"))
	if err != nil || target < 0 || target >= reader.numStates {
		return reader.errorAt(column, "found state %q, wanted one below %d", strings.TrimRight(targetText, " \t"), reader.numStates)
	}
	weightColumn := reader.skipBlanks(column + len(targetText) + 1)
	weight, err := reader.parse(weightColumn, reader.line[weightColumn:])
	if err != nil {
		return err
	}
	choices := reader.states[len(reader.states)-1].choices
	last := choices[len(choices)-1]
	last.transitions = append(last.transitions, transition{reader.position(weightColumn), target, weight})
	reader.numTransitions++
	return nil
}
