package native_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"tilecheck/bridge"
	"tilecheck/internal/needs"
	"tilecheck/internal/wild"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
	"tilecheck/runner/local"
)

// Strictly between 1 and 2 seconds after the start, a message is sent, which arrives with 0.8. The watch y is reset with each message.
const sending = `pta
module m
  l : [0..2]; x : clock; y : clock;
  invariant (l=0 => x<2) & (l=1 => x<=0) endinvariant
  [] l=0 & x>1 -> 0.8:(l'=1)&(x'=0) + 0.2:(l'=0)&(x'=0)&(y'=0);
  [] l=1 & y<3 -> (l'=2);
  [] l=1 & y>=3 -> (l'=1)&(y'=0)&(x'=0);
endmodule
label "arrived" = l=2;
`

// TestClockRegions checks values of strict and diagonal constraints that follow from a calculation by hand: the n-th message is sent at a time strictly
// between n and 2n.
func TestClockRegions(t *testing.T) {
	for property, want := range map[string]string{
		`Pmax=? [ F "arrived" ]`:        "1",
		`Pmin=? [ F "arrived" ]`:        "1",
		`Pmax=? [ F<=1 "arrived" ]`:     "0",       // the first one is after 1
		`Pmax=? [ F<=2 "arrived" ]`:     "4/5",     // the second one is after 2
		`Pmax=? [ F<3 "arrived" ]`:      "24/25",   // two are possible
		`Pmax=? [ F<=3 "arrived" ]`:     "24/25",   // and the third one is after 3
		`Pmin=? [ F<2 "arrived" ]`:      "4/5",     // the first one is before 2
		`Pmin=? [ F<=3 "arrived" ]`:     "4/5",     // the second one need not be before 3,
		`Pmin=? [ F<4 "arrived" ]`:      "24/25",   // but it is before 4
		`Pmax=? [ F<=4 "arrived" ]`:     "124/125", // the third one can be
		`Pmax=? [ F x>=2 ]`:             "1",       // after the arrival
		`Pmax=? [ F l=0 & x>=2 ]`:       "0",
		`Pmax=? [ F l=1 & y>1 & y<2 ]`:  "1",
		`Pmax=? [ F l=1 & y<=1 ]`:       "0",
		`Pmax=? [ F l=0 & x!=y ]`:       "0", // both are reset together
		`Pmax=? [ F l=1 & x>=y ]`:       "0",
		`Pmin=? [ F l=2 & x<y ]`:        "1",
		`Pmax=? [ F l=2 & x=y ]`:        "0",
		`Pmin=? [ G<=1 l=0 ]`:           "1",
		`Pmin=? [ G<2 l=0 ]`:            "1/5", // the first one leaves l=0 before 2
		`Pmax=? [ l=0 U<2 "arrived" ]`:  "0",
		`P>=0.8 [ F<=2 "arrived" ]`:     "true",
		`Pmax=? [ F<2 y>1 & "arrived"]`: "4/5",
	} {
		for _, clocks := range []runner.ClockMethod{runner.ClockRegions, runner.ClockZones, ""} {
			if got := clockAnswer(checkClocks(t, sending, []string{property}, clocks)[0]); got != want {
				t.Errorf("%s with %q: %s, want %s", property, clocks, got, want)
			}
		}
	}
}

// clockAnswer returns the text of a fraction, a truth value or an error.
func clockAnswer(verdict result.Verdict) string {
	switch {
	case verdict.Err != nil:
		return verdict.Err.Error()
	case verdict.Value.Kind == result.Boolean:
		return fmt.Sprint(verdict.Value.Bool)
	}
	return verdict.Value.Rat.RatString()
}

// checkClocks checks the properties of a model with a representation of clocks.
func checkClocks(t *testing.T, text string, properties []string, clocks runner.ClockMethod) []result.Verdict {
	t.Helper()
	verdicts, err := runner.Check(t.Context(), native.New(), runner.Job{
		File: "m.prism", Model: []byte(text), Props: properties,
		Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact, Clocks: clocks}},
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return verdicts
}

// TestClockRegionsAgree: regions and digital clocks have the same fractions of automata with closed constraints.
func TestClockRegionsAgree(t *testing.T) {
	clocksAgree(t, wild.Timed, needs.Some(600), runner.DigitalClocks, runner.ClockRegions)
}

// TestClockZonesAgree: zones have the same fractions as digital clocks or, of automata with strict constraints and comparisons of two clocks, regions.
func TestClockZonesAgree(t *testing.T) {
	clocksAgree(t, wild.Timed, needs.Some(300), runner.DigitalClocks, runner.ClockZones)
	clocksAgree(t, wild.TimedOpen, needs.Some(200), runner.ClockRegions, runner.ClockZones)
}

// clocksAgree compares the probabilities of random automata with two representations of clocks. Seed 3 is fixed.
func clocksAgree(t *testing.T, newModel func(seed, number uint64, n int) wild.Model, models int, first, second runner.ClockMethod) {
	t.Helper()
	compared, between := 0, 0
	for i := range models {
		model := newModel(3, uint64(i), 6)
		var properties []string
		for _, property := range model.Props {
			if !strings.HasPrefix(property, "P") {
				continue
			}
			properties = append(properties, property)
			if globally := strings.Replace(property, "[ F", "[ G", 1); first != runner.DigitalClocks { // else the constraints of the negation are strict
				properties = append(properties, globally)
			}
		}
		ofFirst := checkClocks(t, model.Text, properties, first)
		ofSecond := checkClocks(t, model.Text, properties, second)
		for k := range ofFirst {
			if (ofFirst[k].Err == nil) != (ofSecond[k].Err == nil) {
				t.Errorf("%s: %v with %s, %v with %s\n%s", properties[k], ofFirst[k].Err, first, ofSecond[k].Err, second, model.Text)
				continue
			}
			if ofFirst[k].Err != nil {
				continue
			}
			compared++
			if want, got := clockAnswer(ofFirst[k]), clockAnswer(ofSecond[k]); want != got {
				t.Errorf("%s: %s with %s, %s with %s\n%s", properties[k], want, first, got, second, model.Text)
			}
			if value := ofFirst[k].Value.Rat; value != nil && value.Sign() > 0 && value.Cmp(big.NewRat(1, 1)) < 0 {
				between++
			}
		}
	}
	if compared < 3*models || between < models/4 {
		t.Errorf("compared %d values, of which %d are neither 0 nor 1", compared, between)
	}
}

// TestInactiveClock: the value of x does not matter after l=0, so the number of states is not the product of the values of both clocks.
func TestInactiveClock(t *testing.T) {
	const model = `pta
module m
  l : [0..2]; x : clock; y : clock;
  invariant (l=0 => x<=100) & (l=1 => y<=100) endinvariant
  [] l=0 & x>0 -> 0.5:(l'=1)&(y'=0) + 0.5:(l'=0)&(x'=0)&(y'=0);
  [] l=1 & y>=100 -> (l'=2);
endmodule
`
	verdict := checkClocks(t, model, []string{"Pmin=? [ F l=2 ]"}, runner.ClockRegions)[0]
	if verdict.Err != nil || verdict.Value.Num != 1 || verdict.States > 1000 {
		t.Errorf("%v %v with %d states, want 1 with at most 1000", verdict.Value, verdict.Err, verdict.States)
	}
}

// TestClockRegionsPRISM compares probabilities of TILECHECK_MODELS (three) random automata with those of PRISM's stochastic games.
func TestClockRegionsPRISM(t *testing.T) {
	tool, err := local.New(needs.PRISM(t))
	if err != nil {
		t.Fatal(err)
	}
	games := bridge.PRISM(tool, bridge.Options{Limits: runner.Limits{Time: time.Minute}, Args: []string{"-ptamethod", "games"}})
	seed := needs.Number(t, "TILECHECK_SEED", uint64(time.Now().UnixNano()))
	compared, unanswered := 0, 0
	for i := range needs.AllModels(t, 3) {
		model := wild.TimedOpen(seed, i, 6)
		readsClock := func(property string) bool { return strings.Contains(property, "&") } // PRISM refuses these
		properties := slices.DeleteFunc(model.Props, readsClock)
		if len(properties) == 0 {
			continue
		}
		ours := checkClocks(t, model.Text, properties, "")
		theirs, err := runner.Check(t.Context(), games, runner.Job{File: "m.prism", Model: []byte(model.Text), Props: properties})
		if err != nil {
			t.Fatalf("seed %d, model %d: %v\n%s", seed, i, err, model.Text)
		}
		for k := range ours {
			if theirs[k].Err != nil { // such as its time limit
				unanswered++
				continue
			}
			compared++
			if !alike(&ours[k], &theirs[k]) {
				t.Errorf("seed %d, model %d: %s: %v (%v), PRISM has %v (%v)\n%s", seed, i, properties[k], ours[k].Value, ours[k].Err, theirs[k].Value, theirs[k].Err, model.Text)
			}
		}
	}
	t.Logf("seed %d: %d values compared, %d without an answer of PRISM", seed, compared, unanswered)
}
