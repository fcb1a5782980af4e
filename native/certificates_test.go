package native_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/regress"
	"tilecheck/verify/suite"
)

// uncertified are the kinds of answers that have no certificate, by how what the warning
// names begins. An answer of another kind must be proven.
func uncertified() []string {
	return []string{
		"several objectives", "negative rewards", "a ratio of rewards", "a weak until (W) with a lower bound", "a time bound among several temporal operators",
		"arithmetic with the value of an operator", "a comparison of values", "a filter in a formula",
		"an expression without operators", "zones of clocks", "certificates cover all schedulers, and cannot be restricted to fair ones", "certificates have no intervals", "a POMDP", "probabilities sum to", // what doubles tolerate is no chain of fractions
	}
}

// proofTally counts answers that are proven, and those that are not by their reason.
type proofTally struct {
	proven  int
	refused map[string]int
}

// count counts a verdict, and says what is wrong with it: it has neither a proof nor a
// reason that is known.
func (p *proofTally) count(v *result.Verdict) string {
	if v.Accuracy == result.Proven {
		p.proven++
		return ""
	}
	for _, w := range v.Warnings {
		if why, ok := strings.CutPrefix(w, native.NotProven); ok {
			kind, _ := strings.CutPrefix(why, "there is no certificate of ")
			p.refused[kind]++
			if !slices.ContainsFunc(uncertified(), func(u string) bool { return strings.HasPrefix(kind, u) }) {
				return "not proven: " + why
			}
			return ""
		}
	}
	return "neither proven nor refused"
}

func (p *proofTally) log(t *testing.T) {
	t.Helper()
	refused := 0
	for _, kind := range slices.Sorted(maps.Keys(p.refused)) {
		refused += p.refused[kind]
		t.Logf("%d times no certificate of %s", p.refused[kind], kind)
	}
	t.Logf("%d answers proven, %d refused by name", p.proven, refused)
}

// TestProvenConformance: of the cases that PRISM's answers are recorded of, every answer
// is proven, or of a kind that has no certificate. It is the same as without proof.
func TestProvenConformance(t *testing.T) {
	files, err := filepath.Glob("../testdata/conformance/*/props.props")
	if err != nil {
		t.Fatal(err)
	}
	tally := proofTally{refused: make(map[string]int)}
	for _, file := range files {
		model, err := os.ReadFile(filepath.Join(filepath.Dir(file), "model.prism"))
		if err != nil {
			continue
		}
		props, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		job := runner.Job{File: "model.prism", Model: model, PropsFile: "props.props", Properties: props}
		plain, err := runner.Check(t.Context(), native.New(), job)
		if err != nil {
			continue // the case is about an error
		}
		job.Numeric.Accuracy = result.Proven
		proven, err := runner.Check(t.Context(), native.New(), job)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for i := range proven {
			v, w := &proven[i], &plain[i]
			switch {
			case (v.Err == nil) != (w.Err == nil):
				t.Errorf("%s: %s: %v, without proof %v", file, v.Property, v.Err, w.Err)
			case v.Err != nil:
			case !alike(v, w):
				t.Errorf("%s: %s: %s, without proof %s", file, v.Property, told(v), told(w))
			default:
				if wrong := tally.count(v); wrong != "" {
					t.Errorf("%s: %s: %s", file, v.Property, wrong)
				}
			}
		}
	}
	tally.log(t)
	if tally.proven < 365 {
		t.Errorf("only %d answers are proven", tally.proven)
	}
}

// TestProvenSuite: of PRISM's own suite, every answer about a DTMC, MDP or CTMC is
// proven, or of a kind that has no certificate, and what its developers expect.
func TestProvenSuite(t *testing.T) {
	dir := needs.PRISMTests(t)
	tests, err := regress.Discover(os.DirFS(dir), []string{
		"functionality/verify/dtmcs", "functionality/verify/mdps", "functionality/verify/ctmcs",
	}, suite.Matching)
	if err != nil {
		t.Fatal(err)
	}
	rep, err := regress.Run(t.Context(), tests, []regress.EngineConfig{
		{EngineConfig: runner.EngineConfig{Engine: native.New(), Accuracy: result.Proven}},
	}, regress.Options{FS: os.DirFS(dir)})
	if err != nil {
		t.Fatal(err)
	}
	tally := proofTally{refused: make(map[string]int)}
	for i := range rep.Results {
		r := &rep.Results[i]
		if r.Verdict == nil || r.Verdict.Err != nil {
			continue
		}
		refused := slices.ContainsFunc(r.Verdict.Warnings, func(w string) bool { return strings.HasPrefix(w, native.NotProven) })
		if r.Verdict.Accuracy == result.Exact && !refused { // as its switches ask
			continue
		}
		if wrong := tally.count(r.Verdict); wrong != "" {
			t.Errorf("%s: %s: %s", r.Props, r.Property, wrong)
		}
	}
	tally.log(t)
	if tally.proven < 1765 {
		t.Errorf("only %d answers are proven", tally.proven)
	}
}

// TestInstantRewardOff: the reward that a double stands for may be more than it by less
// than rounding can show; found by a hostile model, where it was called 1 at most.
func TestInstantRewardOff(t *testing.T) {
	const model = `%s
module m
  x : [0..1];
  [] x=0 -> (x'=1);
  [] x=1 -> true;
endmodule
rewards
  x=1 : 1e-400;
  true : 0.5+0.5;
endrewards
`
	for _, kind := range []string{"dtmc", "ctmc"} {
		for _, accuracy := range []result.Accuracy{result.Unknown, result.Exact, result.Proven} {
			vs := answers(t, fmt.Sprintf(model, kind), "filter(exists, R<=1 [ I=0 ], x=1);\nfilter(exists, R>1 [ I=0 ], x=1);\n", accuracy)
			for i, v := range vs {
				if v.Err == nil && v.Value.Bool != (i == 1) {
					t.Errorf("%s, asked for %s: %s is %v, the reward is 1+1e-400", kind, accuracy, v.Property, v.Value.Bool)
				}
				if v.Err != nil && kind == "dtmc" {
					t.Errorf("%s, asked for %s: %s: %v", kind, accuracy, v.Property, v.Err)
				}
			}
		}
	}
}

// TestNegativeRewardsNotProven wants the value of negative rewards, and the reason why there is no certificate.
func TestNegativeRewardsNotProven(t *testing.T) {
	const model = "dtmc\nmodule m\n x : [0..1];\n [] x=0 -> 0.5:(x'=1) + 0.5:true;\n [] x=1 -> true;\nendmodule\nrewards x=0 : -1; endrewards\n"
	v := answers(t, model, "R=? [ F x=1 ];", result.Proven)[0]
	if v.Err != nil || v.Bound == nil || !v.Bound.Contains(-2) || !slices.Contains(v.Warnings, native.NotProven+"there is no certificate of negative rewards") {
		t.Errorf("found %v in %v, %v, %q", v.Value, v.Bound, v.Err, v.Warnings)
	}
}

// TestPartialObservationNotProven: in this POMDP the best choice depends on a state that is not seen. A certificate would prove the value of schedulers
// that see it, which is 1.
func TestPartialObservationNotProven(t *testing.T) {
	const model = `pomdp
observables seen endobservables
module m
  s:[0..3] init 0; seen:[0..1];
  [a] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);
  [b] s=0 -> 0.5:(s'=1) + 0.5:(s'=2);
  [a] s=1 -> (s'=3) & (seen'=1);
  [b] s=1 -> (s'=0);
  [a] s=2 -> (s'=0);
  [b] s=2 -> (s'=3) & (seen'=1);
  [a] s=3 -> true;
  [b] s=3 -> true;
endmodule
`
	const reason = native.NotProven + "there is no certificate of a POMDP: certificates are about schedulers that see the state"
	for _, property := range []string{"Pmax=? [ F<=2 seen=1 ]", "Pmax=? [ F seen=1 ]", "P>=0.4 [ F<=2 seen=1 ]"} {
		v := answers(t, model, property, result.Proven)[0]
		if v.Err != nil || v.Accuracy == result.Proven || !slices.Contains(v.Warnings, reason) {
			t.Errorf("%s: %v in %v, accuracy %s, %v, %q, want %q", property, v.Value, v.Bound, v.Accuracy, v.Err, v.Warnings, reason)
		}
	}
}

// TestTimeBoundNotProven wants the reason why a time bound of a Markov automaton has no certificate.
func TestTimeBoundNotProven(t *testing.T) {
	const model = "ma\nmodule m\n s : [0..1];\n <> s=0 -> 2:(s'=1);\n [] s=1 -> true;\nendmodule\n"
	const reason = native.NotProven + "there is no certificate of a formula with a time bound, want a DTMC or an MDP"
	job := runner.Job{File: "m.prism", Model: []byte(model), Props: []string{"Pmax=? [ F<=1 s=1 ]"}, Dialect: syntax.Storm}
	job.Numeric.Accuracy = result.Proven
	verdicts, err := runner.Check(t.Context(), native.New(), job)
	if err != nil || verdicts[0].Err != nil || !slices.Contains(verdicts[0].Warnings, reason) {
		t.Errorf("%v, %v, want %q", verdicts, err, reason)
	}
}

// TestNegativeRewardsInFile: a certificate file has all rewards of the model, and its reader refuses negative ones. So none is written, and the
// reason is given; without a file, properties of other rewards are proven.
func TestNegativeRewardsInFile(t *testing.T) {
	job := runner.Job{
		File:  "m.prism",
		Model: []byte("dtmc\nmodule m\n s:[0..2];\n [] s=0 -> 1/2:(s'=1) + 1/2:(s'=2);\n [] s>0 -> true;\nendmodule\nrewards \"loss\" s=0 : -1; endrewards\nrewards \"gain\" s=0 : 1; endrewards\n"),
		Props: []string{"P=? [ F s=1 ]", `R{"gain"}=? [ F s>0 ]`},
	}
	verdicts, text := certificateOf(t, job)
	for _, v := range verdicts {
		if v.Accuracy == result.Proven || !slices.ContainsFunc(v.Warnings, func(warning string) bool {
			return strings.HasPrefix(warning, native.NotProven+`found negative rewards in the structure "loss"`)
		}) {
			t.Errorf("%s: %v, %q", v.Property, v.Accuracy, v.Warnings)
		}
	}
	if len(text) > 0 {
		t.Errorf("found a file of %d bytes", len(text))
	}
	job.Numeric.Accuracy = result.Proven
	verdicts, err := runner.Check(t.Context(), native.New(), job)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range verdicts {
		if v.Accuracy != result.Proven {
			t.Errorf("%s: %v, %q", v.Property, v.Accuracy, v.Warnings)
		}
	}
}
