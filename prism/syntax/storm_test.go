package syntax_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

func printStorm(n syntax.Node) (string, error) {
	var b strings.Builder
	err := syntax.Fprint(&b, n, syntax.Options{Dialect: syntax.Storm})
	return b.String(), err
}

// Source: the reference, section 7, and the grammars of Storm 1.12
// (ExpressionParser.cpp), where ! and - bind tightest, => is on the level of |
// and associates to the left, ^ does not associate, and int/int is an int.
func TestStormExpressions(t *testing.T) {
	tests := []struct{ src, want string }{
		{"!s=1", "!(s=1)"},
		{"!a & !b", "!a & !b"},
		{"-2^2", "((-2)*(-2))"},
		{"-(2^2)", "-(pow(2, 2))"},
		{"2^3^2", "pow(2, pow(3, 2))"},
		{"false=>true=>false", "false => (true => false)"},
		{"a=>b|c", "a => (b | c)"},
		{"a&b=>s=1", "a & b => s=1"},
		{"a<=>b", "a=b"},
		{"a<=>s=1&b", "a=(s=1 & b)"},
		{"a<=>b<=>c", "(a=b)=c"},
		{"a => b <=> c", "a => b=c"},
		{"1/2", "1/2.0"},
		{"s/2", "s/2.0"},
		{"1/s", "1.0/s"},
		{"a/b", "1.0*a/b"},
		{"(a+b)/c", "1.0*(a+b)/c"},
		{"0.5/s", "0.5/s"},
		{"a/2/b", "a/2.0/b"},
		{"max(a,0.5)/b", "max(a, 0.5)/b"},
		{"pow(a,2)/b", "1.0*(a*a)/b"},
		{"log(a,2)/b", "log(a, 2)/b"},
		{"min(a)", "a"},
		{"max(a+1)*2", "(a+1)*2"},
		{"func(mod,a,2)", "mod(mod(a, 2)+2, 2)"},
		{"mod(8,2)", "mod(8, 2)"},
		{"round(x)", "floor(x+0.5)"},
		{"pow(0.5,x)", "pow(0.5, x)"},
		{"pow(0-x,3)", "((0-x)*(0-x)*(0-x))"},
		{"func(max,a,2,3)", "max(a, 2, 3)"},
		{"007+.5+1e3+00.50E-2", "7.0+0.5+1.0e3+0.50E-2"},
		{"a ? b ? 1 : 2 : 3", ""},
		{"a ? 1 : b ? 2 : 3", "a ? 1 : b ? 2 : 3"},
		{"2*-3", "2*-3"},
		{"x< -1", "x< -1"},
	}
	for _, test := range tests {
		x, err := syntax.ParseExpr("", []byte(test.src))
		if err != nil {
			if test.want != "" {
				t.Errorf("%s: %v", test.src, err)
			}
			continue
		}
		before := syntax.Clone(x)
		if got, err := printStorm(x); err != nil || got != test.want {
			t.Errorf("%s: got %s, %v, want %s", test.src, got, err, test.want)
		}
		if !syntax.Equal(x, before) {
			t.Errorf("%s was modified", test.src)
		}
	}
}

// Source: FormulaParserGrammar.cpp. Its formulas have ! & | and parentheses
// only; each operand of them is first tried as an expression.
func TestStormProperties(t *testing.T) {
	tests := []struct{ src, want string }{
		{"P=? [ F s=1&t=2 ]", "P=? [ F (s=1 & t=2) ]"},
		{`Pmin=? [ F "a" | s=1 ]`, `Pmin=? [ F ("a" | (s=1)) ]`},
		{`P>=0.5 [ s=0 U<=N+1 "a" ]`, `P>=0.5 [ (s=0) U<=(N+1) "a" ]`},
		{`P>=0.5 [ X "a" => "b" ]`, `P>=0.5 [ X (!"a" | "b") ]`},
		{`P=? [ F "a"<=>b ]`, `P=? [ F (("a" & b) | (!"a" & !b)) ]`},
		{`P=? [ G F "a" ]`, `P=? [ G (F "a") ]`},
		{`P=? [ (F a) & !(G b) ]`, `P=? [ (F a) & (!(G b)) ]`},
		{"P=? [ F<=t (b) ]", "P=? [ F<=t (b) ]"},
		{"P=? [ F[1,2*t] b ]", "P=? [ F[1,(2*t)] b ]"},
		{"P=? [ F=2 b ]", "P=? [ F=2 b ]"},
		{"P=? [ F P>0.4 [ X s=2 ] ]", "P=? [ F P>0.4 [ X (s=2) ] ]"},
		{"S>0.5 [ s=1 ]", "S>0.5 [ s=1 ]"},
		{`R{"r"}min=? [ C<=3 ]`, `R{"r"}min=? [ C<=3 ]`},
		{"R=? [ (F s=1) ]", "R=? [ F (s=1) ]"},
		{"R=? [ S ]", "R=? [ S ]"},
		{"R=? [ I=1/2 ]", "R=? [ I=1/2.0 ]"},
		{"filter(+, P=? [ F a ])", "filter(sum, P=? [ F a ], true)"},
		{`(filter(forall, P>0 [ F a ], "init"))`, `filter(forall, P>0 [ F a ], "init")`},
		{"multi(Pmax=? [ F a ], R{\"r\"}<=2 [ C ])", `multi(Pmax=? [ F a ], R{"r"}<=2 [ C ])`},
		{"<<1,x>> (P>0.5 [ F a ])", "<<1,x>> P>0.5 [ F a ]"},
		{"P>=0.7 [ G<=3 a ]", "P<=1-0.7 [ F<=3 (!a) ]"},
		{"P<p+q [ G[1,2] a ]", "P>1-(p+q) [ F[1,2] (!a) ]"},
		{"P>0 [ a R<4 b ]", "P<1-0 [ (!a) U<4 (!b) ]"},
		{"P=? [ F P<=0.2 [ a W b ] ]", "P=? [ F P>=1-0.2 [ (a & !b) U (!a & !b) ] ]"},
		{"E [ F a ]", "(!P<=0 [ F a ])"},
		{"A [ G a ]", "P<=0 [ F (!a) ]"},
		{"A [ a W \"b\" ]", "P<=0 [ (a & !\"b\") U (!a & !\"b\") ]"},
		{"A [ X a ]", "P<=0 [ X (!a) ]"},
		{"E [ a ]", "a"},
		{"P=? [ a U[0,2] b ]", "P=? [ a U[0,2] b ]"},
		{"P=? [ true U[1,2] b ]", "P=? [ true U[1,2] b ]"},
		{"s=1", "s=1"},
	}
	for _, test := range tests {
		p, err := syntax.ParseProperty("", []byte(test.src))
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		if got, err := printStorm(p); err != nil || got != test.want+";\n" {
			t.Errorf("%s: got %s, %v, want %s", test.src, got, err, test.want)
		}
	}
}

// Storm's properties files have constants and properties; labels are put where
// they are used.
func TestStormPropertiesFile(t *testing.T) {
	const src = "const k;\nlabel \"l\" = s=1 | t=2;\n// RESULT: 1\n\"n\": P=? [ F<=k \"l\" & \"m\" ]\nP=? [ X \"l\" ]"
	const want = "const int k;\n\n// RESULT: 1\n\"n\": P=? [ F<=k ((s=1 | t=2) & \"m\") ];\nP=? [ X (s=1 | t=2) ];\n"
	ps, err := syntax.ParseProperties("", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := printStorm(ps); err != nil || got != want {
		t.Errorf("got\n%s%v\nwant\n%s", got, err, want)
	}
}

const stormSource = `// before
const k = 2; rate l = 1;
module Q = L [ x=y ] endmodule
module L = M [ x=z, z=x ] endmodule
system (M ||| L) || Q / {a} {b<-c, c<-b} endsystem
observables x endobservables
// the type
nondeterministic
module M x : [0..1]; invariant !x=1 endinvariant
 [a] x=0 <=> k=1 -> truex/2:(x'=1) + 1/2:(x'=0); endmodule
rewards "none" endrewards
rewards [a] true : 007; endrewards
observables y endobservables
`

const stormPrinted = `// the type
mdp

observables x, y endobservables

// before
const int k = 2;
const double l = 1;

module M
  x : [0..1];

  invariant
    !(x=1)
  endinvariant

  [a] (x=0)=(k=1) -> (truex/2.0):(x'=1) + 1/2.0:(x'=0);
endmodule

module L = M [x=z, z=x] endmodule
module Q = L [x=y] endmodule

rewards "none"
  true : 0;
endrewards

rewards
  [a] true : 7.0;
endrewards

system
  (M ||| L) || (Q / {a}) {b<-c c<-b}
endsystem
`

func TestStormModel(t *testing.T) {
	m, err := syntax.ParseModel("", []byte(stormSource))
	if err != nil {
		t.Fatal(err)
	}
	before := syntax.Clone(m)
	if got, err := printStorm(m); err != nil || got != stormPrinted {
		t.Errorf("got\n%s%v\nwant\n%s", got, err, stormPrinted)
	}
	if !syntax.Equal(m, before) {
		t.Error("the model was modified")
	}
}

func TestStormModelTypes(t *testing.T) {
	const end = " endmodule"
	for src, want := range map[string]string{
		"probabilistic":                     "dtmc",
		"stochastic":                        "ctmc",
		"pta":                               "pta",
		"module M [] true -> 1:true;" + end: "mdp",
		"module M x:clock; [] true -> true;" + end: "pta",
		"observables x endobservables":             "pomdp",
	} {
		m, err := syntax.ParseModel("", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		got, err := printStorm(m)
		if first, _, _ := strings.Cut(got, "\n"); err != nil || first != want {
			t.Errorf("%s: got %s, %v, want %s", src, first, err, want)
		}
	}
}

// Source: reference, section 7.
func TestStormRefuses(t *testing.T) {
	models := []struct{ src, want string }{
		{"module M [] true -> true; endmodule", "1:1: Storm cannot express a model without a type (an LTS)"},
		{"popta", "1:1: Storm cannot express POPTAs"},
		{"mdp dtmc", "1:5: Storm cannot express several model types"},
		{"mdp const int floor;", "1:15: Storm cannot express the name floor, a keyword there"},
		{"mdp module ma endmodule", "1:12: Storm cannot express the name ma, a keyword there"},
		{"mdp module M [player] true -> true; endmodule", "1:15: Storm cannot express the name player, a keyword there"},
		{"mdp label \"a\" = sin(2)=1;", "1:17: Storm cannot express the function sin"},
		{"mdp module N = M [ min=max ] endmodule", "1:20: Storm cannot express the renaming of functions"},
		{"pta global x : clock;", "1:5: Storm cannot express global clocks"},
		{"mdp system \"T\" M endsystem", "1:5: Storm cannot express named system blocks"},
		{"mdp system \"T\" endsystem", "1:12: Storm cannot express references to system blocks"},
		{"mdp system M endsystem system N endsystem", "1:24: Storm cannot express several system blocks"},
	}
	for _, test := range models {
		m, err := syntax.ParseModel("", []byte(test.src))
		if err != nil {
			t.Fatal(err)
		}
		checkRefused(t, m, test.want)
	}
	properties := []struct{ src, want string }{
		{"P=? [ a W b ]", "7: Storm cannot express the value of W, R or a bounded G"},
		{"P=? [ a R b ]", "7: Storm cannot express the value of W, R or a bounded G"},
		{"P=? [ X<=2 b ]", "7: Storm cannot express bounds on X"},
		{"P=? [ G<=2 b ]", "7: Storm cannot express the value of W, R or a bounded G"},
		{"P(x)=? [ b ]", "1: Storm cannot express the modifier x"},
		{"Pminmax=? [ b ]", "1: Storm cannot express minmax"},
		{"P=? [ b {s=1} ]", "1: Storm cannot express filters in braces"},
		{"R{1}=? [ C ]", "1: Storm cannot express reward structures by number"},
		{"R{\"a\"}/{\"b\"}=? [ C ]", "1: Storm cannot express ratios of rewards"},
		{"R=? [ a U b ]", "7: Storm cannot express rewards until a formula other than F holds"},
		{"R=? [ S=? [a] ]", "7: Storm cannot express rewards until a formula other than F holds"},
		{"A [ F a ]", "1: Storm cannot express the operators E and A over formulas that only infinite paths decide"},
		{"E [ G F a ]", "1: Storm cannot express the operators E and A over formulas of LTL, or with a bound"},
		{"A [ G F a ]", "1: Storm cannot express the operators E and A over formulas of LTL, or with a bound"},
		{"E [ (F a) & (F b) ]", "1: Storm cannot express the operators E and A over formulas of LTL, or with a bound"},
		{"P=? [ F P>0 [ a U[1,2] b ] ]", "15: Storm cannot express an until with a lower bound inside another property"},
		{"x^y=1", "1: Storm cannot express a power whose base may be negative"},
		{"<<*>> P=? [ F a ]", "1: Storm cannot express coalitions other than <<players>>"},
		{"<<1>> (a)", "1: Storm cannot express coalitions for other operators than P and R"},
		{"P=? [ F a ] + 1", "1: Storm cannot express arithmetic and comparison on results"},
		{"-P=? [ F a ]", "1: Storm cannot express arithmetic on results"},
		{"\"l\" = true", "1: Storm cannot express arithmetic and comparison on results"},
		{"a ? P=? [ F a ] : 0", "1: Storm cannot express ?: on results"},
		{"max(P=? [ F a ], 0)", "1: Storm cannot express functions of results"},
		{"filter(min, a) > 0", "1: Storm cannot express a filter inside a property"},
		{"filter(range, s)", "1: Storm cannot express filter type range"},
		{"multi(a)", "7: Storm cannot express objectives other than P, R and S"},
	}
	for _, test := range properties {
		p, err := syntax.ParseProperty("", []byte(test.src))
		if err != nil {
			t.Fatal(err)
		}
		checkRefused(t, p, "1:"+test.want)
	}
	ps, err := syntax.ParseProperties("", []byte("\"one\": a;\nP=? [ F \"one\" ];"))
	if err != nil {
		t.Fatal(err)
	}
	checkRefused(t, ps, "2:9: Storm cannot express references to properties")
}

func checkRefused(t *testing.T, n syntax.Node, want string) {
	t.Helper()
	got, err := printStorm(n)
	var refused *syntax.DialectError
	if !errors.As(err, &refused) || err.Error() != want || got != "" {
		t.Errorf("wrote %q, error %v, want %s", got, err, want)
		return
	}
	if want := fmt.Sprint(refused.Pos); refused.Pos.IsValid() && !strings.HasPrefix(err.Error(), want) {
		t.Errorf("position %v in %v", refused.Pos, err)
	}
}
