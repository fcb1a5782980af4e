package crosscheck_test

import (
	"context"
	"strings"
	"testing"

	"tilecheck/bridge"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/report/table"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/verify/crosscheck"
)

// Models of which each line may be misread.
const (
	mutableMDP = `mdp
const int N = 3;
const double p = 0.3;
formula busy = x>0 & x<N;
global g : [0..2] init 0;
module one
  x : [0..4] init 0;
  [go] x=0 -> p:(x'=1) + 1-p:(x'=2);
  [] busy & g<2 -> (g'=g+1) & (x'=min(x+1,N));
  [] busy & g=2 -> (x'=N);
  [sync] x=N -> 0.5:(x'=0) + 0.5:true;
endmodule
module two
  y : bool init false;
  [sync] !y -> 1/4:(y'=true) + 3/4:true;
  [reset] y -> (y'=false);
endmodule
label "done" = x=N & y;
label "low" = mod(x,2)=0;
rewards "cost"
  busy : 1;
  [sync] true : 2;
endrewards
rewards
  [] g>0 : 1/3;
endrewards
`
	mutableDTMC = `dtmc
module a
  s : [-2..3] init -1;
  [] s<0 -> 1/3:(s'=s+1) + 2/3:(s'=max(s-1,-2));
  [hop] s>=0 & s<3 -> 0.1:(s'=s+1) + 0.9:(s'=-2);
endmodule
module b = a [s=t, hop=skip] endmodule
label "end" = s=3 | t=3;
rewards "steps"
  true : 1;
  [hop] s=2 : 5;
endrewards
`
	mutableCTMC = `ctmc
const double speed = 2.5;
module queue
  n : [0..3] init 0;
  [in] n<3 -> speed:(n'=n+1);
  [out] n>0 -> 3*n:(n'=n-1);
  [out] n=2 -> 1:(n'=1);
endmodule
rewards "full" n=3 : 1; endrewards
rewards "left" [out] true : n; endrewards
`
)

// misread are front ends that read one text otherwise: what they take it for, the
// first difference, and where it is in ours.
var misread = []struct{ model, old, replaced, want, place string }{
	{mutableMDP, "p = 0.3", "p = 0.31", "probability in state (g=0,x=0,y=false), choice [go], to (g=0,x=1,y=false): 3/10 against 31/100", "m.prism:8:3: command [go]"},
	{mutableMDP, "N = 3", "N = 2", "in state (g=0,x=2,y=false) the choice [] to (g=1,x=3,y=false) is only in the first", "m.prism:9:3: command []"},
	{mutableMDP, "x>0 & x<N", "x>0 & x<=N", "in state (g=1,x=3,y=false) the choice [] to (g=2,x=3,y=false) is only in the second", "m.prism:9:3: command []"},
	{mutableMDP, "g : [0..2] init 0", "g : [0..2] init 1", "initial states: (g=0,x=0,y=false) against (g=1,x=0,y=false)", ""},
	{mutableMDP, "[go] x=0", "[stop] x=0", "in state (g=0,x=0,y=false) the choice [go] to (g=0,x=1,y=false) and other states, is only in the first", "m.prism:8:3: command [go]"},
	{mutableMDP, "[go] x=0", "[] x=0", "in state (g=0,x=0,y=false) the choice [go] to (g=0,x=1,y=false) and other states, is only in the first", "m.prism:8:3: command [go]"},
	{mutableMDP, "1-p:(x'=2)", "1-p:(x'=3)", "probability in state (g=0,x=0,y=false), choice [go], to (g=0,x=3,y=false): 7/10, only in the second", "m.prism:8:3: command [go]"},
	{mutableMDP, "g<2 -> (g'=g+1) & (x'", "g<2 -> (x'", "probability in state (g=0,x=1,y=false), choice [], to (g=0,x=2,y=false): 1, only in the second", "m.prism:9:3: command []"},
	{mutableMDP, "min(x+1,N)", "max(x+1,N)", "probability in state (g=0,x=1,y=false), choice [], to (g=1,x=2,y=false): 1, only in the first", "m.prism:9:3: command []"},
	{mutableMDP, "g=2 -> (x'=N)", "g=2 -> (x'=x)", "probability in state (g=2,x=1,y=true), choice [], to (g=2,x=3,y=true): 1, only in the first", "m.prism:10:3: command []"},
	{mutableMDP, "g=2 -> (x'=N)", "g>2 -> (x'=N)", "in state (g=2,x=1,y=true) the choice [] to (g=2,x=3,y=true) is only in the first", "m.prism:10:3: command []"},
	{mutableMDP, "0.5:(x'=0) + 0.5:true", "0.5:(x'=0) + 0.5:(x'=1)", "probability in state (g=1,x=3,y=false), choice [sync], to (g=1,x=3,y=false): 3/8, only in the first", "m.prism:11:3: command [sync]"},
	{mutableMDP, "1/4:(y'=true) + 3/4:true", "1/5:(y'=true) + 4/5:true", "probability in state (g=1,x=3,y=false), choice [sync], to (g=1,x=3,y=false): 3/8 against 2/5", "m.prism:11:3: command [sync]"},
	{mutableMDP, "[sync] !y", "[sync] true", "in state (g=1,x=3,y=true) the choice [sync] to (g=1,x=0,y=true) and other states, is only in the second", "m.prism:11:3: command [sync]"},
	{mutableMDP, "[sync] !y", "[alone] !y", "in state (g=0,x=0,y=false) the choice [alone] to (g=0,x=0,y=true) and other states, is only in the second", "m.prism:15:3: command [sync]"},
	{mutableMDP, "[reset] y", "[] y", "in state (g=1,x=0,y=true) the choice [reset] to (g=1,x=0,y=false) is only in the first", "m.prism:16:3: command [reset]"},
	{mutableMDP, "y -> (y'=false)", "y -> (y'=true)", "probability in state (g=1,x=0,y=true), choice [reset], to (g=1,x=0,y=true): 1, only in the second", "m.prism:16:3: command [reset]"},
	{mutableMDP, "x=N & y", "x=N | y", `label in state (g=1,x=3,y=false), "done": false against true`, `m.prism:18:16: label "done"`},
	{mutableMDP, "mod(x,2)=0", "mod(x,2)=1", `label in state (g=0,x=0,y=false), "low": true against false`, `m.prism:19:15: label "low"`},
	{mutableMDP, "busy : 1", "!busy : 1", `reward in state (g=0,x=0,y=false), of the state, "cost": 0 against 1`, `m.prism:20:1: reward "cost"`},
	{mutableMDP, "[sync] true : 2", "[sync] true : 3", `reward in state (g=1,x=3,y=false), of a choice, "cost": 2 against 3`, `m.prism:22:3: reward "cost"`},
	{mutableMDP, "[] g>0 : 1/3", "[] g>0 : 0.333333333333", "reward in state (g=1,x=2,y=false), of a choice, structure 2: 1/3 against 333333333333/1000000000000", "m.prism:25:3: reward structure 2"},
	{mutableDTMC, "1/3:(s'=s+1) + 2/3", "0.33333333333:(s'=s+1) + 0.66666666667", "probability in state (s=-1,t=-1), to (s=0,t=-1): 1/6 against 33333333333/200000000000", "m.prism:4:3: command []"},
	{mutableDTMC, "max(s-1,-2)", "max(s-1,-1)", "probability in state (s=-1,t=-1), to (s=-1,t=-1): 2/3, only in the second", "m.prism:4:3: command []"},
	{mutableDTMC, "[s=t, hop=skip]", "[s=t, hop=hop]", "probability in state (s=0,t=-1), action [hop], to (s=-2,t=-1): 9/20, only in the first", "m.prism:5:3: command [hop]"},
	{mutableDTMC, "init -1", "init 0", "initial states: (s=-1,t=-1) against (s=0,t=0)", ""},
	{mutableDTMC, "s=3 | t=3", "s=3 & t=3", `label in state (s=3,t=-1), "end": true against false`, `m.prism:8:15: label "end"`},
	{mutableDTMC, "[hop] s=2 : 5", "[hop] s=2 : 6", `reward in state (s=2,t=-1), of a transition to (s=-2,t=-1), "steps": 5 against 6`, `m.prism:11:3: reward "steps"`},
	{mutableDTMC, "[hop] s=2 : 5", "[skip] s=2 : 5", `reward in state (s=2,t=-1), of a transition to (s=-2,t=-1), "steps": 5 against 0`, `m.prism:11:3: reward "steps"`},
	{mutableCTMC, "speed = 2.5", "speed = 2.50000001", "probability in state (n=0), action [in], to (n=1): 5/2 against 250000001/100000000", "m.prism:5:3: command [in]"},
	{mutableCTMC, "3*n:(n'", "3:(n'", "probability in state (n=2), action [out], to (n=1): 7 against 4", "m.prism:6:3: command [out]"},
	{mutableCTMC, "[out] n=2 -> 1:", "[off] n=2 -> 1:", "probability in state (n=2), action [off], to (n=1): 1, only in the second", "m.prism:5:3: command [in]"},
	{mutableCTMC, "n=2 -> 1:(n'=1)", "n=2 -> 1:(n'=0)", "probability in state (n=2), action [out], to (n=0): 1, only in the second", "m.prism:5:3: command [in]"},
	{mutableCTMC, "n=3 : 1", "n>=2 : 1", `reward in state (n=2), of the state, "full": 0 against 1`, `m.prism:9:1: reward "full"`},
	{mutableCTMC, "true : n", "true : 1", `reward in state (n=2), of a transition to (n=1), "left": 2 against 1`, `m.prism:10:16: reward "left"`},
}

// misreader is a tool that reads another text than it is given.
type misreader struct {
	runner.Engine
	tool          crosscheck.StateBuilder
	old, replaced string
}

func (m *misreader) States(ctx context.Context, p *runner.Plan, v sema.Valuation) (*explicit.ToolSpace, error) {
	job := p.Job
	job.Model = []byte(strings.Replace(string(job.Model), m.old, m.replaced, 1))
	q, err := runner.PlanModel(ctx, job)
	if err != nil {
		return nil, err
	}
	return m.tool.States(ctx, q, v)
}

// builder is our own engine as if it were a tool.
type builder struct{}

func (builder) States(ctx context.Context, p *runner.Plan, _ sema.Valuation) (*explicit.ToolSpace, error) {
	m, _, err := load.Model(ctx, runner.Job{File: p.Job.File, Model: p.Job.Model})
	if err != nil {
		return nil, err
	}
	space, err := explicit.Build(ctx, m, explicit.Options{Exact: true})
	return &explicit.ToolSpace{Space: space, AllLabelsAndRewards: true, AllActions: true}, err
}

// A front end that misreads a line is found there, by its first difference.
func TestMisread(t *testing.T) { testMisread(t, builder{}) }

// The same where PRISM gets the misread text.
func TestPRISMMisread(t *testing.T) { testMisread(t, bridge.PRISM(prism(t), bridge.Options{})) }

func testMisread(t *testing.T, tool crosscheck.StateBuilder) {
	t.Helper()
	for _, tc := range misread {
		t.Run(tc.old+" as "+tc.replaced, func(t *testing.T) {
			t.Parallel()
			if strings.Count(tc.model, tc.old) != 1 {
				t.Fatalf("%q is not once in the model", tc.old)
			}
			job := runner.Job{File: "m.prism", Model: []byte(tc.model)}
			x := []runner.EngineConfig{{Label: "tool", Engine: &misreader{says("tool", fraction(1, 2)), tool, tc.old, tc.replaced}}}
			r, err := crosscheck.Models(t.Context(), job, nil, x, crosscheck.Options{})
			if err != nil {
				t.Fatal(err)
			}
			c := &r.Comparisons[0]
			if c.Verdict() != crosscheck.Different || r.ExitCode() != crosscheck.ExitDisagree {
				t.Fatalf("%s: %v, want a difference", c.Verdict(), c.Err)
			}
			place := ""
			for i := range c.Difference.Origins {
				place += c.Difference.Origins[i].String() + "; "
			}
			if got := c.Difference.String(); got != tc.want || !strings.HasPrefix(place, tc.place) {
				t.Errorf("got  %s, %s\nwant %s, %s", got, place, tc.want, tc.place)
			}
			var out strings.Builder
			if err := r.Write(&out, table.Text, table.Options{}); err != nil || !strings.Contains(out.String(), "different") {
				t.Errorf("%v\n%s", err, &out)
			}
		})
	}
}

// rounding is a tool that refuses fractions.
type rounding struct{ runner.Engine }

func (rounding) States(ctx context.Context, p *runner.Plan, v sema.Valuation) (*explicit.ToolSpace, error) {
	if p.Job.Numeric.Accuracy == result.Exact {
		return nil, &result.Failure{Class: result.Model, Message: "probabilities do not quite sum to 1"}
	}
	m, _, err := load.Model(ctx, runner.Job{File: p.Job.File, Model: p.Job.Model})
	if err != nil {
		return nil, err
	}
	space, err := explicit.Build(ctx, m, explicit.Options{})
	return &explicit.ToolSpace{Space: space, AllLabelsAndRewards: true, AllActions: true}, err
}

// What both refuse with fractions is compared in doubles; what only the tool refuses is different.
func TestAlmostOne(t *testing.T) {
	for p, want := range map[string]crosscheck.Equal{"0.4999999999995": crosscheck.Same, "0.5": crosscheck.Different} {
		job := runner.Job{File: "m.prism", Model: []byte("dtmc module M s:[0..2] init 0; [] s=0 -> 0.5:(s'=1)+" + p + ":(s'=2); [] s>0 -> true; endmodule")}
		x := []runner.EngineConfig{{Label: "tool", Engine: rounding{says("tool", fraction(1, 2))}}}
		r, err := crosscheck.Models(t.Context(), job, nil, x, crosscheck.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c := &r.Comparisons[0]; c.Verdict() != want {
			t.Errorf("%s: %s, want %s: %s", p, c.Verdict(), want, &c.Diagnosis)
		}
	}
}
