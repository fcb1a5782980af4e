package sema

import (
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

const paramText = `dtmc
const double p;
const double q;
const double r = 1-p;
const int N = 2;
module m
  x : [0..N] init 0;
  [] x<1 -> p*q:(x'=x+1) + 1-p*q:(x'=N);
  [] x=1 -> r:(x'=2) + p:(x'=0);
endmodule
rewards q+1 > 0 : N; endrewards
`

func paramModel(t *testing.T, text string) *Model {
	t.Helper()
	f, err := syntax.ParseModel("m.prism", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	m, err := CheckModel(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestInstantiateOpen(t *testing.T) {
	p, err := paramModel(t, paramText).InstantiateOpen(map[string]Value{"q": DoubleValue(0.5)}, []string{"p"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range p.Consts {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "q N" {
		t.Errorf("constants with a value: %s, want q N", got)
	}
	for _, c := range p.Modules[0].Commands {
		if HasParameters(c.Guard) {
			t.Errorf("guard at %v is parametric", c.Pos)
		}
		for _, u := range c.Updates {
			if !HasParameters(u.Prob) {
				t.Errorf("probability at %v is not parametric", u.Pos)
			}
			if _, err := Eval(u.Prob, []int32{0}); err == nil || !strings.Contains(err.Error(), "found the parameter p, want a number") {
				t.Errorf("value of a probability with a parameter: error %v", err)
			}
		}
	}
	if p.Vars[0].High != 2 || HasParameters(p.Rewards[0].Items[0].Guard) {
		t.Error("what does not depend on the parameter is not a number")
	}
}

func TestParametersRefused(t *testing.T) {
	for _, c := range []struct{ text, name, want string }{
		{paramText, "r", `m.prism:4:14: constant "r" has a value in the model, want none for a parameter`},
		{paramText, "z", `m.prism: parameter "z" is not a constant of the model`},
		{paramText, "q", `m.prism:3:14: constant "q" is given a value, want none for a parameter`},
		{strings.Replace(paramText, "const double p", "const int p", 1), "p", `m.prism:2:11: constant "p" is of type int, want double for a parameter`},
		{strings.Replace(paramText, "[0..N]", "[0..floor(p)]", 1), "p", `m.prism:7:17: found the parameter p, want a number`},
	} {
		_, err := paramModel(t, c.text).InstantiateOpen(map[string]Value{"q": DoubleValue(0.5)}, []string{c.name})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("parameter %s: error %v, want %s", c.name, err, c.want)
		}
	}
}
