package guarantee_test

import (
	"io"
	"testing"

	"tilecheck/game"
	"tilecheck/game/guarantee"
)

// BenchmarkSearch decides tiles and writes their certificates. 3x3 is decided by depth-first search, 2x5 by retrograde analysis.
func BenchmarkSearch(b *testing.B) {
	for _, x := range []struct {
		name   string
		shape  game.Shape
		maxExp int
	}{
		{"3x3to32", game.Shape{Rows: 3, Cols: 3}, 5},
		{"3x3to64", game.Shape{Rows: 3, Cols: 3}, 6},
		{"2x5to128", game.Shape{Rows: 2, Cols: 5}, 7},
	} {
		b.Run(x.name, func(b *testing.B) {
			rules, err := game.New(x.shape)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				found, err := guarantee.Search(b.Context(), guarantee.Options{Rules: rules, Max: x.maxExp})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := found.WriteCertificate(b.Context(), io.Discard); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
