package result

import (
	"fmt"
	"math/big"

	"tilecheck/internal/interval"
	"tilecheck/prism/logic"
	"tilecheck/prism/syntax"
)

// Accuracy says how the value of a verdict is related to the truth.
type Accuracy uint8

// The accuracies, strongest first; the zero value is unknown.
const (
	Unknown   Accuracy = iota
	Proven             // a certificate of the value, or of the interval, was made and checked
	Exact              // rational arithmetic: the value is the truth
	Float              // floating-point arithmetic without iteration, or an iteration without an error bound that was asked for
	Bounded            // Lower <= truth <= Upper is guaranteed
	Estimated          // iterated until a step was small: no guarantee
	Probable           // statistical: the interval holds with probability Confidence
	Claimed            // another program says that Lower <= truth <= Upper, without a proof
)

// String returns the word used in every output format.
func (a Accuracy) String() string {
	return [...]string{"unknown", "proven", "exact", "float", "bounded", "estimated", "probable", "claimed"}[a]
}

// Resolution says how the nondeterminism of the model was resolved.
type Resolution uint8

// The resolutions. NoNondet means that there was none to resolve: the model is
// deterministic, or was proven so along every sampled path.
const (
	ResolutionUnknown Resolution = iota
	NoNondet
	Minimum
	Maximum
	Uniform // every choice equally likely at every step: an estimate under that scheduler
	Fixed   // a given scheduler
)

// String returns the word used in every output format.
func (r Resolution) String() string {
	return [...]string{"unknown", "none", "min", "max", "uniform", "scheduler"}[r]
}

// Value is what a property evaluates to: a Boolean, a number, over several initial
// states a range of numbers, the Pareto curve of several objectives, or a rational
// function of parameters.
type Value struct {
	Kind Kind
	Bool bool
	Num  float64  // NaN and infinities are values too
	Rat  *big.Rat // not nil when the number is known exactly
	Hi   float64  // Range: Num is the low end, Hi the high end
	// Formula is a Function of parameters, as PRISM's language has it.
	Formula string
	// Points are the corners of a curve, in the order of their first numbers. Each can be
	// had, and what can be had lies beyond no mean of them by more than Num in every number.
	Points [][]float64
	// RatPoints has the same numbers as Points as fractions, if they are known exactly; otherwise it is nil.
	RatPoints [][]*big.Rat
}

// Kind is the kind of a Value; the zero Kind means that there is no value.
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

// String returns the word used in every output format; that of NoValue is "none".
func (k Kind) String() string {
	return [...]string{"none", "boolean", "number", "integer", "range", "curve", "function"}[k]
}

// Interval is a closed interval of numbers.
type Interval = interval.Interval

// Verdict is one engine's answer to one property under one valuation of the constants.
type Verdict struct {
	Property  string // as PRISM echoes it
	Name      string // empty when unnamed
	Constants []Constant
	Engine    string
	Tool      string // what ran, for engines that run a tool: its version, and where it is
	Method    string // "states", "ci", …
	Value     Value
	Accuracy  Accuracy
	// Bound is the interval that is valid in the sense of Accuracy; nil when
	// there is none. For Probable it is the sound interval and BoundMethod names it.
	Bound       *Interval
	BoundMethod string
	// HalfWidth is the tool's own half-width (PRISM's +/-), nominal; nil when there is none.
	HalfWidth  *float64
	Confidence float64 // 0.99 is 99 %; 0 when not statistical
	Samples    int64
	// Steps is the length of the sampled paths; nil when there were none.
	Steps      *Steps
	Resolution Resolution
	// States, Choices and Transitions are 0 when no state space was built.
	States, Choices, Transitions int64
	Seed                         *uint64
	Seconds                      float64
	Warnings                     []string
	// Doubt is what the engine itself said that casts doubt upon the value; empty
	// when there is no such thing. A doubtful value proves nothing.
	Doubt string
	// Listings are what filter(print, ...) and filter(printall, ...) ask to be printed.
	Listings []Listing
	// Witnesses are there if they were asked for.
	Witnesses []Witness
	Err       *Failure // nil unless there is no value
}

// SampledInPart reports whether a limit or an interruption ended the sampling, and the verdict has the estimate and the interval of the samples
// until then. Such an interval holds for any number of samples.
func (v *Verdict) SampledInPart() bool {
	return v.Err != nil && (v.Err.Class == Timeout || v.Err.Class == Interrupted) && v.Samples > 0 && v.Bound != nil && v.Value.Kind == Number
}

// Listing is the values of a formula in the states of a filter.
type Listing struct {
	// Zeros says that zeros and false are among the values, as printall has it.
	Zeros  bool
	Values []StateValue
	Left   int // values that are not listed, because there are too many
}

// StateValue is a value in one state.
type StateValue struct {
	State     int    // PRISM's number of it
	Valuation string // the values of the variables, as PRISM prints a state: (0,true)
	Value     Value  // NoValue where the bounds leave a Boolean open
}

// Steps is the number of steps of the sampled paths.
type Steps struct {
	Min, Max int64
	Mean     float64
}

// Constant is the value of one constant of an experiment, as text.
type Constant struct{ Name, Value string }

// Class groups failures by what a caller can do about them.
type Class string

// The classes of failure.
const (
	Parse       Class = "parse"
	TypeError   Class = "type"
	Constants   Class = "undefined-constant"
	Build       Class = "build"
	Model       Class = "model" // the model is wrong: range, sum, negative probability
	Unsupported Class = "unsupported"
	PathLength  Class = "path-length"
	Deadlock    Class = "deadlock"
	NonConverge Class = "non-convergence"
	Timeout     Class = "timeout"
	Memory      Class = "memory"
	Heap        Class = "heap"      // of the Java virtual machine that runs PRISM
	CUDD        Class = "cudd"      // the memory of PRISM's decision diagrams
	Killed      Class = "killed"    // a signal from outside, whose reason is not known
	Truncated   Class = "truncated" // the output ends in the middle, or after less than was asked for
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

// Failure is why a property has no value, or an incomplete one.
type Failure struct {
	Class   Class
	Message string
	File    string
	Pos     syntax.Pos // zero when unknown
}

// Refuse returns the failure that an engine cannot answer a property, because of what it found at a place in it.
func Refuse(p *logic.Property, class Class, at syntax.Pos, format string, args ...any) *Failure {
	return &Failure{Class: class, Message: fmt.Sprintf(format, args...), File: p.File, Pos: at}
}

// Error returns "file:line:col: message" without the unknown parts.
func (f *Failure) Error() string {
	e := syntax.Error{File: f.File, Pos: f.Pos, Msg: f.Message}
	return e.Error()
}
