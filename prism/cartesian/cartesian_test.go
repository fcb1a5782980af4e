package cartesian_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/explicit/explicittest"
	"tilecheck/native/space/sparse"
	"tilecheck/prism/cartesian"
	"tilecheck/prism/logic"
	"tilecheck/prism/sema/sematest"
)

// randomModel returns a model of two modules that synchronise, with guards and updates of several forms, and a target.
func randomModel(r *rand.Rand) (model, target string) {
	condition := func() string {
		variable, value := fmt.Sprint("v", r.IntN(4)), r.IntN(4)
		return fmt.Sprintf([]string{"%s=%d", "%s>%d", "%s!=%d & b", "(%[1]s=%[2]d | %[1]s=0)", "!(%s=%d)", "%s+v0<%d", "!b | %s<=%d", "0.1*%s+0.2=0.1*%d", "floor(%s/2)=%d"}[r.IntN(9)], variable, value)
	}
	update := func(own int) string {
		return fmt.Sprintf([]string{"(v%d'=%d)", "(v%[1]d'=min(v%[1]d+1,3))", "(v%[1]d'=3-v%[1]d)", "(v%[1]d'=v0)", "(v%[1]d'=mod(v1+v2,4))", "(v%[1]d'=floor((0.1*v0+0.2)/0.1)-2)"}[r.IntN(6)], own, r.IntN(4))
	}
	var b strings.Builder
	b.WriteString("mdp\nglobal b : bool;\n")
	for i, own := range [][2]int{{0, 1}, {2, 3}} {
		fmt.Fprintf(&b, "module m%d\nv%d : [0..3]; v%d : [0..3] init 1;\n", i, own[0], own[1])
		for range 3 {
			fmt.Fprintf(&b, "[] %s -> 1/2:%s + 1/2:%s%s;\n", condition(), update(own[0]), update(own[1]), []string{"", "&(b'=true)", "&(b'=!b)"}[r.IntN(3)])
		}
		fmt.Fprintf(&b, "[go] %s -> %s;\nendmodule\n", condition(), update(own[r.IntN(2)]))
	}
	return b.String(), fmt.Sprintf("v%d=%d & (%s)", r.IntN(4), 2+r.IntN(2), condition())
}

// TestMayReach compares with the paths of all states of random models: if MayReach is false, there is no path to the target.
func TestMayReach(t *testing.T) {
	seed := needs.Number(t, "TILECHECK_SEED", 1)
	var numExcluded, numUnreachable int
	for i := range needs.Some(uint64(2000)) {
		model, targetText := randomModel(rand.New(rand.NewPCG(seed, i)))
		compiled := explicittest.Compile(t, model)
		properties, program := sematest.Properties(t, sematest.Program(t, model), targetText)
		target, ok := logic.WithoutLabels(program, properties[0].Expr)
		abstraction := cartesian.New(program, target)
		if !ok || abstraction == nil {
			t.Fatalf("no abstraction for %s", targetText)
		}
		space, err := explicit.Build(t.Context(), compiled, explicit.Options{})
		if err != nil {
			t.Fatal(err)
		}
		targets, err := space.States(target)
		if err != nil {
			t.Fatal(err)
		}
		reaching := sparse.NewGraph(space.Model()).ExistsUntil(sparse.FullSet(space.Model().NumStates()), targets)
		for s := range space.Model().NumStates() {
			mayReach := abstraction.MayReach(space.State(nil, s))
			switch {
			case !mayReach && reaching.Has(s):
				t.Errorf("model %d, state %v: a path reaches %s\n%s", i, space.State(nil, s), targetText, model)
			case !mayReach:
				numExcluded++
				fallthrough
			case !reaching.Has(s):
				numUnreachable++
			}
		}
	}
	if numExcluded < 50 || numExcluded > numUnreachable {
		t.Errorf("%d of %d states that cannot reach the target were excluded, too few for a test", numExcluded, numUnreachable)
	}
	t.Logf("%d of %d states that cannot reach the target were excluded", numExcluded, numUnreachable)
}

// TestRationalArithmetic has a guard that is true for x=1 in rational arithmetic, and false in floating-point numbers.
func TestRationalArithmetic(t *testing.T) {
	properties, program := sematest.Properties(t, sematest.Program(t, "mdp\nmodule m\nx : [0..3]; y : [0..1];\n[] 0.1*x+0.2=0.3 -> (y'=1);\n[] x<3 -> (x'=x+1);\nendmodule\n"), "y=1")
	if abstraction := cartesian.New(program, properties[0].Expr); !abstraction.MayReach([]int32{0, 0}) {
		t.Error("y=1 is reached from x=1, and MayReach is false")
	}
}

// TestNew has targets that no values of single variables exclude, and others that are excluded in the first state.
func TestNew(t *testing.T) {
	const model = "mdp\nmodule m\nx : [0..9]; y : [0..9]; big : [0..1000];\n[] x<3 -> (x'=x+1);\n[] big=7 -> (x'=5);\n[] false -> (y'=4);\nendmodule\nlabel \"both\" = x=4 & y=0;\n"
	for _, test := range []struct {
		target      string
		isSupported bool
		mayReach    bool
	}{
		{"x+y=3", false, false},
		{"big=3", false, false},
		{"x=3", true, true},
		{"x=5", true, true}, // big has too many values to be observed
		{"x=4 & x+y=9", true, false},
		{"y=4", true, false},
		{`"both"`, true, false},
		{"x=3 | y=4", false, false},
	} {
		properties, program := sematest.Properties(t, sematest.Program(t, model), test.target)
		target, ok := logic.WithoutLabels(program, properties[0].Expr)
		if !ok {
			t.Fatalf("%s: not over variables", test.target)
		}
		abstraction := cartesian.New(program, target)
		if (abstraction != nil) != test.isSupported {
			t.Errorf("%s: supported %v, want %v", test.target, abstraction != nil, test.isSupported)
			continue
		}
		if test.isSupported && abstraction.MayReach([]int32{0, 0, 0}) != test.mayReach {
			t.Errorf("%s: MayReach is %v, want %v", test.target, !test.mayReach, test.mayReach)
		}
	}
}
