package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"tilecheck/native"
	"tilecheck/native/explicit"
	"tilecheck/native/explicit/files"
	"tilecheck/prism/compile"
	"tilecheck/prism/syntax"
)

// spaceFlags say which state space, and how it is built or read.
type spaceFlags struct {
	ModelFile string   `arg:"" name:"model" help:"PRISM model (- for standard input), or files of states: model.all, model.tra,sta,lab,srew,trew or model.pexp as PRISM's -importmodel, also with .gz behind it, or model.drn, or model.umb." file:"states"`
	Const     []string `help:"Values of undefined constants: a=1,b=0.5." sep:"none" placeholder:"DEFS"`

	typeFlags `embed:""`

	Exact          bool      `help:"Keep probabilities and rewards as fractions."`
	MaxStates      int       `rare:"" help:"Give up a state space with more states." placeholder:"N"`
	Memory         byteCount `help:"Give up at more memory, such as 4GB (default: three quarters of what is free)." placeholder:"SIZE"`
	NoFixDeadlocks bool      `help:"A deadlock is an error instead of an absorbing state."`
}

// typeFlags say what files of states are of.
type typeFlags struct {
	DTMC bool `name:"dtmc" rare:"" help:"The files of states are of a DTMC." xor:"type"`
	MDP  bool `name:"mdp" rare:"" help:"The files of states are of an MDP." xor:"type"`
	CTMC bool `name:"ctmc" rare:"" help:"The files of states are of a CTMC." xor:"type"`
}

// forModel refuses them beside a model.
func (c *typeFlags) forModel() error {
	if c.DTMC || c.MDP || c.CTMC {
		return usageError("--dtmc, --mdp and --ctmc are for files of states, a model says what it is")
	}
	return nil
}

// modelType is what the files are said to be of, TypeNone if nothing is.
func (c *typeFlags) modelType() syntax.ModelType {
	switch {
	case c.DTMC:
		return syntax.DTMC
	case c.MDP:
		return syntax.MDP
	case c.CTMC:
		return syntax.CTMC
	}
	return syntax.TypeNone
}

// space builds or reads the state space. The warnings are about constants; what
// is doubtful about the space is in its Warnings.
func (c *spaceFlags) space(ctx context.Context, env *world) (*explicit.Space, error) {
	space, err := c.load(ctx, env)
	return space, outOfStates(err)
}

// outOfStates gives an error of too many states its exit code.
func outOfStates(err error) error {
	if _, ok := errors.AsType[*explicit.LimitError](err); ok {
		return &codedError{exitOutOfLimit, err}
	}
	return err
}

func (c *spaceFlags) load(ctx context.Context, env *world) (*explicit.Space, error) {
	if !isSpaceFile(c.ModelFile) {
		return c.build(ctx, env)
	}
	return c.read(ctx, env)
}

// read reads files of states.
func (c *spaceFlags) read(ctx context.Context, env *world) (*explicit.Space, error) {
	if len(c.Const) > 0 {
		return nil, usageError("--const is for models, files of states have no constants")
	}
	states, err := env.states(ctx, c.ModelFile, c.readOptions())
	if err != nil {
		return nil, err
	}
	return states.Space(ctx, c.Exact)
}

// whole reports whether a file with an extension has all of a state space.
func whole(ext string) bool { return slices.Contains([]string{"pexp", "drn", "umb"}, ext) }

// states reads files of states.
func (e *world) states(ctx context.Context, name string, opts files.ReadOptions) (*files.Given, error) {
	zip := zipOf(name)
	base, exts, _ := splitFormats(strings.TrimSuffix(name, zip))
	if len(exts) == 1 && whole(exts[0]) {
		text, err := e.readSource(name)
		if err != nil {
			return nil, err
		}
		return files.Open(ctx, files.Sources{Transitions: files.Source{Name: name, Text: text}}, exts[0], opts)
	}
	src, err := e.sources(base, exts, zip)
	if err != nil {
		return nil, err
	}
	return files.Open(ctx, src, "tra", opts)
}

func (c *spaceFlags) build(ctx context.Context, env *world) (*explicit.Space, error) {
	m, warnings, err := c.compile(ctx, env)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		fmt.Fprintf(env.stderr, "warning: %s\n", w)
	}
	progress, done := env.progress()
	defer done()
	return explicit.Build(ctx, m, explicit.Options{
		MaxStates: c.MaxStates, MaxMemory: int64(c.Memory), NoFixDeadlocks: c.NoFixDeadlocks, Exact: c.Exact, Progress: progress,
	})
}

// compile reads a model. The warnings are about its definitions.
func (c *spaceFlags) compile(ctx context.Context, env *world) (*compile.Model, []string, error) {
	if err := c.forModel(); err != nil {
		return nil, nil, err
	}
	src, err := env.readSource(c.ModelFile)
	if err != nil {
		return nil, nil, err
	}
	return native.Load(ctx, c.ModelFile, src, c.Const)
}

func (c *spaceFlags) readOptions() files.ReadOptions {
	return files.ReadOptions{Type: c.modelType(), Exact: c.Exact, NoFixDeadlocks: c.NoFixDeadlocks, MaxStates: c.MaxStates}
}

// isFormat reports whether an extension is one of a file of states.
func isFormat(ext string) bool {
	return slices.Contains([]string{"tra", "sta", "lab", "srew", "trew", "pexp", "dot", "drn", "umb", "all"}, ext)
}

// isSpaceFile reports whether a name is one of files of states.
func isSpaceFile(name string) bool {
	_, _, ok := splitFormats(strings.TrimSuffix(name, zipOf(name)))
	return ok
}

// zipOf returns the extension of a file that gzip compressed, "" for others.
func zipOf(name string) string {
	if ext := filepath.Ext(name); ext == ".gz" || ext == ".gzip" {
		return ext
	}
	return ""
}

// splitFormats splits "dir/model.tra,sta" into "dir/model" and the formats. It
// reports false for any other name.
func splitFormats(name string) (base string, exts []string, ok bool) {
	dir, file := filepath.Split(name)
	dot := strings.LastIndexByte(file, '.')
	if dot < 0 {
		return name, nil, false
	}
	exts = strings.Split(file[dot+1:], ",")
	for _, ext := range exts {
		if !isFormat(ext) {
			return name, nil, false
		}
	}
	return dir + file[:dot], exts, true
}

// sources reads PRISM's files; "all" stands for those that there are. All have
// the suffix zip.
func (e *world) sources(base string, exts []string, zip string) (files.Sources, error) {
	var out files.Sources
	all := slices.Contains(exts, "all")
	if !all && !slices.Contains(exts, "tra") {
		return out, usageError("%s: no transitions, want %s.tra%s among the files", exts, base, zip)
	}
	wanted := func(ext string) bool { return all || slices.Contains(exts, ext) }
	for _, ext := range exts {
		if ext == "dot" || whole(ext) {
			return out, usageError("%s.%s cannot be read together with other files, want only tra, sta, lab, srew and trew", base, ext)
		}
	}
	tra, err := e.optional(base+".tra"+zip, false)
	if err != nil {
		return out, err
	}
	out.Transitions = *tra
	if wanted("sta") {
		if out.States, err = e.optional(base+".sta"+zip, all); err != nil {
			return out, err
		}
	}
	if wanted("lab") {
		if out.Labels, err = e.optional(base+".lab"+zip, all); err != nil {
			return out, err
		}
	}
	if wanted("srew") {
		if out.StateRewards, err = e.numbered(base, ".srew"+zip, all); err != nil {
			return out, err
		}
	}
	if wanted("trew") {
		out.TransitionRewards, err = e.numbered(base, ".trew"+zip, all)
	}
	return out, err
}

// optional reads a file, which may be missing.
func (e *world) optional(name string, mayMiss bool) (*files.Source, error) {
	if mayMiss && missing(name) {
		return nil, nil
	}
	text, err := e.readSource(name)
	if err != nil {
		return nil, err
	}
	return &files.Source{Name: name, Text: text}, nil
}

func missing(name string) bool {
	_, err := os.Stat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// numbered reads model.srew, or model1.srew and so on.
func (e *world) numbered(base, ext string, mayMiss bool) ([]files.Source, error) {
	if !missing(base+"1"+ext) && missing(base+ext) {
		var out []files.Source
		for i := 1; !missing(base + strconv.Itoa(i) + ext); i++ {
			src, err := e.optional(base+strconv.Itoa(i)+ext, false)
			if err != nil {
				return nil, err
			}
			out = append(out, *src)
		}
		return out, nil
	}
	src, err := e.optional(base+ext, mayMiss)
	if err != nil || src == nil {
		return nil, err
	}
	return []files.Source{*src}, nil
}
