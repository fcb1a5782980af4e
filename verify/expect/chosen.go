package expect

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/interval"
	"tilecheck/internal/noun"
	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/result/agree"
)

// Annotations are the annotations of a property that apply under one valuation; each is nil if there is none.
type Annotations struct {
	Result *Expectation
	Terms  *Terms
}

// Expects reports whether there is an expectation to judge by.
func (c Annotations) Expects() bool {
	return c.Result != nil || c.Terms != nil && len(c.Terms.Errors) > 0
}

// String returns the expected value and its terms in the words of a report, such as "1/6 tolerance=1e-06".
func (c Annotations) String() string {
	var words []string
	if c.Result != nil {
		words = append(words, c.Result.Value)
	}
	terms := c.Terms
	if terms == nil {
		return strings.Join(words, " ")
	}
	if terms.Tolerance != nil {
		words = append(words, "tolerance="+shortest(*terms.Tolerance))
	}
	if terms.Absolute != nil {
		words = append(words, "absolute="+shortest(*terms.Absolute))
	}
	if terms.Statistical != nil {
		words = append(words, fmt.Sprintf("samples=%d", terms.Statistical.Samples))
	}
	if len(terms.Errors) > 0 {
		words = append(words, "an error of class "+classNames(terms.Errors))
	}
	return strings.Join(words, " ")
}

// shortest returns the shortest decimal text of a float64.
func shortest(number float64) string { return result.JSONNumber(number).String() }

// classNames joins the names of failure classes with "or". It returns "any" for all classes, and "limit" for the classes of that group.
func classNames(classes []result.Class) string {
	if slices.Equal(classes, classesNamed("any")) {
		return "any"
	}
	if slices.Equal(classes, classesNamed("limit")) {
		return "limit"
	}
	var names []string
	for _, class := range classes {
		names = append(names, string(class))
	}
	return strings.Join(names, " or ")
}

// Judge compares a verdict with the chosen annotations and returns the outcome of the test. The caller must have checked that Expects is true, because there
// must be something to compare with.
func (c Annotations) Judge(verdict result.Verdict, rules Rules) Judgment {
	terms := c.Terms
	if terms == nil {
		return c.Result.Judge(verdict, rules)
	}
	if terms.Errors != nil {
		return c.judgeError(verdict, rules)
	}
	switch {
	case c.Result.Value == "?":
		return Judgment{Outcome: NotTested}
	case verdict.Err != nil:
		return c.Result.Judge(verdict, rules)
	case terms.Statistical != nil:
		return judgment(c.Result.compareSampled(verdict, rules, terms.Statistical))
	case terms.Tolerance != nil || terms.Absolute != nil:
		return judgment(c.Result.compareWithTolerance(verdict, rules, terms))
	}
	return c.Result.Judge(verdict, rules)
}

// judgment returns Pass if err is nil, and otherwise Fail with the text of err as the reason.
func judgment(err error) Judgment {
	if err != nil {
		return Judgment{Fail, err.Error()}
	}
	return Judgment{Outcome: Pass}
}

// judgeError returns the judgment Pass if the verdict is a failure of an expected class, and Fail otherwise. If the expected result is
// "Error:word,word", the message of the failure must also contain these words.
func (c Annotations) judgeError(verdict result.Verdict, rules Rules) Judgment {
	want := classNames(c.Terms.Errors)
	switch {
	case verdict.Err == nil:
		return Judgment{Fail, fmt.Sprintf("Was expecting an error of class %s", want)}
	case !slices.Contains(c.Terms.Errors, verdict.Err.Class):
		return Judgment{Fail, fmt.Sprintf("Was expecting an error of class %s, got one of class %s: %s", want, verdict.Err.Class, verdict.Err.Message)}
	case c.Result != nil && strings.HasPrefix(c.Result.Value, "Error"):
		return judgment(c.Result.compareError(verdict.Err.Message))
	}
	return Judgment{Outcome: Pass}
}

// expectedRange returns the interval of expected numbers. If a number, a fraction or an expression is expected, the interval has one number. It
// returns an error if the expected value has another form.
func (e *Expectation) expectedRange(rules Rules) (interval.Interval, error) {
	text := strings.TrimPrefix(e.Value, "~")
	if isInterval(text) {
		bounds, ok := parseInterval(text)
		if !ok {
			return interval.Interval{}, problem("Invalid RESULT specification %q: found ends that are not numbers", text)
		}
		return bounds, nil
	}
	if number, ok := parseDouble(text); ok {
		return interval.Point(number), nil
	}
	if fraction := parseRational(text); fraction != nil {
		nearest, _ := fraction.Float64()
		return interval.Point(nearest), nil
	}
	value, err := evaluateExpression(text, rules)
	if err != nil {
		return interval.Interval{}, err
	}
	if value.Type == sema.Bool {
		return interval.Interval{}, problem("Invalid RESULT specification %q: want a number", text)
	}
	return interval.Point(value.Float), nil
}

// compareWithTolerance returns an error unless the number of a verdict is within the tolerance that the terms allow. If the reference value is
// precise, the engine's guaranteed bounds must also contain the reference value.
func (e *Expectation) compareWithTolerance(verdict result.Verdict, rules Rules, terms *Terms) error {
	switch kind := verdict.Value.Kind; {
	case kind == result.Boolean && terms.Reference != NoReference:
		return e.withTruthValue().compare(verdict, rules)
	case kind != result.Number && kind != result.Integer:
		return e.compare(verdict, rules)
	case strings.HasPrefix(e.Value, "Error"):
		return problem("Was expecting an error")
	}
	want, err := e.expectedRange(rules)
	if err != nil {
		return err
	}
	if terms.Reference == Precise {
		if err := e.compareGuarantee(verdict); err != nil {
			return err
		}
	}
	got := verdict.Value.Num
	if notFinite(got) || !hasFiniteNumbers(want) { // there is no distance to compare
		isInside := want.Lo < want.Hi && want.Lo <= got && got <= want.Hi
		if isInside {
			return nil
		}
		return compareNumbers(got, want.Lo, 0, e.Value)
	}
	return e.compareDistance(got, want, terms.relativeTolerance(verdict.Accuracy), orZero(terms.Absolute))
}

// withTruthValue returns the expectation with the value true in place of 1 and false in place of 0. Benchmark sets write truth values as 1 and 0.
func (e *Expectation) withTruthValue() *Expectation {
	number, ok := parseDouble(e.Value)
	if !ok || number != 0 && number != 1 {
		return e
	}
	converted := *e
	converted.Value = strconv.FormatBool(number == 1)
	return &converted
}

// hasFiniteNumbers reports whether an interval contains a finite number. It returns false if a bound is NaN.
func hasFiniteNumbers(bounds interval.Interval) bool {
	if math.IsNaN(bounds.Lo) || math.IsNaN(bounds.Hi) {
		return false
	}
	isInfinitePoint := bounds.Lo == bounds.Hi && notFinite(bounds.Lo)
	return !isInfinitePoint
}

// relativeTolerance returns the relative tolerance of the terms. It is at least Unsound if the reference value is precise and the method
// guarantees no bounds.
func (t *Terms) relativeTolerance(accuracy result.Accuracy) float64 {
	relative := orZero(t.Tolerance)
	if t.Reference == Precise && !guaranteesBounds(accuracy) {
		return max(relative, Unsound)
	}
	return relative
}

// compareDistance returns an error unless the distance of a number from the expected interval is within the relative or the absolute tolerance.
func (e *Expectation) compareDistance(got float64, want interval.Interval, relative, absolute float64) error {
	const subtractionError = 4 * 0x1p-52 // relative to got
	allowed := max(relative*referenceSize(want, got), absolute)
	distance := max(want.Lo-got, got-want.Hi, 0)
	if !(distance <= allowed+subtractionError*math.Abs(got)) {
		return problem("Wrong result (expected %s, got %s, abs err = %s > %s)", e.Value, numberText(got), numberText(distance), numberText(allowed))
	}
	return nil
}

// referenceSize returns the number to which a relative error refers: the larger absolute value of the two ends of the expected interval. If an end is
// infinite, it is the absolute value of the upper end if got is above it, and of the lower end otherwise.
func referenceSize(want interval.Interval, got float64) float64 {
	larger := max(math.Abs(want.Lo), math.Abs(want.Hi))
	switch {
	case !notFinite(larger):
		return larger
	case got > want.Hi:
		return math.Abs(want.Hi)
	}
	return math.Abs(want.Lo)
}

// compareGuarantee returns an error if the expected number differs from the engine's fraction or lies outside the engine's bounds. The expected
// number must be precise.
func (e *Expectation) compareGuarantee(verdict result.Verdict) error {
	want := parseRational(e.Value)
	if want == nil || !guaranteesBounds(verdict.Accuracy) {
		return nil
	}
	if fraction := verdict.Value.Rat; verdict.Accuracy == result.Exact && fraction != nil {
		if fraction.Cmp(want) != 0 {
			return problem("Wrong result (expected %s, got the fraction %s)", fractionText(want), fractionText(fraction))
		}
		return nil
	}
	if bound := verdict.Bound; bound != nil && !intervalContains(*bound, want) {
		return problem("%s (expected %s, got %s in [%s, %s])", Violated, e.Value, numberText(verdict.Value.Num), numberText(bound.Lo), numberText(bound.Hi))
	}
	return nil
}

// guaranteesBounds reports whether a value of this accuracy has bounds that the engine guarantees.
func guaranteesBounds(accuracy result.Accuracy) bool {
	switch accuracy {
	case result.Exact, result.Bounded, result.Proven, result.Claimed:
		return true
	}
	return false
}

// intervalContains reports whether a fraction lies in an interval, without rounding the fraction.
func intervalContains(bounds result.Interval, fraction *big.Rat) bool {
	aboveLower, belowUpper := math.IsInf(bounds.Lo, -1), math.IsInf(bounds.Hi, 1)
	if lower := new(big.Rat).SetFloat64(bounds.Lo); lower != nil && lower.Cmp(fraction) <= 0 {
		aboveLower = true
	}
	if upper := new(big.Rat).SetFloat64(bounds.Hi); upper != nil && fraction.Cmp(upper) <= 0 {
		belowUpper = true
	}
	return aboveLower && belowUpper
}

// Violated is the beginning of the reason if the reference lies outside the engine's promised bounds.
const Violated = "Bound violated"

// notFinite reports whether a number is NaN or infinite.
func notFinite(number float64) bool { return math.IsNaN(number) || math.IsInf(number, 0) }

// compareSampled returns an error unless the confidence interval of a sampled number overlaps the expected interval. The confidence interval must
// also be as narrow as the terms require.
func (e *Expectation) compareSampled(verdict result.Verdict, rules Rules, terms *Statistical) error {
	isNumber := verdict.Value.Kind == result.Number || verdict.Value.Kind == result.Integer
	if verdict.Accuracy != result.Probable || !isNumber {
		return problem("Was expecting a sampled number, got one that is %s", verdict.Accuracy)
	}
	want, err := e.expectedRange(rules)
	if err != nil {
		return err
	}
	question := agree.Ask(verdict.Property, verdict.Constants)
	question.FixedSamples = true // the terms determine the number of samples
	confidence, err := agree.Interval(&verdict, question, rules.Level)
	if err != nil {
		return problem("No confidence interval with confidence %v is known for the sampled value (a reward needs the term maxreward)", rules.Level)
	}
	low, high := numberText(confidence.Lo), numberText(confidence.Hi)
	overlaps := want.Lo <= confidence.Hi && confidence.Lo <= want.Hi
	if !overlaps {
		return problem("Wrong result (expected %s, got %s in [%s, %s] with confidence %v from %s)",
			e.Value, numberText(verdict.Value.Num), low, high, rules.Level, noun.Count(verdict.Samples, "sample"))
	}
	halfWidth := (confidence.Hi - confidence.Lo) / 2
	if terms.Width > 0 && !(halfWidth <= terms.Width) {
		return problem("The interval [%s, %s] is too wide (half-width %s, want at most %s)", low, high, numberText(halfWidth), numberText(terms.Width))
	}
	return nil
}
