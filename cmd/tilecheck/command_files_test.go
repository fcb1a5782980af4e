package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestEveryFileHasItsRole finds flags and arguments of any command that name
// files, by their placeholder or their help, and wants a tag that says what
// happens to them.
func TestEveryFileHasItsRole(t *testing.T) {
	roles := map[string]bool{"in": true, "states": true, "out": true, "target": true, "keep": true, "some": true, "none": true}
	words := []string{"FILE", "DIR", "PREFIX", "PATH", "TAR", "MODEL", "FILE[:OPTIONS]", "FILE[:STYLE]"}
	found := map[string]int{}
	names := func(v *kong.Value) bool {
		if v.Flag == nil {
			for _, word := range []string{"model", "props", "path", "file", "table", "shard", "certificate", "old", "new"} {
				if v.Name == word {
					return true
				}
			}
			return false
		}
		for _, word := range words {
			if v.Flag.PlaceHolder == word {
				return true
			}
		}
		// A file that has another placeholder betrays itself.
		return strings.HasPrefix(v.Help, "File ") || strings.HasPrefix(v.Help, "Directory ")
	}
	app, _ := lineParser(t)
	for _, command := range app.Model.Leaves(false) {
		values := command.Positional
		for _, f := range command.Flags {
			values = append(values, f.Value)
		}
		for _, v := range values {
			role := v.Tag.Get("file")
			if names(v) != (role != "") || role != "" && !roles[role] {
				t.Errorf("%s %s: the tag file is %q, want what happens to the file", command.FullPath(), flagName(v), role)
			}
			found[role]++
		}
	}
	for role := range roles {
		if found[role] == 0 {
			t.Errorf("no flag has the role %s", role)
		}
	}
}

// TestEveryOutputIsNoted: every output of every command that draws or writes is
// noted with the keeper of endings, which removes its temporary file when the
// process has to end in the middle of writing.
func TestEveryOutputIsNoted(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{
		"m.prism":       "dtmc\nmodule m\n x:[0..1];\n [] x=0->(x'=1);\n [] x=1->true;\nendmodule\n",
		"m.prism.props": "P=? [ F x=1 ];\n",
	} {
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		line  string
		files []string
	}{
		{"play random --size 2 --games 3 --seed 1 --plot A.svg --plot-score B.png", []string{"A.svg", "B.png"}},
		{"compare models random --size 2 --max 8 --plot C.svg", []string{"C.svg"}},
		{"compare players random opposite --size 2 --games 3 --seed 1 --plot D.svg", []string{"D.svg"}},
		{"compare document cs221 --row random --games 3 --seed 1 --plot E.svg", []string{"E.svg"}},
		{"bless --yes " + dir, []string{"m.prism.props"}},
	} {
		var noted, done int
		var out bytes.Buffer
		env := &environment{system: system{
			stdin: strings.NewReader(""), stdout: &out, stderr: &out, getenv: func(string) string { return "" },
			lookupEnv: func(string) (string, bool) { return "", false }, setenv: func(string, string) error { return nil },
			terminal: func(io.Writer) (int, bool) { return 0, false }, identifyBuild: testBuild,
		}, lifetime: lifetime{onExit: func(func()) func() { noted++; return func() { done++ } }}}
		args := strings.Fields(test.line)
		for i, a := range args {
			if slices.Contains(test.files, a) {
				args[i] = in(a)
			}
		}
		run(t.Context(), args, env)
		for _, file := range test.files {
			if info, err := os.Stat(in(file)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %v\n%s", test.line, err, out.String())
			}
		}
		if noted != len(test.files) || done != noted {
			t.Errorf("%s: %d files noted, %d written, want %d", test.line, noted, done, len(test.files))
		}
	}
}
