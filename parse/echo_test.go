package parse

import (
	"testing"

	"tilecheck/result"
)

func TestEchoes(t *testing.T) {
	constants := func(pairs ...string) (out []result.Constant) {
		for i := 0; i < len(pairs); i += 2 {
			out = append(out, result.Constant{Name: pairs[i], Value: pairs[i+1]})
		}
		return out
	}
	for _, test := range []struct {
		name      string
		said      Property
		asked     []result.Constant
		askedName string
		want      bool
	}{
		{"the same", Property{Text: "P=? [ F a ]"}, nil, "", true},
		{"another text", Property{Text: "P=? [ F b ]"}, nil, "", false},
		{"a name that is not said", Property{Text: "P=? [ F a ]"}, nil, "n", true},
		{"another name", Property{Text: "P=? [ F a ]", Name: "m"}, nil, "n", false},
		{"12 digits of a double", Property{Text: "P=? [ F a ]", Model: constants("p", "0.333333333333")}, constants("p", "0.3333333333333333"), "", true},
		{"a fraction", Property{Text: "P=? [ F a ]", Constants: constants("p", "1/4")}, constants("p", "0.25"), "", true},
		{"another double", Property{Text: "P=? [ F a ]", Model: constants("p", "0.333333333334")}, constants("p", "0.3333333333333333"), "", false},
		{"another int of the property", Property{Text: "P=? [ F a ]", Model: constants("N", "2"), Constants: constants("k", "3")}, constants("N", "2", "k", "4"), "", false},
		{"a constant that nobody asked about", Property{Text: "P=? [ F a ]", Model: constants("M", "2")}, constants("N", "3"), "", true},
		{"a truth value", Property{Text: "P=? [ F a ]", Model: constants("b", "true")}, constants("b", "false"), "", false},
	} {
		if got := test.said.Echoes(test.askedName, "P=? [ F a ]", test.asked); got != test.want {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
