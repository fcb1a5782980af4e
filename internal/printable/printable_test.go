package printable

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for _, test := range []struct{ text, want, line string }{
		{"P=? [ F \"x\" ]", "P=? [ F \"x\" ]", "P=? [ F \"x\" ]"},
		{"Größe ≤ 3, 漢字 😀", "Größe ≤ 3, 漢字 😀", "Größe ≤ 3, 漢字 😀"},
		{"a\nb", "a\nb", `a\nb`},
		{"a\r\nb\rc", "a\nb\\x0dc", `a\x0d\nb\x0dc`},
		{"a\tb", "a b", "a b"},
		{"\x1b]0;owned\x07\x1b[2J", `\x1b]0;owned\x07\x1b[2J`, `\x1b]0;owned\x07\x1b[2J`},
		{"\u009b31m\u0085", `\x9b31m\x85`, `\x9b31m\x85`}, // C1: CSI, NEL
		{"\x7f\x00", `\x7f\x00`, `\x7f\x00`},
		{"a\u202eb\u2066c\u2069\u200f\u061c", `a\u202eb\u2066c\u2069\u200f\u061c`, `a\u202eb\u2066c\u2069\u200f\u061c`},
		{"a\u200bb\ufeffc\u00adx\u2060", `a\u200bb\ufeffc\xadx\u2060`, `a\u200bb\ufeffc\xadx\u2060`},
		{"\u2028\u2029\U000e0041\u3164", `\u2028\u2029\U000e0041\u3164`, `\u2028\u2029\U000e0041\u3164`},
		{"a\xffb\xc3", `a\xffb\xc3`, `a\xffb\xc3`},
		{"\xe2\x80", `\xe2\x80`, `\xe2\x80`}, // the start of a bidirectional control
		{"\ufffe\U0001ffff", `\ufffe\U0001ffff`, `\ufffe\U0001ffff`},
		{"\ufffd", `\ufffd`, `\ufffd`},
	} {
		if got := Text(test.text); got != test.want {
			t.Errorf("Text(%q) = %q, want %q", test.text, got, test.want)
		}
		if got := Line(test.text); got != test.line {
			t.Errorf("Line(%q) = %q, want %q", test.text, got, test.line)
		}
	}
}

// Whatever comes in, the outcome is safe, and safe text stays as it is.
func FuzzText(f *testing.F) {
	f.Add("a\x1b[31m\u202e\xff\r\n\t")
	f.Fuzz(func(t *testing.T, text string) {
		got := Text(text)
		if strings.ContainsFunc(strings.ReplaceAll(got, "\n", ""), unsafe) {
			t.Errorf("Text(%q) = %q has unsafe characters", text, got)
		}
		if again := Text(got); again != got {
			t.Errorf("Text(%q) = %q, and of that %q", text, got, again)
		}
	})
}
