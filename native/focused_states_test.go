package native

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/prism/sema"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// randomNet returns a Markov automaton of five counters. Some of its immediate commands wait for earlier ones.
func randomNet(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("ma\nmodule net\n")
	for i := range 5 {
		fmt.Fprintf(&b, "x%d : [0..2] init %d;\n", i, r.IntN(5)/4)
	}
	var guards []string
	for range 2 + r.IntN(5) {
		i, j, k := r.IntN(5), r.IntN(5), r.IntN(5)
		if i == j {
			continue
		}
		guard, effect := fmt.Sprintf("x%d>=%d & x%d<%d", i, 1+r.IntN(2), j, 1+r.IntN(2)), fmt.Sprintf("(x%d'=x%d+1)", j, j)
		switch r.IntN(8) {
		case 0:
			effect = fmt.Sprintf("0.5:%s + 0.5:(x%d'=0)", effect, k)
		case 1:
			effect += fmt.Sprintf(" & (x%d'=x%d-1)", i, i)
		}
		whole := guard
		if len(guards) > 0 && r.IntN(2) == 0 {
			whole = fmt.Sprintf("!(%s) & %s", strings.Join(guards[:1+r.IntN(len(guards))], " | "), guard)
		}
		fmt.Fprintf(&b, "[] %s -> %s;\n", whole, effect)
		guards = append(guards, guard)
	}
	for i := range 5 {
		fmt.Fprintf(&b, "<> x%d<2 -> %d:(x%d'=x%d+1);\n", i, r.IntN(3), i, i)
		if r.IntN(2) == 0 {
			fmt.Fprintf(&b, "<> x%d>0 & x%d<2 -> %d:(x%d'=x%d-1);\n", i, r.IntN(5), 1+r.IntN(2), i, i)
		}
	}
	b.WriteString("endmodule\n")
	return b.String()
}

// TestFocused compares the answers of random Markov automata with those of all their states.
func TestFocused(t *testing.T) {
	seed := needs.Number(t, "TILECHECK_SEED", 1)
	focused := 0
	for i := range needs.Some(uint64(300)) {
		r := rand.New(rand.NewPCG(seed, i))
		model := randomNet(r)
		which := []string{"min", "max"}[r.IntN(2)]
		goal := []string{"x0>=1 & x1=2", "x2=2", "x0+x1>=3", "x3=0 & x4>=1", "x1=2 & x2<2"}[r.IntN(5)]
		props := []string{
			fmt.Sprintf("P%s=? [ F %s ]", which, goal), fmt.Sprintf("P%s=? [ x4<2 U %s ]", which, goal), fmt.Sprintf("P%s=? [ F<=0.5 %s ]", which, goal),
			fmt.Sprintf("T%s=? [ F %s ]", which, goal), fmt.Sprintf("P%s=? [ x0<2 U<=1 %s ]", which, goal), fmt.Sprintf("P%s=? [ G x1<2 ]", which),
		}
		whole, some := checkInParts(t, model, props, partOptions{}), checkInParts(t, model, props, partOptions{first: 1, focuses: true})
		for j := range whole {
			if whole[j].Err == nil && (some[j].Err != nil || !sameAnswer(&whole[j], &some[j])) {
				t.Errorf("model %d, %s: %v in %v, %v, want %v in %v\n%s", i, props[j], some[j].Value, some[j].Bound, some[j].Err, whole[j].Value, whole[j].Bound, model)
			}
			if strings.Contains(strings.Join(some[j].Warnings, " "), "executed at once") {
				focused++
				if some[j].States > whole[j].States {
					t.Errorf("model %d, %s: %d states, all are %d\n%s", i, props[j], some[j].States, whole[j].States, model)
				}
			}
		}
	}
	if focused == 0 {
		t.Error("no model has steps that are executed at once")
	}
}

// checkInParts checks properties of a model, of which some states are explored first.
func checkInParts(t *testing.T, model string, props []string, options partOptions) []result.Verdict {
	t.Helper()
	plan, err := runner.NewPlan(t.Context(), runner.Job{File: "m.prism", Model: []byte(model), Props: props, Dialect: syntax.Storm})
	if err != nil {
		t.Fatalf("%v\n%s", err, model)
	}
	verdicts, err := await(t.Context(), plan, func(r *run) error {
		method, err := newStatesMethod(r.plan)
		if err != nil {
			return err
		}
		method.partOptions = options
		r.build = func(model sema.Valuation) (*sema.Program, instance, error) { return r.compile(method, model) }
		return r.checkPlan()
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, model)
	}
	return verdicts
}
