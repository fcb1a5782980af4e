package build

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"

	"tilecheck/internal/needs"
)

func TestIdentity(t *testing.T) {
	stamped := func(modified, goVersion string) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: goVersion, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "dfaa1db0c1d2e3f4a5b6c7d8e9f0a1b2c3d4e5f6"}, {Key: "vcs.modified", Value: modified},
		}}
	}
	sum := func() (string, error) { return "77abcdef0123456789", nil }
	lost := func() (string, error) { return "", errors.New("gone") }
	for _, tt := range []struct {
		name     string
		info     *debug.BuildInfo
		checksum func() (string, error)
		want     string
	}{
		{"clean", stamped("false", "go1.26.0"), lost, `^0\.2\.0\+dfaa1db0c1d2\.[0-9a-f]{12}$`},
		{"dirty", stamped("true", "go1.26.0"), sum, `^0\.2\.0\+dfaa1db0c1d2\.dirty\.77abcdef0123$`},
		{"no revision", &debug.BuildInfo{}, sum, `^0\.2\.0\+sum\.77abcdef0123$`},
	} {
		got, err := identity(tt.info, tt.checksum)
		if err != nil || !regexp.MustCompile(tt.want).MatchString(got) {
			t.Errorf("%s: %q, %v, want %s", tt.name, got, err, tt.want)
		}
	}
	one, _ := identity(stamped("false", "go1.26.0"), lost)
	if other, _ := identity(stamped("false", "go1.26.1"), lost); one == other {
		t.Errorf("two compilers have one identity %q", one)
	}
	if got, err := identity(&debug.BuildInfo{}, lost); err == nil || got != "0.2.0+unknown" {
		t.Errorf("a program that cannot be read: %q, %v, want an error", got, err)
	}
}

// TestBuilds identifies real programs: that of a committed tree, of a changed
// one, and of no repository.
func TestBuilds(t *testing.T) {
	needs.Full(t)
	if _, err := exec.LookPath("git"); err != nil {
		needs.Have(t, needs.System, err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	output := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=auto", "GOWORK=off", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	built := func(want string) string {
		t.Helper()
		program := filepath.Join(dir, ".git", "program") // where git does not see it
		output("go", "build", "-o", program, ".")
		got := output(program)
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%q, want %s", got, want)
		}
		return got
	}
	write("go.mod", "module example.com/which\n\ngo 1.26\n")
	for _, name := range []string{"build.go", "identity.go"} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write("build/"+name, string(source))
	}
	write("main.go", "package main\n\nimport \"example.com/which/build\"\n\nfunc main() {\n\tid, err := build.Identify()\n\tif err != nil {\n\t\tpanic(err)\n\t}\n\tprint(id)\n}\n")
	output("git", "init", "-q")
	unstamped := built(`^0\.2\.0\+sum\.[0-9a-f]{12}$`)
	output("git", "add", ".")
	output("git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "one")
	clean := built(`^0\.2\.0\+[0-9a-f]{12}\.[0-9a-f]{12}$`)
	if again := built("."); again != clean {
		t.Errorf("built twice: %q and %q", clean, again)
	}
	write("main.go", "package main\n\nimport \"example.com/which/build\"\n\nfunc main() {\n\tid, _ := build.Identify()\n\tprint(id)\n}\n")
	dirty := built(`^0\.2\.0\+[0-9a-f]{12}\.dirty\.[0-9a-f]{12}$`)
	if unstamped == clean || clean == dirty {
		t.Errorf("three builds: %q, %q, %q", unstamped, clean, dirty)
	}
}

// TestLinked reads the build ID of this test and of programs for several systems as the
// go command does.
func TestLinked(t *testing.T) {
	same := func(program string) string {
		t.Helper()
		want, err := exec.Command("go", "tool", "buildid", program).Output()
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		got := buildID(f)
		if got != strings.TrimSpace(string(want)) {
			t.Errorf("%s: %q, go says %q", program, got, want)
		}
		return got
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if same(program) == "" {
		t.Error("no build ID was found")
	}
	needs.Full(t)
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, system := range []string{"linux", "windows", "darwin"} {
		for _, flag := range []string{"-s", "-buildid="} {
			program := filepath.Join(t.TempDir(), system)
			build := exec.Command("go", "build", "-ldflags", flag, "-o", program, source)
			build.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if id := same(program); (id == "") != (flag == "-buildid=") {
				t.Errorf("%s %s: %q", system, flag, id)
			}
		}
	}
}
