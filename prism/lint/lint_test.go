package lint_test

import (
	"fmt"
	"slices"
	"testing"

	"tilecheck/prism/lint"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
)

func source(t *testing.T, name, text string) lint.Source {
	t.Helper()
	tree, err := syntax.ParseFile(syntax.PRISM, name, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return lint.Source{Name: name, Text: []byte(text), Tree: tree}
}

func lines(list []lint.Finding) []string {
	var out []string
	for _, f := range list {
		out = append(out, fmt.Sprintf("%s:%s %s", f.File, f.Pos, f.Code))
	}
	return out
}

const model = `dtmc
const int K = 3;
const int L = 3; // used in the properties
const int N = 1; // lint: ignore
formula f = x>N;
// lint: ignore unused: kept for later
formula g = f;
// lint: ignore overlap
formula h = f;
module M
  x : [0..2];
  [] x=0 -> (x'=1);
  [] x=0 & false -> (x'=1); // for the states
  // lint: ignore never-holds
  [] N>1 -> (x'=1);
endmodule
module M2 = M [x=y] endmodule
`

func TestTexts(t *testing.T) {
	files := []lint.Source{source(t, "m.prism", model), source(t, "m.props", "const int k; const int z; const int r;\n// RESULT (r=3): 1\nP=? [ F<=k x=L ]")}
	m, err := sema.CheckModel(files[0].Tree.(*syntax.Model))
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Instantiate(nil)
	if err != nil {
		t.Fatal(err)
	}
	all := lint.Texts(files, p)
	want := []string{"m.prism:2:11 unused", "m.prism:7:9 unused", "m.prism:9:9 unused", "m.prism:15:3 never-holds", "m.props:1:24 unused"}
	if got := lines(all); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	active, silenced := lint.Split(all, files)
	if got := lines(silenced); !slices.Equal(got, []string{"m.prism:7:9 unused", "m.prism:15:3 never-holds"}) || len(active) != len(want)-2 {
		t.Errorf("%q are silenced and %q told", got, lines(active))
	}
	if got := lines(lint.Texts(files, nil)); len(got) != 4 {
		t.Errorf("without values of constants %q", got)
	}
}

// What silences, and what only looks like it.
func TestDirectives(t *testing.T) {
	for comment, want := range map[string]bool{
		"// lint: ignore": true, "//lint: ignore": true, "// lint: ignore unused": true, "// lint: ignore overlap, unused": true, "// lint: ignore because": true,
		"/// lint: ignore: why": true, "// lint: ignore overlap": false, "// lint: ignored": false, "// lint:ignore": false, "// no lint: ignore": false,
	} {
		for _, text := range []string{"const int K = 3; " + comment, comment + "\nconst int K = 3;", "// one\n" + comment + "\n// two\nconst int K = 3;"} {
			f := source(t, "m.prism", "dtmc\n"+text+"\n")
			active, _ := lint.Split(lint.Texts([]lint.Source{f}, nil), []lint.Source{f})
			if (len(active) == 0) != want {
				t.Errorf("%q: %q", text, lines(active))
			}
		}
		f := source(t, "m.prism", "dtmc\n"+comment+"\n\nconst int K = 3;\n")
		if active, _ := lint.Split(lint.Texts([]lint.Source{f}, nil), []lint.Source{f}); len(active) != 1 {
			t.Errorf("%q above a blank line: %q", comment, lines(active))
		}
	}
}
