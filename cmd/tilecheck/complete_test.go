package main

import (
	"io"
	"strconv"
	"strings"
	"testing"

	"tilecheck/cmd/tilecheck/describe"
)

func TestComplete(t *testing.T) {
	var c cli
	app, err := newApp(t.Context(), &c, &environment{system: system{stdout: io.Discard, stderr: io.Discard, identifyBuild: testBuild}}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		line string
		want string // "…" at the end: and more
	}{
		{"tilecheck cros", "crosscheck"},
		{"tilecheck nosuch", ""},
		{"tilecheck ", "check crosscheck …"},
		{"tilecheck compare ", "models players document"},
		{"tilecheck compare mo", "models"},
		{"tilecheck check --tim", "--timeout"},
		{"tilecheck check die.prism --exa", "--exact"},
		{"tilecheck check die.prism ", ""}, // files
		{"tilecheck check --prop check --exa", "--exact"},
		{"tilecheck completion ", "bash zsh fish"},
		{"tilecheck completion bash ", ""},
		{"tilecheck completion z", "zsh"},
		{"tilecheck --quie", "--quiet"},
		{"tilecheck check --no-co", "--no-color"},
		{"tilecheck man", ""}, // hidden
		{"tilecheck", ""},
	} {
		var out strings.Builder
		env := map[string]string{"COMP_LINE": tt.line + "IGNORED", "COMP_POINT": strconv.Itoa(len(tt.line))}
		if !describe.Complete(&out, app.Model, func(name string) string { return env[name] }) {
			t.Errorf("%q: nobody asked", tt.line)
		}
		got := strings.Join(strings.Fields(out.String()), " ")
		want, more := strings.CutSuffix(tt.want, "…")
		if got != want && !(more && strings.HasPrefix(got, want)) {
			t.Errorf("%q: %q, want %q", tt.line, got, tt.want)
		}
	}
	if describe.Complete(io.Discard, app.Model, func(string) string { return "" }) {
		t.Error("completes for no shell")
	}
}
