package syntax_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"tilecheck/prism/syntax"
)

func FuzzParseModel(f *testing.F) {
	addFiles(f, conformance+"/*/model.prism", "testdata/err/*.prism")
	f.Add([]byte(layoutSource))
	f.Add([]byte(stormSource))
	f.Fuzz(func(t *testing.T, src []byte) { checkFuzzed(t, "fuzz.prism", src) })
}

func FuzzParseProperties(f *testing.F) {
	addFiles(f, conformance+"/*/*.props", "testdata/err/*.props")
	f.Fuzz(func(t *testing.T, src []byte) { checkFuzzed(t, "fuzz.props", src) })
}

func addFiles(f *testing.F, patterns ...string) {
	f.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("no files %s: %v", pattern, err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src)
		}
	}
}

// checkFuzzed checks what holds for any input: it parses and prints to what
// parses to the same, or there are between one and ten errors in order.
func checkFuzzed(t *testing.T, name string, src []byte) {
	n, err := parseFile(name, src)
	if err != nil {
		list := errorList(t, err)
		if len(list) == 0 || len(list) > 10 {
			t.Fatalf("%d errors", len(list))
		}
		for i, e := range list {
			if !e.Pos.IsValid() || int(e.Pos.Offset) > len(src) || e.Pos.Col < 1 || i > 0 && e.Pos.Compare(list[i-1].Pos) <= 0 {
				t.Fatalf("error %d at %v: %v", i, e.Pos, list)
			}
		}
		return
	}
	checkRoundTrip(t, n)
	if !syntax.Equal(n, syntax.Clone(n)) {
		t.Fatal("the copy differs")
	}
	var refused *syntax.DialectError
	if _, err := printStorm(n); err != nil && !errors.As(err, &refused) {
		t.Fatalf("printing for Storm: %v", err)
	}
	syntax.Inspect(n, func(n syntax.Node) bool {
		if x, ok := n.(syntax.Expr); ok && (n.Pos().Compare(n.End()) >= 0 || syntax.ExprString(x) == "") {
			t.Fatalf("%T from %v to %v", n, n.Pos(), n.End())
		}
		return true
	})
}
