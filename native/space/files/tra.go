package files

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"tilecheck/internal/noun"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/syntax"
	"tilecheck/prism/textlines"
)

// fileHeader is the first comment of a file, or of a section of a .pexp file, and the kind of contents that follows it.
type fileHeader struct{ text, kind string }

// fileHeaders returns the comments that PRISM writes at the start of a file or section, with the kind of contents that each announces.
func fileHeaders() []fileHeader {
	return []fileHeader{
		{"# Transitions", "transitions"},
		{"# States", "states"},
		{"# Labels", "labels"},
		{"# State rewards", "state rewards"},
		{"# Transition rewards", "transition rewards"},
		{"# Observations", "observations"},
	}
}

// nextData reads lines up to the next one with data, and splits this line into fields. It skips empty lines and comments, and calls
// visitComment for each comment unless it is nil. It returns false at the end of the file, or after an error. It is an error if a comment
// is the header of a file of another kind.
func (lines *lines) nextData(kind string, visitComment func(comment string)) bool {
	for lines.NextLine() {
		trimmed := bytes.TrimSpace(lines.LineText)
		if len(trimmed) == 0 {
			continue
		}
		if trimmed[0] != '#' {
			lines.SplitFields()
			return true
		}
		comment := string(trimmed)
		if other := otherKind(comment, kind); other != "" {
			lines.ErrorAt(0, "found the header of a file of %s, wanted %s", other, kind)
			return false
		}
		if visitComment != nil {
			visitComment(comment)
		}
	}
	return false
}

// otherKind returns the kind of file that starts with a comment. It returns "" for the wanted kind, and for a
// comment that starts no file.
func otherKind(comment, wanted string) string {
	for _, header := range fileHeaders() {
		if header.kind != wanted && strings.HasPrefix(comment, header.text) {
			return header.kind
		}
	}
	return ""
}

// traFile reads a .tra file.
type traFile struct {
	*assembly
	modelType         syntax.ModelType
	declaredTotals    traTotals
	currentState      int           // the state of the last line, -1 before the first line
	numStateChoices   int           // the number of choices of the current state so far
	currentAction     sparse.Action // the action of the current choice
	columnIndexes     traColumns
	stateObservations []int // the observation of each state of a POMDP; -1 if not yet known
	numPlayers        int
	owners            []uint16 // the player of each state of a game; the first player if the state has no line
}

// traTotals has the numbers in the first line of a .tra file. It has no number of choices for a Markov chain, and no number of
// observations unless the model is a POMDP.
type traTotals struct{ numStates, numChoices, numTransitions, numObservations int }

// readTransitions reads a .tra file. It returns the reader of the file, the model, and the lines, which also have the errors of the
// file. If the file has an error, the model is nil; if its first line has one, the reader is nil too. The returned error is a
// *explicit.LimitError or that of the context.
func readTransitions(ctx context.Context, source Source, opts ReadOptions) (*traFile, *sparse.Model, *lines, error) {
	lines := newLines(source)
	file, err := startTraFile(lines, opts)
	if file == nil || err != nil {
		return nil, nil, lines, err
	}
	maxRows := len(source.Text) / len("0 0 1\n") // the totals may be wrong
	file.builder.Grow(min(file.declaredTotals.numStates, maxRows), min(file.declaredTotals.numChoices, maxRows), min(file.declaredTotals.numTransitions, maxRows))
	for line := 0; lines.nextData("transitions", nil); line++ {
		if line%pollInterval == 0 && ctx.Err() != nil {
			return nil, nil, lines, ctx.Err()
		}
		file.readLine()
	}
	return file, file.finishModel(), lines, nil
}

// startTraFile reads the comments and the first line of a .tra file, and returns a reader that is ready for the transitions. It returns nil
// if there was an error, which lines has recorded.
func startTraFile(lines *lines, opts ReadOptions) (*traFile, error) {
	file := &traFile{modelType: opts.Type, currentState: -1}
	headerType := syntax.TypeNone
	if !lines.nextData("transitions", func(comment string) { headerType = typeOfComment(lines, comment) }) {
		if len(lines.Errs) == 0 {
			lines.ErrorAtEnd("found the end of the file, wanted the numbers of states and transitions")
		}
		return nil, nil
	}
	if file.modelType == syntax.TypeNone {
		file.modelType = headerType
	}
	if !file.readTotals(lines) {
		return nil, nil
	}
	if err := opts.checkNumStates(file.declaredTotals.numStates); err != nil {
		return nil, err
	}
	hasIntervals := file.modelType == syntax.IDTMC || file.modelType == syntax.IMDP
	opts.Exact = opts.Exact || hasIntervals
	file.assembly = newAssembly(lines, sparseKind(file.modelType), file.declaredTotals.numStates, opts)
	file.hasIntervals, file.columnIndexes = hasIntervals, columnsOf(file.modelType)
	if file.modelType == syntax.POMDP {
		file.stateObservations = slices.Repeat([]int{-1}, file.declaredTotals.numStates)
	}
	if file.modelType == syntax.SMG {
		file.owners = make([]uint16, file.declaredTotals.numStates)
	}
	return file, nil
}

// sparseKind returns the kind of sparse.Model that represents models of a type. Types with choices have the kind MDP.
func sparseKind(modelType syntax.ModelType) sparse.Kind {
	switch modelType {
	case syntax.DTMC, syntax.IDTMC:
		return sparse.DTMC
	case syntax.CTMC:
		return sparse.CTMC
	}
	return sparse.MDP
}

// typeOfComment returns the type of model that a header such as # Transitions (MDP) names. For other comments it returns TypeNone. A type
// that cannot be read is an error.
func typeOfComment(lines *lines, comment string) syntax.ModelType {
	name, isHeader := strings.CutPrefix(comment, "# Transitions (")
	if !isHeader {
		return syntax.TypeNone
	}
	switch name = strings.TrimSuffix(name, ")"); name {
	case "DTMC":
		return syntax.DTMC
	case "MDP":
		return syntax.MDP
	case "CTMC":
		return syntax.CTMC
	case "LTS":
		return syntax.LTS
	case "IDTMC":
		return syntax.IDTMC
	case "IMDP":
		return syntax.IMDP
	case "POMDP":
		return syntax.POMDP
	case "SMG":
		return syntax.SMG
	}
	lines.ErrorAt(len("# Transitions ("), "found a model of type %s, only DTMCs, MDPs, CTMCs, POMDPs, SMGs, LTSs, IDTMCs and IMDPs can be read", textlines.Quote([]byte(name)))
	return syntax.TypeNone
}

// readTotals reads the first line of a .tra file, which has the numbers of states, transitions and so on. If the type of the model is not
// yet known, it is guessed from this line. It returns false after an error.
func (file *traFile) readTotals(lines *lines) bool {
	if len(lines.Errs) > 0 {
		return false
	}
	if file.modelType == syntax.TypeNone {
		file.modelType = typeOfTotals(lines)
	}
	entries := file.totalEntries()
	if len(lines.Fields) != len(entries) {
		file.errorNumTotals(lines, entries)
		return false
	}
	if file.modelType == syntax.SMG && !file.readNumPlayers(lines) {
		return false
	}
	for position, entry := range entries {
		var ok bool
		if *entry.value, ok = lines.ParseCount(lines.Fields[position], entry.name); !ok {
			return false
		}
	}
	return file.checkTotals(lines)
}

// errorNumTotals records an error for a line with a wrong number of totals. entries are the correct ones.
func (file *traFile) errorNumTotals(lines *lines, entries []totalEntry) {
	var wanted []string
	for _, entry := range entries {
		wanted = append(wanted, entry.name)
	}
	lines.ErrorAt(0, "found %s, wanted the %s: the model is of type %s", textlines.Quote(bytes.TrimSpace(lines.LineText)), strings.Join(wanted, " and the "), typeName(file.modelType))
}

// checkTotals checks that a .tra file declares at least one state, and no more observations than states. It returns false after an error.
func (file *traFile) checkTotals(lines *lines) bool {
	if file.declaredTotals.numStates == 0 {
		lines.ErrorAt(lines.Fields[0].Column, "found 0 states, wanted at least one")
		return false
	}
	if file.declaredTotals.numObservations > file.declaredTotals.numStates {
		lines.ErrorAt(lines.Fields[len(lines.Fields)-1].Column, "found %d observations of %d states, wanted no more than states", file.declaredTotals.numObservations, file.declaredTotals.numStates)
		return false
	}
	return true
}

// totalEntry is a number in the first line of a .tra file. name describes it in messages.
type totalEntry struct {
	name  string
	value *int
}

// totalEntries returns the numbers that the first line of a .tra file must have, in their order. They depend on the type of the model.
func (file *traFile) totalEntries() []totalEntry {
	states := totalEntry{"number of states", &file.declaredTotals.numStates}
	choices := totalEntry{"number of choices", &file.declaredTotals.numChoices}
	transitions := totalEntry{"number of transitions", &file.declaredTotals.numTransitions}
	switch {
	case file.modelType == syntax.POMDP:
		return []totalEntry{states, choices, transitions, {"number of observations", &file.declaredTotals.numObservations}}
	case sparseKind(file.modelType) == sparse.MDP:
		return []totalEntry{states, choices, transitions}
	}
	return []totalEntry{states, transitions}
}

// typeOfTotals guesses the type of a model from the first line of a .tra file, which has two to four totals. In a game, the first one is
// followed by a colon and the number of players. An interval in the next line shows an interval model. It returns TypeNone if no type fits.
func typeOfTotals(lines *lines) syntax.ModelType {
	isGame := bytes.Contains(lines.Fields[0].Text, []byte(":"))
	switch numTotals := len(lines.Fields); {
	case isGame:
		return syntax.SMG
	case numTotals == 4:
		return syntax.POMDP
	case numTotals == 3 && lines.hasInterval(3):
		return syntax.IMDP
	case numTotals == 3:
		return syntax.MDP
	case numTotals == 2 && lines.hasInterval(2):
		return syntax.IDTMC
	case numTotals == 2:
		return guessType(lines)
	}
	return syntax.TypeNone
}

// hasInterval reports whether a field of the next row is an interval. index is the index of the field. The current
// line stays the same.
func (lines *lines) hasInterval(index int) bool {
	preview := *lines
	preview.Fields, preview.Errs = nil, nil
	return preview.nextData("transitions", nil) && len(preview.Fields) > index && preview.Fields[index].Text[0] == '['
}

// typeName returns the name of a model type for diagnostics.
func typeName(modelType syntax.ModelType) string {
	if modelType == syntax.TypeNone {
		return "unknown"
	}
	return modelType.String()
}

// guessType looks at the next rows of a file without choices, to distinguish a CTMC from a DTMC. A weight above 1 must be a rate. The
// current line stays the same.
//
// Source: PRISM's -importmodel, which reads six rows (reference, section 6).
func guessType(lines *lines) syntax.ModelType {
	preview := *lines
	preview.Fields, preview.Errs = nil, nil
	const previewRows = 6
	for range previewRows {
		if !preview.nextData("transitions", nil) || len(preview.Fields) < 3 {
			break
		}
		if value, err := parseNumber(preview.Fields[2].Text, false); err == nil && value.float > 1 {
			return syntax.CTMC
		}
	}
	return syntax.DTMC
}

// traColumns has the indices of the entries of a transition's line, which depend on the type of the model. The state is the first entry.
// An entry that the lines do not have is 0. The action is the last entry, and a line may lack it.
type traColumns struct {
	choice, target, weight, observation, action int
	description                                 string // of the entries, for messages
}

// columnsOf returns the positions of the entries in a transition's line of a .tra file. They depend on the type of the model.
func columnsOf(modelType syntax.ModelType) traColumns {
	switch {
	case modelType == syntax.LTS:
		return traColumns{choice: 1, target: 2, action: 3, description: "state, choice, target and perhaps an action"}
	case modelType == syntax.POMDP:
		return traColumns{choice: 1, target: 2, weight: 3, observation: 4, action: 5, description: "state, choice, target, probability, observation and perhaps an action"}
	case sparseKind(modelType) == sparse.MDP:
		return traColumns{choice: 1, target: 2, weight: 3, action: 4, description: "state, choice, target, probability and perhaps an action"}
	}
	return traColumns{target: 1, weight: 2, action: 3, description: "state, target, probability and perhaps an action"}
}

// readLine reads the current line of a .tra file, which has a transition. In a game, it first reads the player. In a POMDP, the line may
// instead have the observation of an initial state.
func (file *traFile) readLine() {
	if file.owners != nil && !file.readOwner() {
		return
	}
	if file.stateObservations != nil && file.Fields[0].String() == "-" {
		file.readInitialObservation()
		return
	}
	maxEntries := file.columnIndexes.action + 1 // the action is the last entry, and may be missing
	if len(file.Fields) != maxEntries && len(file.Fields) != maxEntries-1 {
		file.ErrorAt(0, "found %d entries, wanted %s", len(file.Fields), file.columnIndexes.description)
		return
	}
	file.readTransition()
}

// readTransition reads the transition in the current line, and adds it to the model. The line has a valid number of fields. If the
// transition is the first one of its state or choice, it also starts these.
func (file *traFile) readTransition() {
	fields, columns := file.Fields, &file.columnIndexes
	state, ok := file.ParseIndex(fields[0], "state", file.numStates)
	if !ok {
		return
	}
	choice := 0
	if columns.choice > 0 {
		if choice, ok = file.ParseCount(fields[columns.choice], "choice"); !ok {
			return
		}
	}
	target, ok := file.ParseIndex(fields[columns.target], "state", file.numStates)
	if !ok {
		return
	}
	weight, high, ok := file.readWeight()
	if !ok {
		return
	}
	hasObservation := columns.observation > 0
	if hasObservation && !file.setObservation(target, fields[columns.observation]) {
		return
	}
	action, ok := file.readActionName()
	if !ok || !file.startRow(state, choice, action) {
		return
	}
	if file.modelKind == sparse.MDP { // the action belongs to the choice, not to the transition
		action = sparse.NoAction
	}
	file.nextUpperBound = high
	file.addTransition(target, weight, action, fields[columns.target].Column, fields[columns.action-1].Column)
}

// readWeight reads the weight of the transition in the current line. This is a probability, a rate, or an interval, whose upper bound is
// high. In an LTS the line has no weight, and the result is 1.
func (file *traFile) readWeight() (weight, high number, ok bool) {
	if file.columnIndexes.weight == 0 {
		return file.one, number{}, true
	}
	entry := file.Fields[file.columnIndexes.weight]
	if file.hasIntervals {
		return file.parseInterval(entry)
	}
	weight, ok = file.parseValue(entry, "probability or rate", file.isExact)
	return weight, number{}, ok
}

// readActionName reads the name of the action in the current line, and returns the number of the action. Without a name it returns
// sparse.NoAction. An invalid name is an error.
func (file *traFile) readActionName() (action sparse.Action, ok bool) {
	if len(file.Fields) <= file.columnIndexes.action {
		return sparse.NoAction, true
	}
	entry := file.Fields[file.columnIndexes.action]
	if known, isKnown := file.actionByName[string(entry.Text)]; isKnown {
		return known, true
	}
	if !isWord(entry.String()) {
		file.ErrorAt(entry.Column, "found %s, wanted the name of an action", textlines.Quote(entry.Text))
		return sparse.NoAction, false
	}
	return file.actionNumber(entry.String()), true
}

// readInitialObservation reads a line with the observation of an initial state of a POMDP, such as: - - 0 - 3. Other states have their
// observations in the lines of transitions to them.
func (file *traFile) readInitialObservation() {
	if len(file.Fields) != 5 {
		file.ErrorAt(0, "found %d entries, wanted -, -, an initial state, - and its observation", len(file.Fields))
		return
	}
	state, ok := file.ParseIndex(file.Fields[2], "state", file.numStates)
	if ok {
		file.setObservation(state, file.Fields[4])
	}
}

// setObservation records the observation of a state, which is in a field of the current line. It is an error if an earlier line has another
// observation of the state. It returns false after an error.
func (file *traFile) setObservation(state int, field field) bool {
	observation, ok := file.ParseIndex(field, "observation", file.declaredTotals.numObservations)
	if !ok {
		return false
	}
	if file.stateObservations[state] >= 0 && file.stateObservations[state] != observation {
		file.ErrorAt(field.Column, "found observation %d of state %d, wanted %d as before", observation, state, file.stateObservations[state])
		return false
	}
	file.stateObservations[state] = observation
	return true
}

// startRow starts a state and a choice, unless the current line still belongs to the current ones. States must be in order. It returns
// false after an error.
func (file *traFile) startRow(state, choice int, action sparse.Action) bool {
	if state < file.currentState {
		file.ErrorAt(file.Fields[0].Column, "found state %d after state %d, wanted rows in the order of states", state, file.currentState)
		return false
	}
	isNewState := state > file.currentState
	if isNewState {
		file.startState(state)
		file.currentState, file.numStateChoices = state, 0
	}
	if file.modelKind == sparse.MDP {
		return file.startChoiceRow(state, choice, action)
	}
	if isNewState {
		file.numStateChoices = 1
		file.startChoice(sparse.NoAction, file.Position(0))
	}
	return true
}

// startChoiceRow starts a choice of an MDP's state, unless the current line still belongs to the current choice. Choices must be in order,
// and all lines of a choice must have the same action. It returns false after an error.
func (file *traFile) startChoiceRow(state, choice int, action sparse.Action) bool {
	next := file.numStateChoices
	last := next - 1
	switch {
	case choice == next:
		file.numStateChoices++
		file.currentAction = action
		file.startChoice(action, file.Position(0))
		return true
	case choice != last:
		file.ErrorAt(file.Fields[1].Column, "found choice %d of state %d, wanted %d or %d: choices in order", choice, state, max(last, 0), next)
		return false
	case action != file.currentAction:
		file.ErrorAt(0, "found another action for choice %d of state %d, wanted one", choice, state)
		return false
	}
	return true
}

// finishModel checks that the file has as many transitions and choices as its first line says, and all observations. Then it returns the
// model. It returns nil after an error.
func (file *traFile) finishModel() *sparse.Model {
	if len(file.Errs) > 0 {
		return nil
	}
	withoutObservation := slices.Index(file.stateObservations, -1)
	switch {
	case file.numTransitions != file.declaredTotals.numTransitions:
		file.ErrorAtEnd("found %s, wanted %d as the first line says", noun.Count(file.numTransitions, "transition"), file.declaredTotals.numTransitions)
	case file.modelKind == sparse.MDP && file.assembly.numChoices != file.declaredTotals.numChoices:
		file.ErrorAtEnd("found %s, wanted %d as the first line says", noun.Count(file.assembly.numChoices, "choice"), file.declaredTotals.numChoices)
	case withoutObservation >= 0:
		file.ErrorAtEnd("found no observation of state %d, wanted one for each state", withoutObservation)
	}
	return file.finish()
}
