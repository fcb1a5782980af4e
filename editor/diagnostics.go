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

// Diagnostics returns the problems of the named file. The command check prints the same messages and positions. It takes tens of milliseconds for a
// model of 10,000 lines. It returns an error only if the context ends.
func (f *Files) Diagnostics(ctx context.Context, name string) ([]Diagnostic, error) {
	owner, doc := f.group(name)
	if doc == nil {
		return nil, ctx.Err()
	}
	if err := ending.Await(ctx, owner.check); err != nil {
		return nil, err
	}
	return owner.diagnostics[name], nil
}

// check computes the diagnostics of all files of a group: syntax errors, then errors and warnings of the model, then errors of its properties.
func (g *group) check() {
	g.checking.Do(func() {
		g.diagnostics = make(map[string][]Diagnostic)
		for _, doc := range g.docs() {
			doc.parse()
			if len(doc.text) > MaxText {
				g.add(doc, fmt.Errorf("found %d bytes, which are not looked at, want at most %d", len(doc.text), MaxText), Error)
			} else {
				g.add(doc, doc.err, Error)
			}
		}
		if g.model == nil || g.model.err != nil || len(g.model.text) > MaxText {
			return
		}
		result := g.model.check()
		for _, problem := range result.problems {
			g.add(g.model, problem.err, problem.severity)
		}
		if result.model == nil {
			return
		}
		for _, doc := range g.props {
			if doc.err != nil {
				continue
			}
			props, err := result.model.CheckProperties(doc.tree.(*syntax.Properties))
			if err != nil {
				g.add(doc, err, Error)
				continue
			}
			g.instantiateProps(doc, result.model, props, result.program)
		}
		g.lint(result.program)
	})
}

// checked is the result of checking a model.
type checked struct {
	model    *sema.Model       // nil if the model has errors
	program  *sema.Program     // nil if constants have no values
	values   map[string]string // of constants, by name
	problems []problem
	hidden   []bool // for each command, whether a stub replaced it
}

// problem is an error of a model, or a warning or hint about it.
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

// checkTree checks the names and types in a model, and its expressions if the constants have values. It calls report for each command and says
// whether the command is correct, as sema.CheckCommands does.
func (d *document) checkTree(tree *syntax.Model, report func(cmd *syntax.Command, isCorrect bool)) (result checked) {
	model, err := sema.CheckCommands(tree, report)
	result.add(err, Error)
	if err != nil {
		return result
	}
	result.model = model
	experiment, err := experimentFor(d.opts, model, nil, tree)
	if err != nil {
		result.add(undefined(err), Hint)
		return result
	}
	values, err := runner.Single(experiment.Models())
	if err != nil {
		return result
	}
	program, err := model.Instantiate(values.Map())
	if err != nil {
		result.add(err, Error)
		return result
	}
	result.program = program
	for _, warning := range program.Warnings {
		result.add(warning, Warning)
	}
	result.values = make(map[string]string)
	for _, constant := range program.Consts {
		result.values[constant.Name] = constant.Val.ExactText()
	}
	return result
}

// lint adds the warnings of package lint that do not need the state space. It adds none if a file has syntax errors. program is nil if constants
// have no values.
func (g *group) lint(program *sema.Program) {
	var files []lint.Source
	for _, doc := range g.docs() {
		if doc.err != nil {
			return // it is unknown which names the file uses
		}
		files = append(files, lint.Source{Name: doc.name, Text: doc.text, Tree: doc.tree, Words: doc.words()})
	}
	findings, _ := lint.Split(lint.Texts(files, program), files)
	for _, finding := range findings {
		for _, doc := range g.docs() {
			if doc.name == finding.File {
				g.diagnostics[doc.name] = append(g.diagnostics[doc.name], Diagnostic{
					File: doc.name, Range: doc.rangeAt(finding.Pos), Pos: finding.Pos, Severity: Warning, Code: string(finding.Code), Message: finding.Message,
				})
			}
		}
	}
}

// experimentFor returns the values of the constants of a model and its properties. It takes from the options the definitions of the constants that
// the trees declare without a value. It returns an error if a constant has no value; props may be nil.
func experimentFor(opts Options, model *sema.Model, props *sema.Properties, trees ...syntax.Node) (*sema.Experiment, error) {
	defs, err := sema.ParseConsts(opts.Consts)
	if err != nil {
		return nil, err
	}
	return model.Experiment(props, nil, definitionsFor(defs, trees...))
}

// instantiateProps adds the errors in properties that show only when the constants have values. It adds none if program is nil, because then the
// constants of the model have no values.
func (g *group) instantiateProps(doc *document, model *sema.Model, props *sema.Properties, program *sema.Program) {
	if program == nil {
		return
	}
	experiment, err := experimentFor(g.opts, model, props, g.model.tree, doc.tree)
	if err != nil {
		g.add(doc, undefined(err), Hint)
		return
	}
	for i := range props.Len() {
		values, err := runner.Single(experiment.Properties(i))
		if err != nil {
			continue
		}
		if _, _, err := props.Instantiate(program, []int{i}, values.Map()); err != nil {
			g.add(doc, err, Error)
		}
	}
}

// undefined returns err if it is a list of constants without values, otherwise nil. The caller reports it as a hint only, because a user may give
// the values when the file is checked.
func undefined(err error) error {
	if list, ok := errors.AsType[syntax.ErrorList](err); ok {
		return list
	}
	return nil
}

// add adds an error, unless it is nil. Each entry of a syntax.ErrorList becomes a diagnostic of the file that it names. An error that names no file
// of the group becomes a diagnostic of the current document.
func (g *group) add(current *document, err error, severity Severity) {
	if err == nil {
		return
	}
	for _, problem := range errorList(err, current.name) {
		doc := current
		for _, other := range g.docs() {
			if problem.File == other.name {
				doc = other
			}
		}
		diagnostic := Diagnostic{File: doc.name, Range: doc.rangeAt(problem.Pos), Pos: problem.Pos, Severity: severity, Message: problem.Msg}
		g.diagnostics[doc.name] = append(g.diagnostics[doc.name], diagnostic)
	}
}

// errorList returns the entries of an error; for an error without a position, one entry at the start of the named file.
func errorList(err error, file string) syntax.ErrorList {
	if list, ok := errors.AsType[syntax.ErrorList](err); ok {
		return list
	}
	if problem, ok := errors.AsType[*syntax.Error](err); ok {
		return syntax.ErrorList{problem}
	}
	return syntax.ErrorList{{File: file, Msg: err.Error()}}
}

// rangeAt returns the range to mark for a problem at a position: from the position to the end of the token that contains it. If no token contains
// it, the range is the last character of the token that ends there, or else the character at the position.
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
