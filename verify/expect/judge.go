package expect

import (
	"math"
	"math/big"
	"math/rand/v2"
	"regexp"
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

// Judge compares a verdict with the expectation. An Err of class Unsupported gives the outcome Unsupported. Ranges of
// values over several initial states always fail, as in PRISM.
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

// compare returns a Problem if the verdict does not meet the expectation.
func (e *Expectation) compare(verdict result.Verdict, rules Rules) error {
	switch {
	case verdict.Err != nil:
		return e.compareError(verdict.Err.Message)
	case strings.HasPrefix(e.Value, "Error"):
		return problem("Was expecting an error")
	}
	kind := verdict.Value.Kind
	switch {
	case kind == result.Boolean && e.Value == "NaN" && !verdict.Value.Bool && agree.Ask(verdict.Property, nil).Multi:
		return nil // for infeasible objectives PRISM returns NaN and Storm returns false
	case kind == result.Boolean && isNonFiniteOrInterval(e.Value):
		return problem("Wrong result (expected %s, got %t)", e.Value, verdict.Value.Bool)
	case kind == result.Boolean:
		return e.compareBool(verdict.Value.Bool, rules)
	case kind == result.Integer && !rules.Exact && isNonFiniteOrInterval(e.Value):
		return problem("Wrong result (expected %s, got %v)", e.Value, verdict.Value.Num)
	case kind == result.Integer && !rules.Exact:
		return e.compareInt(verdict.Value.Num, rules)
	case kind == result.Number && !rules.Exact:
		return e.compareDouble(verdict, rules)
	case kind == result.Number || kind == result.Integer:
		return e.compareExact(verdict.Value, rules)
	case kind == result.Range:
		return problem("Don't know how to test properties of type interval of double")
	case kind == result.Curve:
		return e.compareCurve(verdict, rules)
	case kind == result.Function:
		return e.compareFunction(verdict.Value, rules)
	}
	return problem("Don't know how to test properties of this type")
}

// isNonFiniteOrInterval reports whether the expected value is NaN, an infinity, or an interval.
func isNonFiniteOrInterval(text string) bool {
	number, ok := parseDouble(text)
	return ok && notFinite(number) || intervalPattern.MatchString(strings.TrimPrefix(text, "~"))
}

// compareError requires that an error is expected. If the expected value is "Error:word,word", the message must contain every word.
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

// compareBool compares a truth value with the expected one: true, false, or an expression over constants.
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

// compareInt compares an integer with the expected one: a number, or an expression over constants.
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

// intervalPattern matches an expected interval.
var intervalPattern = regexp.MustCompile(`^\[([^,]+),([^,]+)\]$`)

// compareDouble compares a number that was computed in floating point with the expected interval, number, fraction or expression.
func (e *Expectation) compareDouble(verdict result.Verdict, rules Rules) error {
	text := strings.TrimPrefix(e.Value, "~")
	if match := intervalPattern.FindStringSubmatch(text); match != nil {
		low, ok := parseDouble(match[1])
		high, highIsNumber := parseDouble(match[2])
		if !ok || !highIsNumber {
			return problem("Invalid RESULT specification %q: found ends that are not numbers", text)
		}
		if number, err := verdict.Value.Num, tolerance(verdict, rules)+rounding; !(number-err <= high && low <= number+err) {
			return problem("Wrong result (expected %s, got %s)", text, numberText(number))
		}
		return nil
	}
	want, ok := parseDouble(text)
	if fraction := parseRational(text); !ok && fraction != nil {
		want, _ = fraction.Float64()
		ok = true
		text += " = " + numberText(want)
	}
	if !ok {
		value, err := evaluateExpression(text, rules)
		if err != nil {
			return err
		}
		if value.Type == sema.Bool {
			return problem("Invalid RESULT specification %q: found a bool, want a number", text)
		}
		want = value.Float
		text += " = " + numberText(want)
	}
	return compareNumbers(verdict.Value.Num, want, tolerance(verdict, rules), text)
}

// rounding is the error that PRISM allows for floating-point arithmetic.
const rounding = 1e-12

// compareNumbers compares two numbers; got may have the absolute error err. text is the expected value, for the message.
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

// tolerance returns the largest absolute error that a verdict's value may have by PRISM's rules.
func tolerance(verdict result.Verdict, rules Rules) float64 {
	number := verdict.Value.Num
	if math.IsInf(number, 0) || math.IsNaN(number) {
		return 0
	}
	relative := rules.Relative * math.Abs(number)
	switch verdict.Accuracy {
	case result.Exact, result.Float:
		return relative
	case result.Bounded, result.Proven, result.Claimed:
		if verdict.Bound != nil {
			return max(relative, number-verdict.Bound.Lo, verdict.Bound.Hi-number)
		}
	case result.Probable:
		if verdict.HalfWidth != nil {
			return max(relative, *verdict.HalfWidth)
		}
		if verdict.Bound != nil {
			return max(relative, number-verdict.Bound.Lo, verdict.Bound.Hi-number)
		}
	}
	return max(relative, DefaultRelative*math.Abs(number))
}

// numberText returns a number as PRISM prints it.
func numberText(number float64) string { return sema.DoubleValue(number).String() }

// compareExact compares a number that was computed in rational arithmetic with the expected one. A computed number without a fraction is infinite
// or NaN.
func (e *Expectation) compareExact(value result.Value, rules Rules) error {
	text, approximate := strings.CutPrefix(e.Value, "~")
	number, isNumber := parseDouble(text)
	if value.Rat == nil || isNumber && (math.IsInf(number, 0) || math.IsNaN(number)) {
		want, err := number, error(nil)
		if !isNumber {
			var x sema.Value
			x, err = evaluateExpression(text, rules)
			want = x.Float
		}
		if err != nil {
			return err
		}
		return compareNumbers(value.Num, want, 0, text)
	}
	want := parseRational(text)
	if want == nil {
		x, err := evaluateExpression(text, rules)
		if err != nil {
			return err
		}
		if want = x.Rat; want == nil {
			return problem("Invalid RESULT specification %q: found a value without a fraction", text)
		}
	}
	near := isNumber && math.Abs(value.Num-number) <= DefaultRelative*math.Abs(value.Num)+rounding
	switch {
	case value.Rat.Cmp(want) == 0 || near && approximate && value.Kind == result.Number:
		return nil
	case near && value.Kind == result.Number:
		return problem("Inexact, but close result (expected '%s' = %s, got %s)", text, fractionText(want), fractionText(value.Rat))
	}
	return problem("Wrong result (expected '%s' = %s, got %s)", text, fractionText(want), fractionText(value.Rat))
}

// compareFunction compares two rational functions of the parameters by their values at three random points. Two different
// functions of degree d agree at such a point with probability below d/2^60 (Schwartz-Zippel).
func (e *Expectation) compareFunction(value result.Value, rules Rules) error {
	rng := rand.New(rand.NewPCG(1, 2))
	withParams := rules // with random values for the parameters
	for range 3 {
		withParams.Constants = slices.Clone(rules.Constants)
		for _, name := range rules.Params {
			withParams.Constants = append(withParams.Constants, sema.NamedValue{Name: name, Val: sema.RatValue(big.NewRat(rng.Int64(), 1+rng.Int64N(1<<31)))})
		}
		got, err := evaluateExpression(value.Formula, withParams)
		if err != nil {
			return err
		}
		want, err := evaluateExpression(e.Value, withParams)
		if err != nil {
			return err
		}
		if got.Rat == nil || want.Rat == nil || got.Rat.Cmp(want.Rat) != 0 {
			return problem("Wrong result (expected '%s', got %s)", e.Value, value.Formula)
		}
	}
	return nil
}

// fractionText returns a fraction followed by the nearest float64.
func fractionText(fraction *big.Rat) string {
	inFloat, _ := fraction.Float64()
	return fraction.RatString() + " (" + numberText(inFloat) + ")"
}

// compareCurve compares a Pareto curve as PRISM does: the numbers of points must be equal, and each expected point must have a computed point
// near it.
func (e *Expectation) compareCurve(verdict result.Verdict, rules Rules) error {
	if !strings.HasPrefix(e.Value, "[(") || !strings.HasSuffix(e.Value, ")]") {
		return problem("Wrong result (expected %s, got a Pareto curve)", e.Value)
	}
	got := result.CurveText(verdict.Value.Points, numberText, ",")
	list := strings.Split(strings.Trim(e.Value, "[()]"), "),(")
	if len(list) != len(verdict.Value.Points) {
		return problem("Wrong result (expected %s, got %s)", e.Value, got)
	}
	for _, text := range list {
		near := func(point []float64) bool {
			numbers := strings.Split(text, ",")
			if len(numbers) != len(point) {
				return false
			}
			for i, number := range numbers {
				want, ok := parseDouble(number)
				allowed := max(verdict.Value.Num, max(rules.Relative, DefaultRelative)*math.Abs(want)) + rounding
				if !ok || !(math.Abs(point[i]-want) <= allowed) {
					return false
				}
			}
			return true
		}
		if !slices.ContainsFunc(verdict.Value.Points, near) {
			return problem("Wrong result (expected %s, got %s)", e.Value, got)
		}
	}
	return nil
}
