package editor

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"tilecheck/internal/ending"
	"tilecheck/prism/lint"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/runner"
)

// Severity is the severity of a diagnostic.
type Severity uint8

// The severities. The command check rejects a file with an Error.
const (
	Error Severity = iota + 1
	Warning
	Hint
)

// Range is a part of a text, as byte offsets.
type Range struct{ From, To int }

// Diagnostic is a problem in a file.
type Diagnostic struct {
	File string
	Range
	Pos      syntax.Pos // the position that the command line prints
	Severity Severity
	Code     string // of a warning of package lint, otherwise empty
	Message  string
}

// String returns the diagnostic as the command line prints it.
func (d Diagnostic) String() string {
	return (&syntax.Error{File: d.File, Pos: d.Pos, Msg: d.Message}).Error()
}

// Diagnostics returns the problems of a file, in order, with the messages and positions of the
// command check. A model of 10,000 lines takes tens of milliseconds. The error is that of the
// context.
func (f *Files) Diagnostics(ctx context.Context, name string) ([]Diagnostic, error) {
	g, d := f.group(name)
	if d == nil {
		return nil, ctx.Err()
	}
	if err := ending.Await(ctx, g.check); err != nil {
		return nil, err
	}
	return g.found[name], nil
}

// check computes the diagnostics of all files of a group.
func (g *group) check() {
	g.checking.Do(func() {
		g.found = make(map[string][]Diagnostic)
		for _, d := range g.docs() {
			d.parse()
			if len(d.text) > MaxText {
				g.add(d, fmt.Errorf("found %d bytes, which are not looked at, want at most %d", len(d.text), MaxText), Error)
			} else {
				g.add(d, d.err, Error)
			}
		}
		if g.model == nil || g.model.err != nil || len(g.model.text) > MaxText {
			return
		}
		m := g.model.check()
		for _, x := range m.problems {
			g.add(g.model, x.err, x.severity)
		}
		if m.model == nil {
			return
		}
		for _, d := range g.props {
			if d.err != nil {
				continue
			}
			props, err := m.model.CheckProperties(d.tree.(*syntax.Properties))
			if g.add(d, err, Error); err == nil {
				g.instantiateProps(d, m.model, props, m.program)
			}
		}
		g.lint(m.program)
	})
}

// checked is the result of checking a model.
type checked struct {
	model    *sema.Model       // nil if the model has errors
	program  *sema.Program     // nil if constants have no values
	values   map[string]string // of constants, by name
	problems []problem
	hidden   []bool // the commands that were hidden from the checker
}

type problem struct {
	err      error
	severity Severity
}

// add adds an error, unless it is nil.
func (c *checked) add(err error, severity Severity) {
	if err != nil {
		c.problems = append(c.problems, problem{err, severity})
	}
}

// checkTree checks a tree. report is called as by sema.CheckCommands.
func (d *document) checkTree(tree *syntax.Model, report func(*syntax.Command, bool)) (c checked) {
	model, err := sema.CheckCommands(tree, report)
	c.add(err, Error)
	if err != nil {
		return c
	}
	c.model = model
	experiment, err := experiment(d.opts, model, nil, tree)
	if err != nil {
		c.add(undefined(err), Hint)
		return c
	}
	values, err := runner.Single(experiment.Models())
	if err != nil {
		return c
	}
	program, err := model.Instantiate(values.Map())
	if err != nil {
		c.add(err, Error)
		return c
	}
	c.program = program
	for _, w := range program.Warnings {
		c.add(w, Warning)
	}
	c.values = make(map[string]string)
	for _, v := range program.Consts {
		c.values[v.Name] = v.Val.String()
	}
	return c
}

// lint adds the warnings of package lint that do not need the state space.
func (g *group) lint(program *sema.Program) {
	var files []lint.Source
	for _, d := range g.docs() {
		if d.err != nil {
			return // the names that it uses are unknown
		}
		files = append(files, lint.Source{Name: d.name, Text: d.text, Tree: d.tree, Words: d.words()})
	}
	findings, _ := lint.Split(lint.Texts(files, program), files)
	for _, f := range findings {
		for _, d := range g.docs() {
			if d.name == f.File {
				g.found[d.name] = append(g.found[d.name], Diagnostic{
					File: d.name, Range: d.rangeAt(f.Pos), Pos: f.Pos, Severity: Warning, Code: string(f.Code), Message: f.Message,
				})
			}
		}
	}
}

// experiment returns the experiment for the constants in the options that the trees of the model and its properties need.
func experiment(opts Options, model *sema.Model, props *sema.Properties, trees ...syntax.Node) (*sema.Experiment, error) {
	defs, err := sema.ParseConsts(opts.Consts)
	if err != nil {
		return nil, err
	}
	return model.Experiment(props, nil, definitionsFor(defs, trees...))
}

// instantiateProps adds the diagnostics of properties that depend on values of constants.
func (g *group) instantiateProps(d *document, model *sema.Model, props *sema.Properties, program *sema.Program) {
	if program == nil {
		return
	}
	experiment, err := experiment(g.opts, model, props, g.model.tree, d.tree)
	if err != nil {
		g.add(d, undefined(err), Hint)
		return
	}
	for i := range props.Len() {
		values, err := runner.Single(experiment.Properties(i))
		if err != nil {
			continue
		}
		if _, _, err := props.Instantiate(program, []int{i}, values.Map()); err != nil {
			g.add(d, err, Error)
		}
	}
}

// undefined returns the errors about constants without values; nil for any other error. They are
// only hints, because the values may be given when the file is checked.
func undefined(err error) error {
	if list, ok := errors.AsType[syntax.ErrorList](err); ok {
		return list
	}
	return nil
}

// add adds an error as diagnostics of the files that it names.
func (g *group) add(d *document, err error, severity Severity) {
	if err == nil {
		return
	}
	var list syntax.ErrorList
	single, ok := errors.AsType[*syntax.Error](err)
	if !errors.As(err, &list) {
		if !ok {
			single = &syntax.Error{File: d.name, Msg: err.Error()}
		}
		list = syntax.ErrorList{single}
	}
	for _, e := range list {
		in := d
		for _, other := range g.docs() {
			if e.File == other.name {
				in = other
			}
		}
		diagnostic := Diagnostic{File: in.name, Range: in.rangeAt(e.Pos), Pos: e.Pos, Severity: severity, Message: e.Msg}
		g.found[in.name] = append(g.found[in.name], diagnostic)
	}
}

// rangeAt returns the token at a position. Where no token is, it returns the last character of a token that ends there, or else the
// character at the position.
func (d *document) rangeAt(pos syntax.Pos) Range {
	if !pos.IsValid() {
		return Range{}
	}
	from := min(int(pos.Offset), len(d.text))
	if i := d.lexemeFrom(from); i < len(d.lexemes()) && int(d.lexemes()[i].from) <= from {
		return Range{from, int(d.lexemes()[i].to)}
	}
	if i := d.lexemeFrom(from - 1); from > 0 && i < len(d.lexemes()) && int(d.lexemes()[i].to) == from {
		return Range{from - 1, from}
	}
	_, size := utf8.DecodeRune(d.text[from:])
	return Range{from, from + size}
}
