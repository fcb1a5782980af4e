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
	Title                  string
	PrismImage, StormImage string
	Flakes                 *float64
	Seed                   *uint64
	Strict                 bool
	Jobs                   int
	Cluster                settings.Settings

	name     string // as the user calls it
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
	r := &suiteReader{yamlReader: yamlReader{file: name}}
	f := &File{name: name}
	doc := r.document(src)
	shared := r.sectionEntries(&f.defaults)
	r.mapping(doc, "the file", append(shared, []entry{
		{"title", func(n ast.Node) { f.Title = r.text(n) }},
		{"images", func(n ast.Node) {
			r.mapping(n, "images", []entry{
				{"prism", func(n ast.Node) { f.PrismImage = r.text(n) }},
				{"storm", func(n ast.Node) { f.StormImage = r.text(n) }},
			})
		}},
		{"flakes", func(n ast.Node) {
			x := value(&r.yamlReader, n, "a probability between 0 and 1", probability)
			f.Flakes = &x
		}},
		{"seed", func(n ast.Node) {
			x := value(&r.yamlReader, n, "a number that is not negative", func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) })
			f.Seed = &x
		}},
		{"strict", func(n ast.Node) { f.Strict = r.boolean(n) }},
		{"jobs", func(n ast.Node) { f.Jobs = r.count(n) }},
		{"cluster", func(n ast.Node) { r.readCluster(n, &f.Cluster) }},
		{"suites", func(n ast.Node) {
			r.list(n, func(n ast.Node) {
				var s section
				r.mapping(n, "a suite", append(r.sectionEntries(&s),
					entry{"name", func(n ast.Node) {
						s.name = r.text(n)
						if slices.ContainsFunc(f.sections, func(other section) bool { return other.name == s.name }) {
							r.fail(n, "found a second suite %q, want names that differ", s.name)
						}
					}},
					entry{"paths", func(n ast.Node) {
						r.list(n, func(n ast.Node) { s.paths = append(s.paths, located{r.text(n), posOf(n)}) })
					}},
				))
				f.sections = append(f.sections, s)
			})
		}},
	}...))
	if len(f.sections) == 0 {
		f.sections = []section{{}}
	}
	if err := r.errs.Err(); err != nil {
		return nil, err
	}
	return f, nil
}

func probability(s string) (float64, error) {
	x, err := strconv.ParseFloat(s, 64)
	if err == nil && !(x > 0 && x < 1) {
		err = errors.New("out of range")
	}
	return x, err
}

// suiteReader interprets the values of a suite file.
type suiteReader struct{ yamlReader }

// readCluster reads the cluster settings.
func (r *suiteReader) readCluster(n ast.Node, s *settings.Settings) {
	readText := func(to *string, check func(string) error) func(ast.Node) {
		return func(n ast.Node) {
			if *to = r.text(n); *to != "" {
				r.report(n, check(*to))
			}
		}
	}
	readCount := func(to *int, most int) func(ast.Node) {
		return func(n ast.Node) {
			if *to = r.count(n); *to > most {
				r.fail(n, "found %d, want at most %d", *to, most)
			}
		}
	}
	readList := func(to *[]string, check func(string) error) func(ast.Node) {
		return func(n ast.Node) {
			r.list(n, func(n ast.Node) {
				text := r.text(n)
				r.report(n, check(text))
				*to = append(*to, text)
			})
		}
	}
	r.mapping(n, "cluster", []entry{
		{"partition", readText(&s.Partition, settings.CheckName)},
		{"account", readText(&s.Account, settings.CheckName)},
		{"time", readText(&s.Time, settings.CheckTime)},
		{"memory", func(n ast.Node) { s.Memory = r.size(n) }},
		{"cpus", readCount(&s.CPUs, settings.MaxCPUs)},
		{"shards", readCount(&s.Shards, settings.MaxShards)},
		{"tasks", readCount(&s.Tasks, settings.MaxShards)},
		{"sbatch", readList(&s.Sbatch, settings.CheckSbatch)},
		{"kubernetes", func(n ast.Node) {
			k := &s.Kubernetes
			r.mapping(n, "kubernetes", []entry{
				{"image", readText(&k.Image, settings.CheckImage)},
				{"claim", readText(&k.Claim, settings.CheckObject)},
				{"mount", readText(&k.Mount, settings.CheckMount)},
				{"namespace", readText(&k.Namespace, settings.CheckNamespace)},
				{"parallelism", readCount(&k.Parallelism, settings.MaxShards)},
				{"run-as", readText(&k.RunAs, settings.CheckRunAs)},
				{"pull-secret", readText(&k.PullSecret, settings.CheckObject)},
				{"priority-class", readText(&k.Priority, settings.CheckObject)},
				{"labels", readList(&k.Labels, settings.CheckLabel)},
				{"nodes", readList(&k.Nodes, settings.CheckNode)},
				{"tolerations", readList(&k.Tolerations, settings.CheckToleration)},
			})
		}},
	})
	if len(r.errs) == 0 {
		r.report(n, s.Check())
	}
}

func (r *suiteReader) report(n ast.Node, err error) {
	if err != nil {
		r.fail(n, "%v", err)
	}
}

// sectionEntries returns the keys that a suite and the whole file have in common.
func (r *suiteReader) sectionEntries(s *section) []entry {
	return []entry{
		{"match", func(n ast.Node) {
			s.pairing, s.paired = value(&r.yamlReader, n, "closest, name or all", parsePairing), true
		}},
		{"engines", func(n ast.Node) {
			r.list(n, func(n ast.Node) {
				label := r.text(n)
				if _, _, err := Engine(label); err != nil {
					r.fail(n, "%v", err)
				}
				s.engines = append(s.engines, label)
			})
		}},
		{"const", func(n ast.Node) { s.consts = r.readConsts(n) }},
		{"timeout", func(n ast.Node) { s.timeout = r.duration(n) }},
		{"memory", func(n ast.Node) { s.memory = r.size(n) }},
		{"expect", func(n ast.Node) { r.list(n, func(n ast.Node) { r.readExpectation(n, s) }) }},
	}
}

func parsePairing(s string) (suite.Pairing, error) {
	names := []string{"closest", "name", "all"}
	i := slices.Index(names, s)
	if i < 0 {
		return 0, errors.New("unknown")
	}
	return []suite.Pairing{suite.Closest, suite.Matching, suite.Every}[i], nil
}

// readConsts reads constant definitions: strings as for --const, or a mapping.
func (r *suiteReader) readConsts(n ast.Node) []string {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		var out []string
		r.list(n, func(n ast.Node) {
			text := r.text(n)
			if _, err := sema.ParseConsts([]string{text}); err != nil {
				r.fail(n, "%v", err)
			}
			out = append(out, text)
		})
		return out
	}
	var out []string
	for _, v := range values {
		name, ok := scalar(v.Key)
		text := name + "=" + r.text(v.Value)
		if _, err := sema.ParseConsts([]string{text}); !ok || err != nil || strings.Contains(text, ",") {
			r.fail(v.Value, "found %s, want a value or a range low:high or low:step:high", describeNode(v.Value))
		}
		out = append(out, text)
	}
	return out
}

// readExpectation reads an element of the list "expect".
func (r *suiteReader) readExpectation(n ast.Node, s *section) {
	x := expectation{Extra: regress.Extra{File: r.file, Pos: posOf(n)}}
	var conditions string
	var result, terms ast.Node
	r.mapping(n, "an expectation", []entry{
		{"property", func(n ast.Node) { x.Property = r.text(n) }},
		{"file", func(n ast.Node) { x.file = located{r.text(n), posOf(n)} }},
		{"const", func(n ast.Node) {
			before := len(r.errs)
			if conditions = strings.Join(r.readConsts(n), ","); len(r.errs) > before {
				conditions = "" // readConsts has reported the error
			}
		}},
		{"result", func(n ast.Node) { result = n }},
		{"terms", func(n ast.Node) { terms = n }},
	})
	if x.Property == "" || result == nil && terms == nil {
		r.fail(n, "want a property, by name or text, and its result, its terms, or both")
		return
	}
	if result != nil {
		e, mistakes := expect.NewExpectation(r.text(result), conditions, posOf(result))
		r.addMistakes(mistakes)
		x.Result = &e
	}
	if terms != nil {
		t, mistakes := expect.NewTerms(r.text(terms), conditions, posOf(terms))
		r.addMistakes(mistakes)
		x.Terms = &t
	}
	s.extra = append(s.extra, x)
}

func (r *suiteReader) addMistakes(ms []expect.Mistake) {
	for _, m := range ms {
		r.errs.Add(r.file, m.Pos, "%s", m.Msg)
	}
}

// Suites returns the names of the suites that have one.
func (f *File) Suites() []string {
	var out []string
	for i := range f.sections {
		if name := f.sections[i].name; name != "" {
			out = append(out, name)
		}
	}
	return out
}

// Tests lists the tests of a suite file that is in the directory dir of fsys. only are the names of the wanted suites;
// empty means all. The error is a syntax.ErrorList if the suite file names files that do not exist.
func (f *File) Tests(fsys fs.FS, dir string, only []string) ([]regress.Test, error) {
	var out []regress.Test
	var errs syntax.ErrorList
	for i := range f.sections {
		s := &f.sections[i]
		if len(only) > 0 && !slices.Contains(only, s.name) {
			continue
		}
		tests, err := regress.Discover(fsys, f.testPaths(fsys, dir, s, &errs), f.pairingOf(s))
		if err != nil {
			return nil, err
		}
		for _, t := range tests {
			f.applyDefaults(&t, s)
			out = append(out, t)
		}
		f.reportUnmatched(s.extra, tests, &errs)
	}
	if len(only) == 0 {
		f.reportUnmatched(f.defaults.extra, out, &errs)
	}
	return out, errs.Err()
}

// testPaths returns the files and directories of a suite.
func (f *File) testPaths(fsys fs.FS, dir string, s *section, errs *syntax.ErrorList) []string {
	if len(s.paths) == 0 {
		return []string{dir}
	}
	var names []string
	for _, p := range s.paths {
		name := path.Join(dir, p.text)
		if _, err := fs.Stat(fsys, name); err != nil {
			errs.Add(f.name, p.pos, "found %q, want a file or directory that is there", p.text)
			continue
		}
		names = append(names, name)
	}
	return names
}

func (f *File) pairingOf(s *section) suite.Pairing {
	if s.paired {
		return s.pairing
	}
	return f.defaults.pairing
}

// reportUnmatched reports expectations for files that no test has.
func (f *File) reportUnmatched(xs []expectation, tests []regress.Test, errs *syntax.ErrorList) {
	for _, x := range xs {
		if x.file.text != "" && !slices.ContainsFunc(tests, func(t regress.Test) bool { return x.appliesTo(&t) }) {
			errs.Add(f.name, x.file.pos, "found %q, want a properties file of a test", x.file.text)
		}
	}
}

// appliesTo reports whether an expectation is for the properties of a test.
func (e *expectation) appliesTo(t *regress.Test) bool {
	return e.file.text == "" || path.Base(t.Props) == e.file.text || strings.HasSuffix(t.Props, "/"+e.file.text)
}

// applyDefaults sets the fields of a test from its suite and, where that is silent, from the file.
func (f *File) applyDefaults(t *regress.Test, s *section) {
	t.Engines = s.engines
	if len(t.Engines) == 0 {
		t.Engines = f.defaults.engines
	}
	t.Consts, _ = regress.Override(f.defaults.consts, s.consts) // the definitions were validated before
	t.Time, t.Memory = s.timeout, s.memory
	if t.Time == 0 {
		t.Time = f.defaults.timeout
	}
	if t.Memory == 0 {
		t.Memory = f.defaults.memory
	}
	for _, x := range slices.Concat(s.extra, f.defaults.extra) {
		if x.appliesTo(t) {
			t.Extra = append(t.Extra, x.Extra)
		}
	}
}

// Pair replaces the pairings of the file by p.
func (f *File) Pair(p suite.Pairing) {
	f.defaults.pairing = p
	for i := range f.sections {
		f.sections[i].paired = false
	}
}

// Engine parses a label such as "native:exact": the name of an engine, and how it computes.
func Engine(label string) (name string, e runner.EngineConfig, err error) {
	name, e, err = runner.ParseEngineLabel(label)
	switch {
	case !slices.Contains([]string{"native", "prism", "storm"}, name):
		err = fmt.Errorf("unknown engine %q, want native, prism or storm", name)
	case e.Accuracy == result.Proven && name != "native":
		err = fmt.Errorf("%q: certificates are made by native, want native:proven", label)
	case err != nil, e.Method != "" && (e.Method != runner.States || name == "prism"):
		err = fmt.Errorf("unknown way to compute %q, want bounded, exact or float behind native or storm, or proven behind native", label)
	}
	return name, e, err
}

// In reads the suite file of a directory; nil if there is none. call returns the name of a file for messages.
func In(fsys fs.FS, dir string, call func(string) string) (*File, error) {
	file := path.Join(dir, Name)
	f, err := Open(fsys, file, call)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// Open reads a suite file. call returns the name of a file for messages.
func Open(fsys fs.FS, file string, call func(string) string) (*File, error) {
	src, err := limited.ReadFile(fsys, file, maxYAML)
	if err != nil {
		return nil, err
	}
	return Read(call(file), src)
}
