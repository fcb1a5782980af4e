package crosscheck_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"tilecheck/bridge"
	"tilecheck/native"
	"tilecheck/prism/sema"
	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/crosscheck"
)

// tellingValues answers, and has values of all states.
type tellingValues struct {
	*canned
	values []float64
	err    error
}

func (v *tellingValues) Values(context.Context, *runner.Plan, int, sema.Valuation, sema.Valuation) ([]float64, error) {
	return v.values, v.err
}

// Answers are judged by what a certificate proves, and not by what others say.
func TestCertify(t *testing.T) {
	const quarter = "P=? [ F s=1 ]"
	claimed := estimate(0.2)
	claimed.Accuracy, claimed.Bound = result.Claimed, &result.Interval{Lo: 0.19, Hi: 0.21}
	values := func(xs []float64, err error) runner.Engine {
		return &tellingValues{says("a", estimate(0.2500001)), xs, err}
	}
	for _, tc := range []struct {
		name, property string
		engine         runner.Engine
		status         crosscheck.Status
		want           string // among the notes
	}{
		{"fraction", quarter, says("a", fraction(1, 4)), crosscheck.Agree, "a's 1/4 is proven to 7.1e-15"},
		{"near", quarter, says("a", estimate(0.2500001)), crosscheck.Agree, "a's 0.2500001 is proven to 1e-07"},
		{"off", quarter, says("a", estimate(0.26)), crosscheck.Disagree, "a's 0.26 is refuted: the true value lies in [0.2499999999999929, 0.2500000000000071], which is proven"},
		{"false claim", quarter, says("a", claimed), crosscheck.Disagree, "a's 0.2 is refuted"},
		{"infinite", quarter, says("a", estimate(math.Inf(1))), crosscheck.Disagree, "a's Infinity is refuted"},
		{"true", "P>=0.25 [ F s=1 ]", says("a", truth(true, result.Exact)), crosscheck.Agree, "a's true is proven"},
		{"false", "P>=0.25 [ F s=1 ]", says("a", truth(false, result.Exact)), crosscheck.Disagree, "a's false is refuted: the contrary is proven"},
		{"all states", quarter, values([]float64{0.25, 1, 0}, nil), crosscheck.Agree, "in all 3 states to 7.1e-15 (the worst is (s=0)); a certificate by itself when widened by 7.1e-15"},
		{"a wrong state", quarter, values([]float64{0.25, 0.5, 0}, nil), crosscheck.Agree, "in all 3 states to 0.5 (the worst is (s=1)); a certificate by itself when widened by 0.5, and not by less than 0.5"},
		{"a wrong zero", quarter, values([]float64{0.25, 1, 0.125}, nil), crosscheck.Agree, "(the worst is (s=2)); a certificate by itself when widened by 0.13, and not by less than 0.12"},
		{"no number", quarter, values([]float64{0.25, math.NaN(), 0}, nil), crosscheck.Agree, "in all 3 states to Infinity (the worst is (s=1))"},
		{"too few", quarter, values([]float64{0.25}, nil), crosscheck.Agree, "not proven: found 1 values"},
		{"no values", quarter, values(nil, errors.New("out of tea")), crosscheck.Agree, "not proven: out of tea"},
		{"no answer", quarter, says("a", fails(result.Timeout)), crosscheck.Unchecked, ""},
		{"no certificate", "2*P=? [ F s=1 ]", says("a", fraction(1, 2)), crosscheck.Unchecked, "no certificate: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := runWith(t, crosscheck.Options{Certify: true}, coin, tc.property, tc.engine)
			var out strings.Builder
			if err := r.Write(&out, table.Text, table.Options{Width: 1000}); err != nil {
				t.Fatal(err)
			}
			if row := &r.Rows[0]; row.Status != tc.status || !strings.Contains(out.String(), tc.want) {
				t.Errorf("%s %q, want %s %q:\n%s", row.Status, row.Reason, tc.status, tc.want, &out)
			}
		})
	}
}

// haddad is a chain whose iteration from below grows by 2^-n a step (Haddad and
// Monmege): by hand, both ends are reached with probability 1/2.
func haddad(n int) string {
	return fmt.Sprintf(`dtmc module m s : [-%[1]d..%[1]d] init 0; [] s=0 -> 0.5:(s'=1) + 0.5:(s'=-1);
[] s>0 & s<%[1]d -> 0.5:(s'=s+1) + 0.5:(s'=0); [] s<0 & s>-%[1]d -> 0.5:(s'=s-1) + 0.5:(s'=0);
[] s=%[1]d | s=-%[1]d -> true; endmodule`, n)
}

// PRISM's values of all states are proven, and those where it stopped too early refuted.
func TestPRISMCertified(t *testing.T) {
	cmd := prism(t)
	early := bridge.PRISM(cmd, bridge.Options{Args: []string{"-absolute"}})
	sound := bridge.PRISM(cmd, bridge.Options{})
	for _, tc := range []struct {
		model, property string
		tool            runner.EngineConfig
		status          crosscheck.Status
		off             float64
		states          int
	}{
		{haddad(20), "P=? [ F s=20 ]", runner.EngineConfig{Engine: early, Accuracy: result.Float}, crosscheck.Disagree, 0.5, 0},
		{haddad(8), "P=? [ F s=8 ]", runner.EngineConfig{Engine: sound}, crosscheck.Agree, 1e-6, 17},
		{haddad(8), "P=? [ F s=8 ]", runner.EngineConfig{Engine: sound, Accuracy: result.Exact}, crosscheck.Agree, 1e-9, 0},
		{coins, "Pmax=? [ F s=1 ]", runner.EngineConfig{Engine: sound}, crosscheck.Agree, 1e-6, 3},
	} {
		job := runner.Job{File: "m.prism", Model: []byte(tc.model), Props: []string{tc.property}}
		r, err := crosscheck.Run(t.Context(), job, []runner.EngineConfig{{Engine: native.New()}, tc.tool}, crosscheck.Options{Certify: true})
		if err != nil {
			t.Fatal(err)
		}
		row := &r.Rows[0]
		x := row.Proofs[1]
		if row.Status != tc.status || x == nil || x.Refuted != (tc.status == crosscheck.Disagree) || x.MaxError > tc.off || x.States < tc.states || x.MaxStateError > tc.off {
			t.Errorf("%s %q %q: %+v, want %s", row.Status, row.Reason, row.Notes, x, tc.status)
		}
	}
}
