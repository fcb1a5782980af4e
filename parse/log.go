package parse

import (
	"strings"

	"tilecheck/result"
)

// Tool is the program whose output was read.
type Tool string

// The tools.
const (
	PRISM      Tool = "prism"
	PRISMGames Tool = "prism-games" // PRISM with stochastic games; its output is PRISM's with another banner
	Storm      Tool = "storm"
)

// Log is the output of one run of a tool.
type Log struct {
	Tool Tool
	// Version is the version in the banner, "4.10.2-dev" or "1.12.0 (dev)"; empty if there was no banner.
	Version string
	// Command is the first line of the command line that the tool printed. PRISM
	// does not quote arguments with line breaks, so further lines cannot be
	// distinguished from output.
	Command string
	Model   Model
	// Listed are the properties that PRISM announced before checking any. Storm announces none.
	Listed []Listed
	// Builds are the state spaces, in the order of their construction.
	Builds []Build
	// Properties are in the order of their headings; those that were listed and
	// never started come last, with an Err.
	Properties []Property
	// Warnings are the warnings that belong to no property and no build.
	Warnings []string
	// Failures are the errors that belong to no property.
	Failures []*result.Failure
	// Err is the reason why the run ended early; nil if it did not.
	Err *result.Failure
}

// Model is the information about the model that was printed before any state space was built.
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

// Build is one construction of a state space. A count is 0 if the tool did not print it, or if it exceeds an int64, with a
// warning. States is 0 if the construction did not end.
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
	done                 bool // its size was printed
}

// Property is one property under one valuation of the constants.
type Property struct {
	Name string // as printed; Storm numbers properties without a name: "1", "2"
	Text string // as printed; Storm rewrites it: "s=1" becomes "(s = 1)"
	// Model and Constants are the valuations of the model's and of the
	// property's constants. An experiment whose output was cut off keeps its ranges, "0:1:2".
	Model, Constants []result.Constant
	// Build is the index of the state space in Log.Builds, -1 when none was used.
	Build int
	// Engine is the tool's engine: "explicit", "hybrid", "sparse".
	Engine string
	// Heading is the tool's description of the result, "maximum probability" or
	// "for initial states"; empty for a plain "Result:".
	Heading string
	// ValueText is the value as printed, even if it could not be parsed.
	ValueText string
	Value     result.Value
	Accuracy  result.Accuracy
	// Bound is the interval that contains the true value, as far as Accuracy guarantees it; nil
	// if the tool claims none. For Estimated it is the tool's own estimate.
	Bound *result.Interval
	// Doubt is the tool's message that casts doubt on the value; empty if there is none.
	Doubt string
	// HalfWidth and Confidence are set for simulations.
	HalfWidth  *float64
	Confidence float64
	Simulation *Simulation
	// Iterations are the iterative computations whose number of iterations was printed.
	Iterations []Iteration
	Seconds    float64
	// Testing is PRISM's verdict in test mode, "PASS" or "FAIL: …".
	Testing  string
	Warnings []string
	// Err is the reason why there is no value; nil if there is one.
	Err *result.Failure
	// Absent says that the tool listed the property but ended before starting it.
	Absent bool

	modelText, constantsText string
}

// Simulation describes how an estimate was sampled.
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

// KnownVersion reports whether the parser was written for the output of this version. It refuses lines of other versions that differ.
func (l *Log) KnownVersion() bool {
	switch l.Tool {
	case PRISM:
		return l.Version == "4.10.2-dev"
	case PRISMGames:
		return l.Version == "3.2.5-dev"
	case Storm:
		version, _, _ := strings.Cut(l.Version, " ")
		return version == "1.12.0" || version == "1.14.0"
	}
	return false
}

// Attribute assigns the properties of the log to n items. It returns, for each item, the index of the first matching property that no earlier item
// has; -1 if there is none.
func (l *Log) Attribute(n int, matches func(item int, property *Property) bool) []int {
	indices := make([]int, n)
	isUsed := make([]bool, len(l.Properties))
	for item := range indices {
		indices[item] = -1
		for i := range l.Properties {
			if !isUsed[i] && matches(item, &l.Properties[i]) {
				indices[item], isUsed[i] = i, true
				break
			}
		}
	}
	return indices
}

// Failure returns the first failure that belongs to no property; nil if there is none.
func (l *Log) Failure() *result.Failure {
	if l.Err == nil && len(l.Failures) > 0 {
		return l.Failures[0]
	}
	return l.Err
}

// Made returns the tool with its version, and where the tool is: a path or an image.
func (l *Log) Made(where string) string {
	return strings.TrimSpace(string(l.Tool)+" "+l.Version) + ", " + where
}

// Verdicts returns one verdict for each property, in the order of Properties. A verdict has the warnings of its property and of its state space. The
// list is empty if the run ended before the first property.
func (l *Log) Verdicts() []result.Verdict {
	out := make([]result.Verdict, 0, len(l.Properties))
	for i := range l.Properties {
		out = append(out, l.verdict(&l.Properties[i]))
	}
	return out
}

// verdict returns the verdict of a property.
func (l *Log) verdict(property *Property) result.Verdict {
	verdict := result.Verdict{
		Property: property.Text, Name: property.Name, Engine: string(l.Tool), Method: strings.ToLower(property.Engine),
		Constants: append(append([]result.Constant(nil), property.Model...), property.Constants...),
		Value:     property.Value, Accuracy: property.Accuracy, Bound: property.Bound, Doubt: property.Doubt,
		HalfWidth: property.HalfWidth, Confidence: property.Confidence,
		Resolution: l.resolution(property), Seconds: property.Seconds, Err: property.Err,
		Warnings: append([]string(nil), property.Warnings...),
	}
	if simulation := property.Simulation; simulation != nil {
		verdict.Method, verdict.Samples, verdict.Steps, verdict.Seconds = strings.ToLower(simulation.Method), simulation.Samples, simulation.Steps, simulation.Seconds
	}
	if property.Build >= 0 {
		build := &l.Builds[property.Build]
		verdict.States, verdict.Choices, verdict.Transitions = build.States, build.Choices, build.Transitions
		verdict.Warnings = append(verdict.Warnings, build.Warnings...)
	}
	return verdict
}

// resolution returns how nondeterminism was resolved. It reads the model type and the text of the property.
func (l *Log) resolution(property *Property) result.Resolution {
	isMin, isMax := strings.Contains(property.Text, "min=?"), strings.Contains(property.Text, "max=?")
	switch l.Model.Type {
	case "DTMC", "CTMC":
		return result.NoNondet
	case "MDP", "MA", "PTA", "POMDP", "POPTA":
		switch {
		case property.Simulation != nil:
			return result.Uniform
		case isMin && !isMax:
			return result.Minimum
		case isMax && !isMin:
			return result.Maximum
		}
	}
	return result.ResolutionUnknown
}
