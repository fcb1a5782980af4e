package bridge_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"tilecheck/bridge"
	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/runner/local"
)

const ruin = `dtmc
const int N; const double p;
module gambler
  x : [0..N] init 1;
  [] x>0 & x<N -> p : (x'=x+1) + 1-p : (x'=x-1);
  [] x=0 | x=N -> true;
endmodule
`

// script is a Commander that answers every run with the next text.
type script struct {
	answers  []string
	exits    []runner.Exit
	commands []runner.Command
}

func (s *script) Where() string { return "a script" }

func (s *script) Run(_ context.Context, c runner.Command) (runner.Exit, error) {
	i := len(s.commands)
	s.commands = append(s.commands, c)
	if i >= len(s.answers) {
		return runner.Exit{}, fmt.Errorf("run %d was not expected: %q", i+1, c.Args)
	}
	if _, err := c.Stdout.Write([]byte(s.answers[i])); err != nil {
		return runner.Exit{}, err
	}
	if i < len(s.exits) {
		return s.exits[i], nil
	}
	return runner.Exit{}, nil
}

func (s *script) file(i int, name string) string {
	for _, f := range s.commands[i].Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// summary writes one line a verdict.
func summary(vs []result.Verdict) string {
	var b strings.Builder
	for _, v := range vs {
		fmt.Fprintf(&b, "%s", v.Property)
		for _, c := range v.Constants {
			fmt.Fprintf(&b, " %s=%s", c.Name, c.Value)
		}
		switch {
		case v.Err != nil:
			fmt.Fprintf(&b, ": %s\n", v.Err.Class)
		case v.Value.Kind == result.Boolean:
			fmt.Fprintf(&b, ": %v\n", v.Value.Bool)
		default:
			fmt.Fprintf(&b, ": %v\n", v.Value.Num)
		}
	}
	return b.String()
}

// banner is how PRISM's output begins; properties are listed in it.
func banner(properties ...string) string {
	out := "PRISM\n=====\n\nVersion: 4.10.2-dev\n\nParsing PRISM model file \"model.prism\"...\n\nType:        DTMC\n\n" +
		fmt.Sprintf("%d properties:\n", len(properties))
	for i, p := range properties {
		out += fmt.Sprintf("(%d) %s\n", i+1, p)
	}
	return out + "\n"
}

func checking(property, constants, result string) string {
	return strings.Repeat("-", 69) + "\n\nModel checking: " + property + "\nModel constants: " + constants + "\n\n" +
		"Time for model checking: 0.001 seconds.\n\n" + result + "\n\n"
}

// TestPRISMCommand: one run for all, with the switches of PRISM; answers go
// where their headings say, in any order, and what has none is run alone.
func TestPRISMCommand(t *testing.T) {
	s := &script{answers: []string{
		banner("P=? [ F x=N ]", "P=? [ F x=0 ]", "P>0.2 [ F x=N ]") + checking("P>0.2 [ F x=N ]", "N=2,p=0.5", "Result: true") + checking("P=? [ F x=N ]", "N=2,p=0.5", "Result: 0.5 (exact floating point)"),
		banner("P=? [ F x=N ]", "P=? [ F x=0 ]", "P>0.2 [ F x=N ]") + checking("P=? [ F x=0 ]", "N=2,p=0.5", "Error: Something is wrong."),
	}}
	e := bridge.PRISM(s, bridge.Options{Args: []string{"-maxiters", "7"}, Limits: runner.Limits{Time: 90 * time.Second, Memory: 1 << 30}})
	vs, err := runner.Check(t.Context(), e, runner.Job{
		File: "ruin.prism", Model: []byte(ruin), PropsFile: "ruin.props",
		Properties: []byte("P=? [ F x=N ];\nP=? [ F x=0 ];"), Props: []string{"P>0.2 [ F x=N ]"}, Consts: []string{"N=2,p=0.5"},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := "P=? [ F x=N ] N=2 p=0.5: 0.5\nP=? [ F x=0 ] N=2 p=0.5: other\nP>0.2 [ F x=N ] N=2 p=0.5: true\n"
	if got := summary(vs); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if v := vs[0]; v.Engine != "prism" || v.Tool != "prism 4.10.2-dev, a script" || v.Accuracy != result.Float {
		t.Errorf("%+v", v)
	}
	all := "model.prism properties.props -prop 1,2,3 -const N=2,p=0.5 -explicit -intervaliter -timeout 90 -javamaxmem 512m -cuddmaxmem 256m -maxiters 7"
	if got := strings.Join(s.commands[0].Args, " "); got != all {
		t.Errorf("got  %s\nwant %s", got, all)
	}
	if got := strings.Join(s.commands[1].Args[:6], " "); got != "model.prism properties.props -prop 2 -const N=2,p=0.5" {
		t.Errorf("second run: %s", got)
	}
	if got := s.file(0, "model.prism"); got != ruin {
		t.Errorf("model %q", got)
	}
	if got, want := s.file(0, "properties.props"), "P=? [ F x=N ];\nP=? [ F x=0 ];\nP>0.2 [ F x=N ];\n"; got != want {
		t.Errorf("properties %q, want %q", got, want)
	}
}

// PRISM's digital clocks refuse strict constraints and strict time bounds: then its games method is asked.
func TestPRISMClocks(t *testing.T) {
	automaton := func(guard string) string {
		return "pta module m s:[0..1]; x:clock; invariant (s=0 => x<=2) endinvariant [] s=0 & " + guard + " -> (s'=1); endmodule"
	}
	for _, tt := range []struct{ guard, property, want string }{
		{"x>=1", "Pmax=? [ F s=1 ]", "digital"},
		{"x>1", "Pmax=? [ F s=1 ]", "games"},
		{"x>=1", "Pmax=? [ F<=T s=1 ]", "digital"},
		{"x>=1", "Pmax=? [ F<T s=1 ]", "games"},
	} {
		s := &script{answers: []string{banner(tt.property) + checking(tt.property, "T=2", "Result: 1.0")}}
		job := runner.Job{File: "m.prism", Model: []byte(automaton(tt.guard)), PropsFile: "m.props", Properties: []byte("const int T; " + tt.property), Consts: []string{"T=2"}}
		if _, err := runner.Check(t.Context(), bridge.PRISM(s, bridge.Options{}), job); err != nil {
			t.Fatal(err)
		}
		if args := s.commands[0].Args; !strings.Contains(strings.Join(args, " "), "-ptamethod "+tt.want) {
			t.Errorf("%s, %s: found %s, want %s", tt.guard, tt.property, args, tt.want)
		}
	}
}

// TestPRISMSystemBlock: PRISM's sparse engine is asked about a model with a system block, because its explicit engine rejects these.
func TestPRISMSystemBlock(t *testing.T) {
	model := "dtmc module a x:[0..1]; [go] x=0 -> (x'=1); endmodule module b y:[0..1]; [go] y=0 -> (y'=1); endmodule system a |[go]| b endsystem"
	property := "P=? [ F x=1 ]"
	s := &script{answers: []string{banner(property) + checking(property, "", "Result: 1.0")}}
	job := runner.Job{File: "m.prism", Model: []byte(model), PropsFile: "m.props", Properties: []byte(property)}
	if _, err := runner.Check(t.Context(), bridge.PRISM(s, bridge.Options{}), job); err != nil {
		t.Fatal(err)
	}
	if args := strings.Join(s.commands[0].Args, " "); !strings.Contains(args, "-sparse -intervaliter") || strings.Contains(args, "-explicit") {
		t.Errorf("found %s, want -sparse -intervaliter", args)
	}
}

// TestPRISMOfJANI: PRISM gets what a JANI model is translated to. A property that it
// has no form for costs no other its answer, and names of any kind find theirs.
func TestPRISMOfJANI(t *testing.T) {
	text, err := os.ReadFile("../examples/relay.jani")
	if err != nil {
		t.Fatal(err)
	}
	s := &script{answers: []string{
		banner("P=? [ F x=N ]") + checking(`"all_sent": Pmin=? [ F "done" ]`, "N=2", "Result: 1.0") + checking(`"energy": R{"energy"}max=? [ F "done" ]`, "N=2", "Result: 5.0"),
	}}
	vs, err := runner.Check(t.Context(), bridge.PRISM(s, bridge.Options{}), runner.Job{File: "relay.jani", Model: text, Consts: []string{"N=2"}})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range vs {
		answer := fmt.Sprint(v.Value.Num)
		if v.Err != nil {
			answer = string(v.Err.Class)
		}
		got = append(got, v.Name+": "+answer)
	}
	if got, want := strings.Join(got, ", "), "all sent: 1, energy: 5, cheap: unsupported"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if len(s.commands) != 1 || !strings.HasPrefix(s.file(0, "model.prism"), "mdp\n") || !strings.Contains(s.file(0, "properties.props"), `"cheap": true`) {
		t.Errorf("%d runs, the first with\n%s%s", len(s.commands), s.file(0, "model.prism"), s.file(0, "properties.props"))
	}
}

// TestPRISMException: an exception ends PRISM, and costs no other property its
// answer. What it prints is that of PRISM 4.10.2-dev for a lower time bound.
func TestPRISMException(t *testing.T) {
	head := banner("P=? [ F x=N ]", "P=? [ F x=0 ]")
	died := head + strings.Repeat("-", 69) + "\n\nModel checking: P=? [ F x=N ]\nModel constants: N=2,p=0.5\n\n" +
		"java.lang.NullPointerException: Cannot invoke \"java.lang.Double.doubleValue()\" because \"<parameter2>\" is null\n" +
		"    at explicit.ProbModelChecker.checkExpression(ProbModelChecker.java:542)\n\nError: Caught unhandled exception, aborting....\n"
	s := &script{answers: []string{died, head + checking("P=? [ F x=0 ]", "N=2,p=0.5", "Result: 0.5 (exact)")}}
	vs, err := runner.Check(t.Context(), bridge.PRISM(s, bridge.Options{}), runner.Job{
		Model: []byte(ruin), Props: []string{"P=? [ F x=N ]", "P=? [ F x=0 ]"}, Consts: []string{"N=2,p=0.5"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := summary(vs), "P=? [ F x=N ] N=2 p=0.5: other\nP=? [ F x=0 ] N=2 p=0.5: 0.5\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A path that is too long for PRISM is told with the switch that allows more. The error is PRISM's, testdata/logs/prism/reference/sim-pathlen-error.log.
func TestPRISMPathLength(t *testing.T) {
	const property = "P=? [ F x=N ]"
	answer := banner(property) + strings.Repeat("-", 69) + "\n\nSimulating: " + property + "\nModel constants: N=2,p=0.5\n\n" +
		"Error: One or more of the properties being sampled could not be checked on a sample. Consider increasing the maximum path length.\n\n"
	e := bridge.PRISM(&script{answers: []string{answer, answer}}, bridge.Options{})
	vs, err := runner.Check(t.Context(), e, runner.Job{
		File: "ruin.prism", Model: []byte(ruin), Props: []string{property}, Consts: []string{"N=2,p=0.5"}, Settings: runner.Settings{Method: runner.Sim, Simulation: runner.Simulation{Samples: 10}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if f := vs[0].Err; f == nil || f.Class != result.PathLength || !strings.HasSuffix(f.Message, "; want more with --max-path (PRISM: -simpathlen)") {
		t.Errorf("%+v, want a path length with its switch", f)
	}
}

// TestPRISMSwitches: methods and accuracies in PRISM's words.
func TestPRISMSwitches(t *testing.T) {
	for _, tt := range []struct {
		job  runner.Job
		args []string
		want string
	}{
		{runner.Job{Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}}}, nil, "-exact"},
		{runner.Job{Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Float, Epsilon: 1e-9}, NoFixDeadlocks: true}}, nil, "-nofixdl -explicit -epsilon 1e-09"},
		{runner.Job{}, []string{"-h"}, "-h"},
		{
			runner.Job{Settings: runner.Settings{Method: runner.CI, Simulation: runner.Simulation{Samples: 500, Confidence: 0.99, MaxPath: 20000}}},
			nil,
			"-sim -simmethod ci -simsamples 500 -simconf 0.01 -simpathlen 20000",
		},
		{
			runner.Job{Settings: runner.Settings{Method: runner.Sim, Simulation: runner.Simulation{Width: 0.05, MaxReward: 10, MinSamples: 9}}},
			nil,
			"-sim -simwidth 0.05 -simmaxrwd 10 -simmanual -simvar 9",
		},
		{runner.Job{Settings: runner.Settings{Method: runner.APMC, Simulation: runner.Simulation{Approximation: 0.1}}}, nil, "-sim -simmethod apmc -simapprox 0.1"},
	} {
		s := &script{answers: []string{banner("P=? [ F x=N ]") + checking("P=? [ F x=N ]", "N=2,p=0.5", "Result: 0.5 (exact)")}}
		tt.job.Model, tt.job.Props, tt.job.Consts = []byte(ruin), []string{"P=? [ F x=N ]"}, []string{"N=2", "p=0.5"}
		if _, err := runner.Check(t.Context(), bridge.PRISM(s, bridge.Options{Args: tt.args}), tt.job); err != nil {
			t.Error(err)
			continue
		}
		want := "model.prism properties.props -prop 1 -const N=2 -const p=0.5 " + tt.want
		if got := strings.Join(s.commands[0].Args, " "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestStormCommand: one run a valuation, properties told apart by names, what
// Storm cannot do refused before it is started.
func TestStormCommand(t *testing.T) {
	answer := func(value string) string {
		return "Storm 1.12.0 (dev)\n\nDate: Sat Nov 21 03:09:04 2026\n" +
			"Command line arguments: --prism model.prism --prop properties.props --constants N=2,p=0.5 --sound\n" +
			"Current working directory: /data\n\nTime for model input parsing: 0.003s.\n\nTime for model construction: 0.034s.\n\n" +
			"-------------------------------------------------------------- \nModel type: \tDTMC (sparse)\nStates: \t3\nTransitions: \t4\n" +
			"Reward Models:  none\nState Labels: \t2 labels\n   * deadlock -> 0 item(s)\n   * init -> 1 item(s)\nChoice Labels: \tnone\n" +
			"-------------------------------------------------------------- \n\n" +
			"Model checking property \"tilecheck_1\": P=? [F (x = 2)] ...\nResult (for initial states): " + value + "\n\nTime for model checking: 0.002s.\n"
	}
	s := &script{answers: []string{answer("0.5"), answer("0.25")}}
	job := runner.Job{Model: []byte(ruin), Props: []string{`"win": P=? [ F x=N ]`}, Consts: []string{"N=2:2:4,p=0.5"}}
	vs, err := runner.Check(t.Context(), bridge.Storm(s, bridge.Options{}), job)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := summary(vs), "P=? [ F x=N ] N=2 p=0.5: 0.5\nP=? [ F x=N ] N=4 p=0.5: 0.25\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := strings.Join(s.commands[1].Args, " "), "--prism model.prism --prop properties.props --sound"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := s.file(1, "model.prism"); !strings.Contains(got, "const int N = 4;\nconst double p = (1.0/2.0);") {
		t.Errorf("model %s", got)
	}
	if got := s.file(0, "properties.props"); !strings.HasPrefix(got, `"tilecheck_1": P=?`) {
		t.Errorf("properties %q", got)
	}
	s = &script{answers: []string{answer("0.125")}}
	timed := job
	timed.Props, timed.Consts = []string{"const int T; const int V; P=? [ F<=T x=N ]"}, []string{"N=2,p=0.5,T=3"}
	if vs, err = runner.Check(t.Context(), bridge.Storm(s, bridge.Options{}), timed); err != nil {
		t.Fatal(err)
	}
	if got, want := summary(vs), "P=? [ F<=T x=N ] N=2 p=0.5 T=3: 0.125\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := s.file(0, "properties.props"), "const int T = 3;\n"; !strings.HasPrefix(got, want) || strings.Contains(got, "V") {
		t.Errorf("properties %q", got)
	}
	if got, want := strings.Join(s.commands[0].Args, " "), "--prism model.prism --prop properties.props --sound"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	s = &script{}
	job.Method = runner.CI
	vs, err = runner.Check(t.Context(), bridge.Storm(s, bridge.Options{}), job)
	if err != nil || len(vs) != 2 || vs[0].Err == nil || vs[0].Err.Class != result.Unsupported {
		t.Errorf("%v, %v", vs, err)
	}
	if len(s.commands) > 0 {
		t.Errorf("Storm was started: %v", s.commands)
	}
}

// TestEnds: how a run ended is the failure of what it left open, and what it
// had answered stays.
func TestEnds(t *testing.T) {
	for cause, want := range map[runner.Cause]result.Class{
		runner.TimedOut: result.Timeout, runner.OutOfMemory: result.Memory, runner.Killed: result.Killed,
	} {
		start := banner("P=? [ F x=N ]", "P=? [ F x=0 ]")
		half := start + checking("P=? [ F x=N ]", "N=2,p=0.5", "Result: 0.5 (exact)")
		end := runner.Exit{Code: -1, Cause: cause}
		s := &script{answers: []string{half, start}, exits: []runner.Exit{end, end}}
		vs, err := runner.Check(t.Context(), bridge.PRISM(s, bridge.Options{}), runner.Job{
			Model: []byte(ruin), Props: []string{"P=? [ F x=N ]", "P=? [ F x=0 ]"}, Consts: []string{"N=2,p=0.5"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := summary(vs); got != fmt.Sprintf("P=? [ F x=N ] N=2 p=0.5: 0.5\nP=? [ F x=0 ] N=2 p=0.5: %s\n", want) {
			t.Errorf("%s: %s", cause, got)
		}
	}
}

// TestRealPRISM compares the embedded engine with PRISM through this package.
func TestRealPRISM(t *testing.T) {
	tool, err := local.New(needs.PRISM(t))
	if err != nil {
		t.Fatal(err)
	}
	job := runner.Job{
		File: "ruin.prism", Model: []byte(ruin), PropsFile: "ruin.props",
		Properties: []byte("const int T;\n\"win\": P=? [ F x=N ];\nP=? [ F<=T x=0 ];\nS=? [ x=0 ];\nP>0.3 [ F x=N ];\nP=? [ F q ];\nfilter(range, P=? [ F x=N ]);"),
		Props:      []string{`"win"*2`, "const int K = 2; P=? [ F<=K x=0 ]"},
		Consts:     []string{"N=2:4,p=0.3", "T=1:2"},
	}
	for _, accuracy := range []result.Accuracy{result.Exact, result.Bounded} {
		job.Numeric.Accuracy = accuracy
		ours, err := runner.Check(t.Context(), native.New(), job)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := runner.Check(t.Context(), bridge.PRISM(tool, bridge.Options{}), job)
		if err != nil {
			t.Fatal(err)
		}
		if len(ours) != len(theirs) || len(ours) != 3*9 {
			t.Fatalf("%d and %d verdicts", len(ours), len(theirs))
		}
		for i, v := range ours {
			w := theirs[i]
			x, y := v.Value, w.Value
			switch {
			case v.Property != w.Property || fmt.Sprint(v.Constants) != fmt.Sprint(w.Constants):
				t.Errorf("%s %v beside %s %v", v.Property, v.Constants, w.Property, w.Constants)
			case accuracy == result.Exact && w.Err != nil && v.Err == nil: // PRISM's exact engine has no bounded operators
			case (v.Err != nil) != (w.Err != nil):
				t.Errorf("%s %v: %v and %v", v.Property, v.Constants, v.Err, w.Err)
			case v.Err == nil && (x.Kind != y.Kind || x.Bool != y.Bool || max(x.Num-y.Num, y.Num-x.Num) > 1e-5):
				t.Errorf("%s %v: %v and %v", v.Property, v.Constants, x, y)
			}
		}
	}
}
