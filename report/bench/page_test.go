package bench

import "testing"

// The page leaves out the directory that has the files of all cases.
func TestCommonDir(t *testing.T) {
	for _, tt := range []struct {
		cases []string
		want  string
	}{
		{nil, ""},
		{[]string{"die.prism die.props"}, ""},
		{[]string{"/a/b/die.prism /a/b/die.props -property six"}, "/a/b/"},
		{[]string{"/a/b/die.prism", "/a/c/die.prism /a/c/die.props"}, "/a/"},
		{[]string{"/a/b/die.prism", "/ab/die.prism"}, ""},
		{[]string{"models/x/a.prism", "models/y.prism"}, "models/"},
		{[]string{"models/x/a.prism", "y.prism"}, ""},
	} {
		if got := commonDir(tt.cases); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.cases, got, tt.want)
		}
	}
}
