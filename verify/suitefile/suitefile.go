package suitefile

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"tilecheck/cluster/settings"
	"tilecheck/internal/limited"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/expect"
	"tilecheck/verify/regress"
	"tilecheck/verify/suite"
)

// Name is the name of the suite file in a directory.
const Name = "tilecheck.yaml"

// File is a suite file. Fields that the file leaves out are zero.
type File struct {
	Title                              string
	PrismImage, GamesImage, StormImage string
	Flakes                             *float64
	Seed                               *uint64
	Strict                             bool
	Jobs                               int
	Cluster                            settings.Settings

	name     string // for messages
	defaults section
	sections []section
}

// section is one suite of a suite file, or the settings that all its suites share.
type section struct {
	name    string
	paths   []located
	pairing suite.Pairing
	paired  bool // the file gives the pairing
	engines []string
	consts  []string
	timeout time.Duration
	memory  int64
	extra   []expectation
}

// located is a word of a suite file with its place.
type located struct {
	text string
	pos  syntax.Pos
}

// expectation is an expectation of a suite file. If file is not empty it applies only to the properties of that file.
type expectation struct {
	file located
	regress.Extra
}

// Read reads a suite file. name is used in messages. The error is a syntax.ErrorList with every error of the file.
func Read(name string, src []byte) (*File, error) {
	reader := &suiteReader{yamlReader: yamlReader{file: name}}
	file := &File{name: name}
	reader.mapping(reader.document(src), "the file", append(reader.sectionEntries(&file.defaults), reader.fileEntries(file)...))
	if len(file.sections) == 0 {
		file.sections = []section{{}}
	}
	if err := reader.errs.Err(); err != nil {
		return nil, err
	}
	return file, nil
}

// fileEntries returns the entries for the keys that a suite cannot have, only the whole file.
func (r *suiteReader) fileEntries(file *File) []entry {
	return []entry{
		{"title", func(n ast.Node) { file.Title = r.text(n) }},
		{"images", func(n ast.Node) {
			r.mapping(n, "images", []entry{
				{"prism", func(n ast.Node) { file.PrismImage = r.text(n) }},
				{"prism-games", func(n ast.Node) { file.GamesImage = r.text(n) }},
				{"storm", func(n ast.Node) { file.StormImage = r.text(n) }},
			})
		}},
		{"flakes", func(n ast.Node) {
			flakes := value(&r.yamlReader, n, "a probability between 0 and 1", probability)
			file.Flakes = &flakes
		}},
		{"seed", func(n ast.Node) {
			seed := value(&r.yamlReader, n, "a number that is not negative", func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) })
			file.Seed = &seed
		}},
		{"strict", func(n ast.Node) { file.Strict = r.boolean(n) }},
		{"jobs", func(n ast.Node) { file.Jobs = r.count(n) }},
		{"cluster", func(n ast.Node) { r.readCluster(n, &file.Cluster) }},
		{"suites", func(n ast.Node) { r.list(n, func(n ast.Node) { r.readSection(n, file) }) }},
	}
}

// readSection reads a suite of the list "suites".
func (r *suiteReader) readSection(n ast.Node, file *File) {
	var suite section
	r.mapping(n, "a suite", append(r.sectionEntries(&suite),
		entry{"name", func(n ast.Node) {
			suite.name = r.text(n)
			if slices.ContainsFunc(file.sections, func(other section) bool { return other.name == suite.name }) {
				r.fail(n, "found a second suite %q, want names that differ", suite.name)
			}
		}},
		entry{"paths", func(n ast.Node) {
			r.list(n, func(n ast.Node) { suite.paths = append(suite.paths, located{r.text(n), posOf(n)}) })
		}},
	))
	file.sections = append(file.sections, suite)
}

// probability parses a number between 0 and 1, both excluded.
func probability(text string) (float64, error) {
	number, err := strconv.ParseFloat(text, 64)
	if err == nil && !(number > 0 && number < 1) {
		err = errors.New("out of range")
	}
	return number, err
}

// suiteReader interprets the values of a suite file.
type suiteReader struct{ yamlReader }

// readCluster reads the cluster settings.
func (r *suiteReader) readCluster(n ast.Node, cluster *settings.Settings) {
	readText := func(target *string, check func(string) error) func(ast.Node) {
		return func(n ast.Node) {
			*target = r.text(n)
			if *target != "" {
				r.report(n, check(*target))
			}
		}
	}
	readCount := func(target *int, maximum int) func(ast.Node) {
		return func(n ast.Node) {
			*target = r.count(n)
			if *target > maximum {
				r.fail(n, "found %d, want at most %d", *target, maximum)
			}
		}
	}
	readList := func(target *[]string, check func(string) error) func(ast.Node) {
		return func(n ast.Node) {
			r.list(n, func(n ast.Node) {
				text := r.text(n)
				r.report(n, check(text))
				*target = append(*target, text)
			})
		}
	}
	r.mapping(n, "cluster", []entry{
		{"partition", readText(&cluster.Partition, settings.CheckName)},
		{"account", readText(&cluster.Account, settings.CheckName)},
		{"time", readText(&cluster.Time, settings.CheckTime)},
		{"memory", func(n ast.Node) { cluster.Memory = r.size(n) }},
		{"cpus", readCount(&cluster.CPUs, settings.MaxCPUs)},
		{"shards", readCount(&cluster.Shards, settings.MaxShards)},
		{"tasks", readCount(&cluster.Tasks, settings.MaxShards)},
		{"sbatch", readList(&cluster.Sbatch, settings.CheckSbatch)},
		{"kubernetes", func(n ast.Node) {
			kubernetes := &cluster.Kubernetes
			r.mapping(n, "kubernetes", []entry{
				{"image", readText(&kubernetes.Image, settings.CheckImage)},
				{"claim", readText(&kubernetes.Claim, settings.CheckObject)},
				{"mount", readText(&kubernetes.Mount, settings.CheckMount)},
				{"namespace", readText(&kubernetes.Namespace, settings.CheckNamespace)},
				{"parallelism", readCount(&kubernetes.Parallelism, settings.MaxShards)},
				{"run-as", readText(&kubernetes.RunAs, settings.CheckRunAs)},
				{"pull-secret", readText(&kubernetes.PullSecret, settings.CheckObject)},
				{"priority-class", readText(&kubernetes.Priority, settings.CheckObject)},
				{"labels", readList(&kubernetes.Labels, settings.CheckLabel)},
				{"nodes", readList(&kubernetes.Nodes, settings.CheckNode)},
				{"tolerations", readList(&kubernetes.Tolerations, settings.CheckToleration)},
			})
		}},
	})
	if len(r.errs) == 0 {
		r.report(n, cluster.Check())
	}
}

// report records an error at a node, unless it is nil.
func (r *suiteReader) report(n ast.Node, err error) {
	if err != nil {
		r.fail(n, "%v", err)
	}
}

// sectionEntries returns the entries for the keys that both a suite and the whole file can have.
func (r *suiteReader) sectionEntries(section *section) []entry {
	return []entry{
		{"match", func(n ast.Node) {
			section.pairing, section.paired = value(&r.yamlReader, n, "closest, name or all", parsePairing), true
		}},
		{"engines", func(n ast.Node) {
			r.list(n, func(n ast.Node) {
				label := r.text(n)
				if _, _, err := Engine(label); err != nil {
					r.fail(n, "%v", err)
				}
				section.engines = append(section.engines, label)
			})
		}},
		{"const", func(n ast.Node) { section.consts = r.readConsts(n) }},
		{"timeout", func(n ast.Node) { section.timeout = r.duration(n) }},
		{"memory", func(n ast.Node) { section.memory = r.size(n) }},
		{"expect", func(n ast.Node) { r.list(n, func(n ast.Node) { r.readExpectation(n, section) }) }},
	}
}

// parsePairing parses the value of match.
func parsePairing(text string) (suite.Pairing, error) {
	switch text {
	case "closest":
		return suite.Closest, nil
	case "name":
		return suite.Matching, nil
	case "all":
		return suite.Every, nil
	}
	return 0, errors.New("unknown")
}

// readConsts reads constant definitions: a list of texts in the syntax of --const, or a mapping of names to values.
func (r *suiteReader) readConsts(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.MappingNode:
		return r.readConstMapping(n.Values)
	case *ast.MappingValueNode:
		return r.readConstMapping([]*ast.MappingValueNode{n})
	}
	var definitions []string
	r.list(n, func(n ast.Node) {
		text := r.text(n)
		if _, err := sema.ParseConsts([]string{text}); err != nil {
			r.fail(n, "%v", err)
		}
		definitions = append(definitions, text)
	})
	return definitions
}

// readConstMapping reads constant definitions from a mapping of names to values.
func (r *suiteReader) readConstMapping(entries []*ast.MappingValueNode) []string {
	var definitions []string
	for _, entry := range entries {
		name, ok := scalar(entry.Key)
		definition := name + "=" + r.text(entry.Value)
		_, err := sema.ParseConsts([]string{definition})
		definesOne := err == nil && !strings.Contains(definition, ",")
		if !ok || !definesOne {
			r.fail(entry.Value, "found %s, want a value or a range low:high or low:step:high", describeNode(entry.Value))
		}
		definitions = append(definitions, definition)
	}
	return definitions
}

// readExpectation reads an element of the list "expect".
func (r *suiteReader) readExpectation(n ast.Node, target *section) {
	expected := expectation{Extra: regress.Extra{File: r.file, Pos: posOf(n)}}
	var conditions string
	var result, terms ast.Node
	r.mapping(n, "an expectation", []entry{
		{"property", func(n ast.Node) { expected.Property = r.text(n) }},
		{"file", func(n ast.Node) { expected.file = located{r.text(n), posOf(n)} }},
		{"const", func(n ast.Node) {
			before := len(r.errs)
			conditions = strings.Join(r.readConsts(n), ",")
			if len(r.errs) > before {
				conditions = "" // readConsts has reported the error
			}
		}},
		{"result", func(n ast.Node) { result = n }},
		{"terms", func(n ast.Node) { terms = n }},
	})
	if expected.Property == "" || result == nil && terms == nil {
		r.fail(n, "want a property, by name or text, and its result, its terms, or both")
		return
	}
	if result != nil {
		parsedResult, mistakes := expect.NewExpectation(r.text(result), conditions, posOf(result))
		r.addMistakes(mistakes)
		expected.Result = &parsedResult
	}
	if terms != nil {
		parsedTerms, mistakes := expect.NewTerms(r.text(terms), conditions, posOf(terms))
		r.addMistakes(mistakes)
		expected.Terms = &parsedTerms
	}
	target.extra = append(target.extra, expected)
}

// addMistakes records the mistakes in an expectation.
func (r *suiteReader) addMistakes(mistakes []expect.Mistake) {
	for _, mistake := range mistakes {
		r.errs.Add(r.file, mistake.Pos, "%s", mistake.Msg)
	}
}

// Suites returns the names of the suites. A suite without a name is left out.
func (f *File) Suites() []string {
	var names []string
	for i := range f.sections {
		if name := f.sections[i].name; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Tests returns the tests of a suite file that is in the directory dir of fsys. selected has the names of the selected suites.
// If it is empty, all suites are selected. The error is a syntax.ErrorList if the suite file names files that do not exist.
func (f *File) Tests(fsys fs.FS, dir string, selected []string) ([]regress.Test, error) {
	var allTests []regress.Test
	var errs syntax.ErrorList
	for i := range f.sections {
		section := &f.sections[i]
		if len(selected) > 0 && !slices.Contains(selected, section.name) {
			continue
		}
		tests, err := regress.Discover(fsys, f.testPaths(fsys, dir, section, &errs), f.pairingOf(section))
		if err != nil {
			return nil, err
		}
		for _, test := range tests {
			f.applyDefaults(&test, section)
			allTests = append(allTests, test)
		}
		f.reportUnmatched(section.extra, tests, &errs)
	}
	if len(selected) == 0 {
		f.reportUnmatched(f.defaults.extra, allTests, &errs)
	}
	return allTests, errs.Err()
}

// testPaths returns the files and directories of a suite.
func (f *File) testPaths(fsys fs.FS, dir string, section *section, errs *syntax.ErrorList) []string {
	if len(section.paths) == 0 {
		return []string{dir}
	}
	var names []string
	for _, file := range section.paths {
		name := path.Join(dir, file.text)
		if _, err := fs.Stat(fsys, name); err != nil {
			errs.Add(f.name, file.pos, "found %q, want a file or directory that is there", file.text)
			continue
		}
		names = append(names, name)
	}
	return names
}

// pairingOf returns the pairing of a suite. If the suite has none, it is the pairing of the file.
func (f *File) pairingOf(section *section) suite.Pairing {
	if section.paired {
		return section.pairing
	}
	return f.defaults.pairing
}

// reportUnmatched adds an error for every expectation that names a properties file which no test has.
func (f *File) reportUnmatched(expectations []expectation, tests []regress.Test, errs *syntax.ErrorList) {
	for _, expectation := range expectations {
		if expectation.file.text != "" && !slices.ContainsFunc(tests, func(test regress.Test) bool { return expectation.appliesTo(&test) }) {
			errs.Add(f.name, expectation.file.pos, "found %q, want a properties file of a test", expectation.file.text)
		}
	}
}

// appliesTo reports whether an expectation is for the properties of a test.
func (e *expectation) appliesTo(test *regress.Test) bool {
	return e.file.text == "" || path.Base(test.Props) == e.file.text || strings.HasSuffix(test.Props, "/"+e.file.text)
}

// applyDefaults sets the fields of a test to the values of its suite. If the suite does not have a value, it takes the value of the whole file.
func (f *File) applyDefaults(test *regress.Test, section *section) {
	test.Engines = section.engines
	if len(test.Engines) == 0 {
		test.Engines = f.defaults.engines
	}
	test.Consts, _ = regress.Override(f.defaults.consts, section.consts) // Read has checked the definitions
	test.Time, test.Memory = section.timeout, section.memory
	if test.Time == 0 {
		test.Time = f.defaults.timeout
	}
	if test.Memory == 0 {
		test.Memory = f.defaults.memory
	}
	for _, expectation := range slices.Concat(section.extra, f.defaults.extra) {
		if expectation.appliesTo(test) {
			test.Extra = append(test.Extra, expectation.Extra)
		}
	}
}

// Pair sets the pairing of all suites, and replaces the pairings that the file gives.
func (f *File) Pair(pairing suite.Pairing) {
	f.defaults.pairing = pairing
	for i := range f.sections {
		f.sections[i].paired = false
	}
}

// Engine parses a label such as "native:exact": the name of an engine and its accuracy. The error says that suites
// cannot use the engine or accuracy. They can use native and storm with an accuracy, prism, and prism-games.
func Engine(label string) (name string, config runner.EngineConfig, err error) {
	name, config, err = runner.ParseEngineLabel(label)
	switch {
	case !slices.Contains([]string{"native", "prism", "prism-games", "storm"}, name):
		err = fmt.Errorf("unknown engine %q, want native, prism, prism-games or storm", name)
	case config.Accuracy == result.Proven && name != "native":
		err = fmt.Errorf("%q: certificates are made by native, want native:proven", label)
	case err != nil, config.Method != "" && (config.Method != runner.States || strings.HasPrefix(name, "prism")):
		err = fmt.Errorf("unknown way to compute %q, want bounded, exact or float behind native or storm, or proven behind native", label)
	}
	return name, config, err
}

// In reads the suite file of a directory. It returns nil if the directory has none. userName returns the name of a file for messages.
func In(fsys fs.FS, dir string, userName func(string) string) (*File, error) {
	file := path.Join(dir, Name)
	suiteFile, err := Open(fsys, file, userName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return suiteFile, err
}

// Open reads a suite file. userName returns the name of a file for messages.
func Open(fsys fs.FS, file string, userName func(string) string) (*File, error) {
	src, err := limited.ReadFile(fsys, file, maxYAML)
	if err != nil {
		return nil, err
	}
	return Read(userName(file), src)
}
