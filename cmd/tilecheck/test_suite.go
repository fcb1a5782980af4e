package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"tilecheck/prism/syntax"
	"tilecheck/runner"
	"tilecheck/runner/bridge"
	"tilecheck/verify/cache"
	"tilecheck/verify/regress"
	"tilecheck/verify/suite"
	"tilecheck/verify/suitefile"
)

// suiteFlags say what a suite is.
type suiteFlags struct {
	Paths []string `arg:"" name:"path" help:"Directories, models, properties files, .auto files, lists of properties files (.txt), suite files (.yaml)." file:"some"`

	Match    bool     `rare:"" help:"Pair files as prism-auto -m: the name of the properties file begins with that of the model (default: by name if there is a model of that name, else with every model of the directory)." xor:"pairing"`
	All      bool     `rare:"" help:"Pair every properties file with every model of its directory, as prism-auto." xor:"pairing"`
	Suite    []string `help:"Only these suites of tilecheck.yaml." placeholder:"NAME"`
	NoConfig bool     `rare:"" help:"Do not read tilecheck.yaml."`

	Const   []string      `help:"Constants, instead of those of .args files: a=1,b=2." sep:"none" placeholder:"DEFS"`
	Timeout time.Duration `help:"Limit of time of one run." placeholder:"DURATION"`
	Memory  byteCount     `rare:"" help:"Limit of one run's memory, such as 4GB." placeholder:"SIZE"`
	Seed    *uint64       `help:"Seed (default: that of tilecheck.yaml, or 1)." placeholder:"N"`
	ID      []string      `name:"id" help:"Only the results with these identities." placeholder:"ID"`
}

// runFlags say what a suite runs on, and whether it has to.
type runFlags struct {
	Engine  []string `aliases:"engines" help:"Engines: native, prism, storm, or native:exact, native:float, native:proven (default: those of tilecheck.yaml, or native)." placeholder:"ENGINE[:HOW]"`
	Cache   string   `rare:"" help:"Directory of verdicts that are kept (default: tilecheck in the user's cache directory)." env:"TILECHECK_CACHE" placeholder:"DIR" file:"keep"`
	NoCache bool     `help:"Run everything, and keep nothing."`

	engineFlags `embed:""`
}

// testSuite is what suiteFlags come to.
type testSuite struct {
	paths  *paths
	tests  []regress.Test
	opt    regress.Options
	labels []string // of the engines
	strict bool
	flakes *float64
	// prismImage and stormImage are those of suite files.
	prismImage, stormImage string
}

// load finds the tests. No output may be one of the files that they are made of.
func (c *suiteFlags) load(env *world, engines []string, jobs int) (*testSuite, error) {
	p, err := newPaths(c.Paths)
	if err != nil {
		return nil, err
	}
	seen := &seenFS{FS: p.fsys}
	p.fsys = seen
	s := &testSuite{paths: p, labels: splitNames(engines)}
	s.opt = regress.Options{FS: p.fsys, Name: p.name, Seed: 1, Only: splitNames(c.ID), Jobs: jobs}
	err = c.discover(s)
	p.fsys, s.opt.FS = seen.FS, seen.FS
	if err != nil {
		return nil, p.explain(err)
	}
	for i := range s.tests {
		t := &s.tests[i]
		seen.names = append(seen.names, t.Model, t.Props)
		for _, arg := range t.Args { // models may be among the switches
			seen.names = append(seen.names, path.Join(t.Dir, arg))
		}
	}
	slices.Sort(seen.names)
	for _, name := range slices.Compact(seen.names) {
		if file := p.name(name); name != "" && !missing(file) {
			env.places.reads("the suite's", file)
		}
	}
	if err := env.places.check(); err != nil {
		return nil, err
	}
	if len(s.tests) == 0 {
		return nil, fmt.Errorf("%s: nothing to test: found no model with properties", strings.Join(c.Paths, ", "))
	}
	if err := c.override(s); err != nil {
		return nil, err
	}
	for _, label := range s.labels {
		if _, _, err := suitefile.Engine(label); err != nil {
			return nil, usageError("--engine: %w", err)
		}
	}
	return s, nil
}

// seenFS notes the files that are opened.
type seenFS struct {
	fs.FS
	names []string
}

func (f *seenFS) Open(name string) (fs.File, error) {
	f.names = append(f.names, name)
	return f.FS.Open(name)
}

// Stat and ReadDir open nothing that is read.
func (f *seenFS) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(f.FS, name) }
func (f *seenFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.FS, name) }

// discover adds the tests of every path. A directory with a suite file has
// those that it lists.
func (c *suiteFlags) discover(s *testSuite) error {
	var known []string // suites
	for _, name := range s.paths.names {
		config, dir, err := c.config(s, name)
		if err != nil {
			return err
		}
		var tests []regress.Test
		if config == nil {
			tests, err = regress.Discover(s.paths.fsys, []string{name}, c.pairing(suite.Closest))
		} else {
			if c.Match || c.All {
				config.Pair(c.pairing(suite.Closest))
			}
			tests, err = config.Tests(s.paths.fsys, dir, c.Suite)
			c.adopt(s, config)
			known = append(known, config.Suites()...)
		}
		if err != nil {
			return err
		}
		s.tests = append(s.tests, tests...)
	}
	for _, name := range c.Suite {
		if !slices.Contains(known, name) {
			return usageError("--suite: found %q, want the name of a suite in %s (%s)", name, suitefile.Name, cmp.Or(strings.Join(known, ", "), "there is none"))
		}
	}
	s.tests = regress.Distinct(s.tests)
	return nil
}

// config reads the suite file that a path is, or has in it.
func (c *suiteFlags) config(s *testSuite, name string) (config *suitefile.File, dir string, err error) {
	if ext := path.Ext(name); ext == ".yaml" || ext == ".yml" {
		config, err := suitefile.Open(s.paths.fsys, name, s.paths.name)
		return config, path.Dir(name), err
	}
	if info, err := fs.Stat(s.paths.fsys, name); err != nil || !info.IsDir() || c.NoConfig {
		return nil, name, err
	}
	config, err = suitefile.In(s.paths.fsys, name, s.paths.name)
	return config, name, err
}

// adopt takes over what a suite file says about the whole run and no flag does.
func (*suiteFlags) adopt(s *testSuite, config *suitefile.File) {
	for _, x := range []struct {
		flag  *string
		value string
	}{{&s.opt.Title, config.Title}, {&s.prismImage, config.PrismImage}, {&s.stormImage, config.StormImage}} {
		if *x.flag == "" {
			*x.flag = x.value
		}
	}
	if config.Seed != nil {
		s.opt.Seed = *config.Seed
	}
	if config.Flakes != nil {
		s.flakes = config.Flakes
	}
	if s.opt.Jobs <= 1 {
		s.opt.Jobs = config.Jobs
	}
	s.strict = s.strict || config.Strict
}

// override lets flags win over suite files, and lists the engines.
func (c *suiteFlags) override(s *testSuite) (err error) {
	named := len(s.labels) > 0
	for i := range s.tests {
		t := &s.tests[i]
		if t.Consts, err = regress.Override(t.Consts, c.Const); err != nil {
			return err
		}
		if c.Timeout > 0 {
			t.Time = c.Timeout
		}
		if c.Memory > 0 {
			t.Memory = int64(c.Memory)
		}
		if named {
			t.Engines = nil
			continue
		}
		if len(t.Engines) == 0 {
			t.Engines = []string{"native"}
		}
		for _, label := range t.Engines {
			if !slices.Contains(s.labels, label) {
				s.labels = append(s.labels, label)
			}
		}
	}
	if c.Seed != nil {
		s.opt.Seed = *c.Seed
	}
	if s.opt.Jobs <= 1 {
		s.opt.Jobs = runtime.GOMAXPROCS(0)
	}
	return nil
}

func (c *suiteFlags) pairing(otherwise suite.Pairing) suite.Pairing {
	switch {
	case c.Match:
		return suite.Matching
	case c.All:
		return suite.Every
	}
	return otherwise
}

// openCache sets the cache of the suite.
func (c *runFlags) openCache(env *world, s *testSuite) error {
	if c.NoCache || env.split.Replaying() {
		return nil
	}
	var err error
	if c.Cache != "" {
		s.opt.Cache, err = cache.Open(c.Cache)
		return err
	}
	user, err := os.UserCacheDir()
	if err == nil {
		s.opt.Cache, err = cache.Open(filepath.Join(user, "tilecheck", "verdicts"))
	}
	if err != nil && !env.quiet { // nobody asked for a cache
		fmt.Fprintf(env.stderr, "note: no results are kept: %v\n", err)
	}
	return nil
}

// entrants returns the engines of the suite.
func (c *runFlags) entrants(ctx context.Context, tools *toolbox, s *testSuite) ([]regress.Entrant, error) {
	var out []regress.Entrant
	for _, label := range s.labels {
		name, x, err := suitefile.Engine(label)
		if err != nil {
			return nil, err
		}
		if tools.env.split.Replaying() { // which asks nobody
			out = append(out, regress.Entrant{Entrant: x})
			continue
		}
		if x.Engine, err = tools.engine(ctx, name); err != nil {
			return nil, err
		}
		var cmd runner.Commander
		if tool, ok := runner.As[*bridge.Engine](x.Engine); ok {
			cmd = tool.Commander()
		}
		entrant := regress.Entrant{Entrant: x}
		if name == "prism" {
			entrant.PRISM = &regress.PRISM{Commander: cmd, Args: c.ToolArg}
		}
		if s.opt.Cache != nil {
			entrant.Identity = identity(ctx, tools.env, label, cmd, c.ToolArg)
		}
		out = append(out, entrant)
	}
	return out, nil
}

// identity says what runs: the image or path of a tool with its version and
// switches, or this program itself. It is empty if that cannot be known.
func identity(ctx context.Context, env *world, label string, cmd runner.Commander, args []string) string {
	own, err := env.identify() // which counts for tools, too: it reads what they print
	if err != nil {
		return ""
	}
	if cmd == nil {
		return label + " " + own
	}
	flag := "-version"
	if strings.HasPrefix(label, "storm") {
		flag = "--version"
	}
	var said strings.Builder
	_, err = cmd.Run(ctx, runner.Command{Args: []string{flag}, Stdout: &said, Limits: runner.Limits{Time: time.Minute}})
	if err != nil || said.Len() == 0 {
		return ""
	}
	return strings.Join(append([]string{label, cmd.Where(), said.String(), own}, args...), " ")
}

// paths are the files of this machine as package regress sees them: below the
// root of the working directory's volume, without a slash in front.
type paths struct {
	fsys     fs.FS
	root     string
	dir      string // the working directory
	names    []string
	relative bool // whether the user named all of them relatively
}

func newPaths(args []string) (*paths, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	root := filepath.VolumeName(dir) + string(filepath.Separator)
	p := &paths{fsys: os.DirFS(root), root: root, dir: dir, relative: true}
	for _, arg := range args {
		abs := filepath.Clean(arg)
		if filepath.IsAbs(arg) {
			p.relative = false
		} else {
			abs = filepath.Join(dir, arg)
		}
		name, err := filepath.Rel(root, abs)
		if err != nil {
			return nil, fmt.Errorf("%s: want a file below %s, as the working directory is", arg, root)
		}
		name = filepath.ToSlash(name)
		if _, err := os.Stat(abs); errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: no such file or directory", arg)
		}
		if !slices.Contains(p.names, name) {
			p.names = append(p.names, name)
		}
	}
	return p, nil
}

// abs is the absolute name of a file.
func (p *paths) abs(file string) string { return filepath.Join(p.root, filepath.FromSlash(file)) }

// name is a file as the user calls it: relative to the working directory if it
// is below, or if no path was absolute.
func (p *paths) name(file string) string {
	abs := p.abs(file)
	rel, err := filepath.Rel(p.dir, abs)
	if err != nil || !p.relative && strings.HasPrefix(rel, "..") {
		return abs
	}
	return rel
}

// explain renames the file in an error of reading files.
func (p *paths) explain(err error) error {
	if e, ok := err.(*syntax.Error); ok {
		return &syntax.Error{File: p.name(e.File), Pos: e.Pos, Msg: e.Msg}
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", p.name(e.Path), e.Err)
	}
	return err
}
