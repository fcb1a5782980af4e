package lsp_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/needs"
)

// A person's session in Emacs, with the settings that docs/editors.md has.
func TestEmacs(t *testing.T) {
	if !needs.Asked(t, needs.EmacsTool) {
		needs.Full(t) // tilecheck is linked for it
	}
	emacs := needs.Emacs(t)
	manual, err := os.ReadFile("../../docs/editors.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```elisp\n(.*?)```").FindSubmatch(manual)
	if found == nil {
		t.Fatal("docs/editors.md has no settings for Emacs")
	}
	dir := folder(t)
	settings, results := filepath.Join(dir, "settings.el"), filepath.Join(dir, "out.json")
	if err := os.WriteFile(settings, found[1], 0o666); err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs("testdata/drive.el")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, emacs, "-q", "--batch", "-l", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TILECHECK_SETTINGS="+settings, "TILECHECK_OUT="+results, "HOME="+dir, "LC_ALL=C.UTF-8", "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	var got struct {
		Mode, Hover, Props, Formatted, Problem string
		Typed, Completion                      []string
		Definition                             [2]int
		Stopped                                bool
	}
	drive(t, cmd, results, &got)
	if got.Problem != "" {
		t.Errorf("the session ended: %s", got.Problem)
	}
	if got.Mode != "prism-model-mode" || !got.Stopped {
		t.Errorf("the mode is %q; the server has ended: %t", got.Mode, got.Stopped)
	}
	if len(got.Typed) != 1 || !strings.Contains(got.Typed[0], `7:6: `) || !strings.Contains(got.Typed[0], `found "=", want an expression`) {
		t.Errorf("typed: %q", got.Typed)
	}
	if !strings.Contains(got.Hover, "const int N = 3;") || got.Definition != [2]int{2, 10} {
		t.Errorf("hover %q, declared at %v", got.Hover, got.Definition)
	}
	if got.Props != "Pmax=? [ F x=size ]\n" || got.Formatted != renamedAndLaidOut+"\n" {
		t.Errorf("renamed and laid out\n%s%s", got.Formatted, got.Props)
	}
	if !slices.Contains(got.Completion, "x") || slices.Contains(got.Completion, "module") {
		t.Errorf("completion %q", got.Completion)
	}
}
