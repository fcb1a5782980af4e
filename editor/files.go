package editor

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"tilecheck/prism/syntax"
)

// MaxText is the largest text, in bytes, that is looked at: of a larger one the only
// diagnostic says so.
const MaxText = 16 << 20

// Options say how texts are read.
type Options struct {
	Dialect syntax.Dialect
	// Consts are definitions of constants, as --const has them. They give names their
	// values, and diagnostics what follows from these.
	Consts []string
}

// Files are the texts that are open, by name.
type Files struct {
	opts Options
	docs map[string]*document
	// groups has what the texts mean together, by the name of the model.
	groups map[string]*group
}

// New returns a set without texts.
func New(opts Options) *Files { return &Files{opts: opts} }

// With returns a set in which a file has a text, which the caller no longer changes.
func (f *Files) With(name string, text []byte) *Files {
	docs := maps.Clone(f.docs)
	if docs == nil {
		docs = make(map[string]*document)
	}
	d := &document{name: name, text: text, dialect: f.opts.Dialect, opts: f.opts}
	if old := f.docs[name]; old != nil {
		d.before = old.remembered()
	}
	docs[name] = d
	return f.over(docs, name)
}

// Without returns a set that lacks a file.
func (f *Files) Without(name string) *Files {
	docs := maps.Clone(f.docs)
	delete(docs, name)
	return f.over(docs, name)
}

// over returns the set of other documents, of which one has changed: what the others
// mean by themselves is kept.
func (f *Files) over(docs map[string]*document, changed string) *Files {
	next := &Files{opts: f.opts, docs: docs, groups: make(map[string]*group)}
	for _, name := range next.Names() {
		model := next.ModelOf(name)
		g := next.groups[model]
		if g == nil {
			g = &group{opts: f.opts}
			next.groups[model] = g
		}
		if d := docs[name]; d.isProps() {
			g.props = append(g.props, d)
		} else {
			g.model = d
		}
	}
	for name, g := range next.groups { // nothing of it has changed
		if old := f.groups[name]; old != nil && old.model == g.model && slices.Equal(old.props, g.props) {
			next.groups[name] = old
		}
	}
	return next
}

// Names returns the names of the files, sorted.
func (f *Files) Names() []string { return slices.Sorted(maps.Keys(f.docs)) }

// Text returns the text of a file, nil if there is none. It must not be changed.
func (f *Files) Text(name string) []byte {
	if d := f.docs[name]; d != nil {
		return d.text
	}
	return nil
}

// IsProperties reports whether a file has properties and not a model.
func (f *Files) IsProperties(name string) bool {
	d := f.docs[name]
	return d != nil && d.isProps()
}

// ModelOf returns the model that a file is about: itself, or for properties the model
// whose name they continue (m.prism.props), or that has their name but for the ending, or
// the only one in their folder; "" if there is none.
func (f *Files) ModelOf(name string) string {
	if d := f.docs[name]; d == nil || !d.isProps() {
		return name
	}
	var stem, beside []string
	base := strings.TrimSuffix(name, path.Ext(name))
	for _, other := range f.Names() {
		switch {
		case f.docs[other].isProps() || path.Dir(other) != path.Dir(name):
		case other == base:
			return other
		case strings.TrimSuffix(other, path.Ext(other)) == base:
			stem = append(stem, other)
		default:
			beside = append(beside, other)
		}
	}
	switch {
	case len(stem) > 0:
		return stem[0]
	case len(beside) == 1:
		return beside[0]
	}
	return ""
}

func (f *Files) group(name string) (*group, *document) {
	d := f.docs[name]
	if d == nil {
		return nil, nil
	}
	return f.groups[f.ModelOf(name)], d
}

// document is a text and what is found in it alone.
type document struct {
	name    string
	text    []byte
	dialect syntax.Dialect
	opts    Options

	before memory // what was found in the text before this one
	now    struct {
		lexemes  atomic.Pointer[found[lexeme]]
		commands atomic.Pointer[found[placed]]
	}

	telling sync.Once
	props   bool

	parsing sync.Once
	tree    syntax.Node // what parses of it; of a model without the commands that are hidden
	err     error       // of the parser
	// commands are those of a model that may be hidden, in order; hidden are those that
	// are, by number, and nil if none is.
	commands []placed
	hidden   []bool

	scanning sync.Once
	scanned  []lexeme

	naming sync.Once
	names  []occurrence

	checking sync.Once
	meaning  checked
}

func (d *document) isProps() bool {
	d.telling.Do(func() { d.props = syntax.IsProperties(d.name, d.looked()) })
	return d.props
}

func (d *document) parse() {
	d.parsing.Do(func() {
		if d.isProps() {
			d.tree, d.err = syntax.ParsePart(d.dialect, d.name, d.looked())
			return
		}
		d.parseModel()
		d.now.commands.Store(&found[placed]{d.looked(), d.commands})
	})
}

// looked is the text that is looked at.
func (d *document) looked() []byte {
	if len(d.text) > MaxText {
		return nil
	}
	return d.text
}

// group is a model and the properties of it. The model may be missing.
type group struct {
	opts  Options
	model *document
	props []*document

	checking sync.Once
	found    map[string][]Diagnostic
	binding  sync.Once
	bound    map[*document][]use
}

// docs are the documents of a group: the model, then its properties.
func (g *group) docs() []*document {
	if g.model == nil {
		return g.props
	}
	return append([]*document{g.model}, g.props...)
}
