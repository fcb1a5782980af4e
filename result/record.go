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
	Successes   *int64         `json:"successes,omitempty"`
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
func NewRecord(verdict *Verdict) Record {
	record := Record{
		Property: verdict.Property, Name: verdict.Name, Constants: verdict.Constants, Engine: verdict.Engine, Method: verdict.Method,
		BoundMethod: verdict.BoundMethod, HalfWidth: (*JSONNumber)(verdict.HalfWidth), Confidence: JSONNumber(verdict.Confidence), Successes: verdict.Successes, Samples: verdict.Samples,
		Accuracy: word(verdict.ReportedAccuracy()), Resolution: word(verdict.Resolution),
		States: verdict.States, Choices: verdict.Choices, Transitions: verdict.Transitions, Seed: verdict.Seed, Seconds: JSONNumber(verdict.Seconds),
		Tool: verdict.Tool, Warnings: verdict.Warnings, Doubt: verdict.Doubt, Regions: verdict.Regions, Quantiles: verdict.Quantiles, Witnesses: verdict.Witnesses, Error: NewFailureRecord(verdict.Err),
	}
	record.Kind, record.Value, record.Fraction = encodeValue(verdict.Value)
	if verdict.Value.Kind == Curve {
		record.Precision = JSONNumber(verdict.Value.Num)
	}
	if verdict.Bound != nil {
		record.Lower, record.Upper = (*JSONNumber)(&verdict.Bound.Lo), (*JSONNumber)(&verdict.Bound.Hi)
	}
	if verdict.Steps != nil {
		record.Steps = &steps{verdict.Steps.Min, verdict.Steps.Max, JSONNumber(verdict.Steps.Mean)}
	}
	for i := range verdict.Listings {
		record.Listings = append(record.Listings, newListing(&verdict.Listings[i]))
	}
	return record
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
func NewFailureRecord(failure *Failure) *FailureRecord {
	if failure == nil {
		return nil
	}
	record := &FailureRecord{Class: failure.Class, Message: failure.Message}
	if failure.File != "" || failure.Pos.IsValid() {
		record.Places = []Place{{failure.File, int(failure.Pos.Line), int(failure.Pos.Col), failure.Message}}
	}
	return record
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
		verdict, err := records[i].Verdict()
		if err != nil {
			return nil, fmt.Errorf("read verdicts: %w", err)
		}
		out[i] = *verdict
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
	verdict := &Verdict{
		Property: r.Property, Name: r.Name, Constants: r.Constants, Engine: r.Engine, Tool: r.Tool, Method: r.method(),
		BoundMethod: r.BoundMethod, HalfWidth: (*float64)(r.HalfWidth), Confidence: float64(r.Confidence), Successes: r.Successes, Samples: r.Samples,
		States: r.States, Choices: r.Choices, Transitions: r.Transitions, Seed: r.Seed, Seconds: float64(r.Seconds),
		Warnings: r.Warnings, Doubt: r.Doubt, Regions: r.Regions, Quantiles: r.Quantiles, Witnesses: r.Witnesses, Err: r.Error.Failure(),
	}
	var err error
	if verdict.Accuracy, err = parseWord("accuracy", r.Accuracy, Unknown, Claimed); err != nil {
		return nil, err
	}
	if verdict.Accuracy == Estimated && verdict.Samples > 0 { // as ReportedAccuracy writes it
		verdict.Accuracy = Probable
	}
	if verdict.Resolution, err = parseWord("resolution", strings.Replace(r.Resolution, "fixed", "scheduler", 1), ResolutionUnknown, Fixed); err != nil {
		return nil, err
	}
	if verdict.Value, err = decodeValue(r.Kind, r.Value, r.Fraction); err != nil {
		return nil, err
	}
	if verdict.Value.Kind == Curve {
		verdict.Value.Num = float64(r.Precision)
	}
	switch {
	case (r.Lower == nil) != (r.Upper == nil):
		return nil, errors.New("the interval has one end, want lower and upper")
	case r.Lower != nil:
		verdict.Bound = &Interval{Lo: float64(*r.Lower), Hi: float64(*r.Upper)}
	}
	if r.Steps != nil {
		verdict.Steps = &Steps{r.Steps.Min, r.Steps.Max, float64(r.Steps.Mean)}
	}
	for i := range r.Listings {
		listing, err := r.Listings[i].decode()
		if err != nil {
			return nil, err
		}
		verdict.Listings = append(verdict.Listings, listing)
	}
	return verdict, nil
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
	failure := &Failure{Class: r.Class, Message: r.Message}
	if len(r.Places) > 0 {
		place := r.Places[0]
		failure.File, failure.Pos = place.File, syntax.Pos{Line: int32(place.Line), Col: int32(place.Column)}
	}
	return failure
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
}](kind, word string, first, last T) (T, error) {
	if word == "" {
		return first, nil
	}
	for constant := first; constant <= last; constant++ {
		if constant.String() == word {
			return constant, nil
		}
	}
	return first, fmt.Errorf("the %s is %q, want a known name", kind, word)
}
