package export_test

import (
	"bytes"
	"strings"
	"testing"

	"tilecheck/prism/jani/export"
	"tilecheck/result"
	"tilecheck/runner"
)

// documentOf exports a model whose constants without a value stay open.
func documentOf(t *testing.T, model string) string {
	t.Helper()
	return modelDocument(t, runner.Job{File: "model", Model: []byte(model)})
}

// modelDocument exports the model of a job without its properties. Constants stay open.
func modelDocument(t *testing.T, job runner.Job) string {
	t.Helper()
	job.Consts, job.LeaveOpen = nil, true
	plan, err := runner.PlanModel(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	program, _, err := plan.Instances()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := export.Write(&text, "test", program, nil); err != nil {
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

// TestOpenShape exports ranges and initial values that depend on open constants of all types, and compares the states under several values.
func TestOpenShape(t *testing.T) {
	t.Parallel()
	const model = `dtmc
const int N; const bool b; const double p; const int M = N*N;
global g : [-N..M] init N;
module m
 x : [ceil(p)..N];
 y : bool init b;
 z : int init M;
 [] x<N -> p:(x'=x+1)&(z'=z-x) + 1-p:(y'=!y)&(g'=max(-N,g-1));
 [] x=N -> true;
endmodule
rewards "r" y : N; endrewards
`
	document := []byte(documentOf(t, model))
	for _, values := range []string{"N=2,b=true,p=1/3", "N=4,b=false,p=1", "N=3,b=false,p=0"} {
		want, err := build([]byte(model), []string{values}, true)
		if err != nil {
			t.Fatal(err)
		}
		got, err := build(document, []string{values}, true)
		if err != nil {
			t.Fatalf("%s: %v\n%s", values, err, document)
		}
		if difference := same(t, want, got); difference != nil {
			t.Errorf("%s: %s", values, difference)
		}
	}
}

// TestOpenProperties exports properties whose constants have no value, and compares the answers under several values.
func TestOpenProperties(t *testing.T) {
	t.Parallel()
	const model = `ctmc
const double r; const int N;
module m
 x : [0..N];
 [] x<N -> r:(x'=x+1) + 1:(x'=0);
 [] x=N -> 1:true;
endmodule
rewards true : x; endrewards
rewards "x" x=0 : 1; endrewards
label "x" = x=N;
`
	const properties = `const double T; const int k; const bool b; const int unused; const double half = r*T/2;
label "high" = x>=k | b;
"early": P=? [ F<=half "high" ];
"reward": R=? [ C<=T ];
"second": R{2}=? [ F "x" ];
"bound": P>=r/4 [ F x=k ];
`
	job := runner.Job{File: "model", Model: []byte(model), PropsFile: "props", Properties: []byte(properties), LeaveOpen: true}
	document := []byte(instantDocument(t, job))
	job.LeaveOpen = false
	for _, values := range []string{"r=0.5,N=4,T=3,k=2,b=false", "r=2,N=2,T=0.5,k=1,b=true"} {
		job.Consts = []string{values}
		want := answers(t, job)
		got := answers(t, runner.Job{File: "model.jani", Model: document, Consts: job.Consts})
		for _, name := range []string{"early", "reward", "second", "bound"} {
			if got[name] != want[name] || got[name] == "" || strings.HasPrefix(got[name], "error") {
				t.Errorf("%s: %s is %q, want %q", values, name, got[name], want[name])
			}
		}
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
