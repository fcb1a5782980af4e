package syntax_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

// parseFile parses a file by its extension.
func parseFile(name string, src []byte) (syntax.Node, error) {
	if filepath.Ext(name) == ".props" {
		ps, err := syntax.ParseProperties(name, src)
		if err != nil {
			return nil, err
		}
		return ps, nil
	}
	m, err := syntax.ParseModel(name, src)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// errorList returns the diagnostics in err.
func errorList(t *testing.T, err error) syntax.ErrorList {
	t.Helper()
	var list syntax.ErrorList
	if err != nil && !errors.As(err, &list) {
		t.Fatalf("error is a %T, want an ErrorList: %v", err, err)
	}
	return list
}

var (
	markRE      = regexp.MustCompile(`[ ]*// (ERROR|MISSING) "((?:[^"\\]|\\.)*)"`)
	lastTokenRE = regexp.MustCompile(`(?:[A-Za-z_][A-Za-z_0-9]*'?|[0-9]*\.?[0-9]+|[<>!]=|=>|->|<-|\]\]|[^ ])$`)
)

type mark struct {
	line, col int
	msg       *regexp.Regexp
}

// marks returns the expectations in a source: // ERROR "regexp" stands behind
// the offending token, the last one of its line, and // MISSING "regexp" behind the token
// after which something is missing.
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
		col := token[0] + 1
		if line[at[2]:at[3]] == "MISSING" {
			col = token[1] + 1
		}
		msg := strings.ReplaceAll(line[at[4]:at[5]], `\"`, `"`)
		list = append(list, mark{i + 1, col, regexp.MustCompile(msg)})
	}
	return list
}

// The files list every error the parser must find, and so also say where it
// must not find any. The first error of each file is where PRISM 4.10.2-dev
// reports its syntax error, except that PRISM reports a semicolon that is
// missing at the end of a line at the next token.
func TestErrorFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/err/*.*")
	if err != nil || len(files) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = parseFile(file, src)
			got := errorList(t, err)
			want := marks(t, string(src))
			for i, e := range got {
				if i >= len(want) {
					t.Errorf("unexpected error: %v", e)
					continue
				}
				if int(e.Pos.Line) != want[i].line || int(e.Pos.Col) != want[i].col || !want[i].msg.MatchString(e.Msg) {
					t.Errorf("got %v\nwant %d:%d: /%s/", e, want[i].line, want[i].col, want[i].msg)
				}
			}
			for _, w := range want[min(len(got), len(want)):] {
				t.Errorf("missing error: %d:%d: /%s/", w.line, w.col, w.msg)
			}
		})
	}
}

// Positions are those PRISM 4.10.2-dev prints, found by running it.
func TestFirstErrorIsPRISMs(t *testing.T) {
	tests := []struct {
		kind, src string
		line, col int32
	}{
		{"prism", "module M", 1, 8}, // the end of the file is its last character
		{"prism", "module M\n", 1, 9},
		{"prism", "module M\r\n", 1, 10},
		{"prism", "module M //a", 1, 12},
		{"prism", "dtmc\nmodule M x:[", 2, 12},
		{"prism", "\xef\xbb\xbfdtmc", 1, 1},
		{"prism", "#const#\ndtmc", 1, 1},
		{"prism", "dtmc\rmodule 1", 2, 8}, // a CR alone ends a line
		{"prism", "dtmc\r\nmodule 1", 2, 8},
		{"prism", "dtmc module M [] a -> (s'=1+); endmodule", 1, 24},
		{"prism", "dtmc module M [] a -> (s'=1)&(t'=1+); endmodule", 1, 36},
		{"prism", "dtmc module M [] a -> (s'=F a); endmodule", 1, 27},
		{"prism", "dtmc module M [] a -> (s'=2147483648); endmodule", 1, 37},
		{"prism", "dtmc module M [] a -> 0.5:(s'=2147483648); endmodule", 1, 31},
		{"prism", "dtmc module M [] 2147483648=x -> true; endmodule", 1, 18},
		{"prism", "module M = N [ a=b, F=c ] endmodule", 1, 21},
		{"prism", `system "a" endsystem x`, 1, 22},
		{"prism", `system "a" (M || ) endsystem`, 1, 12},
		{"prism", `system "a" M || endsystem`, 1, 17},
		{"prism", "system M |[a]| N |[b]| K endsystem", 1, 18},
		{"props", "R=? [ S>0.5[ P>0.5[F<=N+1 a] ] ]", 1, 8},
		{"props", "R=? [ S>0.5[ P>0.5[F<=(N+1) a] ] & b]", 1, 34},
		{"props", "R=? [ S>2147483648 [ a ] ]", 1, 20},
		{"props", "P=? [ F<=2147483648 a ]", 1, 10},
		{"props", "R<=f(a)[S<1[G<=-1 R<=f(a)[S] R<N max(1,(b))] & a]", 1, 10},
		{"props", "P Pmin=? [ F a ]", 1, 3},
		{"props", ";", 1, 1},
		{"props", `"a": `, 1, 5},
		{"props", `label "init" = s=0;`, 1, 8},
		{"expr", "a ? b ? 1 : 2 : 3", 1, 7},
		{"expr", "1 + !a", 1, 5},
		{"expr", "a = !b", 1, 5},
		{"expr", "", 1, 1}, // PRISM says 0:0
		{"expr", "min", 1, 3},
		{"expr", "f()", 1, 3},
	}
	for _, test := range tests {
		var err error
		switch src := []byte(test.src); test.kind {
		case "expr":
			_, err = syntax.ParseExpr("", src)
		default:
			_, err = parseFile("x."+test.kind, src)
		}
		list := errorList(t, err)
		if len(list) == 0 {
			t.Errorf("%q: no error, want one at %d:%d", test.src, test.line, test.col)
			continue
		}
		if pos := list[0].Pos; pos.Line != test.line || pos.Col != test.col {
			t.Errorf("%q: error at %v (%s), want %d:%d", test.src, pos, list[0].Msg, test.line, test.col)
		}
	}
}

func TestParseSingle(t *testing.T) {
	prop, err := syntax.ParseProperty("", []byte(`"n": P=? [ F s=1 ];;`))
	if err != nil || prop.Name.Name != "n" || prop.String() != `"n": P=? [ F s=1 ]` {
		t.Errorf("got %v, %v", prop, err)
	}
	for _, test := range []struct{ src, want string }{
		{"s=1; t=2", `1:6: found "t", want the end of the property`},
		{"const int N = 2;", `1:1: found "const", want an expression`},
		{"", `1:1: found end of file, want an expression`},
	} {
		if _, err := syntax.ParseProperty("", []byte(test.src)); err == nil || err.Error() != test.want {
			t.Errorf("ParseProperty(%q) = %v, want %s", test.src, err, test.want)
		}
	}
	_, err = syntax.ParseExpr("x", []byte("1 + P=? [ F a ]"))
	if want := `x:1:5: found "P", want an expression without labels and property operators; PRISM reserves "P"`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The limits keep hostile input from exhausting the stack, here and in
// whoever walks the tree.
func TestLimits(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("(", n) + "a" + strings.Repeat(")", n) }
	chain := func(n int) string { return "a" + strings.Repeat("|a", n) }
	tests := []struct{ name, src, want string }{
		{"parentheses", nested(9_000), ""},
		{"too many parentheses", nested(11_000), "nested more than 10000 deep"},
		{"chain", chain(90_000), ""},
		{"chain too long", chain(110_000), "more than 100000 operators in a row"},
		{"chain of chains", strings.Replace(nested(1), "a", chain(60_000), 1) + chain(60_000)[1:], "more than 100000 operators in a row"},
		{"not", strings.Repeat("!", 20_000) + "a", "nested more than 10000 deep"},
		{"minus", strings.Repeat("-", 20_000) + "a", "nested more than 10000 deep"},
		{"powers", strings.Repeat("a^", 20_000) + "a", "nested more than 10000 deep"},
		{"implications", strings.Repeat("a=>", 20_000) + "a", "nested more than 10000 deep"},
		{"conditionals", strings.Repeat("a?1:", 20_000) + "1", "nested more than 10000 deep"},
		{"calls", strings.Repeat("f(", 20_000), "nested more than 10000 deep"},
	}
	for _, test := range tests {
		x, err := syntax.ParseExpr("", []byte(test.src))
		if test.want == "" {
			if err != nil {
				t.Errorf("%s: %v", test.name, err)
			} else if syntax.ExprString(x) != test.src {
				t.Errorf("%s: printed as something else", test.name)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %.200v, want %q", test.name, err, test.want)
		}
	}
	for _, src := range []string{strings.Repeat("R=?[S=?[", 20_000), strings.Repeat("P=?[F<=5 ", 20_000), strings.Repeat("P=?[X ", 20_000), strings.Repeat("F<=5 R(", 20_000)} {
		if _, err := syntax.ParseProperties("", []byte(src)); err == nil {
			t.Errorf("%.20s…: no error", src)
		}
	}
	if _, err := syntax.ParseModel("", []byte("system "+strings.Repeat("(", 20_000))); err == nil || !strings.Contains(err.Error(), "nested more than") {
		t.Errorf("system: got %.200v", err)
	}
}

func TestNoMoreThanTenErrors(t *testing.T) {
	src := strings.Repeat("const int ;\n", 1000)
	_, err := syntax.ParseModel("f.prism", []byte(src))
	list := errorList(t, err)
	if len(list) != 10 {
		t.Fatalf("%d errors, want 10", len(list))
	}
	for i, e := range list {
		if want := fmt.Sprintf(`f.prism:%d:11: found ";", want a constant name`, i+1); e.Error() != want {
			t.Errorf("got %q, want %q", e, want)
		}
	}
}

// A long token is cut in messages, and garbage is given up soon.
func TestGarbage(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	_, err := syntax.ParseModel("", []byte(long))
	if list := errorList(t, err); len(list) != 1 || len(list[0].Msg) > 200 {
		t.Errorf("got %d errors, the first of %d bytes", len(list), len(list[0].Msg))
	}
	for _, text := range []string{"[", "(", "{", "\"", "#", "@", "é", "'", "module", "module m ", "x ", ";", "]]", "system ", "rewards \"", "\x00", "[a] b -> (c'="} {
		src := []byte(strings.Repeat(text, 1<<18/len(text)))
		_, modelErr := syntax.ParseModel("", src)
		_, propsErr := syntax.ParseProperties("", src)
		if n := len(errorList(t, modelErr)); n == 0 || n > 10 {
			t.Errorf("%q: %d errors in a model", text, n)
		}
		if n := len(errorList(t, propsErr)); n > 10 {
			t.Errorf("%q: %d errors in properties", text, n)
		}
	}
}

// TestMisspelledOperators tests that an operator in wrong letters is reported where it stands, with the right spelling. A variable
// with such a name is accepted.
func TestMisspelledOperators(t *testing.T) {
	for _, test := range []struct {
		dialect  syntax.Dialect
		property string
		want     string // "" if the property is correct
	}{
		{syntax.PRISM, `pmax=? [ F x=1 ]`, `p.props:1:1: found "pmax", want the operator Pmax`},
		{syntax.PRISM, `PMIN >= 0.5 [ F x=1 ]`, `p.props:1:1: found "PMIN", want the operator Pmin`},
		{syntax.PRISM, `p=? [ F x=1 ]`, `p.props:1:1: found "p", want the operator P`},
		{syntax.PRISM, `s = ? [ x=1 ]`, `p.props:1:1: found "s", want the operator S`},
		{syntax.PRISM, `rmax=? [ F x=1 ]`, `p.props:1:1: found "rmax", want the operator Rmax`},
		{syntax.PRISM, `r{"steps"}max=? [ F x=1 ]`, `p.props:1:1: found "r", want the operator R`},
		{syntax.PRISM, `e [ F x=1 ]`, `p.props:1:1: found "e", want the operator E`},
		{syntax.PRISM, `filter(max, pmax=? [ F x=1 ], x=0)`, `p.props:1:13: found "pmax", want the operator Pmax`},
		{syntax.PRISM, `lra=? [ x=1 ]`, `p.props:1:5: found "?", want an expression`},
		{syntax.Storm, `lra=? [ x=1 ]`, `p.props:1:1: found "lra", want the operator LRA`},
		{syntax.PRISM, `P=? [ F s=1 ] [ x=1 ]`, `p.props:1:15: found "[", want an expression`},
		{syntax.PRISM, `P=? [ F s=1 & p=2 ]; r=3`, ""},
	} {
		_, err := syntax.ParseFile(test.dialect, "p.props", []byte(test.property))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != test.want {
			t.Errorf("%s:\n got %q\nwant %q", test.property, got, test.want)
		}
	}
}
