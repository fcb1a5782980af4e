package bridge_test

import (
	"strings"
	"testing"

	"tilecheck/bridge"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// TestStormOperatorsInPRISM checks that PRISM is not asked for operators that its language lacks.
func TestStormOperatorsInPRISM(t *testing.T) {
	for property, want := range map[string]string{
		"Pmax=? [ F s=1 || F s=0 ]":                   "PRISM cannot express conditional probabilities and rewards",
		"Rmax=? [ Cdiscount=0.5 ]":                    "PRISM cannot express discounted rewards",
		"multilex(Pmax=? [ F s=1 ], Rmin=? [ C<=2 ])": "PRISM cannot express multilex",
	} {
		model := "mdp module m s : [0..1]; [] s=0 -> (s'=1); [] s=1 -> true; endmodule rewards true : 1; endrewards"
		job := runner.Job{File: "m.prism", Model: []byte(model), Props: []string{property}, Dialect: syntax.Storm}
		vs, err := runner.Check(t.Context(), bridge.PRISM(&script{}, bridge.Options{}), job)
		if err != nil {
			t.Fatal(err)
		}
		if f := vs[0].Err; f == nil || f.Class != result.Unsupported || !strings.Contains(f.Message, want) {
			t.Errorf("%s: %v, want %s", property, f, want)
		}
	}
}
