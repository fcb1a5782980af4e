// Package layers tests that imports between the packages of this module go
// down only, as docs/architecture.md draws them.
package layers

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// layer places every package of the module. A package imports only packages of
// lower layers; its tests may import what they like.
var layer = map[string]int{
	"prism/syntax":                      0,
	"prism/format":                      1,
	"editor":                            3,
	"lint":                              2,
	"lint/states":                       3,
	"editor/lsp":                        4,
	"cluster/kubernetes/api":            0,
	"editor/lsp/protocol":               0,
	"game":                              0,
	"stats":                             0,
	"internal/inorder":                  0,
	"internal/progress":                 0,
	"internal/atomicfile":               0,
	"internal/build":                    0,
	"internal/ending":                   0,
	"internal/filelock":                 0,
	"internal/limited":                  0,
	"internal/tempdir":                  1,
	"internal/hostile":                  0,
	"internal/printable":                0,
	"internal/golden":                   0,
	"internal/foreign":                  0,
	"internal/layers":                   0,
	"internal/quote":                    0,
	"internal/stream":                   4,
	"internal/usage":                    0,
	"native/explicit/files/named":       5,
	"cmd/tilecheck/describe":            1,
	"internal/memory":                   0,
	"internal/needs":                    0,
	"internal/wild":                     0,
	"internal/shard":                    0,
	"prism/compile/wasm":                0,
	"native/explicit/umb":               0,
	"native/explicit/automata":          0,
	"native/explicit/sparse":            0,
	"result":                            1,
	"prism/sema":                        1,
	"prism/jani":                        1,
	"prism/jani/export":                 2,
	"modelgen":                          1,
	"properties":                        1,
	"verify/suite":                      1,
	"native/explicit/solve":             1,
	"native/explicit/pareto":            2,
	"native/explicit/belief":            2,
	"native/explicit/witness":           2,
	"native/explicit/quotient":          1,
	"native/explicit/ratfunc":           0,
	"certify/certificate":               1,
	"certify/exact":                     2,
	"certify/steps":                     2,
	"certify/omega":                     2,
	"certify/several":                   2,
	"certify":                           3,
	"native/explicit/sparse/sparsetest": 1,
	"game/solve":                        1,
	"verify/agree":                      2,
	"report/schema":                     0,
	"report/number":                     2,
	"report/table":                      3,
	"report/plot":                       4,
	"report":                            5,
	"game/solve/draw":                   2,
	"game/strategy":                     2,
	"prism/compile":                     2,
	"prism/digital":                     2,
	"runner":                            2,
	"parse":                             2,
	"verify/expect":                     3,
	"verify/cache":                      3,
	"game/play":                         3,
	"game/play/tables":                  5,
	"game/induced":                      3,
	"native/simulate":                   3,
	"native/explicit":                   3,
	"native/explicit/check":             4,
	"native/explicit/prove":             4,
	"native/explicit/shield":            4,
	"native/explicit/subsystem":         4,
	"native/explicit/parametric":        4,
	"native/explicit/files":             4,
	"native/explicit/scheduler":         4,
	"native/explicit/tree":              4,
	"runner/bridge":                     5,
	"runner/local":                      3,
	"runner/replay":                     3,
	"runner/toolbox":                    6,
	"containers":                        3,
	"containers/prism":                  4,
	"containers/storm":                  4,
	"containers/internal/faketool":      0,
	"containers/internal/testimage":     4,
	"verify/validity":                   5,
	"verify/crosscheck":                 6,
	"verify/regress":                    6,
	"verify/suitefile":                  7,
	"verify/qvbs":                       7,
	"verify/experiment":                 6,
	"verify/selection":                  8,
	"report/paths":                      4,
	"native":                            5,
	"cluster/settings":                  1,
	"cluster":                           8,
	"cluster/local":                     9,
	"cluster/kubernetes":                9,
	"cluster/kubernetes/kubetest":       3,
	"cluster/slurm":                     9,
	"cluster/slurm/slurmtest":           1,
	"cluster/submit":                    10,
	"report/locate":                     4,
	"serve":                             6,
	"serve/page":                        0,
	"serve/site":                        7,
	"cmd/playground":                    7,
	"cmd/tilecheck":                     11,
}

// sink lists the packages that only some other packages, and those below them,
// may import, and why.
var sink = map[string]struct {
	only []string
	why  string
}{
	"github.com/tetratelabs/wazero":     {[]string{"prism/compile", "game/solve/draw"}, "machines of their own: compiled models, and Graphviz"},
	"github.com/alecthomas/kong":        {[]string{"cmd/tilecheck"}, "only the command knows about flags"},
	"github.com/olekukonko/tablewriter": {[]string{"report/table"}, "everything that is printed as a table goes through one package"},
	"golang.org/x/image":                {[]string{"report/plot"}, "pictures are charts"},
	"github.com/testcontainers":         {[]string{"containers"}, "only one package knows about Docker"},
	"github.com/moby/moby":              {[]string{"containers"}, "only one package knows about Docker"},
	"k8s.io/api":                        {[]string{"cluster/kubernetes/kubetest"}, "it takes long to compile: cluster/kubernetes/api has what we need"},
	"os/exec":                           {[]string{"runner/local", "containers/internal", "internal/needs", "cluster/slurm/slurmtest"}, "only one package starts processes, and the tests' doubles"},
}

type listed struct {
	ImportPath string
	Imports    []string
}

func list(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "tilecheck/...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []listed
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatal(err)
		}
		pkgs = append(pkgs, p)
	}
}

func TestImportsGoDown(t *testing.T) {
	pkgs := list(t)
	if len(pkgs) < 10 {
		t.Fatalf("go list found %d packages, want the whole module", len(pkgs))
	}
	for _, p := range pkgs {
		from := strings.TrimPrefix(p.ImportPath, "tilecheck/")
		fromLayer, known := layer[from]
		if !known {
			t.Errorf("%s has no layer: add it to the table and to docs/architecture.md", from)
		}
		for _, path := range p.Imports {
			to, ours := strings.CutPrefix(path, "tilecheck/")
			if ours && layer[to] >= fromLayer {
				t.Errorf("%s (layer %d) imports %s (layer %d): imports go down only", from, fromLayer, to, layer[to])
			}
			for root, rule := range sink {
				if within(path, root) && !slices.ContainsFunc(rule.only, func(p string) bool { return within(from, p) }) {
					t.Errorf("%s imports %s: %s", from, path, rule.why)
				}
			}
		}
	}
}

// heavy are modules that take long to compile and that the program did without, and where
// what we need of them is instead.
var heavy = map[string]string{
	"k8s.io/api":                         "cluster/kubernetes/api",
	"gonum.org/v1/plot":                  "report/plot",
	"go.lsp.dev/protocol":                "editor/lsp/protocol",
	"go.opentelemetry.io/otel/sdk":       "containers/replaced",
	"github.com/felixge/httpsnoop":       "containers/replaced",
	"github.com/stretchr/testify/assert": "containers/replaced",
}

// The first command of the README compiles the whole program: it stays light.
func TestProgramIsLight(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "tilecheck/cmd/tilecheck").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for path := range strings.FieldsSeq(string(out)) {
		for root, instead := range heavy {
			if within(path, root) {
				t.Errorf("the program has %s in it: see %s", path, instead)
			}
		}
	}
}

// within reports whether a path is a root or below it.
func within(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }
