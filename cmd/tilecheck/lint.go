package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"tilecheck/editor"
	"tilecheck/internal/noun"
	"tilecheck/prism/jani"
	"tilecheck/prism/lint"
	"tilecheck/prism/lint/states"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/report/table"
	"tilecheck/runner"
	"tilecheck/verify/suite"
)

// lintCmd warns of what is likely a mistake.
type lintCmd struct {
	Files     []string     `arg:"" name:"file" help:"Models, their properties files, and folders: all models below them, each with its properties files." file:"some"`
	Const     []string     `help:"Values of undefined constants: a=1,b=0.5." sep:"none" placeholder:"DEFS"`
	MaxStates int          `name:"explore-states" aliases:"max-states" help:"States to look at (default: 1000000)." placeholder:"N"`
	Texts     bool         `help:"Look at the texts only, not at states."`
	Format    table.Format `help:"table (default), json, csv or markdown." default:"table" placeholder:"FORMAT"`

	dialectFlag `embed:""`
	timeFlag    `embed:""`
}

// lintResult collects the results about all files.
type lintResult struct {
	findings []lint.Finding
	silenced int
	notes    []string
	limited  bool
	models   int
	reported map[lint.Finding]bool // several models may share a properties file
}

// Run prints a row for each warning.
func (c *lintCmd) Run(ctx context.Context, env *environment) error {
	ctx, cancel := env.withTimeLimit(ctx, c.Timeout)
	defer cancel()
	results := lintResult{reported: make(map[lint.Finding]bool)}
	sources, err := c.read(ctx, env, &results)
	if err != nil && len(sources) == 0 {
		return err
	}
	var failed []error
	if err != nil {
		failed = append(failed, err)
	}
	for _, group := range sources {
		if err := c.lintModel(ctx, group, &results); err != nil {
			failed = append(failed, err)
		}
		if err := ctx.Err(); err != nil {
			failed = append(failed, err)
			break
		}
	}
	if results.models == 0 && len(failed) == 0 {
		return usageError("there is no model, want one beside the properties")
	}
	if len(failed) == 0 && len(results.findings) == 0 {
		results.notes = append([]string{"no warnings"}, results.notes...)
	}
	env.beginsPrinting()
	err = c.write(env, &results)
	switch {
	case len(failed) > 0:
		return errors.Join(append(failed, err)...)
	case len(results.findings) > 0 && err == nil:
		return exitStatus(exitFailed)
	case results.limited && err == nil:
		return exitStatus(exitOutOfLimit)
	}
	return err
}

// read reads the files, and returns one group for each model: the model and its properties files. With an error it still returns the groups
// that could be read.
func (c *lintCmd) read(ctx context.Context, env *environment, results *lintResult) ([][]lint.Source, error) {
	files := editor.New(editor.Options{})
	var groups [][]lint.Source
	var errs []error
	for _, name := range c.Files {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			below, err := c.readFolder(ctx, env, name, results)
			groups, errs = append(groups, below...), append(errs, err)
			continue
		}
		text, err := env.readSource(name)
		if err != nil {
			return nil, err
		}
		if jani.Is(text) {
			return nil, usageError("%s is a JANI model, want one in PRISM's language", name)
		}
		files = files.With(filepath.ToSlash(name), text)
	}
	for _, name := range files.Names() {
		if files.IsProperties(name) {
			continue
		}
		names := slices.DeleteFunc(files.Names(), func(other string) bool { return other == name || files.ModelOf(other) != name })
		group, err := c.parse(append([]string{name}, names...), func(name string) ([]byte, error) { return files.Text(name), nil })
		if err != nil {
			errs = append(errs, err)
			continue
		}
		groups = append(groups, group)
	}
	return groups, errors.Join(errs...)
}

// readFolder reads the models below a folder, each with its properties files. It leaves out JANI models.
func (c *lintCmd) readFolder(ctx context.Context, env *environment, folder string, results *lintResult) ([][]lint.Source, error) {
	models, err := suite.Models(ctx, os.DirFS(folder), ".")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	var groups [][]lint.Source
	var errs []error
	for _, model := range models {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		names := []string{filepath.ToSlash(filepath.Join(folder, model.Model))}
		for _, props := range model.Props {
			names = append(names, filepath.ToSlash(filepath.Join(folder, props)))
		}
		if text, err := env.readText(names[0]); err == nil && jani.Is(text) {
			results.notes = append(results.notes, names[0]+": a JANI model, which lint does not read")
			continue
		}
		group, err := c.parse(names, env.readSource)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		groups = append(groups, group)
	}
	if len(groups) == 0 && len(errs) == 0 {
		return nil, usageError("%s: there is no model in PRISM's language below this folder", folder)
	}
	return groups, errors.Join(errs...)
}

// parse parses a model and its properties files.
func (c *lintCmd) parse(names []string, read func(name string) ([]byte, error)) ([]lint.Source, error) {
	var group []lint.Source
	var errs []error
	for _, name := range names {
		text, err := read(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		tree, err := syntax.ParseFile(dialect(c.Dialect), name, text)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		group = append(group, lint.Source{Name: name, Text: text, Tree: tree})
	}
	return group, errors.Join(errs...)
}

// lintModel checks a model, which is the first of the sources, with its properties files, and adds the findings to results.
func (c *lintCmd) lintModel(ctx context.Context, group []lint.Source, results *lintResult) error {
	name := group[0].Name
	model, err := sema.CheckModel(group[0].Tree.(*syntax.Model))
	if err != nil {
		return err
	}
	results.models++
	var errs []error
	for _, source := range group[1:] {
		if _, err := model.CheckProperties(source.Tree.(*syntax.Properties)); err != nil {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	program, err := c.program(model)
	if definition, ok := errors.AsType[*sema.DefinitionError](err); ok {
		return definition
	}
	_, isErrorList := err.(syntax.ErrorList)
	lacksConstants := isErrorList && len(model.Undefined()) > 0 && len(c.Const) == 0
	if err != nil && !lacksConstants {
		return err
	}
	found := lint.Texts(group, program)
	if program == nil && !c.Texts {
		results.notes = append(results.notes, fmt.Sprintf("%s: states were not looked at: %v", name, err))
	}
	if program != nil && !c.Texts {
		inStates, err := c.lintStates(ctx, name, program, results)
		if err != nil {
			return err
		}
		found = lint.Sort(append(found, inStates...))
	}
	results.add(found, group)
	return nil
}

// lintStates returns the findings about the reachable states of a program, and adds notes about the search to results.
func (c *lintCmd) lintStates(ctx context.Context, name string, program *sema.Program, results *lintResult) ([]lint.Finding, error) {
	report, err := states.Look(ctx, program, states.Options{MaxStates: c.MaxStates})
	if err != nil {
		return nil, err
	}
	results.notes = append(results.notes, fmt.Sprintf("%s: %s looked at", name, noun.Count(report.States, "state")))
	if report.Undecided != "" {
		results.notes = append(results.notes, name+": "+report.Undecided)
	}
	results.limited = results.limited || report.Limited
	return report.Findings, nil
}

// add adds the findings that have not been reported for another model, without those that comments silence.
func (r *lintResult) add(found []lint.Finding, group []lint.Source) {
	found = slices.DeleteFunc(found, func(finding lint.Finding) bool { return r.reported[finding] })
	for _, finding := range found {
		r.reported[finding] = true
	}
	reported, silenced := lint.Split(found, group)
	r.findings = append(r.findings, reported...)
	r.silenced += len(silenced)
}

// program returns the model with the values of its constants. It returns an error if a constant has no value.
func (c *lintCmd) program(model *sema.Model) (*sema.Program, error) {
	defs, err := sema.ParseConsts(c.Const)
	if err != nil {
		return nil, err
	}
	experiment, err := model.Experiment(nil, nil, defs)
	if err != nil {
		return nil, err
	}
	values, err := runner.Single(experiment.Models())
	if err != nil {
		return nil, usageError("%w", err)
	}
	return model.Instantiate(values.Map())
}

// write prints the findings, one row each.
func (c *lintCmd) write(env *environment, results *lintResult) error {
	out := &table.Table{Columns: []table.Column{
		{Name: "place", Field: "-"},
		{Field: "file"},
		{Field: "line"},
		{Field: "column"},
		{Name: "code"},
		{Name: "warning", Field: "message", Min: 30},
		{Name: "state", Field: "valuation", Min: 10},
	}}
	for _, finding := range results.findings {
		var state any
		if finding.State != "" {
			state = finding.State
		}
		out.Append(fmt.Sprintf("%s:%s", finding.File, finding.Pos), finding.File, int(finding.Pos.Line), int(finding.Pos.Col), string(finding.Code), finding.Message, state)
	}
	out.Notes = results.notes
	if results.silenced > 0 {
		out.Notes = append(out.Notes, fmt.Sprintf("warnings that comments silence: %d", results.silenced))
	}
	if len(out.Rows) == 0 && !c.Format.Machine() {
		var text bytes.Buffer
		for _, note := range out.Notes {
			table.Paragraph(&text, note, env.reportOptions().Width)
		}
		_, err := env.stdout.Write(text.Bytes())
		return err
	}
	return out.DropEmpty().Write(env.stdout, c.Format, env.reportOptions())
}
