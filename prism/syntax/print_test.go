package syntax_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

const layoutSource = `// A die.
probabilistic
const N=3; // dropped
rate lambda=0.5 ; const bool b;
formula f=N>2?N:0; label "a"=x=1&f<2;
// shared
global g:bool;
// The module.
module M x:[0..N]init 1; y:bool ;z:int; invariant x<3 endinvariant
// first
[]x< -1=>y->(x'=x-1)&(y'=!y);
[go]a?b:c->0.25:(x'=1)+0.75:true;[]true->[0.1,0.2]:(x'=2)+[0.8,0.9]:(x'=3);
[long] x=1 & very_long_name_number_one=2 -> 0.25:(x'=1)&(very_long_name_number_one'=1) + 0.75:(x'=2);
endmodule
module P1 =M[x=u,min=max]endmodule module Q=M[x=v]endmodule
rewards x=1:2;
// of go
[go]true:x*2; []y:1; endrewards
rewards "r" endrewards
init x=1 endinit
observables x,y endobservables observable "o"=x>1;
system(M||P1)|||Q|||M/{a,b}{c<-d} endsystem system "SYS" M|[a]|"T" endsystem
//done`

const layoutPrinted = `// A die.
probabilistic

const N = 3; // dropped
const double lambda = 0.5;
const bool b;

formula f = N>2 ? N : 0;

label "a" = x=1 & f<2;

// shared
global g : bool;

// The module.
module M
  x : [0..N] init 1;
  y : bool;
  z : int;

  invariant
    x<3
  endinvariant

  // first
  [] x< -1 => y -> (x'=x-1) & (y'=!y);
  [go] (a ? b : c) -> 0.25:(x'=1) + 0.75:true;
  [] true -> [0.1,0.2]:(x'=2) + [0.8,0.9]:(x'=3);
  [long] x=1 & very_long_name_number_one=2 ->
      0.25:(x'=1) & (very_long_name_number_one'=1)
    + 0.75:(x'=2);
endmodule

module P1 = M [x=u, min=max] endmodule
module Q = M [x=v] endmodule

rewards
  x=1 : 2;

  // of go
  [go] true : x*2;
  [] y : 1;
endrewards

rewards "r"
endrewards

init
  x=1
endinit

observables x, y endobservables

observable "o" = x>1;

system
  (M || P1) ||| Q ||| M / {a,b} {c<-d}
endsystem

system "SYS"
  M |[a]| "T"
endsystem

// done
`

// The layout is the one the package documents. The text is accepted by PRISM.
func TestLayout(t *testing.T) {
	m, err := syntax.ParseModel("", []byte(layoutSource))
	if err != nil {
		t.Fatal(err)
	}
	if got := checkRoundTrip(t, m); got != layoutPrinted {
		t.Errorf("got\n%s\nwant\n%s", got, layoutPrinted)
	}
}

func TestLayoutOfProperties(t *testing.T) {
	const src = "const int k=5;label \"l\"=s=1;\"one\":P=?[F<=k s=1&t<2] P>0.5[G!\"l\"]\n// RESULT: 1/6\nR{\"r\"}min=?[C]\nfilter(+,x,y>1)"
	const want = `const int k = 5;

label "l" = s=1;

"one": P=? [ F<=k s=1 & t<2 ];
P>0.5 [ G !"l" ];

// RESULT: 1/6
R{"r"}min=? [ C ];
filter(+, x, y>1);
`
	ps, err := syntax.ParseProperties("", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if got := checkRoundTrip(t, ps); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Lists of names that do not fit a line are broken.
func TestLayoutOfLongLists(t *testing.T) {
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("name%d", i))
	}
	src := "observables " + strings.Join(names, ",") + " endobservables"
	m, err := syntax.ParseModel("", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := "observables\n  " + strings.Join(names, ",\n  ") + "\nendobservables\n"
	if got := checkRoundTrip(t, m); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func ident(name string) *syntax.Ident { return &syntax.Ident{Name: name} }

// Built trees get the parentheses they need and no others.
func TestParenthesesOfBuiltTrees(t *testing.T) {
	a, b, c := ident("a"), ident("b"), ident("c")
	bin := func(op syntax.Op, x, y syntax.Expr) syntax.Expr { return &syntax.Binary{Op: op, X: x, Y: y} }
	not := func(x syntax.Expr) syntax.Expr { return &syntax.Unary{Op: syntax.OpNot, X: x} }
	neg := func(x syntax.Expr) syntax.Expr { return &syntax.Unary{Op: syntax.OpNeg, X: x} }
	cond := func(x, y, z syntax.Expr) syntax.Expr { return &syntax.Cond{Condition: x, Then: y, Else: z} }
	future := func(x syntax.Expr) syntax.Expr { return &syntax.Temporal{Op: syntax.Future, Y: x} }
	until := func(x, y syntax.Expr) syntax.Expr { return &syntax.Temporal{Op: syntax.Until, X: x, Y: y} }
	within := func(high, x syntax.Expr) syntax.Expr {
		return &syntax.Temporal{Op: syntax.Future, Y: x, Bound: &syntax.TimeBound{High: high}}
	}
	at := func(t, x syntax.Expr) syntax.Expr {
		return &syntax.Temporal{Op: syntax.Future, Y: x, Bound: &syntax.TimeBound{Low: t, High: t, Equal: true}}
	}
	reward := &syntax.Reward{Path: &syntax.RewardPath{Kind: syntax.LongRun}}
	steady := &syntax.Steady{X: a}
	tests := []struct {
		x    syntax.Expr
		want string
	}{
		{bin(syntax.OpPow, neg(a), b), "-a^b"},
		{neg(bin(syntax.OpPow, a, b)), "-(a^b)"},
		{bin(syntax.OpPow, bin(syntax.OpPow, a, b), c), "(a^b)^c"},
		{bin(syntax.OpPow, a, bin(syntax.OpPow, b, c)), "a^b^c"},
		{bin(syntax.OpSub, a, bin(syntax.OpSub, b, c)), "a-(b-c)"},
		{bin(syntax.OpSub, a, neg(b)), "a--b"},
		{bin(syntax.OpMul, bin(syntax.OpAdd, a, b), c), "(a+b)*c"},
		{bin(syntax.OpEq, not(a), b), "(!a)=b"},
		{not(bin(syntax.OpEq, a, b)), "!a=b"},
		{not(bin(syntax.OpAnd, a, b)), "!(a & b)"},
		{bin(syntax.OpLt, a, neg(b)), "a< -b"},
		{bin(syntax.OpLt, a, &syntax.IntLit{Value: -1}), "a< -1"},
		{bin(syntax.OpImplies, bin(syntax.OpImplies, a, b), c), "(a => b) => c"},
		{bin(syntax.OpImplies, a, bin(syntax.OpImplies, b, c)), "a => b => c"},
		{bin(syntax.OpAnd, a, bin(syntax.OpAnd, b, c)), "a & (b & c)"},
		{bin(syntax.OpEq, bin(syntax.OpEq, a, b), c), "a=b=c"},
		{cond(a, cond(a, b, c), c), "a ? (a ? b : c) : c"},
		{cond(a, b, cond(a, b, c)), "a ? b : a ? b : c"},
		{cond(cond(a, b, c), b, c), "(a ? b : c) ? b : c"},
		{bin(syntax.OpAdd, a, cond(a, b, c)), "a+(a ? b : c)"},
		{not(future(a)), "!(F a)"},
		{bin(syntax.OpAnd, future(a), future(b)), "(F a) & (F b)"},
		{future(bin(syntax.OpOr, a, b)), "F a | b"},
		{until(future(a), b), "F a U b"},
		{future(until(a, b)), "F (a U b)"},
		{until(until(a, b), c), "(a U b) U c"},
		{until(a, until(b, c)), "a U (b U c)"},
		{within(a, &syntax.Paren{X: b}), "F<=a (b)"},
		{within(bin(syntax.OpAdd, a, a), &syntax.Paren{X: b}), "F<=(a+a) (b)"},
		{within(bin(syntax.OpAdd, a, &syntax.DoubleLit{Text: "1e5"}), &syntax.Paren{X: b}), "F<=a+1e5 (b)"},
		{at(a, &syntax.Paren{X: b}), "F=(a) (b)"},
		{within(&syntax.Call{Func: ident("floor"), Args: []syntax.Expr{a}}, b), "F<=(floor(a)) b"},
		{within(&syntax.Call{Func: ident("min"), Args: []syntax.Expr{a}}, b), "F<=min(a) b"},
		{within(a, neg(b)), "F<=a (-b)"},
		{within(bin(syntax.OpAdd, a, a), neg(b)), "F<=(a+a) (-b)"},
		{within(&syntax.IntLit{Value: 2}, reward), "F<=2 (R=? [ S ])"},
		{within(&syntax.IntLit{Value: 2}, ident("Rx")), "F<=2 Rx"},
		{&syntax.Prob{Threshold: syntax.Threshold{Rel: syntax.OpLt, Bound: neg(a)}, Path: b}, "P< -a [ b ]"},
		{&syntax.Reward{Path: steady}, "R=? [ (S=? [ a ]) ]"},
		{&syntax.Reward{Path: bin(syntax.OpAnd, steady, a)}, "R=? [ (S=? [ a ] & a) ]"},
		{&syntax.Strategy{All: true, X: a}, "<<*>> (a)"},
		{&syntax.Strategy{IsBox: true, Coalition: []*syntax.Ident{{Name: "1"}, {Name: "x"}}, X: reward}, "[[1,x]] R=? [ S ]"},
		{&syntax.IntLit{Value: math.MinInt32}, "(-2147483647-1)"},
		{bin(syntax.OpPow, a, &syntax.IntLit{Value: -2}), "a^-2"},
		{&syntax.DoubleLit{Text: "2"}, "2.0"},
		{bin(syntax.OpPow, &syntax.DoubleLit{Text: "-2.5"}, a), "-2.5^a"},
		{bin(syntax.OpLt, a, &syntax.Strategy{X: reward}), "a< <<>> R=? [ S ]"},
	}
	for _, test := range tests {
		got := sprint(t, test.x)
		if got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
}

// The echoes were observed in PRISM 4.10.2-dev.
func TestEchoIsPRISMs(t *testing.T) {
	for src, want := range map[string]string{
		"s< -1":                                  "s<-1", // PRISM cannot read its own echo
		"s=0=true":                               "(s=0)=true",
		"s!=0!=true":                             "(s!=0)!=true",
		"a < b < c":                              "a<b<c",
		"a ? b : c":                              "a?b:c",
		"a=>b=>c":                                "a=>b=>c",
		"P min=? [a]":                            "Pmin=? [ a ]",
		"P max min=?[ F<=3(a) {b} {max} {min} ]": "Pmaxmin=? [ F<=3 (a) {b}{min}{max} ]",
		"R (m) {1+1} / {\"x\"} <5 [ C<=2 ]":      `R(m){1+1}/{"x"}<5 [ C<=2 ]`,
		"filter (|, a,b)":                        "filter(|, a, b)",
		"<< a , 1 >>(b)":                         "<<a,1>> ((b))",
	} {
		p, err := syntax.ParseProperty("", []byte(src))
		if err != nil {
			t.Errorf("%s: %v", src, err)
		} else if got := p.String(); got != want {
			t.Errorf("%s is echoed as %s, want %s", src, got, want)
		}
	}
}

// A tree that no text stands for is refused.
func TestPrintErrors(t *testing.T) {
	tests := []struct {
		n    syntax.Node
		want string
	}{
		{ident("F"), `"F" is not an identifier`},
		{&syntax.Ident{Name: "a b", Span: syntax.Span{Start: syntax.Pos{Line: 2, Col: 3}}}, `2:3: "a b" is not an identifier`},
		{&syntax.Quoted{Name: "a\""}, `"a\"" is not a label`},
		{&syntax.DoubleLit{Text: "NaN"}, `"NaN" is not a number`},
		{&syntax.DoubleLit{Text: "1e"}, `"1e" is not a number`},
		{&syntax.TypeDecl{Type: syntax.LTS}, "there is no keyword for model type LTS"},
		{&syntax.Prob{}, "cannot print a <nil>"},
		{&syntax.Rename{}, "cannot print a *syntax.Rename on its own"},
		{&syntax.Temporal{Op: syntax.Future, Y: ident("a"), Bound: &syntax.TimeBound{Low: ident("b"), High: ident("c"), IsLowStrict: true}}, "a bound on both sides cannot be strict"},
	}
	for _, test := range tests {
		var b strings.Builder
		err := syntax.Fprint(&b, test.n, syntax.Options{})
		if err == nil || err.Error() != test.want || b.Len() > 0 {
			t.Errorf("%T: wrote %q, error %v, want %s", test.n, b.String(), err, test.want)
		}
	}
}

// generator builds random trees without regard for precedence or types.
type generator struct{ *rand.Rand }

func (g generator) pick(xs ...func() syntax.Expr) syntax.Expr { return xs[g.IntN(len(xs))]() }

func (g generator) name() *syntax.Ident {
	return ident([]string{"a", "b", "s", "N", "x1", "Rx", "e5", "true_", "mod"}[g.IntN(9)])
}

func (g generator) expr(depth int) syntax.Expr {
	leaf := func() syntax.Expr {
		return g.pick(
			func() syntax.Expr { return g.name() },
			func() syntax.Expr { return &syntax.IntLit{Value: g.Int32N(20)} },
			func() syntax.Expr {
				return &syntax.DoubleLit{Text: []string{"0.5", ".5", "1e5", "007", "2.5E-3"}[g.IntN(5)]}
			},
			func() syntax.Expr { return &syntax.BoolLit{Value: g.IntN(2) == 0} },
		)
	}
	if depth <= 0 {
		return leaf()
	}
	sub := func() syntax.Expr { return g.expr(g.IntN(depth)) }
	return g.pick(leaf,
		func() syntax.Expr {
			return &syntax.Unary{Op: []syntax.Op{syntax.OpNot, syntax.OpNeg}[g.IntN(2)], X: sub()}
		},
		func() syntax.Expr { return g.binary(sub) },
		func() syntax.Expr { return g.binary(sub) },
		func() syntax.Expr { return &syntax.Cond{Condition: sub(), Then: sub(), Else: sub()} },
		func() syntax.Expr {
			return &syntax.Call{Func: ident([]string{"min", "max", "f", "pow"}[g.IntN(4)]), Old: g.IntN(3) == 0, Args: []syntax.Expr{sub(), sub()}}
		},
		func() syntax.Expr { return &syntax.Paren{X: sub()} },
	)
}

func (g generator) binary(sub func() syntax.Expr) syntax.Expr {
	ops := []syntax.Op{
		syntax.OpImplies, syntax.OpIff, syntax.OpOr, syntax.OpAnd, syntax.OpEq, syntax.OpNe, syntax.OpLt, syntax.OpLe,
		syntax.OpGt, syntax.OpGe, syntax.OpAdd, syntax.OpSub, syntax.OpMul, syntax.OpDiv, syntax.OpPow,
	}
	return &syntax.Binary{Op: ops[g.IntN(len(ops))], X: sub(), Y: sub()}
}

// state returns a state formula; with path set, temporal operators may occur in it.
func (g generator) state(depth int, path bool) syntax.Expr {
	if depth <= 0 {
		return g.pick(func() syntax.Expr { return g.expr(0) }, func() syntax.Expr { return &syntax.Quoted{Name: "init"} })
	}
	sub := func() syntax.Expr {
		if path {
			return g.path(depth - 1)
		}
		return g.state(depth-1, false)
	}
	return g.pick(
		func() syntax.Expr { return g.expr(depth) },
		func() syntax.Expr { return g.binary(sub) },
		func() syntax.Expr { return &syntax.Unary{Op: syntax.OpNot, X: sub()} },
		func() syntax.Expr { return &syntax.Cond{Condition: sub(), Then: sub(), Else: sub()} },
		func() syntax.Expr {
			return &syntax.Prob{Modifier: g.modifier(), Threshold: g.threshold(true), Path: g.path(depth - 1), Filter: g.filter(depth)}
		},
		func() syntax.Expr {
			s := &syntax.Steady{Threshold: g.threshold(false), X: g.state(depth-1, path), Filter: g.filter(depth)}
			if s.Rel != syntax.OpNone {
				s.Modifier = g.modifier()
			}
			return s
		},
		func() syntax.Expr { return g.reward(depth) },
		func() syntax.Expr { return &syntax.Quant{All: g.IntN(2) == 0, Path: g.path(depth - 1)} },
		func() syntax.Expr { return &syntax.Strategy{IsBox: g.IntN(2) == 0, All: g.IntN(2) == 0, X: sub()} },
		func() syntax.Expr { return &syntax.Filter{Op: "min", X: sub(), States: sub()} },
	)
}

func (g generator) path(depth int) syntax.Expr {
	if depth <= 0 || g.IntN(4) == 0 {
		return g.state(depth, true)
	}
	op := []syntax.TemporalOp{syntax.Next, syntax.Future, syntax.Globally, syntax.Until, syntax.WeakUntil, syntax.Release}[g.IntN(6)]
	x := &syntax.Temporal{Op: op, Bound: g.bound(), Y: g.path(depth - 1)}
	if op >= syntax.Until {
		x.X = g.path(depth - 1)
	}
	return x
}

func (g generator) bound() *syntax.TimeBound {
	e := g.expr(g.IntN(3))
	switch g.IntN(6) {
	case 0:
		return &syntax.TimeBound{High: e, IsHighStrict: g.IntN(2) == 0}
	case 1:
		return &syntax.TimeBound{Low: e, IsLowStrict: g.IntN(2) == 0}
	case 2:
		return &syntax.TimeBound{Low: e, High: e, Equal: true}
	case 3:
		return &syntax.TimeBound{Low: e, High: g.expr(1)}
	}
	return nil
}

func (g generator) modifier() *syntax.Ident {
	if g.IntN(4) == 0 {
		return g.name()
	}
	return nil
}

func (g generator) threshold(extrema bool) syntax.Threshold {
	switch {
	case g.IntN(2) == 0:
		return syntax.Threshold{Rel: syntax.OpLt + syntax.Op(g.IntN(4)), Bound: g.expr(2)}
	case extrema:
		return syntax.Threshold{Extremum: syntax.Extremum(g.IntN(7))}
	}
	return syntax.Threshold{}
}

func (g generator) filter(depth int) *syntax.OldFilter {
	if g.IntN(4) > 0 {
		return nil
	}
	return &syntax.OldFilter{States: g.state(depth-1, false), Min: g.IntN(2) == 0, Max: g.IntN(2) == 0}
}

func (g generator) reward(depth int) syntax.Expr {
	r := &syntax.Reward{Modifier: g.modifier(), Threshold: g.threshold(true), Filter: g.filter(depth)}
	if g.IntN(2) == 0 {
		r.Struct = g.pick(func() syntax.Expr { return &syntax.Quoted{Name: "r"} }, func() syntax.Expr { return g.expr(1) })
		if g.IntN(3) == 0 {
			r.DivisorStruct = &syntax.Quoted{Name: "q"}
		}
	}
	r.Path = g.pick(
		func() syntax.Expr { return &syntax.RewardPath{Kind: syntax.LongRun} },
		func() syntax.Expr { return &syntax.RewardPath{} },
		func() syntax.Expr { return &syntax.RewardPath{Bound: g.expr(2)} },
		func() syntax.Expr { return &syntax.RewardPath{Kind: syntax.Instantaneous, Bound: g.expr(2)} },
		func() syntax.Expr { return g.path(depth - 1) },
	)
	return r
}

func (g generator) doc() syntax.Doc {
	return syntax.Doc([][]string{nil, nil, {"one"}, {"one", "", "  three", "/ four"}}[g.IntN(4)])
}

func (g generator) command() *syntax.Command {
	c := &syntax.Command{Doc: g.doc(), Guard: g.expr(3), Action: g.modifier()}
	if g.IntN(3) == 0 {
		c.Updates = []*syntax.Update{{Assigns: g.assigns()}}
		return c
	}
	for range 1 + g.IntN(3) {
		u := &syntax.Update{Prob: g.expr(3), Assigns: g.assigns()}
		if g.IntN(5) == 0 {
			u.ProbHigh = g.expr(2)
		}
		c.Updates = append(c.Updates, u)
	}
	return c
}

func (g generator) assigns() []*syntax.Assign {
	var list []*syntax.Assign
	for range g.IntN(4) {
		list = append(list, &syntax.Assign{Name: g.name(), Value: g.expr(3)})
	}
	return list
}

func (g generator) sys(depth int) syntax.SysExpr {
	if depth <= 0 {
		if g.IntN(3) == 0 {
			return &syntax.SysRef{Name: g.name()}
		}
		return &syntax.SysModule{Name: g.name()}
	}
	operands := func() (xs []syntax.SysExpr) {
		for range 2 + g.IntN(2) {
			xs = append(xs, g.sys(g.IntN(depth)))
		}
		return xs
	}
	names := []*syntax.Ident{g.name(), g.name()}
	switch g.IntN(5) {
	case 0:
		return &syntax.SysFull{Operands: operands()}
	case 1:
		// Not directly in each other: X ||| (Y ||| Z) prints with brackets.
		xs := operands()
		for i, x := range xs {
			if _, ok := x.(*syntax.SysInterleaved); ok {
				xs[i] = &syntax.SysBrackets{X: x}
			}
		}
		return &syntax.SysInterleaved{Operands: xs}
	case 2:
		return &syntax.SysParallel{X: g.sys(depth - 1), Y: g.sys(depth - 1), Actions: names}
	case 3:
		return &syntax.SysHide{X: g.sys(depth - 1), Actions: names}
	}
	return &syntax.SysRename{X: g.sys(depth - 1), Renames: []*syntax.Rename{{Old: g.name(), New: g.name()}}}
}

func (g generator) model() *syntax.Model {
	m := &syntax.Model{Trailing: g.doc()}
	module := &syntax.Module{Doc: g.doc(), Name: g.name()}
	for range g.IntN(3) {
		module.Vars = append(module.Vars, &syntax.VarDecl{Doc: g.doc(), Name: g.name(), Low: g.expr(2), High: g.expr(2), Init: g.expr(2)})
	}
	for range g.IntN(4) {
		module.Commands = append(module.Commands, g.command())
	}
	rewards := &syntax.Rewards{Doc: g.doc(), Name: g.name()}
	for range g.IntN(3) {
		rewards.Items = append(rewards.Items, &syntax.RewardItem{Doc: g.doc(), IsTransition: g.IntN(2) == 0, Guard: g.expr(3), Value: g.expr(3)})
	}
	m.Items = []syntax.Item{
		&syntax.TypeDecl{Type: syntax.DTMC, Doc: g.doc()},
		&syntax.ConstDecl{Doc: g.doc(), Name: g.name(), Type: syntax.ConstDouble, Value: g.expr(3)},
		&syntax.FormulaDecl{Doc: g.doc(), Name: g.name(), X: g.expr(5)},
		&syntax.LabelDecl{Doc: g.doc(), Name: g.name(), X: g.expr(5)},
		&syntax.GlobalDecl{Doc: g.doc(), Var: &syntax.VarDecl{Name: g.name(), Type: syntax.BoolVar}},
		module,
		rewards,
		&syntax.InitBlock{Doc: g.doc(), X: g.expr(4)},
		&syntax.System{Doc: g.doc(), Name: g.name(), X: g.sys(4)},
	}
	g.Shuffle(len(m.Items), func(i, j int) { m.Items[i], m.Items[j] = m.Items[j], m.Items[i] })
	return m
}

// Printing any tree and parsing it gives the tree again. The trees are random,
// with operators below each other in all combinations.
func TestPrintParseBuiltTrees(t *testing.T) {
	g := generator{rand.New(rand.NewPCG(1, 2))}
	for range 500 {
		checkBuilt(t, g.model())
		ps := &syntax.Properties{Trailing: g.doc()}
		for range 1 + g.IntN(3) {
			ps.Items = append(ps.Items, &syntax.Property{Doc: g.doc(), Name: g.modifier(), X: g.state(5, false)})
		}
		checkBuilt(t, ps)
	}
}

func checkBuilt(t *testing.T, n syntax.Node) {
	t.Helper()
	before := syntax.Clone(n)
	checkRoundTrip(t, n)
	if !syntax.Equal(n, before) {
		t.Fatal("printing changed the tree")
	}
}

// Equal sees every difference that Clone does not make.
func TestEqualSeesChanges(t *testing.T) {
	base := "mdp const int N=3; module M // d\nx:[0..1]; [a] x=0 & N>1 -> 0.5:(x'=1)+0.5:(x'=f(x)); endmodule rewards \"r\" [a] true:1; endrewards system M/{a} endsystem"
	a, err := syntax.ParseModel("a", []byte(base))
	if err != nil {
		t.Fatal(err)
	}
	for _, same := range [][2]string{
		{"mdp", "nondeterministic"}, {"const int", "const"}, {"x=0 & N>1", "(x=0) &\n ((N>1))"},
	} {
		b, err := syntax.ParseModel("b", []byte(strings.Replace(base, same[0], same[1], 1)))
		if err != nil || !syntax.Equal(a, b) {
			t.Errorf("%q for %q makes a difference: %v", same[1], same[0], err)
		}
	}
	for _, other := range [][2]string{
		{"M // d", "M "},
		{"mdp", "dtmc"},
		{"int", "double"},
		{"3", "4"},
		{"=3", ""},
		{"\nx", "\n// doc\nx"},
		{"[a] x", "[b] x"},
		{"[a] x", "[] x"},
		{"x=0", "x=0.0"},
		{"&", "|"},
		{"N>1", "1>N"},
		{"(x'=1)", "true"},
		{"f(x)", "func(f,x)"},
		{"f(x)", "g(x)"},
		{"0.5:", "0.50:"},
		{"\"r\"", ""},
		{"[a] true", "true"},
		{"{a}", "{a,b}"},
		{"system M/{a} endsystem", ""},
	} {
		b, err := syntax.ParseModel("b", []byte(strings.Replace(base, other[0], other[1], 1)))
		if err != nil || syntax.Equal(a, b) || syntax.Equal(b, a) {
			t.Errorf("%q for %q makes no difference: %v", other[1], other[0], err)
		}
	}
	if syntax.Equal(a, &syntax.Properties{}) || !syntax.Equal(nil, nil) || syntax.Equal(a, nil) {
		t.Error("nodes of different types are equal")
	}
}

func TestWalk(t *testing.T) {
	p, err := syntax.ParseProperty("", []byte(`R(m){"r"}<=k [ a U<=t f(b, (c)) {d} ]`))
	if err != nil {
		t.Fatal(err)
	}
	var names, left []string
	syntax.Walk(p, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok {
			names = append(names, id.Name)
		}
		_, call := n.(*syntax.Call)
		return !call
	}, func(n syntax.Node) { left = append(left, fmt.Sprintf("%T", n)[len("*syntax."):]) })
	if want := []string{"k", "a", "t", "d"}; !slices.Equal(names, want) {
		t.Errorf("names %v, want %v", names, want)
	}
	if want := []string{"Ident", "Ident", "Ident", "TimeBound", "Temporal", "Ident", "OldFilter", "Reward", "Property"}; !slices.Equal(left, want) {
		t.Errorf("left %v, want %v", left, want)
	}
}

// A rewriting shares what it does not change and leaves its input alone.
func TestRewrite(t *testing.T) {
	p, err := syntax.ParseProperty("", []byte(`filter(min, R{k}=? [ a U[k,2] (b & !c) {k=1} ], multi(P>k [ X k ], x ? y : -z)) + R{"k"}=? [ C<=k ]`))
	if err != nil {
		t.Fatal(err)
	}
	before := syntax.Clone(p)
	replaced := syntax.Rewrite(p.X, func(x syntax.Expr) syntax.Expr {
		if id, ok := x.(*syntax.Ident); ok && id.Name == "k" {
			return &syntax.Paren{X: ident("K")}
		}
		return x
	})
	want := strings.ReplaceAll(before.String(), "k", "(K)")
	want = strings.Replace(want, `{"(K)"}`, `{"k"}`, 1) // the name of a structure is no expression
	if got := syntax.ExprString(replaced); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if !syntax.Equal(p, before) {
		t.Error("the input was modified")
	}
	if same := syntax.Rewrite(p.X, func(x syntax.Expr) syntax.Expr { return x }); same != p.X {
		t.Error("a rewriting without a change copies")
	}
	old, now := p.X.(*syntax.Binary).X.(*syntax.Filter).States, replaced.(*syntax.Binary).X.(*syntax.Filter).States
	if old == now || old.(*syntax.Call).Args[1] != now.(*syntax.Call).Args[1] {
		t.Error("an unchanged subtree is not shared")
	}
}
