package sema_test

import (
	"math/big"
	"testing"

	"tilecheck/prism/sema"
)

// TestExactText: a value is written so that --const reads the same value back.
func TestExactText(t *testing.T) {
	t.Parallel()
	for fraction, want := range map[string]string{
		"1/2": "0.5", "1/3": "1/3", "-2/3": "-2/3", "3": "3.0", "1/100000": "1.0E-5",
		"3333333333333333/10000000000000000":                              "0.3333333333333333",
		"1234567890123456789012345678901/1000000000000000000000000000001": "1234567890123456789012345678901/1000000000000000000000000000001",
	} {
		exact, ok := new(big.Rat).SetString(fraction)
		if !ok {
			t.Fatal(fraction)
		}
		value := sema.RatValue(exact)
		got := value.ExactText()
		readBack, ok := new(big.Rat).SetString(got)
		if got != want || !ok || readBack.Cmp(exact) != 0 {
			t.Errorf("%s is written as %s, want %s", fraction, got, want)
		}
		if valuation := (sema.Valuation{{Name: "p", Val: value}}).String(); valuation != "p="+want {
			t.Errorf("the valuation is %s, want p=%s", valuation, want)
		}
	}
	for _, test := range []struct {
		value sema.Value
		want  string
	}{{sema.BoolValue(true), "true"}, {sema.IntValue(-3), "-3"}, {sema.DoubleValue(0.1), "0.1"}} {
		if got := test.value.ExactText(); got != test.want {
			t.Errorf("found %s, want %s", got, test.want)
		}
	}
}
