package native_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// TestExtensionSampling: valid intervals of random chains contain the fraction, for conditional probabilities, discounted rewards and bounds on rewards.
func TestExtensionSampling(t *testing.T) {
	compared, models := 0, needs.Some(30)
	for i := range models {
		rng := rand.New(rand.NewPCG(uint64(i), 10))
		job := runner.Job{File: "m.prism", Model: []byte(randomRewards(rng, "dtmc")), Dialect: syntax.Storm, Props: append(extensionProperties(rng, "dtmc"), conditionalRewards(rng)...)}
		exactJob := job
		exactJob.Numeric.Accuracy = result.Exact
		want, err := runner.Check(t.Context(), native.New(), exactJob)
		if err != nil {
			t.Fatal(err)
		}
		job.Props, want = definedOf(job.Props, want)
		job.Method = runner.CI
		job.Simulation = runner.Simulation{Samples: 2000, Confidence: 0.99999, Seed: uint64(i), MaxReward: 400}
		got, err := runner.Check(t.Context(), native.New(), job)
		if err != nil {
			t.Fatal(err)
		}
		for k := range got {
			if want[k].Value.Rat == nil || got[k].Err != nil {
				if got[k].Err != nil && !isExpectedOfSampling(got[k].Err.Message) {
					t.Errorf("model %d: %s: %v\n%s", i, got[k].Property, got[k].Err, job.Model)
				}
				continue
			}
			value, _ := want[k].Value.Rat.Float64()
			compared++
			if bound := got[k].Bound; bound == nil || value < bound.Lo-1e-9 || value > bound.Hi+1e-9 || math.IsNaN(got[k].Value.Num) {
				t.Errorf("model %d: %s: %v in %v, want %v\n%s", i, got[k].Property, got[k].Value.Num, bound, value, job.Model)
			}
		}
	}
	t.Logf("%d values compared", compared)
	if compared < 3*models {
		t.Errorf("only %d values compared", compared)
	}
}

// isExpectedOfSampling reports whether sampling refuses a property by name, or cannot decide its paths.
func isExpectedOfSampling(message string) bool {
	for _, part := range []string{"(no LTL)", "simulation wants", "at most nine decimal places", "was not decided after", "never reaches the target of the reward", "satisfies the condition behind ||", "not precise enough", "samples are"} {
		if strings.Contains(message, part) {
			return true
		}
	}
	return false
}

// conditionalRewards returns random conditional rewards and rewards with bounds on rewards, of the models of randomRewards.
func conditionalRewards(rng *rand.Rand) []string {
	condition := []string{"F s=1", "s<3 U s=2", "G s!=3", "F<=3 s=1"}[rng.IntN(4)]
	return []string{
		fmt.Sprintf(`R{"c"}=? [ F s=2 || %s ]`, condition), fmt.Sprintf(`R{"c"}=? [ C<=%d || %s ]`, rng.IntN(6), condition),
		fmt.Sprintf(`R{"c"}=? [ I=%d || %s ]`, rng.IntN(4), condition), fmt.Sprintf(`R{"c"}=? [ C{"c"}<=%d ]`, rng.IntN(8)),
	}
}

// definedOf returns the properties that have a value, and their verdicts. A condition of probability 0 would reject all paths.
func definedOf(properties []string, verdicts []result.Verdict) (defined []string, values []result.Verdict) {
	for k, verdict := range verdicts {
		if verdict.Err == nil {
			defined, values = append(defined, properties[k]), append(values, verdict)
		}
	}
	return defined, values
}
