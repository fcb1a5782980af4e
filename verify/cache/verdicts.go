package cache

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"

	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// EncodeVerdicts returns verdicts as text that DecodeVerdicts reads back without
// loss: infinities, NaN, fractions and signed zeros included.
func EncodeVerdicts(verdicts []result.Verdict) ([]byte, error) {
	out := make([]verdict, len(verdicts))
	for i := range verdicts {
		out[i] = encode(&verdicts[i])
	}
	return json.Marshal(out)
}

// DecodeVerdicts reads what EncodeVerdicts wrote.
func DecodeVerdicts(data []byte) ([]result.Verdict, error) {
	var list []verdict
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read verdicts: %w", err)
	}
	out := make([]result.Verdict, len(list))
	for i := range list {
		var err error
		if out[i], err = list[i].decode(); err != nil {
			return nil, fmt.Errorf("read verdicts: %w", err)
		}
	}
	return out, nil
}

// float is a number that JSON has no word for.
type float float64

// MarshalText implements encoding.TextMarshaler.
func (f float) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(f), 'g', -1, 64), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (f *float) UnmarshalText(text []byte) error {
	x, err := strconv.ParseFloat(string(text), 64)
	*f = float(x)
	return err
}

// verdict is result.Verdict in text.
type verdict struct {
	Property, Name               string
	Constants                    []result.Constant
	Engine, Tool, Method         string
	Value                        value
	Accuracy                     result.Accuracy
	Bound                        []float // none, or two
	BoundMethod                  string
	HalfWidth                    *float
	Confidence                   float
	Samples                      int64
	Steps                        *steps
	Resolution                   result.Resolution
	States, Choices, Transitions int64
	Seed                         *uint64
	Seconds                      float
	Warnings                     []string
	Doubt                        string
	Listings                     []listing
	Err                          *failure
}

type value struct {
	Kind    result.Kind
	Bool    bool
	Num, Hi float
	Rat     string // empty for none
}

type listing struct {
	Zeros  bool
	Values []stateValue
	Left   int
}

type stateValue struct {
	State     int
	Valuation string
	Value     value
}

type steps struct {
	Min, Max int64
	Mean     float
}

type failure struct {
	Class         result.Class
	Message, File string
	Pos           syntax.Pos
}

func encode(v *result.Verdict) verdict {
	out := verdict{
		Property: v.Property, Name: v.Name, Constants: v.Constants, Engine: v.Engine, Tool: v.Tool, Method: v.Method,
		Value:    encodeValue(v.Value),
		Accuracy: v.Accuracy, BoundMethod: v.BoundMethod, Confidence: float(v.Confidence), Samples: v.Samples,
		Resolution: v.Resolution, States: v.States, Choices: v.Choices, Transitions: v.Transitions,
		Seed: v.Seed, Seconds: float(v.Seconds), Warnings: v.Warnings, Doubt: v.Doubt, HalfWidth: (*float)(v.HalfWidth),
	}
	for _, l := range v.Listings {
		own := listing{Zeros: l.Zeros, Left: l.Left}
		for _, s := range l.Values {
			own.Values = append(own.Values, stateValue{s.State, s.Valuation, encodeValue(s.Value)})
		}
		out.Listings = append(out.Listings, own)
	}
	if v.Bound != nil {
		out.Bound = []float{float(v.Bound.Lo), float(v.Bound.Hi)}
	}
	if v.Steps != nil {
		out.Steps = &steps{v.Steps.Min, v.Steps.Max, float(v.Steps.Mean)}
	}
	if v.Err != nil {
		out.Err = &failure{v.Err.Class, v.Err.Message, v.Err.File, v.Err.Pos}
	}
	return out
}

func encodeValue(v result.Value) value {
	out := value{Kind: v.Kind, Bool: v.Bool, Num: float(v.Num), Hi: float(v.Hi)}
	if v.Rat != nil {
		out.Rat = v.Rat.RatString()
	}
	return out
}

func (v *value) decode() (result.Value, error) {
	out := result.Value{Kind: v.Kind, Bool: v.Bool, Num: float64(v.Num), Hi: float64(v.Hi)}
	if v.Kind > result.Range {
		return out, errors.New("found a kind of value that there is not")
	}
	if v.Rat != "" {
		var ok bool
		if out.Rat, ok = new(big.Rat).SetString(v.Rat); !ok {
			return out, fmt.Errorf("found %q, want a fraction", v.Rat)
		}
	}
	return out, nil
}

func (l *listing) decode() (result.Listing, error) {
	out := result.Listing{Zeros: l.Zeros, Left: l.Left}
	for _, s := range l.Values {
		v, err := s.Value.decode()
		if err != nil {
			return out, err
		}
		out.Values = append(out.Values, result.StateValue{State: s.State, Valuation: s.Valuation, Value: v})
	}
	return out, nil
}

func (v *verdict) decode() (result.Verdict, error) {
	out := result.Verdict{
		Property: v.Property, Name: v.Name, Constants: v.Constants, Engine: v.Engine, Tool: v.Tool, Method: v.Method,
		Accuracy: v.Accuracy, BoundMethod: v.BoundMethod, Confidence: float64(v.Confidence), Samples: v.Samples,
		Resolution: v.Resolution, States: v.States, Choices: v.Choices, Transitions: v.Transitions,
		Seed: v.Seed, Seconds: float64(v.Seconds), Warnings: v.Warnings, Doubt: v.Doubt, HalfWidth: (*float64)(v.HalfWidth),
	}
	if v.Accuracy > result.Claimed || v.Resolution > result.Fixed {
		return out, errors.New("found an accuracy or resolution that there is not")
	}
	var err error
	if out.Value, err = v.Value.decode(); err != nil {
		return out, err
	}
	for i := range v.Listings {
		l, err := v.Listings[i].decode()
		if err != nil {
			return out, err
		}
		out.Listings = append(out.Listings, l)
	}
	switch len(v.Bound) {
	case 0:
	case 2:
		out.Bound = &result.Interval{Lo: float64(v.Bound[0]), Hi: float64(v.Bound[1])}
	default:
		return out, fmt.Errorf("found a bound of %d numbers", len(v.Bound))
	}
	if v.Steps != nil {
		out.Steps = &result.Steps{Min: v.Steps.Min, Max: v.Steps.Max, Mean: float64(v.Steps.Mean)}
	}
	if v.Err != nil {
		out.Err = &result.Failure{Class: v.Err.Class, Message: v.Err.Message, File: v.Err.File, Pos: v.Err.Pos}
	}
	return out, nil
}
