package explicit_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/modelgen"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
)

// sameSpaces builds a model by interpretation and in WebAssembly, with one and
// several workers, and compares everything: states, rows, weights and their
// error, deadlocks, warnings, or the error of building; with doubles, and with fractions.
func sameSpaces(t *testing.T, m *compile.Model) {
	t.Helper()
	sameSpacesOf(t, m, false, 0)
	sameSpacesOf(t, m, true, 0)
}

func sameSpacesOf(t *testing.T, m *compile.Model, exact bool, part int) {
	t.Helper()
	want, wantErr := explicit.Build(t.Context(), m, explicit.Options{CompileFrom: -1, Workers: 1, Exact: exact, Part: part})
	for _, workers := range []int{1, 3} {
		got, err := explicit.Build(t.Context(), m, explicit.Options{CompileFrom: 1, Workers: workers, Exact: exact, Part: part})
		if wantErr != nil || err != nil {
			if wantErr == nil || err == nil || wantErr.Error() != err.Error() {
				t.Fatalf("interpreted: error %v; in WebAssembly: %v", wantErr, err)
			}
			continue
		}
		if err := got.WhyInterpreted(); err != nil {
			t.Fatal(err)
		}
		a, b := *want.Model(), *got.Model()
		if x, y := fmt.Sprint(a.Fractions), fmt.Sprint(b.Fractions); x != y {
			t.Fatalf("interpreted: %s\nin WebAssembly: %s", x, y)
		}
		if a.Fractions, b.Fractions = nil, nil; !reflect.DeepEqual(a, b) {
			t.Fatalf("interpreted: %+v\nin WebAssembly: %+v", a, b)
		}
		if !reflect.DeepEqual(want.Unexplored(), got.Unexplored()) || part > 0 && want.Model().NumStates()-want.Unexplored().Count() != part {
			t.Errorf("not explored: %v and %v, part %d", want.Unexplored(), got.Unexplored(), part)
		}
		if !reflect.DeepEqual(want.Warnings(), got.Warnings()) {
			t.Errorf("warnings %q and %q", want.Warnings(), got.Warnings())
		}
		for i := range want.Model().NumStates() {
			if a, b := want.State(nil, i), got.State(nil, i); !reflect.DeepEqual(a, b) {
				t.Fatalf("state %d: %v and %v", i, a, b)
			}
		}
	}
}

func TestMachineCorpus(t *testing.T) {
	needs.Full(t)
	for _, c := range corpusModels(t) {
		t.Run(c.name, func(t *testing.T) { sameSpaces(t, compiled(t, c.src, c.consts...)) })
	}
}

func TestMachineBoards(t *testing.T) {
	for i, policy := range []string{"none", "random", "pref:left,up,down,right", "alt:up,left,down,right/left,up,down,right"} {
		for j, spawn := range []modelgen.Spawn{modelgen.SpawnCell, modelgen.SpawnModule, modelgen.SpawnUniform} {
			if i%3 != j && !needs.OrFull(false, true) { // a plain run has each policy and each spawn once
				continue
			}
			t.Run(policy+"/"+spawn.String(), func(t *testing.T) {
				p, err := modelgen.ParsePolicy(policy)
				if err != nil {
					t.Fatal(err)
				}
				m := compiled(t, board(t, modelgen.Config{Rows: 2, Cols: 2, Max: 32, Spawn: spawn, Policy: p}))
				sameSpaces(t, m)
				sameSpacesOf(t, m, false, 57)
			})
		}
	}
}

// Fractions that no double is: weights that are zero where the doubles are not, and the
// other way round, alone and multiplied, constant and by state; sums that only fractions see, of equal targets and
// of overlapping commands; a sum that is not 1; and weights of one state among constant ones.
func TestMachineFractions(t *testing.T) {
	needs.Full(t)
	const head = " module m x : [0..20] init 0; "
	const wide = " module m x : [-700..300] init 0; y : [0..300]; z : [0..300]; "
	for _, src := range []string{
		"mdp" + head + "[a] x<20 -> 0.1+0.2-0.3:(x'=0) + 1-1e-400:(x'=x+1) + 1e-400:(x'=20); [b] x<9 -> 1/3:(x'=x+1) + 1/3:(x'=x+1) + 1/3:(x'=0); endmodule",
		"mdp" + head + "[a] x<20 -> 1e-200:(x'=0) + 1-1e-200:(x'=x+1); endmodule module n y : [0..3]; [a] true -> 1e-200:(y'=mod(y+1,4)) + 1-1e-200:(y'=0); [b] y>0 -> true; endmodule",
		"dtmc" + head + "[] x<20 -> 1/7:(x'=x+1) + 2/7:(x'=0) + 4/7:(x'=x+1); [] x>3 & x<9 -> 0.1:(x'=0) + 0.9:(x'=x+1); [] x=7 -> (x'=20); endmodule",
		"ctmc" + head + "[a] x<20 -> 1/7:(x'=x+1); [b] x<20 -> 3:(x'=x+1) + 1e-400:(x'=0); [a] x<12 -> 2/7:(x'=x+1) + 5:(x'=20); [] x>0 & x<3 -> x/3:(x'=0); endmodule",
		"mdp" + head + "[a] x<20 -> 0.1:(x'=0) + 0.9:(x'=x+1); [b] x=12 -> 0.3333333333333333:(x'=0) + 0.6666666666666666:(x'=3); endmodule",
		"mdp" + head + "[a] x<20 -> 0.1:(x'=0) + 0.9:(x'=x+1); [b] x>4 & x<20 -> x/20:(x'=0) + 1-x/20:(x'=3); [c] x=20 -> 0:(x'=7) + 1:(x'=x); endmodule",
		"dtmc" + head + "[] true -> x/20:(x'=x-1) + 1-x/20:(x'=x+1); endmodule", // nowhere, with weight 0
		"dtmc" + head + "[] x<20 -> (x<5?1:0)*(1e16+1-1e16):(x'=x+1) + 1-(x<5?1:0)*(1e16+1-1e16):(x'=x+2) + 0.1*x+0.2*x-0.3*x:(x'=0); endmodule",
		"mdp" + head + "[a] x<20 -> x/20:(x'=0) + 1-x/20:(x'=x+1); endmodule module n y : [0..3]; [a] true -> y/3:(y'=mod(y+1,4)) + 1-y/3:(y'=3); endmodule",
		// What tests say of variables of many values: rounded, without a value for one of them, beside the variable itself, of two.
		"mdp" + wide + "[a] x<300 -> (0.1*x+0.2*x=0.3*x?1/3:1/7):(x'=x+1) + (0.1*x+0.2*x=0.3*x?2/3:6/7):(y'=min(300,y+x)); [b] x>5 & x<300 -> (x>9|y<7?0:1):(x'=0) + (x>9|y<7?1:0):(x'=300); endmodule",
		"mdp" + wide + "[a] x<9 -> (mod(7,x+1)=0?1/3:1/7):(x'=x+1) + (mod(7,x+1)=0?2/3:6/7):(y'=min(300,y+x)); endmodule",
		"mdp" + wide + "[a] x<9 -> (x>0 & mod(7,x)=0?1/3:1/7):(x'=x+1) + (x>0 & mod(7,x)=0?2/3:6/7):(y'=min(300,y+x)); [b] x<9 & y<9 -> (mod(7,y-3)=0?1/3:1/7):(x'=x+1) + (mod(7,y-3)=0?2/3:6/7):(y'=min(300,y+x)); endmodule",
		"mdp" + wide + "[a] x<200 -> (x>3 & y>4?x/300:1/7):(x'=x+1) + (x>3 & y>4?1-x/300:6/7):(y'=min(300,y+x)); [b] x=y & x>4 -> (x=y?1/3:0):(x'=0) + (x!=y?1/3:2/3):(y'=0); endmodule",
	} {
		t.Run(src[:4], func(t *testing.T) { sameSpaces(t, compiled(t, src)) })
	}
}

// TestMachineRandom has models with overlapping and repeated choices, equal
// targets, deadlocks, weights whose error depends on the state, and errors.
func TestMachineRandom(t *testing.T) {
	seeds := needs.Some(uint64(100))
	failed := 0
	for seed := range seeds {
		src := randomModel(rand.New(rand.NewPCG(seed, 1)))
		m := compiled(t, src)
		if _, err := explicit.Build(t.Context(), m, explicit.Options{}); err != nil {
			failed++
		}
		sameSpaces(t, m)
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, src)
		}
	}
	if failed == 0 || failed > int(seeds)*needs.OrFull(5, 4)/6 {
		t.Errorf("%d of %d models are wrong", failed, seeds)
	}
}

func randomModel(r *rand.Rand) string {
	pick := func(xs ...string) string { return xs[r.IntN(len(xs))] }
	kind := pick("dtmc", "mdp", "mdp", "ctmc")
	var b strings.Builder
	b.WriteString(kind + "\n")
	for i, v := range []string{"x", "y"} {
		fmt.Fprintf(&b, "module m%d\n %s:[-2..%d] init 0;\n", i, v, 40+r.IntN(60))
		value := func() string {
			if r.IntN(30) == 0 {
				return v + "+1"
			}
			return pick(v, "min(40,"+v+"+1)", "min(40,"+v+"+1)", "0", "-1", "mod(x*y,7)", "max(-2,min(x-y,9))", "mod(x+y,41)", "mod(3*"+v+"+1,40)")
		}
		update := func() string { return "(" + v + "'=" + value() + ")" }
		for range 2 + r.IntN(5) {
			probs := []string{""}
			switch {
			case kind == "ctmc":
				probs = []string{pick("1:", "0.3:", "(x+3)/7:"), pick("2.5:", "0.1:", "mod(x,3):")}[:1+r.IntN(2)]
			case r.IntN(2) == 0:
				probs = []string{"0.1:", "0.2:", "0.7:"}
			case r.IntN(2) == 0:
				p := pick("0.3", "mod(x,3)/2", "1-(x+3)/200", "(y=0?0:0.25)")
				probs = []string{p + ":", "1-" + p + ":"}
			}
			var ups []string
			for _, p := range probs {
				ups = append(ups, p+update())
			}
			guard := pick("true", v+"<30", "mod(x,2)=0", "x<y", "x!=y & y<9", v+">3")
			fmt.Fprintf(&b, " [%s] %s -> %s;\n", pick("", "a", "b", "c"+v), guard, strings.Join(ups, "+"))
		}
		b.WriteString("endmodule\n")
	}
	return b.String()
}

// TestFallback: a model with too many combinations of commands is interpreted,
// and the space says why.
func TestFallback(t *testing.T) {
	var b strings.Builder
	b.WriteString("mdp\n")
	for i := range 4 {
		fmt.Fprintf(&b, "module m%d\n x%d:[0..8];\n", i, i)
		for k := range 9 {
			fmt.Fprintf(&b, " [a] x%d=%d -> (x%d'=%d);\n", i, k, i, (k+1)%9)
		}
		b.WriteString("endmodule\n")
	}
	s := build(t, b.String(), explicit.Options{CompileFrom: 1})
	if s.Model().NumStates() != 9 {
		t.Errorf("%d states", s.Model().NumStates())
	}
	if err := s.WhyInterpreted(); err == nil || !strings.Contains(err.Error(), "more than 4096 combinations of commands") {
		t.Errorf("fallback: %v", err)
	}
	if s := build(t, walk, explicit.Options{}); s.WhyInterpreted() != nil {
		t.Errorf("fallback: %v", s.WhyInterpreted())
	}
}

// TestFind finds every state of a space, also in one that several look into at once.
func TestFind(t *testing.T) {
	s := build(t, walk, explicit.Options{})
	for part := range 4 {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for i := part; i < s.Model().NumStates(); i += 4 {
				if k, ok := s.Find(s.State(nil, i)); !ok || k != i {
					t.Fatalf("state %d found as %d, %v", i, k, ok)
				}
			}
			if _, ok := s.Find([]int32{3, 3, 1 << 20}); ok {
				t.Error("found a state outside the ranges")
			}
		})
	}
}
