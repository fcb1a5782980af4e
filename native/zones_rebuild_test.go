package native_test

import (
	"strings"
	"testing"

	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

// Within a time of 5 one command reaches the target with probability 1/2. Within a time of 2 another one has a probability that is greater by 1/10^19, which
// is no difference of float64 numbers.
const nearlyEqual = `pta
module m
  l : [0..3]; x : clock;
  invariant (l=0 => x<=9) & (l=1 => x<=5) endinvariant
  [] l=0 & x>=1 -> (l'=1)&(x'=0);
  [] l=1 & x<=5 -> 0.5:(l'=2) + 0.5:(l'=3);
  [] l=1 & x<=2 -> 0.5000000000000000001:(l'=2) + 0.4999999999999999999:(l'=3);
endmodule
`

// TestZonesRebuilt: the first MDP of zones leaves out the better command, and another MDP, which contains it, has another fraction. So a third MDP with
// all zones is built.
func TestZonesRebuilt(t *testing.T) {
	for property, want := range map[string]string{
		"Pmax=? [ F l=2 ]":                       "5000000000000000001/10000000000000000000",
		"Pmin=? [ G l!=2 ]":                      "4999999999999999999/10000000000000000000",
		"P>=0.5000000000000000001 [ F<=14 l=2 ]": "false",
		"P<=0.5 [ F l=2 ]":                       "false",
	} {
		verdict := checkClocks(t, nearlyEqual, []string{property}, runner.ClockZones)[0]
		if got := clockAnswer(verdict); got != want {
			t.Errorf("%s: %s, want %s", property, got, want)
		}
		if got := clockAnswer(checkClocks(t, nearlyEqual, []string{property}, runner.DigitalClocks)[0]); got != want {
			t.Errorf("%s with digital clocks: %s, want %s", property, got, want)
		}
	}
}

// TestZonesMemory: the limit of memory holds for zones.
func TestZonesMemory(t *testing.T) {
	model := strings.Replace(switching, "const int SECOND;", "const int SECOND = 1;", 1)
	for memory, isTooLarge := range map[int64]bool{30_000: true, 1 << 26: false} {
		verdicts, err := runner.Check(t.Context(), native.New(), runner.Job{
			File: "m.prism", Model: []byte(model), Props: []string{`Pmax=? [ F<=300 "on" ]`},
			Settings: runner.Settings{Numeric: runner.Numeric{Clocks: runner.ClockZones, MaxMemory: memory}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if failure := verdicts[0].Err; (failure != nil) != isTooLarge || isTooLarge && (failure.Class != result.Memory || !strings.Contains(failure.Message, "of memory")) {
			t.Errorf("%d bytes: %v", memory, failure)
		}
	}
}
