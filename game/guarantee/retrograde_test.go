package guarantee

import (
	"bytes"
	"fmt"
	"testing"

	"tilecheck/certify/tiles"
	"tilecheck/game"
)

// TestRetrograde: retrograde analysis and depth-first search agree about each board that the search decides, and the checker accepts the
// certificate of the analysis.
func TestRetrograde(t *testing.T) {
	for _, x := range []struct {
		shape  game.Shape
		maxExp int
	}{
		{game.Shape{Rows: 2, Cols: 2}, 3},
		{game.Shape{Rows: 2, Cols: 2}, 5},
		{game.Shape{Rows: 2, Cols: 3}, 5},
		{game.Shape{Rows: 3, Cols: 2}, 6},
		{game.Shape{Rows: 2, Cols: 4}, 6},
		{game.Shape{Rows: 4, Cols: 2}, 5},
		{game.Shape{Rows: 5, Cols: 2}, 5},
		{game.Shape{Rows: 3, Cols: 4}, 4},
		{game.Shape{Rows: 4, Cols: 3}, 4},
	} {
		t.Run(fmt.Sprintf("%s to %d", x.shape, 1<<x.maxExp), func(t *testing.T) {
			rules, err := game.New(x.shape)
			if err != nil {
				t.Fatal(err)
			}
			opt := Options{Rules: rules, Max: x.maxExp}
			want, err := depthFirst(t.Context(), opt, fewBoards)
			if err != nil {
				t.Fatal(err)
			}
			h, err := newHalves(x.shape, x.maxExp)
			if err != nil || h == nil {
				t.Fatal("no halves", err)
			}
			got, err := backwards(t.Context(), opt, h)
			if err != nil || got.Guaranteed != want.Guaranteed {
				t.Fatalf("guaranteed is %v, %v, want %v", got.Guaranteed, err, want.Guaranteed)
			}
			var certificate bytes.Buffer
			boards, err := got.WriteCertificate(t.Context(), &certificate)
			if err != nil {
				t.Fatal(err)
			}
			if checked, err := tiles.CheckGuarantee(t.Context(), &certificate); err != nil || checked.Guaranteed != want.Guaranteed || checked.Boards != boards {
				t.Errorf("the certificate has %d boards, and the checker says %+v, %v", boards, checked, err)
			}
			decided := want.decided.(*table)
			for i, b := range decided.boards {
				if b != 0 && got.decided.get(b) != decided.values[i] {
					t.Fatalf("%s is decided as %d, want %d", x.shape.Format(b), got.decided.get(b), decided.values[i])
				}
			}
		})
	}
}
