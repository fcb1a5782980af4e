// Package areas tests which parts of this module import which: the rules of docs/architecture.md.
package areas

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// area is a part of the tree with one task. A package belongs to the area with the longest name that is a prefix of its path.
// It imports packages of its own area and of the areas in imports, and no others of this module. Its tests import what they need.
type area struct {
	name    string
	imports string // names of areas, separated by blanks
	why     string
}

// areas is in the order of the pipeline: an area imports only areas above it in this table.
var areas = []area{
	{"internal", "", "tools that know nothing of models"},
	{"stats", "", "statistics know numbers only"},
	{"prism", "internal", "the language knows no engine, no result and no game"},
	{"prism/compile", "prism internal", "only what runs a model needs its executable form: the bridge, the reports and the checker do without"},
	{"prism/lint", "prism prism/compile internal", "warnings are about the language, and need no answer to a property"},
	{"result", "prism stats internal", "the words that every engine and every report share"},
	{"properties", "", "a catalogue of texts"},
	{"modelgen", "prism", "a generated model is a syntax tree"},
	{"parse", "prism result internal", "outputs of other tools are read from text alone, so that recorded logs test it"},
	{"runner", "prism result parse internal", "a job is the same for every engine and every model, so it knows none"},
	{"game", "modelgen result stats internal", "the game is the oracle for the generated models, so it uses no engine"},
	{"certify", "internal", "a checker of certificates shares no code with what finds the answers"},
	{"certify/orbits", "certify prism internal", "checks symmetries of a text, with rules of its own"},
	{"native/space/sparse", "internal", "rows of numbers, whatever they describe"},
	{"native/space", "native/space/sparse prism prism/compile runner internal", "states are built from programs and files; no property is known here"},
	{"native/solve", "native/space/sparse internal", "methods solve equations over rows; no language is known here"},
	{"native/check", "native/solve native/space native/space/sparse prism prism/compile result internal", "a property becomes equations, and their solution an answer"},
	{"native/external", "native/solve native/space native/space/sparse result internal", "solves block by block what is larger than memory; no property is known here, and result is for numbers in JSON"},
	{"native/prove", "native/solve native/space native/space/sparse certify certify/orbits prism result internal", "finds certificates; certify decides whether they are right"},
	{"native/explain", "native/solve native/space native/space/sparse prism prism/compile internal", "explains answers that are there, and needs no checker for it"},
	{"native/simulate", "prism prism/compile result stats internal", "samples paths of programs, and builds no states"},
	{"native", "native/check native/external native/prove native/explain native/simulate native/solve native/space native/space/sparse certify certify/orbits prism prism/compile result runner stats internal", "the embedded engine puts its parts together, and knows no model"},
	{"bridge", "native/space parse prism result runner stats internal", "PRISM and Storm are asked by text and files; the states they write are read as ours"},
	{"containers", "runner result internal", "only this area knows Docker"},
	{"cluster", "runner internal", "shards of any command, whatever it computes"},
	{"report", "game modelgen native/simulate prism result stats internal", "prints results, and computes none"},
	{"verify", "bridge certify cluster game modelgen native native/check native/prove native/simulate native/space native/space/sparse parse prism prism/compile report result runner stats internal", "compares engines and judges expectations"},
	{"editor", "prism prism/lint runner internal", "answers editors while a text is written; no model is checked"},
	{"serve", "editor game modelgen native native/check native/explain native/simulate native/space native/space/sparse prism prism/compile properties report result runner stats verify internal", "what the page asks; the command decides how it is served"},
	{"python", "internal", "the Python package runs the program; its Go code is a test"},
	{"cmd", "bridge certify cluster containers editor game modelgen native native/check native/prove native/explain native/simulate native/solve native/space native/space/sparse parse prism prism/compile prism/lint properties report result runner serve stats verify internal", "flags, wiring and exit codes; nothing imports it"},
}

// sinks lists the packages that only some packages may import, and why.
var sinks = []struct {
	root string
	only []string
	why  string
}{
	{"github.com/tetratelabs/wazero", []string{"prism/compile", "game/solve/draw"}, "compiled models and Graphviz run in machines of their own"},
	{"github.com/alecthomas/kong", []string{"cmd/tilecheck"}, "only the command knows flags"},
	{"github.com/clipperhouse/displaywidth", []string{"report/table", "internal/printable"}, "the width of a text on a terminal is needed in tables and in excerpts"},
	{"golang.org/x/image", []string{"report/plot"}, "every picture is a chart"},
	{"github.com/testcontainers", []string{"containers"}, "only one area knows Docker"},
	{"github.com/moby/moby", []string{"containers"}, "only one area knows Docker"},
	{"k8s.io/api", []string{"cluster/kubernetes/kubetest"}, "it takes long to compile: cluster/kubernetes/api has what we need"},
	{"os/exec", []string{"runner/local", "containers/internal", "internal/needs", "cluster/slurm/slurmtest"}, "only one package starts processes, and the fakes of tests"},
}

type listed struct {
	ImportPath string
	Imports    []string
}

func TestImports(t *testing.T) {
	packages := list(t)
	if len(packages) < 10 {
		t.Fatalf("go list found %d packages, want the whole module", len(packages))
	}
	for _, p := range packages {
		from := strings.TrimPrefix(p.ImportPath, "tilecheck/")
		own := areaOf(from)
		if own == nil {
			t.Errorf("%s belongs to no area: add it to the table and to docs/architecture.md", from)
			continue
		}
		for _, path := range p.Imports {
			to, ours := strings.CutPrefix(path, "tilecheck/")
			if other := areaOf(to); ours && other != own && (other == nil || !slices.Contains(strings.Fields(own.imports), other.name)) {
				t.Errorf("%s imports %s: %s (area %s)", from, path, own.why, own.name)
			}
			for _, sink := range sinks {
				if within(path, sink.root) && !slices.ContainsFunc(sink.only, func(p string) bool { return within(from, p) }) {
					t.Errorf("%s imports %s: %s", from, path, sink.why)
				}
			}
		}
	}
}

// TestOrder checks that the table itself is in the order of the pipeline, so that no two areas import each other.
func TestOrder(t *testing.T) {
	for i, a := range areas {
		if a.why == "" {
			t.Errorf("area %s has no reason", a.name)
		}
		for _, name := range strings.Fields(a.imports) {
			if !slices.ContainsFunc(areas[:i], func(b area) bool { return b.name == name }) {
				t.Errorf("area %s imports %s, which is not above it in the table", a.name, name)
			}
		}
	}
}

// TestDocumented checks that docs/architecture.md names every area and every package, except fakes and what other packages contain.
func TestDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range areas {
		if !strings.Contains(string(page), "`"+a.name+"`") {
			t.Errorf("docs/architecture.md does not name the area %s", a.name)
		}
	}
	for _, p := range list(t) {
		name := path.Base(p.ImportPath)
		isHidden := strings.HasSuffix(name, "test") || strings.Contains(p.ImportPath, "/internal/") && !strings.HasPrefix(p.ImportPath, "tilecheck/internal/") ||
			within(p.ImportPath, "tilecheck/containers/replaced") || name == "startup"
		if !isHidden && !regexp.MustCompile(`\b`+name+`\b`).Match(page) {
			t.Errorf("docs/architecture.md does not name the package %s", p.ImportPath)
		}
	}
}

// takers lists the files and folders that look at the nodes of property operators, and why they do not ask prism/logic.
var takers = map[string]string{
	"prism/sema":                 "makes the nodes",
	"prism/logic":                "takes them apart for all others",
	"prism/jani/property.go":     "makes the nodes",
	"prism/digital/rewrite.go":   "copies all nodes",
	"bridge/given_states.go":     "copies all nodes",
	"bridge/decompose.go":        "names reward structures",
	"bridge/deadlock.go":         "looks for R anywhere in a file",
	"runner/property_source.go":  "looks for times anywhere in a property",
	"editor/names.go":            "looks for names of reward structures",
	"certify/orbits/property.go": "checks whether symmetry preserves each kind of operator, and shares no code",
	"prism/symmetry/find.go":     "looks for filters and reward structures anywhere in a property",
	"verify/validity/beside.go":  "looks for names of reward structures",
}

var takesApart = regexp.MustCompile(`(case|\.\() *\*?(sema|syntax)\.(Prob|Temporal|Reward|Steady|Multi|Filter)\b`)

// TestPropertiesAreTakenApartOnce checks that engines ask prism/logic what a property is.
func TestPropertiesAreTakenApartOnce(t *testing.T) {
	found := make(map[string]bool)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !takesApart.Match(text) {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, "../../"))
		for taker := range takers {
			if within(name, taker) {
				found[taker] = true
				return nil
			}
		}
		t.Errorf("%s looks at the nodes of property operators: ask prism/logic", name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for taker := range takers {
		if !found[taker] {
			t.Errorf("%s no longer looks at the nodes of property operators: remove it from the list", taker)
		}
	}
}

// heavy lists modules that take long to compile and that the program does without, and what it uses instead.
var heavy = map[string]string{
	"k8s.io/api":                         "cluster/kubernetes/api",
	"gonum.org/v1/plot":                  "report/plot",
	"gonum.org/v1/gonum/mat":             "gonum.org/v1/gonum/mathext",
	"go.lsp.dev/protocol":                "editor/lsp/protocol",
	"go.opentelemetry.io/otel/sdk":       "containers/replaced",
	"github.com/felixge/httpsnoop":       "containers/replaced",
	"github.com/stretchr/testify/assert": "containers/replaced",
}

// TestProgramIsLight checks what the first command of the README compiles: the whole program.
func TestProgramIsLight(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "tilecheck/cmd/tilecheck").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		for root, instead := range heavy {
			if within(path, root) {
				t.Errorf("the program imports %s: use %s", path, instead)
			}
		}
	}
}

// areaOf returns the area that a package belongs to, or nil.
func areaOf(path string) *area {
	var best *area
	for i := range areas {
		if a := &areas[i]; within(path, a.name) && (best == nil || len(a.name) > len(best.name)) {
			best = a
		}
	}
	return best
}

// within reports whether path is root or below it.
func within(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// list returns all packages of this module.
func list(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "tilecheck/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []listed
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}
