package quote

import (
	"slices"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"  python3  -u player.py\t--depth 2 ", []string{"python3", "-u", "player.py", "--depth", "2"}},
		{`"my player" 'a "b"' c'd e'f ""`, []string{"my player", `a "b"`, "cd ef", ""}},
		{`C:\bin\p.exe x`, []string{`C:\bin\p.exe`, "x"}},
	} {
		if got, err := Split(c.text); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, %v, want %q", c.text, got, err, c.want)
		}
	}
	if _, err := Split("a 'b"); err == nil || err.Error() != "' is not closed in a 'b" {
		t.Errorf("%v", err)
	}
}
