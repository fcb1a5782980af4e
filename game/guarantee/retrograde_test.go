package guarantee

import (
	"bytes"
	"fmt"
	"testing"

	"tilecheck/certify/tiles"
	"tilecheck/game"
	"tilecheck/internal/needs"
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
			if x.shape.Cells() > 8 {
				needs.Full(t)
			}
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
			got, err := backwards(t.Context(), opt, h, horizon{half: h.greatestHalf()})
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
			decided := want.decided.(tableDecisions)
			for i, b := range decided.boards {
				if b == 0 {
					continue
				}
				if known := got.decided.get(got.decided.key(b), b.Sum()/2); known != decided.values[i] {
					t.Fatalf("%s is decided as %d, want %d", x.shape.Format(b), known, decided.values[i])
				}
			}
		})
	}
}

// TestHorizons: an answer from the boards up to a limit of their sum is right, and its certificate is accepted and the same for any number of
// workers.
func TestHorizons(t *testing.T) {
	answers := map[bool]int{} // by the answer
	for _, x := range []struct {
		shape  game.Shape
		maxExp int
		want   bool
	}{
		{game.Shape{Rows: 2, Cols: 2}, 4, false},
		{game.Shape{Rows: 2, Cols: 3}, 4, true},
		{game.Shape{Rows: 3, Cols: 2}, 5, false},
		{game.Shape{Rows: 2, Cols: 4}, 5, true},
		{game.Shape{Rows: 4, Cols: 2}, 6, false},
	} {
		h, err := newHalves(x.shape, x.maxExp)
		if err != nil || h == nil {
			t.Fatal("no halves", err)
		}
		rules, err := game.New(x.shape)
		if err != nil {
			t.Fatal(err)
		}
		for _, top := range h.horizons(x.maxExp) {
			var certificates []string
			for _, workers := range []int{1, 3} {
				found, err := backwards(t.Context(), Options{Rules: rules, Max: x.maxExp, Workers: workers}, h, top)
				if err != nil {
					t.Fatal(err)
				}
				if found == nil {
					certificates = append(certificates, "unknown")
					continue
				}
				if top.half < h.greatestHalf() {
					answers[found.Guaranteed]++
				}
				if found.Guaranteed != x.want {
					t.Errorf("%s to %d with %+v: guaranteed is %v, want %v", x.shape, 1<<x.maxExp, top, found.Guaranteed, x.want)
				}
				var certificate bytes.Buffer
				if _, err := found.WriteCertificate(t.Context(), &certificate); err != nil {
					t.Fatal(err)
				}
				certificates = append(certificates, certificate.String())
				if checked, err := tiles.CheckGuarantee(t.Context(), &certificate); err != nil || checked.Guaranteed != x.want {
					t.Errorf("%s to %d with %+v: the checker says %+v, %v", x.shape, 1<<x.maxExp, top, checked, err)
				}
			}
			if certificates[0] != certificates[1] {
				t.Errorf("%s to %d with %+v: three workers write another certificate than one", x.shape, 1<<x.maxExp, top)
			}
		}
	}
	if answers[true] == 0 || answers[false] == 0 {
		t.Errorf("limited sums gave %v answers by guaranteed, want both", answers)
	}
}
