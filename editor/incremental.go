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

// A model of ten thousand lines is commands nearly throughout, of which a key changes one.
// What parses, and has nothing wrong with it, is not looked at again: the text that is parsed
// and checked has blanks in its place, so that everything else stays where it is, with just
// enough commands that the module has the same actions, and that the parser is seen to
// come to each of them. Diagnostics are those of the whole text (TestSameAsFresh).

// found are things found in a text.
type found[T any] struct {
	text []byte
	list []T
}

// memory is what is known of the text that a document had before; nil is nothing.
type memory struct {
	lexemes  *found[lexeme]
	commands *found[placed]
}

// remembered is what the next text of a document can use.
func (d *document) remembered() memory {
	m := memory{d.now.lexemes.Load(), d.now.commands.Load()}
	if m.lexemes == nil {
		m.lexemes = d.before.lexemes
	}
	if m.commands == nil {
		m.commands = d.before.commands
	}
	return m
}

// command is one that parses, and what is known of it wherever it stands.
type command struct {
	stub  string       // stands for it; empty if nothing does
	names []occurrence // from its beginning
	uses  []string     // names of values in it, each once
	// Of what was around the command when nothing was found wrong with it: 0 for never.
	checked, folded atomic.Uint64
	worth           atomic.Pointer[worth]
	laid            atomic.Pointer[format.Laid] // nil as long as nobody has asked
}

// isChecked reports whether nothing is wrong with the command as names are now.
func (c *command) isChecked(now state) bool { return now.kinds != 0 && c.checked.Load() == now.kinds }

// isFolded reports whether nothing is wrong with it as values of constants are now.
func (c *command) isFolded(now state) bool { return now.values != 0 && c.folded.Load() == now.values }

// placed is a command in a text.
type placed struct {
	from, to int32
	module   string
	*command
}

// parseModel parses the text, without the commands that were there before where that
// gives the same.
func (d *document) parseModel() {
	text := d.looked()
	if old := d.before.commands; old != nil && len(old.list) > 0 && len(text) > 0 {
		d.commands = moved(old, text)
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
	d.learn()
}

// parseWithout parses the text with commands hidden. It reports whether that is certain to
// say of the text what parsing all of it would.
func (d *document) parseWithout(hidden []bool) bool {
	text, stubs := d.blanked(hidden)
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
	if len(stubs) == 0 { // the parser has come to each
		d.learn()
	}
	return len(stubs) == 0
}

// moved are the commands that a text has in common with another one.
func moved(old *found[placed], text []byte) []placed {
	front, back := Common(old.text, text)
	shift := int32(len(text) - len(old.text))
	out := make([]placed, 0, len(old.list)+1)
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

// blanked is the text without what is hidden, and the places of the stubs in it.
func (d *document) blanked(hidden []bool) (text []byte, stubs []int32) {
	text = slices.Clone(d.looked())
	there := make(map[string]bool) // stubs of the commands that follow each other here
	follows := func(i int) bool {  // nothing is between a command and the one before, and both are hidden
		return i > 0 && i < len(hidden) && hidden[i-1] && hidden[i] && blank(d.text[d.commands[i-1].to:d.commands[i].from])
	}
	gone := false
	for i, p := range d.commands {
		if !gone {
			clear(there)
		}
		gone = follows(i + 1)
		if !hidden[i] {
			continue
		}
		part := text[p.from:p.to]
		for j, c := range part {
			if c != '\n' && c != '\r' {
				part[j] = ' '
			}
		}
		if !there[p.stub] || !gone { // the last one is where the module ends that is not ended
			there[p.stub] = true
			copy(part, p.stub)
			part[len(part)-1] = ';'
			stubs = append(stubs, p.from)
		}
	}
	return text, stubs
}

// blank reports whether a text is white space and comments, and nothing of what follows in one.
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

// learn notes the commands of the tree that are new, and in which modules all are.
func (d *document) learn() {
	model, ok := d.tree.(*syntax.Model)
	if !ok {
		return
	}
	wrong := placesOf(d.err)
	all := make([]placed, 0, len(d.commands)+16)
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
			if p, ok := d.place(c, wrong); ok {
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

// commandsOf is how many commands a module of the tree has in the text.
func (d *document) commandsOf(m *syntax.Module) int {
	n := 0
	for i, p := range d.commands {
		if m.Start.Offset <= p.from && p.from < m.Stop.Offset && d.hidden != nil && d.hidden[i] {
			n++
		}
	}
	for _, c := range m.Commands {
		i, known := slices.BinarySearchFunc(d.commands, c.Start.Offset, func(p placed, at int32) int { return int(p.from - at) })
		if !known || d.hidden == nil || !d.hidden[i] {
			n++
		}
	}
	return n
}

// placesOf are the places of errors.
func placesOf(err error) []int32 {
	list, _ := err.(syntax.ErrorList)
	var out []int32
	for _, e := range list {
		out = append(out, e.Pos.Offset)
	}
	return out
}

// place is a new command; not one in which something is wrong, or that cannot be hidden.
func (d *document) place(c *syntax.Command, wrong []int32) (placed, bool) {
	p := placed{from: c.Start.Offset, to: c.Stop.Offset, command: &command{stub: "[]true->"}}
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

// check finds out what a model means that parses.
func (d *document) check() *checked {
	d.checking.Do(func() {
		d.parse()
		around := surroundingsOf(d.tree.(*syntax.Model), d.text)
		now := make([]state, len(d.commands))
		for i, p := range d.commands {
			now[i] = around.of(p)
		}
		// One of those that constants change in the same way stands for the others.
		first := make(map[uint64]int)
		for i, p := range d.commands {
			if !p.isFolded(now[i]) && now[i].alike {
				if _, ok := first[now[i].values]; !ok {
					first[now[i].values] = i
				}
			}
		}
		d.meaning = d.checkWithout(around, now, func(i int, p placed) bool {
			at, ok := first[now[i].values]
			return p.isChecked(now[i]) && (p.isFolded(now[i]) || !ok || at != i)
		})
		if d.meaning.program == nil {
			return // nothing can be folded
		}
		known := true
		for i, p := range d.commands {
			if at, ok := first[now[i].values]; ok && now[i].alike && d.commands[at].isFolded(now[at]) {
				p.folded.Store(now[i].values)
			}
			known = known && (!d.meaning.hidden[i] || p.isFolded(now[i]))
		}
		if !known {
			d.meaning = d.checkWithout(around, now, func(i int, p placed) bool { return p.isFolded(now[i]) })
		}
	})
	return &d.meaning
}

// checkWithout checks the model without commands with which nothing is wrong, and notes with which
// others nothing is.
func (d *document) checkWithout(around *surroundings, now []state, hide func(i int, p placed) bool) checked {
	hidden := make([]bool, len(d.commands))
	same := true
	for i, p := range d.commands {
		hidden[i] = hide(i, p)
		same = same && hidden[i] == (d.hidden != nil && d.hidden[i])
	}
	tree := d.tree.(*syntax.Model)
	if !same {
		text, _ := d.blanked(hidden)
		if n, err := syntax.ParsePart(d.dialect, d.name, text); err == nil {
			tree = n.(*syntax.Model)
		}
	}
	clean := make(map[int32]*syntax.Command) // nil is one that is not
	c := d.checkTree(tree, func(cmd *syntax.Command, ok bool) {
		at := cmd.Start.Offset
		if before, told := clean[at]; !ok || told && before == nil {
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
			p.worth.Store(around.worthOf(cmd, now[i].kinds))
			now[i] = around.of(p)
		}
		if possible[p.from] {
			p.folded.Store(now[i].values)
		}
	}
	return c
}

var seed = maphash.MakeSeed()

// mix makes one number of two, which depends on their order.
func mix(a, b uint64) uint64 {
	h := (a ^ b>>32 ^ b<<32) * 0x9e3779b97f4a7c15
	return h ^ h>>29
}
