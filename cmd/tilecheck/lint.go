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
	MaxStates int          `name:"explore-states" aliases:"max-states" help:"Explore at most N states (default: 1000000)." placeholder:"N"`
	Texts     bool         `help:"Check the texts only; explore no states."`
	Format    table.Format `help:"${formats}." default:"table" placeholder:"FORMAT"`

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
	collected := lintResult{reported: make(map[lint.Finding]bool)}
	groups, err := c.readGroups(ctx, env, &collected)
	if err != nil && len(groups) == 0 {
		return err
	}
	lintErr := errors.Join(err, c.lintModels(ctx, groups, &collected))
	if collected.models == 0 && lintErr == nil {
		return usageError("there is no model, want one beside the properties")
	}
	if len(collected.findings) == 0 && lintErr == nil {
		collected.notes = append([]string{"no warnings"}, collected.notes...)
	}
	env.markOutputStarted()
	err = c.printFindings(env, &collected)
	switch {
	case lintErr != nil || err != nil:
		return errors.Join(lintErr, err)
	case len(collected.findings) > 0:
		return exitStatus(exitFailed)
	case collected.limited:
		return exitStatus(exitOutOfLimit)
	}
	return nil
}

// lintModels checks all models with their properties files, and adds the findings to collected.
func (c *lintCmd) lintModels(ctx context.Context, groups [][]lint.Source, collected *lintResult) error {
	var errs []error
	for _, group := range groups {
		errs = append(errs, c.lintModel(ctx, group, collected))
		if err := ctx.Err(); err != nil {
			errs = append(errs, err)
			break
		}
	}
	return errors.Join(errs...)
}

// readGroups reads the files and folders of the command line. It returns a group of sources for each model: the model and its properties files. With an
// error, it still returns the groups that it could read.
func (c *lintCmd) readGroups(ctx context.Context, env *environment, collected *lintResult) ([][]lint.Source, error) {
	files := editor.New(editor.Options{})
	var groups [][]lint.Source
	var errs []error
	for _, name := range c.Files {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			folderGroups, err := c.readFolder(ctx, env, name, collected)
			groups, errs = append(groups, folderGroups...), append(errs, err)
			continue
		}
		text, err := env.readSource(name)
		if err != nil {
			return nil, err
		}
		if jani.IsJANI(text) {
			return nil, usageError("%s is a JANI model, want one in PRISM's language", name)
		}
		files = files.With(filepath.ToSlash(name), text)
	}
	for _, names := range groupByModel(files) {
		group, err := c.parseGroup(names, func(name string) ([]byte, error) { return files.Text(name), nil })
		if err != nil {
			errs = append(errs, err)
		} else {
			groups = append(groups, group)
		}
	}
	return groups, errors.Join(errs...)
}

// groupByModel returns a group of file names for each model: the name of the model, and then the names of its properties files.
func groupByModel(files *editor.Files) [][]string {
	var groups [][]string
	for _, model := range files.Names() {
		if files.IsProperties(model) {
			continue
		}
		isUnrelated := func(name string) bool { return name == model || files.ModelOf(name) != model }
		props := slices.DeleteFunc(files.Names(), isUnrelated)
		groups = append(groups, append([]string{model}, props...))
	}
	return groups
}

// readFolder reads the models below a folder, each with its properties files. It omits JANI models.
func (c *lintCmd) readFolder(ctx context.Context, env *environment, folder string, collected *lintResult) ([][]lint.Source, error) {
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
		names := pathsBelow(folder, append([]string{model.Model}, model.Props...))
		if text, err := env.readText(names[0]); err == nil && jani.IsJANI(text) {
			collected.notes = append(collected.notes, names[0]+": a JANI model, which lint does not read")
			continue
		}
		group, err := c.parseGroup(names, env.readSource)
		if err != nil {
			errs = append(errs, err)
		} else {
			groups = append(groups, group)
		}
	}
	if len(groups) == 0 && len(errs) == 0 {
		return nil, usageError("%s: there is no model in PRISM's language below this folder", folder)
	}
	return groups, errors.Join(errs...)
}

// pathsBelow returns the paths of files that are named relative to a folder.
func pathsBelow(folder string, names []string) []string {
	var paths []string
	for _, name := range names {
		paths = append(paths, filepath.ToSlash(filepath.Join(folder, name)))
	}
	return paths
}

// parseGroup parses a model and its properties files.
func (c *lintCmd) parseGroup(names []string, read func(name string) ([]byte, error)) ([]lint.Source, error) {
	var group []lint.Source
	var errs []error
	for _, name := range names {
		source, err := c.parseSource(name, read)
		if err != nil {
			errs = append(errs, err)
		} else {
			group = append(group, source)
		}
	}
	return group, errors.Join(errs...)
}

// parseSource reads and parses a file.
func (c *lintCmd) parseSource(name string, read func(name string) ([]byte, error)) (lint.Source, error) {
	text, err := read(name)
	if err != nil {
		return lint.Source{}, err
	}
	tree, err := syntax.ParseFile(dialect(c.Dialect), name, text)
	return lint.Source{Name: name, Text: text, Tree: tree}, err
}

// lintModel checks a group of sources, which is a model and its properties files. It adds the findings to collected.
func (c *lintCmd) lintModel(ctx context.Context, group []lint.Source, collected *lintResult) error {
	name := group[0].Name
	model, err := sema.CheckModel(group[0].Tree.(*syntax.Model))
	if err != nil {
		return err
	}
	collected.models++
	if err := checkProperties(model, group[1:]); err != nil {
		return err
	}
	program, err := c.programOf(model)
	if err != nil && !c.lacksConstants(model, err) {
		return err
	}
	findings := lint.Texts(group, program)
	switch {
	case c.Texts: // the states are not explored
	case program == nil: // a constant has no value
		collected.notes = append(collected.notes, fmt.Sprintf("%s: states were not explored: %v", name, err))
	default:
		stateFindings, err := c.lintStates(ctx, name, program, collected)
		if err != nil {
			return err
		}
		findings = lint.Sort(append(findings, stateFindings...))
	}
	collected.addFindings(findings, group)
	return nil
}

// checkProperties returns the errors in the names and types that properties files use.
func checkProperties(model *sema.Model, sources []lint.Source) error {
	var errs []error
	for _, source := range sources {
		_, err := model.CheckProperties(source.Tree.(*syntax.Properties))
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// lacksConstants reports whether err means that constants of the model have no values. It returns false if --const is given.
func (c *lintCmd) lacksConstants(model *sema.Model, err error) bool {
	_, isErrorList := err.(syntax.ErrorList)
	_, isWrongDefinition := errors.AsType[*sema.DefinitionError](err)
	return isErrorList && !isWrongDefinition && len(model.Undefined()) > 0 && len(c.Const) == 0
}

// lintStates explores the states of a program and returns the findings about them. It adds notes about the exploration to collected.
func (c *lintCmd) lintStates(ctx context.Context, name string, program *sema.Program, collected *lintResult) ([]lint.Finding, error) {
	stateReport, err := states.Explore(ctx, program, states.Options{MaxStates: c.MaxStates})
	if err != nil {
		return nil, err
	}
	collected.notes = append(collected.notes, fmt.Sprintf("%s: %s explored", name, noun.Count(stateReport.States, "state")))
	if stateReport.Undecided != "" {
		collected.notes = append(collected.notes, name+": "+stateReport.Undecided)
	}
	collected.limited = collected.limited || stateReport.Limited
	return stateReport.Findings, nil
}

// addFindings adds findings to the result. It omits findings that were already reported. Findings that a comment silences are only counted.
func (r *lintResult) addFindings(findings []lint.Finding, group []lint.Source) {
	newFindings := slices.DeleteFunc(findings, func(finding lint.Finding) bool { return r.reported[finding] })
	for _, finding := range newFindings {
		r.reported[finding] = true
	}
	reported, silenced := lint.Split(newFindings, group)
	r.findings = append(r.findings, reported...)
	r.silenced += len(silenced)
}

// programOf returns the program of a model, with the values of --const for its constants. It returns an error if a constant has no value.
func (c *lintCmd) programOf(model *sema.Model) (*sema.Program, error) {
	definitions, err := sema.ParseConsts(c.Const)
	if err != nil {
		return nil, err
	}
	experiment, err := model.Experiment(nil, nil, definitions)
	if err != nil {
		return nil, err
	}
	values, err := runner.Single(experiment.Models())
	if err != nil {
		return nil, usageError("%w", err)
	}
	return model.Instantiate(values.Map())
}

// printFindings prints the findings, one row each.
func (c *lintCmd) printFindings(env *environment, collected *lintResult) error {
	findingTable := &table.Table{Columns: []table.Column{
		{Name: "place", Field: "-"},
		{Field: "file"},
		{Field: "line"},
		{Field: "column"},
		{Name: "code"},
		{Name: "warning", Field: "message", Min: 30},
		{Name: "state", Field: "valuation", Min: 10},
	}}
	for _, finding := range collected.findings {
		var state any
		if finding.State != "" {
			state = finding.State
		}
		findingTable.Append(fmt.Sprintf("%s:%s", finding.File, finding.Pos), finding.File, int(finding.Pos.Line), int(finding.Pos.Col), string(finding.Code), finding.Message, state)
	}
	findingTable.Notes = collected.notes
	if collected.silenced > 0 {
		findingTable.Notes = append(findingTable.Notes, fmt.Sprintf("warnings that comments silence: %d", collected.silenced))
	}
	return env.writeRowsOrNotes(findingTable.DropEmpty(), c.Format)
}

// writeRowsOrNotes prints a table. If a table for people has no rows, it prints only the notes.
func (e *environment) writeRowsOrNotes(rows *table.Table, format table.Format) error {
	if len(rows.Rows) > 0 || format.Machine() {
		return rows.Write(e.stdout, format, e.reportOptions())
	}
	var text bytes.Buffer
	for _, note := range rows.Notes {
		table.Paragraph(&text, note, e.reportOptions().Width)
	}
	_, err := e.stdout.Write(text.Bytes())
	return err
}
