package needs

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// recorder is a test whose end is looked at.
type recorder struct {
	testing.TB
	end string
}

func (r *recorder) Helper()               {}
func (r *recorder) Fatal(...any)          { r.stop("fail") }
func (r *recorder) Fatalf(string, ...any) { r.stop("fail") }
func (r *recorder) Skipf(string, ...any)  { r.stop("skip") }
func (r *recorder) stop(how string)       { r.end = how; panic(r) }

func ended(f func(testing.TB)) (how string) {
	r := &recorder{end: "go on"}
	defer func() {
		if x := recover(); x != nil && x != any(r) {
			panic(x)
		}
		how = r.end
	}()
	f(r)
	return r.end
}

func TestHave(t *testing.T) {
	absent := errors.New("there is none")
	for _, tt := range []struct {
		require string
		err     error
		want    string
	}{
		{"", nil, "go on"},
		{"", absent, "skip"},
		{"storm,prism-image", absent, "skip"},
		{"prism", absent, "fail"},
		{"docker, prism", absent, "fail"},
		{"all", absent, "fail"},
		{"prism", nil, "go on"},
		{"prims", nil, "fail"}, // a misspelt requirement must not require nothing
	} {
		t.Setenv("TILECHECK_REQUIRE", tt.require)
		if got := ended(func(tb testing.TB) { Have(tb, PRISMTool, tt.err) }); got != tt.want {
			t.Errorf("TILECHECK_REQUIRE=%q, %v: %s, want %s", tt.require, tt.err, got, tt.want)
		}
	}
}

func TestPaths(t *testing.T) {
	t.Setenv("TILECHECK_REQUIRE", "prism")
	for path, want := range map[string]string{"": "fail", "/nonexistent/prism": "fail", t.TempDir(): "go on"} {
		t.Setenv("TILECHECK_PRISM", path)
		if got := ended(func(tb testing.TB) { PRISM(tb) }); got != want {
			t.Errorf("TILECHECK_PRISM=%q: %s, want %s", path, got, want)
		}
	}
	t.Setenv("TILECHECK_FULL", "")
	for long, want := range map[string]string{"": "skip", "1": "go on"} {
		t.Setenv("TILECHECK_LONG", long)
		if got := ended(Full); got != want {
			t.Errorf("TILECHECK_LONG=%q: %s of what is full, want %s", long, got, want)
		}
		if got := ended(Long); got != want {
			t.Errorf("TILECHECK_LONG=%q: %s, want %s", long, got, want)
		}
	}
}

// The tools of a machine are used where they are asked for, and not because they are there.
func TestWanted(t *testing.T) {
	run := flag.Lookup("test.run").Value
	before := run.String()
	defer func() { _ = run.Set(before) }()
	t.Setenv("TILECHECK_PRISM", t.TempDir())
	for _, test := range []struct{ require, run, want string }{
		{"", "", "skip"}, {"docker", "", "skip"}, {"prism", "", "go on"}, {"all", "", "go on"}, {"", "TestWanted", "go on"},
	} {
		t.Setenv("TILECHECK_REQUIRE", test.require)
		if err := run.Set(test.run); err != nil {
			t.Fatal(err)
		}
		if got := ended(func(tb testing.TB) { PRISM(tb) }); got != test.want {
			t.Errorf("TILECHECK_REQUIRE=%q -run %q: %s, want %s", test.require, test.run, got, test.want)
		}
	}
}

func TestPathWithout(t *testing.T) {
	with, without := t.TempDir(), t.TempDir()
	for _, name := range []string{filepath.Join(with, "needs-prism"), filepath.Join(with, "needs-other"), filepath.Join(without, "needs-third")} {
		if err := os.WriteFile(name, nil, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	path, remove, err := PathWithout(with+string(filepath.ListSeparator)+without, "needs-prism", "needs-none")
	if err != nil {
		Have(t, System, err) // Windows has no links
	}
	defer remove()
	t.Setenv("PATH", path)
	for name, want := range map[string]bool{"needs-prism": false, "needs-other": true, "needs-third": true} {
		if _, err := exec.LookPath(name); (err == nil) != want {
			t.Errorf("%s is found: %v", name, !want)
		}
	}
	remove()
	if _, err := exec.LookPath("needs-other"); err == nil {
		t.Error("the links are left")
	}
}

func TestNotShort(t *testing.T) {
	t.Setenv("TILECHECK_REQUIRE", "")
	want := "go on"
	if testing.Short() {
		want = "skip"
	}
	if got := ended(func(tb testing.TB) { NotShort(tb, "it takes long") }); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestNobodyElseSkips reads the tests of the repository: a skip of their own
// would not be turned into a failure by TILECHECK_REQUIRE.
func TestNobodyElseSkips(t *testing.T) {
	skip := regexp.MustCompile(`\.Skip(f|Now)?\(`)
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "needs_test.go" {
			return err
		}
		text, err := os.ReadFile(path)
		for i, line := range strings.Split(string(text), "\n") {
			if skip.MatchString(line) {
				t.Errorf("%s:%d: %s: want needs.Have, or a return where there is nothing to test", path, i+1, strings.TrimSpace(line))
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestModels(t *testing.T) {
	t.Setenv("TILECHECK_MODELS", "3")
	t.Setenv("TILECHECK_FIRST", "7")
	if got := slices.Collect(Models(t, 1000)); !slices.Equal(got, []uint64{7, 8, 9}) {
		t.Errorf("found %v, want three models from 7 on", got)
	}
	t.Setenv("TILECHECK_MODELS", "")
	t.Setenv("TILECHECK_FIRST", "")
	if got := slices.Collect(Models(t, 1000)); got[0] != 0 || len(got) != Some(1000) {
		t.Errorf("found %d models from %d on, want %d from 0 on", len(got), got[0], Some(1000))
	}
}
