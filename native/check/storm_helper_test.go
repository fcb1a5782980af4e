package check_test

import (
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"tilecheck/native"
	"tilecheck/prism/syntax"
	"tilecheck/result"
	"tilecheck/runner"
)

// stormOrError checks a property in Storm's dialect, which may be wrong.
func stormOrError(t *testing.T, model string, accuracy result.Accuracy, property string) (result.Verdict, error) {
	t.Helper()
	job := runner.Job{File: "m.prism", Model: []byte(model), Props: []string{property}, Dialect: syntax.Storm, Settings: runner.Settings{Numeric: runner.Numeric{Accuracy: accuracy}}}
	vs, err := runner.Check(t.Context(), native.New(), job)
	if len(vs) == 0 {
		return result.Verdict{}, errors.Join(err, errors.New("no verdict"))
	}
	return vs[0], err
}

// sameValue reports whether a verdict has a value: true, false, inf, or a fraction.
func sameValue(v result.Verdict, want string) bool {
	switch want {
	case "true", "false":
		return v.Value.Kind == result.Boolean && v.Value.Bool == (want == "true")
	case "inf", "-inf":
		return math.IsInf(v.Value.Num, map[string]int{"inf": 1, "-inf": -1}[want])
	}
	fraction, _ := new(big.Rat).SetString(want)
	return v.Value.Rat != nil && v.Value.Rat.Cmp(fraction) == 0
}

// hasBounds reports whether a verdict has the value, or narrow bounds that contain it.
func hasBounds(v result.Verdict, want string) bool {
	if v.Bound == nil || want == "true" || want == "false" || strings.HasSuffix(want, "inf") {
		return sameValue(v, want)
	}
	fraction, _ := new(big.Rat).SetString(want)
	f, _ := fraction.Float64()
	return v.Bound.Lo <= f && f <= v.Bound.Hi && v.Bound.Hi-v.Bound.Lo <= 1e-6*max(math.Abs(v.Bound.Hi), math.Abs(v.Bound.Lo))
}

// checkStorm checks a property in Storm's dialect for its fraction and its bounds, or for an error, which is written behind a question mark.
func checkStorm(t *testing.T, model, property, want string) {
	t.Helper()
	if text, refused := strings.CutPrefix(want, "?"); refused {
		v, err := stormOrError(t, model, result.Bounded, property)
		if err == nil && v.Err != nil {
			err = v.Err
		}
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: found %v, %v, want %q", property, v.Value, err, text)
		}
		return
	}
	if v := storm(t, model, result.Exact, property)[0]; v.Err != nil || !sameValue(v, want) {
		t.Errorf("%s: found %v, %v, want %s", property, v.Value, v.Err, want)
	}
	if v := storm(t, model, result.Bounded, property)[0]; v.Err != nil || !hasBounds(v, want) {
		t.Errorf("%s: found %v in %v, %v, want %s", property, v.Value, v.Bound, v.Err, want)
	}
}
