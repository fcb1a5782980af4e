package splitting_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

// rareEvent is a property whose value is small and known: from the states of the model or, if these are too many, of another model
// with the same value.
type rareEvent struct {
	name, model, property string
	small                 string // the model with the same value; empty for model
	slow                  bool   // takes seconds
}

// clocks returns the modules of independent components that go through 100 states each.
func clocks(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "module c%d c%d : [0..99]; [] true -> 0.1 : (c%d'=mod(c%d+1,100)); endmodule\n", i, i, i, i)
	}
	return text.String()
}

const (
	gambler = "dtmc module g x : [0..70] init 1; [] x>0 & x<70 -> 0.4:(x'=x+1) + 0.6:(x'=x-1); [] x=0 | x=70 -> true; endmodule"
	queue   = "ctmc module q x : [0..20] init 1; [] x<20 -> 1:(x'=x+1); [] x>0 -> 4:(x'=x-1); endmodule\n"
	tandem  = `ctmc
module a a : [0..12] init 0; [in] a<12 -> 1:(a'=a+1); [go] a>0 -> 4:(a'=a-1); endmodule
module b b : [0..12] init 1; [go] b<12 -> 1:(b'=b+1); [out] b>0 -> 6:(b'=b-1); endmodule
`
	// Three pairs of disks and a controller; two failures in one pair lose the data. Repair of a disk takes an hour.
	database = `ctmc
module d
  a : [0..3] init 0; b : [0..3] init 0; c : [0..3] init 0;
  [] a<3 -> (3-a)*0.0005:(a'=a+1); [] a>0 -> 1:(a'=a-1);
  [] b<3 -> (3-b)*0.0005:(b'=b+1); [] b>0 -> 1:(b'=b-1);
  [] c<3 -> (3-c)*0.0005:(c'=c+1); [] c>0 -> 1:(c'=c-1);
endmodule
label "lost" = a=3 | b=3 | c=3;
`
	bits = `dtmc
module m
  n : [0..40]; end : bool;
  [] n<40 & !end -> 0.5:(n'=n+1) + 0.5:(end'=true);
  [] n=40 | end -> true;
endmodule
`
	voters = `dtmc
module m
  x : [0..60] init 30;
  [] x>0 & x<60 -> 0.35:(x'=x+1) + 0.65:(x'=x-1);
  [] x=0 | x=60 -> true;
endmodule
`
	random = `mdp
module m
  x : [0..40] init 1;
  [slow] x>0 & x<40 -> 0.3:(x'=x+1) + 0.7:(x'=x-1);
  [fast] x>0 & x<40 -> 0.4:(x'=min(x+1,40)) + 0.6:(x'=x-1);
  [] x=0 | x=40 -> true;
endmodule
`
	randomChain = "dtmc module m x : [0..40] init 1; [] x>0 & x<40 -> 0.35:(x'=x+1) + 0.65:(x'=x-1); [] x=0 | x=40 -> true; endmodule"
)

// coins returns the modules of coins that are thrown in each step with the action a.
func coins(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "module f%d f%d : bool; [a] true -> 0.5 : (f%d'=true) + 0.5 : (f%d'=false); endmodule\n", i, i, i, i)
	}
	return text.String()
}

// throwing is a random walk whose steps have the action a.
const throwing = "dtmc module m x : [0..6] init 1; [a] x>0 & x<6 -> 0.35:(x'=x+1) + 0.65:(x'=x-1); [] x=0 | x=6 -> true; endmodule\n"

var rareEvents = []rareEvent{
	{name: "gambler's ruin", model: gambler, property: "P=? [ F x=70 ]", slow: true},
	{name: "queue in a busy period", model: queue, property: "P=? [ x>0 U x=20 ]"},
	{name: "queue within a time", model: queue, property: "P=? [ F<=20 x=20 ]"},
	{name: "tandem queue", model: tandem, property: "P=? [ b>0 U b=12 ]"},
	{name: "tandem queue within a time", model: tandem, property: "P=? [ F<=5 a+b=16 ]"},
	{name: "database within a time", model: database, property: `P=? [ F<=10 "lost" ]`},
	{name: "bits", model: bits, property: "P=? [ F n=40 ]"},
	{name: "walk within a number of steps", model: voters, property: "P=? [ F<=200 x=60 ]", slow: true},
	{name: "random choices", model: random, property: "P=? [ F x=40 ]", small: randomChain, slow: true},
	{name: "walk with 2^18 combinations of updates", model: throwing + coins(17), property: "P=? [ F x=6 ]", small: throwing},
	{name: "queue among 10^12 states", model: queue + clocks(6), property: "P=? [ x>0 U x=14 ]", small: queue, slow: true},
}

// split estimates a rare event with a seed, by a variant of importance splitting.
func (r *rareEvent) split(t *testing.T, method runner.Method, settings runner.Simulation) *result.Verdict {
	t.Helper()
	job := runner.Job{File: "m.prism", Model: []byte(r.model), Props: []string{r.property}, Settings: runner.Settings{Method: method, Simulation: settings}}
	verdicts, err := runner.Check(t.Context(), native.New(), job)
	if err != nil {
		t.Fatal(err)
	}
	return &verdicts[0]
}

// value returns the value of a rare event that was computed from states.
func (r *rareEvent) value(t *testing.T) float64 {
	t.Helper()
	model := r.small
	if model == "" {
		model = r.model
	}
	verdicts, err := runner.Check(t.Context(), native.New(), runner.Job{File: "m.prism", Model: []byte(model), Props: []string{r.property}})
	if err != nil || verdicts[0].Err != nil {
		t.Fatal(r.name, err, verdicts)
	}
	return verdicts[0].Value.Num
}

// methods are the variants of importance splitting.
var methods = []runner.Method{runner.Splitting, runner.Restart}

// The estimates are within the half-width of confidence 1 - 1e-6 around the values of the states. A new seed raises a false alarm with
// a probability of about 2e-5.
func TestRareEvents(t *testing.T) {
	for i := range rareEvents {
		rare := &rareEvents[i]
		for _, method := range methods {
			t.Run(rare.name+" by "+string(method), func(t *testing.T) {
				if rare.slow {
					needs.Full(t)
				}
				t.Parallel()
				settings := runner.Simulation{Seed: 11, Samples: 25, Confidence: 1 - 1e-6}
				if needs.IsFull() {
					settings.Samples = 100
				}
				checkEstimate(t, rare.split(t, method, settings), rare.value(t))
			})
		}
	}
}

// checkEstimate checks that an estimate has a nominal interval that contains the value.
func checkEstimate(t *testing.T, got *result.Verdict, want float64) {
	t.Helper()
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	t.Logf("%.4g ± %.2g, want %.4g, %.1f s", got.Value.Num, *got.HalfWidth, want, got.Seconds)
	if math.Abs(got.Value.Num-want) > *got.HalfWidth {
		t.Errorf("%v ± %v, want %v", got.Value.Num, *got.HalfWidth, want)
	}
	if got.Accuracy != result.Probable || got.Bound != nil {
		t.Errorf("accuracy %v with the bound %v, want a nominal interval", got.Accuracy, got.Bound)
	}
}
