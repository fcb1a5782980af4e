package noun_test

import (
	"testing"

	"tilecheck/internal/noun"
)

func TestCount(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n              int
		singular, want string
	}{
		{0, "state", "0 states"},
		{1, "state", "1 state"},
		{2, "state", "2 states"},
		{1, "property", "1 property"},
		{3, "property", "3 properties"},
		{2, "play", "2 plays"},
		{2, "branch", "2 branches"},
		{2, "box", "2 boxes"},
		{2, "process", "2 processes"},
		{2, "reward structure", "2 reward structures"},
		{-1, "step", "-1 steps"},
	} {
		if got := noun.Count(c.n, c.singular); got != c.want {
			t.Errorf("Count(%d, %q) = %q, want %q", c.n, c.singular, got, c.want)
		}
	}
	if one, two := noun.Verb(1, "is", "are"), noun.Verb(2, "is", "are"); one != "is" || two != "are" {
		t.Errorf("Verb: %q for 1, %q for 2", one, two)
	}
}

func TestWithArticle(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"DTMC": "a DTMC", "CTMC": "a CTMC", "MDP": "an MDP", "PTA": "a PTA", "POMDP": "a POMDP", "LTS": "an LTS", "SMG": "an SMG", "IMDP": "an IMDP",
		"mdp": "an mdp", "dtmc": "a dtmc", "int": "an int", "bool": "a bool", "state of it": "a state of it", "MA": "an MA",
	} {
		if got := noun.WithArticle(text); got != want {
			t.Errorf("WithArticle(%q) = %q, want %q", text, got, want)
		}
	}
}
