package sema

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParseConsts(t *testing.T) {
	got, err := ParseConsts([]string{"a=1,b=0.1:0.1:0.5,,c=true", "", "d=1/3:2,e=x=y,", "f=1,2, 5,g=false,true"})
	want := []ConstDef{
		{Name: "a", Low: "1"},
		{Name: "b", Low: "0.1", Step: "0.1", High: "0.5", IsRange: true},
		{Name: "c", Low: "true"},
		{Name: "d", Low: "1/3", High: "2", IsRange: true},
		{Name: "e", Low: "x=y"},
		{Name: "f", Low: "1", MoreValues: "2,5"},
		{Name: "g", Low: "false", MoreValues: "true"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, bad := range []string{"a", "=1", "a=", "a=1:", "a=1:2:", "a=1:2:3:4", "b=1,a", "b=1:2,3", "1,2", "a=1::2"} {
		if _, err := ParseConsts([]string{bad}); err == nil || !strings.Contains(err.Error(), "invalid format in definition of undefined constants") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

const experimentModel = "dtmc const int N; const double p; const int K = N+1; module M s:[0..K]; [] true -> p:(s'=1) + 1-p:true; endmodule"

const experimentProps = `const int T; const bool b; const int D = 2; const double q;
P=? [ F<=T s=1 ];
P>=q [ F b & "l" ];
s;
label "l" = s<=T;`

func experiment(t *testing.T, sel []int, consts ...string) (*Experiment, error) {
	t.Helper()
	m := mustCheck(t, experimentModel)
	defs, err := ParseConsts(consts)
	if err != nil {
		t.Fatal(err)
	}
	return m.Experiment(mustProperties(t, m, experimentProps), sel, defs)
}

// Model constants vary outside, and the first constant slowest; reference, section 5.6.
func TestExperiment(t *testing.T) {
	x, err := experiment(t, nil, "T=3:2:7,b=true,N=1:2", "p=1/4:1/4:1/2,q=0.9,zz=1")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"N=1,p=0.25;T=3 N=1,p=0.25;T=5 N=1,p=0.25;T=7 N=1,p=0.5;T=3 N=1,p=0.5;T=5 N=1,p=0.5;T=7 " +
			"N=2,p=0.25;T=3 N=2,p=0.25;T=5 N=2,p=0.25;T=7 N=2,p=0.5;T=3 N=2,p=0.5;T=5 N=2,p=0.5;T=7",
		"N=1,p=0.25;T=3,b=true,q=0.9 N=1,p=0.25;T=5,b=true,q=0.9 N=1,p=0.25;T=7,b=true,q=0.9 " +
			"N=1,p=0.5;T=3,b=true,q=0.9 N=1,p=0.5;T=5,b=true,q=0.9 N=1,p=0.5;T=7,b=true,q=0.9 " +
			"N=2,p=0.25;T=3,b=true,q=0.9 N=2,p=0.25;T=5,b=true,q=0.9 N=2,p=0.25;T=7,b=true,q=0.9 " +
			"N=2,p=0.5;T=3,b=true,q=0.9 N=2,p=0.5;T=5,b=true,q=0.9 N=2,p=0.5;T=7,b=true,q=0.9",
		"N=1,p=0.25; N=1,p=0.5; N=2,p=0.25; N=2,p=0.5;",
	} {
		var got []string
		for m, p := range x.All(i) {
			got = append(got, m.String()+";"+p.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("property %d:\n got %s\nwant %s", i, strings.Join(got, " "), want)
		}
	}
	for m := range x.Models() {
		if v := m.Map(); len(v) != 2 || v["N"].Int != 1 || v["p"].Rat.RatString() != "1/4" {
			t.Errorf("got %v", v)
		}
		break
	}
	model, property := x.Varying(1)
	if fmt.Sprint(model, property) != "[N p] [T]" {
		t.Errorf("varying %v, %v", model, property)
	}
	if len(x.Warnings) != 1 || !strings.Contains(x.Warnings[0].Error(), `there is no constant "zz", so its value is ignored`) {
		t.Errorf("warnings %v", x.Warnings)
	}
}

// The values of a range do not accumulate errors.
func TestExperimentExact(t *testing.T) {
	tests := []struct{ def, want string }{
		{"0.1:0.1:0.5", "0.1 1/10 0.2 1/5 0.3 3/10 0.4 2/5 0.5 1/2"},
		{"1/3", "0.3333333333333333 1/3"},
		{"2/3/4", "0.16666666666666666 1/6"},
		{"0:1/3:1", "0.0 0 0.3333333333333333 1/3 0.6666666666666666 2/3 1.0 1"},
		{"0:0.3333:0.9998", "0.0 0 0.3333 3333/10000 0.6666 3333/5000 0.9999 9999/10000"}, // as in PRISM
		{"0:0.3:1", "0.0 0 0.3 3/10 0.6 3/5 0.9 9/10"},
		{"0.5:0.7", "0.5 1/2"},
		{"-1.5:1", "-1.5 -3/2 -0.5 -1/2 0.5 1/2"},
		{".5", "0.5 1/2"},
		{"1.", "1.0 1"},
		{"+1e-2", "0.01 1/100"},
	}
	for _, test := range tests {
		x, err := experiment(t, []int{}, "N=1,p="+test.def)
		if err != nil {
			t.Errorf("%s: %v", test.def, err)
			continue
		}
		var got []string
		for v := range x.Models() {
			got = append(got, v[1].Val.String(), v[1].Val.Rat.RatString())
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: got %s, want %s", test.def, strings.Join(got, " "), test.want)
		}
	}
}

func TestExperimentErrors(t *testing.T) {
	tests := []struct {
		sel    []int
		consts string
		want   string
	}{
		{nil, "", `m.prism:1:16: undefined constants "N", "p", "T", "b" and "q" must be defined: add --const N=...,p=...,T=...,b=...,q=...`},
		{[]int{2}, "p=1", `m.prism:1:16: undefined constant "N" must be defined: add --const N=...`},
		{[]int{2}, "n=1,elsewhere=2", `m.prism:1:16: undefined constants "N" and "p" must be defined: add --const N=...,p=...; there is no constant "n", so its value is ignored; did you mean "N"?; there is no constant "elsewhere", so its value is ignored`},
		{[]int{2}, "N=1,p=1", ""},
		{[]int{0}, "N=1,p=1,T=1,q=bad,b=1:2", ""}, // not needed
		{[]int{0}, "N=1,p=1", `p.props:1:11: undefined constant "T" must be defined: add --const T=...`},
		{[]int{1}, "N=1,p=1,T=1", `p.props:1:25: undefined constants "b" and "q" must be defined: add --const b=...,q=...`},
		{nil, "K=1", `constant "K" has already been defined in the model; to set it here, declare it without a value: const int K;`},
		{nil, "D=1", `constant "D" has already been defined; to set it here, declare it without a value: const int D;`},
		{nil, "N=1,N=2", `constant "N" has two definitions, N=1 and N=2`},
		{nil, "N=1.5", "value 1.5 for constant N is not a valid integer"},
		{nil, "N=2147483648", "value 2147483648 for constant N is not a valid integer"},
		{nil, "N=true", "value true for constant N is not a valid integer"},
		{nil, "N=1:x", "value x for constant N is not a valid integer"},
		{nil, "N=5:1", "low value 5 for constant N is higher than the high value 1"},
		{nil, "N=1:0:5", "step value 0 for constant N must be positive"},
		{nil, "N=1:-1:5", "step value -1 for constant N must be positive"},
		{nil, "N=1:9:5", "step value 9 for constant N is bigger than the difference between 1 and 5"},
		{nil, "N=-2147483648:2147483647", "constant N has too many values from -2147483648 to 2147483647"},
		{nil, "p=1/0", "value 1/0 for constant p is not a valid double"},
		{nil, "p=1/", "value 1/ for constant p is not a valid double"},
		{nil, "p=NaN", "value NaN for constant p is not a valid double"},
		{nil, "p=1e5000", "value 1e5000 for constant p is not a valid double"},
		{nil, "p=0:1e-9999999999:1", "value 1e-9999999999 for constant p is not a valid double"},
		{nil, "p=0:x:1", "value x for constant p is not a valid double"},
		{nil, "b=true:false", "cannot define ranges for Boolean constants, found one for b"},
		{nil, "b=1", "value 1 for constant b is not a valid Boolean"},
	}
	for _, test := range tests {
		_, err := experiment(t, test.sel, test.consts)
		if got := fmt.Sprint(err); err == nil && test.want != "" || err != nil && got != test.want {
			t.Errorf("%v %s: got %s, want %s", test.sel, test.consts, got, test.want)
		}
	}
}

func TestExperimentWithoutProperties(t *testing.T) {
	x, err := mustCheck(t, experimentModel).Experiment(nil, nil, []ConstDef{{Name: "N", Low: "1", High: "3", IsRange: true}, {Name: "p", Low: "1"}})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for range x.Models() {
		n++
	}
	if n != 3 {
		t.Errorf("%d valuations, want 3", n)
	}
}

// ValuesOf says what one definition gives, whether or not the other constants have values.
func TestValuesOf(t *testing.T) {
	m := mustCheck(t, experimentModel)
	ps := mustProperties(t, m, experimentProps)
	for _, x := range []struct{ def, want string }{
		{"N=1:3", "3 [1 2 3] <nil>"},
		{"p=0:0.1:1", "11 [0.0 0.1 0.2] <nil>"},
		{"b=true", "1 [true] <nil>"},
		{"T=x", "0 [] value x for constant T is not a valid integer"},
		{"none=1", `0 [] constant "none" is not declared`},
	} {
		defs, err := ParseConsts([]string{x.def})
		if err != nil {
			t.Fatal(err)
		}
		values, n, err := m.ValuesOf(ps, defs[0], 3)
		if got := fmt.Sprint(n, values, err); got != x.want {
			t.Errorf("%s: found %s, want %s", x.def, got, x.want)
		}
	}
}

// TestLists has constants with lists of values.
func TestLists(t *testing.T) {
	const model = "dtmc const int N; const double p; const bool b; module M s:[0..2]; [] true -> p:(s'=1) + 1-p:true; endmodule"
	m := paramModel(t, model)
	for text, want := range map[string]string{
		"N=1,2,5,p=0.5,b=true":        "N=1,p=1/2,b=true N=2,p=1/2,b=true N=5,p=1/2,b=true",
		"N=7,p=1/3,0.25,b=false,true": "N=7,p=1/3,b=false N=7,p=1/3,b=true N=7,p=1/4,b=false N=7,p=1/4,b=true",
		"N=1,2,1,p=0.5,b=true":        "constant N has the value 1 twice",
		"N=1,2,p=0.5,1/2,b=true":      "constant p has the value 1/2 twice",
		"N=1,2.5,p=0.5,b=true":        "value 2.5 for constant N is not a valid integer",
		"N=1,p=0.5,b=true,3":          "value 3 for constant b is not a valid Boolean",
	} {
		defs, err := ParseConsts([]string{text})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		experiment, err := m.Experiment(nil, nil, defs)
		if err != nil {
			got = append(got, err.Error())
		} else {
			for v := range experiment.Models() {
				var parts []string
				for _, x := range v {
					value := x.Val.String()
					if x.Val.Rat != nil {
						value = x.Val.Rat.RatString()
					}
					parts = append(parts, x.Name+"="+value)
				}
				got = append(got, strings.Join(parts, ","))
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		var again []ConstDef
		for _, def := range defs {
			more, err := ParseConsts([]string{def.String()})
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, more...)
		}
		if !slices.Equal(again, defs) {
			t.Errorf("%s was written as %v", text, again)
		}
	}
}
