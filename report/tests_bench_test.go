package report

import (
	"bytes"
	"io"
	"testing"

	"tilecheck/report/table"
)

// Every report of 5,000 results.
func BenchmarkTests(b *testing.B) {
	rep := manyResults(5000)
	var lines bytes.Buffer
	if err := WriteJSONLines(&lines, rep, table.Options{}); err != nil {
		b.Fatal(err)
	}
	for _, x := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"table", func(w io.Writer) error { return WriteTests(w, table.Text, rep, table.Options{Width: 120}) }},
		{"markdown", func(w io.Writer) error { return WriteTests(w, table.Markdown, rep, table.Options{}) }},
		{"json", func(w io.Writer) error { return WriteTests(w, table.JSON, rep, table.Options{}) }},
		{"junit", func(w io.Writer) error { return WriteJUnit(w, rep) }},
		{"html", func(w io.Writer) error { return WriteHTML(w, rep, table.Options{}) }},
		{"lines", func(w io.Writer) error { return WriteJSONLines(w, rep, table.Options{}) }},
		{"read", func(io.Writer) error {
			_, err := ReadJSONLines(bytes.NewReader(lines.Bytes()), "")
			return err
		}},
		{"baseline", func(w io.Writer) error {
			return CompareBaseline(rep, rep).Write(w, table.Text, table.Options{})
		}},
	} {
		b.Run(x.name, func(b *testing.B) {
			for b.Loop() {
				if err := x.write(io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
