package check_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/explicit/explicittest"
	"tilecheck/result"
)

// randomMDP is a model of n states, in most of which something may be chosen.
func randomMDP(r *rand.Rand, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "mdp\nmodule m\n s:[0..%d];\n", n-1)
	for s := range n - 1 {
		for range 1 + r.IntN(3) {
			near := func() int { return (s + n + r.IntN(8) - 3) % n }
			if r.IntN(2) == 0 {
				fmt.Fprintf(&b, " [] s=%d -> (s'=%d);\n", s, near())
			} else {
				fmt.Fprintf(&b, " [] s=%d -> 0.25:(s'=%d) + 0.75:(s'=%d);\n", s, near(), near())
			}
		}
	}
	return b.String() + "endmodule\nlabel \"late\" = s>5;\n"
}

// TestCheckAlmostSure compares what parts of random models answer with all of their states.
func TestCheckAlmostSure(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	answered, open := 0, 0
	for range max(needs.Some(60), 6) {
		m := explicittest.Compile(t, randomMDP(r, 24))
		goal := 4 + r.IntN(20)
		for _, path := range []string{fmt.Sprintf("F s=%d", goal), fmt.Sprintf("s!=%d U s=%d", goal/2, goal), `!"late" U s=5`} {
			p := properties(t, m.Program(), "Pmax=? [ "+path+" ]")[0]
			whole, err := explicit.Build(t.Context(), m, explicit.Options{Exact: true})
			if err != nil {
				t.Fatal(err)
			}
			want := check.New(m, whole, check.Options{Accuracy: result.Exact}).Check(t.Context(), p)
			for part := 1; ; part += 2 {
				space, err := explicit.Build(t.Context(), m, explicit.Options{Exact: true, Part: part})
				if err != nil {
					t.Fatal(err)
				}
				if space.Unexplored() == nil {
					break
				}
				v, ok := check.New(m, space, check.Options{Accuracy: result.Exact}).CheckAlmostSure(t.Context(), p)
				switch {
				case !ok:
					open++
				case want.Err != nil || want.Value.Rat.Cmp(v.Value.Rat) != 0 || v.Value.Num != 1:
					t.Fatalf("%s: %d states answer %v, all answer %v (%v)", path, part, v.Value, want.Value, want.Err)
				default:
					answered++
				}
			}
		}
	}
	if answered < 20 || open < 20 {
		t.Errorf("%d answered, %d left open: nothing is compared", answered, open)
	}
}

// TestFromPartRefuses has what the states left out may change, and what is no lower bound.
func TestFromPartRefuses(t *testing.T) {
	const chain = "module m\n s:[0..9];\n [] s<9 -> (s'=s+1);\nendmodule\n"
	for _, c := range []struct {
		model, prop string
		ok          bool
	}{
		{"mdp\n" + chain, "Pmax=? [ F s=3 ]", true},
		{"mdp\n" + chain, "Pmax=? [ F s=5 ]", true}, // found, not explored
		{"mdp\n" + chain, "Pmax=? [ F s=6 ]", false},
		{"mdp\n" + chain, "Pmin=? [ F s=3 ]", false},
		{"mdp\n" + chain, "P>=1 [ F s=3 ]", false},
		{"mdp\n" + chain, "Pmax=? [ G s<4 ]", false},
		{"mdp\n" + chain, "Pmax=? [ F<=4 s=3 ]", false},
		{"mdp\n" + chain, `Pmax=? [ F "deadlock" ]`, false},
		{"mdp\n" + chain, "Pmax=? [ F P>=1 [ X s=3 ] ]", false},
		{"dtmc\n" + chain, "Pmax=? [ F s=3 ]", false},
		{"mdp\n" + strings.Replace(chain, "endmodule", "endmodule\ninit s<2 endinit", 1), "Pmax=? [ F s=3 ]", false},
	} {
		m := explicittest.Compile(t, c.model)
		space, err := explicit.Build(t.Context(), m, explicit.Options{Part: 5})
		if err != nil {
			t.Fatal(err)
		}
		if n := space.Unexplored().Count(); n != 1 {
			t.Fatalf("%d states are not explored, want 1", n)
		}
		if _, ok := check.New(m, space, check.Options{}).CheckAlmostSure(t.Context(), properties(t, m.Program(), c.prop)[0]); ok != c.ok {
			t.Errorf("%s: answered %v, want %v", c.prop, ok, c.ok)
		}
	}
}
