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

// A path of 0 steps shows why the formula cannot hold: the choices of the scheduler, and not the commands.
func TestWitnessInTheInitialState(t *testing.T) {
	state := func(value string) result.Valuation { return result.Valuation{{Name: "s", Value: value}} }
	witness := result.Witness{
		Scheduler: true, Wanted: ">1/100", Enough: true, Shown: true, Count: 1, Sum: 1,
		Paths:   []result.WitnessPath{{Probability: 1, Steps: []result.WitnessStep{{Probability: 1, State: state("0")}}}},
		Choices: &result.WitnessChoices{Count: 3, First: []result.WitnessChoice{{State: state("0"), Action: "safe"}, {State: state("1"), Action: "back"}}},
		Part:    &result.WitnessPart{States: 1, Of: 3, Lower: 1, Minimal: true, Commands: []result.WitnessCommand{}, OfCommands: 7, LowerCommands: 1},
	}
	chain := witness
	chain.Scheduler, chain.Holds, chain.Choices = false, true, nil
	chain.Part = &result.WitnessPart{States: 1, Of: 1, Lower: 1, Minimal: true}
	for _, test := range []struct {
		witness    result.Witness
		resolution result.Resolution
		want       []string
	}{
		{witness, result.Minimum, []string{
			"Under a scheduler that minimises the probability of the formula, the formula cannot hold on any path from the initial state, so the path ends there. Its probability is 1. This is more than 1/100, so the property fails.",
			"in this state: s=0",
			"This scheduler chooses [safe] in (s=0), [back] in (s=1), and in 1 more state. --export-scheduler FILE writes its choices.",
			"1 of the 3 searched states under this scheduler is enough to break the bound: the paths that visit no other state, and on which the formula fails, have probability about 1, which is more than 1/100. It cannot be left out.",
			"No command is needed to break the bound: a model without the 7 commands stays in its initial state, and the formula fails there with probability about 1. So not the commands but the choices of the scheduler explain the failure.",
		}},
		{chain, result.ResolutionUnknown, []string{
			"The formula holds already in the initial state, so the path ends there. Its probability is 1.",
			"The only searched state is enough to break the bound",
		}},
	} {
		verdict := result.Verdict{Property: "P>=0.99 [ F s=3 ]", Engine: "native", Value: result.Value{Kind: result.Boolean}, Resolution: test.resolution, Witnesses: []result.Witness{test.witness}}
		var b strings.Builder
		if err := Verdicts(&b, table.Text, []result.Verdict{verdict}, table.Options{Width: 120}); err != nil {
			t.Fatal(err)
		}
		for _, want := range test.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%q is not in\n%s", want, b.String())
			}
		}
	}
}
