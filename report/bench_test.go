package report

import (
	"io"
	"slices"
	"testing"

	"tilecheck/report/table"
)

// An experiment of about a thousand valuations.
func BenchmarkVerdicts(b *testing.B) {
	many := slices.Repeat(verdicts(), 100)
	for _, f := range []table.Format{table.Text, table.JSON, table.CSV, table.Markdown} {
		b.Run(f.String(), func(b *testing.B) {
			for b.Loop() {
				if err := Verdicts(io.Discard, f, many, table.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
