package result

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// JSONNumber is a float64 number with a form in JSON, which reads back as the same number. JSON has no numbers for NaN and infinities:
// they are the strings "NaN", "Infinity" and "-Infinity".
type JSONNumber float64

// String returns the shortest text that reads back as x.
func (x JSONNumber) String() string {
	if name, special := SpecialNumber(float64(x)); special {
		return name
	}
	return strconv.FormatFloat(float64(x), 'g', -1, 64)
}

// SpecialNumber returns the name of NaN or an infinity as PRISM prints it: NaN, Infinity or -Infinity. ok is false for other numbers.
func SpecialNumber(number float64) (name string, ok bool) {
	switch {
	case math.IsNaN(number):
		return "NaN", true
	case math.IsInf(number, 1):
		return "Infinity", true
	case math.IsInf(number, -1):
		return "-Infinity", true
	}
	return "", false
}

// MarshalJSON implements [json.Marshaler].
func (x JSONNumber) MarshalJSON() ([]byte, error) { return quoteSpecial(x.String()), nil }

// quoteSpecial returns the text of a number or a Boolean in JSON. The name of a number without digits becomes a string.
func quoteSpecial(text string) []byte {
	if isSpecial := strings.HasSuffix(text, "NaN") || strings.HasSuffix(text, "Infinity"); isSpecial {
		return strconv.AppendQuote(nil, text)
	}
	return []byte(text)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (x *JSONNumber) UnmarshalJSON(text []byte) error {
	special := map[string]float64{`"NaN"`: math.NaN(), `"Infinity"`: math.Inf(1), `"-Infinity"`: math.Inf(-1)}
	if number, ok := special[string(text)]; ok {
		*x = JSONNumber(number)
		return nil
	}
	if len(text) == 0 || text[0] == '"' {
		return fmt.Errorf("%s is not a number, want one of %s", text, strings.Join(slices.Sorted(maps.Keys(special)), ", "))
	}
	return json.Unmarshal(text, (*float64)(x))
}
