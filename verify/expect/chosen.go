package expect

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/sema"
	"tilecheck/result"
	"tilecheck/result/agree"
)

// Chosen are the annotations of a property that apply under one valuation; each is nil if there is none.
type Chosen struct {
	Result *Expectation
	Terms  *Terms
}

// Expects reports whether there is an expectation to judge by.
func (c Chosen) Expects() bool { return c.Result != nil || c.Terms != nil && len(c.Terms.Errors) > 0 }

// String describes the expectation for a report.
func (c Chosen) String() string {
	var parts []string
	if c.Result != nil {
		parts = append(parts, c.Result.Value)
	}
	if t := c.Terms; t != nil {
		for _, x := range []struct {
			value *float64
			name  string
		}{{t.Tolerance, "tolerance"}, {t.Absolute, "absolute"}} {
			if x.value != nil {
				parts = append(parts, x.name+"="+strconv.FormatFloat(*x.value, 'g', -1, 64))
			}
		}
		if t.Statistical != nil {
			parts = append(parts, fmt.Sprintf("samples=%d", t.Statistical.Samples))
		}
		if len(t.Errors) > 0 {
			parts = append(parts, "an error of class "+classNames(t.Errors))
		}
	}
	return strings.Join(parts, " ")
}

// classNames joins the names of failure classes, with "any" and "limit" for those groups.
func classNames(classes []result.Class) string {
	if slices.Equal(classes, classesNamed("any")) {
		return "any"
	}
	if slices.Equal(classes, classesNamed("limit")) {
		return "limit"
	}
	var names []string
	for _, c := range classes {
		names = append(names, string(c))
	}
	return strings.Join(names, " or ")
}

// Judge compares a verdict with the expectation. Expects must be true. Without terms it is Expectation.Judge.
func (c Chosen) Judge(v result.Verdict, r Rules) Judgment {
	t := c.Terms
	if t == nil {
		return c.Result.Judge(v, r)
	}
	if t.Errors != nil {
		return c.judgeError(v, r)
	}
	switch {
	case c.Result.Value == "?":
		return Judgment{Outcome: NotTested}
	case v.Err != nil:
		return c.Result.Judge(v, r)
	case t.Statistical != nil:
		return judgment(c.Result.compareSampled(v, r, t.Statistical))
	case t.Tolerance != nil || t.Absolute != nil:
		return judgment(c.Result.compareWithTolerance(v, r, t))
	}
	return c.Result.Judge(v, r)
}

func judgment(err error) Judgment {
	if err != nil {
		return Judgment{Fail, err.Error()}
	}
	return Judgment{Outcome: Pass}
}

// judgeError requires a failure of an expected class and, if the result is "Error:words", these words in its message.
func (c Chosen) judgeError(v result.Verdict, r Rules) Judgment {
	want := classNames(c.Terms.Errors)
	switch {
	case v.Err == nil:
		return Judgment{Fail, fmt.Sprintf("Was expecting an error of class %s", want)}
	case !slices.Contains(c.Terms.Errors, v.Err.Class):
		return Judgment{Fail, fmt.Sprintf("Was expecting an error of class %s, got one of class %s: %s", want, v.Err.Class, v.Err.Message)}
	case c.Result != nil && strings.HasPrefix(c.Result.Value, "Error"):
		return judgment(c.Result.compareError(v.Err.Message))
	}
	return Judgment{Outcome: Pass}
}

// numberRange is an expected number: any between lo and hi.
type numberRange struct{ lo, hi float64 }

// expectedRange parses the expected value as a number or an interval.
func (e *Expectation) expectedRange(r Rules) (numberRange, error) {
	text := strings.TrimPrefix(e.Value, "~")
	if m := interval.FindStringSubmatch(text); m != nil {
		lo, ok := parseDouble(m[1])
		hi, too := parseDouble(m[2])
		if !ok || !too {
			return numberRange{}, problem("Invalid RESULT specification %q: found ends that are not numbers", text)
		}
		return numberRange{lo, hi}, nil
	}
	if x, ok := parseDouble(text); ok {
		return numberRange{x, x}, nil
	}
	if x := parseRational(text); x != nil {
		f, _ := x.Float64()
		return numberRange{f, f}, nil
	}
	v, err := evaluateExpression(text, r)
	if err != nil {
		return numberRange{}, err
	}
	if v.Type == sema.Bool {
		return numberRange{}, problem("Invalid RESULT specification %q: want a number", text)
	}
	return numberRange{v.Float, v.Float}, nil
}

// compareWithTolerance compares a number within the tolerance of the terms. It compares the value of the verdict, not the engine's
// error bounds.
func (e *Expectation) compareWithTolerance(v result.Verdict, r Rules, t *Terms) error {
	if v.Value.Kind == result.Boolean && t.Reference != NoReference {
		if x, ok := parseDouble(e.Value); ok && (x == 0 || x == 1) {
			yes := *e
			yes.Value = strconv.FormatBool(x == 1)
			return yes.compare(v, r)
		}
	}
	if v.Value.Kind != result.Number && v.Value.Kind != result.Integer {
		return e.compare(v, r)
	}
	if strings.HasPrefix(e.Value, "Error") {
		return problem("Was expecting an error")
	}
	want, err := e.expectedRange(r)
	if err != nil {
		return err
	}
	if t.Reference == Precise {
		if err := e.compareGuarantee(v); err != nil {
			return err
		}
	}
	got := v.Value.Num
	if notFinite(got) || want.lo == want.hi && notFinite(want.lo) || math.IsNaN(want.lo) || math.IsNaN(want.hi) {
		if want.lo < want.hi && want.lo <= got && got <= want.hi {
			return nil
		}
		return compareNumbers(got, want.lo, 0, e.Value)
	}
	// the error is relative to the larger end, unless that is infinite
	near := want.lo
	if got > want.hi {
		near = want.hi
	}
	scale := max(math.Abs(want.lo), math.Abs(want.hi))
	if notFinite(scale) {
		scale = math.Abs(near)
	}
	tolerance := orZero(t.Tolerance)
	if t.Reference == Precise && !guaranteesBounds(v.Accuracy) {
		tolerance = max(tolerance, Unsound)
	}
	allowed := max(tolerance*scale, orZero(t.Absolute))
	off := max(want.lo-got, got-want.hi, 0)
	const ulps = 4 * 0x1p-52 // of the subtractions
	if !(off <= allowed+ulps*math.Abs(got)) {
		return problem("Wrong result (expected %s, got %s, abs err = %s > %s)", e.Value, numberText(got), numberText(off), numberText(allowed))
	}
	return nil
}

// compareGuarantee requires that the engine's guarantee is true for an exact reference value: its bounds contain the value, or its
// fraction equals it.
func (e *Expectation) compareGuarantee(v result.Verdict) error {
	want := parseRational(e.Value)
	switch {
	case want == nil || !guaranteesBounds(v.Accuracy):
	case v.Accuracy == result.Exact && v.Value.Rat != nil:
		if v.Value.Rat.Cmp(want) != 0 {
			return problem("Wrong result (expected %s, got the fraction %s)", fractionText(want), fractionText(v.Value.Rat))
		}
	case v.Bound != nil && !intervalContains(*v.Bound, want):
		return problem("%s (expected %s, got %s in [%s, %s])", Violated, e.Value, numberText(v.Value.Num), numberText(v.Bound.Lo), numberText(v.Bound.Hi))
	}
	return nil
}

// guaranteesBounds reports whether the engine states how large the error of its value can be.
func guaranteesBounds(a result.Accuracy) bool {
	switch a {
	case result.Exact, result.Bounded, result.Proven, result.Claimed:
		return true
	}
	return false
}

// intervalContains reports whether a number lies in an interval, without rounding it.
func intervalContains(i result.Interval, x *big.Rat) bool {
	end := new(big.Rat)
	return (math.IsInf(i.Lo, -1) || end.SetFloat64(i.Lo) != nil && end.Cmp(x) <= 0) && (math.IsInf(i.Hi, 1) || end.SetFloat64(i.Hi) != nil && x.Cmp(end) <= 0)
}

// Violated is the beginning of the reason if the reference lies outside the engine's promised bounds.
const Violated = "Bound violated"

func notFinite(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) }

// compareSampled requires that the confidence interval of a sampled number contains the expected one.
func (e *Expectation) compareSampled(v result.Verdict, r Rules, s *Statistical) error {
	if v.Accuracy != result.Probable || v.Value.Kind != result.Number && v.Value.Kind != result.Integer {
		return problem("Was expecting a sampled number, got one that is %s", v.Accuracy)
	}
	want, err := e.expectedRange(r)
	if err != nil {
		return err
	}
	q := agree.Ask(v.Property, v.Constants)
	q.FixedSamples = true // the terms say how many
	i, err := agree.Interval(&v, q, r.Level)
	if err != nil {
		return problem("No interval holds the sampled value with confidence %v (a reward needs maxreward)", r.Level)
	}
	if !(want.lo <= i.Hi && i.Lo <= want.hi) {
		return problem("Wrong result (expected %s, got %s in [%s, %s] with confidence %v from %d samples)",
			e.Value, numberText(v.Value.Num), numberText(i.Lo), numberText(i.Hi), r.Level, v.Samples)
	}
	if half := (i.Hi - i.Lo) / 2; s.Width > 0 && !(half <= s.Width) {
		return problem("The interval [%s, %s] is too wide (half-width %s, want at most %s)", numberText(i.Lo), numberText(i.Hi), numberText(half), numberText(s.Width))
	}
	return nil
}
