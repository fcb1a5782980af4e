package expect

import (
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/result/agree"
)

// Outcome is the result of a judgment.
type Outcome uint8

// The outcomes.
const (
	Fail        Outcome = iota
	Pass                // the verdict meets the expectation
	NotTested           // the expected value is ?
	Unsupported         // the engine does not support the property
)

// String returns the word that PRISM prints after "Testing result: ".
func (o Outcome) String() string {
	return [...]string{"FAIL", "PASS", "NOT TESTED", "UNSUPPORTED"}[o]
}

// Judgment is an outcome, with a reason unless it is Pass or NotTested.
type Judgment struct {
	Outcome Outcome
	Reason  string
}

// String returns the text that PRISM prints after "Testing result: ".
func (j Judgment) String() string {
	if j.Reason == "" {
		return j.Outcome.String()
	}
	return j.Outcome.String() + ": " + j.Reason
}

// Judge compares a verdict with the expectation. An Err of class Unsupported gives the outcome Unsupported. Ranges of
// values over several initial states always fail, as in PRISM.
//
// Source: ResultTesting.java of PRISM 4.10.
func (e *Expectation) Judge(v result.Verdict, r Rules) Judgment {
	switch {
	case e.Value == "?":
		return Judgment{Outcome: NotTested}
	case v.Err != nil && v.Err.Class == result.Unsupported:
		return Judgment{Unsupported, v.Err.Message}
	}
	if err := e.compare(v, r); err != nil {
		return Judgment{Fail, err.Error()}
	}
	return Judgment{Outcome: Pass}
}

// compare returns a Problem if the verdict does not meet the expectation.
func (e *Expectation) compare(v result.Verdict, r Rules) error {
	switch failed := v.Err != nil; {
	case failed:
		return e.compareError(v.Err.Message)
	case strings.HasPrefix(e.Value, "Error"):
		return problem("Was expecting an error")
	}
	switch k := v.Value.Kind; {
	case k == result.Boolean && e.Value == "NaN" && !v.Value.Bool && agree.Ask(v.Property, nil).Multi:
		return nil // for infeasible objectives PRISM returns NaN and Storm returns false
	case k == result.Boolean && isNonFiniteOrInterval(e.Value):
		return problem("Wrong result (expected %s, got %t)", e.Value, v.Value.Bool)
	case k == result.Boolean:
		return e.compareBool(v.Value.Bool, r)
	case k == result.Integer && !r.Exact && isNonFiniteOrInterval(e.Value):
		return problem("Wrong result (expected %s, got %v)", e.Value, v.Value.Num)
	case k == result.Integer && !r.Exact:
		return e.compareInt(v.Value.Num, r)
	case k == result.Number && !r.Exact:
		return e.compareDouble(v, r)
	case k == result.Number || k == result.Integer:
		return e.compareExact(v.Value, r)
	case k == result.Range:
		return problem("Don't know how to test properties of type interval of double")
	case k == result.Curve:
		return e.compareCurve(v, r)
	case k == result.Function:
		return e.compareFunction(v.Value, r)
	}
	return problem("Don't know how to test properties of this type")
}

// isNonFiniteOrInterval reports whether the expected value is NaN, an infinity, or an interval.
func isNonFiniteOrInterval(text string) bool {
	x, ok := parseDouble(text)
	return ok && notFinite(x) || interval.MatchString(strings.TrimPrefix(text, "~"))
}

// compareError requires every word of "Error:word,word" in the message.
func (e *Expectation) compareError(msg string) error {
	list, words := strings.CutPrefix(e.Value, "Error:")
	switch {
	case !strings.HasPrefix(e.Value, "Error"):
		return problem("Unexpected error: %s", msg)
	case !words:
		return nil
	}
	// Java's split drops empty parts at the end.
	for word := range strings.SplitSeq(strings.TrimRight(list, ","), ",") {
		if word == "" {
			return problem("Invalid RESULT specification: no expected words immediately following 'Error:'")
		}
		if !strings.Contains(strings.ToLower(msg), strings.ToLower(word)) {
			return problem("Error message should contain %q (it is %q)", word, msg)
		}
	}
	return nil
}

func (e *Expectation) compareBool(got bool, r Rules) error {
	text := e.Value
	want, is := map[string]bool{"true": true, "false": false}[strings.ToLower(text)]
	if !is {
		v, err := evaluateExpression(text, r)
		if err != nil {
			return err
		}
		if v.Type != sema.Bool {
			return problem("Invalid RESULT specification %q: found a %s, want a bool", text, v.Type)
		}
		want = v.Bool
		text += " = " + strconv.FormatBool(want)
	}
	if got != want {
		return problem("Wrong result (expected %s, got %t)", text, got)
	}
	return nil
}

func (e *Expectation) compareInt(got float64, r Rules) error {
	text := e.Value
	want, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		v, err := evaluateExpression(text, r)
		if err != nil {
			return err
		}
		if v.Type != sema.Int {
			return problem("Invalid RESULT specification %q: found a %s, want an int", text, v.Type)
		}
		want = int64(v.Int)
		text += " = " + v.String()
	}
	if got != float64(want) {
		return problem("Wrong result (expected %s, got %v)", text, got)
	}
	return nil
}

var interval = regexp.MustCompile(`^\[([^,]+),([^,]+)\]$`)

// compareDouble compares a number that was computed in floating point.
func (e *Expectation) compareDouble(v result.Verdict, r Rules) error {
	text := strings.TrimPrefix(e.Value, "~")
	if m := interval.FindStringSubmatch(text); m != nil {
		lo, ok := parseDouble(m[1])
		hi, too := parseDouble(m[2])
		if !ok || !too {
			return problem("Invalid RESULT specification %q: found ends that are not numbers", text)
		}
		if x, err := v.Value.Num, tolerance(v, r)+rounding; !(x-err <= hi && lo <= x+err) {
			return problem("Wrong result (expected %s, got %s)", text, numberText(x))
		}
		return nil
	}
	want, ok := parseDouble(text)
	if x := parseRational(text); !ok && x != nil {
		want, _ = x.Float64()
		ok = true
		text += " = " + numberText(want)
	}
	if !ok {
		x, err := evaluateExpression(text, r)
		if err != nil {
			return err
		}
		if x.Type == sema.Bool {
			return problem("Invalid RESULT specification %q: found a bool, want a number", text)
		}
		want = x.Float
		text += " = " + numberText(want)
	}
	return compareNumbers(v.Value.Num, want, tolerance(v, r), text)
}

// rounding is the error that PRISM allows for floating-point arithmetic.
const rounding = 1e-12

// compareNumbers compares two numbers; got may have the absolute error err.
func compareNumbers(got, want, err float64, text string) error {
	switch {
	case math.IsNaN(got) || math.IsNaN(want):
		if math.IsNaN(got) != math.IsNaN(want) {
			return problem("Wrong result (expected %s, got %s)", text, numberText(got))
		}
	case math.IsInf(got, 0) || math.IsInf(want, 0):
		if got != want {
			return problem("Wrong result (expected %s, got %s)", text, numberText(got))
		}
	case !(got-(err+rounding) <= want && want <= got+(err+rounding)):
		return problem("Wrong result (expected %s, abs err = %s > %s)", text, numberText(math.Abs(got-want)), numberText(err))
	}
	return nil
}

// tolerance returns the greatest error of a verdict's value.
func tolerance(v result.Verdict, r Rules) float64 {
	x := v.Value.Num
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	relative := r.Relative * math.Abs(x)
	switch v.Accuracy {
	case result.Exact, result.Float:
		return relative
	case result.Bounded, result.Proven, result.Claimed:
		if v.Bound != nil {
			return max(relative, x-v.Bound.Lo, v.Bound.Hi-x)
		}
	case result.Probable:
		if v.HalfWidth != nil {
			return max(relative, *v.HalfWidth)
		}
		if v.Bound != nil {
			return max(relative, x-v.Bound.Lo, v.Bound.Hi-x)
		}
	}
	return max(relative, DefaultRelative*math.Abs(x))
}

func numberText(x float64) string { return sema.DoubleValue(x).String() }

// compareExact compares a number that was computed in rational arithmetic. A number without a fraction is infinite or NaN.
func (e *Expectation) compareExact(v result.Value, r Rules) error {
	text, approx := strings.CutPrefix(e.Value, "~")
	number, literal := parseDouble(text)
	if v.Rat == nil || literal && (math.IsInf(number, 0) || math.IsNaN(number)) {
		want, err := number, error(nil)
		if !literal {
			var x sema.Value
			x, err = evaluateExpression(text, r)
			want = x.Float
		}
		if err != nil {
			return err
		}
		return compareNumbers(v.Num, want, 0, text)
	}
	want := parseRational(text)
	if want == nil {
		x, err := evaluateExpression(text, r)
		if err != nil {
			return err
		}
		if want = x.Rat; want == nil {
			return problem("Invalid RESULT specification %q: found a value without a fraction", text)
		}
	}
	near := literal && math.Abs(v.Num-number) <= DefaultRelative*math.Abs(v.Num)+rounding
	switch {
	case v.Rat.Cmp(want) == 0 || near && approx && v.Kind == result.Number:
		return nil
	case near && v.Kind == result.Number:
		return problem("Inexact, but close result (expected '%s' = %s, got %s)", text, fractionText(want), fractionText(v.Rat))
	}
	return problem("Wrong result (expected '%s' = %s, got %s)", text, fractionText(want), fractionText(v.Rat))
}

// compareFunction compares two rational functions of the parameters by their values at three random points. Two different
// functions of degree d agree at such a point with probability below d/2^60 (Schwartz-Zippel).
func (e *Expectation) compareFunction(v result.Value, r Rules) error {
	rng := rand.New(rand.NewPCG(1, 2))
	at := r
	for range 3 {
		at.Constants = slices.Clone(r.Constants)
		for _, name := range r.Params {
			at.Constants = append(at.Constants, sema.NamedValue{Name: name, Val: sema.RatValue(big.NewRat(rng.Int64(), 1+rng.Int64N(1<<31)))})
		}
		got, err := evaluateExpression(v.Formula, at)
		if err != nil {
			return err
		}
		want, err := evaluateExpression(e.Value, at)
		if err != nil {
			return err
		}
		if got.Rat == nil || want.Rat == nil || got.Rat.Cmp(want.Rat) != 0 {
			return problem("Wrong result (expected '%s', got %s)", e.Value, v.Formula)
		}
	}
	return nil
}

// fractionText returns a fraction followed by the nearest float64.
func fractionText(x *big.Rat) string {
	f, _ := x.Float64()
	return x.RatString() + " (" + numberText(f) + ")"
}

// compareCurve compares a Pareto curve as PRISM does: the numbers of points must be equal, and each expected point needs a
// computed one near it.
func (e *Expectation) compareCurve(v result.Verdict, r Rules) error {
	if !strings.HasPrefix(e.Value, "[(") || !strings.HasSuffix(e.Value, ")]") {
		return problem("Wrong result (expected %s, got a Pareto curve)", e.Value)
	}
	got := result.CurveText(v.Value.Points, numberText, ",")
	list := strings.Split(strings.Trim(e.Value, "[()]"), "),(")
	if len(list) != len(v.Value.Points) {
		return problem("Wrong result (expected %s, got %s)", e.Value, got)
	}
	for _, text := range list {
		near := func(x []float64) bool {
			numbers := strings.Split(text, ",")
			if len(numbers) != len(x) {
				return false
			}
			for i, number := range numbers {
				want, ok := parseDouble(number)
				off := max(v.Value.Num, max(r.Relative, DefaultRelative)*math.Abs(want)) + rounding
				if !ok || !(math.Abs(x[i]-want) <= off) {
					return false
				}
			}
			return true
		}
		if !slices.ContainsFunc(v.Value.Points, near) {
			return problem("Wrong result (expected %s, got %s)", e.Value, got)
		}
	}
	return nil
}
