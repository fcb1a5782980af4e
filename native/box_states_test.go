package native

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/internal/wild"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// randomClockedModel returns a model of two or three modules that share an action: a cyclic clock, a process that waits and branches, and perhaps a counter.
// Most of its states have one successor.
func randomClockedModel(r *rand.Rand, kind string) string {
	pick := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	size := 3 + r.IntN(20)
	jump := 1 + r.IntN(size-1)
	threshold := func() int { return r.IntN(size + 1) }
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nformula late = z>%d;\nlabel \"goal\" = x=%d%s;\n", kind, threshold(), 1+r.IntN(3), pick("", "&late", "&mod(z,3)=1", "&b"))
	fmt.Fprintf(&b, "module clock\n z : [0..%d];\n f : [0..2];\n", size-1)
	fmt.Fprintf(&b, " [tick] z<%d -> (z'=z+1);\n [tick] z=%d -> (z'=0)&(f'=mod(f+1,3));\n", size-1, size-1)
	fmt.Fprintf(&b, " [jump] z<%d -> (z'=z+%d);\n [jump] z>=%d -> (z'=%s)&(f'=%s);\n", size-jump, jump, size-jump, pick(fmt.Sprintf("z-%d", size-jump), "0", fmt.Sprintf("mod(z+%d,%d)", jump, size)), pick("f", "2-f", "min(f+1,2)", "x>1?0:f"))
	b.WriteString("endmodule\nmodule process\n x : [0..3];\n b : bool;\n")
	for x := range 4 {
		condition := pick(fmt.Sprintf("z>=%d", threshold()), "f=1", "late", "f<=x", fmt.Sprintf("max(z,f)<%d", threshold()), "x+f>2 | b", fmt.Sprintf("z+f<%d", threshold()), "2*z>5", "z/2<1.5", fmt.Sprintf("(b?z:z+1)=%d", threshold()))
		wait := pick("tick", "tick", "jump", "")
		next := pick(fmt.Sprintf("(x'=%d)", r.IntN(4)), fmt.Sprintf("0.5:(x'=%d) + 0.5:(x'=%d)&(b'=!b)", r.IntN(4), r.IntN(4)), fmt.Sprintf("1/4:(b'=late) + 3/4:(x'=%d)", r.IntN(4)), "(x'=f)", "(b'=f>1)&(x'=min(x+1,3))")
		if wait == "" {
			wait, next = "tick", "true" // the process waits for ever
		}
		fmt.Fprintf(&b, " [%s] x=%d & !(%s) -> true;\n [%s] x=%d & (%s) -> %s;\n", wait, x, condition, pick("", "", "tick", "jump"), x, condition, next)
		if r.IntN(6) == 0 {
			fmt.Fprintf(&b, " [] x=%d & f=%d -> (b'=true);\n", x, r.IntN(3))
		}
	}
	b.WriteString("endmodule\n")
	if r.IntN(2) == 0 {
		fmt.Fprintf(&b, "module counter\n n : [0..5];\n [tick] n<5 -> %s;\n [tick] n=5 -> %s;\nendmodule\n", pick("(n'=n+1)", "(n'=min(n+2,5))", "0.9:(n'=n+1)+0.1:true"), pick("true", "(n'=0)"))
	}
	fmt.Fprintf(&b, "rewards \"r\"\n x=%d : %s;\n [jump] true : %d;\n [tick] late : %s;\n [] b : 1;\nendrewards\n", r.IntN(4), pick("1", "0.1", "1/3"), jump, pick("1", "0.25", "x+1"))
	if r.IntN(3) > 0 {
		fmt.Fprintf(&b, "init %s endinit\n", pick("x=0 & !b", "x=0 & (z=0 | f>0)", "x<2 & f=0 & z>1", "true", "z+f<3 & !b"))
		text := b.String()
		if strings.Contains(text, "module counter") {
			return strings.Replace(text, "init ", "init n<2 & ", 1)
		}
		return text
	}
	return b.String()
}

// checkWithBoxes returns the exact verdicts of the properties, with or without boxes of states.
func checkWithBoxes(t *testing.T, model string, props, consts []string, useBoxes bool) []result.Verdict {
	t.Helper()
	job := runner.Job{File: "m.prism", Model: []byte(model), Dialect: syntax.Storm, Props: props, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact, Boxes: useBoxes}}}
	if consts != nil {
		job.Dialect, job.Consts = syntax.PRISM, consts
	}
	verdicts, err := runner.Check(t.Context(), New(), job)
	if err != nil {
		t.Fatalf("%v\n%s", err, model)
	}
	return verdicts
}

// TestBoxes compares the fractions of random models with those of boxes.
func TestBoxes(t *testing.T) {
	seed := needs.Number(t, "TILECHECK_SEED", 1)
	fewer, infinite, between := 0, 0, 0
	for i := range needs.Some(uint64(400)) {
		r := rand.New(rand.NewPCG(seed, i))
		kind, which := "dtmc", ""
		if r.IntN(3) == 0 {
			kind, which = "mdp", []string{"min", "max"}[r.IntN(2)]
		}
		model := randomClockedModel(r, kind)
		over := func(text string) string {
			return []string{text, fmt.Sprintf(`filter(max, %s, "init")`, text), fmt.Sprintf(`filter(min, %s, "init")`, text)}[r.IntN(3)]
		}
		props := []string{
			over(fmt.Sprintf(`P%s=? [ F "goal" ]`, which)), over(fmt.Sprintf(`R{"r"}%s=? [ F "goal" ]`, which)), over(fmt.Sprintf(`P%s=? [ !(x=%d) U z=%d ]`, which, 1+r.IntN(3), r.IntN(3))),
			over(fmt.Sprintf("R{\"r\"}%s=? [ C ]", which)), over(fmt.Sprintf(`P%s=? [ G !(x=%d & late) ]`, which, r.IntN(4))), `filter(forall, P>=0.5 [ (x<3) W "goal" ], "init")`,
			fmt.Sprintf(`R{"r"}%s=? [ F x=%d & f=%d ]`, which, r.IntN(4), r.IntN(3)),
		}
		whole, boxed := checkWithBoxes(t, model, props, nil, false), checkWithBoxes(t, model, props, nil, true)
		for j := range whole {
			if fmt.Sprint(whole[j].Value, whole[j].Err) != fmt.Sprint(boxed[j].Value, boxed[j].Err) {
				t.Errorf("model %d, %s: %v, %v by boxes, want %v, %v\n%s", i, props[j], boxed[j].Value, boxed[j].Err, whole[j].Value, whole[j].Err, model)
			}
			if boxed[j].States < whole[j].States/2 {
				fewer++
			}
			switch rat := whole[j].Value.Rat; {
			case strings.Contains(fmt.Sprint(whole[j].Value), "Inf"):
				infinite++
			case rat != nil && !rat.IsInt():
				between++
			}
		}
	}
	if fewer == 0 || infinite == 0 || between == 0 {
		t.Errorf("%d answers with less than half of the states, %d infinite ones, %d fractions, want some of each", fewer, infinite, between)
	}
}

// TestBoxesOfAnyModel compares answers about models that use most of the language. A model or a property that is not supported must be refused.
func TestBoxesOfAnyModel(t *testing.T) {
	seed := needs.Number(t, "TILECHECK_SEED", 1)
	compared, refused := 0, 0
	for i := range needs.Some(uint64(400)) {
		m := wild.New(seed, i, 6)
		whole, boxed := checkWithBoxes(t, m.Text, m.Props, append([]string{}, m.Consts...), false), checkWithBoxes(t, m.Text, m.Props, append([]string{}, m.Consts...), true)
		for j := range whole {
			switch {
			case boxed[j].Err != nil && boxed[j].Err.Class == result.Unsupported:
				refused++
			case whole[j].Err != nil: // another state may have the error, or one behind the target
			case fmt.Sprint(whole[j].Value, whole[j].Err) != fmt.Sprint(boxed[j].Value, boxed[j].Err):
				t.Errorf("model %d, %s: %v, %v by boxes, want %v, %v\n%s", i, boxed[j].Property, boxed[j].Value, boxed[j].Err, whole[j].Value, whole[j].Err, m.Text)
			default:
				compared++
			}
		}
	}
	if compared == 0 || refused == 0 {
		t.Errorf("%d answers were compared and %d refused, want some of each", compared, refused)
	}
}

// TestBoxesOfManyInitialStates checks a model with two million initial states, which are too many to enumerate, and properties that are refused.
func TestBoxesOfManyInitialStates(t *testing.T) {
	model := "dtmc\nmodule m\n x : [0..99];\n y : [0..19999];\n [] x>0 -> (x'=x-1);\n [] x=0 & y<=3 -> 0.5:(y'=y+1) + 0.5:true;\n [] x=0 & y>3 -> true;\nendmodule\nrewards \"steps\" true : 1; endrewards\ninit y>0 & x<99 endinit\n"
	tests := []struct{ property, value, message string }{
		{`filter(max, R=? [ F x=0 ], "init")`, "98/1", ""},
		{`filter(min, P=? [ F y=4 ], "init")`, "0/1", ""},
		{`filter(max, R=? [ F x=0 & y>3 ], "init")`, "104/1", ""},
		{`R=? [ F x=0 ]`, "range", ""},
		{`filter(max, R=? [ F x=0 ])`, "", `the model has more than 1000000 initial states; found a filter max, want min, max, range, forall or exists over "init" for boxes of states`},
		{`filter(max, P=? [ F<=3 x=0 ], "init")`, "", "found the temporal operator F with a bound, want P of F, G, U, W or R without bounds, or R of F or C for boxes of states"},
		{`filter(max, S=? [ x=0 ], "init")`, "", "found an S operator, want P of F, G, U, W or R without bounds"},
		{`filter(max, P=? [ F P>0.5 [ X x=0 ] ], "init")`, "", "found a P operator, want a formula over variables"},
	}
	var props []string
	for _, test := range tests {
		props = append(props, test.property)
	}
	verdicts := checkWithBoxes(t, model, props, nil, false)
	for i, test := range tests {
		verdict := verdicts[i]
		switch {
		case test.message != "":
			if verdict.Err == nil || verdict.Err.Class != result.Unsupported || !strings.Contains(verdict.Err.Message, test.message) {
				t.Errorf("%s: %v, want %q", test.property, verdict.Err, test.message)
			}
		case verdict.Err != nil || !strings.Contains(fmt.Sprint(verdict.Value), test.value):
			t.Errorf("%s: %v, %v, want %s", test.property, verdict.Value, verdict.Err, test.value)
		}
	}
}
