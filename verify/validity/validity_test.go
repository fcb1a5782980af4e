package validity_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/validity"
)

// accepting answers 0.5 to everything, as a tool that looks at nothing does.
type accepting struct{}

func (accepting) Name() string { return "storm" }

func (accepting) Check(_ context.Context, p *runner.Plan) ([]result.Verdict, error) {
	out := make([]result.Verdict, p.Verdicts())
	for i := range out {
		out[i] = result.Verdict{Engine: "storm", Value: result.Value{Kind: result.Number, Num: 0.5}}
	}
	return out, nil
}

// TestBeside: what Storm accepts (its recordings sum09, negative-reward and
// err-range) and PRISM refuses is an error beside it, for the properties that it
// concerns and under the valuations that it concerns.
func TestBeside(t *testing.T) {
	const props = "P=? [ F x=1 ];\nR{\"good\"}=? [ F x=1 ];\nR{\"bad\"}=? [ F x=1 ];\n"
	model := func(update string) string {
		return "dtmc\nconst int N;\nmodule m\n  x : [0..2] init 0;\n  [] x=0 -> " + update + ";\n  [] x>0 -> true;\nendmodule\n" +
			"rewards \"good\" x=0 : 1; endrewards\nrewards \"bad\" x=0 : -2; endrewards\n"
	}
	for update, want := range map[string]string{
		"0.5:(x'=1) + 0.4:(x'=2)": "model model model model model model",
		"(x'=N)":                  "ok ok model model model model", // N is 1 and 3
		"0.5:(x'=1) + 0.5:(x'=2)": "ok ok model ok ok model",
	} {
		job := runner.Job{File: "m.prism", Model: []byte(model(update)), Properties: []byte(props), Consts: []string{"N=1:2:3"}}
		vs, err := runner.Check(t.Context(), validity.New().Beside(accepting{}), job)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range vs {
			word := "ok"
			if v.Err != nil {
				if word = string(v.Err.Class); v.Value.Kind != result.NoValue || !strings.Contains(v.Err.Message, "storm accepts it") {
					t.Errorf("%s: %+v", update, v)
				}
			}
			got = append(got, word)
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: got %s, want %s", update, got, want)
		}
	}
}

// lost answers every property with the failure of a run.
type lost struct{ class result.Class }

func (l lost) Name() string { return "storm" }

func (l lost) Check(_ context.Context, p *runner.Plan) ([]result.Verdict, error) {
	out := make([]result.Verdict, len(p.Tasks))
	for i := range out {
		out[i].Err = &result.Failure{Class: l.class, Message: "it has ended"}
	}
	return out, nil
}

// TestLost: Storm divides by zero where a rate is infinite, and never ends where
// a reward is no number. That is said of the model; what Storm refuses stays as
// it is, and so does what became of a model that is right.
func TestLost(t *testing.T) {
	const right, wrong = "ctmc module m x:[0..1]; [] x=0 -> (x'=1); endmodule", "ctmc module m x:[0..1]; [] x=0 -> 1/0:(x'=1); endmodule"
	for _, test := range []struct {
		model       string
		class, want result.Class
	}{
		{wrong, result.Other, result.Model},
		{wrong, result.Timeout, result.Model},
		{wrong, result.Unsupported, result.Unsupported},
		{right, result.Timeout, result.Timeout},
	} {
		job := runner.Job{File: "m.prism", Model: []byte(test.model), Props: []string{"P=? [ F x=1 ]"}}
		vs, err := runner.Check(t.Context(), validity.New().Beside(lost{test.class}), job)
		if err != nil {
			t.Fatal(err)
		}
		if got := vs[0].Err; got.Class != test.want || !strings.Contains(got.Message, "it has ended") {
			t.Errorf("%s, %s: got %v, want class %s", test.model, test.class, got, test.want)
		}
	}
}

// TestTooLarge: a model that is not looked at in all of its states has a warning,
// and is looked at again where more states are allowed.
func TestTooLarge(t *testing.T) {
	job := runner.Job{
		File: "m.prism", Model: []byte("dtmc module m x:[0..5000]; [] x<5000 -> (x'=x+1); [] x=5000 -> true; endmodule"),
		Props: []string{"P=? [ F x=1 ]"}, Settings: runner.Settings{Numeric: runner.Numeric{MaxStates: 100}},
	}
	checker := validity.New()
	for _, test := range []struct {
		states int
		want   string
	}{{100, "not checked in every state"}, {10000, ""}, {100, ""}} {
		job.Numeric.MaxStates = test.states
		vs, err := runner.Check(t.Context(), checker.Beside(accepting{}), job)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(vs[0].Warnings, " "); vs[0].Err != nil || !strings.Contains(got, test.want) || test.want == "" && got != "" {
			t.Errorf("%d states: warnings %q, error %v", test.states, got, vs[0].Err)
		}
	}
}

// endless answers 0.5 where no property speaks of rewards, and otherwise runs until it is ended.
type endless struct{ runs *[]int }

func (endless) Name() string { return "storm" }

func (e endless) Check(ctx context.Context, p *runner.Plan) ([]result.Verdict, error) {
	*e.runs = append(*e.runs, len(p.Tasks))
	for _, t := range p.Tasks {
		if strings.HasPrefix(t.Text, "R") {
			<-ctx.Done()
			return nil, ctx.Err()
		}
	}
	return accepting{}.Check(ctx, p)
}

// TestEndless: a run that cannot end, as Storm's --sound of rewards that are s/0, is ended when the
// check knows that it is invalid, and the other properties have their answers.
func TestEndless(t *testing.T) {
	const model = "dtmc const int N; module m s:[0..7]; [] s<7 -> (s'=s+1); [] s=7 -> true; endmodule rewards \"r\" s<7 : s/0.0; endrewards"
	for _, c := range []struct{ props, want, runs string }{
		{"P=? [ F s=7 ];\nR=? [ F s=7 ];\nP=? [ F s=6 ];", "ok model ok ok model ok", "[3 2]"},
		{"R=? [ F s=7 ];", "model model", "[1]"},
	} {
		var runs []int
		checker := validity.New()
		checker.Patience = time.Millisecond
		job := runner.Job{File: "m.prism", Model: []byte(model), Properties: []byte(c.props), Consts: []string{"N=1:2"}}
		vs, err := runner.Check(t.Context(), checker.Beside(endless{&runs}), job)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, v := range vs {
			word := "ok"
			if v.Err != nil {
				word = string(v.Err.Class)
				if !strings.Contains(v.Err.Message, "(storm: was stopped before it had an answer)") || v.Property != "R=? [ F s=7 ]" || len(v.Constants) != 1 {
					t.Errorf("%+v: %v", v, v.Err)
				}
			}
			got = append(got, word)
		}
		if strings.Join(got, " ") != c.want || fmt.Sprint(runs) != c.runs {
			t.Errorf("%s: %v in runs of %v, want %s in %s", c.props, got, runs, c.want, c.runs)
		}
	}
}
