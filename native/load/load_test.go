package load_test

import (
	"strings"
	"testing"

	"tilecheck/native/load"
	"tilecheck/native/space/files"
	"tilecheck/result"
	"tilecheck/runner"
)

const ruin = `dtmc
const int N; const double p = 0.5;
module gambler
  x : [0..N] init 1;
  [] x>0 & x<N -> p : (x'=x+1) + 1-p : (x'=x-1);
  [] x=0 | x=N -> true;
endmodule
`

func TestModel(t *testing.T) {
	m, warnings, err := load.Model(t.Context(), runner.Job{File: "m.prism", Model: []byte(ruin), Consts: []string{"N=4,typo=1"}})
	if err != nil || m.Program().Consts[0].Val.Int != 4 || len(warnings) != 1 || !strings.Contains(warnings[0], "typo") {
		t.Errorf("warnings %v, error %v", warnings, err)
	}
	for consts, want := range map[string]string{
		"N=4:5": "N=4 and N=5 among them",
		"N=0":   "m.prism:4:7: invalid range [0..0]",
		"N=":    "want name=value",
		"p=1":   "constant \"p\" has already been defined",
		"":      `undefined constant "N" must be defined: add --const N=...`,
	} {
		if _, _, err := load.Model(t.Context(), runner.Job{File: "m.prism", Model: []byte(ruin), Consts: []string{consts}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", consts, err, want)
		}
	}
	if _, _, err := load.Model(t.Context(), runner.Job{File: "m.prism", Model: []byte("dtmc")}); err == nil {
		t.Error("no error for a model without modules")
	}
}

// TestProperties has a property under two values of its constant, and one that cannot be checked.
func TestProperties(t *testing.T) {
	plan, err := runner.NewPlan(t.Context(), runner.Job{
		File: "m.prism", Model: []byte(ruin), Consts: []string{"N=4,k=1:2"}, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}},
		PropsFile: "m.props", Properties: []byte("const int k;\nP=? [ F<=k x=0 ];\nP=? [ F y=0 ];"),
	})
	if err != nil {
		t.Fatal(err)
	}
	space, properties, err := load.Properties(t.Context(), plan)
	if err != nil || space.Model().NumStates() != 5 || !space.Model().Exact() || len(properties) != 2 || properties[0].File != "m.props" {
		t.Errorf("found %d properties, error %v", len(properties), err)
	}
}

// TestFractions has a model whose probabilities are no fractions.
func TestFractions(t *testing.T) {
	m, _, err := load.Model(t.Context(), runner.Job{File: "m.prism", Model: []byte(strings.Replace(ruin, "p = 0.5", "p = pow(2, 0.5)/2", 1)), Consts: []string{"N=4"}})
	if err != nil {
		t.Fatal(err)
	}
	space, inexact, err := load.Fractions(t.Context(), m, load.Options(&runner.Job{}))
	if err != nil || inexact == nil || space.Model().Exact() {
		t.Errorf("found a space with fractions, %v, %v", inexact, err)
	}
}

// Bisimulation accepts probabilities of a file that sum to 1 only within rounding, as it does those of a model; exact arithmetic does not.
func TestNormalise(t *testing.T) {
	source := files.Source{Name: "m.tra", Text: []byte("2 3\n0 0 0.33333\n0 1 0.66666\n1 1 1\n")}
	states, err := files.Open(t.Context(), files.Sources{Transitions: source}, "tra", files.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for accuracy, accepted := range map[result.Accuracy]bool{result.Bounded: true, result.Exact: false} {
		numeric := runner.Numeric{Reduce: true, Accuracy: accuracy}
		plan, err := runner.NewPlan(t.Context(), runner.Job{States: states, Props: []string{"P=? [ F true ]"}, Settings: runner.Settings{Numeric: numeric}})
		if err != nil {
			t.Fatal(err)
		}
		space, err := load.Space(t.Context(), plan)
		if accepted != (err == nil) || accepted && !space.Normalised() {
			t.Errorf("accuracy %v: error %v, want acceptance %v", accuracy, err, accepted)
		}
	}
}
