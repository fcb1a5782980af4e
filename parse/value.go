package parse

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/interval"
	"tilecheck/result"
)

var (
	integerForm  = regexp.MustCompile(`^-?[0-9]+$`)
	decimalForm  = regexp.MustCompile(`^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	fractionForm = regexp.MustCompile(`^-?[0-9]+/[0-9]+$`)
)

// errForm says that a value has an unsupported form.
type errForm string

func (e errForm) Error() string { return string(e) }

// parseScalar parses one value as PRISM and Storm print it: a Boolean, an integer, a decimal, a fraction, an infinity or NaN. It
// accepts no blanks.
func parseScalar(s string) (result.Value, error) {
	switch s {
	case "true", "false":
		return result.Value{Kind: result.Boolean, Bool: s == "true"}, nil
	case "NaN", "nan", "-nan":
		return result.Value{Kind: result.Number, Num: math.NaN()}, nil
	case "Infinity", "Inf", "inf":
		return result.Value{Kind: result.Number, Num: math.Inf(1)}, nil
	case "-Infinity", "-Inf", "-inf":
		return result.Value{Kind: result.Number, Num: math.Inf(-1)}, nil
	}
	switch {
	case integerForm.MatchString(s):
		v, err := parseRational(s)
		v.Kind = result.Integer
		return v, err
	case decimalForm.MatchString(s):
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return result.Value{}, errForm("number outside the range of a double: " + clip(s, 80))
		}
		return result.Value{Kind: result.Number, Num: f}, nil
	case fractionForm.MatchString(s):
		return parseRational(s)
	}
	return result.Value{}, errForm(fmt.Sprintf("found %q, want a number, a fraction or a Boolean", clip(s, 80)))
}

// parseRational parses an integer or a fraction without loss.
func parseRational(s string) (result.Value, error) {
	if len(s) > maxDigits {
		return result.Value{}, errForm(fmt.Sprintf("a number of %d characters is longer than is read", len(s)))
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return result.Value{}, errForm("found a fraction with denominator 0")
	}
	f, _ := r.Float64()
	return result.Value{Kind: result.Number, Num: f, Rat: r}, nil
}

// answer is the content of a result line.
type answer struct {
	text       string // the text of the value
	value      result.Value
	accuracy   result.Accuracy
	bound      *result.Interval
	halfWidth  *float64
	confidence float64
	remarks    []string // parenthesised remarks of an unknown form
}

// prismAnswer parses the text after "Result:". The forms are those of Result.getResultAndAccuracy and of the versions before 4.7,
// which wrote "(value in the initial state)" instead of the accuracy.
func prismAnswer(s string) (answer, error) {
	text, rest := cutValue(s)
	a := answer{text: text}
	if strings.HasPrefix(text, "(") {
		return a, errForm("the result is a function of parameters")
	}
	groups, ok := parentheses(rest)
	if !ok {
		return a, errForm(fmt.Sprintf("found %q after the value", clip(rest, 80)))
	}
	var err error
	if a.value, err = prismValue(text); err != nil {
		return a, err
	}
	for i, g := range groups {
		switch {
		case i > 0 && a.accuracy == result.Exact: // the decimal approximation of an exact number
		case g == "value in the initial state", g == "range of values over initial states",
			strings.HasPrefix(g, "property "): // remarks of older versions
		case !a.readAccuracy(g):
			a.remarks = append(a.remarks, g)
		}
	}
	if a.accuracy == result.Exact && a.value.Kind == result.Integer {
		a.value.Kind = result.Number // PRISM's exact numbers have no type
	}
	if a.accuracy != result.Exact && a.value.Kind != result.Integer {
		a.value.Rat = nil
	}
	return a, nil
}

// cutValue splits a value from the remarks after it. A list in brackets contains blanks.
func cutValue(s string) (value, rest string) {
	end := strings.IndexByte(s, ' ')
	if strings.HasPrefix(s, "[") {
		if end = strings.LastIndexByte(s, ']') + 1; end == 0 {
			end = len(s)
		}
	} else if strings.HasPrefix(s, "(") { // a function of parameters
		end = len(s)
	}
	if end < 0 {
		return s, ""
	}
	return s[:end], s[end:]
}

// parentheses splits " (a) (b)" into a and b.
func parentheses(s string) ([]string, bool) {
	var out []string
	for s != "" {
		inner, ok := strings.CutPrefix(s, " (")
		end := strings.IndexByte(inner, ')')
		if !ok || end < 0 || len(out) > 8 {
			return nil, false
		}
		out = append(out, inner[:end])
		s = inner[end+1:]
	}
	return out, true
}

func prismValue(s string) (result.Value, error) {
	inner, ok := strings.CutPrefix(s, "[")
	if !ok {
		return parseScalar(s)
	}
	inner, ok = strings.CutSuffix(inner, "]")
	if ok && strings.HasPrefix(inner, "(") {
		return parseCurve(inner)
	}
	low, high, two := strings.Cut(inner, ",")
	if !ok || !two {
		return result.Value{}, errForm(fmt.Sprintf("found %q, want [low,high]", clip(s, 80)))
	}
	return parseRange(low, strings.TrimPrefix(high, " "))
}

// parseCurve parses the points of a Pareto curve, "(0.5, 0.5), (1.0, 0.0)". PRISM does not print their accuracy.
func parseCurve(text string) (result.Value, error) {
	v := result.Value{Kind: result.Curve, Num: math.NaN()}
	for point := range strings.SplitSeq(text, "), (") {
		var x []float64
		for number := range strings.SplitSeq(strings.Trim(point, "()"), ", ") {
			one, err := parseScalar(number)
			if err != nil || one.Kind == result.Boolean {
				return result.Value{}, errForm(fmt.Sprintf("found %q in a Pareto curve, want points of numbers", clip(number, 80)))
			}
			x = append(x, one.Num)
		}
		if len(x) < 2 || len(v.Points) > 0 && len(x) != len(v.Points[0]) {
			return result.Value{}, errForm(fmt.Sprintf("found the point %q in a Pareto curve, want as many numbers in each, two at least", clip(point, 80)))
		}
		v.Points = append(v.Points, x)
	}
	slices.SortStableFunc(v.Points, slices.Compare[[]float64])
	return v, nil
}

// parseRange parses a range of values, given as the texts of its ends.
func parseRange(low, high string) (result.Value, error) {
	l, err := parseScalar(low)
	if err != nil {
		return result.Value{}, err
	}
	h, err := parseScalar(high)
	if err != nil {
		return result.Value{}, err
	}
	if l.Kind == result.Boolean || h.Kind == result.Boolean {
		return result.Value{}, errForm("the result differs between initial states")
	}
	if l.Num > h.Num {
		return result.Value{}, errForm("found a range whose low end is above its high end")
	}
	return result.Value{Kind: result.Range, Num: l.Num, Hi: h.Num}, nil
}

// readAccuracy parses a remark on the accuracy, and reports whether it knows its form.
func (a *answer) readAccuracy(g string) bool {
	switch g {
	case "exact":
		a.accuracy = result.Exact
		return true
	case "exact floating point":
		a.accuracy = result.Float
		return true
	}
	if p, ok := strings.CutPrefix(g, "with probability "); ok {
		return a.readProbability(p)
	}
	width, ok := strings.CutPrefix(g, "+/- ")
	if !ok || a.value.Kind != result.Number {
		return false
	}
	width, relative, ok := strings.Cut(width, "; rel err ")
	if !ok || !isNumber(relative) {
		return false
	}
	if w, p, ok := strings.Cut(width, " with probability "); ok {
		d, err := parseNonnegative(w)
		if err != nil || !a.readProbability(p) {
			return false
		}
		a.halfWidth = &d
		return true
	}
	width, estimated := strings.CutSuffix(width, " estimated")
	d, err := parseNonnegative(width)
	if err != nil {
		return false
	}
	a.accuracy = result.Claimed
	if estimated {
		a.accuracy = result.Estimated
	}
	a.bound = intervalAround(a.value.Num, d)
	return true
}

func (a *answer) readProbability(s string) bool {
	p, err := parseNonnegative(s)
	if err != nil || p > 1 {
		return false
	}
	a.accuracy, a.confidence = result.Probable, p
	return true
}

func isNumber(s string) bool {
	v, err := parseScalar(s)
	return err == nil && v.Kind != result.Boolean
}

var errNegative = errors.New("negative")

func parseNonnegative(s string) (float64, error) {
	v, err := parseScalar(s)
	if err != nil {
		return 0, err
	}
	if v.Kind == result.Boolean || !(v.Num >= 0) {
		return 0, errNegative
	}
	return v.Num, nil
}

// intervalAround returns [v-d, v+d], rounded outwards; nil if a number is not finite.
func intervalAround(v, d float64) *result.Interval {
	if math.IsNaN(v) || math.IsInf(v, 0) || math.IsInf(d, 0) {
		return nil
	}
	if d == 0 {
		return &result.Interval{Lo: v, Hi: v}
	}
	return &result.Interval{Lo: interval.Below(v - d), Hi: interval.Above(v + d)}
}

// stormAnswer parses the text after "Result (for …):". Storm does not print the accuracy; it follows from the options.
func stormAnswer(s string, opts stormOptions) (answer, error) {
	text, hasApprox := exactText(strings.TrimSuffix(s, " (range)"))
	a := answer{text: text}
	var err error
	if a.value, err = stormValue(text); err != nil {
		return a, err
	}
	a.accuracy, a.bound = opts.accuracyOf(&a.value, hasApprox)
	if a.accuracy == result.Exact && isStormInfinity(a.value) {
		return a, errForm("found 100000000000, which is also what Storm writes for infinity in exact arithmetic")
	}
	return a, nil
}

// StormAccuracy returns the accuracy of a number that Storm computed with these arguments, and its bounds. It removes the fraction
// from a number that is not exact.
func StormAccuracy(args []string, v *result.Value) (result.Accuracy, *result.Interval) {
	return readStormOptions(strings.Join(args, " ")).accuracyOf(v, false)
}

// StormValues parses the list of values that Storm prints if there are few states; nil if the text is no such list.
func StormValues(text string) []result.Value {
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return nil
	}
	var out []result.Value
	for item := range strings.SplitSeq(text[1:len(text)-1], ", ") {
		v, err := parseScalar(item)
		if err != nil {
			return nil
		}
		if v.Kind == result.Integer {
			v.Kind = result.Number
		}
		out = append(out, v)
	}
	return out
}

// exactText removes the approximations after exact numbers, as in "{1/3 (approx. 0.3333333333), 0 (approx. 0)}", and reports
// whether there were any.
func exactText(s string) (text string, found bool) {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, " (approx. ")
		b.WriteString(before)
		if !ok {
			return b.String(), found
		}
		approximation, after, closed := strings.Cut(rest, ")")
		if !closed || !approximates(approximation) {
			return b.String() + " (approx. " + rest, found
		}
		s, found = after, true
	}
}

func approximates(s string) bool {
	for part := range strings.SplitSeq(strings.Trim(s, "[]"), ", ") {
		if !isNumber(part) {
			return false
		}
	}
	return true
}

// isStormInfinity reports whether v is the number that Storm's exact arithmetic uses for infinity.
func isStormInfinity(v result.Value) bool {
	const infinity = 100_000_000_000
	return v.Kind == result.Number && v.Num == infinity || v.Kind == result.Range && v.Hi == infinity
}

// accuracyOf returns the accuracy of a value that Storm computed with these options, and its bounds. It removes the fraction from a
// value that is not exact.
func (o stormOptions) accuracyOf(v *result.Value, approximated bool) (result.Accuracy, *result.Interval) {
	if v.Kind == result.Integer {
		v.Kind = result.Number // Storm prints 1 for 1.0
	}
	accuracy, bound := result.Estimated, (*result.Interval)(nil)
	switch {
	case approximated || o.exact:
		accuracy = result.Exact
	case o.sound:
		accuracy, bound = result.Claimed, o.bound(*v)
	}
	if accuracy != result.Exact {
		v.Rat = nil
	} else if v.Kind == result.Number && v.Rat == nil && !math.IsInf(v.Num, 0) {
		accuracy = result.Unknown // exact arithmetic prints no decimals
	}
	return accuracy, bound
}

func stormValue(s string) (result.Value, error) {
	switch {
	case strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}"):
		return rangeOf(strings.Split(s[1:len(s)-1], ", "))
	case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
		low, high, ok := strings.Cut(s[1:len(s)-1], ", ")
		if !ok {
			return result.Value{}, errForm(fmt.Sprintf("found %q, want [low, high]", clip(s, 80)))
		}
		return parseRange(low, high)
	}
	return parseScalar(s)
}

// rangeOf returns the range of several values. Booleans must be true in all states.
func rangeOf(items []string) (result.Value, error) {
	first, err := parseScalar(items[0])
	if err != nil {
		return result.Value{}, err
	}
	out := result.Value{Kind: result.Range, Num: first.Num, Hi: first.Num}
	if first.Kind == result.Boolean {
		out = first
	}
	for _, item := range items[1:] {
		v, err := parseScalar(item)
		switch {
		case err != nil:
			return result.Value{}, err
		case (v.Kind == result.Boolean) != (first.Kind == result.Boolean):
			return result.Value{}, errForm("found a truth value among numbers")
		case v.Kind == result.Boolean:
			out.Bool = out.Bool && v.Bool
			continue
		case math.IsNaN(v.Num) || math.IsNaN(first.Num):
			return result.Value{}, errForm("one of several results is not a number")
		}
		out.Num, out.Hi = min(out.Num, v.Num), max(out.Hi, v.Num)
	}
	return out, nil
}
