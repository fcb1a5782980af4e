package export_test

import (
	"bytes"
	"strings"
	"testing"

	"tilecheck/prism/jani/export"
	"tilecheck/result"
	"tilecheck/runner"
)

// documentOf exports a model whose constants of type double stay open.
func documentOf(t *testing.T, model string) string {
	t.Helper()
	plan, err := runner.PlanModel(t.Context(), runner.Job{File: "model", Model: []byte(model), LeaveOpen: true})
	if err != nil {
		t.Fatal(err)
	}
	program, _, err := plan.Instances()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := export.Write(&text, "test", program, plan.Open(), nil); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestOpenConstants exports models with constants that have no value, and compares the answers under several values.
func TestOpenConstants(t *testing.T) {
	t.Parallel()
	const model = `mdp
const double p; const double q; const double r = 1-p;
module m
 x : [0..3]; n : int init 0;
 [a] x=0 -> p:(x'=1) + r:(x'=2)&(n'=n+1);
 [b] x=0 -> q:(x'=3) + 1-q:(x'=0);
 [] x>0 -> true;
endmodule
rewards "c" [a] true : q; endrewards
label "goal" = x=1;
`
	document := documentOf(t, model)
	for _, want := range []string{`"name": "p"`, `"name": "q"`} {
		if _, constants, _ := strings.Cut(document, `"constants"`); !strings.Contains(constants, want) {
			t.Errorf("no constant with %s in\n%s", want, document)
		}
	}
	for _, values := range []string{"p=1/3,q=1/2", "p=0.9,q=0.01"} {
		for _, property := range []string{"Pmax=? [ F \"goal\" ]", "R{\"c\"}min=? [ F x>0 ]", "Pmax=? [ F<=2 n=1 ]"} {
			job := runner.Job{
				File: "model", Model: []byte(model), Consts: []string{values}, Props: []string{property},
				Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}},
			}
			want := answers(t, job)[""]
			job.File, job.Model = "model.jani", []byte(document)
			if got := answers(t, job)[""]; got != want || got == "" || strings.HasPrefix(got, "error") {
				t.Errorf("%s: %s is %q, want %q", values, property, got, want)
			}
		}
	}
}

// TestOpenRange: what must be known before states are found cannot depend on an open constant.
func TestOpenRange(t *testing.T) {
	t.Parallel()
	plan, err := runner.PlanModel(t.Context(), runner.Job{File: "model", Model: []byte("dtmc const double p; module m x:[0..ceil(p)]; [] true -> true; endmodule"), LeaveOpen: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := plan.Instances(); err == nil || !strings.Contains(err.Error(), "model:1:") {
		t.Errorf("%v, want an error with a position", err)
	}
}

// TestWithoutTime exports what only PRISM's language has: a model without probabilities, and an invariant without time.
func TestWithoutTime(t *testing.T) {
	t.Parallel()
	for _, model := range []string{
		"module m s:[0..2]; [] s=0 -> (s'=1); [] s=0 -> (s'=2); [] s>0 -> true; endmodule",
		"dtmc module m s:[0..2]; invariant s<2 endinvariant [] s=0 -> 0.5:(s'=1)+0.5:(s'=2); [] s>0 -> true; endmodule",
	} {
		job := runner.Job{File: "model", Model: []byte(model), Props: []string{"E [ F s=2 ]"}}
		want := answers(t, job)[""]
		job.File, job.Model = "model.jani", []byte(documentOf(t, model))
		if got := answers(t, job)[""]; got != want || got != "true" {
			t.Errorf("%q, want %q\n%s", got, want, job.Model)
		}
	}
}
