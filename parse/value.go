package parse

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/internal/interval"
	"tilecheck/result"
)

var (
	integerForm  = lazyRegexp(`^-?[0-9]+$`)
	decimalForm  = lazyRegexp(`^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)
	fractionForm = lazyRegexp(`^-?[0-9]+/[0-9]+$`)
)

// errForm says that a value has an unsupported form.
type errForm string

func (e errForm) Error() string { return string(e) }

// parseScalar parses a Boolean, an integer, a decimal, a fraction, an infinity or NaN, as PRISM and Storm print them.
func parseScalar(text string) (result.Value, error) {
	switch text {
	case "true", "false":
		return result.Value{Kind: result.Boolean, Bool: text == "true"}, nil
	case "NaN", "nan", "-nan":
		return result.Value{Kind: result.Number, Num: math.NaN()}, nil
	case "Infinity", "Inf", "inf":
		return result.Value{Kind: result.Number, Num: math.Inf(1)}, nil
	case "-Infinity", "-Inf", "-inf":
		return result.Value{Kind: result.Number, Num: math.Inf(-1)}, nil
	}
	switch {
	case integerForm().MatchString(text):
		value, err := parseRational(text)
		value.Kind = result.Integer
		return value, err
	case decimalForm().MatchString(text):
		number, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return result.Value{}, errForm("number outside the range of a double: " + clip(text, 80))
		}
		return result.Value{Kind: result.Number, Num: number}, nil
	case fractionForm().MatchString(text):
		return parseRational(text)
	}
	return result.Value{}, errForm(fmt.Sprintf("found %q, want a number, a fraction or a Boolean", clip(text, 80)))
}

// parseRational parses an integer or a fraction without loss.
func parseRational(text string) (result.Value, error) {
	if len(text) > maxDigits {
		return result.Value{}, errForm(fmt.Sprintf("a number of %d characters is longer than is read", len(text)))
	}
	fraction, ok := new(big.Rat).SetString(text)
	if !ok {
		return result.Value{}, errForm("found a fraction with denominator 0")
	}
	nearest, _ := fraction.Float64()
	return result.Value{Kind: result.Number, Num: nearest, Rat: fraction}, nil
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

// prismAnswer parses the text after "Result:".
//
// Source: Result.getResultAndAccuracy of PRISM, and the output of versions before 4.7.
func prismAnswer(line string) (answer, error) {
	text, rest := cutValue(line)
	parsed := answer{text: text}
	if strings.HasPrefix(text, "(") {
		return parsed, errForm("the result is a function of parameters")
	}
	remarks, ok := parentheses(rest)
	if !ok {
		return parsed, errForm(fmt.Sprintf("found %q after the value", clip(rest, 80)))
	}
	var err error
	if parsed.value, err = prismValue(text); err != nil {
		return parsed, err
	}
	for i, remark := range remarks {
		switch {
		case i > 0 && parsed.accuracy == result.Exact: // the decimal approximation of an exact number
		case remark == "value in the initial state", remark == "range of values over initial states",
			strings.HasPrefix(remark, "property "): // remarks of older versions
		case !parsed.readAccuracy(remark):
			parsed.remarks = append(parsed.remarks, remark)
		}
	}
	if parsed.accuracy == result.Exact && parsed.value.Kind == result.Integer {
		parsed.value.Kind = result.Number // PRISM's exact numbers have no type
	}
	if parsed.accuracy != result.Exact && parsed.value.Kind != result.Integer {
		parsed.value.Rat = nil
	}
	return parsed, nil
}

// cutValue splits the text of a result into the value and the remarks after it.
func cutValue(text string) (value, remarks string) {
	end := strings.IndexByte(text, ' ')
	switch {
	case strings.HasPrefix(text, "["): // a list, which may contain blanks
		end = strings.LastIndexByte(text, ']') + 1
	case strings.HasPrefix(text, "("): // a function of parameters
		end = len(text)
	}
	if end <= 0 {
		return text, ""
	}
	return text[:end], text[end:]
}

// parentheses splits a text such as " (a) (b)" into a and b. It returns false for another form, or for more than nine groups.
func parentheses(text string) ([]string, bool) {
	var groups []string
	for text != "" {
		inner, ok := strings.CutPrefix(text, " (")
		end := strings.IndexByte(inner, ')')
		if !ok || end < 0 || len(groups) > 8 {
			return nil, false
		}
		groups = append(groups, inner[:end])
		text = inner[end+1:]
	}
	return groups, true
}

// prismValue parses a number, a Boolean, a range or a Pareto curve.
func prismValue(text string) (result.Value, error) {
	inner, ok := strings.CutPrefix(text, "[")
	if !ok {
		return parseScalar(text)
	}
	inner, ok = strings.CutSuffix(inner, "]")
	if ok && strings.HasPrefix(inner, "(") {
		return parseCurve(inner)
	}
	low, high, hasComma := strings.Cut(inner, ",")
	if !ok || !hasComma {
		return result.Value{}, errForm(fmt.Sprintf("found %q, want [low,high]", clip(text, 80)))
	}
	return parseRange(low, strings.TrimPrefix(high, " "))
}

// parseCurve parses the points of a Pareto curve, "(0.5, 0.5), (1.0, 0.0)". PRISM does not print their accuracy.
func parseCurve(text string) (result.Value, error) {
	curve := result.Value{Kind: result.Curve, Num: math.NaN()}
	for point := range strings.SplitSeq(text, "), (") {
		var coordinates []float64
		for number := range strings.SplitSeq(strings.Trim(point, "()"), ", ") {
			coordinate, err := parseScalar(number)
			if err != nil || coordinate.Kind == result.Boolean {
				return result.Value{}, errForm(fmt.Sprintf("found %q in a Pareto curve, want points of numbers", clip(number, 80)))
			}
			coordinates = append(coordinates, coordinate.Num)
		}
		if len(coordinates) < 2 || len(curve.Points) > 0 && len(coordinates) != len(curve.Points[0]) {
			return result.Value{}, errForm(fmt.Sprintf("found the point %q in a Pareto curve, want as many numbers in each, two at least", clip(point, 80)))
		}
		curve.Points = append(curve.Points, coordinates)
	}
	slices.SortStableFunc(curve.Points, slices.Compare[[]float64])
	return curve, nil
}

// parseRange parses a range of values from the texts of its two ends.
func parseRange(low, high string) (result.Value, error) {
	lowValue, err := parseScalar(low)
	if err != nil {
		return result.Value{}, err
	}
	highValue, err := parseScalar(high)
	if err != nil {
		return result.Value{}, err
	}
	if lowValue.Kind == result.Boolean || highValue.Kind == result.Boolean {
		return result.Value{}, errForm("the result differs between initial states")
	}
	if lowValue.Num > highValue.Num {
		return result.Value{}, errForm("found a range whose low end is above its high end")
	}
	return result.Value{Kind: result.Range, Num: lowValue.Num, Hi: highValue.Num}, nil
}

// readAccuracy parses a remark on the accuracy, such as exact or +/- 0.01. It returns false for an unknown form.
func (a *answer) readAccuracy(remark string) bool {
	switch remark {
	case "exact":
		a.accuracy = result.Exact
		return true
	case "exact floating point":
		a.accuracy = result.Float
		return true
	}
	if probability, ok := strings.CutPrefix(remark, "with probability "); ok {
		return a.readProbability(probability)
	}
	width, ok := strings.CutPrefix(remark, "+/- ")
	if !ok || a.value.Kind != result.Number {
		return false
	}
	width, relative, ok := strings.Cut(width, "; rel err ")
	if !ok || !isNumber(relative) {
		return false
	}
	return a.readWidth(width)
}

// readWidth parses the absolute error of a number, such as "0.01 estimated" or "0.01 with probability 0.99". It returns false for an unknown form.
func (a *answer) readWidth(text string) bool {
	if width, probability, isSampled := strings.Cut(text, " with probability "); isSampled {
		halfWidth, err := parseNonnegative(width)
		if err != nil || !a.readProbability(probability) {
			return false
		}
		a.halfWidth = &halfWidth
		return true
	}
	width, isEstimated := strings.CutSuffix(text, " estimated")
	absoluteError, err := parseNonnegative(width)
	if err != nil {
		return false
	}
	a.accuracy = result.Claimed
	if isEstimated {
		a.accuracy = result.Estimated
	}
	a.bound = intervalAround(a.value.Num, absoluteError)
	return true
}

// readProbability parses the confidence of a sampled value. It returns false if the text is no probability.
func (a *answer) readProbability(text string) bool {
	probability, err := parseNonnegative(text)
	if err != nil || probability > 1 {
		return false
	}
	a.accuracy, a.confidence = result.Probable, probability
	return true
}

// isNumber reports whether a text is a number in the notation of PRISM or Storm.
func isNumber(text string) bool {
	value, err := parseScalar(text)
	return err == nil && value.Kind != result.Boolean
}

var errNegative = errors.New("negative")

// parseNonnegative parses a number that is at least 0.
func parseNonnegative(text string) (float64, error) {
	value, err := parseScalar(text)
	if err != nil {
		return 0, err
	}
	if value.Kind == result.Boolean || !(value.Num >= 0) {
		return 0, errNegative
	}
	return value.Num, nil
}

// intervalAround returns the interval [center-radius, center+radius], rounded outwards; nil if a number is not finite.
func intervalAround(center, radius float64) *result.Interval {
	if math.IsNaN(center) || math.IsInf(center, 0) || math.IsInf(radius, 0) {
		return nil
	}
	if radius == 0 {
		return &result.Interval{Lo: center, Hi: center}
	}
	return &result.Interval{Lo: interval.Below(center - radius), Hi: interval.Above(center + radius)}
}

// stormAnswer parses the text after "Result (for …):". The options determine the accuracy, because Storm does not print it.
func stormAnswer(line string, options stormOptions) (answer, error) {
	text, hasApprox := exactText(strings.TrimSuffix(line, " (range)"))
	parsed := answer{text: text}
	var err error
	if parsed.value, err = stormValue(text); err != nil {
		return parsed, err
	}
	parsed.accuracy, parsed.bound = options.accuracyOf(&parsed.value, hasApprox)
	if parsed.accuracy == result.Exact && isStormInfinity(parsed.value) {
		return parsed, errForm("found 100000000000, which is also what Storm writes for infinity in exact arithmetic")
	}
	return parsed, nil
}

// StormAccuracy returns the accuracy and the bounds of a number that Storm computed with these arguments. It removes the fraction from a number that
// is not exact.
func StormAccuracy(args []string, value *result.Value) (result.Accuracy, *result.Interval) {
	return readStormOptions(strings.Join(args, " ")).accuracyOf(value, false)
}

// StormValues parses the list of values that Storm prints if there are few states; nil if the text is no such list.
func StormValues(text string) []result.Value {
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") {
		return nil
	}
	var values []result.Value
	for item := range strings.SplitSeq(text[1:len(text)-1], ", ") {
		value, err := parseScalar(item)
		if err != nil {
			return nil
		}
		if value.Kind == result.Integer {
			value.Kind = result.Number
		}
		values = append(values, value)
	}
	return values
}

// exactText removes the approximations after exact numbers, such as (approx. 0.333) after 1/3. found reports whether there was one.
func exactText(line string) (text string, found bool) {
	var exact strings.Builder
	for {
		before, rest, ok := strings.Cut(line, " (approx. ")
		exact.WriteString(before)
		if !ok {
			return exact.String(), found
		}
		approximation, after, closed := strings.Cut(rest, ")")
		if !closed || !approximates(approximation) {
			return exact.String() + " (approx. " + rest, found
		}
		line, found = after, true
	}
}

// approximates reports whether a text is a number or a list of numbers in brackets.
func approximates(text string) bool {
	for part := range strings.SplitSeq(strings.Trim(text, "[]"), ", ") {
		if !isNumber(part) {
			return false
		}
	}
	return true
}

// isStormInfinity reports whether v is the number that Storm's exact arithmetic uses for infinity.
func isStormInfinity(value result.Value) bool {
	const infinity = 100_000_000_000
	return value.Kind == result.Number && value.Num == infinity || value.Kind == result.Range && value.Hi == infinity
}

// accuracyOf returns the accuracy and the bounds of a value that Storm computed with these options. It removes the fraction from a value that is not
// exact.
func (options stormOptions) accuracyOf(value *result.Value, approximated bool) (result.Accuracy, *result.Interval) {
	if value.Kind == result.Integer {
		value.Kind = result.Number // Storm prints 1 for 1.0
	}
	accuracy, bound := result.Estimated, (*result.Interval)(nil)
	switch {
	case approximated || options.exact:
		accuracy = result.Exact
	case options.sound:
		accuracy, bound = result.Claimed, options.bound(*value)
	}
	if accuracy != result.Exact {
		value.Rat = nil
	} else if value.Kind == result.Number && value.Rat == nil && !math.IsInf(value.Num, 0) {
		accuracy = result.Unknown // exact arithmetic prints no decimals
	}
	return accuracy, bound
}

// stormValue parses a number, a Boolean, a range or a list of values.
func stormValue(text string) (result.Value, error) {
	switch {
	case strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}"):
		return rangeOf(strings.Split(text[1:len(text)-1], ", "))
	case strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]"):
		low, high, ok := strings.Cut(text[1:len(text)-1], ", ")
		if !ok {
			return result.Value{}, errForm(fmt.Sprintf("found %q, want [low, high]", clip(text, 80)))
		}
		return parseRange(low, high)
	}
	return parseScalar(text)
}

// rangeOf returns the range of several numbers, or the conjunction of several Booleans.
func rangeOf(items []string) (result.Value, error) {
	first, err := parseScalar(items[0])
	if err != nil {
		return result.Value{}, err
	}
	combined := result.Value{Kind: result.Range, Num: first.Num, Hi: first.Num}
	if first.Kind == result.Boolean {
		combined = first
	}
	for _, item := range items[1:] {
		value, err := parseScalar(item)
		switch {
		case err != nil:
			return result.Value{}, err
		case (value.Kind == result.Boolean) != (first.Kind == result.Boolean):
			return result.Value{}, errForm("found a truth value among numbers")
		case value.Kind == result.Boolean:
			combined.Bool = combined.Bool && value.Bool
			continue
		case math.IsNaN(value.Num) || math.IsNaN(first.Num):
			return result.Value{}, errForm("one of several results is not a number")
		}
		combined.Num, combined.Hi = min(combined.Num, value.Num), max(combined.Hi, value.Num)
	}
	return combined, nil
}
