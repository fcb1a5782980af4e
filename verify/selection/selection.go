// Package selection finds the tests that a command line and suite files ask for
// together. Package suitefile reads the files, package regress runs the tests.
package selection

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"time"

	"tilecheck/internal/usage"
	"tilecheck/verify/qvbs"
	"tilecheck/verify/regress"
	"tilecheck/verify/suite"
	"tilecheck/verify/suitefile"
)

// Asked is what a command line asks for. What it leaves out, suite files say.
type Asked struct {
	Paths    []string // directories, models, properties files, …
	Match    bool     // pair files by the beginnings of their names
	All      bool     // pair all files of a directory
	Suites   []string // of suite files; nil for all
	NoConfig bool     // read no suite file that is not named
	// QVBS says that the paths are directories of the Quantitative Verification
	// Benchmark Set, of which cases with more states than MaxStates are left out.
	QVBS      bool
	MaxStates int64

	Consts  []string // definitions that win over those of files
	Time    time.Duration
	Memory  int64
	Seed    *uint64
	Only    []string // identities of results
	Engines []string // labels
	Jobs    int
}

// Selection is what there is to run, and how.
type Selection struct {
	Tests   []regress.Test
	Options regress.Options
	Labels  []string // of the engines
	Strict  bool
	Flakes  *float64
	// Benchmarks is what there is of the benchmark set, nil if none is asked for.
	Benchmarks *qvbs.Set
	// PrismImage and StormImage are those of suite files.
	PrismImage, StormImage string

	paths *paths
}

// Abs is the absolute name of a file of the tests.
func (s *Selection) Abs(file string) string { return s.paths.abs(file) }

// Find finds the tests. Before it goes on it tells used of the files that they are
// made of; an error of that ends it.
func (a *Asked) Find(used func(files []string) error) (*Selection, error) {
	p, err := newPaths(a.Paths)
	if err != nil {
		return nil, err
	}
	seen := &seenFS{FS: p.fsys}
	p.fsys = seen
	s := &Selection{paths: p, Labels: a.Engines}
	s.Options = regress.Options{FS: p.fsys, Name: p.name, Seed: 1, Only: a.Only, Jobs: a.Jobs}
	err = a.discover(s)
	p.fsys, s.Options.FS = seen.FS, seen.FS
	if err != nil {
		return nil, p.explain(err)
	}
	if err := used(s.files(seen.names)); err != nil {
		return nil, err
	}
	if len(s.Tests) == 0 {
		return nil, fmt.Errorf("%s: nothing to test: found no model with properties", strings.Join(a.Paths, ", "))
	}
	if err := a.override(s); err != nil {
		return nil, err
	}
	for _, label := range s.Labels {
		if _, _, err := suitefile.Engine(label); err != nil {
			return nil, usage.Errorf("--engine: %w", err)
		}
	}
	return s, nil
}

// files lists the files that there are of those that were opened and those of the
// tests, as the user calls them.
func (s *Selection) files(opened []string) []string {
	names := slices.Clone(opened)
	for i := range s.Tests {
		t := &s.Tests[i]
		names = append(names, t.Model, t.Props)
		for _, arg := range t.Args { // models may be among the switches
			names = append(names, path.Join(t.Dir, arg))
		}
	}
	slices.Sort(names)
	var out []string
	for _, name := range slices.Compact(names) {
		file := s.paths.name(name)
		if _, err := os.Stat(file); name != "" && !errors.Is(err, fs.ErrNotExist) {
			out = append(out, file)
		}
	}
	return out
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
func (a *Asked) discover(s *Selection) error {
	if a.QVBS {
		return a.benchmarks(s)
	}
	var known []string // suites
	for _, name := range s.paths.names {
		config, dir, err := a.config(s, name)
		if err != nil {
			return err
		}
		var tests []regress.Test
		if config == nil {
			tests, err = regress.Discover(s.paths.fsys, []string{name}, a.pairing(suite.Closest))
		} else {
			if a.Match || a.All {
				config.Pair(a.pairing(suite.Closest))
			}
			tests, err = config.Tests(s.paths.fsys, dir, a.Suites)
			a.adopt(s, config)
			known = append(known, config.Suites()...)
		}
		if err != nil {
			return err
		}
		s.Tests = append(s.Tests, tests...)
	}
	for _, name := range a.Suites {
		if !slices.Contains(known, name) {
			return usage.Errorf("--suite: found %q, want the name of a suite in %s (%s)", name, suitefile.Name, cmp.Or(strings.Join(known, ", "), "there is none"))
		}
	}
	s.Tests = regress.Distinct(s.Tests)
	return nil
}

// benchmarks adds the cases of the benchmark set.
func (a *Asked) benchmarks(s *Selection) (err error) {
	s.Benchmarks, err = qvbs.Discover(s.paths.fsys, s.paths.names, qvbs.Options{MaxStates: a.MaxStates, Name: s.paths.name})
	if err != nil {
		return err
	}
	s.Tests = s.Benchmarks.Tests
	return nil
}

// config reads the suite file that a path is, or has in it.
func (a *Asked) config(s *Selection, name string) (config *suitefile.File, dir string, err error) {
	if ext := path.Ext(name); ext == ".yaml" || ext == ".yml" {
		config, err := suitefile.Open(s.paths.fsys, name, s.paths.name)
		return config, path.Dir(name), err
	}
	if info, err := fs.Stat(s.paths.fsys, name); err != nil || !info.IsDir() || a.NoConfig {
		return nil, name, err
	}
	config, err = suitefile.In(s.paths.fsys, name, s.paths.name)
	return config, name, err
}

// adopt takes over what a suite file says about the whole run and no flag does.
func (*Asked) adopt(s *Selection, config *suitefile.File) {
	for _, x := range []struct {
		flag  *string
		value string
	}{{&s.Options.Title, config.Title}, {&s.PrismImage, config.PrismImage}, {&s.StormImage, config.StormImage}} {
		if *x.flag == "" {
			*x.flag = x.value
		}
	}
	if config.Seed != nil {
		s.Options.Seed = *config.Seed
	}
	if config.Flakes != nil {
		s.Flakes = config.Flakes
	}
	if s.Options.Jobs <= 1 {
		s.Options.Jobs = config.Jobs
	}
	s.Strict = s.Strict || config.Strict
}

// override lets flags win over suite files, and lists the engines.
func (a *Asked) override(s *Selection) (err error) {
	named := len(s.Labels) > 0
	for i := range s.Tests {
		t := &s.Tests[i]
		if t.Consts, err = regress.Override(t.Consts, a.Consts); err != nil {
			return err
		}
		if a.Time > 0 {
			t.Time = a.Time
		}
		if a.Memory > 0 {
			t.Memory = a.Memory
		}
		if named {
			t.Engines = nil
			continue
		}
		if len(t.Engines) == 0 {
			t.Engines = []string{"native"}
		}
		for _, label := range t.Engines {
			if !slices.Contains(s.Labels, label) {
				s.Labels = append(s.Labels, label)
			}
		}
	}
	if a.Seed != nil {
		s.Options.Seed = *a.Seed
	}
	if s.Options.Jobs <= 1 {
		s.Options.Jobs = runtime.GOMAXPROCS(0)
	}
	return nil
}

func (a *Asked) pairing(otherwise suite.Pairing) suite.Pairing {
	switch {
	case a.Match:
		return suite.Matching
	case a.All:
		return suite.Every
	}
	return otherwise
}
