package syntax_test

import (
	"slices"
	"testing"

	"tilecheck/prism/syntax"
)

func TestNearest(t *testing.T) {
	for name, want := range map[string]string{"gaol": "goal", "gola": "goal", "goall": "goal", "lost": "lose", "xyz": "", "ab": "", "g": ""} {
		if got := syntax.Nearest(name, slices.Values([]string{"goal", "lose", "longer"})); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
