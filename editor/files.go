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

// With returns a set in which the named file has this text; the file need not be in the old set. The caller must not change the text.
func (f *Files) With(name string, text []byte) *Files {
	docs := maps.Clone(f.docs)
	if docs == nil {
		docs = make(map[string]*document)
	}
	doc := &document{name: name, text: text, dialect: f.opts.Dialect, opts: f.opts}
	if oldDoc := f.docs[name]; oldDoc != nil {
		doc.before = oldDoc.resultsForNext()
	}
	docs[name] = doc
	return f.regroup(docs)
}

// Without returns a set without the file.
func (f *Files) Without(name string) *Files {
	docs := maps.Clone(f.docs)
	delete(docs, name)
	return f.regroup(docs)
}

// regroup returns a set with the given documents, grouped by their models. A group whose documents did not change keeps its results.
func (f *Files) regroup(docs map[string]*document) *Files {
	next := &Files{opts: f.opts, docs: docs, groups: make(map[string]*group)}
	for _, name := range next.Names() {
		model := next.ModelOf(name)
		newGroup := next.groups[model]
		if newGroup == nil {
			newGroup = &group{opts: f.opts}
			next.groups[model] = newGroup
		}
		if doc := docs[name]; doc.isProps() {
			newGroup.props = append(newGroup.props, doc)
		} else {
			newGroup.model = doc
		}
	}
	for name, newGroup := range next.groups {
		if oldGroup := f.groups[name]; oldGroup != nil && oldGroup.hasSameDocuments(newGroup) {
			next.groups[name] = oldGroup
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

// ModelOf returns the name of the model that a file belongs to; "" if there is none. A model belongs to itself. The model of a properties file is
// in the same folder: the file with the name without its ending (m.prism for m.prism.props), else the first model with the same name and another
// ending (m.nm for m.props), else the only other model of the folder.
func (f *Files) ModelOf(name string) string {
	if doc := f.docs[name]; doc == nil || !doc.isProps() {
		return name
	}
	var sameName, otherName []string
	base := withoutEnding(name)
	for _, model := range f.Names() {
		switch {
		case f.docs[model].isProps() || path.Dir(model) != path.Dir(name):
		case model == base:
			return model
		case withoutEnding(model) == base:
			sameName = append(sameName, model)
		default:
			otherName = append(otherName, model)
		}
	}
	switch {
	case len(sameName) > 0:
		return sameName[0]
	case len(otherName) == 1:
		return otherName[0]
	}
	return ""
}

func withoutEnding(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }

// group returns the document of a file, and its group; nil if the file is not open.
func (f *Files) group(name string) (*group, *document) {
	d := f.docs[name]
	if d == nil {
		return nil, nil
	}
	return f.groups[f.ModelOf(name)], d
}

// document is the text of a file with the results that depend on this text alone. The results are computed when they are first needed.
type document struct {
	name    string
	text    []byte
	dialect syntax.Dialect
	opts    Options

	before previousResults // of an earlier text of the file
	now    struct {        // results for the next text, as far as they are computed
		lexemes  atomic.Pointer[cached[lexeme]]
		commands atomic.Pointer[cached[textCommand]]
	}

	detecting sync.Once
	props     bool

	parsing sync.Once
	tree    syntax.Node // of the part that parses, with stubs in place of the hidden commands
	err     error       // of the parser
	// commands are the commands of a model that stubs can replace, in the order of the text. hidden says for each of them whether a stub
	// replaces it in tree; nil if no command is hidden.
	commands []textCommand
	hidden   []bool

	scanning sync.Once
	scanned  []lexeme

	naming sync.Once
	names  []occurrence

	checking sync.Once
	meaning  checked
}

// isProps reports whether the document is a properties file.
func (d *document) isProps() bool {
	d.detecting.Do(func() { d.props = syntax.IsProperties(d.name, d.limitedText()) })
	return d.props
}

// parse sets tree, err, commands and hidden.
func (d *document) parse() {
	d.parsing.Do(func() {
		if d.isProps() {
			d.tree, d.err = syntax.ParsePart(d.dialect, d.name, d.limitedText())
			return
		}
		d.parseModel()
		d.now.commands.Store(&cached[textCommand]{d.limitedText(), d.commands})
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

	checking    sync.Once
	diagnostics map[string][]Diagnostic // by file
	binding     sync.Once
	bound       map[*document][]use
}

func (g *group) hasSameDocuments(other *group) bool {
	return g.model == other.model && slices.Equal(g.props, other.props)
}

// docs returns the documents of a group: the model if there is one, then its properties.
func (g *group) docs() []*document {
	if g.model == nil {
		return g.props
	}
	return append([]*document{g.model}, g.props...)
}
