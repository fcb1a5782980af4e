package table

import (
	"strings"
	"testing"
)

// TestWrapLong breaks long texts, one of megabytes, which took minutes as long as the width of
// all that was left was measured for every line.
func TestWrapLong(t *testing.T) {
	for _, c := range []struct {
		text    string
		n       int
		columns int
	}{{"x", 4 << 20, 1}, {"é", 1 << 13, 1}, {"語", 1 << 13, 2}} {
		text := strings.Repeat(c.text, c.n)
		lines := Wrap(text, 40)
		if strings.Join(lines, "") != text {
			t.Errorf("%s: the lines are not the text", c.text)
		}
		if want := (c.n*c.columns + 39) / 40; len(lines) != want {
			t.Errorf("%s: found %d lines, want %d", c.text, len(lines), want)
		}
		for _, line := range lines {
			if got := len([]rune(line)) * c.columns; got > 40 {
				t.Fatalf("%s: a line has %d columns", c.text, got)
			}
		}
	}
	for _, c := range []struct {
		text string
		want int
	}{{strings.Repeat("x", 40), 1}, {strings.Repeat("x", 41), 2}, {strings.Repeat("e\u0301", 40), 1}, {strings.Repeat("e\u0301", 1<<10), 26}} {
		if got := Wrap(c.text, 40); len(got) != c.want {
			t.Errorf("%.20q: %d lines, want %d", c.text, len(got), c.want)
		}
	}
}
