package files_test

import (
	"math/big"
	"strings"
	"testing"

	"tilecheck/native/space/explicit"
	"tilecheck/native/space/files"
)

// Fractions that sum to 1 but for rounding are divided by their sum where a caller does not need the fractions of the file.
func TestNormalise(t *testing.T) {
	const tra = "3 5\n0 1 0.33333\n0 2 0.66666\n1 1 1\n2 1 0.1\n2 2 0.9\n"
	const drn = "@type: DTMC\n@parameters\n\n@reward_models\n\n@nr_states\n3\n@model\nstate 0 init\n\taction 0\n\t\t1 : 0.33333\n\t\t2 : 0.66666\n" +
		"state 1\n\taction 0\n\t\t1 : 1\nstate 2\n\taction 0\n\t\t1 : 0.1\n\t\t2 : 0.9\n"
	for ext, text := range map[string]string{"tra": tra, "drn": drn} {
		g, err := files.Open(t.Context(), files.Sources{Transitions: files.Source{Name: "m." + ext, Text: []byte(text)}}, ext, files.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Space(t.Context(), explicit.StrictFractions); err == nil || !strings.Contains(err.Error(), "sum to exactly 99999/100000, wanted 1") {
			t.Errorf("%s: strict fractions: %v, want a refusal", ext, err)
		}
		space, err := g.Space(t.Context(), explicit.Normalised)
		if err != nil {
			t.Errorf("%s: %v", ext, err)
			continue
		}
		m := space.Model()
		for i, want := range []string{"1/3", "2/3", "1", "1/10", "9/10"} {
			if got := m.Fraction(i); got.Cmp(rat(want)) != 0 {
				t.Errorf("%s: transition %d has the probability %s, want %s", ext, i, got.RatString(), want)
			}
		}
		if notes := strings.Join(space.Warnings(), "\n"); !space.Normalised() || !strings.Contains(notes, "differ from 1 by up to 1e-05; each is divided by its sum") {
			t.Errorf("%s: normalised %t, %q", ext, space.Normalised(), notes)
		}
	}
	wrong := files.Source{Name: "m.tra", Text: []byte(strings.Replace(tra, "0.66666", "0.6666", 1))}
	if _, err := files.Read(t.Context(), files.Sources{Transitions: wrong}, files.ReadOptions{Exact: true, Normalise: true}); err == nil {
		t.Error("a sum of 0.99993 is read")
	}
}

func rat(text string) *big.Rat {
	r, _ := new(big.Rat).SetString(text)
	return r
}
