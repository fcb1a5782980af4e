package lsp_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/needs"
)

const model = `mdp
const int N=3;
const double p;
module M
  x : [0..N] init 0; // é
  [go] x<N -> p:(x'=x+1) + 1-p:true;
endmodule
`

// renamedAndLaidOut is the model at the end of a session.
const renamedAndLaidOut = `mdp
const int size = 3;
const double p;
module M
  x : [0..size] init 0; // é
  [go] x<size -> p:(x'=x+1) + 1-p:true;
  [] x=size -> true;
endmodule`

// folder is one with a model, its properties, and tilecheck.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "tilecheck"), "tilecheck/cmd/tilecheck").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, text := range map[string]string{
		"m.prism": model, "m.props": "Pmax=? [ F x=N ]\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// drive runs an editor, and reads what it has written.
func drive(t *testing.T, editor *exec.Cmd, results string, got any) {
	t.Helper()
	if out, err := editor.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, got); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
}

// A person's session in Neovim: type, see what is wrong, let it be fixed, ask, rename, lay out.
func TestNeovim(t *testing.T) {
	if !needs.Asked(t, needs.NeovimTool) {
		needs.Full(t) // tilecheck is linked for it
	}
	nvim := needs.Neovim(t)
	dir := folder(t)
	program := filepath.Join(dir, "tilecheck")
	script, err := filepath.Abs("testdata/drive.lua")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	results := filepath.Join(dir, "out.json")
	cmd := exec.CommandContext(ctx, nvim, "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", "luafile "+script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TILECHECK_LSP="+program, "TILECHECK_OUT="+results, "HOME="+dir, "XDG_STATE_HOME="+dir)
	var got struct {
		Typed, Completion, Bad                         []string
		Fix, Hover, Renamed, Props, Formatted, Problem string
		Result                                         string
		Definition                                     struct{ Line, Character int }
		Symbols                                        int
		Stopped                                        bool
	}
	drive(t, cmd, results, &got)
	if got.Problem != "" {
		t.Errorf("the session ended: %s", got.Problem)
	}
	// The place and words are those of: tilecheck check
	if len(got.Typed) != 1 || !strings.HasPrefix(got.Typed[0], `6:43: found "=", want an expression`) {
		t.Errorf("typed: %q", got.Typed)
	}
	if got.Fix != "Write = for ==" {
		t.Errorf("fix %q", got.Fix)
	}
	if !strings.Contains(got.Hover, "const double p;") || !strings.Contains(got.Hover, "value 0.25") {
		t.Errorf("hover %q", got.Hover)
	}
	if got.Definition.Line != 4 || got.Definition.Character != 2 {
		t.Errorf("x is declared at %v", got.Definition)
	}
	if !slices.Contains(got.Completion, "x") || slices.Contains(got.Completion, "module") || got.Symbols != 3 {
		t.Errorf("completion %q, %d symbols", got.Completion, got.Symbols)
	}
	if want := "size"; strings.Count(got.Renamed, want) != 4 || got.Props != "Pmax=? [ F x=size ]" {
		t.Errorf("renamed\n%s\n%q", got.Renamed, got.Props)
	}
	if got.Formatted != renamedAndLaidOut {
		t.Errorf("laid out\n%s\nwant\n%s", got.Formatted, renamedAndLaidOut)
	}
	if got.Result != "= 1" {
		t.Errorf("the lens says %q, want the value of the property", got.Result)
	}
	if len(got.Bad) != 1 || !strings.HasPrefix(got.Bad[0], "1:12: ") || !strings.Contains(got.Bad[0], "y") {
		t.Errorf("properties: %q", got.Bad)
	}
	if !got.Stopped {
		t.Error("the server goes on")
	}
}
