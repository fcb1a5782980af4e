package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"tilecheck/internal/needs"
)

// TestAPIExample compiles the program of docs/api.md, and compares its output with the documented one.
func TestAPIExample(t *testing.T) {
	needs.Full(t)
	page, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(language string) string {
		_, after, _ := strings.Cut(string(page), "```"+language+"\n")
		text, _, found := strings.Cut(after, "```")
		if !found {
			t.Fatalf("docs/api.md has no block %s", language)
		}
		return text
	}
	program := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(program, []byte(block("go")), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", program)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if want := block("text"); err != nil || string(out) != want {
		t.Errorf("%v: found %q, want %q\n%s", err, out, want, stderr.String())
	}
}
