package parse_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"tilecheck/parse"
	"tilecheck/result"
)

// said is what one property of a transcript must become, read from the
// transcript by hand.
type said struct {
	path string
	// text is the property, constants its valuation ("N=1,p=0.3,k=0"); the first that matches counts.
	text, constants string
	value           string // number, [low,high], fraction, true; "-" for none
	accuracy        result.Accuracy
	class           result.Class // empty when there is a value
}

const (
	pm = "logs/prism/reference/"
	pr = "logs/prism/recorded/"
	st = "logs/storm/"
	cf = "conformance/"
)

var table = []said{
	// PRISM: model checking.
	{pm + "2048-exact-uniform-2x2.log", `Pmin=? [ F "fail" ]`, "", "7336901687427567/8000000000000000", result.Exact, ""},
	{pm + "2048-exact-uniform-2x2.log", `Pmax=? [ F "success" ]`, "", "663098312572433/8000000000000000", result.Exact, ""},
	{pm + "2048-explicit-thesis-2x2.log", `Pmin=? [ F "fail"|"success" ]`, "", "1", result.Float, ""},
	{pm + "2048-explicit-thesis-2x2.log", `Pmin=? [ F "fail" ]`, "", "0.910579999985109", result.Float, ""},
	{pm + "2048-explicit-uniform-2x2.log", `Pmax=? [ F "success" ]`, "", "0.0828872890715541", result.Float, ""},
	{pm + "2048-policy-random-2x2.log", `Pmin=? [ F "fail" ]`, "", "0.8479433742231227", result.Estimated, ""},
	{pm + "2048-strategy.log", `Pmax=? [ F "success" ]`, "", "0.0828872890715541", result.Float, ""},
	{pm + "exact.log", `Pmin=? [ F "success" ]`, "N=1,p=3/10", "3/10", result.Exact, ""},
	{pm + "explicit.log", `Pmin=? [ F "success" ]`, "N=1,p=0.3", "0.3", result.Float, ""},
	{pm + "hybrid.log", `Pmin=? [ F "success" ]`, "N=1,p=0.3", "0.3", result.Float, ""},
	{pm + "exportstrat.log", `Pmin=? [ F "success" ]`, "N=1,p=0.3", "0.3", result.Float, ""},
	{pm + "testall.log", `P>=0.1 [ F "success" ]`, "N=1,p=0.3,k=3,q=0.3", "true", result.Unknown, ""},
	{pm + "testall.log", `P=? [ F "success" ]`, "N=1,p=0.3,k=3,q=0.3", "-", result.Unknown, result.TypeError},
	{pm + "2048-hybrid-uniform-2x2.log", `Pmin=? [ F "fail" ]`, "", "-", result.Unknown, result.Model},
	{pm + "2048-hybrid-uniform-2x2.log", `Pmax=? [ F "success" ]`, "", "-", result.Unknown, result.Model},
	{pm + "error-property.log", `P=? [ F "success" ]`, "N=1,p=0.3", "-", result.Unknown, result.TypeError},
	{pm + "oom-container.log", `Pmin=? [ F "fail" ]`, "", "-", result.Unknown, result.Killed},
	{pm + "oom-java.log", `Pmin=? [ F "fail" ]`, "", "-", result.Unknown, result.Heap},
	{pm + "oom.log", `Pmin=? [ F x=3000&y=3000 ]`, "", "-", result.Unknown, result.Heap},
	{pm + "timeout-2048.log", `Pmin=? [ F "fail" ]`, "", "-", result.Unknown, result.Timeout},
	{pm + "timeout.log", `Pmin=? [ F x=3000&y=3000 ]`, "", "-", result.Unknown, result.Timeout},
	// PRISM-games.
	{"logs/prism-games/race.log", `<<attacker>>Pmax=? [ F "attacked" ]`, "", "0.4968746781349182", result.Estimated, ""},
	{"logs/prism-games/race.log", `<<attacker>>P>=0.5 [ F "attacked" ]`, "", "false", result.Unknown, ""},
	{"logs/prism-games/race.log", `<<attacker>>Pmax=? [ G F won=1 ]`, "", "-", result.Unknown, result.Unsupported},
	{"logs/prism-games/race.log", `<<attacker>>R{"rounds"}max=? [ S ]`, "", "-", result.Unknown, result.Unsupported},
	{"logs/prism-games/race-exact.log", `Pmax=? [ F won=1 ]`, "", "-", result.Unknown, result.Unsupported},
	{"logs/prism-games/race-experiment.log", `<<attacker>>Pmax=? [ F<=k "attacked" ]`, "k=4", "0.4125", result.Float, ""},
	// PRISM: simulation.
	{pm + "2048-sim-apmc.log", `Pmin=? [ F "fail" ]`, "", "1", result.Probable, ""},
	{pm + "2048-sim-ci.log", `Pmin=? [ F "fail"|"success" ]`, "", "1", result.Probable, ""},
	{pm + "2048-sim-ci.log", `Pmin=? [ F "fail" ]`, "", "0.445", result.Probable, ""},
	{pm + "sim-apmc.log", `Pmin=? [ F "success" ]`, "N=1,p=0.3", "0.39622641509433965", result.Probable, ""},
	{pm + "sim-ci-samples.log", `Pmin=? [ F "success" ]`, "N=1,p=0.3", "0.405", result.Probable, ""},
	{pm + "sim-ci-width-nullvar.log", `Pmin=? [ F "success"|"fail" ]`, "N=1,p=0.3", "1", result.Probable, ""},
	{pm + "sim-experiment.log", `Pmin=? [ F<=k "success" ]`, "N=1,p=0.3,k=0", "0", result.Probable, ""},
	{pm + "sim-experiment.log", `Pmin=? [ F<=k "success" ]`, "N=1,p=0.3,k=2", "0.39666666666666667", result.Probable, ""},
	{pm + "sim-pathlen-error.log", `Pmin=? [ F x=3000&y=3000 ]`, "", "-", result.Unknown, result.PathLength},
	{pm + "sim-sprt.log", `P>=0.2 [ F "success" ]`, "N=1,p=0.3", "true", result.Probable, ""},
	{pm + "sim-two-props.log", `Pmin=? [ F "success" ]`, "N=1,p=0.3", "0.36", result.Probable, ""},
	{pm + "sim-all-three.log", `Pmin=? [ F "success" ]`, "", "-", result.Unknown, result.Other},
	{"logs/prism/table36/alternating-128.log", `Pmin=? [ F fail ]`, "", "0.081", result.Probable, ""},
	{"logs/prism/table36/alternating-2048.log", `Pmin=? [ F fail ]`, "", "1", result.Probable, ""},
	{cf + "sim_experiment/prism.txt", "P=? [ F<=T s=2 ]", "T=1", "0", result.Probable, ""},
	{cf + "sim_experiment/prism.txt", "P=? [ F<=T s=2 ]", "T=3", "1", result.Probable, ""},
	{cf + "sim_loop/prism.txt", "R=? [ F s=5 ]", "", "-", result.Unknown, result.PathLength},
	{cf + "sim_loop/prism.txt", "R=? [ C<=300 ]", "", "300", result.Probable, ""},
	{cf + "sim_sprt_bounds/prism.txt", "P>=0.99 [ F s=2 ]", "", "-", result.Unknown, result.Other},
	{cf + "sim_deadlock/prism.nofixdl.txt", "P=? [ F s=5 ]", "", "-", result.Unknown, result.Deadlock},
	{cf + "rt_multi_init/prism.sim.txt", "P=? [ F s=2 ]", "", "-", result.Unknown, result.Unsupported},
	// PRISM: forms of values.
	{cf + "rt_multi_init/prism.hybrid.txt", "P=? [ F s=2 ]", "", "[0.25,0.5]", result.Unknown, ""},
	{cf + "rt_multi_init/prism.txt", "s", "", "[0,1]", result.Unknown, ""},
	{cf + "rt_multi_init/prism.txt", `filter(count, "init")`, "", "2", result.Unknown, ""},
	{cf + "pr_filters/prism.txt", "filter(range, P=? [ F s=2 ], s<2)", "", "[0.75,1]", result.Unknown, ""},
	{cf + "pr_filters/prism.txt", "filter(print, P=? [ F s=2 ])", "", "0.75", result.Float, ""},
	{cf + "pr_filters/prism.txt", "filter(|, s=2, s<2)", "", "false", result.Unknown, ""},
	{cf + "pr_funcs/prism.exact.txt", "1/0", "", "+Inf", result.Exact, ""},
	{cf + "pr_funcs/prism.exact.txt", "0/0", "", "NaN", result.Exact, ""},
	{cf + "pr_funcs/prism.exact.txt", "0.1+0.2", "", "3/10", result.Exact, ""},
	{cf + "pr_funcs/prism.exact.txt", "min(1, 2.5)", "", "-", result.Unknown, result.Unsupported},
	{cf + "pr_mdp/prism.hybrid.txt", `R{"c"}min=? [ F "t" ]`, "", "1.9999980926513672", result.Estimated, ""},
	{cf + "pr_mdp/prism.hybrid.txt", "P=? [ F s=2 ]", "", "-", result.Unknown, result.TypeError},
	{cf + "pr_mdp/prism.hybrid.txt", "A [ F s>1 ]", "", "false", result.Unknown, ""},
	{cf + "pr_rewards/prism.txt", "R=? [ F s=2 ]", "", "+Inf", result.Float, ""},
	{cf + "pr_rewards/prism.txt", "R=? [ C ]", "", "2.999998092651367", result.Estimated, ""},
	{cf + "pr_multi/prism.txt", "multi(Pmax=? [ F s=2 ], Pmax=? [ F s=4 ])", "", "[(0,0.8),(0.5,0.5),(0.9999990463256836,0)]", result.Unknown, ""},
	{cf + "pr_multi/prism.txt", "multi(Pmax=? [ F s=2 ])", "", "0.9999990463256836", result.Unknown, ""},
	{cf + "pta_basic/prism.games.txt", "Pmin=? [ F<=3 s=2 ]", "", "0.5", result.Unknown, ""},
	{cf + "pta_basic/prism.games.txt", "Rmin=? [ F s=2 ]", "", "-", result.Unknown, result.Unsupported},
	{cf + "pta_basic/prism.txt", "Pmax=? [ F<=1 s=2 ]", "", "0.5", result.Float, ""}, // the log's heading of the translated property is not one
	{cf + "const_experiment/prism.txt", "P=? [ F<=T s=N ]", "N=1,p=0.25,T=2", "0.4375", result.Float, ""},
	{cf + "pr_experiment/prism.matrix.txt", "P>=p [ F<=T s=2 ]", "T=3,p=0.8", "false", result.Unknown, ""},
	{cf + "rt_deadlock/prism.nofixdl.txt", `filter(count, "deadlock")`, "", "-", result.Unknown, result.Deadlock},
	// PRISM: recorded for this package.
	{pr + "bounded.log", "P=? [ F s=4 ]", "", "0.41538456674695734", result.Claimed, ""},
	{pr + "approx.log", "P=? [ F s=4 ]", "", "0.41482276388559913", result.Estimated, ""},
	{pr + "exact-chain.log", "R=? [ F s=0|s=4 ]", "", "43/13", result.Exact, ""},
	{pr + "exact-chain.log", "filter(range, P=? [ F s=4 ])", "", "-", result.Unknown, result.Unsupported},
	{pr + "build-fails.log", "filter(count, s>0)", "p=0.9", "2", result.Unknown, ""},
	{pr + "build-fails.log", "filter(state, P=? [ F s=2 ], s=0)", "p=1.2", "-", result.Unknown, result.Model},
	{pr + "build-fails.log", "filter(count, s>0)", "p=1.2", "-", result.Unknown, result.Model}, // never named by the log
	{pr + "cudd.log", "Pmax=? [ F x=99 ]", "", "-", result.Unknown, result.CUDD},
	{pr + "killed.log", "Pmax=? [ F x=99 ]", "", "-", result.Unknown, result.Killed},
	{pr + "noconv.log", `Pmax=? [ F "success" ]`, "N=1,p=0.3", "-", result.Unknown, result.NonConverge},
	{pr + "sim-exp-error.log", "Pmin=? [ F<=k x=1 ]", "k=-1", "-", result.Unknown, result.TypeError},
	{pr + "sim-exp-error.log", "Pmin=? [ F<=k x=1 ]", "k=1", "0.65", result.Probable, ""},
	{pr + "sim-exp-error.log", "Pmin=? [ F x=k ]", "k=-1:1:1", "-", result.Unknown, result.PathLength},
	{pr + "param.log", "filter(state, P=? [ F s=2 ], s=0)", "", "-", result.Unknown, result.Unsupported},
	{pr + "missing-const.log", "P=? [ F s=1 ]", "", "-", result.Unknown, result.Constants},
	// Storm.
	{st + "ctmc-pc.log", `P=? [true U<=3/2 "full"]`, "", "0.0378458843", result.Estimated, ""},
	{st + "deadlock.log", `Pmin=? [F "deadlock"]`, "", "1", result.Estimated, ""},
	{st + "dtmc-bool.log", "P<1/10 [F (d = 6)]", "", "false", result.Estimated, ""},
	{st + "dtmc-bounded.log", "P=? [(s < 7) U<=4 (d = 2)]", "", "0.125", result.Estimated, ""},
	{st + "dtmc-cumulative.log", `R{"flips"}=? [I=1]`, "", "1", result.Estimated, ""},
	{st + "dtmc-exact.log", `R{"flips"}=? [F "done"]`, "", "11/3", result.Exact, ""},
	{st + "dtmc-filter-many.log", "P>1/2 [F (d = 6)]", "", "1", result.Estimated, ""},
	{st + "dtmc-filter-values.log", "P=? [F (d = 6)]", "", "[0,0.3333333333]", result.Estimated, ""},
	{st + "dtmc-inf.log", `R{"flips"}=? [F (d = 6)]`, "", "+Inf", result.Estimated, ""},
	{st + "dtmc-ltl.log", "P=? [G F (s = 7)]", "", "-", result.Unknown, result.Unsupported},
	{st + "dtmc-sound.log", "P=? [F (d = 6)]", "", "0.166666666667", result.Claimed, ""},
	{st + "err-prop-one-of-two.log", "P=? [G F (s = 7)]", "", "-", result.Unknown, result.Unsupported},
	{st + "err-prop-one-of-two.log", "P=? [F (d = 6)]", "", "0.1666666667", result.Estimated, ""},
	{st + "mdp-dd.log", `Pmin=? [F "goal"]`, "", "0.1891887337", result.Estimated, ""},
	{st + "mdp-minmax-exact.log", `Pmin=? [F "goal"]`, "", "7/37", result.Exact, ""},
	{st + "mdp-multi.log", `multi(Pmax=? [F "goal"], P>=1/10 [F (s = 1)])`, "", "0.89995", result.Claimed, ""},
	{st + "mdp-noquant.log", `P=? [F "goal"]`, "", "-", result.Unknown, result.TypeError},
	{st + "multi-init.log", "P=? [F (s = 2)]", "", "[1,1]", result.Estimated, ""},
}

// short is a value in the notation of the table.
func short(p *parse.Property) string {
	v := p.Value
	switch {
	case v.Kind == result.NoValue:
		return "-"
	case v.Kind == result.Boolean:
		return strconv.FormatBool(v.Bool)
	case v.Kind == result.Range:
		return fmt.Sprintf("[%v,%v]", v.Num, v.Hi)
	case v.Rat != nil && p.Accuracy == result.Exact:
		return v.Rat.RatString()
	}
	if v.Kind == result.Curve {
		return v.Text()
	}
	return strconv.FormatFloat(v.Num, 'g', -1, 64)
}

func TestTranscripts(t *testing.T) {
	all := transcripts(t)
	read := make(map[string]*parse.Log)
	for _, want := range table {
		log := read[want.path]
		if log == nil {
			log = readLog(t, want.path, all[want.path])
			read[want.path] = log
		}
		i := slices.IndexFunc(log.Properties, func(p parse.Property) bool {
			return p.Text == want.text && (want.constants == "" || showConstants(slices.Concat(p.Model, p.Constants)...) == want.constants)
		})
		if i < 0 {
			t.Errorf("%s: no property %q with %q", want.path, want.text, want.constants)
			continue
		}
		p := &log.Properties[i]
		class := result.Class("")
		if p.Err != nil {
			class = p.Err.Class
		}
		if got := short(p); got != want.value || p.Accuracy != want.accuracy || class != want.class {
			t.Errorf("%s: %s %s\ngot  %s %s %q\nwant %s %s %q", want.path, want.text, want.constants,
				got, p.Accuracy, class, want.value, want.accuracy, want.class)
		}
	}
	if len(read) < 60 {
		t.Errorf("the table speaks of %d transcripts, want at least 60", len(read))
	}
}

// TestRuns states what ended the runs that ended before their time, among them
// those in which no property was named.
func TestRuns(t *testing.T) {
	all := transcripts(t)
	for _, want := range []struct {
		path  string
		class result.Class
		at    string // file:line:col, as far as the message says
	}{
		{pm + "error-label.log", result.TypeError, "1:12"},
		{pm + "error-switch.log", result.Other, ""},
		{pm + "oom-java.log", result.Heap, ""},
		{pm + "oom-container.log", result.Killed, ""},
		{pm + "timeout.log", result.Timeout, ""},
		{pm + "error-property.log", "", ""},
		{pm + "sim-pathlen-error.log", "", ""},
		{pr + "cudd.log", result.CUDD, ""},
		{pr + "multiline.log", result.Parse, "3:7"},
		{pr + "test-error.log", result.Other, ""},
		{cf + "cli_missing_file/prism.txt", result.Other, ""},
		{cf + "cli_unknown_switch/prism.txt", result.Other, ""},
		{cf + "lex_bad_char/prism.txt", result.Parse, "model.prism:2:47"},
		{cf + "err_undeclared_ident/prism.txt", result.TypeError, "model.prism:2:30"},
		{cf + "err_update_type_div/prism.txt", result.TypeError, "model.prism:2:42"},
		{cf + "err_const_undefined/prism.txt", result.Constants, ""},
		{cf + "pr_err_01/prism.txt", result.Parse, "props.props:1:16"},
		{st + "ctmc-no-pc.log", result.Parse, ""},
		{st + "deadlock-nofix.log", result.Deadlock, ""},
		{st + "err-missing-file.log", result.Other, ""},
		{st + "err-option.log", result.Other, ""},
		{st + "err-prop-label.log", result.TypeError, ""},
		{st + "err-prop-syntax.log", result.TypeError, ""},
		{st + "err-prop-type.log", result.TypeError, ""},
		{st + "err-range-explchecks.log", result.Model, ""},
		{st + "err-sum-explchecks.log", result.Model, ""},
		{st + "err-syntax.log", result.Parse, "syntax.prism:1:39"},
		{st + "err-undeclared.log", result.Parse, "undeclared.prism:1:46"},
		{st + "mdp-const-unknown.log", result.Constants, ""},
		{st + "mdp-undefconst.log", result.Constants, ""},
		{st + "dtmc-filter-many.log", result.Unsupported, ""},
		{st + "dtmc-ltl.log", "", ""},
		{st + "oom-killed.log", result.Killed, ""},
		{st + "timeout.log", result.Timeout, ""},
		{st + "version.log", "", ""},
	} {
		log := readLog(t, want.path, all[want.path])
		switch f := log.Err; {
		case f == nil && want.class == "":
		case f == nil || f.Class != want.class:
			t.Errorf("%s: ended by %v, want class %q", want.path, showFailure(f), want.class)
		case want.at != "":
			at := f.Pos.String()
			if f.File != "" {
				at = f.File + ":" + at
			}
			if at != want.at {
				t.Errorf("%s: at %s, want %s", want.path, at, want.at)
			}
		}
	}
}
