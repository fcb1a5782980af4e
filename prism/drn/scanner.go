package drn

import (
	"bytes"

	"tilecheck/internal/noun"
	"tilecheck/prism/syntax"
	"tilecheck/prism/textlines"
)

// Scanner reads a DRN file line by line. It checks all that does not depend on the values: the order and the number of the states, that each
// has an action, that each action has a transition, and so on. The caller parses probabilities, rates and rewards. Errors are in Errs.
type Scanner struct {
	*textlines.Reader
	Preamble
	Kind LineKind // of the current line

	// The parts of the line of a state:
	State       int // the number of the state, -1 before the first
	StatePos    syntax.Pos
	Rate        textlines.Field // Text is nil if there is none
	Observation int
	Labels      []int // indices in LabelNames
	IsDeadlock  bool  // it has the label deadlock
	// The parts of the line of an action. ActionName is "" for a number and for Storm's name of a missing action.
	Action     textlines.Field
	ActionName string
	NumActions int // of the current state so far
	// Rewards of the state or the action: one for each structure, or none. They are valid until the next line.
	Rewards []textlines.Field
	// The parts of the line of a transition:
	Target       int
	TargetColumn int
	Weight       textlines.Field

	LabelNames []string // in order of appearance; after the last line, also those of labels without states

	numTransitions int // of the current action
	numAllActions  int
	actionPos      syntax.Pos
	labelIndices   map[string]int
	lastLabelled   []int // the last state with each label
	column         int   // in the current line, where the next part begins
}

// LineKind is what a line after @model has.
type LineKind uint8

const (
	StateLine      LineKind = iota // a state with its exit rate, observation, rewards and labels
	ActionLine                     // an action with its rewards; it begins a choice
	TransitionLine                 // a target and a probability or rate
)

// NoLabel is what Storm writes for an action without a name.
const NoLabel = "__NOLABEL__"

// NewScanner reads the preamble of a file. After an error in it, which is in Errs, Next must not be called.
func NewScanner(reader *textlines.Reader) *Scanner {
	scanner := &Scanner{Reader: reader, State: -1, labelIndices: map[string]int{}}
	scanner.readPreamble()
	return scanner
}

// Next reads the next line that is neither empty nor a comment. It skips lines with errors. It returns false at the end of the file, after
// the last checks.
func (scanner *Scanner) Next() bool {
	for scanner.NextLine() {
		scanner.column = 0
		scanner.skipBlanks()
		if text := scanner.restOfLine(); len(text) == 0 || bytes.HasPrefix(text, []byte("//")) {
			continue
		}
		if scanner.readLine() {
			return true
		}
	}
	scanner.checkEnd()
	return false
}

// readLine reads the current line. It returns false if an error leaves no state, action or transition.
func (scanner *Scanner) readLine() bool {
	switch {
	case scanner.skipWord("state"):
		return scanner.readState()
	case scanner.skipWord("action"):
		return scanner.readAction()
	}
	return scanner.readTransition()
}

// restOfLine returns the text of the current line that was not read yet.
func (scanner *Scanner) restOfLine() []byte { return scanner.LineText[scanner.column:] }

// startsWith reports whether the text that was not read yet begins with a character.
func (scanner *Scanner) startsWith(char byte) bool {
	return scanner.column < len(scanner.LineText) && scanner.LineText[scanner.column] == char
}

// skipBlanks skips spaces and tabs.
func (scanner *Scanner) skipBlanks() {
	for scanner.startsWith(' ') || scanner.startsWith('\t') {
		scanner.column++
	}
}

// skipWord skips a word and the blanks after it, and returns true. It returns false if the next text is not this word and a blank.
func (scanner *Scanner) skipWord(word string) bool {
	after, isPrefix := bytes.CutPrefix(scanner.restOfLine(), []byte(word))
	isWholeWord := bytes.HasPrefix(after, []byte(" ")) || bytes.HasPrefix(after, []byte("\t"))
	if !isPrefix || !isWholeWord {
		return false
	}
	scanner.column += len(word)
	scanner.skipBlanks()
	return true
}

// nextField reads the text up to the next blank, and skips the blanks after it.
func (scanner *Scanner) nextField() textlines.Field {
	word := textlines.Field{Text: scanner.restOfLine(), Column: scanner.column}
	if i := bytes.IndexAny(word.Text, " \t"); i >= 0 {
		word.Text = word.Text[:i]
	}
	scanner.column += len(word.Text)
	scanner.skipBlanks()
	return word
}

// readState reads the rest of a line such as: state 0 !2.5 {3} [1, 0] init "two words". States must be in order, without gaps. After a gap
// it records an error and reads on.
func (scanner *Scanner) readState() bool {
	scanner.checkState()
	field := scanner.nextField()
	state, ok := scanner.ParseIndex(field, "state", scanner.NumStates)
	if !ok {
		return false
	}
	next := scanner.State + 1
	if state != next {
		scanner.ErrorAt(field.Column, "found state %d, wanted state %d: every state once and in order", state, next)
	}
	if state < next {
		return false
	}
	scanner.Kind, scanner.State, scanner.StatePos, scanner.NumActions = StateLine, state, scanner.Position(field.Column), 0
	scanner.readRate()
	scanner.readObservation()
	scanner.readRewards()
	scanner.Labels, scanner.IsDeadlock = scanner.Labels[:0], false
	for scanner.column < len(scanner.LineText) && len(scanner.Errs) < textlines.MaxErrors {
		scanner.readLabel()
	}
	return true
}

// readRate reads the exit rate of a state, such as !2.5. States of CTMCs and Markov automata must have it, and other states must not.
func (scanner *Scanner) readRate() {
	scanner.Rate = textlines.Field{}
	hasRate := scanner.startsWith('!')
	switch {
	case hasRate != (scanner.Type == syntax.CTMC || scanner.IsMarkovAutomaton):
		scanner.ErrorAt(scanner.column, "found %s, wanted the exit rate, such as !2.5, in a CTMC or a Markov automaton and only there", textlines.Quote(scanner.restOfLine()))
	case hasRate:
		scanner.column++
		scanner.Rate = scanner.nextField()
	}
}

// readObservation reads the observation of a state, such as {3}. States of a POMDP must have it, and other states must not.
func (scanner *Scanner) readObservation() {
	hasObservation := scanner.startsWith('{')
	if hasObservation != (scanner.Type == syntax.POMDP) {
		scanner.ErrorAt(scanner.column, "found %s, wanted the observation, such as {3}, in a POMDP and only there", textlines.Quote(scanner.restOfLine()))
		return
	}
	if !hasObservation {
		return
	}
	entry := scanner.nextField()
	text, isClosed := bytes.CutSuffix(entry.Text[1:], []byte("}"))
	if !isClosed {
		scanner.ErrorAt(entry.Column, "found %s, wanted an observation such as {3}", textlines.Quote(entry.Text))
		return
	}
	scanner.Observation, _ = scanner.ParseIndex(textlines.Field{Text: text, Column: entry.Column + 1}, "observation", scanner.NumStates)
}

// readRewards reads a list of rewards such as [1, 0], if there is one, with an entry for each reward structure.
func (scanner *Scanner) readRewards() {
	scanner.Rewards = scanner.Rewards[:0]
	if !scanner.startsWith('[') {
		return
	}
	begin := scanner.column
	length := bytes.IndexByte(scanner.restOfLine(), ']')
	if length < 0 {
		scanner.ErrorAt(begin, "found no ], wanted one after the rewards")
		scanner.column = len(scanner.LineText)
		return
	}
	scanner.column += length + 1
	scanner.skipBlanks()
	column := begin + 1
	for text := range bytes.SplitSeq(scanner.LineText[column:begin+length], []byte(",")) {
		trimmed := bytes.TrimLeft(text, " ")
		scanner.Rewards = append(scanner.Rewards, textlines.Field{Text: bytes.TrimRight(trimmed, " "), Column: column + len(text) - len(trimmed)})
		column += len(text) + 1
	}
	scanner.checkNumRewards(begin)
}

// checkNumRewards records an error at a column unless the list of rewards has an entry for each reward structure. Storm's list of names
// cannot show a last structure without a name. So the first list of rewards may have one more entry, and this adds the structure.
func (scanner *Scanner) checkNumRewards(column int) {
	if scanner.mayHaveUnnamedReward && len(scanner.Rewards) == len(scanner.RewardNames)+1 {
		scanner.RewardNames = append(scanner.RewardNames, "")
	}
	scanner.mayHaveUnnamedReward = false
	if count, wanted := len(scanner.Rewards), len(scanner.RewardNames); count != wanted {
		scanner.ErrorAt(column, "found %d rewards, wanted %d: one per name after @reward_models", count, wanted)
		scanner.Rewards = scanner.Rewards[:0]
	}
}

// readLabel reads a label of the state, with or without quotes.
func (scanner *Scanner) readLabel() {
	field := scanner.nextField()
	if field.Text[0] == '"' {
		end := bytes.IndexByte(scanner.LineText[field.Column+1:], '"')
		if end <= 0 {
			scanner.ErrorAt(field.Column, "found %s, wanted a label with a quote at both ends", textlines.Quote(scanner.LineText[field.Column:]))
			scanner.column = len(scanner.LineText)
			return
		}
		field.Text = scanner.LineText[field.Column+1 : field.Column+1+end]
		scanner.column = field.Column + end + 2
		scanner.skipBlanks()
	}
	label, isKnown := scanner.labelIndices[string(field.Text)]
	if !isKnown {
		label = scanner.addLabel(string(field.Text))
	}
	if scanner.lastLabelled[label] == scanner.State {
		scanner.ErrorAt(field.Column, "found label %s again, wanted each once", textlines.Quote(field.Text))
	}
	scanner.lastLabelled[label] = scanner.State
	scanner.IsDeadlock = scanner.IsDeadlock || string(field.Text) == "deadlock"
	scanner.Labels = append(scanner.Labels, label)
}

// addLabel adds a label that no state has so far, and returns its index.
func (scanner *Scanner) addLabel(name string) int {
	label := len(scanner.LabelNames)
	scanner.labelIndices[name] = label
	scanner.LabelNames, scanner.lastLabelled = append(scanner.LabelNames, name), append(scanner.lastLabelled, -1)
	return label
}

// readAction reads the rest of a line such as: action left [1, 0]. The line begins a choice of an MDP, or the only row of a Markov chain's
// state.
func (scanner *Scanner) readAction() bool {
	field := scanner.nextField()
	canHaveChoices := scanner.Type == syntax.MDP || scanner.Type == syntax.POMDP
	switch {
	case scanner.State < 0:
		scanner.ErrorAt(field.Column, "found an action, wanted a state before it")
		return false
	case len(field.Text) == 0:
		scanner.ErrorAt(field.Column, "found no name, wanted the name of an action")
		return false
	case scanner.NumActions > 0 && !canHaveChoices:
		scanner.ErrorAt(field.Column, "found a second action, wanted one per state in %s", noun.WithArticle(scanner.Type.String()))
		return false
	}
	scanner.checkAction()
	scanner.Kind, scanner.Action, scanner.ActionName = ActionLine, field, ""
	isNumber := len(bytes.Trim(field.Text, "0123456789")) == 0
	if !isNumber && string(field.Text) != NoLabel {
		scanner.ActionName = string(field.Text)
	}
	scanner.NumActions++
	scanner.numAllActions++
	scanner.numTransitions, scanner.actionPos = 0, scanner.Position(field.Column)
	scanner.readRewards()
	if scanner.column < len(scanner.LineText) {
		scanner.ErrorAt(scanner.column, "found %s, wanted the end of the line", textlines.Quote(scanner.restOfLine()))
	}
	return true
}

// readTransition reads a line such as: 3 : 0.25. It has the target and the weight of a transition of the current action.
func (scanner *Scanner) readTransition() bool {
	begin := scanner.column
	if scanner.State < 0 || scanner.NumActions == 0 {
		scanner.ErrorAt(begin, "found %s, wanted a state and an action before transitions", textlines.Quote(scanner.restOfLine()))
		return false
	}
	target, weight, ok := bytes.Cut(scanner.restOfLine(), []byte(":"))
	if !ok {
		scanner.ErrorAt(begin, "found %s, wanted state, action or a transition such as 3 : 0.25", textlines.Quote(scanner.restOfLine()))
		return false
	}
	scanner.numTransitions++
	trimmed := bytes.TrimLeft(weight, " \t")
	scanner.Kind, scanner.TargetColumn = TransitionLine, begin
	scanner.Weight = textlines.Field{Text: bytes.TrimRight(trimmed, " \t"), Column: len(scanner.LineText) - len(trimmed)}
	scanner.Target, ok = scanner.ParseIndex(textlines.Field{Text: bytes.TrimRight(target, " \t"), Column: begin}, "state", scanner.NumStates)
	if ok && scanner.IsDeadlock && scanner.Target != scanner.State {
		scanner.ErrorAt(begin, "found a transition to state %d, wanted none to other states: state %d has the label deadlock", scanner.Target, scanner.State)
	}
	return ok
}

// checkState records an error if the current state has no action, or its last action no transitions.
func (scanner *Scanner) checkState() {
	scanner.checkAction()
	if scanner.State >= 0 && scanner.NumActions == 0 {
		scanner.ErrorAtPos(scanner.StatePos, "found no action in state %d, wanted at least one", scanner.State)
	}
}

// checkAction records an error if the current action has no transitions.
func (scanner *Scanner) checkAction() {
	if scanner.NumActions > 0 && scanner.numTransitions == 0 {
		scanner.ErrorAtPos(scanner.actionPos, "found an action without transitions, wanted at least one")
	}
}

// checkEnd checks the last state, that there is an initial state, and the numbers of states and choices in the preamble. It adds the labels
// without states.
func (scanner *Scanner) checkEnd() {
	scanner.checkState()
	_, hasInitial := scanner.labelIndices["init"]
	numStates, declaresChoices := scanner.State+1, scanner.numChoices >= 0
	switch {
	case len(scanner.Errs) > 0:
	case numStates != scanner.NumStates:
		scanner.ErrorAtEnd("found %s, wanted %d as @nr_states says", noun.Count(numStates, "state"), scanner.NumStates)
	case declaresChoices && scanner.numAllActions != scanner.numChoices:
		scanner.ErrorAtEnd("found %s, wanted %d as @nr_choices says", noun.Count(scanner.numAllActions, "choice"), scanner.numChoices)
	case !hasInitial:
		scanner.ErrorAtEnd("found no state with the label init, wanted at least one")
	}
	for _, name := range scanner.emptyLabels {
		if _, isKnown := scanner.labelIndices[name]; !isKnown {
			scanner.addLabel(name)
		}
	}
}
