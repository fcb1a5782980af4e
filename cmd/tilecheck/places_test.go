package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestEveryFileHasItsRole finds flags and arguments of any command that name
// files, by their placeholder or their help, and wants a tag that says what
// happens to them.
func TestEveryFileHasItsRole(t *testing.T) {
	roles := map[string]bool{"in": true, "states": true, "out": true, "target": true, "keep": true, "some": true}
	words := []string{"FILE", "DIR", "PREFIX", "PATH", "TAR", "MODEL", "FILE[:OPTIONS]", "FILE[:STYLE]"}
	found := map[string]int{}
	names := func(v *kong.Value) bool {
		if v.Flag == nil {
			for _, word := range []string{"model", "props", "path", "file", "table"} {
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
