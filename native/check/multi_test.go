package check_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"tilecheck/internal/needs"
	"tilecheck/native/check"
	"tilecheck/result"
)

// tiny is an MDP with up to two choices per state, each with two targets.
type tiny [][][2]struct {
	to int
	p  float64
}

func randomTiny(rng *rand.Rand, n int) tiny {
	m := make(tiny, n)
	for s := range m {
		for range 1 + rng.IntN(2) {
			p := float64(1+rng.IntN(9)) / 10
			var c [2]struct {
				to int
				p  float64
			}
			c[0].to, c[0].p = rng.IntN(n), p
			c[1].to, c[1].p = rng.IntN(n), 1-p
			m[s] = append(m[s], c)
		}
	}
	return m
}

// text writes the model; state s > 0 earns s.
func (m tiny) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "mdp\nmodule m s:[0..%d];\n", len(m))
	for s, choices := range m {
		for i, c := range choices {
			fmt.Fprintf(&b, "[a%d] s=%d -> %.1f:(s'=%d) + %.1f:(s'=%d);\n", i, s, c[0].p, c[0].to, c[1].p, c[1].to)
		}
	}
	fmt.Fprintf(&b, "[a1] false -> true;\n[] s=%d -> true;\nendmodule\nrewards true : s; [a1] true : 0.5; endrewards\n", len(m))
	return b.String()
}

// TestMultiSingle: one objective alone has the value of the ordinary operator,
// and as a bound it can be met exactly up to that.
func TestMultiSingle(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	queries := []string{
		"P%s=? [ F s=2 ]", "P%s=? [ G s!=2 ]", "P%s=? [ s<2 U s=3 ]", "P%s=? [ s<3 W s=3 ]", "P%s=? [ s=1 R s<3 ]",
		"P%s=? [ G F s=1 ]", "P%s=? [ F G s!=1 ]", "P%s=? [ !(G F s=2) ]", "P%s=? [ s=1 ]", "R%s=? [ C<=3 ]",
		"P%s=? [ F<=2 s=2 ]", "P%s=? [ X s=1 ]", "P%s=? [ (G F s=1) & (F G s!=2) ]", "P%s=? [ (F s=1) | (G F s=2) ]", "P%s=? [ G (s=1 => (F s=2)) ]", "P%s=? [ (F G s=3) | (G F (s=1 & (X s=2))) ]",
	}
	for range needs.Some(500) {
		src := randomTiny(rng, 4).text()
		var plain, multi strings.Builder
		for _, q := range queries {
			for _, dir := range []string{"min", "max"} {
				q := fmt.Sprintf(q, dir)
				fmt.Fprintf(&plain, "%s;\n", q)
				fmt.Fprintf(&multi, "multi(%s);\n", q)
			}
		}
		want := ask(t, t.Context(), src, plain.String(), check.Options{Accuracy: result.Exact})
		got := ask(t, t.Context(), src, multi.String(), check.Options{})
		var bounds strings.Builder
		for i, v := range got {
			if v.Err != nil || want[i].Err != nil || v.Value.Rat.Cmp(want[i].Value.Rat) != 0 || v.Accuracy != result.Exact {
				t.Fatalf("%s%s: %+v %v, want %v", src, v.Property, v.Value, v.Err, want[i].Value.Rat)
			}
			x := v.Value.Rat.RatString()
			op, beyond := ">=", "+1/1000"
			if i%2 == 0 {
				op, beyond = "<=", "-1/1000"
			}
			query := strings.TrimSuffix(strings.TrimPrefix(v.Property, "multi("), ")")
			path := query[strings.Index(query, "["):]
			fmt.Fprintf(&bounds, "multi(%c%s%s %s);\n", query[0], op, x, path)
			if far := v.Value.Num; query[0] == 'R' || far > 0.001 && far < 0.999 {
				fmt.Fprintf(&bounds, "multi(%c%s(%s%s) %s);\n", query[0], op, x, beyond, path)
			}
		}
		for _, v := range ask(t, t.Context(), src, bounds.String(), check.Options{}) {
			if met := !strings.Contains(v.Property, "1/1000"); v.Err != nil && !strings.Contains(v.Property, "R<=0-") && !strings.Contains(v.Property, "R<=(0-") || v.Err == nil && v.Value.Bool != met {
				t.Fatalf("%s%s: %v %v", src, v.Property, v.Value.Bool, v.Err)
			}
		}
	}
}

// TestMultiTogether: two formulas can both be sure if and only if their conjunction can,
// which is one formula with one automaton.
func TestMultiTogether(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	formulas := []string{
		"G F s=1", "F G s!=1", "(G F s=2) | (F G s=3)", "G (s=1 => (F s=3))", "F (s=2 & (X s=3))", "G F (s=0 & (X s=1))", "(F G s<3) & (G F s=0)", "F<=3 s=2",
	}
	count := map[bool]int{}
	for range 12 {
		src := randomTiny(rng, 4).text()
		var plain, multi strings.Builder
		for range 6 {
			f, g := formulas[rng.IntN(len(formulas))], formulas[rng.IntN(len(formulas))]
			fmt.Fprintf(&plain, "Pmax=? [ (%s) & (%s) ];\n", f, g)
			fmt.Fprintf(&multi, "multi(P>=1 [ %s ], P>=1 [ %s ]);\n", f, g)
		}
		want := ask(t, t.Context(), src, plain.String(), check.Options{Accuracy: result.Exact})
		for i, v := range ask(t, t.Context(), src, multi.String(), check.Options{}) {
			sure := want[i].Value.Rat.Cmp(big.NewRat(1, 1)) == 0
			if v.Err != nil || v.Value.Bool != sure {
				t.Fatalf("%s%s: %v %v, want %v", src, v.Property, v.Value.Bool, v.Err, sure)
			}
			count[sure]++
		}
	}
	if count[true] < 5 || count[false] < 5 {
		t.Errorf("%v were sure", count)
	}
}

// TestMultiPairs compares queries under a bound with all deterministic
// schedulers that remember which of two states they have seen, and with
// mixtures of two of them.
func TestMultiPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	compared := 0
	for range needs.Some(500) {
		m := randomTiny(rng, 4)
		points, ok := m.points(2, 3)
		if !ok {
			continue
		}
		for _, bound := range []float64{0, 0.3, 0.6, 0.9} {
			property := fmt.Sprintf("multi(Pmax=? [ F s=2 ], P>=%g [ F s=3 ])", bound)
			v := ask(t, t.Context(), m.text(), property, check.Options{})[0]
			want := best(points, bound)
			if v.Err != nil || math.Abs(v.Value.Num-want) > 1e-8 && !(math.IsNaN(want) && math.IsNaN(v.Value.Num)) {
				t.Fatalf("%s%s: %v %v, want %v of %v", m.text(), property, v.Value.Num, v.Err, want, points)
			}
			compared++
		}
	}
	if compared < needs.Some(500) {
		t.Errorf("only %d values were compared", compared)
	}
}

// points returns the probabilities of reaching a and b under every scheduler of
// the product with what was seen; it gives up on large ones.
func (m tiny) points(a, b int) ([][2]float64, bool) {
	type state struct{ s, seen int }
	see := func(s, seen int) state {
		if s == a {
			seen |= 1
		}
		if s == b {
			seen |= 2
		}
		return state{s, seen}
	}
	list := []state{see(0, 0)}
	number := map[state]int{list[0]: 0}
	for i := 0; i < len(list); i++ {
		for _, c := range m[list[i].s] {
			for _, x := range c {
				to := see(x.to, list[i].seen)
				if _, ok := number[to]; !ok {
					number[to] = len(list)
					list = append(list, to)
				}
			}
		}
	}
	if len(list) > 9 {
		return nil, false
	}
	var out [][2]float64
	for how := range 1 << len(list) {
		x := make([][2]float64, len(list))
		for i, st := range list {
			x[i] = [2]float64{float64(st.seen & 1), float64(st.seen >> 1)}
		}
		for change := 1.0; change > 1e-14; {
			change = 0
			for i, st := range list {
				c := m[st.s][how>>i&1%len(m[st.s])]
				for k := range 2 {
					if st.seen>>k&1 == 0 {
						y := c[0].p*x[number[see(c[0].to, st.seen)]][k] + c[1].p*x[number[see(c[1].to, st.seen)]][k]
						change, x[i][k] = max(change, y-x[i][k]), y
					}
				}
			}
		}
		out = append(out, x[0])
	}
	return out, true
}

// best returns the greatest first coordinate of a mixture of two points whose
// second is at least bound.
func best(points [][2]float64, bound float64) float64 {
	out := math.NaN()
	for _, p := range points {
		if p[1] < bound-1e-12 {
			continue
		}
		if !(out >= p[0]) {
			out = p[0]
		}
		for _, q := range points {
			if q[1] < bound && q[0] > p[0] && p[1] > q[1] {
				w := (p[1] - bound) / (p[1] - q[1])
				out = max(out, p[0]+w*(q[0]-p[0]))
			}
		}
	}
	return out
}

// A choice between two ends, the first of which may be paid for for ever.
const crossroads = `mdp
module m s:[0..3];
[l] s=0 -> 0.5:(s'=1)+0.5:(s'=2);
[r] s=0 -> (s'=3);
[] s>0 -> true;
endmodule
rewards "once" s=0 : 2; [r] true : 3; endrewards
rewards "ever" s=3 : 1; endrewards
`

func TestMultiForms(t *testing.T) {
	for _, tt := range []struct{ property, want string }{
		{"multi(Pmax=? [ F s=1 ], P>=0.5 [ F s=3 ])", "1/4"},
		{"multi(Pmax=? [ F s=1 ], P<=0.5 [ F s=2 ])", "1/2"},
		{"multi(Pmin=? [ F s=3 ], P>=0.25 [ F s=1 ])", "0"},
		{"multi(Pmin=? [ F s=3 ], P<=0.25 [ F s=2 ])", "1/2"},
		{"multi(P>=0.5 [ F s=1 ], P>=0.1 [ F s=3 ])", "false"},
		{"multi(P>=0.4 [ F s=1 ], P>=0.2 [ F s=3 ])", "true"},
		{`multi(R{"once"}max=? [ C ], P>=0.25 [ F s=1 ])`, "7/2"},
		{`multi(R{"once"}min=? [ C ], P>=0.25 [ F s=3 ])`, "11/4"},
		{`multi(R{"once"}max=? [ C ], R{"ever"}<=1 [ C ])`, "2"}, // any chance of 3 costs infinity
		{`multi(R{"once"}max=? [ C ], R{"ever"}<=1 [ C<=2 ])`, "5"},
		{`multi(R{"once"}max=? [ C ], R{"ever"}<=0.5 [ C<=2 ])`, "7/2"},
		{`multi(R{"ever"}max=? [ C<=4 ], P>=0.25 [ F s=1 ])`, "3/2"},
		{`multi(P>=0.7 [ F s=3 ], R{"ever"}<=100 [ C ])`, "false"},
		{"multi(Pmax=? [ F s=1 ], P>=1.0 [ F s=3 ], P>=0.1 [ F s=2 ])", "NaN"},

		{`multi(R{"ever"}max=? [ C ], P>=0.25 [ F s=1 ])`, "found multi(...) with a maximised reward that can be earned forever"},
		{`multi(R{"ever"}min=? [ C ], P>=0.7 [ F s=3 ])`, "+Inf"},
		{`multi(R{"ever"}min=? [ C ], P>=0.7 [ F s=3 ], P>=0.2 [ F s=1 ])`, "NaN"},
		{`multi(R{"ever"}min=? [ C ], R{"once"}<=1 [ C ])`, "NaN"},
		{"multi(Pmax=? [ F s=1 ], Pmax=? [ F s=3 ])", "[(0,1),(0.5,0)]"},
		{"multi(Pmax=? [ F s=1 ], Pmin=? [ F s=3 ])", "[(0.5,0)]"},
		{`multi(R{"once"}min=? [ C ], Pmax=? [ F s=1 ])`, "[(2,0.5)]"},
		{`multi(R{"once"}max=? [ C ], Pmax=? [ F s=1 ], P>=0.25 [ F s=2 ])`, "[(2,0.5),(3.5,0.25)]"},
		{`multi(R{"once"}max=? [ C ], Pmax=? [ F s=1 ], P<=0.75 [ F s=3 ])`, "[(2,0.5),(4.25,0.125)]"},
		{"multi(Pmax=? [ F s=1 ], Pmax=? [ F s=3 ], P>=0.6 [ F s=2 ])", "NaN"},
		{"multi(Pmax=? [ F s=1 ], Pmax=? [ F s=3 ], Pmax=? [ F s=2 ])", "[(0,1,0),(0.5,0,0.5)]"},
		{"multi(Pmin=? [ F s=1 ], Pmin=? [ F s=3 ], Pmax=? [ F s=2 ])", "[(0,1,0),(0.5,0,0.5)]"},
		{"multi(Pmax=? [ F s=1 ], Pmax=? [ F s=3 ], Pmin=? [ F s=2 ], P>=0.25 [ F s=1 ])", "[(0.25,0.5,0.25),(0.5,0,0.5)]"},
		{"multi(Pmax=? [ F s=1 ], P>0.5 [ F s=3 ])", "found a strict bound in multi(...), want >= or <="},
		{"multi(Pmax=? [ F s=1 ], P>=0.5 [ F<=3 s=3 ])", "1/4"},
		{"multi(Pmax=? [ F<=0 s=1 ], P>=0.5 [ X s=3 ])", "0"},
		{"multi(Pmax=? [ (F s=1) & (F s=3) ])", "0"},
		{"multi(Pmax=? [ (F s=1) | (G F s=3) ], P>=0.25 [ X (s=1 | s=2) ])", "7/8"},
		{"multi(P=? [ F s=1 ])", "found an operator in multi(...) without min, max or a bound"},
		{`multi(R{"once"}max=? [ S ])`, "found a long-run average, R [ S ], in multi(...), want P of a path formula, or R with F, C or C<=k"},
		{`multi(R{"once"}max=? [ X s=1 ])`, "found an R operator of a path formula other than F in multi(...), want P of a path formula, or R with F, C or C<=k"},
		{`multi(R{"once"}max=? [ F s=1 ])`, "found multi(...) with a maximised reward of F, whose target is not reached with probability 1 by every scheduler"},
		{`multi(R{"once"}max=? [ F s>0 ], P>=0.25 [ F s=1 ])`, "7/2"},
		{`multi(R{"once"}min=? [ F s>0 ], R{"ever"}<=1 [ C ])`, "2"},
		{`multi(R{"ever"}min=? [ F s=3 ], P>=0.5 [ F s=1 ])`, "+Inf"},
		{`multi(R{"ever"}min=? [ F s=1 ], P>=0.5 [ F s=1 ])`, "+Inf"},
		{`multi(R{"once"}max=? [ F s>0 ], Pmax=? [ F s=1 ])`, "[(2,0.5),(5,0)]"},
		{`multi(1+Pmax=? [ F s=1 ])`, "found an expression of type double in multi(...), want P or R"},
	} {
		v := ask(t, t.Context(), crossroads, tt.property, check.Options{})[0]
		got := ""
		switch {
		case v.Err != nil:
			got = v.Err.Message
		case v.Value.Kind == result.Boolean:
			got = fmt.Sprint(v.Value.Bool)
		case v.Value.Rat != nil:
			got = v.Value.Rat.RatString()
		case v.Value.Kind == result.Curve:
			got = v.Value.Text()
		default:
			got = fmt.Sprint(v.Value.Num)
		}
		if got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.property, got, tt.want)
		}
	}
	curve := ask(t, t.Context(), crossroads, `multi(Pmax=? [ F s=1 ], R{"once"}max=? [ C ])`, check.Options{})[0]
	vertices := result.CurveText(curve.Value.RatPoints, (*big.Rat).RatString, ",")
	if curve.Accuracy != result.Exact || vertices != "[(0,5),(1/2,2)]" {
		t.Errorf("Pareto curve: accuracy %v, fractions %s", curve.Accuracy, vertices)
	}
	for _, src := range []string{fair, strings.Replace(crossroads, "rewards", "init s<2 endinit\nrewards", 1)} {
		if v := ask(t, t.Context(), src, "multi(Pmax=? [ F s=1 ])", check.Options{})[0]; v.Err == nil || v.Err.Class != result.Unsupported {
			t.Errorf("%s: %+v %v", src, v.Value, v.Err)
		}
	}
}

// TestMultiSlow has 49 states, which cycle: fractions alone took minutes to find the
// value that PRISM's -lp gives at once.
func TestMultiSlow(t *testing.T) {
	const model = `mdp
module m x:[0..6]; y:[0..6];
[] x<6 & y<6 -> 0.3:(x'=x+1)+0.7:(y'=y+1);
[] x>0 -> 0.4:(x'=x-1)+0.6:(y'=max(y-1,0));
[] y>0 & x<6 -> 0.35:(y'=y-1)+0.65:(x'=x+1);
[] x=6|y=6 -> 1/7:(x'=0)+6/7:(y'=0);
[] true -> 3/11:(x'=0)+5/11:(y'=2)+3/11:(x'=2);
endmodule`
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	v := ask(t, ctx, model, "multi(Pmax=? [ G x<=2 ], P>=0.01 [ F y<1 ])", check.Options{})[0]
	if v.Err != nil || v.Value.Rat == nil || v.Value.Rat.RatString() != "1" {
		t.Errorf("%v %v, want 1", v.Value, v.Err)
	}
}

// TestMultiTinyWeights has 380 states. The weight of the energy becomes so small that an iteration from below takes more than a million sweeps; before they were
// limited, it took 23 seconds.
func TestMultiTinyWeights(t *testing.T) {
	const model = `mdp
const double slip = 0.1;
module robot
  x:[0..4]; y:[0..3]; bat:[0..12] init 12; dirty:bool init true;
  [east] x<4 & bat>0 -> 1-slip:(x'=x+1)&(bat'=bat-1) + slip:(bat'=bat-1);
  [west] x>0 & bat>0 -> 1-slip:(x'=x-1)&(bat'=bat-1) + slip:(bat'=bat-1);
  [north] y<3 & bat>0 -> 1-slip:(y'=y+1)&(bat'=bat-1) + slip/2:(x'=min(4,x+1))&(bat'=bat-1) + slip/2:(x'=max(0,x-1))&(bat'=bat-1);
  [south] y>0 & bat>0 -> (y'=y-1)&(bat'=bat-1);
  [charge] x=0 & y=0 -> (bat'=12);
  [clean] x=3 & y=2 & dirty -> 0.8:(dirty'=false) + 0.2:true;
endmodule
rewards "energy" [east] true:1; [west] true:1; [north] true:2; [south] true:0.5; endrewards`
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	v := ask(t, ctx, model, `multi(R{"energy"}min=? [ C ], P>=0.5 [ !(x=2&(y=1|y=2)) U (x=4&y=3) ])`, check.Options{})[0]
	const want = "887447472260045/127667086138386"
	if v.Err != nil || v.Value.Rat == nil || v.Value.Rat.RatString() != want {
		t.Errorf("%v %v, want %s", v.Value, v.Err, want)
	}
}

// randomWide is an MDP of more states than fractions are tried for first, from which every
// path leaves for an end.
func randomWide(rng *rand.Rand) string {
	const n = 160
	var b strings.Builder
	fmt.Fprintf(&b, "mdp\nmodule m s:[0..%d];\n", n)
	for s := range n {
		for range 1 + rng.IntN(3) {
			p := 1 + rng.IntN(8)
			fmt.Fprintf(&b, "[] s=%d -> %d/10:(s'=%d) + %d/10:(s'=%d) + 1/10:(s'=%d);\n", s, p, rng.IntN(n), 9-p, rng.IntN(n), n-rng.IntN(20))
		}
	}
	fmt.Fprintf(&b, "[] s=%d -> true;\nendmodule\n", n)
	for _, name := range []string{"a", "b"} {
		fmt.Fprintf(&b, "rewards %q mod(s,%d)=0 & s<%d : 0.%d; endrewards\n", name, 2+rng.IntN(5), n, 1+rng.IntN(9))
	}
	return b.String()
}

// TestMultiBounds: what doubles enclose is what fractions say, of objectives of all kinds.
func TestMultiBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	objectives := []string{
		"Pmax=? [ F s=3 ]", "Pmin=? [ F s>150 & s<158 ]", `R{"a"}max=? [ C ]`, `R{"b"}min=? [ C ]`, `R{"a"}max=? [ C<=3 ]`,
	}
	bounds := []string{
		"P>=%.3f [ F s=5 ]", "P<=%.3f [ s<140 U s=7 ]", `R{"b"}<=%.1f [ C ]`, `R{"b"}>=%.1f [ C ]`, "P>=%.3f [ G s!=9 ]", "P<=%.2f [ F G s=160 ]",
	}
	decided, numbers := 0, 0
	for range max(needs.Some(3), 1) {
		src := randomWide(rng)
		var props strings.Builder
		for _, o := range objectives {
			x := rng.Float64()
			if b := bounds[rng.IntN(len(bounds))]; b[0] == 'R' {
				fmt.Fprintf(&props, "multi(%s, "+b+");\n", o, 4*x)
			} else {
				fmt.Fprintf(&props, "multi(%s, "+b+");\n", o, x*x*x)
			}
		}
		fmt.Fprintf(&props, "multi(P>=%.2f [ F s=3 ], R{\"a\"}<=%.2f [ C ]);\n", rng.Float64()/20, 3*rng.Float64())
		want := ask(t, t.Context(), src, props.String(), check.Options{Accuracy: result.Exact})
		for i, v := range ask(t, t.Context(), src, props.String(), check.Options{}) {
			w := want[i]
			switch {
			case v.Err != nil || w.Err != nil:
				if v.Err == nil || w.Err == nil || v.Err.Message != w.Err.Message {
					t.Errorf("%s%s: %v, exactly %v", src, v.Property, v.Err, w.Err)
				}
			case v.Value.Kind == result.Boolean:
				decided++
				if v.Value.Bool != w.Value.Bool {
					t.Errorf("%s%s: %v, exactly %v", src, v.Property, v.Value.Bool, w.Value.Bool)
				}
			case math.IsNaN(v.Value.Num) && math.IsNaN(w.Value.Num):
			case w.Value.Rat == nil || !encloses(v.Bound, w.Value.Rat):
				t.Errorf("%s%s: %v %v %v, exactly %v", src, v.Property, v.Accuracy, v.Value.Num, v.Bound, w.Value.Num)
			default:
				if v.Accuracy == result.Bounded {
					numbers++
				}
				if v.Bound.Hi-v.Bound.Lo > 1e-8*v.Bound.Hi {
					t.Errorf("%s: %v is wide", v.Property, v.Bound)
				}
			}
		}
	}
	t.Logf("%d values, %d truths", numbers, decided)
	if numbers < 2 || decided < 1 {
		t.Errorf("only %d bounds and %d truths were compared", numbers, decided)
	}
}

func encloses(b *result.Interval, x *big.Rat) bool {
	return new(big.Rat).SetFloat64(b.Lo).Cmp(x) <= 0 && x.Cmp(new(big.Rat).SetFloat64(b.Hi)) <= 0
}
