package result

import (
	"fmt"
	"math/big"
	"strconv"

	"tilecheck/internal/interval"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
)

// Accuracy says what is known of the value of a verdict.
type Accuracy uint8

// The accuracies, strongest first; the zero value is unknown.
const (
	Unknown   Accuracy = iota
	Proven             // a certificate of the value, or of Bound, was made and checked
	Exact              // computed in rational arithmetic
	Float              // computed in float64 arithmetic without iteration, or by an iteration without an error bound that was asked for
	Bounded            // the true value is in Bound
	Estimated          // iterated until a step was small, without an error bound
	Probable           // sampled: the true value is in Bound with probability Confidence
	Claimed            // another program says that the true value is in Bound
)

// String returns the word used in every output format.
func (a Accuracy) String() string {
	return [...]string{"unknown", "proven", "exact", "float", "bounded", "estimated", "probable", "claimed"}[a]
}

// Resolution says how the nondeterminism of the model was resolved.
type Resolution uint8

// The resolutions.
const (
	ResolutionUnknown Resolution = iota
	NoNondet                     // the model has no nondeterminism, or every sampled path was proved to have none
	Minimum
	Maximum
	Uniform // all choices of a state are equally likely, in every step
	Fixed   // a given scheduler
)

// String returns the word used in every output format.
func (r Resolution) String() string {
	return [...]string{"unknown", "none", "min", "max", "uniform", "scheduler"}[r]
}

// Value is the value of a property: a Boolean, a number, a range of numbers if there are several initial states, the Pareto curve of
// several objectives, or a rational function of parameters.
type Value struct {
	Kind Kind
	Bool bool
	Num  float64  // may be NaN or infinite; the lower end of a Range
	Rat  *big.Rat // the number as a fraction; nil if it is not known
	Hi   float64  // the upper end of a Range
	// Formula is a Function of parameters in PRISM's language.
	Formula string
	// Points are the vertices of a Curve, sorted by their first coordinates. Each is achievable. An achievable point exceeds some convex
	// combination of them by at most Num in every coordinate.
	Points [][]float64
	// RatPoints has the same points as fractions; nil if they are not known.
	RatPoints [][]*big.Rat
}

// Kind is the kind of a Value.
type Kind uint8

// The kinds.
const (
	NoValue Kind = iota
	Boolean
	Number
	Integer
	Range
	Curve
	Function
)

// String returns the word used in every output format.
func (k Kind) String() string {
	return [...]string{"none", "boolean", "number", "integer", "range", "curve", "function"}[k]
}

// Interval is a closed interval of numbers.
type Interval = interval.Interval

// Verdict is the answer of one engine to one property, for one valuation of the constants.
type Verdict struct {
	Property  string // as PRISM prints it
	Name      string // empty if the property has no name
	Constants []Constant
	Engine    string
	Tool      string // the version and the place of the tool behind the engine; empty for none
	Method    string // "states", "ci", …
	Value     Value
	Accuracy  Accuracy
	// Bound contains the true value, as certainly as Accuracy says; nil for no interval. BoundMethod is the name of the method that computed
	// it.
	Bound       *Interval
	BoundMethod string
	// HalfWidth is the half-width that the tool printed (PRISM's +/-); nil for none. It need not hold with the nominal confidence.
	HalfWidth  *float64
	Confidence float64 // 0.99 is 99 %; 0 if nothing was sampled
	Samples    int64
	// Successes is the number of samples that satisfy the path formula, for a probability; nil for other values.
	Successes *int64
	// Steps has the lengths of the sampled paths; nil for none.
	Steps      *Steps
	Resolution Resolution
	// States, Choices and Transitions are 0 if no state space was built.
	States, Choices, Transitions int64
	Seed                         *uint64
	Seconds                      float64
	Warnings                     []string
	// Doubt is a message of the engine that its value may be wrong; empty for none. Such a value proves nothing.
	Doubt string
	// Listings has the values that filter(print, ...) and filter(printall, ...) print.
	Listings []Listing
	// Regions has the parts of the region of the parameters, for a property with a threshold.
	Regions []Region
	// Quantiles has the quantiles of a reward that were asked for.
	Quantiles []Quantile
	// Witnesses are nil unless they were asked for.
	Witnesses []Witness
	Err       *Failure // why there is no value, or an incomplete one; nil otherwise
}

// NamedProperty returns a property with its name, as in a properties file. name is empty if the property has none.
func NamedProperty(name, property string) string {
	if name == "" {
		return property
	}
	return strconv.Quote(name) + ": " + property
}

// ReportedAccuracy returns the accuracy that outputs print. A sampled number without an interval is estimated: its half-width, if it has one, is
// nominal.
func (v *Verdict) ReportedAccuracy() Accuracy {
	if v.Accuracy == Probable && v.Samples > 0 && v.Bound == nil && v.Value.Kind == Number {
		return Estimated
	}
	return v.Accuracy
}

// SampledInPart reports whether the sampling ended early and the verdict has the interval of the samples so far. The interval is valid at any
// stopping time.
func (v *Verdict) SampledInPart() bool {
	return v.Err != nil && (v.Err.Class == Timeout || v.Err.Class == Interrupted) && v.Samples > 0 && v.Bound != nil && v.Value.Kind == Number
}

// Region is a region of the parameters, such as p=0:1/2,q=1/4:1, and whether a property holds at all of its points, or fails at all of them.
// Holds is nil if that is undecided.
type Region struct {
	Parameters string `json:"parameters"`
	// Bounds has the same bounds, and says which of them belong to the region.
	Bounds []ParameterBounds `json:"bounds"`
	Holds  *bool             `json:"holds,omitempty"`
}

// ParameterBounds are the bounds of a parameter, which are fractions, and whether they belong to the region.
type ParameterBounds struct {
	Parameter     string `json:"parameter"`
	Lower         string `json:"lower"`
	Upper         string `json:"upper"`
	LowerIncluded bool   `json:"lower_included"`
	UpperIncluded bool   `json:"upper_included"`
}

// String returns the bounds as an interval, such as "p in [0, 1/2)".
func (bounds ParameterBounds) String() string {
	return bounds.Parameter + " " + bounds.IntervalText(bounds.Lower, bounds.Upper)
}

// IntervalText returns the interval with other texts for its ends.
func (bounds ParameterBounds) IntervalText(lower, upper string) string {
	left, right := "(", ")"
	if bounds.LowerIncluded {
		left = "["
	}
	if bounds.UpperIncluded {
		right = "]"
	}
	return "in " + left + lower + ", " + upper + right
}

// Quantile is a quantile of the reward of the sampled paths, and the mean of the rewards beyond it (the conditional value at risk). The
// bounds of all quantiles of a verdict hold together with its confidence.
type Quantile struct {
	Level     JSONNumber `json:"level"`
	Value     JSONNumber `json:"value"`
	Lower     JSONNumber `json:"lower"`
	Upper     JSONNumber `json:"upper"`
	Tail      JSONNumber `json:"tail"`
	TailLower JSONNumber `json:"tail_lower"`
	TailUpper JSONNumber `json:"tail_upper"`
}

// Listing has the values of a formula in the states of a filter.
type Listing struct {
	// Zeros says that the values 0 and false are listed too, as for printall.
	Zeros  bool
	Values []StateValue
	Left   int // the number of further values, which are not listed
}

// StateValue is a value in one state.
type StateValue struct {
	State     int    // the number of the state in PRISM
	Valuation string // the values of the variables, as PRISM prints a state: (0,true)
	Value     Value  // NoValue if the bounds do not decide a Boolean
}

// Steps has statistics of the number of steps of the sampled paths.
type Steps struct {
	Min, Max int64
	Mean     float64
}

// Constant is the value of one constant of an experiment, as text.
type Constant struct{ Name, Value string }

// Class is a class of failures that a caller treats alike.
type Class string

// The classes of failure.
const (
	Parse       Class = "parse"
	TypeError   Class = "type"
	Constants   Class = "undefined-constant"
	Build       Class = "build"
	Model       Class = "model" // the model is wrong: a value out of range, a sum of probabilities, a negative probability
	Unsupported Class = "unsupported"
	PathLength  Class = "path-length"
	Deadlock    Class = "deadlock"
	NonConverge Class = "non-convergence"
	Timeout     Class = "timeout"
	Memory      Class = "memory"
	Heap        Class = "heap"      // of the Java virtual machine that runs PRISM
	CUDD        Class = "cudd"      // the memory of PRISM's decision diagrams
	Killed      Class = "killed"    // by a signal, for an unknown reason
	Truncated   Class = "truncated" // the output of a tool is incomplete
	Interrupted Class = "interrupted"
	Other       Class = "other"
)

// Limited reports whether a failure is a limit of time or memory.
func (c Class) Limited() bool {
	switch c {
	case Timeout, Memory, Heap, CUDD:
		return true
	}
	return false
}

// Failure says why a property has no value, or an incomplete one.
type Failure struct {
	Class   Class
	Message string
	File    string
	Pos     syntax.Pos // zero if unknown
	// MissesShards says that samples of some shards are missing, so the samples need not be the first ones of the seed.
	MissesShards bool
}

// Refuse returns the failure of a property that an engine cannot answer. at is the position of the cause in the property.
func Refuse(p *logic.Property, class Class, at syntax.Pos, format string, args ...any) *Failure {
	return &Failure{Class: class, Message: fmt.Sprintf(format, args...), File: p.File, Pos: at}
}

// Error returns the failure as file:line:column: message, without the parts that are unknown.
func (f *Failure) Error() string {
	e := syntax.Error{File: f.File, Pos: f.Pos, Msg: f.Message}
	return e.Error()
}
