package export_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tilecheck/prism/jani/export"
	"tilecheck/result"
	"tilecheck/runner"
)

// TestInstants exports rewards at an instant and until an instant, of steps and of time, and compares the answers. The chains have state rewards and transition
// rewards, of which only the first count at an instant. After two steps, the DTMC is in s=1 with probability 3/16 and in s=2 with 1/2, and 5*3/16 + 1/3*1/2
// is 53/48.
func TestInstants(t *testing.T) {
	t.Parallel()
	const module = `
const int k; const double t;
module m
 s : [0..2];
 [] s=0 -> 3/4:(s'=1) + 1/4:(s'=0);
 [go] s=1 -> 2:(s'=2) + 1:(s'=0);
 [] s=2 -> 1:(s'=0);
endmodule
rewards "states" s=1 : 5; s=2 : 1/3; endrewards
rewards "both" s<2 : s+1; [go] true : 7; endrewards
`
	properties := []string{`R{"states"}=? [ I=%s ]`, `R{"both"}=? [ I=%s ]`, `R{"states"}=? [ C<=%s ]`, `R{"both"}=? [ C<=%s ]`, `R{"both"}>=2 [ I=%s ]`}
	for _, c := range []struct {
		modelType, instant, key, otherKey, first string
		accuracy                                 result.Accuracy
	}{
		{"dtmc", "k", "step-instant", "time-instant", "53/48", result.Exact},
		{"dtmc", "k+1", "step-instant", "time-instant", "", result.Exact},
		{"ctmc", "t", "time-instant", "step-instant", "", result.Bounded},
		{"ctmc", "2*t+k", "time-instant", "step-instant", "", result.Bounded},
	} {
		model := module
		if c.modelType == "dtmc" {
			model = strings.Replace(model, "2:(s'=2) + 1:", "2/3:(s'=2) + 1/3:", 1)
		}
		var texts strings.Builder
		for i, property := range properties {
			fmt.Fprintf(&texts, "\"p%d\": %s\n", i, fmt.Sprintf(property, c.instant))
		}
		job := runner.Job{
			File: "model", Model: []byte(c.modelType + model), PropsFile: "props", Properties: []byte(texts.String()),
			LeaveOpen: true, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: c.accuracy}},
		}
		document := instantDocument(t, job)
		if n := strings.Count(document, `"`+c.key+`"`); n != len(properties) || strings.Contains(document, c.otherKey) {
			t.Errorf("%s: %d times %s, want %d, and no %s in\n%s", c.modelType, n, c.key, len(properties), c.otherKey, document)
		}
		job.LeaveOpen, job.Consts = false, []string{"k=2,t=3/4"}
		want := answers(t, job)
		job.File, job.Model, job.PropsFile, job.Properties = "model.jani", []byte(document), "", nil
		got := answers(t, job)
		for i, property := range properties {
			name := fmt.Sprintf("p%d", i)
			if got[name] != want[name] || got[name] == "" || strings.HasPrefix(got[name], "error") {
				t.Errorf("%s: %s with %s is %q, want %q", c.modelType, property, c.instant, got[name], want[name])
			}
		}
		if c.first != "" && got["p0"] != c.first {
			t.Errorf("%s: %s with %s is %s, want %s", c.modelType, properties[0], c.instant, got["p0"], c.first)
		}
	}
}

// instantDocument exports the model of a job with its properties, of which JANI must have a form for each.
func instantDocument(t *testing.T, job runner.Job) string {
	t.Helper()
	plan, err := runner.NewPlan(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	program, instances, err := plan.Instances()
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if refused, err := export.Write(&text, "test", program, instances); err != nil || len(refused) > 0 {
		t.Fatal(err, refused)
	}
	return text.String()
}
