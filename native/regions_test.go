package native_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"tilecheck/internal/needs"
	"tilecheck/native"
	"tilecheck/result"
	"tilecheck/runner"
)

// With --epsilon the undecided part around a threshold is as small as asked. p^2 is 1/3 at p=0.577350269...
func TestRegionsAsNarrowAsEpsilon(t *testing.T) {
	const model = "dtmc const double p; module m s:[0..3]; [] s=0 -> p:(s'=1) + 1-p:(s'=3); [] s=1 -> p:(s'=2) + 1-p:(s'=3); [] s>1 -> true; endmodule"
	for _, epsilon := range []float64{0.01, 1e-6, 1e-12} {
		job := runner.Job{File: "m.prism", Model: []byte(model), Props: []string{"P>=1/3 [ F s=2 ]"}, Params: []string{"p"}}
		job.Numeric.Epsilon = epsilon
		verdicts, err := runner.Check(t.Context(), native.New(), job)
		if err != nil {
			t.Fatal(err)
		}
		if regions := verdicts[0].Regions; len(regions) != 3 {
			t.Errorf("epsilon %v: regions %s, want one that fails, an undecided one, and one that holds", epsilon, regionText(regions))
		}
		undecided := new(big.Rat)
		for _, region := range verdicts[0].Regions {
			low, high, _ := strings.Cut(strings.TrimPrefix(region.Parameters, "p="), ":")
			from, _ := new(big.Rat).SetString(low)
			to, _ := new(big.Rat).SetString(high)
			fromHolds, toHolds := new(big.Rat).Mul(from, from).Cmp(big.NewRat(1, 3)) >= 0, new(big.Rat).Mul(to, to).Cmp(big.NewRat(1, 3)) >= 0
			switch {
			case region.Holds == nil:
				undecided.Add(undecided, to.Sub(to, from))
			case *region.Holds != fromHolds || *region.Holds != toHolds:
				t.Errorf("epsilon %v: %t from %s to %s", epsilon, *region.Holds, low, high)
			}
		}
		if width, _ := undecided.Float64(); width > epsilon || width < epsilon/4 {
			t.Errorf("epsilon %v: undecided in %v", epsilon, width)
		}
	}
}

// checkWith checks a property with parameters, or with the values of constants.
func checkWith(t *testing.T, model, property string, params, constants []string) result.Verdict {
	t.Helper()
	job := runner.Job{File: "m.prism", Model: []byte(model), Props: []string{property}, Params: params, Consts: constants, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: result.Exact}}}
	vs, err := runner.Check(t.Context(), native.New(), job)
	if err != nil {
		t.Fatal(err, model)
	}
	return vs[0]
}

// The probability of the goal is p^2, and of the least cost 1/p.
func TestRegions(t *testing.T) {
	const model = "dtmc const double p; module m s:[0..3]; [] s=0 -> p:(s'=1) + 1-p:(s'=3); [] s=1 -> p:(s'=2) + 1-p:(s'=3); [] s>1 -> true; endmodule rewards s<2 : 1; endrewards"
	for _, test := range []struct{ property, param, value, regions string }{
		{"P>=0.25 [ F s=2 ]", "p=0.5:1", "true", "p in [1/2, 1) true"}, // the probability 1-p of the model is 0 at 1
		{"P>=0.25 [ F s=2 ]", "p=0:0.5", "false", "p in (0, 1/2) false"},
		{"P>=0.25 [ F s=2 ]", "p=0:1", "false", "p in (0, 1/2) false; p in [1/2, 1) true"},
		{"P<0.26 [ F s=2 ]", "p=0:0.5", "true", "p in (0, 1/2] true"},
		{"P<=0.25 [ F s=2 ]", "p=0:0.5", "true", "p in (0, 1/2] true"},
		{"P<0.25 [ F s=2 ]", "p=0:0.5", "", ""}, // not at 1/2
		{"P<1 [ F s=2 ]", "p=0:0.5", "true", "p in (0, 1/2] true"},
		{"P>=0.5 [ F<=1 s=3 ]", "p=0.5:1", "false", "p in (1/2, 1) false"},
		{"R<=2 [ F s=2 ]", "p=0.5:1", "false", ""}, // infinite
		{"P<0.25 [ F s=2 ]", "p=0.25:0.75", "false", "p in [1/4, 31/64] true; p in (31/64, 1/2) ?; p in [1/2, 3/4] false"},
		{"R>=1 [ C ]", "p=0.5:1", "true", "p in [1/2, 1) true"},
		{"R<=1.5 [ C<=2 ]", "p=0:1", "false", "p in (0, 1/2] true; p in (1/2, 1) false"},
	} {
		v := checkWith(t, model, test.property, []string{test.param}, nil)
		value := ""
		if v.Err == nil {
			value = fmt.Sprint(v.Value.Bool)
		} else if !strings.Contains(v.Err.Message, "neither proven") {
			t.Errorf("%s: %v", test.property, v.Err)
		}
		if regions := regionText(v.Regions); value != test.value || value != "" && regions != test.regions {
			t.Errorf("%s of %s: %s in %s, want %s in %s", test.property, test.param, value, regions, test.value, test.regions)
		}
	}
	ctmc := strings.NewReplacer("dtmc", "ctmc", "1-p:", "p+1:").Replace(model)
	if v := checkWith(t, ctmc, "P<=0.25 [ F s=2 ]", []string{"p=1:2"}, nil); v.Err != nil || !v.Value.Bool {
		t.Errorf("rates: %v, %v", v.Value, v.Err) // (p/(2p+1))^2 < 1/4
	}
	if v := checkWith(t, model, "P<=0.25 [ F s=2 ]", []string{"p=0.5:2"}, nil); v.Err == nil || !strings.Contains(v.Err.Message, "could not be proved positive") {
		t.Errorf("a probability of 2: %v, %v", v.Value, v.Err)
	}
}

func regionText(regions []result.Region) string {
	var parts []string
	for _, region := range regions {
		holds := "?"
		if region.Holds != nil {
			holds = fmt.Sprint(*region.Holds)
		}
		var bounds []string
		for _, parameter := range region.Bounds {
			bounds = append(bounds, parameter.String())
		}
		parts = append(parts, strings.Join(bounds, ", ")+" "+holds)
	}
	return strings.Join(parts, "; ")
}

// TestRegionsAtPoints compares regions of random models with the model at points of them.
func TestRegionsAtPoints(t *testing.T) {
	decided := 0
	for seed := range needs.Models(t, 100) {
		rng := rand.New(rand.NewPCG(seed, 45))
		kind, choices := "dtmc", 1
		if rng.IntN(3) == 0 {
			kind, choices = "mdp", 2
		}
		weights := []string{"p", "q", "p*q", "p/2", "(p+q)/2", "1/3"}
		var model strings.Builder
		fmt.Fprintf(&model, "%s\nconst double p;\nconst double q;\nmodule m s:[0..4];\n", kind)
		for s := range 5 {
			for range choices {
				w := weights[rng.IntN(len(weights))]
				fmt.Fprintf(&model, "  [] s=%d -> %s:(s'=%d) + 1-(%s):(s'=%d);\n", s, w, rng.IntN(5), w, rng.IntN(5))
			}
		}
		model.WriteString("endmodule\nrewards s<3 : 2; s=3 : 1; endrewards\n")
		property := fmt.Sprintf("%s %s", []string{"P>=0.", "P<0.", "P>0.", "P<=0."}[rng.IntN(4)]+fmt.Sprint(1+rng.IntN(9)), []string{"[ F s=4 ]", "[ s!=3 U s=4 ]", "[ G s!=4 ]"}[rng.IntN(3)])
		if rng.IntN(3) == 0 {
			property = []string{"R<=2.5 [ C<=3 ]", "R>3 [ F s>=3 ]", "P<0.4 [ F<=4 s=4 ]"}[rng.IntN(3)]
		}
		v := checkWith(t, model.String(), property, []string{"p=0:1,q=1/4:3/4"}, nil)
		if v.Err != nil && strings.Contains(v.Err.Message, "one scheduler") {
			continue
		}
		if v.Err != nil && !strings.Contains(v.Err.Message, "neither proven nor refuted") && kind == "dtmc" {
			t.Fatalf("seed %d: %s: %v of\n%s", seed, property, v.Err, model.String())
		}
		for _, region := range v.Regions {
			if region.Holds == nil || rng.IntN(4) > 0 {
				continue
			}
			decided++
			constants := pointIn(rng, region.Bounds)
			if at := checkWith(t, model.String(), property, nil, []string{constants}); at.Err != nil || at.Value.Bool != *region.Holds {
				t.Fatalf("seed %d: %s is %v, %v at %s, want %t in %s, of\n%s", seed, property, at.Value.Bool, at.Err, constants, *region.Holds, region.Parameters, model.String())
			}
		}
	}
	if decided < 10 {
		t.Errorf("only %d points", decided)
	}
}

// pointIn returns constants at a point of a region: often a bound that belongs to it.
func pointIn(rng *rand.Rand, region []result.ParameterBounds) string {
	var constants []string
	for _, bounds := range region {
		low, _ := new(big.Rat).SetString(bounds.Lower)
		high, _ := new(big.Rat).SetString(bounds.Upper)
		share := big.NewRat(1+rng.Int64N(99), 100)
		switch place := rng.IntN(3); {
		case place == 0 && bounds.LowerIncluded:
			share.SetInt64(0)
		case place == 1 && bounds.UpperIncluded:
			share.SetInt64(1)
		}
		at := new(big.Rat).Sub(high, low)
		constants = append(constants, bounds.Parameter+"="+at.Mul(at, share).Add(at, low).RatString())
	}
	return strings.Join(constants, ",")
}
