package check_test

import (
	"math"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tilecheck/native/check"
	"tilecheck/result"
)

// TestBoundsHold checks every property of the corpus with bounds and with
// fractions: the fraction must lie in the interval.
func TestBoundsHold(t *testing.T) {
	dirs, err := filepath.Glob(corpus + "/*")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, dir := range dirs {
		if _, err := os.Stat(dir + "/props.props"); err != nil {
			continue
		}
		c := load(t, dir)
		if c == nil {
			continue
		}
		bounds := map[string]result.Verdict{}
		c.each(t, check.Options{}, func(text, constants string, v result.Verdict) { bounds[text+" "+constants] = v })
		c.each(t, check.Options{Accuracy: result.Exact}, func(text, constants string, x result.Verdict) {
			v := bounds[text+" "+constants]
			switch {
			case x.Err != nil || v.Err != nil:
			case x.Value.Kind == result.Boolean:
				// PRISM's explicit engine tells the two zeros apart, fractions cannot.
				if compared++; (v.Value.Kind != x.Value.Kind || v.Value.Bool != x.Value.Bool) && text != "0.0=-0.0" {
					t.Errorf("%s %s %s: %v with bounds, %v with fractions", c.name, text, constants, v.Value.Bool, x.Value.Bool)
				}
			case x.Value.Rat != nil && v.Bound != nil:
				compared++
				if x.Accuracy != result.Exact {
					t.Errorf("%s %s: accuracy %v", c.name, text, x.Accuracy)
				}
				lo, hi := new(big.Rat).SetFloat64(v.Bound.Lo), new(big.Rat).SetFloat64(v.Bound.Hi)
				if lo.Cmp(x.Value.Rat) > 0 || hi.Cmp(x.Value.Rat) < 0 {
					t.Errorf("%s %s %s: %v does not contain %s", c.name, text, constants, *v.Bound, x.Value.Rat.RatString())
				}
				if !strings.HasPrefix(text, "1e-") && v.Bound.Hi-v.Bound.Lo > 1e-8*math.Abs(v.Bound.Hi) {
					t.Errorf("%s %s %s: %v is wide", c.name, text, constants, *v.Bound)
				}
			}
		})
	}
	if compared < 200 {
		t.Errorf("only %d results compared", compared)
	}
}
