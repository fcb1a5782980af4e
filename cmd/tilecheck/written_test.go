package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tilecheck/containers"
	"tilecheck/report/table"
)

// TestCheckNamesItsFiles tests that check prints the names of the files that it wrote on standard error, and none with --quiet.
func TestCheckNamesItsFiles(t *testing.T) {
	dir := t.TempDir()
	model := filepath.Join(dir, "m.prism")
	text := "mdp\nmodule m\n s:[0..2];\n [a] s=0 -> 0.5:(s'=1)+0.5:(s'=2);\n [b] s=0 -> (s'=1);\nendmodule\n"
	if err := os.WriteFile(model, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	props := filepath.Join(dir, "m.props")
	if err := os.WriteFile(props, []byte("const int N;\nPmax=? [ F<=N s=2 ];\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	scheduler, plot := filepath.Join(dir, "s.txt"), filepath.Join(dir, "p.svg")
	args := []string{"check", model, props, "--const", "N=1:3"}
	for _, test := range []struct {
		flags, files []string
	}{
		{[]string{"--plot", plot}, []string{plot}},
		{[]string{"--plot", plot, "--quiet"}, nil},
	} {
		code, _, stderr := tilecheck(t.Context(), append(args, test.flags...)...)
		checkWritten(t, code, stderr, test.files)
	}
	code, _, stderr := tilecheck(t.Context(), "check", model, "--prop", "Pmax=? [ F s=2 ]", "--export-scheduler", scheduler)
	checkWritten(t, code, stderr, []string{scheduler})
}

// checkWritten checks the exit code of a run, and that it names exactly these files as written.
func checkWritten(t *testing.T, code int, stderr string, files []string) {
	t.Helper()
	want := ""
	if len(files) > 0 {
		want = "wrote " + strings.Join(files, ", ") + "\n"
	}
	if code != exitOK || stderr != want {
		t.Errorf("exit code %d, standard error %q, want %q", code, stderr, want)
	}
}

// TestImageListWithoutImages tests that a list without images has no header, only the note that says how to get one; programs get an empty list.
func TestImageListWithoutImages(t *testing.T) {
	for _, test := range []struct {
		format table.Format
		images []containers.Image
		want   string // how the text begins
	}{
		{table.Text, nil, "no images: tilecheck image prism"},
		{table.Text, []containers.Image{{Ref: "prism:4.10", ID: "sha256:0123"}}, "image"},
		{table.CSV, nil, "image,tool,version,id,bytes,created"},
	} {
		var out bytes.Buffer
		env := &environment{system: system{stdout: &out, getenv: func(string) string { return "" }, terminal: func(io.Writer) (int, bool) { return 0, false }}}
		if err := env.writeRowsOrNotes(imageTable(test.images), test.format); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(out.String(), test.want) {
			t.Errorf("%v, %d images:\n%s\nwant a text that begins with %q", test.format, len(test.images), out.String(), test.want)
		}
	}
}
