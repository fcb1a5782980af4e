package report

import (
	"bytes"
	"io"
	"testing"
)

// Every report of 5,000 results.
func BenchmarkTests(b *testing.B) {
	rep := manyResults(5000)
	var lines bytes.Buffer
	if err := WriteJSONLines(&lines, rep, Options{}); err != nil {
		b.Fatal(err)
	}
	for _, x := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{"table", func(w io.Writer) error { return WriteTests(w, FormatTable, rep, Options{Width: 120}) }},
		{"markdown", func(w io.Writer) error { return WriteTests(w, FormatMarkdown, rep, Options{}) }},
		{"json", func(w io.Writer) error { return WriteTests(w, FormatJSON, rep, Options{}) }},
		{"junit", func(w io.Writer) error { return WriteJUnit(w, rep) }},
		{"html", func(w io.Writer) error { return WriteHTML(w, rep, Options{}) }},
		{"lines", func(w io.Writer) error { return WriteJSONLines(w, rep, Options{}) }},
		{"read", func(io.Writer) error {
			_, err := ReadJSONLines(bytes.NewReader(lines.Bytes()), "")
			return err
		}},
		{"baseline", func(w io.Writer) error {
			return CompareBaseline(rep, rep, BaselineOptions{}).Write(w, FormatTable, Options{})
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
