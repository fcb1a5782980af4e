package native

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/result"
	"tilecheck/runner"
)

// randomSuite returns a model over x:[0..n], whose reward structures include ones
// that fail in some states, and properties, some of which fail.
func randomSuite(r *rand.Rand) (model string, props []string) {
	kind := []string{"dtmc", "mdp", "ctmc"}[r.IntN(3)]
	n := 1 + r.IntN(3)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nmodule m x:[0..%d];\n", kind, n)
	for x := range n + 1 {
		commands := 1
		if kind == "mdp" {
			commands += r.IntN(2)
		}
		for range commands {
			fmt.Fprintf(&b, "[%s] x=%d -> 0.25:(x'=%d) + 0.75:(x'=%d);\n", []string{"", "a"}[r.IntN(2)], x, r.IntN(n+1), r.IntN(n+1))
		}
	}
	b.WriteString("[a] false -> true;\nendmodule\nlabel \"top\" = x=" + fmt.Sprint(n) + ";\n")
	rewards := []string{"x=0:5; x=1:-1;", "true:1/x;", "true:mod(3,x);", "x<1:2; [a] true:0.5;", "true:1;", "[a] true:0-x;", "true:log(x,2);", "x>0:1e300*1e300;"}
	for _, name := range []string{"r", "q"} {
		fmt.Fprintf(&b, "rewards \"%s\" %s endrewards\n", name, rewards[r.IntN(len(rewards))])
	}
	which := []string{"", "min", "max"}[r.IntN(3)]
	if kind != "mdp" && r.IntN(8) > 0 {
		which = ""
	}
	name := []string{"r", "q"}
	pool := []func() string{
		func() string { return fmt.Sprintf(`R{"%s"}%s=? [ C<=%d ]`, name[r.IntN(2)], which, r.IntN(4)) },
		func() string { return fmt.Sprintf(`R{"%s"}%s=? [ I=%d ]`, name[r.IntN(2)], which, r.IntN(4)) },
		func() string { return fmt.Sprintf(`R{"%s"}%s=? [ F "top" ]`, name[r.IntN(2)], which) },
		func() string {
			return fmt.Sprintf(`R{"%s"}%s=? [ F x=%d & (X x=0) ]`, name[r.IntN(2)], which, r.IntN(n+1))
		},
		func() string { return fmt.Sprintf(`R{"%s"}%s=? [ S ]`, name[r.IntN(2)], which) },
		func() string { return fmt.Sprintf(`R{"%s"}%s=? [ C ]`, name[r.IntN(2)], which) },
		func() string {
			return fmt.Sprintf(`R{"%s"}>%d [ C<=%d ]`, name[r.IntN(2)], r.IntN(3), r.IntN(4))
		},
		func() string { return fmt.Sprintf(`P%s=? [ F<=%d x=%d ]`, which, r.IntN(4), r.IntN(n+1)) },
		func() string { return fmt.Sprintf(`P%s=? [ G F x=%d ]`, which, r.IntN(n+1)) },
		func() string { return fmt.Sprintf(`P%s=? [ F (x=%d & (X x=0)) ]`, which, r.IntN(n+1)) },
		func() string {
			return fmt.Sprintf(`P>=%v [ F x=%d ]`, []float64{0, 0.25, 1, 2}[r.IntN(4)], r.IntN(n+1))
		},
		func() string { return fmt.Sprintf(`S=? [ x=%d ]`, r.IntN(n+1)) },
		func() string { return fmt.Sprintf(`filter(sum, mod(7,x), x>%d)`, r.IntN(n+1)-1) },
		func() string { return fmt.Sprintf(`filter(argmin, P%s=? [ F<=1 x=%d ])`, which, r.IntN(n+1)) },
		func() string { return `1/x` },
		func() string { return `mod(1,x)=0` },
		func() string { return `E [ F "top" ]` },
		func() string { return `E [ F<=3 "top" ]` },
		func() string { return fmt.Sprintf(`P%s=? [ F<=0-1 x=0 ]`, which) },
		func() string { return `multi(Pmax=? [ F x=0 ], P>=0.5 [ F "top" ])` },
		func() string { return fmt.Sprintf(`P%s=? [ F P>0.5 [ X x=%d ] ]`, which, r.IntN(n+1)) },
		func() string { return `filter(state, x, x>0)` },
	}
	for range 3 {
		props = append(props, pool[r.IntN(len(pool))]())
	}
	return b.String(), props
}

// TestOrder: the order of properties, their repetition and what they are checked
// with change no answer, whatever fails beside them.
func TestOrder(t *testing.T) {
	suites := needs.Some(uint64(2000))
	failed, answered := 0, 0
	for seed := range suites {
		r := rand.New(rand.NewPCG(seed, 26))
		model, props := randomSuite(r)
		numeric := runner.Numeric{Accuracy: []result.Accuracy{result.Bounded, result.Bounded, result.Exact, result.Float}[r.IntN(4)]}
		want := map[string]string{}
		ask := func(how string, props ...string) {
			vs, err := runner.Check(t.Context(), New(), runner.Job{File: "m.prism", Model: []byte(model), Props: props, Settings: runner.Settings{Numeric: numeric}})
			if err != nil { // what is no property refuses the job
				t.Fatalf("seed %d: %v", seed, err)
			}
			for i, v := range vs {
				got := answer(&v)
				if old, ok := want[props[i]]; !ok {
					want[props[i]] = got
				} else if old != got {
					t.Fatalf("seed %d, %s: %s\n%s\nalone: %s\nhere:  %s", seed, how, props[i], model, old, got)
				}
				if v.Err != nil {
					failed++
				} else {
					answered++
				}
			}
		}
		for _, p := range props {
			ask("alone", p)
		}
		ask("together", props...)
		slices.Reverse(props)
		ask("reversed", props...)
		ask("twice", append(props, props...)...)
	}
	if failed < int(suites) || answered < int(suites) {
		t.Errorf("%d answers and %d failures are too few", answered, failed)
	}
}

// answer is all that a verdict says.
func answer(v *result.Verdict) string {
	bound, fault := "none", "none"
	if v.Bound != nil {
		bound = fmt.Sprint(*v.Bound)
	}
	if v.Err != nil {
		fault = fmt.Sprintf("%s %s", v.Err.Class, v.Err.Error())
	}
	return fmt.Sprintf("%v %v %v, error %s, warnings %q", v.Value, v.Accuracy, bound, fault, v.Warnings)
}
