// Package needs declares what a test needs that not every machine has: PRISM, Docker,
// a browser, or minutes of time. If it is missing, the test is skipped with the reason, or fails if
// TILECHECK_REQUIRE lists it. The package is for tests only.
//
//	prism := needs.PRISM(t)
//	needs.Have(t, needs.Docker, err) // err says why there is no Docker
//
// CONTRIBUTING.md explains the names.
package needs

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Most tests have a small heap and make much garbage. With fewer collections they take a fifth less time.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}

// Thing is a need of a test, by its name in TILECHECK_REQUIRE.
type Thing string

// The needs of tests.
const (
	PRISMTool   Thing = "prism"       // TILECHECK_PRISM, the path of bin/prism
	PRISMGames  Thing = "prism-games" // TILECHECK_PRISM_GAMES, the path of its bin/prism
	PRISMImage  Thing = "prism-image" // an image that has PRISM
	PRISMSuite  Thing = "prism-tests" // TILECHECK_PRISM_TESTS, a copy of PRISM's own tests
	QCompSet    Thing = "qcomp"       // TILECHECK_QCOMP, a copy of the field's benchmark set
	Storm       Thing = "storm"       // TILECHECK_STORM, the path of bin/storm, and an image that has Storm
	Docker      Thing = "docker"      // a daemon
	Slurm       Thing = "slurm"       // a daemon, and the image of cluster/slurm/slurmtest
	KubectlTool Thing = "kubectl"     // on PATH
	Browser     Thing = "chromium"
	PythonTool  Thing = "python" // on PATH, at least 3.9
	NodeTool    Thing = "node"   // on PATH
	NeovimTool  Thing = "neovim" // nvim, on PATH
	EmacsTool   Thing = "emacs"  // on PATH, with eglot
	Minutes     Thing = "full"   // TILECHECK_FULL, as .ci/run sets it, or TILECHECK_LONG
	Time        Thing = "long"   // TILECHECK_LONG
	System      Thing = "system" // a property of an operating system or of a user
)

// Things returns all needs.
func Things() []Thing {
	return []Thing{PRISMTool, PRISMGames, PRISMImage, PRISMSuite, QCompSet, Storm, Docker, Slurm, KubectlTool, Browser, PythonTool, NodeTool, NeovimTool, EmacsTool, Minutes, Time, System}
}

// Have returns if err is nil. Otherwise err says why the thing is missing, and Have skips the test, or fails it if the
// thing is required.
func Have(tb testing.TB, thing Thing, err error) {
	tb.Helper()
	must, wrong := required(os.Getenv("TILECHECK_REQUIRE"), thing)
	switch {
	case wrong != nil:
		tb.Fatal(wrong)
	case err == nil:
	case must:
		tb.Fatalf("TILECHECK_REQUIRE wants %s: %v", thing, err)
	default:
		tb.Skipf("needs %s: %v", thing, err)
	}
}

// Asked reports whether a thing is required, for tests that only run then.
func Asked(tb testing.TB, thing Thing) bool {
	tb.Helper()
	must, wrong := required(os.Getenv("TILECHECK_REQUIRE"), thing)
	if wrong != nil {
		tb.Fatal(wrong)
	}
	return must
}

// required reports whether a list of things, which may have "all", contains thing.
func required(list string, thing Thing) (bool, error) {
	must := false
	for name := range strings.SplitSeq(list, ",") {
		name = strings.TrimSpace(name)
		if name != "" && name != "all" && !slices.Contains(Things(), Thing(name)) {
			return false, fmt.Errorf("TILECHECK_REQUIRE has %q, want some of %v, or all", name, Things())
		}
		must = must || name == "all" || Thing(name) == thing
	}
	return must, nil
}

// Wanted skips a test that uses an installed tool, unless TILECHECK_REQUIRE lists the tool or -run selects the test.
// So installed tools do not change what `go test ./...` does or how long it takes.
func Wanted(tb testing.TB, thing Thing) {
	tb.Helper()
	if run := flag.Lookup("test.run"); !Asked(tb, thing) && (run == nil || run.Value.String() == "") {
		tb.Skipf("needs %s: TILECHECK_REQUIRE does not name it", thing)
	}
}

// WantedOrFull is Wanted, but runs the test also with TILECHECK_FULL, as .ci/run sets it. It is for tests that take long with
// what many machines have, such as Docker or a browser.
func WantedOrFull(tb testing.TB, thing Thing) {
	tb.Helper()
	if !IsFull() {
		Wanted(tb, thing)
	}
}

// PathWithout returns a value of PATH with which none of the programs is found. It replaces a directory that has one of them
// by a temporary directory with links to the other programs. remove removes the temporary directories.
func PathWithout(path string, programs ...string) (filtered string, remove func(), err error) {
	var dirs, linkDirs []string
	remove = func() {
		for _, dir := range linkDirs {
			_ = os.RemoveAll(dir)
		}
	}
	for _, dir := range filepath.SplitList(path) {
		isExcluded := func(name string) bool {
			_, err := os.Stat(filepath.Join(dir, name))
			return err == nil
		}
		if !slices.ContainsFunc(programs, isExcluded) {
			dirs = append(dirs, dir)
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return path, remove, err
		}
		links, err := os.MkdirTemp("", "needs-path-")
		if err != nil {
			return path, remove, err
		}
		dirs, linkDirs = append(dirs, links), append(linkDirs, links)
		for _, program := range entries {
			if slices.Contains(programs, program.Name()) {
				continue
			}
			if err := os.Symlink(filepath.Join(dir, program.Name()), filepath.Join(links, program.Name())); err != nil {
				return path, remove, err
			}
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator)), remove, nil
}

// HideTools hides PRISM, PRISM-games and Storm from this process and its children: it removes them from PATH, and unsets the
// variables with which users name them. Tests that need the tools still get them from this package. Call it in TestMain; restore
// removes temporary files.
func HideTools() (restore func(), err error) {
	for _, name := range []string{"TILECHECK_PRISM", "TILECHECK_PRISM_GAMES", "TILECHECK_STORM", "TILECHECK_PRISM_IMAGE", "TILECHECK_PRISM_GAMES_IMAGE", "TILECHECK_STORM_IMAGE"} {
		if value := os.Getenv(name); value != "" {
			if err := errors.Join(os.Setenv(hidden+name, value), os.Unsetenv(name)); err != nil {
				return func() {}, err
			}
		}
	}
	path, restore, err := PathWithout(os.Getenv("PATH"), "prism", "xprism", "prism-games", "storm")
	if err == nil {
		err = os.Setenv("PATH", path)
	}
	return restore, err
}

// hidden is the prefix of the names of hidden variables.
const hidden = "HIDDEN_"

// Given returns the value of a variable, also if HideTools has hidden it.
func Given(variable string) string { return cmp.Or(os.Getenv(variable), os.Getenv(hidden+variable)) }

// NoDocker is a value of DOCKER_HOST with which Docker is not found.
const NoDocker = "unix:///nonexistent/docker.sock"

// PRISM returns the path of PRISM's launcher.
func PRISM(tb testing.TB) string {
	tb.Helper()
	Wanted(tb, PRISMTool)
	return file(tb, PRISMTool, "TILECHECK_PRISM", "the path of PRISM's bin/prism")
}

// PRISMGamesTool returns the path of PRISM-games' launcher.
func PRISMGamesTool(tb testing.TB) string {
	tb.Helper()
	Wanted(tb, PRISMGames)
	return file(tb, PRISMGames, "TILECHECK_PRISM_GAMES", "the path of PRISM-games' bin/prism")
}

// StormProgram returns the path of Storm's program.
func StormProgram(tb testing.TB) string {
	tb.Helper()
	Wanted(tb, Storm)
	return file(tb, Storm, "TILECHECK_STORM", "the path of Storm's bin/storm")
}

// PRISMTests returns the folder of PRISM's own tests.
func PRISMTests(tb testing.TB) string {
	tb.Helper()
	return file(tb, PRISMSuite, "TILECHECK_PRISM_TESTS", "a copy of prism-tests")
}

// QComp returns the folder of the quantitative verification benchmark set, which has
// benchmarks/dtmc and so on in it.
func QComp(tb testing.TB) string {
	tb.Helper()
	return file(tb, QCompSet, "TILECHECK_QCOMP", "a copy of github.com/ahartmanns/qcomp")
}

func file(tb testing.TB, thing Thing, variable, content string) string {
	tb.Helper()
	path := Given(variable)
	if path == "" {
		Have(tb, thing, fmt.Errorf("%s is not set to %s", variable, content))
	}
	if _, err := os.Stat(path); err != nil { // a wrong path is a mistake of the user, so the test fails
		tb.Fatalf("%s: %v", variable, err)
	}
	return path
}

// Kubectl returns the path of kubectl.
func Kubectl(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("kubectl")
	Have(tb, KubectlTool, err)
	return path
}

// Python returns an interpreter of Python 3.
func Python(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("python3")
	Have(tb, PythonTool, err)
	return path
}

// Node returns an interpreter of JavaScript with modules.
func Node(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("node")
	Have(tb, NodeTool, err)
	return path
}

// Neovim returns an editor that speaks the Language Server Protocol.
func Neovim(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("nvim")
	Have(tb, NeovimTool, err)
	return path
}

// Emacs returns an editor that has eglot.
func Emacs(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("emacs")
	if err == nil {
		err = exec.Command(path, "-q", "--batch", "--eval", "(progn (package-initialize) (require 'eglot))").Run()
	}
	Have(tb, EmacsTool, err)
	return path
}

// Chromium returns a browser that runs without a screen.
func Chromium(tb testing.TB) string {
	tb.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Have(tb, Browser, errors.New("there is no Chromium (apt-get install chromium)"))
	return ""
}

// Full skips a test unless the tests may take longer than two minutes in all.
func Full(tb testing.TB) {
	tb.Helper()
	if !IsFull() {
		Have(tb, Minutes, errors.New("takes part of a minute: set TILECHECK_FULL=1"))
	}
}

// IsFull reports whether the tests may take longer than two minutes in all.
func IsFull() bool { return os.Getenv("TILECHECK_FULL") != "" || IsLong() }

// Some returns how many of n random inputs a test should try: a twentieth; two fifths if IsFull; all if IsLong; and a
// tenth with -short, as .ci/run starts the race detector; but at least one. The inputs of a test are the same in every run, so most of what more of them
// find, they find once.
func Some[N int | uint64](n N) N {
	switch {
	case testing.Short():
		return max(n/10, min(n, 1))
	case IsLong():
		return n
	case IsFull():
		return max(n*2/5, min(n, 1))
	}
	return max(n/20, min(n, 1))
}

// Models returns the numbers of the random models of a test, as AllModels does, but of Some(n) models.
func Models(tb testing.TB, n uint64) iter.Seq[uint64] {
	tb.Helper()
	return AllModels(tb, Some(n))
}

// AllModels returns the numbers of n random models: from 0 on. TILECHECK_MODELS is another number of models, and TILECHECK_FIRST
// the number of the first one, for models that no run has tried.
func AllModels(tb testing.TB, n uint64) iter.Seq[uint64] {
	tb.Helper()
	first, count := Number(tb, "TILECHECK_FIRST", 0), Number(tb, "TILECHECK_MODELS", n)
	return func(yield func(uint64) bool) {
		for number := first; number < first+count && yield(number); number++ {
		}
	}
}

// OrFull returns plain, or full if IsFull or with -short: .ci/run sets one or the other, so that it leaves nothing out.
func OrFull[T any](plain, full T) T {
	if IsFull() || testing.Short() {
		return full
	}
	return plain
}

// Long skips a test unless tests may take many minutes.
func Long(tb testing.TB) {
	tb.Helper()
	if !IsLong() {
		Have(tb, Time, errors.New("takes long: set TILECHECK_LONG=1"))
	}
}

// NotShort skips a test if -short is set.
func NotShort(tb testing.TB, why string) {
	tb.Helper()
	if testing.Short() {
		Have(tb, Time, fmt.Errorf("not with -short: %s", why))
	}
}

// IsLong reports whether tests may take many minutes.
func IsLong() bool { return os.Getenv("TILECHECK_LONG") != "" }

// Number returns the number in an environment variable, or otherwise if it is not set.
func Number(tb testing.TB, variable string, otherwise uint64) uint64 {
	tb.Helper()
	s := os.Getenv(variable)
	if s == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		tb.Fatalf("%s: %v", variable, err)
	}
	return n
}
