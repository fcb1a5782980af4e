package syntax_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

// shape writes an expression with a pair of brackets round every operator, so
// that it shows how operators associate and bind; parentheses of the source are
// left out.
func shape(x syntax.Expr) string {
	switch x := x.(type) {
	case *syntax.Paren:
		return shape(x.X)
	case *syntax.Unary:
		return fmt.Sprintf("[%v %s]", x.Op, shape(x.X))
	case *syntax.Binary:
		return fmt.Sprintf("[%s %v %s]", shape(x.X), x.Op, shape(x.Y))
	case *syntax.Cond:
		return fmt.Sprintf("[%s ? %s : %s]", shape(x.Condition), shape(x.Then), shape(x.Else))
	case *syntax.Temporal:
		parts := []string{x.Op.String()}
		if x.X != nil {
			parts = slices.Insert(parts, 0, shape(x.X))
		}
		if b := x.Bound; b != nil {
			low, high := "-", "-"
			if b.Low != nil {
				low = shape(b.Low)
			}
			if b.High != nil {
				high = shape(b.High)
			}
			parts = append(parts, fmt.Sprintf("{%s..%s %v %v %v}", low, high, b.IsLowStrict, b.IsHighStrict, b.Equal))
		}
		return "[" + strings.Join(append(parts, shape(x.Y)), " ") + "]"
	}
	return fmt.Sprintf("%T:%s", x, syntax.ExprString(x))[len("*syntax."):]
}

// The expectations are those of the reference, section 1.3, each observed in
// PRISM by the value of the expression.
func TestPrecedence(t *testing.T) {
	tests := []struct{ src, want string }{
		{"-2^2", "[[- 2] ^ 2]"},
		{"2^3^2", "[2 ^ [3 ^ 2]]"},
		{"2*-3", "[2 * [- 3]]"},
		{"--N", "[- [- N]]"},
		{"2^-1", "[2 ^ [- 1]]"},
		{"a-b-c", "[[a - b] - c]"},
		{"a/b*c", "[[a / b] * c]"},
		{"a+b*c^d", "[a + [b * [c ^ d]]]"},
		{"!s=1", "[! [s = 1]]"},
		{"!!a & b", "[[! [! a]] & b]"},
		{"s=0=true", "[[s = 0] = true]"},
		{"0<=s<=3", "[[0 <= s] <= 3]"},
		{"a=b<c", "[a = [b < c]]"},
		{"a|b&c", "[a | [b & c]]"},
		{"a<=>b|c", "[a <=> [b | c]]"},
		{"a<=>b<=>c", "[[a <=> b] <=> c]"},
		{"a=>b<=>c", "[a => [b <=> c]]"},
		{"false=>true=>false", "[false => [true => false]]"},
		{"a ? 1 : b ? 2 : 3", "[a ? 1 : [b ? 2 : 3]]"},
		{"a ? (b ? 1 : 2) : 3", "[a ? [b ? 1 : 2] : 3]"},
		{"a=>b ? c=>d : e=>f", "[[a => b] ? [c => d] : [e => f]]"},
	}
	name := func(s string) string { // leave out the types of the leaves
		for _, kind := range []string{"Ident:", "IntLit:", "BoolLit:", "DoubleLit:", "Quoted:"} {
			s = strings.ReplaceAll(s, kind, "")
		}
		return s
	}
	for _, test := range tests {
		x, err := syntax.ParseExpr("", []byte(test.src))
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
		} else if got := name(shape(x)); got != test.want {
			t.Errorf("%s parses as %s, want %s", test.src, got, test.want)
		}
	}
	paths := []struct{ src, want string }{
		{"F a | b", "[F [a | b]]"},
		{"G F a", "[G [F a]]"},
		{"F a U b", "[[F a] U b]"},
		{"(F a) & (F b)", "[[F a] & [F b]]"},
		{"a U F b", "[a U [F b]]"},
		{"X a ? b : c", "[X [a ? b : c]]"},
		{"a W<=2 b", "[a W {-..2 false false false} b]"},
		{"a R b", "[a R b]"},
		{"F<=t (b)", "[F {-..t false false false} b]"},
		{"F<=N+1 b", "[F {-..[N + 1] false false false} b]"},
		{"F<=t+1 (b)", "[F {-..[t + 1] false false false} b]"},
		{"F<t (b)&(c)", "[F {-..t false true false} [b & c]]"},
		{"F>2 b", "[F {2..- true false false} b]"},
		{"F>=t (b)", "[F {t..- false false false} b]"},
		{"F[1,2] b", "[F {1..2 false false false} b]"},
		{"F=2 b", "[F {2..2 false false true} b]"},
		{"F<=a<b c", "[F {-..[a < b] false false false} c]"},
		{"F<=a -b", ""}, // the bound is a-b and the operand is missing
		{"F=t (b)", ""}, // the bound is t(b): only one-sided bounds are special
	}
	for _, test := range paths {
		p, err := syntax.ParseProperty("", []byte("P=? [ "+test.src+" ]"))
		switch {
		case err != nil && test.want != "":
			t.Errorf("%s: %v", test.src, err)
		case err == nil:
			if got := name(shape(p.X.(*syntax.Prob).Path)); got != test.want {
				t.Errorf("%s parses as %s, want %s", test.src, got, test.want)
			}
		}
	}
}

// Source: reference, section 1.1.
func TestLiterals(t *testing.T) {
	tests := []struct{ src, want string }{
		{"0", "IntLit:0"},
		{"2147483647", "IntLit:2147483647"},
		{"007", "DoubleLit:007"},
		{"00", "DoubleLit:00"},
		{".5", "DoubleLit:.5"},
		{"1e3", "DoubleLit:1e3"},
		{"1E-2", "DoubleLit:1E-2"},
		{"12.50e+07", "DoubleLit:12.50e+07"},
		{"true", "BoolLit:true"},
		{"truex", "Ident:truex"},
		{"_a1", "Ident:_a1"},
		{"max (1, 2)", "Call:max(1, 2)"},
		{"func(min, 1, 2)", "Call:func(min, 1, 2)"},
		{"f ( x )", "Call:f(x)"},
		{"floor", "Ident:floor"},
	}
	for _, test := range tests {
		x, err := syntax.ParseExpr("", []byte(test.src))
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
		} else if got := shape(x); got != test.want {
			t.Errorf("%s is %s, want %s", test.src, got, test.want)
		}
	}
}

// The list is the output of prism -keywords (reference, section 1.1).
func TestKeywords(t *testing.T) {
	const keywords = `A bool clock const ctmc C double dtmc E endinit endinvariant endmodule endobservables endrewards
		endsystem false formula filter func F global G init invariant I int label maxmax maxmin max mdp minmax minmin
		min module X nondeterministic observable observables Pmaxmax Pmaxmin Pmax Pminmax Pminmin Pmin P pomdp popta
		probabilistic prob pta rate rewards Rmaxmax Rmaxmin Rmax Rminmax Rminmin Rmin R S stochastic system true U W`
	for _, word := range strings.Fields(keywords) {
		if !syntax.IsKeyword(word) || syntax.IsIdent(word) {
			t.Errorf("%s is not a keyword", word)
		}
		if syntax.IsKeyword(word+"0") || !syntax.IsIdent(word+"0") || !syntax.IsIdent(word+"_x") {
			t.Errorf("%s0 or %s_x is not an identifier", word, word)
		}
	}
	for _, word := range strings.Fields("floor ceil round pow mod log multi deadlock sum avg LTL T B D M N a F1 _") {
		if syntax.IsKeyword(word) || !syntax.IsIdent(word) {
			t.Errorf("%s is not an identifier", word)
		}
	}
	for _, word := range []string{"", "1a", "a-b", "é", "a'", "a b"} {
		if syntax.IsKeyword(word) || syntax.IsIdent(word) {
			t.Errorf("%q is an identifier", word)
		}
	}
}

const docModel = `// a header is dropped

// the type
mdp // behind is dropped
// above
// a constant
const int N = 3;
// away

const int K;
module M
  // a variable
  x : [0..N] init 0; // behind
  // not the declaration's
  y : bool;

  // one
  //
  //  two
  [] true -> // inside
     (x'=0);
  [a] y -> true;
  // lost
endmodule
rewards // lost
  // a reward
  true : 1;
endrewards
//the last
//	words
`

func TestDocModel(t *testing.T) {
	m, err := syntax.ParseModel("", []byte(docModel))
	if err != nil {
		t.Fatal(err)
	}
	module := m.Items[3].(*syntax.Module)
	tests := []struct {
		what string
		got  syntax.Doc
		want string
	}{
		{"type", m.Items[0].(*syntax.TypeDecl).Doc, "the type"},
		{"N", m.Items[1].(*syntax.ConstDecl).Doc, "above|a constant"},
		{"K", m.Items[2].(*syntax.ConstDecl).Doc, ""},
		{"M", module.Doc, ""},
		{"x", module.Vars[0].Doc, "a variable"},
		{"y", module.Vars[1].Doc, "not the declaration's"},
		{"command 1", module.Commands[0].Doc, "one|| two"},
		{"command 2", module.Commands[1].Doc, ""},
		{"rewards", m.Items[4].(*syntax.Rewards).Doc, ""},
		{"reward", m.Items[4].(*syntax.Rewards).Items[0].Doc, "a reward"},
		{"trailing", m.Trailing, "the last|\twords"},
	}
	for _, test := range tests {
		if got := strings.Join(test.got, "|"); got != test.want {
			t.Errorf("%s: %q, want %q", test.what, got, test.want)
		}
	}
	checkRoundTrip(t, m)
}

// In properties files a comment behind the previous property belongs to the
// next one, as PRISM's -test sees it.
func TestDocProperties(t *testing.T) {
	const src = "// RESULT: 1\r\n  // two\r\nP=? [ F a ]; // RESULT: 2\n\"n\": // lost\nP=? [ F b ]\n\n// RESULT: 3\n\nP=? [ F c ] //end\n// end"
	ps, err := syntax.ParseProperties("", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, item := range ps.Items {
		got = append(got, strings.Join(item.(*syntax.Property).Doc, "|"))
	}
	if want := []string{"RESULT: 1|two", "RESULT: 2", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := strings.Join(ps.Trailing, "|"); got != "end" {
		t.Errorf("trailing %q", got)
	}
	last := ps.Items[2].(*syntax.Property).Notes
	if !slices.Equal(last.Behind, syntax.Doc{"end"}) || len(last.Detached) != 1 || !slices.Equal(last.Detached[0], syntax.Doc{"RESULT: 3"}) {
		t.Errorf("the last property has %q", last)
	}
	checkRoundTrip(t, ps)
}

func TestSemicolons(t *testing.T) {
	tests := []struct{ src, want string }{
		{"N\n-N", "N-N"},
		{"N\n(N)", "N(N)"},
		{"a;;b", "a|b"},
		{"a b", "a|b"},
		{"P=? [ F a ]\nP=? [ F b ]", "P=? [ F a ]|P=? [ F b ]"},
		{"\"n\": a \"l\" \"m\" : b", "\"n\": a|\"l\"|\"m\": b"},
		{"const N; a", "a"},
		{"", ""},
	}
	for _, test := range tests {
		ps, err := syntax.ParseProperties("", []byte(test.src))
		if err != nil {
			t.Errorf("%q: %v", test.src, err)
			continue
		}
		var got []string
		for _, item := range ps.Items {
			if p, ok := item.(*syntax.Property); ok {
				got = append(got, p.String())
			}
		}
		if s := strings.Join(got, "|"); s != test.want {
			t.Errorf("%q gives %q, want %q", test.src, s, test.want)
		}
	}
}

// Every node knows its extent: parsing the text between Pos and End again gives
// the same expression, and operators are where they say.
func TestPositions(t *testing.T) {
	const src = "dtmc\n// é\nmodule M\n\tx : [0 .. 2+N] init 1; // tab\n" +
		"\t[] x<2 & !(x=N*2) -> p : (x'=x+1) + 1-p : (x' = 0)&(y'=x>1?true : false);\nendmodule\n"
	m, err := syntax.ParseModel("", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	text := func(n syntax.Node) string { return src[n.Pos().Offset:n.End().Offset] }
	count := 0
	syntax.Inspect(m, func(n syntax.Node) bool {
		for _, pos := range []syntax.Pos{n.Pos(), n.End()} {
			before := src[:pos.Offset]
			line := strings.Count(before, "\n") + 1
			col := len(before) - strings.LastIndex(before, "\n")
			if int(pos.Line) != line || int(pos.Col) != col {
				t.Errorf("%T %q: %v, want %d:%d", n, text(n), pos, line, col)
			}
		}
		if x, ok := n.(syntax.Expr); ok {
			count++
			again, err := syntax.ParseExpr("", []byte(text(n)))
			if err != nil || !syntax.Equal(x, again) {
				t.Errorf("%T %q is not what it spans: %v", n, text(n), err)
			}
		}
		if b, ok := n.(*syntax.Binary); ok && !strings.HasPrefix(src[b.OpPos.Offset:], b.Op.String()) {
			t.Errorf("%q: no operator %v at %v", text(n), b.Op, b.OpPos)
		}
		return true
	})
	if count != 30 { // counted by hand
		t.Errorf("%d expressions visited, want 30", count)
	}
	command := m.Items[1].(*syntax.Module).Commands[0]
	for _, test := range []struct {
		node syntax.Node
		want string
	}{
		{m, src[:len(src)-1]},
		{command.Updates[0], "p : (x'=x+1)"},
		{command.Updates[1], "1-p : (x' = 0)&(y'=x>1?true : false)"},
		{command.Updates[1].Assigns[0], "(x' = 0)"},
		{command.Updates[1].Assigns[0].Name, "x'"},
		{m.Items[1].(*syntax.Module).Vars[0], "x : [0 .. 2+N] init 1;"},
	} {
		if got := text(test.node); got != test.want {
			t.Errorf("%T spans %q, want %q", test.node, got, test.want)
		}
	}
}

func TestErrorStrings(t *testing.T) {
	pos := syntax.Pos{Offset: 9, Line: 3, Col: 2}
	tests := []struct{ got, want string }{
		{(&syntax.Error{File: "f", Pos: pos, Msg: "m"}).Error(), "f:3:2: m"},
		{(&syntax.Error{Pos: pos, Msg: "m"}).Error(), "3:2: m"},
		{(&syntax.Error{File: "f", Msg: "m"}).Error(), "f: m"},
		{(&syntax.Error{Msg: "m"}).Error(), "m"},
		{syntax.Pos{}.String(), "-"},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
	var list syntax.ErrorList
	if list.Err() != nil {
		t.Error("an empty list is an error")
	}
	list.Add("f", syntax.Pos{Line: 2, Col: 1}, "second")
	list.Add("f", syntax.Pos{Line: 1, Col: 5}, "first %d", 1)
	list.Add("f", syntax.Pos{Line: 2, Col: 1}, "again")
	if got, want := list.Err().Error(), "f:1:5: first 1\nf:2:1: second"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
