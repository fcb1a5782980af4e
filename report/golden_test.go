package report

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"tilecheck/report/table"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// wantGolden compares what write produces with testdata/name; a missing file fails.
func wantGolden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var got bytes.Buffer
	if err := write(&got); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%s differs (go test -update accepts it); got:\n%s\nwant:\n%s", path, got.Bytes(), want)
	}
}

// release is the version that JSON and HTML have in the goldens.
func release() string { return "1.2.3" }

// views are the ways every kind of report is printed in the goldens.
func views() []struct {
	suffix string
	format table.Format
	opt    table.Options
} {
	return []struct {
		suffix string
		format table.Format
		opt    table.Options
	}{
		{".txt", table.Text, table.Options{}},
		{".120.txt", table.Text, table.Options{Width: 120}},
		{".80.txt", table.Text, table.Options{Width: 80}},
		{".30.txt", table.Text, table.Options{Width: 30}},
		{".fancy.txt", table.Text, table.Options{Color: true, Unicode: true}},
		{".json", table.JSON, table.Options{Version: release, Command: "check"}},
		{".csv", table.CSV, table.Options{}},
		{".md", table.Markdown, table.Options{}},
	}
}
