package parse

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"

	"tilecheck/result"
)

// StormState is a state: its valuation if the model was built with --buildstateval, otherwise its number. Storm omits
// constants and variables that never change from valuations.
type StormState struct {
	Valuation []result.Constant // sorted by name; nil when the file has numbers
	Index     int64
}

// StormResult is the value of one state.
type StormResult struct {
	State  StormState
	Labels []string
	Value  result.Value
}

// ReadStormResults reads the JSON file of --exportresult: the values of one property, which the file does not name. JSON has no
// infinities, so a value that is infinite or not a number has Kind NoValue.
func ReadStormResults(r io.Reader) ([]StormResult, error) {
	var raw []struct {
		S, V json.RawMessage
		L    []string
	}
	if err := decode(r, &raw); err != nil {
		return nil, fmt.Errorf("storm results: %w", err)
	}
	out := make([]StormResult, 0, len(raw))
	for i, e := range raw {
		state, err := stormState(e.S)
		if err != nil {
			return nil, fmt.Errorf("storm results: entry %d: %w", i, err)
		}
		v := result.Value{} // null stands for infinity and for NaN
		if e.V != nil && string(e.V) != "null" {
			if v, err = jsonNumber(e.V); err != nil {
				return nil, fmt.Errorf("storm results: entry %d: %w", i, err)
			}
		}
		out = append(out, StormResult{state, e.L, v})
	}
	return out, nil
}

// decode reads one JSON value and nothing after it.
func decode(r io.Reader, into any) error {
	dec := json.NewDecoder(r)
	if err := dec.Decode(into); err != nil {
		return err
	}
	if dec.More() {
		return fmt.Errorf("found more after the end")
	}
	return nil
}

func stormState(raw json.RawMessage) (StormState, error) {
	var s StormState
	if json.Unmarshal(raw, &s.Index) == nil && string(raw) != "null" {
		return s, nil
	}
	var vars map[string]json.RawMessage
	if err := json.Unmarshal(raw, &vars); err != nil || vars == nil {
		return s, fmt.Errorf("found %q, want a state", clip(string(raw), 80))
	}
	s.Valuation = make([]result.Constant, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		s.Valuation = append(s.Valuation, result.Constant{Name: name, Value: strings.Trim(string(vars[name]), `"`)})
	}
	return s, nil
}

// jsonNumber reads a number, a Boolean, or a fraction, which is a string. It keeps the exact value of a short decimal.
func jsonNumber(raw json.RawMessage) (result.Value, error) {
	text := strings.Trim(string(raw), `"`)
	v, err := parseScalar(text)
	if err != nil || v.Kind == result.Boolean {
		return v, err
	}
	v.Kind = result.Number
	if v.Rat == nil && len(text) < 40 && !math.IsInf(v.Num, 0) && !math.IsNaN(v.Num) {
		v.Rat, _ = new(big.Rat).SetString(text)
	}
	return v, nil
}
