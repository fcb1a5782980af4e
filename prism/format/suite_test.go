package format_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/prism/format"
	"tilecheck/prism/syntax"
)

// PRISM's own examples and tests: what parses keeps its tree and its comments, and is
// laid out once. The examples are those beside the tests.
func TestPRISMFiles(t *testing.T) {
	tests := needs.PRISMTests(t)
	parsed, refused, changed, comments := 0, 0, 0, 0
	for _, root := range []string{tests, filepath.Join(tests, "..", "prism-examples")} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !slices.Contains([]string{".prism", ".nm", ".pm", ".sm", ".props", ".pctl", ".csl"}, filepath.Ext(name)) {
				return err
			}
			src, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if _, err := syntax.ParseFile(syntax.PRISM, name, src); err != nil {
				refused++
				return nil
			}
			parsed++
			comments += strings.Count(string(src), "//")
			if once := checkFormat(t, name, src); !bytes.Equal(once, src) {
				changed++
			}
			checkPrint(t, name, src)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d files with about %d comments, of which %d are laid out anew; %d do not parse", parsed, comments, changed, refused)
	if parsed < 500 {
		t.Errorf("%d files, want PRISM's hundreds", parsed)
	}
}

// checkFormat lays a file out twice and compares words and comments as a text without white space.
func checkFormat(t *testing.T, name string, src []byte) []byte {
	t.Helper()
	once, err := format.Source(syntax.PRISM, name, src)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return nil
	}
	twice, err := format.Source(syntax.PRISM, name, once)
	if err != nil || !bytes.Equal(once, twice) {
		t.Errorf("%s: a second time it is\n%s\nwant\n%s (%v)", name, twice, once, err)
	}
	if got, want := solid(once), solid(src); got != want {
		t.Errorf("%s: the text is another one", name)
	}
	return once
}

// solid is a text without white space.
func solid(text []byte) string { return strings.Join(strings.Fields(string(text)), "") }

// checkPrint prints the tree: it has all comments, and printed again it is the same.
func checkPrint(t *testing.T, name string, src []byte) {
	t.Helper()
	tree, err := syntax.ParseFile(syntax.PRISM, name, src)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := syntax.Fprint(&b, tree, syntax.Options{}); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	again, err := syntax.ParseFile(syntax.PRISM, name, b.Bytes())
	if err != nil || !syntax.Equal(tree, again) {
		t.Errorf("%s: printed it is another tree: %v\n%s", name, err, b.Bytes())
	}
	if got, want := commentsOf(b.Bytes()), commentsOf(src); !slices.Equal(got, want) {
		t.Errorf("%s: comments\n%q\nwant\n%q", name, got, want)
	}
}

// commentsOf returns the comments of a text, sorted: a tree may print those inside a
// statement above it.
func commentsOf(src []byte) []string {
	var out []string
	for line := range strings.SplitSeq(strings.ReplaceAll(string(src), "\r", "\n"), "\n") {
		if _, text, found := strings.Cut(line, "//"); found {
			out = append(out, strings.TrimSpace(text))
		}
	}
	slices.Sort(out)
	return out
}
