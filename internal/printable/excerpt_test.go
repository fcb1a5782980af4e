package printable

import "testing"

func TestExcerpt(t *testing.T) {
	long := ""
	for range 30 {
		long += "0123456789"
	}
	for _, test := range []struct {
		name, text string
		row, col   int
		want       string
	}{
		{"first", "abc\ndef\n", 1, 2, "  abc\n   ^\n"},
		{"last, without an end", "abc\ndef", 2, 4, "  def\n     ^\n"},
		{"windows", "abc\r\ndef\r\n", 1, 4, "  abc\n     ^\n"},
		{"tabs are blanks", "\t\tx\ty", 1, 5, "    x y\n      ^\n"},
		{"bytes are counted, columns shown", "é=1", 1, 3, "  é=1\n   ^\n"},
		{"wide", "日本=1", 1, 7, "  日本=1\n      ^\n"},
		{"escapes", "a\x1b[2Jb\u202e", 1, 6, "  a\\x1b[2Jb\\u202e\n          ^\n"},
		{"cut behind", long, 1, 1, "  " + long[:49] + "...\n  ^\n"},
		{"cut before", long, 1, 301, "  ..." + long[266:300] + "\n" + "  " + spaces(37) + "^\n"},
		{"cut on both sides", long, 1, 151, "  ..." + long[116:150] + long[150:164] + "...\n" + "  " + spaces(37) + "^\n"},
		{"no such line", "abc", 2, 1, ""},
		{"no text", "", 1, 1, ""},
		{"beyond the line", "abc", 1, 9, "  abc\n     ^\n"},
		{"no place", "abc", 0, 0, ""},
	} {
		if got := Excerpt([]byte(test.text), test.row, test.col, 60); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

func spaces(n int) string {
	out := ""
	for range n {
		out += " "
	}
	return out
}
