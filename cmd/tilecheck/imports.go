package main

import (
	"context"

	"tilecheck/native"
	"tilecheck/native/explicit"
	"tilecheck/native/explicit/files"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/crosscheck"
	"tilecheck/verify/validity"
)

// imports are the files of states of a command. PRISM gets the files, so that
// it reads them for itself; the embedded engine and the strict check get what was
// read here.
type imports struct {
	env     *world
	checker *validity.Checker
	opts    files.ReadOptions
	read    map[*runner.StateFiles]*imported
}

// imported is what was read with doubles, and how to read it with fractions.
type imported struct {
	space *explicit.Space
	files *givenStates
}

func newImports(env *world, opts files.ReadOptions, checker *validity.Checker) *imports {
	return &imports{env: env, checker: checker, opts: opts, read: make(map[*runner.StateFiles]*imported)}
}

// add reads files.
func (m *imports) add(ctx context.Context, name string) (*runner.StateFiles, error) {
	found, err := m.env.givenStates(name)
	if err != nil {
		return nil, err
	}
	space, err := found.read(ctx, m.opts)
	if err != nil {
		return nil, err
	}
	states := &runner.StateFiles{Model: space.Program().Model(), Files: found.given()}
	m.read[states] = &imported{space, found}
	m.checker.Import(states, space)
	return states, nil
}

// take has entrants check what was read.
func (m *imports) take(entrants []crosscheck.Entrant) error {
	if len(m.read) == 0 {
		return nil
	}
	for i := range entrants {
		x := &entrants[i]
		x.Export = nil // of a model's text
		ours, ok := x.Engine.(*native.Engine)
		switch {
		case ok && x.Method != "" && x.Method != runner.Exact:
			return usageError("--engine: %s: files of states are not sampled, want a model, or native, native:exact or native:float", x.Label)
		case ok:
			x.Engine = &importer{ours, m}
		}
	}
	return nil
}

// importer is the embedded engine for jobs whose states may be in files.
type importer struct {
	*native.Engine
	*imports
}

// Check implements runner.Engine. Fractions are read on their own, so that
// they are not what the other way computes with.
func (m *importer) Check(ctx context.Context, job runner.Job) ([]result.Verdict, error) {
	in := m.read[job.States]
	if in == nil {
		return m.Engine.Check(ctx, job)
	}
	space := in.space
	if job.Numeric.Accuracy == result.Exact {
		opts := m.opts
		opts.Exact = true
		var err error
		if space, err = in.files.read(ctx, opts); err != nil {
			return nil, err
		}
	}
	return m.CheckSpace(ctx, space, job)
}
