package parse

import (
	"strings"

	"tilecheck/result"
)

// Tool is the program whose output was read.
type Tool string

// The tools.
const (
	PRISM Tool = "prism"
	Storm Tool = "storm"
)

// Log is what one run of a tool said.
type Log struct {
	Tool Tool
	// Version is the version of the banner, "4.10.2-dev" or "1.12.0 (dev)"; empty when there was no banner.
	Version string
	// Command is the command line as the tool echoed it, one line of it: PRISM
	// does not quote an argument that holds line breaks, so what follows the
	// first break is not told from output.
	Command string
	Model   Model
	// Listed are the properties that PRISM announced before checking any. Storm announces none.
	Listed []Listed
	// Builds are the state spaces, in the order of their construction.
	Builds []Build
	// Properties are in the order of their headings; those that were listed and
	// never begun come last, with an Err.
	Properties []Property
	// Warnings are those of no property and no build.
	Warnings []string
	// Failures are the errors that belong to no property.
	Failures []*result.Failure
	// Err is what ended the run before its time, nil when nothing did.
	Err *result.Failure
}

// Model is what was said of the model before any state space was built.
type Model struct {
	File                                string
	Type                                string // "DTMC", "MDP", …
	Modules, Variables, Labels, Rewards []string
	Actions                             []string // in brackets as printed, "[]" for none
}

// Listed is one line of the list of properties.
type Listed struct {
	Name string // empty when unnamed
	Text string
}

// Build is one construction of a state space. The counts are 0 when the tool
// did not say them, or when they exceed an int64, with a warning; States is 0
// when the construction did not end.
type Build struct {
	Constants            []result.Constant // model constants
	Engine               string            // "explicit", "symbolic", "exact"; Storm: "sparse", "symbolic"
	States, Initial      int64
	Choices, Transitions int64
	Deadlocks            int64 // states without choices, which got a self-loop
	Iterations           int64 // of the symbolic reachability
	Seconds              float64
	Warnings             []string
	constantsText        string
	done                 bool // its size was said
}

// Property is one property under one valuation of the constants.
type Property struct {
	Name string // as the log gives it; Storm numbers what has no name: "1", "2"
	Text string // as the tool echoes it; Storm rewrites it: "s=1" becomes "(s = 1)"
	// Model and Constants are the valuations of the model's and of the
	// property's constants. An experiment that was cut keeps its ranges, "0:1:2".
	Model, Constants []result.Constant
	// Build is the index of the state space in Log.Builds, -1 when none was used.
	Build int
	// Engine is what the tool says it computed with: "explicit", "hybrid", "sparse".
	Engine string
	// Heading names the result as the tool does, "maximum probability" or
	// "for initial states"; empty for a plain "Result:".
	Heading string
	// ValueText is the value as printed, whether or not it could be read.
	ValueText string
	Value     result.Value
	Accuracy  result.Accuracy
	// Bound is the interval that holds the truth in the sense of Accuracy, nil
	// when the tool claims none. For Estimated it is the tool's own guess.
	Bound *result.Interval
	// Doubt is what the tool said that casts doubt upon the value, empty if nothing.
	Doubt string
	// HalfWidth and Confidence are a simulation's.
	HalfWidth  *float64
	Confidence float64
	Simulation *Simulation
	// Iterations are the iterative computations that said how long they took.
	Iterations []Iteration
	Seconds    float64
	// Testing is PRISM's verdict in test mode, "PASS" or "FAIL: …".
	Testing  string
	Warnings []string
	// Err is why there is no value, nil when there is one.
	Err *result.Failure
	// Absent says that the tool listed the property and ended before it began.
	Absent bool

	modelText, constantsText string
}

// Simulation is how an estimate came about.
type Simulation struct {
	Method     string // "CI", "ACI", "APMC", "SPRT"
	Parameters []result.Constant
	MaxPath    int64
	Samples    int64 // 0 until the sampling was complete
	Seconds    float64
	// Steps is the length of the paths; PRISM prints the mean with two digits.
	Steps *result.Steps
}

// Iteration is one iterative computation.
type Iteration struct {
	Method string
	Count  int64
}

// KnownVersion reports whether output of this version was studied line by line.
// That of others is read by the same rules, and refused where it differs.
func (l *Log) KnownVersion() bool {
	switch l.Tool {
	case PRISM:
		return l.Version == "4.10.2-dev"
	case Storm:
		version, _, _ := strings.Cut(l.Version, " ")
		return version == "1.12.0" || version == "1.14.0"
	}
	return false
}

// Attribute gives each of n items the index of the property that is its, -1 where
// there is none. Of several that are, each is given once, in the order of the log.
func (l *Log) Attribute(n int, is func(item int, p *Property) bool) []int {
	out := make([]int, n)
	used := make([]bool, len(l.Properties))
	for i := range out {
		out[i] = -1
		for k := range l.Properties {
			if !used[k] && is(i, &l.Properties[k]) {
				out[i], used[k] = k, true
				break
			}
		}
	}
	return out
}

// Failure is why the log lacks something that belongs to no property; nil if it
// says nothing of it.
func (l *Log) Failure() *result.Failure {
	if l.Err == nil && len(l.Failures) > 0 {
		return l.Failures[0]
	}
	return l.Err
}

// Made says which tool wrote the log, and where that is.
func (l *Log) Made(where string) string {
	return strings.TrimSpace(string(l.Tool)+" "+l.Version) + ", " + where
}

// Verdicts returns one verdict per property, in their order. A verdict carries
// the warnings of its property and of the state space it was checked on, but
// not those of Log.Warnings. It is empty when the run ended before any property was
// named; then Err says why.
func (l *Log) Verdicts() []result.Verdict {
	out := make([]result.Verdict, 0, len(l.Properties))
	for i := range l.Properties {
		out = append(out, l.verdict(&l.Properties[i]))
	}
	return out
}

func (l *Log) verdict(p *Property) result.Verdict {
	v := result.Verdict{
		Property: p.Text, Name: p.Name, Engine: string(l.Tool), Method: strings.ToLower(p.Engine),
		Constants: append(append([]result.Constant(nil), p.Model...), p.Constants...),
		Value:     p.Value, Accuracy: p.Accuracy, Bound: p.Bound, Doubt: p.Doubt,
		HalfWidth: p.HalfWidth, Confidence: p.Confidence,
		Resolution: l.resolution(p), Seconds: p.Seconds, Err: p.Err,
		Warnings: append([]string(nil), p.Warnings...),
	}
	if s := p.Simulation; s != nil {
		v.Method, v.Samples, v.Steps, v.Seconds = strings.ToLower(s.Method), s.Samples, s.Steps, s.Seconds
	}
	if p.Build >= 0 {
		b := &l.Builds[p.Build]
		v.States, v.Choices, v.Transitions = b.States, b.Choices, b.Transitions
		v.Warnings = append(v.Warnings, b.Warnings...)
	}
	return v
}

// resolution says how the nondeterminism was resolved, as far as the type of
// the model and the letters of the property show.
func (l *Log) resolution(p *Property) result.Resolution {
	low, high := strings.Contains(p.Text, "min=?"), strings.Contains(p.Text, "max=?")
	switch l.Model.Type {
	case "DTMC", "CTMC":
		return result.NoNondet
	case "MDP", "MA", "PTA", "POMDP", "POPTA":
		switch {
		case p.Simulation != nil:
			return result.Uniform
		case low && !high:
			return result.Minimum
		case high && !low:
			return result.Maximum
		}
	}
	return result.ResolutionUnknown
}
