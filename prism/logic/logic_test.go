package logic_test

import (
	"fmt"
	"strings"
	"testing"

	"tilecheck/prism/logic"
	"tilecheck/prism/sema"
	"tilecheck/prism/sema/sematest"
	"tilecheck/prism/syntax"
)

const model = `mdp
module m s:[0..2]; [] s<2 -> 0.5:(s'=s+1) + 0.5:true; [] s=2 -> true; endmodule
rewards "a" true : 1; endrewards
rewards "b" true : 2; endrewards`

// property returns a property over the model, resolved.
func property(t *testing.T, text string) sema.Expr {
	t.Helper()
	program := sematest.Program(t, model)
	file, err := syntax.ParsePropertiesOf(syntax.Storm, "p", []byte(text))
	if err != nil {
		file, err = syntax.ParseProperties("p", []byte(text))
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	props, err := program.Model().CheckProperties(file)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	list, _, err := props.Instantiate(program, nil, nil)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return list[0].Expr
}

var (
	kinds = [...]string{"expression", "label", "P", "R", "S", "quantified", "strategy", "filter", "multi", "multilex", "quantile", "path", "reward"}
	paths = [...]string{"state", "next", "until", "late W", "costs", "conditional", "LTL"}
	forms = [...]string{"reach", "bounded reach", "cumulative", "instantaneous", "total", "long run", "cost-bounded total", "discounted", "until reached", "zero unless reached", "conditional", "co-safe"}
)

func showPath(p *logic.Path) string {
	out := paths[p.Form]
	if p.IsNegated {
		out = "not " + out
	}
	if p.IsTemporal {
		out += " " + p.Op.String()
	}
	if p.Bound != nil {
		first, last, err := logic.Steps(p.Bound)
		out += fmt.Sprintf(" %d to %d", first, last)
		if err != nil {
			out += " " + err.Error()
		}
	}
	if _, lasting, ok := p.Repeated(); ok {
		out += map[bool]string{false: " infinitely often", true: " from some time on"}[lasting]
	}
	if p.Reaches() {
		out += " reaches"
	}
	return out
}

func show(f *logic.Formula) string {
	out := kinds[f.Kind]
	switch {
	case f.Path != nil:
		out += ": " + showPath(f.Path)
	case f.Objective != nil:
		if out += ": " + forms[f.Objective.Form] + f.Objective.Letter(); f.Objective.IsRatio {
			out += " ratio"
		}
	case f.Operand != nil:
		out += " " + f.Op + " of " + show(logic.FormulaOf(f.Operand))
	case f.Objectives != nil:
		var parts []string
		for _, x := range f.Objectives {
			parts = append(parts, show(logic.FormulaOf(x)))
		}
		out += "(" + strings.Join(parts, ", ") + ")"
	}
	return out
}

func TestOf(t *testing.T) {
	for _, tt := range []struct{ property, want string }{
		{`Pmax=? [ F s=2 ]`, "P: until F reaches"},
		{`P>=0.5 [ F<=3 s=2 ]`, "P: until F 0 to 3"},
		{`P>=0.5 [ F<3 s=2 ]`, "P: until F 0 to 2"},
		{`Pmax=? [ s<2 U[2,4] s=2 ]`, "P: until U 2 to 4"},
		{`Pmax=? [ s<2 U>1 s=2 ]`, "P: until U 2 to -1"},
		{`Pmax=? [ G s<2 ]`, "P: until G"},
		{`Pmax=? [ !(F s=2) ]`, "P: not until F"},
		{`Pmax=? [ !(!(s<2 U s=2)) ]`, "P: until U reaches"},
		{`Pmax=? [ s<2 W<=3 s=2 ]`, "P: until W 0 to 3"},
		{`Pmax=? [ s<2 W>=3 s=2 ]`, "P: late W W 3 to -1"},
		{`Pmax=? [ X s=2 ]`, "P: next X"},
		{`Pmax=? [ X X s=2 ]`, "P: LTL X"},
		{`Pmax=? [ s=2 ]`, "P: state"},
		{`Pmax=? [ G F s=2 ]`, "P: LTL G infinitely often"},
		{`Pmax=? [ F G s=2 ]`, "P: LTL F from some time on"},
		{`Pmax=? [ (F s=1) & (F s=2) ]`, "P: LTL"},
		{`Pmax=? [ F P>0.5 [ X s=2 ] ]`, "P: until F reaches"},
		{`Pmax=? [ F{rew{"a"}<=3} s=2 ]`, "P: costs"},
		{`Pmax=? [ F s=1 || F s=2 ]`, "P: conditional"},
		{`R{"a"}max=? [ F s=1 || F s=2 ]`, "R: conditional"},
		{`R{"a"}max=? [ F s=2 ]`, "R: reach"},
		{`R{"a"}max=? [ F<=2 s=2 ]`, "R: bounded reach"},
		{`R{"a"}max=? [ C<=2 ]`, "R: cumulativeC"},
		{`R{"a"}max=? [ C ]`, "R: totalC"},
		{`R{"a"}max=? [ C{"b"}<=2,steps<=4 ]`, "R: cost-bounded totalC"},
		{`R{"a"}max=? [ Cdiscount=1/2 ]`, "R: discountedC"},
		{`R{"a"}max=? [ C<=3 discount=0.9 ]`, "R: discountedC"},
		{`R{"a"}max=? [ I=2 ]`, "R: instantaneousI"},
		{`R{"a"}max=? [ S ]`, "R: long runS"},
		{`R{"a"}max=? [ F X s=2 ]`, "R: co-safe"},
		{`R{"a"}max=? [ s<2 U s=2 ]`, "R: co-safe"},
		{`R{"a"}/{"b"}max=? [ S ]`, "R: long runS ratio"},
		{`S>0.5 [ s=2 ]`, "S  of expression"},
		{`E [ G s=2 ]`, "quantified: until G"},
		{`"init"`, "label"},
		{`s=2 & "init"`, "expression"},
		{`filter(max, Pmax=? [ F s=2 ], s<2)`, "filter max of P: until F reaches"},
		{`<<*>> P>=0.5 [ F s=2 ]`, "strategy  of P: until F reaches"},
		{`multilex(Pmax=? [ F s=2 ], R{"a"}min=? [ C ])`, "multilex(P: until F reaches, R: totalC)"},
		{`multi(Pmax=? [ F s=2 ], R{"a"}<=3 [ C ])`, "multi(P: until F reaches, R: totalC)"},
	} {
		if got := show(logic.FormulaOf(property(t, tt.property))); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.property, got, tt.want)
		}
	}
}

func TestNested(t *testing.T) {
	for text, want := range map[string]string{
		`s=2 & "init"`:                    "",
		`s=2 & !P>0.5 [ F s=2 ]`:          "a P operator",
		`E [ F s=2 ] | P>0.5 [ F s=2 ]`:   "an E operator",
		`s=2 | filter(exists, s=1, true)`: "a filter",
	} {
		got := ""
		if x := logic.Nested(property(t, text), nil); x != nil {
			got = logic.Describe(x)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

// The until formula of each operator is compared with the definition of the operator, on the words of length one:
// the value of a and b in a state that repeats for ever.
func TestAsUntil(t *testing.T) {
	not := func(x bool) bool { return !x }
	booleans := logic.Algebra[bool]{Not: not, And: func(x, y bool) bool { return x && y }, Neither: func(x, y bool) bool { return !x && !y }}
	for _, op := range []syntax.TemporalOp{syntax.Future, syntax.Globally, syntax.Until, syntax.WeakUntil, syntax.Release} {
		for i := range 4 {
			a, b := i&1 != 0, i&2 != 0
			want := b // F, G, U and R are b in such a word
			switch op {
			case syntax.Future, syntax.Globally:
				a = true
			case syntax.WeakUntil:
				want = a || b
			}
			_, right, negated := booleans.AsUntil(op, a, b)
			if got := right != negated; got != want {
				t.Errorf("%t %v %t: got %t, want %t", a, op, b, got, want)
			}
		}
	}
}

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		`P=? [ F s=2 ]`:                  "P reaches",
		`P>0.5 [ (s<2 U s=2) ]`:          "P reaches",
		`P=? [ F<=2 s=2 ]`:               "P",
		`R=? [ F s=2 ]`:                  "R reaches",
		`R=? [ C ]`:                      "R",
		`S=? [ s=2 ]`:                    "S",
		`multi(Pmax=? [ F s=2 ])`:        "multi",
		`1 - P=? [ F s=2 ]`:              "expression",
		`filter(max, P=? [ F s=2 ])`:     "filter",
		`(P=? [ F s=2 ])`:                "expression",
		`P=? [ G F s=2 ]`:                "P",
		`P=? [ (F s=1) & (F s=2) ]`:      "P",
		`Pmax=? [ F s=2 {s=1}{max} ]`:    "P reaches",
		`Pmax=? [ s<2 U (P>0 [X s=1]) ]`: "P reaches",
	} {
		p, err := syntax.ParseProperty("", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		w := logic.Read(p.X)
		got := kinds[w.Kind]
		if w.Reaches() {
			got += " reaches"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}
