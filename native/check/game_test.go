package check_test

import (
	"context"
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/needs"
	"tilecheck/native/check"
	"tilecheck/result"
)

// randomGame returns the text of a game of the players p and q, in which every state is initial.
func randomGame(r *rand.Rand, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "smg\nplayer p [a] endplayer\nplayer q [b] endplayer\nmodule m\n s:[0..%d];\n", n-1)
	for s := range n {
		action := []string{"a", "b"}[r.IntN(2)]
		for range 1 + r.IntN(3) {
			fmt.Fprintf(&b, " [%s] s=%d -> %s;\n", action, s, randomUpdates(r, "smg", s, n))
		}
	}
	b.WriteString(" [a] false -> true;\n [b] false -> true;\n")
	fmt.Fprintf(&b, "endmodule\ninit true endinit\nrewards s<%d : %d; endrewards\n", 1+r.IntN(n), 1+r.IntN(3))
	return b.String()
}

// TestGameLTL: the value of a formula for p is one minus that of its negation for q; that of all players is the one of the MDP;
// and bounds contain it.
func TestGameLTL(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	between := 0
	for range needs.Some(150) {
		n := 2 + r.IntN(5)
		model := randomGame(r, n)
		for range 10 {
			f := randomPath(r, n, 1+r.IntN(4), false)
			g := randomPath(r, n, 1+r.IntN(3), true)
			props := fmt.Sprintf(`filter(sum, <<p>> Pmax=? [ %s ]*(s*s+1));
filter(sum, (1 - <<q>> Pmax=? [ !(%s) ])*(s*s+1));
filter(sum, <<*>> Pmin=? [ %s ]*(s*s+1));
filter(sum, Pmin=? [ %s ]*(s*s+1));
filter(sum, <<p,q>> Rmax=? [ (X true) & %s ]);
filter(sum, Rmax=? [ (X true) & %s ]);
filter(avg, <<p>> Pmax=? [ %s ]);`, f, f, f, f, g, g, f)
			exact := ask(t, t.Context(), model, props, check.Options{Accuracy: result.Exact})
			bounds := ask(t, t.Context(), model, props, check.Options{})
			for i, v := range exact {
				if v.Err != nil || bounds[i].Err != nil {
					t.Fatalf("%s: %v %v\n%s", v.Property, v.Err, bounds[i].Err, model)
				}
				if b := bounds[i].Bound; b != nil && v.Value.Rat != nil && !withinBound(b, v.Value.Rat) {
					t.Errorf("%s: %v does not contain %v\n%s", v.Property, b, v.Value.Rat, model)
				}
				if i%2 == 1 && fmt.Sprint(v.Value.Rat) != fmt.Sprint(exact[i-1].Value.Rat) {
					t.Errorf("%s: %v, but %s: %v\n%s", v.Property, v.Value.Rat, exact[i-1].Property, exact[i-1].Value.Rat, model)
				}
			}
			if x := exact[6].Value.Num; x > 0 && x < 1 {
				between++
			}
		}
	}
	if between < 20 {
		t.Errorf("only %d formulas have values between zero and one", between)
	}
}

// withinBound reports whether an interval contains a fraction.
func withinBound(b *result.Interval, x *big.Rat) bool {
	return new(big.Rat).SetFloat64(b.Lo).Cmp(x) <= 0 && new(big.Rat).SetFloat64(b.Hi).Cmp(x) >= 0
}

// TestGameOneSide: a game in which only one side has choices has the bounds of the MDP, bit for bit.
func TestGameOneSide(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 3))
	for range needs.Some(60) {
		n := 2 + r.IntN(6)
		game := randomGame(r, n)
		f, g := randomPath(r, n, 1+r.IntN(4), false), randomPath(r, n, 1+r.IntN(3), true)
		var alone, all []string
		for _, dir := range []string{"min", "max"} {
			for _, query := range []string{"P%s=? [ %[2]s ]", "P%s=? [ F<=7 s=0 ]", "P%s=? [ G s!=0 ]", "R%s=? [ (X true) & %[3]s ]", "R%s=? [ C<=5 ]", "R%s=? [ S ]"} {
				query = fmt.Sprintf(query+"%.0[2]s%.0[3]s", dir, f, g)
				all = append(all, "filter(avg, <<*>> "+query+")")
				alone = append(alone, "filter(avg, "+query+")")
			}
		}
		got := ask(t, t.Context(), game, strings.Join(all, ";\n")+";", check.Options{})
		want := ask(t, t.Context(), game, strings.Join(alone, ";\n")+";", check.Options{})
		for i := range got {
			if got[i].Err != nil || want[i].Err != nil {
				t.Fatalf("%s: %v %v\n%s", got[i].Property, got[i].Err, want[i].Err, game)
			}
			if fmt.Sprint(got[i].Value, got[i].Bound) != fmt.Sprint(want[i].Value, want[i].Bound) {
				t.Errorf("%s: %v in %v, as an MDP %v in %v\n%s", got[i].Property, got[i].Value, got[i].Bound, want[i].Value, want[i].Bound, game)
			}
		}
	}
}

// TestGameNarrowF0: bounds that are narrower than the errors of the equations allow end in a fraction. Greater limits of the accumulated reward do not
// narrow them: there were 524,288 states before it was computed.
func TestGameNarrowF0(t *testing.T) {
	const game = `smg
player p [a] endplayer
player q [b], [c] endplayer
module m
  s : [0..3];
  [a] s=0 -> 3/5:(s'=2) + 2/5:(s'=1);
  [b] s=1 -> 1/3:(s'=3) + 1/3:(s'=1) + 1/3:(s'=2);
  [c] s=1 -> 3/7:(s'=3) + 4/7:(s'=0);
  [a] s=2 -> true;
  [b] s=3 -> 1/3:(s'=2) + 1/3:(s'=3) + 1/3:(s'=0);
  [c] s=3 -> (s'=2);
endmodule
rewards [c] true : 1; endrewards`
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, epsilon := range []float64{1e-12, 1e-13, 1e-15} {
		v := ask(t, ctx, game, "<<q>> Rmax=? [ F0 s=2 ]", check.Options{Epsilon: epsilon})[0]
		if want := big.NewRat(20, 27); v.Err != nil || !withinBound(v.Bound, want) || v.Bound.Hi-v.Bound.Lo > epsilon {
			t.Errorf("epsilon %g: found %v %v %v, want bounds of 20/27", epsilon, v.Value, v.Bound, v.Err)
		}
	}
}
