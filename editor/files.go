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

// MaxText is the largest text, in bytes, that is analysed. The only diagnostic of a larger text
// says so.
const MaxText = 16 << 20

// Options says how texts are interpreted.
type Options struct {
	Dialect syntax.Dialect
	// Consts are definitions of constants in the syntax of --const. Diagnostics and hovers
	// use the values.
	Consts []string
}

// Files is a set of open texts, by name.
type Files struct {
	opts Options
	docs map[string]*document
	// groups are the models with their properties, by the name of the model.
	groups map[string]*group
}

// New returns an empty set.
func New(opts Options) *Files { return &Files{opts: opts} }

// With returns a set in which the file has the given text, which the caller must not change.
func (f *Files) With(name string, text []byte) *Files {
	docs := maps.Clone(f.docs)
	if docs == nil {
		docs = make(map[string]*document)
	}
	d := &document{name: name, text: text, dialect: f.opts.Dialect, opts: f.opts}
	if old := f.docs[name]; old != nil {
		d.before = old.nextPrevious()
	}
	docs[name] = d
	return f.regroup(docs)
}

// Without returns a set without the file.
func (f *Files) Without(name string) *Files {
	docs := maps.Clone(f.docs)
	delete(docs, name)
	return f.regroup(docs)
}

// regroup returns a set with the given documents. Groups without changes keep their results.
func (f *Files) regroup(docs map[string]*document) *Files {
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
	for name, g := range next.groups {
		if old := f.groups[name]; old != nil && old.model == g.model && slices.Equal(old.props, g.props) {
			next.groups[name] = old
		}
	}
	return next
}

// Names returns the names of the files, sorted.
func (f *Files) Names() []string { return slices.Sorted(maps.Keys(f.docs)) }

// Text returns the text of a file, nil if it is not open. The caller must not change it.
func (f *Files) Text(name string) []byte {
	if d := f.docs[name]; d != nil {
		return d.text
	}
	return nil
}

// IsProperties reports whether a file is a properties file.
func (f *Files) IsProperties(name string) bool {
	d := f.docs[name]
	return d != nil && d.isProps()
}

// ModelOf returns the model that a file belongs to. A model belongs to itself. A properties file
// belongs to the model of the same name with an ending added (m.prism.props), or of the same name
// with another ending, or to the only model in its folder; "" if there is none.
func (f *Files) ModelOf(name string) string {
	if d := f.docs[name]; d == nil || !d.isProps() {
		return name
	}
	var stem, addUnit []string
	base := strings.TrimSuffix(name, path.Ext(name))
	for _, other := range f.Names() {
		switch {
		case f.docs[other].isProps() || path.Dir(other) != path.Dir(name):
		case other == base:
			return other
		case strings.TrimSuffix(other, path.Ext(other)) == base:
			stem = append(stem, other)
		default:
			addUnit = append(addUnit, other)
		}
	}
	switch {
	case len(stem) > 0:
		return stem[0]
	case len(addUnit) == 1:
		return addUnit[0]
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

// document is a text with the results for it alone.
type document struct {
	name    string
	text    []byte
	dialect syntax.Dialect
	opts    Options

	before previousResults
	now    struct {
		lexemes  atomic.Pointer[found[lexeme]]
		commands atomic.Pointer[found[textCommand]]
	}

	detecting sync.Once
	props     bool

	parsing sync.Once
	tree    syntax.Node // as far as it parses, without the hidden commands
	err     error       // of the parser
	// commands are the commands of a model that can be hidden, in order. hidden says which of
	// them are hidden in tree; nil if none are.
	commands []textCommand
	hidden   []bool

	scanning sync.Once
	scanned  []lexeme

	naming sync.Once
	names  []occurrence

	checking sync.Once
	meaning  checked
}

func (d *document) isProps() bool {
	d.detecting.Do(func() { d.props = syntax.IsProperties(d.name, d.limitedText()) })
	return d.props
}

func (d *document) parse() {
	d.parsing.Do(func() {
		if d.isProps() {
			d.tree, d.err = syntax.ParsePart(d.dialect, d.name, d.limitedText())
			return
		}
		d.parseModel()
		d.now.commands.Store(&found[textCommand]{d.limitedText(), d.commands})
	})
}

// limitedText returns the text, or nil if it is too large.
func (d *document) limitedText() []byte {
	if len(d.text) > MaxText {
		return nil
	}
	return d.text
}

// group is a model and its properties. The model may be missing.
type group struct {
	opts  Options
	model *document
	props []*document

	checking sync.Once
	found    map[string][]Diagnostic
	binding  sync.Once
	bound    map[*document][]use
}

// docs returns the documents of a group: the model, then its properties.
func (g *group) docs() []*document {
	if g.model == nil {
		return g.props
	}
	return append([]*document{g.model}, g.props...)
}
