// Package python tests the Python package in this folder: its own tests, its types, its installation, and the tutorial.
package python

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/build"
	"tilecheck/internal/needs"
)

// TestPython runs the tests of the package and the tutorial with a program that is built for it.
func TestPython(t *testing.T) {
	needs.WantedOrFull(t, needs.PythonTool)
	python := interpreter(t)
	env := environment(t)
	t.Run("unittest", func(t *testing.T) {
		run(t, env, ".", python, "-m", "unittest", "discover", "-s", "tests")
	})
	t.Run("types", func(t *testing.T) {
		run(t, env, ".", program(t, "mypy"), "--strict", "--cache-dir", t.TempDir(), "tilecheck", "tests")
	})
	t.Run("tutorial", func(t *testing.T) { testTutorial(t, env) })
	t.Run("install", func(t *testing.T) { testInstall(t, env, python) })
}

// environment returns the environment of the tests: the program, which is built from this source, and the package in this folder.
func environment(t *testing.T) []string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "tilecheck")
	if out, err := exec.Command("go", "build", "-o", program, "tilecheck/cmd/tilecheck").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	folder, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	return append(os.Environ(), "TILECHECK="+program, "PYTHONPATH="+folder, "PYTHONDONTWRITEBYTECODE=1", "DOCKER_HOST="+needs.NoDocker)
}

// interpreter returns a Python that has what the tests use: that on PATH, or that of the system.
func interpreter(t *testing.T) string {
	t.Helper()
	var err error
	for _, python := range []string{needs.Python(t), "/usr/bin/python3"} {
		if err = exec.Command(python, "-c", "import pandas, IPython, setuptools, wheel, pip").Run(); err == nil {
			return python
		}
	}
	needs.Have(t, needs.PythonTool, fmt.Errorf("import pandas, IPython, pip: %w (apt-get install python3-pandas python3-ipython python3-pip)", err))
	return ""
}

// program returns the path of a program that belongs to the needs of Python.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	needs.Have(t, needs.PythonTool, err)
	return path
}

// run runs a command in a folder, and fails the test with its output if it fails.
func run(t *testing.T, env []string, folder, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env, cmd.Dir = env, folder
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// notebook is what the test reads of an executed notebook.
type notebook struct {
	Cells []struct {
		ID      string `json:"id"`
		Outputs []struct {
			Type string         `json:"output_type"`
			Name string         `json:"name"`
			Text []string       `json:"text"`
			Data map[string]any `json:"data"`
		} `json:"outputs"`
	} `json:"cells"`
}

// testTutorial executes the tutorial, and looks at what its cells show.
func testTutorial(t *testing.T, env []string) {
	jupyter := program(t, "jupyter")
	if out, err := exec.Command(jupyter, "nbconvert", "--version").CombinedOutput(); err != nil {
		needs.Have(t, needs.PythonTool, fmt.Errorf("jupyter nbconvert: %w: %s", err, out))
	}
	executed := filepath.Join(t.TempDir(), "executed.ipynb")
	run(t, env, ".", jupyter, "nbconvert", "--to", "notebook", "--execute", "--output", executed, "tutorial.ipynb")
	text, err := os.ReadFile(executed)
	if err != nil {
		t.Fatal(err)
	}
	var read notebook
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	if len(read.Cells) != 10 {
		t.Errorf("the tutorial has %d cells, want 10", len(read.Cells))
	}
	shown := make(map[string]string)
	for _, cell := range read.Cells {
		for _, output := range cell.Outputs {
			if output.Name == "stderr" {
				t.Errorf("cell %s warns: %s", cell.ID, output.Text)
			}
			shown[cell.ID] += fmt.Sprint(output.Text, output.Data)
		}
	}
	for _, test := range []struct{ cell, want string }{
		// 0.75^2 (1 + 2/4 + 3/16) = 243/256: two packets before the third loss.
		{"check", "243/256"},
		{"values", "243/256 0.94921875"},
		{"graph", "image/svg+xml"},
		{"graph", "sent=2, lost=2"},
		{"path", "dataframe"},
		{"experiment", "image/svg+xml"},
		{"crosscheck", "<td>agree</td>"},
		{"game", "orthogonal"},
		{"error", "line 7 column 57"},
	} {
		if !strings.Contains(shown[test.cell], test.want) {
			t.Errorf("cell %s does not show %q:\n%s", test.cell, test.want, shown[test.cell])
		}
	}
}

// testInstall installs a copy of the package, and checks its version and that it has its types.
func testInstall(t *testing.T, env []string, python string) {
	source, target := t.TempDir(), t.TempDir()
	if err := os.CopyFS(source, os.DirFS(".")); err != nil {
		t.Fatal(err)
	}
	run(t, env, source, python, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index", "--target", target, ".")
	entries, err := os.ReadDir(target)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if want := "tilecheck-" + build.Version + ".dist-info"; !slices.Contains(names, want) {
		t.Errorf("installed are %v, want %s: the version in pyproject.toml is that of internal/build", names, want)
	}
	if _, err := os.Stat(filepath.Join(target, "tilecheck", "py.typed")); err != nil {
		t.Error(err)
	}
}
