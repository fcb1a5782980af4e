package native_test

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"runtime"
	"strings"
	"testing"
	"time"

	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

func checkTimed(t *testing.T, model, property string, n runner.Numeric) result.Verdict {
	t.Helper()
	vs, err := runner.Check(t.Context(), native.New(), runner.Job{File: "m.prism", Model: []byte(model), Props: []string{property}, Settings: runner.Settings{Numeric: n}})
	if err != nil {
		t.Fatal(err)
	}
	return vs[0]
}

// expNeg returns exp(-x) with some hundred digits, by its series.
func expNeg(x *big.Rat) *big.Float {
	sum, term, y := new(big.Float).SetPrec(400).SetInt64(1), new(big.Float).SetPrec(400).SetInt64(1), new(big.Float).SetPrec(400).SetRat(x)
	for k := 1; k < 300; k++ {
		term.Mul(term, y)
		term.Quo(term, new(big.Float).SetInt64(int64(-k)))
		sum.Add(sum, term)
	}
	return sum
}

// TestTimesOfTheText checks time bounds that doubles get wrong with the closed
// forms of a model that does one step, at rate 1 and for a reward of 1.
func TestTimesOfTheText(t *testing.T) {
	const model = "ctmc module m x:[0..1]; [a] x=0 -> (x'=1); [] x=1 -> (x'=1); endmodule rewards x=0 : 1; endrewards"
	between := func(a, b string) *big.Float {
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		return new(big.Float).Sub(expNeg(x), expNeg(y))
	}
	for _, tt := range []struct {
		property string
		want     *big.Float
	}{
		{"P=? [ x=0 U[0.3,30000000000000001e-17] x=1 ]", between("0.3", "30000000000000001e-17")},
		{"P=? [ x=0 U[0.3,0.3+1e-17] x=1 ]", between("0.3", "30000000000000001e-17")},
		{"P=? [ x=0 U[0.3,0.1+0.2] x=1 ]", new(big.Float)},
		{"P=? [ x=0 U[0.1+0.2,0.3] x=1 ]", new(big.Float)},
		{"P=? [ x=0 U[0.1*3,0.3+1e-30] x=1 ]", between("0.3", "0.300000000000000000000000000001")},
		{"P=? [ F<=1e-17 x=1 ]", between("0", "1e-17")},
		{"P=? [ F<=((1+1e-17)-1) x=1 ]", between("0", "1e-17")},
		{"P=? [ F[(1+1e-17)-1,(1+3e-17)-1] x=1 ]", between("0", "3e-17")},
		{"P=? [ G<=(0.1*3) x=0 ]", expNeg(big.NewRat(3, 10))},
		{"P=? [ F<=(pow(2,0.5)-pow(2,0.5)+1e-16) x=1 ]", between("0", "1e-16")},
		{"P=? [ F<=(pow(2,0.5)-pow(2,0.5)+1e-10) x=1 ]", between("0", "1e-10")},
		{"P=? [ F<=(pow(2,0.5)) x=1 ]", new(big.Float).Sub(big.NewFloat(1), big.NewFloat(math.Exp(-math.Sqrt2)))},
		{"R=? [ I=0.1*3 ]", expNeg(big.NewRat(3, 10))},
		{"R=? [ I=(1+1e-17)-1 ]", expNeg(big.NewRat(1, 1e17))},
		{"R=? [ C<=(1+1e-17)-1 ]", between("0", "1e-17")},
		{"R=? [ C<=0.1*3 ]", between("0", "0.3")},
		{"P=? [ F<=1e-400 P>0 [ x=0 U[0.3,30000000000000001e-17] x=1 ] ]", big.NewFloat(1)},
	} {
		for _, n := range []runner.Numeric{{}, {Epsilon: 1e-12}, {Epsilon: 1e-3}, {Accuracy: result.Float}} {
			v := checkTimed(t, model, tt.property, n)
			if v.Err != nil {
				t.Errorf("%s: %v", tt.property, v.Err)
				continue
			}
			off := new(big.Float).SetMantExp(tt.want, -45) // of math.Exp
			if !strings.Contains(tt.property, "pow") {
				off.SetInt64(0)
			}
			lo, hi := big.NewFloat(v.Bound.Lo), big.NewFloat(v.Bound.Hi)
			if lo.Sub(lo, tt.want).Cmp(off) > 0 || hi.Sub(tt.want, hi).Cmp(off) > 0 {
				t.Errorf("%s, epsilon %g: %v, want %.20g", tt.property, n.Epsilon, v.Bound, tt.want)
			}
			if width := v.Bound.Hi - v.Bound.Lo; len(v.Warnings) == 0 && width > max(n.Epsilon, 1e-8)*v.Bound.Hi {
				t.Errorf("%s, epsilon %g: %v is wide, without a warning", tt.property, n.Epsilon, v.Bound)
			}
		}
	}
	for property, want := range map[string]string{
		"P=? [ F[30000000000000001e-17,0.3] x=1 ]":     "are empty",
		"P=? [ F<=((1-1e-17)-1) x=1 ]":                 "holds at no time",
		"P=? [ F>=((1-1e-17)-1) x=1 ]":                 "want a finite number of at least 0",
		"P=? [ F<((0.3-0.2)-0.1) x=1 ]":                "holds at no time",
		"R=? [ C<=0.3-0.2-0.1-1e-30 ]":                 "want a finite number of at least 0",
		"P=? [ F[pow(2,0.5),pow(8,0.5)/2] x=1 ]":       "do not decide which is less",
		"P=? [ F<=(pow(2,0.5)-pow(2,0.5)+1e-90) x=1 ]": "do not decide whether it is",
		"P=? [ F<=(pow(2,0.5)-pow(2,0.5)+1e-74) x=1 ]": "too few digits of the time bound",
		"P=? [ F<=(pow(2,0.5)-pow(8,0.5)/2) x=1 ]":     "do not decide whether it is",
		"P=? [ F[pow(2,0.5),pow(2,0.5)-1e-3] x=1 ]":    "are empty",
	} {
		if v := checkTimed(t, model, property, runner.Numeric{}); v.Err == nil || !strings.Contains(v.Err.Message, want) {
			t.Errorf("%s: %v, want %q", property, v.Err, want)
		}
	}
}

// ring is a CTMC of n states in a ring, at the rate 1000, with a reward of 1 in the
// first. In the long run all have the probability 1/n.
func ring(n int) string {
	return fmt.Sprintf("ctmc module m x:[0..%d]; [] true -> 1000:(x'=mod(x+1,%d)); endmodule rewards x=0 : 1; endrewards label \"l\" = x=%d;", n-1, n, n-1)
}

// TestLongTimes: a time bound in which a model takes 1e15 steps takes neither their
// time nor the memory of their probabilities.
func TestLongTimes(t *testing.T) {
	for property, want := range map[string]float64{
		"P=? [ F<=1e12 \"l\" ]":              1,
		"P=? [ G<=1e12 !\"l\" ]":             0,
		"P=? [ F[1,1e12] x=1 ]":              1,
		"P=? [ F[1e12,1e12] x=1 ]":           0.2,
		"R=? [ I=1e12 ]":                     0.2,
		"R=? [ C<=1e12 ]":                    2e11,
		"P=? [ x<3 U<=1e300 x=3 ]":           1,
		"P=? [ F<=10 P>=1 [ F<=1e13 x=3 ] ]": math.NaN(), // below 1 from some states
	} {
		before := memory()
		v := checkTimed(t, ring(5), property, runner.Numeric{})
		if used := memory() - before; used > 1<<30 {
			t.Errorf("%s takes %d bytes", property, used)
		}
		if math.IsNaN(want) {
			want = 1
		}
		if v.Err != nil || v.Bound.Lo > want*(1+1e-12) || v.Bound.Hi < want*(1-1e-12) && want > 0 || v.Bound.Hi-v.Bound.Lo > 1e-8*v.Bound.Hi && want > 0 {
			t.Errorf("%s: %v %v %v, want %v", property, v.Err, v.Bound, v.Warnings, want)
		}
	}
	for _, property := range []string{"R=? [ I=1e12 ]", "R=? [ C<=1e400 ]", "P=? [ F[1e12,2e12] \"l\" ]"} {
		v := checkTimed(t, ring(600), property, runner.Numeric{})
		if v.Err == nil || v.Err.Class != result.Unsupported || !strings.Contains(v.Err.Message, "the fastest rate times the time is") || !v.Err.Pos.IsValid() {
			t.Errorf("%s: %v %v, want a refusal", property, v.Value, v.Err)
		}
	}
}

func memory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestLongTimesStop: they end when they are told.
func TestLongTimesStop(t *testing.T) {
	for _, property := range []string{"R=? [ I=4e6 ]", "P=? [ F<=1e12 x=1 & x=2 | x=399 ]", "P=? [ F[1e6,4e6] x=1 ]", "R=? [ C<=4e6 ]"} {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		start := time.Now()
		vs, err := runner.Check(ctx, native.New(), runner.Job{File: "m.prism", Model: []byte(ring(400)), Props: []string{property}})
		cancel()
		if d := time.Since(start); d > 5*time.Second { // on a machine with other work; alone it is 0.3
			t.Errorf("%s ends after %v: %v %v", property, d, vs, err)
		}
	}
}

// TestGreatTimedRewards checks rewards whose products with rates are greater than
// doubles. The numbers are those of a matrix exponential with 512 bits.
func TestGreatTimedRewards(t *testing.T) {
	const instant = `ctmc module m0
  x : [0..4];
  [] x=0 -> 1:(x'=4) + (1/49):(x'=0);
  [a] x=0 -> (1/3):(x'=0) + 0.5:(x'=4) + (1/49):(x'=2);
  [] x=1 -> 2:(x'=4);
  [a] x=2 -> 1:(x'=3) + 0.5:(x'=2) + 1e-9:(x'=2);
  [a] x=3 -> 1000:(x'=4);
  [a] x=4 -> 3.5:(x'=4);
endmodule
rewards x=3 : 8e307; endrewards`
	const cumulative = `ctmc module m0
  x : [0..4];
  [a] x=0 -> 0.001:(x'=0) + 3.5:(x'=3);
  [a] x=1 -> (1/3):(x'=2) + 7:(x'=1);
  [] x=2 -> 0.5:(x'=2);
  [] x=3 -> 1e17:(x'=4);
  [] x=4 -> 3.5:(x'=0) + (1/49):(x'=1);
endmodule
rewards !(x=3) : 3; [a] !(x=0) : 8e307; endrewards`
	for _, tt := range []struct {
		model, property string
		want            float64
	}{
		{instant, "R=? [ I=2.5 ]", 1.87561348564667429e302},
		{cumulative, "R=? [ C<=2.5e-18 ]", 6.49313188109289151957e252},
		{"ctmc module m x:[0..1]; [] x=0 -> 1:(x'=1); [] x=1 -> 1:(x'=1); endmodule rewards x=0 : 1.7e308; endrewards", "R=? [ I=1 ]", 1.7e308 / math.E},
		{"ctmc module m x:[0..1]; [] x=0 -> 1000:(x'=1); [] x=1 -> 1:(x'=1); endmodule rewards x=0 : 1.7e308; x=1 : 1; endrewards", "R=? [ C<=1e10 ]", 1.7e305},
		{"ctmc module m x:[0..1]; [] true -> 1:true; endmodule rewards true : 1.7e308; endrewards", "R=? [ C<=1e-10 ]", 1.7e298},
		{"ctmc module m x:[0..1]; [] true -> 1:true; endmodule rewards true : 1e-300; endrewards", "R=? [ C<=1e-400 ]", 0},
	} {
		for _, n := range []runner.Numeric{{}, {Epsilon: 1e-12}, {Accuracy: result.Float}} {
			v := checkTimed(t, tt.model, tt.property, n)
			if v.Err != nil || !(v.Bound.Lo <= tt.want*(1+1e-13) && v.Bound.Hi >= tt.want*(1-1e-13)) || len(v.Warnings) == 0 && v.Bound.Hi-v.Bound.Lo > 1e-8*v.Bound.Hi {
				t.Errorf("%s: %v %v %v, want %v", tt.property, v.Err, v.Bound, v.Warnings, tt.want)
			}
		}
	}
	if v := checkTimed(t, "ctmc module m x:[0..1]; [] true -> 1:true; endmodule rewards true : 1e-300; endrewards", "R=? [ C<=1e-400 ]", runner.Numeric{}); v.Err == nil && v.Bound.Hi == 0 {
		t.Error("1e-700 is not 0")
	}
}
