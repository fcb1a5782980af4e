package editor

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sync/atomic"

	"tilecheck/prism/format"
	"tilecheck/prism/lint"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

// A large model consists mostly of commands, and a keystroke changes one of them. Commands that
// parsed without errors are not parsed again: before parsing, their text is replaced by blanks,
// so that positions stay the same, and by short stub commands with the same actions. The stubs
// also show whether the parser reached them. The diagnostics equal those of the whole text
// (TestSameAsFresh).

// cached holds the parts of type T that a text consists of, such as its lexemes.
type cached[T any] struct {
	text  []byte
	parts []T
}

// previousResults holds the results for an earlier text of a document; nil if there are none.
type previousResults struct {
	lexemes  *cached[lexeme]
	commands *cached[textCommand]
}

// resultsForNext returns the results that the next text of the document can reuse: those for this text or, where they were not computed, those
// for an earlier text.
func (d *document) resultsForNext() previousResults {
	results := previousResults{d.now.lexemes.Load(), d.now.commands.Load()}
	if results.lexemes == nil {
		results.lexemes = d.before.lexemes
	}
	if results.commands == nil {
		results.commands = d.before.commands
	}
	return results
}

// command holds the facts about a command without syntax errors that do not depend on its position.
type command struct {
	stub  string       // the start of the short command that replaces it in parsed texts
	names []occurrence // with offsets from the start of the command
	uses  []string     // the distinct names of constants, formulas and variables in it
	// checked and constantChecked are hashes of the environments in which the command had no
	// errors, and no warnings about values of constants; 0 if there were none yet.
	checked, constantChecked atomic.Uint64
	constantUse              atomic.Pointer[constantUse]
	layout                   atomic.Pointer[format.CommandLayout] // nil as long as nobody has asked
}

// isChecked reports whether the command is known to have no errors in the current environment.
func (c *command) isChecked(now state) bool { return now.kinds != 0 && c.checked.Load() == now.kinds }

// isConstantChecked reports whether the command is known to have no warnings with the current
// values of constants.
func (c *command) isConstantChecked(now state) bool {
	return now.values != 0 && c.constantChecked.Load() == now.values
}

// textCommand is a command at its position in a text.
type textCommand struct {
	from, to int32
	module   string
	*command
}

// parseModel parses the text of a model. It replaces the commands that an edit did not change by stubs, unless this could change the result.
func (d *document) parseModel() {
	text := d.limitedText()
	if previous := d.before.commands; previous != nil && len(previous.parts) > 0 && len(text) > 0 {
		d.commands = unchangedCommands(previous, text)
		hidden := make([]bool, len(d.commands))
		for i := range hidden {
			hidden[i] = true
		}
		if d.parseWithout(hidden) {
			return
		}
	}
	d.commands, d.hidden = nil, nil
	d.tree, d.err = syntax.ParsePart(d.dialect, d.name, text)
	d.recordCommands()
}

// parseWithout parses the text with stubs in place of the hidden commands: hidden[i] says whether command i is hidden. It returns false if the
// parser did not reach every stub, because then the result may differ from the one for the whole text.
func (d *document) parseWithout(hidden []bool) bool {
	text, stubs := d.textWithStubs(hidden)
	d.tree, d.err = syntax.ParsePart(d.dialect, d.name, text)
	model, ok := d.tree.(*syntax.Model)
	if !ok {
		return false
	}
	d.hidden = hidden
	if !allReached(model, stubs) {
		return false
	}
	d.recordCommands()
	return true
}

// allReached reports whether every stub is a command of a module of the tree. stubs has their offsets, in the order of the text.
func allReached(model *syntax.Model, stubs []int32) bool {
	for _, item := range model.Items {
		module, ok := item.(*syntax.Module)
		if !ok {
			continue
		}
		for _, cmd := range module.Commands {
			if len(stubs) > 0 && stubs[0] == cmd.Start.Offset {
				stubs = stubs[1:]
			}
		}
	}
	return len(stubs) == 0
}

// unchangedCommands returns the commands of an old text that are the same in the new text, with their new offsets. Commands that touch the changed
// part are not among them.
func unchangedCommands(old *cached[textCommand], text []byte) []textCommand {
	prefix, suffix := Common(old.text, text)
	shift := int32(len(text) - len(old.text))
	unchanged := make([]textCommand, 0, len(old.parts)+1)
	for _, cmd := range old.parts {
		switch {
		case int(cmd.to) <= prefix:
			unchanged = append(unchanged, cmd)
		case int(cmd.from) >= len(old.text)-suffix:
			cmd.from, cmd.to = cmd.from+shift, cmd.to+shift
			unchanged = append(unchanged, cmd)
		}
	}
	return unchanged
}

// textWithStubs returns the text with blanks and a stub in place of each hidden command, and the offsets of the stubs: hidden[i] says whether
// command i is hidden. Adjacent hidden commands with equal stubs share one stub. The last of adjacent hidden commands always gets a stub,
// because it shows where an unfinished module ends.
func (d *document) textWithStubs(hidden []bool) (text []byte, stubs []int32) {
	text = slices.Clone(d.limitedText())
	written := make(map[string]bool) // the stubs since the start of the adjacent hidden commands
	nextIsAdjacent := false
	for i, cmd := range d.commands {
		if !nextIsAdjacent {
			clear(written)
		}
		nextIsAdjacent = d.areAdjacent(hidden, i)
		if !hidden[i] {
			continue
		}
		commandText := text[cmd.from:cmd.to]
		blankOut(commandText)
		if written[cmd.stub] && nextIsAdjacent {
			continue
		}
		written[cmd.stub] = true
		copy(commandText, cmd.stub)
		commandText[len(commandText)-1] = ';'
		stubs = append(stubs, cmd.from)
	}
	return text, stubs
}

// areAdjacent reports whether commands i and i+1 are hidden, with only white space and comments between them.
func (d *document) areAdjacent(hidden []bool, i int) bool {
	return i+1 < len(hidden) && hidden[i] && hidden[i+1] && isBlank(d.text[d.commands[i].to:d.commands[i+1].from])
}

// blankOut replaces every byte of a text by a blank, except line breaks.
func blankOut(text []byte) {
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
}

// isBlank reports whether a text consists of white space and complete comments.
func isBlank(text []byte) bool {
	for len(text) > 0 {
		switch {
		case isSpace(text[0]):
			text = text[1:]
		case bytes.HasPrefix(text, []byte("//")):
			end := bytes.IndexAny(text, "\r\n")
			if end < 0 {
				return false
			}
			text = text[end:]
		default:
			return false
		}
	}
	return true
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// recordCommands adds the new commands of the tree to the commands of the document, and sets the module of each.
func (d *document) recordCommands() {
	model, ok := d.tree.(*syntax.Model)
	if !ok {
		return
	}
	errors := errorOffsets(d.err)
	merged := commandMerger{old: d.commands, oldHidden: d.hidden, commands: make([]textCommand, 0, len(d.commands)+16)}
	for _, item := range model.Items {
		module, ok := item.(*syntax.Module)
		if !ok {
			continue
		}
		for _, cmd := range module.Commands {
			merged.addOld(cmd.Start.Offset, module.Name.Name)
			if merged.nextOldIsAt(cmd.Start.Offset) {
				continue
			}
			if added, ok := d.newCommand(cmd, errors); ok {
				added.module = module.Name.Name
				merged.add(added, false)
			}
		}
		merged.addOld(module.Stop.Offset, module.Name.Name)
	}
	merged.addOld(int32(len(d.text))+1, "")
	d.commands = merged.commands
	if d.hidden != nil {
		d.hidden = merged.hidden
	}
}

// commandMerger merges old and new commands of a text, in the order of their offsets.
type commandMerger struct {
	old       []textCommand // not added yet
	oldHidden []bool        // whether each of old is hidden
	commands  []textCommand
	hidden    []bool // whether each of commands is hidden
}

func (m *commandMerger) add(c textCommand, isHidden bool) {
	m.commands, m.hidden = append(m.commands, c), append(m.hidden, isHidden)
}

// addOld adds the old commands that start before an offset, as commands of the module. If the module name is empty, they keep their module.
func (m *commandMerger) addOld(offset int32, module string) {
	for len(m.old) > 0 && m.old[0].from < offset {
		cmd := m.old[0]
		if module != "" {
			cmd.module = module
		}
		m.add(cmd, m.oldHidden[0])
		m.old, m.oldHidden = m.old[1:], m.oldHidden[1:]
	}
}

// nextOldIsAt reports whether the next old command begins at an offset.
func (m *commandMerger) nextOldIsAt(offset int32) bool {
	return len(m.old) > 0 && m.old[0].from == offset
}

// numCommands returns the number of commands that a module has in the text, including hidden ones. A stub in the tree is not counted, because
// the hidden command that it replaces is.
func (d *document) numCommands(module *syntax.Module) int {
	count := 0
	for i, cmd := range d.commands {
		if module.Start.Offset <= cmd.from && cmd.from < module.Stop.Offset && d.isHidden(i) {
			count++
		}
	}
	for _, cmd := range module.Commands {
		i, isRecorded := slices.BinarySearchFunc(d.commands, cmd.Start.Offset, func(cmd textCommand, offset int32) int { return int(cmd.from - offset) })
		if !isRecorded || !d.isHidden(i) {
			count++
		}
	}
	return count
}

// isHidden reports whether the tree has a stub, or nothing, in place of command i.
func (d *document) isHidden(i int) bool { return d.hidden != nil && d.hidden[i] }

// errorOffsets returns the offsets of the errors of the parser.
func errorOffsets(err error) []int32 {
	list, _ := err.(syntax.ErrorList)
	var offsets []int32
	for _, problem := range list {
		offsets = append(offsets, problem.Pos.Offset)
	}
	return offsets
}

// newCommand makes the textCommand of a command of the tree. It returns false if one of the errors is in the command, or if no stub can replace
// the command.
func (d *document) newCommand(cmd *syntax.Command, errorOffsets []int32) (textCommand, bool) {
	from, to := cmd.Start.Offset, cmd.Stop.Offset
	if slices.ContainsFunc(errorOffsets, func(offset int32) bool { return from <= offset && offset <= to }) {
		return textCommand{}, false
	}
	stub, ok := stubOf(cmd, d.text[from:to])
	if !ok {
		return textCommand{}, false
	}
	added := textCommand{from: from, to: to, command: &command{stub: stub}}
	names := collector{text: d.text}
	names.command(cmd)
	added.names = names.sorted()
	for i := range added.names {
		name := &added.names[i]
		if name.space == values && !slices.Contains(added.uses, name.name) {
			added.uses = append(added.uses, name.name)
		}
		name.From -= int(from)
		name.To -= int(from)
	}
	return added, true
}

// stubOf returns a stub for a command whose text is given: the start of a command with the same action, the guard true and one update, which has a
// probability if the command has one. With blanks and a semicolon, the stub becomes as long as the command. It returns false if the stub does not
// fit into the first line of the text, or if the command has an interval of probabilities.
func stubOf(cmd *syntax.Command, text []byte) (stub string, ok bool) {
	action, prob := "", ""
	if cmd.Action != nil {
		action = cmd.Action.Name
	}
	for _, update := range cmd.Updates {
		if update.ProbHigh != nil {
			return "", false
		}
		if update.Prob != nil {
			prob = "1:"
		}
	}
	stub = "[" + action + "]true->" + prob + "true"
	lineEnd := bytes.IndexAny(text, "\r\n")
	if lineEnd < 0 {
		lineEnd = len(text)
	}
	fits := len(stub) <= lineEnd && len(stub) < len(text)
	return stub, fits && text[len(text)-1] == ';'
}

// check checks the names and types of a model that parses. It hides the commands that are known to have no errors and no warnings.
func (d *document) check() *checked {
	d.checking.Do(func() {
		d.parse()
		env := environmentOf(d.tree.(*syntax.Model), d.text)
		states := make([]state, len(d.commands))
		for i, cmd := range d.commands {
			states[i] = env.stateOf(cmd)
		}
		first := d.representatives(states)
		hidden := make([]bool, len(d.commands))
		for i, cmd := range d.commands {
			representative, ok := first[states[i].values]
			isRepresented := !ok || representative != i
			hidden[i] = cmd.isChecked(states[i]) && (cmd.isConstantChecked(states[i]) || isRepresented)
		}
		d.meaning = d.checkWithout(env, states, hidden)
		if d.meaning.program == nil {
			return // constants have no values
		}
		if d.recordConstantChecks(states, first) {
			return
		}
		for i, cmd := range d.commands {
			hidden[i] = cmd.isConstantChecked(states[i])
		}
		d.meaning = d.checkWithout(env, states, hidden)
	})
	return &d.meaning
}

// representatives returns, for each state.values, the first command that is not yet checked with the values of constants. If one of the commands
// with the same state.values has warnings, all of them do, so it is enough to check one.
func (d *document) representatives(states []state) map[uint64]int {
	first := make(map[uint64]int)
	for i, cmd := range d.commands {
		if cmd.isConstantChecked(states[i]) || !states[i].sameResult {
			continue
		}
		if _, ok := first[states[i].values]; !ok {
			first[states[i].values] = i
		}
	}
	return first
}

// recordConstantChecks records that a command has no warnings if its representative has none. It reports whether all commands that the last
// check hid have no warnings.
func (d *document) recordConstantChecks(states []state, representatives map[uint64]int) bool {
	allChecked := true
	for i, cmd := range d.commands {
		first, ok := representatives[states[i].values]
		if ok && states[i].sameResult && d.commands[first].isConstantChecked(states[first]) {
			cmd.constantChecked.Store(states[i].values)
		}
		if d.meaning.hidden[i] && !cmd.isConstantChecked(states[i]) {
			allChecked = false
		}
	}
	return allChecked
}

// checkWithout checks the model without the hidden commands: hidden[i] says whether command i is hidden. It records which of the other commands
// have no errors and no warnings about constants, and updates their states.
func (d *document) checkWithout(env *environment, states []state, hidden []bool) checked {
	correct := make(map[int32]*syntax.Command) // the commands by their offsets; nil for a command with errors
	result := d.checkTree(d.treeWithout(hidden), func(cmd *syntax.Command, ok bool) {
		offset := cmd.Start.Offset
		if previous, isReported := correct[offset]; !ok || isReported && previous == nil {
			cmd = nil
		}
		correct[offset] = cmd
	})
	result.hidden = hidden
	withoutWarnings := commandsWithoutWarnings(result.program)
	for i, command := range d.commands {
		cmd := correct[command.from]
		if hidden[i] || cmd == nil || states[i].kinds == 0 {
			continue
		}
		command.checked.Store(states[i].kinds)
		if states[i].values == 0 {
			command.constantUse.Store(env.constantUseOf(cmd, states[i].kinds))
			states[i] = env.stateOf(command)
		}
		if withoutWarnings[command.from] {
			command.constantChecked.Store(states[i].values)
		}
	}
	return result
}

// treeWithout returns the syntax tree of the text in which stubs replace the hidden commands.
func (d *document) treeWithout(hidden []bool) *syntax.Model {
	tree := d.tree.(*syntax.Model)
	isUnchanged := true
	for i := range hidden {
		isUnchanged = isUnchanged && hidden[i] == d.isHidden(i)
	}
	if isUnchanged {
		return tree
	}
	text, _ := d.textWithStubs(hidden)
	if parsed, err := syntax.ParsePart(d.dialect, d.name, text); err == nil {
		return parsed.(*syntax.Model)
	}
	return tree
}

// commandsWithoutWarnings returns the offsets of the commands whose guards can hold in some state, as far as constants decide this. It returns none
// if the program is nil, or if float64 arithmetic gives an operation on constants another value than exact arithmetic.
func commandsWithoutWarnings(program *sema.Program) map[int32]bool {
	offsets := make(map[int32]bool)
	if program == nil || program.Differs {
		return offsets
	}
	for _, module := range program.Modules {
		for _, cmd := range module.Commands {
			if !lint.IsConst(cmd.Guard, false) {
				offsets[cmd.Pos.Offset] = true
			}
		}
	}
	return offsets
}

var seed = maphash.MakeSeed()

// mix combines two hashes; the order matters.
func mix(a, b uint64) uint64 {
	h := (a ^ b>>32 ^ b<<32) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}
