//go:build !js

package native

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/check"
	"tilecheck/native/load"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/runner"
)

// refinedStates is an instance that only asks one method for large models. It has no verdict for a property that this method does not answer.
type refinedStates struct {
	*partialStates
	refiner func(*partialStates, *checkedProperty) refiner // nil for a property that is not supported
}

// check implements instance.
func (refined refinedStates) check(ctx context.Context, property *checkedProperty) result.Verdict {
	if refiner := refined.refiner(refined.partialStates, property); refiner != nil {
		if verdict, ok := refiner.check(ctx); ok {
			return verdict
		}
	}
	return result.Verdict{Err: &result.Failure{Class: result.Unsupported, Message: "not answered"}}
}

// hidingRefiner returns the method that hides variables for a property, or nil.
func hidingRefiner(partial *partialStates, property *checkedProperty) refiner {
	if refinement := partial.newRefinement(property); refinement != nil {
		return refinement
	}
	return nil
}

// checkByRefiner checks the properties of a job with one method for large models only.
func checkByRefiner(t *testing.T, job runner.Job, refiner func(*partialStates, *checkedProperty) refiner) []result.Verdict {
	t.Helper()
	return checkBuilt(t, job, func(r *run, method *statesMethod) buildFunc {
		return func(constants sema.Valuation) (*sema.Program, instance, error) {
			model, err := load.Instance(r.plan, constants)
			if err != nil {
				return nil, nil, err
			}
			space, err := explicit.Build(t.Context(), model, explicit.Options{Part: 1})
			if err != nil {
				return nil, nil, err
			}
			partial := &partialStates{statesMethod: method, model: model, firstSpace: space, firstStates: check.New(model, space, method.opt)}
			return model.Program(), refinedStates{partial, refiner}, nil
		}
	})
}

// randomHidingModel returns a model of two modules. Its guards and updates have many flags, which need not matter for the place x.
func randomHidingModel(r *rand.Rand) string {
	const numFlags = 5
	var b strings.Builder
	b.WriteString("mdp\nglobal x : [0..4];\n")
	for i := range numFlags {
		if i%2 == 0 {
			fmt.Fprintf(&b, "global f%d : bool init %v;\n", i, r.IntN(2) == 0)
		} else {
			fmt.Fprintf(&b, "global f%d : [0..1];\n", i)
		}
	}
	condition := func() string {
		flag := r.IntN(numFlags)
		if flag%2 == 0 {
			return fmt.Sprintf([]string{"f%d", "!f%d"}[r.IntN(2)], flag)
		}
		return fmt.Sprintf([]string{"f%d=1", "f%d<1", "f%d+x>1"}[r.IntN(3)], flag)
	}
	update := func() string {
		updates := []string{fmt.Sprintf("(x'=%d)", r.IntN(5)), fmt.Sprintf("(f0'=%s)", condition()), "(f1'=1-f3)", fmt.Sprintf("(f2'=%v)", r.IntN(2) == 0), "(f3'=min(x,1))", "(f4'=true)", "(f4'=f0)"}
		return updates[r.IntN(2)*r.IntN(len(updates))] + fmt.Sprintf("&(l%s'=%d)", "MODULE", r.IntN(2))
	}
	for _, module := range []string{"a", "b"} {
		fmt.Fprintf(&b, "module %s\nl%s : [0..1];\n", module, module)
		var commands strings.Builder
		for x := range 4 {
			for range 1 + r.IntN(2) {
				guard := fmt.Sprintf("x=%d", x)
				for range r.IntN(3) {
					guard += " & " + condition()
				}
				fmt.Fprintf(&commands, "[] %s -> 1/4:%s + 3/4:%s;\n", guard, update(), update())
			}
		}
		// A step of both modules: shared actions write no global variables.
		fmt.Fprintf(&commands, "[go] lMODULE=0 & %s -> 1/3:(lMODULE'=1) + 2/3:true;\n[] lMODULE=1 & x<4 -> 1/2:(x'=x+1) + 1/2:(lMODULE'=0);\n", condition())
		b.WriteString(strings.ReplaceAll(commands.String(), "MODULE", module))
		b.WriteString("endmodule\n")
	}
	b.WriteString("label \"end\" = x=4 & f0;\n")
	return b.String()
}

// TestHiddenVariables compares the answers that few variables have with those of the whole model.
func TestHiddenVariables(t *testing.T) {
	t.Parallel()
	compareWithAllStates(t, hidingRefiner)
}

// TestOptimisticSearch compares the answers of an optimistic search with those of the whole model.
func TestOptimisticSearch(t *testing.T) {
	t.Parallel()
	compareWithAllStates(t, optimisticRefiner)
}

// compareWithAllStates compares the answers of a method for large models with those of all states, for random models.
func compareWithAllStates(t *testing.T, refiner func(*partialStates, *checkedProperty) refiner) {
	t.Helper()
	seed := needs.Number(t, "TILECHECK_SEED", 1)
	numRefined, numBetween := 0, 0
	for i := range needs.Some(uint64(300)) {
		r := rand.New(rand.NewPCG(seed, i))
		job := runner.Job{
			File: "m.prism", Model: []byte(randomHidingModel(r)),
			Props: []string{"Pmax=? [ F x=4 ]", "Pmax=? [ x<3 U x=3 & f2 ]", `Pmax=? [ F "end" ]`, "Pmax=? [ la=0 U lb=1 & x=2 ]"},
		}
		if i%2 == 0 {
			job.Settings.Numeric.Accuracy = result.Exact
		}
		whole, err := runner.Check(t.Context(), New(), job)
		if err != nil {
			t.Fatal(err)
		}
		for k, refined := range checkByRefiner(t, job, refiner) {
			if refined.Err != nil {
				continue
			}
			numRefined++
			if value := whole[k].Value.Num; value > 0 && value < 1 {
				numBetween++
			}
			isEqual := whole[k].Err == nil && refined.Accuracy == whole[k].Accuracy
			if isEqual && refined.Accuracy == result.Exact {
				isEqual = refined.Value.Rat.Cmp(whole[k].Value.Rat) == 0
			} else if isEqual {
				isEqual = refined.Bound.Lo <= whole[k].Bound.Hi && refined.Bound.Hi >= whole[k].Bound.Lo && refined.Bound.Hi-refined.Bound.Lo <= 1e-8*refined.Bound.Hi
			}
			if !isEqual {
				t.Errorf("model %d, %s: %v in %v without all states, %v in %v, %v with all states\n%s", i, refined.Property, refined.Value, refined.Bound, whole[k].Value, whole[k].Bound, whole[k].Err, job.Model)
			}
		}
	}
	if numRefined < 20 || numBetween < 5 {
		t.Errorf("%d properties were answered without all states, %d of them between 0 and 1: too few for a test", numRefined, numBetween)
	}
	t.Logf("%d properties were answered without all states, %d of them between 0 and 1", numRefined, numBetween)
}

// road is a model of a car on a road of n places. Each place but two has a spare tyre, and each step may need one.
func road(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "mdp\nmodule car\nx : [0..%d];\nflat : bool;\nspare : bool;\n", n)
	for i := range n {
		fmt.Fprintf(&b, "s%d : bool init true;\n", i)
	}
	b.WriteString("[] flat & spare -> 1/2:(flat'=false)&(spare'=false) + 1/2:true;\n")
	for i := range n {
		fmt.Fprintf(&b, "[] x=%d & !flat -> 1/2:(x'=%d)&(flat'=true) + 1/2:(x'=%d);\n", i, i+1, i+1)
		if i > 0 {
			fmt.Fprintf(&b, "[] x=%d & !flat -> 1/2:(x'=%d)&(flat'=true) + 1/2:(x'=%d);\n", i, i-1, i-1)
		}
		if i != 1 && i != 2 {
			fmt.Fprintf(&b, "[] x=%d & s%d -> (spare'=true)&(s%d'=false);\n", i, i, i)
		}
	}
	b.WriteString("endmodule\n")
	return b.String()
}

// TestHiddenVariablesOfALargeModel asks about a model of more than 2^40 states, at a limit of states.
func TestHiddenVariablesOfALargeModel(t *testing.T) {
	t.Parallel()
	const length = 40
	for _, accuracy := range []result.Accuracy{result.Bounded, result.Exact} {
		verdicts, err := runner.Check(t.Context(), New(), runner.Job{
			File: "m.prism", Model: []byte(road(length)), Props: []string{fmt.Sprintf("Pmax=? [ F x=%d ]", length), fmt.Sprintf("Pmin=? [ F x=%d ]", length)},
			Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: accuracy, MaxStates: 60_000}},
		})
		if err != nil {
			t.Fatal(err)
		}
		maximum := verdicts[0]
		if maximum.Err != nil || maximum.Accuracy != accuracy || maximum.Bound != nil && (maximum.Bound.Lo > 0.75 || maximum.Bound.Hi < 0.75) || maximum.Value.Text() == "" {
			t.Errorf("%s: %v in %v (%v), %v, want 3/4", maximum.Property, maximum.Value, maximum.Bound, maximum.Accuracy, maximum.Err)
		}
		if accuracy == result.Exact && maximum.Err == nil && maximum.Value.Rat.RatString() != "3/4" {
			t.Errorf("%s: %v, want 3/4", maximum.Property, maximum.Value.Rat)
		}
		if len(maximum.Warnings) != 1 || !strings.Contains(maximum.Warnings[0], "variables") {
			t.Errorf("%s: warnings %q, want one about variables", maximum.Property, maximum.Warnings)
		}
		if minimum := verdicts[1]; minimum.Err == nil || !minimum.Err.Class.Limited() {
			t.Errorf("%s: %v, %v, want the limit", minimum.Property, minimum.Value, minimum.Err)
		}
	}
}
