package native

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/load"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// randomNet returns a Markov automaton of five counters, as a Petri net. Some of its immediate commands have lower priority than earlier ones.
func randomNet(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("ma\nmodule net\n")
	for i := range 5 {
		fmt.Fprintf(&b, "x%d : [0..2] init %d;\n", i, r.IntN(5)/4)
	}
	var guards []string
	for range 3 + r.IntN(6) {
		i, j := r.IntN(5), r.IntN(5)
		if i == j {
			continue
		}
		guard := fmt.Sprintf("x%d>=%d & x%d<%d", i, 1+r.IntN(2), j, 1+r.IntN(2))
		if r.IntN(12) == 0 {
			guard = fmt.Sprintf("x%d>x%d & x%d<2", i, r.IntN(5), j)
		}
		whole := guard
		if len(guards) > 0 && r.IntN(2) == 0 {
			whole = fmt.Sprintf("!(%s) & %s", strings.Join(guards[:1+r.IntN(len(guards))], " | "), guard)
		}
		fmt.Fprintf(&b, "[] %s -> %s;\n", whole, randomEffect(r, guard, i, j))
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

// randomEffect returns the updates of a command of randomNet, which moves or copies a token from counter i to counter j.
func randomEffect(r *rand.Rand, guard string, i, j int) string {
	add := fmt.Sprintf("(x%d'=x%d+1)", j, j)
	switch r.IntN(14) {
	case 0:
		return fmt.Sprintf("0.5:%s + 0.5:(x%d'=0)", add, r.IntN(5))
	case 1:
		return fmt.Sprintf("%s & (x%d'=x%d-1)", add, i, i)
	case 2:
		return fmt.Sprintf("(%s ? 1/(0+(%s ? 1 : 0)) : 0):%s", guard, guard, add)
	case 3:
		return fmt.Sprintf("(x%d'=2)", j)
	case 4:
		return fmt.Sprintf("(x%d'=x%d)", j, i)
	}
	return add
}

// randomGoals returns properties of a net that was made by randomNet.
func randomGoals(r *rand.Rand) []string {
	which := []string{"min", "max"}[r.IntN(2)]
	goal := []string{"x0>=1 & x1=2", "x2=2", "x0+x1>=3", "x3=0 & x4>=1", "x1=2 & x2<2", "x0=x1 & x2>0"}[r.IntN(6)]
	return []string{
		fmt.Sprintf("P%s=? [ F %s ]", which, goal), fmt.Sprintf("P%s=? [ x4<2 U %s ]", which, goal), fmt.Sprintf("T%s=? [ F %s ]", which, goal),
		fmt.Sprintf("P%s=? [ F<=0.5 %s ]", which, goal), fmt.Sprintf("P%s=? [ x0<2 U<=1 %s ]", which, goal),
	}
}

// TestReordered compares the answers of random Markov automata with those of all their states: fractions, and bounds where the time is bounded.
func TestReordered(t *testing.T) {
	seed := needs.Number(t, "TILECHECK_SEED", 1)
	numReordered, numSmaller := 0, 0
	for i := range needs.Some(uint64(150)) {
		r := rand.New(rand.NewPCG(seed, i))
		model := randomNet(r)
		for _, prop := range randomGoals(r) {
			whole, reordered, ok := checkBothOrders(t, model, prop)
			isRefused := whole.Err != nil && reordered.Err == nil // cycles of immediate states, some of which are left out
			if !ok || isRefused {
				continue
			}
			numReordered++
			if reordered.States < whole.States {
				numSmaller++
			}
			if !sameAnswer(&whole, &reordered) {
				t.Errorf("model %d, %s: %v in %v, %v, want %v in %v\n%s", i, prop, reordered.Value, reordered.Bound, reordered.Err, whole.Value, whole.Bound, model)
			}
		}
	}
	t.Logf("%d answers, %d with fewer states", numReordered, numSmaller)
	if numSmaller == 0 {
		t.Error("no answer has fewer states")
	}
}

// checkBothOrders checks a property of a Markov automaton on all its states, and on those of checkReordered. ok is false if no commands can be executed at
// once.
func checkBothOrders(t *testing.T, model, prop string) (whole, reordered result.Verdict, ok bool) {
	t.Helper()
	job := runner.Job{File: "m.prism", Model: []byte(model), Props: []string{prop}, Dialect: syntax.Storm}
	if !strings.Contains(prop, "<=") {
		job.Numeric.Accuracy = result.Exact
	}
	plan, err := runner.NewPlan(t.Context(), job)
	if err != nil {
		t.Fatalf("%v\n%s", err, model)
	}
	method, err := newStatesMethod(plan)
	if err != nil {
		t.Fatal(err)
	}
	space, instances, err := load.Properties(t.Context(), plan)
	if err != nil { // a variable leaves its range
		return whole, reordered, false
	}
	property := &checkedProperty{Instance: instances[0]}
	partial := &partialStates{statesMethod: method, model: space.Compiled()}
	reordered, ok = partial.checkReordered(t.Context(), property)
	return method.newExploredModel(space, nil).check(t.Context(), property), reordered, ok
}

// TestOrderThatMatters checks models in which another order of an enabled command and the candidate (the first command) has another value: for
// each reason why the candidate must not be executed at once.
func TestOrderThatMatters(t *testing.T) {
	const candidate = "ma\nmodule m\nx:[0..1] init 1; y:[0..1] init 1; a:[0..1]; e:[0..1]; g:[0..1];\n[] x>=1 & a<1 -> (a'=a+1);\n"
	for _, c := range []struct{ reason, commands, prop, want string }{
		{"it disables a command", "[] x>=1 & a<1 & g<1 -> 0.5:(g'=1) + 0.5:(x'=0);", "Pmax=? [ F g=1 ]", "1/2"},
		{"it disables a command that another one enables", "[] e>=1 & a<1 & g<1 -> (g'=1); [] y>=1 & e<1 -> 0.5:(e'=1) + 0.5:(y'=0);", "Pmax=? [ F g=1 ]", "1/2"},
		{"a command reads what it writes", "[] y>=1 -> 0.5:(g'=a) & (y'=0) + 0.5:(y'=0);", "Pmin=? [ F g=1 ]", "0"},
		{"a command waits for a command that it enables", "[] a>=1 & y>=1 -> (y'=y-1); [] !(a>=1 & y>=1) & y>=1 & g<1 -> 0.5:(g'=1) + 0.5:(y'=0);", "Pmax=? [ F g=1 ]", "1/2"},
		{"a command disables it", "[] x>=1 -> 0.5:(x'=0) + 0.5:(e'=1) & (x'=0); [] a>=1 & g<1 -> (g'=1);", "Pmin=? [ F g=1 ]", "0"},
		{"it is visible", "[] y>=1 -> 0.5:(g'=1) & (y'=0) + 0.5:(y'=0);[] e<1 & x<1 -> (e'=e+1);", "Pmax=? [ F g=1 & a=0 ]", "1/2"},
		{"the order does not matter", "[] y>=1 -> 0.5:(g'=1) & (y'=0) + 0.5:(y'=0);", "Pmax=? [ F g=1 ]", "1/2"},
	} {
		whole, reordered, ok := checkBothOrders(t, candidate+c.commands+"\nendmodule\n", c.prop)
		got, gotWhole := fmt.Sprint(reordered.Value.Rat), fmt.Sprint(whole.Value.Rat)
		if want := new(big.Rat); !ok || reordered.Err != nil {
			t.Errorf("%s: found no reduction, or %v", c.reason, reordered.Err)
		} else if want.SetString(c.want); got != fmt.Sprint(want) || gotWhole != got {
			t.Errorf("%s: %s = %s, and %s on all states, want %s", c.reason, c.prop, got, gotWhole, c.want)
		}
	}
}

// TestReorderedAfterFirstPart checks a Markov automaton of which some states are explored first, with gates that fail in any order.
func TestReorderedAfterFirstPart(t *testing.T) {
	var variables, commands strings.Builder
	for i := range 6 {
		fmt.Fprintf(&variables, "x%d:[0..1]; g%d:[0..1]; h%d:[0..1];\n", i, i, i)
		fmt.Fprintf(&commands, "<> x%d<1 -> %d:(x%d'=1);\n[] x%d=1 & g%d<1 -> (g%d'=1);\n[] x%d=1 & h%d<1 -> (h%d'=1);\n", i, i+1, i, i, i, i, i, i, i)
	}
	model := "ma\nmodule m\nfailed : [0..1];\n" + variables.String() + commands.String() + "[] g0=1 & g1=1 & g2=1 & g3=1 & failed<1 -> (failed'=1);\nendmodule\n"
	job := runner.Job{File: "m.prism", Model: []byte(model), Props: []string{"Pmax=? [ F<=1 failed=1 ]", "Tmin=? [ F failed=1 ]"}, Dialect: syntax.Storm}
	plan, err := runner.NewPlan(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	method, err := newStatesMethod(plan)
	if err != nil {
		t.Fatal(err)
	}
	space, instances, err := load.Properties(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	method.partOptions.first = 40
	partial, err := method.instance(t.Context(), space.Compiled())
	if err != nil {
		t.Fatal(err)
	}
	for i := range instances {
		property := &checkedProperty{Instance: instances[i]}
		got, want := partial.check(t.Context(), property), method.newExploredModel(space, nil).check(t.Context(), property)
		isReordered := strings.Contains(strings.Join(got.Warnings, " "), "12 commands executed at once")
		if got.Err != nil || !isReordered || !sameAnswer(&got, &want) || got.States >= 64 {
			t.Errorf("%s: %v in %v, %v, from %d states %q, want %v in %v", job.Props[i], got.Value, got.Bound, got.Err, got.States, got.Warnings, want.Value, want.Bound)
		}
	}
}
