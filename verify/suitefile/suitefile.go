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

	name     string // as the user calls it
	defaults section
	sections []section
}

// section is one suite of a suite file, or the defaults of all suites.
type section struct {
	name         string
	paths        []locatedText
	pairing      suite.Pairing
	hasPairing   bool // whether the section has the key match
	engines      []string
	constants    []string
	timeout      time.Duration
	memory       int64
	expectations []expectation
}

// locatedText is a word of a suite file with its place.
type locatedText struct {
	text string
	pos  syntax.Pos
}

// expectation is an expectation of a suite file. If file is not empty it applies only to the properties of that file.
type expectation struct {
	file locatedText
	regress.Extra
}

// Read parses a suite file. name is the name of the file for messages. The error is a syntax.ErrorList with all errors in the file.
func Read(name string, src []byte) (*File, error) {
	reader := &suiteReader{yamlReader: yamlReader{file: name}}
	file := &File{name: name}
	entries := append(reader.sectionEntries(&file.defaults), reader.fileEntries(file)...)
	reader.readMapping(reader.readDocument(src), "the file", entries)
	if len(file.sections) == 0 {
		file.sections = []section{{}}
	}
	if err := reader.errs.Err(); err != nil {
		return nil, err
	}
	return file, nil
}

// fileEntries returns the keys that the top level of a suite file can have. Each entry has a function that reads the value of the key into file.
func (r *suiteReader) fileEntries(file *File) []entry {
	return []entry{
		{"title", func(node ast.Node) { file.Title = r.readText(node) }},
		{"images", func(node ast.Node) { r.readContainerImages(node, file) }},
		{"flakes", func(node ast.Node) {
			flakes := scalarValue(&r.yamlReader, node, "a probability between 0 and 1", probability)
			file.Flakes = &flakes
		}},
		{"seed", func(node ast.Node) {
			parseSeed := func(text string) (uint64, error) { return strconv.ParseUint(text, 10, 64) }
			seed := scalarValue(&r.yamlReader, node, "a number that is not negative", parseSeed)
			file.Seed = &seed
		}},
		{"strict", func(node ast.Node) { file.Strict = r.readBoolean(node) }},
		{"jobs", func(node ast.Node) { file.Jobs = r.readCount(node) }},
		{"cluster", func(node ast.Node) { r.readCluster(node, &file.Cluster) }},
		{"suites", func(node ast.Node) { r.readList(node, func(node ast.Node) { r.readSection(node, file) }) }},
	}
}

// readContainerImages reads the names of the container images of the tools.
func (r *suiteReader) readContainerImages(node ast.Node, file *File) {
	r.readMapping(node, "images", []entry{
		{"prism", func(node ast.Node) { file.PrismImage = r.readText(node) }},
		{"prism-games", func(node ast.Node) { file.GamesImage = r.readText(node) }},
		{"storm", func(node ast.Node) { file.StormImage = r.readText(node) }},
	})
}

// readSection reads one suite, an element of the list "suites", and adds it to the file.
func (r *suiteReader) readSection(node ast.Node, file *File) {
	var suite section
	r.readMapping(node, "a suite", append(r.sectionEntries(&suite),
		entry{"name", func(node ast.Node) {
			suite.name = r.readText(node)
			if slices.ContainsFunc(file.sections, func(earlier section) bool { return earlier.name == suite.name }) {
				r.fail(node, "found a second suite %q, want names that differ", suite.name)
			}
		}},
		entry{"paths", func(node ast.Node) {
			r.readList(node, func(node ast.Node) { suite.paths = append(suite.paths, locatedText{r.readText(node), posOf(node)}) })
		}},
	))
	file.sections = append(file.sections, suite)
}

// probability parses a number that is greater than 0 and less than 1.
func probability(text string) (float64, error) {
	number, err := strconv.ParseFloat(text, 64)
	if err == nil && !(number > 0 && number < 1) {
		err = errors.New("out of range")
	}
	return number, err
}

// suiteReader interprets the values of a suite file.
type suiteReader struct{ yamlReader }

// readCluster reads the settings of a computing cluster.
func (r *suiteReader) readCluster(node ast.Node, cluster *settings.Settings) {
	r.readMapping(node, "cluster", []entry{
		{"partition", r.textReader(&cluster.Partition, settings.CheckName)},
		{"account", r.textReader(&cluster.Account, settings.CheckName)},
		{"time", r.textReader(&cluster.Time, settings.CheckTime)},
		{"memory", func(node ast.Node) { cluster.Memory = r.readSize(node) }},
		{"cpus", r.countReader(&cluster.CPUs, settings.MaxCPUs)},
		{"shards", r.countReader(&cluster.Shards, settings.MaxShards)},
		{"tasks", r.countReader(&cluster.Tasks, settings.MaxShards)},
		{"sbatch", r.listReader(&cluster.Sbatch, settings.CheckSbatch)},
		{"kubernetes", func(node ast.Node) { r.readKubernetes(node, cluster) }},
	})
	if len(r.errs) == 0 {
		r.reportError(node, cluster.Check())
	}
}

// readKubernetes reads the settings of a Kubernetes cluster.
func (r *suiteReader) readKubernetes(node ast.Node, cluster *settings.Settings) {
	kubernetes := &cluster.Kubernetes
	r.readMapping(node, "kubernetes", []entry{
		{"image", r.textReader(&kubernetes.Image, settings.CheckImage)},
		{"claim", r.textReader(&kubernetes.Claim, settings.CheckObject)},
		{"mount", r.textReader(&kubernetes.Mount, settings.CheckMount)},
		{"namespace", r.textReader(&kubernetes.Namespace, settings.CheckNamespace)},
		{"parallelism", r.countReader(&kubernetes.Parallelism, settings.MaxShards)},
		{"run-as", r.textReader(&kubernetes.RunAs, settings.CheckRunAs)},
		{"pull-secret", r.textReader(&kubernetes.PullSecret, settings.CheckObject)},
		{"priority-class", r.textReader(&kubernetes.Priority, settings.CheckObject)},
		{"labels", r.listReader(&kubernetes.Labels, settings.CheckLabel)},
		{"nodes", r.listReader(&kubernetes.Nodes, settings.CheckNode)},
		{"tolerations", r.listReader(&kubernetes.Tolerations, settings.CheckToleration)},
	})
}

// textReader returns a function that reads a text and stores it in target. The function records the error that check returns for a text that is
// not empty.
func (r *suiteReader) textReader(target *string, check func(string) error) func(ast.Node) {
	return func(node ast.Node) {
		*target = r.readText(node)
		if *target != "" {
			r.reportError(node, check(*target))
		}
	}
}

// countReader returns a function that reads a number from 1 to maximum and stores it in target.
func (r *suiteReader) countReader(target *int, maximum int) func(ast.Node) {
	return func(node ast.Node) {
		*target = r.readCount(node)
		if *target > maximum {
			r.fail(node, "found %d, want at most %d", *target, maximum)
		}
	}
}

// listReader returns a function that reads a list of texts and appends them to target. The function records the error that check returns for each
// text.
func (r *suiteReader) listReader(target *[]string, check func(string) error) func(ast.Node) {
	return func(node ast.Node) {
		r.readList(node, func(node ast.Node) {
			text := r.readText(node)
			r.reportError(node, check(text))
			*target = append(*target, text)
		})
	}
}

// reportError records an error at the position of a node. It does nothing if err is nil.
func (r *suiteReader) reportError(node ast.Node, err error) {
	if err != nil {
		r.fail(node, "%v", err)
	}
}

// checkEngine returns an error if suites cannot run the engine with this label.
func checkEngine(label string) error {
	_, _, err := Engine(label)
	return err
}

// sectionEntries returns the keys that both a suite and the top level of the file can have. Each entry has a function that reads the value of the
// key into section.
func (r *suiteReader) sectionEntries(section *section) []entry {
	return []entry{
		{"match", func(node ast.Node) {
			section.pairing, section.hasPairing = scalarValue(&r.yamlReader, node, "closest, name or all", parsePairing), true
		}},
		{"engines", r.listReader(&section.engines, checkEngine)},
		{"const", func(node ast.Node) { section.constants = r.readConsts(node) }},
		{"timeout", func(node ast.Node) { section.timeout = r.readDuration(node) }},
		{"memory", func(node ast.Node) { section.memory = r.readSize(node) }},
		{"expect", func(node ast.Node) { r.readList(node, func(node ast.Node) { r.readExpectation(node, section) }) }},
	}
}

// parsePairing parses the value of the key "match" in a suite file.
func parsePairing(name string) (suite.Pairing, error) {
	switch name {
	case "closest":
		return suite.Closest, nil
	case "name":
		return suite.Matching, nil
	case "all":
		return suite.Every, nil
	}
	return 0, errors.New("unknown")
}

// readConsts reads constant definitions: a list of texts such as "N=3,p=0.5", or a mapping such as {N: 3, p: 0.5}.
func (r *suiteReader) readConsts(definitions ast.Node) []string {
	switch node := definitions.(type) {
	case *ast.MappingNode:
		return r.readConstMapping(node.Values)
	case *ast.MappingValueNode: // a mapping with a single key
		return r.readConstMapping([]*ast.MappingValueNode{node})
	}
	return r.readConstList(definitions)
}

// readConstList reads a list of texts with constant definitions.
func (r *suiteReader) readConstList(list ast.Node) []string {
	var definitions []string
	r.readList(list, func(element ast.Node) {
		text := r.readText(element)
		_, err := sema.ParseConsts([]string{text})
		r.reportError(element, err)
		definitions = append(definitions, text)
	})
	return definitions
}

// readConstMapping reads constant definitions from a mapping, and returns them in the form name=value.
func (r *suiteReader) readConstMapping(entries []*ast.MappingValueNode) []string {
	var definitions []string
	for _, entry := range entries {
		name, isScalar := scalar(entry.Key)
		definition := name + "=" + r.readText(entry.Value)
		_, err := sema.ParseConsts([]string{definition})
		definesOne := err == nil && !strings.Contains(definition, ",") // a value "3,M=4" would define a second constant
		if !isScalar || !definesOne {
			r.fail(entry.Value, "found %s, want a value or a range low:high or low:step:high", describeNode(entry.Value))
		}
		definitions = append(definitions, definition)
	}
	return definitions
}

// readExpectation reads one expectation, an element of the list "expect", and adds it to a section.
func (r *suiteReader) readExpectation(node ast.Node, target *section) {
	expected := expectation{Extra: regress.Extra{File: r.file, Pos: posOf(node)}}
	nodes := r.readExpectationParts(node, &expected)
	if expected.Property == "" || nodes.result == nil && nodes.terms == nil {
		r.fail(node, "want a property, by name or text, and its result, its terms, or both")
		return
	}
	if nodes.result != nil {
		result, mistakes := expect.NewExpectation(r.readText(nodes.result), nodes.conditions, posOf(nodes.result))
		r.addMistakes(mistakes)
		expected.Result = &result
	}
	if nodes.terms != nil {
		terms, mistakes := expect.NewTerms(r.readText(nodes.terms), nodes.conditions, posOf(nodes.terms))
		r.addMistakes(mistakes)
		expected.Terms = &terms
	}
	target.expectations = append(target.expectations, expected)
}

// expectationParts has the values of an expectation in a suite file. A missing value is nil or empty.
type expectationParts struct {
	conditions    string // such as "N=3,p=0.5"
	result, terms ast.Node
}

// readExpectationParts reads the keys of an expectation. It stores the property and its file in expected, and returns the other values.
func (r *suiteReader) readExpectationParts(node ast.Node, expected *expectation) (parts expectationParts) {
	r.readMapping(node, "an expectation", []entry{
		{"property", func(node ast.Node) { expected.Property = r.readText(node) }},
		{"file", func(node ast.Node) { expected.file = locatedText{r.readText(node), posOf(node)} }},
		{"const", func(node ast.Node) { parts.conditions = r.readConditions(node) }},
		{"result", func(node ast.Node) { parts.result = node }},
		{"terms", func(node ast.Node) { parts.terms = node }},
	})
	return parts
}

// readConditions reads the values of constants for which an expectation holds, and returns them as in "N=3,p=0.5". It returns "" after an error,
// because the malformed text would cause further errors.
func (r *suiteReader) readConditions(node ast.Node) string {
	errorsBefore := len(r.errs)
	definitions := r.readConsts(node)
	if len(r.errs) > errorsBefore {
		return ""
	}
	return strings.Join(definitions, ",")
}

// addMistakes records the mistakes in an expectation.
func (r *suiteReader) addMistakes(mistakes []expect.Mistake) {
	for _, mistake := range mistakes {
		r.errs.Add(r.file, mistake.Pos, "%s", mistake.Msg)
	}
}

// Suites returns the names of the suites in the file. It leaves out suites without a name.
func (f *File) Suites() []string {
	var names []string
	for i := range f.sections {
		if name := f.sections[i].name; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// Tests returns the tests of a suite file that is in the directory dir. suiteNames selects suites by their names; an empty list selects all
// suites. The error is a syntax.ErrorList if the suite file names a file that does not exist.
func (f *File) Tests(fileSystem fs.FS, dir string, suiteNames []string) ([]regress.Test, error) {
	var selected []regress.Test
	var errs syntax.ErrorList
	for i := range f.sections {
		section := &f.sections[i]
		if len(suiteNames) > 0 && !slices.Contains(suiteNames, section.name) {
			continue
		}
		tests, err := regress.Discover(fileSystem, f.testPaths(fileSystem, dir, section, &errs), f.pairingOf(section))
		if err != nil {
			return nil, err
		}
		for _, test := range tests {
			f.applyDefaults(&test, section)
			selected = append(selected, test)
		}
		f.reportUnmatched(section.expectations, tests, &errs)
	}
	if len(suiteNames) == 0 {
		f.reportUnmatched(f.defaults.expectations, selected, &errs)
	}
	return selected, errs.Err()
}

// testPaths returns the files and directories of a suite. The default is the directory dir. It adds an error to errs for each path that does not
// exist.
func (f *File) testPaths(fileSystem fs.FS, dir string, section *section, errs *syntax.ErrorList) []string {
	if len(section.paths) == 0 {
		return []string{dir}
	}
	var names []string
	for _, file := range section.paths {
		name := path.Join(dir, file.text)
		if _, err := fs.Stat(fileSystem, name); err != nil {
			errs.Add(f.name, file.pos, "found %q, want a file or directory that exists", file.text)
			continue
		}
		names = append(names, name)
	}
	return names
}

// pairingOf returns the pairing of models with properties files in a suite. If the suite sets none, it is the pairing of the file.
func (f *File) pairingOf(section *section) suite.Pairing {
	if section.hasPairing {
		return section.pairing
	}
	return f.defaults.pairing
}

// reportUnmatched adds an error for each expectation that names a properties file that no test has.
func (f *File) reportUnmatched(expectations []expectation, tests []regress.Test, errs *syntax.ErrorList) {
	for _, expectation := range expectations {
		applies := func(test regress.Test) bool { return expectation.appliesTo(&test) }
		if expectation.file.text != "" && !slices.ContainsFunc(tests, applies) {
			errs.Add(f.name, expectation.file.pos, "found %q, want a properties file of a test", expectation.file.text)
		}
	}
}

// appliesTo reports whether an expectation is for the properties file of a test. An expectation without a file is for every test.
func (e *expectation) appliesTo(test *regress.Test) bool {
	return e.file.text == "" || path.Base(test.Props) == e.file.text || strings.HasSuffix(test.Props, "/"+e.file.text)
}

// applyDefaults sets the options of a test from its section of the suite file. Options that the section lacks are set from the defaults of the
// file. The test also gets all expectations that apply to it.
func (f *File) applyDefaults(test *regress.Test, section *section) {
	test.Engines = section.engines
	if len(test.Engines) == 0 {
		test.Engines = f.defaults.engines
	}
	test.Consts, _ = regress.Override(f.defaults.constants, section.constants) // Read has validated the definitions
	test.Time, test.Memory = section.timeout, section.memory
	if test.Time == 0 {
		test.Time = f.defaults.timeout
	}
	if test.Memory == 0 {
		test.Memory = f.defaults.memory
	}
	for _, expectation := range slices.Concat(section.expectations, f.defaults.expectations) {
		if expectation.appliesTo(test) {
			test.Extra = append(test.Extra, expectation.Extra)
		}
	}
}

// Pair sets the pairing of models with properties files in all suites. It replaces the pairings that the suite file sets.
func (f *File) Pair(pairing suite.Pairing) {
	f.defaults.pairing = pairing
	for i := range f.sections {
		f.sections[i].hasPairing = false
	}
}

// Engine parses a label such as "native:exact" into the name of an engine and its configuration. It returns an error if suites cannot run this
// engine.
func Engine(label string) (name string, config runner.EngineConfig, err error) {
	name, config, err = runner.ParseEngineLabel(label)
	canSelectMethod := !strings.HasPrefix(name, "prism")
	methodIsAllowed := config.Method == "" || config.Method == runner.States && canSelectMethod
	switch {
	case !slices.Contains([]string{"native", "prism", "prism-games", "storm"}, name):
		err = fmt.Errorf("unknown engine %q, want native, prism, prism-games or storm", name)
	case config.Accuracy == result.Proven && name != "native":
		err = fmt.Errorf("found %q, want native:proven; only the engine native makes certificates", label)
	case err != nil || !methodIsAllowed:
		err = fmt.Errorf("unknown way to compute %q, want bounded, exact or float behind native or storm, or proven behind native", label)
	}
	return name, config, err
}

// In reads the suite file in a directory. It returns nil and no error if the directory has none. userName returns the name of a file for
// messages.
func In(fileSystem fs.FS, dir string, userName func(string) string) (*File, error) {
	file := path.Join(dir, Name)
	suiteFile, err := Open(fileSystem, file, userName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return suiteFile, err
}

// Open reads a suite file. userName returns the name of a file for messages.
func Open(fileSystem fs.FS, file string, userName func(string) string) (*File, error) {
	src, err := limited.ReadFile(fileSystem, file, maxYAML)
	if err != nil {
		return nil, err
	}
	return Read(userName(file), src)
}
