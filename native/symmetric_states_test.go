package native

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// randomSymmetricModel returns a model of two to four renamed modules, which share a global variable and an action, beside one module that is
// different. The difference is in a command or in a reward of the last copy, which then cannot be swapped.
func randomSymmetricModel(r *rand.Rand, kind string, copies int, difference string) string {
	var sum, equal []string
	for i := 1; i <= copies; i++ {
		sum = append(sum, fmt.Sprintf("x%d", i))
		if i > 1 {
			equal = append(equal, fmt.Sprintf("x%d=x%d", i-1, i))
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nglobal g : [0..2];\nformula total = %s;\nlabel \"equal\" = %s;\n", kind, strings.Join(sum, "+"), strings.Join(equal, " & "))
	commands := randomLocalCommands(r)
	for i := 1; i <= copies; i++ {
		text := commands
		if difference == "command" && i == copies {
			text = strings.Replace(text, "0.25", "0.5", 1)
			text = strings.Replace(text, "0.75", "0.5", 1)
		}
		// Renaming swaps the variables of the first module with those of the copy.
		text = strings.NewReplacer("LOCAL", fmt.Sprint(i), "OTHERS", "total").Replace(text)
		fmt.Fprintf(&b, "module m%d\nx%d : [0..2];\nb%d : bool;\n%sendmodule\n", i, i, i, text)
	}
	b.WriteString("module other\ne : [0..1];\n[go] e=0 -> (e'=1);\n[] e=1 -> 0.5:(e'=0) + 0.5:true;\nendmodule\n")
	b.WriteString("rewards \"r\"\ntotal=2 : 1;\ng=1 : 2;\n")
	for i := 1; i <= copies; i++ {
		reward := 3
		if difference == "reward" && i == copies {
			reward = 4
		}
		fmt.Fprintf(&b, "[a%d] true : %d;\n", i, reward)
	}
	b.WriteString("[go] true : 1;\nendrewards\n")
	return b.String()
}

// randomLocalCommands returns the commands of a module whose variables end in LOCAL. OTHERS is a number that all modules have part in.
func randomLocalCommands(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("[aLOCAL] xLOCAL=2 & g=2 -> (xLOCAL'=0);\n[go] false -> true;\n")
	for x := range 3 {
		guards := []string{fmt.Sprintf("xLOCAL=%d", x), fmt.Sprintf("xLOCAL=%d & bLOCAL", x), fmt.Sprintf("xLOCAL=%d & OTHERS<3", x), fmt.Sprintf("g=%d & xLOCAL=%d", r.IntN(3), x)}
		for range 1 + r.IntN(2) {
			action := []string{"", "", "aLOCAL", "go"}[r.IntN(4)]
			first, second := fmt.Sprintf("(xLOCAL'=%d)", r.IntN(3)), fmt.Sprintf("(bLOCAL'=!bLOCAL) & (xLOCAL'=%d)", r.IntN(3))
			if action == "" {
				second += fmt.Sprintf(" & (g'=%d)", r.IntN(3))
			}
			fmt.Fprintf(&b, "[%s] %s -> 0.25:%s + 0.75:%s;\n", action, guards[r.IntN(len(guards))], first, second)
		}
	}
	return b.String()
}

// TestSymmetry compares the answers of random models with and without symmetry: fractions for two copies, otherwise bounds.
func TestSymmetry(t *testing.T) {
	seed := needs.Number(t, "TILECHECK_SEED", 1)
	reduced, asymmetric := 0, 0
	for i := range needs.Some(uint64(200)) {
		r := rand.New(rand.NewPCG(seed, i))
		kind := []string{"dtmc", "ctmc", "mdp"}[r.IntN(3)]
		copies := 2 + r.IntN(3)
		difference := []string{"", "", "", "command", "reward"}[r.IntN(5)]
		model := randomSymmetricModel(r, kind, copies, difference)
		which := ""
		if kind == "mdp" {
			which = []string{"min", "max"}[r.IntN(2)]
		}
		props := []string{
			fmt.Sprintf("P%s=? [ F total=%d ]", which, r.IntN(2*copies+1)), fmt.Sprintf(`P%s=? [ g<2 U "equal" & g=1 ]`, which), fmt.Sprintf(`R{"r"}%s=? [ F "equal" & total>0 ]`, which),
			fmt.Sprintf(`P%s=? [ G F "equal" ]`, which), fmt.Sprintf(`P%s=? [ F P>=0.5 [ X total=2 ] ]`, which), fmt.Sprintf("filter(max, P%s=? [ F g=2 ], total=1)", which),
		}
		if kind == "ctmc" {
			props = append(props, `S=? [ "equal" ]`)
		} else {
			props = append(props, fmt.Sprintf(`R{"r"}%s=? [ C<=3 ]`, which))
		}
		accuracy := result.Bounded
		if copies == 2 {
			accuracy = result.Exact
		}
		whole := checkWithSymmetry(t, model, props, accuracy, false)
		symmetric := checkWithSymmetry(t, model, props, accuracy, true)
		for j := range whole {
			if !sameAnswer(&whole[j], &symmetric[j]) {
				t.Errorf("model %d, %s: %v in %v, %v with symmetry, want %v in %v, %v\n%s", i, props[j],
					symmetric[j].Value, symmetric[j].Bound, symmetric[j].Err, whole[j].Value, whole[j].Bound, whole[j].Err, model)
			}
			if symmetric[j].States < whole[j].States {
				reduced++
			} else if difference != "" {
				asymmetric++
			}
		}
	}
	if reduced == 0 || asymmetric == 0 {
		t.Errorf("%d answers with fewer states and %d of broken symmetry, want some of each", reduced, asymmetric)
	}
}

// sameAnswer reports whether two verdicts have equal values, or bounds that overlap, or the same error.
func sameAnswer(left, right *result.Verdict) bool {
	if left.Bound != nil && right.Bound != nil {
		return left.Bound.Lo <= right.Bound.Hi && right.Bound.Lo <= left.Bound.Hi
	}
	return fmt.Sprint(left.Value, left.Err) == fmt.Sprint(right.Value, right.Err)
}

// checkWithSymmetry returns the verdicts of the properties.
func checkWithSymmetry(t *testing.T, model string, props []string, accuracy result.Accuracy, symmetric bool) []result.Verdict {
	t.Helper()
	numeric := runner.Numeric{Accuracy: accuracy, Symmetry: symmetric}
	verdicts, err := runner.Check(t.Context(), New(), runner.Job{
		File: "m.prism", Model: []byte(model), Dialect: syntax.Storm, Props: props, Settings: runner.Settings{Numeric: numeric},
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, model)
	}
	return verdicts
}

// randomRing returns a model of one module with a ring of variables. A random command is repeated for each of them. broken changes the last one.
func randomRing(r *rand.Rand, kind string, size int, broken bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nglobal g : [0..2];\nmodule ring\n", kind)
	var sum []string
	for i := range size {
		fmt.Fprintf(&b, "x%d : [0..2];\n", i)
		sum = append(sum, fmt.Sprintf("x%d", i))
	}
	lines := []string{
		"[] XI<2 & XJ<=%d -> 0.25:(XI'=XI+1) + 0.75:(XI'=XI+1) & (g'=min(g+1, 2));\n", "[] XI=2 & XJ>=%d -> 0.5:(XI'=0) & (XJ'=1) + 0.5:(g'=0);\n",
		"[] XI>XJ & XJ<=%d -> 0.25:(XI'=XJ) & (XJ'=XI) + 0.75:true;\n",
	}
	for k, line := range lines {
		line = fmt.Sprintf(line, r.IntN(3))
		for i := range size {
			text := strings.NewReplacer("XI", fmt.Sprintf("x%d", i), "XJ", fmt.Sprintf("x%d", (i+1)%size)).Replace(line)
			if broken && k == 0 && i == size-1 {
				text = strings.Replace(strings.Replace(text, "0.25", "0.5", 1), "0.75", "0.5", 1)
			}
			b.WriteString(text)
		}
	}
	fmt.Fprintf(&b, "endmodule\nformula total = %s;\nrewards \"r\" total=2 : 1; true : 0.5; endrewards\n", strings.Join(sum, "+"))
	return b.String()
}

// TestRotations compares the answers of random rings with and without symmetry.
func TestRotations(t *testing.T) {
	seed := needs.Number(t, "TILECHECK_SEED", 1)
	reduced, asymmetric := 0, 0
	for i := range needs.Some(uint64(200)) {
		r := rand.New(rand.NewPCG(seed, i))
		kind := []string{"dtmc", "ctmc", "mdp"}[r.IntN(3)]
		size, broken := 3+r.IntN(3), r.IntN(4) == 0
		model := randomRing(r, kind, size, broken)
		which := ""
		if kind == "mdp" {
			which = []string{"min", "max"}[r.IntN(2)]
		}
		props := []string{
			fmt.Sprintf("P%s=? [ F total=%d ]", which, r.IntN(2*size+1)), fmt.Sprintf("P%s=? [ total<%d U g=2 & total=3 ]", which, size),
			fmt.Sprintf(`R{"r"}%s=? [ C<=2 ]`, which), fmt.Sprintf("P%s=? [ F x0=2 & g=0 ]", which), fmt.Sprintf("P%s=? [ F P>=0.5 [ X total=2 ] ]", which),
		}
		whole := checkWithSymmetry(t, model, props, result.Bounded, false)
		symmetric := checkWithSymmetry(t, model, props, result.Bounded, true)
		for j := range whole {
			if !sameAnswer(&whole[j], &symmetric[j]) {
				t.Errorf("model %d, %s: %v in %v, %v with symmetry, want %v in %v, %v\n%s", i, props[j],
					symmetric[j].Value, symmetric[j].Bound, symmetric[j].Err, whole[j].Value, whole[j].Bound, whole[j].Err, model)
			}
			if symmetric[j].States < whole[j].States {
				reduced++
			} else {
				asymmetric++
			}
		}
	}
	if reduced == 0 || asymmetric == 0 {
		t.Errorf("%d answers with fewer states and %d without symmetry, want some of each", reduced, asymmetric)
	}
}
