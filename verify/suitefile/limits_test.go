package suitefile

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// A suite file comes with a pull request: none keeps the program, or its memory,
// busy. The parser of YAML takes a minute for the first of these.
func TestSuiteFileIsLimited(t *testing.T) {
	var indented strings.Builder
	for i := range 700 {
		fmt.Fprintf(&indented, "%*sa:\n", i, "")
	}
	bomb := "a0: &a0 [x, x]\n"
	for i := range 100 {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i)
	}
	for name, x := range map[string]struct{ text, want string }{
		"lists":       {"title: " + strings.Repeat("[", 100_000), "s.yaml:1:72: found something nested more than 64 deep, want less"},
		"mappings":    {"suites:\n  - " + strings.Repeat("{a: ", 10_000), "s.yaml:2:261: found something nested more than 64 deep, want less"},
		"dashes":      {strings.Repeat("- ", 100_000), "s.yaml:1:129: found something nested more than 64 deep, want less"},
		"keys":        {strings.Repeat("? ", 100_000), "s.yaml:1:129: found something nested more than 64 deep, want less"},
		"indentation": {indented.String(), "unknown key"},
		"aliases":     {bomb, "unknown key"},
		"large":       {"title: x" + strings.Repeat(" ", 256<<10), "s.yaml:1:1: found a file of 262152 bytes, want one of at most 262144"},
		"line":        {"title: a" + strings.Repeat("-", 200_000), ""},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := Read("s.yaml", []byte(x.text))
			if x.want == "" && err != nil || x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)) {
				t.Errorf("error %v, want %q", err, x.want)
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// TestOpenLarge: what anybody may call tilecheck.yaml is not read whole.
func TestOpenLarge(t *testing.T) {
	fsys := fstest.MapFS{"a/tilecheck.yaml": {Data: make([]byte, maxYAML+1)}}
	same := func(name string) string { return name }
	if f, err := In(fsys, "a", same); f != nil || err == nil || err.Error() != "read a/tilecheck.yaml: larger than 256 kB" {
		t.Errorf("%v, %v", f, err)
	}
	if f, err := In(fsys, "b", same); f != nil || err != nil {
		t.Errorf("without a file: %v, %v", f, err)
	}
}
