// Package selection finds the tests that the command line and suite files select
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

// Request has the options of the command line. Where a field is zero, the suite files decide.
type Request struct {
	Paths    []string // directories, models, properties files, …
	Match    bool     // pair files by name prefix
	All      bool     // pair all files of a directory
	Suites   []string // of suite files; nil for all
	NoConfig bool     // read only suite files that Paths names
	// QVBS says that Paths are directories of the Quantitative Verification
	// Benchmark Set. Cases with more states than MaxStates are left out.
	QVBS      bool
	MaxStates int64

	Consts  []string // definitions, which override those of files
	Time    time.Duration
	Memory  int64
	Seed    *uint64
	Only    []string // identities of results
	Engines []string // labels
	Jobs    int
}

// Selection is the tests to run, and how to run them.
type Selection struct {
	Tests   []regress.Test
	Options regress.Options
	Labels  []string // of the engines
	Strict  bool
	Flakes  *float64
	// Benchmarks is the benchmark set; nil without Asked.QVBS.
	Benchmarks *qvbs.Set
	// PrismImage, GamesImage (of PRISM-games) and StormImage come from suite files.
	PrismImage, GamesImage, StormImage string

	paths *fileNames
}

// Abs returns the absolute name of a file of the tests.
func (s *Selection) Abs(file string) string { return s.paths.absolute(file) }

// Find returns the selected tests. When it knows their files, it calls used with their names, and returns its error if there is one.
func (a *Request) Find(used func(files []string) error) (*Selection, error) {
	names, err := newPaths(a.Paths)
	if err != nil {
		return nil, err
	}
	opened := &recordingFS{FS: names.fsys}
	names.fsys = opened
	selected := &Selection{paths: names, Labels: a.Engines}
	selected.Options = regress.Options{FS: names.fsys, Name: names.userName, Seed: 1, Only: a.Only, Jobs: a.Jobs}
	err = a.discover(selected)
	names.fsys, selected.Options.FS = opened.FS, opened.FS
	if err != nil {
		return nil, names.userError(err)
	}
	if err := used(selected.inputFiles(opened.opened)); err != nil {
		return nil, err
	}
	if len(selected.Tests) == 0 {
		return nil, fmt.Errorf("%s: nothing to test: found no model with properties", strings.Join(a.Paths, ", "))
	}
	if err := a.applyFlags(selected); err != nil {
		return nil, err
	}
	for _, label := range selected.Labels {
		if _, _, err := suitefile.Engine(label); err != nil {
			return nil, usage.Errorf("--engine: %w", err)
		}
	}
	return selected, nil
}

// inputFiles returns the files that were opened and the files of the tests, as far as they exist, with the user's names.
func (s *Selection) inputFiles(opened []string) []string {
	names := slices.Clone(opened)
	for i := range s.Tests {
		test := &s.Tests[i]
		names = append(names, test.Model, test.Props)
		for _, arg := range test.Args { // models may be among the switches
			names = append(names, path.Join(test.Dir, arg))
		}
	}
	slices.Sort(names)
	var out []string
	for _, name := range slices.Compact(names) {
		file := s.paths.userName(name)
		_, err := os.Stat(file)
		if name != "" && !errors.Is(err, fs.ErrNotExist) {
			out = append(out, file)
		}
	}
	return out
}

// recordingFS records the files that are opened.
type recordingFS struct {
	fs.FS
	opened []string
}

// Open implements fs.FS and records the name.
func (f *recordingFS) Open(name string) (fs.File, error) {
	f.opened = append(f.opened, name)
	return f.FS.Open(name)
}

// Stat and ReadDir do not record a name, because no contents are read.
func (f *recordingFS) Stat(name string) (fs.FileInfo, error)      { return fs.Stat(f.FS, name) }
func (f *recordingFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.FS, name) }

// discover adds the tests of every path. A directory with a suite file has the tests that the file lists.
func (a *Request) discover(selected *Selection) error {
	if a.QVBS {
		return a.discoverBenchmarks(selected)
	}
	var suites []string // the names of all suites
	for _, name := range selected.paths.arguments {
		config, dir, err := a.suiteFile(selected, name)
		if err != nil {
			return err
		}
		var tests []regress.Test
		if config == nil {
			tests, err = regress.Discover(selected.paths.fsys, []string{name}, a.pairing(suite.Closest))
		} else {
			if a.Match || a.All {
				config.Pair(a.pairing(suite.Closest))
			}
			tests, err = config.Tests(selected.paths.fsys, dir, a.Suites)
			a.applySuiteFile(selected, config)
			suites = append(suites, config.Suites()...)
		}
		if err != nil {
			return err
		}
		selected.Tests = append(selected.Tests, tests...)
	}
	for _, name := range a.Suites {
		if !slices.Contains(suites, name) {
			return usage.Errorf("--suite: found %q, want the name of a suite in %s (%s)", name, suitefile.Name, cmp.Or(strings.Join(suites, ", "), "there is none"))
		}
	}
	selected.Tests = regress.Distinct(selected.Tests)
	return nil
}

// discoverBenchmarks adds the cases of the benchmark set.
func (a *Request) discoverBenchmarks(s *Selection) (err error) {
	s.Benchmarks, err = qvbs.Discover(s.paths.fsys, s.paths.arguments, qvbs.Options{MaxStates: a.MaxStates, Name: s.paths.userName})
	if err != nil {
		return err
	}
	s.Tests = s.Benchmarks.Tests
	return nil
}

// suiteFile reads the suite file that a path is, or that the directory contains; nil if there is none.
func (a *Request) suiteFile(selected *Selection, name string) (config *suitefile.File, dir string, err error) {
	if ext := path.Ext(name); ext == ".yaml" || ext == ".yml" {
		config, err := suitefile.Open(selected.paths.fsys, name, selected.paths.userName)
		return config, path.Dir(name), err
	}
	if info, err := fs.Stat(selected.paths.fsys, name); err != nil || !info.IsDir() || a.NoConfig {
		return nil, name, err
	}
	config, err = suitefile.In(selected.paths.fsys, name, selected.paths.userName)
	return config, name, err
}

// applySuiteFile sets the options of the whole run that a suite file has, except those that are already set.
func (*Request) applySuiteFile(selected *Selection, config *suitefile.File) {
	selected.Options.Title = cmp.Or(selected.Options.Title, config.Title)
	selected.PrismImage = cmp.Or(selected.PrismImage, config.PrismImage)
	selected.GamesImage = cmp.Or(selected.GamesImage, config.GamesImage)
	selected.StormImage = cmp.Or(selected.StormImage, config.StormImage)
	if config.Seed != nil {
		selected.Options.Seed = *config.Seed
	}
	if config.Flakes != nil {
		selected.Flakes = config.Flakes
	}
	if selected.Options.Jobs <= 1 {
		selected.Options.Jobs = config.Jobs
	}
	selected.Strict = selected.Strict || config.Strict
}

// applyFlags replaces settings of suite files by those of the command line, and collects the labels of all engines.
func (a *Request) applyFlags(selected *Selection) error {
	enginesGiven := len(selected.Labels) > 0
	for i := range selected.Tests {
		test := &selected.Tests[i]
		consts, err := regress.Override(test.Consts, a.Consts)
		if err != nil {
			return err
		}
		test.Consts = consts
		if a.Time > 0 {
			test.Time = a.Time
		}
		if a.Memory > 0 {
			test.Memory = a.Memory
		}
		if enginesGiven {
			test.Engines = nil
		} else {
			selected.useEnginesOf(test)
		}
	}
	if a.Seed != nil {
		selected.Options.Seed = *a.Seed
	}
	if selected.Options.Jobs <= 1 {
		selected.Options.Jobs = runtime.GOMAXPROCS(0)
	}
	return nil
}

// useEnginesOf adds the engines of a test to the labels. A test without engines runs on the native engine.
func (s *Selection) useEnginesOf(test *regress.Test) {
	if len(test.Engines) == 0 {
		test.Engines = []string{"native"}
	}
	for _, label := range test.Engines {
		if !slices.Contains(s.Labels, label) {
			s.Labels = append(s.Labels, label)
		}
	}
}

// pairing returns the pairing that the command line asks for; without one, it returns otherwise.
func (a *Request) pairing(otherwise suite.Pairing) suite.Pairing {
	switch {
	case a.Match:
		return suite.Matching
	case a.All:
		return suite.Every
	}
	return otherwise
}
