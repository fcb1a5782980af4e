package check_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/logic"
	"tilecheck/result"
)

// partOf returns a checker of the states that a space has with some options.
func partOf(t *testing.T, whole *explicit.Space, options explicit.Options, opts check.Options) *check.Checker {
	t.Helper()
	space, err := explicit.Build(t.Context(), whole.Compiled(), options)
	if err != nil {
		t.Fatal(err)
	}
	return check.New(space.Compiled(), space, opts)
}

// TestTruncated compares bounds from parts of random models with the values of the whole models.
func TestTruncated(t *testing.T) {
	t.Parallel()
	narrow, count := 0, 0
	for seed := range needs.Models(t, 600) {
		count++
		r := rand.New(rand.NewPCG(seed, 1))
		kind := []string{"dtmc", "mdp", "ctmc"}[seed%3]
		n := 3 + r.IntN(10)
		model := strings.Replace(randomModel(r, kind, n), "init true endinit\n", "", 1)
		extremum := ""
		if kind == "mdp" {
			extremum = []string{"min", "max"}[r.IntN(2)]
		}
		bound := ""
		if r.IntN(2) == 0 {
			bound = fmt.Sprintf("<=%d", 1+r.IntN(6))
		}
		if r.IntN(4) == 0 {
			low := 1 + r.IntN(4)
			bound = []string{fmt.Sprintf(">=%d", low), fmt.Sprintf("[%d,%d]", low, low+r.IntN(4)+1)}[r.IntN(2)]
		}
		a, b := r.IntN(n), r.IntN(n)
		path := [...]string{
			fmt.Sprintf("F%s s=%d", bound, a), fmt.Sprintf("G%s s!=%d", bound, a), fmt.Sprintf("(s!=%d) U%s s=%d", b, bound, a),
			fmt.Sprintf("(s>%d) W%s s=%d", b, bound, a), fmt.Sprintf("(s<%d) R%s s!=%d", b, bound, a),
		}[r.IntN(5)]
		property := fmt.Sprintf("P%s=? [ %s ]", extremum, path)
		c, whole, properties := checkerOf(t, model, property, check.Options{})
		want := c.Check(t.Context(), properties[0])
		if want.Err != nil && strings.Contains(want.Err.Message, "a lower bound for a CTMC") { // W and R are refused there
			continue
		}
		if want.Err != nil {
			t.Fatalf("%s\n%s: %v", model, property, want.Err)
		}
		part := partOf(t, whole, explicit.Options{Part: 1 + r.IntN(n/2)}, check.Options{})
		if !part.Truncates(properties[0]) {
			continue // all states are explored
		}
		verdict, width, _ := part.Truncated(t.Context(), properties[0], 1)
		if verdict.Err != nil {
			if !strings.Contains(verdict.Err.Message, "does not bound the value") {
				t.Errorf("%s\n%s: %v", model, property, verdict.Err)
			}
			if verdict.Bound != nil || verdict.Value.Kind != 0 {
				t.Errorf("%s\n%s: %v in %v beside the error, want no value", model, property, verdict.Value, verdict.Bound)
			}
			continue
		}
		if width < 1e-6 {
			narrow++
		}
		if verdict.Bound.Lo > want.Bound.Hi || verdict.Bound.Hi < want.Bound.Lo {
			t.Errorf("%s\n%s: %v of a part, %v of the whole", model, property, verdict.Bound, want.Bound)
		}
	}
	if narrow < count/10 {
		t.Errorf("%d of %d intervals are narrow", narrow, count)
	}
}

// TestWithinDepth compares the values of properties with a horizon, from the states that it reaches, with those of whole models.
func TestWithinDepth(t *testing.T) {
	t.Parallel()
	parts, count := 0, 0
	for seed := range needs.Models(t, 600) {
		count++
		r := rand.New(rand.NewPCG(seed, 2))
		kind := []string{"dtmc", "mdp"}[seed%2]
		n := 3 + r.IntN(10)
		model := strings.Replace(randomModel(r, kind, n), "init true endinit\n", "", 1)
		extremum := ""
		if kind == "mdp" {
			extremum = []string{"min", "max"}[r.IntN(2)]
		}
		a, k := r.IntN(n), 1+r.IntN(4)
		property := [...]string{
			fmt.Sprintf("P%s=? [ F<=%d s=%d ]", extremum, k, a),
			fmt.Sprintf("P%s=? [ X (X s=%d) ]", extremum, a),
			fmt.Sprintf("P%s=? [ F<=%d P>0.3 [ F<=1 s=%d ] ]", extremum, k, a),
			fmt.Sprintf("R%s=? [ C<=%d ]", extremum, k),
			fmt.Sprintf("R%s=? [ I=%d ]", extremum, k),
			fmt.Sprintf("P%s=? [ (F<=%d s=%d) & (G<=2 s!=0) ]", extremum, k, a),
			fmt.Sprintf("P%s=? [ F<=%d \"deadlock\" ] + P%s=? [ G<=%d s<%d ]", extremum, k, extremum, k, a),
		}[r.IntN(7)]
		c, whole, properties := checkerOf(t, model, property, check.Options{Accuracy: result.Exact})
		want := c.Check(t.Context(), properties[0])
		if want.Err != nil {
			t.Fatalf("%s\n%s: %v", model, property, want.Err)
		}
		steps, ok := logic.Horizon(properties[0])
		if !ok {
			t.Fatalf("%s has no horizon", property)
		}
		part := partOf(t, whole, explicit.Options{Depth: steps, Exact: true}, check.Options{Accuracy: result.Exact})
		verdict := part.Check(t.Context(), properties[0])
		if verdict.Err != nil || verdict.Value.Rat.Cmp(want.Value.Rat) != 0 {
			t.Errorf("%s\n%s: %v, %v within %d steps, want %v", model, property, verdict.Value, verdict.Err, steps, want.Value)
		}
		if verdict.States < want.States {
			parts++
		}
	}
	if parts < count/10 {
		t.Errorf("%d of %d properties needed a part of the states", parts, count)
	}
}

// TestNoHorizon has properties whose value depends on all steps.
func TestNoHorizon(t *testing.T) {
	t.Parallel()
	_, _, properties := checkerOf(t, fair, "P=? [ F s=4 ]\nP=? [ F<=3 P>0 [ F s=4 ] ]\nS=? [ s=4 ]\nR=? [ F s=4 ]\nfilter(max, P=? [ F<=3 s=4 ])\nP=? [ F>=3 s=4 ]\nR=? [ C ]", check.Options{})
	for _, property := range properties {
		if steps, ok := logic.Horizon(property); ok {
			t.Errorf("%s has the horizon %d", property.Text, steps)
		}
	}
}

// TestTruncatedLowerBound has a state that is left before the lower bound of the property, and that the part does not explore.
func TestTruncatedLowerBound(t *testing.T) {
	const module = "module m s : [0..3]; [] s<3 -> 1 : (s'=s+1); [] s=3 -> 1 : true; endmodule"
	for _, path := range []string{"F>=2 s=1", "G>=2 s!=1"} {
		c, whole, properties := checkerOf(t, "dtmc "+module, "P=? [ "+path+" ]", check.Options{})
		want := c.Check(t.Context(), properties[0])
		got, _, _ := partOf(t, whole, explicit.Options{Part: 1}, check.Options{}).Truncated(t.Context(), properties[0], 1)
		if got.Err == nil && (got.Bound.Lo > want.Value.Num || got.Bound.Hi < want.Value.Num) {
			t.Errorf("%s: [%v, %v], want %v in it", path, got.Bound.Lo, got.Bound.Hi, want.Value.Num)
		}
	}
}
