package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Valuation has the constants of a verdict in the order of their declarations. In JSON it is an object: a value whose text is a number or a
// Boolean becomes one, and any other value is a string.
type Valuation []Constant

// Text returns the value of the constant with a name. It is empty if there is no such constant.
func (v Valuation) Text(name string) string {
	for _, constant := range v {
		if constant.Name == name {
			return constant.Value
		}
	}
	return ""
}

// String returns the constants as in the argument of PRISM's -const: N=3,p=0.5.
func (v Valuation) String() string {
	parts := make([]string, len(v))
	for i, constant := range v {
		parts[i] = constant.Name + "=" + constant.Value
	}
	return strings.Join(parts, ",")
}

// MarshalJSON implements [json.Marshaler].
func (v Valuation) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // so that a < b stays readable
	text.WriteByte('{')
	for i, constant := range v {
		if i > 0 {
			text.WriteByte(',')
		}
		if err := encoder.Encode(constant.Name); err != nil {
			return nil, err
		}
		text.WriteByte(':')
		if err := encoder.Encode(constantValue(constant.Value)); err != nil {
			return nil, err
		}
	}
	text.WriteByte('}')
	return text.Bytes(), nil
}

// constantValue returns the value of a constant for package json: a Boolean, a number or a string. A number keeps its digits if JSON allows them.
func constantValue(text string) any {
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	number, err := strconv.ParseFloat(text, 64)
	_, isSpecial := SpecialNumber(number)
	isHexadecimal := strings.ContainsAny(text, "xX")
	switch {
	case err != nil || isSpecial || isHexadecimal:
		return text
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return JSONNumber(number)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (v *Valuation) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber() // keeps the digits of a number
	if first, err := decoder.Token(); err != nil || first != json.Delim('{') {
		return fmt.Errorf("the constants are %s, want an object", text)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return err
		}
		value, err := decoder.Token()
		if err != nil {
			return err
		}
		switch value.(type) {
		case string, bool, json.Number:
			*v = append(*v, Constant{Name: fmt.Sprint(name), Value: fmt.Sprint(value)})
		default:
			return fmt.Errorf("constant %v is not a number, Boolean or string", name)
		}
	}
	return nil
}
