package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tilecheck/prism/syntax"
	"tilecheck/result"
)

// ReadJSONLines reads what [WriteJSONLines] wrote. Members it does not know are
// passed over. What it returns lacks what JSON lines do not have: the steps of
// sampled paths, and whether a number without a fraction was an integer.
//
// Text that is not a whole report is refused: no header, another schema, a line
// that is not an object or has a member of the wrong type, a missing summary or
// one that counts other results. The error is a [*syntax.Error] with the file
// and the line, or that of r.
func ReadJSONLines(r io.Reader, file string) (*TestReport, error) {
	in := &linesReader{in: bufio.NewReader(r), rep: new(TestReport)}
	for {
		line, err := in.in.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		last := err != nil
		if last && len(line) == 0 {
			in.line++
			err = in.end()
		} else {
			in.line++
			err = in.read(line)
		}
		if err != nil {
			return nil, &syntax.Error{File: file, Pos: syntax.Pos{Line: int32(in.line), Col: 1}, Msg: err.Error()}
		}
		if last && len(line) == 0 {
			return in.rep, nil
		}
	}
}

type linesReader struct {
	in     *bufio.Reader
	rep    *TestReport
	line   int
	closed bool // the summary was read
}

// end is called where the text ends.
func (in *linesReader) end() error {
	if !in.closed {
		return errors.New("the report ends here, want a summary: it was not written completely")
	}
	return nil
}

// read takes one line.
func (in *linesReader) read(line []byte) error {
	var head struct {
		Type   string `json:"type"`
		Schema int    `json:"schema"`
	}
	if err := unmarshal(line, &head); err != nil {
		return err
	}
	switch {
	case in.closed:
		return errors.New("there is a line after the summary, want the end")
	case in.line == 1 && head.Type != "header":
		return fmt.Errorf("the first line has type %q, want header", head.Type)
	case in.line > 1 && head.Type == "header":
		return errors.New("there is a second header, want a result or the summary")
	}
	switch head.Type {
	case "header":
		if head.Schema != linesSchema {
			return fmt.Errorf("the report has schema %d, want %d", head.Schema, linesSchema)
		}
		return in.header(line)
	case "result":
		return in.result(line)
	case "finding":
		return in.finding(line)
	case "summary":
		return in.summary(line)
	}
	return fmt.Errorf("the line has type %q, want result, finding or summary", head.Type)
}

func unmarshal(line []byte, into any) error {
	if !utf8.Valid(line) {
		return errors.New("the line is not UTF-8")
	}
	if err := json.Unmarshal(line, into); err != nil {
		return fmt.Errorf("the line is not an object as expected: %w", err)
	}
	return nil
}

func (in *linesReader) header(line []byte) error {
	var h struct {
		Title   string    `json:"title"`
		Engines []string  `json:"engines"`
		Started time.Time `json:"started"`
	}
	if err := unmarshal(line, &h); err != nil {
		return err
	}
	in.rep.Title, in.rep.Engines, in.rep.Started = h.Title, h.Engines, h.Started
	return nil
}

func (in *linesReader) finding(line []byte) error {
	var f struct {
		File         string `json:"file"`
		Line, Column int
		Message      string `json:"message"`
	}
	if err := unmarshal(line, &f); err != nil {
		return err
	}
	if f.Line < 0 || f.Column < 0 {
		return fmt.Errorf("the place is %d:%d, want positive numbers", f.Line, f.Column)
	}
	in.rep.Findings = append(in.rep.Findings, TestFinding{File: f.File, Line: f.Line, Col: f.Column, Message: f.Message})
	return nil
}

// summary compares the counts with what was read, so that a report that lost
// lines is not taken for a whole one.
func (in *linesReader) summary(line []byte) error {
	var notes struct {
		Notes []string `json:"notes"`
	}
	var counts map[string]json.RawMessage
	if err := errors.Join(unmarshal(line, &notes), unmarshal(line, &counts)); err != nil {
		return err
	}
	var elapsed jsonNumberValue
	if err := json.Unmarshal(counts["seconds"], &elapsed); err != nil || !(elapsed.Num >= 0 && elapsed.Num < math.MaxInt64/1e9) {
		return fmt.Errorf("seconds is %s, want a time", counts["seconds"])
	}
	in.rep.Notes, in.rep.Elapsed = notes.Notes, time.Duration(math.Round(elapsed.Num*1e9))
	for _, m := range in.rep.summary() {
		if n, ok := m.value.(int); ok && string(counts[m.key]) != fmt.Sprint(n) {
			return fmt.Errorf("the summary counts %s %s, but there are %d above", counts[m.key], m.key, n)
		}
	}
	in.closed = true
	return nil
}

func (in *linesReader) result(line []byte) error {
	var r resultLine
	if err := unmarshal(line, &r); err != nil {
		return err
	}
	out, err := r.testResult()
	if err != nil {
		return err
	}
	in.rep.Results = append(in.rep.Results, *out)
	return nil
}

// resultLine is a result as JSON has it.
type resultLine struct {
	Outcome      string          `json:"outcome"`
	Engine       string          `json:"engine"`
	Model        string          `json:"model"`
	Props        string          `json:"props"`
	Args         []string        `json:"args"`
	Property     string          `json:"property"`
	Name         string          `json:"name"`
	Constants    constantsLine   `json:"constants"`
	File         string          `json:"file"`
	Line         int             `json:"line"`
	Column       int             `json:"column"`
	ExpectedLine int             `json:"expected_line"`
	Expected     string          `json:"expected"`
	Got          string          `json:"got"`
	Reason       string          `json:"reason"`
	Seconds      jsonNumberValue `json:"seconds"`
	Verdict      *verdictLine    `json:"verdict"`
	Rerun        string          `json:"rerun"`
	Cached       bool            `json:"cached"`
	Log          string          `json:"log"`
}

func (r *resultLine) testResult() (*TestResult, error) {
	outcome, err := parseOutcome(r.Outcome)
	if err != nil {
		return nil, err
	}
	if r.Line < 0 || r.Column < 0 || r.ExpectedLine < 0 || r.Seconds.Num < 0 {
		return nil, fmt.Errorf("the place is %d:%d, expected at %d, in %g s, want positive numbers",
			r.Line, r.Column, r.ExpectedLine, r.Seconds.Num)
	}
	out := &TestResult{
		Model: r.Model, Props: r.Props, Args: r.Args, Engine: r.Engine,
		Property: r.Property, Name: r.Name, Constants: r.Constants,
		File: r.File, Line: r.Line, Col: r.Column, ExpectedLine: r.ExpectedLine,
		Outcome: outcome, Expected: r.Expected, Got: r.Got, Reason: r.Reason,
		Rerun: r.Rerun, Log: r.Log, Cached: r.Cached, Seconds: r.Seconds.Num,
	}
	if r.Verdict != nil {
		out.Verdict, err = r.Verdict.verdict()
		if err != nil {
			return nil, err
		}
		out.Verdict.Property, out.Verdict.Name, out.Verdict.Constants, out.Verdict.Engine = r.Property, r.Name, r.Constants, r.Engine
	}
	return out, nil
}

func parseOutcome(word string) (TestOutcome, error) {
	for _, o := range tallyOrder() {
		if o.String() == word {
			return o, nil
		}
	}
	return 0, fmt.Errorf("the outcome is %q, want pass, fail, disagree, error, limit, unsupported, unchecked or not tested", word)
}

// verdictLine is a verdict as JSON has it.
type verdictLine struct {
	Method      string           `json:"method"`
	Value       json.RawMessage  `json:"value"`
	Fraction    string           `json:"fraction"`
	Lower       *jsonNumberValue `json:"lower"`
	Upper       *jsonNumberValue `json:"upper"`
	BoundMethod string           `json:"bound_method"`
	HalfWidth   *jsonNumberValue `json:"half_width"`
	Confidence  jsonNumberValue  `json:"confidence"`
	Samples     int64            `json:"samples"`
	Accuracy    string           `json:"accuracy"`
	Resolution  string           `json:"resolution"`
	States      int64            `json:"states"`
	Choices     int64            `json:"choices"`
	Transitions int64            `json:"transitions"`
	Seed        *uint64          `json:"seed"`
	Seconds     jsonNumberValue  `json:"seconds"`
	Tool        string           `json:"tool"`
	Warnings    []string         `json:"warnings"`
	Doubt       string           `json:"doubt"`
	Error       *struct {
		Class    string
		Message  string
		Position struct {
			File         string
			Line, Column int32
		}
	} `json:"error"`
}

func (v *verdictLine) verdict() (*result.Verdict, error) {
	out := &result.Verdict{
		Method: v.Method, BoundMethod: v.BoundMethod, Confidence: v.Confidence.Num, Samples: v.Samples,
		States: v.States, Choices: v.Choices, Transitions: v.Transitions, Seed: v.Seed, Seconds: v.Seconds.Num,
		Tool: v.Tool, Warnings: v.Warnings, Doubt: v.Doubt,
	}
	if v.HalfWidth != nil {
		out.HalfWidth = &v.HalfWidth.Num
	}
	if (v.Lower == nil) != (v.Upper == nil) {
		return nil, errors.New("the interval has one end, want lower and upper")
	}
	if v.Lower != nil {
		out.Bound = &result.Interval{Lo: v.Lower.Num, Hi: v.Upper.Num}
	}
	if e := v.Error; e != nil {
		out.Err = &result.Failure{
			Class: result.Class(e.Class), Message: e.Message, File: e.Position.File,
			Pos: syntax.Pos{Line: e.Position.Line, Col: e.Position.Column},
		}
	}
	var err error
	if out.Accuracy, err = parseWord("accuracy", v.Accuracy, result.Unknown, result.Claimed); err != nil {
		return nil, err
	}
	if out.Resolution, err = parseWord("resolution", v.Resolution, result.ResolutionUnknown, result.Fixed); err != nil {
		return nil, err
	}
	out.Value, err = v.value()
	return out, err
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

// value reads a Boolean, a number, or a list of two.
func (v *verdictLine) value() (out result.Value, err error) {
	text := bytes.TrimSpace(v.Value)
	switch {
	case len(text) == 0 || string(text) == "null":
		if v.Fraction != "" {
			return out, errors.New("there is a fraction and no value")
		}
		return out, nil
	case text[0] == 't' || text[0] == 'f':
		return result.Value{Kind: result.Boolean, Bool: text[0] == 't'}, nil
	case text[0] == '[':
		var ends []jsonNumberValue
		if err := json.Unmarshal(text, &ends); err != nil || len(ends) != 2 {
			return out, fmt.Errorf("the value is %s, want two numbers", text)
		}
		return result.Value{Kind: result.Range, Num: ends[0].Num, Hi: ends[1].Num}, nil
	}
	var x jsonNumberValue
	if err := json.Unmarshal(text, &x); err != nil {
		return out, err
	}
	out = result.Value{Kind: result.Number, Num: x.Num}
	if !bytes.ContainsAny(text, `.eE"`) {
		out.Kind = result.Integer
	}
	if v.Fraction != "" {
		if out.Rat, err = parseFraction(v.Fraction, x.Num); err != nil {
			return out, err
		}
		out.Kind = result.Number
	}
	return out, nil
}

// parseFraction reads "1/6" or "3". A fraction that is not the number beside it is refused.
func parseFraction(text string, near float64) (*big.Rat, error) {
	r, ok := new(big.Rat).SetString(text)
	if !ok || r.RatString() != text {
		return nil, fmt.Errorf("the fraction is %q, want two whole numbers without a common factor", text)
	}
	if x, _ := r.Float64(); math.Abs(x-near) > 1e-9*math.Abs(x) {
		return nil, fmt.Errorf("the fraction is %s and the value is %s", text, machineNumber(near))
	}
	return r, nil
}

// jsonNumberValue is a number as [number] writes it.
type jsonNumberValue struct{ Num float64 }

// UnmarshalJSON implements [json.Unmarshaler].
func (n *jsonNumberValue) UnmarshalJSON(text []byte) error {
	special := map[string]float64{`"NaN"`: math.NaN(), `"Infinity"`: math.Inf(1), `"-Infinity"`: math.Inf(-1)}
	if x, ok := special[string(text)]; ok {
		n.Num = x
		return nil
	}
	if len(text) == 0 || text[0] == '"' {
		return fmt.Errorf("%s is not a number, want one of %s", text, strings.Join(slices.Sorted(maps.Keys(special)), ", "))
	}
	return json.Unmarshal(text, &n.Num)
}

// constantsLine is a valuation in the order of its members.
type constantsLine []result.Constant

// UnmarshalJSON implements [json.Unmarshaler].
func (cs *constantsLine) UnmarshalJSON(text []byte) error {
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
			*cs = append(*cs, result.Constant{Name: fmt.Sprint(name), Value: fmt.Sprint(value)})
		default:
			return fmt.Errorf("constant %v is not a number, Boolean or string", name)
		}
	}
	return nil
}
