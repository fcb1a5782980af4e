package simulate

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"
)

// TestStepperDrawsWhatWalkDraws compares random steps with the path of the same seed, for models with and without times.
func TestStepperDrawsWhatWalkDraws(t *testing.T) {
	for _, text := range []string{
		"mdp\nmodule m s:[0..9]; [a] true -> 0.5:(s'=mod(s+1,10)) + 0.5:(s'=0); [b] true -> (s'=mod(s+2,10)); endmodule\n",
		"ctmc\nmodule m s:[0..9]; [] true -> 2:(s'=mod(s+1,10)) + 3:(s'=0); endmodule\n",
		"dtmc\nmodule m s:[0..9]; [] true -> 0.5:(s'=mod(s+1,10)) + 0.5:(s'=0); [] s=0 -> (s'=5); endmodule\n",
	} {
		source := FromModel(load(t, text).Model)
		var want, got bytes.Buffer
		options := TableOptions{Probs: true}
		must(t, WriteTable(&want, Walk(context.Background(), source, PathOptions{Steps: 30, Seed: 5}), options))
		stepper, err := NewStepper(context.Background(), source, 5)
		must(t, err)
		must(t, stepper.JumpTo(30))
		must(t, WriteTable(&got, Walk(context.Background(), source, PathOptions{Record: stepper.Record()}), options))
		if got.String() != want.String() {
			t.Errorf("%s: got\n%s\nwant\n%s", text, got.String(), want.String())
		}
	}
}

// TestStepperOptions checks the transitions of a state, the step that is taken, and the way back.
func TestStepperOptions(t *testing.T) {
	source := FromModel(load(t, "mdp\nmodule m s:[0..3]; [a] s=0 -> 0.25:(s'=1) + 0.75:(s'=2); [] s=0 -> (s'=3); endmodule\nmodule n [a] true -> true; endmodule\n").Model)
	stepper, err := NewStepper(context.Background(), source, 1)
	must(t, err)
	options, total, err := stepper.Options()
	must(t, err)
	var shown []string
	for _, option := range options {
		shown = append(shown, option.Action+" "+strings.Join(option.Modules, ","))
	}
	if want := []string{"m m", "[a] m,n", "[a] m,n"}; !reflect.DeepEqual(shown, want) {
		t.Fatalf("options %q, want %q", shown, want)
	}
	if total.Int64() != 3 {
		t.Errorf("found %v transitions, want 3", total)
	}
	if options[1].Probability != 0.25 || options[2].Probability != 0.75 {
		t.Errorf("probabilities %g and %g, want 0.25 and 0.75", options[1].Probability, options[2].Probability)
	}
	must(t, stepper.Take(&options[2]))
	if visit := stepper.Current(); visit.Number != 1 || visit.State[0] != 2 || visit.Incoming.Probability != 0.75 {
		t.Errorf("after the step: %+v", visit)
	}
	if options, total, err = stepper.Options(); err != nil || len(options) != 0 || total.Sign() != 0 {
		t.Errorf("a deadlock has %d transitions, error %v", len(options), err)
	}
	if more, err := stepper.Random(); more || err != nil {
		t.Errorf("a random step from a deadlock: %v, %v", more, err)
	}
	must(t, stepper.JumpTo(0))
	if visit := stepper.Current(); visit.Number != 0 || visit.State[0] != 0 {
		t.Errorf("after going back: %+v", visit)
	}
}
