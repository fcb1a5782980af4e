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
	Paths    []string // directories, models, properties files and suite files
	Match    bool     // pair files by name prefix
	All      bool     // pair all files of a directory
	Suites   []string // of suite files; nil for all
	NoConfig bool     // read only suite files that Paths names
	// QVBS says that Paths are directories of the Quantitative Verification
	// Benchmark Set. Cases with more states than MaxStates are left out.
	QVBS      bool
	MaxStates int64

	Consts  []string // definitions, which override the definitions in suite files
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
	// Benchmarks is the benchmark set; nil without Request.QVBS.
	Benchmarks *qvbs.Set
	// PrismImage, GamesImage (of PRISM-games) and StormImage come from suite files.
	PrismImage, GamesImage, StormImage string

	paths *fileNames
}

// Abs returns the absolute name of a file of the tests.
func (s *Selection) Abs(file string) string { return s.paths.absolute(file) }

// Find returns the selected tests. Before it returns, it passes the names of all files that the tests read to checkFiles; if checkFiles returns
// an error, Find returns this error.
func (request *Request) Find(checkFiles func(files []string) error) (*Selection, error) {
	names, err := newFileNames(request.Paths)
	if err != nil {
		return nil, err
	}
	recorder := &recordingFS{FS: names.fileSystem} // records the files that discover opens
	names.fileSystem = recorder
	selected := &Selection{paths: names, Labels: request.Engines}
	selected.Options = regress.Options{Name: names.userName, Seed: 1, Only: request.Only, Jobs: request.Jobs}
	err = request.discover(selected)
	names.fileSystem, selected.Options.FS = recorder.FS, recorder.FS
	if err != nil {
		return nil, names.userError(err)
	}
	if err := checkFiles(selected.inputFiles(recorder.opened)); err != nil {
		return nil, err
	}
	if len(selected.Tests) == 0 {
		return nil, fmt.Errorf("%s: nothing to test: found no model with properties (the switches of a run without properties go into a file MODEL.auto)", strings.Join(request.Paths, ", "))
	}
	if err := request.applyFlags(selected); err != nil {
		return nil, err
	}
	for _, label := range selected.Labels {
		if _, _, err := suitefile.Engine(label); err != nil {
			return nil, usage.Errorf("--engine: %w", err)
		}
	}
	return selected, nil
}

// inputFiles returns the names of all input files, for messages: the opened files and the files of the tests. It omits files that do not exist.
func (s *Selection) inputFiles(opened []string) []string {
	names := slices.Clone(opened)
	for i := range s.Tests {
		test := &s.Tests[i]
		names = append(names, test.Model, test.Props)
		names = append(names, regress.FilesOfSwitches(s.paths.fileSystem, test)...)
	}
	slices.Sort(names)
	var files []string
	for _, name := range slices.Compact(names) {
		file := s.paths.userName(name)
		_, err := os.Stat(file)
		if name != "" && !errors.Is(err, fs.ErrNotExist) {
			files = append(files, file)
		}
	}
	return files
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

// Stat implements fs.StatFS. It does not record the name, because no contents are read.
func (f *recordingFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(f.FS, name) }

// ReadDir implements fs.ReadDirFS. It does not record the name, because no contents are read.
func (f *recordingFS) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(f.FS, name) }

// discover finds the tests of every path on the command line. If a directory has a suite file, the tests are those of the suite file.
func (request *Request) discover(selected *Selection) error {
	if request.QVBS {
		return request.discoverBenchmarks(selected)
	}
	var suiteNames []string
	for _, name := range selected.paths.arguments {
		config, dir, err := request.suiteFile(selected, name)
		if err != nil {
			return err
		}
		tests, err := request.testsOf(selected, name, config, dir)
		if err != nil {
			return err
		}
		selected.Tests = append(selected.Tests, tests...)
		if config != nil {
			request.applySuiteFile(selected, config)
			suiteNames = append(suiteNames, config.Suites()...)
		}
	}
	for _, name := range request.Suites {
		if !slices.Contains(suiteNames, name) {
			choice := cmp.Or(strings.Join(suiteNames, ", "), "there is none")
			return usage.Errorf("--suite: found %q, want the name of a suite in %s (%s)", name, suitefile.Name, choice)
		}
	}
	selected.Tests = regress.Distinct(selected.Tests)
	return nil
}

// testsOf returns the tests of a path. If suite is not nil, it returns the tests of this suite file, which is in the directory dir.
func (request *Request) testsOf(selected *Selection, path string, suite *suitefile.File, dir string) ([]regress.Test, error) {
	pairing, hasPairing := request.pairing()
	if suite == nil {
		return regress.Discover(selected.paths.fileSystem, []string{path}, pairing)
	}
	if hasPairing {
		suite.Pair(pairing)
	}
	return suite.Tests(selected.paths.fileSystem, dir, request.Suites)
}

// discoverBenchmarks adds the cases of the Quantitative Verification Benchmark Set.
func (request *Request) discoverBenchmarks(selection *Selection) (err error) {
	selection.Benchmarks, err = qvbs.Discover(selection.paths.fileSystem, selection.paths.arguments, qvbs.Options{MaxStates: request.MaxStates, Name: selection.paths.userName})
	if err != nil {
		return err
	}
	selection.Tests = selection.Benchmarks.Tests
	return nil
}

// suiteFile reads the suite file with this name, or the suite file in the directory with this name. It returns the suite file, which is nil if
// there is none, and its directory.
func (request *Request) suiteFile(selected *Selection, name string) (config *suitefile.File, dir string, err error) {
	if extension := path.Ext(name); extension == ".yaml" || extension == ".yml" {
		config, err := suitefile.Open(selected.paths.fileSystem, name, selected.paths.userName)
		return config, path.Dir(name), err
	}
	if info, err := fs.Stat(selected.paths.fileSystem, name); err != nil || !info.IsDir() || request.NoConfig {
		return nil, name, err
	}
	config, err = suitefile.In(selected.paths.fileSystem, name, selected.paths.userName)
	return config, name, err
}

// applySuiteFile sets the options of the run from a suite file. The seed and the probability of false alarms are replaced; other options are set
// only if no earlier suite file has set them.
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

// applyFlags replaces settings of suite files by the settings of the command line. If the command line names no engines, the run uses the engines
// of all tests.
func (request *Request) applyFlags(selected *Selection) error {
	hasEngineFlag := len(selected.Labels) > 0
	for i := range selected.Tests {
		test := &selected.Tests[i]
		constants, err := regress.Override(test.Consts, request.Consts)
		if err != nil {
			return err
		}
		test.Consts = constants
		if request.Time > 0 {
			test.Time = request.Time
		}
		if request.Memory > 0 {
			test.Memory = request.Memory
		}
		if hasEngineFlag {
			test.Engines = nil
		} else {
			selected.useEnginesOf(test)
		}
	}
	if request.Seed != nil {
		selected.Options.Seed = *request.Seed
	}
	if selected.Options.Jobs <= 1 {
		selected.Options.Jobs = runtime.GOMAXPROCS(0)
	}
	return nil
}

// useEnginesOf adds the engines of a test to the engines of the run. A test without engines runs on the native engine.
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

// pairing returns the rule that assigns properties files to models. isSelected reports whether the command line selects it; otherwise it is
// suite.Closest.
func (request *Request) pairing() (pairing suite.Pairing, isSelected bool) {
	switch {
	case request.Match:
		return suite.Matching, true
	case request.All:
		return suite.Every, true
	}
	return suite.Closest, false
}
