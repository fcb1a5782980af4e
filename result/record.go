package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"tilecheck/prism/syntax"
)

// Record is a verdict as JSON has it: in reports, in JSON lines and in the cache
// of verdicts. What does not apply is absent. [Record.Verdict] reads back what
// [NewRecord] was given, but for the offsets of places and the spelling of
// constants: .5 is 0.5.
type Record struct {
	Property    string         `json:"property,omitempty"`
	Name        string         `json:"name,omitempty"`
	Constants   Valuation      `json:"constants,omitempty"`
	Engine      string         `json:"engine,omitempty"`
	Method      string         `json:"method,omitempty"`
	Value       *datum         `json:"value,omitempty"`
	Fraction    string         `json:"fraction,omitempty"`
	Precision   JSONNumber     `json:"precision,omitempty"` // of a curve
	Kind        string         `json:"kind,omitempty"`      // of the value: that 3 is a number or an integer cannot be seen
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
	Witnesses   []Witness      `json:"witnesses,omitempty"`
	Error       *FailureRecord `json:"error,omitempty"`
}

type steps struct {
	Min  int64      `json:"min"`
	Max  int64      `json:"max"`
	Mean JSONNumber `json:"mean"`
}

type listing struct {
	Zeros  bool         `json:"zeros,omitempty"`
	Values []stateValue `json:"values"`
	Left   int          `json:"left,omitempty"`
}

type stateValue struct {
	State     int    `json:"state"`
	Valuation string `json:"valuation"`
	Value     *datum `json:"value,omitempty"`
	Fraction  string `json:"fraction,omitempty"`
	Kind      string `json:"kind,omitempty"`
}

// FailureRecord is a failure as JSON has it.
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

// UnmarshalJSON implements [json.Unmarshaler]. Before schema 3 a failure had one place, without the message, in the member
// position.
func (r *FailureRecord) UnmarshalJSON(text []byte) error {
	type plain FailureRecord
	var x struct {
		plain
		Position *Place `json:"position"`
	}
	if err := json.Unmarshal(text, &x); err != nil {
		return err
	}
	if *r = FailureRecord(x.plain); x.Position != nil && len(r.Places) == 0 {
		x.Position.Message = r.Message
		r.Places = []Place{*x.Position}
	}
	return nil
}

// NewRecord returns a verdict as JSON has it.
func NewRecord(v *Verdict) Record {
	r := Record{
		Property: v.Property, Name: v.Name, Constants: v.Constants, Engine: v.Engine, Method: v.Method,
		BoundMethod: v.BoundMethod, HalfWidth: (*JSONNumber)(v.HalfWidth), Confidence: JSONNumber(v.Confidence), Samples: v.Samples,
		Accuracy: word(v.Accuracy), Resolution: word(v.Resolution),
		States: v.States, Choices: v.Choices, Transitions: v.Transitions, Seed: v.Seed, Seconds: JSONNumber(v.Seconds),
		Tool: v.Tool, Warnings: v.Warnings, Doubt: v.Doubt, Witnesses: v.Witnesses,
	}
	r.Kind, r.Value, r.Fraction = encodeValue(v.Value)
	if v.Value.Kind == Curve {
		r.Precision = JSONNumber(v.Value.Num)
	}
	if v.Bound != nil {
		r.Lower, r.Upper = (*JSONNumber)(&v.Bound.Lo), (*JSONNumber)(&v.Bound.Hi)
	}
	if s := v.Steps; s != nil {
		r.Steps = &steps{s.Min, s.Max, JSONNumber(s.Mean)}
	}
	for _, l := range v.Listings {
		out := listing{Zeros: l.Zeros, Values: []stateValue{}, Left: l.Left}
		for _, x := range l.Values {
			s := stateValue{State: x.State, Valuation: x.Valuation}
			s.Kind, s.Value, s.Fraction = encodeValue(x.Value)
			out.Values = append(out.Values, s)
		}
		r.Listings = append(r.Listings, out)
	}
	r.Error = NewFailureRecord(v.Err)
	return r
}

// NewFailureRecord returns a failure as JSON has it; nil for nil.
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

// Records returns verdicts as JSON has them.
func Records(verdicts []Verdict) []Record {
	out := make([]Record, len(verdicts))
	for i := range verdicts {
		out[i] = NewRecord(&verdicts[i])
	}
	return out
}

// EncodeVerdicts returns verdicts as text that [DecodeVerdicts] reads.
func EncodeVerdicts(verdicts []Verdict) ([]byte, error) { return json.Marshal(Records(verdicts)) }

// DecodeVerdicts reads what [EncodeVerdicts] wrote.
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

// method is the method of a record. Versions before 0.2.0 wrote "exact" where the state space was
// solved; an engine called exact is PRISM's.
func (r *Record) method() string {
	if r.Method == "exact" && r.Engine == "native" {
		return "states"
	}
	return r.Method
}

// Verdict reads a record; before schema 3, resolution had "fixed" for "scheduler". The error says what cannot be.
func (r *Record) Verdict() (*Verdict, error) {
	v := &Verdict{
		Property: r.Property, Name: r.Name, Constants: r.Constants, Engine: r.Engine, Tool: r.Tool, Method: r.method(),
		BoundMethod: r.BoundMethod, HalfWidth: (*float64)(r.HalfWidth), Confidence: float64(r.Confidence), Samples: r.Samples,
		States: r.States, Choices: r.Choices, Transitions: r.Transitions, Seed: r.Seed, Seconds: float64(r.Seconds),
		Warnings: r.Warnings, Doubt: r.Doubt, Witnesses: r.Witnesses,
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
	if s := r.Steps; s != nil {
		v.Steps = &Steps{s.Min, s.Max, float64(s.Mean)}
	}
	for _, l := range r.Listings {
		out := Listing{Zeros: l.Zeros, Left: l.Left}
		for _, x := range l.Values {
			s := StateValue{State: x.State, Valuation: x.Valuation}
			if s.Value, err = decodeValue(x.Kind, x.Value, x.Fraction); err != nil {
				return nil, err
			}
			out.Values = append(out.Values, s)
		}
		v.Listings = append(v.Listings, out)
	}
	v.Err = r.Error.Failure()
	return v, nil
}

// Failure reads a record; nil for nil.
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

// word returns the word of x, or nothing for the zero value, which is unknown.
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

// parseWord returns the constant between first and last with that name; no word is first.
func parseWord[T interface {
	~uint8
	fmt.Stringer
}](what, word string, first, last T) (T, error) {
	if word == "" {
		return first, nil
	}
	for x := first; x <= last; x++ {
		if x.String() == word {
			return x, nil
		}
	}
	return first, fmt.Errorf("the %s is %q, want a word that is known", what, word)
}

// datum is a value in JSON: a Boolean, a number, a list of two, or the text of a function.
type datum Value

func encodeValue(v Value) (kind string, value *datum, fraction string) {
	if v.Kind == NoValue {
		return "", nil, ""
	}
	switch {
	case v.Rat != nil:
		fraction = v.Rat.RatString()
	case v.RatPoints != nil:
		fraction = CurveText(v.RatPoints, (*big.Rat).RatString, ",")
	}
	return v.Kind.String(), (*datum)(&v), fraction
}

func (d *datum) String() string { return (*Value)(d).Text() }

// Text returns the value with every digit, as JSON has it, names of numbers
// without quotes.
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
	case Integer: // without an exponent
		if _, special := SpecialNumber(v.Num); !special {
			return strconv.FormatFloat(v.Num+0, 'f', -1, 64) // -0 + 0 is 0
		}
	}
	return JSONNumber(v.Num).String()
}

// CurveText is a list of points as tools print it, with what is between two things.
func CurveText[N any](points [][]N, number func(N) string, between string) string {
	list := make([]string, len(points))
	for i, x := range points {
		var numbers []string
		for _, v := range x {
			numbers = append(numbers, number(v))
		}
		list[i] = "(" + strings.Join(numbers, between) + ")"
	}
	return "[" + strings.Join(list, between) + "]"
}

// MarshalJSON implements [json.Marshaler].
func (d *datum) MarshalJSON() ([]byte, error) {
	if d.Kind == Curve {
		points := make([][]JSONNumber, len(d.Points))
		for i, x := range d.Points {
			for _, v := range x {
				points[i] = append(points[i], JSONNumber(v))
			}
		}
		return json.Marshal(points)
	}
	if d.Kind == Function {
		return json.Marshal(d.Formula)
	}
	if d.Kind == Range {
		return json.Marshal([]JSONNumber{JSONNumber(d.Num), JSONNumber(d.Hi)})
	}
	return quoteSpecial(d.String()), nil
}

// UnmarshalJSON implements [json.Unmarshaler]. The kind of a number is a guess.
func (d *datum) UnmarshalJSON(text []byte) error {
	switch text[0] {
	case 't', 'f':
		*d = datum{Kind: Boolean, Bool: text[0] == 't'}
		return nil
	case '[':
		if bytes.HasPrefix(bytes.TrimLeft(text[1:], " \t\r\n"), []byte("[")) {
			return d.curve(text)
		}
		var ends []JSONNumber
		if err := json.Unmarshal(text, &ends); err != nil || len(ends) != 2 {
			return fmt.Errorf("the value is %s, want two numbers", text)
		}
		*d = datum{Kind: Range, Num: float64(ends[0]), Hi: float64(ends[1])}
		return nil
	}
	var x JSONNumber
	var formula string
	err := json.Unmarshal(text, &x)
	if text[0] == '"' && json.Unmarshal(text, &formula) == nil && err != nil {
		*d = datum{Kind: Function, Formula: formula}
		return nil
	}
	if err != nil {
		return err
	}
	*d = datum{Kind: Number, Num: float64(x), Formula: formula} // which the kind may say it is
	if !bytes.ContainsAny(text, `.eE"`) {
		d.Kind = Integer
	}
	return nil
}

// curve reads the points of a curve.
func (d *datum) curve(text []byte) error {
	var points [][]JSONNumber
	if err := json.Unmarshal(text, &points); err != nil {
		return fmt.Errorf("the value is %s, want points", text)
	}
	*d = datum{Kind: Curve}
	for _, x := range points {
		if len(x) < 1 || len(x) != len(points[0]) {
			return fmt.Errorf("the value is %s, want points of as many numbers each", text)
		}
		point := make([]float64, len(x))
		for i, v := range x {
			point[i] = float64(v)
		}
		d.Points = append(d.Points, point)
	}
	return nil
}

// decodeValue puts a value together. Reports of before there was a kind guess it.
func decodeValue(kind string, value *datum, fraction string) (v Value, err error) {
	if value == nil {
		if kind+fraction != "" {
			return v, errors.New("there is a kind or fraction and no value")
		}
		return v, nil
	}
	v = Value(*value)
	switch formula := v.Formula; {
	case formula != "" && kind == Function.String() && fraction == "":
		return Value{Kind: Function, Formula: formula}, nil
	case v.Kind == Function:
		return v, fmt.Errorf("the kind is %q and the value is %q, want a number", kind, formula)
	}
	v.Formula = ""
	numeric := v.Kind == Number || v.Kind == Integer
	if kind != "" {
		k, err := parseWord("kind", kind, Boolean, Function)
		if err != nil {
			return v, err
		}
		if k != v.Kind && !(numeric && (k == Number || k == Integer)) {
			return v, fmt.Errorf("the kind is %q and the value is %s", kind, value)
		}
		v.Kind = k
	}
	if fraction == "" {
		return v, nil
	}
	if v.Kind == Curve {
		v.RatPoints, err = parseFractions(fraction, v.Points)
		return v, err
	}
	if !numeric {
		return v, fmt.Errorf("the fraction is %s and the value is %s", fraction, value)
	}
	if kind == "" {
		v.Kind = Number
	}
	v.Rat, err = parseFraction(fraction, v.Num)
	return v, err
}

// parseFractions reads the points that CurveText prints: "[(1/6,3)]". Fractions that are not the numbers beside them are refused.
func parseFractions(text string, near [][]float64) ([][]*big.Rat, error) {
	parts := strings.Split(strings.NewReplacer("[", "", "]", "", "(", "", ")", "").Replace(text), ",")
	var points [][]*big.Rat
	for _, x := range near {
		var point []*big.Rat
		for _, v := range x {
			if len(parts) == 0 {
				return nil, fmt.Errorf("the fractions are %s, want one for each number", text)
			}
			fraction, err := parseFraction(parts[0], v)
			if err != nil {
				return nil, err
			}
			point, parts = append(point, fraction), parts[1:]
		}
		points = append(points, point)
	}
	if CurveText(points, (*big.Rat).RatString, ",") != text {
		return nil, fmt.Errorf("the fractions are %s, want one for each number", text)
	}
	return points, nil
}

// parseFraction reads "1/6" or "3". A fraction that is not the number beside it is refused.
func parseFraction(text string, near float64) (*big.Rat, error) {
	r, ok := new(big.Rat).SetString(text)
	if !ok || r.RatString() != text {
		return nil, fmt.Errorf("the fraction is %q, want two whole numbers without a common factor", text)
	}
	if x, _ := r.Float64(); math.Abs(x-near) > 1e-9*math.Abs(x) {
		return nil, fmt.Errorf("the fraction is %s and the value is %v", text, JSONNumber(near))
	}
	return r, nil
}

// JSONNumber is a number in JSON, which has no NaN and no infinities: they are the
// strings "NaN", "Infinity" and "-Infinity". Every digit is kept.
type JSONNumber float64

// String returns the shortest text that reads back as x.
func (x JSONNumber) String() string {
	if name, special := SpecialNumber(float64(x)); special {
		return name
	}
	return strconv.FormatFloat(float64(x), 'g', -1, 64)
}

// SpecialNumber returns the name of a number without digits: NaN, Infinity or
// -Infinity, as PRISM and Storm print them.
func SpecialNumber(x float64) (name string, ok bool) {
	switch {
	case math.IsNaN(x):
		return "NaN", true
	case math.IsInf(x, 1):
		return "Infinity", true
	case math.IsInf(x, -1):
		return "-Infinity", true
	}
	return "", false
}

// MarshalJSON implements [json.Marshaler].
func (x JSONNumber) MarshalJSON() ([]byte, error) { return quoteSpecial(x.String()), nil }

// quoteSpecial quotes the names of numbers without digits.
func quoteSpecial(text string) []byte {
	if strings.HasSuffix(text, "N") || strings.HasSuffix(text, "y") {
		return strconv.AppendQuote(nil, text)
	}
	return []byte(text)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (x *JSONNumber) UnmarshalJSON(text []byte) error {
	special := map[string]float64{`"NaN"`: math.NaN(), `"Infinity"`: math.Inf(1), `"-Infinity"`: math.Inf(-1)}
	if y, ok := special[string(text)]; ok {
		*x = JSONNumber(y)
		return nil
	}
	if len(text) == 0 || text[0] == '"' {
		return fmt.Errorf("%s is not a number, want one of %s", text, strings.Join(slices.Sorted(maps.Keys(special)), ", "))
	}
	return json.Unmarshal(text, (*float64)(x))
}

// Valuation is the constants of a verdict in the order of declaration. In JSON it is an object;
// a value is a number or Boolean if its text is one, else a string.
type Valuation []Constant

// Text returns the value of a constant; empty if there is none of that name.
func (v Valuation) Text(name string) string {
	for _, c := range v {
		if c.Name == name {
			return c.Value
		}
	}
	return ""
}

// String returns "N=3,p=0.5", the argument of PRISM's -const.
func (v Valuation) String() string {
	parts := make([]string, len(v))
	for i, c := range v {
		parts[i] = c.Name + "=" + c.Value
	}
	return strings.Join(parts, ",")
}

// MarshalJSON implements [json.Marshaler].
func (v Valuation) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // a < b is to be read
	b.WriteByte('{')
	for i, c := range v {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := e.Encode(c.Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(constantValue(c.Value)); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// constantValue makes a JSON number, with the digits as given where JSON allows
// them, or a Boolean of a text that is one, and keeps any other text a string.
func constantValue(text string) any {
	switch text {
	case "true":
		return true
	case "false":
		return false
	}
	x, err := strconv.ParseFloat(text, 64)
	_, special := SpecialNumber(x)
	switch {
	case err != nil || special || strings.ContainsAny(text, "xX"):
		return text
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return JSONNumber(x)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (v *Valuation) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("the constants are %s, want an object", text)
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		value, err := d.Token()
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
