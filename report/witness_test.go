package report

import (
	"strings"
	"testing"

	"tilecheck/report/table"
	"tilecheck/result"
)

// A witness is printed below its verdict: boards as boards, what never changes once; and
// below a failed test in three lines.
func TestWitness(t *testing.T) {
	state := func(values ...string) result.Valuation {
		names := []string{"v_0", "v_1", "v_2", "v_3", "phase", "fixed"}
		out := result.Valuation{}
		for i, v := range values {
			out = append(out, result.Constant{Name: names[i], Value: v})
		}
		return out
	}
	v := result.Verdict{
		Property: "P<=0.5 [ F v_0=4 ]", Engine: "native", Value: result.Value{Kind: result.Boolean},
		Witnesses: []result.Witness{{
			Holds: true, Wanted: ">1/2", Enough: true, Shown: true, Count: 2, Sum: 0.75, Longest: 1, Columns: 2,
			Paths: []result.WitnessPath{{Probability: 0.5, Fraction: "1/2", Steps: []result.WitnessStep{
				{Probability: 1, State: state("2", "2", "0", "0", "0", "true")},
				{Probability: 0.5, Action: "left", State: state("4", "0", "0", "0", "1", "true")},
			}}},
		}},
	}
	var b strings.Builder
	if err := Verdicts(&b, table.Text, []result.Verdict{v}, table.Options{Width: 120}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"The 2 likeliest paths on which the formula holds have probability 0.75 together. This is more than 1/2, so the property fails; fewer paths do not show this.",
		"Path 1 of 2: 1 step, probability 1/2 = 0.5", "2 2 / . .", "4 . / . .", "in every state: fixed=true",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	for columns, want := range map[int]string{4: "2 2 . .", 1: "2 / 2 / . / .", 0: "v_0  v_1  v_2  v_3  phase"} {
		v.Witnesses[0].Columns = columns
		b.Reset()
		if err := Verdicts(&b, table.Text, []result.Verdict{v}, table.Options{Width: 120}); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("%d columns: %v, and %q is not in\n%s", columns, err, want, b.String())
		}
	}
	long := &v.Witnesses[0].Paths[0]
	for range 100 {
		long.Steps = append(long.Steps, result.WitnessStep{Probability: 1, Action: "stay", State: state("4", "0", "0", "0", "1", "true")})
	}
	for _, f := range []table.Format{table.Text, table.Markdown} {
		b.Reset()
		if err := Verdicts(&b, f, []result.Verdict{v}, table.Options{Width: 120}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "stay"); n != 38 || !strings.Contains(b.String(), "...") {
			t.Errorf("%v: found %d steps of a long path, want 38 and a gap:\n%s", f, n, b.String())
		}
	}
	long.Steps = long.Steps[:2]
	want := "the formula holds on the likeliest path, which has probability 0.5; 2 paths have 0.75 together, which is more than 1/2\nsteps 1: [left]\nto v_0=4,v_1=0,v_2=0,v_3=0,phase=1,fixed=true"
	if got := likeliestPath(&v); got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}
