package native

import (
	"fmt"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/result"
	"tilecheck/runner"
)

// counters is a model of so many counters to 9, each of which may be advanced with
// probability 1/2 at a time, or given up.
func counters(n int) string {
	var b strings.Builder
	b.WriteString("mdp\n")
	for i := range n {
		fmt.Fprintf(&b, "module m%d\n c%d:[0..9];\n [] c%d<8 -> 0.5:(c%d'=c%d+1) + 0.5:true;\n [] c%d<8 -> (c%d'=9);\nendmodule\n", i, i, i, i, i, i, i)
	}
	return b.String()
}

// TestBegun asks about a model of 10^9 states: what its first states answer, and what
// they do not, at a limit.
func TestBegun(t *testing.T) {
	t.Parallel()
	for _, accuracy := range []result.Accuracy{result.Bounded, result.Exact} {
		if accuracy == result.Bounded && !needs.IsFull() {
			continue
		}
		vs, err := runner.Check(t.Context(), New(), runner.Job{
			File: "m.prism", Model: []byte(counters(9)),
			Props:   []string{"Pmax=? [ F c3=2 ]", "Pmax=? [ c0<3 U c0=2&c1=1 ]", "Pmax=? [ F c3>=0 & c4=8 & c5=8 & c6=8 ]", "Pmax=? [ F c8=1 ]"},
			Numeric: runner.Numeric{Accuracy: accuracy, MaxStates: 60_000},
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, answered := range []bool{true, true, false, true} {
			switch v := vs[i]; {
			case !answered && (v.Err == nil || !v.Err.Class.Limited()):
				t.Errorf("%s: %v, %v, want the limit", v.Property, v.Value, v.Err)
			case answered && (v.Err != nil || v.Value.Num != 1 || v.Accuracy != accuracy || len(v.Warnings) != 1):
				t.Errorf("%s: %v (%v, %q), %v, want 1", v.Property, v.Value, v.Accuracy, v.Warnings, v.Err)
			}
		}
	}
}
