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

// ReadStormResults reads the values of one property from the JSON file of --exportresult. A value that is infinite or NaN has the Kind NoValue.
func ReadStormResults(reader io.Reader) ([]StormResult, error) {
	var entries []struct {
		S, V json.RawMessage
		L    []string
	}
	if err := decode(reader, &entries); err != nil {
		return nil, fmt.Errorf("storm results: %w", err)
	}
	results := make([]StormResult, 0, len(entries))
	for i, entry := range entries {
		state, err := stormState(entry.S)
		if err != nil {
			return nil, fmt.Errorf("storm results: entry %d: %w", i, err)
		}
		value := result.Value{} // null stands for infinity and for NaN
		if entry.V != nil && string(entry.V) != "null" {
			if value, err = jsonNumber(entry.V); err != nil {
				return nil, fmt.Errorf("storm results: entry %d: %w", i, err)
			}
		}
		results = append(results, StormResult{state, entry.L, value})
	}
	return results, nil
}

// decode decodes one JSON value into target. It returns an error if more text follows.
func decode(reader io.Reader, target any) error {
	decoder := json.NewDecoder(reader)
	if err := decoder.Decode(target); err != nil {
		return err
	}
	if decoder.More() {
		return fmt.Errorf("found more after the end")
	}
	return nil
}

// stormState decodes a state: a number, or an object with the values of the variables.
func stormState(raw json.RawMessage) (StormState, error) {
	var state StormState
	if json.Unmarshal(raw, &state.Index) == nil && string(raw) != "null" {
		return state, nil
	}
	var variables map[string]json.RawMessage
	if err := json.Unmarshal(raw, &variables); err != nil || variables == nil {
		return state, fmt.Errorf("found %q, want a state", clip(string(raw), 80))
	}
	state.Valuation = make([]result.Constant, 0, len(variables))
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		state.Valuation = append(state.Valuation, result.Constant{Name: name, Value: strings.Trim(string(variables[name]), `"`)})
	}
	return state, nil
}

// jsonNumber decodes a number, a Boolean, or a string with a fraction. It keeps the exact value of a short decimal.
func jsonNumber(raw json.RawMessage) (result.Value, error) {
	text := strings.Trim(string(raw), `"`)
	value, err := parseScalar(text)
	if err != nil || value.Kind == result.Boolean {
		return value, err
	}
	value.Kind = result.Number
	const maxExact = 40
	if value.Rat == nil && len(text) < maxExact && !math.IsInf(value.Num, 0) && !math.IsNaN(value.Num) {
		value.Rat, _ = new(big.Rat).SetString(text)
	}
	return value, nil
}
