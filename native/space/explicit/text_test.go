package explicit_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native/space/explicit"
	"tilecheck/prism/compile"
)

// TestTransitionsOfTheText compares what is built with doubles with fractions, for
// random probabilities that cancel, overflow and underflow. The fractions are
// those of Options.Exact, whose arithmetic math/big does.
func TestTransitionsOfTheText(t *testing.T) {
	built, rangeErr, models := 0, 0, needs.Some(uint64(1000))
	if needs.IsLong() {
		models = 20_000
	}
	for seed := range models {
		w := &hurtful{rand.New(rand.NewPCG(seed, 13))}
		x := w.number(3)
		src := fmt.Sprintf(`%s const double c=%s; module m s:[0..3];
[] s=0 & %s<=%s -> %s:(s'=1)+%s:(s'=2);
[] s=0 -> (s'=floor(min(3,max(0,%s))));
[] s>0 -> 1:true; endmodule
rewards s=0:max(0,%s); [] s=0:max(0,%s); endrewards`,
			w.pick("mdp", "ctmc", "dtmc"), strings.ReplaceAll(w.number(1), "s", "3"), w.number(2), w.number(2),
			"min(1,max(0,"+x+"))", "1-min(1,max(0,"+x+"))", w.number(2), w.number(3), w.number(2))
		m := compiled(t, src)
		d, err := explicit.Build(t.Context(), m, explicit.Options{CompileFrom: int(seed%2) * 1})
		e, exactErr := explicit.Build(t.Context(), m, explicit.Options{Exact: true})
		if err != nil || exactErr != nil {
			// Numbers of too many digits are refused, and sums that no Int can be.
			state, none := (*compile.StateError)(nil), (*compile.UnsupportedError)(nil)
			if err == nil || exactErr == nil || !errors.As(err, &state) && !errors.As(err, &none) {
				t.Fatalf("%s\n%v, %v", src, err, exactErr)
			}
			continue
		}
		built++
		if d.Unfit() != nil {
			rangeErr++
		}
		sameSupport(t, src, d, e)
		if t.Failed() {
			t.Fatal(src)
		}
	}
	if built < int(models)/2 || rangeErr < int(models)/100 {
		t.Errorf("%d built, %d of them unfit, want more", built, rangeErr)
	}
}

// sameSupport compares states, transitions, weights and rewards.
func sameSupport(t *testing.T, src string, d, e *explicit.Space) {
	t.Helper()
	a, b := d.Model(), e.Model()
	if fmt.Sprint(a.FirstTransition, a.Target) != fmt.Sprint(b.FirstTransition, b.Target) {
		t.Fatalf("transitions %v %v, want %v %v\n%s", a.FirstTransition, a.Target, b.FirstTransition, b.Target, src)
	}
	for i := range a.Target {
		within(t, "weight", a.Prob(i), b.Fraction(i), a.RelErr)
	}
	if a.RelErr > 1e-10 && !math.IsInf(a.RelErr, 1) {
		t.Errorf("error %v", a.RelErr)
	}
	r, err := d.Reward(0)
	q, exactErr := e.Reward(0)
	if err != nil || exactErr != nil {
		none := (*compile.UnsupportedError)(nil) // too many digits: an enclosure does
		if !errors.As(exactErr, &none) && (err == nil || exactErr == nil || err.Error() != exactErr.Error()) {
			t.Fatal(err, exactErr)
		}
		return
	}
	for i := range r.State {
		within(t, "state reward", r.State[i], q.StateFractions[i], r.RelErr)
	}
	for i := range r.Choice {
		within(t, "choice reward", r.Choice[i], q.ChoiceFractions[i], r.RelErr)
	}
}

// hurtful writes expressions over s and the constant c that mislead doubles.
type hurtful struct{ *rand.Rand }

func (proof *hurtful) pick(list ...string) string { return list[proof.IntN(len(list))] }

func (proof *hurtful) number(depth int) string {
	if depth == 0 || proof.IntN(4) == 0 {
		return proof.pick("0.1", "0.2", "0.3", "1", "1e-17", "1e-320", "1e-400", "1e16", "1e308", "(1/49)", "(48/49)", "s", "(s+1)", "0.29", "100", "1e-200")
	}
	x, y := proof.number(depth-1), proof.number(depth-1)
	switch proof.IntN(8) {
	case 0:
		return "(" + x + "+" + y + ")"
	case 1, 2:
		return "(" + x + "-" + y + ")"
	case 3:
		return "(" + x + "*" + y + ")"
	case 4:
		return "(1-(1-" + x + "))"
	case 5:
		return "(" + x + "<=" + y + "?" + x + ":" + y + ")"
	case 6:
		return proof.pick("min(", "max(") + x + "," + y + ")"
	}
	return "pow(" + x + "," + proof.pick("2", "3") + ")"
}

// TestUnfit: numbers that doubles are no good for are named, and what there is of
// transitions is right.
func TestUnfit(t *testing.T) {
	for src, want := range map[string]string{
		"dtmc module m s:[0..2]; [] s=0 -> 1e-320:(s'=1)+1-1e-320:(s'=2); [] s>0 -> true; endmodule":                                                          "probability 1e-320 is outside the range of float64 arithmetic, in state (s=0)",
		"ctmc module m s:[0..1]; [] s=0 -> 1e310:(s'=1); [] s>0 -> true; endmodule":                                                                           "rate 1e+310 is outside the range of float64 arithmetic, in state (s=0)",
		"mdp module m s:[0..1]; [a] true -> 1e-200:(s'=1)+1-1e-200:(s'=0); endmodule module n t:[0..1]; [a] true -> 1e-200:(t'=1)+1-1e-200:(t'=0); endmodule": "probability 1e-400 is outside the range of float64 arithmetic, in state (s=0,t=0)",
	} {
		s := build(t, src, explicit.Options{})
		if s.Unfit() == nil || s.Unfit().Error() != want || !math.IsInf(s.Model().RelErr, 1) {
			t.Errorf("%s: %v, want %s", src, s.Unfit(), want)
		}
	}
	s := build(t, `dtmc module m s:[0..1]; [] true -> true; endmodule rewards "a" true:1e-320; endrewards rewards "b" true:1e310; endrewards rewards "c" true:1e-300; endrewards`, explicit.Options{})
	for i, rangeErr := range []bool{true, true, false} {
		if r, err := s.Reward(i); err != nil || (r.RangeErr != nil) != rangeErr || math.IsInf(r.RelErr, 1) != rangeErr {
			t.Errorf("structure %d: %v, %v", i, r, err)
		}
	}
}

// TestSameNumbers: choices whose numbers are the same are one, whatever doubles
// make of them; those that differ are two.
func TestSameNumbers(t *testing.T) {
	for src, want := range map[string]int{
		"[] s=0 -> 0.1+0.2:(s'=1)+0.7:(s'=2); [] s=0 -> 0.3:(s'=1)+0.7:(s'=2);":                                1,
		"[] s=0 -> (s+1)*0.1+0.2:(s'=1)+0.7:(s'=2); [] s=0 -> 0.3:(s'=1)+0.7:(s'=2);":                          1,
		"[] s=0 -> 1/49*49*0.5:(s'=1)+0.5:(s'=2); [] s=0 -> 0.5:(s'=1)+0.5:(s'=2);":                            1,
		"[] s=0 -> 0.3+1e-15:(s'=1)+0.7-1e-15:(s'=2); [] s=0 -> 0.3:(s'=1)+0.7:(s'=2);":                        2,
		"[] s=0 -> 0.3+1e-13:(s'=1)+0.7-1e-13:(s'=2); [] s=0 -> 0.3:(s'=1)+0.7:(s'=2);":                        2,
		"[] s=0 -> 0.1+0.2:(s'=1)+0.7:(s'=2); [] s=0 -> 0.7:(s'=2)+0.3:(s'=1); [] s=0 -> 0.4:(s'=1)+0.6:true;": 2,
	} {
		for _, exact := range []bool{false, true} {
			space := build(t, "mdp module m s:[0..2]; "+src+" [] s>0 -> true; endmodule", explicit.Options{Exact: exact})
			written := strings.Count(src, "->")
			if first, end := space.Model().Choices(0); end-first != want || space.Merged() != written-want {
				t.Errorf("%s, exact %v: %d choices and %d merged, want %d of %d", src, exact, end-first, space.Merged(), want, written)
			}
		}
	}
}

// TestPlaces: errors name the place of the expression that fails, in every mode.
func TestPlaces(t *testing.T) {
	for src, want := range map[string]string{
		"ctmc\nmodule m\n s:[0..1];\n [] true -> 2*mod(3,s):(s'=1);\nendmodule":   "m.prism:4:15: mod",
		"dtmc\nmodule m\n s:[0..1];\n [] true -> (s'=1*mod(3,s));\nendmodule":     "m.prism:4:19: mod",
		"dtmc\nmodule m\n s:[0..1];\n [] s=0 & mod(3,s)>0 -> (s'=1);\nendmodule":  "m.prism:4:11: mod",
		"ctmc\nmodule m\n s:[0..1];\n [] true -> 1:(s'=1) + s-1:true;\nendmodule": "m.prism:4:24: rate -1 is negative",
	} {
		for _, exact := range []bool{false, true} {
			_, err := explicit.Build(t.Context(), compiled(t, src), explicit.Options{Exact: exact})
			if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), "in state (s=0)") {
				t.Errorf("exact %v: %v, want %s", exact, err, want)
			}
		}
	}
	const src = "dtmc\nmodule m\n s:[0..1];\n [] true -> true;\nendmodule\nrewards\n s=0 & true : 2+mod(3,s);\nendrewards"
	for _, exact := range []bool{false, true} {
		_, err := build(t, src, explicit.Options{Exact: exact}).Reward(0)
		if err == nil || !strings.HasPrefix(err.Error(), "m.prism:7:17: mod") {
			t.Errorf("exact %v: %v", exact, err)
		}
	}
}
