package check_test

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/interval"
	"tilecheck/internal/needs"
	"tilecheck/native/check"
	"tilecheck/native/space/explicit"
	"tilecheck/native/space/explicit/explicittest"
	"tilecheck/result"
)

// randomChain is a DTMC of so many levels that only a choice to stay does not descend, with
// rewards, and with states at which paths end.
func randomChain(r *rand.Rand, levels int) string {
	const width = 6
	var b strings.Builder
	fmt.Fprintf(&b, "dtmc\nmodule m\n l:[0..%d];\n x:[0..%d];\n", levels, width-1)
	for l := range levels {
		for x := range width {
			to := func() string { return fmt.Sprintf("(l'=%d)&(x'=%d)", l+1+r.IntN(min(2, levels-l)), r.IntN(width)) }
			switch r.IntN(6) {
			case 0:
				fmt.Fprintf(&b, " [] l=%d&x=%d -> 0.9:true + 0.1:%s;\n", l, x, to())
			case 1:
				fmt.Fprintf(&b, " [] l=%d&x=%d -> 1/3:%s + 1/3:%s + 1/3:%s;\n", l, x, to(), to(), to())
			default:
				fmt.Fprintf(&b, " [] l=%d&x=%d -> 0.3:%s + 0.7:%s;\n", l, x, to(), to())
			}
		}
	}
	fmt.Fprintf(&b, "endmodule\nlabel \"late\" = l>%d;\nrewards \"r\"\n x>2 : x/7;\n [] l>1 : 0.1*x;\nendrewards\n", levels/2)
	return b.String()
}

// stages answers a property in stages of at most so many states.
func stages(ctx context.Context, t *testing.T, model string, exact bool, part int, text string) (result.Verdict, bool) {
	t.Helper()
	m := explicittest.Compile(t, model)
	opts, build := check.Options{}, explicit.Options{Part: part, Exact: exact}
	if exact {
		opts.Accuracy = result.Exact
	}
	space, err := explicit.Build(t.Context(), m, build)
	if err != nil {
		t.Fatal(err)
	}
	s := check.New(m, space, opts).Stages(ctx, properties(t, m.Program(), text)[0])
	if s == nil {
		return result.Verdict{}, false
	}
	v, ok, err := s.Sum(ctx, build)
	if err != nil && ctx.Err() == nil {
		t.Fatal(err)
	}
	return v, ok
}

// TestStages compares what random chains answer in stages with what they answer at once.
func TestStages(t *testing.T) {
	needs.Full(t)
	r := rand.New(rand.NewPCG(11, 11))
	answered := 0
	for range needs.Some(15) {
		src := randomChain(r, 12)
		m := explicittest.Compile(t, src)
		space, err := explicit.Build(t.Context(), m, explicit.Options{Exact: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{
			"P=? [ F l=9&x=2 ]", `P=? [ x!=3 U "late"&x=1 ]`, "P=? [ F l>=0 ]", "P=? [ F l<0 ]", `R{"r"}=? [ F l=12 ]`, `R{"r"}=? [ F "late" ]`,
		} {
			want := check.New(m, space, check.Options{Accuracy: result.Exact}).Check(t.Context(), properties(t, m.Program(), text)[0])
			if want.Err != nil {
				t.Fatal(want.Err)
			}
			nearest := interval.Around(want.Value.Rat)
			for _, part := range []int{1, 2, 5, 17, 1000} {
				v, ok := stages(t.Context(), t, src, true, part, text)
				if !ok || v.Accuracy != result.Exact || v.Value.Rat.Cmp(want.Value.Rat) != 0 {
					t.Fatalf("%s in parts of %d: %v, %v, want %v\n%s", text, part, ok, v.Value, want.Value, src)
				}
				v, ok = stages(t.Context(), t, src, false, part, text)
				if !ok || v.Bound == nil || v.Bound.Lo > nearest.Hi || v.Bound.Hi < nearest.Lo {
					t.Fatalf("%s in parts of %d: %v, %+v, want %v\n%s", text, part, ok, v.Bound, want.Value, src)
				}
				answered++
			}
		}
	}
	if answered == 0 {
		t.Error("nothing is compared")
	}
}

// TestStagesRefuses has what parts of a chain cannot tell, and what is no sum over them.
func TestStagesRefuses(t *testing.T) {
	const line = "module m\n s:[0..99];\n [] s<99 -> 0.5:(s'=s+1) + 0.5:(s'=min(s+2,99));\nendmodule\nrewards true : 1; endrewards\n"
	for _, c := range []struct {
		model, prop string
		ok          bool
	}{
		{"dtmc\n" + line, "P=? [ F s=50 ]", true},
		{"dtmc\n" + line, "R=? [ F s=99 ]", true},
		{"dtmc\n" + line, "R=? [ F s=50 ]", false}, // infinite, for that may be missed
		{"dtmc\n" + line, "P>=0.5 [ F s=50 ]", false},
		{"dtmc\n" + line, "P=? [ G s<50 ]", false},
		{"dtmc\n" + line, "P=? [ F<=9 s=5 ]", false},
		{"dtmc\n" + line, `P=? [ F "deadlock" ]`, false},
		{"dtmc\n" + line, `P=? [ "init" U s=1 ]`, false},
		{"dtmc\n" + line, "P=? [ F P>=1 [ X s=3 ] ]", false},
		{"dtmc\n" + line, "R=? [ C<=9 ]", false},
		{"ctmc\n" + line, "P=? [ F s=50 ]", false},
		{"mdp\n" + line, "Pmax=? [ F s=50 ]", false},
		{"dtmc\n" + strings.Replace(line, "endmodule", "endmodule\ninit s<2 endinit", 1), "P=? [ F s=3 ]", false},
		// Cycles within a part, and through all of them.
		{"dtmc\nmodule m\n s:[0..99];\n [] s<99 -> 0.5:(s'=s+1) + 0.5:(s'=max(s-1,0));\nendmodule\n", "P=? [ F s=50 ]", false},
		{"dtmc\nmodule m\n s:[0..9999];\n [] s<9999 -> 0.5:(s'=s+1) + 0.5:(s'=9999);\n [] s=9999 -> (s'=0);\nendmodule\n", "P=? [ F s<0 ]", false},
	} {
		if _, ok := stages(t.Context(), t, c.model, true, 5, c.prop); ok != c.ok {
			t.Errorf("%s: answered %v, want %v\n%s", c.prop, ok, c.ok, c.model)
		}
	}
}

// TestStagesError has a state whose probabilities are wrong, far from the first ones.
func TestStagesError(t *testing.T) {
	m := explicittest.Compile(t, "dtmc\nmodule m\n s:[0..99];\n [] s<70 -> (s'=s+1);\n [] s=70 -> 0.5:(s'=71) + 0.25:(s'=72);\nendmodule\n")
	build := explicit.Options{Part: 5}
	space, err := explicit.Build(t.Context(), m, build)
	if err != nil {
		t.Fatal(err)
	}
	s := check.New(m, space, check.Options{}).Stages(t.Context(), properties(t, m.Program(), "P=? [ F s=99 ]")[0])
	_, _, err = s.Sum(t.Context(), build)
	if err == nil || !strings.Contains(err.Error(), "(s=70)") || !strings.HasSuffix(err.Error(), ", after stages of 70 states") {
		t.Errorf("%v, want that the probabilities of (s=70) are wrong", err)
	}
}

// TestStagesStop ends the context on the way.
func TestStagesStop(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v, ok := stages(ctx, t, randomChain(rand.New(rand.NewPCG(1, 1)), 12), true, 5, "P=? [ F l=9&x=2 ]"); ok {
		t.Errorf("answered %v after the end", v.Value)
	}
}

// TestStagesOverflow has a sum that is beyond doubles: there are no bounds of it, and a fraction.
func TestStagesOverflow(t *testing.T) {
	const src = "dtmc\nmodule m\n s:[0..99];\n [] s<99 -> (s'=s+1);\nendmodule\nrewards true : 1e308; endrewards\n"
	if v, ok := stages(t.Context(), t, src, false, 5, "R=? [ F s=99 ]"); ok {
		t.Errorf("%v in %v, want no bounds", v.Value, v.Bound)
	}
	want, _ := new(big.Rat).SetString("99e308")
	if v, ok := stages(t.Context(), t, src, true, 5, "R=? [ F s=99 ]"); !ok || v.Value.Rat.Cmp(want) != 0 {
		t.Errorf("%v, %v, want 99e308", ok, v.Value)
	}
}
