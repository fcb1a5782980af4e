package check_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/check"
	"tilecheck/result"
)

// latched returns the text of a model with a variable that says whether state 2 was visited. Rewards are earned before that only.
func (m tiny) latched() string {
	var text strings.Builder
	fmt.Fprintf(&text, "mdp\nmodule m s:[0..%d]; d:bool;\n", len(m))
	for s, choices := range m {
		for i, c := range choices {
			fmt.Fprintf(&text, "[a%d] s=%d -> %.1f:(s'=%d)&(d'=d|%t) + %.1f:(s'=%d)&(d'=d|%t);\n", i, s, c[0].p, c[0].to, c[0].to == 2, c[1].p, c[1].to, c[1].to == 2)
		}
	}
	text.WriteString("[a1] false -> true;\nendmodule\nrewards !d : s; [a1] !d : 0.5; endrewards\n")
	return text.String()
}

// TestMultiReachReward compares the reward until state 2 with the operator alone, and beside other objectives with the total reward of a model that
// remembers whether it was there, where it must be there with probability 1.
func TestMultiReachReward(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 44))
	others := []struct{ objectives, withoutReward string }{ // withoutReward has the bounds beside a query of the reward
		{"Pmax=? [ F s=3 ], R<=1.5 [ %s ]", ""},
		{"Pmin=? [ F s=1 ], R<=0.75 [ %s ]", ""},
		{"R<=2 [ %s ], P>=0.9 [ F s=3 ]", ""},
		{"Rmin=? [ %s ], Pmax=? [ F s=3 ]", ""},
		{"Rmin=? [ %s ], P>=0.4 [ F s=3 ]", "P>=0.4 [ F s=3 ]"},
		{"Rmin=? [ %s ], P>=0.5 [ F<=2 s=3 ]", "P>=0.5 [ F<=2 s=3 ]"},
		{"Rmin=? [ %s ], P<=0.3 [ F s=1 ], P>=0.2 [ G F s=3 ]", "P<=0.3 [ F s=1 ], P>=0.2 [ G F s=3 ]"},
	}
	count := map[string]int{}
	for range needs.OrFull(25, 80) {
		m := randomTiny(rng, 4)
		alone := ask(t, t.Context(), m.text(), "Rmin=? [ F s=2 ]; Rmax=? [ F s=2 ];", check.Options{Accuracy: result.Exact})
		for i, v := range ask(t, t.Context(), m.text(), "multi(Rmin=? [ F s=2 ]); multi(Rmax=? [ F s=2 ]);", check.Options{}) {
			isInfinite := math.IsInf(alone[i].Value.Num, 1)
			switch {
			case isInfinite && i == 1:
				if v.Err == nil || !strings.Contains(v.Err.Message, "is not reached with probability 1 by every scheduler") {
					t.Fatalf("%s%s: %v %v, want it refused", m.text(), v.Property, v.Value.Num, v.Err)
				}
				count["refused"]++
			case v.Err != nil || isInfinite != math.IsInf(v.Value.Num, 1) || !isInfinite && v.Value.Rat.Cmp(alone[i].Value.Rat) != 0:
				t.Fatalf("%s%s: %v %v, want %v", m.text(), v.Property, v.Value.Rat, v.Err, alone[i].Value.Rat)
			case isInfinite:
				count["infinite"]++
			default:
				count["finite"]++
			}
		}
		for _, other := range others {
			v := ask(t, t.Context(), m.text(), fmt.Sprintf("multi("+other.objectives+");\n", "F s=2"), check.Options{})[0]
			want := ask(t, t.Context(), m.latched(), fmt.Sprintf("multi("+other.objectives+", P>=1 [ F s=2 ]);\n", "C"), check.Options{})[0]
			isCurve := strings.Contains(other.objectives, "min=?") && strings.Contains(other.objectives, "max=?")
			if isCurve && v.Err != nil && (want.Err != nil || math.IsNaN(want.Value.Num)) { // all rewards of the curve are infinite
				count["no curve"]++
				continue
			}
			found, wanted := v.Value.Text(), want.Value.Text()
			if other.withoutReward != "" && math.IsNaN(want.Value.Num) && ask(t, t.Context(), m.text(), "multi("+other.withoutReward+");", check.Options{})[0].Value.Bool {
				wanted = "Infinity" // schedulers meet the other objectives, and miss state 2
			}
			isNear := v.Value.Kind == result.Number && math.Abs(v.Value.Num-want.Value.Num) < 1e-7
			if v.Err != nil || want.Err != nil || found != wanted && !isNear {
				t.Fatalf("%s%s: %s %v, want %s %v", m.text(), v.Property, found, v.Err, wanted, want.Err)
			}
			count[wanted]++
		}
	}
	for _, kind := range []string{"finite", "infinite", "refused", "NaN", "Infinity", "no curve", "true", "false"} {
		if count[kind] < 5 {
			t.Errorf("found %s %d times, want it 5 times at least", kind, count[kind])
		}
	}
}
