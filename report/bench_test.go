package report

import (
	"io"
	"slices"
	"testing"
)

// An experiment of about a thousand valuations.
func BenchmarkVerdicts(b *testing.B) {
	many := slices.Repeat(verdicts(), 100)
	for _, f := range []Format{FormatTable, FormatJSON, FormatCSV, FormatMarkdown} {
		b.Run(f.String(), func(b *testing.B) {
			for b.Loop() {
				if err := Verdicts(io.Discard, f, many, Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
