package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// jsonValue is a value with its form in JSON: a Boolean, a number, a list of two numbers for a range, a list of points for a curve, or the
// text of a function. The form does not tell a number from an integer.
type jsonValue Value

// encodeValue returns the members of a record for a value: the kind, the value and its exact fraction. They are empty if there is no value.
func encodeValue(v Value) (kind string, value *jsonValue, fraction string) {
	if v.Kind == NoValue {
		return "", nil, ""
	}
	switch {
	case v.Rat != nil:
		fraction = v.Rat.RatString()
	case v.RatPoints != nil:
		fraction = CurveText(v.RatPoints, (*big.Rat).RatString, ",")
	}
	return v.Kind.String(), (*jsonValue)(&v), fraction
}

func (v *jsonValue) String() string { return (*Value)(v).Text() }

// Text returns the value as in JSON, with every digit, but without quotes.
func (v *Value) Text() string {
	switch v.Kind {
	case Boolean:
		return strconv.FormatBool(v.Bool)
	case Function:
		return v.Formula
	case Curve:
		return CurveText(v.Points, func(x float64) string { return JSONNumber(x).String() }, ",")
	case Range:
		return "[" + JSONNumber(v.Num).String() + "," + JSONNumber(v.Hi).String() + "]"
	case Integer:
		if _, isSpecial := SpecialNumber(v.Num); !isSpecial {
			return strconv.FormatFloat(v.Num+0, 'f', -1, 64) // without an exponent; -0 + 0 is 0
		}
	}
	return JSONNumber(v.Num).String()
}

// CurveText returns the points of a curve as text, such as [(0,1),(1,0)] for the separator ",". number returns the text of a coordinate.
func CurveText[N any](points [][]N, number func(N) string, separator string) string {
	texts := make([]string, len(points))
	for i, point := range points {
		var coordinates []string
		for _, coordinate := range point {
			coordinates = append(coordinates, number(coordinate))
		}
		texts[i] = "(" + strings.Join(coordinates, separator) + ")"
	}
	return "[" + strings.Join(texts, separator) + "]"
}

// MarshalJSON implements [json.Marshaler].
func (v *jsonValue) MarshalJSON() ([]byte, error) {
	switch v.Kind {
	case Curve:
		points := make([][]JSONNumber, len(v.Points))
		for i, point := range v.Points {
			for _, coordinate := range point {
				points[i] = append(points[i], JSONNumber(coordinate))
			}
		}
		return json.Marshal(points)
	case Function:
		return json.Marshal(v.Formula)
	case Range:
		return json.Marshal([]JSONNumber{JSONNumber(v.Num), JSONNumber(v.Hi)})
	}
	return quoteSpecial(v.String()), nil
}

// UnmarshalJSON implements [json.Unmarshaler]. A number without a decimal point and an exponent becomes an integer.
func (v *jsonValue) UnmarshalJSON(text []byte) error {
	switch text[0] {
	case 't', 'f':
		*v = jsonValue{Kind: Boolean, Bool: text[0] == 't'}
		return nil
	case '[':
		isCurve := bytes.HasPrefix(bytes.TrimLeft(text[1:], " \t\r\n"), []byte("["))
		if isCurve {
			return v.unmarshalCurve(text)
		}
		return v.unmarshalRange(text)
	}
	var number JSONNumber
	if err := json.Unmarshal(text, &number); err != nil {
		return v.unmarshalFunction(text, err)
	}
	*v = jsonValue{Kind: Number, Num: float64(number)}
	switch {
	case text[0] == '"': // NaN or an infinity, or a function with this name
		v.Formula = number.String()
	case !bytes.ContainsAny(text, ".eE"):
		v.Kind = Integer
	}
	return nil
}

// unmarshalFunction reads the text of a function. If the JSON value is not a string, it returns notNumber.
func (v *jsonValue) unmarshalFunction(text []byte, notNumber error) error {
	var formula string
	if text[0] != '"' || json.Unmarshal(text, &formula) != nil {
		return notNumber
	}
	*v = jsonValue{Kind: Function, Formula: formula}
	return nil
}

// unmarshalRange reads a list of two numbers.
func (v *jsonValue) unmarshalRange(text []byte) error {
	var ends []JSONNumber
	if err := json.Unmarshal(text, &ends); err != nil || len(ends) != 2 {
		return fmt.Errorf("the value is %s, want two numbers", text)
	}
	*v = jsonValue{Kind: Range, Num: float64(ends[0]), Hi: float64(ends[1])}
	return nil
}

// unmarshalCurve reads a list of points. All points must have the same number of coordinates.
func (v *jsonValue) unmarshalCurve(text []byte) error {
	var points [][]JSONNumber
	if err := json.Unmarshal(text, &points); err != nil {
		return fmt.Errorf("the value is %s, want points", text)
	}
	*v = jsonValue{Kind: Curve}
	for _, numbers := range points {
		if len(numbers) < 1 || len(numbers) != len(points[0]) {
			return fmt.Errorf("the value is %s, want points of as many numbers each", text)
		}
		point := make([]float64, len(numbers))
		for i, number := range numbers {
			point[i] = float64(number)
		}
		v.Points = append(v.Points, point)
	}
	return nil
}

// decodeValue returns the value of the members of a record that encodeValue wrote. Old records have no kind; then the form of the value determines
// it.
func decodeValue(kind string, value *jsonValue, fraction string) (Value, error) {
	if value == nil {
		if kind+fraction != "" {
			return Value{}, errors.New("there is a kind or fraction and no value")
		}
		return Value{}, nil
	}
	decoded := Value(*value)
	decoded.Formula = ""
	isFunction := kind == Function.String() && fraction == ""
	switch {
	case isFunction && value.Formula != "":
		return Value{Kind: Function, Formula: value.Formula}, nil
	case value.Kind == Function:
		return Value{}, fmt.Errorf("the kind is %q and the value is %q, want a number", kind, value.Formula)
	case kind != "":
		var err error
		if decoded.Kind, err = checkKind(kind, value); err != nil {
			return Value{}, err
		}
	case fraction != "" && decoded.Kind == Integer: // an old record of a number such as 3
		decoded.Kind = Number
	}
	if fraction == "" {
		return decoded, nil
	}
	err := decoded.setFraction(fraction)
	return decoded, err
}

// setFraction sets the exact number or the exact points of a value.
func (v *Value) setFraction(text string) (err error) {
	switch v.Kind {
	case Curve:
		v.RatPoints, err = parseFractions(text, v.Points)
	case Number, Integer:
		v.Rat, err = parseFraction(text, v.Num)
	default:
		err = fmt.Errorf("the fraction is %s and the value is %s", text, v.Text())
	}
	return err
}

// checkKind returns the kind with a name. It returns an error if a value with this form has another kind.
func checkKind(name string, value *jsonValue) (Kind, error) {
	kind, err := parseWord("kind", name, Boolean, Function)
	if err != nil {
		return NoValue, err
	}
	isNumeric := func(kind Kind) bool { return kind == Number || kind == Integer }
	if kind != value.Kind && !(isNumeric(kind) && isNumeric(value.Kind)) {
		return NoValue, fmt.Errorf("the kind is %q and the value is %s", name, value)
	}
	return kind, nil
}

// parseFractions reads the fractions of the points of a curve, such as [(1/6,3)]. It returns an error if they are not close to the coordinates.
func parseFractions(text string, points [][]float64) ([][]*big.Rat, error) {
	parts := strings.Split(strings.NewReplacer("[", "", "]", "", "(", "", ")", "").Replace(text), ",")
	var ratPoints [][]*big.Rat
	for _, point := range points {
		var ratPoint []*big.Rat
		for _, coordinate := range point {
			if len(parts) == 0 {
				return nil, fmt.Errorf("the fractions are %s, want one for each number", text)
			}
			fraction, err := parseFraction(parts[0], coordinate)
			if err != nil {
				return nil, err
			}
			ratPoint = append(ratPoint, fraction)
			parts = parts[1:]
		}
		ratPoints = append(ratPoints, ratPoint)
	}
	if CurveText(ratPoints, (*big.Rat).RatString, ",") != text {
		return nil, fmt.Errorf("the fractions are %s, want one for each number", text)
	}
	return ratPoints, nil
}

// parseFraction reads a fraction in lowest terms, such as 1/6 or 3. It returns an error if the fraction is not close to the value.
func parseFraction(text string, value float64) (*big.Rat, error) {
	fraction, ok := new(big.Rat).SetString(text)
	if !ok || fraction.RatString() != text {
		return nil, fmt.Errorf("the fraction is %q, want two whole numbers without a common factor", text)
	}
	if nearest, _ := fraction.Float64(); math.Abs(nearest-value) > 1e-9*math.Abs(nearest) {
		return nil, fmt.Errorf("the fraction is %s and the value is %v", text, JSONNumber(value))
	}
	return fraction, nil
}
