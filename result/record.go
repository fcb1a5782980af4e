package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"tilecheck/prism/syntax"
)

// Record is the form of a verdict in JSON: in reports, in JSON lines and in the cache of verdicts. Members that do not apply are absent.
// [Record.Verdict] returns the verdict that [NewRecord] was given, except for the offsets of places and the spelling of constants: .5
// becomes 0.5.
type Record struct {
	Property    string         `json:"property,omitempty"`
	Name        string         `json:"name,omitempty"`
	Constants   Valuation      `json:"constants,omitempty"`
	Engine      string         `json:"engine,omitempty"`
	Method      string         `json:"method,omitempty"`
	Value       *jsonValue     `json:"value,omitempty"`
	Fraction    string         `json:"fraction,omitempty"`
	Precision   JSONNumber     `json:"precision,omitempty"` // of a curve
	Kind        string         `json:"kind,omitempty"`      // of the value; 3 may be a number or an integer
	Lower       *JSONNumber    `json:"lower,omitempty"`
	Upper       *JSONNumber    `json:"upper,omitempty"`
	BoundMethod string         `json:"bound_method,omitempty"`
	HalfWidth   *JSONNumber    `json:"half_width,omitempty"`
	Confidence  JSONNumber     `json:"confidence,omitempty"`
	Samples     int64          `json:"samples,omitempty"`
	Steps       *steps         `json:"steps,omitempty"`
	Accuracy    string         `json:"accuracy,omitempty"`
	Resolution  string         `json:"resolution,omitempty"`
	States      int64          `json:"states,omitempty"`
	Choices     int64          `json:"choices,omitempty"`
	Transitions int64          `json:"transitions,omitempty"`
	Seed        *uint64        `json:"seed,omitempty"`
	Seconds     JSONNumber     `json:"seconds,omitempty"`
	Tool        string         `json:"tool,omitempty"`
	Warnings    []string       `json:"warnings,omitempty"`
	Doubt       string         `json:"doubt,omitempty"`
	Listings    []listing      `json:"listings,omitempty"`
	Regions     []Region       `json:"regions,omitempty"`
	Quantiles   []Quantile     `json:"quantiles,omitempty"`
	Witnesses   []Witness      `json:"witnesses,omitempty"`
	Error       *FailureRecord `json:"error,omitempty"`
}

// steps is the form of Steps in JSON.
type steps struct {
	Min  int64      `json:"min"`
	Max  int64      `json:"max"`
	Mean JSONNumber `json:"mean"`
}

// listing is the form of Listing in JSON.
type listing struct {
	Zeros  bool         `json:"zeros,omitempty"`
	Values []stateValue `json:"values"`
	Left   int          `json:"left,omitempty"`
}

// stateValue is the form of StateValue in JSON.
type stateValue struct {
	State     int        `json:"state"`
	Valuation string     `json:"valuation"`
	Value     *jsonValue `json:"value,omitempty"`
	Fraction  string     `json:"fraction,omitempty"`
	Kind      string     `json:"kind,omitempty"`
}

// FailureRecord is the form of a failure in JSON.
type FailureRecord struct {
	Message string  `json:"message,omitempty"`
	Class   Class   `json:"class,omitempty"`
	Places  []Place `json:"places,omitempty"`
}

// Place is a position in a file, and the error there.
type Place struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"` // counts bytes from 1
	Message string `json:"message"`
}

// UnmarshalJSON implements [json.Unmarshaler]. It also reads the member position of records before schema 3.
func (r *FailureRecord) UnmarshalJSON(text []byte) error {
	type plain FailureRecord // without this method
	var read struct {
		plain
		Position *Place `json:"position"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*r = FailureRecord(read.plain)
	if read.Position != nil && len(r.Places) == 0 {
		read.Position.Message = r.Message
		r.Places = []Place{*read.Position}
	}
	return nil
}

// NewRecord returns the record of a verdict.
func NewRecord(v *Verdict) Record {
	r := Record{
		Property: v.Property, Name: v.Name, Constants: v.Constants, Engine: v.Engine, Method: v.Method,
		BoundMethod: v.BoundMethod, HalfWidth: (*JSONNumber)(v.HalfWidth), Confidence: JSONNumber(v.Confidence), Samples: v.Samples,
		Accuracy: word(v.Accuracy), Resolution: word(v.Resolution),
		States: v.States, Choices: v.Choices, Transitions: v.Transitions, Seed: v.Seed, Seconds: JSONNumber(v.Seconds),
		Tool: v.Tool, Warnings: v.Warnings, Doubt: v.Doubt, Regions: v.Regions, Quantiles: v.Quantiles, Witnesses: v.Witnesses, Error: NewFailureRecord(v.Err),
	}
	r.Kind, r.Value, r.Fraction = encodeValue(v.Value)
	if v.Value.Kind == Curve {
		r.Precision = JSONNumber(v.Value.Num)
	}
	if v.Bound != nil {
		r.Lower, r.Upper = (*JSONNumber)(&v.Bound.Lo), (*JSONNumber)(&v.Bound.Hi)
	}
	if v.Steps != nil {
		r.Steps = &steps{v.Steps.Min, v.Steps.Max, JSONNumber(v.Steps.Mean)}
	}
	for i := range v.Listings {
		r.Listings = append(r.Listings, newListing(&v.Listings[i]))
	}
	return r
}

// newListing returns the record of a listing.
func newListing(l *Listing) listing {
	record := listing{Zeros: l.Zeros, Values: []stateValue{}, Left: l.Left}
	for _, listed := range l.Values {
		entry := stateValue{State: listed.State, Valuation: listed.Valuation}
		entry.Kind, entry.Value, entry.Fraction = encodeValue(listed.Value)
		record.Values = append(record.Values, entry)
	}
	return record
}

// NewFailureRecord returns the record of a failure; nil for nil.
func NewFailureRecord(f *Failure) *FailureRecord {
	if f == nil {
		return nil
	}
	r := &FailureRecord{Class: f.Class, Message: f.Message}
	if f.File != "" || f.Pos.IsValid() {
		r.Places = []Place{{f.File, int(f.Pos.Line), int(f.Pos.Col), f.Message}}
	}
	return r
}

// Records returns the records of verdicts.
func Records(verdicts []Verdict) []Record {
	out := make([]Record, len(verdicts))
	for i := range verdicts {
		out[i] = NewRecord(&verdicts[i])
	}
	return out
}

// EncodeVerdicts returns verdicts in JSON.
func EncodeVerdicts(verdicts []Verdict) ([]byte, error) { return json.Marshal(Records(verdicts)) }

// DecodeVerdicts reads verdicts that [EncodeVerdicts] wrote.
func DecodeVerdicts(text []byte) ([]Verdict, error) {
	var records []Record
	if err := json.Unmarshal(text, &records); err != nil {
		return nil, fmt.Errorf("read verdicts: %w", err)
	}
	out := make([]Verdict, len(records))
	for i := range records {
		v, err := records[i].Verdict()
		if err != nil {
			return nil, fmt.Errorf("read verdicts: %w", err)
		}
		out[i] = *v
	}
	return out, nil
}

// method returns the method of a record. Versions before 0.2.0 wrote "exact" for the method "states" of the embedded engine. PRISM has an
// engine with the name exact.
func (r *Record) method() string {
	if r.Method == "exact" && r.Engine == "native" {
		return "states"
	}
	return r.Method
}

// Verdict returns the verdict of a record. It also reads records before schema 3, with the name "fixed" for the resolution "scheduler".
func (r *Record) Verdict() (*Verdict, error) {
	v := &Verdict{
		Property: r.Property, Name: r.Name, Constants: r.Constants, Engine: r.Engine, Tool: r.Tool, Method: r.method(),
		BoundMethod: r.BoundMethod, HalfWidth: (*float64)(r.HalfWidth), Confidence: float64(r.Confidence), Samples: r.Samples,
		States: r.States, Choices: r.Choices, Transitions: r.Transitions, Seed: r.Seed, Seconds: float64(r.Seconds),
		Warnings: r.Warnings, Doubt: r.Doubt, Regions: r.Regions, Quantiles: r.Quantiles, Witnesses: r.Witnesses, Err: r.Error.Failure(),
	}
	var err error
	if v.Accuracy, err = parseWord("accuracy", r.Accuracy, Unknown, Claimed); err != nil {
		return nil, err
	}
	if v.Resolution, err = parseWord("resolution", strings.Replace(r.Resolution, "fixed", "scheduler", 1), ResolutionUnknown, Fixed); err != nil {
		return nil, err
	}
	if v.Value, err = decodeValue(r.Kind, r.Value, r.Fraction); err != nil {
		return nil, err
	}
	if v.Value.Kind == Curve {
		v.Value.Num = float64(r.Precision)
	}
	switch {
	case (r.Lower == nil) != (r.Upper == nil):
		return nil, errors.New("the interval has one end, want lower and upper")
	case r.Lower != nil:
		v.Bound = &Interval{Lo: float64(*r.Lower), Hi: float64(*r.Upper)}
	}
	if r.Steps != nil {
		v.Steps = &Steps{r.Steps.Min, r.Steps.Max, float64(r.Steps.Mean)}
	}
	for i := range r.Listings {
		listing, err := r.Listings[i].decode()
		if err != nil {
			return nil, err
		}
		v.Listings = append(v.Listings, listing)
	}
	return v, nil
}

// decode returns the listing of a record.
func (l *listing) decode() (Listing, error) {
	decoded := Listing{Zeros: l.Zeros, Left: l.Left}
	for _, entry := range l.Values {
		value, err := decodeValue(entry.Kind, entry.Value, entry.Fraction)
		if err != nil {
			return Listing{}, err
		}
		decoded.Values = append(decoded.Values, StateValue{State: entry.State, Valuation: entry.Valuation, Value: value})
	}
	return decoded, nil
}

// Failure returns the failure of a record; nil for nil.
func (r *FailureRecord) Failure() *Failure {
	if r == nil {
		return nil
	}
	f := &Failure{Class: r.Class, Message: r.Message}
	if len(r.Places) > 0 {
		at := r.Places[0]
		f.File, f.Pos = at.File, syntax.Pos{Line: int32(at.Line), Col: int32(at.Column)}
	}
	return f
}

// word returns the name of a constant; empty for the zero value, because this means unknown.
func word[T interface {
	comparable
	fmt.Stringer
}](x T) string {
	var unknown T
	if x == unknown {
		return ""
	}
	return x.String()
}

// parseWord returns the constant with a name, among the constants from first to last. The empty name means first. what is the subject of the error.
func parseWord[T interface {
	~uint8
	fmt.Stringer
}](what, word string, first, last T) (T, error) {
	if word == "" {
		return first, nil
	}
	for constant := first; constant <= last; constant++ {
		if constant.String() == word {
			return constant, nil
		}
	}
	return first, fmt.Errorf("the %s is %q, want a known name", what, word)
}
