package native

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"tilecheck/internal/progress"
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
label "rich" = x=N;
rewards "rounds" x>0 & x<N : 1; endrewards
`

// summary writes verdicts as "property constants: value" or the class of the error.
func summary(vs []result.Verdict) string {
	var b strings.Builder
	for _, v := range vs {
		fmt.Fprintf(&b, "%s %s: ", v.Property, constants(&v))
		switch {
		case v.Err != nil:
			fmt.Fprintln(&b, v.Err.Class)
		case v.Value.Kind == result.Boolean:
			fmt.Fprintln(&b, v.Value.Bool)
		default:
			fmt.Fprintln(&b, v.Value.Num)
		}
	}
	return b.String()
}

// sample checks a job by simulation.
func sample(t *testing.T, job runner.Job) []result.Verdict {
	t.Helper()
	job.File, job.PropsFile = "m.prism", "m.props"
	if job.Method == "" {
		job.Method = runner.Sim
	}
	vs, err := runner.Check(t.Context(), New(), job)
	if err != nil {
		t.Fatal(err)
	}
	return vs
}

func TestExperimentOrder(t *testing.T) {
	vs := sample(t, runner.Job{
		Model:      []byte(ruin),
		Properties: []byte("const int T; const int V;\nP=? [ F<=T x=V ];\n\"n\": P=? [ F<=0 x=1 ];"),
		Props:      []string{`P=? [ F<=T x=1 ]`, `const int W1 = 1; P=? [ G<=0 x=W1 ]`},
		Consts:     []string{"N=2:3,T=0:0", "V=1:2"},
		Settings:   runner.Settings{Simulation: runner.Simulation{Samples: 3}},
	})
	want := `P=? [ F<=T x=V ] N=2,T=0,V=1: 1
P=? [ F<=T x=V ] N=2,T=0,V=2: 0
P=? [ F<=0 x=1 ] N=2: 1
P=? [ F<=T x=1 ] N=2,T=0: 1
P=? [ G<=0 x=W1 ] N=2: 1
P=? [ F<=T x=V ] N=3,T=0,V=1: 1
P=? [ F<=T x=V ] N=3,T=0,V=2: 0
P=? [ F<=0 x=1 ] N=3: 1
P=? [ F<=T x=1 ] N=3,T=0: 1
P=? [ G<=0 x=W1 ] N=3: 1
`
	if got := summary(vs); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, v := range vs {
		if v.Engine != "native" || v.Method != "ci" || v.Samples != 3 {
			t.Errorf("verdict %+v", v)
		}
	}
	if vs[2].Name != "n" {
		t.Errorf("name %q", vs[2].Name)
	}
}

func TestSelect(t *testing.T) {
	job := runner.Job{
		Model:      []byte(ruin),
		Properties: []byte("\"a\": P=? [ F<=0 x=1 ];\n\"b\": P=? [ F<=0 x=0 ];\nconst int T; P=? [ F<=T x=0 ];"),
		Props:      []string{`"c": P=? [ G<=0 x=1 ]`},
		Consts:     []string{"N=2"}, // T is not needed
		Select:     []string{"c", "2", "a"},
		Settings:   runner.Settings{Simulation: runner.Simulation{Samples: 3}},
	}
	got := summary(sample(t, job))
	want := "P=? [ G<=0 x=1 ] N=2: 1\nP=? [ F<=0 x=0 ] N=2: 0\nP=? [ F<=0 x=1 ] N=2: 1\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, bad := range []string{"d", "0", "5", ""} {
		job.Select = []string{bad}
		if _, err := runner.Check(t.Context(), New(), job); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("no property %q", bad)) {
			t.Errorf("selecting %q: %v", bad, err)
		}
	}
}

// References to properties and labels of the file, and known values: see
// package simulate. 1/N with confidence 1-1e-6 per interval.
func TestValues(t *testing.T) {
	vs := sample(t, runner.Job{
		Model:      []byte(ruin),
		Properties: []byte(`label "broke" = x=0; "win": P=? [ F "rich" ];`),
		Props:      []string{`P=? [ F "broke" ]`, `"win"`, `P>=0.3 [ F "rich" ]`, `R=? [ F "rich" | "broke" ]`},
		Consts:     []string{"N=4"},
		Settings:   runner.Settings{Simulation: runner.Simulation{Seed: 1, Confidence: 1 - 1e-6, MaxReward: 1000}},
	})
	for i, want := range []float64{0.25, 0.75, 0.25, math.NaN(), 3} {
		v := vs[i]
		switch {
		case v.Err != nil:
			t.Errorf("%s: %v", v.Property, v.Err)
		case i == 3 && (v.Value.Kind != result.Boolean || v.Value.Bool || v.Method != "sprt"):
			t.Errorf("%s: %+v by %s", v.Property, v.Value, v.Method)
		case i != 3 && !v.Bound.Contains(want):
			t.Errorf("%s: %v in %v, want %v", v.Property, v.Value.Num, v.Bound, want)
		}
	}
	if vs[0].Value.Num != vs[2].Value.Num {
		t.Errorf("the same property by reference: %v and %v", vs[0].Value.Num, vs[2].Value.Num)
	}
}

// What goes wrong with one property or valuation does not touch the others.
func TestFailuresStayApart(t *testing.T) {
	vs := sample(t, runner.Job{
		Model:      []byte("dtmc\nconst int N;\nmodule m\n s:[0..N] init 0;\n [] true -> (s'=s+1);\nendmodule"),
		Properties: []byte("const int k; P=? [ F<=0 s=0 ];\nS=? [ s=0 ];\nP=? [ F s=9 ];\nP=? [ F<=k s=1 ];"),
		Consts:     []string{"N=0:2", "k=-1:1"},
		Settings:   runner.Settings{Simulation: runner.Simulation{Samples: 2}},
	})
	all := "P=? [ F<=0 s=0 ] N=%[1]d: %[2]s\nS=? [ s=0 ] N=%[1]d: %[3]s\nP=? [ F s=9 ] N=%[1]d: %[4]s\n" +
		"P=? [ F<=k s=1 ] N=%[1]d,k=-1: %[5]s\nP=? [ F<=k s=1 ] N=%[1]d,k=0: %[6]s\nP=? [ F<=k s=1 ] N=%[1]d,k=1: %[7]s\n"
	want := fmt.Sprintf(all, 0, "build", "build", "build", "build", "build", "build") +
		fmt.Sprintf(all, 1, "1", "unsupported", "model", "type", "0", "1") +
		fmt.Sprintf(all, 2, "1", "unsupported", "model", "type", "0", "1")
	if got := summary(vs); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if msg := vs[0].Err.Error(); !strings.HasPrefix(msg, "m.prism:4:4: invalid range [0..0]") {
		t.Errorf("build error %s", msg)
	}
	if msg := vs[8].Err.Error(); !strings.HasPrefix(msg, "m.prism:5:13: s'=2 leaves [0..1] in state (s=1)") {
		t.Errorf("model error %s", msg)
	}
}

// All diagnostics stop the run, each with its place.
func TestDiagnostics(t *testing.T) {
	for _, tt := range []struct {
		job  runner.Job
		want string
	}{
		{runner.Job{Model: []byte("dtmc\nmodule m s:[0..1] [] true -> true; endmodule")}, "m.prism:2:19:"},
		{runner.Job{Model: []byte("dtmc\nmodule m s:[0..1]; [] q -> true; endmodule"), Props: []string{"P=? [ F true ]"}}, "m.prism:2:23:"},
		{runner.Job{Model: []byte(ruin), Properties: []byte("const int k = q;\nP=? [ F true ];")}, "m.props:1:15:"},
		{runner.Job{Model: []byte(ruin), Properties: []byte("\"a\": P=? [ F q ];\n\"b\": \"a\";")}, "m.props:1:14:"},
		{runner.Job{Model: []byte(ruin), Props: []string{"P=? [ F true ]", "P=? [ F q ]", "P=? [ F"}}, "1:9:"},
		{runner.Job{Model: []byte(ruin), Props: []string{"P=? [ F true ]", "P=? [ F q ]", "P=? [ F"}}, "\n1:7:"},
		{runner.Job{Model: []byte(ruin), Props: []string{"P=? [ F true ]"}}, `undefined constant "N" must be defined: add --const N=...`},
		{runner.Job{Model: []byte(ruin), Props: []string{"P=? [ F true ]"}, Consts: []string{"N=2.5"}}, "N"},
		{runner.Job{Model: []byte(ruin), Props: []string{"P=? [ F true ]"}, Consts: []string{"N"}}, "want name=value"},
		{runner.Job{Model: []byte(ruin), Consts: []string{"N=2"}}, "no properties to check"},
		{runner.Job{Model: []byte(ruin), Props: []string{"P=? [ F true ]"}, Consts: []string{"N=2"}, Settings: runner.Settings{Numeric: runner.Numeric{Epsilon: 2}}}, "epsilon 2: want"},
		{runner.Job{Model: []byte(ruin), Props: []string{"P=? [ F true ]"}, Consts: []string{"N=2"}, Settings: runner.Settings{Numeric: runner.Numeric{MaxStates: -1}}}, "want positive numbers"},
		{runner.Job{Model: []byte(ruin), Props: []string{"P=? [ F true ]"}, Consts: []string{"N=2"}, Settings: runner.Settings{Method: "magic"}}, `unknown simulation method "magic"`},
		{runner.Job{Model: []byte(ruin), Props: []string{"P=? [ F true ]"}, Consts: []string{"N=2"}, Settings: runner.Settings{Method: runner.Sim, Simulation: runner.Simulation{MaxPath: -1}}}, "maximum path length -1"},
		{runner.Job{Model: []byte(ruin), Props: []string{"P=? [ F true ]"}, Consts: []string{"N=2"}, Settings: runner.Settings{Method: runner.CI, Simulation: runner.Simulation{Workers: -1}}}, "-1 workers"},
	} {
		tt.job.File, tt.job.PropsFile = "m.prism", "m.props"
		vs, err := runner.Check(t.Context(), New(), tt.job)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v (%d verdicts), want %s", err, len(vs), tt.want)
		}
	}
}

// A property with errors costs the others nothing, but those that refer to it.
func TestRejectedProperties(t *testing.T) {
	vs := sample(t, runner.Job{
		Model: []byte(ruin), Settings: runner.Settings{Method: runner.States, Numeric: runner.Numeric{Accuracy: result.Exact}}, Consts: []string{"N=2:3"},
		Properties: []byte("\"a\": P=? [ F x=N ];\n\"b\": P=? [ F q ];\nR{\"r\"}=? [ F x=N ];\n\"b\"*2;\n\"d\": \"a\"*2;\nP=? [ F x+1 ];"),
		Props:      []string{`"d"/2`},
	})
	want := `P=? [ F x=N ] N=2: 0.5
P=? [ F q ] N=2: type
R{"r"}=? [ F x=N ] N=2: type
"b"*2 N=2: type
"a"*2 N=2: 1
P=? [ F x+1 ] N=2: type
"d"/2 N=2: 0.5
P=? [ F x=N ] N=3: 0.3333333333333333
P=? [ F q ] N=3: type
R{"r"}=? [ F x=N ] N=3: type
"b"*2 N=3: type
"a"*2 N=3: 0.6666666666666666
P=? [ F x+1 ] N=3: type
"d"/2 N=3: 0.3333333333333333
`
	if got := summary(vs); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got, want := vs[1].Err.Error(), "m.props:2:14: "; !strings.HasPrefix(got, want) || vs[1].Name != "b" {
		t.Errorf("%s: %s, want b: %s", vs[1].Name, got, want)
	}
}

func TestWarningsReachVerdicts(t *testing.T) {
	vs := sample(t, runner.Job{
		Model:      []byte("mdp\nmodule m s:[0..2]; [] s=0 -> (s'=1); [] s=0 -> (s'=2); [] s>0 -> true; endmodule"),
		Properties: []byte("const int k; Pmax=? [ F<=k s=1 ]; P=? [ X s=1 ];"),
		Props:      []string{"const int j; P=? [ F<=j s=1 ]"},
		Consts:     []string{"k=1,j=2,typo=3"},
	})
	if len(vs) != 3 {
		t.Fatalf("%d verdicts", len(vs))
	}
	for _, v := range vs {
		all := strings.Join(v.Warnings, "\n")
		if strings.Count(all, "there is no constant") != 1 || !strings.Contains(all, `"typo"`) || !strings.Contains(all, "open choices were made at random") || v.Resolution != result.Uniform {
			t.Errorf("%s: %s, warnings %q", v.Property, v.Resolution, v.Warnings)
		}
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var told []runner.Progress
	vs, err := runner.Check(ctx, New(), runner.Job{
		Model:  []byte(ruin),
		Props:  []string{`P=? [ X true ]`, `P=? [ F "rich" ]`, `P=? [ G true ]`},
		Consts: []string{"N=4:5"},
		Settings: runner.Settings{
			Method:     runner.CI,
			Simulation: runner.Simulation{Samples: 1 << 40},
		},
		Outputs: runner.Outputs{Progress: func(p runner.Progress) {
			told = append(told, p)
			cancel()
		}},
	})
	if err != nil || len(vs) != 6 {
		t.Fatalf("%d verdicts, %v", len(vs), err)
	}
	for i, v := range vs {
		if v.Err == nil || v.Err.Class != result.Interrupted || v.Property == "" {
			t.Errorf("verdict %d: %+v", i, v)
		}
		if partial := v.Value.Kind == result.Number; partial != (i == 0) || partial && v.Value.Num != 1 {
			t.Errorf("verdict %d has value %+v", i, v.Value)
		}
	}
	if len(told) == 0 || told[0].Property != `P=? [ X true ]` || told[0].Target != 1<<40 || told[0].Unit != progress.Samples {
		t.Errorf("progress %+v", told)
	}
}

func TestUnsupportedModel(t *testing.T) {
	vs := sample(t, runner.Job{
		Model: []byte("pta\nmodule m s:[0..1]; x:clock; [] x>=1 -> (s'=1); endmodule"),
		Props: []string{"Pmax=? [ F s=1 ]"},
	})
	if len(vs) != 1 || vs[0].Err == nil || vs[0].Err.Class != result.Unsupported || !strings.Contains(vs[0].Err.Message, "PTA") {
		t.Errorf("verdicts %+v", vs)
	}
}
