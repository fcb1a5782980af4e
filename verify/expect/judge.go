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
	"tilecheck/verify/agree"
)

// Outcome is what a judgment comes to.
type Outcome uint8

// The outcomes.
const (
	Fail        Outcome = iota
	Pass                // the verdict is what is expected
	NotTested           // anything goes
	Unsupported         // there is no verdict because the engine refused
)

// String returns the word that PRISM prints behind "Testing result: ".
func (o Outcome) String() string {
	return [...]string{"FAIL", "PASS", "NOT TESTED", "UNSUPPORTED"}[o]
}

// Judgment is an outcome and, unless it is Pass or NotTested, why.
type Judgment struct {
	Outcome Outcome
	Reason  string
}

// String returns what PRISM prints behind "Testing result: ".
func (j Judgment) String() string {
	if j.Reason == "" {
		return j.Outcome.String()
	}
	return j.Outcome.String() + ": " + j.Reason
}

// Judge compares a verdict with what is expected. A verdict with an Err of
// class Unsupported is never wrong. Intervals as results, over several initial
// states, cannot be expected in PRISM: they fail.
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

// compare returns the Problem there is.
func (e *Expectation) compare(v result.Verdict, r Rules) error {
	switch failed := v.Err != nil; {
	case failed:
		return e.compareError(v.Err.Message)
	case strings.HasPrefix(e.Value, "Error"):
		return problem("Was expecting an error")
	}
	switch k := v.Value.Kind; {
	case k == result.Boolean && e.Value == "NaN" && !v.Value.Bool && agree.Ask(v.Property, nil).Multi:
		return nil // objectives that cannot be met together are NaN to PRISM and false to Storm
	case k == result.Boolean && numeric(e.Value):
		return problem("Wrong result (expected %s, got %t)", e.Value, v.Value.Bool)
	case k == result.Boolean:
		return e.compareBool(v.Value.Bool, r)
	case k == result.Integer && !r.Exact && numeric(e.Value):
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

// numeric reports whether what is expected is no expression, and a number all the
// same: one that is infinite or none, or an interval.
func numeric(text string) bool {
	x, ok := double(text)
	return ok && special(x) || interval.MatchString(strings.TrimPrefix(text, "~"))
}

// compareError wants every word of "Error:word,word" in the message.
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
		v, err := expression(text, r)
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
		v, err := expression(text, r)
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

// compareDouble compares a number that was not computed with fractions.
func (e *Expectation) compareDouble(v result.Verdict, r Rules) error {
	text := strings.TrimPrefix(e.Value, "~")
	if m := interval.FindStringSubmatch(text); m != nil {
		lo, ok := double(m[1])
		hi, too := double(m[2])
		if !ok || !too {
			return problem("Invalid RESULT specification %q: found ends that are not numbers", text)
		}
		if x, err := v.Value.Num, tolerance(v, r)+rounding; !(x-err <= hi && lo <= x+err) {
			return problem("Wrong result (expected %s, got %s)", text, show(x))
		}
		return nil
	}
	want, ok := double(text)
	if x := rational(text); !ok && x != nil {
		want, _ = x.Float64()
		ok = true
		text += " = " + show(want)
	}
	if !ok {
		x, err := expression(text, r)
		if err != nil {
			return err
		}
		if x.Type == sema.Bool {
			return problem("Invalid RESULT specification %q: found a bool, want a number", text)
		}
		want = x.Float
		text += " = " + show(want)
	}
	return compareNumbers(v.Value.Num, want, tolerance(v, r), text)
}

// rounding is what PRISM grants for floating-point arithmetic.
const rounding = 1e-12

// compareNumbers compares two numbers, of which the first may be off by err.
func compareNumbers(got, want, err float64, text string) error {
	switch {
	case math.IsNaN(got) || math.IsNaN(want):
		if math.IsNaN(got) != math.IsNaN(want) {
			return problem("Wrong result (expected %s, got %s)", text, show(got))
		}
	case math.IsInf(got, 0) || math.IsInf(want, 0):
		if got != want {
			return problem("Wrong result (expected %s, got %s)", text, show(got))
		}
	case !(got-(err+rounding) <= want && want <= got+(err+rounding)):
		return problem("Wrong result (expected %s, abs err = %s > %s)", text, show(math.Abs(got-want)), show(err))
	}
	return nil
}

// tolerance returns how far the truth may be from the value of a verdict.
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

func show(x float64) string { return sema.DoubleValue(x).String() }

// compareExact compares a number that was computed with fractions. A number
// without a fraction is infinite, or not a number.
func (e *Expectation) compareExact(v result.Value, r Rules) error {
	text, approx := strings.CutPrefix(e.Value, "~")
	number, literal := double(text)
	if v.Rat == nil || literal && (math.IsInf(number, 0) || math.IsNaN(number)) {
		want, err := number, error(nil)
		if !literal {
			var x sema.Value
			x, err = expression(text, r)
			want = x.Float
		}
		if err != nil {
			return err
		}
		return compareNumbers(v.Num, want, 0, text)
	}
	want := rational(text)
	if want == nil {
		x, err := expression(text, r)
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
		return problem("Inexact, but close result (expected '%s' = %s, got %s)", text, both(want), both(v.Rat))
	}
	return problem("Wrong result (expected '%s' = %s, got %s)", text, both(want), both(v.Rat))
}

// compareFunction compares two rational functions of parameters at points that no one
// chose for them: different ones of degree d agree at one with a probability below d/2^60.
func (e *Expectation) compareFunction(v result.Value, r Rules) error {
	rng := rand.New(rand.NewPCG(1, 2))
	at := r
	for range 3 {
		at.Constants = slices.Clone(r.Constants)
		for _, name := range r.Params {
			at.Constants = append(at.Constants, sema.NamedValue{Name: name, Val: sema.RatValue(big.NewRat(rng.Int64(), 1+rng.Int64N(1<<31)))})
		}
		got, err := expression(v.Formula, at)
		if err != nil {
			return err
		}
		want, err := expression(e.Value, at)
		if err != nil {
			return err
		}
		if got.Rat == nil || want.Rat == nil || got.Rat.Cmp(want.Rat) != 0 {
			return problem("Wrong result (expected '%s', got %s)", e.Value, v.Formula)
		}
	}
	return nil
}

// both shows a fraction and the double next to it.
func both(x *big.Rat) string {
	f, _ := x.Float64()
	return x.RatString() + " (" + show(f) + ")"
}

// compareCurve compares a Pareto curve as PRISM does: as many points, and for each that
// is expected one that is near.
func (e *Expectation) compareCurve(v result.Verdict, r Rules) error {
	if !strings.HasPrefix(e.Value, "[(") || !strings.HasSuffix(e.Value, ")]") {
		return problem("Wrong result (expected %s, got a Pareto curve)", e.Value)
	}
	got := result.CurveText(v.Value.Points, show, ",")
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
				want, ok := double(number)
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
