package editor

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sync/atomic"

	"tilecheck/prism/format"
	"tilecheck/prism/lint"
	"tilecheck/prism/syntax"
)

// A large model consists mostly of commands, and a keystroke changes one of them. Commands that
// parsed without errors are not parsed again: before parsing, their text is replaced by blanks,
// so that positions stay the same, and by short stub commands with the same actions. The stubs
// also show whether the parser reached them. The diagnostics equal those of the whole text
// (TestSameAsFresh).

// found holds the results of type T for a text.
type found[T any] struct {
	text []byte
	list []T
}

// previousResults holds what is known about the previous text of a document; nil fields mean
// nothing.
type previousResults struct {
	lexemes  *found[lexeme]
	commands *found[textCommand]
}

// nextPrevious returns the results that the next text of the document can use.
func (d *document) nextPrevious() previousResults {
	m := previousResults{d.now.lexemes.Load(), d.now.commands.Load()}
	if m.lexemes == nil {
		m.lexemes = d.before.lexemes
	}
	if m.commands == nil {
		m.commands = d.before.commands
	}
	return m
}

// command is a command that parses, with the facts about it that do not depend on its position.
type command struct {
	stub  string       // the command that replaces it in parsed texts
	names []occurrence // with offsets from the start of the command
	uses  []string     // the distinct names of values in it
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

// parseModel parses the text. If possible it replaces the unchanged commands by stubs.
func (d *document) parseModel() {
	text := d.limitedText()
	if old := d.before.commands; old != nil && len(old.list) > 0 && len(text) > 0 {
		d.commands = unchangedCommands(old, text)
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

// parseWithout parses the text with the hidden commands replaced. It returns false if the result
// may differ from that for the whole text, because the parser did not reach every stub.
func (d *document) parseWithout(hidden []bool) bool {
	text, stubs := d.textWithStubs(hidden)
	d.tree, d.err = syntax.ParsePart(d.dialect, d.name, text)
	model, ok := d.tree.(*syntax.Model)
	if !ok {
		return false
	}
	for _, item := range model.Items {
		if m, ok := item.(*syntax.Module); ok {
			for _, c := range m.Commands {
				if len(stubs) > 0 && stubs[0] == c.Start.Offset {
					stubs = stubs[1:]
				}
			}
		}
	}
	d.hidden = hidden
	if len(stubs) == 0 { // the parser reached every stub
		d.recordCommands()
	}
	return len(stubs) == 0
}

// unchangedCommands returns the commands that lie outside the changed part of a text.
func unchangedCommands(old *found[textCommand], text []byte) []textCommand {
	front, back := Common(old.text, text)
	shift := int32(len(text) - len(old.text))
	out := make([]textCommand, 0, len(old.list)+1)
	for _, p := range old.list {
		switch {
		case int(p.to) <= front:
		case int(p.from) >= len(old.text)-back:
			p.from, p.to = p.from+shift, p.to+shift
		default:
			continue
		}
		out = append(out, p)
	}
	return out
}

// textWithStubs returns the text with hidden commands replaced by blanks and stubs, and the
// offsets of the stubs. Of adjacent hidden commands, one stub per action is enough.
func (d *document) textWithStubs(hidden []bool) (text []byte, stubs []int32) {
	text = slices.Clone(d.limitedText())
	written := make(map[string]bool)    // stubs in the current sequence of adjacent commands
	followsHidden := func(i int) bool { // commands i-1 and i are hidden, with only blanks between them
		return i > 0 && i < len(hidden) && hidden[i-1] && hidden[i] && blank(d.text[d.commands[i-1].to:d.commands[i].from])
	}
	nextIsAdjacent := false
	for i, p := range d.commands {
		if !nextIsAdjacent {
			clear(written)
		}
		nextIsAdjacent = followsHidden(i + 1)
		if !hidden[i] {
			continue
		}
		part := text[p.from:p.to]
		for j, c := range part {
			if c != '\n' && c != '\r' {
				part[j] = ' '
			}
		}
		if !written[p.stub] || !nextIsAdjacent { // the last stub shows where an unfinished module ends
			written[p.stub] = true
			copy(part, p.stub)
			part[len(part)-1] = ';'
			stubs = append(stubs, p.from)
		}
	}
	return text, stubs
}

// blank reports whether a text consists of white space and complete comments.
func blank(text []byte) bool {
	for len(text) > 0 {
		switch {
		case text[0] == ' ' || text[0] == '\t' || text[0] == '\n' || text[0] == '\r':
			text = text[1:]
		case len(text) > 1 && text[0] == '/' && text[1] == '/':
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

// recordCommands adds the new commands of the tree to the commands of the document, and sets the
// module of each.
func (d *document) recordCommands() {
	model, ok := d.tree.(*syntax.Model)
	if !ok {
		return
	}
	wrong := errorOffsets(d.err)
	all := make([]textCommand, 0, len(d.commands)+16)
	known := d.commands
	hidden := d.hidden
	var stay []bool
	take := func(to int32, module string) {
		for len(known) > 0 && known[0].from < to {
			p := known[0]
			if module != "" {
				p.module = module
			}
			all, stay = append(all, p), append(stay, hidden[0])
			known, hidden = known[1:], hidden[1:]
		}
	}
	for _, item := range model.Items {
		m, ok := item.(*syntax.Module)
		if !ok {
			continue
		}
		for _, c := range m.Commands {
			take(c.Start.Offset, m.Name.Name)
			if len(known) > 0 && known[0].from == c.Start.Offset {
				continue
			}
			if p, ok := d.newCommand(c, wrong); ok {
				p.module = m.Name.Name
				all, stay = append(all, p), append(stay, false)
			}
		}
		take(m.Stop.Offset, m.Name.Name)
	}
	take(int32(len(d.text))+1, "")
	d.commands = all
	if d.hidden != nil {
		d.hidden = stay
	}
}

// commandsOf returns the number of commands that a module has in the text, including hidden ones.
func (d *document) commandsOf(m *syntax.Module) int {
	n := 0
	for i, p := range d.commands {
		if m.Start.Offset <= p.from && p.from < m.Stop.Offset && d.hidden != nil && d.hidden[i] {
			n++
		}
	}
	for _, c := range m.Commands {
		i, known := slices.BinarySearchFunc(d.commands, c.Start.Offset, func(p textCommand, at int32) int { return int(p.from - at) })
		if !known || d.hidden == nil || !d.hidden[i] {
			n++
		}
	}
	return n
}

// errorOffsets returns the offsets of errors.
func errorOffsets(err error) []int32 {
	list, _ := err.(syntax.ErrorList)
	var out []int32
	for _, e := range list {
		out = append(out, e.Pos.Offset)
	}
	return out
}

// newCommand makes a textCommand. It returns false if the command has errors or cannot be
// replaced by a stub.
func (d *document) newCommand(c *syntax.Command, wrong []int32) (textCommand, bool) {
	p := textCommand{from: c.Start.Offset, to: c.Stop.Offset, command: &command{stub: "[]true->"}}
	for _, at := range wrong {
		if p.from <= at && at <= p.to {
			return p, false
		}
	}
	if c.Action != nil {
		p.stub = "[" + c.Action.Name + "]true->"
	}
	for _, u := range c.Updates {
		if u.ProbHigh != nil {
			return p, false
		}
		if u.Prob != nil && p.stub[len(p.stub)-1] == '>' {
			p.stub += "1:"
		}
	}
	p.stub += "true"
	text := d.text[p.from:p.to]
	if end := bytes.IndexAny(text, "\r\n"); len(p.stub) >= len(text) || end >= 0 && end < len(p.stub) || text[len(text)-1] != ';' {
		return p, false
	}
	n := collector{text: d.text}
	n.command(c)
	p.names = n.sorted()
	for i := range p.names {
		o := &p.names[i]
		if o.space == values && !slices.Contains(p.uses, o.name) {
			p.uses = append(p.uses, o.name)
		}
		o.From -= int(p.from)
		o.To -= int(p.from)
	}
	return p, true
}

// check checks the names and types of a model that parses.
func (d *document) check() *checked {
	d.checking.Do(func() {
		d.parse()
		env := environmentOf(d.tree.(*syntax.Model), d.text)
		now := make([]state, len(d.commands))
		for i, p := range d.commands {
			now[i] = env.stateOf(p)
		}
		// Of commands that depend on constants in the same way, one is checked for all.
		first := make(map[uint64]int)
		for i, p := range d.commands {
			if !p.isConstantChecked(now[i]) && now[i].sameResult {
				if _, ok := first[now[i].values]; !ok {
					first[now[i].values] = i
				}
			}
		}
		d.meaning = d.checkWithout(env, now, func(i int, p textCommand) bool {
			at, ok := first[now[i].values]
			return p.isChecked(now[i]) && (p.isConstantChecked(now[i]) || !ok || at != i)
		})
		if d.meaning.program == nil {
			return // constants have no values
		}
		known := true
		for i, p := range d.commands {
			if at, ok := first[now[i].values]; ok && now[i].sameResult && d.commands[at].isConstantChecked(now[at]) {
				p.constantChecked.Store(now[i].values)
			}
			known = known && (!d.meaning.hidden[i] || p.isConstantChecked(now[i]))
		}
		if !known {
			d.meaning = d.checkWithout(env, now, func(i int, p textCommand) bool { return p.isConstantChecked(now[i]) })
		}
	})
	return &d.meaning
}

// checkWithout checks the model with some commands hidden, and records for the others that they
// have no errors.
func (d *document) checkWithout(env *environment, now []state, hide func(i int, p textCommand) bool) checked {
	hidden := make([]bool, len(d.commands))
	same := true
	for i, p := range d.commands {
		hidden[i] = hide(i, p)
		same = same && hidden[i] == (d.hidden != nil && d.hidden[i])
	}
	tree := d.tree.(*syntax.Model)
	if !same {
		text, _ := d.textWithStubs(hidden)
		if n, err := syntax.ParsePart(d.dialect, d.name, text); err == nil {
			tree = n.(*syntax.Model)
		}
	}
	clean := make(map[int32]*syntax.Command) // by offset; nil for a command with errors
	c := d.checkTree(tree, func(cmd *syntax.Command, ok bool) {
		at := cmd.Start.Offset
		if before, report := clean[at]; !ok || report && before == nil {
			cmd = nil
		}
		clean[at] = cmd
	})
	c.hidden = hidden
	possible := make(map[int32]bool)
	if c.program != nil && !c.program.Differs {
		for _, m := range c.program.Modules {
			for _, cmd := range m.Commands {
				if !lint.IsConst(cmd.Guard, false) {
					possible[cmd.Pos.Offset] = true
				}
			}
		}
	}
	for i, p := range d.commands {
		cmd := clean[p.from]
		if hidden[i] || cmd == nil || now[i].kinds == 0 {
			continue
		}
		p.checked.Store(now[i].kinds)
		if now[i].values == 0 {
			p.constantUse.Store(env.constantUseOf(cmd, now[i].kinds))
			now[i] = env.stateOf(p)
		}
		if possible[p.from] {
			p.constantChecked.Store(now[i].values)
		}
	}
	return c
}

var seed = maphash.MakeSeed()

// mix combines two hashes; the order matters.
func mix(a, b uint64) uint64 {
	h := (a ^ b>>32 ^ b<<32) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}
