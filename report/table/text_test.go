package table

import (
	"slices"
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

// A formula is broken between its terms; in a file it is not broken at all.
func TestFormulas(t *testing.T) {
	formula := "-1*p^20+10*p^19-3e-05*p^18+40*p^17"
	if got, want := Wrap(formula, 12), []string{"-1*p^20", "+10*p^19", "-3e-05*p^18", "+40*p^17"}; !slices.Equal(got, want) {
		t.Errorf("the lines are %q, want %q", got, want)
	}
	x := &Table{Columns: []Column{{Name: "property", Min: 8, Code: true}, {Name: "value", Max: 12}, {Name: "note", Min: 4}}}
	x.Append("P=? [ F x ]", formula, "some words")
	for _, c := range []struct {
		opt  Options
		want string
	}{
		{Options{Width: 60}, "P=? [ F x ]  -1*p^20      some words\n             +10*p^19\n             -3e-05*p^18\n             +40*p^17\n"},
		{Options{Width: 60, Whole: true}, "P=? [ F x ]  " + formula + "  some words\n"},
		{Options{Width: 30, Whole: true}, "property  P=? [ F x ]\nvalue     " + formula + "\nnote      some words\n"},
	} {
		var b strings.Builder
		if err := x.Write(&b, Text, c.opt); err != nil || !strings.HasSuffix(b.String(), c.want) {
			t.Errorf("%+v: %v, found\n%s\nwant at the end\n%s", c.opt, err, b.String(), c.want)
		}
	}
}
