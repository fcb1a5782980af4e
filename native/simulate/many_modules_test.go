package simulate

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"
)

// manyModules returns a model of n modules that share an action. Each module moves to one of three values, two of which are equal in module 0.
func manyModules(kind string, n int) string {
	text := kind + "\nmodule m0 x0:[0..3]; [a] x0=0 -> 0.2:(x0'=1) + 0.3:(x0'=1) + 0.5:(x0'=3); endmodule\n"
	for i := 1; i < n; i++ {
		text += fmt.Sprintf("module m%[1]d x%[1]d:[0..3]; [a] x%[1]d=0 -> 0.2:(x%[1]d'=1) + 0.3:(x%[1]d'=2) + 0.5:(x%[1]d'=3); endmodule\n", i)
	}
	return text
}

// Paths of models whose modules have too many combinations of updates are drawn module by module: 3^24 are not multiplied out. The probability of a step
// is the product of those of the modules, a record of the path is followed, and the stepper lists some of the transitions and counts them all.
func TestPathsOfManyModules(t *testing.T) {
	const n = 24
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	weights := [4]float64{0, 0.2, 0.3, 0.5}
	for _, kind := range []string{"dtmc", "ctmc", "mdp"} {
		source := FromModel(load(t, manyModules(kind, n)).Model)
		counts, meanTime := [4]float64{}, 0.0
		const paths = 2000
		for index := range uint64(paths) {
			stepper, err := NewStepper(ctx, source, index)
			must(t, err)
			must(t, stepper.JumpTo(1))
			visit := stepper.Current()
			want := 1.0
			for i, value := range visit.State {
				if i == 0 && value == 1 {
					want *= 0.5 // of two updates
				} else {
					want *= weights[value]
				}
				counts[value] += float64(min(i, 1))
			}
			meanTime += visit.Time / paths
			if got := visit.Incoming.Probability; math.Abs(got-want) > 1e-12*want {
				t.Fatalf("%s: the probability of %v is %v, want %v", kind, visit.State, got, want)
			}
			if path := Walk(ctx, source, PathOptions{Record: stepper.Record()}); index == 0 {
				steps := 0
				for range path.Visits() {
					steps++
				}
				if steps != 2 || path.Err != nil {
					t.Errorf("%s: the record has %d states, error %v, want 2", kind, steps, path.Err)
				}
			}
		}
		for value, p := range weights {
			const draws = paths * (n - 1)
			if math.Abs(counts[value]/draws-p) > 5*math.Sqrt(p*(1-p)/draws) {
				t.Errorf("%s: the frequency of %d is %v, want %v", kind, value, counts[value]/draws, p)
			}
		}
		if kind == "ctmc" && math.Abs(meanTime-1) > 5/math.Sqrt(paths) {
			t.Errorf("the mean sojourn time is %v, want 1", meanTime)
		}
		stepper, err := NewStepper(ctx, source, 1)
		must(t, err)
		options, total, err := stepper.Options()
		must(t, err)
		seen := map[string]bool{}
		for _, option := range options {
			seen[fmt.Sprint(option.Target)] = true
		}
		if len(options) != 100 || len(seen) != 100 || total.String() != "188286357654" { // 2 * 3^23
			t.Errorf("%s: found %d options, %d different, of %v", kind, len(options), len(seen), total)
		}
		must(t, stepper.Take(&options[99]))
		if probability := stepper.Current().Incoming.Probability; probability <= 0 {
			t.Errorf("%s: the option has the probability %v", kind, probability)
		}
	}
	// The updates with probability 0 do not count: the step is a deterministic self-loop.
	certain := "dtmc\n"
	for i := range n {
		certain += fmt.Sprintf("module m%[1]d x%[1]d:[0..1]; [a] true -> 1:(x%[1]d'=0) + 0:(x%[1]d'=1); endmodule\n", i)
	}
	path := Walk(ctx, FromModel(load(t, certain).Model), PathOptions{Steps: 1000})
	for range path.Visits() {
	}
	if path.End != AtLoop || path.Err != nil {
		t.Errorf("the path ends at %v with %v, want a loop", path.End, path.Err)
	}
}

// A row of a record that no module can reach is refused, with some steps that are possible.
func TestRecordOfManyModules(t *testing.T) {
	source := FromModel(load(t, manyModules("dtmc", 24)).Model)
	stepper, err := NewStepper(t.Context(), source, 1)
	must(t, err)
	must(t, stepper.JumpTo(1))
	record := stepper.Record()
	record.rows[1].state[7] = 0 // each module moves away from 0
	path := Walk(t.Context(), source, PathOptions{Record: record})
	for range path.Visits() {
	}
	if path.Err == nil || path.End != AtError {
		t.Errorf("the path ends at %v with %v, want an error", path.End, path.Err)
	}
}
