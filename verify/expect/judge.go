package expect

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/noun"
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

// Judge compares a verdict with the expectation. An error of class Unsupported gives the outcome Unsupported. The range of values over several
// initial states always fails, as in PRISM.
//
// Source: ResultTesting.java of PRISM 4.10.
func (e *Expectation) Judge(verdict result.Verdict, rules Rules) Judgment {
	switch {
	case e.Value == "?":
		return Judgment{Outcome: NotTested}
	case verdict.Err != nil && verdict.Err.Class == result.Unsupported:
		return Judgment{Unsupported, verdict.Err.Message}
	}
	if err := e.compare(verdict, rules); err != nil {
		return Judgment{Fail, err.Error()}
	}
	return Judgment{Outcome: Pass}
}

// compare returns nil if the verdict meets the expectation, and a Problem otherwise. The kind of the verdict's value decides how it is compared.
func (e *Expectation) compare(verdict result.Verdict, rules Rules) error {
	if verdict.Err != nil {
		return e.compareError(verdict.Err.Message)
	}
	if strings.HasPrefix(e.Value, "Error") {
		return problem("Was expecting an error")
	}
	switch verdict.Value.Kind {
	case result.Boolean:
		return e.compareTruth(verdict, rules)
	case result.Integer:
		if rules.Exact {
			return e.compareExact(verdict.Value, rules)
		}
		if isNonFiniteOrInterval(e.Value) {
			return problem("Wrong result (expected %s, got %v)", e.Value, verdict.Value.Num)
		}
		return e.compareInt(verdict.Value.Num, rules)
	case result.Number:
		if rules.Exact {
			return e.compareExact(verdict.Value, rules)
		}
		return e.compareDouble(verdict, rules)
	case result.Range:
		return problem("Don't know how to test properties of type interval of double")
	case result.Curve:
		return e.compareCurve(verdict, rules)
	case result.Function:
		return e.compareFunction(verdict.Value, rules)
	}
	return problem("Don't know how to test properties of this type")
}

// compareTruth returns a Problem if the truth value of a verdict is not the expected value.
func (e *Expectation) compareTruth(verdict result.Verdict, rules Rules) error {
	truthValue := verdict.Value.Bool
	if e.Value == "NaN" && !truthValue && agree.Ask(verdict.Property, nil).Multi { // for infeasible objectives PRISM returns NaN and Storm returns false
		return nil
	}
	if isNonFiniteOrInterval(e.Value) {
		return problem("Wrong result (expected %s, got %t)", e.Value, truthValue)
	}
	return e.compareBool(truthValue, rules)
}

// isNonFiniteOrInterval reports whether the expected value is NaN, an infinity, or an interval.
func isNonFiniteOrInterval(text string) bool {
	number, ok := parseDouble(text)
	return ok && notFinite(number) || isInterval(strings.TrimPrefix(text, "~"))
}

// compareError returns a Problem unless the annotation expects an error. For the expected value "Error:word,word", the message must contain every
// word.
func (e *Expectation) compareError(message string) error {
	list, hasWords := strings.CutPrefix(e.Value, "Error:")
	switch {
	case !strings.HasPrefix(e.Value, "Error"):
		return problem("Unexpected error: %s", message)
	case !hasWords:
		return nil
	}
	// Java's split drops empty parts at the end.
	for word := range strings.SplitSeq(strings.TrimRight(list, ","), ",") {
		if word == "" {
			return problem("Invalid RESULT specification: no expected words immediately following 'Error:'")
		}
		if !strings.Contains(strings.ToLower(message), strings.ToLower(word)) {
			return problem("Error message should contain %q (it is %q)", word, message)
		}
	}
	return nil
}

// compareBool returns a Problem unless a truth value is the expected one: true, false, or the value of an expression over constants.
func (e *Expectation) compareBool(got bool, rules Rules) error {
	text := e.Value
	want, isLiteral := map[string]bool{"true": true, "false": false}[strings.ToLower(text)]
	if !isLiteral {
		value, err := evaluateExpression(text, rules)
		if err != nil {
			return err
		}
		if value.Type != sema.Bool {
			return problem("Invalid RESULT specification %q: found %s, want a bool", text, noun.WithArticle(value.Type.String()))
		}
		want = value.Bool
		text += " = " + strconv.FormatBool(want)
	}
	if got != want {
		return problem("Wrong result (expected %s, got %t)", text, got)
	}
	return nil
}

// compareInt returns a Problem unless an integer is the expected one: a number, or the value of an expression over constants.
func (e *Expectation) compareInt(got float64, rules Rules) error {
	text := e.Value
	want, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		value, err := evaluateExpression(text, rules)
		if err != nil {
			return err
		}
		if value.Type != sema.Int {
			return problem("Invalid RESULT specification %q: found %s, want an int", text, noun.WithArticle(value.Type.String()))
		}
		want = int64(value.Int)
		text += " = " + value.String()
	}
	if got != float64(want) {
		return problem("Wrong result (expected %s, got %v)", text, got)
	}
	return nil
}

// compareDouble returns a Problem unless a number is near the expected number, fraction or expression, or in the expected interval. The number
// was computed in floating point.
func (e *Expectation) compareDouble(verdict result.Verdict, rules Rules) error {
	text := strings.TrimPrefix(e.Value, "~")
	got, allowedError := verdict.Value.Num, tolerance(verdict, rules)
	if isInterval(text) {
		return compareWithInterval(got, text, allowedError)
	}
	if want, ok := parseDouble(text); ok {
		return compareNumbers(got, want, allowedError, text)
	}
	if fraction := parseRational(text); fraction != nil {
		want, _ := fraction.Float64()
		return compareNumbers(got, want, allowedError, text+" = "+numberText(want))
	}
	value, err := evaluateExpression(text, rules)
	if err != nil {
		return err
	}
	if value.Type == sema.Bool {
		return problem("Invalid RESULT specification %q: found a bool, want a number", text)
	}
	return compareNumbers(got, value.Float, allowedError, text+" = "+numberText(value.Float))
}

// compareWithInterval returns a Problem unless a number is in an interval. maxError is the absolute error of the number.
func compareWithInterval(got float64, text string, maxError float64) error {
	want, ok := parseInterval(text)
	if !ok {
		return problem("Invalid RESULT specification %q: found ends that are not numbers", text)
	}
	allowed := maxError + roundingError
	isNear := got-allowed <= want.Hi && want.Lo <= got+allowed // false for NaN
	if !isNear {
		return problem("Wrong result (expected %s, got %s)", text, numberText(got))
	}
	return nil
}

// roundingError is the error that PRISM allows for floating-point arithmetic.
const roundingError = 1e-12

// compareNumbers returns a Problem unless two numbers differ by at most maxError. Infinities must be equal, and NaN equals NaN. text is the
// expected value, for the message.
func compareNumbers(got, want, maxError float64, text string) error {
	if notFinite(got) || notFinite(want) {
		bothNaN := math.IsNaN(got) && math.IsNaN(want)
		if got != want && !bothNaN {
			return problem("Wrong result (expected %s, got %s)", text, numberText(got))
		}
		return nil
	}
	allowed := maxError + roundingError
	isNear := got-allowed <= want && want <= got+allowed
	if !isNear {
		return problem("Wrong result (expected %s, abs err = %s > %s)", text, numberText(math.Abs(got-want)), numberText(maxError))
	}
	return nil
}

// tolerance returns the allowed absolute error of a verdict's value by PRISM's rules: the largest of the relative tolerance, the stated half-width and the
// distance to the ends of the stated interval. Without a half-width and an interval, it is at least DefaultRelative, except for exact and float values. An
// infinity or NaN allows no error.
func tolerance(verdict result.Verdict, rules Rules) float64 {
	number := verdict.Value.Num
	if notFinite(number) {
		return 0
	}
	relative := rules.Relative * math.Abs(number)
	hasInterval := verdict.Bound != nil && slices.Contains([]result.Accuracy{result.Bounded, result.Proven, result.Claimed, result.Probable}, verdict.Accuracy)
	switch {
	case verdict.Accuracy == result.Exact || verdict.Accuracy == result.Float:
		return relative
	case verdict.Accuracy == result.Probable && verdict.HalfWidth != nil:
		return max(relative, *verdict.HalfWidth)
	case hasInterval:
		return max(relative, number-verdict.Bound.Lo, verdict.Bound.Hi-number)
	}
	return max(relative, DefaultRelative*math.Abs(number))
}

// numberText returns a number as PRISM prints it.
func numberText(number float64) string { return sema.DoubleValue(number).String() }

// compareExact returns a Problem unless a fraction equals the expected value. If the expected value begins with ~, a small difference is allowed.
// A number without a fraction is infinite or NaN.
func (e *Expectation) compareExact(value result.Value, rules Rules) error {
	text, isApproximate := strings.CutPrefix(e.Value, "~")
	if value.Rat == nil {
		return compareNonFinite(value.Num, text, rules)
	}
	number, isNumber := parseDouble(text)
	if isNumber && notFinite(number) {
		return compareNumbers(value.Num, number, 0, text)
	}
	want, err := expectedFraction(text, rules)
	if err != nil {
		return err
	}
	if value.Rat.Cmp(want) == 0 {
		return nil
	}
	allowed := DefaultRelative*math.Abs(value.Num) + roundingError
	isNear := value.Kind == result.Number && isNumber && math.Abs(value.Num-number) <= allowed
	if isNear && isApproximate {
		return nil
	}
	kind := "Wrong"
	if isNear {
		kind = "Inexact, but close"
	}
	return problem("%s result (expected '%s' = %s, got %s)", kind, text, fractionText(want), fractionText(value.Rat))
}

// compareNonFinite returns a Problem unless an infinity or NaN equals the expected number or expression.
func compareNonFinite(got float64, text string, rules Rules) error {
	if number, isNumber := parseDouble(text); isNumber {
		return compareNumbers(got, number, 0, text)
	}
	value, err := evaluateExpression(text, rules)
	if err != nil {
		return err
	}
	return compareNumbers(got, value.Float, 0, text)
}

// expectedFraction parses a decimal number or a fraction, or evaluates an expression in rational arithmetic.
func expectedFraction(text string, rules Rules) (*big.Rat, error) {
	if fraction := parseRational(text); fraction != nil {
		return fraction, nil
	}
	value, err := evaluateExpression(text, rules)
	if err == nil && value.Rat == nil {
		err = problem("Invalid RESULT specification %q: found a value without a fraction", text)
	}
	return value.Rat, err
}

// compareFunction compares two rational functions of the parameters by their values at three random points. Two different functions of degree d
// agree at such a point with probability below d/2^60 (Schwartz-Zippel lemma).
func (e *Expectation) compareFunction(value result.Value, rules Rules) error {
	const numPoints = 3
	rng := rand.New(rand.NewPCG(1, 2))
	for range numPoints {
		pointRules := rules.withRandomParameters(rng)
		got, err := evaluateExpression(value.Formula, pointRules)
		if err != nil {
			return err
		}
		want, err := evaluateExpression(e.Value, pointRules)
		if err != nil {
			return err
		}
		if got.Rat == nil || want.Rat == nil || got.Rat.Cmp(want.Rat) != 0 {
			return problem("Wrong result (expected '%s', got %s)", e.Value, value.Formula)
		}
	}
	return nil
}

// withRandomParameters returns rules in which each parameter is a constant with a random value.
func (r Rules) withRandomParameters(rng *rand.Rand) Rules {
	r.Constants = slices.Clone(r.Constants)
	for _, name := range r.Params {
		random := big.NewRat(rng.Int64(), 1+rng.Int64N(1<<31))
		r.Constants = append(r.Constants, sema.NamedValue{Name: name, Val: sema.RatValue(random)})
	}
	return r
}

// fractionText returns a fraction followed by the nearest float64.
func fractionText(fraction *big.Rat) string {
	inFloat, _ := fraction.Float64()
	return fraction.RatString() + " (" + numberText(inFloat) + ")"
}

// compareCurve returns a Problem unless a Pareto curve is near the expected one. As in PRISM, both must have the same number of points, and each
// expected point must be near a computed point.
func (e *Expectation) compareCurve(verdict result.Verdict, rules Rules) error {
	if !strings.HasPrefix(e.Value, "[(") || !strings.HasSuffix(e.Value, ")]") {
		return problem("Wrong result (expected %s, got a Pareto curve)", e.Value)
	}
	points := verdict.Value.Points
	wrongCurve := problem("Wrong result (expected %s, got %s)", e.Value, result.CurveText(points, numberText, ","))
	expected := strings.Split(strings.Trim(e.Value, "[()]"), "),(")
	if len(expected) != len(points) {
		return wrongCurve
	}
	relative, absolute := max(rules.Relative, DefaultRelative), verdict.Value.Num
	for _, text := range expected {
		numbers := strings.Split(text, ",")
		isNear := func(point []float64) bool { return isNearPoint(point, numbers, relative, absolute) }
		if !slices.ContainsFunc(points, isNear) {
			return wrongCurve
		}
	}
	return nil
}

// isNearPoint reports whether each coordinate of a point is within the relative or the absolute tolerance of the expected number.
func isNearPoint(point []float64, expected []string, relative, absolute float64) bool {
	if len(expected) != len(point) {
		return false
	}
	for i, text := range expected {
		want, ok := parseDouble(text)
		allowed := max(absolute, relative*math.Abs(want)) + roundingError
		if !ok || !(math.Abs(point[i]-want) <= allowed) {
			return false
		}
	}
	return true
}
