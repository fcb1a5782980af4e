package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	"tilecheck/internal/needs"
)

// evil is what a pull request may call a title, a file, a label or an action.
const evil = "\n::stop-commands::x\n  ::add-mask::y\r::set-env name=A::b ##[add-path]z\x1b[2J\u202e\u009b31m\u00a0"

// hostileWorld runs a command line and returns what was printed.
func hostileWorld(t *testing.T, github bool, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err bytes.Buffer
	env := &environment{system: system{
		stdin: strings.NewReader(""), stdout: &out, stderr: &err, lookupEnv: func(string) (string, bool) { return "", false },
		getenv: func(name string) string {
			if name == "GITHUB_ACTIONS" && github {
				return "true"
			}
			return ""
		},
		setenv: func(string, string) error { return nil }, terminal: func(io.Writer) (int, bool) { return 0, false }, identifyBuild: testBuild,
	}}
	code = run(t.Context(), args, env)
	return out.String(), err.String(), code
}

// commandLines are the lines that GitHub's runner takes for commands, by its own
// rules: lines end with CR or LF, blanks in front do not count, and ##[ counts
// wherever it is.
func commandLines(text string) []string {
	var out []string
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if strings.HasPrefix(strings.TrimLeftFunc(line, unicode.IsSpace), "::") || strings.Contains(line, "##[") {
			out = append(out, line)
		}
	}
	return out
}

// TestHostileNames gives a suite a title, files and properties that are made to
// be taken for commands of GitHub or of the terminal.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		needs.Have(t, needs.System, errors.New("files cannot have such names"))
	}
	dir := t.TempDir()
	sub := filepath.Join(dir, "a"+strings.ReplaceAll(evil, "/", "_"))
	if err := os.Mkdir(sub, 0o700); err != nil {
		needs.Have(t, needs.System, err)
	}
	for name, text := range map[string]string{
		"die.prism":    "dtmc\nmodule m\n  s : [0..2];\n  [] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);\nendmodule\n",
		"die.props":    "// RESULT: 1/3\n\"x::y ##[z]\": P=? [ F s=2 ]\n// RESULT: ##[add-path]z\nP=? [ F s=1 ]\n",
		"bad.prism":    "dtmc\n\x1b[2J::error::x ##[z]\n",
		"bad.props":    "P=? [ F ::y ]\n",
		"lost.props":   "// RESULT: ?\n::error::x\n",
		"die.tra":      "3 3\n0 1 1\n1 2 1\n2 2 1\n",
		"die.lab":      "0=\"init\" 1=\"x##[y\"\n0: 0\n2: 1\n",
		"filter.props": "filter(print, P=? [ F s=2 ])\n",
	} {
		if err := os.WriteFile(filepath.Join(sub, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name string) string { return filepath.Join(sub, name) }
	var lines [][]string
	for _, format := range []string{"table", "markdown", "json"} {
		lines = append(
			lines,
			[]string{"test", sub, "--no-cache", "--github", "--title", evil, "--format", format},
			[]string{"test", sub, "--no-cache", "--title", evil, "--format", format, "--baseline", file("die.prism")},
			[]string{"check", file("die.prism"), file("die.props"), "--format", format},
			[]string{"check", file("bad.prism"), file("die.props"), "--format", format},
			[]string{"check", file("die.tra,lab"), "--prop", "P=? [ F \"x##[y\" ]", "--format", format},
			[]string{"info", file("die.tra,lab"), "--format", format},
			[]string{"crosscheck", file("die.prism"), file("die.props"), "--engine", "native,native:exact", "--format", format},
		)
	}
	lines = append(
		lines, []string{"bless", sub}, []string{"check", evil}, []string{evil}, []string{"check", "--" + evil},
		[]string{"simulate", file("none")}, []string{"gen", "-o", file("no/x")}, []string{"play", evil}, []string{"test", evil},
		[]string{"test", filepath.Join(dir, "none"+evil)}, []string{"check", file("die.prism"), "--prop", evil},
		[]string{"check", file("die.prism"), file("die.props"), "--export-results", file("die.prism")},
	)
	for _, args := range lines {
		github := !strings.Contains(strings.Join(args, " "), "--github")
		stdout, stderr, _ := hostileWorld(t, github, args...)
		if !github { // our own commands are the only ones
			var rest []string
			for line := range strings.Lines(stdout) {
				if !strings.HasPrefix(line, "::error file=") && !strings.HasPrefix(line, "::warning file=") {
					rest = append(rest, line)
				} else if strings.Contains(line, "\r") {
					t.Errorf("%q: the command %q has several lines", args, line)
				}
			}
			if stdout = strings.Join(rest, ""); len(commandLines(stderr)) > 0 && args[len(args)-1] == "json" {
				stderr = "" // the commands are there
			}
		}
		if got := commandLines(stdout + "\n" + stderr); len(got) > 0 {
			t.Errorf("%q prints %q, which are commands for GitHub", args, got)
		}
		unsafe := func(r rune) bool { return r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) }
		text := stdout + stderr
		if slices.Contains(args, "json") || args[0] == "bless" {
			text = stderr
		}
		if i := strings.IndexFunc(text, unsafe); i >= 0 {
			t.Errorf("%q prints %q", args, text[max(i-20, 0):min(i+20, len(text))])
		}
	}
}

// TestNamesNotUTF8 gives files names that are not UTF-8, as a command line and in a suite. A record cannot hold such a name.
func TestNamesNotUTF8(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	model, props := filepath.Join(dir, "m\xff.prism"), filepath.Join(dir, "m\xff.props")
	if err := os.WriteFile(model, []byte("dtmc\nmodule m\ns:[0..1] init 0;\n[] true -> 0.5:(s'=0)+0.5:(s'=1);\nendmodule\n"), 0o600); err != nil {
		needs.Have(t, needs.System, err)
	}
	if err := os.WriteFile(props, []byte("// RESULT: 1\nP=? [ F s=1 ]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(dir, "record")
	for _, c := range []struct {
		name string
		args []string
		code int
	}{
		{"check", []string{"check", model, props, "--export-results", filepath.Join(dir, "out\xfe.csv")}, exitOK},
		{"test of a file", []string{"test", "--no-cache", model}, exitOK},
		{"test of a folder", []string{"test", "--no-cache", dir}, exitOK},
		{"record", []string{"check", model, props, "--record-run", record}, exitUsage},
	} {
		stdout, stderr, code := hostileWorld(t, false, c.args...)
		if code != c.code {
			t.Errorf("%s: exit code %d, want %d: %s%s", c.name, code, c.code, stdout, stderr)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "out\xfe.csv")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(record); err == nil {
		t.Error("a record was begun, want none for names that are not UTF-8")
	}
}
