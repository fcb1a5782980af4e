package sema

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

var (
	markRE      = regexp.MustCompile(`[ ]*// ERROR(!?) "((?:[^"\\]|\\.)*)"`)
	lastTokenRE = regexp.MustCompile(`(?:[A-Za-z_][A-Za-z_0-9]*'?|[0-9]*\.?[0-9]+|[^ ])$`)
)

// mark is an expected error: // ERROR "regexp" stands behind the token where
// the error is, the last one of its line, and // ERROR! behind the one that
// PRISM reports.
type mark struct {
	line, col int32
	first     bool
	msg       *regexp.Regexp
}

func marks(t *testing.T, src string) []mark {
	t.Helper()
	var list []mark
	for i, line := range strings.Split(src, "\n") {
		at := markRE.FindStringSubmatchIndex(line)
		if at == nil {
			continue
		}
		token := lastTokenRE.FindStringIndex(line[:at[0]])
		if token == nil {
			t.Fatalf("line %d: no token before the mark", i+1)
		}
		msg := strings.ReplaceAll(line[at[4]:at[5]], `\"`, `"`)
		list = append(list, mark{int32(i + 1), int32(token[0] + 1), at[2] < at[3], regexp.MustCompile(msg)})
	}
	return list
}

func mustCheck(t testing.TB, src string) *Model {
	t.Helper()
	tree, err := syntax.ParseModel("m.prism", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	m, err := CheckModel(tree)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// checkFile checks a model, or properties over testdata/err/base.model.
func checkFile(t *testing.T, file string, src []byte) error {
	t.Helper()
	if filepath.Ext(file) == ".prism" {
		m, err := syntax.ParseModel(file, src)
		if err != nil {
			t.Fatal(err)
		}
		_, err = CheckModel(m)
		return err
	}
	base, err := os.ReadFile("testdata/err/base.model")
	if err != nil {
		t.Fatal(err)
	}
	ps, err := syntax.ParseProperties(file, src)
	if err != nil {
		t.Fatal(err)
	}
	_, err = mustCheck(t, string(base)).CheckProperties(ps)
	return err
}

// The files list every error that must be found, and so also say where none
// must be found. Where PRISM 4.10.2-dev reports its one error was found by
// running it.
func TestErrorFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/err/*.pr*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			compareErrors(t, checkFile(t, file, src), marks(t, string(src)))
		})
	}
}

func compareErrors(t *testing.T, err error, want []mark) {
	t.Helper()
	var got syntax.ErrorList
	if !errors.As(err, &got) {
		t.Fatalf("got %v, want an ErrorList", err)
	}
	for i, e := range got {
		j := slices.IndexFunc(want, func(m mark) bool { return m.line == e.Pos.Line && m.col == e.Pos.Col })
		switch {
		case j < 0:
			t.Errorf("unexpected error: %v", e)
			continue
		case !want[j].msg.MatchString(e.Msg):
			t.Errorf("got %v, want /%s/", e, want[j].msg)
		case i == 0 != want[j].first:
			t.Errorf("the first error is %v, want that which PRISM reports", got[0])
		}
		want = slices.Delete(want, j, j+1)
	}
	for _, m := range want {
		t.Errorf("missing error: %d:%d: /%s/", m.line, m.col, m.msg)
	}
}

// Errors that end a check or need a model of their own. Positions are those
// PRISM 4.10.2-dev prints, found by running it; line -1 is a place that it does
// not print, and line 0 means that there is no error.
func TestOneError(t *testing.T) {
	const m = "module M s:[0..1]; [a] true -> true; endmodule "
	tests := []struct {
		model, props string
		line, col    int32
		want         string
	}{
		{"dtmc mdp " + m, "", 1, 6, "multiple model type declarations"},
		{"mdp " + m + `system M endsystem system M endsystem`, "", 1, 78, "at most one unnamed system"},
		{"mdp " + m + `system "x" M endsystem system "x" M endsystem`, "", 1, 86, `duplicated system...endsystem name "x"`},
		{"mdp " + m + `system M endsystem system "x" "y" endsystem system "y" "x" endsystem`, "", 1, 82, `cyclic dependency from references in system...endsystem definition "x"`},
		{"mdp " + m + `system "z" || M endsystem`, "", 1, 59, "reference to system z which does not exist"},
		{"mdp " + m + `system "x" M endsystem system "y" Nobody endsystem`, "", 0, 0, ""},
		{"mdp " + m + "module M2 = M2 [ s=t ] endmodule", "", 1, 64, "no such module M2"},
		{"mdp formula f = f; " + m, "", 1, 17, `cyclic dependency in definition of formula "f"`},
		{"mdp const int a = a; " + m, "", 1, 19, `cyclic dependency in definition of constant "a"`},
		{"dtmc observables s endobservables " + m, "", -1, 0, "DTMCs cannot specify observables"},
		{"pomdp " + m, "", -1, 0, "POMDPs must specify observables"},
		{"popta observables s endobservables module M s:[0..1]; x:clock; endmodule", "", 1, 55, "all clocks in POPTAs must be observable"},
		{"observables s endobservables module M s:[0..1]; x:clock; endmodule", "", 1, 49, "all clocks in POPTAs must be observable"},
		{"pta observables s, x endobservables module M s:[0..1]; x:clock; endmodule", "", 0, 0, ""},
		{"pta module M x:clock; [] x<1 -> [0.5,1]:true; endmodule", "", -1, 0, "intervals only allowed in DTMCs and MDPs, found one in a PTA"},
		{"dtmc module M s:[0..1]; [] true -> [0.5,1]:true; endmodule", "", 0, 0, ""},
		{"mdp module M s:[0..1] init true; t:[0..true]; u:[false..1]; endmodule", "", 1, 28, "does not match"},
		{"mdp " + m + "label \"a\" = s=1;", `multi(P>0 [ F s=1 ], P=? [ F s=1 ])`, -1, 0, "any Double arguments must come before any Boolean arguments"},
		{"mdp " + m, `filter(sum, multi(P=? [ F s=1 ], P=? [ X s=1 ]))`, 1, 13, "void arguments not allowed"},
		{"mdp " + m, `P=? [ (F s=1) => s ]`, 1, 18, "=> applied to a non-Boolean expression"},
		{"mdp " + m, `P=? [ (F s=1) = (F s=0) ]`, 1, 7, "= cannot compare path formulas"},
		{"mdp " + m, `E [ s ] & A [ F s=1 ]`, 0, 0, ""},
		{"mdp " + m, `(<<1>> (s)) & true`, 1, 1, "& applied to a non-Boolean expression: found an expression of type double"},
		{"mdp " + m, `<<1>> (s=1)`, 0, 0, ""},
		{"mdp " + m, `S=? [ s=1 {s} ]`, 1, 12, "filter of the operator is not a Boolean"},
		{"mdp " + m, `const int k = "x"; "x": 1`, 1, 15, ""}, // a syntax error
		{"mdp " + m, `const int k = s; P>k [ F s=1 ]`, 1, 15, `definition of constant "k" is not constant`},
		{"mdp " + m, `const int k = j; const int j = k + 1;`, 1, 15, `cyclic dependency in definition of constant "k"`},
		{"mdp " + m, `label "init2" = s; label "deadlock" = s=1;`, 1, 39, `cannot define a label called "deadlock"`},
		{"mdp const int a = s; " + m, "", 1, 19, `definition of constant "a" is not constant`},
	}
	for _, test := range tests {
		err := fromText(test.model, test.props, "")
		if test.want == "" && test.line == 0 {
			if err != nil {
				t.Errorf("%s %s: %v", test.model, test.props, err)
			}
			continue
		}
		var list syntax.ErrorList
		if !errors.As(err, &list) {
			t.Errorf("%s %s: got %v, want an ErrorList", test.model, test.props, err)
			continue
		}
		e := list[0]
		if test.line > 0 && (e.Pos.Line != test.line || e.Pos.Col != test.col) || !strings.Contains(e.Msg, test.want) {
			t.Errorf("%s %s: got %v, want %d:%d: %s", test.model, test.props, e, test.line, test.col, test.want)
		}
	}
}
