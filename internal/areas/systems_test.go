package areas

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
)

// TestSystems reads all packages and their tests as the compiler does for other
// systems. Nothing is compiled: for what we depend on, what it declares is enough.
func TestSystems(t *testing.T) {
	needs.Full(t)
	for _, system := range []string{"darwin", "windows"} {
		for _, err := range typeErrors(t, system, "package native") {
			t.Errorf("%s: %v", system, err)
		}
	}
	errs := typeErrors(t, "windows", "package native\n\nimport \"syscall\"\n\nvar _ = syscall.SIGUSR1\n")
	if len(errs) != 1 || !strings.Contains(errs[0].Error(), "SIGUSR1") {
		t.Errorf("Windows, which has no SIGUSR1: errors %v", errs)
	}
}

// typeErrors are those of our packages for a system, with one more file in the
// package native.
func typeErrors(t *testing.T, system, more string) (errs []error) {
	t.Helper()
	cmd := exec.Command("go", "list", "-test", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "tilecheck/...")
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH=arm64", "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	type listed struct {
		ImportPath, Dir string
		GoFiles         []string
		ImportMap       map[string]string
		Module          struct{ Main bool }
	}
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	own, set := 0, token.NewFileSet()
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; { // what a package imports comes before it
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") {
			continue
		}
		var files []*ast.File
		parse := func(name string, text any) {
			f, err := parser.ParseFile(set, name, text, parser.SkipObjectResolution)
			if err != nil {
				errs = append(errs, err)
			}
			files = append(files, f)
		}
		for _, name := range p.GoFiles {
			parse(filepath.Join(p.Dir, name), nil)
		}
		if p.ImportPath == "tilecheck/native" {
			parse("more.go", more)
		}
		conf := types.Config{
			IgnoreFuncBodies: !p.Module.Main,
			Sizes:            types.SizesFor("gc", "arm64"),
			Importer: importer(func(path string) (*types.Package, error) {
				if mapped, ok := p.ImportMap[path]; ok {
					path = mapped
				}
				if found := known[path]; found != nil {
					return found, nil
				}
				return nil, fmt.Errorf("%s imports %s, which go list does not have", p.ImportPath, path)
			}),
			Error: func(err error) {
				if p.Module.Main {
					errs = append(errs, err)
				}
			},
		}
		path, _, _ := strings.Cut(p.ImportPath, " ")
		known[p.ImportPath], _ = conf.Check(path, set, files, nil) // the errors were taken
		if p.Module.Main {
			own++
		}
	}
	if own < 150 {
		t.Errorf("%d packages and tests of ours, want all", own)
	}
	return slices.CompactFunc(errs, func(a, b error) bool { return a.Error() == b.Error() })
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
