package sema

import (
	"strings"
	"testing"

	"tilecheck/prism/syntax"
)

// TestStormModels: what Storm 1.14 builds of models that PRISM refuses.
func TestStormModels(t *testing.T) {
	check := func(dialect syntax.Dialect, text string) (*Model, error) {
		m, err := syntax.ParseModelOf(dialect, "m", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return CheckModel(m)
	}
	for _, c := range []struct{ text, refused string }{
		{"dtmc const int N = 5/2; module m s:[0..9/4] init N/2; [] true -> (s'=s/2); endmodule", "type double, want int"},
		{"dtmc module m s:[0..4] init 0.5; [] true -> true; endmodule", ""},
		{"dtmc module m s:[0..4]; [] true -> (s'=s/2.0); endmodule", ""},
		{"dtmc formula f = x>0; formula g = y>1; module a x:[0..2]; [] !f -> (x'=1); endmodule module b = a [x=y, f=g] endmodule", `formula "f" cannot be renamed`},
		{`pomdp observable "goal" = s=1; module m s:[0..1]; [] true -> true; endmodule label "goal" = s=0;`, `name of observable "goal" is already used`},
	} {
		if _, err := check(syntax.PRISM, c.text); err == nil || !strings.Contains(err.Error(), c.refused) {
			t.Errorf("PRISM: %s: %v", c.text, err)
		}
		if _, err := check(syntax.Storm, c.text); (err == nil) != (c.refused != "") {
			t.Errorf("Storm: %s: %v", c.text, err)
		}
	}
	m, err := check(syntax.Storm, "dtmc const int N = -5/2; module m s:[-3..3] init N; [] true -> (s'=s/2); endmodule")
	if err != nil {
		t.Fatal(err)
	}
	p := mustInstantiate(t, m, nil)
	// C++ cuts off what is behind the point, towards 0.
	if p.Vars[0].Init != -2 {
		t.Errorf("-5/2 is %d, want -2", p.Vars[0].Init)
	}
	for from, want := range map[int32]int32{-3: -1, -2: -1, -1: 0, 0: 0, 1: 0, 3: 1} {
		v, err := Eval(p.Modules[0].Commands[0].Updates[0].Assigns[0].Value, []int32{from})
		if err != nil || v.Int != want {
			t.Errorf("%d/2 is %v, %v, want %d", from, v, err, want)
		}
	}
	// The other formula stands for the one that is renamed, as it is: y>1, not the y>0 of x>0.
	m, err = check(syntax.Storm, "dtmc formula f = x>0; formula g = y>1; module a x:[0..2]; [] !f -> (x'=1); endmodule module b = a [x=y, f=g] endmodule")
	if err != nil {
		t.Fatal(err)
	}
	if got := show(mustInstantiate(t, m, nil).Modules[1].Commands[0].Guard); got != "!($1>1)" {
		t.Errorf("renamed guard %s", got)
	}
}
