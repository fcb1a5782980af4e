package sema

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"sync"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/prism/syntax"
)

func mustInstantiate(t testing.TB, m *Model, consts map[string]Value) *Program {
	t.Helper()
	p, err := m.Instantiate(consts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The expected programs were worked out by hand from the reference, section 1.2.
func TestInstantiate(t *testing.T) {
	tests := []struct {
		name, src string
		consts    map[string]Value
		want      string
	}{
		{
			name: "everything",
			src: `mdp
const int N; const double p = 1/4; const bool big = N>2; const int K = N+1;
formula f = s+g;
module M
  s : [0..N] init N-1;
  g2 : bool;
  [a] f<K & big -> p : (s'=s+1) + 1-p : (g2'=true);
  [] s=K-1 -> (s'=0) & (g2'=false);
endmodule
global g : [-1..1];
label "l" = f>K;
rewards "r" s=1 : 2*s; [a] true : K; [] big : 1.5; endrewards
rewards endrewards
module T t : int; u : bool init big; [b] true -> true; [a] u -> (t'=t+1); endmodule`,
			consts: map[string]Value{"N": IntValue(3)},
			want: `MDP actions [a b]
const N = 3
const p = 0.25
const big = true
const K = 4
$0 g int true [-1..1] init -1 module -1
$1 s int true [0..3] init 2 module 0
$2 g2 bool true [0..1] init 0 module 0
$3 t int false [-2147483648..2147483647] init 0 module 1
$4 u bool true [0..1] init 1 module 1
module M= vars [1 2] alphabet [0] invariant -
  [0] (($1+$0)<4)
    0.25..-: $1'=($1+1)
    0.75..-: $2'=true
  [-1] ($1=3)
    1.0..-: $1'=0 $2'=false
module T= vars [3 4] alphabet [1 0] invariant -
  [1] true
    1.0..-: 
  [0] $4
    1.0..-: $3'=($3+1)
label l = (($1+$0)>4)
rewards "r"
  false -1 ($1=1) : (2*$1)
  true 0 true : 4
  true -1 true : 1.5
rewards ""
warning m.prism:14:10: variable "t" is unbounded: model construction may not terminate
`,
		},
		{
			name: "renaming",
			src: `dtmc
formula low = s<N;
const int N = 1; const int N2 = 2;
module M
  s : [0..N];
  [a] low & min(s,1)=0 -> (s'=s+1);
endmodule
module M2 = M [ s=s2, a=b, min=max, N=N2 ] endmodule
module M3 = M2 [ s2=s3, b=c ] endmodule`,
			want: `DTMC actions [a b c]
const N = 1
const N2 = 2
$0 s int true [0..1] init 0 module 0
$1 s2 int true [0..2] init 0 module 1
$2 s3 int true [0..2] init 0 module 2
module M= vars [0] alphabet [0] invariant -
  [0] (($0<1)&(min($0,1)=0))
    1.0..-: $0'=($0+1)
module M2=M vars [1] alphabet [1] invariant -
  [1] (($1<2)&(max($1,1)=0))
    1.0..-: $1'=($1+1)
module M3=M2 vars [2] alphabet [2] invariant -
  [2] (($2<2)&(max($2,1)=0))
    1.0..-: $2'=($2+1)
`,
		},
		{
			name: "system",
			src: `mdp
module M s:[0..1]; [a] true->true; [b] true->true; endmodule
module N t:[0..1]; [a] true->true; endmodule
module K k:[0..1]; [c] true->true; endmodule
system "unused" M endsystem
system ((M |[a,b]| "n") / {a,b} ||| K{c<-d,a<-c}) endsystem
system "n" (N{a<-e}/{zz}) endsystem`,
			// The actions of a block that is only referred to are not checked.
			want: `MDP actions [a b c e d]
$0 s int true [0..1] init 0 module 0
$1 t int true [0..1] init 0 module 1
$2 k int true [0..1] init 0 module 2
module M= vars [0] alphabet [0 1] invariant -
  [0] true
    1.0..-: 
  [1] true
    1.0..-: 
module N= vars [1] alphabet [0] invariant -
  [0] true
    1.0..-: 
module K= vars [2] alphabet [2] invariant -
  [2] true
    1.0..-: 
system par(hide(par(0,hide(rename(1; [0] to [3]); []); false [0 1]); [0 1]),rename(2; [2 0] to [4 2]); false [])
`,
		},
		{
			name: "timed",
			src: `module M s:[0..1]; x:clock; invariant x<=2 endinvariant
[] x>1 -> (x'=0) & (s'=1); endmodule
module F1 = M [s=s2, x=x2] endmodule`,
			want: `PTA actions []
$0 s int true [0..1] init 0 module 0
$1 x clock false [0..2147483647] init 0 module 0
$2 s2 int true [0..1] init 0 module 1
$3 x2 clock false [0..2147483647] init 0 module 1
module M= vars [0 1] alphabet [] invariant ($1<=2)
  [-1] ($1>1)
    1.0..-: $1'=0 $0'=1
module F1=M vars [2 3] alphabet [] invariant ($3<=2)
  [-1] ($3>1)
    1.0..-: $3'=0 $2'=1
`,
		},
		{
			name: "partially observable, with intervals and several initial states",
			src: `observables o endobservables
observable "low" = s<=1;
module M s:[0..2]; o:bool; [] o -> [0.5,1]:(s'=1) + [0,1/2]:true; endmodule
init o | s>1 endinit
mdp`,
			want: `IPOMDP actions []
$0 s int true [0..2] init 0 module 0
$1 o bool true [0..1] init 0 module 0
module M= vars [0 1] alphabet [] invariant -
  [-1] $1
    0.5..1: $0'=1
    0..0.5: 
init ($1|($0>1))
observable o = $1
observable low = ($0<=1)
`,
		},
		{
			name: "LTS with an ignored invariant",
			src:  "module M s:[0..1]; invariant s=0 endinvariant [] true -> true; endmodule",
			want: `LTS actions []
$0 s int true [0..1] init 0 module 0
module M= vars [0] alphabet [] invariant ($0=0)
  [-1] true
    1.0..-: 
warning m.prism:1:30: the invariant of module "M" is ignored in an LTS
`,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := showProgram(mustInstantiate(t, mustCheck(t, test.src), test.consts))
			if got != test.want {
				t.Errorf("got\n%swant\n%s", got, test.want)
			}
		})
	}
}

func TestInstantiateErrors(t *testing.T) {
	const rest = " module M s:[0..1]; [] true -> true; endmodule"
	tests := []struct {
		src    string
		consts map[string]Value
		want   []string
	}{
		{"const int a; const double q; const bool bb;" + rest, nil, []string{`m.prism:1:11: undefined constants "a", "q" and "bb" must be defined: add --const a=...,q=...,bb=...`}},
		{"const int a; const double q;" + rest, map[string]Value{"q": IntValue(1)}, []string{`m.prism:1:11: undefined constant "a" must be defined: add --const a=...`}},
		{"const int a = 1;" + rest, map[string]Value{"a": IntValue(1)}, []string{`m.prism:1:11: constant "a" has already been defined in the model`}},
		{"const int a; const bool b;" + rest, map[string]Value{"a": DoubleValue(1.5), "b": IntValue(1)}, []string{
			"m.prism:1:11: value 1.5 for constant a is not a valid integer",
			"m.prism:1:25: value 1 for constant b is not a valid Boolean",
		}},
		{"const int b = 1+a; const int a = mod(1,0); const double c = b/2; const int d = 2^31;" + rest, nil, []string{
			`m.prism:1:34: in the definition of constant "a": modulo with non-positive divisor 0`,
			`m.prism:1:80: in the definition of constant "d": integer overflow: 2^31 does not fit 32 bits`,
		}},
		{"module M s:[0..0]; t:[2..1]; u:[-2..2147483647]; v:[0..1/0=0?1:2]; endmodule", nil, []string{
			`m.prism:1:12: invalid range [0..0] for variable "s", want at least two values; Storm's dialect accepts it (--dialect storm)`,
			`m.prism:1:22: invalid range [2..1] for variable "t", want at least two values`,
			`m.prism:1:32: range [-2..2147483647] for variable "u" is too big`,
		}},
		{"module M s:[mod(1,0)..1] init 7; t:[0..1] init 2; u:int init mod(2,-1); b:bool init true; endmodule", nil, []string{
			"m.prism:1:13: modulo with non-positive divisor 0",
			`m.prism:1:48: initial value 2 of variable "t" is outside its range [0..1]`,
			"m.prism:1:62: modulo with non-positive divisor -1",
		}},
	}
	for _, test := range tests {
		_, err := mustCheck(t, test.src).Instantiate(test.consts)
		var list syntax.ErrorList
		if !errors.As(err, &list) || list.Error() != strings.Join(test.want, "\n") {
			t.Errorf("%s\ngot\n%v\nwant\n%s", test.src, err, strings.Join(test.want, "\n"))
		}
	}
}

func TestInstantiateConstants(t *testing.T) {
	m := mustCheck(t, "const double p; const int n; const double q = p*n; const double r = n; const int k = floor((p+0.7)*10); module M s:[0..n]; endmodule")
	p := mustInstantiate(t, m, map[string]Value{"p": RatValue(big.NewRat(1, 10)), "n": {Type: Int, Int: 2}, "zz": BoolValue(true)})
	want := map[string]string{"p": "0.1 1/10", "n": "2 2", "q": "0.2 1/5", "r": "2.0 2", "k": "8 8"}
	for _, c := range p.Consts {
		rat := "<nil>"
		if c.Val.Rat != nil {
			rat = c.Val.Rat.RatString()
		}
		if got := c.Val.String() + " " + rat; got != want[c.Name] {
			t.Errorf("%s = %s, want %s", c.Name, got, want[c.Name])
		}
	}
	if len(p.Warnings) != 2 || !strings.Contains(p.Warnings[0].Error(), `constant "zz" is not declared in the model`) || !strings.Contains(p.Warnings[1].Error(), ":1:86: computed exactly") {
		t.Errorf("warnings %v", p.Warnings)
	}
	// The model can be used again, with other values.
	if p := mustInstantiate(t, m, map[string]Value{"p": DoubleValue(0.5), "n": IntValue(5)}); p.Vars[0].High != 5 || p.Consts[2].Val.Float != 2.5 {
		t.Errorf("got %v, %v", p.Vars[0], p.Consts[2])
	}
}

func TestFold(t *testing.T) {
	tests := []struct{ typ, src, want string }{
		{"int", "1+2*3", "7"},
		{"int", "x+(ic-1)", "($0+2)"},
		{"double", "dc+0.2", "0.30000000000000004"},
		{"bool", "bc & x=1", "($0=1)"},
		{"bool", "x=1 & bc", "($0=1)"},
		{"bool", "!bc & mod(1,x)=0", "false"},
		{"bool", "mod(1,x)=0 & !bc", "((mod(1,$0)=0)&false)"}, // the left operand may fail
		{"bool", "mod(1,x)=0 | bc", "((mod(1,$0)=0)|true)"},
		{"bool", "bc | mod(1,0)=0", "true"},
		{"bool", "x=1 | !bc", "($0=1)"},
		{"bool", "bc => b", "$2"},
		{"bool", "!bc => b", "true"},
		{"bool", "b => bc", "($2=>true)"},
		{"bool", "b => !bc", "!$2"},
		{"bool", "b <=> bc", "$2"},
		{"bool", "b = (!bc)", "!$2"},
		{"bool", "(!bc) != (!b)", "!$2"},
		{"bool", "!(!b)", "$2"},
		{"bool", "!(bc!=b)", "$2"},
		{"bool", "!bc != b", "$2"},
		{"bool", "0.1+0.2=0.3", "true"}, // not in doubles
		{"bool", "0.1+0.3=0.4", "true"},
		{"int", "floor((0.1+0.7)*10)", "8"},        // 7 in doubles
		{"double", "1-(1-1e-17)", "1.0E-17"},       // 0 in doubles
		{"double", "1-0.9", "0.09999999999999998"}, // as doubles have it, but see Rat
		{"int", "floor((0.1+0.3)*10)", "4"},
		{"int", "mod(1,0)+1", "(mod(1,0)+1)"},
		{"int", "bc ? x : mod(1,0)", "$0"},
		{"int", "!bc ? mod(1,0) : x", "$0"},
		{"double", "bc ? 1 : 0.5*x", "1.0"},
		{"double", "bc ? x : 0.5", "(true?$0:0.5)"}, // the int becomes a double
		{"double", "log(8,2)", "3.0"},
		{"bool", "log(8,2)>1", "true"},
		{"bool", "log(3,2)*log(2,3)=1", "(1.0=1)"}, // not decided
		{"int", "floor(log(8.5,2))", "3"},
		{"double", "1/0", "Infinity"},
		{"int", "x+0", "($0+0)"},
		{"double", "min(x,1/2,ic)", "min($0,0.5,3)"},
	}
	for _, test := range tests {
		_, e, err := expression(test.src, test.typ)
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		if got := show(e); got != test.want || e.Type().String() != test.typ {
			t.Errorf("%s: got %s of type %s, want %s", test.src, got, e.Type(), test.want)
		}
	}
}

func TestModelInfo(t *testing.T) {
	m := mustCheck(t, `ctmc
const int N; const bool b = true; const double r;
global g : bool;
module M s:[0..N]; [a] g -> r:(s'=1); endmodule
module K t:[0..1]; [b] true -> true; [] true -> true; endmodule
label "one" = s=1; label "two" = g;
rewards "r" s=1 : 1; endrewards
rewards g : 1; endrewards`)
	for got, want := range map[string]string{
		strings.Join(m.Undefined(), " "):     "N r",
		strings.Join(m.Variables(), " "):     "g s t",
		strings.Join(m.Modules(), " "):       "M K",
		strings.Join(m.Labels(), " "):        "one two",
		strings.Join(m.RewardStructs(), "|"): "r|",
		strings.Join(m.Actions(), " "):       "a b",
		m.ModelType().String() + m.File():    "CTMCm.prism",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if !m.Unlabelled() || len(m.Observables()) != 0 {
		t.Error("unlabelled commands or observables are wrong")
	}
	cs := m.Constants()
	if len(cs) != 3 || cs[0] != (Constant{"N", Int, false, cs[0].Pos}) || cs[1].Type != Bool || !cs[1].Defined || cs[2].Pos.String() != "2:48" {
		t.Errorf("got %v", cs)
	}
}

// Formulas that refer to each other twice double in size with each step; the
// resolved expressions share them.
func TestFormulasAreShared(t *testing.T) {
	var b strings.Builder
	b.WriteString("dtmc formula f0 = s+0;\n")
	for i := range 17 {
		n, prev := strconv.Itoa(i+1), strconv.Itoa(i)
		b.WriteString("formula f" + n + " = min(f" + prev + ",f" + prev + ");\n")
	}
	b.WriteString("module M s:[0..1]; [] f17=0 -> (s'=1); endmodule label \"l\" = f17=1;")
	p := mustInstantiate(t, mustCheck(t, b.String()), nil)
	if e := p.Labels[0].Expr.(*Binary).X.(*Call); e.Args[0] != e.Args[1] {
		t.Error("the formula was copied")
	}
	// Errors in such a formula do not multiply either.
	tree, err := syntax.ParseModel("m.prism", []byte(strings.Replace(b.String(), "s+0", "s+x", 1)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = CheckModel(tree); err == nil || err.Error() != `m.prism:1:21: undeclared identifier "x"` {
		t.Errorf("got %v", err)
	}
}

// What formulas and references to properties stand for may grow with the power of
// two of the text, which is shared, and with the depth, which is limited.
func TestExpansionIsLimited(t *testing.T) {
	chain := func(n int, link func(i int) string) string {
		var b strings.Builder
		for i := 1; i <= n; i++ {
			b.WriteString(link(i))
		}
		return b.String()
	}
	// Each level is nested three deeper: the name and both operators.
	tree, err := syntax.ParseModel("m.prism", []byte("dtmc formula f0 = s+0;\n"+
		chain(90_000, func(i int) string { return fmt.Sprintf("formula f%d = -(1-f%d);\n", i, i-1) })+
		"module M s:[0..1]; [] f0=0 -> (s'=1); endmodule"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err = CheckModel(tree); err == nil || !strings.HasPrefix(err.Error(), "m.prism:62501:22: the expression is nested too deeply") {
		t.Errorf("got %.300v", err)
	}
	m := mustCheck(t, "dtmc "+chain(200, func(i int) string { return fmt.Sprintf("formula f%d = min(f%d,f%d);\n", i, i-1, i-1) })+
		"formula f0 = mod(7,s); module M s:[0..1]; [] f200=0 -> (s'=1); endmodule")
	guard := mustInstantiate(t, m, nil).Modules[0].Commands[0].Guard
	for s, want := range []string{"2:19: modulo with non-positive divisor 0", "true"} {
		v, err := Eval(guard, []int32{int32(s)})
		x, errX := Enclose(guard, []int32{int32(s)})
		got := fmt.Sprint(v.Bool)
		if err != nil && errX != nil {
			got = err.(*EvalError).Msg
		}
		if !strings.HasSuffix(want, got) || err == nil && !x.Bool {
			t.Errorf("state %d: %v, %v; %v, %v", s, v, err, x, errX)
		}
	}
	text := "\"p0\": s=1;\n" + chain(60, func(i int) string { return fmt.Sprintf("\"p%d\": (\"p%d\" & \"p%d\");\n", i, i-1, i-1) })
	ps := mustProperties(t, m, text)
	props, _, err := ps.Instantiate(mustInstantiate(t, m, nil), nil, nil)
	if err != nil || len(props) != 61 {
		t.Fatal(err)
	}
	if v, err := Eval(props[60].Expr, []int32{1}); err != nil || !v.Bool || !NeedsOnlyVariables(props[60].Expr) {
		t.Errorf("got %v, %v", v, err)
	}
	// Definitions of constants are replaced by values, also where doubles give others.
	consts := "const int c0 = floor(0.29*100);\n" + chain(60, func(i int) string { return fmt.Sprintf("const int c%d = max(c%d,c%d);\n", i, i-1, i-1) })
	tree2, err := syntax.ParseModel("m.prism", []byte("dtmc "+consts+"module M s:[0..1]; [] s<c60 -> true; endmodule"))
	if err != nil {
		t.Fatal(err)
	}
	m, err = CheckModel(tree2)
	if err != nil {
		t.Fatal(err)
	}
	if p := mustInstantiate(t, m, nil); show(p.Modules[0].Commands[0].Guard) != "($0<29)" {
		t.Errorf("got %v", show(p.Modules[0].Commands[0].Guard))
	}
}

// The parser allows long chains of operators; nothing here may be worse than
// linear in them, or run out of stack.
func TestLongChain(t *testing.T) {
	length := needs.OrFull(10_000, 50_000)
	src := "dtmc const int k = 0" + strings.Repeat("+1", length) + "; module M s:[0..1]; [] s=0" + strings.Repeat(" | s=k", length) + " -> true; endmodule"
	p := mustInstantiate(t, mustCheck(t, src), nil)
	if int(p.Consts[0].Val.Int) != length {
		t.Errorf("k = %v", p.Consts[0].Val)
	}
	if v, err := Eval(p.Modules[0].Commands[0].Guard, []int32{1}); err != nil || v.Bool {
		t.Errorf("got %v, %v", v, err)
	}
}

// A Model and Properties may be instantiated by many goroutines at once.
func TestConcurrentInstantiate(t *testing.T) {
	m := mustCheck(t, propsModel)
	ps := mustProperties(t, m, `const int T; label "l" = s=T+N; P>p [ F<=T "l" ]`)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			p, err := m.Instantiate(map[string]Value{"p": RatValue(big.NewRat(1, int64(i+1)))})
			if err != nil {
				t.Error(err)
				return
			}
			props, _, err := ps.Instantiate(p, nil, map[string]Value{"T": IntValue(int32(i))})
			want := fmt.Sprintf("P>%s[(- F[-false,%dfalse] \"l\"#1)]", javaFloat(1/float64(i+1)), i)
			if err != nil || show(props[0].Expr) != want {
				t.Errorf("got %v, %v, want %s", show(props[0].Expr), err, want)
			}
		})
	}
	wg.Wait()
}
