package agree_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/result/agree"
	"tilecheck/stats"
)

func TestAsk(t *testing.T) {
	constants := []result.Constant{{Name: "p", Value: "0.25"}, {Name: "q", Value: "1/8"}}
	for _, tc := range []struct {
		property string
		want     agree.Question
	}{
		{"P=? [ F s=1 ]", agree.Question{Operator: 'P'}},
		{"((Pmax=? [ F s=1 ]))", agree.Question{Operator: 'P', Extremum: syntax.Max}},
		{"R{\"x\"}min=? [ C<=3 ]", agree.Question{Operator: 'R', Extremum: syntax.Min}},
		{"P>=1/6 [ F s=1 ]", agree.Question{Operator: 'P', Rel: syntax.OpGe, Bound: 1.0 / 6}},
		{"P<(p+q)*2 [ F s=1 ]", agree.Question{Operator: 'P', Rel: syntax.OpLt, Bound: 0.75}},
		{"P=? [ F s=1 ] * 2", agree.Question{}},
		{"filter(max, P=? [ F s=1 ], true)", agree.Question{}},
		{"multi(Pmax=? [ F s=1 ], P>=0.5 [ F s=2 ])", agree.Question{Multi: true}},
		{"P=? [", agree.Question{}},
	} {
		if got := agree.Ask(tc.property, constants); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", tc.property, got, tc.want)
		}
	}
	if q := agree.Ask("P>=x [ F s=1 ]", constants); !math.IsNaN(q.Bound) || q.Rel != syntax.OpGe {
		t.Errorf("a bound that is not known: %+v", q)
	}
}

// An interval that is made longer for more confidence holds what the same samples
// give at that confidence.
func TestLongerIntervals(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var m stats.Moments
		bounds := stats.Bounds{Lo: -random.Float64() * 10, Hi: random.Float64() * 10}
		spread := math.Pow(10, -3*random.Float64())
		for range 2 + random.IntN(200) {
			x := bounds.Lo + (bounds.Hi-bounds.Lo)*random.Float64()*spread
			m.Add(x)
		}
		less := 1 - math.Pow(10, -1-3*random.Float64())
		more := 1 - (1-less)*math.Pow(10, -5*random.Float64())
		sequential := random.IntN(2) == 0
		i, err := stats.RewardInterval(m, &bounds, less, sequential)
		if err != nil {
			t.Fatal(err)
		}
		want, err := stats.RewardInterval(m, &bounds, more, sequential)
		if err != nil {
			t.Fatal(err)
		}
		v := result.Verdict{
			Value: result.Value{Kind: result.Number, Num: m.Mean()}, Accuracy: result.Probable, Samples: m.N, Confidence: less,
			Bound: &result.Interval{Lo: i.Lo, Hi: i.Hi}, BoundMethod: i.Method.String(),
		}
		got, err := agree.Interval(&v, agree.Question{Operator: 'R'}, more)
		if slack := 1e-9 * (bounds.Hi - bounds.Lo); err != nil || got.Lo > want.Lo+slack || got.Hi < want.Hi-slack {
			t.Fatalf("%v samples, %v to %v: %v, %v; want at least [%v, %v]", m.N, less, more, got, err, want.Lo, want.Hi)
		}
	}
}

// Who is asked first makes no difference, what is equal is never different, and
// what is not proven on both sides is never called so.
func TestOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		a, b := verdict(random), verdict(random)
		q := agree.Ask([]string{"P=? [ F s=1 ]", "Pmax=? [ F s=1 ]", "multi(Pmax=? [ F s=1 ], P>=0.5 [ F s=2 ])"}[random.IntN(3)], nil)
		x, y := agree.Verdicts("a", &a, "b", &b, q, agree.Options{}), agree.Verdicts("b", &b, "a", &a, q, agree.Options{})
		if x.Relation != y.Relation || x.Basis != y.Basis || x.Compatible != y.Compatible || x.Error != y.Error {
			t.Fatalf("%+v\n%+v\n%+v, and the other way round %+v", a, b, x, y)
		}
		certain := func(v *result.Verdict) bool {
			return v.Doubt == "" && (v.Accuracy == result.Proven || v.Accuracy == result.Exact || v.Accuracy == result.Bounded)
		}
		if x.Basis == agree.Proven && !(certain(&a) && certain(&b)) {
			t.Fatalf("%+v\n%+v\nproven: %+v", a, b, x)
		}
		if self := agree.Verdicts("a", &a, "b", &a, q, agree.Options{}); self.Relation == agree.Different {
			t.Fatalf("%+v\ndiffers from itself: %+v", a, self)
		}
	}
}

func verdict(random *rand.Rand) result.Verdict {
	numbers := []float64{0, 1, 0.5, 0.25, 1.0 / 3, 1e-300, math.NaN(), math.Inf(1), math.Inf(-1), -2, 1e308}
	x := numbers[random.IntN(len(numbers))]
	v := result.Verdict{
		Accuracy:   result.Accuracy(random.IntN(int(result.Claimed) + 1)),
		Resolution: result.Resolution(random.IntN(int(result.Fixed) + 1)),
		Value:      result.Value{Kind: result.Kind(random.IntN(int(result.Range) + 1)), Num: x, Bool: random.IntN(2) == 0},
	}
	switch {
	case v.Value.Kind == result.Range:
		v.Value.Hi = x + 1
	case v.Accuracy == result.Exact && !math.IsNaN(x) && !math.IsInf(x, 0):
		v.Value.Rat = new(big.Rat).SetFloat64(x)
	case random.IntN(2) == 0 && !math.IsNaN(x):
		v.Bound = &result.Interval{Lo: x, Hi: x + random.Float64()}
	}
	if v.Accuracy == result.Probable {
		v.Samples, v.Confidence = 100, 0.99
	}
	if random.IntN(4) == 0 {
		v.Doubt = "unreliable"
	}
	return v
}

func TestLevel(t *testing.T) {
	if got := agree.Level(0.99, 4); got != 0.9975 {
		t.Errorf("got %v, want 0.9975", got)
	}
}

func ExampleVerdicts() {
	ours := result.Verdict{Value: result.Value{Kind: result.Number}, Accuracy: result.Bounded, Bound: &result.Interval{}}
	theirs := result.Verdict{Value: result.Value{Kind: result.Number, Num: 0.25}, Accuracy: result.Float}
	o := agree.Verdicts("native", &ours, "prism", &theirs, agree.Ask("P=? [ F s=1 ]", nil), agree.Options{})
	fmt.Println(o.Relation, o.Basis)
	fmt.Println(o.Reason)
	// Output:
	// different estimated
	// estimated values are further apart than the tolerance: native 0, prism 0.25
}

// A claimed interval that contains what is proven holds, which is said; but if it is wide it tells little. One that is apart is wrong.
func TestClaimsAndProofs(t *testing.T) {
	verdict := func(accuracy result.Accuracy, lo, hi float64) *result.Verdict {
		return &result.Verdict{Property: "Pmax=? [ F s=1 ]", Accuracy: accuracy, Value: result.Value{Kind: result.Number, Num: (lo + hi) / 2}, Bound: &result.Interval{Lo: lo, Hi: hi}}
	}
	for _, c := range []struct {
		claimed, proven [2]float64
		want            agree.Relation
		holds           bool
	}{
		{[2]float64{0.5, 0.7}, [2]float64{0.6, 0.6 + 1e-9}, agree.Unknown, true},
		{[2]float64{0.6, 0.6 + 2e-9}, [2]float64{0.6, 0.6 + 1e-9}, agree.Same, false},
		{[2]float64{0.5, 0.7}, [2]float64{0.55, 0.65}, agree.Unknown, true},
		{[2]float64{0.5, 0.7}, [2]float64{0.65, 0.75}, agree.Unknown, false},
		{[2]float64{0.55, 0.65}, [2]float64{0.5, 0.7}, agree.Unknown, false},
		{[2]float64{0.5, 0.7}, [2]float64{0.7 + 1e-9, 0.75}, agree.Different, false},
	} {
		p, q := verdict(result.Claimed, c.claimed[0], c.claimed[1]), verdict(result.Bounded, c.proven[0], c.proven[1])
		question := agree.Ask(p.Property, nil)
		for _, got := range []agree.Outcome{agree.Verdicts("prism", p, "native", q, question, agree.Options{}), agree.Verdicts("native", q, "prism", p, question, agree.Options{})} {
			if got.Relation != c.want || got.Basis != agree.Claimed || strings.Contains(got.Reason, "holds") != c.holds {
				t.Errorf("claimed %v, proven %v: %v (%s, %s), want %v", c.claimed, c.proven, got.Relation, got.Basis, got.Reason, c.want)
			}
		}
	}
}
