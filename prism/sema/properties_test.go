package sema

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

const propsModel = `mdp
const int N = 2; const double p;
formula f = s+N;
module M s:[0..5]; b:bool; [a] true -> p:(s'=1) + 1-p:(b'=true); endmodule
label "done" = s=N;
rewards "r" s=1 : 1; endrewards
rewards [a] true : 2; endrewards`

func mustProperties(t testing.TB, m *Model, src string) *Properties {
	t.Helper()
	tree, err := syntax.ParseProperties("p.props", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	ps, err := m.CheckProperties(tree)
	if err != nil {
		t.Fatal(err)
	}
	return ps
}

func TestPropertiesList(t *testing.T) {
	ps := mustProperties(t, mustCheck(t, propsModel), `
const int T; const double q = 1;
label "l" = s=T;
// RESULT: 0.5
// second line
"one": Pmax = ? [F<=T  "l"];
P>=q [ G !("one">0.5) ] ? 1 : 2;
`)
	list := ps.List()
	if ps.Len() != 2 || len(list) != 2 {
		t.Fatalf("got %v", list)
	}
	want := []PropertyInfo{
		{"one", `"one": Pmax=? [ F<=T "l" ]`, syntax.Doc{"RESULT: 0.5", "second line"}, list[0].Pos},
		{"", `P>=q [ G !("one">0.5) ]?1:2`, nil, list[1].Pos},
	}
	for i, w := range want {
		if got := list[i]; got.Name != w.Name || got.Text != w.Text || !slices.Equal(got.Doc, w.Doc) {
			t.Errorf("got %q, want %q", got, w)
		}
	}
	if list[0].Pos.String() != "6:1" || list[1].Pos.String() != "7:1" {
		t.Errorf("positions %v, %v", list[0].Pos, list[1].Pos)
	}
	cs := ps.Constants()
	if fmt.Sprint(ps.Undefined(), ps.Labels(), len(cs), cs[1].Type) != "[T] [l] 2 double" {
		t.Errorf("got %v %v %v", ps.Undefined(), ps.Labels(), cs)
	}
}

func TestNeeds(t *testing.T) {
	ps := mustProperties(t, mustCheck(t, propsModel), `
const int T; const int T2; const int V = T+1; const int T3; const double q; const int X1 = 5;
label "l" = s=V; label "m" = s=T3;
P>q [ F<=X1 b ];
"two": P=? [ F<=T2 "l" ];
filter(max, "two"+T2, "m") ;
R{X1}=? [ C<=V ];
s;`)
	for i, want := range []string{"q", "T T2", "T T2 T3", "T", ""} {
		if got := strings.Join(ps.Needs(i), " "); got != want {
			t.Errorf("property %d needs %q, want %q", i, got, want)
		}
	}
}

// What every operator resolves to; formulas, constants, references to other
// properties and old-style filters are gone.
func TestPropertiesInstantiate(t *testing.T) {
	const consts = "const int T; const double q = 1/T; label \"l\" = s=T & f>0; label \"unknown\" = s=T2; const int T2;\n"
	tests := []struct{ src, want string }{
		{`P>=q [ F<=T "l" ]`, `P>=0.25[(- F[-false,4false] "l"#1)]`},
		{`Pmax=? [ s=1 U[T,T+1] b ]`, `Pmax?[(($0=1) U[4false,5false] $1)]`},
		{`Pmin=? [ X ((G<T b) => !"done") ]`, `Pmin?[(- X ((- G[-false,4true] $1)=>!"done"#0))]`},
		{`P=? [ F=T b ]`, `P?[(- F[4false,4false] $1)]`},
		{`P=? [ b W>T "init" ] * 2`, `(P?[($1 W[4true,-false] "init"#-1)]*2)`},
		{`S<0.5 [ "deadlock" ]`, `S<0.5["deadlock"#-2]`},
		{`R=? [ C<=T ] + R{"r"}max=? [ F b ]`, `(R{0,-1}?[0:4]+R{0,-1}max?[(- F $1)])`},
		{`R{T-2}min=? [ I=T/8 ]`, `R{1,-1}min?[1:0.5]`},
		{`R{"r"}/{2}=? [ S ]`, `R{0,1}?[2:-]`},
		{`E [ F b ] & A [ G b ]`, `(Qfalse[(- F $1)]&Qtrue[(- G $1)])`},
		{`<<1,two>> P>0 [ F b ]`, `<false false [1 two]>P>0[(- F $1)]`},
		{`[[*]] (b)`, `<true true []>$1`},
		{`filter(+, f, "l") > 1`, `(filter(sum,($0+2),"l"#1)>1)`},
		{`filter(&, b)`, `filter(forall,$1,-)`},
		{`Pmax=? [ F b {s=1} ]`, `filter(state,Pmax?[(- F $1)],($0=1))`},
		{`P>0 [ F b {s=1} ]`, `filter(forall,P>0[(- F $1)],($0=1))`},
		{`Rmax=? [ F b {"l"}{max}{min} ]`, `filter(range,R{0,-1}max?[(- F $1)],"l"#1)`},
		{`S=? [ b {b}{max} ]`, `filter(max,S?[$1],$1)`},
		{`multi(Rmax=? [ C ], P>=0.5 [ F b ])`, `multi(R{0,-1}max?[0:-],P>=0.5[(- F $1)])`},
		{`"ref" | N=2`, `((P>0.25[(- F $1)]&(1.0>$0))|true)`},
		{`true | "ref"`, `(true|(P>0.25[(- F $1)]&(1.0>$0)))`}, // engines report errors in it
		{`N=2 & "ref"`, `(P>0.25[(- F $1)]&(1.0>$0))`},
		{`P>mod(1,0) [ F b ]`, `P>mod(1,0)[(- F $1)]`}, // an error when it is checked
	}
	m := mustCheck(t, propsModel)
	p := mustInstantiate(t, m, map[string]Value{"p": DoubleValue(0.5)})
	for _, test := range tests {
		ps := mustProperties(t, m, consts+test.src+`; "ref": P>q [ F b ] & T*q > s;`)
		props, prog, err := ps.Instantiate(p, []int{0}, map[string]Value{"T": IntValue(4), "p": IntValue(0)})
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
			continue
		}
		if got := show(props[0].Expr); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.src, got, test.want)
		}
		// The label whose constant has no value is left out.
		if got := fmt.Sprintf("%d %s %s %d %d", len(prog.Labels), prog.Labels[1].Name, show(prog.Labels[1].Expr), len(p.Labels), len(prog.Warnings)); got != "2 l (($0=4)&(($0+2)>0)) 1 0" {
			t.Errorf("%s: got labels %s", test.src, got)
		}
	}
}

func TestPropertiesInstantiateErrors(t *testing.T) {
	m := mustCheck(t, propsModel)
	p := mustInstantiate(t, m, map[string]Value{"p": DoubleValue(0.5)})
	ps := mustProperties(t, m, `const int T; const int V = mod(T,T-1); const int D = V+1; const double q = 1;
label "l" = s=D;
P>q [ F<=T b ];
P>q [ F<=D b ];
P=? [ F "l" ];
R{T}=? [ F b ];`)
	tests := []struct {
		sel    []int
		consts map[string]Value
		want   string
	}{
		{[]int{0}, nil, `p.props:1:11: undefined constant "T" must be defined: add --const T=...`},
		{[]int{0}, map[string]Value{"T": IntValue(1)}, ""}, // the failing constant is not used
		{[]int{1, 2}, map[string]Value{"T": IntValue(1)}, `p.props:1:28: in the definition of constant "V": modulo with non-positive divisor 0`},
		{[]int{2}, map[string]Value{"T": IntValue(1)}, `p.props:1:28: in the definition of constant "V": modulo with non-positive divisor 0`},
		{nil, map[string]Value{"T": IntValue(2), "q": IntValue(1)}, `p.props:1:72: constant "q" has already been defined`},
		{nil, map[string]Value{"T": DoubleValue(2)}, "p.props:1:11: value 2.0 for constant T is not a valid integer"},
		{[]int{4}, nil, "there is no property 4 to select, want one of 0 to 3"},
	}
	for _, test := range tests {
		_, _, err := ps.Instantiate(p, test.sel, test.consts)
		if got := fmt.Sprint(err); err == nil && test.want != "" || err != nil && got != test.want {
			t.Errorf("%v %v: got %s, want %s", test.sel, test.consts, got, test.want)
		}
	}
	if _, _, err := ps.Instantiate(mustInstantiate(t, mustCheck(t, propsModel), map[string]Value{"p": IntValue(1)}), nil, nil); err == nil || !strings.Contains(err.Error(), "not of the model") {
		t.Errorf("another model: %v", err)
	}
	props, prog, err := ps.Instantiate(p, nil, map[string]Value{"T": IntValue(3), "zz": IntValue(1)})
	if err != nil || len(props) != 4 || len(prog.Warnings) != 1 || len(prog.Labels) != 2 {
		t.Fatalf("got %v, %v", props, err)
	}
	if props[3].Text != "R{T}=? [ F b ]" || props[3].Pos.String() != "6:1" {
		t.Errorf("got %v", props[3])
	}
	r := props[3].Expr.(*Reward)
	if evalErr := (*EvalError)(nil); r.Struct != -1 || !errors.As(r.StructErr, &evalErr) || evalErr.Error() != `6:3: invalid reward structure index "3", want 1 to 2` {
		t.Errorf("got %d, %v", r.Struct, r.StructErr)
	}
}

func TestNoRewards(t *testing.T) {
	m := mustCheck(t, "dtmc module M b:bool; endmodule")
	props, _, err := mustProperties(t, m, "R=? [ F b ]").Instantiate(mustInstantiate(t, m, nil), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if r := props[0].Expr.(*Reward); r.Struct != -1 || r.StructErr == nil || !strings.Contains(r.StructErr.Error(), "model has no rewards specified") {
		t.Errorf("got %d, %v", r.Struct, r.StructErr)
	}
}

// Observables are referred to like labels, but have any type.
func TestObservablesInProperties(t *testing.T) {
	m := mustCheck(t, `pomdp observable "o" = s+1; observables b endobservables module M s:[0..3]; b:bool; [] true -> true; endmodule`)
	props, _, err := mustProperties(t, m, `Pmax=? [ F "o"=2 & "b" ]`).Instantiate(mustInstantiate(t, m, nil), nil, nil)
	if err != nil || show(props[0].Expr) != "Pmax?[(- F ((($0+1)=2)&$1))]" {
		t.Errorf("got %v, %v", show(props[0].Expr), err)
	}
}
