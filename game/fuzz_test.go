package game_test

import (
	"errors"
	"testing"

	"tilecheck/game"
)

// FuzzMove checks any board of any shape against the oracle, and that its symmetries commute with moves.
func FuzzMove(f *testing.F) {
	var rules []*game.Rules
	for _, s := range shapes {
		rules = append(rules, newRules(f, s))
	}
	for i := range shapes {
		f.Add(uint64(0x1121_0330_4444_ff0e), uint8(i))
	}
	f.Fuzz(func(t *testing.T, cells uint64, shape uint8) {
		r := rules[int(shape)%len(rules)]
		unused := 4 * (game.MaxCells - r.Shape().Cells())
		b := game.Board(cells << unused >> unused)
		checkAgainstSlow(t, r, b)
		checkSymmetries(t, r, b)
	})
}

// checkSymmetries checks, for every symmetry, that it can be undone, that moving and reflecting can be done in either order, and that
// all images have the same canonical form.
func checkSymmetries(t *testing.T, r *game.Rules, b game.Board) {
	t.Helper()
	least, by := r.Canonical(b)
	if r.Apply(by, b) != least {
		t.Errorf("%s %v: canonical form %v by %s, which makes %v", r.Shape(), b, least, by, r.Apply(by, b))
	}
	for s := range game.Symmetry(r.Symmetries()) {
		image := r.Apply(s, b)
		if back := r.Apply(s.Inverse(), image); back != b {
			t.Errorf("%s %v: %s makes %v, its inverse %s makes that %v", r.Shape(), b, s, image, s.Inverse(), back)
		}
		if image < least {
			t.Errorf("%s %v: canonical form %v is not least: %s makes %v", r.Shape(), b, least, s, image)
		}
		if l, _ := r.Canonical(image); l != least {
			t.Errorf("%s %v: canonical form %v, but that of its image %v by %s is %v", r.Shape(), b, least, image, s, l)
		}
		checkCommutes(t, r, b, s)
	}
}

func checkCommutes(t *testing.T, r *game.Rules, b game.Board, s game.Symmetry) {
	t.Helper()
	for _, d := range directions {
		next, score, err := r.Move(b, d)
		next2, score2, err2 := r.Move(r.Apply(s, b), s.Dir(d))
		if r.Apply(s, next) != next2 || score != score2 || !errors.Is(err, err2) {
			t.Errorf("%s %v, %s then %s: %v, %d, %v; %s then %s: %v, %d, %v", r.Shape(), b,
				d, s, r.Apply(s, next), score, err, s, s.Dir(d), next2, score2, err2)
		}
	}
}
