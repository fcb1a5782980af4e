package files

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/syntax"
)

// rateTolerance is the largest accepted relative difference between the exit rate of a state and
// the sum of its rates. Storm writes six digits by default.
const rateTolerance = 1e-5

// noLabel is Storm's name for a missing action.
const noLabel = "__NOLABEL__"

// ReadDRN reads a model in Storm's format. The states get one variable x, their number, because the format has
// valuations only in comments. A Markov automaton becomes its embedded MDP, with a reward structure of the time.
// Rewards per unit of time are multiplied by the mean time in the state.
//
// It returns the same errors as Read. A file with parameters or placeholders is an error.
//
// Source: Storm's DirectEncodingParser.
func ReadDRN(ctx context.Context, source Source, opts ReadOptions) (*explicit.Space, error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	file := &drnFile{preambleLines: newLines(source), opts: opts, wantsFractions: opts.Exact, labelSets: map[string]*sparse.Set{}}
	if !file.readPreamble() {
		return nil, file.preambleLines.errs.Err()
	}
	if err := opts.checkNumStates(file.declaredStates); err != nil {
		return nil, err
	}
	if err := file.readBody(ctx); err != nil {
		return nil, err
	}
	return file.importSpace()
}

// drnFile reads a .drn file.
type drnFile struct {
	*assembly
	preambleLines        *lines
	opts                 ReadOptions
	wantsFractions       bool // the caller asked for fractions
	modelType            syntax.ModelType
	isMarkovAutomaton    bool          // a Markov automaton, whose exit rates follow
	exitRates            *rewardColumn // of each state of a Markov automaton, 0 where no time passes
	hasIntervalValues    bool          // probabilities are intervals
	observations         []uint32      // of each state of a POMDP
	typePos              syntax.Pos
	rewardNames          []string // of reward structures
	mayHaveUnnamedReward bool     // a last structure without a name may follow

	declaredStates  int
	declaredChoices int // -1 if not declared

	currentState    int  // the current state, -1 before the first
	hasAction       bool // the current state has an action
	numStateChoices int  // of the current state so far
	declaredRate    number
	declaredRatePos syntax.Pos
	currentAction   sparse.Action // the action of the current row
	choiceRewards   []number      // rewards of the action

	labelNames      []string // labels in order of appearance
	emptyLabelNames []string // labels that hold in no state, from a comment
	labelSets       map[string]*sparse.Set

	stateRewards []*rewardColumn
	rowRewards   [][]number // of the action, for every transition
}

// readPreamble reads the lines of a .drn file up to the line @model. They are keywords, such as @nr_states, and the values of these. It
// returns false after an error.
func (file *drnFile) readPreamble() bool {
	lines := file.preambleLines
	file.declaredChoices = -1
	for lines.nextLine() {
		text := string(lines.lineText)
		emptyLabelNames, listsEmptyLabels := strings.CutPrefix(text, emptyLabels)
		switch {
		case listsEmptyLabels:
			file.readEmptyLabels(emptyLabelNames)
		case strings.TrimSpace(text) == "" || strings.HasPrefix(text, "//"): // an empty line or a comment
		case text == "@model":
			return file.checkPreamble()
		case text[0] != '@':
			lines.errorAt(0, "found %s, wanted a keyword such as @type: or @model", quote(lines.lineText))
			return false
		default:
			file.readKeyword(text)
		}
	}
	if len(lines.errs) == 0 {
		lines.errorAtEnd("found the end of the file, wanted @model")
	}
	return false
}

// readKeyword reads a line of the preamble that begins with a keyword. The value of @type and @value_type follows a colon in the same line.
// The value of any other keyword is the next line.
func (file *drnFile) readKeyword(text string) {
	key, value, _ := strings.Cut(text, ":")
	switch key {
	case "@type":
		file.readType(strings.TrimSpace(value))
	case "@value_type":
		file.readValueType(strings.TrimSpace(value))
	default:
		file.readValueLine(text)
	}
}

// readEmptyLabels reads the quoted names of labels without states from a comment.
func (file *drnFile) readEmptyLabels(text string) {
	for i, name := range strings.Split(text, `"`) {
		isQuoted := i%2 == 1
		if isQuoted && name != "" && name != "init" && name != "deadlock" {
			file.emptyLabelNames = append(file.emptyLabelNames, name)
		}
	}
}

// drnTypes has the types of models by their names in capitals. A Markov automaton is read as its embedded MDP.
var drnTypes = map[string]syntax.ModelType{
	"DTMC": syntax.DTMC, "MDP": syntax.MDP, "CTMC": syntax.CTMC, "POMDP": syntax.POMDP,
	"MARKOV AUTOMATON": syntax.MDP, "MA": syntax.MDP,
}

// readType sets the type of the model from text, the value of @type. A second @type, and a type other than the one that the caller
// requested, are errors. A file of a DTMC or an MDP may turn out to have intervals, if the caller requested them.
func (file *drnFile) readType(text string) {
	name := strings.ToUpper(text)
	modelType, isKnown := drnTypes[name]
	if !isKnown {
		file.preambleLines.errorAt(0, "found a model of type %s, only DTMCs, MDPs, CTMCs, POMDPs and Markov automata can be read", quote([]byte(text)))
		return
	}
	file.isMarkovAutomaton = file.isMarkovAutomaton || name == "MA" || name == "MARKOV AUTOMATON"
	switch {
	case file.modelType != syntax.TypeNone:
		file.preambleLines.errorAt(0, "found a second @type, wanted one")
	case file.opts.Type != syntax.TypeNone && file.opts.Type != modelType && intervalType(modelType) != file.opts.Type:
		file.preambleLines.errorAt(0, "found a model of type %s, wanted the requested type %s", modelType, file.opts.Type)
	}
	file.modelType, file.typePos = modelType, file.preambleLines.position(0)
}

// intervalType returns the type of interval models that corresponds to a type of models. It returns syntax.TypeNone if there is none.
func intervalType(modelType syntax.ModelType) syntax.ModelType {
	switch modelType {
	case syntax.DTMC:
		return syntax.IDTMC
	case syntax.MDP:
		return syntax.IMDP
	}
	return syntax.TypeNone
}

// readValueType reads the value of @value_type, the type of the probabilities and rates. Models with parameters are not supported.
func (file *drnFile) readValueType(name string) {
	switch name {
	case "double", "rational":
	case "double-interval", "rational-interval":
		file.hasIntervalValues = true
	case "parametric":
		file.preambleLines.errorAt(0, "found values of type %s, which are not supported, wanted double, rational, double-interval or rational-interval", name)
	default:
		file.preambleLines.errorAt(0, "found values of type %s, wanted double, rational, double-interval or rational-interval", quote([]byte(name)))
	}
}

// readValueLine reads the value of a keyword such as @nr_states, which is the line after the keyword.
func (file *drnFile) readValueLine(key string) {
	switch key {
	case "@parameters", "@reward_models", "@nr_states", "@nr_choices":
	case "@placeholders":
		file.preambleLines.errorAt(0, "found @placeholders, which are not supported")
		return
	default:
		file.preambleLines.errorAt(0, "found %s, wanted a keyword such as @type: or @model", quote([]byte(key)))
		return
	}
	if !file.preambleLines.nextLine() {
		return
	}
	fields := file.preambleLines.splitFields()
	switch {
	case key == "@parameters":
		if len(fields) > 0 {
			file.preambleLines.errorAt(fields[0].column, "found the parameter %s: parametric models are not supported", quote(fields[0].text))
		}
	case key == "@reward_models":
		file.readRewardNames(string(file.preambleLines.lineText))
	case len(fields) != 1:
		file.preambleLines.errorAt(0, "found %s, wanted a number", quote(file.preambleLines.lineText))
	case key == "@nr_states":
		file.declaredStates, _ = file.preambleLines.parseCount(fields[0], "number of states")
	default:
		if count, ok := file.preambleLines.parseCount(fields[0], "number of choices"); ok {
			file.declaredChoices = count
		}
	}
}

// readRewardNames reads the names of the reward structures from a line of the preamble.
func (file *drnFile) readRewardNames(text string) {
	// Storm writes a space after each name. After the last space, a structure without a name may follow.
	// The first list of rewards shows whether there is one.
	text, file.mayHaveUnnamedReward = strings.CutSuffix(text, " ")
	file.mayHaveUnnamedReward = file.mayHaveUnnamedReward || text == ""
	if text != "" {
		file.rewardNames = strings.Split(text, " ")
	}
}

// checkPreamble reports whether the preamble is valid: It has the type and the number of states, and only DTMCs and MDPs have intervals. It
// records an error if not. With intervals, it changes the type to that of interval models, with fractions.
func (file *drnFile) checkPreamble() bool {
	switch {
	case len(file.preambleLines.errs) > 0: // recorded before
	case file.modelType == syntax.TypeNone:
		file.preambleLines.errorAt(0, "found no @type, wanted one before @model")
	case file.declaredStates == 0:
		file.preambleLines.errorAt(0, "found no states, wanted @nr_states before @model with at least one")
	case file.hasIntervalValues && (file.isMarkovAutomaton || intervalType(file.modelType) == syntax.TypeNone):
		file.preambleLines.errorAtPos(file.typePos, "found intervals, which only DTMCs and MDPs can have")
	case file.hasIntervalValues:
		file.modelType, file.opts.Exact = intervalType(file.modelType), true
	}
	return len(file.preambleLines.errs) == 0
}

// readBody reads the lines after @model, which have the states, the actions and the transitions. The result is the error of the context.
// Errors of the file are recorded.
func (file *drnFile) readBody(ctx context.Context) error {
	file.assembly = newAssembly(file.preambleLines, sparseKind(file.modelType), file.declaredStates, file.opts)
	file.hasIntervals = file.hasIntervalValues
	if file.isMarkovAutomaton {
		file.exitRates = newColumn(file.declaredStates, file.isExact)
	}
	if file.modelType == syntax.POMDP {
		file.observations = make([]uint32, file.declaredStates)
	}
	file.currentState = -1
	for line := 0; file.nextLine(); line++ {
		if line%pollInterval == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		text := bytes.TrimLeft(file.lineText, " \t")
		lineCursor := &cursor{drnFile: file, column: len(file.lineText) - len(text)}
		switch {
		case len(text) == 0 || bytes.HasPrefix(text, []byte("//")): // an empty line or a comment
		case lineCursor.skipWord("state"):
			lineCursor.readState()
		case lineCursor.skipWord("action"):
			lineCursor.readAction()
		default:
			lineCursor.readTransition()
		}
	}
	return nil
}

// cursor is a position in the current line of a .drn file.
type cursor struct {
	*drnFile
	column int
}

// restOfLine returns the text from the cursor on.
func (cursor *cursor) restOfLine() []byte { return cursor.lineText[cursor.column:] }

// skipBlanks moves the cursor behind spaces and tabs.
func (cursor *cursor) skipBlanks() {
	for cursor.column < len(cursor.lineText) && (cursor.lineText[cursor.column] == ' ' || cursor.lineText[cursor.column] == '\t') {
		cursor.column++
	}
}

// skipWord moves the cursor behind a word and the blanks after it, and returns true. If the text at the cursor is not this word and a
// blank, the cursor stays, and it returns false.
func (cursor *cursor) skipWord(word string) bool {
	after, isPrefix := bytes.CutPrefix(cursor.restOfLine(), []byte(word))
	isWholeWord := bytes.HasPrefix(after, []byte(" ")) || bytes.HasPrefix(after, []byte("\t"))
	if !isPrefix || !isWholeWord {
		return false
	}
	cursor.column += len(word)
	cursor.skipBlanks()
	return true
}

// nextField returns the text from the cursor to the next blank. It moves the cursor behind the blanks that follow.
func (cursor *cursor) nextField() field {
	word := field{cursor.restOfLine(), cursor.column}
	if i := bytes.IndexAny(word.text, " \t"); i >= 0 {
		word.text = word.text[:i]
	}
	cursor.column += len(word.text)
	cursor.skipBlanks()
	return word
}

// readState reads the rest of a line such as: state 0 !2.5 [1, 0] init "two words". It has the number of the state, its exit rate, its
// rewards and its labels. The cursor is behind the word state.
func (cursor *cursor) readState() {
	state, ok := cursor.readStateNumber()
	if !ok {
		return
	}
	cursor.endState()
	cursor.assembly.startState(state)
	cursor.currentState, cursor.hasAction, cursor.numStateChoices = state, false, 0
	cursor.readExitRate()
	cursor.readObservation(state)
	if values, ok := cursor.readRewards(); ok {
		for structure, reward := range values {
			cursor.stateRewardColumn(structure).setEntry(state, reward)
		}
	}
	for cursor.column < len(cursor.lineText) && len(cursor.errs) < maxErrors {
		cursor.readLabel(state)
	}
}

// readStateNumber reads the number of a state. States must be in order, without gaps. After a gap it records an error, and the state can
// still be read. For an invalid number, or one that is not greater than that of the current state, ok is false.
func (cursor *cursor) readStateNumber() (state int, ok bool) {
	field := cursor.nextField()
	state, ok = cursor.parseIndex(field, "state", cursor.numStates)
	if !ok {
		return 0, false
	}
	if next := cursor.currentState + 1; state != next {
		cursor.errorAt(field.column, "found state %d, wanted state %d: every state once and in order", state, next)
	}
	return state, state > cursor.currentState
}

// readExitRate reads the exit rate of the current state, such as !2.5. States of CTMCs and Markov automata must have it, and other states
// must not.
func (cursor *cursor) readExitRate() {
	hasRate := bytes.HasPrefix(cursor.restOfLine(), []byte("!"))
	if hasRate != (cursor.modelKind == sparse.CTMC || cursor.isMarkovAutomaton) {
		cursor.errorAt(cursor.column, "found %s, wanted the exit rate, such as !2.5, in a CTMC or a Markov automaton and only there", quote(cursor.restOfLine()))
		return
	}
	if !hasRate {
		return
	}
	cursor.declaredRatePos = cursor.position(cursor.column)
	cursor.column++
	rate, ok := cursor.parseValue(cursor.nextField(), "rate", cursor.isExact)
	cursor.declaredRate = rate
	switch {
	case !ok || !cursor.isMarkovAutomaton: // endState compares the rate of a CTMC with the sum of its rates
	case rate.float < 0:
		cursor.errorAtPos(cursor.declaredRatePos, "found exit rate %v, wanted none below 0", rate.float)
	default:
		cursor.exitRates.setEntry(cursor.currentState, rate)
	}
}

// readObservation reads the observation of a state, such as {3}. States of a POMDP must have it, and other states must not.
func (cursor *cursor) readObservation(state int) {
	hasObservation := bytes.HasPrefix(cursor.restOfLine(), []byte("{"))
	if hasObservation != (cursor.observations != nil) {
		cursor.errorAt(cursor.column, "found %s, wanted the observation, such as {3}, in a POMDP and only there", quote(cursor.restOfLine()))
		return
	}
	if !hasObservation {
		return
	}
	entry := cursor.nextField()
	text, isClosed := bytes.CutSuffix(entry.text[1:], []byte("}"))
	if !isClosed {
		cursor.errorAt(entry.column, "found %s, wanted an observation such as {3}", quote(entry.text))
		return
	}
	if observation, ok := cursor.parseIndex(field{text, entry.column + 1}, "observation", cursor.numStates); ok {
		cursor.observations[state] = uint32(observation)
	}
}

// readRewards reads a list of rewards such as [1, 0], with an entry for each reward structure. ok is false if there is no list, or after an
// error.
func (cursor *cursor) readRewards() (rewards []number, ok bool) {
	if !bytes.HasPrefix(cursor.restOfLine(), []byte("[")) {
		return nil, false
	}
	begin := cursor.column
	length := bytes.IndexByte(cursor.restOfLine(), ']')
	if length < 0 {
		cursor.errorAt(begin, "found no ], wanted one after the rewards")
		cursor.column = len(cursor.lineText)
		return nil, false
	}
	cursor.column += length + 1
	cursor.skipBlanks()
	column := begin + 1
	for text := range bytes.SplitSeq(cursor.lineText[column:begin+length], []byte(",")) {
		reward, ok := cursor.parseReward(text, column)
		if !ok {
			return nil, false
		}
		rewards = append(rewards, reward)
		column += len(text) + 1
	}
	if !cursor.checkNumRewards(len(rewards), begin) {
		return nil, false
	}
	return rewards, true
}

// parseReward parses a reward that begins at a column and may have spaces around it.
func (cursor *cursor) parseReward(text []byte, column int) (number, bool) {
	trimmed := bytes.TrimLeft(text, " ")
	field := field{bytes.TrimRight(trimmed, " "), column + len(text) - len(trimmed)}
	return cursor.parseValue(field, "reward", cursor.isExact)
}

// checkNumRewards reports whether a list of rewards has an entry for each reward structure. Otherwise it records an error at the column.
// Storm's list of names cannot show a last structure without a name. So the first list of rewards may have one more entry, and this adds
// the structure.
func (cursor *cursor) checkNumRewards(count, column int) bool {
	if cursor.mayHaveUnnamedReward && count == len(cursor.drnFile.rewardNames)+1 {
		cursor.drnFile.rewardNames = append(cursor.drnFile.rewardNames, "")
	}
	cursor.mayHaveUnnamedReward = false
	if wanted := len(cursor.drnFile.rewardNames); count != wanted {
		cursor.errorAt(column, "found %d rewards, wanted %d: one per name after @reward_models", count, wanted)
		return false
	}
	return true
}

// stateRewardColumn returns the state rewards of a structure.
func (file *drnFile) stateRewardColumn(structure int) *rewardColumn {
	for len(file.stateRewards) <= structure {
		file.stateRewards = append(file.stateRewards, newColumn(file.numStates, file.isExact))
	}
	return file.stateRewards[structure]
}

// readLabel reads the name of a label, with or without quotes, and adds the state to the set of the label.
func (cursor *cursor) readLabel(state int) {
	field := cursor.nextField()
	if field.text[0] == '"' {
		end := bytes.IndexByte(cursor.lineText[field.column+1:], '"')
		if end <= 0 {
			cursor.errorAt(field.column, "found %s, wanted a label with a quote at both ends", quote(cursor.lineText[field.column:]))
			cursor.column = len(cursor.lineText)
			return
		}
		field.text = cursor.lineText[field.column+1 : field.column+1+end]
		cursor.column = field.column + end + 2
		cursor.skipBlanks()
	}
	name := string(field.text)
	set := cursor.labelSets[name]
	if set == nil {
		set = sparse.NewSet(cursor.numStates)
		cursor.labelSets[name] = set
		cursor.labelNames = append(cursor.labelNames, name)
	}
	if set.Has(state) {
		cursor.errorAt(field.column, "found label %s again, wanted each once", quote(field.text))
	}
	set.Add(state)
}

// readAction reads the rest of a line such as: action left [1, 0]. It has an action and its rewards. The cursor is behind the word action.
// The line starts a choice of an MDP, or the only row of a Markov chain's state.
func (cursor *cursor) readAction() {
	field := cursor.nextField()
	switch {
	case cursor.currentState < 0:
		cursor.errorAt(field.column, "found an action, wanted a state before it")
		return
	case len(field.text) == 0:
		cursor.errorAt(field.column, "found no name, wanted the name of an action")
		return
	case cursor.hasAction && cursor.modelKind != sparse.MDP:
		cursor.errorAt(field.column, "found a second action, wanted one per state in %s", noun.WithArticle(cursor.modelType.String()))
		return
	}
	cursor.checkRowNotEmpty()
	name := cursor.choiceName(field.String())
	if name != "" && !isWord(name) {
		cursor.errorAt(field.column, "found %s, wanted the name of an action", quote(field.text))
	}
	cursor.numStateChoices++
	cursor.hasAction = true
	cursor.currentAction = cursor.assembly.actionNumber(name)
	cursor.assembly.startChoice(cursor.currentAction, cursor.position(field.column))
	cursor.choiceRewards, _ = cursor.readRewards()
	if cursor.column < len(cursor.lineText) && len(cursor.errs) == 0 {
		cursor.errorAt(cursor.column, "found %s, wanted the end of the line", quote(cursor.restOfLine()))
	}
}

// choiceName returns the name of a choice from the text behind the word action. A number, or noLabel, stands for a choice without a name.
// In a POMDP such a choice is named by its position, because the player must be able to select it in all states with the same observation.
func (file *drnFile) choiceName(text string) string {
	isNumber := onlyDigits([]byte(text))
	if text != noLabel && !isNumber {
		return text
	}
	if file.observations != nil {
		return fmt.Sprintf("choice_%d", file.numStateChoices)
	}
	return ""
}

// checkRowNotEmpty records an error if the current action has no transitions.
func (file *drnFile) checkRowNotEmpty() {
	if file.hasAction && len(file.rowEdges.edges) == 0 {
		file.errorAtPos(file.assembly.rowPosition, "found an action without transitions, wanted at least one")
	}
}

// readTransition reads a line such as: 3 : 0.25. It has the target and the weight of a transition of the current choice.
func (cursor *cursor) readTransition() {
	if cursor.currentState < 0 || !cursor.hasAction {
		cursor.errorAt(cursor.column, "found %s, wanted a state and an action before transitions", quote(cursor.restOfLine()))
		return
	}
	targetText, weightText, ok := bytes.Cut(cursor.restOfLine(), []byte(":"))
	if !ok {
		cursor.errorAt(cursor.column, "found %s, wanted state, action or a transition such as 3 : 0.25", quote(cursor.restOfLine()))
		return
	}
	targetField := field{bytes.TrimRight(targetText, " \t"), cursor.column}
	trimmed := bytes.TrimLeft(weightText, " \t")
	weightField := field{bytes.TrimRight(trimmed, " \t"), len(cursor.lineText) - len(trimmed)}
	target, ok := cursor.parseIndex(targetField, "state", cursor.numStates)
	if !ok {
		return
	}
	weight, ok := cursor.parseWeight(weightField)
	if !ok {
		return
	}
	action := cursor.currentAction
	if cursor.modelKind == sparse.MDP {
		action = sparse.NoAction
	}
	cursor.assembly.addTransition(target, weight, action, targetField.column, weightField.column)
	cursor.rowRewards = append(cursor.rowRewards, cursor.choiceRewards)
}

// parseWeight parses a probability, a rate, or the interval of a probability. It returns the lower bound of an interval and stores the
// upper bound in nextUpperBound.
func (cursor *cursor) parseWeight(word field) (weight number, ok bool) {
	if cursor.hasIntervals {
		weight, cursor.nextUpperBound, ok = cursor.parseInterval(word)
		return weight, ok
	}
	return cursor.parseValue(word, "probability or rate", cursor.isExact)
}

// endState ends the current state. It checks that the state has an action, and that the last action has transitions. In a CTMC, it also
// checks that the declared exit rate is the sum of the rates.
func (file *drnFile) endState() {
	if file.currentState < 0 {
		return
	}
	file.checkRowNotEmpty()
	if !file.hasAction {
		file.errorAtPos(file.position(0), "found no action in state %d, wanted at least one", file.currentState)
	}
	if file.modelKind != sparse.CTMC || len(file.errs) > 0 {
		return
	}
	deviation := math.Abs(file.declaredRate.float-file.rowSum.float) / file.rowSum.float
	if !(deviation <= rateTolerance) {
		file.errorAtPos(file.declaredRatePos, "found exit rate %v, wanted %v, the sum of the rates", file.declaredRate.float, file.rowSum.float)
	}
}

// checkCounts records an error if the numbers of states or choices differ from those in the preamble. It does nothing if there are other
// errors.
func (file *drnFile) checkCounts() {
	numStates, numChoices := file.currentState+1, file.assembly.numChoices
	declaresChoices := file.declaredChoices >= 0
	switch {
	case len(file.errs) > 0:
	case numStates != file.numStates:
		file.errorAtEnd("found %s, wanted %d as @nr_states says", noun.Count(numStates, "state"), file.numStates)
	case declaresChoices && numChoices != file.declaredChoices:
		file.errorAtEnd("found %s, wanted %d as @nr_choices says", noun.Count(numChoices, "choice"), file.declaredChoices)
	}
}

// importSpace ends the last state, checks the numbers of states and choices, and returns the state space of the model.
func (file *drnFile) importSpace() (*explicit.Space, error) {
	file.endState()
	file.checkCounts()
	model := file.assembly.finish()
	if model == nil {
		return nil, file.errs.Err()
	}
	sets, err := file.declaredSets()
	if err != nil {
		return nil, err
	}
	file.setLabels(model, sets)
	imported := &explicit.Imported{
		File: file.source.Name, Type: file.modelType, Actions: file.assembly.actionNames, Model: model,
		Warnings: file.warnings(), Normalised: file.isNormalised,
	}
	imported.Vars, imported.Valuation = numberVariable(file.numStates)
	imported.Rounded = file.hasIntervals && !file.wantsFractions
	file.addRewards(imported)
	file.addObservations(imported)
	if file.isMarkovAutomaton {
		if err := completeAutomaton(imported, file.exitRates, file.isExact); err != nil {
			return nil, err
		}
	}
	if file.opts.OperatorT {
		addOperatorT(imported)
	}
	return explicit.Import(imported)
}

// declaredSets returns the labels of the file, its initial states and its deadlocks. It is an error if no state is initial, or if a state
// with the label deadlock has a transition to another state.
func (file *drnFile) declaredSets() (declaredSets, error) {
	labels := labFile{lines: file.lines}
	for _, name := range file.emptyLabelNames {
		if !slices.Contains(file.labelNames, name) {
			file.labelNames, file.labelSets[name] = append(file.labelNames, name), sparse.NewSet(file.numStates)
		}
	}
	labels.names = file.labelNames
	for _, name := range file.labelNames {
		labels.stateSets = append(labels.stateSets, file.labelSets[name])
	}
	sets := labels.declaredSets()
	if sets.init == nil {
		return sets, syntax.ErrorList{{File: file.source.Name, Msg: `found no state with the label init, wanted at least one`}}
	}
	if sets.deadlock != nil {
		for state := range sets.deadlock.Minus(file.selfLoopStates).All() {
			return sets, syntax.ErrorList{{File: file.source.Name, Msg: fmt.Sprintf("state %d has the label deadlock and transitions to other states", state)}}
		}
	}
	return sets, nil
}

// addRewards adds the reward structures of the file to the imported model. The file has rewards of states and actions. Each transition of
// an action gets the reward of the action.
func (file *drnFile) addRewards(imported *explicit.Imported) {
	for structure, name := range file.rewardNames {
		var stateColumn, transitionColumn *rewardColumn
		if structure < len(file.stateRewards) {
			stateColumn = file.stateRewards[structure]
		}
		for transition, rewards := range file.rowRewards {
			if len(rewards) == 0 {
				continue
			}
			if transitionColumn == nil {
				transitionColumn = newColumn(imported.Model.NumTransitions(), file.isExact)
			}
			transitionColumn.setEntry(transition, rewards[structure])
		}
		reward, transitionRewards := rewardStructure(imported.Model, name, stateColumn, transitionColumn)
		imported.Model.Rewards = append(imported.Model.Rewards, reward)
		imported.TransitionRewards = append(imported.TransitionRewards, transitionRewards)
	}
}

// addObservations adds the observations of a POMDP's states to the imported model. It gives new numbers to them, in order of appearance.
func (file *drnFile) addObservations(imported *explicit.Imported) {
	if file.observations == nil {
		return
	}
	observations := &explicit.Observations{}
	numbers := make(map[uint32]uint32)
	for _, observation := range file.observations {
		number, isKnown := numbers[observation]
		if !isKnown {
			number = uint32(len(observations.Texts))
			numbers[observation] = number
			observations.Texts = append(observations.Texts, fmt.Sprint(observation))
		}
		observations.ByState = append(observations.ByState, number)
	}
	imported.Observations, imported.Observables = observations, []string{"observation"}
}
