package native

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/result"
)

// randomSequentialModel returns a model of a sequential program with a program counter pc, and sometimes a second module that reads its variables.
func randomSequentialModel(r *rand.Rand, kind string) string {
	numLocations := 4 + r.IntN(5)
	location := func() int { return r.IntN(numLocations) }
	value := func() int { return r.IntN(3) }
	assignment := func() string {
		texts := []string{
			fmt.Sprintf("(a'=%d)", value()), fmt.Sprintf("(c'=%d)", value()), "(c'=a)", "(c'=min(c+1,2))", "(b'=true)", "(b'=!b)", "(b'=a=c)",
			fmt.Sprintf("(a'=%d) & (b'=false)", value()), "(a'=c) & (c'=a)",
		}
		if r.IntN(12) == 0 {
			return "(a'=a+1)" // may leave the range
		}
		return texts[r.IntN(len(texts))]
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nmodule program\npc : [0..%d];\na : [0..2] init %d;\nb : bool;\nc : [0..2] init %d;\n", kind, numLocations-1, value(), value())
	for pc := range numLocations {
		action := []string{"", "", "act"}[r.IntN(3)]
		next := func() string { return fmt.Sprintf("(pc'=%d)", (pc+1+r.IntN(3))%numLocations) }
		switch r.IntN(12) {
		case 0, 1, 2:
			fmt.Fprintf(&b, "[%s] pc=%d -> 1/4:(a'=0) & %s + 1/4:(a'=1) & %s + 1/2:(a'=2) & %s;\n", action, pc, next(), next(), next())
		case 3, 4:
			test := []string{fmt.Sprintf("a=%d", value()), fmt.Sprintf("c<%d", value()), "b", "a=c", "(b | a=1)"}[r.IntN(5)]
			fmt.Fprintf(&b, "[] pc=%d & %s -> %s;\n[%s] pc=%d & !(%s) -> %s & %s;\n", pc, test, next(), action, pc, test, assignment(), next())
		case 5:
			fmt.Fprintf(&b, "[] pc=%d -> (a+1)/4:%s + (3-a)/4:%s & %s;\n", pc, next(), "(b'=true)", next())
		case 6:
			fmt.Fprintf(&b, "[] pc=%d & a>=%d -> %s;\n[%s] pc=%d & c<2 -> %s & %s;\n", pc, value(), next(), action, pc, assignment(), next())
		case 7:
			fmt.Fprintf(&b, "[] %d=pc & (a=1 | b) -> %s & (pc'=%d);\n[] pc=%d & c!=1 -> 0.5:(pc'=%d) + 0.5:true;\n", pc, assignment(), location(), pc, location())
		case 8:
			if r.IntN(2) == 0 { // a deadlock otherwise
				fmt.Fprintf(&b, "[] a=2 & b & pc=%d -> 0.25:%s & %s + 0.75:(pc'=%d);\n", pc, assignment(), next(), location())
			}
		default:
			fmt.Fprintf(&b, "[%s] pc=%d -> %s & %s;\n", action, pc, assignment(), next())
		}
	}
	b.WriteString("[act] false -> true;\nendmodule\n")
	if r.IntN(5) == 0 {
		fmt.Fprintf(&b, "module other\ne : [0..2];\n[step] pc=%d & e<2 -> 0.5:(e'=e+1) + 0.5:true;\n[] e=2 & a=%d -> (e'=0);\nendmodule\n", location(), value())
	}
	fmt.Fprintf(&b, "label \"goal\" = pc=%d & %s;\n", location(), []string{"true", "a=1", "b", "c=2"}[r.IntN(4)])
	items := []string{
		fmt.Sprintf("pc=%d : 1;\n", location()), fmt.Sprintf("[] pc=%d : 2;\n", location()), "[act] true : 3;\n", "true : 1;\n", "a=1 : 1;\n", "[] b : c;\n",
		fmt.Sprintf("pc=%d : a;\n", location()), fmt.Sprintf("[act] pc!=%d : 1/3;\n", location()),
	}
	fmt.Fprintf(&b, "rewards \"r\"\n%s%sendrewards\n", items[r.IntN(len(items))], items[r.IntN(len(items))])
	fmt.Fprintf(&b, "rewards \"once\"\n[] pc=%d : 1;\nendrewards\n", location())
	return b.String()
}

// TestElimination compares the answers of random sequential programs with and without elimination: fractions, or bounds for bounds on rewards.
func TestElimination(t *testing.T) {
	seed := needs.Number(t, "TILECHECK_SEED", 1)
	reduced, failed := 0, 0
	for i := range needs.Some(uint64(400)) {
		r := rand.New(rand.NewPCG(seed, i))
		kind, which := "dtmc", ""
		if r.IntN(2) == 0 {
			kind, which = "mdp", []string{"min", "max"}[r.IntN(2)]
		}
		model := randomSequentialModel(r, kind)
		location := r.IntN(4)
		formulas := []string{
			`P%s=? [ F "goal" ]`, fmt.Sprintf("P%%s=? [ pc!=%d U c=2 ]", location), fmt.Sprintf(`P%%s=? [ (a<2 | pc=%d) U "goal" ]`, location), fmt.Sprintf("P%%s=? [ G !(pc=%d & b) ]", location),
			`R{"r"}%s=? [ F "goal" ]`, `R{"once"}%s=? [ F "goal" ]`, `R{"once"}%s=? [ C ]`, fmt.Sprintf(`R{"r"}%%s=? [ F pc=%d ]`, location), `P%s=? [ F<=3 "goal" ]`, `P%s=? [ X "goal" ]`,
			`P%s=? [ F P>=0.5 [ X "goal" ] ]`, `P%s=? [ F "deadlock" ]`, `P%s=? [ a=0 W (b & pc>1) ]`,
		}
		bounded := []string{`P%s=? [ F^{rew{"once"}<=2} "goal" ]`, `P%s=? [ F^{rew{"r"}<=3} pc=2 ]`, `P%s=? [ F^{rew{"once"}>=1} b ]`}
		for _, part := range []struct {
			formulas []string
			accuracy result.Accuracy
		}{{formulas, result.Exact}, {slices.Concat(formulas[:6], bounded), result.Bounded}} {
			props := make([]string, len(part.formulas))
			for j, formula := range part.formulas {
				props[j] = fmt.Sprintf(formula, which)
			}
			whole := checkWithSymmetry(t, model, props, part.accuracy, false)
			eliminated := checkWithSymmetry(t, model, props, part.accuracy, true)
			for j := range whole {
				if whole[j].Err != nil && eliminated[j].Err != nil {
					failed++ // the states in the messages differ
					continue
				}
				if !sameAnswer(&whole[j], &eliminated[j]) {
					t.Errorf("model %d, %s: %v in %v, %v with elimination, want %v in %v, %v\n%s", i, props[j],
						eliminated[j].Value, eliminated[j].Bound, eliminated[j].Err, whole[j].Value, whole[j].Bound, whole[j].Err, model)
				}
				if eliminated[j].States < whole[j].States {
					reduced++
				}
			}
		}
	}
	t.Logf("%d answers with fewer states, %d errors", reduced, failed)
	if reduced == 0 || failed == 0 {
		t.Errorf("%d answers with fewer states and %d errors, want some of each", reduced, failed)
	}
}
