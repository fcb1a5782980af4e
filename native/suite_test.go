package native_test

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/report"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/regress"
	"tilecheck/verify/suite"
)

// suiteDifferences says, by file and property, where we answer something else
// than PRISM's developers expect, and why.
func suiteDifferences() map[string]string {
	const (
		narrow = "bounds do not decide in PRISM; we go on with narrower ones, or with fractions"
		steps  = "PRISM has no step bounds in LTL; we have"
		paths  = "PRISM has no step bounds under E and A; we have"
		order  = "PRISM's symbolic engines order choices in another way than its explicit one"
		power  = "pow(1/4,1/2) has a fraction, 1/2, which PRISM refuses to compute, as its file says"
		losses = "PRISM has no negative rewards; we have"
	)
	return map[string]string{
		"functionality/verify/close_bounds.prism.props P>=0.1666666666 [ F s=7&d=x ]":                            narrow,
		"functionality/verify/close_bounds.prism.props P>=1/6 [ F s=7&d=x ]":                                     narrow,
		"bugfixes/supersimple.pm.boundedltl.props P>0.5 [ X F P>0 [ X F<=4 \"a\" ] ]":                            steps,
		"bugfixes/supersimple.pm.boundedltl.props P>0.5 [ X F<=1 P>0 [ X F \"a\" ] ]":                            steps,
		"bugfixes/supersimple.pm.boundedltl.props P>0.5 [ X F P>0 [ X F<=1 \"a\" ] ]":                            steps,
		"functionality/verify/dtmcs/ltl/lec17dtmc.pm.nonprob.props filter(forall, E [ F[1,2] (s=2|s=4) ], true)": paths,
		"functionality/verify/dtmcs/ltl/lec17dtmc.pm.nonprob.props filter(forall, A [ F[1,2] (s=2|s=4) ], true)": paths,
		"bugfixes/exact-pow.prism.props P=? [ X s=1 ]":                                                           power,
		"functionality/language/negative-rewards.prism.props R=? [ F s=7 ]":                                      losses,
		"functionality/export/mdp/robot.prism.tra ":                                                              order,
		"functionality/export/mdp/robot.prism3.trew ":                                                            order,
	}
}

// TestPrismSuite judges the engine by PRISM's own regression suite: what it
// answers must be what PRISM's developers expect, and it may refuse by name.
// The first folders are what the engine is about. Every property is also
// checked with fractions, which the bounds must contain.
func TestPrismSuite(t *testing.T) {
	dir := needs.PRISMTests(t)
	core := []string{
		"functionality/verify/dtmcs", "functionality/verify/mdps", "functionality/verify/ctmcs",
		"functionality/language", "functionality/verify/sim",
	}
	t.Run("core", func(t *testing.T) { testSuite(t, dir, core, nil, 2180, 2150) })
	t.Run("rest", func(t *testing.T) {
		testSuite(t, dir, []string{"functionality", "bugfixes", "pmc", "papers", "contrib"}, core, 2827, 2690)
	})
}

// testSuite runs folders, without some of those below them, and wants so many
// results to be as expected, with bounds and with fractions.
func testSuite(t *testing.T, dir string, folders, without []string, floor, exact int) {
	tests, err := regress.Discover(os.DirFS(dir), folders, suite.Matching)
	if err != nil {
		t.Fatal(err)
	}
	tests = slices.DeleteFunc(tests, func(x regress.Test) bool {
		return slices.ContainsFunc(without, func(f string) bool { return x.Dir == f || strings.HasPrefix(x.Dir, f+"/") })
	})
	engines := []regress.EngineConfig{{EngineConfig: runner.EngineConfig{Engine: native.New()}}, {EngineConfig: runner.EngineConfig{Label: "exact", Engine: native.New(), Accuracy: result.Exact}}}
	rep, err := regress.Run(t.Context(), tests, engines, regress.Options{FS: os.DirFS(dir), Jobs: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[string]map[report.TestOutcome]int)
	refused := make(map[string]int)
	differences := suiteDifferences()
	for i := range rep.Results {
		r := &rep.Results[i]
		if r.Outcome == report.TestFailed && differences[r.File+" "+r.Property] != "" {
			continue
		}
		if count[r.Engine] == nil {
			count[r.Engine] = make(map[report.TestOutcome]int)
		}
		count[r.Engine][r.Outcome]++
		switch r.Outcome {
		case report.TestUnsupported:
			if r.Engine == native.Name {
				refused[r.Reason]++
			}
		case report.TestPassed, report.TestNotTested, report.TestUnchecked:
		default:
			t.Errorf("%s %s:%d: %s %v %v: %s", r.Outcome, r.File, r.Line, r.Property, r.Constants, r.Args, r.Reason)
		}
	}
	reasons := slices.SortedFunc(maps.Keys(refused), func(a, b string) int {
		return cmp.Or(refused[b]-refused[a], strings.Compare(a, b))
	})
	for _, r := range reasons {
		t.Logf("refused %4d: %s", refused[r], r)
	}
	t.Logf("%d runs: %v", len(tests), count)
	if n := count[native.Name][report.TestPassed]; n < floor {
		t.Errorf("only %d results are as expected, want %d", n, floor)
	}
	if n := count["exact"][report.TestPassed]; n < exact {
		t.Errorf("only %d results with fractions are as expected, want %d", n, exact)
	}
}
